/* cpu_gemm.h: C = A B (+ bias, or + C) for matrices of any size, tuned for small ones:
 * no call overhead, no allocation, no threads. An activation, or the slope of the one
 * below, is applied to a tile before it leaves the registers.
 *
 * A tile of C stays in registers, up to 12 rows by two vectors, while k runs: per step
 * one load of B for all rows and one broadcast of A for each. A is read in place (with
 * any strides, so it may be a transpose). B is read in place if its rows are contiguous,
 * and otherwise, or if it is large, through a panel of two vectors by DEPTH on the stack.
 * Every element of C is one chain of fused multiply-adds in the order of k, whatever the
 * tiling: rows do not depend on their neighbours. (But for products with few rows and B
 * transposed, and of one column: sixteen chains, folded, see inner_product; and of one
 * row: four, see one_row.) Levels with fused multiply-add give the same bytes.
 *
 * Measured on one core of an EPYC with AVX-512, multiply-adds per second in 1e9, beside
 * OpenBLAS 0.3.21: 100 x 16 x 16: 46 to 56 (52); 100 x 100 x 100: 43 to 49 (56); 1000
 * cubed: 50 (52); 450 x 144 x 16, a convolution: 46 to 58 (42). */
#ifndef XB_KERNEL_CPU_GEMM_H
#define XB_KERNEL_CPU_GEMM_H

#include <stdbool.h>

#include "kernel/cpu_activation.h"

enum {
    DEPTH = 256,
    ROWS_AHEAD = 16,       /* rows of B that are fetched before they are packed */
    PANEL_WORTH = 1 << 15, /* elements of B */
    MANY_ROWS = 16,        /* that are worth packing B for */
    FEW_ROWS = 4,
    LONG = 16,  /* k of one row, see one_row, */
    SHORT = 32, /* and its n: at every level the same, as the sums are others */
    PAIR = 2 * LANES
};

/* What is done to C last. SLOPE: times f', from `below` = f(...). */
typedef enum gemm_end {
    END_PLAIN,
    END_ELU,
    END_RELU,
    END_ELU_SLOPE,
    END_RELU_SLOPE
} gemm_end;

/* A (i, k) is a[i * a_row + k * a_step]; B (k, j) is b[k * b_row + j], or b[j * b_row +
 * k] if transposed. */
typedef struct gemm_args {
    float *c; /* [m][n], rows c_row apart */
    const float *a, *b;
    const float *bias; /* [n]; NULL: 0 */
    int64_t c_row, a_row, a_step, b_row;
    int64_t m, n, k;
    bool transposed; /* B */
    bool add;        /* to C; no bias then */
    gemm_end end;
    const float *below; /* like c */
} gemm_args;

/* One strip of columns and one run of k: what a tile needs. The order differs from
 * gemm_args on purpose: copying two numbers at once that were just written would stall
 * until both have left the store buffer. */
typedef struct gemm_strip {
    const float *a, *b, *bias;
    int64_t a_row, k, a_step, c_row, b_row;
    int64_t last; /* columns of the last vector */
    bool add;
    gemm_end end;
    const float *below; /* like c: of the strip's first element */
} gemm_strip;

LANE_INLINE vec column_load(const float *p, int64_t v, int64_t vectors, int64_t last)
{
    return v < vectors - 1 || last == LANES ? vec_load(p + v * LANES)
                                            : vec_load_part(p + v * LANES, last);
}

LANE_INLINE void column_store(float *p, vec a, int64_t v, int64_t vectors, int64_t last)
{
    if (v < vectors - 1 || last == LANES)
        vec_store(p + v * LANES, a);
    else
        vec_store_part(p + v * LANES, a, last);
}

/* c, and f' by the output y of f */
LANE_INLINE vec ended(vec c, vec y, gemm_end end)
{
    switch (end) {
    case END_ELU: return elu_of(c);
    case END_RELU: return relu_of(c);
    case END_ELU_SLOPE: return vec_fma(c, vec_min(vec_set(0), y), c);
    case END_RELU_SLOPE: return vec_if_more(y, vec_set(0), c, vec_set(0));
    case END_PLAIN: break;
    }
    return c;
}

LANE_INLINE void tile_end(float *c, vec sum[12][2], const float *below, int64_t row,
                          int rows, int vectors, int64_t last, gemm_end end)
{
    bool slope = end == END_ELU_SLOPE || end == END_RELU_SLOPE;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
        for (int64_t v = 0; v < vectors; v++) {
            vec y = slope ? column_load(below + i * row, v, vectors, last) : vec_set(0);
            column_store(c + i * row, ended(sum[i][v], y, end), v, vectors, last);
        }
}

LANE_INLINE void tile(const gemm_strip *s, float *c, const float *a, const float *below,
                      int rows, int vectors, int64_t last)
{
    vec sum[12][2];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
        for (int64_t v = 0; v < vectors; v++)
            sum[i][v] = s->add    ? column_load(c + i * s->c_row, v, vectors, last)
                        : s->bias ? column_load(s->bias, v, vectors, last)
                                  : vec_set(0);
    const float *b = s->b;
    for (int64_t k = 0; k < s->k; k++, a += s->a_step, b += s->b_row) {
        vec line[2];
        for (int64_t v = 0; v < vectors; v++) line[v] = column_load(b, v, vectors, last);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            vec x = vec_set(a[i * s->a_row]);
            for (int64_t v = 0; v < vectors; v++)
                sum[i][v] = vec_fma(x, line[v], sum[i][v]);
        }
    }
#define TILE_END(END)                                                                    \
    case END: tile_end(c, sum, below, s->c_row, rows, vectors, last, END); break
    switch (s->end) {
        TILE_END(END_PLAIN);
        TILE_END(END_ELU);
        TILE_END(END_RELU);
        TILE_END(END_ELU_SLOPE);
        TILE_END(END_RELU_SLOPE);
    }
#undef TILE_END
}

/* All rows of a strip; the counts are constants where this is inlined. */
LANE_INLINE void strip_rows(const gemm_strip *s, float *c, int64_t m, int rows,
                            int vectors, int64_t last)
{
    int64_t i = 0;
#define TILES(ROWS)                                                                      \
    for (; i + (ROWS) <= m; i += (ROWS))                                                 \
    tile(s, c + i * s->c_row, s->a + i * s->a_row, s->below + i * s->c_row, ROWS,        \
         vectors, last)
    TILES(rows);
    TILES(FEW_ROWS);
    TILES(1);
#undef TILES
}

static void strip_one(const gemm_strip *s, float *c, int64_t m)
{
    strip_rows(s, c, m, ROWS_ONE, 1, LANES);
}
static void strip_one_part(const gemm_strip *s, float *c, int64_t m)
{
    strip_rows(s, c, m, ROWS_ONE, 1, s->last);
}
static void strip_two(const gemm_strip *s, float *c, int64_t m)
{
    strip_rows(s, c, m, ROWS_TWO, 2, LANES);
}
static void strip_two_part(const gemm_strip *s, float *c, int64_t m)
{
    strip_rows(s, c, m, ROWS_TWO, 2, s->last);
}

/* With known strides no address is computed between the multiplications: a layer of
 * LANES inputs and outputs, and A a transpose (weight gradients). */
static void strip_square(const gemm_strip *s, float *c, int64_t m)
{
    gemm_strip known = *s;
    known.a_row = known.c_row = known.k = LANES;
    known.a_step = 1;
    strip_rows(&known, c, m, ROWS_ONE, 1, LANES);
}
static void strip_one_beside(const gemm_strip *s, float *c, int64_t m)
{
    gemm_strip known = *s;
    known.a_row = 1;
    strip_rows(&known, c, m, ROWS_ONE, 1, LANES);
}
static void strip_two_beside(const gemm_strip *s, float *c, int64_t m)
{
    gemm_strip known = *s;
    known.a_row = 1;
    strip_rows(&known, c, m, ROWS_TWO, 2, LANES);
}

static bool is_square(const gemm_strip *s)
{
    return s->a_step == 1 && s->a_row == LANES && s->c_row == LANES && s->k == LANES;
}

/* Squares of LANES, then what is left element by element. */
static void pack_transposed(float *panel, const float *from, int64_t row, int64_t k,
                            int64_t width)
{
    int64_t columns = width - width % LANES, lines = k - k % LANES;
    for (int64_t col = 0; col < columns; col += LANES)
        for (int64_t i = 0; i < lines; i += LANES)
            lanes_transpose(panel + i * PAIR + col, PAIR, from + col * row + i, row);
    for (int64_t col = 0; col < width; col++)
        for (int64_t i = col < columns ? lines : 0; i < k; i++)
            panel[i * PAIR + col] = from[col * row + i];
}

/* The machine sees no pattern in rows that are pages apart: without this, a product with
 * a B of 1200 x 1200 and 128 rows of A takes 1.8 times as long. */
LANE_INLINE void fetch_row(const float *row, int64_t width)
{
    __builtin_prefetch(row);
    __builtin_prefetch(row + width - 1);
}

/* B (k0 .. k0 + k, j .. j + width) as rows of PAIR; what is beyond is not read. */
static void pack(float *panel, const gemm_args *g, int64_t k0, int64_t k, int64_t j,
                 int64_t width)
{
    if (g->transposed) {
        pack_transposed(panel, g->b + j * g->b_row + k0, g->b_row, k, width);
        return;
    }
    const float *from = g->b + k0 * g->b_row + j;
    for (int64_t i = 0; i < k; i++, from += g->b_row) {
        if (i + ROWS_AHEAD < k) fetch_row(from + ROWS_AHEAD * g->b_row, width);
        if (width == PAIR)
            memcpy(panel + i * PAIR, from, PAIR * sizeof *panel);
        else
            memcpy(panel + i * PAIR, from, (size_t)width * sizeof *panel);
    }
}

static void strip(const gemm_args *g, const gemm_strip *s, float *c, int64_t width)
{
    if (width == PAIR)
        (s->a_row == 1 ? strip_two_beside : strip_two)(s, c, g->m);
    else if (width > LANES)
        strip_two_part(s, c, g->m);
    else if (width < LANES)
        strip_one_part(s, c, g->m);
    else if (s->a_row == 1)
        strip_one_beside(s, c, g->m);
    else
        (is_square(s) ? strip_square : strip_one)(s, c, g->m);
}

/* n elements of C that lie together, already summed. */
static void end_span(const gemm_args *g, int64_t at, int64_t n)
{
    bool slope = g->end == END_ELU_SLOPE || g->end == END_RELU_SLOPE;
    for (int64_t j = 0; g->end != END_PLAIN && j < n; j += LANES) {
        int64_t width = n - j < LANES ? n - j : LANES;
        vec y = slope ? vec_load_part(g->below + at + j, width) : vec_set(0);
        float *c = g->c + at + j;
        vec_store_part(c, ended(vec_load_part(c, width), y, g->end), width);
    }
}

LANE_INLINE vec_lanes inner_lanes(const float *a, const float *b, int64_t n)
{
    vec_lanes sum = lanes_zero();
    int64_t k = 0;
    for (; k + SUM_LANES <= n; k += SUM_LANES)
        for (int p = 0; p < SUM_VECTORS; p++)
            sum.part[p] = vec_fma(vec_load(a + k + p * LANES),
                                  vec_load(b + k + p * LANES), sum.part[p]);
    for (int p = 0; p < SUM_VECTORS && k < n; p++, k += LANES) {
        int64_t some = lanes_left(n, k);
        sum.part[p] =
            vec_fma(vec_load_part(a + k, some), vec_load_part(b + k, some), sum.part[p]);
    }
    return sum;
}

LANE_INLINE float inner_product(const float *a, const float *b, int64_t n)
{
    return lanes_sum(inner_lanes(a, b, n));
}

/* Few rows times a transposed B: inner products, as packing would cost more than the
 * work. (Here, and where C is one column, an element is summed lane by lane.) */
static void inner_products(const gemm_args *g)
{
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++)
            g->c[i * g->c_row + j] =
                inner_product(g->a + i * g->a_row, g->b + j * g->b_row, g->k);
        end_span(g, i * g->c_row, g->n);
    }
}

/* LANES inner products at once: their sums across lanes cost a third of one by one. */
LANE_INLINE void column_part(float *c, const float *a, int64_t a_row, const float *b,
                             int64_t k, float bias)
{
    vec sum[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) sum[i] = lanes_fold(inner_lanes(a + i * a_row, b, k));
    vec_sums(c, sum);
    vec_store(c, vec_load(c) + vec_set(bias));
}

/* C and B are one column, of which a tile would use one lane. */
static void one_column(const gemm_args *g)
{
    float bias = g->bias ? g->bias[0] : 0;
    int64_t i = 0;
    if (g->k == SUM_LANES)
        for (; i + LANES <= g->m; i += LANES)
            column_part(g->c + i, g->a + i * g->a_row, g->a_row, g->b, SUM_LANES, bias);
    for (; i < g->m; i++) g->c[i] = inner_product(g->a + i * g->a_row, g->b, g->k) + bias;
    end_span(g, 0, g->m);
}

/* Sums over k of a b, and of b if wanted, in a strip of columns: four side by side
 * instead of one chain, which would leave the multipliers waiting. */
LANE_INLINE void row_strip(float *c, float *bs, const float *a, int64_t a_step,
                           const float *b, int64_t b_row, int64_t n, int64_t width)
{
    vec sum[4] = {vec_set(0), vec_set(0), vec_set(0), vec_set(0)};
    vec plain[4] = {vec_set(0), vec_set(0), vec_set(0), vec_set(0)};
    int64_t k = 0;
    for (; k + 4 <= n; k += 4, a += 4 * a_step)
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++, b += b_row) {
            vec line = column_load(b, 0, 1, width);
            sum[i] = vec_fma(vec_set(a[i * a_step]), line, sum[i]);
            if (bs) plain[i] = plain[i] + line;
        }
    for (; k < n; k++, a += a_step, b += b_row) {
        vec line = column_load(b, 0, 1, width);
        sum[0] = vec_fma(vec_set(a[0]), line, sum[0]);
        if (bs) plain[0] = plain[0] + line;
    }
    column_store(c, (sum[0] + sum[1]) + (sum[2] + sum[3]), 0, 1, width);
    if (bs) column_store(bs, (plain[0] + plain[1]) + (plain[2] + plain[3]), 0, 1, width);
}

/* c [n] = a [k] B [k][n], and bs [n] = the sums of B's columns; NULL: not wanted. */
static void one_row(float *c, float *bs, const float *a, int64_t a_step, const float *b,
                    int64_t b_row, int64_t k, int64_t n)
{
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        row_strip(c + j, bs ? bs + j : NULL, a, a_step, b + j, b_row, k, LANES);
    if (j < n) row_strip(c + j, bs ? bs + j : NULL, a, a_step, b + j, b_row, k, n - j);
}

static void gemm(const gemm_args *g)
{
    if (g->transposed && g->m < FEW_ROWS && g->a_step == 1 && !g->bias) {
        inner_products(g);
        return;
    }
    bool column = g->transposed || g->b_row == 1; /* B, if it has one: contiguous */
    if (g->n == 1 && column && g->a_step == 1 && g->c_row == 1 && !g->add) {
        one_column(g);
        return;
    }
    if (g->m == 1 && g->k >= LONG && g->n <= SHORT && !g->transposed && !g->bias &&
        !g->add && g->end == END_PLAIN) {
        one_row(g->c, NULL, g->a, g->a_step, g->b, g->b_row, g->k, g->n);
        return;
    }
    _Alignas(64) float panel[DEPTH * PAIR];
    bool packed = g->transposed || (g->k * g->n > PANEL_WORTH && g->m > MANY_ROWS);
    int64_t depth = packed && g->k > DEPTH ? DEPTH : g->k;
    for (int64_t j = 0; j < g->n; j += PAIR) {
        int64_t width = g->n - j < PAIR ? g->n - j : PAIR, k0 = 0;
        do { /* once for k = 0 too: C is then the bias */
            int64_t k = g->k - k0 < depth ? g->k - k0 : depth;
            gemm_strip s = {.a = g->a + k0 * g->a_step,
                            .b = packed ? panel : g->b + k0 * g->b_row + j,
                            .bias = g->bias ? g->bias + j : NULL,
                            .a_row = g->a_row,
                            .a_step = g->a_step,
                            .b_row = packed ? PAIR : g->b_row,
                            .c_row = g->c_row,
                            .k = k,
                            .last = width > LANES ? width - LANES : width,
                            .add = g->add || k0 > 0,
                            .end = k0 + k < g->k ? END_PLAIN : g->end,
                            .below = g->below ? g->below + j : g->c + j};
            if (packed) pack(panel, g, k0, k, j, width);
            strip(g, &s, g->c + j, width);
            k0 += k;
        } while (k0 < g->k);
    }
}

#endif
