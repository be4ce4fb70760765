/* input_bend.c: columns of skewed values, which enter a net as logarithms (maths V21).
 * The bend is the one that leaves no skewness, found by bisection on rows spread evenly
 * over the table; whether it helps is decided by F (train_choice.c). */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "vi/model.h"

enum { ROWS_MAX = 10000, HALVINGS = 40 };
#define SKEWED 2.0      /* skewness from which a column counts as skewed */
#define STRAIGHT 1.0    /* a bend that leaves more has not helped */
#define BEND_LEAST 1e-6 /* in sds of the column */
#define BEND_MOST 1000.0

/* (V21) The same value where x leaves the range of the training rows: a straight line. */
static double bent(double x, double low, double bend)
{
    const double u = (x - low) / bend;
    return u > 0 ? log1p(u) : u;
}

double xb_model_scaled_input(const xb_model *m, int64_t j, double x)
{
    const double value = m->x_bend[j] != 0 ? bent(x, m->x_low[j], m->x_bend[j]) : x;
    return (value - m->x_mean[j]) / m->x_sd[j];
}

const double *xb_model_input_bend(const xb_model *m)
{
    for (int64_t j = 0; j < m->features; j++)
        if (m->x_bend[j] != 0) return m->x_bend;
    return NULL;
}

typedef struct moments {
    double mean, sd, skewness;
} moments;

static moments moments_of(const double *v, int64_t n)
{
    moments m = {0};
    double two = 0, three = 0;
    for (int64_t i = 0; i < n; i++) m.mean += v[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double d = v[i] - m.mean;
        two += d * d / (double)n;
        three += d * d * d / (double)n;
    }
    m.sd = sqrt(two);
    m.skewness = three / (two * m.sd); /* NAN: the column never changes, or overflows */
    return m;
}

/* Column j, at most ROWS_MAX of its rows, evenly spread. */
static int64_t gather(double *v, const double *x, int64_t columns, int64_t j,
                      const int64_t *row, int64_t n)
{
    const int64_t taken = n < ROWS_MAX ? n : ROWS_MAX;
    for (int64_t i = 0; i < taken; i++) v[i] = x[row[i * n / taken] * columns + j];
    return taken;
}

static double far_end(const double *v, int64_t n, bool right)
{
    double end = v[0];
    for (int64_t i = 1; i < n; i++) end = right ? fmin(end, v[i]) : fmax(end, v[i]);
    return end;
}

static double bent_skewness(double *out, const double *v, int64_t n, double low,
                            double bend)
{
    for (int64_t i = 0; i < n; i++) out[i] = bent(v[i], low, bend);
    return moments_of(out, n).skewness;
}

/* 0: the column is not skewed, or no bend makes it straight. A tail to the left is one to
 * the right of the mirrored column: low is its largest value, the bend negative. */
static double find_bend(double *low, double *work, const double *v, int64_t n)
{
    const moments m = moments_of(v, n);
    if (!(fabs(m.skewness) > SKEWED) || !isfinite(m.skewness)) return 0;
    const double unit = m.skewness > 0 ? m.sd : -m.sd;
    double least = log(BEND_LEAST), most = log(BEND_MOST);
    *low = far_end(v, n, m.skewness > 0);
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (least + most);
        if (bent_skewness(work, v, n, *low, unit * exp(middle)) > 0)
            most = middle;
        else
            least = middle;
    }
    const double bend = unit * exp(0.5 * (least + most));
    return fabs(bent_skewness(work, v, n, *low, bend)) < STRAIGHT ? bend : 0;
}

xb_status xb_columns_skewed(xb_ctx *ctx, bool *out, const double *x, int64_t columns,
                            const int64_t *row, int64_t n)
{
    double *v = xb_new(ctx, 2 * ROWS_MAX, sizeof *v);
    if (!v) return XB_E_MEMORY;
    *out = false;
    for (int64_t j = 0; j < columns && !*out; j++) {
        double low = 0;
        const int64_t taken = gather(v, x, columns, j, row, n);
        *out = find_bend(&low, v + ROWS_MAX, v, taken) != 0;
    }
    free(v);
    return XB_OK;
}

xb_status xb_model_bend(xb_ctx *ctx, xb_model *m, const double *x, const int64_t *row,
                        int64_t n)
{
    double *v = xb_new(ctx, 2 * ROWS_MAX, sizeof *v);
    if (!v) return XB_E_MEMORY;
    for (int64_t j = 0; j < m->features; j++) {
        double low = 0;
        const int64_t taken = gather(v, x, m->features, j, row, n);
        const double bend = find_bend(&low, v + ROWS_MAX, v, taken);
        if (bend == 0) continue;
        const moments scale = moments_of(v + ROWS_MAX, taken); /* of the bent values */
        m->x_low[j] = low;
        m->x_bend[j] = bend;
        m->x_mean[j] = scale.mean;
        m->x_sd[j] = scale.sd;
    }
    free(v);
    return XB_OK;
}
