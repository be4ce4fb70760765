/* kernel_body.h: the draw kernel, included once per level; maths R1, R2, D9.
 *
 * A block of 64 draws takes sixteen counters, in strands (lanes.h). The
 * counter's last three words are the same for all elements of a tensor, so half of the
 * first two rounds is done once per call, and the first product is a running sum. A
 * word then costs: conversion, square root, cell, the cell's coefficients (a
 * permutation each, or whole rows loaded and transposed) and `degree` fused
 * multiply-adds.
 *
 * Only the draws are stored. No branch depends on data; slow draws are
 * made after a stretch of blocks (kernel_slow.h). */
#include "base/philox.h"
#include "draw/kernel.h"
#include "draw/lanes.h"

enum { PER_BLOCK = 16 / LANES }; /* lane vectors that hold sixteen counters */

/* The key of every round, and the results of the first two rounds for the constant words.
 */
typedef struct philox_start {
    uint32_t key[2][XB_PHILOX_ROUNDS];
    uint32_t c1;              /* after round 1 */
    uint32_t c3_key;          /* step ^ key of round 1 */
    uint32_t p0_high, p0_low; /* M0 * c0 of round 2 */
} philox_start;

static philox_start start_of(const xb_stream *where)
{
    philox_start s;
    for (int round = 0; round < XB_PHILOX_ROUNDS; round++) {
        s.key[0][round] = where->key.word[0] + (uint32_t)round * XB_PHILOX_W0;
        s.key[1][round] = where->key.word[1] + (uint32_t)round * XB_PHILOX_W1;
    }
    uint64_t p1 = (uint64_t)XB_PHILOX_M1 * where->sample;
    uint32_t c0 = (uint32_t)(p1 >> 32) ^ where->tensor ^ s.key[0][0];
    uint64_t p0 = (uint64_t)XB_PHILOX_M0 * c0;
    s.c1 = (uint32_t)p1;
    s.c3_key = where->step ^ s.key[1][0];
    s.p0_high = (uint32_t)(p0 >> 32);
    s.p0_low = (uint32_t)p0;
    return s;
}

/* The state of sixteen counters between rounds. */
enum { STRANDS = 16 / STRAND_COUNTERS };

typedef struct philox_state {
    lane_int c[4][STRANDS];
    lane_product product[STRANDS]; /* M0 * counter of the block to begin next */
} philox_state;

LANE_INLINE void philox_seek(philox_state *p, int64_t block)
{
    uint32_t counter = (uint32_t)block * 16;
    for (int i = 0; i < STRANDS; i++)
        p->product[i] = wide_mul(strand_counters(counter, i), XB_PHILOX_M0);
}

/* Rounds 1 and 2 of the next block, half of which is known. The block after it has
 * counters larger by sixteen times `step`, so its first product is an addition. */
LANE_INLINE void philox_begin(philox_state *p, const philox_start *s, int64_t step)
{
    const lane_int zero = wide_set(0);
    for (int i = 0; i < STRANDS; i++) {
        lane_product p0 = p->product[i];
        p->product[i] = wide_add(p0, (uint64_t)step * 16 * XB_PHILOX_M0);
        lane_int c2 = wide_xor3(wide_high(p0), wide_set(s->c3_key), zero);
        lane_product p1 = wide_mul(c2, XB_PHILOX_M1);
        p->c[0][i] = wide_xor3(wide_high(p1), wide_set(s->c1), wide_set(s->key[0][1]));
        p->c[1][i] = wide_low(p1);
        p->c[2][i] =
            wide_xor3(wide_low(p0), wide_set(s->p0_high), wide_set(s->key[1][1]));
        p->c[3][i] = wide_set(s->p0_low);
    }
}

/* Rounds from `first` up to `last`, without `last`, for all strands side by side, because
 * one strand alone would leave the multipliers waiting. (R1) */
LANE_INLINE void philox_rounds(philox_state *p, const philox_start *s, int first,
                               int last)
{
#pragma GCC unroll 16
    for (int round = first; round < last; round++) {
        lane_product p0[STRANDS], p1[STRANDS];
        for (int i = 0; i < STRANDS; i++) {
            p0[i] = wide_mul(p->c[0][i], XB_PHILOX_M0);
            p1[i] = wide_mul(p->c[2][i], XB_PHILOX_M1);
        }
        for (int i = 0; i < STRANDS; i++) {
            p->c[0][i] =
                wide_xor3(wide_high(p1[i]), p->c[1][i], wide_set(s->key[0][round]));
            p->c[1][i] = wide_low(p1[i]);
            p->c[2][i] =
                wide_xor3(wide_high(p0[i]), p->c[3][i], wide_set(s->key[1][round]));
            p->c[3][i] = wide_low(p0[i]);
        }
    }
}

/* The words, as lanes in element order. */
LANE_INLINE void philox_end(lane_int word[4][PER_BLOCK], const philox_state *p)
{
    for (int w = 0; w < 4; w++)
        for (int part = 0; part < PER_BLOCK; part++)
            word[w][part] = strand_words(p->c[w], part);
}

static void draw_words(uint32_t *out, int64_t blocks, const xb_stream *where,
                       int64_t first)
{
    philox_start s = start_of(where);
    philox_state p;
    philox_seek(&p, first);
    for (int64_t b = 0; b < blocks; b++) {
        lane_int word[4][PER_BLOCK];
        philox_begin(&p, &s, 1);
        philox_rounds(&p, &s, 2, XB_PHILOX_ROUNDS);
        philox_end(word, &p);
        for (int w = 0; w < 4; w++)
            for (int part = 0; part < PER_BLOCK; part++)
                int_store(out + b * XB_BLOCK + w * 16 + part * LANES, word[w][part]);
    }
}

/* (D9), lane by lane what xb_table_value() does: first the place in the table, */
LANE_INLINE vec place_lanes(lane_int word, int columns)
{
    vec k = float_of_int(int_and(word, 0x7fffffffu));
    return vec_sqrt(
        vec_fma(k, vec_set(xb_table_slope(columns)), vec_set(xb_table_offset(columns))));
}

/* then the column, */
LANE_INLINE lane_int column_lanes(lane_int word, vec place, int columns, int halves)
{
    lane_int column = int_of_float(place);
    return halves == 2 ? int_add(column, int_top_bit(word, columns)) : column;
}

/* which is stored early if its coefficients are a row in memory, so that the rows are in
 * the cache when they are needed; */
LANE_INLINE bool goes_by_rows(int columns)
{
#ifdef LANE_PERMUTES
    return columns == XB_COLUMNS_WIDE;
#else
    (void)columns;
    return true;
#endif
}

/* The compiler must not see through the store: otherwise it would extract the places from
 * the register one by one on the shuffle units, which are the bottleneck here; loads are
 * not. Measured: 1.03 ns a draw of a wide table becomes 0.92. */
LANE_INLINE void note_rows(uint32_t *row, lane_int column, int columns)
{
    lane_int halves = int_add(column, column);
    int_store(row, columns == XB_COLUMNS_WIDE ? halves : int_add(halves, halves));
    __asm__("" : "+m"(*(uint32_t(*)[LANES])row));
}

/* then the polynomial there. */
LANE_INLINE vec row_lanes(const uint32_t *row, vec r, const xb_draw_table *t, int degree)
{
#ifdef LANE_CUBIC /* only wide tables have rows */
    (void)degree;
    return float_cubic(t->row, row, r);
#else
    vec c[XB_TABLE_DEGREE_MAX + 1];
    float_rows(c, t->row, row);
    if (degree > 3) float_rows(c + 4, t->row + 1, row);
    vec y = c[degree];
    for (int j = degree - 1; j >= 0; j--) y = vec_fma(y, r, c[j]);
    return y;
#endif
}

#ifdef LANE_PERMUTES
LANE_INLINE vec narrow_lanes(lane_int column, vec r, const xb_draw_table *t, int degree,
                             int halves)
{
    vec y = float_lookup(t->coef[degree], column, halves);
    for (int j = degree - 1; j >= 0; j--)
        y = vec_fma(y, r, float_lookup(t->coef[j], column, halves));
    return y;
}
#endif

/* `row`: what note_rows() noted, if anything. */
LANE_INLINE vec draw_lanes(lane_int word, vec place, const uint32_t *row,
                           const xb_draw_table *t, int columns, int degree, int halves)
{
    vec r = float_fraction(place);
#ifdef LANE_PERMUTES
    if (!goes_by_rows(columns)) {
        lane_int column = column_lanes(word, place, columns, halves);
        return float_flip(narrow_lanes(column, r, t, degree, halves), word);
    }
#endif
    (void)halves;
    int powers = columns == XB_COLUMNS_WIDE ? XB_WIDE_DEGREE : degree;
    return float_flip(row_lanes(row, r, t, powers), word);
}

#include "draw/kernel_slow.h"

LANE_INLINE void note_block(uint32_t row[4][PER_BLOCK][LANES], int w,
                            lane_int word[4][PER_BLOCK], vec place[4][PER_BLOCK],
                            int columns, int halves)
{
    for (int part = 0; part < PER_BLOCK; part++)
        note_rows(row[w][part],
                  column_lanes(word[w][part], place[w][part], columns, halves), columns);
}

/* The draws and words of the block that `p` holds; then it holds the next, and `step` is
 * from that to the one after. True if there are slow ones among them. `early`: rows are
 * noted before anything else is done, which gains 5 % where draws are all there is to do
 * and costs 10 % where they are used at once. */
LANE_INLINE bool draw_block(vec y[4][PER_BLOCK], lane_int word[4][PER_BLOCK],
                            philox_state *p, const philox_start *s, int64_t step,
                            bool early, const xb_draw_table *t, int columns, int degree,
                            int halves)
{
    const bool by_rows = goes_by_rows(columns);
    vec place[4][PER_BLOCK];
    _Alignas(64) uint32_t row[4][PER_BLOCK][LANES];
    uint32_t mask = 0;
    philox_end(word, p);
    /* all square roots come first, because they take long and nothing waits for them yet
     */
    for (int i = 0; i < 4 * PER_BLOCK; i++)
        place[i / PER_BLOCK][i % PER_BLOCK] =
            place_lanes(word[i / PER_BLOCK][i % PER_BLOCK], columns);
    philox_begin(p, s, step);
    for (int w = 0; early && by_rows && w < 4; w++)
        note_block(row, w, word, place, columns, halves);
        /* two rounds of the next block beside each quarter of this one: the
         * multipliers of one fill the gaps of the other */
#pragma GCC unroll 4
    for (int w = 0; w < 4; w++) {
        philox_rounds(p, s, 2 + 2 * w, 4 + 2 * w);
        if (!early && by_rows) note_block(row, w, word, place, columns, halves);
        for (int part = 0; part < PER_BLOCK; part++) {
            y[w][part] = draw_lanes(word[w][part], place[w][part], row[w][part], t,
                                    columns, degree, halves);
            if (w % 2) mask |= float_nan_mask(y[w - 1][part], y[w][part]);
        }
    }
    return mask != 0;
}

/* The first block, which has no other block to overlap with. */
LANE_INLINE void draw_start(philox_state *p, const philox_start *s, int64_t first,
                            int64_t step)
{
    philox_seek(p, first);
    philox_begin(p, s, step);
    philox_rounds(p, s, 2, XB_PHILOX_ROUNDS);
}

LANE_INLINE void store_block(float *z, vec y[4][PER_BLOCK])
{
    for (int i = 0; i < 4 * PER_BLOCK; i++)
        vec_store(z + i * LANES, y[i / PER_BLOCK][i % PER_BLOCK]);
}

LANE_INLINE void draw_blocks(float *z, int64_t blocks, const xb_draw_source *d,
                             const xb_stream *where, int64_t first, int columns,
                             int degree, int halves)
{
    philox_start s = start_of(where);
    philox_state p;
    draw_start(&p, &s, first, 1);
    for (int64_t from = 0; from < blocks; from += STRETCH) {
        const int64_t n = blocks - from < STRETCH ? blocks - from : STRETCH;
        float *to = z + from * XB_BLOCK;
        uint16_t late[STRETCH];
        int count = 0;
        for (int64_t b = 0; b < n; b++) {
            lane_int word[4][PER_BLOCK];
            vec y[4][PER_BLOCK];
            bool some =
                draw_block(y, word, &p, &s, 1, true, &d->table, columns, degree, halves);
            store_block(to + b * XB_BLOCK, y);
            late[count] = (uint16_t)b;
            count += some;
        }
        if (count) late_blocks_make(to, late, count, first + from, d, where);
    }
}

#include "draw/kernel_product.h"

#if LANES_NATIVE && !defined(__SANITIZE_ADDRESS__)
/* The columns, degree and halves as constants: the compiler unrolls each. */
#define DRAWS_CASE(columns, degree, halves)                                              \
    return draw_blocks(z, blocks, d, where, first, columns, degree, halves)
#define MULTIPLY_CASE(columns, degree, halves)                                           \
    return product_blocks(job, d, where, first, columns, degree, halves)
#define EVERY_SHAPE(CASE, halves)                                                        \
    switch (d->table.columns == XB_COLUMNS_WIDE ? 0 : d->table.degree) {                 \
    case 0: CASE(XB_COLUMNS_WIDE, XB_WIDE_DEGREE, halves);                               \
    case 3: CASE(XB_COLUMNS, 3, halves);                                                 \
    case 4: CASE(XB_COLUMNS, 4, halves);                                                 \
    case 5: CASE(XB_COLUMNS, 5, halves);                                                 \
    case 6: CASE(XB_COLUMNS, 6, halves);                                                 \
    default: CASE(XB_COLUMNS, 7, halves);                                                \
    }

static void draws(float *z, int64_t blocks, const xb_draw_source *d,
                  const xb_stream *where, int64_t first)
{
    if (d->table.halves == 1) EVERY_SHAPE(DRAWS_CASE, 1)
    EVERY_SHAPE(DRAWS_CASE, 2)
}

static void draw_multiply(const xb_draw_product *job, const xb_draw_source *d,
                          const xb_stream *where, int64_t first)
{
    if (d->table.halves == 1) EVERY_SHAPE(MULTIPLY_CASE, 1)
    EVERY_SHAPE(MULTIPLY_CASE, 2)
}
#else /* vector types or instrumented: one instance, quick to compile */
static void draws(float *z, int64_t blocks, const xb_draw_source *d,
                  const xb_stream *where, int64_t first)
{
    const xb_draw_table *t = &d->table;
    draw_blocks(z, blocks, d, where, first, t->columns, t->degree, t->halves);
}

static void draw_multiply(const xb_draw_product *job, const xb_draw_source *d,
                          const xb_stream *where, int64_t first)
{
    const xb_draw_table *t = &d->table;
    product_blocks(job, d, where, first, t->columns, t->degree, t->halves);
}
#endif

/* This is not on the hot path of networks: the shape is checked for each block instead of
 * being compiled in. */
static void values(float *z, int64_t blocks, const xb_draw_source *d,
                   const uint32_t *given)
{
    const xb_draw_table *t = &d->table;
    for (int64_t b = 0; b < blocks; b++) {
        float *to = z + b * XB_BLOCK;
        uint32_t mask = 0;
        for (int i = 0; i < 4 * PER_BLOCK; i++) {
            lane_int one = int_load(given + b * XB_BLOCK + i * LANES);
            vec place = place_lanes(one, t->columns);
            uint32_t row[LANES];
            note_rows(row, column_lanes(one, place, t->columns, t->halves), t->columns);
            vec y = draw_lanes(one, place, row, t, t->columns, t->degree, t->halves);
            vec_store(to + i * LANES, y);
            mask |= float_nan_mask(y, y);
        }
        if (mask) {
            slow_draw slow[XB_BLOCK];
            make_slow(d, slow, note_slow(slow, 0, to, given + b * XB_BLOCK));
        }
    }
}

static const xb_kernel XB_OF_LEVEL(xb_kernel) = {
    .level = XB_LEVEL_NAME,
    .fused = XB_LEVEL_FUSED,
    .words = draw_words,
    .draws = draws,
    .values = values,
    .multiply = draw_multiply,
};
