/* cpu_block_planes.h: an image [h][w][c] as planes [c][rows][columns] with zeros around
 * it, normalised on the way; what the kernels of blocks read. In a plane the pixels of
 * a window are neighbours, so their addresses differ by constants whatever c is.
 * 16 channels go as blocks of 16 x 16 that are transposed in registers. */
#ifndef XB_KERNEL_CPU_BLOCK_PLANES_H
#define XB_KERNEL_CPU_BLOCK_PLANES_H

#include "kernel/block.h"
#include "draw/lanes.h"

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

/* Every third float of 48 from number k on: out of the first two vectors, then what is
 * in the third. */
LANE_INLINE __m512 third_of(const __m512 v[3], int k)
{
    __m512i lane =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i at = _mm512_add_epi32(_mm512_mullo_epi32(lane, _mm512_set1_epi32(3)),
                                  _mm512_set1_epi32(k));
    __mmask16 beyond = _mm512_cmpge_epi32_mask(at, _mm512_set1_epi32(2 * LANES));
    __m512 two = _mm512_permutex2var_ps(v[0], at, v[1]);
    return _mm512_mask_permutexvar_ps(two, beyond, at, v[2]);
}

/* Three planes, as of a picture, not normalised. */
static void spread_3(float *to, int64_t plane, const float *x, int64_t columns)
{
    const xb_block_norm none = {0};
    int64_t i = 0;
    for (; i + LANES <= columns; i += LANES) {
        const __m512 v[3] = {vec_load(x + 3 * i), vec_load(x + 3 * i + LANES),
                             vec_load(x + 3 * i + 2 * LANES)};
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) vec_store(to + k * plane + i, third_of(v, k));
    }
    for (int k = 0; k < 3; k++)
        spread_one(to + k * plane + i, x + 3 * i, 3, columns - i, &none, k);
}

static void spread_row(float *to, const float *x, const xb_block *g,
                       const xb_block_norm *norm)
{
    int64_t k = 0, plane = plane_size(g), columns = held_columns(g);
    if (g->c == 3 && !norm->mean) {
        spread_3(to, plane, x, columns);
        return;
    }
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

/* Zeros around the image in a plane of `c` channels a pixel. */
static void zero_around(float *plane, const xb_block *g, int64_t c)
{
    int64_t row = plane_columns(g) * c, left = g->left * c;
    int64_t right = left + held_columns(g) * c;
    float *end = plane + plane_size(g) * c;
    memset(plane, 0, (size_t)(g->top * row) * sizeof *plane);
    plane += g->top * row;
    for (int64_t r = 0; r < held_rows(g); r++, plane += row) {
        for (int64_t i = 0; i < left; i++) plane[i] = 0;
        for (int64_t i = right; i < row; i++) plane[i] = 0;
    }
    memset(plane, 0, (size_t)(end - plane) * sizeof *plane);
}

/* planes [c][plane_size] of one image */
static void planes_of(float *planes, const float *x, const xb_block *g,
                      const xb_block_norm *norm)
{
    for (int64_t k = 0; k < g->c; k++) zero_around(planes + k * plane_size(g), g, 1);
    for (int64_t r = 0; r < held_rows(g); r++, x += g->w * g->c)
        spread_row(planes + (r + g->top) * plane_columns(g) + g->left, x, g, norm);
}

#endif
