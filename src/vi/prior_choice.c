/* prior_choice.c: fits the scale of a normal prior by cross-validation (maths V23).
 *
 * F cannot choose it: a mean-field posterior pays too much KL for the noise of its
 * weights, so F prefers priors that are too narrow (docs/likelihoods.md has the numbers).
 * Rows that training has not seen can. The rows are dealt out to four parts, and each
 * part is scored by a posterior that learnt from the other three. Scales are powers of
 * two times the standard one: its neighbours first, and further in a direction as long as
 * the score rises.
 *
 * By default two of the parts are scored, narrower scales are tried only if wider ones do
 * not help, and the standard scale stays unless another one is better by more than the
 * error of the difference: this takes half the time, and loses little. */
#include "vi/prior_choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "vi/trainer.h"

enum {
    PARTS = 4,
    PARTS_BY_DEFAULT = 2, /* scored without being asked for */
    STEPS = 2,            /* farthest scales: 2^-2 and 2^2 times the standard one */
    LEAST_ROWS = 20,      /* with fewer, a part has too few rows */
    MOST_ROWS = 10000,    /* with more, the scale hardly matters, so it is not fitted
                             without being asked for: with 5,000 rows the NLL fell
                             by 0.0006 +- 0.0004 (docs/likelihoods.md) */
    DRAWS = 64,           /* weight draws of a score */
    FOLD_STREAM = 1002,   /* not used by the shuffles and the split of train_data.c */
};

/* The rows to learn from, dealt out: row [n], of which the first `scored` are scored. */
typedef struct folds {
    int64_t *row, *select; /* [n]: in an order of chance; those of a part come last */
    int64_t n, parts, scored;
} folds;

/* The log density of the scored rows under the standard scale, and under another one. */
typedef struct scores {
    double *standard, *other; /* [scored] */
} scores;

static void free_folds(folds *f)
{
    free(f->row);
    free(f->select);
}

/* Rows that the caller holds out are left alone. */
static xb_status deal(xb_ctx *ctx, folds *f, const xb_train_data *data,
                      const xb_train_options *opt)
{
    xb_holdout holdout = {0};
    XB_TRY(xb_holdout_make(ctx, &holdout, data, opt));
    *f = (folds){.n = holdout.n, .parts = PARTS};
    if (opt->prior_scale == XB_PRIOR_SCALE_AUTO) f->parts = PARTS_BY_DEFAULT;
    f->scored = f->parts * f->n / PARTS;
    int32_t *order = xb_new(ctx, f->n, sizeof *order);
    f->row = xb_new(ctx, f->n, sizeof *f->row);
    f->select = xb_new(ctx, f->n, sizeof *f->select);
    if (order && f->row && f->select) {
        xb_shuffle(order, f->n, xb_key_make(opt->seed, XB_PURPOSE_DATA), FOLD_STREAM, 0);
        for (int64_t i = 0; i < f->n; i++) f->row[i] = holdout.row[order[i]];
    }
    const bool done = order && f->row && f->select;
    free(order);
    xb_holdout_free(&holdout);
    return done ? XB_OK : XB_E_MEMORY;
}

/* The data with part k last, as rows held out. */
static xb_train_data part_of(const folds *f, int64_t k, const xb_train_data *data)
{
    const int64_t begin = k * f->n / PARTS, end = (k + 1) * f->n / PARTS;
    xb_train_data part = *data;
    int64_t at = 0;
    for (int64_t i = 0; i < f->n; i++)
        if (i < begin || i >= end) f->select[at++] = f->row[i];
    for (int64_t i = begin; i < end; i++) f->select[at++] = f->row[i];
    part.select = f->select;
    part.n = f->n;
    part.held = end - begin;
    return part;
}

/* The log densities of a part's rows. The posterior is that of the last epoch, as without
 * rows held out. */
static xb_status score_part(xb_ctx *ctx, double *row, const xb_train_data *part,
                            const xb_train_options *opt)
{
    xb_trainer *t = NULL;
    double mean = NAN;
    XB_TRY(xb_trainer_create(ctx, &t, part, opt));
    t->traced = false;
    t->unscored = true;
    xb_status status = XB_OK;
    while (status == XB_OK && !xb_trainer_done(t)) status = xb_trainer_advance(ctx, t);
    if (status == XB_OK) status = xb_trainer_validate(t, &mean);
    for (int64_t i = 0; i < t->held && status == XB_OK; i++)
        row[i] = xb_trainer_held_score(t, i);
    xb_trainer_destroy(t);
    return status;
}

/* The mean log density per row at this scale; -INFINITY if training diverges. */
static xb_status score_of(xb_ctx *ctx, double *score, double *row, const folds *f,
                          double sd, const xb_train_data *data,
                          const xb_train_options *opt)
{
    xb_train_options o = *opt;
    double sum = 0;
    char task[64];
    snprintf(task, sizeof task, "cross-validating a prior of sd %g", sd);
    o.prior.sd = sd;
    o.task = task;
    *score = -INFINITY;
    for (int64_t k = 0; k < f->parts; k++) {
        const xb_train_data part = part_of(f, k, data);
        const xb_status status = score_part(ctx, row + k * f->n / PARTS, &part, &o);
        if (status == XB_E_NUMERIC) return XB_OK;
        XB_TRY(status);
    }
    for (int64_t i = 0; i < f->scored; i++) sum += row[i];
    if (!isnan(sum)) *score = sum / (double)f->scored;
    return XB_OK;
}

/* Whether the other scale is better by more than one standard error of the mean
 * difference over rows. */
static bool is_clear(const scores *s, int64_t n)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += (s->other[i] - s->standard[i]) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double e = s->other[i] - s->standard[i] - mean;
        square += e * e;
    }
    return mean > sqrt(square / ((double)n * (double)(n - 1)));
}

/* The settings of every training here: one posterior, by its last epoch. */
static xb_train_options plain(const xb_train_options *opt)
{
    xb_train_options o = *opt;
    o.validation = 0;
    o.validation_draws = DRAWS;
    o.patience = 0;
    o.checkpoint = NULL;
    o.resume = false;
    o.on_epoch = NULL;
    return o;
}

/* Wider scales, then narrower ones. */
static xb_status climb(xb_ctx *ctx, xb_fitted_prior *out, const folds *f, scores *s,
                       double standard, const xb_train_data *data,
                       const xb_train_options *opt)
{
    const bool wanted = opt->prior_scale == XB_PRIOR_SCALE_FITTED;
    double score[2 * STEPS + 1], *at = score + STEPS;
    XB_TRY(score_of(ctx, &at[0], s->standard, f, standard, data, opt));
    int best = 0;
    for (int way = 1; way >= -1 && (wanted || best == 0); way -= 2)
        for (int k = way; k >= -STEPS && k <= STEPS; k += way) {
            XB_TRY(score_of(ctx, &at[k], s->other, f, ldexp(standard, k), data, opt));
            const bool better = at[k] > at[best];
            if (better && (wanted || isinf(at[0]) || is_clear(s, f->scored))) best = k;
            if (!(at[k] > at[k - way])) break;
        }
    *out = (xb_fitted_prior){.sd = ldexp(standard, best),
                             .score = at[best],
                             .standard_sd = standard,
                             .standard_score = at[0]};
    return XB_OK;
}

static xb_status climb_from(xb_ctx *ctx, xb_fitted_prior *out, const folds *f,
                            double standard, const xb_train_data *data,
                            const xb_train_options *opt)
{
    scores s = {xb_new(ctx, f->scored, sizeof *s.standard),
                xb_new(ctx, f->scored, sizeof *s.other)};
    const xb_status status =
        s.standard && s.other ? climb(ctx, out, f, &s, standard, data, opt) : XB_E_MEMORY;
    free(s.standard);
    free(s.other);
    return status;
}

xb_status xb_prior_fit(xb_ctx *ctx, xb_fitted_prior *out, const xb_train_data *data,
                       const xb_train_options *opt)
{
    const xb_likelihood likelihood =
        data->classes > 0 ? XB_LIKELIHOOD_SOFTMAX : opt->likelihood;
    const double standard = xb_train_prior(opt, likelihood).sd;
    const xb_train_options o = plain(opt);
    folds f = {0};
    xb_status status = deal(ctx, &f, data, opt);
    if (status == XB_OK && f.n < LEAST_ROWS)
        status =
            xb_fail(ctx, XB_E_INPUT, "%lld %s: expected at least %d to fit the prior",
                    (long long)f.n, xb_plural(f.n, "row", "rows"), LEAST_ROWS);
    if (status == XB_OK) status = climb_from(ctx, out, &f, standard, data, &o);
    free_folds(&f);
    return status;
}

/* A normal prior whose scale is open. */
static bool is_scale_open(const xb_train_options *o)
{
    const xb_prior *p = &o->prior;
    return p->kind == XB_PRIOR_NORMAL && p->sd == 0 && p->mean == 0 && o->prior_by_fan;
}

bool xb_prior_fits_itself(const xb_train_data *data, const xb_train_options *o)
{
    const int64_t rows = data->n - xb_train_held(data, o);
    return o->prior_scale == XB_PRIOR_SCALE_AUTO && is_scale_open(o) &&
           rows >= LEAST_ROWS && rows <= MOST_ROWS;
}

xb_status xb_prior_fit_check(xb_ctx *ctx, const xb_train_data *data,
                             const xb_train_options *o)
{
    if (!is_scale_open(o))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a fitted prior is normal with the standard scale adapted to the"
                       " number of inputs: expected no other prior beside it");
    if (!data->x || o->input.h * o->input.w > 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "a prior is fitted to tables, not to images");
    return XB_OK;
}
