/* process.c: random features of a Gaussian process and the factor of their posterior;
 * see process.h. 256 features have the kernel exp(-r^2/2) to 0.13 (two standard errors);
 * an input takes 20 us, a factor 3 ms. */
#include "vi/process.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbayes/draw.h"
#include "crossbayes/law.h"

enum { N = XB_PROCESS_FEATURES, STREAM = 1003 }; /* not used by members and counts */

void xb_process_destroy(xb_process *p)
{
    if (!p) return;
    free(p->frequency);
    free(p->factor);
    free(p);
}

static xb_status fill(xb_ctx *ctx, xb_process *p)
{
    xb_law *law = NULL;
    xb_sampler *normal = NULL;
    const xb_stream where = {.key = xb_key_make(1, XB_PURPOSE_INIT), .tensor = STREAM};
    const xb_stream phases = {.key = where.key, .tensor = STREAM + 1};
    XB_TRY(xb_law_parse(ctx, &law, "gaussian"));
    xb_status status = xb_sampler_create(ctx, &normal, law, NULL);
    xb_law_destroy(law);
    if (status != XB_OK) return status;
    xb_sampler_fill_double(normal, p->frequency, N * p->columns, &where, 0);
    xb_sampler_destroy(normal);
    const double scale = p->length * sqrt((double)p->columns);
    for (int64_t i = 0; i < N * p->columns; i++) p->frequency[i] /= scale;
    for (int64_t i = 0; i < N; i++)
        p->phase[i] = 2 * M_PI * xb_stream_uniform(&phases, i);
    for (int64_t i = 0, at = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++) p->factor[at++] = i == j;
    return XB_OK;
}

xb_status xb_process_create(xb_ctx *ctx, xb_process **out, double length, int64_t columns)
{
    if (!(length > 0) || !isfinite(length) || length > 1e6 || length < 1e-6)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "length %g of a Gaussian process: expected 1e-6 to 1e6", length);
    xb_process *p = xb_new(ctx, 1, sizeof *p);
    if (!p) return XB_E_MEMORY;
    p->length = length;
    p->columns = columns;
    p->frequency = xb_new(ctx, N * (columns + 1), sizeof *p->frequency);
    p->phase = p->frequency ? p->frequency + N * columns : NULL;
    p->factor = xb_new(ctx, XB_PROCESS_FACTOR, sizeof *p->factor);
    xb_status status = p->frequency && p->factor ? fill(ctx, p) : XB_E_MEMORY;
    if (status == XB_OK)
        *out = p;
    else
        xb_process_destroy(p);
    return status;
}

void xb_process_features(double *phi, const xb_process *p, const float *z)
{
    for (int64_t i = 0; i < N; i++) {
        double sum = p->phase[i];
        for (int64_t j = 0; j < p->columns; j++)
            sum += p->frequency[i * p->columns + j] * (double)z[j];
        phi[i] = sqrt(2.0 / N) * cos(sum); /* (V43) */
    }
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Cholesky factorisation, row by row; every pivot is 1 or more. */
void xb_process_factorise(double *a)
{
    for (int64_t i = 0; i < N; i++) {
        double *row = a + i * (i + 1) / 2;
        for (int64_t j = 0; j < i; j++) {
            const double *above = a + j * (j + 1) / 2;
            row[j] = (row[j] - dot(row, above, j)) / above[j];
        }
        row[i] = sqrt(fmax(1, row[i] - dot(row, row, i)));
    }
}

void xb_process_solve(double *phi, const xb_process *p)
{
    for (int64_t i = 0; i < N; i++) {
        const double *row = p->factor + i * (i + 1) / 2;
        phi[i] = (phi[i] - dot(row, phi, i)) / row[i];
    }
}
