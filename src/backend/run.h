/* run.h: the view that a layer has of the pass it runs in. */
#ifndef XB_BACKEND_RUN_H
#define XB_BACKEND_RUN_H

#include "kernel/kernels.h"
#include "backend/crew.h"

typedef struct xb_backend xb_backend; /* backend.h */

/* Pointers to numbers are buffers. */
typedef struct xb_run {
    xb_ctx *ctx;
    const xb_net *net;
    const xb_backend *backend;
    const xb_kernels *kernels; /* of the host; NULL elsewhere */
    xb_estimator estimator;
    int64_t group;
    uint32_t first_tensor; /* of the net, in the stream of noise */
    int64_t batch;
    xb_weights weights;
    xb_noise noise; /* sampler NULL: none */
    xb_mode mode;
    bool gradients; /* there may be a backward pass */
    xb_gradient gradient;
    int first; /* of the layers that run as one, when the last of them is asked */
    /* Room for one layer at a time; nothing in it outlives the call. */
    xb_real *scratch;
    xb_real *keep; /* the layer's own, from forward to backward */
    /* What a linear layer does for its neighbours: the activation it applies to y, and
     * the one that made x, whose slope it multiplies dx by. */
    xb_act above, below;
    xb_crew *crew; /* while a layer that is dealt runs; else NULL */
} xb_run;

/* The rows that this process runs a layer on. */
static inline int64_t xb_run_first(const xb_run *run)
{
    return run->crew ? run->crew->first : 0;
}
static inline int64_t xb_run_rows(const xb_run *run)
{
    return run->crew ? run->crew->end - run->crew->first : run->batch;
}

/* Where the draws of a tensor are. */
xb_stream xb_run_stream(const xb_run *run, uint32_t tensor);
/* xb_sampler_fill() into numbers of the build's own width. */
void xb_real_draws(const xb_sampler *sampler, xb_real *z, int64_t n,
                   const xb_stream *where, int64_t first);

/* (N7) z[i] = draw of element first + i of the tensor; `wide`: over all threads. */
void xb_run_draw(const xb_run *run, xb_real *z, int64_t n, int tensor, int64_t first,
                 bool wide);

/* (N7) theta of a tensor [size]: mu + sigma z, or mu where it is not random. */
void xb_run_theta(const xb_run *run, xb_real *theta, const xb_real *z,
                  const xb_tensor *tensor);

/* (N10) Signs -1 or 1 of elements first + i; two sets beside each tensor. */
typedef enum xb_side { XB_SIDE_IN, XB_SIDE_OUT } xb_side;
void xb_run_signs(const xb_run *run, xb_real *sign, int64_t n, int tensor, xb_side side,
                  int64_t first);

#endif
