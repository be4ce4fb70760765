/* test_distance_stats.c: the energy distance inside, against its definition as sums over
 * pairs of draws (maths C14): blocks whose own pairs do not count, one block, left-out
 * blocks, exponents, partners, ties and samples too small for an estimate. */
#include "xbtest.h"

#include <math.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "compare/distance_stats.h"
#include "compare/labelling.h"

enum { MOST = 24 };

typedef struct sample {
    double a[MOST], b[MOST]; /* in the order of draws */
    int n, blocks;           /* of a; b has as many */
} sample;

static int by_value(const void *p, const void *q)
{
    double x = ((const xb_tagged *)p)->x, y = ((const xb_tagged *)q)->x;
    return (x > y) - (x < y);
}

static int block_of(const sample *s, int draw) { return draw * s->blocks / s->n; }

static sample make_sample(int n, int blocks, double shift)
{
    sample s = {.n = n, .blocks = blocks};
    for (int i = 0; i < n; i++) {
        s.a[i] = (i * 7 % 11) / 4.0;
        s.b[i] = (i * 5 % 13) / 4.0 + shift; /* some are equal to values of a */
    }
    return s;
}

/* The pool of both; blocks of b follow those of a. */
static void fill_pool(xb_pool *pool, xb_tagged *item, const sample *s)
{
    for (int i = 0; i < s->n; i++) {
        item[2 * i] = (xb_tagged){.x = s->a[i], .tag = (int32_t)block_of(s, i)};
        item[2 * i + 1] =
            (xb_tagged){.x = s->b[i], .tag = (int32_t)(s->blocks + block_of(s, i))};
    }
    qsort(item, 2 * (size_t)s->n, sizeof *item, by_value);
    *pool = (xb_pool){.item = item, .count = 2 * s->n, .unit = 1, .spread = 1};
}

/* Mean of |x - y|^e over draws i and j that may be compared. */
static double mean_of_pairs(const sample *s, const double *x, const double *y, double e,
                            int out, bool same_block, bool same_draw)
{
    double sum = 0, pairs = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) {
            int g = block_of(s, i), h = block_of(s, j);
            if (g == out || h == out || (g == h && !same_block) || (i == j && !same_draw))
                continue;
            sum += pow(fabs(x[i] - y[j]), e);
            pairs++;
        }
    return sum / pairs;
}

static double by_definition(const sample *s, double e, int out, bool between_blocks,
                            bool paired)
{
    bool same = !between_blocks;
    return 2 * mean_of_pairs(s, s->a, s->b, e, out, same, same && !paired) -
           mean_of_pairs(s, s->a, s->a, e, out, same, false) -
           mean_of_pairs(s, s->b, s->b, e, out, same, false);
}

static void set_labels(uint8_t *label, int blocks, int out)
{
    for (int g = 0; g < blocks; g++) {
        label[g] = g == out ? XB_LABEL_OUT : XB_LABEL_A;
        label[blocks + g] = g == out ? XB_LABEL_OUT : XB_LABEL_B;
    }
}

/* Exponent 1, where each block's own pairs are taken out again. */
static double energy_by_pool(const sample *s, int out, bool between_blocks)
{
    xb_tagged item[2 * MOST];
    uint8_t label[2 * XB_JACKKNIFE_GROUPS];
    double room[6 * MOST + 3], stat[XB_STATS];
    xb_pool pool;
    fill_pool(&pool, item, s);
    set_labels(label, s->blocks, out);
    if (between_blocks) xb_pool_own(&pool, s->blocks);
    xb_two two = xb_pool_split(room, &pool, label);
    xb_distance_stats(stat, &pool, label, &two, 1);
    return stat[XB_STAT_ENERGY];
}

static void blocks_do_not_count_themselves(void **state)
{
    (void)state;
    static const int shapes[][2] = {{4, 2}, {6, 3}, {7, 2}, {12, 4}, {20, 20}, {24, 5}};
    for (int k = 0; k < XB_COUNT(shapes); k++) {
        sample s = make_sample(shapes[k][0], shapes[k][1], 0.375 * k - 0.5);
        for (int out = -1; out < s.blocks; out++) {
            if (s.blocks - (out >= 0) < 2) continue;
            assert_close_floor(energy_by_pool(&s, out, true),
                               by_definition(&s, 1, out, true, false), 1e-12, 1);
        }
        assert_close_floor(energy_by_pool(&s, -1, false),
                           by_definition(&s, 1, -1, false, false), 1e-12, 1);
    }
}

/* Draws of one block depend on each other: nothing is left to compare. */
static void one_block_has_no_estimate(void **state)
{
    (void)state;
    sample s = make_sample(9, 1, 0.5);
    assert_true(isnan(energy_by_pool(&s, -1, true)));
    assert_false(isnan(energy_by_pool(&s, -1, false)));
    sample two = make_sample(8, 2, 0.5);
    assert_true(isnan(energy_by_pool(&two, 1, true))); /* one is left */
    sample few = make_sample(1, 1, 0.5);
    assert_true(isnan(energy_by_pool(&few, -1, false)));
    few = make_sample(2, 1, 0.5);
    assert_false(isnan(energy_by_pool(&few, -1, false)));
}

/* Any exponent, from sums over pairs of blocks. */
static double energy_by_blocks(const sample *s, double e, int out, bool paired)
{
    xb_tagged item[2 * MOST];
    uint8_t label[2 * XB_JACKKNIFE_GROUPS];
    double room[6 * MOST + 3], sum[4 * MOST * MOST], partner[2 * MOST];
    xb_pool pool;
    fill_pool(&pool, item, s);
    set_labels(label, s->blocks, out);
    for (int i = 0; i < 2 * s->n; i++) /* values of one draw are in the same place */
        for (int j = 0; j < s->n; j++) {
            if (item[i].tag < s->blocks && item[i].x == s->a[j]) partner[i] = s->b[j];
            if (item[i].tag >= s->blocks && item[i].x == s->b[j]) partner[i] = s->a[j];
        }
    if (paired) pool.partner = partner;
    xb_energy_blocks(sum, &pool, 2 * s->blocks, e);
    xb_two two = xb_pool_split(room, &pool, label);
    return xb_energy_of_blocks(sum, label, 2 * s->blocks, &two, e);
}

static void exponents_and_partners(void **state)
{
    (void)state;
    static const double exponents[] = {0.5, 1, 1.2, 1.5};
    static const int shapes[][2] = {
        {2, 1}, {5, 1}, {8, 4}, {11, 3}}; /* distinct values */
    for (int k = 0; k < XB_COUNT(shapes); k++)
        for (int i = 0; i < XB_COUNT(exponents); i++)
            for (int paired = 0; paired < 2; paired++) {
                sample s = make_sample(shapes[k][0], shapes[k][1], 0.3);
                double e = exponents[i];
                assert_close_floor(energy_by_blocks(&s, e, -1, paired),
                                   by_definition(&s, e, -1, false, paired), 1e-12, 1);
                if (s.blocks > 2)
                    assert_close_floor(energy_by_blocks(&s, e, 1, paired),
                                       by_definition(&s, e, 1, false, paired), 1e-12, 1);
            }
    sample single = make_sample(1, 1, 0.3);
    assert_true(isnan(energy_by_blocks(&single, 1.5, -1, false)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_not_count_themselves),
        cmocka_unit_test(one_block_has_no_estimate),
        cmocka_unit_test(exponents_and_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
