/* evaluate.c: a model's scores under laws, and the laws' predictives compared with the
 * first one's. All laws use the same random words, and so does the noise of the data
 * added to their outputs, so that shared noise does not hide differences between laws.
 * The automatic number of draws is found from separate draws, far from those that are
 * judged, so the search does not affect the error rate of the verdicts (maths C17). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/count_mass.h"
#include "base/memory.h"
#include "compare/evaluation.h"
#include "crossbayes/draw.h"
#include "law/family.h"
#include "predict/predict.h"
#include "vi/model.h"

enum {
    COMPARED_MAX = 200, /* largest number of outputs compared, but at least ROWS_LEAST
                           rows */
    ROWS_LEAST = 10,
    COMPARED_VALUES = 1 << 23, /* largest number of outputs times draws: 64 MB per law */
    BLOCK = 1 << 10,           /* number of draws between two checks whether to stop */
    PILOT = 1000,              /* draws used to find how many are needed */
    PILOT_FIRST = 1 << 30,     /* number of their first draw */
};

typedef struct job {
    const xb_model *model;
    const xb_rows *rows;
    const double *target;
    xb_evaluate_options opt;
    int64_t outputs; /* numbers per row */
    xb_evaluation *e;
} job;

/* Draws of the rows compared under two laws. */
typedef struct comparison {
    const job *j;
    int64_t first, draws, rows, points;
    bool noisy;      /* for numbers, also compare with the noise of the data */
    int64_t *select; /* [rows] */
    double *sd;      /* [members][points] sds of the data's noise; for counts, sizes */
    double *z;       /* [points], memory for draws of it */
    double *base, *base_noisy, *other; /* [draws][points] */
    xb_sampler *normal;
    xb_student_table *heavy; /* [members] the noise's law (P9), NULL if it is normal */
} comparison;

void xb_evaluate_options_init(xb_evaluate_options *opt, size_t size)
{
    const xb_evaluate_options standard = {
        .draws = 1000, .max_draws = 40000, .tolerance = 0.01, .seed = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

static bool of_classes(const job *j) { return j->model->classes > 0; }

static xb_predict_options predict_options(const job *j, const xb_law *law)
{
    xb_predict_options opt = xb_predict_options_default();
    opt.law = law;
    opt.seed = j->opt.seed;
    opt.backend = j->opt.backend;
    return opt;
}

/* ---- comparison */

/* Rows evenly spread over the data; every output of each is compared. */
static void pick_rows(comparison *c)
{
    const xb_rows *all = c->j->rows;
    for (int64_t i = 0; i < c->rows; i++) {
        int64_t row = i * all->n / c->rows;
        c->select[i] = all->select ? all->select[row] : row;
    }
}

static int64_t compared_rows(const job *j, int64_t draws)
{
    int64_t rows = COMPARED_MAX / j->outputs, most = COMPARED_VALUES / draws / j->outputs;
    if (rows < ROWS_LEAST) rows = ROWS_LEAST;
    if (rows > most) rows = most;
    if (rows > j->rows->n) rows = j->rows->n;
    return rows < 1 ? 1 : rows;
}

static void comparison_free(comparison *c)
{
    free(c->select);
    free(c->sd);
    free(c->z);
    free(c->heavy);
    free(c->base);
    free(c->base_noisy);
    free(c->other);
    xb_sampler_destroy(c->normal);
}

static xb_status make_normal(xb_ctx *ctx, xb_sampler **out)
{
    xb_law *law = NULL;
    XB_TRY(xb_law_parse(ctx, &law, "gaussian"));
    xb_status status = xb_sampler_create(ctx, out, law, NULL);
    xb_law_destroy(law);
    return status;
}

static xb_status comparison_plan(xb_ctx *ctx, comparison *c)
{
    c->rows = compared_rows(c->j, c->draws);
    c->points = c->rows * c->j->outputs;
    const int64_t values = c->draws * c->points;
    c->select = xb_new(ctx, c->rows, sizeof *c->select);
    c->sd = xb_new(ctx, xb_model_member_count(c->j->model) * c->points, sizeof *c->sd);
    c->z = xb_new(ctx, c->points, sizeof *c->z);
    c->base = xb_room(ctx, values, sizeof *c->base);
    c->base_noisy = xb_room(ctx, c->noisy ? values : 0, sizeof *c->base_noisy);
    c->other = xb_room(ctx, values, sizeof *c->other);
    if (!c->select || !c->sd || !c->z || !c->base || !c->base_noisy || !c->other)
        return XB_E_MEMORY;
    pick_rows(c);
    if (c->noisy) XB_TRY(xb_noise_tables(ctx, &c->heavy, c->j->model));
    return c->noisy ? make_normal(ctx, &c->normal) : XB_OK;
}

static xb_rows rows_compared(const comparison *c)
{
    xb_rows rows = *c->j->rows;
    rows.select = c->select;
    rows.n = c->rows;
    return rows;
}

static xb_status draw(xb_ctx *ctx, const comparison *c, double *value, const xb_law *law)
{
    const xb_predict_options opt = predict_options(c->j, law);
    const xb_rows rows = rows_compared(c);
    for (int64_t d = 0; d < c->draws; d += BLOCK) {
        int64_t count = c->draws - d < BLOCK ? c->draws - d : BLOCK;
        XB_TRY(xb_progress_tell(ctx, "drawing", d, c->draws));
        XB_TRY(xb_predict_draws_rows(ctx, value + d * c->points, NULL, c->j->model, &rows,
                                     c->first + d, count, &opt));
    }
    return XB_OK;
}

/* (P3, P7, P9) Adds the data's noise, chosen by element and draw, so that it is the same
 * for all laws. */
static void add_noise(const comparison *c, double *value)
{
    double *z = c->z;
    for (int64_t d = 0; d < c->draws; d++) {
        const xb_stream where = {.key = xb_key_make(c->j->opt.seed, XB_PURPOSE_SAMPLE),
                                 .sample = (uint32_t)(c->first + d)};
        const double *sd = c->sd + xb_member_of(c->j->model, c->first + d) * c->points;
        double *row = value + d * c->points;
        xb_sampler_fill_double(c->normal, z, c->points, &where, 0);
        const xb_student_table *heavy =
            c->heavy ? &c->heavy[xb_member_of(c->j->model, c->first + d)] : NULL;
        if (xb_model_of_counts(c->j->model))
            for (int64_t i = 0; i < c->points; i++)
                row[i] = xb_count_quantile(row[i], sd[i], z[i]); /* sizes (C44) */
        else if (heavy)                                          /* (P9) */
            for (int64_t i = 0; i < c->points; i++)
                row[i] += heavy->scale * sd[i] * xb_student_from_normal(heavy, z[i]);
        else
            for (int64_t i = 0; i < c->points; i++) row[i] += sd[i] * z[i];
    }
}

static xb_status distance(xb_ctx *ctx, const comparison *c, xb_distances **out,
                          const double *base)
{
    xb_distance_options opt = xb_distance_options_default();
    opt.paired = true;
    opt.standardise = true;
    opt.permutations = 0; /* permutations are not needed: the verdicts come from the
                             paired gaps */
    opt.neighbours = -1;  /* KL is bounded, not estimated */
    opt.tolerance = c->j->opt.tolerance;
    opt.seed = c->j->opt.seed;
    return xb_distance_samples(ctx, out, base, c->draws, c->other, c->draws, c->points,
                               &opt);
}

/* The root mean square difference of the mean probabilities. */
static double mean_gap(const comparison *c)
{
    double square = 0;
    for (int64_t i = 0; i < c->points; i++) {
        double gap = 0;
        for (int64_t d = 0; d < c->draws; d++)
            gap += c->base[d * c->points + i] - c->other[d * c->points + i];
        gap /= (double)c->draws;
        square += gap * gap / (double)c->points;
    }
    return sqrt(square);
}

static xb_status compare_law(xb_ctx *ctx, comparison *c, xb_evaluated_law *law)
{
    XB_TRY(draw(ctx, c, c->other, law->law));
    XB_TRY(distance(ctx, c, &law->outputs, c->base));
    XB_TRY(xb_distance_kl_lower(ctx, &law->kl_at_least, c->other, c->base, c->draws,
                                c->points));
    if (!c->noisy) {
        law->probability_gap = mean_gap(c);
        return XB_OK;
    }
    add_noise(c, c->other);
    return distance(ctx, c, &law->predictive, c->base_noisy);
}

/* Finds the standard deviations of the data's noise; for counts, their sizes, which are
 * the same for all rows. */
static xb_status find_noise(xb_ctx *ctx, const comparison *c)
{
    const xb_model *m = c->j->model;
    const xb_rows rows = rows_compared(c);
    if (!xb_model_of_counts(m))
        return xb_predict_noise_rows(ctx, c->sd, m, &rows, c->j->opt.backend);
    for (int64_t i = 0; i < xb_model_member_count(m); i++)
        for (int64_t k = 0; k < c->points; k++)
            c->sd[i * c->points + k] =
                1 / xb_model_dispersion(xb_model_member_at(m, i), k % m->targets);
    return XB_OK;
}

static xb_status compare_laws(xb_ctx *ctx, const job *j)
{
    xb_evaluation *e = j->e;
    comparison c = {.j = j, .draws = e->draws, .noisy = !of_classes(j)};
    xb_status status = comparison_plan(ctx, &c);
    if (status == XB_OK) status = draw(ctx, &c, c.base, e->law[0].law);
    if (status == XB_OK && c.noisy) status = find_noise(ctx, &c);
    if (status == XB_OK && c.noisy) {
        memcpy(c.base_noisy, c.base, (size_t)(c.draws * c.points) * sizeof *c.base);
        add_noise(&c, c.base_noisy);
    }
    for (int64_t i = 1; i < e->laws && status == XB_OK; i++)
        status = compare_law(ctx, &c, &e->law[i]);
    e->compared_rows = c.rows;
    comparison_free(&c);
    return status;
}

/* ---- scores */

static xb_status score_law(xb_ctx *ctx, const job *j, xb_scores **out, const xb_law *law,
                           int64_t draws)
{
    xb_predict_options opt = predict_options(j, law);
    opt.draws = draws;
    return xb_score_model(ctx, out, j->model, j->rows, j->target, &opt);
}

static xb_status score_laws(xb_ctx *ctx, const job *j)
{
    const xb_evaluation *e = j->e;
    for (int64_t i = 0; i < e->laws; i++) {
        xb_evaluated_law *law = &e->law[i];
        XB_TRY(score_law(ctx, j, &law->scores, law->law, e->draws));
        if (i == 0 || of_classes(j)) continue;
        XB_TRY(xb_score_difference(
            ctx, &law->nll_difference, xb_scores_array_get(law->scores, "nll", NULL),
            xb_scores_array_get(e->law[0].scores, "nll", NULL), e->n));
    }
    return XB_OK;
}

/* ---- how many draws */

/* The number for the verdicts: 1.5 times what the undecided gaps need. */
static xb_status wanted_by_verdicts(xb_ctx *ctx, double *most, const job *j)
{
    const double margin = 1.5;
    const xb_evaluation *e = j->e;
    comparison c = {.j = j, .first = PILOT_FIRST, .draws = PILOT};
    xb_status status = comparison_plan(ctx, &c);
    if (status == XB_OK) status = draw(ctx, &c, c.base, e->law[0].law);
    for (int64_t i = 1; i < e->laws && status == XB_OK; i++) {
        xb_distances *d = NULL;
        status = draw(ctx, &c, c.other, e->law[i].law);
        if (status == XB_OK) status = distance(ctx, &c, &d, c.base);
        if (status == XB_OK && xb_distances_verdict(d) == XB_VERDICT_UNRESOLVED)
            *most = fmax(*most, margin * xb_distances_draws_needed(d));
        xb_distances_destroy(d);
    }
    comparison_free(&c);
    return status;
}

/* The number for a single law: the Monte Carlo error may increase the error over rows by
 * half a percent.
 */
static xb_status wanted_by_scores(xb_ctx *ctx, double *most, const job *j)
{
    const double share = 0.1;
    xb_scores *s = NULL;
    XB_TRY(score_law(ctx, j, &s, j->e->law[0].law, PILOT));
    const xb_score nll = xb_scores_get(s, "nll");
    const double ratio = nll.mc_error / (share * nll.std_error);
    if (isfinite(ratio)) *most = PILOT * ratio * ratio;
    xb_scores_destroy(s);
    return XB_OK;
}

static xb_status find_draws(xb_ctx *ctx, const job *j)
{
    const double step = 100;
    double wanted = PILOT;
    XB_TRY(j->e->laws > 1 ? wanted_by_verdicts(ctx, &wanted, j)
                          : wanted_by_scores(ctx, &wanted, j));
    wanted = step * ceil(fmax(wanted, PILOT) / step);
    j->e->draws = (int64_t)fmin(wanted, (double)j->opt.max_draws);
    return XB_OK;
}

/* ---- the whole evaluation */

static xb_status check(xb_ctx *ctx, const job *j, const xb_law *const *laws,
                       int64_t n_laws)
{
    const int64_t most = (int64_t)XB_DRAWS_MAX; /* all draws are in memory: 80 MB for each
                                                   output of a row */
    if (j->rows->n < 1 || n_laws < 0 || (n_laws > 0 && !laws))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld rows under %lld laws: expected 1 or more and 0 or more",
                       (long long)j->rows->n, (long long)n_laws);
    if (j->opt.draws < 0 || j->opt.draws > most)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld draws: expected 0 (automatic) to %lld",
                       (long long)j->opt.draws, (long long)most);
    if (j->opt.max_draws < 1 || j->opt.max_draws > most)
        return xb_fail(ctx, XB_E_ARGUMENT, "at most %lld draws: expected 1 to %lld",
                       (long long)j->opt.max_draws, (long long)most);
    return XB_OK;
}

/* Copies the laws with their names. */
static xb_status take_laws(xb_ctx *ctx, const job *j, const xb_law *const *laws,
                           int64_t n_laws)
{
    xb_evaluation *e = j->e;
    const int64_t count = n_laws > 0 ? n_laws : 1;
    const xb_score unknown = {NAN, NAN, NAN};
    e->law = xb_new(ctx, count, sizeof *e->law);
    if (!e->law) return XB_E_MEMORY;
    e->laws = count;
    for (int64_t i = 0; i < count; i++) {
        const xb_law *given = n_laws > 0 && laws[i] ? laws[i] : xb_model_law(j->model);
        const char *name = n_laws > 0 && j->opt.names ? j->opt.names[i] : NULL;
        e->law[i] = (xb_evaluated_law){.law = xb_law_share(given),
                                       .kl_at_least = NAN,
                                       .probability_gap = NAN,
                                       .nll_difference = unknown};
        e->law[i].name = xb_strdup(ctx, name ? name : xb_law_text(given));
        if (!e->law[i].name) return XB_E_MEMORY;
    }
    return XB_OK;
}

static xb_status run(xb_ctx *ctx, const job *j, const xb_law *const *laws, int64_t n_laws)
{
    xb_evaluation *e = j->e;
    e->n = j->rows->n;
    e->draws = j->opt.draws;
    XB_TRY(take_laws(ctx, j, laws, n_laws));
    if (e->draws == 0) XB_TRY(find_draws(ctx, j));
    if (e->laws > 1) XB_TRY(compare_laws(ctx, j));
    XB_TRY(score_laws(ctx, j));
    return xb_evaluation_describe(ctx, e);
}

xb_status xb_evaluate(xb_ctx *ctx, xb_evaluation **out, const xb_model *model,
                      const xb_rows *rows, const double *target,
                      const xb_law *const *laws, int64_t n_laws,
                      const xb_evaluate_options *opt)
{
    job j = {.model = model, .rows = rows, .target = target};
    XB_TRY(XB_OPTIONS_READ(ctx, evaluate, &j.opt, opt, backend));
    XB_TRY(check(ctx, &j, laws, n_laws));
    j.outputs = xb_model_outputs(model);
    j.e = xb_new(ctx, 1, sizeof *j.e);
    if (!j.e) return XB_E_MEMORY;
    xb_status status = run(ctx, &j, laws, n_laws);
    if (status == XB_OK)
        *out = j.e;
    else
        xb_evaluation_destroy(j.e);
    return status;
}
