/* recurrence.c: the recurrence coefficients of the polynomials orthogonal under
 * a law, p_{k+1} = (x - alpha_k) p_k - beta_k p_{k-1}; maths Q6, Q12.
 *
 * Stable: the Lanczos procedure (lanczos.h) on a discrete form of the law
 * (discrete.h), unless the family knows its coefficients. Worst relative error of beta at
 * n = 256, B from 1e-3 to 1e6, bimodal to m = 0.999: 8e-15.
 *
 * Wheeler (1974), here on raw moments as the paper does it: the map from moments to
 * coefficients is so ill-conditioned that it breaks down at order 13 to 40. It is kept to
 * show that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "law/family.h"
#include "rule/discrete.h"
#include "rule/lanczos.h"
#include "rule/standard.h"

/* A rule of n points needs the moments up to 2 n - 2; those of an odd order vanish by
 * symmetry in every law that ends them. */
int64_t xb_rule_gauss_max(const xb_law *law)
{
    int64_t most = law->family->rule_most ? law->family->rule_most(law) : XB_RULE_MAX;
    return most < XB_RULE_MAX ? most : XB_RULE_MAX;
}

static xb_status check_moments(xb_ctx *ctx, const xb_law *law, int64_t n)
{
    int64_t most = xb_rule_gauss_max(law);
    if (n <= most) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "%s has no moments for a Gauss rule of %lld points: at most %lld %s",
                   xb_law_text(law), (long long)n, (long long)most,
                   xb_plural(most, "point", "points"));
}

static xb_status stable(xb_ctx *ctx, double *alpha, double *beta, const xb_law *law,
                        int64_t n)
{
    if (law->family->recurrence) {
        law->family->recurrence(law, alpha, beta, n);
        return XB_OK;
    }
    xb_discrete points;
    XB_TRY(xb_discrete_make(ctx, &points, law, n));
    xb_status status = xb_lanczos(ctx, alpha, beta, &points, n, xb_law_is_symmetric(law));
    xb_discrete_free(&points);
    return status;
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

/* NAN from the law, in this range, means that its grid found no memory. */
static xb_status moments_fill(xb_ctx *ctx, double *moment, const xb_law *law, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        moment[k] = xb_law_raw_moment(law, (int)k);
        if (isnan(moment[k]))
            return xb_fail(ctx, XB_E_MEMORY, "not enough memory for the moments of %s",
                           xb_law_text(law));
    }
    return XB_OK;
}

static xb_status by_moments(xb_ctx *ctx, double *alpha, double *beta, const xb_law *law,
                            int64_t n)
{
    enum { LARGEST = 64 }; /* raw moments end at 128; no law gets that far */
    int64_t used = n < LARGEST ? n : LARGEST, reached = 0;
    double *moment = xb_new(ctx, 4 * used, sizeof *moment);
    if (!moment) return XB_E_MEMORY;
    xb_status status = moments_fill(ctx, moment, law, 2 * used);
    if (status == XB_OK) reached = wheeler(alpha, beta, moment, moment + 2 * used, used);
    free(moment);
    if (status != XB_OK || reached == n) return status;
    return xb_fail(
        ctx, XB_E_NUMERIC,
        "Wheeler's algorithm on the raw moments of %s breaks down at order %lld",
        xb_law_text(law), (long long)reached + 1);
}

xb_status xb_rule_recurrence(xb_ctx *ctx, double *alpha, double *beta, const xb_law *law,
                             int64_t n, xb_recurrence_method method)
{
    XB_TRY(xb_rule_check_count(ctx, "Gauss", n, 1));
    XB_TRY(check_moments(ctx, law, n));
    double *work = xb_new(ctx, 2 * n, sizeof *work);
    if (!work) return XB_E_MEMORY;
    xb_status status;
    if (method == XB_RECURRENCE_WHEELER)
        status = by_moments(ctx, work, work + n, law, n);
    else
        status = stable(ctx, work, work + n, law, n);
    if (status == XB_OK) {
        memcpy(alpha, work, (size_t)n * sizeof *alpha);
        memcpy(beta, work + n, (size_t)n * sizeof *beta);
    }
    free(work);
    return status;
}
