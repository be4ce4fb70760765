/* disagreement.c: see disagreement.h; maths P7, C2.
 *
 * Each row has two numbers: the spread over all draws, and the part of it that remains if
 * each member is replaced by its mean; variances for numbers, information for classes.
 * The score is the ratio of their sums over rows. Each number comes in all versions of
 * the jackknife over draws, from sums by group and member. */
#include "compare/disagreement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "predict/predict.h"

struct xb_disagreement {
    const xb_model *model;                                  /* borrowed */
    int64_t n, at, draws, members, classes, targets, width; /* `width` is the number of
                                                               values per row */
    xb_jackknife groups;
    double *between, *whole; /* [n], from all draws */
    double sum_between[XB_VERSIONS], sum_whole[XB_VERSIONS];
    double *count; /* [groups][members], number of draws */
    double *sum;   /* [groups][members][width], sums of values */
    double *inner; /* [groups][members], sums of squares, or of the draws' entropies */
    double *mean;  /* [members + 1][width], means of one version; the last row is over all
                      members */
    double *numbers;
};

void xb_disagreement_destroy(xb_disagreement *d)
{
    if (!d) return;
    free(d->numbers);
    free(d);
}

static void count_draws(xb_disagreement *d)
{
    for (int b = 0; b < d->groups.count; b++)
        for (int64_t s = d->groups.start[b]; s < d->groups.start[b + 1]; s++)
            d->count[b * d->members + s % d->members]++;
}

xb_status xb_disagreement_create(xb_ctx *ctx, xb_disagreement **out, int64_t n,
                                 int64_t draws, const xb_model *ensemble)
{
    const int64_t members = xb_model_member_count(ensemble);
    const int64_t classes = xb_model_class_count(ensemble);
    const int64_t targets = xb_model_target_count(ensemble);
    xb_disagreement *d = xb_new(ctx, 1, sizeof *d);
    if (!d) return XB_E_MEMORY;
    n *= targets; /* each target counts as a row */
    *d =
        (xb_disagreement){.n = n, .draws = draws, .members = members, .classes = classes};
    d->model = ensemble;
    d->targets = targets;
    d->width = classes > 0 ? classes : 1;
    d->groups = xb_jackknife_make(draws);
    const int64_t cells = d->groups.count * members;
    const int64_t all = 2 * n + cells * (2 + d->width) + (members + 1) * d->width;
    d->numbers = xb_new(ctx, all, sizeof *d->numbers);
    if (!d->numbers) {
        free(d);
        return XB_E_MEMORY;
    }
    d->between = d->numbers;
    d->whole = d->between + n;
    d->count = d->whole + n;
    d->inner = d->count + cells;
    d->sum = d->inner + cells;
    d->mean = d->sum + cells * d->width;
    count_draws(d);
    *out = d;
    return XB_OK;
}

/* Computes the sums of one row; numbers are taken about `centre`, so that nothing
 * cancels. */
static void take_row(xb_disagreement *d, const double *value, int64_t stride,
                     double centre)
{
    const int64_t cells = d->groups.count * d->members;
    memset(d->inner, 0, (size_t)(cells * (1 + d->width)) * sizeof *d->inner);
    for (int b = 0; b < d->groups.count; b++)
        for (int64_t s = d->groups.start[b]; s < d->groups.start[b + 1]; s++) {
            const int64_t cell = b * d->members + s % d->members;
            const double *v = value + s * stride;
            for (int64_t k = 0; k < d->width; k++)
                d->sum[cell * d->width + k] += v[k] - centre;
            d->inner[cell] += d->classes > 0 ? xb_class_entropy(v, d->classes)
                                             : (v[0] - centre) * (v[0] - centre);
        }
}

typedef struct parts {
    double between, whole;
} parts;

/* Computes the mean of member i in version v and, summed over its draws, the spread
 * inside it; returns its number of draws. */
static double fold_member(const xb_disagreement *d, int v, int64_t i, double *inside)
{
    double draws = 0, *mean = d->mean + i * d->width;
    *inside = 0;
    for (int64_t k = 0; k < d->width; k++) mean[k] = 0;
    for (int b = 0; b < d->groups.count; b++) {
        if (b == v - 1) continue;
        const int64_t cell = b * d->members + i;
        draws += d->count[cell];
        *inside += d->inner[cell];
        for (int64_t k = 0; k < d->width; k++) mean[k] += d->sum[cell * d->width + k];
    }
    for (int64_t k = 0; k < d->width && draws > 0; k++) mean[k] /= draws;
    return draws;
}

/* (P7) The parts for a row of numbers: variances, with equal weights for all members. */
static parts of_numbers(const xb_disagreement *d, int v)
{
    const double m = (double)d->members;
    double mean = 0, inside = 0, noise = 0, square = 0;
    for (int64_t i = 0; i < d->members; i++) {
        double squares, draws = fold_member(d, v, i, &squares);
        double own =
            draws > 1 ? (squares - draws * d->mean[i] * d->mean[i]) / (draws - 1) : 0;
        mean += d->mean[i] / m;
        inside += own / m;
        noise += draws > 0 ? own / draws : 0;
    }
    for (int64_t i = 0; i < d->members; i++)
        square += (d->mean[i] - mean) * (d->mean[i] - mean) / m;
    const double between = fmax(0, square - (1 - 1 / m) * noise / m);
    return (parts){between, inside + between};
}

/* (P7) The parts for a row of classes: information. */
static parts of_classes(const xb_disagreement *d, int v)
{
    const double m = (double)d->members;
    double *all = d->mean + d->members * d->width, within = 0, inside = 0;
    for (int64_t k = 0; k < d->width; k++) all[k] = 0;
    for (int64_t i = 0; i < d->members; i++) {
        double entropies, draws = fold_member(d, v, i, &entropies);
        const double *mean = d->mean + i * d->width;
        within += xb_class_entropy(mean, d->classes) / m;
        inside += draws > 0 ? entropies / draws / m : 0;
        for (int64_t k = 0; k < d->width; k++) all[k] += mean[k] / m;
    }
    const double whole = xb_class_entropy(all, d->classes);
    return (parts){fmax(0, whole - within), fmax(0, whole - inside)};
}

/* Adds row i of the rows in this part, in all versions. */
static void add_row(xb_disagreement *d, const double *row, int64_t stride, double unit)
{
    take_row(d, row, stride, d->classes > 0 ? 0 : row[0]);
    for (int v = 0; v < d->groups.versions; v++) {
        const parts p = d->classes > 0 ? of_classes(d, v) : of_numbers(d, v);
        d->sum_between[v] += p.between / unit;
        d->sum_whole[v] += p.whole / unit;
        if (v > 0) continue;
        d->between[d->at] = p.between / unit;
        d->whole[d->at] = p.whole / unit;
    }
    d->at++;
}

void xb_disagreement_add(xb_disagreement *d, const double *value, int64_t rows)
{
    const int64_t stride = rows * d->targets * d->width;
    for (int64_t i = 0; i < rows * d->targets; i++) {
        const double sd = xb_model_target_at(d->model, i % d->targets).sd;
        add_row(d, value + i * d->width, stride, d->classes > 0 ? 1 : sd * sd);
    }
}

/* (P7) The error over rows of a ratio of sums. */
static double ratio_error(const xb_disagreement *d, double ratio)
{
    const double n = (double)d->n, mean = d->sum_whole[0] / n;
    double square = 0;
    for (int64_t i = 0; i < d->n; i++)
        square += pow((d->between[i] - ratio * d->whole[i]) / mean, 2);
    return d->n > 1 ? sqrt(square / (n * (n - 1))) : NAN;
}

xb_score xb_disagreement_score(const xb_disagreement *d)
{
    double version[XB_VERSIONS] = {NAN};
    for (int v = 0; v < d->groups.versions; v++)
        version[v] = d->sum_whole[v] > 0 ? d->sum_between[v] / d->sum_whole[v] : NAN;
    return (xb_score){
        version[0], ratio_error(d, version[0]),
        d->groups.count > 1 ? xb_jackknife_error(version + 1, d->groups.count) : NAN};
}
