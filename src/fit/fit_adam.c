/* fit_adam.c: the paper's optimiser, on the same likelihood and variables as
 * Newton's method; maths F11. It is kept for comparison: it takes some thousand steps to
 * the optimum that Newton's method reaches in a few. */
#include <math.h>
#include <string.h>

#include "fit/optimise.h"

enum { STEPS_MAX = 200000 };

/* TensorFlow's defaults, which the paper used. */
static const double BETA1 = 0.9, BETA2 = 0.999, EPSILON = 1e-7;
static const double GRADIENT_AIM = 1e-10;

xb_optimum xb_adam(const xb_problem *p, const double *start, double rate)
{
    double theta[XB_VARIABLES_MAX] = {0}, g[XB_VARIABLES_MAX] = {0};
    double m[XB_VARIABLES_MAX] = {0}, v[XB_VARIABLES_MAX] = {0}, power1 = 1, power2 = 1;
    memcpy(theta, start, (size_t)p->n * sizeof *start);
    int steps = 0;
    for (; steps < STEPS_MAX; steps++) {
        bool held[XB_VARIABLES_MAX];
        p->f(p->arg, theta, g, NULL);
        if (xb_free_gradient(p, theta, g, held) <= GRADIENT_AIM) break;
        power1 *= BETA1, power2 *= BETA2;
        double step = rate * sqrt(1 - power2) / (1 - power1);
        for (int i = 0; i < p->n; i++) { /* (F11) */
            if (p->fixed[i]) continue;
            m[i] += (1 - BETA1) * (g[i] - m[i]);
            v[i] += (1 - BETA2) * (g[i] * g[i] - v[i]);
            double moved = theta[i] + step * m[i] / (sqrt(v[i]) + EPSILON);
            theta[i] = fmax(p->lower[i], fmin(p->upper[i], moved));
        }
    }
    xb_optimum best = {.iterations = steps};
    memcpy(best.theta, theta, sizeof theta);
    best.value = p->f(p->arg, theta, g, best.hessian);
    best.gradient_norm = xb_free_gradient(p, theta, g, best.at_bound);
    best.converged = best.gradient_norm <= XB_GRADIENT_LIMIT && isfinite(best.value);
    return best;
}
