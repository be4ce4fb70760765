/* recurrence.c: the recurrence coefficients of the polynomials orthogonal under
 * a law, p_{k+1} = (x - alpha_k) p_k - beta_k p_{k-1}; maths Q6, Q12.
 *
 * Stable: the Lanczos procedure (Gautschi 2004, section 2.2.3) on a discrete
 * form of the law (discrete.h); a symmetric law has alpha = 0 exactly and costs
 * half. The Gaussian has beta_k = k. Cost: order times points.
 *
 * Wheeler (1974), here on raw moments as the paper does it: the map from moments
 * to coefficients is so ill-conditioned that it breaks at order 13 to 40. Kept to
 * show that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rule/discrete.h"
#include "rule/standard.h"

/* Sum of lanes in a fixed order. */
static double lanes_total(const double lane[XB_DISCRETE_LANES])
{
    double total = 0;
    for (int l = 0; l < XB_DISCRETE_LANES; l++) total += lane[l];
    return total;
}

/* sum of x q^2 */
static double mean_position(const double *restrict x, const double *restrict q, int64_t n)
{
    double lane[XB_DISCRETE_LANES] = {0};
    for (int64_t i = 0; i < n; i += XB_DISCRETE_LANES)
        for (int l = 0; l < XB_DISCRETE_LANES; l++)
            lane[l] += x[i + l] * q[i + l] * q[i + l];
    return lanes_total(lane);
}

static double norm(const double *restrict q, int64_t n)
{
    double lane[XB_DISCRETE_LANES] = {0};
    for (int64_t i = 0; i < n; i += XB_DISCRETE_LANES)
        for (int l = 0; l < XB_DISCRETE_LANES; l++) lane[l] += q[i + l] * q[i + l];
    return sqrt(lanes_total(lane));
}

static void scale(double *restrict q, double factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) q[i] *= factor;
}

/* older = (x - alpha) q - root older: the next polynomial, not yet normed. */
static void step(double *restrict older, const double *restrict x,
                 const double *restrict q, double alpha, double root, int64_t n)
{
    for (int64_t i = 0; i < n; i++) older[i] = (x[i] - alpha) * q[i] - root * older[i];
}

/* (Q6) q and older: n_points each, q holding the root masses, older zero. */
static void lanczos(double *alpha, double *beta, const double *x, double *q,
                    double *older, int64_t points, int64_t n, bool symmetric)
{
    double root = 0;
    scale(q, 1 / norm(q, points), points);
    for (int64_t k = 0; k < n; k++) {
        beta[k] = k > 0 ? root * root : 1;
        alpha[k] = symmetric ? 0 : mean_position(x, q, points);
        step(older, x, q, alpha[k], root, points);
        root = norm(older, points);
        scale(older, 1 / root, points);
        double *swap = q;
        q = older;
        older = swap;
    }
}

static xb_status stable(xb_ctx *ctx, double *alpha, double *beta, const xb_law *law,
                        int64_t n)
{
    xb_discrete points;
    XB_TRY(xb_discrete_make(ctx, &points, law, n));
    double *older = xb_new(ctx, points.n, sizeof *older);
    if (older)
        lanczos(alpha, beta, points.x, points.root_mass, older, points.n, n,
                xb_law_symmetric(law));
    xb_discrete_free(&points);
    free(older);
    return older ? XB_OK : XB_E_MEMORY;
}

static xb_status gaussian(double *alpha, double *beta, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        alpha[k] = 0;
        beta[k] = k > 0 ? (double)k : 1; /* (Q5) */
    }
    return XB_OK;
}

/* (Q12) s[l] and older[l] hold sigma_{k,l} and sigma_{k-1,l} for l < 2n; s
 * comes as the raw moments. Returns the order at which beta fails, or n. */
static int64_t wheeler(double *alpha, double *beta, double *s, double *older, int64_t n)
{
    alpha[0] = s[1] / s[0];
    beta[0] = s[0];
    for (int64_t k = 1; k < n; k++) {
        double ratio = s[k] / s[k - 1];
        for (int64_t l = k; l < 2 * n - k; l++)
            older[l] = s[l + 1] - alpha[k - 1] * s[l] - beta[k - 1] * older[l];
        double *swap = s;
        s = older;
        older = swap;
        beta[k] = s[k] / older[k - 1];
        alpha[k] = s[k + 1] / s[k] - ratio;
        if (!(beta[k] > 0 && isfinite(beta[k]) && isfinite(alpha[k]))) return k;
    }
    return n;
}

static xb_status by_moments(xb_ctx *ctx, double *alpha, double *beta, const xb_law *law,
                            int64_t n)
{
    enum { LARGEST = 64 }; /* raw moments to 2n - 1 <= 128 */
    int64_t used = n < LARGEST ? n : LARGEST;
    double *moment = xb_new(ctx, 4 * used, sizeof *moment);
    if (!moment) return XB_E_MEMORY;
    for (int64_t k = 0; k < 2 * used; k++) moment[k] = xb_law_raw_moment(law, (int)k);
    int64_t reached = wheeler(alpha, beta, moment, moment + 2 * used, used);
    free(moment);
    if (reached == n) return XB_OK;
    return xb_fail(ctx, XB_E_NUMERIC,
                   "Wheeler's algorithm on the raw moments of %s breaks at order %lld",
                   xb_law_text(law), (long long)reached + 1);
}

xb_status xb_rule_recurrence(xb_ctx *ctx, double *alpha, double *beta, const xb_law *law,
                             int64_t n, xb_recurrence_method method)
{
    XB_TRY(xb_rule_check_count(ctx, "Gauss", n, 1));
    double *work = xb_new(ctx, 2 * n, sizeof *work);
    if (!work) return XB_E_MEMORY;
    xb_status status;
    if (method == XB_RECURRENCE_WHEELER)
        status = by_moments(ctx, work, work + n, law, n);
    else if (strcmp(xb_law_family(law), "gaussian") == 0)
        status = gaussian(work, work + n, n);
    else
        status = stable(ctx, work, work + n, law, n);
    if (status == XB_OK) {
        memcpy(alpha, work, (size_t)n * sizeof *alpha);
        memcpy(beta, work + n, (size_t)n * sizeof *beta);
    }
    free(work);
    return status;
}
