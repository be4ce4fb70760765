/* likelihood_choice.c: chooses the likelihood of a target of numbers from the data (maths
 * V20).
 *
 * The net that was chosen under constant noise is trained again under each of the
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
    enum { LEAST = 50 }; /* rows: with fewer, the variance of counts is unknown */
    if (d->n < LEAST) return false;
    for (int64_t k = 0; k < m->targets; k++)
        if (!is_counted(d, m->targets, k)) return false;
    return true;
}

/* log of the unit that a row's density is per, beside that of masses: 0 where nothing
 * else is compared. */
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
        .score = xb_train_report_value(one->report, XB_TRACE_VALIDATION)};
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

static xb_status try_one(xb_ctx *ctx, xb_trained *out, xb_likelihood likelihood,
                         const char *net, const xb_train_data *data,
                         const xb_train_options *opt, bool traced)
{
    char task[64];
    xb_train_options o = *opt;
    snprintf(task, sizeof task, "training with a %s likelihood",
             xb_likelihood_name(likelihood));
    o.net = net;
    o.likelihood = likelihood;
    o.checkpoint = NULL;
    o.resume = false;
    o.task = task;
    return xb_train_one(ctx, out, data, &o, traced, true);
}

/* (V42) Counts may need a different net than normal noise: `net`, the one that was
 * rejected, is trained under them as well. NULL: none was. */
static xb_status try_net(xb_ctx *ctx, xb_trained *one, const char *net,
                         const xb_train_data *data, const xb_train_options *opt,
                         bool traced)
{
    xb_trained other = {0};
    if (!net) return XB_OK;
    xb_status status =
        try_one(ctx, &other, xb_model_likelihood(one->model), net, data, opt, traced);
    if (status == XB_OK) status = xb_train_keep_better(ctx, one, &other);
    xb_trained_drop(&other);
    return status == XB_E_NUMERIC ? XB_OK : status;
}

/* Trainings that are compared: all that were tried, and the one kept so far. */
typedef struct contest {
    xb_tried_likelihood tried[XB_TRIED_MOST];
    int count, kept;
    bool counted;
    double rows;  /* learnt from */
    char net[64]; /* of counts, once it is known */
} contest;

/* (V42) Poisson, which is tried last, is preferred to a negative binomial without further
 * evidence, because that has one more parameter, and the noise of the weights alone makes
 * counts look overdispersed. */
static bool is_taken(const contest *c, const xb_tried_likelihood *other)
{
    const double slack = 0.05; /* nats per row */
    xb_tried_likelihood kept = c->tried[c->kept];
    if (other->likelihood == XB_LIKELIHOOD_POISSON &&
        kept.likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL) {
        kept.f.value += slack * c->rows;
        return !is_ahead(&kept, other);
    }
    return is_ahead(other, &kept);
}

static xb_status try_likelihood(xb_ctx *ctx, contest *c, xb_likelihood likelihood,
                                xb_trained *best, const xb_train_data *data,
                                const xb_train_options *opt, bool traced)
{
    const bool counts = likelihood > XB_LIKELIHOOD_STUDENT, settled = counts && c->net[0];
    const char *net = settled ? c->net : xb_model_net_text(best->model);
    const char *left = xb_train_report_other_net(best->report);
    xb_trained other = {0};
    xb_status status = try_one(ctx, &other, likelihood, net, data, opt, traced);
    if (status == XB_E_NUMERIC) return XB_OK; /* those before it stand */
    if (status == XB_OK && counts && !settled)
        status = try_net(ctx, &other, left, data, opt, traced);
    if (status == XB_OK) {
        const xb_tried_likelihood tried = tried_of(&other, c->counted);
        if (counts && !settled && left) /* one of the two standard nets */
            snprintf(c->net, sizeof c->net, "%s", xb_model_net_text(other.model));
        if (is_taken(c, &tried)) {
            const xb_trained swap = *best;
            xb_train_report_inherit(other.report, best->report);
            *best = other;
            other = swap;
            c->kept = c->count;
        }
        c->tried[c->count++] = tried;
    }
    xb_trained_drop(&other);
    return status;
}

xb_status xb_likelihood_choose(xb_ctx *ctx, xb_trained *best, const xb_train_data *data,
                               const xb_train_options *opt, bool traced)
{
    static const xb_likelihood others[] = {
        XB_LIKELIHOOD_HETEROSCEDASTIC, XB_LIKELIHOOD_STUDENT,
        XB_LIKELIHOOD_NEGATIVE_BINOMIAL, XB_LIKELIHOOD_POISSON};
    const xb_backend *backend = NULL;
    contest c = {.count = 1,
                 .counted = all_counted(data, best->model),
                 .rows = (double)xb_train_report_row_count(best->report)};
    c.tried[0] = tried_of(best, c.counted);
    XB_TRY(xb_backend_open(ctx, &backend, opt->backend));
    for (int i = 0; i < XB_COUNT(others); i++) {
        if (!backend->more_losses && others[i] > XB_LIKELIHOOD_SOFTMAX) continue;
        if (!c.counted && others[i] > XB_LIKELIHOOD_STUDENT) continue;
        XB_TRY(try_likelihood(ctx, &c, others[i], best, data, opt, traced));
    }
    xb_train_report_tried(best->report, c.tried, c.count, c.kept);
    return XB_OK;
}
