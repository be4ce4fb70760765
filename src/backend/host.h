/* host.h: the backend of this machine: operations on plain memory, over the kernels of
 * any level of instruction sets. */
#ifndef XB_BACKEND_HOST_H
#define XB_BACKEND_HOST_H

#include "backend/backend.h"

/* noise.c */
void xb_host_draw(const xb_run *run, xb_real *theta);

/* moved_ops.c */
void xb_host_moved(const xb_run *run, const xb_moved_block *block, xb_real *y,
                   const xb_real *x);

/* likelihood.c */
double xb_host_loss(const xb_backend *b, const xb_loss *loss, xb_real *dy,
                    const xb_real *y, int64_t rows);

/* update_ops.c */
bool xb_host_finite(const xb_backend *b, const xb_real *x, int64_t n);
bool xb_host_squares_finite(const xb_backend *b, const float *x, int64_t n);
void xb_host_adam(const xb_backend *b, const xb_ctx *ctx, const xb_adam_block *block,
                  const xb_adam_rates *rates);
void xb_host_cells_fill(const xb_backend *b, const xb_ctx *ctx,
                        const xb_cell_block *block);
void xb_host_cells_chain(const xb_backend *b, const xb_ctx *ctx,
                         const xb_cell_block *block);
/* round_ops.c; first the largest |x|, 0 of none. */
double xb_largest_size(const float *x, int64_t n);
void xb_host_written(const xb_backend *b, const xb_ctx *ctx,
                     const xb_written_block *block);
void xb_host_spread_fill(const xb_backend *b, const xb_ctx *ctx,
                         xb_sigma_transform transform, float *sigma, const float *rho,
                         int64_t n);
void xb_host_spread_chain(const xb_backend *b, const xb_ctx *ctx,
                          xb_sigma_transform transform, float *gradient,
                          const float *sigma, int64_t n);
double xb_host_kl(const xb_backend *b, const xb_ctx *ctx, const xb_kl_block *block);

/* How a layer runs here, for what simulates on the host. */
static inline const xb_layer_ops *xb_host_layer(const xb_layer *layer)
{
    return xb_backend_layer(&xb_backend_host, layer);
}

#endif
