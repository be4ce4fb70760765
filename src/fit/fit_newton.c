/* fit_newton.c: Newton's method for likelihoods of a few variables; maths F4.
 *
 * The Hessian is split into eigenvectors. Along each of them the step is the gradient
 * divided by the size of the curvature, so it climbs even where the function is not
 * concave. Steps are bounded (variables are logarithms: 2 is a factor of 7) and halved
 * until the value rises. A variable at its bound, with the gradient pointing outwards, is
 * left out. From the standard starts it takes 5 to 15 steps to a gradient below 1e-12. */
#include <math.h>
#include <string.h>

#include "base/eigen.h"
#include "fit/optimise.h"

enum { STEPS_MAX = 200, HALVINGS = 40 };

static const double STEP_MAX = 2;
static const double GRADIENT_AIM = 1e-13;
static const double GRADIENT_GOOD = 1e-10; /* sufficient once the value no longer rises */

/* The variables that may move, and their part of gradient and Hessian. */
typedef struct free_part {
    int n;
    int index[XB_VARIABLES_MAX];
    double gradient[XB_VARIABLES_MAX];
    double vectors[XB_VARIABLES_MAX * XB_VARIABLES_MAX]; /* rows are eigenvectors */
    double curvature[XB_VARIABLES_MAX];
} free_part;

double xb_free_gradient(const xb_problem *p, const double *theta, const double *gradient,
                        bool *held)
{
    double norm = 0;
    for (int i = 0; i < p->n; i++) {
        bool outwards = (theta[i] <= p->lower[i] && gradient[i] < 0) ||
                        (theta[i] >= p->upper[i] && gradient[i] > 0);
        held[i] = !p->fixed[i] && outwards;
        if (!p->fixed[i] && !outwards) norm = fmax(norm, fabs(gradient[i]));
    }
    return norm;
}

static void take_free(free_part *out, const xb_problem *p, const double *gradient,
                      const double *hessian, const bool *held)
{
    double part[XB_VARIABLES_MAX * XB_VARIABLES_MAX];
    out->n = 0;
    for (int i = 0; i < p->n; i++)
        if (!p->fixed[i] && !held[i]) out->index[out->n++] = i;
    for (int a = 0; a < out->n; a++) {
        out->gradient[a] = gradient[out->index[a]];
        for (int b = 0; b < out->n; b++)
            part[a * out->n + b] = hessian[out->index[a] * p->n + out->index[b]];
    }
    if (!xb_eigen_symmetric(out->curvature, out->vectors, part, out->n))
        out->n = 0; /* without directions there is no step and no standard error */
}

static void newton_step(double *step, const xb_problem *p, const free_part *part)
{
    memset(step, 0, XB_VARIABLES_MAX * sizeof *step);
    double largest = 0, longest = 0;
    for (int k = 0; k < part->n; k++) largest = fmax(largest, fabs(part->curvature[k]));
    for (int k = 0; k < part->n; k++) { /* (F4) */
        const double *v = part->vectors + k * part->n;
        double along = 0;
        for (int a = 0; a < part->n; a++) along += v[a] * part->gradient[a];
        along /= fmax(fabs(part->curvature[k]), 1e-12 * largest + 1e-300);
        along = fmax(-STEP_MAX, fmin(STEP_MAX, along));
        for (int a = 0; a < part->n; a++) step[part->index[a]] += along * v[a];
    }
    for (int i = 0; i < p->n; i++) longest = fmax(longest, fabs(step[i]));
    for (int i = 0; i < p->n; i++) step[i] *= longest > STEP_MAX ? STEP_MAX / longest : 1;
}

typedef struct state {
    double theta[XB_VARIABLES_MAX], value, gradient[XB_VARIABLES_MAX];
    double hessian[XB_VARIABLES_MAX * XB_VARIABLES_MAX];
} state;

static void evaluate(state *s, const xb_problem *p)
{
    s->value = p->f(p->arg, s->theta, s->gradient, s->hessian);
}

/* At the maximum the value is dominated by rounding, but the gradient is still
 * informative. */
static bool improves(const state *next, const state *s, const xb_problem *p)
{
    const double rounding = 1e-13;
    bool held[XB_VARIABLES_MAX];
    if (next->value > s->value) return true;
    return next->value >= s->value - rounding * (1 + fabs(s->value)) &&
           xb_free_gradient(p, next->theta, next->gradient, held) <
               xb_free_gradient(p, s->theta, s->gradient, held);
}

/* Halves the step until the value improves. */
static bool advance(state *s, const xb_problem *p, const double *step)
{
    state next;
    for (int h = 0; h < HALVINGS; h++) {
        for (int i = 0; i < p->n; i++) {
            double moved = s->theta[i] + ldexp(step[i], -h);
            next.theta[i] = fmax(p->lower[i], fmin(p->upper[i], moved));
            if (p->fixed[i]) next.theta[i] = s->theta[i];
        }
        if (memcmp(next.theta, s->theta, (size_t)p->n * sizeof *step) == 0) return false;
        evaluate(&next, p);
        if (improves(&next, s, p)) {
            *s = next;
            return true;
        }
    }
    return false;
}

static xb_optimum report(const xb_problem *p, const state *s, int iterations)
{
    xb_optimum best = {.value = s->value, .iterations = iterations};
    memcpy(best.theta, s->theta, sizeof best.theta);
    memcpy(best.hessian, s->hessian, sizeof best.hessian);
    best.gradient_norm = xb_free_gradient(p, s->theta, s->gradient, best.at_bound);
    best.converged = best.gradient_norm <= XB_GRADIENT_LIMIT && isfinite(s->value);
    return best;
}

xb_optimum xb_newton(const xb_problem *p, const double *start)
{
    state s = {.value = 0};
    memcpy(s.theta, start, (size_t)p->n * sizeof *start);
    evaluate(&s, p);
    int steps = 0;
    double last = -INFINITY; /* the value a step ago */
    for (; steps < STEPS_MAX && isfinite(s.value); steps++) {
        bool held[XB_VARIABLES_MAX] = {false};
        double norm = xb_free_gradient(p, s.theta, s.gradient, held);
        if (norm <= fmax(p->aim, GRADIENT_AIM) ||
            (norm <= GRADIENT_GOOD && s.value <= last))
            break;
        last = s.value;
        free_part part;
        take_free(&part, p, s.gradient, s.hessian, held);
        double step[XB_VARIABLES_MAX];
        newton_step(step, p, &part);
        if (!advance(&s, p, step)) break;
    }
    return report(p, &s, steps);
}

void xb_covariance(double *covariance, const xb_problem *p, const xb_optimum *at)
{
    /* Curvatures below this share of the largest count as none. */
    const double flat = 1e-13;
    free_part part;
    double gradient[XB_VARIABLES_MAX] = {0};
    take_free(&part, p, gradient, at->hessian, at->at_bound);
    memset(covariance, 0, (size_t)(p->n * p->n) * sizeof *covariance);
    for (int k = 0; k < part.n; k++) {
        const double *v = part.vectors + k * part.n;
        /* ascending: the first is the most negative, the sharpest direction */
        bool none = !(part.curvature[k] < flat * part.curvature[0]);
        for (int a = 0; a < part.n; a++)
            for (int b = 0; b < part.n; b++) {
                double *to = &covariance[part.index[a] * p->n + part.index[b]];
                if (!none)
                    *to -= v[a] * v[b] / part.curvature[k];
                else if (a == b && fabs(v[a]) > 1e-3)
                    *to = INFINITY;
            }
    }
}
