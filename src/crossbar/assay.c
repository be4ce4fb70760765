/* assay.c: compares an array with the digital model on data with targets: scores of both
 * with their Monte Carlo errors, and how far the predictives are apart (maths C17). Read
 * s of the array and draw s of the digital model share their random words as far as the
 * array allows, so that small effects show with few reads. If devices remember their
 * noise, reads also depend on each other, and the comparison takes their correlation time
 * into account. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/score_items.h"
#include "compare/target_scorer.h"
#include "crossbar/analog.h"
#include "crossbar/assay.h"
#include "predict/predict.h"
#include "vi/model.h"

/* Largest number of outputs that are compared; but at least this many inputs are. */
enum { COMPARED_MOST = 200, INPUTS_LEAST = 10 };

struct xb_assay {
    const xb_model *model;
    const double *x, *y;
    int64_t n, outputs, points;
    xb_assay_options opt;
    xb_analog_options analog;
    int64_t *label;          /* [n], classes */
    double *value;           /* [reads][n][outputs] of the current case */
    double *sd;              /* [n][outputs]; for an ensemble one for each read, by its
                                member */
    double *size;            /* [members][outputs] for counts, else NULL */
    xb_student_table *heavy; /* [members] the noise's law (P9), NULL if it is normal */
    double *compared[2];     /* [reads][points], of the digital model and of the case */
    xb_assay_result *digital;
};

enum { DIGITAL, CASE };

void xb_assay_options_init(xb_assay_options *opt, size_t size)
{
    const xb_assay_options standard = {.reads = 1000, .tolerance = 0.1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* Picks rows evenly spread, with every output of each. */
static void pick_points(const xb_assay *a, double *out)
{
    int64_t rows = a->points / a->outputs;
    for (int64_t d = 0; d < a->opt.reads; d++)
        for (int64_t i = 0; i < rows; i++, out += a->outputs)
            memcpy(out, a->value + (d * a->n + i * a->n / rows) * a->outputs,
                   (size_t)a->outputs * sizeof *out);
}

/* Whether reads have different standard deviations of the data's noise. */
static bool by_read(const xb_assay *a) { return !a->size && a->model->member; }

/* Computes the scores of a->value. */
static xb_status score(xb_ctx *ctx, xb_assay *a, xb_assay_result *out, int which)
{
    pick_points(a, a->compared[which]);
    if (a->model->classes > 0) {
        xb_class_draws p = {a->value, a->opt.reads, a->n, a->outputs};
        return xb_score_classes(ctx, &out->scores, &p, a->label, NULL);
    }
    xb_mixture p = {a->value, a->size ? NULL : a->sd, a->opt.reads, a->n * a->outputs,
                    .sd_shared = !by_read(a)};
    XB_TRY(a->size ? xb_score_counts(ctx, &out->scores, &p, a->y, a->outputs, a->size,
                                     xb_model_member_count(a->model))
                   : xb_score_student(ctx, &out->scores, &p, a->y, a->outputs, a->heavy,
                                      xb_model_member_count(a->model)));
    return xb_scores_name_targets(ctx, out->scores, a->model->target_each);
}

static const double *each_nll(const xb_assay_result *r)
{
    return xb_scores_array_get(r->scores, "nll", NULL);
}

static xb_status compare(xb_ctx *ctx, xb_assay *a, xb_assay_result *out, double memory)
{
    xb_distance_options opt = xb_distance_options_default();
    opt.paired = true;
    opt.memory = memory;
    opt.standardise = true;
    opt.permutations = 0; /* permutations are not needed: the verdicts come from the
                             gaps */
    opt.neighbours = -1;  /* KL is bounded, not estimated */
    opt.tolerance = a->opt.tolerance;
    if (a->model->classes == 0)
        XB_TRY(xb_score_difference(ctx, &out->nll_difference, each_nll(out),
                                   each_nll(a->digital), a->n));
    XB_TRY(xb_distance_samples(ctx, &out->distance, a->compared[CASE], a->opt.reads,
                               a->compared[DIGITAL], a->opt.reads, a->points, &opt));
    return xb_distance_kl_lower(ctx, &out->kl_at_least, a->compared[CASE],
                                a->compared[DIGITAL], a->opt.reads, a->points);
}

static xb_status take_memory(xb_ctx *ctx, xb_assay *a)
{
    const bool counts = xb_model_of_counts(a->model);
    const int64_t sizes = counts ? xb_model_member_count(a->model) * a->outputs : 0;
    if (counts && !(a->size = xb_new(ctx, sizes, sizeof *a->size))) return XB_E_MEMORY;
    if (counts) xb_model_sizes(a->model, a->size);
    a->value = xb_new(ctx, a->opt.reads * a->n * a->outputs, sizeof *a->value);
    a->sd =
        xb_new(ctx, a->n * a->outputs * (by_read(a) ? a->opt.reads : 1), sizeof *a->sd);
    a->label = xb_new(ctx, a->model->classes > 0 ? a->n : 0, sizeof *a->label);
    a->digital = xb_new(ctx, 1, sizeof *a->digital);
    bool all = a->value && a->sd && a->label && a->digital;
    for (int i = 0; i < 2; i++) {
        a->compared[i] = xb_new(ctx, a->opt.reads * a->points, sizeof(double));
        all = all && a->compared[i];
    }
    return all ? XB_OK : XB_E_MEMORY;
}

/* (P3, P7) Finds the noise of the data, which stays digital: for an ensemble that of the
 * member that is read. */
static xb_status find_noise(xb_ctx *ctx, xb_assay *a)
{
    const xb_rows rows = {.x = a->x, .n = a->n, .features = a->model->features};
    const char *backend = a->analog.backend;
    const int64_t members = xb_model_member_count(a->model), wide = a->n * a->outputs;
    if (!by_read(a)) return xb_predict_noise_rows(ctx, a->sd, a->model, &rows, backend);
    double *each = xb_new(ctx, members * wide, sizeof *each);
    if (!each) return XB_E_MEMORY;
    xb_status status = xb_predict_noise_rows(ctx, each, a->model, &rows, backend);
    for (int64_t s = 0; s < a->opt.reads; s++) {
        const double *noise = each + xb_member_of(a->model, s) * wide;
        for (int64_t i = 0; i < wide; i++) a->sd[s * wide + i] = noise[i];
    }
    free(each);
    return status;
}

static xb_status score_digital(xb_ctx *ctx, xb_assay *a)
{
    xb_predict_options opt = xb_predict_options_default();
    opt.seed = a->analog.seed;
    opt.backend = a->analog.backend;
    for (int64_t i = 0; i < a->n && a->model->classes > 0; i++)
        a->label[i] = (int64_t)a->y[i];
    XB_TRY(xb_predict_draws(ctx, a->value, NULL, a->model, a->x, a->n, 0, a->opt.reads,
                            &opt));
    if (a->model->classes == 0 && !a->size) XB_TRY(find_noise(ctx, a));
    return score(ctx, a, a->digital, DIGITAL);
}

static xb_status check(xb_ctx *ctx, const xb_model *model, int64_t n,
                       const xb_assay_options *opt)
{
    const double most = 1e9; /* largest number of values in memory: 8 GB */
    if (n < 1 || opt->reads < 2)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld %s and %lld %s: expected 1 or more and 2 or more",
                       (long long)n, xb_plural(n, "input", "inputs"),
                       (long long)opt->reads, xb_plural(opt->reads, "read", "reads"));
    XB_TRY(xb_predict_check_draws(ctx, model, opt->reads));
    if ((double)n * (double)opt->reads * (double)xb_model_outputs(model) > most)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld inputs under %lld reads are too many at once: fewer reads,"
                       " or part of the inputs",
                       (long long)n, (long long)opt->reads);
    return XB_OK;
}

xb_status xb_assay_create(xb_ctx *ctx, xb_assay **out, const xb_model *model,
                          const double *x, const double *y, int64_t n,
                          const xb_assay_options *opt)
{
    xb_assay_options chosen;
    xb_analog_options analog;
    XB_TRY(XB_OPTIONS_READ(ctx, assay, &chosen, opt, analog));
    XB_TRY(XB_OPTIONS_READ(ctx, analog, &analog, chosen.analog, backend));
    XB_TRY(check(ctx, model, n, &chosen));
    xb_assay *a = xb_new(ctx, 1, sizeof *a);
    if (!a) return XB_E_MEMORY;
    a->model = model;
    a->x = x, a->y = y, a->n = n;
    a->outputs = xb_model_outputs(model);
    int64_t inputs = COMPARED_MOST / a->outputs;
    if (inputs < INPUTS_LEAST) inputs = INPUTS_LEAST;
    a->points = (inputs < n ? inputs : n) * a->outputs;
    a->opt = chosen;
    a->opt.analog = NULL; /* the caller may free it */
    a->analog = analog;
    xb_status status = take_memory(ctx, a);
    if (status == XB_OK) status = xb_noise_tables(ctx, &a->heavy, model);
    if (status == XB_OK) status = score_digital(ctx, a);
    if (status == XB_OK)
        *out = a;
    else
        xb_assay_destroy(a);
    return status;
}

void xb_assay_destroy(xb_assay *a)
{
    if (!a) return;
    free(a->label);
    free(a->value);
    free(a->sd);
    free(a->size);
    free(a->heavy);
    for (int i = 0; i < 2; i++) free(a->compared[i]);
    xb_assay_result_destroy(a->digital);
    free(a);
}

const xb_assay_result *xb_assay_digital(const xb_assay *assay) { return assay->digital; }

static xb_status run(xb_ctx *ctx, xb_assay_result *out, xb_assay *assay,
                     const xb_array *array, uint64_t chip)
{
    xb_analog_options opt = assay->analog;
    opt.chip = chip;
    const double *x = assay->opt.calibration;
    int64_t n = assay->opt.calibration_n;
    xb_analog *analog = NULL;
    XB_TRY(xb_analog_create(ctx, &analog, assay->model, array, x ? x : assay->x,
                            x ? n : assay->n, &opt));
    double memory =
        analog->rho > 0 ? (1 + analog->rho) / (1 - analog->rho) : 0; /* (X11) */
    if (analog->held) memory = xb_held_time(analog->held);
    /* In reads of all members, between two reads of a tile. */
    memory *= (double)xb_model_member_count(assay->model);
    xb_status status = xb_analog_draws(ctx, assay->value, NULL, analog, assay->x,
                                       assay->n, 0, assay->opt.reads);
    if (status == XB_OK) status = score(ctx, assay, out, CASE);
    if (status == XB_OK) status = compare(ctx, assay, out, memory);
    xb_analog_destroy(analog);
    return status;
}

xb_status xb_assay_chip(xb_ctx *ctx, xb_assay_result **out, xb_assay *assay,
                        const xb_array *array, int64_t after)
{
    xb_assay_result *result = xb_new(ctx, 1, sizeof *result);
    if (!result) return XB_E_MEMORY;
    xb_status status =
        run(ctx, result, assay, array, assay->analog.chip + (uint64_t)after);
    if (status == XB_OK)
        *out = result;
    else
        xb_assay_result_destroy(result);
    return status;
}

xb_status xb_assay_run(xb_ctx *ctx, xb_assay_result **out, xb_assay *assay,
                       const xb_array *array)
{
    return xb_assay_chip(ctx, out, assay, array, 0);
}

/* ---- results */

void xb_assay_result_destroy(xb_assay_result *result)
{
    if (!result) return;
    xb_scores_destroy(result->scores);
    xb_distances_destroy(result->distance);
    free(result);
}

const xb_scores *xb_assay_result_scores(const xb_assay_result *result)
{
    return result->scores;
}

xb_score xb_assay_result_nll_difference(const xb_assay_result *result)
{
    return result->nll_difference;
}

const xb_distances *xb_assay_result_distance(const xb_assay_result *result)
{
    return result->distance;
}

double xb_assay_result_kl_at_least(const xb_assay_result *result)
{
    return result->kl_at_least;
}
