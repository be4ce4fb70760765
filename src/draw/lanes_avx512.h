/* lanes_avx512.h: lanes.h on AVX-512: sixteen floats in a register. */
#ifndef XB_DRAW_LANES_AVX512_H
#define XB_DRAW_LANES_AVX512_H

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

#define LANE_SLOW 1     /* slow draws are made by slow_avx512.h */
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
/* A cubic of rows at `at`, LANES of them, rows 16-byte aligned. By halves of a register:
 * a processor that splits wide operations takes no longer for it, and the shuffles that
 * would join rows to whole registers are saved. Measured: 0.64 ns a draw become 0.62. */
#define LANE_CUBIC 1
LANE_INLINE __m256 float_two_rows(const float (*row)[4], const uint32_t *at)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(row_at(row, at[0]))),
                                _mm_load_ps(row_at(row, at[4])), 1);
}
LANE_INLINE __m256 float_half_cubic(const float (*row)[4], const uint32_t *at, __m256 r)
{
    __m256 a = float_two_rows(row, at), b = float_two_rows(row, at + 1);
    __m256 c = float_two_rows(row, at + 2), d = float_two_rows(row, at + 3);
    __m256 ab = _mm256_unpackhi_ps(a, b), cd = _mm256_unpackhi_ps(c, d);
    __m256 y = _mm256_shuffle_ps(ab, cd, 0xEE);
    y = _mm256_fmadd_ps(y, r, _mm256_shuffle_ps(ab, cd, 0x44));
    ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    y = _mm256_fmadd_ps(y, r, _mm256_shuffle_ps(ab, cd, 0xEE));
    return _mm256_fmadd_ps(y, r, _mm256_shuffle_ps(ab, cd, 0x44));
}
LANE_INLINE vec float_cubic(const float (*row)[4], const uint32_t *at, vec r)
{
    __m256 low = float_half_cubic(row, at, _mm512_castps512_ps256(r));
    __m256 high = float_half_cubic(row, at + 8, _mm512_extractf32x8_ps(r, 1));
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

#endif
