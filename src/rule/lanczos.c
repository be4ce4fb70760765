/* lanczos.c: the discretised Lanczos procedure; maths Q6.
 *
 * The vector q_k holds p_k(x_i) sqrt(m_i) for orthonormal p_k: each step multiplies by x,
 * subtracts the components along the two previous vectors, and normalises. Without
 * reorthogonalisation this is reliable as long as n stays well below the number of points
 * (Gautschi 2004, section 2.2.3), which discrete.c ensures. Cost: n times points.
 *
 * A point whose sqrt(m) underflows is dormant: its p_k is tracked separately, with its
 * own scale, until it is large enough to matter. So n = 4096 works for a Gaussian mode,
 * whose last points weigh exp(-8000). */
#include "rule/lanczos.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static const double WAKE_LOG = -690; /* exp of it is still a normal double */

typedef struct sleeper {
    int64_t at;
    double p, older; /* p_k and p_{k-1} at the point, times exp(log_scale) */
    double log_scale;
} sleeper;

typedef struct lanczos_state {
    int64_t n;       /* points */
    const double *x; /* [n] */
    double *q;       /* [n] */
    double *older;   /* [n] */
    sleeper *asleep; /* [sleepers] */
    int64_t sleepers;
} lanczos_state;

/* Sums go by blocks and, in a block, by lanes: order and rounding are the same
 * on every machine, and an error does not grow with the number of points. */
enum { BLOCK = 128 * XB_DISCRETE_LANES };

static double lanes_total(const double lane[XB_DISCRETE_LANES])
{
    double total = 0;
    for (int l = 0; l < XB_DISCRETE_LANES; l++) total += lane[l];
    return total;
}

static double block_mean_position(const double *restrict x, const double *restrict q,
                                  int64_t n)
{
    double lane[XB_DISCRETE_LANES] = {0};
    for (int64_t i = 0; i < n; i += XB_DISCRETE_LANES)
        for (int l = 0; l < XB_DISCRETE_LANES; l++)
            lane[l] += x[i + l] * q[i + l] * q[i + l];
    return lanes_total(lane);
}

static double block_square(const double *restrict q, int64_t n)
{
    double lane[XB_DISCRETE_LANES] = {0};
    for (int64_t i = 0; i < n; i += XB_DISCRETE_LANES)
        for (int l = 0; l < XB_DISCRETE_LANES; l++) lane[l] += q[i + l] * q[i + l];
    return lanes_total(lane);
}

/* sum of x q^2 */
static double mean_position(const double *x, const double *q, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += BLOCK)
        sum += block_mean_position(x + i, q + i, n - i < BLOCK ? n - i : BLOCK);
    return sum;
}

static double norm(const double *q, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += BLOCK)
        sum += block_square(q + i, n - i < BLOCK ? n - i : BLOCK);
    return sqrt(sum);
}

static void scale(double *restrict q, double factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) q[i] *= factor;
}

/* older = (x - alpha) q - root older: the next vector, not yet normed. */
static void advance(double *restrict older, const double *restrict x,
                    const double *restrict q, double alpha, double root, int64_t n)
{
    for (int64_t i = 0; i < n; i++) older[i] = (x[i] - alpha) * q[i] - root * older[i];
}

/* The same for the dormant points, normalised by `next`; those that have become large
 * enough join the others. */
static void advance_sleepers(lanczos_state *s, double alpha, double root, double next)
{
    const double large = 0x1p500;
    int64_t kept = 0;
    for (int64_t j = 0; j < s->sleepers; j++) {
        sleeper z = s->asleep[j];
        double p = ((s->x[z.at] - alpha) * z.p - root * z.older) / next;
        z.older = z.p, z.p = p;
        if (fabs(p) > large) {
            z.p /= large, z.older /= large;
            z.log_scale += log(large);
        }
        if (z.log_scale > WAKE_LOG) {
            s->q[z.at] = z.p * exp(z.log_scale);
            s->older[z.at] = z.older * exp(z.log_scale);
        } else {
            s->asleep[kept++] = z;
        }
    }
    s->sleepers = kept;
}

/* (Q6) */
static void lanczos(double *alpha, double *beta, lanczos_state *s, int64_t n,
                    bool symmetric)
{
    double root = 0;
    for (int64_t k = 0; k < n; k++) {
        beta[k] = k > 0 ? root * root : 1;
        alpha[k] = symmetric ? 0 : mean_position(s->x, s->q, s->n);
        advance(s->older, s->x, s->q, alpha[k], root, s->n);
        double next = norm(s->older, s->n);
        scale(s->older, 1 / next, s->n);
        double *swap = s->q;
        s->q = s->older;
        s->older = swap;
        advance_sleepers(s, alpha[k], root, next);
        root = next;
    }
}

/* q_0, and the dormant points. */
static void start(lanczos_state *s, const xb_discrete *points)
{
    double total = norm(points->root, points->n);
    for (int64_t i = 0; i < points->n; i++) {
        double log_root = points->log_root[i] - log(total);
        if (log_root > WAKE_LOG)
            s->q[i] = points->root[i] / total;
        else if (isfinite(log_root))
            s->asleep[s->sleepers++] = (sleeper){i, 1, 0, log_root};
    }
}

xb_status xb_lanczos(xb_ctx *ctx, double *alpha, double *beta, const xb_discrete *points,
                     int64_t n, bool symmetric)
{
    double *q = xb_new(ctx, 2 * points->n, sizeof *q);
    sleeper *asleep = xb_new(ctx, points->n, sizeof *asleep);
    if (q && asleep) {
        lanczos_state s = {points->n, points->x, q, q + points->n, asleep, 0};
        start(&s, points);
        lanczos(alpha, beta, &s, n, symmetric);
    }
    xb_status status = q && asleep ? XB_OK : XB_E_MEMORY;
    free(q);
    free(asleep);
    return status;
}
