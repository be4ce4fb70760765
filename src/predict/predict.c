/* predict.c: predictions: means, the two kinds of uncertainty and quantiles for
 * numbers (maths P2-P5), probabilities and information for classes (P6).
 *
 * Inputs are processed in chunks for which all draws fit into memory; the rows of a chunk
 * are then summarised in parallel and independently. */
#include "predict/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/count_mass.h"
#include "base/memory.h"
#include "crossbayes/work.h"
#include "crossbayes/extend.h"
#include "data/rows.h"
#include "predict/count_grid.h"
#include "vi/model.h"

enum {
    VALUES_MAX = XB_PREDICT_VALUES,
    NEIGHBOURS = 16,     /* rows whose draws share cache lines, taken together, */
    ASIDE_MAX = 1 << 16, /* within as many doubles, beyond one row */
    LINES = 64,          /* kept in the first cache meanwhile */
};

static const double standard_levels[] = {0.025, 0.975};

void xb_predict_options_init(xb_predict_options *opt, size_t size)
{
    const xb_predict_options standard = {.draws = 1000,
                                         .tolerance = 0.02,
                                         .max_draws = 100000,
                                         .seed = 1,
                                         .interval_tolerance = 0.1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

typedef struct summary_job {
    xb_prediction *p;
    const xb_model *model;
    float *raw;    /* [draws][rows]: of numbers, standardised; each target of a row is
                      a row here */
    double *value; /* [draws][rows][classes]: of classes */
    double *noise; /* [members][rows]: aleatoric, of numbers */
    xb_student_table *heavy; /* [members]: the law of the noise (P9); NULL: normal */
    double *size;            /* [members][targets]: of counts; NULL: other numbers */
    double *room;            /* [pieces] scratch for the grids of counts */
    double *cdf;       /* [pieces][draws], where draws needed are asked for; else NULL */
    double *scratch;   /* [pieces][aside][draws] */
    int64_t aside;     /* rows taken together */
    double *error;     /* [pieces] */
    int64_t members;   /* number of members, to which the draws belong in turn */
    int64_t pieces;    /* of the rows, as many as threads; no sum goes across them */
    int64_t row, rows; /* of the chunk */
    const void *given; /* the draws of all rows; NULL: they are made here */
    double tolerance;  /* of intervals; for classes, of probabilities */
    const double *level, *z;
} summary_job;

/* (P5) The largest error so far, in predictive sds; it stays unknown once it is unknown.
 */
static void take_error(double *largest, double error, double sd)
{
    double ratio = error == 0 ? 0 : error / sd;
    if (isnan(ratio) || ratio > *largest) *largest = ratio;
}

void xb_prediction_take_error(xb_prediction *p, double error)
{
    take_error(&p->error, error, 1);
}

/* Copies rows i, i + 1, ... from [draws][job->rows] to [rows][draws], a few draws at a
 * time, so that a cache line serves all rows; converts them to the target's units, as
 * xb_predict_values does. */
static void take_aside(const summary_job *job, double *aside, int64_t i, int64_t rows)
{
    int64_t draws = job->p->draws;
    const xb_model *model = job->model;
    const bool counts = xb_model_of_counts(model);
    const int64_t targets = job->p->targets;
    for (int64_t first = 0; first < draws; first += LINES) {
        int64_t end = draws - first < LINES ? draws : first + LINES;
        for (int64_t d = end; d < draws && d < end + LINES; d++) /* the next round */
            __builtin_prefetch(job->raw + d * job->rows + i);
        for (int64_t r = 0; r < rows; r++) {
            const int64_t k = (i + r) % targets; /* chunks start with whole rows */
            const double mean = model->y_mean[k], sd = model->y_sd[k];
            for (int64_t d = first; d < end; d++)
                aside[r * draws + d] =
                    mean + sd * (double)job->raw[d * job->rows + i + r];
            for (int64_t d = first; counts && d < end; d++)
                aside[r * draws + d] = xb_count_rate(aside[r * draws + d]);
        }
    }
}

/* (P31) The number of draws that the ends of an interval need; room [draws]. */
static void note_needed(const summary_job *job, int64_t at, const double *draws,
                        const double *sd, double *room, double error)
{
    xb_prediction *p = job->p;
    const int64_t members = job->members;
    const double *q = p->quantile + at * p->quantiles;
    if (!p->needed) return;
    take_error(&p->error_of[at], error, p->sd[at]);
    const int64_t step = p->quantiles > 1 ? p->quantiles - 1 : 1; /* first and last */
    for (int64_t k = 0; k < p->quantiles; k += step) {
        const double off =
            job->heavy
                ? xb_heavy_quantile_error(draws, p->draws, sd, job->heavy, members, q[k],
                                          room)
                : xb_quantile_error(draws, p->draws, sd, members, members, q[k], room);
        p->needed[at] = fmax(p->needed[at],
                             xb_draws_needed(off, p->sd[at], job->tolerance, p->draws));
    }
}

/* The largest number among a row's targets. */
static void join_targets(xb_prediction *p)
{
    for (int64_t i = 0; p->needed && i < p->n * p->targets; i++) {
        const int64_t row = i / p->targets;
        const double needed = p->needed[i], error = p->error_of[i];
        if (i % p->targets == 0) p->needed[row] = needed, p->error_of[row] = error;
        p->needed[row] = fmax(p->needed[row], needed);
        take_error(&p->error_of[row], error, 1);
    }
}

static void summarise_number(const summary_job *job, int64_t i, const double *draws,
                             double *room, double *error)
{
    xb_prediction *p = job->p;
    int64_t at = job->row + i, members = job->members;
    double between = 0, noise[XB_MEMBERS_MAX];
    for (int64_t m = 0; m < members; m++) noise[m] = job->noise[m * job->rows + i];
    xb_draw_summary s = xb_members_summarise(&between, draws, p->draws, 1, members);
    if (p->between) p->between[at] = between;
    p->mean[at] = s.mean;
    p->epistemic[at] = p->draws > 1 ? s.sd : 0;
    p->sd[at] = hypot(p->epistemic[at], p->aleatoric[at]);
    take_error(error, s.error, p->sd[at]);
    for (int64_t k = 0; k < p->quantiles; k++)
        p->quantile[at * p->quantiles + k] =
            job->heavy ? xb_heavy_quantile(draws, p->draws, noise, job->heavy, members,
                                           job->level[k])
                       : xb_predictive_quantile(draws, p->draws, noise, members,
                                                job->level[k], job->z[k]);
    note_needed(job, at, draws, noise, room, s.error);
}

/* (P21) */
static void summarise_count(const summary_job *job, int64_t i, const double *rate,
                            double *room, double *error)
{
    const int64_t k = i % job->p->targets, at = job->row + i;
    double size[XB_MEMBERS_MAX];
    for (int64_t m = 0; m < job->members; m++)
        size[m] = job->size[m * job->p->targets + k];
    const xb_draw_summary s =
        xb_count_summarise(job->p, at, rate, size, job->members, job->level, room);
    take_error(error, s.error, job->p->sd[at]);
    if (!job->p->needed) return;
    take_error(&job->p->error_of[at], s.error, job->p->sd[at]);
    job->p->needed[at] =
        xb_draws_needed(s.error, job->p->sd[at], job->tolerance, job->p->draws);
}

static void summarise_class(const summary_job *job, int64_t i, double *room,
                            double *error)
{
    xb_prediction *p = job->p;
    int64_t at = job->row + i, classes = p->classes;
    double *mean = p->probability + at * classes, inner = 0;
    const double *value = job->value + i * classes;
    for (int64_t k = 0; k < classes; k++) {
        double between;
        xb_draw_summary s = xb_members_summarise(&between, value + k, p->draws,
                                                 job->rows * classes, job->members);
        mean[k] = s.mean;
        take_error(error, s.error, sqrt(fmax(0, mean[k] * (1 - mean[k]))));
        if (p->needed)
            take_error(&p->error_of[at], s.error, sqrt(fmax(0, mean[k] * (1 - mean[k]))));
    }
    if (p->needed)
        p->needed[at] = xb_draws_needed(p->error_of[at], 1, job->tolerance, p->draws);
    for (int64_t k = 1; k < classes; k++)
        if (mean[k] > mean[p->class[at]]) p->class[at] = k;
    for (int64_t d = 0; d < p->draws; d++)
        inner +=
            xb_class_entropy(value + d * job->rows * classes, classes) / (double)p->draws;
    p->entropy[at] = xb_class_entropy(mean, classes);
    p->information[at] = fmax(0, p->entropy[at] - inner);
    if (p->between)
        p->between[at] = xb_members_information(value, p->draws, job->rows * classes,
                                                job->members, classes, room);
}

static void summarise_piece(void *arg, int64_t piece)
{
    const summary_job *job = arg;
    double *error = &job->error[piece];
    int64_t begin = piece * job->rows / job->pieces;
    int64_t end = (piece + 1) * job->rows / job->pieces;
    int64_t draws = job->p->draws;
    double *aside = job->scratch + piece * job->aside * draws;
    for (int64_t i = begin; i < end && job->p->classes > 0; i++)
        summarise_class(job, i, aside, error);
    for (int64_t i = begin; i < end && job->p->classes == 0; i += job->aside) {
        int64_t rows = end - i < job->aside ? end - i : job->aside;
        take_aside(job, aside, i, rows);
        for (int64_t r = 0; r < rows && !job->size; r++)
            summarise_number(job, i + r, aside + r * draws,
                             job->cdf ? job->cdf + piece * draws : NULL, error);
        for (int64_t r = 0; r < rows && job->size; r++)
            summarise_count(job, i + r, aside + r * draws,
                            job->room + piece * xb_count_grid_room(1), error);
    }
}

/* Copies the chunk's columns of draws that other processes made. */
static void copy_chunk(const summary_job *job)
{
    const xb_prediction *p = job->p;
    const bool numbers = p->classes == 0;
    const size_t each =
        numbers ? sizeof *job->raw : sizeof *job->value * (size_t)p->classes;
    const size_t chunk = (size_t)job->rows * each;
    const unsigned char *from =
        (const unsigned char *)job->given + (size_t)job->row * each;
    unsigned char *to = numbers ? (unsigned char *)job->raw : (unsigned char *)job->value;
    for (int64_t d = 0; d < p->draws; d++, to += chunk)
        memcpy(to, from + (size_t)(d * p->n * p->targets) * each, chunk);
}

static xb_status draw_chunk(xb_ctx *ctx, const summary_job *job, const xb_rows *part,
                            const xb_predict_options *opt)
{
    const xb_prediction *p = job->p;
    if (job->given) {
        copy_chunk(job);
        if (p->classes > 0) return XB_OK;
    } else if (p->classes > 0) {
        return xb_predict_draws_rows(ctx, job->value, NULL, job->model, part, 0, p->draws,
                                     opt);
    } else {
        XB_TRY(xb_predict_raw_rows(ctx, job->raw, job->model, part, 0, p->draws, opt));
    }
    if (job->size) return XB_OK; /* a rate determines its noise */
    XB_TRY(xb_predict_noise_rows(ctx, job->noise, job->model, part, opt->backend));
    xb_noise_of_members(p->aleatoric + job->row, job->noise, job->members, job->rows);
    return XB_OK;
}

static xb_status run_chunks(xb_ctx *ctx, summary_job *job, int64_t chunk,
                            const xb_rows *all, const xb_predict_options *opt)
{
    xb_prediction *p = job->p;
    for (int64_t row = 0; row < p->n; row += chunk) {
        const int64_t rows = p->n - row < chunk ? p->n - row : chunk;
        job->row = row * p->targets;
        job->rows = rows * p->targets;
        xb_rows part = xb_rows_part(all, row, rows);
        XB_TRY(draw_chunk(ctx, job, &part, opt));
        xb_parallel_for(ctx, job->pieces, summarise_piece, job);
        XB_TRY(xb_progress_tell(ctx, "predicting", row + rows, p->n));
    }
    for (int64_t i = 0; i < job->pieces; i++) xb_prediction_take_error(p, job->error[i]);
    join_targets(p);
    return XB_OK;
}

static xb_status summarise(xb_ctx *ctx, xb_prediction *p, const xb_model *model,
                           const xb_rows *rows, const xb_predict_options *opt,
                           const void *given)
{
    const double *level = opt->quantile ? opt->quantile : standard_levels;
    int64_t chunk = VALUES_MAX / (p->draws * xb_model_outputs(model));
    if (chunk < 1) chunk = 1;
    if (chunk > p->n) chunk = p->n;
    bool numbers = p->classes == 0;
    void *values = xb_new(ctx, chunk * p->draws * xb_model_outputs(model),
                          numbers ? sizeof(float) : sizeof(double));
    int64_t aside = ASIDE_MAX / p->draws < NEIGHBOURS ? 1 : NEIGHBOURS;
    int64_t members = xb_model_member_count(model), pieces = xb_ctx_threads(ctx);
    if (aside * p->draws < p->classes) aside = p->classes / p->draws + 1;
    int64_t room = pieces * aside * p->draws;
    double *scratch = xb_new(ctx, room + pieces + 2 * p->quantiles, sizeof *scratch);
    double *noise = xb_new(ctx, members * chunk * xb_model_outputs(model), sizeof *noise);
    xb_student_table *heavy = NULL;
    double *cdf = p->needed ? xb_new(ctx, pieces * p->draws, sizeof *cdf) : NULL;
    const int64_t sizes = xb_model_of_counts(model) ? members * p->targets : 0;
    double *size =
        xb_new(ctx, sizes + (sizes ? pieces * xb_count_grid_room(1) : 0), sizeof *size);
    if (size && sizes) xb_model_sizes(model, size);
    double *z = scratch ? scratch + room + pieces : NULL;
    double *used = z ? z + p->quantiles : NULL; /* levels, recalibrated where they are */
    for (int64_t k = 0; z && k < p->quantiles; k++) {
        used[k] = xb_model_calibrated_level(model, level[k]);
        z[k] = xb_normal_quantile(used[k]);
    }
    summary_job job = {.p = p,
                       .model = model,
                       .raw = numbers ? values : NULL,
                       .value = numbers ? NULL : values,
                       .noise = noise,
                       .size = sizes > 0 ? size : NULL,
                       .room = size + (size ? sizes : 0),
                       .members = members,
                       .cdf = cdf,
                       .tolerance = numbers ? opt->interval_tolerance : opt->tolerance,
                       .scratch = scratch,
                       .aside = aside,
                       .error = scratch ? scratch + room : NULL,
                       .pieces = pieces,
                       .given = given,
                       .level = used,
                       .z = z};
    const bool all = values && scratch && noise && size && (cdf || !p->needed);
    xb_status status = all ? xb_noise_tables(ctx, &heavy, model) : XB_E_MEMORY;
    job.heavy = heavy;
    if (status == XB_OK) status = run_chunks(ctx, &job, chunk, rows, opt);
    free(size);
    free(cdf);
    free(heavy);
    free(noise);
    free(scratch);
    free(values);
    return status;
}

/* With fewer draws the error is unknown. */
static bool tells_needs(const xb_predict_options *opt, int64_t draws, int64_t members)
{
    return opt->adaptive || (opt->draws_needed && draws >= 4 * members);
}

static xb_status take_memory(xb_ctx *ctx, xb_prediction *p, int64_t members,
                             const xb_predict_options *opt)
{
    int64_t numbers = p->classes ? 0 : p->n * p->targets, rows = p->classes ? p->n : 0;
    p->mean = xb_new(ctx, numbers, sizeof(double));
    p->epistemic = xb_new(ctx, numbers, sizeof(double));
    p->aleatoric = xb_new(ctx, numbers, sizeof(double));
    p->sd = xb_new(ctx, numbers, sizeof(double));
    p->quantile = xb_new(ctx, numbers * p->quantiles, sizeof(double));
    p->probability = xb_new(ctx, rows * p->classes, sizeof(double));
    p->class = xb_new(ctx, rows, sizeof *p->class);
    p->entropy = xb_new(ctx, rows, sizeof(double));
    p->information = xb_new(ctx, rows, sizeof(double));
    if (tells_needs(opt, p->draws, members)) {
        p->needed = xb_new(ctx, p->n * p->targets, sizeof *p->needed);
        p->error_of = xb_new(ctx, p->n * p->targets, sizeof *p->error_of);
        if (!p->needed || !p->error_of) return XB_E_MEMORY;
    }
    if (opt->adaptive) p->used = xb_new(ctx, p->n, sizeof *p->used);
    if (opt->adaptive && !p->used) return XB_E_MEMORY;
    if (members > 1) p->between = xb_new(ctx, numbers + rows, sizeof(double));
    bool all = (members == 1 || p->between) && p->mean && p->epistemic && p->aleatoric &&
               p->sd && p->quantile && p->probability && p->class && p->entropy &&
               p->information;
    return all ? XB_OK : XB_E_MEMORY;
}

static xb_status check_options(xb_ctx *ctx, const xb_predict_options *opt)
{
    if (opt->draws < 0 || opt->draws > INT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld draws: expected 0 or more",
                       (long long)opt->draws);
    if (opt->draws == 0 && !(opt->tolerance > 0))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a tolerance of %g predictive sds: expected more than 0",
                       opt->tolerance);
    if (opt->draws == 0 && (opt->max_draws < 1 || opt->max_draws > INT32_MAX))
        return xb_fail(ctx, XB_E_ARGUMENT, "at most %lld draws: expected 1 or more",
                       (long long)opt->max_draws);
    if (opt->quantiles < 0)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld quantiles: expected 0 or more",
                       (long long)opt->quantiles);
    if ((opt->adaptive || opt->draws_needed) && !(opt->interval_tolerance > 0))
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "an interval's tolerance of %g predictive sds: expected more than 0",
            opt->interval_tolerance);
    for (int64_t k = 0; opt->quantile && k < opt->quantiles; k++)
        if (!(opt->quantile[k] > 0 && opt->quantile[k] < 1))
            return xb_fail(ctx, XB_E_ARGUMENT, "quantile %g: expected between 0 and 1",
                           opt->quantile[k]);
    return XB_OK;
}

xb_status xb_predict_check_draws(xb_ctx *ctx, const xb_model *model, int64_t draws)
{
    const int64_t members = xb_model_member_count(model);
    if (draws >= members) return XB_OK;
    return xb_fail(
        ctx, XB_E_ARGUMENT,
        "%lld %s for an ensemble of %lld members: expected at least one for each member",
        (long long)draws, xb_plural(draws, "draw", "draws"), (long long)members);
}

/* (P5) The error over all inputs so far; the number of draws is doubled until it is
 * small. */
static xb_status find_enough(xb_ctx *ctx, int64_t *draws, const xb_model *model,
                             const xb_rows *rows, const xb_predict_options *opt)
{
    const int64_t members = xb_model_member_count(model);
    const int64_t start = 64 * members, look = 256; /* inputs that represent all */
    xb_predict_options few = *opt;
    few.quantiles = 0;
    few.quantile = standard_levels;
    few.draws_needed = false;
    xb_rows part = xb_rows_part(rows, 0, rows->n < look ? rows->n : look);
    for (few.draws = start;; few.draws *= 2) {
        if (few.draws > opt->max_draws) few.draws = opt->max_draws;
        xb_prediction *p = NULL;
        XB_TRY(xb_predict_rows_here(ctx, &p, model, &part, &few, NULL));
        double error = xb_prediction_mc_error(p);
        xb_prediction_destroy(p);
        *draws = few.draws;
        if (error <= opt->tolerance || few.draws >= opt->max_draws) return XB_OK;
    }
}

xb_status xb_prediction_room(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                             int64_t n, const xb_predict_options *opt)
{
    xb_prediction *p = xb_new(ctx, 1, sizeof *p);
    if (!p) return XB_E_MEMORY;
    p->n = n;
    p->draws = opt->draws;
    p->classes = model->classes;
    p->targets = model->targets;
    p->quantiles = opt->quantile ? opt->quantiles : XB_COUNT(standard_levels);
    xb_status status = take_memory(ctx, p, xb_model_member_count(model), opt);
    if (status == XB_OK)
        *out = p;
    else
        xb_prediction_destroy(p);
    return status;
}

xb_status xb_predict_rows_here(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                               const xb_rows *rows, const xb_predict_options *opt,
                               const void *given)
{
    xb_prediction *p = NULL;
    XB_TRY(xb_prediction_room(ctx, &p, model, rows->n, opt));
    xb_status status = rows->n == 0    ? XB_OK
                       : opt->adaptive ? xb_predict_adaptive(ctx, p, model, rows, opt)
                                       : summarise(ctx, p, model, rows, opt, given);
    if (status == XB_OK)
        *out = p;
    else
        xb_prediction_destroy(p);
    return status;
}

xb_status xb_predict_draws_needed(xb_ctx *ctx, int64_t *draws, const xb_model *model,
                                  const xb_rows *rows, const xb_predict_options *opt)
{
    xb_predict_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, predict, &chosen, opt, backend));
    chosen.draws = 0;
    chosen.adaptive = false;
    XB_TRY(check_options(ctx, &chosen));
    return find_enough(ctx, draws, model, rows, &chosen);
}

xb_status xb_predict_rows(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                          const xb_rows *rows, const xb_predict_options *opt)
{
    xb_predict_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, predict, &chosen, opt, backend));
    XB_TRY(check_options(ctx, &chosen));
    if (chosen.draws == 0 && chosen.adaptive) chosen.draws = chosen.max_draws;
    if (chosen.draws > 0) XB_TRY(xb_predict_check_draws(ctx, model, chosen.draws));
    if (chosen.draws == 0) XB_TRY(find_enough(ctx, &chosen.draws, model, rows, &chosen));
    if (xb_work_is_sent(ctx))
        return xb_predict_rows_by_processes(ctx, out, model, rows, &chosen);
    return xb_predict_rows_here(ctx, out, model, rows, &chosen, NULL);
}

xb_status xb_predict(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                     const double *x, int64_t n, const xb_predict_options *opt)
{
    const xb_rows rows = {.x = x, .n = n, .features = model->features};
    return xb_predict_rows(ctx, out, model, &rows, opt);
}
