/* fit_normal.c: maximum likelihood of `gaussian` (closed form) and `bimodal`
 * (Newton's method); maths F3, F6.
 *
 * bimodal in the user's units is half N(c - d, s^2), half N(c + d, s^2): its
 * variables are the centre, log s and d, all in standard deviations of the
 * sample. d = 0 is the Gaussian and always stationary, so the search starts
 * where the sample's kurtosis puts d; samples that are not flatter than a
 * Gaussian end at d = 0, reported with m = 0 and no standard error. */
#include <math.h>

#include "fit/condense.h"
#include "fit/fit_family.h"
#include "law/normal.h"
#include "fit/optimise.h"

xb_status xb_fit_normal(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task)
{
    (void)ctx;
    const xb_fit_sample *s = &task->sample->info;
    double n = (double)s->n, off = s->mean - task->offset;
    double sd = hypot(s->sd, off); /* (F3) about the offset */
    bool given = task->opt->has_fixed_offset;
    xb_fit_name(out, "scale", sd, sd / sqrt(2 * n) * task->inflate);
    xb_fit_name(out, "offset", task->offset, given ? NAN : sd / sqrt(n) * task->inflate);
    out->n_param = 1 + !given;
    out->converged = true;
    out->log_likelihood = -n * (0.5 * log(2 * M_PI) + log(sd) + 0.5);
    return XB_OK;
}

enum { CENTRE, LOG_S, D };

/* (F3) Mean log density of the points (x - mean) / sd, with derivatives. */
static double likelihood(void *arg, const double *theta, double *gradient,
                         double *hessian)
{
    const xb_points *points = arg;
    double k = exp(-2 * theta[LOG_S]), d = theta[D];
    double value = 0, g[3] = {0}, h[6] = {0};
    for (int64_t i = 0; i < points->n; i++) {
        double n = points->count[i], y = points->x[i] - theta[CENTRE];
        double a = k * y * d, decay = exp(-2 * fabs(a));
        double tanh_a = copysign((1 - decay) / (1 + decay), a);
        double sech2 = 4 * decay / ((1 + decay) * (1 + decay));
        double square = k * (y * y + d * d);
        value += n * (-0.5 * square + fabs(a) + log1p(decay));
        g[CENTRE] += n * k * (y - d * tanh_a);
        g[LOG_S] += n * (square - 1 - 2 * a * tanh_a);
        g[D] += n * k * (y * tanh_a - d);
        h[0] += n * k * (k * d * d * sech2 - 1);
        h[1] -= n * 2 * k * (y - d * tanh_a - a * d * sech2);
        h[2] -= n * k * (tanh_a + a * sech2);
        h[3] -= n * (2 * square - 4 * a * (tanh_a + a * sech2));
        h[4] += n * 2 * k * (d - y * tanh_a - a * y * sech2);
        h[5] += n * k * (k * y * y * sech2 - 1);
    }
    for (int i = 0; i < 3; i++) gradient[i] = g[i] / points->total;
    static const int at[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (int i = 0; i < 9 && hessian; i++) hessian[i] = h[at[i]] / points->total;
    return value / points->total - theta[LOG_S] - 0.5 * log(2 * M_PI) - M_LN2;
}

static xb_problem problem_on(xb_points *points, const xb_fit_task *task)
{
    const double thinnest = 2e-3; /* m below its limit 0.999999 */
    xb_problem p = {.f = likelihood, .arg = points, .n = XB_VARIABLES};
    p.lower[CENTRE] = -1e6, p.upper[CENTRE] = 1e6;
    p.lower[LOG_S] = log(thinnest), p.upper[LOG_S] = 14;
    p.lower[D] = 0, p.upper[D] = 1e6;
    p.fixed[CENTRE] = task->opt->has_fixed_offset;
    return p;
}

static xb_optimum climb(const xb_problem *p, const xb_fit_task *task)
{
    const xb_fit_sample *s = &task->sample->info;
    double flat = pow(fmax(-0.5 * s->excess_kurtosis, 0.01), 0.25); /* m of (L8) */
    double m[2] = {fmin(flat, 0.95), 0.9};
    xb_optimum best = {.value = -INFINITY};
    for (int i = 0; i < 2; i++) {
        double start[XB_VARIABLES];
        start[CENTRE] = (task->offset - s->mean) / s->sd;
        start[LOG_S] = 0.5 * log1p(-m[i] * m[i]);
        start[D] = m[i];
        bool adam = task->opt->optimiser == XB_OPTIMISER_ADAM;
        xb_optimum one =
            adam ? xb_adam(p, start, task->opt->adam_rate) : xb_newton(p, start);
        if (i == 0 || one.value > best.value) best = one;
        if (adam) break;
    }
    return best;
}

/* (F6) Computes m and the scale from s and d, and the derivatives for their errors. */
static void describe(xb_fit_family *out, const xb_problem *p, const xb_optimum *at,
                     const xb_fit_task *task)
{
    const double nothing = 0.3, none = 1e-3; /* d in standard deviations */
    const xb_fit_sample *info = &task->sample->info;
    double cov[9], n = (double)info->n, unit = task->inflate / sqrt(n);
    xb_covariance(cov, p, at);
    double s = exp(at->theta[LOG_S]), d = at->theta[D], scale = hypot(s, d);
    bool merged = d < none || !(sqrt(cov[8]) * unit < nothing);
    if (d < none) d = 0;
    double m = d / scale, m_d = s * s / pow(scale, 3), m_s = -d * s * s / pow(scale, 3);
    double scale_d = d / scale, scale_s = s * s / scale;
    double m_var = m_d * m_d * cov[8] + 2 * m_d * m_s * cov[5] + m_s * m_s * cov[4];
    double scale_var = scale_d * scale_d * cov[8] + 2 * scale_d * scale_s * cov[5] +
                       scale_s * scale_s * cov[4];
    if (merged) scale_var = 0.5 * scale * scale; /* the Gaussian's */
    double centre = info->mean + info->sd * at->theta[CENTRE];
    bool given = task->opt->has_fixed_offset;
    xb_fit_name(out, "m", m, merged || at->at_bound[LOG_S] ? NAN : sqrt(m_var) * unit);
    xb_fit_name(out, "scale", scale * info->sd, sqrt(scale_var) * unit * info->sd);
    xb_fit_name(out, "offset", given ? task->offset : centre,
                given ? NAN : sqrt(cov[0]) * unit * info->sd);
    out->n_param = 2 + !given;
    out->converged = at->converged;
    out->iterations = at->iterations;
    out->gradient_norm = at->gradient_norm;
    out->log_likelihood = n * (at->value - log(info->sd));
}

xb_status xb_fit_modes(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task)
{
    const xb_sample *s = task->sample;
    xb_points points;
    XB_TRY(xb_points_make(ctx, &points, s->sorted, s->n));
    for (int64_t i = 0; i < points.n; i++)
        points.x[i] = (points.x[i] - s->info.mean) / s->info.sd;
    xb_problem p = problem_on(&points, task);
    xb_optimum best = climb(&p, task);
    describe(out, &p, &best, task);
    xb_points_free(&points);
    return XB_OK;
}
