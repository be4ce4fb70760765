/* fit_any.c: maximum likelihood of a family that gives only its density: Newton's
 * method on its own parameters, the logarithm of the scale and the offset, with
 * derivatives by differences; maths F3, F4, F6.
 *
 * For a law with a bounded support, the offset puts its mean at the sample's; a given
 * offset stays. Gradients use five points per variable (with an error of the fourth power
 * of the step), second derivatives three. A law is made for every point of a difference,
 * about 30 per step, so a fit takes tenths of a second. */
#include <math.h>

#include "fit/condense.h"
#include "fit/fit_family.h"
#include "fit/optimise.h"

/* The step of a difference: relative, and for the log scale. */
static const double STEP = 1e-3;

typedef struct any_data {
    xb_ctx *ctx;
    const xb_points *points; /* (x - mean) / sd of the sample */
    const xb_family *family;
    bool has_offset;
    double offset; /* the given offset, in the same units */
    bool by_mean;  /* the law's support has an end */
} any_data;

static double scale_of(const any_data *d, const double *theta)
{
    return exp(theta[d->family->n_param]);
}

static double offset_of(const any_data *d, const xb_law *law, const double *theta)
{
    if (d->has_offset) return d->offset;
    return d->by_mean ? -scale_of(d, theta) * xb_law_mean(law)
                      : theta[d->family->n_param + 1];
}

/* The mean log density of the points; -INFINITY if there is no such law. */
static double value_at(const any_data *d, const double *theta)
{
    xb_law *law = NULL;
    if (xb_law_create(d->ctx, &law, d->family->name, theta, d->family->n_param) != XB_OK)
        return -INFINITY;
    double scale = scale_of(d, theta), offset = offset_of(d, law, theta), sum = 0;
    for (int64_t i = 0; i < d->points->n; i++)
        sum +=
            d->points->count[i] * xb_law_log_pdf(law, (d->points->x[i] - offset) / scale);
    xb_law_destroy(law);
    return isnan(sum) ? -INFINITY : sum / d->points->total - log(scale);
}

static double step_of(const any_data *d, const double *theta, int i)
{
    bool own = i < d->family->n_param;
    return own ? STEP * fmax(fabs(theta[i]), STEP) : STEP;
}

static double moved(const any_data *d, const double *theta, int i, double by_i, int j,
                    double by_j)
{
    double at[XB_LAW_PARAMS + 2] = {0};
    for (int k = 0; k < d->family->n_param + 2; k++) at[k] = theta[k];
    at[i] += by_i;
    at[j] += by_j;
    return value_at(d, at);
}

static double objective(void *arg, const double *theta, double *gradient, double *hessian)
{
    const any_data *d = arg;
    const int n = d->family->n_param + 2;
    double centre = value_at(d, theta);
    for (int i = 0; i < n; i++) {
        double h = step_of(d, theta, i);
        double near_up = moved(d, theta, i, h, i, 0),
               far_up = moved(d, theta, i, h, i, h);
        double near_down = moved(d, theta, i, -h, i, 0),
               far_down = moved(d, theta, i, -h, i, -h);
        gradient[i] = (8 * (near_up - near_down) - (far_up - far_down)) / (12 * h);
        if (hessian) hessian[i * n + i] = (near_up - 2 * centre + near_down) / (h * h);
    }
    for (int i = 0; i < n && hessian; i++)
        for (int j = 0; j < i; j++) {
            double h = step_of(d, theta, i), k = step_of(d, theta, j);
            double both = moved(d, theta, i, h, j, k) - moved(d, theta, i, h, j, -k) -
                          moved(d, theta, i, -h, j, k) + moved(d, theta, i, -h, j, -k);
            hessian[i * n + j] = hessian[j * n + i] = both / (4 * h * k);
        }
    return centre;
}

/* Differences stay inside the parameters' ranges. */
static xb_problem problem_on(any_data *d, const xb_fit_task *task)
{
    const int n = d->family->n_param;
    xb_problem p = {.f = objective, .arg = d, .n = n + 2};
    for (int i = 0; i < n; i++) {
        const xb_param_info *info = &d->family->param[i];
        double room = 3 * STEP;
        p.lower[i] = info->min + room * fmax(fabs(info->min), STEP);
        p.upper[i] = info->max - room * fmax(fabs(info->max), STEP);
    }
    p.lower[n] = -14, p.upper[n] = 14;
    p.fixed[n] = task->opt->fixed_scale > 0;
    p.lower[n + 1] = -1e6, p.upper[n + 1] = 1e6;
    p.fixed[n + 1] = d->has_offset || d->by_mean;
    return p;
}

static xb_status start_at(any_data *d, double *theta, const xb_fit_task *task)
{
    const int n = d->family->n_param;
    for (int i = 0; i < n; i++) theta[i] = d->family->param[i].standard;
    xb_law *law = NULL;
    XB_TRY(xb_law_create(d->ctx, &law, d->family->name, theta, n));
    const xb_points *x = d->points;
    d->by_mean = isfinite(law->lower) || isfinite(law->upper);
    double scale = 1 / law->sd,
           offset = d->has_offset ? d->offset : -scale * xb_law_mean(law);
    /* for a support that ends, so that all values are inside */
    const double inside = 1.02;
    scale = fmax(scale, inside * (x->x[x->n - 1] - offset) / law->upper);
    scale = fmax(scale, inside * (x->x[0] - offset) / law->lower);
    if (task->opt->fixed_scale > 0)
        scale = task->opt->fixed_scale / task->sample->info.sd;
    theta[n] = log(scale);
    theta[n + 1] = offset;
    xb_law_destroy(law);
    return XB_OK;
}

/* (F6) */
static xb_status describe(const any_data *d, xb_fit_family *out, const xb_problem *p,
                          const xb_optimum *at, const xb_fit_task *task)
{
    const int n = d->family->n_param;
    const xb_fit_sample *info = &task->sample->info;
    double cov[XB_VARIABLES_MAX * XB_VARIABLES_MAX],
        unit = task->inflate / sqrt((double)info->n);
    double scale = scale_of(d, at->theta);
    xb_law *law = NULL;
    XB_TRY(xb_law_create(d->ctx, &law, d->family->name, at->theta, n));
    double offset = info->mean + info->sd * offset_of(d, law, at->theta);
    xb_law_destroy(law);
    xb_covariance(cov, p, at);
    for (int i = 0; i <= n; i++) {
        bool free = !p->fixed[i] && !at->at_bound[i];
        double error = free ? sqrt(cov[i * (n + 2) + i]) * unit : NAN;
        if (i < n)
            xb_fit_name(out, d->family->param[i].name, at->theta[i], error);
        else
            xb_fit_name(out, "scale", scale * info->sd, scale * info->sd * error);
    }
    double spread = d->by_mean ? 1 : sqrt(cov[(n + 2) * (n + 2) - 1]);
    xb_fit_name(out, "offset", offset, d->has_offset ? NAN : info->sd * unit * spread);
    out->n_param = n + !p->fixed[n] + !d->has_offset;
    out->converged = at->converged;
    out->iterations = at->iterations;
    out->gradient_norm = at->gradient_norm;
    out->log_likelihood = (double)info->n * (at->value - log(info->sd));
    return XB_OK;
}

static xb_status fit_points(any_data *d, xb_fit_family *out, const xb_fit_task *task)
{
    double start[XB_LAW_PARAMS + 2] = {0};
    XB_TRY(start_at(d, start, task));
    xb_problem p = problem_on(d, task);
    bool adam = task->opt->optimiser == XB_OPTIMISER_ADAM;
    xb_optimum best =
        adam ? xb_adam(&p, start, task->opt->adam_rate) : xb_newton(&p, start);
    return describe(d, out, &p, &best, task);
}

xb_status xb_fit_any(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task,
                     const xb_family *family)
{
    const xb_sample *s = task->sample;
    xb_points points;
    XB_TRY(xb_points_make(ctx, &points, s->sorted, s->n));
    for (int64_t i = 0; i < points.n; i++)
        points.x[i] = (points.x[i] - s->info.mean) / s->info.sd;
    any_data d = {.ctx = ctx,
                  .points = &points,
                  .family = family,
                  .has_offset = task->opt->has_fixed_offset,
                  .offset = (task->offset - s->info.mean) / s->info.sd};
    xb_status status = fit_points(&d, out, task);
    xb_points_free(&points);
    return status;
}
