/* lanes.h: vectors on the widest registers of the level this file is compiled for; the
 * only place that knows instruction sets. The last branch is the compiler's own vector
 * types, for all other machines.
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

/* The row at a place counted in halves of a row: eight bytes are the most that an address
 * is scaled by on its own, so no place needs a shift. */
LANE_INLINE const float *row_at(const float (*row)[4], uint32_t place)
{
    return (const float *)(const void *)((const char *)row + 8 * (size_t)place);
}

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include <immintrin.h>

#define LANES_NATIVE 1
enum { LANES = 16, ROWS_ONE = 12, ROWS_TWO = 12 }; /* ROWS: see cpu_gemm.h */
typedef __m512i lane_int;
typedef __m512 vec;

/* ---- floats */

LANE_INLINE vec vec_set(float a) { return _mm512_set1_ps(a); }
LANE_INLINE vec vec_load(const float *p) { return _mm512_loadu_ps(p); }
LANE_INLINE void vec_store(float *p, vec a) { _mm512_storeu_ps(p, a); }
LANE_INLINE __mmask16 vec_mask(int64_t count)
{
    return (__mmask16)((UINT32_C(1) << count) - 1); /* count <= LANES */
}
LANE_INLINE vec vec_load_part(const float *p, int64_t count)
{
    return _mm512_maskz_loadu_ps(vec_mask(count), p);
}
LANE_INLINE void vec_store_part(float *p, vec a, int64_t count)
{
    _mm512_mask_storeu_ps(p, vec_mask(count), a);
}
LANE_INLINE vec vec_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
LANE_INLINE vec vec_abs(vec a) { return _mm512_abs_ps(a); }
LANE_INLINE vec vec_copysign(vec a, vec s)
{
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_set1_epi32(INT32_MIN), _mm512_castps_si512(s), _mm512_castps_si512(a),
        0xCA)); /* sign bit of s, the rest of a */
}
LANE_INLINE float vec_sum(vec a)
{
    __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
/* A half, a quarter, an eighth of each vector added to the next one, side by side */
LANE_INLINE vec vec_halves(vec a, vec b)
{
    return _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xee);
}
LANE_INLINE vec vec_quarters(vec a, vec b)
{
    return _mm512_shuffle_f32x4(a, b, 0x88) + _mm512_shuffle_f32x4(a, b, 0xdd);
}
LANE_INLINE vec vec_eighths(vec a, vec b)
{
    __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);
    return _mm512_castpd_ps(_mm512_unpacklo_pd(x, y)) +
           _mm512_castpd_ps(_mm512_unpackhi_pd(x, y));
}
/* out[i] = vec_sum(a[i]) of LANES vectors, by the same additions, four folds of two
 * vectors into one: 45 operations for 144. */
LANE_INLINE void vec_sums(float *out, const vec a[16])
{
    vec four[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        four[i] =
            vec_quarters(vec_halves(a[i], a[4 + i]), vec_halves(a[8 + i], a[12 + i]));
    vec low = vec_eighths(four[0], four[1]), high = vec_eighths(four[2], four[3]);
    vec_store(out,
              _mm512_shuffle_ps(low, high, 0x88) + _mm512_shuffle_ps(low, high, 0xdd));
}
LANE_INLINE vec vec_sqrt(vec a) { return _mm512_sqrt_ps(a); }
/* To the nearest whole number, halves to even ones */
LANE_INLINE vec vec_rint(vec a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* 1 / sqrt(a) to 4 %, from the bits of a >= FLT_MIN: half the exponent, turned round */
LANE_INLINE vec vec_root_guess(vec a)
{
    __m512i half = _mm512_srli_epi32(_mm512_castps_si512(a), 1);
    return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(ROOT_BITS), half));
}
/* LANES x LANES numbers, rows `from_row` apart, transposed. */
LANE_INLINE void lanes_transpose(float *to, int64_t to_row, const float *from,
                                 int64_t from_row)
{
    __m512 a[16], b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) a[i] = vec_load(from + i * from_row);
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) { /* pairs of rows, within quarters */
        b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) { /* fours of rows: a[4 f + c], column c of a quarter */
        int f = i / 2, h = i % 2;
        __m512d low = _mm512_castps_pd(b[4 * f + h]);
        __m512d high = _mm512_castps_pd(b[4 * f + 2 + h]);
        a[4 * f + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
        a[4 * f + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) { /* a 4 x 4 transposition of quarters */
        __m512 p = _mm512_shuffle_f32x4(a[c], a[4 + c], 0x88);
        __m512 q = _mm512_shuffle_f32x4(a[c], a[4 + c], 0xdd);
        __m512 r = _mm512_shuffle_f32x4(a[8 + c], a[12 + c], 0x88);
        __m512 s = _mm512_shuffle_f32x4(a[8 + c], a[12 + c], 0xdd);
        vec_store(to + c * to_row, _mm512_shuffle_f32x4(p, r, 0x88));
        vec_store(to + (4 + c) * to_row, _mm512_shuffle_f32x4(q, s, 0x88));
        vec_store(to + (8 + c) * to_row, _mm512_shuffle_f32x4(p, r, 0xdd));
        vec_store(to + (12 + c) * to_row, _mm512_shuffle_f32x4(q, s, 0xdd));
    }
}
/* The larger, the smaller; b where either is NaN */
LANE_INLINE vec vec_max(vec a, vec b) { return _mm512_max_ps(a, b); }
LANE_INLINE vec vec_min(vec a, vec b) { return _mm512_min_ps(a, b); }
/* a > b ? x : y */
LANE_INLINE vec vec_if_more(vec a, vec b, vec x, vec y)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), y, x);
}
/* 2^n, n whole, -126 <= n <= 127 */
LANE_INLINE vec vec_power_of_two(vec n)
{
    __m512i bits = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 23));
}
/* The lowest bits of a float's mantissa as sign and exponent of another: 2^n where they
 * hold n + 127. */
LANE_INLINE vec vec_low_bits_up(vec a)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(a), 23));
}

/* ---- words and draws */

LANE_INLINE lane_int wide_counters(uint32_t first) /* first, first + 2, ... */
{
    return _mm512_add_epi64(_mm512_set1_epi64(first),
                            _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0));
}
LANE_INLINE lane_int wide_set(uint32_t x) { return _mm512_set1_epi64(x); }
LANE_INLINE lane_int wide_add(lane_int a, uint64_t b) /* all 64 bits */
{
    return _mm512_add_epi64(a, _mm512_set1_epi64((int64_t)b));
}
LANE_INLINE lane_int wide_mul(lane_int a, uint32_t m)
{
    return _mm512_mul_epu32(a, _mm512_set1_epi64(m));
}
LANE_INLINE lane_int wide_high(lane_int a) { return _mm512_srli_epi64(a, 32); }
LANE_INLINE lane_int wide_xor3(lane_int a, lane_int b, lane_int c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
/* low halves of `even` and `odd`, interleaved */
LANE_INLINE lane_int wide_join(lane_int even, lane_int odd)
{
    return _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, (_MM_PERM_ENUM)0xA0);
}
LANE_INLINE void int_store(uint32_t *to, lane_int a) { _mm512_storeu_si512(to, a); }
LANE_INLINE lane_int int_load(const uint32_t *from) { return _mm512_loadu_si512(from); }
LANE_INLINE lane_int int_and(lane_int a, uint32_t b)
{
    return _mm512_and_si512(a, _mm512_set1_epi32((int)b));
}
LANE_INLINE lane_int int_add(lane_int a, lane_int b) { return _mm512_add_epi32(a, b); }
/* word >> 31 ? n : 0 */
LANE_INLINE lane_int int_top_bit(lane_int word, int n)
{
    return _mm512_maskz_set1_epi32(_mm512_movepi32_mask(word), n);
}
LANE_INLINE vec float_of_int(lane_int a) { return _mm512_cvtepi32_ps(a); }
LANE_INLINE lane_int int_of_float(vec a) { return _mm512_cvttps_epi32(a); }
/* a minus its whole part, a >= 0: exact */
LANE_INLINE vec float_fraction(vec a)
{
    return _mm512_reduce_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
/* flips the sign where the word's top bit is set */
LANE_INLINE vec float_flip(vec a, lane_int word)
{
    lane_int sign = _mm512_set1_epi32(INT32_MIN);
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(a), word,
                                                         sign, 0x78)); /* a ^ (b & c) */
}
/* where a or b is not a number */
LANE_INLINE uint32_t float_nan_mask(vec a, vec b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
}

#define LANE_PERMUTES 1 /* there is float_lookup(), faster than float_rows() */

/* table[i], i below 32 * halves; table 64-byte aligned, halves 1 or 2 */
LANE_INLINE vec float_lookup32(const float *table, lane_int i)
{
    return _mm512_permutex2var_ps(_mm512_load_ps(table), i, _mm512_load_ps(table + 16));
}
LANE_INLINE vec float_lookup(const float *table, lane_int i, int halves)
{
    if (halves == 1) return float_lookup32(table, i);
    __mmask16 bit5 = _mm512_test_epi32_mask(i, _mm512_set1_epi32(32));
    return _mm512_mask_blend_ps(bit5, float_lookup32(table, i),
                                float_lookup32(table + 32, i));
}
/* lanes 0, 4, 8 and 12 of `at` as rows of four; halves first, as that needs fewer of
 * the units that shuffle */
LANE_INLINE __m256 float_two_rows(const float (*row)[4], const uint32_t *at)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(row_at(row, at[0]))),
                                _mm_load_ps(row_at(row, at[4])), 1);
}
LANE_INLINE vec float_four_rows(const float (*row)[4], const uint32_t *at)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(float_two_rows(row, at)),
                              float_two_rows(row, at + 8), 1);
}
/* out[j] = row_at(row, at[])[j], LANES of them; rows 16-byte aligned */
LANE_INLINE void float_rows(vec out[4], const float (*row)[4], const uint32_t *at)
{
    vec a = float_four_rows(row, at), b = float_four_rows(row, at + 1);
    vec c = float_four_rows(row, at + 2), d = float_four_rows(row, at + 3);
    vec ab = _mm512_unpacklo_ps(a, b), cd = _mm512_unpacklo_ps(c, d);
    out[0] = _mm512_shuffle_ps(ab, cd, 0x44);
    out[1] = _mm512_shuffle_ps(ab, cd, 0xEE);
    ab = _mm512_unpackhi_ps(a, b), cd = _mm512_unpackhi_ps(c, d);
    out[2] = _mm512_shuffle_ps(ab, cd, 0x44);
    out[3] = _mm512_shuffle_ps(ab, cd, 0xEE);
}

#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#define LANES_NATIVE 1
enum { LANES = 8, ROWS_ONE = 12, ROWS_TWO = 6 };
typedef __m256i lane_int;
typedef __m256 vec;

LANE_INLINE vec vec_set(float a) { return _mm256_set1_ps(a); }
LANE_INLINE vec vec_load(const float *p) { return _mm256_loadu_ps(p); }
LANE_INLINE void vec_store(float *p, vec a) { _mm256_storeu_ps(p, a); }
LANE_INLINE __m256i vec_mask(int64_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
LANE_INLINE vec vec_load_part(const float *p, int64_t count)
{
    return _mm256_maskload_ps(p, vec_mask(count));
}
LANE_INLINE void vec_store_part(float *p, vec a, int64_t count)
{
    _mm256_maskstore_ps(p, vec_mask(count), a);
}
LANE_INLINE vec vec_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
LANE_INLINE vec vec_abs(vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
LANE_INLINE vec vec_copysign(vec a, vec s)
{
    vec sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_and_ps(sign, s), _mm256_andnot_ps(sign, a));
}
LANE_INLINE float vec_sum(vec a)
{
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
LANE_INLINE void vec_sums(float *out, const vec a[LANES])
{
    for (int i = 0; i < LANES; i++) out[i] = vec_sum(a[i]);
}
LANE_INLINE vec vec_max(vec a, vec b) { return _mm256_max_ps(a, b); }
LANE_INLINE vec vec_min(vec a, vec b) { return _mm256_min_ps(a, b); }
LANE_INLINE vec vec_sqrt(vec a) { return _mm256_sqrt_ps(a); }
LANE_INLINE vec vec_rint(vec a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
LANE_INLINE vec vec_root_guess(vec a)
{
    __m256i half = _mm256_srli_epi32(_mm256_castps_si256(a), 1);
    return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(ROOT_BITS), half));
}
LANE_INLINE void lanes_transpose(float *to, int64_t to_row, const float *from,
                                 int64_t from_row)
{
    vec a[8], b[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) a[i] = vec_load(from + i * from_row);
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) { /* pairs of rows, within halves */
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) { /* fours of rows: a[4 f + c], column c of a half */
        int f = i / 2, h = i % 2;
        __m256d low = _mm256_castps_pd(b[4 * f + h]);
        __m256d high = _mm256_castps_pd(b[4 * f + 2 + h]);
        a[4 * f + 2 * h] = _mm256_castpd_ps(_mm256_unpacklo_pd(low, high));
        a[4 * f + 2 * h + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low, high));
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        vec_store(to + c * to_row, _mm256_permute2f128_ps(a[c], a[4 + c], 0x20));
        vec_store(to + (4 + c) * to_row, _mm256_permute2f128_ps(a[c], a[4 + c], 0x31));
    }
}
LANE_INLINE vec vec_if_more(vec a, vec b, vec x, vec y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
LANE_INLINE vec vec_power_of_two(vec n)
{
    __m256i bits = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 23));
}
LANE_INLINE vec vec_low_bits_up(vec a)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), 23));
}

LANE_INLINE lane_int wide_counters(uint32_t first)
{
    return _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_set_epi64x(6, 4, 2, 0));
}
LANE_INLINE lane_int wide_set(uint32_t x) { return _mm256_set1_epi64x(x); }
LANE_INLINE lane_int wide_add(lane_int a, uint64_t b)
{
    return _mm256_add_epi64(a, _mm256_set1_epi64x((int64_t)b));
}
LANE_INLINE lane_int wide_mul(lane_int a, uint32_t m)
{
    return _mm256_mul_epu32(a, _mm256_set1_epi64x(m));
}
LANE_INLINE lane_int wide_high(lane_int a) { return _mm256_srli_epi64(a, 32); }
LANE_INLINE lane_int wide_xor3(lane_int a, lane_int b, lane_int c)
{
    return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
}
LANE_INLINE lane_int wide_join(lane_int even, lane_int odd)
{
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}
LANE_INLINE void int_store(uint32_t *to, lane_int a)
{
    _mm256_storeu_si256((__m256i *)to, a);
}
LANE_INLINE lane_int int_load(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}
LANE_INLINE lane_int int_and(lane_int a, uint32_t b)
{
    return _mm256_and_si256(a, _mm256_set1_epi32((int)b));
}
LANE_INLINE lane_int int_add(lane_int a, lane_int b) { return _mm256_add_epi32(a, b); }
LANE_INLINE lane_int int_top_bit(lane_int word, int n)
{
    return _mm256_and_si256(_mm256_srai_epi32(word, 31), _mm256_set1_epi32(n));
}
LANE_INLINE vec float_of_int(lane_int a) { return _mm256_cvtepi32_ps(a); }
LANE_INLINE lane_int int_of_float(vec a) { return _mm256_cvttps_epi32(a); }
LANE_INLINE vec float_fraction(vec a)
{
    return _mm256_sub_ps(a, _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
}
LANE_INLINE vec float_flip(vec a, lane_int word)
{
    lane_int sign = _mm256_and_si256(word, _mm256_set1_epi32(INT32_MIN));
    return _mm256_xor_ps(a, _mm256_castsi256_ps(sign));
}
LANE_INLINE uint32_t float_nan_mask(vec a, vec b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}
/* a gather is slower than whole rows */
LANE_INLINE vec float_two_rows(const float (*row)[4], const uint32_t *at)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(row_at(row, at[0]))),
                                _mm_load_ps(row_at(row, at[4])), 1);
}
LANE_INLINE void float_rows(vec out[4], const float (*row)[4], const uint32_t *at)
{
    vec a = float_two_rows(row, at), b = float_two_rows(row, at + 1);
    vec c = float_two_rows(row, at + 2), d = float_two_rows(row, at + 3);
    vec ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    out[0] = _mm256_shuffle_ps(ab, cd, 0x44);
    out[1] = _mm256_shuffle_ps(ab, cd, 0xEE);
    ab = _mm256_unpackhi_ps(a, b), cd = _mm256_unpackhi_ps(c, d);
    out[2] = _mm256_shuffle_ps(ab, cd, 0x44);
    out[3] = _mm256_shuffle_ps(ab, cd, 0xEE);
}

#elif defined(__aarch64__)
#include <arm_neon.h>

#define LANES_NATIVE 1
enum { LANES = 4, ROWS_ONE = 12, ROWS_TWO = 12 }; /* 32 registers */
typedef uint32x4_t lane_int;
typedef float32x4_t vec;

LANE_INLINE vec vec_set(float a) { return vdupq_n_f32(a); }
LANE_INLINE vec vec_load(const float *p) { return vld1q_f32(p); }
LANE_INLINE void vec_store(float *p, vec a) { vst1q_f32(p, a); }
LANE_INLINE vec vec_load_part(const float *p, int64_t count)
{
    if (count >= LANES) return vec_load(p);
    vec a = vec_set(0);
    if (count >= 2) a = vcombine_f32(vld1_f32(p), vdup_n_f32(0));
    if (count == 1) a = vld1q_lane_f32(p, a, 0);
    if (count == 3) a = vld1q_lane_f32(p + 2, a, 2);
    return a;
}
LANE_INLINE void vec_store_part(float *p, vec a, int64_t count)
{
    if (count >= LANES) {
        vec_store(p, a);
        return;
    }
    if (count >= 2) vst1_f32(p, vget_low_f32(a));
    if (count == 1) vst1q_lane_f32(p, a, 0);
    if (count == 3) vst1q_lane_f32(p + 2, a, 2);
}
LANE_INLINE vec vec_fma(vec a, vec b, vec c) { return vfmaq_f32(c, a, b); }
LANE_INLINE vec vec_abs(vec a) { return vabsq_f32(a); }
LANE_INLINE vec vec_copysign(vec a, vec s)
{
    return vbslq_f32(vdupq_n_u32(0x80000000u), s, a);
}
LANE_INLINE float vec_sum(vec a)
{
    return vpadds_f32(vadd_f32(vget_low_f32(a), vget_high_f32(a)));
}
/* The low, the high halves of two vectors, side by side */
LANE_INLINE vec vec_low_halves(vec a, vec b)
{
    return vcombine_f32(vget_low_f32(a), vget_low_f32(b));
}
LANE_INLINE vec vec_high_halves(vec a, vec b)
{
    return vcombine_f32(vget_high_f32(a), vget_high_f32(b));
}
LANE_INLINE void vec_sums(float *out, const vec a[LANES])
{
    vec low = vec_low_halves(a[0], a[1]) + vec_high_halves(a[0], a[1]);
    vec high = vec_low_halves(a[2], a[3]) + vec_high_halves(a[2], a[3]);
    vec_store(out, vpaddq_f32(low, high));
}
LANE_INLINE vec vec_if_more(vec a, vec b, vec x, vec y)
{
    return vbslq_f32(vcgtq_f32(a, b), x, y);
}
/* not the instructions of these names: they give NaN for either */
LANE_INLINE vec vec_max(vec a, vec b) { return vec_if_more(a, b, a, b); }
LANE_INLINE vec vec_min(vec a, vec b) { return vec_if_more(b, a, a, b); }
LANE_INLINE vec vec_sqrt(vec a) { return vsqrtq_f32(a); }
LANE_INLINE vec vec_rint(vec a) { return vrndnq_f32(a); }
LANE_INLINE vec vec_root_guess(vec a)
{
    uint32x4_t half = vshrq_n_u32(vreinterpretq_u32_f32(a), 1);
    return vreinterpretq_f32_u32(vsubq_u32(vdupq_n_u32(ROOT_BITS), half));
}
/* out[j] = lanes j of four vectors */
LANE_INLINE void vec_turn(vec out[4], vec a, vec b, vec c, vec d)
{
    vec even = vtrn1q_f32(a, b), odd = vtrn2q_f32(a, b);
    vec even2 = vtrn1q_f32(c, d), odd2 = vtrn2q_f32(c, d);
    out[0] = vec_low_halves(even, even2);
    out[1] = vec_low_halves(odd, odd2);
    out[2] = vec_high_halves(even, even2);
    out[3] = vec_high_halves(odd, odd2);
}
LANE_INLINE void lanes_transpose(float *to, int64_t to_row, const float *from,
                                 int64_t from_row)
{
    vec line[4];
    vec_turn(line, vec_load(from), vec_load(from + from_row),
             vec_load(from + 2 * from_row), vec_load(from + 3 * from_row));
    for (int i = 0; i < 4; i++) vec_store(to + i * to_row, line[i]);
}
LANE_INLINE vec vec_power_of_two(vec n)
{
    int32x4_t bits = vaddq_s32(vcvtnq_s32_f32(n), vdupq_n_s32(127));
    return vreinterpretq_f32_s32(vshlq_n_s32(bits, 23));
}
LANE_INLINE vec vec_low_bits_up(vec a)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(a), 23));
}

#define LANES_PACKED 1 /* Philox in 32-bit words: two products of half a vector each */
typedef uint64x2x2_t lane_product;

LANE_INLINE lane_int strand_counters(uint32_t first, int strand)
{
    const uint32_t next[4] = {0, 1, 2, 3};
    return vaddq_u32(vld1q_u32(next), vdupq_n_u32(first + (uint32_t)strand * LANES));
}
LANE_INLINE lane_int strand_words(const lane_int *strand, int part)
{
    return strand[part];
}
LANE_INLINE lane_int wide_set(uint32_t x) { return vdupq_n_u32(x); }
LANE_INLINE lane_product wide_mul(lane_int a, uint32_t m)
{
    return (lane_product){{vmull_n_u32(vget_low_u32(a), m), vmull_high_n_u32(a, m)}};
}
LANE_INLINE lane_product wide_add(lane_product a, uint64_t b)
{
    return (lane_product){
        {vaddq_u64(a.val[0], vdupq_n_u64(b)), vaddq_u64(a.val[1], vdupq_n_u64(b))}};
}
LANE_INLINE lane_int wide_low(lane_product a)
{
    return vuzp1q_u32(vreinterpretq_u32_u64(a.val[0]), vreinterpretq_u32_u64(a.val[1]));
}
LANE_INLINE lane_int wide_high(lane_product a)
{
    return vuzp2q_u32(vreinterpretq_u32_u64(a.val[0]), vreinterpretq_u32_u64(a.val[1]));
}
LANE_INLINE lane_int wide_xor3(lane_int a, lane_int b, lane_int c)
{
    return veorq_u32(veorq_u32(a, b), c);
}
LANE_INLINE void int_store(uint32_t *to, lane_int a) { vst1q_u32(to, a); }
LANE_INLINE lane_int int_load(const uint32_t *from) { return vld1q_u32(from); }
LANE_INLINE lane_int int_and(lane_int a, uint32_t b)
{
    return vandq_u32(a, vdupq_n_u32(b));
}
LANE_INLINE lane_int int_add(lane_int a, lane_int b) { return vaddq_u32(a, b); }
LANE_INLINE lane_int int_top_bit(lane_int word, int n)
{
    int32x4_t all = vshrq_n_s32(vreinterpretq_s32_u32(word), 31);
    return int_and(vreinterpretq_u32_s32(all), (uint32_t)n);
}
LANE_INLINE vec float_of_int(lane_int a)
{
    return vcvtq_f32_s32(vreinterpretq_s32_u32(a));
}
LANE_INLINE lane_int int_of_float(vec a)
{
    return vreinterpretq_u32_s32(vcvtq_s32_f32(a));
}
LANE_INLINE vec float_fraction(vec a) { return vsubq_f32(a, vrndq_f32(a)); }
LANE_INLINE vec float_flip(vec a, lane_int word)
{
    lane_int sign = int_and(word, 0x80000000u);
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a), sign));
}
LANE_INLINE uint32_t float_nan_mask(vec a, vec b)
{
    const uint32_t bit[4] = {1, 2, 4, 8};
    uint32x4_t numbers = vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b));
    return vaddvq_u32(vbicq_u32(vld1q_u32(bit), numbers));
}
LANE_INLINE void float_rows(vec out[4], const float (*row)[4], const uint32_t *at)
{
    vec_turn(out, vec_load(row_at(row, at[0])), vec_load(row_at(row, at[1])),
             vec_load(row_at(row, at[2])), vec_load(row_at(row, at[3])));
}

#else /* the compiler's vector types: any machine; fused only where the target is */

#define LANES_NATIVE 0
enum { LANES = 4, ROWS_ONE = 8, ROWS_TWO = 4 };
typedef uint32_t lane_int __attribute__((vector_size(16)));
typedef int32_t lane_signed __attribute__((vector_size(16)));
typedef uint64_t lane_wide __attribute__((vector_size(16)));
typedef float vec __attribute__((vector_size(16)));

#define LANE_EACH for (int l = 0; l < LANES; l++)
#define LANE_LOW UINT64_C(0xffffffff)

LANE_INLINE vec vec_set(float a) { return (vec){a, a, a, a}; }
LANE_INLINE vec vec_load(const float *p)
{
    vec a;
    memcpy(&a, p, sizeof a);
    return a;
}
LANE_INLINE void vec_store(float *p, vec a) { memcpy(p, &a, sizeof a); }
LANE_INLINE vec vec_load_part(const float *p, int64_t count)
{
    vec a = {0};
    memcpy(&a, p, (size_t)count * sizeof *p);
    return a;
}
LANE_INLINE void vec_store_part(float *p, vec a, int64_t count)
{
    memcpy(p, &a, (size_t)count * sizeof *p);
}
LANE_INLINE vec vec_fma(vec a, vec b, vec c)
{
#if XB_LEVEL_FUSED
    LANE_EACH a[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return a;
#else
    return a * b + c;
#endif
}
LANE_INLINE vec vec_abs(vec a) { return (vec)((lane_signed)a & 0x7fffffff); }
LANE_INLINE vec vec_copysign(vec a, vec s)
{
    return (vec)(((lane_signed)s & INT32_MIN) | ((lane_signed)a & 0x7fffffff));
}
LANE_INLINE float vec_sum(vec a) { return (a[0] + a[2]) + (a[1] + a[3]); }
LANE_INLINE void vec_sums(float *out, const vec a[LANES])
{
    for (int i = 0; i < LANES; i++) out[i] = vec_sum(a[i]);
}
LANE_INLINE vec vec_if_more(vec a, vec b, vec x, vec y)
{
    lane_signed more = a > b;
    return (vec)((more & (lane_signed)x) | (~more & (lane_signed)y));
}
LANE_INLINE vec vec_sqrt(vec a)
{
    LANE_EACH a[l] = __builtin_sqrtf(a[l]);
    return a;
}
LANE_INLINE vec vec_rint(vec a)
{
    LANE_EACH a[l] = __builtin_rintf(a[l]);
    return a;
}
LANE_INLINE vec vec_root_guess(vec a) { return (vec)(ROOT_BITS - ((lane_int)a >> 1)); }
LANE_INLINE void lanes_transpose(float *to, int64_t to_row, const float *from,
                                 int64_t from_row)
{
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++) to[j * to_row + i] = from[i * from_row + j];
}
LANE_INLINE vec vec_max(vec a, vec b) { return vec_if_more(a, b, a, b); }
LANE_INLINE vec vec_min(vec a, vec b) { return vec_if_more(b, a, a, b); }
LANE_INLINE vec vec_low_bits_up(vec a) { return (vec)((lane_signed)a << 23); }
LANE_INLINE vec vec_power_of_two(vec n)
{
    return (vec)((__builtin_convertvector(n, lane_signed) + 127) << 23);
}
LANE_INLINE lane_int wide_counters(uint32_t first)
{
    return (lane_int)(lane_wide){first, (uint64_t)first + 2};
}
LANE_INLINE lane_int wide_set(uint32_t x) { return (lane_int)(lane_wide){x, x}; }
LANE_INLINE lane_int wide_add(lane_int a, uint64_t b)
{
    return (lane_int)((lane_wide)a + b);
}
LANE_INLINE lane_int wide_mul(lane_int a, uint32_t m)
{
    return (lane_int)(((lane_wide)a & LANE_LOW) * (uint64_t)m);
}
LANE_INLINE lane_int wide_high(lane_int a) { return (lane_int)((lane_wide)a >> 32); }
LANE_INLINE lane_int wide_xor3(lane_int a, lane_int b, lane_int c) { return a ^ b ^ c; }
LANE_INLINE lane_int wide_join(lane_int even, lane_int odd)
{
    return (lane_int)(((lane_wide)even & LANE_LOW) | (lane_wide)odd << 32);
}
LANE_INLINE void int_store(uint32_t *to, lane_int a) { memcpy(to, &a, sizeof a); }
LANE_INLINE lane_int int_load(const uint32_t *from)
{
    lane_int a;
    memcpy(&a, from, sizeof a);
    return a;
}
LANE_INLINE lane_int int_and(lane_int a, uint32_t b) { return a & b; }
LANE_INLINE lane_int int_add(lane_int a, lane_int b) { return a + b; }
LANE_INLINE lane_int int_top_bit(lane_int word, int n)
{
    return (word >> 31) * (uint32_t)n;
}
LANE_INLINE vec float_of_int(lane_int a)
{
    return __builtin_convertvector((lane_signed)a, vec);
}
LANE_INLINE lane_int int_of_float(vec a)
{
    return (lane_int) __builtin_convertvector(a, lane_signed);
}
LANE_INLINE vec float_fraction(vec a) { return a - float_of_int(int_of_float(a)); }
LANE_INLINE vec float_flip(vec a, lane_int word)
{
    return (vec)((lane_int)a ^ (word & 0x80000000u));
}
LANE_INLINE uint32_t float_nan_mask(vec a, vec b)
{
    /* NOLINTNEXTLINE(misc-redundant-expression): NaN alone differs from itself */
    lane_int nan = (lane_int)(a != a) | (lane_int)(b != b);
    uint32_t mask = 0;
    LANE_EACH mask |= (nan[l] & 1) << l;
    return mask;
}
LANE_INLINE void float_rows(vec out[4], const float (*row)[4], const uint32_t *at)
{
    for (int j = 0; j < 4; j++)
        out[j] = (vec){row_at(row, at[0])[j], row_at(row, at[1])[j],
                       row_at(row, at[2])[j], row_at(row, at[3])[j]};
}
#endif

/* Philox runs in strands of counters; products of their words are 64 bits wide. But where
 * words are packed these are 64-bit lanes, whose low halves count: the product needs no
 * shuffling then. Even and odd counters are apart. */
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
/* The words of `part`, LANES of them in the order of counters */
LANE_INLINE lane_int strand_words(const lane_int *strand, int part)
{
    return wide_join(strand[2 * part], strand[2 * part + 1]);
}
LANE_INLINE lane_int wide_low(lane_product a) { return a; }
#endif

/* A sum across lanes is kept in as many of them at every level and folded in halves, so
 * that levels with fused multiply-add give the same bytes. */
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

/* One vector with the same sum. */
LANE_INLINE vec lanes_fold(vec_lanes sum)
{
    for (int half = SUM_VECTORS / 2; half > 0; half /= 2)
        for (int p = 0; p < half; p++) sum.part[p] = sum.part[p] + sum.part[p + half];
    return sum.part[0];
}

LANE_INLINE float lanes_sum(vec_lanes sum) { return vec_sum(lanes_fold(sum)); }

/* Numbers of a vector `at` places on, where `left` were left: none to LANES. */
LANE_INLINE int64_t lanes_left(int64_t left, int64_t at)
{
    left -= at;
    return left < 0 ? 0 : left < LANES ? left : LANES;
}

#endif
