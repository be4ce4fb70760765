/* crossbayes/draw.h: random draws from a law, at full speed.
 *
 *     xb_sampler *s = NULL;
 *     xb_sampler_create(ctx, &s, law, NULL);
 *     xb_stream where = {xb_key_make(seed, XB_PURPOSE_SAMPLE), 0, 0, 0};
 *     xb_sampler_fill(s, z, n, &where, 0);
 *
 * A draw is z = G(u), where u is a pure function of (seed, purpose, element, tensor,
 * sample, step): see crossbayes/random.h. The same address gives the same bytes on every
 * instruction-set level with fused multiply-add and with any number of threads.
 */
#ifndef CROSSBAYES_DRAW_H
#define CROSSBAYES_DRAW_H

#include "crossbayes/law.h"
#include "crossbayes/random.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_sampler xb_sampler;

typedef struct xb_sampler_options {
    size_t struct_size;
    bool standardise; /* true: mean 0, variance 1; false: on the law's support */
} xb_sampler_options;

XB_OPTIONS(sampler);

/* opt NULL: standardised, as networks need it. The sampler shares the law, which the
 * caller may destroy before the sampler. */
XB_API xb_status xb_sampler_create(xb_ctx *ctx, xb_sampler **out, const xb_law *law,
                                   const xb_sampler_options *opt);
XB_API void xb_sampler_destroy(xb_sampler *s);            /* NULL is fine */
XB_API const xb_law *xb_sampler_law(const xb_sampler *s); /* borrowed */

/* z[i] = draw of element first + i. Any `first` is valid; the fast path starts at once if
 * it is a multiple of 64. Never fails: n >= 0 and first + n <= XB_STREAM_MAX are
 * asserted. Runs in the calling thread. */
XB_API void xb_sampler_fill(const xb_sampler *s, float *z, int64_t n,
                            const xb_stream *where, int64_t first);
/* The same in double precision, from 53 bits per draw: one for the half, 52 for the mass.
 * It has its own stream layout: element i takes words 2i and 2i+1, and first + n <=
 * XB_STREAM_MAX / 2. */
XB_API void xb_sampler_fill_double(const xb_sampler *s, double *z, int64_t n,
                                   const xb_stream *where, int64_t first);
/* The bytes of xb_sampler_fill, computed by all threads of the context. */
XB_API void xb_sampler_fill_parallel(xb_ctx *ctx, const xb_sampler *s, float *z,
                                     int64_t n, const xb_stream *where, int64_t first);

/* Draws from words that the caller chooses: z[i] = value of word[i]. The same words under
 * two laws give draws of the same u, which makes precise comparisons of laws possible. */
XB_API void xb_sampler_map(const xb_sampler *s, float *z, const uint32_t *word,
                           int64_t n);

/* The value that a 32-bit word becomes (D9): bit 31 chooses the half, and the other 31
 * bits k give the tail mass v = (k + 1/2) 2^-32, in (0, 1/2), both ends open. */
XB_API float xb_sampler_value(const xb_sampler *s, uint32_t word);
/* G in double: mass v in (0, 1/2] in the lower (upper = false) or upper tail. */
XB_API double xb_sampler_quantile(const xb_sampler *s, double v, bool upper);

/* How a sampler was built. A frozen value. */
typedef struct xb_sampler_info {
    int64_t pieces; /* number of pieces of the float table; both halves if the law is
                       asymmetric */
    int64_t degree;
    double slow_share;     /* share of draws that take the double path */
    int64_t double_pieces; /* number of pieces of the double path, all halves */
    int64_t double_degree;
    double float_u_error; /* largest |Q(G(u)) - u| seen when the table was built */
    double double_u_error;
} xb_sampler_info;

XB_API xb_sampler_info xb_sampler_describe(const xb_sampler *s);

/* n draws of `law` on its own support by its exact quantile, in double. This is slow; it
 * serves examples and tests of samplers. Draw i depends only on (seed, i). Free *out with
 * xb_free(). */
XB_API xb_status xb_noise_draw(xb_ctx *ctx, double **out, const xb_law *law, int64_t n,
                               uint64_t seed);
/* The built-in synthetic noise sample: n such draws of mtj:B=0.15,w=0.5. */
XB_API xb_status xb_builtin_noise(xb_ctx *ctx, double **out, int64_t n, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
