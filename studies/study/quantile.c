/* quantile.c: the study "quantile", the paper's Fig. 3 and the bias that its Monte Carlo
 * cannot show: three one-polynomial quantiles of the device law, drawn over all u and
 * near u = 0; the error of a Monte Carlo estimate of KL (device to matched Gaussian) made
 * with each; and the exact bias that each has at infinitely many draws. Such polynomials
 * are for mtj and ecram: other laws have the exact curve and the sampler alone. Tables:
 *   curves, near_zero  u, exact, direct, corrected, spectral (degree 10)
 *   kl_error           draws, |estimate - exact| of each fit, std_error
 *   bias               degree, exact bias of the estimate with each fit
 *   u_error            degree, largest |Q(G(u)) - u| of each fit
 *   sampler            v, |Q(G) - v| of the sampler at mass v in either tail, in single
 *                      and in double precision */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/rule.h"
#include "crossbayes/extend.h"
#include "crossbayes/draw.h"
#include "crossbayes/random.h"
#include "study/quantile_fit.h"
#include "study/study.h"

enum { DIRECT, CORRECTED, SPECTRAL, FITS };
enum { DEGREE = 10, DEGREE_LAST = 40, PIECE = 1000 };
static const char *const fit_names[] = {"direct", "corrected", "spectral"};

typedef struct fit_set {
    const xb_law *law;
    xb_quantile_fit *fit[FITS];
} fit_set;

static xb_status fits_make(xb_ctx *ctx, fit_set *out, const xb_law *law, int degree)
{
    *out = (fit_set){law, {NULL}};
    for (int i = 0; i < FITS; i++)
        XB_TRY(xb_quantile_fit_create(ctx, &out->fit[i], law, (xb_quantile_kind)i, degree,
                                      true));
    return XB_OK;
}

static void fits_free(fit_set *set)
{
    for (int i = 0; i < FITS; i++) xb_quantile_fit_destroy(set->fit[i]);
}

/* log q - log N(0, variance) at x; a draw outside the support counts as one just
 * inside, where the estimate is still a number. */
static double log_ratio(const xb_law *law, double x)
{
    const double inside = 1 - 1e-12;
    double y = fmin(fmax(x, -inside), inside) / xb_law_sd(law);
    return xb_law_log_pdf(law, y * xb_law_sd(law)) + 0.5 * y * y +
           0.5 * log(2 * M_PI * xb_law_moments(law).variance);
}

/* ---- curves */

static xb_status curve_table(xb_ctx *ctx, xb_study *study, const char *name,
                             const fit_set *set, double u_last, int rows)
{
    static const char *const columns[] = {"u", "exact", "direct", "corrected",
                                          "spectral"};
    xb_table *table = NULL;
    XB_TRY(
        xb_study_new_table(ctx, study, &table, name, rows, XB_COUNT(columns), columns));
    for (int row = 0; row < rows; row++) {
        double part = (double)row / (rows - 1);
        /* closer together towards the ends, where the quantile is steep */
        double u = u_last < 1 ? u_last * part * part : 0.5 - 0.5 * cos(M_PI * part);
        double v = fmax(fmin(u, 1 - u), 1e-300);
        xb_table_set(table, row, 0, u);
        xb_table_set(table, row, 1, xb_law_quantile(set->law, u));
        for (int i = 0; i < FITS && set->fit[i]; i++) {
            double x = xb_quantile_fit_eval(set->fit[i], v);
            xb_table_set(table, row, 2 + i, u > 0.5 ? -x : x);
        }
    }
    return XB_OK;
}

/* ---- exact bias */

/* E over u of log_ratio(G) by Gauss-Legendre in s, panel by panel, minus the KL. */
static double exact_bias(const xb_quantile_fit *fit, const xb_law *law,
                         const xb_rule *rule)
{
    enum { PANELS = 64 };
    double bias = 0;
    for (int panel = 0; panel < PANELS; panel++)
        for (int64_t j = 0; j < xb_rule_count(rule); j++) {
            double s = (panel + 0.5 * (1 + xb_rule_nodes(rule)[j])) / PANELS,
                   v = 0.5 * s * s;
            double difference = log_ratio(law, xb_quantile_fit_eval(fit, v)) -
                                log_ratio(law, xb_law_quantile(law, v));
            /* 2 dv = 2 s ds */
            bias += 2 * s * 0.5 * xb_rule_weights(rule)[j] / PANELS * difference;
        }
    return bias;
}

static xb_status bias_fact(xb_ctx *ctx, xb_study *study, int fit, double bias)
{
    char name[32];
    snprintf(name, sizeof name, "bias_%s", fit_names[fit]);
    return xb_study_add_fact(
        ctx, study, name, bias, NAN,
        "exact bias of the Monte Carlo KL with the %s fit of degree %d", fit_names[fit],
        DEGREE);
}

static xb_status fill_degrees(xb_ctx *ctx, xb_study *study, const xb_law *law,
                              const xb_rule *rule)
{
    enum { FIRST = 2 };
    static const char *const columns[] = {"degree", "direct", "corrected", "spectral"};
    xb_table *bias = NULL, *error = NULL;
    int64_t rows = (DEGREE_LAST - FIRST) / 2 + 1;
    XB_TRY(
        xb_study_new_table(ctx, study, &bias, "bias", rows, XB_COUNT(columns), columns));
    XB_TRY(xb_study_new_table(ctx, study, &error, "u_error", rows, XB_COUNT(columns),
                              columns));
    for (int64_t row = 0; row < rows; row++) {
        int degree = (int)(FIRST + 2 * row);
        XB_TRY(xb_progress_tell(ctx, "fitting quantiles", row, rows));
        fit_set set;
        xb_status status = fits_make(ctx, &set, law, degree);
        xb_table_set(bias, row, 0, degree);
        xb_table_set(error, row, 0, degree);
        for (int i = 0; i < FITS && status == XB_OK; i++) {
            double b = exact_bias(set.fit[i], law, rule);
            xb_table_set(bias, row, 1 + i, b);
            xb_table_set(error, row, 1 + i, xb_quantile_fit_u_error(set.fit[i]));
            if (degree == DEGREE) status = bias_fact(ctx, study, i, b);
        }
        fits_free(&set);
        XB_TRY(status);
    }
    return XB_OK;
}

static xb_status degree_tables(xb_ctx *ctx, xb_study *study, const xb_law *law)
{
    enum { POINTS = 24 };
    xb_rule *rule = NULL;
    XB_TRY(xb_rule_legendre(ctx, &rule, POINTS));
    xb_status status = fill_degrees(ctx, study, law, rule);
    xb_rule_destroy(rule);
    return status;
}

/* ---- Monte Carlo */

typedef struct monte_carlo {
    const fit_set *set;
    xb_stream where;
    double (*sum)[FITS]; /* [pieces] sums of log_ratio */
    double *square;      /* [pieces] sums of its square, for the spectral fit */
} monte_carlo;

/* PIECE draws, with the same u for every fit. */
static void monte_carlo_piece(void *arg, int64_t piece)
{
    monte_carlo *mc = arg;
    for (int64_t i = piece * PIECE; i < (piece + 1) * PIECE; i++) {
        double u = xb_stream_uniform(&mc->where, i), v = fmin(u, 1 - u);
        for (int f = 0; f < FITS; f++) {
            double value =
                log_ratio(mc->set->law, xb_quantile_fit_eval(mc->set->fit[f], v));
            mc->sum[piece][f] += value;
            if (f == SPECTRAL) mc->square[piece] += value * value;
        }
    }
}

/* One row at 1, 2 and 5 of each decade from PIECE to `draws`. */
static xb_status kl_table(xb_ctx *ctx, xb_study *study, const monte_carlo *mc,
                          int64_t draws)
{
    static const char *const columns[] = {"draws", "direct", "corrected", "spectral",
                                          "std_error"};
    static const int64_t step[] = {1, 2, 5};
    int64_t size[64], rows = 0;
    for (int64_t decade = PIECE; decade <= draws; decade *= 10)
        for (int i = 0; i < XB_COUNT(step); i++)
            if (step[i] * decade <= draws) size[rows++] = step[i] * decade;
    xb_table *table = NULL;
    XB_TRY(xb_study_new_table(ctx, study, &table, "kl_error", rows, XB_COUNT(columns),
                              columns));
    double exact = xb_law_kl_gaussian(mc->set->law), sum[FITS] = {0}, square = 0;
    int64_t piece = 0;
    for (int64_t row = 0; row < rows; row++) {
        for (; piece < size[row] / PIECE; piece++) {
            for (int f = 0; f < FITS; f++) sum[f] += mc->sum[piece][f];
            square += mc->square[piece];
        }
        double n = (double)size[row], mean = sum[SPECTRAL] / n;
        xb_table_set(table, row, 0, n);
        for (int f = 0; f < FITS; f++)
            xb_table_set(table, row, 1 + f, fabs(sum[f] / n - exact));
        xb_table_set(table, row, 4, sqrt((square / n - mean * mean) / n));
    }
    return xb_study_add_fact(ctx, study, "monte_carlo_noise",
                             xb_table_get(table, rows - 1, 4), NAN,
                             "standard error of the Monte Carlo KL with %lld draws: "
                             "smaller biases cannot be seen with that many draws",
                             (long long)size[rows - 1]);
}

static xb_status monte_carlo_run(xb_ctx *ctx, xb_study *study, const fit_set *set,
                                 int64_t draws, uint64_t seed)
{
    int64_t pieces = draws / PIECE;
    monte_carlo mc = {.set = set,
                      .where = {xb_key_make(seed, XB_PURPOSE_SAMPLE), 0, 0, 0}};
    mc.sum = xb_new(ctx, pieces, sizeof *mc.sum);
    mc.square = xb_new(ctx, pieces, sizeof *mc.square);
    xb_status status = mc.sum && mc.square ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) {
        xb_parallel_for(ctx, pieces, monte_carlo_piece, &mc);
        status = kl_table(ctx, study, &mc, draws);
    }
    xb_free(mc.sum);
    xb_free(mc.square);
    return status;
}

/* ---- the sampler */

/* The size of Q(G) - v if the draw is z standard deviations from the mean. */
static double mass_error(const xb_law *law, double z, double v, bool upper)
{
    double x = xb_law_mean(law) + z * xb_law_sd(law);
    return fabs((upper ? xb_law_survival(law, x) : xb_law_cdf(law, x)) - v);
}

/* Uses masses that a draw can have, (k + 1/2) 2^-32, evenly spaced in log v from 2^-24 to
 * 1/2. */
static xb_status sampler_table(xb_ctx *ctx, xb_study *study, const xb_law *law,
                               const xb_sampler *s)
{
    enum { ROWS = 185, FIRST = -24, LAST = -1 };
    static const char *const columns[] = {"v", "single_lower", "single_upper",
                                          "double_lower", "double_upper"};
    xb_table *t = NULL;
    XB_TRY(
        xb_study_new_table(ctx, study, &t, "sampler", ROWS, XB_COUNT(columns), columns));
    for (int64_t row = 0; row < ROWS; row++) {
        double power = FIRST + (double)(LAST - FIRST) * (double)row / (ROWS - 1);
        uint32_t k = (uint32_t)fmin(exp2(power + 32), 0x7FFFFFFF);
        double v = ldexp(k + 0.5, -32);
        xb_table_set(t, row, 0, v);
        for (int upper = 0; upper < 2; upper++) {
            double single = xb_sampler_value(s, k | (uint32_t)upper << 31);
            double whole = xb_sampler_quantile(s, v, upper);
            xb_table_set(t, row, 1 + upper, mass_error(law, single, v, upper));
            xb_table_set(t, row, 3 + upper, mass_error(law, whole, v, upper));
        }
    }
    return XB_OK;
}

static xb_status sampler_facts(xb_ctx *ctx, xb_study *study, xb_sampler_info info)
{
    XB_TRY(
        xb_study_add_fact(ctx, study, "sampler_u_error_double", info.double_u_error, NAN,
                          "largest |Q(G(u)) - u| of the sampler in double precision (%lld"
                          " pieces of degree %lld)",
                          (long long)info.double_pieces, (long long)info.double_degree));
    return xb_study_add_fact(
        ctx, study, "sampler_u_error_float", info.float_u_error, NAN,
        "largest |Q(G(u)) - u| of the sampler in single precision (%lld"
        " cells of degree %lld)",
        (long long)info.pieces, (long long)info.degree);
}

static xb_status sampler_run(xb_ctx *ctx, xb_study *study, const xb_law *law)
{
    xb_sampler *s = NULL;
    XB_TRY(xb_sampler_create(ctx, &s, law, NULL));
    xb_status status = sampler_table(ctx, study, law, s);
    if (status == XB_OK) status = sampler_facts(ctx, study, xb_sampler_describe(s));
    xb_sampler_destroy(s);
    return status;
}

/* ---- the study */

static xb_status curve_tables(xb_ctx *ctx, xb_study *study, const fit_set *set)
{
    XB_TRY(curve_table(ctx, study, "curves", set, 1, 401));
    return curve_table(ctx, study, "near_zero", set, 0.01, 201);
}

static xb_status polynomials_run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                                 const xb_study_options *opt)
{
    const int64_t draws = opt->quick ? 200000 : 10000000;
    fit_set set;
    xb_status status = fits_make(ctx, &set, device, DEGREE);
    if (status == XB_OK) status = curve_tables(ctx, study, &set);
    if (status == XB_OK) status = xb_progress_tell(ctx, "drawing", 0, draws);
    if (status == XB_OK) status = monte_carlo_run(ctx, study, &set, draws, opt->seed);
    fits_free(&set);
    XB_TRY(status);
    return degree_tables(ctx, study, device);
}

static bool has_polynomials(const xb_law *law)
{
    return strcmp(xb_law_family(law), "mtj") == 0 ||
           strcmp(xb_law_family(law), "ecram") == 0;
}

static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                     const xb_study_options *opt)
{
    XB_TRY(xb_study_add_fact(ctx, study, "kl_exact", xb_law_kl_gaussian(device), NAN,
                             "KL of %s from the Gaussian of the same variance",
                             xb_law_text(device)));
    if (has_polynomials(device))
        XB_TRY(polynomials_run(ctx, study, device, opt));
    else
        XB_TRY(curve_tables(ctx, study, &(fit_set){.law = device}));
    return sampler_run(ctx, study, device);
}

const xb_study_kind xb_study_quantile = {
    .name = "quantile",
    .about =
        "direct, corrected and spectral quantiles, and the effect of each on KL (Fig. 3)",
    .run = run,
    .find = xb_find_quantile,
};
