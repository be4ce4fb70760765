/* cpu_local_dense.h: a dense layer under the noise of its outputs, mean and variance
 * side by side; maths N11, N6.
 *
 * A tile holds LOCAL_ROWS rows by one vector of both products while k runs. The steps
 * after the products (a root, a division and the activation) then overlap with the
 * multiplications of the next tile; done for all rows at once they would wait for the
 * divider, which takes 16 cycles per vector, and elu 9. Every sum is one chain in the
 * order of k, as cpu_gemm.h makes it, so the bytes are those of the two products one by
 * one. Where that file sums otherwise (few rows, one column), and at levels with few
 * registers, its products are called. */
#ifndef XB_KERNEL_CPU_LOCAL_DENSE_H
#define XB_KERNEL_CPU_LOCAL_DENSE_H

#include "kernel/cpu_local.h"

enum { LOCAL_ROWS = 4 };

/* Two products side by side, in one strip of columns. */
typedef struct local_strip {
    const float *a, *aa; /* rows a_row apart */
    const float *b, *bb; /* lines b_row apart */
    const float *bias, *bias_bb;
    int64_t a_row, b_row, k, width;
} local_strip;

typedef struct local_tile {
    vec sum[LOCAL_ROWS], square[LOCAL_ROWS];
} local_tile;

LANE_INLINE local_tile local_start(const local_strip *s, int rows, int64_t width)
{
    local_tile t;
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        t.sum[i] = s->bias ? some_load(s->bias, width) : vec_set(0);
        t.square[i] = s->bias_bb ? some_load(s->bias_bb, width) : vec_set(0);
    }
    return t;
}

/* Terms from k to before `end`. */
LANE_INLINE void local_add(local_tile *t, const local_strip *s, int64_t row, int rows,
                           int64_t width, int64_t k, int64_t end)
{
    const float *a = s->a + row * s->a_row + k, *aa = s->aa + row * s->a_row + k;
    const float *b = s->b + k * s->b_row, *bb = s->bb + k * s->b_row;
    for (; k < end; k++, a++, aa++, b += s->b_row, bb += s->b_row) {
        vec line = some_load(b, width), lline = some_load(bb, width);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            t->sum[i] = vec_fma(vec_set(a[i * s->a_row]), line, t->sum[i]);
            t->square[i] = vec_fma(vec_set(aa[i * s->a_row]), lline, t->square[i]);
        }
    }
}

/* y and its square, and in place of e what dy makes 2 dv of */
LANE_INLINE void local_slope_lanes(float *y, float *yy, float *e, vec mean, vec root,
                                   int64_t width, gemm_end end)
{
    vec draw = some_load(e, width), zero = vec_set(0);
    vec slope = draw / root;
    vec sum = vec_fma(root, draw, mean);
    vec out = ended(sum, sum, end);
    some_store(e, vec_if_more(root, zero, slope, zero), width);
    some_store(y, out, width);
    some_store(yy, out * out, width);
}

typedef struct local_outputs {
    float *y, *yy, *e; /* of a strip */
    int64_t row;
} local_outputs;

LANE_INLINE void forward_end(const local_outputs *o, const local_tile *t, int64_t row,
                             int i, int64_t width, gemm_end end)
{
    int64_t at = (row + i) * o->row;
    local_slope_lanes(o->y + at, o->yy + at, o->e + at, t->sum[i], t->square[i], width,
                      end);
}

LANE_INLINE void local_roots(local_tile *t, int rows)
{
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) t->square[i] = vec_sqrt(t->square[i]);
}

/* Sums of a tile, a part of them before the end of each row of the last one. */
LANE_INLINE local_tile forward_next(const local_outputs *o, const local_strip *s,
                                    const local_tile *last, int64_t row, int64_t width,
                                    gemm_end end)
{
    local_tile t = local_start(s, LOCAL_ROWS, width);
#pragma GCC unroll 4
    for (int i = 0; i < LOCAL_ROWS; i++) {
        local_add(&t, s, row, LOCAL_ROWS, width, s->k * i / LOCAL_ROWS,
                  s->k * (i + 1) / LOCAL_ROWS);
        forward_end(o, last, row - LOCAL_ROWS, i, width, end);
    }
    local_roots(&t, LOCAL_ROWS);
    return t;
}

LANE_INLINE void forward_one(const local_outputs *o, const local_strip *s, int64_t row,
                             int64_t width, gemm_end end)
{
    local_tile t = local_start(s, 1, width);
    local_add(&t, s, row, 1, width, 0, s->k);
    local_roots(&t, 1);
    forward_end(o, &t, row, 0, width, end);
}

/* At least LOCAL_ROWS rows. */
LANE_INLINE void forward_rows(const local_outputs *o, const local_strip *s, int64_t rows,
                              int64_t width, gemm_end end)
{
    local_tile last = local_start(s, LOCAL_ROWS, width);
    local_add(&last, s, 0, LOCAL_ROWS, width, 0, s->k);
    local_roots(&last, LOCAL_ROWS);
    int64_t r = LOCAL_ROWS;
    for (; r + LOCAL_ROWS <= rows; r += LOCAL_ROWS)
        last = forward_next(o, s, &last, r, width, end);
#pragma GCC unroll 4
    for (int i = 0; i < LOCAL_ROWS; i++)
        forward_end(o, &last, r - LOCAL_ROWS, i, width, end);
    for (; r < rows; r++) forward_one(o, s, r, width, end);
}

/* With known strides no address is computed between the multiplications. */
static void forward_square(const local_outputs *o, const local_strip *s, int64_t rows,
                           gemm_end end)
{
    local_strip known = *s;
    local_outputs out = *o;
    known.a_row = known.b_row = known.k = out.row = LANES;
    if (end == END_ELU)
        forward_rows(&out, &known, rows, LANES, END_ELU);
    else
        forward_rows(&out, &known, rows, LANES, end);
}

static void forward_strip(const local_outputs *o, const local_strip *s, int64_t rows,
                          gemm_end end)
{
    if (s->width < LANES)
        forward_rows(o, s, rows, s->width, end);
    else if (s->a_row == LANES && o->row == LANES)
        forward_square(o, s, rows, end);
    else
        forward_rows(o, s, rows, LANES, end);
}

/* The same for n sums that are there: y holds the means, v the variances. */
static void forward_span(float *y, float *yy, float *e, const float *v, int64_t n,
                         gemm_end end)
{
    for (int64_t i = 0; i < n; i += LANES) {
        int64_t width = lanes_left(n, i);
        local_slope_lanes(y + i, yy + i, e + i, some_load(y + i, width),
                          vec_sqrt(some_load(v + i, width)), width, end);
    }
}

/* Sixteen registers are too few for two products at once: with the vectors of v3 a step
 * of the scalar net took 25.1 us by tiles, 22.1 product by product. */
static bool local_by_tiles(const xb_local_layer *l, int64_t columns, int64_t k)
{
    return SUM_VECTORS == 1 && l->rows >= FEW_ROWS && columns > 1 && k <= DEPTH;
}

static void forward_tiles(float *y, float *yy, float *e, const xb_local_layer *l,
                          gemm_end end)
{
    for (int64_t j = 0; j < l->out; j += LANES) {
        const local_outputs o = {y + j, yy + j, e + j, l->out};
        const local_strip s = {.a = l->x,
                               .aa = l->xx,
                               .b = l->mu + j,
                               .bb = l->variance + j,
                               .bias = l->bias ? l->bias + j : NULL,
                               .bias_bb = l->bias ? l->bias_variance + j : NULL,
                               .a_row = l->in,
                               .b_row = l->out,
                               .k = l->in,
                               .width = lanes_left(l->out, j)};
        forward_strip(&o, &s, l->rows, end);
    }
}

static void cpu_local_dense_forward(float *y, float *yy, float *e,
                                    const xb_local_layer *l, xb_act f)
{
    gemm_end end = end_of(f, false);
    int64_t n = l->rows * l->out;
    if (local_by_tiles(l, l->out, l->in)) {
        forward_tiles(y, yy, e, l, end);
    } else {
        cpu_dense_forward(y, l->x, l->mu, l->bias, l->rows, l->in, l->out, XB_ACT_NONE);
        cpu_dense_forward(l->room, l->xx, l->variance, l->bias_variance, l->rows, l->in,
                          l->out, XB_ACT_NONE);
        forward_span(y, yy, e, l->room, n, end);
    }
    if (end != END_PLAIN || f == XB_ACT_NONE) return;
    finish_activation(y, n, f);
    multiply(yy, y, y, n);
}

static void cpu_local_dense_params(float *dw, float *ds, float *dv, const float *dy,
                                   const xb_local_layer *l)
{
    int64_t size = l->in * l->out, n = l->rows * l->out;
    if (l->bias && fits_registers(l->in, l->out)) {
        square_params(dw, dw + size, l->x, dy, l->rows);
        square_sums(ds, ds + size, l->xx, dy, dv, l->rows);
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++) dv[i] *= dy[i];
    if (l->bias) {
        cpu_dense_backward_params(dw, dw + size, l->x, dy, l->rows, l->in, l->out);
        cpu_dense_backward_params(ds, ds + size, l->xx, dv, l->rows, l->in, l->out);
    } else {
        cpu_dense_backward_weight(dw, l->x, dy, l->rows, l->in, l->out);
        cpu_dense_backward_weight(ds, l->xx, dv, l->rows, l->in, l->out);
    }
}

LANE_INLINE void input_tile(float *dx, const float *x, int64_t dx_row,
                            const local_strip *s, int64_t row, int rows, int64_t width,
                            gemm_end end)
{
    local_tile t = local_start(s, rows, width);
    local_add(&t, s, row, rows, width, 0, s->k);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        vec in = some_load(x + (row + i) * dx_row, width);
        vec d = vec_fma(in, t.square[i], t.sum[i]);
        some_store(dx + (row + i) * dx_row, ended(d, in, end), width);
    }
}

LANE_INLINE void input_rows(float *dx, const float *x, int64_t dx_row,
                            const local_strip *s, int64_t rows, int64_t width,
                            gemm_end end)
{
    int64_t r = 0;
    for (; r + LOCAL_ROWS <= rows; r += LOCAL_ROWS)
        input_tile(dx, x, dx_row, s, r, LOCAL_ROWS, width, end);
    for (; r < rows; r++) input_tile(dx, x, dx_row, s, r, 1, width, end);
}

/* Lines of mu^T and sigma^2^T side by side on the stack. */
static void input_strip(float *dx, const float *dy, const float *dv,
                        const xb_local_layer *l, int64_t j, gemm_end end)
{
    _Alignas(64) float panel[DEPTH * PAIR];
    const local_strip s = {.a = dy,
                           .aa = dv,
                           .b = panel,
                           .bb = panel + LANES,
                           .a_row = l->out,
                           .b_row = PAIR,
                           .k = l->out,
                           .width = lanes_left(l->in, j)};
    pack_transposed(panel, l->mu + j * l->out, l->out, l->out, s.width);
    pack_transposed(panel + LANES, l->variance + j * l->out, l->out, l->out, s.width);
    if (s.width < LANES)
        input_rows(dx + j, l->x + j, l->in, &s, l->rows, s.width, end);
    else
        input_rows(dx + j, l->x + j, l->in, &s, l->rows, LANES, end);
}

static void cpu_local_dense_input(float *dx, const float *dy, const float *dv,
                                  const xb_local_layer *l, xb_act f)
{
    int64_t n = l->rows * l->in;
    if (!local_by_tiles(l, l->in, l->out)) {
        cpu_dense_backward_input(dx, dy, l->mu, NULL, l->rows, l->in, l->out,
                                 XB_ACT_NONE);
        cpu_dense_backward_input(l->room, dv, l->variance, NULL, l->rows, l->in, l->out,
                                 XB_ACT_NONE);
        input_span(dx, l->room, l->x, 1, n, f);
        return;
    }
    for (int64_t j = 0; j < l->in; j += LANES)
        input_strip(dx, dy, dv, l, j, end_of(f, true));
    finish_slope(dx, l->x, n, f);
}

#endif
