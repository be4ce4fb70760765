/* glue_convs.h: convolutions of images that have few channels, as the first of a network
 * does, for crossbayes.torch: float32, stride 1, one kernel for the batch, outputs with
 * their channels last. A product would have too few columns to be fast, so each output is
 * a sum over the taps of the window, XB_PY_LANES channels at once, XB_PY_TAPS taps in
 * registers. Images come with their edges padded. The gradient by the kernel is summed
 * for each image and then over images in their order, so it is the same for any number of
 * threads. Addresses are integers, as PyTorch gives them. */
#ifndef CROSSBAYES_GLUE_CONVS_H
#define CROSSBAYES_GLUE_CONVS_H

enum { XB_PY_TAPS = 9, XB_PY_MOST_TAPS = 27 };

typedef float xb_py_reals __attribute__((vector_size(XB_PY_LANES * sizeof(float))));

/* The loops below are fast where vectors have XB_PY_LANES reals and there are registers
 * for all taps; elsewhere nobody calls them. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define XB_PY_LONG __attribute__((target("avx512f")))
#define XB_PY_WRITTEN_OUT _Pragma("GCC unroll 9")
#define XB_PY_ADD(sum, a, b)                                                             \
    ((xb_py_reals)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(sum)))
static bool xb_py_conv_fast(void) { return __builtin_cpu_supports("avx512f"); }
#else
#define XB_PY_LONG
#define XB_PY_WRITTEN_OUT
#define XB_PY_ADD(sum, a, b) ((sum) + (a) * (b))
static bool xb_py_conv_fast(void) { return false; }
#endif

/* Sides of images [n][h + kh - 1][wide + kw - 1][in] and outputs [n][h][wide][out]; out
 * is a multiple of XB_PY_LANES, and the taps kh kw in are one of XB_PY_TAPS, at most
 * XB_PY_MOST_TAPS. */
typedef struct xb_py_conv {
    uintptr_t y;    /* the outputs, written; backward: their gradient */
    uintptr_t x;    /* the images */
    uintptr_t w;    /* the kernel; backward: its gradient, written */
    uintptr_t b;    /* [out]: the bias; backward: its gradient, written; 0: none */
    uintptr_t sums; /* backward: [n][taps + 1][out], gradients of each image */
    int64_t n, h, wide, kh, kw, in, out;
} xb_py_conv;

/* Where the taps of a window are, from its first element. */
static int xb_py_conv_offsets(const xb_py_conv *p, int64_t offset[XB_PY_MOST_TAPS])
{
    int taps = 0;
    for (int64_t line = 0; line < p->kh; line++)
        for (int64_t i = 0; i < p->kw * p->in; i++)
            offset[taps++] = line * (p->wide + p->kw - 1) * p->in + i;
    return taps;
}

/* XB_PY_LANES channels of one line of outputs: start (without it, y) + XB_PY_TAPS taps.
 */
XB_PY_LONG static void xb_py_conv_line(const xb_py_conv *p, float *y, const float *x,
                                       const float *w, const xb_py_reals *start,
                                       const int64_t at[XB_PY_TAPS])
{
    xb_py_reals weight[XB_PY_TAPS];
    for (int k = 0; k < XB_PY_TAPS; k++)
        memcpy(&weight[k], w + k * p->out, sizeof weight[k]);
    for (int64_t i = 0; i < p->wide; i++, x += p->in, y += p->out) {
        xb_py_reals sum;
        if (start)
            sum = *start;
        else
            memcpy(&sum, y, sizeof sum);
        XB_PY_WRITTEN_OUT
        for (int k = 0; k < XB_PY_TAPS; k++) {
            const xb_py_reals value = x[at[k]] - (xb_py_reals){0};
            sum = XB_PY_ADD(sum, weight[k], value);
        }
        memcpy(y, &sum, sizeof sum);
    }
}

/* The gradients of XB_PY_LANES channels by some taps, and of the bias, of one line. */
XB_PY_LONG static void xb_py_conv_line_back(const xb_py_conv *p, xb_py_reals *sum,
                                            xb_py_reals *bias, const float *dy,
                                            const float *x, const int64_t at[XB_PY_TAPS])
{
    xb_py_reals own[XB_PY_TAPS], own_bias = *bias;
    memcpy(own, sum, sizeof own);
    for (int64_t i = 0; i < p->wide; i++, x += p->in, dy += p->out) {
        xb_py_reals d;
        memcpy(&d, dy, sizeof d);
        own_bias += d;
        XB_PY_WRITTEN_OUT
        for (int k = 0; k < XB_PY_TAPS; k++) {
            const xb_py_reals value = x[at[k]] - (xb_py_reals){0};
            own[k] = XB_PY_ADD(own[k], value, d);
        }
    }
    memcpy(sum, own, sizeof own);
    *bias = own_bias;
}

static void xb_py_conv_image(void *arg, int64_t image)
{
    const xb_py_conv *p = arg;
    int64_t offset[XB_PY_MOST_TAPS];
    const int taps = xb_py_conv_offsets(p, offset);
    const int64_t line = (p->wide + p->kw - 1) * p->in;
    const float *x = (const float *)p->x + image * (p->h + p->kh - 1) * line;
    float *y = (float *)p->y + image * p->h * p->wide * p->out;
    const float *w = (const float *)p->w, *b = (const float *)p->b;
    for (int64_t i = 0; i < p->h; i++, x += line, y += p->wide * p->out)
        for (int64_t c = 0; c < p->out; c += XB_PY_LANES) {
            xb_py_reals start = {0};
            if (b) memcpy(&start, b + c, sizeof start);
            for (int k = 0; k < taps; k += XB_PY_TAPS)
                xb_py_conv_line(p, y + c, x, w + k * p->out + c, k ? NULL : &start,
                                offset + k);
        }
}

static void xb_py_conv_image_back(void *arg, int64_t image)
{
    const xb_py_conv *p = arg;
    int64_t offset[XB_PY_MOST_TAPS];
    const int taps = xb_py_conv_offsets(p, offset);
    const int64_t line = (p->wide + p->kw - 1) * p->in;
    const float *x = (const float *)p->x + image * (p->h + p->kh - 1) * line;
    const float *dy = (const float *)p->y + image * p->h * p->wide * p->out;
    float *to = (float *)p->sums + image * (taps + 1) * p->out;
    for (int64_t c = 0; c < p->out; c += XB_PY_LANES)
        for (int k = 0; k < taps; k += XB_PY_TAPS) {
            xb_py_reals sum[XB_PY_TAPS] = {{0}}, bias = {0};
            for (int64_t i = 0; i < p->h; i++)
                xb_py_conv_line_back(p, sum, &bias, dy + i * p->wide * p->out + c,
                                     x + i * line, offset + k);
            for (int j = 0; j < XB_PY_TAPS; j++)
                memcpy(to + (k + j) * p->out + c, &sum[j], sizeof sum[j]);
            memcpy(to + taps * p->out + c, &bias, sizeof bias);
        }
}

static void xb_py_conv_forward(const xb_ctx *ctx, xb_py_conv *p)
{
    xb_parallel_for(ctx, p->n, xb_py_conv_image, p);
}

static void xb_py_conv_backward(const xb_ctx *ctx, xb_py_conv *p)
{
    xb_parallel_for(ctx, p->n, xb_py_conv_image_back, p);
    const int64_t weights = p->kh * p->kw * p->in * p->out, each = weights + p->out;
    const float *sums = (const float *)p->sums;
    float *w = (float *)p->w, *b = (float *)p->b;
    for (int64_t i = 0; i < each; i++) {
        double sum = 0;
        for (int64_t image = 0; image < p->n; image++)
            sum += (double)sums[image * each + i];
        if (i < weights)
            w[i] = (float)sum;
        else if (b)
            b[i - weights] = (float)sum;
    }
}

#endif
