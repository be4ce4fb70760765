/* quality.c: scores of predictions with S draws each, from a longer sequence of reads
 * (maths X71). The reads are divided into predictions of S successive draws, and the
 * scores are means over these predictions. So the scores for all S come from the same
 * reads, and they include the cost of few draws: the logarithm of a mean of few densities
 * is too small on average. A row of several targets has their joint density (C30). */
#include "design/quality.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NLL, SECOND, THIRD };

static const char *const of_numbers[] = {"nll", "rmse", "coverage95"};
static const char *const of_classes[] = {"nll", "accuracy", "brier"};

static const double HALF_LOG_2_PI = 0.91893853320467274178;
static const double SQRT_2 = 1.41421356237309504880;
static const double TAIL = 0.025; /* on each side of the 95 % interval */

const char *xb_quality_name(const xb_judge *judge, int quality)
{
    return judge->classes > 0 ? of_classes[quality] : of_numbers[quality];
}

int xb_quality_find(const xb_judge *judge, const char *name)
{
    const bool several = judge->classes == 0 && judge->outputs > 1;
    for (int i = 0; i < (several ? 1 : XB_QUALITIES); i++)
        if (strcmp(xb_quality_name(judge, i), name) == 0) return i;
    return -1;
}

/* For numbers: the log density and the cdf of each read and row, then four numbers per
 * row. For classes: the mean probabilities of one row. */
int64_t xb_judge_room(const xb_judge *judge, int64_t reads)
{
    return judge->classes > 0 ? judge->outputs : 2 * reads * judge->n + 4 * judge->n;
}

/* (P9) Adds the log density at z standard deviations sd, and finds the cdf. */
static void add_noise(const xb_student_table *heavy, double *density, double *cdf,
                      double z, double sd)
{
    if (heavy) {
        const double scale = heavy->scale;
        *density += xb_student_log_pdf(heavy, z / scale) - log(sd * scale);
        *cdf = xb_student_cdf(heavy, z / scale);
        return;
    }
    *density -= 0.5 * z * z + log(sd) + HALF_LOG_2_PI;
    *cdf = 0.5 * erfc(-z / SQRT_2);
}

void xb_judge_prepare(const xb_judge *judge, double *room, const double *value,
                      int64_t reads)
{
    const int64_t n = judge->n, outputs = judge->outputs;
    double *density = room, *cdf = room + reads * n;
    if (judge->classes > 0) return;
    for (int64_t s = 0; s < reads; s++) {
        const double *sd = judge->sd + s % judge->sds * n * outputs;
        const xb_student_table *heavy =
            judge->heavy ? &judge->heavy[s % judge->sds] : NULL;
        for (int64_t i = 0; i < n; i++, density++, cdf++) {
            double sum = 0;
            for (int64_t k = 0; k < outputs; k++) {
                const int64_t at = i * outputs + k;
                const double z = (judge->y[at] - value[s * n * outputs + at]) / sd[at];
                add_noise(heavy, &sum, cdf, z, sd[at]);
            }
            *density = sum;
        }
    }
}

/* Sums over one prediction's draws, each [n]. */
typedef struct sums {
    double *most, *density, *mean, *cdf;
} sums;

static void add_draws(const xb_judge *judge, const sums *u, const double *room,
                      const double *value, int64_t reads, int64_t first, int64_t draws)
{
    const int64_t n = judge->n;
    const double *density = room + first * n, *cdf = room + (reads + first) * n;
    const double *v = value + first * n * judge->outputs;
    memset(u->density, 0, (size_t)(3 * n) * sizeof(double));
    memcpy(u->most, density, (size_t)n * sizeof(double));
    for (int64_t s = 1; s < draws; s++)
        for (int64_t i = 0; i < n; i++) u->most[i] = fmax(u->most[i], density[s * n + i]);
    for (int64_t s = 0; s < draws; s++)
        for (int64_t i = 0; i < n; i++) {
            u->density[i] += exp(density[s * n + i] - u->most[i]);
            u->mean[i] += v[(s * n + i) * judge->outputs];
            u->cdf[i] += cdf[s * n + i];
        }
}

static void numbers_rows(const xb_judge *judge, double *row, double *room,
                         const double *value, int64_t reads, int64_t draws)
{
    const int64_t n = judge->n, groups = reads / draws;
    double *own = room + 2 * reads * n;
    const sums u = {own, own + n, own + 2 * n, own + 3 * n};
    const double share = 1 / (double)groups, each = 1 / (double)draws;
    for (int64_t g = 0; g < groups; g++) {
        add_draws(judge, &u, room, value, reads, g * draws, draws);
        for (int64_t i = 0; i < n; i++) {
            const double miss = u.mean[i] * each - judge->y[i * judge->outputs];
            const double cdf = u.cdf[i] * each;
            row[NLL * n + i] -= share * (u.most[i] + log(u.density[i] * each));
            row[SECOND * n + i] += share * miss * miss;
            row[THIRD * n + i] += cdf >= TAIL && cdf <= 1 - TAIL ? share : 0;
        }
    }
}

/* Writes the mean probabilities of row i in one prediction to p [outputs]. */
static void mean_probability(const xb_judge *judge, double *p, const double *value,
                             int64_t i, int64_t first, int64_t draws)
{
    const int64_t classes = judge->outputs;
    for (int64_t k = 0; k < classes; k++) p[k] = 0;
    for (int64_t s = first; s < first + draws; s++)
        for (int64_t k = 0; k < classes; k++)
            p[k] += value[(s * judge->n + i) * classes + k] / (double)draws;
}

static void classes_rows(const xb_judge *judge, double *row, double *p,
                         const double *value, int64_t reads, int64_t draws)
{
    const int64_t n = judge->n, groups = reads / draws;
    const double share = 1 / (double)groups;
    for (int64_t g = 0; g < groups; g++)
        for (int64_t i = 0; i < n; i++) {
            const int64_t label = (int64_t)judge->y[i];
            int64_t best = 0;
            double brier = 0;
            mean_probability(judge, p, value, i, g * draws, draws);
            for (int64_t k = 0; k < judge->outputs; k++) {
                const double miss = p[k] - (k == label ? 1 : 0);
                if (p[k] > p[best]) best = k;
                brier += miss * miss;
            }
            row[NLL * n + i] -= share * log(fmax(p[label], DBL_MIN));
            row[SECOND * n + i] += best == label ? share : 0;
            row[THIRD * n + i] += share * brier;
        }
}

void xb_judge_rows(const xb_judge *judge, double *row, double *room, const double *value,
                   int64_t reads, int64_t draws)
{
    memset(row, 0, (size_t)(XB_QUALITIES * judge->n) * sizeof *row);
    if (judge->classes > 0)
        classes_rows(judge, row, room, value, reads, draws);
    else
        numbers_rows(judge, row, room, value, reads, draws);
}

double xb_judge_score(const xb_judge *judge, const double *row, int quality)
{
    double sum = 0;
    for (int64_t i = 0; i < judge->n; i++) sum += row[quality * judge->n + i];
    sum /= (double)judge->n;
    return judge->classes == 0 && quality == SECOND ? sqrt(sum) : sum;
}
