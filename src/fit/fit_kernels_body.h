/* fit_kernels_body.h: the kernels of fit_kernels.h, included once per level: plain loops
 * and the compiler's own vectors, which it cuts to the level's registers. */
#include <math.h>
#include <string.h>

#include "base/expseries.h"
#include "base/philox.h"
#include "fit/fit_kernels.h"
#include "series/trace_kernels_body.h" /* eight doubles at a time */

/* ---- goodness of fit */

enum { ROWS = 16 }; /* rows of eight values, so that products stay below 2^960 */

/* Products replace sums of logarithms: products of the values, and of their powers 0, 1,
 * ... row by row. */
typedef struct products {
    wide plain, stepped;
} products;

/* The sum over rows j and lanes l of (2 (first + 8 j + l) + 1) times the log of the
 * values. */
static inline double weighted_log(const products *p, double first)
{
    double all = 1, stepped = 1, by_lane = 1, behind = 1;
    for (int l = WIDE - 1; l >= 0; l--) {
        all *= p->plain[l];
        stepped *= p->stepped[l];
        if (l > 0) by_lane *= behind *= p->plain[l]; /* lane l to the power l */
    }
    return (2 * first + 1) * log(all) + 2 * log(by_lane) + 2 * WIDE * log(stepped);
}

static inline double plain_log(const products *p)
{
    double all = 1;
    for (int l = 0; l < WIDE; l++) all *= p->plain[l];
    return log(all);
}

static inline double cubic_at(const xb_cubic *c, double r)
{
    return c->c[0] + r * (c->c[1] + r * (c->c[2] + r * c->c[3]));
}

/* Processes at most ROWS rows, the last one first. */
static void misfit_rows(xb_misfit *to, const xb_cubic *cubic, const double *x, int rows,
                        int64_t first, int64_t total)
{
    const wide lane = {0, 1, 2, 3, 4, 5, 6, 7}, zero = {0}, one = zero + 1;
    const double *c = cubic->c, share = 1 / (double)total;
    double centre = cubic_at(cubic, 0.5), over = 1 / centre, under = 1 / (1 - centre);
    products u = {one, one}, v = {one, one};
    wide least = zero + to->least, largest = zero + to->largest;
    for (int j = rows - 1; j >= 0; j--) {
        wide r = (load_wide(x + j * WIDE) - cubic->x0) * cubic->inverse;
        wide f = c[0] + r * (c[1] + r * (c[2] + r * c[3]));
        wide off = f - (lane + (double)(first + j * WIDE)) * share;
        least = choose(off < least, off, least);
        largest = choose(off > largest, off, largest);
        u.plain *= f * over;
        v.plain *= (1 - f) * under;
        if (j > 0) u.stepped *= u.plain, v.stepped *= v.plain;
    }
    for (int l = 0; l < WIDE; l++) {
        to->least = least[l] < to->least ? least[l] : to->least;
        to->largest = largest[l] > to->largest ? largest[l] : to->largest;
    }
    double n = (double)rows * WIDE, start = (double)first, all = (double)total;
    double weight = n * (2 * start + n); /* sum of 2i + 1 */
    to->sum += weight * log(centre) + (2 * all * n - weight) * log(1 - centre);
    to->sum +=
        weighted_log(&u, start) - weighted_log(&v, start) + 2 * all * plain_log(&v);
}

static void misfit(xb_misfit *to, const xb_cubic *cubic, const double *x, int64_t n,
                   int64_t first, int64_t total)
{
    for (int64_t i = 0; i < n; i += ROWS * WIDE) {
        int64_t rows = (n - i) / WIDE;
        misfit_rows(to, cubic, x + i, rows < ROWS ? (int)rows : ROWS, first + i, total);
    }
}

/* ---- runs of the null process */

enum {
    RUNS = XB_NULL_LANES,
    PER_CALL = 12, /* three from each of four words */
    CALLS = (XB_NULL_CELLS + XB_NULL_COLUMNS + PER_CALL - 1) / PER_CALL,
};

typedef float lanes __attribute__((vector_size(RUNS * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(RUNS * sizeof(int32_t))));
typedef uint32_t bits __attribute__((vector_size(RUNS * sizeof(uint32_t))));

/* Philox (R1) of counters {call, 0, run, 0} for sixteen runs. */
static inline void words_of(uint32_t word[4][RUNS], const uint32_t key[2], uint32_t call,
                            uint32_t first)
{
#pragma omp simd
    for (uint32_t l = 0; l < RUNS; l++) {
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

/* Makes three normal values from each word, from ten bits each. */
static inline void draw(float z[CALLS * PER_CALL][RUNS], const xb_null_path *path,
                        uint32_t first, uint32_t calls)
{
    for (uint32_t call = 0; call < calls; call++) {
        uint32_t word[4][RUNS];
        words_of(word, path->key.word, call, first);
        for (int i = 0; i < PER_CALL; i++)
            for (int l = 0; l < RUNS; l++) {
                uint32_t ten = word[i / 3][l] >> (10 * (i % 3) + 2);
                z[call * PER_CALL + i][l] = path->table[ten & (XB_NULL_TABLE - 1)];
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
    return (lanes)(((bits)e + ((bits)rounded << 23)) & (bits)inside);
}

/* (F7) Between the ends x and y of a cell only the nearer limit counts: with s the sign
 * of x + y, the product (limit - s x)(limit - s y). The first end beyond the limit makes
 * it negative, and the probability 1. */
static inline __attribute__((always_inline)) void runs_of(float *restrict chance,
                                                          const xb_null_path *path,
                                                          uint32_t first, int columns)
{
    const float steepness = 2 * XB_NULL_CELLS, step = 0.125f; /* 1 / sqrt(cells) */
    _Static_assert(XB_NULL_CELLS == 64, "step is the root of a cell's width");
    const float square = path->limit * path->limit;
    float z[CALLS * PER_CALL][RUNS];
    draw(z, path, first, (uint32_t)(XB_NULL_CELLS + columns + PER_CALL - 1) / PER_CALL);
    lanes along[XB_NULL_COLUMNS] = {{0}}, sum = {0}, stays = sum + 1;
    for (int c = 0; c < XB_NULL_CELLS; c++)
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) along[p] += path->dual[p][c] * load(z[c]);
    for (int p = 0; p < columns; p++)
        for (int q = 0; q <= p; q++)
            along[p] += path->unseen[p][q] * load(z[XB_NULL_CELLS + q]);
    lanes before = {0};
    for (int c = 0; c < XB_NULL_CELLS; c++) {
        sum += step * load(z[c]);
        lanes w = sum;
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) w -= along[p] * path->column[p][c];
        lanes gap = square - path->limit * absolute(before + w) + before * w;
        stays *= 1 - exp_minus(steepness * at_least_0(gap));
        before = w;
    }
    stays = 1 - stays;
    memcpy(chance, &stays, sizeof stays);
}

/* Most families have few parameters, so their loops get a length that the compiler knows.
 */
static void null_runs(float *restrict chance, const xb_null_path *path, uint32_t first)
{
    if (path->columns <= XB_NULL_COLUMNS_FEW)
        runs_of(chance, path, first, XB_NULL_COLUMNS_FEW);
    else
        runs_of(chance, path, first, XB_NULL_COLUMNS);
}

const xb_fit_kernels XB_OF_LEVEL(xb_fit_kernels) = {
    .level = XB_LEVEL_NAME,
    .misfit = misfit,
    .null_runs = null_runs,
};
