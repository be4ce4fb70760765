/* cpu_lanes.h: vectors of floats on the widest registers of the level this file is
 * compiled for; the only place in kernel/ that knows instruction sets. The last branch is
 * plain C. Parts of a vector (count < LANES) never touch memory beyond the count; the
 * lanes left over are 0. */
#ifndef XB_KERNEL_CPU_LANES_H
#define XB_KERNEL_CPU_LANES_H

#include <stdint.h>
#include <string.h>

#define LANE_INLINE static inline __attribute__((always_inline))

enum { ROOT_BITS = 0x5f375a86 }; /* Lomont 2003 */

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include <immintrin.h>

enum { LANES = 16, ROWS_ONE = 12, ROWS_TWO = 12 }; /* ROWS: see cpu_gemm.h */
typedef __m512 vec;

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

#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

enum { LANES = 8, ROWS_ONE = 12, ROWS_TWO = 6 };
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

#else /* plain C, four lanes in a vector of the compiler */

enum { LANES = 4, ROWS_ONE = 8, ROWS_TWO = 4 };
typedef float vec __attribute__((vector_size(16)));
typedef int32_t vec_int __attribute__((vector_size(16)));
typedef uint32_t vec_word __attribute__((vector_size(16)));

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
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    for (int l = 0; l < LANES; l++) a[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return a;
#else
    return a * b + c;
#endif
}
LANE_INLINE vec vec_abs(vec a) { return (vec)((vec_int)a & 0x7fffffff); }
LANE_INLINE vec vec_copysign(vec a, vec s)
{
    return (vec)(((vec_int)s & INT32_MIN) | ((vec_int)a & 0x7fffffff));
}
LANE_INLINE float vec_sum(vec a) { return (a[0] + a[2]) + (a[1] + a[3]); }
LANE_INLINE void vec_sums(float *out, const vec a[LANES])
{
    for (int i = 0; i < LANES; i++) out[i] = vec_sum(a[i]);
}
LANE_INLINE vec vec_if_more(vec a, vec b, vec x, vec y)
{
    vec_int more = a > b;
    return (vec)((more & (vec_int)x) | (~more & (vec_int)y));
}
LANE_INLINE vec vec_sqrt(vec a)
{
    for (int l = 0; l < LANES; l++) a[l] = __builtin_sqrtf(a[l]);
    return a;
}
LANE_INLINE vec vec_rint(vec a)
{
    for (int l = 0; l < LANES; l++) a[l] = __builtin_rintf(a[l]);
    return a;
}
LANE_INLINE vec vec_root_guess(vec a) { return (vec)(ROOT_BITS - ((vec_word)a >> 1)); }
LANE_INLINE void lanes_transpose(float *to, int64_t to_row, const float *from,
                                 int64_t from_row)
{
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++) to[j * to_row + i] = from[i * from_row + j];
}
LANE_INLINE vec vec_max(vec a, vec b) { return vec_if_more(a, b, a, b); }
LANE_INLINE vec vec_min(vec a, vec b) { return vec_if_more(b, a, a, b); }
LANE_INLINE vec vec_low_bits_up(vec a) { return (vec)((vec_int)a << 23); }
LANE_INLINE vec vec_power_of_two(vec n)
{
    return (vec)((__builtin_convertvector(n, vec_int) + 127) << 23);
}
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
