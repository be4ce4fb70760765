/* cuda_module.h: the module's own state, and the tables that its files fill. */
#ifndef XBC_CUDA_MODULE_H
#define XBC_CUDA_MODULE_H

#include "backend/module.h"
#include "device.h"

/* The functions that the library provides; set when the module's entry was called. */
extern const xb_module_host *xbc_host;

/* A lock that lets one operation run at a time, because several threads may call at
 * once. */
void xbc_enter(void);
void xbc_leave(void);

#define XBC_INSIDE(CALL)                                                                 \
    do {                                                                                 \
        xbc_enter();                                                                     \
        CALL;                                                                            \
        xbc_leave();                                                                     \
    } while (0)

/* The sampler's source on the device, which is kept for the next call. Call it with
 * the lock held. */
xbc_source xbc_source_of(const xb_sampler *sampler);

/* cuda_array.c, cuda_block.c, cuda_linear.c, cuda_layers.c, cuda_many.c, cuda_stack.c,
 * cuda_training.c, cuda_updates.c */
extern const xb_array_ops xbc_array;
extern const xb_layer_ops xbc_dense, xbc_conv, xbc_maxpool_ops, xbc_batchnorm,
    xbc_activation, xbc_flatten, xbc_block_ops, xbc_norm_block_ops, xbc_stack_ops;

xbc_act xbc_act_of(const xb_layer *layer);
xbc_window xbc_window_of(const xb_window *w);
/* A batchnorm in the run's memory, and the size of that memory. */
xbc_norm xbc_norm_of(const xb_run *run, const xb_layer *layer);
int64_t xbc_norm_keep(const xb_run *run, const xb_layer *layer);
int64_t xbc_norm_scratch(const xb_run *run, const xb_layer *layer);
void xbc_op_draw(const xb_run *run, xb_real *theta);
void xbc_op_stream(const xb_backend *b, const xb_sampler *sampler, xb_real *z,
                   int64_t count, const xb_stream *where, int64_t first);
bool xbc_op_draws_suit(const xb_net *net);
void xbc_op_draws(const xb_run *run, xb_real *y, const xb_real *x, xb_real *theta,
                  int64_t count);
struct xb_many_steps;
int64_t xbc_op_steps_room(const struct xb_many_steps *steps);
int64_t xbc_op_steps(const struct xb_many_steps *steps, void *room);
double xbc_op_loss(const xb_backend *b, const xb_loss *loss, xb_real *dy,
                   const xb_real *y, int64_t rows);
bool xbc_op_finite(const xb_backend *b, const xb_real *x, int64_t n);
bool xbc_op_squares_finite(const xb_backend *b, const float *x, int64_t n);
void xbc_op_adam(const xb_backend *b, const xb_ctx *ctx, const xb_adam_block *block,
                 const xb_adam_rates *rates);
void xbc_op_spread_fill(const xb_backend *b, const xb_ctx *ctx,
                        xb_sigma_transform transform, float *sigma, const float *rho,
                        int64_t n);
void xbc_op_spread_chain(const xb_backend *b, const xb_ctx *ctx,
                         xb_sigma_transform transform, float *gradient,
                         const float *sigma, int64_t n);
double xbc_op_kl(const xb_backend *b, const xb_ctx *ctx, const xb_kl_block *k);

#endif
