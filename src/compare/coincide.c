/* coincide.c: see coincide.h; maths C17.
 *
 * Among S pairs, k differ. Their number is practically a Poisson count, whose rate may be
 * a few pairs larger than observed: as in the rule of three, FURTHER more pairs are
 * assumed to differ. Their size is that of the k pairs, and, as long as there are at most
 * FURTHER of those, that of two unrelated draws. The terms are weighted by the share of
 * equal pairs, so they vanish if there are none. */
#include "compare/coincide.h"

#include <math.h>

static const double FURTHER = 3;

/* For two independent Gaussians x and y of sd 1: E(x - y)^2; the variance of (x^2 - y^2)
 * / 2, doubled because its tails are long; and the contribution of such a pair to S^2
 * times the square of the whole, 2 sqrt(pi) E|x - y|. */
static const double UNRELATED_MEAN = 2, UNRELATED_SD = 2, UNRELATED_WHOLE = 4;

typedef struct differing {
    double count, mean, sd; /* number of pairs; sums of their squares, in units of the
                               spread */
} differing;

static differing add_up(const xb_two *t, double spread)
{
    differing d = {0};
    double centre = 0;
    for (int64_t i = 0; i < t->n; i++) centre += 0.5 * (t->a[i] + t->partner[i]);
    centre /= (double)t->n;
    for (int64_t i = 0; i < t->n; i++) {
        double x = (t->a[i] - centre) / spread, y = (t->partner[i] - centre) / spread;
        double half = 0.5 * (x * x - y * y);
        d.count += t->a[i] != t->partner[i];
        d.mean += (x - y) * (x - y);
        d.sd += half * half;
    }
    return d;
}

/* The size of the differences: the mean square over the pairs that differ, including
 * FURTHER unrelated ones. */
static double size_of(double sum, double count, double unrelated)
{
    return (sum + FURTHER * unrelated) / (count + FURTHER);
}

xb_unseen xb_unseen_of(const xb_two *own, const xb_pool *pool, double noise)
{
    double n = (double)own->n, unit = pool->spread / pool->unit, square = unit * unit;
    if (!(pool->spread > 0)) return (xb_unseen){0};
    differing d = add_up(own, pool->spread);
    double further = FURTHER * (1 - d.count / n) / (n * n);
    double whole = size_of(noise * n * n / square, d.count, UNRELATED_WHOLE) * square;
    return (xb_unseen){.mean =
                           further * size_of(d.mean, d.count, UNRELATED_MEAN) * square,
                       .sd = further * size_of(d.sd, d.count, UNRELATED_SD),
                       .whole_error = further * whole * sqrt(1 + d.count),
                       .whole_measured = further * whole,
                       .differing = (int64_t)d.count};
}
