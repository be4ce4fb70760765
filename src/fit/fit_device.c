/* fit_device.c: the device families' maximum likelihood: starts, boundary
 * cases, standard errors; maths F3, F4, F6. The likelihood is in device_likelihood.c.
 *
 * Three starts are tried on a rough form of the sample, and the best one is followed to a
 * zero gradient on the fine form (graded.c). An optimum at w = 0 or 1 is set exactly and
 * the rest is fitted again; parameters without influence then get no standard error. */
#include <math.h>
#include <string.h>

#include "law/device.h"
#include "fit/device_likelihood.h"
#include "fit/fit_family.h"
#include "fit/graded.h"
#include "fit/optimise.h"

enum { STARTS = 3 };

/* A gradient that is small enough to choose a start. */
static const double ROUGH_AIM = 1e-4;
static const double LOGIT_MAX = 16;        /* w = 1e-7 */
static const double LOGIT_BOUNDARY = 11;   /* for w below 2e-5, w = 0 is tried */
static const double LOG_LENGTH_MIN = -6.9; /* B or sqrt B is at least 1e-3 */
static const double LOG_B_MAX = 6.9;       /* B = 1e3 */
static const double LOG_MARGIN_MIN = -18, LOG_MARGIN_MAX = 7;

static xb_problem problem_on(xb_device_data *data, double fixed_margin)
{
    xb_problem p = {.f = xb_device_likelihood, .arg = data, .n = XB_VARIABLES};
    p.lower[XB_LOGIT_W] = -LOGIT_MAX, p.upper[XB_LOGIT_W] = LOGIT_MAX;
    p.lower[XB_LOG_B] = LOG_LENGTH_MIN * (data->square ? 2 : 1);
    p.upper[XB_LOG_B] = LOG_B_MAX;
    p.lower[XB_LOG_MARGIN] = LOG_MARGIN_MIN, p.upper[XB_LOG_MARGIN] = LOG_MARGIN_MAX;
    p.fixed[XB_LOG_MARGIN] = !isnan(fixed_margin);
    return p;
}

/* Three starts: the paper's shape, a nearly Gaussian or nearly Laplacian one, and a sharp
 * peak on a broad parabola. `sd` is in units of the largest distance. */
static void starts_for(double start[STARTS][XB_VARIABLES], double sd, bool square,
                       double fixed_margin)
{
    double wide = 1.3 + 0.3 * isnan(fixed_margin);
    double matched = square ? 2 * sd * sd / (wide * wide) : sd / (M_SQRT2 * wide);
    const double first[STARTS][XB_VARIABLES] = {
        {0, log(0.15), log(0.02)},
        {2, log(fmax(matched, 1e-3)), log(wide - 1)},
        {-1, log(0.05), log(0.02)},
    };
    memcpy(start, first, sizeof first);
    for (int i = 0; i < STARTS && !isnan(fixed_margin); i++)
        start[i][XB_LOG_MARGIN] = fixed_margin;
}

/* (F4) If w has approached 0 or 1, sets it to that value and fits the rest again. */
static xb_optimum settle(xb_problem *p, xb_optimum best)
{
    if (fabs(best.theta[XB_LOGIT_W]) < LOGIT_BOUNDARY) return best;
    double theta[XB_VARIABLES];
    memcpy(theta, best.theta, sizeof theta);
    theta[XB_LOGIT_W] = copysign(INFINITY, best.theta[XB_LOGIT_W]);
    xb_problem inner = *p;
    inner.fixed[XB_LOGIT_W] = true;
    inner.fixed[XB_LOG_B] = theta[XB_LOGIT_W] < 0; /* without a peak B has no influence */
    xb_optimum at = xb_newton(&inner, theta);
    if (!(at.value >= best.value)) return best;
    at.iterations += best.iterations;
    *p = inner;
    return at;
}

static xb_optimum climb(xb_problem *p, const xb_fit_task *task,
                        xb_device_data *rough_data, double start[STARTS][XB_VARIABLES])
{
    xb_optimum best = {.value = -INFINITY};
    if (task->opt->optimiser == XB_OPTIMISER_ADAM) {
        best = xb_adam(p, start[0], task->opt->adam_rate);
    } else {
        xb_problem rough = *p;
        rough.arg = rough_data;
        rough.aim = ROUGH_AIM;
        for (int i = 0; i < STARTS; i++) {
            xb_optimum one = xb_newton(&rough, start[i]);
            if (i == 0 || one.value > best.value) best = one;
        }
        int before = best.iterations;
        best = xb_newton(p, best.theta);
        best.iterations += before;
    }
    return settle(p, best);
}

/* (F6) Uses the delta method, from the free variables. */
static void describe(xb_fit_family *out, const xb_problem *p, const xb_optimum *at,
                     const xb_fit_task *task, const xb_family *family, double largest)
{
    double cov[XB_VARIABLES * XB_VARIABLES], error[XB_VARIABLES];
    xb_covariance(cov, p, at);
    double n = (double)task->sample->n;
    for (int i = 0; i < XB_VARIABLES; i++) {
        double variance = cov[i * XB_VARIABLES + i];
        error[i] = variance > 0 ? sqrt(variance / n) * task->inflate : INFINITY;
        const double nothing = 3; /* error of a logarithm from which on the data do not
                                     determine the parameter */
        if (error[i] > nothing) error[i] = NAN;
    }
    double w = 1 / (1 + exp(-at->theta[XB_LOGIT_W]));
    double b = w > 0 ? exp(at->theta[XB_LOG_B]) : family->param[XB_DEVICE_B].standard;
    double margin = exp(at->theta[XB_LOG_MARGIN]);
    bool given = task->opt->fixed_scale > 0;
    double scale = given ? task->opt->fixed_scale : largest * (1 + margin);
    xb_fit_name(out, "B", b, b * error[XB_LOG_B]);
    xb_fit_name(out, "w", w, w * (1 - w) * error[XB_LOGIT_W]);
    xb_fit_name(out, "scale", scale,
                given ? NAN : largest * margin * error[XB_LOG_MARGIN]);
    double mean_error = task->sample->info.sd / sqrt(n) * task->inflate;
    xb_fit_name(out, "offset", task->offset,
                task->opt->has_fixed_offset ? NAN : mean_error);
    out->n_param = 2 + !given + !task->opt->has_fixed_offset;
    out->converged = at->converged;
    out->iterations = at->iterations;
    out->gradient_norm = at->gradient_norm;
    out->log_likelihood = n * (at->value - log(largest));
}

static void fit_points(xb_fit_family *out, const xb_fit_task *task,
                       const xb_family *family, const xb_points *fine,
                       const xb_points *rough, double largest)
{
    bool square = family->peak->square;
    xb_device_data fine_data = {fine, square}, rough_data = {rough, square};
    double margin = NAN, start[STARTS][XB_VARIABLES];
    if (task->opt->fixed_scale > 0) margin = log(task->opt->fixed_scale / largest - 1);
    starts_for(start, task->sample->info.sd / largest, square, margin);
    xb_problem p = problem_on(&fine_data, margin);
    xb_optimum best = climb(&p, task, &rough_data, start);
    describe(out, &p, &best, task, family, largest);
}

xb_status xb_fit_device(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task,
                        const xb_family *family)
{
    const xb_sample *s = task->sample;
    double largest =
        fmax(task->offset - s->sorted[0], s->sorted[s->n - 1] - task->offset);
    if (task->opt->fixed_scale > 0 && !(task->opt->fixed_scale > largest))
        return xb_fail(ctx, XB_E_INPUT,
                       "the samples reach %g from the offset: the half-width %g given"
                       " is too small for %s",
                       largest, task->opt->fixed_scale, family->name);
    xb_points fine, rough;
    XB_TRY(xb_graded_make(ctx, &fine, &rough, s->sorted, s->n, task->offset, largest,
                          family->peak->square));
    fit_points(out, task, family, &fine, &rough, largest);
    xb_points_free(&rough);
    xb_points_free(&fine);
    return XB_OK;
}
