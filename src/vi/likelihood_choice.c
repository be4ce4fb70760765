/* likelihood_choice.c: chooses the likelihood of a target of numbers from the data (maths
 * V20).
 *
 * A net that was trained with constant noise is trained again under each of the
 * others, with all other settings the same. F accounts for everything that is fitted, so
 * it decides; with rows held out, their log density decides. Another likelihood is chosen
 * only if it is better by more than twice the error of the difference; without such
 * evidence noise stays constant.
 *
 * Laws of counts are tried if targets could be counts. They have masses while the others
 * have densities; a density per unit of the target, not of the standardised target, is
 * comparable with the mass of a whole number (V42). */
#include "vi/likelihood_choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

bool xb_likelihood_is_open(const xb_train_data *data, const xb_train_options *o)
{
    const bool left = o->likelihood == XB_LIKELIHOOD_AUTO && data->classes == 0;
    return left && (!o->net || o->choose_likelihood) && xb_train_comparable(data, o) &&
           o->effort != XB_TRAIN_EFFORT_QUICK && !(o->noise_prior == 0);
}

/* (V42) Target k could be a count: whole numbers from 0 on, not far above 10,000, whose
 * variance is at least their mean but for its error. */
static bool is_counted(const xb_train_data *d, int64_t targets, int64_t k)
{
    const double most = 1e4, errors = 3, n = (double)d->n;
    double mean = 0, square = 0;
    for (int64_t i = 0; i < d->n; i++) {
        const double y = xb_train_target(d, targets, i)[k];
        if (!xb_is_count(y)) return false;
        mean += y / n;
    }
    for (int64_t i = 0; i < d->n; i++) {
        const double e = xb_train_target(d, targets, i)[k] - mean;
        square += e * e / n;
    }
    return mean <= most && mean > 0 && square >= mean * (1 - errors * sqrt(2 / n));
}

static bool all_counted(const xb_train_data *d, const xb_model *m)
{
    /* Smallest number of rows; with fewer, the variance of counts is unknown. */
    enum { LEAST = 50 };
    if (d->n < LEAST) return false;
    for (int64_t k = 0; k < m->targets; k++)
        if (!is_counted(d, m->targets, k)) return false;
    return true;
}

/* The log of the unit of a row's density, for comparison with masses: 0 if nothing else
 * is compared. */
static double log_unit(const xb_model *m, bool counted)
{
    double sum = 0;
    if (!counted || xb_model_of_counts(m)) return 0;
    for (int64_t k = 0; k < m->targets; k++) sum += log(m->y_sd[k]);
    return sum;
}

static xb_tried_likelihood tried_of(const xb_trained *one, bool counted)
{
    const double unit = log_unit(one->model, counted);
    xb_tried_likelihood tried = {
        .likelihood = xb_model_likelihood(one->model),
        .f = xb_train_report_f(one->report),
        .score = xb_train_report_value(one->report, XB_HISTORY_VALIDATION)};
    tried.f.value += unit * (double)xb_train_report_row_count(one->report);
    tried.score -= unit;
    return tried;
}

/* (V20) Two standard errors ahead by F, or ahead on rows held out. */
static bool is_ahead(const xb_tried_likelihood *a, const xb_tried_likelihood *b)
{
    if (isfinite(b->score)) return a->score > b->score;
    const double error = hypot(a->f.std_error, b->f.std_error);
    return a->f.value + (isfinite(error) ? 2 * error : 0) < b->f.value;
}

enum { TASK_TEXT = 64 };

static xb_train_options options_of(char task[TASK_TEXT], xb_likelihood likelihood,
                                   const char *net, const xb_train_options *opt)
{
    xb_train_options o = *opt;
    snprintf(task, TASK_TEXT, "training with a %s likelihood",
             xb_likelihood_name(likelihood));
    o.net = net;
    o.likelihood = likelihood;
    o.checkpoint = NULL;
    o.resume = false;
    o.task = task;
    return o;
}

/* The likelihoods to be compared with the one that `best` has, in this order: for
 * constant noise all others that suit the target, for counts the other law of counts. */
enum { OTHERS = 4 };

static int others_of(xb_likelihood others[OTHERS], const xb_model *best, bool counted,
                     bool more)
{
    static const xb_likelihood all[OTHERS] = {
        XB_LIKELIHOOD_HETEROSCEDASTIC, XB_LIKELIHOOD_STUDENT,
        XB_LIKELIHOOD_NEGATIVE_BINOMIAL, XB_LIKELIHOOD_POISSON};
    const int first = xb_model_of_counts(best) ? 2 : 0, end = counted ? OTHERS : 2;
    int n = 0;
    for (int i = first; i < end; i++)
        if (all[i] != xb_model_likelihood(best) &&
            (more || all[i] <= XB_LIKELIHOOD_SOFTMAX))
            others[n++] = all[i];
    return n;
}

/* ---- trainings that ranks have done in advance */

typedef struct shelf {
    xb_train_item item[OTHERS];
    xb_trained out[OTHERS];
    char task[OTHERS][TASK_TEXT];
    int count;
} shelf;

static xb_status shelf_fill(xb_ctx *ctx, shelf *s, const xb_likelihood *others, int n,
                            const xb_trained *best, const xb_train_data *data,
                            const xb_train_options *opt, bool traced)
{
    const char *net = xb_model_net_text(best->model);
    for (int i = 0; i < n; i++)
        s->item[i] = (xb_train_item){.data = *data,
                                     .opt = options_of(s->task[i], others[i], net, opt),
                                     .traced = traced,
                                     .out = &s->out[i]};
    s->count = n;
    return n > 0 ? xb_train_items(ctx, s->item, n) : XB_OK;
}

static void shelf_free(shelf *s)
{
    for (int i = 0; i < s->count; i++) xb_trained_drop(&s->out[i]);
}

/* Takes the training from the shelf if it is there. */
static xb_status try_one(xb_ctx *ctx, shelf *s, xb_trained *out, xb_likelihood likelihood,
                         const char *net, const xb_train_data *data,
                         const xb_train_options *opt, bool traced)
{
    char task[TASK_TEXT];
    for (int i = 0; i < s->count; i++) {
        const xb_train_item *done = &s->item[i];
        if (done->opt.likelihood != likelihood) continue;
        if (done->status != XB_OK) return xb_fail(ctx, done->status, "%s", done->why);
        *out = s->out[i];
        s->out[i] = (xb_trained){0};
        return XB_OK;
    }
    const xb_train_options o = options_of(task, likelihood, net, opt);
    return xb_train_one(ctx, out, data, &o, traced, true);
}

/* Trainings that are compared: all that were tried, and the one kept so far. */
typedef struct contest {
    xb_tried_likelihood tried[XB_TRIED_MOST];
    int count, kept;
    bool counted;
    double rows; /* number of training rows */
    shelf shelf;
} contest;

/* (V42) Poisson is preferred to a negative binomial without further evidence, because
 * that has one more parameter, and the noise of the weights alone makes counts look
 * overdispersed. */
static bool is_taken(const contest *c, const xb_tried_likelihood *other)
{
    const double slack = 0.05 * c->rows; /* nats */
    xb_tried_likelihood kept = c->tried[c->kept], rival = *other;
    if (rival.likelihood == XB_LIKELIHOOD_POISSON &&
        kept.likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL) {
        kept.f.value += slack;
        return !is_ahead(&kept, &rival);
    }
    if (rival.likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL &&
        kept.likelihood == XB_LIKELIHOOD_POISSON)
        rival.f.value += slack;
    return is_ahead(&rival, &kept);
}

static xb_status try_likelihood(xb_ctx *ctx, contest *c, xb_likelihood likelihood,
                                xb_trained *best, const xb_train_data *data,
                                const xb_train_options *opt, bool traced)
{
    xb_trained other = {0};
    const xb_status status = try_one(ctx, &c->shelf, &other, likelihood,
                                     xb_model_net_text(best->model), data, opt, traced);
    if (status == XB_E_NUMERIC) return XB_OK; /* earlier results stay valid */
    XB_TRY(status);
    const xb_tried_likelihood tried = tried_of(&other, c->counted);
    if (is_taken(c, &tried)) {
        const xb_trained swap = *best;
        xb_train_report_inherit(other.report, best->report);
        *best = other;
        other = swap;
        c->kept = c->count;
    }
    c->tried[c->count++] = tried;
    xb_trained_drop(&other);
    return XB_OK;
}

xb_status xb_likelihood_choose(xb_ctx *ctx, xb_trained *best, const xb_train_data *data,
                               const xb_train_options *opt, bool traced, bool dealt)
{
    const xb_backend *backend = NULL;
    xb_likelihood others[OTHERS] = {0};
    XB_TRY(xb_backend_open(ctx, &backend, opt->backend));
    contest *c = xb_new(ctx, 1, sizeof *c);
    if (!c) return XB_E_MEMORY;
    c->count = 1;
    c->counted = all_counted(data, best->model);
    c->rows = (double)xb_train_report_row_count(best->report);
    c->tried[0] = tried_of(best, c->counted);
    const bool more = backend->more_losses;
    const int n = others_of(others, best->model, c->counted, more);
    xb_status status = XB_OK;
    if (dealt && more)
        status = shelf_fill(ctx, &c->shelf, others, n, best, data, opt, traced);
    for (int i = 0; i < n && status == XB_OK; i++)
        status = try_likelihood(ctx, c, others[i], best, data, opt, traced);
    if (status == XB_OK) xb_train_report_tried(best->report, c->tried, c->count, c->kept);
    shelf_free(&c->shelf);
    free(c);
    return status;
}
