/* lanes.h: the few vector operations the kernel needs, on the widest registers
 * of the level this file is compiled for. The only place in draw/ that knows
 * instruction sets; the last branch is GCC's vector types, for all others.
 *
 * `lane_int` holds LANES 32-bit words, or LANES / 2 64-bit words of which the
 * low halves count (the Philox state). */
#ifndef XB_DRAW_LANES_H
#define XB_DRAW_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include <immintrin.h>

#define LANES_NATIVE 1
enum { LANES = 16 };
typedef __m512i lane_int;
typedef __m512 lane_float;

#define LANE_INLINE static inline __attribute__((always_inline))

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
LANE_INLINE lane_float float_of_int(lane_int a) { return _mm512_cvtepi32_ps(a); }
LANE_INLINE lane_int int_of_float(lane_float a) { return _mm512_cvttps_epi32(a); }
LANE_INLINE lane_float float_set(float a) { return _mm512_set1_ps(a); }
LANE_INLINE lane_float float_fma(lane_float a, lane_float b, lane_float c)
{
    return _mm512_fmadd_ps(a, b, c);
}
LANE_INLINE lane_float float_sqrt(lane_float a) { return _mm512_sqrt_ps(a); }
/* a minus its whole part, a >= 0: exact */
LANE_INLINE lane_float float_fraction(lane_float a)
{
    return _mm512_reduce_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
/* flips the sign where the word's top bit is set */
LANE_INLINE lane_float float_flip(lane_float a, lane_int word)
{
    lane_int sign = _mm512_set1_epi32(INT32_MIN);
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(a), word,
                                                         sign, 0x78)); /* a ^ (b & c) */
}
/* where a or b is not a number */
LANE_INLINE uint32_t float_nan_mask(lane_float a, lane_float b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
}
LANE_INLINE void float_store(float *to, lane_float a) { _mm512_storeu_ps(to, a); }
LANE_INLINE lane_float float_load(const float *from) { return _mm512_loadu_ps(from); }

#define LANE_PERMUTES 1 /* there is float_lookup(), faster than float_rows() */

/* table[i], i below 32 * halves; table 64-byte aligned, halves 1 or 2 */
LANE_INLINE lane_float float_lookup32(const float *table, lane_int i)
{
    return _mm512_permutex2var_ps(_mm512_load_ps(table), i, _mm512_load_ps(table + 16));
}
LANE_INLINE lane_float float_lookup(const float *table, lane_int i, int halves)
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
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(row[at[0]])),
                                _mm_load_ps(row[at[4]]), 1);
}
LANE_INLINE lane_float float_four_rows(const float (*row)[4], const uint32_t *at)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(float_two_rows(row, at)),
                              float_two_rows(row, at + 8), 1);
}
/* out[j] = row[at[]][j], LANES of them; rows 16-byte aligned */
LANE_INLINE void float_rows(lane_float out[4], const float (*row)[4], const uint32_t *at)
{
    lane_float a = float_four_rows(row, at), b = float_four_rows(row, at + 1);
    lane_float c = float_four_rows(row, at + 2), d = float_four_rows(row, at + 3);
    lane_float ab = _mm512_unpacklo_ps(a, b), cd = _mm512_unpacklo_ps(c, d);
    out[0] = _mm512_shuffle_ps(ab, cd, 0x44);
    out[1] = _mm512_shuffle_ps(ab, cd, 0xEE);
    ab = _mm512_unpackhi_ps(a, b), cd = _mm512_unpackhi_ps(c, d);
    out[2] = _mm512_shuffle_ps(ab, cd, 0x44);
    out[3] = _mm512_shuffle_ps(ab, cd, 0xEE);
}

#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#define LANES_NATIVE 1
enum { LANES = 8 };
typedef __m256i lane_int;
typedef __m256 lane_float;

#define LANE_INLINE static inline __attribute__((always_inline))

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
LANE_INLINE lane_float float_of_int(lane_int a) { return _mm256_cvtepi32_ps(a); }
LANE_INLINE lane_int int_of_float(lane_float a) { return _mm256_cvttps_epi32(a); }
LANE_INLINE lane_float float_set(float a) { return _mm256_set1_ps(a); }
LANE_INLINE lane_float float_fma(lane_float a, lane_float b, lane_float c)
{
    return _mm256_fmadd_ps(a, b, c);
}
LANE_INLINE lane_float float_fraction(lane_float a)
{
    return _mm256_sub_ps(a, _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
}
LANE_INLINE lane_float float_sqrt(lane_float a) { return _mm256_sqrt_ps(a); }
LANE_INLINE lane_float float_flip(lane_float a, lane_int word)
{
    lane_int sign = _mm256_and_si256(word, _mm256_set1_epi32(INT32_MIN));
    return _mm256_xor_ps(a, _mm256_castsi256_ps(sign));
}
LANE_INLINE uint32_t float_nan_mask(lane_float a, lane_float b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}
LANE_INLINE void float_store(float *to, lane_float a) { _mm256_storeu_ps(to, a); }
LANE_INLINE lane_float float_load(const float *from) { return _mm256_loadu_ps(from); }
/* a gather is slower than whole rows */
LANE_INLINE lane_float float_two_rows(const float (*row)[4], const uint32_t *at)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(row[at[0]])),
                                _mm_load_ps(row[at[4]]), 1);
}
LANE_INLINE void float_rows(lane_float out[4], const float (*row)[4], const uint32_t *at)
{
    lane_float a = float_two_rows(row, at), b = float_two_rows(row, at + 1);
    lane_float c = float_two_rows(row, at + 2), d = float_two_rows(row, at + 3);
    lane_float ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    out[0] = _mm256_shuffle_ps(ab, cd, 0x44);
    out[1] = _mm256_shuffle_ps(ab, cd, 0xEE);
    ab = _mm256_unpackhi_ps(a, b), cd = _mm256_unpackhi_ps(c, d);
    out[2] = _mm256_shuffle_ps(ab, cd, 0x44);
    out[3] = _mm256_shuffle_ps(ab, cd, 0xEE);
}

#else /* GCC's vector types: any machine; fused only where the target is */

#define LANES_NATIVE 0
enum { LANES = 4 };
typedef uint32_t lane_int __attribute__((vector_size(16)));
typedef int32_t lane_signed __attribute__((vector_size(16)));
typedef uint64_t lane_wide __attribute__((vector_size(16)));
typedef float lane_float __attribute__((vector_size(16)));

#define LANE_INLINE static inline __attribute__((always_inline))
#define LANE_EACH for (int l = 0; l < LANES; l++)
#define LANE_LOW UINT64_C(0xffffffff)

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
LANE_INLINE lane_float float_of_int(lane_int a)
{
    return __builtin_convertvector((lane_signed)a, lane_float);
}
LANE_INLINE lane_int int_of_float(lane_float a)
{
    return (lane_int) __builtin_convertvector(a, lane_signed);
}
LANE_INLINE lane_float float_set(float a) { return (lane_float){a, a, a, a}; }
LANE_INLINE lane_float float_fma(lane_float a, lane_float b, lane_float c)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    LANE_EACH a[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return a;
#else
    return a * b + c;
#endif
}
LANE_INLINE lane_float float_fraction(lane_float a)
{
    return a - float_of_int(int_of_float(a));
}
LANE_INLINE lane_float float_sqrt(lane_float a)
{
    LANE_EACH a[l] = __builtin_sqrtf(a[l]);
    return a;
}
LANE_INLINE lane_float float_flip(lane_float a, lane_int word)
{
    return (lane_float)((lane_int)a ^ (word & 0x80000000u));
}
LANE_INLINE uint32_t float_nan_mask(lane_float a, lane_float b)
{
    /* NOLINTNEXTLINE(misc-redundant-expression): NaN alone differs from itself */
    lane_int nan = (lane_int)(a != a) | (lane_int)(b != b);
    uint32_t mask = 0;
    LANE_EACH mask |= (nan[l] & 1) << l;
    return mask;
}
LANE_INLINE void float_store(float *to, lane_float a) { memcpy(to, &a, sizeof a); }
LANE_INLINE lane_float float_load(const float *from)
{
    lane_float a;
    memcpy(&a, from, sizeof a);
    return a;
}
LANE_INLINE void float_rows(lane_float out[4], const float (*row)[4], const uint32_t *at)
{
    for (int j = 0; j < 4; j++)
        out[j] = (lane_float){row[at[0]][j], row[at[1]][j], row[at[2]][j], row[at[3]][j]};
}
#endif

#endif
