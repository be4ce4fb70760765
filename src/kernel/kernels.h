/* kernels.h: the arithmetic of nets. `ref` is plain C and is the reference with which
 * tests/test_net_ops.c compares every other. Kernels are pure functions of (outputs,
 * inputs, sizes): they allocate nothing, never fail and run on one thread; the layers
 * divide the work into pieces. Outputs do not overlap inputs unless stated. `rows` counts
 * examples (or pixels), a NULL bias is 0. */
#ifndef XB_KERNEL_KERNELS_H
#define XB_KERNEL_KERNELS_H

#include "crossbayes/extend.h"
#include "kernel/block.h"

typedef struct xb_activation_kernel {
    void (*forward)(xb_real *y, const xb_real *x, int64_t n); /* y may be x */
    /* dx = dy f'(x), from y = f(x); dx may be dy */
    void (*backward)(xb_real *dx, const xb_real *dy, const xb_real *y, int64_t n);
} xb_activation_kernel;

/* The steps of a converter: multiples of `step` from low to high, which count steps. */
typedef struct xb_steps {
    xb_real step, inverse, low, high;
} xb_steps;

/* Weights that are a parabola in their noise (X8): level + slope z + square z^2. */
typedef struct xb_curve {
    const xb_real *level, *slope, *square;
} xb_curve;

/* A dense product in parts: `depth` inputs and `width` outputs of it; see panel.h. */
enum { XB_PANEL_STRIP = 32 };

typedef struct xb_panel {
    int64_t rows, depth, width;
    int64_t x_row, y_row, w_row; /* how far apart rows are; w_row: of mu and sigma */
    bool add, last;              /* add to y; the last of the inputs: apply f */
} xb_panel;

/* A dense layer with noise on its outputs (N11). */
typedef struct xb_local_layer {
    int64_t rows, in, out;
    const xb_real *x, *xx;               /* [rows][in], and squared */
    const xb_real *mu, *variance;        /* [in][out] */
    const xb_real *bias, *bias_variance; /* [out]; NULL: none */
    xb_real *room;                       /* [rows][in or out] */
} xb_local_layer;

typedef struct xb_kernels {
    const char *name;
    bool fused; /* whether multiply-adds are fused, as in xb_kernel */

    void (*product)(const xb_product *p); /* on one thread */
    /* (N1, N6) y [rows][out] = f(x [rows][in] w [in][out] + b [out]) */
    void (*dense_forward)(xb_real *y, const xb_real *x, const xb_real *w,
                          const xb_real *b, int64_t rows, int64_t in, int64_t out,
                          xb_act f);
    /* dx = (dy w^T) f', where x = f(...) came from the layer below; XB_ACT_NONE: f' is 1
     * and x is not read */
    void (*dense_backward_input)(xb_real *dx, const xb_real *dy, const xb_real *w,
                                 const xb_real *x, int64_t rows, int64_t in, int64_t out,
                                 xb_act f);
    void (*dense_backward_weight)(xb_real *dw, const xb_real *x, const xb_real *dy,
                                  int64_t rows, int64_t in, int64_t out);
    /* the same with db [out], the sum over rows of dy */
    void (*dense_backward_params)(xb_real *dw, xb_real *db, const xb_real *x,
                                  const xb_real *dy, int64_t rows, int64_t in,
                                  int64_t out);

    /* (N1, N7) Optional: a panel of strips, w [width / strip][depth][strip], strips a row
     * more apart so that they do not push each other out of caches; one row of
     * it from mu, sigma and z [width], mu alone where sigma is NULL, and
     * y [rows][width] = or += x [rows][depth] w, + b at first, f at last */
    void (*panel_row)(xb_real *w, const xb_real *mu, const xb_real *sigma,
                      const xb_real *z, int64_t depth, int64_t width);
    void (*dense_panel)(xb_real *y, const xb_real *x, const xb_real *w, const xb_real *b,
                        const xb_panel *p, xb_act f);

    /* y [rows][width] += x [rows][depth] (mu + sigma z), z [depth][width] */
    void (*panel_add)(xb_real *y, const xb_real *x, const xb_real *mu,
                      const xb_real *sigma, const xb_real *z, const xb_panel *p);
    /* the same with the draws of elements from `first` on, used up as they are made
     * (draw/kernel.h); only where the draw kernel can, fused as this backend is */
    void (*panel_draw_add)(xb_real *y, const xb_real *x, const xb_real *mu,
                           const xb_real *sigma, const xb_panel *p,
                           const xb_sampler *sampler, const xb_stream *where,
                           int64_t first);

    /* (N9) Optional: one example whose kernel is its own draw, w = mu + sigma z.
     * y [out] = x [in] w + b; d_mu += x dy, d_sigma += x dy z, dx = w dy (dx NULL: not
     * wanted) */
    void (*dense_draw_forward)(xb_real *y, const xb_real *x, const xb_real *mu,
                               const xb_real *sigma, const xb_real *z, const xb_real *b,
                               int64_t in, int64_t out);
    void (*dense_draw_backward)(xb_real *dx, xb_real *d_mu, xb_real *d_sigma,
                                const xb_real *dy, const xb_real *x, const xb_real *mu,
                                const xb_real *sigma, const xb_real *z, int64_t in,
                                int64_t out);

    /* (N2) y [rows][oh][ow][oc], x [rows][h][w][c], w [kh][kw][c][oc]; `room` is
     * conv_room() reals */
    int64_t (*conv_room)(const xb_window *win);
    void (*conv_forward)(xb_real *y, const xb_real *x, const xb_real *w, const xb_real *b,
                         int64_t rows, const xb_window *win, xb_real *room);
    void (*conv_backward_input)(xb_real *dx, const xb_real *dy, const xb_real *w,
                                int64_t rows, const xb_window *win, xb_real *room);
    void (*conv_backward_weight)(xb_real *dw, const xb_real *x, const xb_real *dy,
                                 int64_t rows, const xb_window *win, xb_real *room);

    /* db [c] = sum over rows of dy [rows][c] */
    void (*bias_backward)(xb_real *db, const xb_real *dy, int64_t rows, int64_t c);

    /* (N3) */
    void (*maxpool_forward)(xb_real *y, const xb_real *x, int64_t rows,
                            const xb_window *win);
    void (*maxpool_backward)(xb_real *dx, const xb_real *dy, const xb_real *x,
                             int64_t rows, const xb_window *win);

    /* (N18) Optional: conv, relu and maxpool as one. */
    const xb_block_kernel *block;

    /* (N4, N5) channel by channel, x [rows][c] */
    void (*norm_sum)(double *sum, const xb_real *x, int64_t rows, int64_t c);
    void (*norm_square)(double *sum, const xb_real *x, const xb_real *mean, int64_t rows,
                        int64_t c); /* sums of (x - mean)^2 */
    /* y = (x - mean) gain + shift; y may be x */
    void (*norm_forward)(xb_real *y, const xb_real *x, const xb_real *mean,
                         const xb_real *gain, const xb_real *shift, int64_t rows,
                         int64_t c);
    /* sums of dy and of dy (x - mean) */
    void (*norm_backward_sum)(double *dy_sum, double *dyx_sum, const xb_real *dy,
                              const xb_real *x, const xb_real *mean, int64_t rows,
                              int64_t c);
    /* dx = gain (dy - a - (x - mean) b); dx may be dy */
    void (*norm_backward)(xb_real *dx, const xb_real *dy, const xb_real *x,
                          const xb_real *mean, const xb_real *gain, const xb_real *a,
                          const xb_real *b, int64_t rows, int64_t c);

    /* (N6) */
    xb_activation_kernel elu, relu, tanh, sigmoid;

    /* (N7-N11), n elements each */
    void (*theta)(xb_real *out, const xb_real *mu, const xb_real *sigma, const xb_real *z,
                  int64_t n); /* mu + sigma z */
    void (*multiply)(xb_real *out, const xb_real *a, const xb_real *b, int64_t n);
    void (*add)(xb_real *sum, const xb_real *a, int64_t n); /* sum += a */
    void (*add_product)(xb_real *sum, const xb_real *a, const xb_real *b, xb_real factor,
                        int64_t n); /* sum += factor a b */
    /* x [rows][pixels][c] times r [rows][c]; set, or added to `out` */
    void (*channel_multiply)(xb_real *out, const xb_real *x, const xb_real *r,
                             int64_t rows, int64_t pixels, int64_t c);
    void (*channel_add_product)(xb_real *out, const xb_real *x, const xb_real *r,
                                int64_t rows, int64_t pixels, int64_t c);
    /* (N10) Weights [positions][cin][cout] of one example, whose signs are r [cin] and
     * s [cout]: out = mu + noise r s; and of the gradient g by them, dw += g and ds += g
     * r s */
    void (*flip_theta)(xb_real *out, const xb_real *mu, const xb_real *noise,
                       const xb_real *r, const xb_real *s, int64_t positions, int64_t cin,
                       int64_t cout);
    void (*flip_add)(xb_real *dw, xb_real *ds, const xb_real *g, const xb_real *r,
                     const xb_real *s, int64_t positions, int64_t cin, int64_t cout);
    /* -1 where a word's top bit is set, 1 where not */
    void (*signs)(xb_real *sign, const uint32_t *word, int64_t n);
    /* (N11, N6) y = f(y + sqrt(v) e); dv = dy e / (2 sqrt(v)), 0 where v is, dv may be
     * v or e; dx = (dx + 2 x dxx) f', where x = f(...) came from the layer below */
    void (*local_forward)(xb_real *y, const xb_real *v, const xb_real *e, int64_t n,
                          xb_act f);
    void (*local_backward)(xb_real *dv, const xb_real *dy, const xb_real *v,
                           const xb_real *e, int64_t n);
    void (*local_input)(xb_real *dx, const xb_real *dxx, const xb_real *x, int64_t n,
                        xb_act f);
    /* The same as one operation, from the layer's inputs. Forward computes y and yy =
     * y^2, and e becomes e / sqrt(v), or 0 if v is 0. For the parameters, e times dy
     * becomes 2 dv; dw [in][out] is the gradient with respect to mu and ds twice that
     * with respect to sigma^2, followed by those of the bias. Then dx. */
    void (*local_dense_forward)(xb_real *y, xb_real *yy, xb_real *e,
                                const xb_local_layer *l, xb_act f);
    void (*local_dense_params)(xb_real *dw, xb_real *ds, xb_real *e, const xb_real *dy,
                               const xb_local_layer *l);
    void (*local_dense_input)(xb_real *dx, const xb_real *dy, const xb_real *dv,
                              const xb_local_layer *l, xb_act f);

    /* For simulated arrays: (X13) rounds x to the nearest step and sets (out may be x) or
     * adds it; (X8) level + z (slope + square z); (X10) z becomes fresh where word >=
     * below */
    void (*quantise)(xb_real *out, const xb_real *x, const xb_steps *steps, int64_t n);
    void (*quantise_add)(xb_real *sum, const xb_real *x, const xb_steps *steps,
                         int64_t n);
    /* (X14) y [rows][out] = b [out] + y to the nearest step */
    void (*quantise_onto)(xb_real *y, const xb_real *b, const xb_steps *steps,
                          int64_t rows, int64_t out);
    void (*bend)(xb_real *out, const xb_curve *curve, const xb_real *z, int64_t n);
    /* Optional: panel_add with weights that are parabolas in their noise */
    void (*panel_bend_add)(xb_real *y, const xb_real *x, const xb_curve *curve,
                           const xb_real *z, const xb_panel *p);
    void (*hold)(xb_real *z, const xb_real *fresh, const uint32_t *word, uint32_t below,
                 int64_t n);
    /* (X19) where level <= top: z = fresh, and the next level is the number of below[0 ..
     * top) that are at most word; n <= 64 */
    void (*hold_level)(xb_real *z, int32_t *level, const xb_real *fresh,
                       const uint32_t *word, const uint32_t *below, int top, int64_t n);
} xb_kernels;

/* The kernels of f; NULL: XB_ACT_NONE. */
static inline const xb_activation_kernel *xb_kernels_act(const xb_kernels *b, xb_act f)
{
    switch (f) {
    case XB_ACT_ELU: return &b->elu;
    case XB_ACT_RELU: return &b->relu;
    case XB_ACT_TANH: return &b->tanh;
    case XB_ACT_SIGMOID: return &b->sigmoid;
    case XB_ACT_NONE: break;
    }
    return NULL;
}

extern const xb_kernels xb_kernels_ref;

/* The kernels of this name; NULL name: "cpu". Returns NULL if there are none, or if the
 * machine cannot run them. */
const xb_kernels *xb_kernels_find(const char *name);

#endif
