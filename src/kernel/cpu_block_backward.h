/* cpu_block_backward.h: gradients of a block; maths N18.
 *
 * A channel's gradient reaches one of the four pixels of a window, that of its largest
 * value, and none if that is 0; so the work is a quarter of a convolution's.
 *
 * For dw, a window sees 4 x 4 pixels of a plane, which are one register; for each tap a
 * permutation picks for every output channel (lane) the pixel that its gradient falls on.
 * For dx, lanes are input channels and the 4 x 4 pixels of a window are registers; the
 * output channels are taken place by place, so that registers are known, and channels
 * without a gradient are skipped.
 *
 * Sums for dw are kept over some rows of windows, then added to those of the image's
 * other rows and of the images before it. */
#ifndef XB_KERNEL_CPU_BLOCK_BACKWARD_H
#define XB_KERNEL_CPU_BLOCK_BACKWARD_H

#include "kernel/cpu_block_forward.h"

/* The least number of windows, unless the image has fewer. */
enum { WINDOWS_AT_ONCE = 96 };

/* The number of rows of windows that are processed at once. */
static int64_t strip_rows_of(const xb_block *g)
{
    return smaller(g->ph, (WINDOWS_AT_ONCE + g->pw - 1) / g->pw);
}

/* A call's memory: planes [c][plane_size], dx around the image [rows][columns][c in
 * whole vectors], dw [vectors of oc][c][TAPS][16], db [whole vectors], then for a strip
 * of windows [..][oc in whole vectors] gradient and place. */
typedef struct back_room {
    float *planes, *around, *dw, *db, *gradient;
    int32_t *place;
    int64_t reals;
} back_room;

static back_room back_room_of(const xb_block *g, float *p)
{
    int64_t oc = vectors_of(g->oc) * LANES, c = vectors_of(g->c) * LANES;
    int64_t strip = strip_rows_of(g) * g->pw * oc;
    int64_t planes = (g->c * plane_size(g) + LANES - 1) / LANES * LANES;
    back_room m = {.planes = p};
    m.around = m.planes + planes;
    m.dw = m.around + plane_size(g) * c;
    m.db = m.dw + oc * g->c * TAPS;
    m.gradient = m.db + oc;
    m.place = (int32_t *)(m.gradient + strip);
    m.reals = planes + plane_size(g) * c + oc * g->c * TAPS + oc + 2 * strip;
    return m;
}

/* Weights as dx reads them: [vectors of c][oc][TAPS][16]. */
static void block_pack_backward(float *packed, const float *w, const xb_block *g)
{
    for (int64_t v = 0; v < vectors_of(g->c); v++)
        for (int64_t o = 0; o < g->oc; o++)
            for (int64_t t = 0; t < TAPS; t++, packed += LANES)
                for (int64_t i = 0; i < LANES; i++) {
                    int64_t k = v * LANES + i;
                    packed[i] = k < g->c ? w[(t * g->c + k) * g->oc + o] : 0;
                }
}

/* The strip's gradients behind relu, and their places; db. */
static void strip_gradient(const back_room *m, const float *dy, const float *y,
                           const uint8_t *place, int64_t windows, const xb_block *g)
{
    int64_t vectors = vectors_of(g->oc), oc = vectors * LANES;
    for (int64_t v = 0; v < vectors; v++) {
        __mmask16 some = vec_mask(smaller(LANES, g->oc - v * LANES));
        vec sum = vec_set(0);
        for (int64_t i = 0; i < windows; i++) {
            int64_t from = i * g->oc + v * LANES, to = i * oc + v * LANES;
            __mmask16 on = _mm512_cmp_ps_mask(_mm512_maskz_loadu_ps(some, y + from),
                                              vec_set(0), _CMP_GT_OQ);
            vec d = _mm512_maskz_loadu_ps(on, dy + from);
            __m128i at = _mm_maskz_loadu_epi8(some, place + from);
            vec_store(m->gradient + to, d);
            _mm512_storeu_si512(m->place + to, _mm512_cvtepu8_epi32(at));
            sum = sum + d;
        }
        vec_store(m->db + v * LANES, vec_load(m->db + v * LANES) + sum);
    }
}

/* 4 x 4 pixels of a plane. */
LANE_INLINE __m512 patch_at(const float *x, int64_t row)
{
    __m512 p = _mm512_castps128_ps512(_mm_loadu_ps(x));
    p = _mm512_mask_broadcast_f32x4(p, 0x00f0, _mm_loadu_ps(x + row));
    p = _mm512_mask_broadcast_f32x4(p, 0x0f00, _mm_loadu_ps(x + 2 * row));
    return _mm512_mask_broadcast_f32x4(p, 0xf000, _mm_loadu_ps(x + 3 * row));
}

/* dw [planes][TAPS][16] += a strip's, for `count` planes from x on and one vector of
 * output channels. */
LANE_INLINE void strip_weight(float *dw, const float *x, const float *gradient,
                              const int32_t *place, int64_t rows, const xb_block *g,
                              int count)
{
    vec sum[2][TAPS];
    int64_t oc = vectors_of(g->oc) * LANES, row = plane_columns(g), plane = plane_size(g);
#pragma GCC unroll 2
    for (int k = 0; k < count; k++)
#pragma GCC unroll 9
        for (int t = 0; t < TAPS; t++) sum[k][t] = vec_set(0);
    for (int64_t r = 0; r < rows; r++, x += 2 * row - 2 * g->pw)
        for (int64_t i = 0; i < g->pw; i++, x += 2, gradient += oc, place += oc) {
            vec d = vec_load(gradient);
            __m512i at = _mm512_loadu_si512(place);
            __m512 patch[2];
#pragma GCC unroll 2
            for (int k = 0; k < count; k++) patch[k] = patch_at(x + k * plane, row);
#pragma GCC unroll 9
            for (int t = 0; t < TAPS; t++) {
                __m512i pick = _mm512_add_epi32(at, _mm512_set1_epi32(t / 3 * 4 + t % 3));
#pragma GCC unroll 2
                for (int k = 0; k < count; k++)
                    sum[k][t] =
                        vec_fma(d, _mm512_permutexvar_ps(pick, patch[k]), sum[k][t]);
            }
        }
#pragma GCC unroll 2
    for (int k = 0; k < count; k++)
#pragma GCC unroll 9
        for (int t = 0; t < TAPS; t++) {
            float *to = dw + (k * TAPS + t) * LANES;
            vec_store(to, vec_load(to) + sum[k][t]);
        }
}

static void strip_weights(const back_room *m, const float *x, int64_t rows,
                          const xb_block *g)
{
    int64_t plane = plane_size(g);
    for (int64_t v = 0; v < vectors_of(g->oc); v++) {
        float *dw = m->dw + v * g->c * TAPS * LANES;
        const float *d = m->gradient + v * LANES;
        const int32_t *at = m->place + v * LANES;
        int64_t k = 0;
        for (; k + 2 <= g->c; k += 2)
            strip_weight(dw + k * TAPS * LANES, x + k * plane, d, at, rows, g, 2);
        if (k < g->c)
            strip_weight(dw + k * TAPS * LANES, x + k * plane, d, at, rows, g, 1);
    }
}

/* Adds what the channels in `on`, all with their gradient at pixel (py, px), give to a
 * window's 4 x 4 pixels. */
LANE_INLINE void spread_channels(vec sum[4][4], uint32_t on, const float *gradient,
                                 const float *w, int py, int px)
{
    for (; on; on &= on - 1) {
        int o = __builtin_ctz(on);
        vec d = vec_set(gradient[o]);
        const float *k = w + o * TAPS * LANES;
#pragma GCC unroll 3
        for (int ky = 0; ky < 3; ky++)
#pragma GCC unroll 3
            for (int kx = 0; kx < 3; kx++)
                sum[py + ky][px + kx] = vec_fma(d, vec_load(k + (ky * 3 + kx) * LANES),
                                                sum[py + ky][px + kx]);
    }
}

/* Stores columns 0 and 1; rows 0 and 1 are added to what the row of windows above left
 * there, rows 2 and 3 are new. */
LANE_INLINE void columns_store(float *to, int64_t row, int64_t column, vec sum[4][4])
{
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) {
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++)
            sum[i][j] = sum[i][j] + vec_load(to + i * row + j * column);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) vec_store(to + i * row + j * column, sum[i][j]);
    }
}

/* One row of windows, one vector of input channels, to `around` at the row's corner. */
static void row_input(float *around, const float *gradient, const int32_t *place,
                      const float *w, const xb_block *g)
{
    int64_t vectors = vectors_of(g->oc), column = vectors_of(g->c) * LANES;
    int64_t row = plane_columns(g) * column;
    vec sum[4][4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) sum[i][j] = vec_set(0);
    for (int64_t n = 0; n < g->pw; n++, around += 2 * column) {
        const float *k = w;
        for (int64_t v = 0; v < vectors; v++, gradient += LANES, place += LANES) {
            __m512i at = _mm512_loadu_si512(place);
            __mmask16 on =
                _mm512_cmp_ps_mask(vec_load(gradient), vec_set(0), _CMP_NEQ_UQ);
            __mmask16 in[4];
#pragma GCC unroll 4
            for (int p = 0; p < 4; p++)
                in[p] = _mm512_mask_cmpeq_epi32_mask(
                    on, at, _mm512_set1_epi32(p / 2 * 4 + p % 2));
            spread_channels(sum, in[0], gradient, k, 0, 0);
            spread_channels(sum, in[1], gradient, k, 0, 1);
            spread_channels(sum, in[2], gradient, k, 1, 0);
            spread_channels(sum, in[3], gradient, k, 1, 1);
            k += LANES * TAPS * LANES;
        }
        columns_store(around, row, column, sum);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
#pragma GCC unroll 2
            for (int j = 0; j < 2; j++)
                sum[i][j] = sum[i][j + 2], sum[i][j + 2] = vec_set(0);
    }
    columns_store(around, row, column, sum);
}

/* A strip's part of dx, from row `first` of windows on. */
static void strip_input(const back_room *m, const float *packed, int64_t first,
                        int64_t rows, const xb_block *g)
{
    int64_t oc = vectors_of(g->oc) * LANES, c = vectors_of(g->c) * LANES;
    int64_t line = plane_columns(g) * c;
    for (int64_t r = 0; r < rows; r++) {
        float *around = m->around + 2 * (first + r) * line;
        for (int64_t v = 0; v < vectors_of(g->c); v++)
            row_input(around + v * LANES, m->gradient + r * g->pw * oc,
                      m->place + r * g->pw * oc, packed + v * g->oc * TAPS * LANES, g);
    }
}

/* dx [h][w][c] out of what is around it; 0 where no window reaches. */
static void input_out(float *dx, const float *around, const xb_block *g)
{
    int64_t c = vectors_of(g->c) * LANES;
    if (held_rows(g) < g->h || held_columns(g) < g->w)
        memset(dx, 0, (size_t)(g->h * g->w * g->c) * sizeof *dx);
    for (int64_t r = 0; r < held_rows(g); r++, dx += g->w * g->c) {
        const float *from = around + ((r + g->top) * plane_columns(g) + g->left) * c;
        if (c == g->c) {
            memcpy(dx, from, (size_t)(held_columns(g) * c) * sizeof *dx);
            continue;
        }
        for (int64_t i = 0; i < held_columns(g); i++)
            memcpy(dx + i * g->c, from + i * c, (size_t)g->c * sizeof *dx);
    }
}

static void weights_out(float *dw, float *db, const back_room *m, const xb_block *g)
{
    const float *from = m->dw;
    for (int64_t o = 0; o < g->oc; o += LANES)
        for (int64_t k = 0; k < g->c; k++)
            for (int64_t t = 0; t < TAPS; t++, from += LANES)
                vec_store_part(dw + (t * g->c + k) * g->oc + o, vec_load(from),
                               smaller(LANES, g->oc - o));
    if (db) memcpy(db, m->db, (size_t)g->oc * sizeof *db);
}

static void block_backward(float *dx, float *dw, float *db, const float *dy,
                           const float *y, const uint8_t *place, const float *x,
                           const float *packed, const xb_block_norm *norm, int64_t rows,
                           const xb_block *g, float *room)
{
    back_room m = back_room_of(g, room);
    int64_t oc = vectors_of(g->oc) * LANES, strip = strip_rows_of(g);
    memset(m.dw, 0, (size_t)(oc * g->c * TAPS + oc) * sizeof *m.dw); /* and db */
    for (int64_t n = 0; n < rows; n++, x += g->h * g->w * g->c) {
        planes_of(m.planes, x, g, norm);
        memset(m.around, 0,
               (size_t)(2 * plane_columns(g) * vectors_of(g->c) * LANES) *
                   sizeof *m.around);
        for (int64_t r = 0; r < g->ph; r += strip) {
            int64_t some = smaller(strip, g->ph - r), windows = some * g->pw;
            strip_gradient(&m, dy, y, place, windows, g);
            strip_weights(&m, m.planes + 2 * r * plane_columns(g), some, g);
            if (dx) strip_input(&m, packed, r, some, g);
            dy += windows * g->oc, y += windows * g->oc, place += windows * g->oc;
        }
        if (dx) {
            input_out(dx, m.around, g);
            dx += g->h * g->w * g->c;
        }
    }
    weights_out(dw, db, &m, g);
}

#endif
