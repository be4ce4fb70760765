/* local.h: hidden layers under Gaussian weights, and moved to where another law's
 * cumulants put them; maths A4-A6. */
#ifndef XB_PLAN_LOCAL_H
#define XB_PLAN_LOCAL_H

#include "backend/backend.h"
#include "predict/density.h"

enum { XB_LOCAL_ORDER = 6 }; /* cumulants that count */

/* A dense layer or an activation. */
typedef struct xb_local_step {
    int layer; /* of the net */
    int64_t in, out;
    const xb_real *mu, *bias; /* [in][out], [out]; of a dense layer */
    /* sigma^n of kernel [in][out] and bias [out], n = 2..; NULL where not needed */
    xb_real *power[XB_LOCAL_ORDER + 1];
    int number; /* of random hidden layers, from 1; 0: not random */
    const xb_activation_kernel *activation; /* NULL: dense */
} xb_local_step;

typedef struct xb_local {
    int steps, random; /* random hidden layers */
    xb_local_step *step;
    int64_t input, width, widest;
    const xb_real *x;
    double cumulant[XB_LOCAL_ORDER + 1]; /* of the law, standardised */
    bool symmetric;
    bool moments; /* the law has as many as cumulants count */
    const xb_kernels *kernels;
    xb_sampler *gaussian, *law; /* samplers */
    xb_key key;
} xb_local;

/* For a net that xb_hidden_check() passed; XB_E_ARGUMENT where a hidden layer is neither
 * dense nor an activation. All but the tables of sigma^n is borrowed. */
xb_status xb_local_make(xb_ctx *ctx, xb_local *out, const xb_net *net,
                        const xb_weights *weights, const xb_real *x, const xb_law *law,
                        const xb_charfn *charfn, uint64_t seed, const char *backend);
void xb_local_free(xb_local *l); /* empty is fine */

/* "Laws" of the run: which hidden layers have the law, the others are Gaussian; all of
 * them from the same Gaussian numbers. */
enum { XB_LOCAL_NONE = 0, XB_LOCAL_ALL = 1, XB_LOCAL_LAST = 2 }; /* LAST + n: layer n */

xb_hidden_source xb_local_source_of(const xb_local *l);

/* share[n - 1]: of the units of random hidden layer n, seen at some draws, those that two
 * to five weights make: too many for a quantile, too few for six cumulants. */
xb_status xb_local_doubtful(double *share, const xb_local *l);

#endif
