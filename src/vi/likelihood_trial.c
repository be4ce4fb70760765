/* likelihood_trial.c: a noise net and another likelihood on rows held out, where F alone
 * is too close to call (maths V22).
 *
 * Both learn from the same four fifths of the rows for a third of the steps, and the rest
 * are scored by the log of the mean density over draws. Differences are paired by row.
 * Every rank does the same work, and all take the result of rank 0. */
#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/memory.h"
#include "vi/likelihood_choice.h"

#define HELD 0.2           /* share of the rows that are held out */
enum { LEAST_ROWS = 100 }; /* with fewer rows, too few would be held out */
enum { THIRD = 3, DRAWS = 100 };

static int64_t third(int64_t epochs)
{
    return epochs > 0 ? (epochs + THIRD - 1) / THIRD : epochs;
}

static xb_train_options trial_options(const xb_train_options *opt)
{
    xb_train_options o = *opt;
    o.effort = XB_TRAIN_EFFORT_QUICK;
    o.mle_epochs = third(o.mle_epochs);
    o.epochs = third(o.epochs);
    o.validation = HELD;
    o.patience = 0;
    o.on_epoch = NULL;
    o.task = "comparing likelihoods on rows held out";
    return o;
}

/* The log densities of the rows held out, at the end of a training. */
static xb_status scores_of(xb_ctx *ctx, double **out, int64_t *n,
                           const xb_train_data *data, const xb_train_options *opt)
{
    xb_trainer *t = NULL;
    double mean = 0;
    XB_TRY(xb_trainer_create(ctx, &t, data, opt));
    t->traced = false;
    t->scored_at_end = true;
    xb_status status = XB_OK;
    while (status == XB_OK && !xb_trainer_done(t)) status = xb_trainer_advance(ctx, t);
    t->opt.validation_draws = DRAWS;
    if (status == XB_OK) status = xb_trainer_validate(t, &mean);
    if (status == XB_OK && !(*out = xb_new(ctx, t->held, sizeof **out)))
        status = XB_E_MEMORY;
    if (status == XB_OK) {
        *n = t->held;
        xb_trainer_row_scores(t, *out);
    }
    xb_trainer_destroy(t);
    return status;
}

/* Mean of a - b and its standard error. */
static xb_estimate paired(const double *a, const double *b, int64_t n)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += (a[i] - b[i]) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double d = a[i] - b[i] - mean;
        square += d * d;
    }
    return (xb_estimate){mean, sqrt(square / ((double)n * (double)(n - 1)))};
}

/* A training that diverged leaves no result. */
static xb_status try_two(xb_ctx *ctx, xb_estimate *gain, const xb_train_data *data,
                         const xb_train_options *rival, const xb_train_options *kept)
{
    double *a = NULL, *b = NULL;
    int64_t n = 0;
    xb_status status = scores_of(ctx, &a, &n, data, rival);
    if (status == XB_OK) status = scores_of(ctx, &b, &n, data, kept);
    if (status == XB_OK) *gain = paired(a, b, n);
    free(a);
    free(b);
    return status == XB_E_NUMERIC ? XB_OK : status;
}

/* (V22) */
xb_status xb_likelihood_trial(xb_ctx *ctx, xb_estimate *gain, const xb_train_data *data,
                              const xb_train_options *rival, const xb_train_options *kept)
{
    const xb_train_options a = trial_options(rival), b = trial_options(kept);
    *gain = (xb_estimate){NAN, NAN};
    if (data->n < LEAST_ROWS) return XB_OK;
    XB_TRY(try_two(ctx, gain, data, &a, &b));
    if (!xb_comm_together(ctx)) return XB_OK;
    xb_comm_share(ctx->comm, gain, sizeof *gain);
    return xb_comm_check(ctx);
}
