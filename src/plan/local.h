/* local.h: hidden layers under Gaussian weights, and their transformation to another law
 * by its cumulants; maths A4-A6. */
#ifndef XB_PLAN_LOCAL_H
#define XB_PLAN_LOCAL_H

#include "backend/backend.h"
#include "predict/density.h"

/* A dense layer or an activation. */
typedef struct xb_local_step {
    const xb_layer *layer;
    int index; /* of the layer in the net */
    int64_t in, out;
    /* In reals from the start of the backend's block: [in][out], [out] of a dense layer,
     * and sigma^n of kernel and bias, n = 2..; -1 where there is none */
    int64_t mu, bias, power[XB_MOVED_ORDER + 1];
    int number; /* number among the random hidden layers, from 1; 0: not random */
} xb_local_step;

typedef struct xb_local {
    int steps, random; /* number of steps; of random hidden layers */
    xb_local_step *step;
    int64_t input, width, widest;
    const xb_real *x;
    xb_moved_law law;
    bool moments; /* the law has all moments that its cumulants need */
    const xb_net *net;
    const xb_backend *backend;
    const xb_kernels *kernels; /* of the host; NULL elsewhere */
    void *block;               /* its buffer: mu and powers of sigma of all steps */
    int64_t n_block;
    xb_sampler *gaussian, *sampler; /* of the law */
    xb_key key;
} xb_local;

/* For a net that xb_hidden_check() passed; XB_E_ARGUMENT where a hidden layer is neither
 * dense nor an activation. If the backend cannot do this, the host does. Net and x
 * are borrowed. */
xb_status xb_local_make(xb_ctx *ctx, xb_local *out, const xb_net *net,
                        const xb_weights *weights, const xb_real *x, const xb_law *law,
                        const xb_charfn *charfn, uint64_t seed, const char *backend);
void xb_local_free(xb_local *l); /* empty is fine */

/* The cases that a run can draw: which hidden layers have the law, while the others are
 * Gaussian. All cases use the same Gaussian numbers. */
enum { XB_LOCAL_NONE = 0, XB_LOCAL_ALL = 1, XB_LOCAL_LAST = 2 }; /* LAST + n: layer n */

xb_hidden_source xb_local_source_of(const xb_local *l);

/* share[n - 1]: the share of the units of random hidden layer n, at some draws, whose
 * noise comes from two to five weights: too many for the law's quantile, too few for six
 * cumulants (A8). */
xb_status xb_local_doubtful(double *share, const xb_local *l);

#endif
