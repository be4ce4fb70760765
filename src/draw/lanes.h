/* lanes.h: vectors on the widest registers of the level this file is compiled for. Each
 * instruction set has a file, lanes_SET.h, which nothing else includes; lanes_plain.h is
 * for all other machines.
 *
 * `vec` holds LANES floats; parts of one (count < LANES) never touch memory beyond the
 * count, the lanes left over are 0. `lane_int` holds LANES 32-bit words, or LANES / 2
 * 64-bit words of which the low halves count (the Philox state, where it is not packed).
 */
#ifndef XB_DRAW_LANES_H
#define XB_DRAW_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANE_INLINE static inline __attribute__((always_inline))

enum { ROOT_BITS = 0x5f375a86 }; /* Lomont 2003 */

/* The row at a place that is counted in halves of a row: an address can be scaled by at
 * most eight bytes without another instruction, so no place needs a shift. */
LANE_INLINE const float *row_at(const float (*row)[4], uint32_t place)
{
    return (const float *)(const void *)((const char *)row + 8 * (size_t)place);
}

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include "draw/lanes_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "draw/lanes_avx2.h"
#elif defined(__aarch64__)
#include "draw/lanes_neon.h"
#else
#include "draw/lanes_plain.h"
#endif

/* Philox runs in strands of counters; products of their words are 64 bits wide. Unless
 * words are packed, a strand has 64-bit lanes of which the low halves count, so that a
 * product needs no shuffling; even and odd counters are in separate strands. */
#if defined(LANES_PACKED)
enum { STRAND_COUNTERS = LANES };
#else
enum { STRAND_COUNTERS = LANES / 2 };
typedef lane_int lane_product;

LANE_INLINE lane_int strand_counters(uint32_t first, int strand)
{
    lane_int even = wide_counters(first + (uint32_t)(strand / 2 * LANES));
    return strand % 2 ? wide_add(even, 1) : even;
}
/* The counters of a strand among sixteen in memory */
LANE_INLINE lane_int strand_pick(const uint32_t *counter, int strand)
{
    lane_int both = int_load(counter + strand / 2 * LANES);
    return strand % 2 ? wide_high(both) : both; /* products use only the low halves */
}
/* The words of `part`, LANES of them in the order of counters */
LANE_INLINE lane_int strand_words(const lane_int *strand, int part)
{
    return wide_join(strand[2 * part], strand[2 * part + 1]);
}
LANE_INLINE lane_int wide_low(lane_product a) { return a; }
#endif

/* A sum across lanes has the same number of partial sums at every level, and is folded in
 * halves, so that levels with fused multiply-add give the same bytes. */
enum { SUM_LANES = 16, SUM_VECTORS = SUM_LANES / LANES };
typedef struct vec_lanes {
    vec part[SUM_VECTORS];
} vec_lanes;

LANE_INLINE vec_lanes lanes_zero(void)
{
    vec_lanes sum;
    for (int p = 0; p < SUM_VECTORS; p++) sum.part[p] = vec_set(0);
    return sum;
}

/* Folds the partial sums to one vector with the same sum. */
LANE_INLINE vec lanes_fold(vec_lanes sum)
{
    for (int half = SUM_VECTORS / 2; half > 0; half /= 2)
        for (int p = 0; p < half; p++) sum.part[p] = sum.part[p] + sum.part[p + half];
    return sum.part[0];
}

LANE_INLINE float lanes_sum(vec_lanes sum) { return vec_sum(lanes_fold(sum)); }

/* The number of elements of a vector that starts at `at` if `left` elements are left: 0
 * to LANES. */
LANE_INLINE int64_t lanes_left(int64_t left, int64_t at)
{
    left -= at;
    return left < 0 ? 0 : left < LANES ? left : LANES;
}

#endif
