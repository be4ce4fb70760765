/* lanes_avx2.h: lanes.h on AVX2 with fused multiply-add: eight floats in a register. */
#ifndef XB_DRAW_LANES_AVX2_H
#define XB_DRAW_LANES_AVX2_H

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

#endif
