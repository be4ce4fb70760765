/* battery.h: statistics of a stream of draws against its law, in bounded memory.
 *
 * Draws come in blocks. Each block gives counts in bins of equal mass, power sums,
 * products of neighbours (elements a lag apart; the same elements of the next tensor,
 * sample, step, seed and purpose). At the end each statistic becomes a p-value:
 * chi-square, Kolmogorov-Smirnov and Anderson-Darling on the bins' edges, four moments
 * and every correlation by the normal law. Blocks also give a p-value each, of their mean
 * and of their sum of squares, which must be uniform among themselves.
 *
 * A sampler is a function of an address, so a broken one is easy to substitute. */
#ifndef BATTERY_H
#define BATTERY_H

#include "xbtest.h"

#include <gsl/gsl_cdf.h>

#include "base/ctx.h"
#include "rule/standard.h"

enum {
    BINS = 256,
    BLOCK_DRAWS = 1 << 16,
    SEEDS = 1 << 20, /* seeds reserved for a law: enough for 10^13 draws */
    LAGS = 12,
    DIRECTIONS = 5,
    MOMENTS = 4,
    P_VALUES = 3 + MOMENTS + 2 * LAGS + 2 * DIRECTIONS + 2
};

/* A p-value this extreme, at either end, is an alarm: with 500 of them, a good generator
 * raises one in 10^4 runs. */
static const double P_ALARM = 1e-7;

typedef void (*draw_fn)(const xb_sampler *s, float *z, int64_t n, const xb_stream *where,
                        int64_t first);

static const int64_t lag_of[LAGS] = {1, 2, 3, 4, 8, 15, 16, 17, 32, 48, 63, 64};
static const char *const direction_name[DIRECTIONS] = {"tensor", "sample", "step", "seed",
                                                       "purpose"};

typedef struct battery {
    const xb_law *law;
    const xb_sampler *sampler;
    draw_fn draw;
    uint64_t seed;        /* the first of its own */
    float edge[BINS + 1]; /* lower ends of the bins; the first is -inf */
    double cdf[BINS + 1]; /* mass below, by what a float rounds to */
    double moment[2 * MOMENTS + 1];
    int64_t n, blocks, count[BINS];
    double power[MOMENTS + 1];
    double lag[LAGS], lag_square[LAGS], across[DIRECTIONS], across_square[DIRECTIONS];
    int64_t lag_pairs, across_pairs;
    double *block_p[2]; /* [blocks] of mean and square */
} battery;

typedef struct battery_result {
    double p[P_VALUES];
    char name[P_VALUES][48];
    int count;
} battery_result;

/* Below edge e are the values that round to less: up to half way to the float before. */
static double mass_below(const xb_law *law, float e)
{
    double half = 0.5 * ((double)e + (double)nextafterf(e, -INFINITY));
    return xb_law_cdf(law, xb_law_mean(law) + xb_law_sd(law) * half);
}

static void battery_bins(battery *b)
{
    b->edge[0] = -INFINITY;
    b->edge[BINS] = INFINITY;
    b->cdf[BINS] = 1;
    for (int k = 1; k < BINS; k++) {
        double x = xb_law_quantile(b->law, (double)k / BINS);
        b->edge[k] = (float)((x - xb_law_mean(b->law)) / xb_law_sd(b->law));
        b->cdf[k] = mass_below(b->law, b->edge[k]);
    }
}

/* Standardised moments to order 8 by the law's own Gauss rule, exact to degree 31. */
static void battery_moments(xb_ctx *ctx, battery *b)
{
    xb_rule rule;
    assert_ok(ctx, xb_rule_fill_gauss(ctx, &rule, b->law, 16, XB_RECURRENCE_STABLE));
    for (int64_t i = 0; i < rule.n; i++) {
        double z = (rule.nodes[i] - xb_law_mean(b->law)) / xb_law_sd(b->law), power = 1;
        for (int k = 0; k <= 2 * MOMENTS; k++, power *= z)
            b->moment[k] += rule.weights[i] * power;
    }
    xb_rule_free(&rule);
}

static int bin_of(const float *edge, float z)
{
    int low = 0; /* edge[low] <= z */
    for (int half = BINS / 2; half > 0; half /= 2)
        low += z >= edge[low + half] ? half : 0;
    return low;
}

static double two_sided(double z) { return 2 * gsl_cdf_ugaussian_Q(fabs(z)); }

static void add_block(battery *b, const float *z, int64_t n)
{
    double sum[MOMENTS + 1] = {0};
    for (int64_t i = 0; i < n; i++) {
        double x = z[i], x2 = x * x;
        b->count[bin_of(b->edge, z[i])]++;
        sum[1] += x, sum[2] += x2, sum[3] += x2 * x, sum[4] += x2 * x2;
    }
    for (int k = 1; k <= MOMENTS; k++) b->power[k] += sum[k];
    double count = (double)n, spread = sqrt((b->moment[4] - 1) / count);
    b->block_p[0][b->blocks] = two_sided(sum[1] / sqrt(count));
    b->block_p[1][b->blocks] = two_sided((sum[2] / count - 1) / spread);
    b->n += n;
    b->blocks++;
}

/* Several sums in parallel, because a single one would wait for each addition. n is a
 * multiple. */
static void add_pairs(double *product, double *square, const float *a, const float *c,
                      int64_t n)
{
    enum { SIDE = 8 };
    double sum[SIDE] = {0}, sum2[SIDE] = {0};
    for (int64_t i = 0; i < n; i += SIDE)
        for (int j = 0; j < SIDE; j++) {
            double x = a[i + j], y = c[i + j];
            sum[j] += x * y;
            sum2[j] += (x * x - 1) * (y * y - 1);
        }
    for (int j = 0; j < SIDE; j++) *product += sum[j], *square += sum2[j];
}

static xb_stream stream_at(uint64_t seed, uint32_t tensor, uint32_t sample, uint32_t step)
{
    return (xb_stream){xb_key_make(seed, XB_PURPOSE_TEST), tensor, sample, step};
}

static xb_stream next_to(xb_stream at, uint64_t seed, int direction)
{
    switch (direction) {
    case 0: at.tensor++; break;
    case 1: at.sample++; break;
    case 2: at.step++; break;
    case 3: at.key = xb_key_make(seed + 1, XB_PURPOSE_TEST); break;
    default: at.key = xb_key_make(seed, XB_PURPOSE_WEIGHT); break;
    }
    return at;
}

/* Blocks go through elements, then tensors, samples, steps and seeds, so that all of an
 * address is used. Neighbours in other directions are drawn for every fourth block. */
static void battery_block(battery *b, int64_t k)
{
    enum { RUN = 4, MOST_LAG = 64 };
    static float z[BLOCK_DRAWS + MOST_LAG], other[BLOCK_DRAWS];
    uint64_t seed = b->seed + (uint64_t)(k / (RUN * RUN * RUN * RUN));
    xb_stream at =
        stream_at(seed, (uint32_t)(k / RUN % RUN), (uint32_t)(k / (RUN * RUN) % RUN),
                  (uint32_t)(k / (RUN * RUN * RUN) % RUN));
    int64_t first = k % RUN * (BLOCK_DRAWS + XB_STREAM_MAX / 64);
    b->draw(b->sampler, z, BLOCK_DRAWS + MOST_LAG, &at, first);
    add_block(b, z, BLOCK_DRAWS);
    for (int l = 0; l < LAGS; l++)
        add_pairs(&b->lag[l], &b->lag_square[l], z, z + lag_of[l], BLOCK_DRAWS);
    b->lag_pairs += BLOCK_DRAWS;
    if (k % RUN != 0) return;
    for (int d = 0; d < DIRECTIONS; d++) {
        xb_stream next = next_to(at, seed, d);
        b->draw(b->sampler, other, BLOCK_DRAWS, &next, first);
        add_pairs(&b->across[d], &b->across_square[d], z, other, BLOCK_DRAWS);
    }
    b->across_pairs += BLOCK_DRAWS;
}

/* ---- p-values */

/* Kolmogorov's distribution, upper tail. */
static double kolmogorov_p(double t)
{
    double sum = 0;
    if (t < 0.2) return 1;
    for (int k = 1; k < 60; k++) sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * t * t);
    return fmin(fmax(sum, 0), 1);
}

/* Anderson and Darling's, upper tail, for many values: Marsaglia and Marsaglia 2004,
 * "Evaluating the Anderson-Darling distribution", to 2e-6. Its tail is exact enough for
 * alarms only. */
static double anderson_p(double z)
{
    double low =
        exp(-1.2337141 / z) / sqrt(z) *
        (2.00012 +
         (.247105 - (.0649821 - (.0347962 - (.0116720 - .00168691 * z) * z) * z) * z) *
             z);
    if (z < 2) return 1 - low;
    double s =
        1.0776 -
        (2.30695 - (.43424 - (.082433 - (.008056 - .0003146 * z) * z) * z) * z) * z;
    return z > 30 ? 0 : -expm1(-exp(s));
}

__attribute__((format(printf, 3, 4))) static void put(battery_result *r, double p,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->name[r->count], sizeof r->name[0], format, args);
    va_end(args);
    r->p[r->count++] = p;
}

static void put_bins(battery_result *r, const battery *b)
{
    double chi = 0, largest = 0, ad = 0, n = (double)b->n, seen = 0;
    int used = 0;
    for (int k = 0; k < BINS; k++) {
        double mass = b->cdf[k + 1] - b->cdf[k], expected = n * mass;
        double d = (double)b->count[k] - expected;
        seen += (double)b->count[k];
        if (expected > 0) chi += d * d / expected, used++;
        if (k == BINS - 1) break;
        double f = b->cdf[k + 1], apart = seen / n - f;
        largest = fmax(largest, fabs(apart));
        if (f > 0 && f < 1)
            ad += n * apart * apart / (f * (1 - f)) * 0.5 * (b->cdf[k + 2] - b->cdf[k]);
    }
    put(r, gsl_cdf_chisq_Q(chi, used - 1), "chi-square");
    put(r, kolmogorov_p(largest * sqrt(n)), "Kolmogorov-Smirnov");
    put(r, anderson_p(fmax(ad, 1e-3)), "Anderson-Darling");
}

static void put_pairs(battery_result *r, double product, double square, int64_t pairs,
                      double fourth, const char *what)
{
    double root = sqrt((double)pairs), spread = fourth - 1;
    put(r, two_sided(product / root), "correlation, %s", what);
    if (spread > 1e-9) /* two points have no spread of squares */
        put(r, two_sided(square / (root * spread)), "squares, %s", what);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Tests whether these p-values are uniform. */
static double uniform_p(double *p, int64_t n)
{
    double largest = 0;
    qsort(p, (size_t)n, sizeof *p, by_value);
    for (int64_t i = 0; i < n; i++) {
        largest = fmax(largest, (double)(i + 1) / (double)n - p[i]);
        largest = fmax(largest, p[i] - (double)i / (double)n);
    }
    double root = sqrt((double)n); /* Stephens' correction for few values */
    return kolmogorov_p(largest * (root + 0.12 + 0.11 / root));
}

static battery_result battery_judge(battery *b)
{
    battery_result r = {.count = 0};
    put_bins(&r, b);
    for (int k = 1; k <= MOMENTS; k++) {
        double spread = b->moment[2 * k] - b->moment[k] * b->moment[k];
        double off = b->power[k] / (double)b->n - b->moment[k];
        if (spread > 1e-9)
            put(&r, two_sided(off * sqrt((double)b->n / spread)), "moment %d", k);
    }
    char what[32];
    for (int l = 0; l < LAGS; l++) {
        snprintf(what, sizeof what, "lag %d", (int)lag_of[l]);
        put_pairs(&r, b->lag[l], b->lag_square[l], b->lag_pairs, b->moment[4], what);
    }
    for (int d = 0; d < DIRECTIONS; d++)
        put_pairs(&r, b->across[d], b->across_square[d], b->across_pairs, b->moment[4],
                  direction_name[d]);
    put(&r, uniform_p(b->block_p[0], b->blocks), "blocks' means uniform");
    if (b->moment[4] - 1 > 1e-9)
        put(&r, uniform_p(b->block_p[1], b->blocks), "blocks' squares uniform");
    return r;
}

/* `draws`, rounded up to whole blocks, of a standardised sampler. From the same words
 * every law would have the same counts and nearly the same correlations: `number` chooses
 * seeds that no other number has, so that all p-values together can be looked at. */
static battery_result battery_run(xb_ctx *ctx, const xb_law *law, draw_fn draw,
                                  int64_t draws, int number)
{
    xb_sampler *sampler = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    battery *b = calloc(1, sizeof *b);
    int64_t blocks = (draws + BLOCK_DRAWS - 1) / BLOCK_DRAWS;
    double *p = calloc((size_t)(2 * blocks), sizeof *p);
    assert_true(b && p);
    b->law = law, b->sampler = sampler, b->draw = draw;
    b->seed = 1 + (uint64_t)number * SEEDS;
    b->block_p[0] = p, b->block_p[1] = p + blocks;
    battery_bins(b);
    battery_moments(ctx, b);
    for (int64_t k = 0; k < blocks; k++) battery_block(b, k);
    battery_result r = battery_judge(b);
    free(p);
    free(b);
    xb_sampler_destroy(sampler);
    return r;
}

/* The statistic furthest out. */
static int battery_worst(const battery_result *r)
{
    int worst = 0;
    for (int i = 1; i < r->count; i++)
        if (r->p[i] < r->p[worst]) worst = i;
    return worst;
}

#endif
