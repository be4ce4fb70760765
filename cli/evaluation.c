/* evaluation.c: see evaluation.h. All laws see the same random words, and so does the
 * noise of the data that is put on top of their outputs: differences between laws are
 * not hidden by the noise they share.
 *
 * How many draws `auto` takes is found on draws of their own, far from those that are
 * judged: so the error rate of the verdicts (maths C17) is not touched by the search. */
#include "evaluation.h"

#include <math.h>
#include <stdlib.h>

enum {
    COMPARED_MAX = 200, /* outputs compared, but at least ROWS_LEAST rows */
    ROWS_LEAST = 10,
    COMPARED_VALUES = 1 << 23, /* outputs times draws: 64 MB a law */
    BLOCK = 1 << 10,           /* draws between two looks whether to stop */
    PILOT = 1000,              /* draws that find out how many are needed */
    PILOT_FIRST = 1 << 30,     /* where they start */
    AUTO_MAX = 40000,
};

/* Draws of the rows compared under two laws. */
typedef struct comparison {
    cli_evaluation *e;
    int64_t first, draws, points;
    double *sd;                        /* [compared_rows] of the data's noise */
    double *base, *base_noisy, *other; /* [draws][points] */
    xb_sampler *normal;
} comparison;

bool cli_evaluation_classes(const cli_evaluation *e)
{
    return xb_model_classes(e->model) > 0;
}

static xb_status tell(cli_evaluation *e, const char *task, int64_t done, int64_t total)
{
    const xb_progress event = {task, done, total};
    return cli_progress_event(&e->s->progress, &event) ? XB_OK : XB_E_CANCELLED;
}

/* ---- comparison */

/* Rows evenly spread; every output of each is compared. */
static xb_status pick_rows(cli_evaluation *e, int64_t draws)
{
    const xb_rows all = cli_inputs_rows(&e->in);
    int64_t rows = COMPARED_MAX / e->outputs, most = COMPARED_VALUES / draws / e->outputs;
    if (rows < ROWS_LEAST) rows = ROWS_LEAST;
    if (rows > most) rows = most;
    if (rows > e->n) rows = e->n;
    if (rows < 1) rows = 1;
    free(e->select);
    e->select = malloc((size_t)rows * sizeof *e->select);
    if (!e->select) return XB_E_MEMORY;
    e->compared_rows = rows;
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = i * e->n / rows;
        e->select[i] = all.select ? all.select[row] : row;
    }
    return XB_OK;
}

static void comparison_free(comparison *c)
{
    free(c->sd);
    free(c->base);
    free(c->base_noisy);
    free(c->other);
    xb_sampler_destroy(c->normal);
}

static xb_status make_normal(cli_evaluation *e, xb_sampler **out)
{
    xb_law *law = NULL;
    xb_status status = xb_law_parse(e->s->ctx, &law, "gaussian");
    if (status == XB_OK) status = xb_sampler_create(e->s->ctx, out, law, NULL);
    xb_law_destroy(law);
    return status;
}

static xb_status comparison_plan(comparison *c)
{
    cli_evaluation *e = c->e;
    xb_status status = pick_rows(e, c->draws);
    if (status != XB_OK) return status;
    c->points = e->compared_rows * e->outputs;
    size_t bytes = (size_t)(c->draws * c->points) * sizeof(double);
    c->sd = malloc((size_t)e->compared_rows * sizeof *c->sd);
    c->base = malloc(bytes);
    c->base_noisy = malloc(bytes);
    c->other = malloc(bytes);
    if (!c->sd || !c->base || !c->base_noisy || !c->other) return XB_E_MEMORY;
    return make_normal(e, &c->normal);
}

static xb_status draw(comparison *c, double *value, const xb_law *law)
{
    cli_evaluation *e = c->e;
    xb_predict_options opt = xb_predict_options_default();
    xb_rows rows = cli_inputs_rows(&e->in);
    xb_status status = XB_OK;
    rows.select = e->select;
    rows.n = e->compared_rows;
    opt.law = law;
    opt.seed = cli_seed(e->s);
    for (int64_t d = 0; d < c->draws && status == XB_OK; d += BLOCK) {
        int64_t count = c->draws - d < BLOCK ? c->draws - d : BLOCK;
        status = tell(e, "drawing", d, c->draws);
        if (status == XB_OK)
            status = xb_predict_draws_rows(e->s->ctx, value + d * c->points, c->sd,
                                           e->model, &rows, c->first + d, count, &opt);
    }
    return status;
}

/* (P3) The data's noise on top; element and draw say which: alike for all laws. */
static void add_noise(const comparison *c, double *value)
{
    double z[BLOCK];
    for (int64_t d = 0; d < c->draws; d++) {
        const xb_stream where = {.key = xb_key_make(cli_seed(c->e->s), XB_PURPOSE_SAMPLE),
                                 .sample = (uint32_t)(c->first + d)};
        double *row = value + d * c->points;
        xb_sampler_fill_double(c->normal, z, c->points, &where, 0);
        for (int64_t i = 0; i < c->points; i++) row[i] += c->sd[i] * z[i];
    }
}

static xb_status distance(const comparison *c, xb_distances *out, const double *base)
{
    xb_distance_options opt = xb_distance_options_default();
    opt.paired = true;
    opt.standardise = true;
    opt.permutations = 0; /* the verdicts come from the paired gaps */
    opt.neighbours = -1;  /* and KL is bounded */
    opt.tolerance = c->e->tolerance;
    opt.seed = cli_seed(c->e->s);
    return xb_distance_samples(c->e->s->ctx, out, base, c->draws, c->other, c->draws,
                               c->points, &opt);
}

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

static xb_status compare_law(comparison *c, cli_law_scores *law, bool whole)
{
    xb_status status = draw(c, c->other, law->law);
    if (status == XB_OK) status = distance(c, &law->outputs, c->base);
    if (status != XB_OK || !whole) return status;
    status = xb_kl_at_least(c->e->s->ctx, &law->kl_at_least, c->other, c->base, c->draws,
                            c->points);
    if (status != XB_OK) return status;
    if (cli_evaluation_classes(c->e)) {
        law->probability_gap = mean_gap(c);
        return XB_OK;
    }
    add_noise(c, c->other);
    return distance(c, &law->predictive, c->base_noisy);
}

/* All laws with the first; the outputs only, if not `whole`. */
static xb_status compare_laws(cli_evaluation *e, int64_t first, int64_t draws, bool whole)
{
    comparison c = {.e = e, .first = first, .draws = draws};
    xb_status status = comparison_plan(&c);
    if (status == XB_OK) status = draw(&c, c.base, e->law[0].law);
    if (status == XB_OK && whole && !cli_evaluation_classes(e)) {
        for (int64_t i = 0; i < draws * c.points; i++) c.base_noisy[i] = c.base[i];
        add_noise(&c, c.base_noisy);
    }
    for (int i = 1; i < e->laws && status == XB_OK; i++)
        status = compare_law(&c, &e->law[i], whole);
    comparison_free(&c);
    return status;
}

/* ---- scores */

static xb_status score_law(cli_evaluation *e, cli_law_scores *law, int64_t draws)
{
    xb_predict_options opt = xb_predict_options_default();
    const xb_rows rows = cli_inputs_rows(&e->in);
    opt.law = law->law;
    opt.seed = cli_seed(e->s);
    opt.samples = draws;
    return xb_score_model(e->s->ctx, &law->scores, law->nll, e->model, &rows,
                          cli_inputs_target(&e->in), &opt);
}

static xb_status score_laws(cli_evaluation *e)
{
    xb_status status = XB_OK;
    for (int i = 0; i < e->laws && status == XB_OK; i++) {
        cli_law_scores *law = &e->law[i];
        law->nll = malloc((size_t)e->n * sizeof *law->nll);
        status = law->nll ? score_law(e, law, e->draws) : XB_E_MEMORY;
        if (status == XB_OK && i > 0 && !cli_evaluation_classes(e))
            status = xb_score_difference(e->s->ctx, &law->nll_difference, law->nll,
                                         e->law[0].nll, e->n);
    }
    return status;
}

/* ---- how many draws */

/* For the verdicts: what the gaps that are open ask for, and half as much again. */
static double wanted_by_verdicts(const cli_evaluation *e)
{
    const double margin = 1.5;
    double most = PILOT;
    for (int i = 1; i < e->laws; i++) {
        const xb_distances *d = &e->law[i].outputs;
        const xb_gap *const gap[] = {&d->mean, &d->sd, &d->whole};
        for (int k = 0; d->verdict == XB_VERDICT_UNRESOLVED && k < 3; k++)
            most = fmax(most, margin * gap[k]->draws_needed);
    }
    return most;
}

/* For a law alone: a Monte Carlo error that adds half a percent to the error over
 * rows. */
static double wanted_by_scores(const cli_evaluation *e)
{
    const double share = 0.1;
    const xb_model_scores *s = &e->law[0].scores;
    xb_score nll = cli_evaluation_classes(e) ? s->classes.nll : s->regression.nll;
    double ratio = nll.mc_error / (share * nll.std_error);
    return isfinite(ratio) ? PILOT * ratio * ratio : PILOT;
}

static xb_status find_draws(cli_evaluation *e)
{
    const double step = 100;
    xb_status status = e->laws > 1 ? compare_laws(e, PILOT_FIRST, PILOT, false)
                                   : score_law(e, &e->law[0], PILOT);
    if (status != XB_OK) return status;
    double wanted = e->laws > 1 ? wanted_by_verdicts(e) : wanted_by_scores(e);
    e->draws = (int64_t)(step * ceil(fmin(fmax(wanted, PILOT), AUTO_MAX) / step));
    return XB_OK;
}

xb_status cli_evaluate(cli_evaluation *e)
{
    e->n = e->in.n;
    e->outputs = cli_evaluation_classes(e) ? xb_model_classes(e->model) : 1;
    xb_status status = e->draws == 0 ? find_draws(e) : XB_OK;
    if (status == XB_OK && e->laws > 1) status = compare_laws(e, 0, e->draws, true);
    return status == XB_OK ? score_laws(e) : status;
}

void cli_evaluation_free(cli_evaluation *e)
{
    for (int i = 0; i < e->laws; i++) {
        free(e->law[i].nll);
        xb_law_destroy(e->law[i].law);
    }
    free(e->select);
    cli_inputs_free(&e->in);
}
