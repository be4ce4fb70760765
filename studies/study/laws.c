/* laws.c: the study "laws" (the paper's Fig. 1, and Fig. 7 for an ECRAM device):
 * samples are fitted, and the fitted device law is compared with the Gaussian and the
 * bimodal law of the same mean and variance.
 *
 * Tables, all in the units of the samples:
 *   histogram   x, density, fit       a bin is centred on the law's centre, so
 *                                     the peak of a device is not cut in two
 *   densities   x, gaussian, device, bimodal      mean 0, the device's variance */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/draw.h"
#include "crossbayes/extend.h"
#include "crossbayes/fit.h"
#include "study/bins.h"
#include "study/study.h"

enum {
    SAMPLES = 100000,
    SAMPLES_QUICK = 20000,
    DENSITY_POINTS = 601, /* odd, so that 0 is one of them */
};

typedef struct laws_study {
    xb_ctx *ctx;
    xb_study *study;
    const xb_law *device;
    const xb_study_options *opt;
    double *drawn;   /* owned: the synthetic samples */
    const double *x; /* [n] */
    int64_t n;
    xb_fit *fit;
    xb_law *gaussian, *bimodal;
} laws_study;

/* The user's samples, in the unit of the device's law file, or draws of the device. */
static xb_status take_samples(laws_study *s)
{
    s->x = s->opt->noise;
    s->n = s->opt->noise_n;
    if (s->x) xb_study_set_unit(s->study, xb_law_placement(s->device).unit);
    if (s->x) return XB_OK;
    s->n = s->opt->quick ? SAMPLES_QUICK : SAMPLES;
    XB_TRY(xb_noise_draw(s->ctx, &s->drawn, s->device, s->n, s->opt->seed));
    s->x = s->drawn;
    return XB_OK;
}

static xb_status fit_samples(laws_study *s)
{
    xb_fit_options options = xb_fit_options_default();
    options.seed = s->opt->seed;
    XB_TRY(xb_fit_run(s->ctx, &s->fit, s->x, s->n, &options));
    XB_TRY(xb_law_parse(s->ctx, &s->gaussian, "gaussian"));
    return xb_law_parse(s->ctx, &s->bimodal, "bimodal");
}

/* ---- tables */

static double device_pdf(const laws_study *s, double x)
{
    const xb_law *law = xb_fit_law(s->fit);
    xb_law_place place = xb_law_placement(law);
    return xb_law_pdf(law, (x - place.offset) / place.scale) / place.scale;
}

static xb_status fill_histogram(laws_study *s, const double *sorted, double *density,
                                const xb_bins *b)
{
    static const char *const names[] = {"x", "density", "fit"};
    xb_table *t = NULL;
    XB_TRY(xb_study_new_table(s->ctx, s->study, &t, "histogram", b->count,
                              XB_COUNT(names), names));
    xb_bins_density(density, b, sorted, s->n);
    for (int64_t k = 0; k < b->count; k++) {
        double x = xb_bins_middle(b, k);
        xb_table_set(t, k, 0, x);
        xb_table_set(t, k, 1, density[k]);
        xb_table_set(t, k, 2, device_pdf(s, x));
    }
    return XB_OK;
}

static xb_status add_histogram(laws_study *s)
{
    double *sorted = xb_new(s->ctx, s->n, sizeof *sorted), *density = NULL;
    if (!sorted) return XB_E_MEMORY;
    memcpy(sorted, s->x, (size_t)s->n * sizeof *sorted);
    xb_bins bins = {0};
    xb_status status = xb_sort_doubles(s->ctx, sorted, s->n);
    if (status == XB_OK)
        status = xb_bins_choose(s->ctx, &bins, sorted, s->n,
                                xb_law_placement(xb_fit_law(s->fit)).offset);
    if (status == XB_OK) {
        density = xb_new(s->ctx, bins.count, sizeof *density);
        status = density ? fill_histogram(s, sorted, density, &bins) : XB_E_MEMORY;
    }
    xb_free(density);
    xb_free(sorted);
    return status;
}

/* Density at a distance z standard deviations from the mean, in units of 1/sd. */
static double standard_pdf(const xb_law *law, double z)
{
    double sd = xb_law_sd(law);
    return xb_law_pdf(law, xb_law_mean(law) + z * sd) * sd;
}

static xb_status add_densities(laws_study *s)
{
    static const char *const names[] = {"x", "gaussian", "device", "bimodal"};
    const double reach = 4; /* standard deviations to either side */
    const xb_law *law[] = {s->gaussian, xb_fit_law(s->fit), s->bimodal};
    double sd = xb_law_sd(law[1]) * xb_law_placement(law[1]).scale;
    xb_table *t = NULL;
    XB_TRY(xb_study_new_table(s->ctx, s->study, &t, "densities", DENSITY_POINTS,
                              XB_COUNT(names), names));
    for (int64_t i = 0; i < DENSITY_POINTS; i++) {
        const int64_t middle = DENSITY_POINTS / 2;
        double z = reach * (double)(i - middle) / (double)middle;
        xb_table_set(t, i, 0, z * sd);
        for (int c = 0; c < XB_COUNT(law); c++)
            xb_table_set(t, i, c + 1, standard_pdf(law[c], z) / sd);
    }
    return XB_OK;
}

/* ---- facts */

static xb_status add_parameters(laws_study *s)
{
    const xb_fit_family *f = xb_fit_family_at(s->fit, xb_fit_chosen(s->fit));
    for (int i = 0; i < xb_fit_family_param_count(f); i++) {
        char name[32];
        snprintf(name, sizeof name, "fit_%s", xb_fit_family_param_name(f, i));
        XB_TRY(xb_study_add_fact(s->ctx, s->study, name, xb_fit_family_param_value(f, i),
                                 xb_fit_family_param_error(f, i),
                                 "%s of the fitted law, family %s",
                                 xb_fit_family_param_name(f, i), xb_fit_family_name(f)));
    }
    return XB_OK;
}

/* Errors of the statements on the fitted law's shape; NAN: the law is given. */
typedef struct shape_errors {
    double kl, kurtosis;
} shape_errors;

static double error_of_mean(double sum, double square, double n, double n_effective)
{
    double mean = sum / n;
    return sqrt(fmax(0, square / n - mean * mean) / n_effective);
}

/* (S4) Errors from the scatter of the samples. */
static shape_errors fitted_errors(const laws_study *s)
{
    const xb_law *law = xb_fit_law(s->fit);
    const xb_law_place place = xb_law_placement(law);
    const xb_moments m = xb_law_moments(law);
    double sd = sqrt(m.variance), beta = m.excess_kurtosis + 3;
    double kl = 0, kl_square = 0, k = 0, k_square = 0, n = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double x = (s->x[i] - place.offset) / place.scale, z = (x - m.mean) / sd;
        double a = xb_law_log_pdf(law, x) + z * z / 2;
        double b = z * z * (z * z - 2 * beta) - 4 * m.skewness * z;
        if (!isfinite(a)) continue; /* outside the support */
        n++, kl += a, kl_square += a * a, k += b, k_square += b * b;
    }
    double independent = xb_fit_sample_effective(xb_fit_sample_info(s->fit));
    return (shape_errors){error_of_mean(kl, kl_square, n, independent),
                          error_of_mean(k, k_square, n, independent)};
}

static xb_status add_shape(laws_study *s, const char *which, const xb_law *law,
                           shape_errors error)
{
    char name[48];
    snprintf(name, sizeof name, "kl_%s", which);
    XB_TRY(xb_study_add_fact(
        s->ctx, s->study, name, xb_law_kl_gaussian(law), error.kl,
        "KL of the %s law from the Gaussian of the same variance (nats)", which));
    snprintf(name, sizeof name, "excess_kurtosis_%s", which);
    return xb_study_add_fact(s->ctx, s->study, name, xb_law_moments(law).excess_kurtosis,
                             error.kurtosis, "excess kurtosis of the %s law", which);
}

/* Whether the samples may be Gaussian. */
static xb_status add_gaussian(laws_study *s)
{
    for (int i = 0; i < xb_fit_family_count(s->fit); i++) {
        const xb_fit_family *f = xb_fit_family_at(s->fit, i);
        if (strcmp(xb_fit_family_name(f), "gaussian") != 0) continue;
        XB_TRY(xb_study_add_fact(s->ctx, s->study, "gaussian_p",
                                 fmin(xb_fit_family_ks_p(f), xb_fit_family_ad_p(f)), NAN,
                                 "p-value of a Gaussian law, the smaller of"
                                 " Kolmogorov-Smirnov's and Anderson-Darling's"));
        return xb_study_add_fact(s->ctx, s->study, "gaussian_fits", xb_fit_family_fits(f),
                                 NAN,
                                 "does a Gaussian law fit the samples? 1: yes, 0: no");
    }
    return XB_OK;
}

static xb_status add_facts(laws_study *s)
{
    const xb_fit_sample *info = xb_fit_sample_info(s->fit);
    XB_TRY(xb_study_add_fact(s->ctx, s->study, "samples", (double)s->n, NAN, "%s%s",
                             s->drawn ? "synthetic samples, draws from " : "samples",
                             s->drawn ? xb_law_text(s->device) : ""));
    XB_TRY(xb_study_add_fact(s->ctx, s->study, "effective_samples",
                             xb_fit_sample_effective(info), NAN,
                             "effectively independent samples among them"));
    XB_TRY(add_parameters(s));
    XB_TRY(add_gaussian(s));
    XB_TRY(add_shape(s, "device", xb_fit_law(s->fit), fitted_errors(s)));
    return add_shape(s, "bimodal", s->bimodal, (shape_errors){NAN, NAN});
}

static xb_status compute(laws_study *s)
{
    XB_TRY(take_samples(s));
    XB_TRY(fit_samples(s));
    XB_TRY(add_histogram(s));
    XB_TRY(add_densities(s));
    return add_facts(s);
}

static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                     const xb_study_options *opt)
{
    laws_study s = {.ctx = ctx, .study = study, .device = device, .opt = opt};
    xb_status status = compute(&s);
    xb_fit_destroy(s.fit);
    xb_law_destroy(s.gaussian);
    xb_law_destroy(s.bimodal);
    xb_free(s.drawn);
    return status;
}

const xb_study_kind xb_study_laws = {
    .name = "laws",
    .about = "samples, the law fitted to them, and three laws of the same variance (Fig. "
             "1, 7)",
    .run = run,
    .find = xb_find_laws,
};
