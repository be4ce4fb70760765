/* likelihood.c: minus the log-likelihood of a batch and its gradient with respect to the
 * outputs; maths N13-N16. All arithmetic in double: the outputs of a batch are few. */
#include <math.h>

#include "backend/host.h"

static const double HALF_LOG_TWO_PI = 0.91893853320467274178;

enum { SUMS = 4 }; /* sums side by side: none waits for the one before */

double xb_nll_square(xb_real *dy, const xb_real *y, const xb_real *target, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double e = (double)y[i] - (double)target[i];
        sum += e * e; /* (N13) */
        if (dy) dy[i] = (xb_real)(2 * e);
    }
    return sum;
}

static inline double residual(xb_real y, xb_real target, double inverse)
{
    return ((double)y - (double)target) * inverse;
}

/* Sum of residuals squared. */
static double sum_squares(const xb_real *y, const xb_real *target, double inverse,
                          int64_t n)
{
    double part[SUMS] = {0};
    int64_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
#pragma omp simd
        for (int l = 0; l < SUMS; l++) {
            double e = residual(y[i + l], target[i + l], inverse);
            part[l] += e * e;
        }
    for (int l = 0; i < n; i++, l++) {
        double e = residual(y[i], target[i], inverse);
        part[l] += e * e;
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

double xb_nll_gaussian(xb_real *dy, double *d_log_sd, const xb_real *y,
                       const xb_real *target, double log_sd, int64_t n)
{
    double inverse = exp(-log_sd), square = sum_squares(y, target, inverse, n);
    if (dy)
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            dy[i] = (xb_real)(residual(y[i], target[i], inverse) * inverse);
    if (d_log_sd) *d_log_sd = (double)n - square;
    return 0.5 * square + (double)n * (log_sd + HALF_LOG_TWO_PI); /* (N14) */
}

/* A standard deviation and its derivative with respect to raw. */
typedef struct linked_sd {
    double sd, slope;
} linked_sd;

/* log(1 + exp(raw)) without overflow: for raw > 0 as raw + log(1 + exp(-raw)). */
static linked_sd sd_at(xb_sd_link link, double least, double raw)
{
    double t = exp(link == XB_SD_EXP ? raw : -fabs(raw));
    if (link == XB_SD_EXP) return (linked_sd){least + t, t};
    double soft = log1p(t) + (raw > 0 ? raw : 0);
    return (linked_sd){least + soft, (raw > 0 ? 1 : t) / (1 + t)};
}

double xb_sd_of(xb_sd_link link, double least, double raw)
{
    return sd_at(link, least, raw).sd;
}

double xb_nll_heteroscedastic(xb_real *d_mean, xb_real *d_raw, const xb_real *mean,
                              const xb_real *raw, const xb_real *target, int64_t rows,
                              int64_t d, int64_t stride, xb_sd_link link, double least)
{
    double sum = (double)(rows * d) * HALF_LOG_TWO_PI;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < d; j++) {
            int64_t at = r * stride + j;
            linked_sd s = sd_at(link, least, (double)raw[at]);
            double e = ((double)mean[at] - (double)target[r * d + j]) / s.sd;
            sum += 0.5 * e * e + log(s.sd); /* (N15) */
            if (d_mean) d_mean[at] = (xb_real)(e / s.sd);
            if (d_raw) d_raw[at] = (xb_real)((1 - e * e) / s.sd * s.slope);
        }
    return sum;
}

/* The largest of a row and the log of the sum of exp above it. */
static double log_sum(double *top, const xb_real *y, int64_t classes)
{
    double sum = 0;
    *top = (double)y[0];
    for (int64_t k = 1; k < classes; k++) *top = fmax(*top, (double)y[k]);
    for (int64_t k = 0; k < classes; k++) sum += exp((double)y[k] - *top);
    return log(sum);
}

double xb_nll_softmax(xb_real *dy, const xb_real *y, const int32_t *label, int64_t rows,
                      int64_t classes)
{
    double sum = 0;
    for (int64_t r = 0; r < rows; r++)
        if (label[r] < 0 || label[r] >= classes) return NAN;
    for (int64_t r = 0; r < rows; r++, y += classes) {
        double top, rest = log_sum(&top, y, classes);
        sum += rest - ((double)y[label[r]] - top); /* (N16) */
        for (int64_t k = 0; dy && k < classes; k++)
            dy[r * classes + k] =
                (xb_real)(exp((double)y[k] - top - rest) - (k == label[r]));
    }
    return sum;
}

/* ---- the backend's operation */

static void scale_all(xb_real *x, int64_t n, double factor)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) x[i] = (xb_real)((double)x[i] * factor);
}

/* (V30) Targets side by side, each with a noise of its own. */
static double gaussian_targets(const xb_loss *l, xb_real *dy, const xb_real *y,
                               int64_t rows)
{
    const int64_t n = l->outputs;
    double loss = 0;
    for (int64_t k = 0; k < n; k++) {
        double log_sd = (double)l->log_sd[k], inverse = exp(-log_sd), square = 0;
        for (int64_t i = k; i < rows * n; i += n) {
            double e = residual(y[i], l->target[i], inverse);
            square += e * e;
            if (dy) dy[i] = (xb_real)(e * inverse);
        }
        loss += 0.5 * square + (double)rows * (log_sd + HALF_LOG_TWO_PI);
        if (l->d_log_sd) l->d_log_sd[k] += (xb_real)(((double)rows - square) * l->scale);
    }
    return loss;
}

static double gaussian_loss(const xb_loss *l, xb_real *dy, const xb_real *y, int64_t rows)
{
    if (l->outputs > 1) return gaussian_targets(l, dy, y, rows);
    double d_log_sd = 0;
    double loss = xb_nll_gaussian(dy, &d_log_sd, y, l->target, (double)*l->log_sd, rows);
    if (l->d_log_sd) *l->d_log_sd += (xb_real)(d_log_sd * l->scale);
    return loss;
}

static double heteroscedastic_loss(const xb_loss *l, xb_real *dy, const xb_real *y,
                                   int64_t rows)
{
    xb_real *d_raw = dy ? l->d_raw : NULL;
    double loss =
        xb_nll_heteroscedastic(dy, d_raw, y, l->raw, l->target, rows, l->outputs,
                               l->outputs, XB_SD_SOFTPLUS, l->least);
    if (d_raw) scale_all(d_raw, rows * l->outputs, l->scale);
    return loss;
}

/* Each target has its standard deviation, all of them one shape. */
static double student_loss(const xb_loss *l, xb_real *dy, const xb_real *y, int64_t rows)
{
    const int64_t n = l->outputs;
    double loss = 0;
    for (int64_t k = 0; k < n; k++) {
        double d_log_sd = 0, d_shape = 0;
        loss +=
            xb_nll_student(dy ? dy + k : NULL, &d_log_sd, &d_shape, y + k, l->target + k,
                           (double)l->log_sd[k], (double)l->log_sd[n], rows, n);
        if (!l->d_log_sd) continue;
        l->d_log_sd[k] += (xb_real)(d_log_sd * l->scale);
        l->d_log_sd[n] += (xb_real)(d_shape * l->scale);
    }
    return loss;
}

static double poisson_loss(const xb_loss *l, xb_real *dy, const xb_real *y, int64_t rows)
{
    const int64_t n = l->outputs;
    double loss = 0;
    for (int64_t k = 0; k < n; k++)
        loss += xb_nll_poisson(dy ? dy + k : NULL, y + k, l->target + k,
                               (double)l->link[k], (double)l->link[n + k], rows, n);
    return loss;
}

/* Each target has its dispersion. */
static double negative_binomial_loss(const xb_loss *l, xb_real *dy, const xb_real *y,
                                     int64_t rows)
{
    const int64_t n = l->outputs;
    double loss = 0;
    for (int64_t k = 0; k < n; k++) {
        double slope = 0;
        loss += xb_nll_negative_binomial(dy ? dy + k : NULL, &slope, y + k, l->target + k,
                                         (double)l->link[k], (double)l->link[n + k],
                                         (double)l->log_sd[k], rows, n);
        if (l->d_log_sd) l->d_log_sd[k] += (xb_real)(slope * l->scale);
    }
    return loss;
}

static double loss_of(const xb_loss *l, xb_real *dy, const xb_real *y, int64_t rows)
{
    switch (l->kind) {
    case XB_LOSS_SQUARE: return xb_nll_square(dy, y, l->target, rows * l->outputs);
    case XB_LOSS_GAUSSIAN: return gaussian_loss(l, dy, y, rows);
    case XB_LOSS_HETEROSCEDASTIC: return heteroscedastic_loss(l, dy, y, rows);
    case XB_LOSS_STUDENT: return student_loss(l, dy, y, rows);
    case XB_LOSS_POISSON: return poisson_loss(l, dy, y, rows);
    case XB_LOSS_NEGATIVE_BINOMIAL: return negative_binomial_loss(l, dy, y, rows);
    case XB_LOSS_SOFTMAX: break;
    }
    return xb_nll_softmax(dy, y, l->label, rows, l->outputs);
}

double xb_host_loss(const xb_backend *b, const xb_loss *loss, xb_real *dy,
                    const xb_real *y, int64_t rows)
{
    (void)b;
    double value = loss_of(loss, dy, y, rows);
    if (dy) scale_all(dy, rows * loss->outputs, loss->scale);
    return value;
}
