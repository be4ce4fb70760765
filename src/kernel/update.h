/* update.h: the arithmetic that every training step applies to all parameters, as kernels
 * for the current machine. update_body.h is their one source; the plain one is for any
 * machine (tests/test_vi.c compares them). Kernels run on one thread;
 * backend/update_ops.c divides the work into pieces. */
#ifndef XB_KERNEL_UPDATE_H
#define XB_KERNEL_UPDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/level.h"

/* The numbers of a step; the rate includes the bias corrections (V7). */
typedef struct xb_adam_rates {
    float rate, beta1, beta2, rest1, rest2, epsilon;
} xb_adam_rates;

/* Sums over sigma and mu for a normal prior (V3). */
typedef struct xb_normal_sums {
    double square; /* sum of sigma^2 + (mu - mean)^2 */
    double logs;   /* sum of log sigma */
} xb_normal_sums;

typedef struct xb_update {
    const char *level;
    bool fused; /* whether multiply-adds are fused */
    /* (V8) sigma = exp(rho), at least FLT_MIN, that too where rho is NaN */
    void (*sigma_exp)(float *sigma, const float *rho, int64_t n);
    /* the gradient with respect to rho is that with respect to sigma, times sigma */
    void (*chain_exp)(float *gradient, const float *sigma, int64_t n);
    /* (V3) */
    xb_normal_sums (*normal_sums)(const float *mu, const float *sigma, int64_t n,
                                  double mean);
    /* grad_mu += scaled (mu - mean), grad_sigma += scaled sigma - weight / sigma */
    void (*normal_gradient)(float *grad_mu, float *grad_sigma, const float *mu,
                            const float *sigma, int64_t n, float mean, float scaled,
                            float weight);
    /* normal_sums, normal_gradient and chain_exp in one sweep: sigma = exp(rho), so logs
     * is the sum of rho; gradient is that by sigma before, by rho after */
    xb_normal_sums (*normal_exp)(float *grad_mu, float *gradient, const float *mu,
                                 const float *sigma, const float *rho, int64_t n,
                                 double mean, float scaled, float weight);
    /* (V7) parameters p, moments m and v, gradient g */
    void (*adam)(float *p, float *m, float *v, const float *g, int64_t n,
                 const xb_adam_rates *rates);
    /* adam of rho, then sigma_exp: the exponentials run beside Adam's roots */
    void (*adam_exp)(float *sigma, float *rho, float *m, float *v, const float *g,
                     int64_t n, const xb_adam_rates *rates);
    /* whether the squares of gradients are finite, which Adam sums */
    bool (*squares_finite)(const float *x, int64_t n);
    /* the number of values below the limit; n < 2^31 */
    int32_t (*count_below)(const int32_t *x, int32_t n, int32_t limit);
    /* place[i] in [0, first + i], from two words each (R3), is the element that a shuffle
     * swaps with; first + n < 2^31; the same at every level */
    void (*places)(int32_t *place, const uint32_t *word, int32_t first, int32_t n);
} xb_update;

extern const xb_update xb_update_plain;

/* The i-th kernels that this machine supports, the fastest first; NULL: no more. */
static inline const xb_update *xb_update_at(int i)
{
    return xb_level_at(i) ? xb_level_at(i)->update : NULL;
}
static inline const xb_update *xb_update_best(void) { return xb_level_at(0)->update; }

#endif
