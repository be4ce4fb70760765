/* distance_stats.c: KL, energy, Wasserstein-1, Kolmogorov-Smirnov of two sorted
 * samples, each in one pass; maths C12-C15, C17.
 *
 * KL by k nearest neighbours (Wang, Kulkarni & Verdu 2009): with the same k in both
 * samples it is unbiased where they are of one law, and k of the order of sqrt(n)
 * takes its noise down to about 1.4 n^(-3/4). Sums of distances on sorted values
 * are weighted sums of order statistics; values come centred, so little cancels. */
#include "compare/distance_stats.h"

#include <math.h>
#include <string.h>

#include "compare/labelling.h"

xb_two xb_pool_split(double *room, const xb_pool *pool, const uint8_t *label)
{
    int64_t n = 0, m = 0;
    for (int64_t i = 0; i < pool->count; i++) /* b from the right, descending */
        switch (label[pool->item[i].tag]) {
        case XB_LABEL_A: room[n++] = pool->item[i].x; break;
        case XB_LABEL_B: room[pool->count - ++m] = pool->item[i].x; break;
        default: break;
        }
    double *b = room + pool->count - m;
    for (int64_t i = 0, j = m - 1; i < j; i++, j--) {
        double swap = b[i];
        b[i] = b[j], b[j] = swap;
    }
    return (xb_two){room, b, n, m};
}

/* Distance from x to its k-th neighbour in sorted y, k <= n. *low: start of the
 * window of the k nearest, moves up with x. */
static double neighbour(const double *y, int64_t n, int64_t k, double x, int64_t *low)
{
    int64_t l = *low;
    while (l + k < n && y[l + k] - x < x - y[l]) l++;
    *low = l;
    return fmax(x - y[l], y[l + k - 1] - x);
}

double xb_kl_neighbours(const xb_two *t, int64_t neighbours)
{
    int64_t most = t->n - 1 < t->m ? t->n - 1 : t->m;
    int64_t k = neighbours < most ? neighbours : most, own = 0, other = 0;
    if (k < 1) return NAN;
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double x = t->a[i];
        double near = neighbour(t->a, t->n, k + 1, x, &own); /* itself is one of them */
        double far = neighbour(t->b, t->m, k, x, &other);
        if (!(near > 0 && far > 0)) return NAN; /* more than k values coincide */
        sum += log(far / near);
    }
    return sum / (double)t->n + log((double)t->m / (double)(t->n - 1)); /* (C15) */
}

/* Sum over all ordered pairs of |x - x'|. */
static double pair_sum(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)(2 * i + 1 - n) * x[i];
    return 2 * sum;
}

/* Sum over pairs of |a - b|: each value of the merged order, weighted by how many
 * of the other sample lie below less how many above. */
static double cross_sum(const xb_two *t)
{
    double sum = 0;
    int64_t i = 0, j = 0;
    while (i < t->n || j < t->m)
        if (j >= t->m || (i < t->n && t->a[i] <= t->b[j]))
            sum += (double)(2 * j - t->m) * t->a[i++];
        else
            sum += (double)(2 * i - t->n) * t->b[j++];
    return sum;
}

double xb_energy_distance(const xb_two *t)
{
    double n = (double)t->n, m = (double)t->m;
    if (t->n < 2 || t->m < 2) return NAN; /* no pair within: no unbiased estimate */
    return 2 * cross_sum(t) / (n * m) - pair_sum(t->a, t->n) / (n * (n - 1)) -
           pair_sum(t->b, t->m) / (m * (m - 1)); /* (C14) */
}

/* Steps through the merged values: calls for each stretch between neighbours with
 * the difference of the cdfs on it. */
typedef struct stretch {
    double difference, width;
} stretch;

static bool next_stretch(stretch *out, const xb_two *t, int64_t *i, int64_t *j)
{
    if (*i >= t->n && *j >= t->m) return false;
    double x = *i < t->n ? t->a[*i] : INFINITY;
    if (*j < t->m) x = fmin(x, t->b[*j]);
    while (*i < t->n && t->a[*i] == x) ++*i; /* ties are one step */
    while (*j < t->m && t->b[*j] == x) ++*j;
    double end = *i < t->n ? t->a[*i] : INFINITY;
    if (*j < t->m) end = fmin(end, t->b[*j]);
    out->difference = (double)*i / (double)t->n - (double)*j / (double)t->m;
    out->width = end == INFINITY ? 0 : end - x;
    return true;
}

double xb_wasserstein(const xb_two *t)
{
    double sum = 0;
    stretch s;
    for (int64_t i = 0, j = 0; next_stretch(&s, t, &i, &j);)
        sum += fabs(s.difference) * s.width; /* (C12) */
    return sum;
}

double xb_ks_distance(const xb_two *t)
{
    double largest = 0;
    stretch s;
    for (int64_t i = 0, j = 0; next_stretch(&s, t, &i, &j);)
        largest = fmax(largest, fabs(s.difference)); /* (C13) */
    return largest;
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
    return (moments){mean, n > 1 ? square / (double)(n - 1) : 0};
}

double xb_pooled_sd(const xb_two *t)
{
    return sqrt(0.5 *
                (moments_of(t->a, t->n).variance + moments_of(t->b, t->m).variance));
}

void xb_distance_stats(double *stat, const xb_two *t, double unit, int64_t neighbours)
{
    moments a = moments_of(t->a, t->n), b = moments_of(t->b, t->m);
    double pooled = sqrt(0.5 * (a.variance + b.variance));
    stat[XB_STAT_KL] = xb_kl_neighbours(t, neighbours);
    stat[XB_STAT_WASSERSTEIN] = xb_wasserstein(t) / unit;
    stat[XB_STAT_KS] = xb_ks_distance(t);
    stat[XB_STAT_MEAN] = (a.mean - b.mean) / unit; /* (C17) */
    stat[XB_STAT_SD] = pooled > 0 ? (sqrt(a.variance) - sqrt(b.variance)) / pooled : 0;
}

static double power(double d, double exponent)
{
    return exponent == 1.5 ? d * sqrt(d) : exponent == 0.5 ? sqrt(d) : pow(d, exponent);
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
                           const xb_two *t)
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
    return 2 * (cross / (n * m) - within_a / (n * (n - 1)) - within_b / (m * (m - 1)));
}
