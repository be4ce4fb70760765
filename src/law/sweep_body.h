/* sweep_body.h: the kernels of sweep.h, included by one sweep_*.c per level: plain
 * loops and the compiler's own vectors, which it cuts to the level's registers. */
#include <string.h>

#include "base/expseries.h"
#include "base/philox.h"
#include "law/sweep.h"

/* ---- runs of the null process */

enum {
    LANES = XB_NULL_LANES,
    PER_CALL = 12, /* three from each of four words */
    CALLS = (XB_NULL_CELLS + XB_NULL_COLUMNS + PER_CALL - 1) / PER_CALL,
};

/* Static functions: how they would pass vectors to others is nobody's business. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(LANES * sizeof(int32_t))));

/* Philox (R1) of counters {call, 0, run, 0} for sixteen runs. */
static inline void words_of(uint32_t word[4][LANES], const uint32_t key[2], uint32_t call,
                            uint32_t first)
{
#pragma omp simd
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t c0 = call, c1 = 0, c2 = first + l, c3 = 0, k0 = key[0], k1 = key[1];
#pragma GCC unroll 10
        for (int round = 0; round < XB_PHILOX_ROUNDS; round++) {
            uint64_t p0 = (uint64_t)XB_PHILOX_M0 * c0, p1 = (uint64_t)XB_PHILOX_M1 * c2;
            c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, c1 = (uint32_t)p1;
            c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1, c3 = (uint32_t)p0;
            k0 += XB_PHILOX_W0, k1 += XB_PHILOX_W1;
        }
        word[0][l] = c0, word[1][l] = c1, word[2][l] = c2, word[3][l] = c3;
    }
}

/* Three normal values from each word, by ten bits each. */
static inline void draw(float z[CALLS * PER_CALL][LANES], const xb_null_path *path,
                        uint32_t first)
{
    for (uint32_t call = 0; call < CALLS; call++) {
        uint32_t word[4][LANES];
        words_of(word, path->key.word, call, first);
        for (int i = 0; i < PER_CALL; i++)
            for (int l = 0; l < LANES; l++) {
                uint32_t bits = word[i / 3][l] >> (10 * (i % 3) + 2);
                z[call * PER_CALL + i][l] = path->table[bits & (XB_NULL_TABLE - 1)];
            }
    }
}

static inline lanes load(const float *from)
{
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline lanes absolute(lanes x) { return (lanes)((ints)x & 0x7fffffff); }
static inline lanes at_least_0(lanes x) { return (lanes)((ints)x & (x > 0)); }

/* exp(-x), x >= 0, to 1e-7; 0 beyond 80. */
static inline lanes exp_minus(lanes x)
{
    const float *c = XB_EXP_SERIES;
    ints inside = x < 80.0f;
    lanes y = -(lanes)((ints)x & inside);
    lanes rounded = y * XB_LOG2_E + XB_ROUND, n = rounded - XB_ROUND;
    lanes r = y - n * XB_LOG_2_HIGH - n * XB_LOG_2_LOW;
    lanes p = (((c[4] * r + c[3]) * r + c[2]) * r + c[1]) * r + c[0];
    lanes e = 1 + (r + r * r * p);
    return (lanes)(((ints)e + ((ints)rounded << 23)) & inside);
}

/* (F7) A run that passes the limit at a cell's end has a gap of 0 there, so a chance
 * of 1. */
static void null_runs(float *restrict chance, const xb_null_path *path, uint32_t first)
{
    const float steepness = 2 * XB_NULL_CELLS, step = 0.125f; /* 1 / sqrt(cells) */
    _Static_assert(XB_NULL_CELLS == 64, "step is the root of a cell's width");
    float z[CALLS * PER_CALL][LANES];
    draw(z, path, first);
    lanes along[XB_NULL_COLUMNS], sum = {0}, stays = sum + 1;
    for (int p = 0; p < path->n; p++) {
        lanes a = {0};
        for (int c = 0; c < XB_NULL_CELLS; c++) a += path->dual[p][c] * load(z[c]);
        for (int q = 0; q <= p; q++) a += path->unseen[p][q] * load(z[XB_NULL_CELLS + q]);
        along[p] = a;
    }
    lanes before = sum + path->limit; /* the gap between process and limit */
    for (int c = 0; c < XB_NULL_CELLS; c++) {
        sum += step * load(z[c]);
        lanes w = sum;
        for (int p = 0; p < path->n; p++) w -= along[p] * path->column[p][c];
        lanes gap = at_least_0(path->limit - absolute(w));
        stays *= 1 - exp_minus(steepness * before * gap);
        before = gap;
    }
    stays = 1 - stays;
    memcpy(chance, &stays, sizeof stays);
}

const xb_sweep XB_SWEEP_NAME = {
    .level = XB_SWEEP_LEVEL,
    .null_runs = null_runs,
};
