/* linear.h: layers that are linear in their weights (dense, conv), and how noise
 * enters them. An estimator is one file that fills an `xb_estimator_kind` and one row
 * in the table of linear.c; it knows the operation only through `xb_linear`. */
#ifndef XB_BACKEND_LINEAR_H
#define XB_BACKEND_LINEAR_H

#include "backend/backend.h"

/* The operation: one interface to kernels of the backend. `room` has room() reals. An
 * operation that `fuses` can also apply an activation f to y, or multiply dx by the slope
 * of f, where x is the output of f. */
typedef struct xb_linear {
    bool fuses;
    void (*forward)(const xb_run *run, const xb_layer *layer, xb_real *y,
                    const xb_real *x, const xb_real *w, const xb_real *b, int64_t rows,
                    xb_real *room, xb_act f);
    void (*backward_input)(const xb_run *run, const xb_layer *layer, xb_real *dx,
                           const xb_real *dy, const xb_real *w, const xb_real *x,
                           int64_t rows, xb_real *room, xb_act f);
    void (*backward_weight)(const xb_run *run, const xb_layer *layer, xb_real *dw,
                            const xb_real *x, const xb_real *dy, int64_t rows,
                            xb_real *room);
    int64_t (*room)(const xb_kernels *kernels, const xb_layer *layer);
} xb_linear;

/* A layer's sizes and tensors, looked up once a call. Kernel and bias are neighbours
 * in every parameter block: n reals from `offset`. */
typedef struct xb_op {
    const xb_run *run;
    const xb_layer *layer;
    const xb_linear *linear;
    const xb_tensor *tensor; /* kernel, then the bias if there is one */
    int tensors;             /* 1 or 2 */
    int64_t offset, size, n; /* size: of the kernel alone */
    int64_t in, out;         /* of one example */
    int64_t cin, cout;       /* channels */
    int64_t room, work;      /* work: multiply-adds per example */
} xb_op;

typedef struct xb_estimator_kind {
    const char *name;
    bool symmetric, gaussian;            /* properties that the law must have */
    bool fuses;                          /* applies run->above and run->below */
    int64_t (*scratch)(const xb_op *op); /* reals, for the run's batch and group */
    int64_t (*keep)(const xb_op *op);    /* from forward to backward; NULL: none */
    xb_split (*split)(const xb_op *op);  /* its pieces of the batch; NULL: not by rows */
    void (*forward)(const xb_op *op, xb_real *y, const xb_real *x);
    void (*backward)(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *x);
} xb_estimator_kind;

extern const xb_estimator_kind xb_estimator_shared, xb_estimator_example,
    xb_estimator_flipout, xb_estimator_local;

const xb_estimator_kind *xb_estimator_at(xb_estimator e);

/* Layer functions of dense and conv, and the scratch they need. */
void xb_linear_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                       const xb_real *x);
void xb_linear_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                        const xb_real *dy, const xb_real *x, const xb_real *y);
int64_t xb_linear_scratch(const xb_run *run, const xb_layer *layer);
/* Reals kept from forward to backward: never noise. */
int64_t xb_linear_keep(const xb_run *run, const xb_layer *layer);
bool xb_linear_deals(const xb_run *run, const xb_layer *layer);
/* Whether it can take over the work of activations beside it. */
bool xb_linear_fuses(const xb_run *run, const xb_layer *layer);

/* ---- for estimators */

xb_op xb_op_of(const xb_run *run, const xb_layer *layer);

/* Draws of the kernel and of the bias; only those of random tensors are set. */
typedef struct xb_z {
    xb_real *of[2];
} xb_z;

static inline xb_z xb_op_z(const xb_op *op, xb_real *block) /* [n] */
{
    return (xb_z){{block, block + op->size}};
}

/* The op's part of a parameter block, and the bias's part of a block of n. */
static inline const xb_real *xb_op_mu(const xb_op *op)
{
    return op->run->weights.mu + op->offset;
}
static inline const xb_real *xb_op_sigma(const xb_op *op)
{
    return op->run->weights.sigma + op->offset;
}
static inline const xb_real *xb_op_bias(const xb_op *op, const xb_real *block)
{
    return op->tensors == 2 ? block + op->size : NULL;
}
bool xb_op_random(const xb_op *op); /* any tensor of it */

/* z of draws number .. number + count - 1, one after the other. */
void xb_op_draw(const xb_op *op, xb_z z, int64_t number, int64_t count, bool wide);
/* (N7) mu + sigma z, mu where not random; (N10) sigma z, 0 where not random. */
void xb_op_theta(const xb_op *op, xb_real *theta, xb_z z);
void xb_op_scaled(const xb_op *op, xb_real *out, const xb_real *factor);

/* Runs the pieces of a split by rows; if the layer is dealt, only those of this rank. */
static inline void xb_op_run(const xb_op *op, const xb_split *split, xb_range_fn body,
                             void *job)
{
    xb_crew_run(op->run->ctx, op->run->crew, split, body, job);
}

/* y = f(op(x, w)), dx = its gradient with respect to x times that of f below, dw [n] =
 * with respect to w, for `rows` examples. */
void xb_op_forward(const xb_op *op, xb_real *y, const xb_real *x, const xb_real *w,
                   int64_t rows, xb_real *room, xb_act f);
void xb_op_input(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *w,
                 const xb_real *x, int64_t rows, xb_real *room, xb_act f);
void xb_op_weight(const xb_op *op, xb_real *dw, const xb_real *x, const xb_real *dy,
                  int64_t rows, xb_real *room);

/* mu [n] += dw [n]; sigma [n] += factor dw c where random. */
void xb_op_add_mu(const xb_op *op, xb_real *mu, const xb_real *dw);
void xb_op_add_sigma(const xb_op *op, xb_real *sigma, const xb_real *dw,
                     const xb_real *const c[2], xb_real factor);

/* One draw for the batch, or mu itself where nothing is random; in the first 2 n of the
 * scratch. */
const xb_real *xb_shared_weights(const xb_op *op);
/* Its gradient: adds the sum of dw [n] over all slots to the run's gradient. */
void xb_shared_gradient(const xb_op *op, xb_real *slots, int64_t slot, int64_t count);

/* Adds all slots, of n reals each and `stride` apart, in a tree: slot[0] becomes the sum,
 * the others are overwritten. Not for dealt layers. */
void xb_op_sum(const xb_op *op, xb_real *slot, int64_t stride, int64_t count, int64_t n);

/* The same, and `use` then adds the sum to the run's gradient. If the layer is dealt, the
 * sum is put off: the ranks add those of many layers together (sums.h). What else is in
 * the scratch memory is lost by then, and `later` says so. */
typedef void (*xb_sum_fn)(const xb_op *op, const xb_real *sum, bool later);
void xb_op_gradient(const xb_op *op, xb_real *slot, int64_t stride, int64_t count,
                    int64_t n, xb_sum_fn use);

#endif
