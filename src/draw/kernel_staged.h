/* kernel_staged.h: a part of kernel_body.h: draws on levels of few registers (AVX2 has
 * sixteen); maths R1, D9. The state of a whole block's counters would fill them all, and
 * what the compiler then moves to memory and back costs more than the arithmetic: one
 * vector a cycle can be stored. So a block is made in parts of LANES counters, and a
 * part's words, rows and places in their cells go through memory on purpose, once. While
 * they are used, the next part's Philox rounds run.
 *
 * Measured, ns a draw on Zen 3, whole blocks and parts: see docs/performance.md. */

enum { PART_STRANDS = LANES / STRAND_COUNTERS };

typedef struct philox_part {
    lane_int c[4][PART_STRANDS];
    lane_product product[PART_STRANDS]; /* M0 * counter of the part to begin next */
} philox_part;

/* The draws of a part before they are looked up. */
typedef struct staged_part {
    _Alignas(64) uint32_t word[4][LANES];
    uint32_t row[4][LANES];
    float r[4][LANES];
} staged_part;

LANE_INLINE void part_begin(philox_part *p, const philox_start *s)
{
    const lane_int zero = wide_set(0);
    for (int i = 0; i < PART_STRANDS; i++) {
        lane_product p0 = p->product[i];
        p->product[i] = wide_add(p0, (uint64_t)LANES * XB_PHILOX_M0);
        lane_int c2 = wide_xor3(wide_high(p0), wide_set(s->c3_key), zero);
        lane_product p1 = wide_mul(c2, XB_PHILOX_M1);
        p->c[0][i] = wide_xor3(wide_high(p1), wide_set(s->c1), wide_set(s->key[0][1]));
        p->c[1][i] = wide_low(p1);
        p->c[2][i] =
            wide_xor3(wide_low(p0), wide_set(s->p0_high), wide_set(s->key[1][1]));
        p->c[3][i] = wide_set(s->p0_low);
    }
}

LANE_INLINE void part_round(philox_part *p, const philox_start *s, int round)
{
    for (int i = 0; i < PART_STRANDS; i++) {
        lane_product p0 = wide_mul(p->c[0][i], XB_PHILOX_M0);
        lane_product p1 = wide_mul(p->c[2][i], XB_PHILOX_M1);
        p->c[0][i] = wide_xor3(wide_high(p1), p->c[1][i], wide_set(s->key[0][round]));
        p->c[1][i] = wide_low(p1);
        p->c[2][i] = wide_xor3(wide_high(p0), p->c[3][i], wide_set(s->key[1][round]));
        p->c[3][i] = wide_low(p0);
    }
}

/* The compiler may not see through these stores: see note_rows(). */
LANE_INLINE void stage_part(staged_part *to, const philox_part *p, int columns,
                            int halves)
{
#pragma GCC unroll 4
    for (int w = 0; w < 4; w++) {
        lane_int word = strand_words(p->c[w], 0);
        vec place = place_lanes(word, columns);
        int_store(to->word[w], word);
        note_rows(to->row[w], column_lanes(word, place, columns, halves), columns);
        vec_store(to->r[w], float_fraction(place));
        __asm__("" : "+m"(to->word[w]), "+m"(to->r[w]));
    }
}

LANE_INLINE vec staged_draw(const staged_part *from, int w, const xb_draw_table *t,
                            int degree)
{
    vec y = row_lanes(from->row[w], vec_load(from->r[w]), t, degree);
    return float_flip(y, int_load(from->word[w]));
}

/* The draws of a part, `z` those of its block; the next part's rounds beside them. NaN
 * where a draw is slow. */
LANE_INLINE uint32_t draw_part(float *z, int part, const staged_part *from,
                               philox_part *p, const philox_start *s,
                               const xb_draw_table *t, int degree)
{
    uint32_t mask = 0;
    vec y[4];
    part_begin(p, s);
#pragma GCC unroll 4
    for (int w = 0; w < 4; w++) {
        part_round(p, s, 2 + 2 * w);
        y[w] = staged_draw(from, w, t, degree);
        part_round(p, s, 3 + 2 * w);
        vec_store(z + w * 16 + part * LANES, y[w]);
        if (w % 2) mask |= float_nan_mask(y[w - 1], y[w]);
    }
    return mask;
}

/* Slow draws, made when there are many of them. */
enum { SLOW_MOST = 4 * XB_BLOCK };

typedef struct slow_list {
    int64_t count;
    slow_draw draw[SLOW_MOST];
} slow_list;

/* Those of a block, whose words are in its parts. */
static __attribute__((noinline)) void slow_note(slow_list *slow, float *z,
                                                const staged_part *part,
                                                const xb_draw_source *d)
{
    uint64_t mask = nan_mask_of(z);
    for (; mask; mask &= mask - 1) {
        const int l = __builtin_ctzll(mask), counter = l % 16;
        slow->draw[slow->count++] =
            (slow_draw){z + l, part[counter / LANES].word[l / 16][counter % LANES]};
    }
    if (slow->count <= SLOW_MOST - XB_BLOCK) return; /* there is room for a block */
    make_slow(d, slow->draw, slow->count);
    slow->count = 0;
}

LANE_INLINE void staged_blocks(float *z, int64_t blocks, const xb_draw_source *d,
                               const xb_stream *where, int64_t first, int columns,
                               int degree, int halves)
{
    const philox_start s = start_of(where);
    const int powers = columns == XB_COLUMNS_WIDE ? XB_WIDE_DEGREE : degree;
    philox_part p;
    staged_part part[PER_BLOCK];
    slow_list slow;
    slow.count = 0;
    for (int i = 0; i < PART_STRANDS; i++)
        p.product[i] = wide_mul(strand_counters((uint32_t)first * 16, i), XB_PHILOX_M0);
    part_begin(&p, &s);
    for (int round = 2; round < XB_PHILOX_ROUNDS; round++) part_round(&p, &s, round);
    stage_part(&part[0], &p, columns, halves);
    for (int64_t b = 0; b < blocks; b++, z += XB_BLOCK) {
        uint32_t mask = 0;
#pragma GCC unroll 4
        for (int i = 0; i < PER_BLOCK; i++) {
            mask |= draw_part(z, i, &part[i], &p, &s, &d->table, powers);
            if (i + 1 < PER_BLOCK) stage_part(&part[i + 1], &p, columns, halves);
        }
        if (__builtin_expect(mask != 0, 0)) slow_note(&slow, z, part, d);
        stage_part(&part[0], &p, columns, halves);
    }
    make_slow(d, slow.draw, slow.count);
}
