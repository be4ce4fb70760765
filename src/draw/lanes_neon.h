/* lanes_neon.h: lanes.h on NEON, which every AArch64 processor has: four floats in a
 * register. */
#ifndef XB_DRAW_LANES_NEON_H
#define XB_DRAW_LANES_NEON_H

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
LANE_INLINE lane_int strand_pick(const uint32_t *counter, int strand)
{
    return vld1q_u32(counter + strand * LANES);
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

#endif
