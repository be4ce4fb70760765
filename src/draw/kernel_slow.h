/* kernel_slow.h: a part of kernel_body.h: draws that the float table cannot make; maths
 * D6, D7. The fast loop leaves them as NAN and notes their blocks without a branch,
 * because it cannot be predicted which block has some. They are made after a stretch of
 * blocks, in double, many at a time; their words are made again from their counters.
 *
 * Measured on a wide table: about 12 ns per slow draw with AVX-512 (slow_avx512.h; from a
 * kernel without the rest, on a busy machine), and 25 to 35 ns if each interrupted the
 * fast loop. */

/* A draw that the float table cannot make: its place and its word. */
typedef struct slow_draw {
    float *to;
    uint32_t word;
} slow_draw;

/* A mask of the draws of a block that are slow. */
LANE_INLINE uint64_t nan_mask_of(const float *z)
{
    uint64_t mask = 0;
    for (int i = 0; i < 4 * PER_BLOCK; i++) {
        vec y = vec_load(z + i * LANES);
        mask |= (uint64_t)float_nan_mask(y, y) << i * LANES;
    }
    return mask;
}

/* Adds the slow draws of one block to a list. */
static int64_t note_slow(slow_draw *slow, int64_t count, float *z, const uint32_t *word)
{
    for (uint64_t mask = nan_mask_of(z); mask; mask &= mask - 1) {
        int l = __builtin_ctzll(mask);
        slow[count++] = (slow_draw){z + l, word[l]};
    }
    return count;
}

/* Slow draws while they are made, SLOW_MOST at a time, a multiple of SLOW_GROUP. */
enum { SLOW_MOST = 256, SLOW_GROUP = 8 };

typedef struct slow_batch {
    _Alignas(64) double s[SLOW_MOST];
    _Alignas(64) int64_t low[SLOW_MOST], more[SLOW_MOST]; /* the piece is among low to
                                                             low + more of its half */
} slow_batch;

LANE_INLINE const xb_pieces *half_of(const xb_draw_source *d, uint32_t word)
{
    return &d->half[d->symmetric ? 0 : word >> 31];
}

#ifdef LANE_SLOW
#include "draw/slow_avx512.h"
#else
/* Finds where the searches of a group begin, as (D6) and xb_pieces_find() do. */
LANE_INLINE void group_start(slow_batch *q, const uint32_t *word, int from,
                             const xb_draw_source *d)
{
    for (int j = from; j < from + SLOW_GROUP; j++) {
        const xb_pieces *half = half_of(d, word[j]);
        q->s[j] = sqrt(2 * xb_word_mass(word[j]));
        const int i = (int)(q->s[j] * XB_PIECE_INDEX); /* s < 1 */
        const int64_t end = i + 1 < XB_PIECE_INDEX ? half->index[i + 1] : half->n - 1;
        q->low[j] = half->index[i];
        q->more[j] = end - q->low[j];
    }
}

/* Computes the values of a group whose pieces were found. */
LANE_INLINE void group_values(float *value, const slow_batch *q, const uint32_t *word,
                              int from, const xb_draw_source *d)
{
    for (int j = from; j < from + SLOW_GROUP; j++) {
        const xb_slow_place place = {q->s[j], half_of(d, word[j])->piece + q->low[j]};
        value[j] = xb_source_value(d, &place, word[j]);
    }
}
#endif

/* Does one step of the searches `open`, as xb_pieces_find() does; returns the number of
 * searches that need another step. */
LANE_INLINE int search_step(slow_batch *q, uint16_t *open, int n, const uint32_t *word,
                            const xb_draw_source *d)
{
    int left = 0;
    for (int i = 0; i < n; i++) {
        const int j = open[i];
        const int64_t half = (q->more[j] + 1) / 2;
        const double *end = xb_pieces_ends(half_of(d, word[j]));
        q->low[j] += half & -(int64_t)(end[q->low[j] + half - 1] < q->s[j]);
        q->more[j] -= half;
        open[left] = (uint16_t)j;
        left += q->more[j] > 0;
    }
    return left;
}

/* Computes the values of n words, with room for whole groups: first all places, then all
 * searches step by step, then all polynomials, so that none waits for another and no
 * branch depends on the length of a search. No word's s lies where two pieces meet at a
 * 4096th of [0, 1], which xb_pieces_find() checks too, because 2^32 s^2 is odd. */
static void make_all(float *value, uint32_t *word, int n, const xb_draw_source *d)
{
    slow_batch q;
    uint16_t open[SLOW_MOST];
    int left = 0, all = n;
    for (; all % SLOW_GROUP; all++) word[all] = 0; /* these are computed but not used */
    for (int j = 0; j < all; j += SLOW_GROUP) group_start(&q, word, j, d);
    for (int j = 0; j < n; j++) {
        open[left] = (uint16_t)j;
        left += q.more[j] > 0;
    }
    while (left > 0) left = search_step(&q, open, left, word, d);
    for (int j = 0; j < all; j += SLOW_GROUP) group_values(value, &q, word, j, d);
}

/* Makes the draws of a list. */
static void make_slow(const xb_draw_source *d, const slow_draw *slow, int64_t count)
{
    uint32_t word[SLOW_MOST];
    float value[SLOW_MOST];
    for (int64_t from = 0; from < count; from += SLOW_MOST) {
        int64_t n = count - from < SLOW_MOST ? count - from : SLOW_MOST;
        for (int64_t j = 0; j < n; j++) word[j] = slow[from + j].word;
        make_all(value, word, (int)n, d);
        for (int64_t j = 0; j < n; j++) *slow[from + j].to = value[j];
    }
}

/* The draws of a stretch of blocks that are still to be made, as their positions in it.
 */
enum { STRETCH = 256 };

typedef struct late_draws {
    int count;
    uint32_t at[SLOW_MOST];
} late_draws;

/* Makes the words of sixteen draws again from their counters, which costs less than
 * keeping the words of all draws. */
LANE_INLINE void late_words(uint32_t word[16], const uint32_t at[16], uint32_t first,
                            const philox_start *s)
{
    _Alignas(64) uint32_t counter[16], made[4][16];
    lane_int by_word[4][PER_BLOCK];
    philox_state p;
    for (int j = 0; j < 16; j++)
        counter[j] = (first + at[j] / XB_BLOCK) * 16 + at[j] % 16;
    for (int i = 0; i < STRANDS; i++)
        p.product[i] = wide_mul(strand_pick(counter, i), XB_PHILOX_M0);
    philox_begin(&p, s, 1);
    philox_rounds(&p, s, 2, XB_PHILOX_ROUNDS);
    philox_end(by_word, &p);
    for (int w = 0; w < 4; w++)
        for (int part = 0; part < PER_BLOCK; part++)
            int_store(made[w] + part * LANES, by_word[w][part]);
    for (int j = 0; j < 16; j++) word[j] = made[at[j] % XB_BLOCK / 16][j];
}

/* Makes the remaining draws of a stretch, whose first block is `first`. */
static __attribute__((noinline)) void late_make(late_draws *late, float *z, int64_t first,
                                                const xb_draw_source *d,
                                                const philox_start *s)
{
    uint32_t word[SLOW_MOST];
    float value[SLOW_MOST];
    /* These are computed but not used. */
    for (int j = late->count; j % 16; j++) late->at[j] = 0;
    int made = 0;
    do late_words(word + made, late->at + made, (uint32_t)first, s);
    while ((made += 16) < late->count);
    make_all(value, word, late->count, d);
    for (int j = 0; j < late->count; j++) z[late->at[j]] = value[j];
    late->count = 0;
}

/* Makes the slow draws of `count` blocks of a stretch. It has its own copy of the keys,
 * because those of the fast loop stay in registers only if no other function gets their
 * address. */
static __attribute__((noinline)) void late_blocks_make(float *z, const uint16_t *block,
                                                       int count, int64_t first,
                                                       const xb_draw_source *d,
                                                       const xb_stream *where)
{
    const philox_start start = start_of(where), *s = &start;
    late_draws late;
    late.count = 0;
    for (int i = 0; i < count; i++) {
        uint32_t from = block[i] * (uint32_t)XB_BLOCK;
        for (uint64_t mask = nan_mask_of(z + from); mask; mask &= mask - 1)
            late.at[late.count++] = from + (uint32_t)__builtin_ctzll(mask);
        if (late.count > SLOW_MOST - XB_BLOCK) late_make(&late, z, first, d, s);
    }
    if (late.count) late_make(&late, z, first, d, s);
}

LANE_INLINE void keep_words(uint32_t *to, lane_int word[4][PER_BLOCK])
{
    for (int i = 0; i < 4 * PER_BLOCK; i++)
        int_store(to + i * LANES, word[i / PER_BLOCK][i % PER_BLOCK]);
}
