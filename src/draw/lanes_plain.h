/* lanes_plain.h: lanes.h in the compiler's vector types, for any machine: four floats,
 * fused only where the target is. */
#ifndef XB_DRAW_LANES_PLAIN_H
#define XB_DRAW_LANES_PLAIN_H

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
