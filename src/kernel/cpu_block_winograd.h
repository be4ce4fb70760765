/* cpu_block_winograd.h: the forward pass of a block by Winograd's F(2 x 2, 3 x 3)
 * (Lavin & Gray 2016), whose tile of outputs is a window of the pool; maths N19.
 *
 * 16 products a window and pair of channels instead of 36. Lanes are channels. Some
 * windows at a time: their 4 x 4 pixels transformed, [16][windows][c]; 16 matrix products
 * with the transformed weights, [16][windows][oc]; back, and relu and the largest in
 * registers. For whole vectors of input channels and images of enough windows (smaller
 * ones read more weights than they save products). */
#ifndef XB_KERNEL_CPU_BLOCK_WINOGRAD_H
#define XB_KERNEL_CPU_BLOCK_WINOGRAD_H

#include "kernel/cpu_block_forward.h"

enum { SPOTS = 16, WINDOWS = 24, WINDOWS_TILE = 12, WINDOWS_FEW = 4, WINDOWS_WORTH = 12 };

static bool winograd_suits(const xb_block *g)
{
    return g->c % LANES == 0 && g->ph * g->pw >= WINDOWS_WORTH;
}

/* (N19) a, b, c, d by B^T: a - c, b + c, c - b, b - d, in steps of `step`. */
LANE_INLINE void input_line(vec *d, int step)
{
    vec a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
    d[0] = a - c, d[step] = b + c, d[2 * step] = c - b, d[3 * step] = b - e;
}

/* (N19) By A^T: a + b + c, b - c - d. */
LANE_INLINE void output_line(vec *y, vec a, vec b, vec c, vec d)
{
    y[0] = a + b + c, y[1] = b - c - d;
}

/* (N19) By G: a, (a + b + c) / 2, (a - b + c) / 2, c. */
LANE_INLINE void weight_line(vec *u, int step, vec a, vec b, vec c)
{
    vec half = vec_set(0.5f), both = (a + c) * half, mid = b * half;
    u[0] = a, u[step] = both + mid, u[2 * step] = both - mid, u[3 * step] = c;
}

/* One vector of output channels of one input channel: w [TAPS] rows `tap` apart. */
LANE_INLINE void weight_spots(vec u[SPOTS], const float *w, int64_t tap, int64_t count)
{
    vec rows[4][3];
#pragma GCC unroll 3
    for (int x = 0; x < 3; x++) {
        vec line[4];
        weight_line(line, 1, vec_load_part(w + x * tap, count),
                    vec_load_part(w + (3 + x) * tap, count),
                    vec_load_part(w + (6 + x) * tap, count));
#pragma GCC unroll 4
        for (int y = 0; y < 4; y++) rows[y][x] = line[y];
    }
#pragma GCC unroll 4
    for (int y = 0; y < 4; y++)
        weight_line(u + 4 * y, 1, rows[y][0], rows[y][1], rows[y][2]);
}

/* [SPOTS][vectors of oc, two at a time][c][16 or 32], then the bias. */
static void winograd_pack(float *packed, const float *w, const float *b,
                          const xb_block *g)
{
    int64_t vectors = vectors_of(g->oc), spot = vectors * LANES * g->c;
    for (int64_t v = 0; v < vectors; v++) {
        int64_t count = smaller(LANES, g->oc - v * LANES), first = v / 2 * 2;
        int64_t wide = vectors - first < 2 ? LANES : 2 * LANES;
        float *to = packed + first * LANES * g->c + v % 2 * LANES;
        for (int64_t k = 0; k < g->c; k++, to += wide) {
            vec u[SPOTS];
            weight_spots(u, w + k * g->oc + v * LANES, g->c * g->oc, count);
#pragma GCC unroll 16
            for (int s = 0; s < SPOTS; s++) vec_store(to + s * spot, u[s]);
        }
        vec_store(packed + SPOTS * spot + v * LANES,
                  b ? vec_load_part(b + v * LANES, count) : vec_set(0));
    }
}

/* A call's memory: the image with zeros around it [rows][columns][c], and for WINDOWS
 * windows its pixels and its products transformed. */
typedef struct winograd_room {
    float *image, *pixels, *products;
    int64_t reals;
} winograd_room;

static winograd_room winograd_room_of(const xb_block *g, float *p)
{
    int64_t image = plane_size(g) * g->c, pixels = SPOTS * WINDOWS * g->c;
    int64_t products = SPOTS * WINDOWS * vectors_of(g->oc) * LANES;
    return (winograd_room){p, p + image, p + image + pixels, image + pixels + products};
}

/* The image normalised, zeros around it. */
static void image_around(float *to, const float *x, const xb_block *g,
                         const xb_block_norm *norm)
{
    int64_t row = plane_columns(g) * g->c, some = held_columns(g) * g->c;
    zero_around(to, g, g->c);
    to += g->top * row + g->left * g->c;
    for (int64_t r = 0; r < held_rows(g); r++, to += row, x += g->w * g->c) {
        if (!norm->mean) {
            memcpy(to, x, (size_t)some * sizeof *to);
            continue;
        }
        for (int64_t k = 0; k < g->c; k += LANES) {
            vec mean = vec_load(norm->mean + k), gain = vec_load(norm->gain + k);
            vec shift = vec_load(norm->shift + k);
            for (int64_t i = k; i < some; i += g->c)
                vec_store(to + i, (vec_load(x + i) - mean) * gain + shift);
        }
    }
}

/* One window, all channels: x its corner, to [SPOTS], `spot` apart. */
static void window_pixels(float *to, int64_t spot, const float *x, const xb_block *g)
{
    int64_t row = plane_columns(g) * g->c;
    for (int64_t k = 0; k < g->c; k += LANES) {
        vec d[SPOTS];
#pragma GCC unroll 16
        for (int s = 0; s < SPOTS; s++)
            d[s] = vec_load(x + s / 4 * row + s % 4 * g->c + k);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) input_line(d + j, 4);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) input_line(d + 4 * j, 1);
#pragma GCC unroll 16
        for (int s = 0; s < SPOTS; s++) vec_store(to + s * spot + k, d[s]);
    }
}

/* y [windows][oc] = x [windows][c] u [c][vectors] of one spot. */
LANE_INLINE void spot_tile(float *y, int64_t oc, const float *x, int64_t c,
                           const float *u, int windows, int vectors)
{
    vec sum[WINDOWS_TILE][2];
#pragma GCC unroll 12
    for (int i = 0; i < windows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) sum[i][v] = vec_set(0);
    for (int64_t k = 0; k < c; k++, u += vectors * LANES) {
        vec line[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) line[v] = vec_load(u + v * LANES);
#pragma GCC unroll 12
        for (int i = 0; i < windows; i++) {
            vec a = vec_set(x[i * c + k]);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sum[i][v] = vec_fma(a, line[v], sum[i][v]);
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < windows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) vec_store(y + i * oc + v * LANES, sum[i][v]);
}

/* Windows beyond the last are computed too, as many as a tile has: there is room. */
LANE_INLINE void spot_windows(float *y, int64_t oc, const float *x, int64_t c,
                              const float *u, int64_t windows, int vectors)
{
    int64_t i = 0;
    for (; i + WINDOWS_TILE <= windows; i += WINDOWS_TILE)
        spot_tile(y + i * oc, oc, x + i * c, c, u, WINDOWS_TILE, vectors);
    for (; i < windows; i += WINDOWS_FEW)
        spot_tile(y + i * oc, oc, x + i * c, c, u, WINDOWS_FEW, vectors);
}

static void spot_products(const winograd_room *m, const float *packed, int64_t windows,
                          const xb_block *g)
{
    int64_t vectors = vectors_of(g->oc), oc = vectors * LANES, spot = oc * g->c;
    for (int64_t v = 0; v < vectors; v += 2)
        for (int64_t s = 0; s < SPOTS; s++) {
            float *y = m->products + s * WINDOWS * oc + v * LANES;
            const float *x = m->pixels + s * WINDOWS * g->c;
            const float *u = packed + s * spot + v * LANES * g->c;
            if (vectors - v < 2)
                spot_windows(y, oc, x, g->c, u, windows, 1);
            else
                spot_windows(y, oc, x, g->c, u, windows, 2);
        }
}

/* Back to the four pixels of a window, and on to its largest; from: its products. */
static void window_out(float *y, uint8_t *place, const float *from, const float *bias,
                       bool below, bool right, const xb_block *g)
{
    int64_t vectors = vectors_of(g->oc), spot = WINDOWS * vectors * LANES;
    for (int64_t v = 0; v < vectors; v++, from += LANES) {
        vec m[SPOTS], half[4][2], sum[4], b = vec_load(bias + v * LANES);
#pragma GCC unroll 16
        for (int s = 0; s < SPOTS; s++) m[s] = vec_load(from + s * spot);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            output_line(half[j], m[j], m[4 + j], m[8 + j], m[12 + j]);
#pragma GCC unroll 2
        for (int j = 0; j < 2; j++)
            output_line(sum + 2 * j, half[0][j], half[1][j], half[2][j], half[3][j]);
#pragma GCC unroll 4
        for (int p = 0; p < 4; p++) sum[p] = sum[p] + b;
        window_store(y + v * LANES, place ? place + v * LANES : NULL,
                     smaller(LANES, g->oc - v * LANES), sum, below, right);
    }
}

static void winograd_image(float *y, uint8_t *place, const winograd_room *m,
                           const float *packed, const xb_block *g)
{
    int64_t oc = vectors_of(g->oc) * LANES, line = plane_columns(g) * g->c;
    const float *bias = packed + SPOTS * oc * g->c;
    for (int64_t first = 0; first < g->ph * g->pw; first += WINDOWS) {
        int64_t n = smaller(WINDOWS, g->ph * g->pw - first);
        for (int64_t i = 0; i < n; i++) {
            int64_t r = (first + i) / g->pw, j = (first + i) % g->pw;
            window_pixels(m->pixels + i * g->c, WINDOWS * g->c,
                          m->image + 2 * r * line + 2 * j * g->c, g);
        }
        spot_products(m, packed, n, g);
        for (int64_t i = 0; i < n; i++) {
            int64_t r = (first + i) / g->pw, j = (first + i) % g->pw;
            int64_t at = (first + i) * g->oc;
            window_out(y + at, place ? place + at : NULL, m->products + i * oc, bias,
                       2 * r + 2 <= g->oh, 2 * j + 2 <= g->ow, g);
        }
    }
}

#endif
