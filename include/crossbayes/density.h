/* crossbayes/density.h: the density of a net's output under several laws of weight
 * noise, smooth enough to tell laws apart at a KL divergence of 1e-7.
 *
 *     const xb_law *laws[] = {gaussian, device, bimodal};
 *     xb_densities *d = NULL;
 *     if (xb_densities_create(ctx, &d, net, &weights, x, laws, 3, NULL) != XB_OK) ...
 *     xb_estimate kl = xb_densities_kl(d, 1, 0);    // KL(device || gaussian)
 *     printf("%g +- %g\n", kl.value, kl.std_error);
 *     xb_densities_destroy(d);
 *
 * Given the last hidden activations the output is a sum of independent scaled draws, so
 * its density is known through characteristic functions; those conditional densities
 * are averaged over draws of the hidden layers. All laws use the same random words
 * through their own quantiles, which leaves little noise in their differences. The result
 * has the same bytes for any number of threads. Formulas: docs/maths.md, section E.
 */
#ifndef CROSSBAYES_DENSITY_H
#define CROSSBAYES_DENSITY_H

#include "crossbayes/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_density_options {
    size_t struct_size;
    int64_t draws;  /* number of draws of the hidden layers; 0: 2^13 (wide nets) to 2^17
                       (narrow nets), as many as fit into a second or two on one core */
    int64_t blocks; /* 32: groups of draws whose spread gives the errors */
    int64_t grid;   /* 1024: points of a density, a power of two */
    uint64_t seed;  /* 1 */
    const char *backend; /* NULL: the context's */
} xb_density_options;

XB_OPTIONS(density);

typedef struct xb_densities xb_densities;

/* The net ends in a dense layer with one output and a random kernel; x is one example,
 * [input]. laws >= 1; they are standardised here. Law 0 is usually the reference for the
 * others. opt NULL: the defaults. */
XB_API xb_status xb_densities_create(xb_ctx *ctx, xb_densities **out, const xb_net *net,
                                     const xb_weights *weights, const xb_real *x,
                                     const xb_law *const *law, int64_t laws,
                                     const xb_density_options *opt);
XB_API void xb_densities_destroy(xb_densities *d); /* NULL is fine */

XB_API int64_t xb_densities_draws(const xb_densities *d);

/* Largest modulus of a characteristic function at half the grid's highest frequency.
 * Above 1e-3 the densities have detail finer than the grid can show (an output that is
 * nearly certain for some hidden draws): KL is then that of the densities seen through
 * the grid, and a finer grid may find more. */
XB_API double xb_densities_roughness(const xb_densities *d);

/* Equally spaced outputs [count], and the density of each law there [count]. */
XB_API int64_t xb_densities_count(const xb_densities *d);
XB_API const double *xb_densities_grid(const xb_densities *d);
XB_API const double *xb_densities_value(const xb_densities *d, int64_t law);
XB_API double xb_densities_step(const xb_densities *d); /* distance between two outputs */

/* The number of independent groups of draws, and the density [count] from one group
 * alone: the spread over groups gives the error of any number computed from a density.
 */
XB_API int64_t xb_densities_block_count(const xb_densities *d);
XB_API const double *xb_densities_block_value(const xb_densities *d, int64_t block,
                                              int64_t law);

/* A frozen value. */
typedef struct xb_estimate {
    double value, std_error; /* over hidden draws */
} xb_estimate;

/* KL(p_law || p_other), corrected to leading order for the bias from noise in the
 * densities; it may be slightly negative if the laws agree. */
XB_API xb_estimate xb_densities_kl(const xb_densities *d, int64_t law, int64_t other);

/* Moments of the output under one law, and their difference from those under law 0. Both
 * share their noise, so the gap has far smaller errors than a difference of two moments.
 * A frozen value. */
typedef struct xb_output_moments {
    xb_estimate mean, sd, skewness, excess_kurtosis;
} xb_output_moments;

XB_API xb_output_moments xb_densities_moments(const xb_densities *d, int64_t law);
XB_API xb_output_moments xb_densities_gap(const xb_densities *d, int64_t law);

#ifdef __cplusplus
}
#endif
#endif
