/* local_kernel.h: the local reparameterisation in plain C, element by element; maths
 * N11. The activation beside it is that layer's own kernel. */
#ifndef XB_KERNEL_LOCAL_KERNEL_H
#define XB_KERNEL_LOCAL_KERNEL_H

#include "kernel/dense_kernel.h"

static inline void local_forward(xb_real *restrict y, const xb_real *v, const xb_real *e,
                                 int64_t n, xb_act f)
{
    for (int64_t i = 0; i < n; i++) y[i] += sqrt(v[i]) * e[i];
    activate(y, n, f);
}

/* yy = y^2, and e becomes e / sqrt(v). */
static inline void local_forward_slope(xb_real *restrict y, xb_real *restrict yy,
                                       xb_real *restrict e, const xb_real *v, int64_t n,
                                       xb_act f)
{
    for (int64_t i = 0; i < n; i++) {
        xb_real root = sqrt(v[i]);
        y[i] += root * e[i];
        e[i] = v[i] > 0 ? e[i] / root : 0;
    }
    activate(y, n, f);
    for (int64_t i = 0; i < n; i++) yy[i] = y[i] * y[i];
}

static inline void local_backward(xb_real *dv, const xb_real *dy, const xb_real *v,
                                  const xb_real *e, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dv[i] = v[i] > 0 ? dy[i] * e[i] / (2 * sqrt(v[i])) : 0;
}

static inline void local_input(xb_real *restrict dx, const xb_real *dxx, const xb_real *x,
                               int64_t n, xb_act f)
{
    for (int64_t i = 0; i < n; i++) dx[i] += 2 * (x[i] * dxx[i]);
    deactivate(dx, x, n, f);
}

#endif
