/* crossbayes/energy.h: nets whose output is to have a given law, trained with the
 * energy distance (the paper's Fig. 4).
 *
 *     xb_energy_options o = xb_energy_options_default();
 *     o.width = 8, o.depth = 2;
 *     xb_model *model = NULL;
 *     if (xb_energy_train(ctx, &model, &o) != XB_OK) ...
 *
 * The net is 1 -> width^depth -> 1 with elu, evaluated at x = 0; its weights are
 * Gaussian, and training makes its output, over draws of the weights, a standard normal.
 * Formulas: docs/maths.md, section G.
 */
#ifndef CROSSBAYES_ENERGY_H
#define CROSSBAYES_ENERGY_H

#include "crossbayes/model.h"
#include "crossbayes/net.h"
#include "crossbayes/vi.h" /* the loss: xb_energy_loss */

#ifdef __cplusplus
extern "C" {
#endif

/* The mean of the loss if f is standard normal; every other law has a larger one. */
#define XB_ENERGY_LEAST 1.446409084632077

typedef struct xb_energy_options {
    size_t struct_size;
    int64_t width;        /* 16: units of every hidden layer, 1 to 4096 */
    int64_t depth;        /* 2: number of hidden layers, 1 to 64 */
    bool kernels_only;    /* false: biases are random too */
    int64_t steps;        /* 10000 */
    int64_t draws;        /* 100: draws of the net's output per step, 2 to 4096 */
    double rate;          /* 1e-3: Adam's learning rate, which falls to 0 along a
                             cosine */
    double n_eff_penalty; /* 0: weight of the penalty that keeps n_eff large (G5) */
    uint64_t seed;        /* 1 */
    const char *backend;
} xb_energy_options;

XB_OPTIONS(energy);

/* A model of one feature x without noise of its own (a standard deviation of 1e-6). Runs
 * in one thread and gives the same bytes everywhere. XB_E_NUMERIC if training diverges.
 */
XB_API xb_status xb_energy_train(xb_ctx *ctx, xb_model **out,
                                 const xb_energy_options *opt);

#ifdef __cplusplus
}
#endif
#endif
