/* cpu_block_forward.h: convolution, relu and maxpool in registers; maths N18.
 *
 * A tile is up to six windows of the pool side by side for one vector of channels (or
 * three for two): 24 sums, one chain of fused multiply-adds each, over channels, then
 * rows, then columns of the kernel. Then relu and the largest of four, and only that is
 * stored, with its place. One multiply-add takes one broadcast from the planes. */
#ifndef XB_KERNEL_CPU_BLOCK_FORWARD_H
#define XB_KERNEL_CPU_BLOCK_FORWARD_H

#include "kernel/cpu_block_planes.h"

enum { TAPS = 9, WINDOWS_ONE = 6, WINDOWS_TWO = 3 };

static int64_t vectors_of(int64_t channels) { return (channels + LANES - 1) / LANES; }

/* Weights as forward reads them: [vectors of oc, two at a time][c][TAPS][16 or 32], what
 * is beyond oc 0; then the bias. */
static void direct_pack(float *packed, const float *w, const float *b, const xb_block *g)
{
    int64_t vectors = vectors_of(g->oc), all = vectors * LANES;
    for (int64_t v = 0; v < vectors; v += 2) {
        int64_t wide = (vectors - v < 2 ? 1 : 2) * LANES;
        for (int64_t k = 0; k < g->c; k++)
            for (int64_t t = 0; t < TAPS; t++, packed += wide)
                for (int64_t i = 0; i < wide; i++) {
                    int64_t o = v * LANES + i;
                    packed[i] = o < g->oc ? w[(t * g->c + k) * g->oc + o] : 0;
                }
    }
    for (int64_t o = 0; o < all; o++) packed[o] = b && o < g->oc ? b[o] : 0;
}

/* A tile's place: the corner of its first window in plane 0, and what to read. */
typedef struct block_tile {
    const float *x, *w, *bias;
    float *y;
    uint8_t *place;
    int64_t c, plane, row, oc;
    int64_t last;      /* channels of the last vector */
    bool below, right; /* the windows' second row, the last window's second column */
} block_tile;

LANE_INLINE __m512 larger_at(__m512 best, __m512i *place, __m512 other, int where)
{
    __mmask16 more = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(best, best, _CMP_ORD_Q),
                                             other, best, _CMP_NLE_UQ); /* a NaN wins */
    *place = _mm512_mask_mov_epi32(*place, more, _mm512_set1_epi32(where));
    return _mm512_mask_mov_ps(best, more, other);
}

/* The largest of a window, sum: of its four pixels, row by row; `below` and `right`: it
 * has a second row, a second column. */
LANE_INLINE void window_store(float *y, uint8_t *place, int64_t count, const vec sum[4],
                              bool below, bool right)
{
    __m512i at = _mm512_setzero_si512();
    __m512 best = sum[0];
    if (right) best = larger_at(best, &at, sum[1], 1);
    if (below) best = larger_at(best, &at, sum[2], 4);
    if (below && right) best = larger_at(best, &at, sum[3], 5);
    best = _mm512_mask_mov_ps(best, _mm512_cmp_ps_mask(best, vec_set(0), _CMP_LE_OQ),
                              vec_set(0));
    vec_store_part(y, best, count);
    if (place) _mm512_mask_cvtepi32_storeu_epi8(place, vec_mask(count), at);
}

/* One tap of the kernel for all sums: window, vector, pixel. */
LANE_INLINE void tap_run(vec sum[6][2][4], const float *x, int64_t row, const float *w,
                         int windows, int vectors)
{
    vec line[2];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) line[v] = vec_load(w + v * LANES);
#pragma GCC unroll 6
    for (int i = 0; i < windows; i++)
#pragma GCC unroll 4
        for (int p = 0; p < 4; p++) {
            vec a = vec_set(x[p / 2 * row + p % 2 + 2 * i]);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                sum[i][v][p] = vec_fma(a, line[v], sum[i][v][p]);
        }
}

LANE_INLINE void tile_run(const block_tile *t, int windows, int vectors)
{
    vec sum[6][2][4];
#pragma GCC unroll 6
    for (int i = 0; i < windows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
#pragma GCC unroll 4
            for (int p = 0; p < 4; p++) sum[i][v][p] = vec_load(t->bias + v * LANES);
    const float *w = t->w;
    for (int64_t k = 0; k < t->c; k++)
        for (int64_t ky = 0; ky < 3; ky++) {
            const float *x = t->x + k * t->plane + ky * t->row;
/* not unrolled: the compiler would keep pixels for the next tap, and run out of
 * registers */
#pragma GCC unroll 1
            for (int kx = 0; kx < 3; kx++, x++, w += vectors * LANES)
                tap_run(sum, x, t->row, w, windows, vectors);
        }
#pragma GCC unroll 6
    for (int i = 0; i < windows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            int64_t at = i * t->oc + v * LANES;
            window_store(t->y + at, t->place ? t->place + at : NULL,
                         v == vectors - 1 ? t->last : LANES, sum[i][v], t->below,
                         i < windows - 1 || t->right);
        }
}

static void tile_one(const block_tile *t, int64_t windows)
{
    switch (windows) {
    case 1: tile_run(t, 1, 1); break;
    case 2: tile_run(t, 2, 1); break;
    case 3: tile_run(t, 3, 1); break;
    case 4: tile_run(t, 4, 1); break;
    case 5: tile_run(t, 5, 1); break;
    default: tile_run(t, 6, 1); break;
    }
}

static void tile_two(const block_tile *t, int64_t windows)
{
    switch (windows) {
    case 1: tile_run(t, 1, 2); break;
    case 2: tile_run(t, 2, 2); break;
    default: tile_run(t, 3, 2); break;
    }
}

/* One row of windows, one or two vectors of channels from v on. */
static void windows_row(block_tile t, int64_t wide, const xb_block *g)
{
    int64_t most = wide == 1 ? WINDOWS_ONE : WINDOWS_TWO;
    for (int64_t i = 0; i < g->pw; i += most) {
        int64_t n = smaller(most, g->pw - i);
        t.right = 2 * (i + n) <= g->ow;
        if (wide == 1)
            tile_one(&t, n);
        else
            tile_two(&t, n);
        t.x += 2 * n;
        t.y += n * g->oc;
        if (t.place) t.place += n * g->oc;
    }
}

static void direct_image(float *y, uint8_t *place, const float *planes,
                         const float *packed, const xb_block *g)
{
    int64_t vectors = vectors_of(g->oc), taps = g->c * TAPS * LANES;
    for (int64_t v = 0; v < vectors; v += 2) {
        int64_t wide = vectors - v < 2 ? 1 : 2;
        block_tile t = {.w = packed + v * taps,
                        .bias = packed + vectors * taps + v * LANES,
                        .c = g->c,
                        .plane = plane_size(g),
                        .row = plane_columns(g),
                        .oc = g->oc,
                        .last = smaller(g->oc - (v + wide - 1) * LANES, LANES)};
        for (int64_t r = 0; r < g->ph; r++) {
            int64_t at = r * g->pw * g->oc + v * LANES;
            t.x = planes + 2 * r * t.row;
            t.y = y + at;
            t.place = place ? place + at : NULL;
            t.below = 2 * r + 2 <= g->oh;
            windows_row(t, wide, g);
        }
    }
}

#endif
