/* kernel.h: the kernels a level provides; kernel_body.h is their one source. */
#ifndef XB_DRAW_KERNEL_H
#define XB_DRAW_KERNEL_H

#include "base/level.h"
#include "crossbayes/draw.h"
#include "draw/draw_table.h"

enum { XB_BLOCK = 64 }; /* elements that share sixteen counters (R2) */

/* (N1, N7) y [rows][width] += x [rows][depth] (mu + sigma z), mu, sigma and z
 * [depth][width]. Outputs begin with a block: width and w_row are multiples of
 * XB_BLOCK. */
typedef struct xb_draw_product {
    float *y;
    const float *x, *mu, *sigma;
    int64_t rows, depth, width;
    int64_t x_row, y_row, w_row; /* distances of rows; w_row: of mu, sigma, z */
} xb_draw_product;

/* Does what xb_sampler_fill() does, with the kernels of one level. False: this machine
 * does not have that level. */
bool xb_sampler_fill_level(const xb_sampler *s, const char *level, float *z, int64_t n,
                           const xb_stream *where, int64_t first);

typedef struct xb_kernel {
    const char *level;
    bool fused; /* fused multiply-add: the same bytes as xb_table_value() */
    /* Raw words of `blocks` whole blocks from block `first`. */
    void (*words)(uint32_t *out, int64_t blocks, const xb_stream *where, int64_t first);
    /* Draws of `blocks` whole blocks. */
    void (*draws)(float *z, int64_t blocks, const xb_draw_source *source,
                  const xb_stream *where, int64_t first);
    /* The same for given words, XB_BLOCK * blocks of them. */
    void (*values)(float *z, int64_t blocks, const xb_draw_source *source,
                   const uint32_t *word);
    /* Optional: a product that consumes draws as it makes them, from block `first` on. */
    void (*multiply)(const xb_draw_product *job, const xb_draw_source *source,
                     const xb_stream *where, int64_t first);
} xb_kernel;

extern const xb_kernel xb_kernel_ref; /* plain C, the reference */

/* The best kernel that this machine can run; and the kernel of a given name, NULL if it
 * is not compiled in or the machine cannot run it. */
static inline const xb_kernel *xb_kernel_best(void) { return xb_level_at(0)->draw; }
const xb_kernel *xb_kernel_find(const char *level);

/* The data that a sampler's draws are made from, for backends that make them elsewhere.
 * Borrowed. */
const xb_draw_source *xb_sampler_source(const xb_sampler *s);

/* Computes the product with the draws of elements from `first` on, a multiple of
 * XB_BLOCK, by a kernel that has `multiply`; the bytes are those of its draws, multiplied
 * and added. */
void xb_sampler_multiply(const xb_sampler *s, const xb_kernel *kernel,
                         const xb_draw_product *job, const xb_stream *where,
                         int64_t first);

#endif
