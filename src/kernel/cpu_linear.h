/* cpu_linear.h: dense and conv as matrix products; maths N1, N2. A convolution goes
 * through the windows of some output rows written out side by side (im2col), as many
 * as fit in the second cache. */
#ifndef XB_KERNEL_CPU_LINEAR_H
#define XB_KERNEL_CPU_LINEAR_H

#include "kernel/activation_kernel.h"
#include "kernel/cpu_gemm.h"
#include "net/window.h"

/* elu and relu go into the product; the others are run over it. */
static gemm_end end_of(xb_act f, bool slope)
{
    if (f == XB_ACT_ELU) return slope ? END_ELU_SLOPE : END_ELU;
    if (f == XB_ACT_RELU) return slope ? END_RELU_SLOPE : END_RELU;
    return END_PLAIN;
}

static void finish_activation(float *y, int64_t n, xb_act f)
{
    if (f == XB_ACT_TANH) cpu_tanh_forward(y, y, n);
    if (f == XB_ACT_SIGMOID) cpu_sigmoid_forward(y, y, n);
}

static void finish_slope(float *dx, const float *x, int64_t n, xb_act f)
{
    if (f == XB_ACT_TANH) tanh_backward(dx, dx, x, n);
    if (f == XB_ACT_SIGMOID) sigmoid_backward(dx, dx, x, n);
}

static void cpu_dense_forward(float *y, const float *x, const float *w, const float *b,
                              int64_t rows, int64_t in, int64_t out, xb_act f)
{
    gemm(&(gemm_args){.c = y,
                      .end = end_of(f, false),
                      .a = x,
                      .b = w,
                      .bias = b,
                      .c_row = out,
                      .a_row = in,
                      .a_step = 1,
                      .b_row = out,
                      .m = rows,
                      .n = out,
                      .k = in});
    finish_activation(y, rows * out, f);
}

static void cpu_dense_backward_input(float *dx, const float *dy, const float *w,
                                     const float *x, int64_t rows, int64_t in,
                                     int64_t out, xb_act f)
{
    gemm(&(gemm_args){.c = dx,
                      .end = end_of(f, true),
                      .below = x,
                      .a = dy,
                      .b = w,
                      .c_row = in,
                      .a_row = out,
                      .a_step = 1,
                      .b_row = out,
                      .m = rows,
                      .n = in,
                      .k = out,
                      .transposed = true});
    finish_slope(dx, x, rows * in, f);
}

static void cpu_dense_backward_weight(float *dw, const float *x, const float *dy,
                                      int64_t rows, int64_t in, int64_t out)
{
    if (out == 1) { /* the transpose: a row, not a column of one lane */
        gemm(&(gemm_args){.c = dw,
                          .a = dy,
                          .b = x,
                          .c_row = in,
                          .a_row = 1,
                          .a_step = 1,
                          .b_row = in,
                          .m = 1,
                          .n = in,
                          .k = rows});
        return;
    }
    gemm(&(gemm_args){.c = dw,
                      .a = x,
                      .b = dy,
                      .c_row = out,
                      .a_row = 1,
                      .a_step = in,
                      .b_row = out,
                      .m = in,
                      .n = out,
                      .k = rows});
}

static void cpu_product(const xb_product *p)
{
    gemm(&(gemm_args){.c = p->c,
                      .a = p->a,
                      .b = p->b,
                      .bias = p->bias,
                      .c_row = p->c_row,
                      .a_row = p->a_row,
                      .a_step = p->a_step,
                      .b_row = p->b_row,
                      .m = p->m,
                      .n = p->n,
                      .k = p->k,
                      .transposed = p->b_is_transposed});
}

static float sum_of(const float *x, int64_t n)
{
    vec_lanes sum = lanes_zero();
    for (int64_t i = 0; i < n; i += SUM_LANES)
        for (int p = 0; p < SUM_VECTORS; p++)
            sum.part[p] = sum.part[p] +
                          vec_load_part(x + i + p * LANES, lanes_left(n, i + p * LANES));
    return lanes_sum(sum);
}

/* A strip of columns at a time, four sums side by side: row r goes to sum r mod 4. */
static void cpu_bias_backward(float *db, const float *dy, int64_t rows, int64_t c)
{
    if (c == 1) {
        db[0] = sum_of(dy, rows);
        return;
    }
    for (int64_t j = 0; j < c; j += LANES) {
        int64_t width = c - j < LANES ? c - j : LANES, r = 0;
        vec sum[4] = {vec_set(0), vec_set(0), vec_set(0), vec_set(0)};
        for (; r + 4 <= rows; r += 4)
            for (int i = 0; i < 4; i++)
                sum[i] = sum[i] + vec_load_part(dy + (r + i) * c + j, width);
        for (; r < rows; r++) sum[0] = sum[0] + vec_load_part(dy + r * c + j, width);
        vec_store_part(db + j, (sum[0] + sum[1]) + (sum[2] + sum[3]), width);
    }
}

/* Inputs and outputs of a layer whose db is one sum in the order of the rows, at every
 * level. */
enum { SQUARE = 16 };

static bool fits_registers(int64_t in, int64_t out)
{
    return in == SQUARE && out == SQUARE && in == LANES;
}

/* All of dw in registers, and db beside it at no cost, where LANES are SQUARE. `slope`,
 * if not NULL, is multiplied by dy and takes its place. */
LANE_INLINE void square_sums(float *dw, float *db, const float *x, const float *dy,
                             float *slope, int64_t rows)
{
    vec sum[LANES], bias = vec_set(0);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) sum[i] = vec_set(0);
    for (int64_t r = 0; r < rows; r++, x += LANES) {
        vec d = vec_load(dy + r * LANES);
        if (slope) {
            d = d * vec_load(slope + r * LANES);
            vec_store(slope + r * LANES, d);
        }
        bias = bias + d;
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) sum[i] = vec_fma(vec_set(x[i]), d, sum[i]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) vec_store(dw + i * LANES, sum[i]);
    vec_store(db, bias);
}

static void square_params(float *dw, float *db, const float *x, const float *dy,
                          int64_t rows)
{
    square_sums(dw, db, x, dy, NULL, rows);
}

static void square_bias(float *db, const float *dy, int64_t rows)
{
    for (int64_t j = 0; j < SQUARE; j += LANES) {
        vec sum = vec_set(0);
        for (int64_t r = 0; r < rows; r++) sum = sum + vec_load(dy + r * SQUARE + j);
        vec_store(db + j, sum);
    }
}

static void cpu_dense_backward_params(float *dw, float *db, const float *x,
                                      const float *dy, int64_t rows, int64_t in,
                                      int64_t out)
{
    bool square = in == SQUARE && out == SQUARE;
    if (fits_registers(in, out)) {
        square_params(dw, db, x, dy, rows);
        return;
    }
    if (in == 1) {
        one_row(dw, db, x, 1, dy, out, rows, out);
        return;
    }
    cpu_dense_backward_weight(dw, x, dy, rows, in, out);
    if (square)
        square_bias(db, dy, rows);
    else
        cpu_bias_backward(db, dy, rows, out);
}

enum { COLUMNS_ROOM = 1 << 16 }; /* reals */

/* A convolution as a product of [pixels][taps] and [taps][oc]. */
static int64_t conv_taps(const xb_window *g) { return g->kh * g->kw * g->c; }

/* Output rows whose windows are written out at once. */
static int64_t conv_lines(const xb_window *g)
{
    int64_t lines = COLUMNS_ROOM / (g->ow * conv_taps(g));
    return lines < 1 ? 1 : lines < g->oh ? lines : g->oh;
}

/* A window of one pixel at every pixel: the image is its own columns. */
static bool conv_pointwise(const xb_window *g)
{
    return g->kh == 1 && g->kw == 1 && g->stride == 1;
}

static int64_t cpu_conv_room(const xb_window *g)
{
    return conv_pointwise(g) ? 0 : conv_lines(g) * g->ow * conv_taps(g);
}

/* Windows of output rows [from, to) of one image, a row of taps each. */
static void columns_of(float *columns, const float *x, const xb_window *g, int64_t from,
                       int64_t to)
{
    int64_t line = g->kw * g->c;
    for (int64_t oy = from; oy < to; oy++)
        for (int64_t ox = 0; ox < g->ow; ox++, columns += g->kh * line) {
            window_place p = window_at(g, oy, ox);
            bool whole = p.ky0 == 0 && p.kx0 == 0 && p.ky1 == g->kh && p.kx1 == g->kw;
            if (!whole) memset(columns, 0, (size_t)(g->kh * line) * sizeof *columns);
            for (int64_t ky = p.ky0; ky < p.ky1; ky++)
                memcpy(columns + ky * line + p.kx0 * g->c,
                       x + ((p.y0 + ky) * g->w + p.x0 + p.kx0) * g->c,
                       (size_t)((p.kx1 - p.kx0) * g->c) * sizeof *columns);
        }
}

/* The reverse: gradients of the windows added to that of the image. */
static void columns_back(float *dx, const float *columns, const xb_window *g,
                         int64_t from, int64_t to)
{
    int64_t line = g->kw * g->c;
    for (int64_t oy = from; oy < to; oy++)
        for (int64_t ox = 0; ox < g->ow; ox++, columns += g->kh * line) {
            window_place p = window_at(g, oy, ox);
            for (int64_t ky = p.ky0; ky < p.ky1; ky++) {
                const float *c = columns + ky * line + p.kx0 * g->c;
                float *to_x = dx + ((p.y0 + ky) * g->w + p.x0 + p.kx0) * g->c;
                int64_t n = (p.kx1 - p.kx0) * g->c;
                for (int64_t i = 0; i < n; i++) to_x[i] += c[i];
            }
        }
}

static void cpu_conv_forward(float *y, const float *x, const float *w, const float *b,
                             int64_t rows, const xb_window *g, float *room)
{
    int64_t taps = conv_taps(g), lines = conv_lines(g), pixels = g->oh * g->ow;
    if (conv_pointwise(g)) {
        cpu_dense_forward(y, x, w, b, rows * pixels, taps, g->oc, XB_ACT_NONE);
        return;
    }
    for (int64_t r = 0; r < rows; r++, x += g->h * g->w * g->c, y += pixels * g->oc)
        for (int64_t oy = 0; oy < g->oh; oy += lines) {
            int64_t to = oy + lines < g->oh ? oy + lines : g->oh;
            columns_of(room, x, g, oy, to);
            cpu_dense_forward(y + oy * g->ow * g->oc, room, w, b, (to - oy) * g->ow, taps,
                              g->oc, XB_ACT_NONE);
        }
}

static void cpu_conv_backward_input(float *dx, const float *dy, const float *w,
                                    int64_t rows, const xb_window *g, float *room)
{
    int64_t taps = conv_taps(g), lines = conv_lines(g), pixels = g->oh * g->ow;
    int64_t image = g->h * g->w * g->c;
    if (conv_pointwise(g)) {
        cpu_dense_backward_input(dx, dy, w, NULL, rows * pixels, taps, g->oc,
                                 XB_ACT_NONE);
        return;
    }
    memset(dx, 0, (size_t)(rows * image) * sizeof *dx);
    for (int64_t r = 0; r < rows; r++, dx += image, dy += pixels * g->oc)
        for (int64_t oy = 0; oy < g->oh; oy += lines) {
            int64_t to = oy + lines < g->oh ? oy + lines : g->oh;
            cpu_dense_backward_input(room, dy + oy * g->ow * g->oc, w, NULL,
                                     (to - oy) * g->ow, taps, g->oc, XB_ACT_NONE);
            columns_back(dx, room, g, oy, to);
        }
}

static void cpu_conv_backward_weight(float *dw, const float *x, const float *dy,
                                     int64_t rows, const xb_window *g, float *room)
{
    int64_t taps = conv_taps(g), lines = conv_lines(g), pixels = g->oh * g->ow;
    if (conv_pointwise(g)) {
        cpu_dense_backward_weight(dw, x, dy, rows * pixels, taps, g->oc);
        return;
    }
    memset(dw, 0, (size_t)(taps * g->oc) * sizeof *dw);
    for (int64_t r = 0; r < rows; r++, x += g->h * g->w * g->c, dy += pixels * g->oc)
        for (int64_t oy = 0; oy < g->oh; oy += lines) {
            int64_t to = oy + lines < g->oh ? oy + lines : g->oh;
            columns_of(room, x, g, oy, to);
            gemm(&(gemm_args){.c = dw,
                              .a = room,
                              .b = dy + oy * g->ow * g->oc,
                              .c_row = g->oc,
                              .a_row = 1,
                              .a_step = taps,
                              .b_row = g->oc,
                              .m = taps,
                              .n = g->oc,
                              .k = (to - oy) * g->ow,
                              .add = true});
        }
}

#endif
