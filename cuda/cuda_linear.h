/* cuda_linear.h: dense and conv as one kind of operation, given their weights, for the
 * estimators. */
#ifndef XBC_CUDA_LINEAR_H
#define XBC_CUDA_LINEAR_H

#include "cuda_module.h"

/* A layer's sizes and tensors, looked up once in each call. Kernel and bias are
 * neighbours in every parameter block: n numbers from `offset` on. */
typedef struct xbc_linear {
    const xb_run *run;
    const xb_layer *layer;
    const xb_tensor *tensor; /* kernel, then the bias if there is one */
    int tensors;
    bool bias, dense;
    xbc_window win;
    int64_t offset, size, n; /* size: numbers of the kernel alone */
    int64_t in, out;         /* of one example */
    int64_t cin, cout;       /* channels */
    const float *mu, *sigma; /* [n] */
} xbc_linear;

/* (N8-N11) One file each; scratch in floats, for the run's batch. */
typedef struct xbc_estimator {
    int64_t (*scratch)(const xbc_linear *op);
    int64_t (*keep)(const xbc_linear *op); /* NULL: none */
    void (*forward)(const xbc_linear *op, float *y, const float *x);
    void (*backward)(const xbc_linear *op, float *dx, const float *dy, const float *x);
} xbc_estimator;

extern const xbc_estimator xbc_shared, xbc_example, xbc_flipout, xbc_local;

/* ---- parts that estimators share */

xbc_linear xbc_linear_of(const xb_run *run, const xb_layer *layer, bool dense);
/* (N8) mu or, if the run has noise, one draw of theta in scratch, with z [n] behind
 * it. */
const float *xbc_shared_weights(const xbc_linear *op);

xb_stream xbc_stream(const xb_run *run, uint32_t tensor);
bool xbc_negates(const xb_run *run);

/* The whole batch with one set of weights, in parts small enough to count. */
xbc_parts xbc_whole(const xbc_linear *op);
/* The same cut further, so that gradients with respect to weights have enough parallel
 * work; no batch up to the run's has more than xbc_slices_most(). */
xbc_parts xbc_slices(const xbc_linear *op);
int64_t xbc_slices_most(const xbc_linear *op);

/* (N9) Draws number .. number + count - 1, [count][n] each; z or theta may be NULL. Where
 * a tensor is not random theta is mu and z is left alone. */
void xbc_op_panels(const xbc_linear *op, float *z, float *theta, int64_t number,
                   int64_t count);
/* The biases of those draws, [count][out]; NULL: there are none. */
const float *xbc_biases(const xbc_linear *op, float *room, int64_t number, int64_t count);
/* out [n] = sigma times factor; 0 where a weight is not random. */
void xbc_scaled(const xbc_linear *op, float *out, const float *factor);
/* Adds to the run's gradients: to that of mu the sum of dw [count][n], to that of
 * sigma, where weights are random, factor times the sum of dw c. */
void xbc_add_mu(const xbc_linear *op, const float *dw, int64_t count);
void xbc_add_sigma(const xbc_linear *op, const float *dw, const float *c, int64_t stride,
                   int64_t count, float factor);
/* Dense layers with one draw for each group of the batch, on tensor cores
 * (cuda_grouped.c): whether the layer allows it, if the law does as well; scratch in
 * floats. The operation returns false if the law does not allow it. */
enum { XBC_GROUP_LEAST = 16, XBC_GROUP_MOST = 1 << 12 }; /* useful sizes of a group */
bool xbc_grouped_can(const xbc_linear *op, int64_t group);
int64_t xbc_grouped_scratch(const xbc_linear *op, int64_t group);
bool xbc_grouped_forward_of(const xbc_linear *op, float *y, const float *x,
                            int64_t group);
/* Forward with weights w [n]; the gradients with respect to x, and with respect to w,
 * which go to dw. */
void xbc_by_weights(const xbc_linear *op, float *y, const float *x, const float *w);
void xbc_by_input(const xbc_linear *op, float *dx, const float *dy, const float *w);
int64_t xbc_by_params(const xbc_linear *op, float *dw, const float *x, const float *dy);

#endif
