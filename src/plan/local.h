/* local.h: hidden layers under Gaussian weights, each draw with the weights that make
 * it, to first order, a draw under another law; maths A4-A6. */
#ifndef XB_PLAN_LOCAL_H
#define XB_PLAN_LOCAL_H

#include "net/backend.h"
#include "predict/density.h"

enum { XB_LOCAL_ORDER = 8 }; /* cumulants that count, at most */

/* A dense layer and what follows it, or an activation alone (units 0). */
typedef struct xb_local_step {
    int layer; /* of the net */
    int64_t in, out;
    const xb_real *mu, *bias; /* [in][out], [out]; of a dense layer */
    /* sigma^n of kernel [in][out] and bias [out], n = 2..; NULL where not needed */
    xb_real *power[XB_LOCAL_ORDER + 1];
    int column; /* of its weight; 0: not random */
    int order;  /* cumulants that count: fewer in wide layers, where single units bend
                   the output little and high orders bring noise alone */
    const xb_activation_kernel *activation;
} xb_local_step;

typedef struct xb_local {
    int steps, columns; /* columns: 1 + random hidden layers */
    xb_local_step *step;
    int64_t input, width, widest;
    const xb_real *x;
    double cumulant[XB_LOCAL_ORDER + 1]; /* of the law, standardised */
    bool symmetric;
    const xb_backend *backend;
    xb_sampler *sampler; /* Gaussian */
    xb_key key;
} xb_local;

/* XB_E_ARGUMENT where a hidden layer is neither dense nor an activation. All but the
 * tables of sigma^n is borrowed. */
xb_status xb_local_make(xb_ctx *ctx, xb_local *out, const xb_net *net,
                        const xb_weights *weights, const xb_real *x, const xb_charfn *law,
                        uint64_t seed, const char *backend);
void xb_local_free(xb_local *l); /* empty is fine */

/* Weight 0 of a draw is 1, weight c the first-order change by the hidden layer of
 * column c. The same draws for every law of the run. */
xb_hidden_source xb_local_source_of(const xb_local *l);

#endif
