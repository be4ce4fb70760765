/* distance_stats.c: KL, energy, Wasserstein-1, Kolmogorov-Smirnov of two sorted
 * samples, each in one pass; maths C12-C15, C17.
 *
 * KL by nearest neighbours (Wang, Kulkarni & Verdu 2009), with the same share of
 * neighbours in both samples: then its mean is 0 if both have the same law, and k of the
 * order of sqrt(n) reduces its noise to about 1.4 n^(-3/4). Sums of distances on sorted
 * values are weighted sums of order statistics; values come centred, so little cancels.
 */
#include "compare/distance_stats.h"

#include <math.h>
#include <string.h>

#include "compare/labelling.h"

xb_two xb_pool_split(double *room, const xb_pool *pool, const uint8_t *label)
{
    double *a = room, *b = a + pool->count + 1, *partner = b + pool->count + 1;
    int64_t n = 0, m = 0;
    /* Both are written and one is kept, which avoids a branch. */
    for (int64_t i = 0; i < pool->count; i++) {
        uint8_t side = label[pool->item[i].tag];
        a[n] = b[m] = pool->item[i].x;
        if (pool->partner) partner[n] = pool->partner[i];
        n += side == XB_LABEL_A;
        m += side == XB_LABEL_B;
    }
    return (xb_two){a, b, pool->partner ? partner : NULL, n, m};
}

/* Distance from x to its k-th neighbour in sorted y, k <= n. *low is the start of the
 * window of the k nearest values, which moves up with x. */
static double neighbour(const double *y, int64_t n, int64_t k, double x, int64_t *low)
{
    int64_t l = *low;
    while (l + k < n && y[l + k] - x < x - y[l]) l++;
    *low = l;
    return fmax(x - y[l], y[l + k - 1] - x);
}

/* Derivative of log gamma at a whole number: the series after ten steps up. */
static double digamma(int64_t k)
{
    double sum = 0;
    for (; k < 10; k++) sum -= 1 / (double)k;
    double x = (double)k, r = 1 / (x * x);
    double series = r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240)));
    return sum + log(x) - 0.5 / x - series;
}

/* Sums logarithms as the logarithm of a product, which is taken before the product leaves
 * the range of a double. Returns what is taken. */
static double logs_take(double *product, double factor)
{
    const double large = 1e100;
    double next = *product * factor;
    if (next < large && next > 1 / large) {
        *product = next;
        return 0;
    }
    double taken = log(*product);
    *product = 1;
    return taken + log(factor);
}

/* The k-th neighbour in b of a's i-th value, not counting its own partner. */
typedef struct window {
    int64_t k, low, low_next;
} window;

static double other_neighbour(window *w, const xb_two *t, int64_t i)
{
    double x = t->a[i], far = neighbour(t->b, t->m, w->k, x, &w->low);
    if (!t->partner || fabs(x - t->partner[i]) > far) return far;
    return neighbour(t->b, t->m, w->k + 1, x, &w->low_next);
}

/* (C15) Uses `neighbours` in the smaller sample, and the same share in the other. */
static double kl_neighbours(const xb_two *t, int64_t neighbours)
{
    int64_t own = t->n - 1, other = t->partner ? t->m - 1 : t->m; /* number of neighbours
                                                                     that can be found */
    int64_t fewer = own < other ? own : other, low = 0;
    if (fewer < 1 || neighbours < 1) return NAN;
    double share = fmin(1, (double)neighbours / (double)fewer);
    double sum = 0, product = 1;
    int64_t k_own = llrint(share * (double)own);
    window w = {.k = llrint(share * (double)other)};
    for (int64_t i = 0; i < t->n; i++) {
        /* The value itself is one of them. */
        double near = neighbour(t->a, t->n, k_own + 1, t->a[i], &low);
        double far = other_neighbour(&w, t, i);
        if (!(near > 0 && far > 0)) return NAN; /* more than k values coincide */
        sum += logs_take(&product, far / near);
    }
    sum += log(product);
    return sum / (double)t->n + digamma(k_own) - digamma(own + 1) - digamma(w.k) +
           digamma(other + 1); /* (C15) */
}

static double power(double d, double exponent)
{
    return exponent == 1     ? d
           : exponent == 1.5 ? d * sqrt(d)
           : exponent == 0.5 ? sqrt(d)
                             : pow(d, exponent);
}

/* Sum over draws of |a - b|^e, for samples that share them. */
static double partner_sum(const xb_two *t, double exponent)
{
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += power(fabs(t->a[i] - t->partner[i]), exponent);
    return sum;
}

void xb_pool_own(xb_pool *pool, int blocks)
{
    double last[XB_JACKKNIFE_GROUPS] = {0}, below[XB_JACKKNIFE_GROUPS] = {0};
    memset(pool->own, 0, sizeof pool->own);
    for (int64_t i = 0; i < pool->count; i++) {
        int tag = pool->item[i].tag, g = tag % blocks;
        double x = pool->item[i].x;
        pool->own[g].square += 2 * (x - last[g]) * below[g] * below[g];
        below[g] += tag < blocks ? 1 : -1;
        pool->own[g].draws += 0.5; /* a and b have equally many */
        last[g] = x;
    }
    pool->owns = blocks;
}

/* (C14) Sums over draws of different blocks, because draws of one block depend on each
 * other. */
static double energy_between(const xb_pool *pool, const uint8_t *label, double square,
                             double n)
{
    double sum = 2 * n * n * square, pairs = n * n;
    for (int g = 0; g < pool->owns; g++) {
        if (label[g] == XB_LABEL_OUT) continue;
        sum -= pool->own[g].square;
        pairs -= pool->own[g].draws * pool->own[g].draws;
    }
    return pairs > 0 ? sum / pairs : NAN;
}

/* (C12-C14) Wasserstein, KS and energy of exponent 1. */
static void cdf_distances(double *stat, const xb_pool *pool, const uint8_t *label,
                          const xb_two *t)
{
    double n = (double)t->n, m = (double)t->m, f = 0, g = 0;
    double absolute = 0, square = 0, within_a = 0, within_b = 0, largest = 0;
    const double step_a[] = {1 / n, 0, 0}, step_b[] = {0, 1 / m, 0};
    for (int64_t i = 0; i + 1 < pool->count; i++) {
        uint8_t side = label[pool->item[i].tag];
        f += step_a[side], g += step_b[side];
        double width = pool->item[i + 1].x - pool->item[i].x, d = fabs(f - g);
        absolute += width * d;
        square += width * (d * d);
        within_a += width * (f * (1 - f));
        within_b += width * (g * (1 - g));
        largest = fmax(largest, width > 0 ? d : 0); /* ties are one step */
    }
    stat[XB_STAT_WASSERSTEIN] = absolute / pool->unit; /* (C12) */
    stat[XB_STAT_KS] = largest;                        /* (C13) */
    stat[XB_STAT_MEASURED] = 2 * square / pool->unit;
    stat[XB_STAT_ENERGY] =         /* (C14) */
        t->n < 2 || t->m < 2 ? NAN /* no unbiased estimate */
        : pool->owns > 0     ? energy_between(pool, label, square, n) / pool->unit
        : t->partner
            ? 2 * (n * square - partner_sum(t, 1) / n) / (n - 1) / pool->unit
            : 2 * (square - within_a / (n - 1) - within_b / (m - 1)) / pool->unit;
}

typedef struct moments {
    double mean, variance;
} moments;

static moments moments_of(const double *x, int64_t n)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    /* Unknown for a single value. */
    return (moments){mean, n > 1 ? square / (double)(n - 1) : NAN};
}

double xb_pooled_sd(const xb_two *t)
{
    return sqrt(0.5 *
                (moments_of(t->a, t->n).variance + moments_of(t->b, t->m).variance));
}

void xb_distance_stats(double *stat, const xb_pool *pool, const uint8_t *label,
                       const xb_two *t, int64_t neighbours)
{
    moments a = moments_of(t->a, t->n), b = moments_of(t->b, t->m);
    double pooled = sqrt(0.5 * (a.variance + b.variance));
    cdf_distances(stat, pool, label, t);
    stat[XB_STAT_KL] = kl_neighbours(t, neighbours);
    stat[XB_STAT_MEAN] = (a.mean - b.mean) / pool->unit;   /* (C17) */
    double shift = sqrt(M_PI) * pool->spread / pool->unit; /* (C17) */
    stat[XB_STAT_WHOLE] = shift * stat[XB_STAT_ENERGY];
    stat[XB_STAT_MEASURED] *= shift;
    stat[XB_STAT_SD] = pooled == 0 ? 0 : (sqrt(a.variance) - sqrt(b.variance)) / pooled;
}

void xb_energy_blocks(double *sum, const xb_pool *pool, int blocks, double exponent)
{
    memset(sum, 0, (size_t)blocks * (size_t)blocks * sizeof *sum);
    for (int64_t i = 1; i < pool->count; i++) {
        double x = pool->item[i].x;
        double *row = sum + (int64_t)pool->item[i].tag * blocks;
        for (int64_t j = 0; j < i; j++)
            row[pool->item[j].tag] += power(x - pool->item[j].x, exponent);
    }
}

double xb_energy_of_blocks(const double *sum, const uint8_t *label, int blocks,
                           const xb_two *t, double exponent)
{
    double n = (double)t->n, m = (double)t->m, within_a = 0, within_b = 0, cross = 0;
    if (t->n < 2 || t->m < 2) return NAN;
    for (int i = 0; i < blocks; i++)
        for (int j = 0; j < blocks; j++) {
            double s = sum[(int64_t)i * blocks + j];
            if (label[i] == XB_LABEL_OUT || label[j] == XB_LABEL_OUT) continue;
            if (label[i] != label[j])
                cross += s;
            else
                *(label[i] == XB_LABEL_A ? &within_a : &within_b) += s;
        }
    double cross_pairs = n * m;
    if (t->partner) cross -= partner_sum(t, exponent), cross_pairs -= n;
    return 2 *
           (cross / cross_pairs - within_a / (n * (n - 1)) - within_b / (m * (m - 1)));
}
