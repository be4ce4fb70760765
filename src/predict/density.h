/* density.h: the contents of xb_densities, and the engine that fills it; see
 * density_run.c. */
#ifndef XB_PREDICT_DENSITY_H
#define XB_PREDICT_DENSITY_H

#include "base/ctx.h"
#include "crossbayes/density.h"
#include "predict/charfn.h"

enum { XB_DENSITY_MOMENTS = 4 };

struct xb_densities {
    int laws, blocks;
    int64_t draws;    /* of the hidden layers, all blocks */
    int64_t count;    /* grid points */
    double step;      /* between them */
    double centre;    /* the point that moments are about */
    double roughness; /* see xb_densities_roughness() */
    double *grid;     /* [count] */
    double *value;    /* [laws][count] */
    double *part;     /* [blocks][laws][count], the densities of the blocks */
    double *moment;   /* [blocks][laws][4], E (y - centre)^n, n = 1.. */
};

static inline double *xb_densities_part(const xb_densities *d, int block, int law)
{
    return d->part + ((int64_t)block * d->laws + law) * d->count;
}

static inline double *xb_densities_part_moment(const xb_densities *d, int block, int law)
{
    return d->moment + ((int64_t)block * d->laws + law) * XB_DENSITY_MOMENTS;
}

/* An empty result with memory for everything. */
xb_status xb_densities_new(xb_ctx *ctx, xb_densities **out, int laws, int blocks,
                           int64_t count);

enum { XB_HIDDEN_BATCH = 64 };

/* The source of draws of the last hidden activations. A run is one thread's workspace;
 * close(NULL) is fine. */
typedef struct xb_hidden_source {
    const void *self;
    int64_t width; /* of h */
    xb_status (*open)(void **run, const void *self);
    void (*close)(void *run);
    /* Draws first .. first + count - 1 of a block under a law, count <= XB_HIDDEN_BATCH:
     * h [count][width], valid until the next call. */
    xb_status (*draw)(void *run, const xb_real **h, int law, int block, int64_t first,
                      int64_t count);
} xb_hidden_source;

/* The last layer: output = bias + kernel h. */
typedef struct xb_output_layer {
    const xb_real *mu, *sigma; /* [width] */
    double bias_mu, bias_sigma;
} xb_output_layer;

xb_output_layer xb_output_layer_of(const xb_net *net, const xb_weights *weights);

/* Fills d; law: the last layer's, [d->laws]; `draws` of each block. */
xb_status xb_densities_run(xb_ctx *ctx, xb_densities *d, const xb_hidden_source *source,
                           const xb_output_layer *last, const xb_charfn *law,
                           int64_t draws);

#endif
