/* cpu_block_planes.h: an image [h][w][c] as planes [c][rows][columns] with zeros around
 * it, normalised on the way; what the kernels of blocks read. In a plane the pixels of
 * a window are neighbours, so their addresses differ by constants whatever c is.
 * 16 channels go as blocks of 16 x 16 that are transposed in registers. */
#ifndef XB_NET_CPU_BLOCK_PLANES_H
#define XB_NET_CPU_BLOCK_PLANES_H

#include "net/block.h"
#include "net/cpu_lanes.h"

/* A window of the pool sees 4 x 4 pixels; neighbouring windows share two of them. */
static int64_t plane_rows(const xb_block *g) { return 2 * g->ph + 2; }
static int64_t plane_columns(const xb_block *g) { return 2 * g->pw + 2; }
static int64_t plane_size(const xb_block *g) { return plane_rows(g) * plane_columns(g); }

/* Rows and columns of the image that the planes hold. */
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t held_rows(const xb_block *g)
{
    return smaller(g->h, plane_rows(g) - g->top);
}
static int64_t held_columns(const xb_block *g)
{
    return smaller(g->w, plane_columns(g) - g->left);
}

/* v [16] of 16 lanes, transposed. */
LANE_INLINE void transpose_16(__m512 v[16])
{
    __m512 t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
        for (int j = 0; j < 2; j++) {
            __m512d a = _mm512_castps_pd(t[i + j]), b = _mm512_castps_pd(t[i + j + 2]);
            v[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            v[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) { /* quarters of rows i, i + 4, i + 8, i + 12 */
        __m512 low = _mm512_shuffle_f32x4(v[i], v[i + 4], 0x44);
        __m512 high = _mm512_shuffle_f32x4(v[i], v[i + 4], 0xee);
        __m512 low_2 = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0x44);
        __m512 high_2 = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0xee);
        v[i] = _mm512_shuffle_f32x4(low, low_2, 0x88);
        v[i + 4] = _mm512_shuffle_f32x4(low, low_2, 0xdd);
        v[i + 8] = _mm512_shuffle_f32x4(high, high_2, 0x88);
        v[i + 12] = _mm512_shuffle_f32x4(high, high_2, 0xdd);
    }
}

/* n <= 16 pixels of 16 channels to 16 planes. */
LANE_INLINE void spread_pixels(float *to, int64_t plane, const float *x, int64_t c,
                               int64_t n, const vec norm[3])
{
    __m512 v[16];
#pragma GCC unroll 16
    for (int p = 0; p < 16; p++) {
        v[p] = p < n ? vec_load(x + p * c) : vec_set(0);
        if (norm) v[p] = (v[p] - norm[0]) * norm[1] + norm[2];
    }
    transpose_16(v);
#pragma GCC unroll 16
    for (int k = 0; k < 16; k++)
        if (n == LANES)
            vec_store(to + k * plane, v[k]);
        else
            vec_store_part(to + k * plane, v[k], n);
}

LANE_INLINE void spread_16(float *to, int64_t plane, const float *x, int64_t c,
                           int64_t columns, const vec norm[3])
{
    int64_t i = 0;
    for (; i + LANES <= columns; i += LANES)
        spread_pixels(to + i, plane, x + i * c, c, LANES, norm);
    if (i < columns) spread_pixels(to + i, plane, x + i * c, c, columns - i, norm);
}

/* One plane, any number of channels. */
static void spread_one(float *to, const float *x, int64_t c, int64_t columns,
                       const xb_block_norm *norm, int64_t channel)
{
    float mean = 0, gain = 1, shift = 0;
    if (norm->mean)
        mean = norm->mean[channel], gain = norm->gain[channel],
        shift = norm->shift[channel];
    for (int64_t i = 0; i < columns; i++)
        to[i] = (x[i * c + channel] - mean) * gain + shift;
}

static void spread_row(float *to, const float *x, const xb_block *g,
                       const xb_block_norm *norm)
{
    int64_t k = 0, plane = plane_size(g), columns = held_columns(g);
    for (; k + LANES <= g->c; k += LANES) {
        if (!norm->mean) {
            spread_16(to + k * plane, plane, x + k, g->c, columns, NULL);
            continue;
        }
        const vec by[3] = {vec_load(norm->mean + k), vec_load(norm->gain + k),
                           vec_load(norm->shift + k)};
        spread_16(to + k * plane, plane, x + k, g->c, columns, by);
    }
    for (; k < g->c; k++) spread_one(to + k * plane, x, g->c, columns, norm, k);
}

/* planes [c][plane_size] of one image */
static void planes_of(float *planes, const float *x, const xb_block *g,
                      const xb_block_norm *norm)
{
    memset(planes, 0, (size_t)(g->c * plane_size(g)) * sizeof *planes);
    for (int64_t r = 0; r < held_rows(g); r++, x += g->w * g->c)
        spread_row(planes + (r + g->top) * plane_columns(g) + g->left, x, g, norm);
}

#endif
