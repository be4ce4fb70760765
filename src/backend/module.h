/* module.h: the interface between this library and a backend in a separate module. Both
 * are compiled from the same headers; when the module is loaded, the two sides compare
 * what they must agree on. */
#ifndef XB_BACKEND_MODULE_H
#define XB_BACKEND_MODULE_H

#include "backend/steps.h"
#include "draw/draw_scalar.h"

enum { XB_MODULE_VERSION = 1 };

/* Sizes of the structs that both sides read. */
typedef struct xb_module_layout {
    size_t backend, run, ops, layer, kind, net, tensor, loss, kl, cross, moved, array,
        tile, adam, rates, source, piece, steps, step, chain_link;
} xb_module_layout;

#define XB_MODULE_LAYOUT                                                                 \
    {                                                                                    \
        sizeof(xb_backend), sizeof(xb_run), sizeof(xb_layer_ops), sizeof(xb_layer),      \
            sizeof(xb_layer_kind), sizeof(struct xb_net), sizeof(xb_tensor),             \
            sizeof(xb_loss), sizeof(xb_kl_block), sizeof(xb_cross),                      \
            sizeof(xb_moved_block), sizeof(xb_array_ops), sizeof(xb_tile_block),         \
            sizeof(xb_adam_block), sizeof(xb_adam_rates), sizeof(xb_draw_source),        \
            sizeof(xb_piece), sizeof(xb_many_steps), sizeof(xb_one_step),                \
            sizeof(xb_chain_link)                                                        \
    }

/* What the library gives a module. */
typedef struct xb_module_host {
    size_t struct_size;
    int version;
    xb_module_layout layout;
    void (*note)(xb_ctx *ctx, const char *format, ...) XB_PRINTF(2, 3);
    const xb_draw_source *(*source)(const xb_sampler *sampler);
    /* xb_backend's `loss` on this machine, of numbers that are its own */
    double (*loss)(const xb_loss *loss, xb_real *dy, const xb_real *y, int64_t rows);
} xb_module_host;

/* A module's one exported function, of this name: its backend, the same each time. */
#define XB_MODULE_ENTRY "xb_backend_module"
typedef xb_status (*xb_module_fn)(xb_ctx *ctx, const xb_backend **out,
                                  const xb_module_host *host);

#endif
