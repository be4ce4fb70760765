/* trace_kernels_body.h: the kernels of trace_kernels.h, included once per level: plain
 * loops and the compiler's own vectors, which it cuts to the level's registers. */
#include <math.h>
#include <string.h>

#include "series/trace_kernels.h"

enum { WIDE = 8 };

typedef double wide __attribute__((vector_size(WIDE * sizeof(double))));

static inline wide load_wide(const double *from)
{
    wide v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline double across(wide v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

typedef int64_t masks __attribute__((vector_size(WIDE * sizeof(int64_t))));
typedef uint64_t wide_words __attribute__((vector_size(WIDE * sizeof(uint64_t))));

static inline wide choose(masks where, wide a, wide b)
{
    return (wide)((where & (masks)a) | (~where & (masks)b));
}

static inline uint64_t mix(uint64_t hash, uint64_t bits)
{
    hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* The checksum is computed in the registers of this pass instead of by xb_hash_bytes(),
 * because a separate pass would take 3.6 ms more for 1e6 values. It is FNV-1a over
 * doubles, with the high half folded in, in eight lanes; the lanes are then hashed like
 * eight doubles, and the values that do not fill all lanes follow. */
static xb_look look(const double *x, int64_t n)
{
    const wide zero = {0};
    const wide_words prime = (wide_words){0} + UINT64_C(0x100000001b3);
    wide min = zero + INFINITY, max = zero - INFINITY;
    masks bad = {0};
    wide_words hash = (wide_words){0} + UINT64_C(0xcbf29ce484222325);
    int64_t i = 0;
    for (; i + WIDE <= n; i += WIDE) {
        wide v = load_wide(x + i);
        min = choose(v < min, v, min);
        max = choose(v > max, v, max);
        bad -= (v * zero) != zero; /* true for NaN and infinite values; true is -1 */
        hash = (hash ^ (wide_words)v) * prime;
        hash ^= hash >> 32;
    }
    xb_look out = {INFINITY, -INFINITY, 0, UINT64_C(0xcbf29ce484222325)};
    for (int l = 0; l < WIDE; l++) {
        out.min = min[l] < out.min ? min[l] : out.min;
        out.max = max[l] > out.max ? max[l] : out.max;
        out.bad += bad[l];
        out.checksum = mix(out.checksum, hash[l]);
    }
    for (; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        out.min = x[i] < out.min ? x[i] : out.min;
        out.max = x[i] > out.max ? x[i] : out.max;
        out.bad += !(x[i] - x[i] == 0);
        out.checksum = mix(out.checksum, bits);
    }
    return out;
}

static int64_t rises(const double *x, int64_t n)
{
    masks above = {0};
    int64_t i = 1, count = 0;
    for (; i + WIDE <= n; i += WIDE) above -= load_wide(x + i) > load_wide(x + i - 1);
    for (int l = 0; l < WIDE; l++) count += above[l];
    for (; i < n; i++) count += x[i] > x[i - 1];
    return count;
}

static void lags(double *restrict sums, const double *restrict x, int64_t n,
                 double centre, double inverse)
{
    enum { CHUNK = 512 };
    double d[CHUNK + XB_LAGS];
    wide s[XB_LAGS] = {{0}};
    for (int64_t start = 0; start < n; start += CHUNK) {
        int64_t have = n - start < CHUNK + XB_LAGS ? n - start : CHUNK + XB_LAGS;
        for (int64_t i = 0; i < have; i++) d[i] = (x[start + i] - centre) * inverse;
        /* Zeros add nothing to the sums. */
        for (int64_t i = have; i < CHUNK + XB_LAGS; i++) d[i] = 0;
        for (int i = 0; i < CHUNK; i += WIDE) {
            wide here = load_wide(d + i);
#pragma GCC unroll 8
            for (int k = 0; k < XB_LAGS; k++) s[k] += here * load_wide(d + i + k);
        }
    }
    for (int k = 0; k < XB_LAGS; k++) sums[k] = across(s[k]);
}

static void powers(double *restrict sums, const double *restrict x, int64_t n,
                   double centre, double inverse)
{
    wide s[XB_POWERS - 1] = {{0}};
    int64_t i = 0;
    for (; i + WIDE <= n; i += WIDE) {
        wide r = (load_wide(x + i) - centre) * inverse, power = r;
#pragma GCC unroll 8
        for (int k = 0; k < XB_POWERS - 1; k++) {
            s[k] += power;
            power *= r;
        }
    }
    sums[0] += (double)n;
    for (int k = 1; k < XB_POWERS; k++) sums[k] += across(s[k - 1]);
    for (; i < n; i++) {
        double r = (x[i] - centre) * inverse, power = r;
        for (int k = 1; k < XB_POWERS; k++) {
            sums[k] += power;
            power *= r;
        }
    }
}

const xb_trace_kernels XB_OF_LEVEL(xb_trace_kernels) = {
    .level = XB_LEVEL_NAME,
    .look = look,
    .rises = rises,
    .lags = lags,
    .powers = powers,
};
