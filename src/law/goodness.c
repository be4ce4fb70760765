/* goodness.c: Kolmogorov-Smirnov and Anderson-Darling for fitted laws; maths
 * F7, F10.
 *
 * Large samples: the distribution function is evaluated at every 64th value and
 * interpolated between by Hermite cubics, each checked at its middle value and
 * replaced by direct evaluation where it is off by more than 1e-9 relatively;
 * 1e6 values in about 20 ms. The p-values come from the simulated process. */
#include "law/goodness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { DIRECT = 8192, BLOCK = 64 };

typedef struct placed {
    const xb_law *law;
    double offset, scale;
} placed;

static placed place_of(const xb_law *law)
{
    return (placed){law, law->place.offset, law->place.scale};
}

static double cdf_at(const placed *p, double x)
{
    return xb_law_cdf(p->law, (x - p->offset) / p->scale);
}

/* The cubic through values and slopes at both ends of a block. */
typedef struct hermite {
    double x0, width, f0, rise, s0, s1; /* slopes times width */
} hermite;

static double hermite_at(const hermite *h, double x)
{
    double r = (x - h->x0) / h->width, q = 1 - r;
    return h->f0 + r * (r * (3 - 2 * r) * h->rise + q * (q * h->s0 - r * h->s1));
}

static bool good_enough(double guess, double exact)
{
    const double tolerance = 1e-9;
    double nearer = exact < 0.5 ? exact : 1 - exact;
    return fabs(guess - exact) <= tolerance * nearer;
}

/* u[0] is known and u[n] is wanted too: values x[0] .. x[n]. */
static void fill_block(double *u, const placed *p, const double *x, int64_t n)
{
    u[n] = cdf_at(p, x[n]);
    double width = x[n] - x[0];
    double q0 = xb_law_pdf(p->law, (x[0] - p->offset) / p->scale) / p->scale;
    double q1 = xb_law_pdf(p->law, (x[n] - p->offset) / p->scale) / p->scale;
    hermite h = {x[0], width, u[0], u[n] - u[0], q0 * width, q1 * width};
    double middle = x[n / 2];
    if (width > 0 && good_enough(hermite_at(&h, middle), cdf_at(p, middle))) {
        for (int64_t i = 1; i < n; i++) u[i] = hermite_at(&h, x[i]);
    } else {
        for (int64_t i = 1; i < n; i++)
            u[i] = x[i] == x[i - 1] ? u[i - 1] : cdf_at(p, x[i]);
    }
}

static void fill(double *u, const placed *p, const double *x, int64_t n)
{
    int64_t block = n > DIRECT ? BLOCK : 1;
    u[0] = cdf_at(p, x[0]);
    for (int64_t i = 0; i + 1 < n; i += block) {
        int64_t size = i + block < n ? block : n - 1 - i;
        fill_block(u + i, p, x + i, size);
    }
}

/* (F10) */
static void sum_up(xb_goodness *out, const double *u, int64_t n)
{
    const double least = 1e-16; /* the law gives such a value no chance at all */
    double count = (double)n, distance = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double below = u[i] - (double)i / count;
        double above = (double)(i + 1) / count - u[i];
        distance = fmax(distance, fmax(below, above));
        double low = fmax(u[i], least), high = fmax(1 - u[i], least);
        sum += (double)(2 * i + 1) * log(low) + (double)(2 * (n - i) - 1) * log(high);
    }
    out->ks = distance;
    out->ad = fmax(0, -count - sum / count);
}

xb_status xb_goodness_statistics(xb_ctx *ctx, xb_goodness *out, const xb_law *law,
                                 const double *sorted, int64_t n)
{
    double *u = xb_new(ctx, n, sizeof *u);
    if (!u) return XB_E_MEMORY;
    placed p = place_of(law);
    fill(u, &p, sorted, n);
    sum_up(out, u, n);
    free(u);
    return XB_OK;
}

static bool fitted(const xb_fit_family *fit, const char *name)
{
    for (int i = 0; i < fit->n_named; i++)
        if (strcmp(fit->name[i], name) == 0) return isfinite(fit->std_error[i]);
    return false;
}

enum { NODES = XB_NULL_NODES };

/* Score of the law's own parameter i, by central differences. */
static xb_status own_score(xb_ctx *ctx, double *score, const xb_law *law, int i,
                           const double *x)
{
    const double relative = 1e-4;
    const xb_param_info *info = &law->family->param[i];
    double at = law->param[i], step = relative * at;
    if (at + step > info->max) step = info->max - at;
    double value[XB_LAW_PARAMS];
    xb_law *up = NULL, *down = NULL;
    memcpy(value, law->param, sizeof value);
    value[i] = at + step;
    XB_TRY(xb_law_create(ctx, &up, law->family->name, value, law->family->n_param));
    value[i] = at - step;
    xb_status status =
        xb_law_create(ctx, &down, law->family->name, value, law->family->n_param);
    for (int j = 0; j < NODES && status == XB_OK; j++)
        score[j] = (xb_law_log_pdf(up, x[j]) - xb_law_log_pdf(down, x[j])) / (2 * step);
    xb_law_destroy(up);
    xb_law_destroy(down);
    return status;
}

/* Scores of log scale and of the offset in units of the scale. */
static void scale_score(double *score, const xb_law *law, const double *x)
{
    const double step = 1e-5;
    for (int j = 0; j < NODES; j++)
        score[j] = (xb_law_log_pdf(law, x[j] * (1 - step)) -
                    xb_law_log_pdf(law, x[j] * (1 + step))) /
                       (2 * step) -
                   1;
}

static void offset_score(double *score, const xb_law *law, const double *x)
{
    double step = 1e-5 * law->sd;
    for (int j = 0; j < NODES; j++)
        score[j] = (xb_law_log_pdf(law, x[j] - step) - xb_law_log_pdf(law, x[j] + step)) /
                   (2 * step);
}

xb_status xb_goodness_model(xb_ctx *ctx, xb_null_model *out, const xb_law *law,
                            const xb_fit_family *fit)
{
    double x[NODES], score[NODES];
    xb_null_model_start(out);
    if (!fit || law->family->from_data) return XB_OK;
    for (int j = 0; j < NODES; j++) x[j] = xb_law_quantile(law, out->nodes.u[j]);
    for (int i = 0; i < law->family->n_param; i++) {
        if (!fitted(fit, law->family->param[i].name)) continue;
        XB_TRY(own_score(ctx, score, law, i, x));
        xb_null_model_add(out, score);
    }
    if (fitted(fit, "scale")) {
        scale_score(score, law, x);
        xb_null_model_add(out, score);
    }
    if (fitted(fit, "offset")) {
        offset_score(score, law, x);
        if (law->family->peak) /* the sample's mean, not maximum likelihood */
            xb_null_model_add_other(out, score, x);
        else
            xb_null_model_add(out, score);
    }
    return XB_OK;
}

xb_status xb_goodness_p(xb_ctx *ctx, xb_goodness *g, const xb_null_model *model, double n,
                        double n_effective, uint64_t seed)
{
    XB_TRY(xb_null_ks_p(ctx, &g->ks_p, model, g->ks * sqrt(n_effective), seed));
    return xb_null_ad_p(ctx, &g->ad_p, model, g->ad * n_effective / n);
}
