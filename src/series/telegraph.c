/* telegraph.c: levels between which a trace switches; maths T10, T11.
 *
 * The number of levels comes from mixtures of Gaussians that are fitted to the values (EM
 * on a histogram) and compared by BIC, with the number of independent samples of the
 * trace as the number of observations, so that wandering noise is not mistaken for
 * levels. The times of switching are the most probable path of a hidden Markov model with
 * these levels (Viterbi), whose switching rate is estimated from the path. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "series/series.h"

enum { CELLS = 512, ROUNDS = 300, LONGEST = 1 << 22, PATHS = 4, VISITS_MIN = 20 };

typedef struct histogram {
    double low, width;
    double count[CELLS], total;
} histogram;

typedef struct mixture {
    int levels;
    double weight[XB_LEVELS_MAX], mean[XB_LEVELS_MAX], sd[XB_LEVELS_MAX];
    double log_likelihood; /* per value */
} mixture;

static void fill(histogram *h, const double *x, int64_t n)
{
    double low = x[0], high = x[0];
    for (int64_t i = 1; i < n; i++) low = fmin(low, x[i]), high = fmax(high, x[i]);
    memset(h, 0, sizeof *h);
    h->low = low, h->width = (high - low) / CELLS, h->total = (double)n;
    for (int64_t i = 0; i < n; i++) {
        int64_t cell = (int64_t)((x[i] - low) / h->width);
        h->count[cell < CELLS ? cell : CELLS - 1]++;
    }
}

static double middle(const histogram *h, int c)
{
    return h->low + ((double)c + 0.5) * h->width;
}

static double value_at(const histogram *h, double share)
{
    double sum = 0;
    for (int c = 0; c < CELLS; c++) {
        sum += h->count[c];
        if (sum >= share * h->total) return middle(h, c);
    }
    return middle(h, CELLS - 1);
}

static double log_normal(double x, double mean, double sd)
{
    double z = (x - mean) / sd;
    return -0.5 * z * z - log(sd) - 0.5 * log(2 * M_PI);
}

/* Finds the probability of each level for a value; returns the value's log density. */
static double responsibilities(const mixture *m, double x, double *share)
{
    double most = -INFINITY, sum = 0;
    for (int k = 0; k < m->levels; k++) {
        share[k] = log(m->weight[k]) + log_normal(x, m->mean[k], m->sd[k]);
        most = fmax(most, share[k]);
    }
    for (int k = 0; k < m->levels; k++) sum += share[k] = exp(share[k] - most);
    for (int k = 0; k < m->levels; k++) share[k] /= sum;
    return most + log(sum);
}

/* (T10) Does one round of EM; returns the log likelihood before it. */
static double em_round(mixture *m, const histogram *h)
{
    double w[XB_LEVELS_MAX] = {0}, s1[XB_LEVELS_MAX] = {0}, s2[XB_LEVELS_MAX] = {0};
    double sum = 0, share[XB_LEVELS_MAX];
    for (int c = 0; c < CELLS; c++) {
        if (h->count[c] == 0) continue;
        double x = middle(h, c);
        sum += h->count[c] * responsibilities(m, x, share);
        for (int k = 0; k < m->levels; k++) {
            double r = h->count[c] * share[k], d = x - m->mean[k];
            w[k] += r, s1[k] += r * d, s2[k] += r * d * d;
        }
    }
    for (int k = 0; k < m->levels; k++) {
        double shift = s1[k] / fmax(w[k], 1e-300);
        double variance = s2[k] / fmax(w[k], 1e-300) - shift * shift;
        m->weight[k] = fmax(w[k] / h->total, 1e-12);
        m->mean[k] += shift;
        m->sd[k] = sqrt(fmax(variance, h->width * h->width));
    }
    return sum / h->total;
}

static void fit_mixture(mixture *m, const histogram *h, int levels)
{
    double low = value_at(h, 0.02), high = value_at(h, 0.98), before = -INFINITY;
    *m = (mixture){.levels = levels};
    for (int k = 0; k < levels; k++) {
        m->weight[k] = 1.0 / levels;
        m->mean[k] = low + (high - low) * ((double)k + 0.5) / levels;
        m->sd[k] = fmax((high - low) / (2.5 * levels), h->width);
    }
    for (int round = 0; round < ROUNDS; round++) {
        m->log_likelihood = em_round(m, h);
        if (m->log_likelihood - before < 1e-9) break;
        before = m->log_likelihood;
    }
}

static void sort_levels(mixture *m)
{
    for (int i = 1; i < m->levels; i++)
        for (int k = i; k > 0 && m->mean[k] < m->mean[k - 1]; k--) {
            double a = m->mean[k], b = m->sd[k], c = m->weight[k];
            m->mean[k] = m->mean[k - 1], m->sd[k] = m->sd[k - 1];
            m->weight[k] = m->weight[k - 1];
            m->mean[k - 1] = a, m->sd[k - 1] = b, m->weight[k - 1] = c;
        }
}

/* (T20) The mixture without the components that few values belong to. Such a component is
 * an excursion of the trace, not a level; it was part of the fit so that it did not widen
 * the level next to it. */
static mixture without_rare(const mixture *m)
{
    const double least = 0.02;
    mixture kept = {.log_likelihood = m->log_likelihood};
    double sum = 0;
    for (int k = 0; k < m->levels; k++) {
        if (m->weight[k] < least) continue;
        kept.weight[kept.levels] = m->weight[k];
        kept.mean[kept.levels] = m->mean[k], kept.sd[kept.levels] = m->sd[k];
        sum += kept.weight[kept.levels++];
    }
    for (int k = 0; k < kept.levels; k++) kept.weight[k] /= sum;
    return kept;
}

/* Whether the levels are far enough apart to be distinguished. */
static bool distinct(const mixture *m)
{
    for (int k = 1; k < m->levels; k++)
        if (m->mean[k] - m->mean[k - 1] < 1.5 * (m->sd[k] + m->sd[k - 1])) return false;
    return true;
}

/* (T10) */
static double bic(const mixture *m, double independent)
{
    return -2 * m->log_likelihood * independent + (3 * m->levels - 1) * log(independent);
}

static mixture choose(const histogram *h, double independent)
{
    mixture best, next;
    fit_mixture(&best, h, 1);
    double least = bic(&best, independent);
    for (int levels = 2; levels <= XB_LEVELS_MAX && independent > 2; levels++) {
        fit_mixture(&next, h, levels);
        sort_levels(&next);
        double found = bic(&next, independent);
        next = without_rare(&next);
        if (!distinct(&next) || !(found < least)) continue;
        if (next.levels > 1) best = next;
        least = found;
    }
    return best;
}

/* (T11) Finds the most probable path, where every change of level costs `cost`. `from`
 * has two bits for the previous level of each level. */
static void viterbi(uint8_t *path, uint8_t *from, const mixture *m, const double *x,
                    int64_t n, double cost)
{
    double score[XB_LEVELS_MAX] = {0};
    for (int64_t i = 0; i < n; i++) {
        int top = 0;
        for (int k = 1; k < m->levels; k++)
            if (score[k] > score[top]) top = k;
        double changed = score[top] - cost;
        from[i] = 0;
        for (int k = 0; k < m->levels; k++) {
            int previous = score[k] >= changed ? k : top;
            from[i] |= (uint8_t)(previous << (2 * k));
            score[k] = fmax(score[k], changed) + log_normal(x[i], m->mean[k], m->sd[k]);
        }
    }
    int at = 0;
    for (int k = 1; k < m->levels; k++)
        if (score[k] > score[at]) at = k;
    for (int64_t i = n - 1; i >= 0; i--) {
        path[i] = (uint8_t)at;
        at = from[i] >> (2 * at) & 3;
    }
}

static int64_t changes(const uint8_t *path, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 1; i < n; i++) count += path[i] != path[i - 1];
    return count;
}

static void follow(uint8_t *path, uint8_t *from, const mixture *m, const double *x,
                   int64_t n)
{
    double cost = log((double)n);
    for (int round = 0; round < PATHS; round++) {
        viterbi(path, from, m, x, n, cost);
        double rate = (double)(changes(path, n) + 1) / (double)n;
        cost = log((1 - fmin(rate, 0.5)) / fmin(rate, 0.5) * (m->levels - 1));
        cost = fmax(cost, 0);
    }
}

/* (T11) The probability that dwell times of one rate are as uneven, or as even, as these.
 */
static double exponential_p(double mean, double sd, double visits)
{
    double expected = sqrt(1 - 1 / fmax(mean, 1)); /* for dwell times of whole samples */
    double z = (sd / mean - expected) * sqrt(visits);
    return erfc(fabs(z) * M_SQRT1_2);
}

/* Finds the complete visits to one level, in samples. */
static void dwells(xb_trace_level *out, const uint8_t *path, int64_t n, int level,
                   double interval)
{
    double sum = 0, squares = 0;
    int64_t visits = 0, inside = 0, start = 0;
    for (int64_t i = 0; i < n; i++) {
        inside += path[i] == level;
        if (i > 0 && path[i] != path[i - 1]) {
            double length = (double)(i - start);
            if (start > 0 && path[i - 1] == level)
                sum += length, squares += length * length, visits++;
            start = i;
        }
    }
    double mean = visits ? sum / (double)visits : NAN;
    double sd = visits > 1 ? sqrt(fmax(0, squares / (double)visits - mean * mean)) : NAN;
    out->occupation = (double)inside / (double)n;
    out->visits = visits;
    out->dwell = mean * interval;
    out->dwell_error = sd * interval / sqrt((double)visits);
    out->exponential_p =
        visits >= VISITS_MIN ? exponential_p(mean, sd, (double)visits) : NAN;
}

xb_status xb_levels_find(xb_ctx *ctx, xb_trace_level *level, int64_t *levels,
                         const double *x, int64_t n, double interval, double independent)
{
    if (n > LONGEST) independent *= (double)LONGEST / (double)n, n = LONGEST;
    histogram *h = xb_new(ctx, 1, sizeof *h);
    if (!h) return XB_E_MEMORY;
    fill(h, x, n);
    mixture m = choose(h, independent);
    free(h);
    *levels = m.levels;
    for (int k = 0; k < m.levels; k++)
        level[k] = (xb_trace_level){m.mean[k], m.sd[k], 1, NAN, NAN, 0, NAN};
    if (m.levels == 1) return XB_OK;
    uint8_t *path = xb_room(ctx, 2 * n, sizeof *path);
    if (!path) return XB_E_MEMORY;
    follow(path, path + n, &m, x, n);
    for (int k = 0; k < m.levels; k++) dwells(&level[k], path, n, k, interval);
    free(path);
    return XB_OK;
}
