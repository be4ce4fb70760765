/* fit_smooth.c: maximum likelihood of a family that gives the derivatives of its log
 * density (`jet`): Newton's method on its own parameters, the logarithm of the scale and
 * the offset, all at once; maths F3, F4, F6, F15.
 *
 * The offset is a parameter like the others, because the sample's mean is a poor estimate
 * of it for a skewed or heavy-tailed law. Values are measured from the median in units of
 * the interquartile range, which outliers do not affect. Each of the family's starting
 * points is optimised on 512 order statistics; the best one continues on the whole
 * sample. */
#include <math.h>

#include "fit/condense.h"
#include "fit/fit_family.h"
#include "fit/optimise.h"

enum { ROUGH = 512, CHUNK = 64, VARIABLES = XB_LAW_PARAMS + 2 };

/* A gradient that is small enough to choose a start. */
static const double ROUGH_AIM = 1e-6;

typedef struct smooth_data {
    const xb_family *family;
    const xb_points *points; /* (x - centre) / unit */
} smooth_data;

/* (F15) Computes the derivatives of log q(v, y) - log s, y = (x - c) / s, from those of
 * log q. */
static void add_jet(double *value, double *g, double *h, const xb_log_jet *j, int own,
                    double y, double inverse, double count)
{
    const int n = own + 2, s = own, c = own + 1;
    *value += count * j->value;
    for (int a = 0; a < own; a++) {
        g[a] += count * j->v[a];
        for (int b = 0; b < own; b++) h[a * n + b] += count * j->vv[a][b];
        h[a * n + s] -= count * y * j->vx[a];
        h[a * n + c] -= count * inverse * j->vx[a];
    }
    g[s] -= count * (y * j->x + 1);
    g[c] -= count * inverse * j->x;
    h[s * n + s] += count * y * (j->x + y * j->xx);
    h[s * n + c] += count * inverse * (j->x + y * j->xx);
    h[c * n + c] += count * inverse * inverse * j->xx;
}

static double objective(void *arg, const double *theta, double *gradient, double *hessian)
{
    const smooth_data *d = arg;
    const int own = d->family->n_param, n = own + 2;
    double inverse = exp(-theta[own]), value = 0;
    double g[VARIABLES] = {0}, h[VARIABLES * VARIABLES] = {0}, y[CHUNK];
    xb_log_jet jet[CHUNK];
    for (int64_t from = 0; from < d->points->n; from += CHUNK) {
        int64_t size = d->points->n - from < CHUNK ? d->points->n - from : CHUNK;
        for (int64_t i = 0; i < size; i++)
            y[i] = (d->points->x[from + i] - theta[own + 1]) * inverse;
        d->family->jet(jet, theta, y, size);
        for (int64_t i = 0; i < size; i++)
            add_jet(&value, g, h, &jet[i], own, y[i], inverse,
                    d->points->count[from + i]);
    }
    for (int i = 0; i < n; i++) gradient[i] = g[i] / d->points->total;
    for (int i = 0; i < n && hessian; i++)
        for (int k = 0; k < n; k++)
            hessian[i * n + k] =
                (k >= i ? h[i * n + k] : h[k * n + i]) / d->points->total;
    return isnan(value) ? -INFINITY : value / d->points->total - theta[own];
}

/* ---- variables and parameters */

static double variable_of(xb_fit_by by, double parameter)
{
    return by == XB_FIT_LOG          ? log(parameter)
           : by == XB_FIT_RECIPROCAL ? 1 / parameter
                                     : parameter;
}

static double parameter_of(xb_fit_by by, double variable)
{
    return by == XB_FIT_LOG          ? exp(variable)
           : by == XB_FIT_RECIPROCAL ? 1 / variable
                                     : variable;
}

/* |d parameter / d variable| */
static double stretch_of(xb_fit_by by, double parameter)
{
    return by == XB_FIT_LOG          ? parameter
           : by == XB_FIT_RECIPROCAL ? parameter * parameter
                                     : 1;
}

static xb_problem problem_on(smooth_data *d, const xb_fit_task *task)
{
    const int own = d->family->n_param;
    xb_problem p = {.f = objective, .arg = d, .n = own + 2};
    for (int i = 0; i < own; i++) {
        double a = variable_of(d->family->fit_by[i], d->family->param[i].min);
        double b = variable_of(d->family->fit_by[i], d->family->param[i].max);
        p.lower[i] = fmin(a, b), p.upper[i] = fmax(a, b);
    }
    p.lower[own] = -14, p.upper[own] = 14;
    p.lower[own + 1] = -1e6, p.upper[own + 1] = 1e6;
    p.fixed[own + 1] = task->opt->has_fixed_offset;
    return p;
}

/* Chooses scale and offset so that the law's quartiles and median agree with the
 * sample's, which are 1 apart and 0. */
static xb_status start_at(xb_ctx *ctx, double *theta, const xb_family *family, int start,
                          bool has_offset, double offset)
{
    const int own = family->n_param;
    xb_law *law = NULL;
    XB_TRY(xb_law_create(ctx, &law, family->name, family->start[start], own));
    double scale = 1 / (xb_law_isf(law, 0.25) - xb_law_quantile(law, 0.25));
    for (int i = 0; i < own; i++)
        theta[i] = variable_of(family->fit_by[i], family->start[start][i]);
    theta[own] = log(scale);
    theta[own + 1] = has_offset ? offset : -scale * xb_law_quantile(law, 0.5);
    xb_law_destroy(law);
    return XB_OK;
}

/* ---- the fit */

typedef struct smooth_fit {
    const xb_fit_task *task;
    const xb_family *family;
    double centre, unit;
    xb_points fine, rough;
} smooth_fit;

static xb_status climb(xb_ctx *ctx, xb_optimum *best, xb_problem *p, const smooth_fit *f)
{
    smooth_data rough_data = {f->family, &f->rough};
    xb_problem rough = *p;
    rough.arg = &rough_data;
    rough.aim = ROUGH_AIM;
    bool adam = f->task->opt->optimiser == XB_OPTIMISER_ADAM;
    double from[VARIABLES], offset = (f->task->offset - f->centre) / f->unit;
    for (int i = 0; i < f->family->n_starts; i++) {
        XB_TRY(start_at(ctx, from, f->family, i, f->task->opt->has_fixed_offset, offset));
        xb_optimum one =
            adam ? xb_adam(p, from, f->task->opt->adam_rate) : xb_newton(&rough, from);
        if (i == 0 || one.value > best->value) *best = one;
        if (adam) return XB_OK;
    }
    int before = best->iterations;
    *best = xb_newton(p, best->theta);
    best->iterations += before;
    return XB_OK;
}

/* An upper bound of what the remaining gradient could add to the mean log likelihood. If
 * a law degenerates into another shape (two distant values), rounding keeps the gradient
 * above its limit. */
static bool nothing_to_gain(const xb_optimum *at, const double *cov, int n)
{
    const double nothing = 1e-13;
    double spread = 0;
    for (int i = 0; i < n; i++) spread += cov[i * n + i];
    return at->gradient_norm * at->gradient_norm * spread < nothing;
}

/* (F6) */
static void describe(xb_fit_family *out, const xb_problem *p, const xb_optimum *at,
                     const smooth_fit *f)
{
    const int own = f->family->n_param, n = own + 2;
    double cov[XB_VARIABLES_MAX * XB_VARIABLES_MAX] = {0}, error[VARIABLES] = {0};
    double count = (double)f->task->sample->n, scale = f->unit * exp(at->theta[own]);
    bool given = p->fixed[own + 1];
    xb_covariance(cov, p, at);
    for (int i = 0; i < n; i++)
        error[i] =
            at->at_bound[i] ? NAN : sqrt(cov[i * n + i] / count) * f->task->inflate;
    for (int i = 0; i < own; i++) {
        double value = parameter_of(f->family->fit_by[i], at->theta[i]);
        value = fmax(f->family->param[i].min, fmin(f->family->param[i].max, value));
        xb_fit_name(out, f->family->param[i].name, value,
                    error[i] * stretch_of(f->family->fit_by[i], value));
    }
    xb_fit_name(out, "scale", scale, scale * error[own]);
    xb_fit_name(out, "offset",
                given ? f->task->offset : f->centre + f->unit * at->theta[own + 1],
                given ? NAN : f->unit * error[own + 1]);
    out->n_param = n - given;
    out->converged = at->converged || nothing_to_gain(at, cov, n);
    out->iterations = at->iterations;
    out->gradient_norm = at->gradient_norm;
    out->log_likelihood = count * (at->value - log(f->unit));
}

static xb_status fit_points(xb_ctx *ctx, xb_fit_family *out, const smooth_fit *f)
{
    smooth_data data = {f->family, &f->fine};
    xb_problem p = problem_on(&data, f->task);
    xb_optimum best = {.value = -INFINITY};
    XB_TRY(climb(ctx, &best, &p, f));
    describe(out, &p, &best, f);
    return XB_OK;
}

/* Takes order statistics at equal steps of the mass. */
static void make_rough(xb_points *rough, double *x, double *count, const xb_sample *s)
{
    *rough = (xb_points){.x = x, .count = count};
    rough->n = s->n < ROUGH ? s->n : ROUGH;
    rough->total = (double)rough->n;
    for (int64_t i = 0; i < rough->n; i++) {
        x[i] = xb_sample_at(s, ((double)i + 0.5) / rough->total);
        count[i] = 1;
    }
}

static void place(xb_points *points, const smooth_fit *f)
{
    for (int64_t i = 0; i < points->n; i++)
        points->x[i] = (points->x[i] - f->centre) / f->unit;
}

xb_status xb_fit_smooth(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task,
                        const xb_family *family)
{
    const xb_sample *s = task->sample;
    double x[ROUGH], count[ROUGH];
    smooth_fit f = {.task = task, .family = family, .centre = xb_sample_at(s, 0.5)};
    f.unit = xb_sample_at(s, 0.75) - xb_sample_at(s, 0.25);
    const double least = 1e-3; /* of the standard deviation: most values are the same */
    if (!(f.unit > least * s->info.sd)) f.unit = s->info.sd;
    XB_TRY(xb_points_make(ctx, &f.fine, s->sorted, s->n));
    make_rough(&f.rough, x, count, s);
    place(&f.fine, &f);
    place(&f.rough, &f);
    xb_status status = fit_points(ctx, out, &f);
    xb_points_free(&f.fine);
    return status;
}
