/* demo_noise.c: the first section of the demo's page: the samples in numbers, the law
 * fitted to them, and warnings. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"
#include "print.h"
#include "show.h"

enum { TEXT = 96, TEXT_LONG = 1024, ROWS_MOST = 16, CELLS = 7 };

/* Rows of text while they are collected. */
typedef struct rows {
    char text[ROWS_MOST][2][TEXT];
    int n;
} rows;

XB_PRINTF(3, 4) static void add_row(rows *r, const char *name, const char *format, ...)
{
    va_list args;
    if (r->n == ROWS_MOST) return;
    snprintf(r->text[r->n][0], TEXT, "%s", name);
    va_start(args, format);
    vsnprintf(r->text[r->n][1], TEXT, format, args);
    va_end(args);
    r->n++;
}

static void add_estimate(rows *r, const char *name, double value, double error,
                         const char *unit)
{
    char text[TEXT];
    xb_quantity_text(text, sizeof text, value, error, unit);
    add_row(r, name, "%s", text);
}

static void collect_sample(rows *r, const cli_demo *d, const xb_fit *fit)
{
    const xb_fit_sample *x = xb_fit_sample_info(fit);
    xb_law_place place = xb_law_placement(xb_fit_law(fit));
    double n = xb_fit_sample_effective(x);
    add_row(r, "samples", "%lld of %lld from %.64s", (long long)xb_fit_sample_count(x),
            (long long)d->n, d->source);
    if (d->column) add_row(r, "column", "%.64s", d->column);
    add_row(r, "unit", "%s", *place.unit ? place.unit : "not given");
    char tau[32];
    cli_format_rounded(tau, sizeof tau, xb_fit_sample_tau(x));
    add_row(r, "independent samples",
            "%.*f: correlation time %s samples, autocorrelation %.3f at lag 1",
            n < 100 ? 1 : 0, n, tau, xb_fit_sample_lag1(x));
    add_row(r, "distinct values", "%lld", (long long)xb_fit_sample_distinct(x));
    char range[TEXT];
    cli_format_range(range, sizeof range, xb_fit_sample_min(x), xb_fit_sample_max(x),
                     place.unit);
    add_row(r, "range", "%s", range);
    add_estimate(r, "mean", xb_fit_sample_mean(x), xb_fit_sample_sd(x) / sqrt(n),
                 place.unit);
    add_estimate(r, "standard deviation", xb_fit_sample_sd(x), xb_fit_sample_sd_error(x),
                 place.unit);
    add_estimate(r, "skewness", xb_fit_sample_skewness(x),
                 xb_fit_sample_skewness_error(x), "");
    add_estimate(r, "excess kurtosis", xb_fit_sample_excess_kurtosis(x),
                 xb_fit_sample_excess_kurtosis_error(x), "");
}

static void show_sample(const cli_demo *d, const xb_fit *fit)
{
    static const char *const heading[] = {"", "the stationary part"};
    rows r = {.n = 0};
    const char *cell[ROWS_MOST][2];
    collect_sample(&r, d, fit);
    for (int i = 0; i < r.n; i++)
        for (int c = 0; c < 2; c++) cell[i][c] = r.text[i][c];
    xb_page_rows(d->page,
                 &(xb_page_rows_info){
                     .columns = 2, .heading = heading, .rows = r.n, .cell = &cell[0][0]});
}

/* The sentence after the verdict that the page shows as a label: "At every ..." for
 * "Measure longer: at every ...". */
static void without_verdict(char *out, size_t size, const char *text)
{
    static const char verdict[] = "Measure longer: ";
    const size_t length = sizeof verdict - 1;
    const bool has = strncmp(text, verdict, length) == 0;
    snprintf(out, size, "%s", text + (has ? length : 0));
    out[0] = (char)toupper((unsigned char)out[0]);
}

/* The findings about the trace, one line for each search; the last, on reads as draws, is
 * a verdict. */
static void show_series(cli_demo *d)
{
    static const char *const heading[] = {"", "the trace as a time series"};
    enum { SEARCHES_MOST = 16 };
    const char *cell[SEARCHES_MOST][2];
    const int64_t last = xb_series_finding_count(d->series) - 1;
    int64_t n = last < SEARCHES_MOST ? last : SEARCHES_MOST;
    for (int64_t i = 0; i < n; i++) {
        cell[i][0] = xb_series_finding_name(d->series, i);
        cell[i][1] = xb_series_finding_text(d->series, i);
    }
    xb_page_rows(d->page, &(xb_page_rows_info){.columns = 2,
                                               .heading = heading,
                                               .rows = (int)n,
                                               .cell = &cell[0][0]});
    const xb_usable usable = xb_series_usable(d->series);
    const xb_finding_kind kind = usable == XB_USABLE          ? XB_FINDING_AGREES
                                 : usable == XB_USABLE_SLOWER ? XB_FINDING_DIFFERS
                                                              : XB_FINDING_UNCLEAR;
    char text[TEXT_LONG];
    without_verdict(text, sizeof text, xb_series_finding_text(d->series, last));
    cli_demo_finding(d, (xb_finding){kind, xb_usable_name(usable), text});
}

/* ---- warnings */

static void warn(cli_demo *d, const char *text)
{
    cli_demo_finding(d, (xb_finding){XB_FINDING_UNCLEAR, "warning", text});
}

static void show_warnings(cli_demo *d, const xb_fit *fit)
{
    enum { INDEPENDENT_FEW = 100, DISTINCT_FEW = 64 };
    const xb_fit_sample *x = xb_fit_sample_info(fit);
    char text[256];
    if (xb_fit_sample_effective(x) < INDEPENDENT_FEW) {
        char worth[64];
        if (xb_fit_sample_count(x) < INDEPENDENT_FEW)
            snprintf(worth, sizeof worth, "Only %lld samples",
                     (long long)xb_fit_sample_count(x));
        else
            snprintf(worth, sizeof worth,
                     "%lld samples are worth only %.0f independent ones",
                     (long long)xb_fit_sample_count(x), xb_fit_sample_effective(x));
        snprintf(text, sizeof text,
                 "%s: another trace of the same device may give another law.", worth);
        warn(d, text);
    }
    if (xb_fit_sample_distinct(x) < DISTINCT_FEW &&
        xb_fit_sample_distinct(x) < xb_fit_sample_count(x)) {
        snprintf(text, sizeof text,
                 "There are only %lld distinct values: the converter is coarse, and the "
                 "law between its levels is a guess.",
                 (long long)xb_fit_sample_distinct(x));
        warn(d, text);
    }
}

/* ---- the law */

enum { PARAMETERS = 1024 }; /* eight levels have 26 numbers with errors */

/* All parameters; of levels that were not chosen, their number, scale and offset. */
static void parameters_text(char out[PARAMETERS], const xb_fit *fit, int i)
{
    const xb_law_place place = xb_law_placement(xb_fit_law(fit));
    const xb_fit_family *f = xb_fit_family_at(fit, i);
    const int count = (int)xb_fit_family_param_count(f);
    const int levels = i == xb_fit_chosen(fit) ? 0 : cli_level_count(f);
    size_t used = 0;
    out[0] = '\0';
    if (levels > 0)
        used = (size_t)snprintf(out, PARAMETERS, "%d %s", levels,
                                xb_plural(levels, "level", "levels"));
    for (int k = 3 * levels; k < count && used < PARAMETERS; k++) {
        char number[TEXT];
        xb_quantity_text(number, sizeof number, xb_fit_family_param_value(f, k),
                         xb_fit_family_param_error(f, k),
                         cli_parameter_unit(xb_fit_family_param_name(f, k), place.unit));
        used += (size_t)snprintf(out + used, PARAMETERS - used, "%s%s = %s",
                                 used > 0 ? ", " : "", xb_fit_family_param_name(f, k),
                                 number);
    }
}

static void family_cells(char out[CELLS][TEXT], const xb_fit *fit, int i, double best)
{
    const xb_fit_family *f = xb_fit_family_at(fit, i);
    double above = xb_fit_family_aic(f) - best;
    snprintf(out[0], TEXT, "%s%s", xb_fit_family_name(f),
             i == xb_fit_chosen(fit) ? " (chosen)" : "");
    out[1][0] = '\0';
    if (isfinite(above)) snprintf(out[1], TEXT, "%.1f", above);
    snprintf(out[2], TEXT, "%.3f", xb_fit_family_ks(f));
    cli_format_p(out[3], TEXT, xb_fit_family_ks_p(f));
    cli_format_p(out[4], TEXT, xb_fit_family_ad_p(f));
    snprintf(out[5], TEXT, "%s", cli_decision_text(f));
}

static void show_families(const cli_demo *d, const xb_fit *fit)
{
    static const char *const heading[] = {"family", "AIC - best", "KS distance", "KS p",
                                          "AD p",   "fits",       "parameters"};
    enum { FAMILIES_MOST = 16 };
    char text[FAMILIES_MOST][CELLS][TEXT], parameters[FAMILIES_MOST][PARAMETERS];
    const char *cell[FAMILIES_MOST][CELLS];
    double best = INFINITY;
    int n = (int)xb_fit_family_count(fit);
    if (n > FAMILIES_MOST) n = FAMILIES_MOST;
    for (int i = 0; i < n; i++)
        best = fmin(best, xb_fit_family_aic(xb_fit_family_at(fit, i)));
    for (int i = 0; i < n; i++) {
        family_cells(text[i], fit, i, best);
        parameters_text(parameters[i], fit, i);
        for (int c = 0; c < CELLS; c++) cell[i][c] = text[i][c];
        cell[i][CELLS - 1] = parameters[i];
    }
    xb_page_rows(d->page, &(xb_page_rows_info){.caption = "All families",
                                               .columns = CELLS,
                                               .heading = heading,
                                               .rows = n,
                                               .cell = &cell[0][0],
                                               .folded = true});
}

static xb_finding fit_finding(const xb_fit *fit)
{
    xb_fit_outcome outcome = xb_fit_outcome_of(fit);
    xb_finding_kind kind = outcome == XB_FIT_FITS ? XB_FINDING_AGREES
                           : outcome == XB_FIT_DIVERGED || outcome == XB_FIT_UNTESTED
                               ? XB_FINDING_UNCLEAR
                               : XB_FINDING_DIFFERS;
    return (xb_finding){kind, xb_fit_outcome_name(outcome), xb_fit_verdict(fit)};
}

/* The command that repeats the fit; free() it. NULL: memory has run out. */
static char *fit_command(const cli_demo *d)
{
    char *text = NULL;
    char *figure = cli_join(d->dir, "fit", ".svg");
    FILE *out = figure ? cli_memory_open(&text) : NULL;
    if (!out) {
        free(figure);
        return NULL;
    }
    const char *const words[][2] = {
        {"--column", d->column},
        {"--unit", cli_text(&d->s->args, "unit", NULL)},
        {"--sample-interval", cli_text(&d->s->args, "sample-interval", NULL)},
        {"--sample-rate", cli_text(&d->s->args, "sample-rate", NULL)},
        {"--time", cli_text(&d->s->args, "time", NULL)},
        {"-o", d->law},
        {"--figure", figure}};
    fprintf(out, "crossbayes fit ");
    cli_quote(out, d->noise);
    for (int i = 0; i < CLI_COUNT_OF(words); i++) {
        if (!words[i][1]) continue;
        fprintf(out, " %s ", words[i][0]);
        cli_quote(out, words[i][1]);
    }
    free(figure);
    if (cli_seed(d->s) != 1)
        fprintf(out, " --seed %llu", (unsigned long long)cli_seed(d->s));
    return cli_memory_close(out, text);
}

xb_status cli_demo_noise(cli_demo *d, const xb_fit *fit)
{
    const xb_fit_family *f = xb_fit_family_at(fit, xb_fit_chosen(fit));
    char caption[320];
    char *command = fit_command(d);
    if (!command) return XB_E_MEMORY;
    snprintf(
        caption, sizeof caption,
        "The trace and the part that the law describes; its samples with the fitted "
        "densities; its quantiles against those of the chosen law, %s, whose "
        "distribution function differs from theirs by at most %.2g; the spectrum and the "
        "autocorrelation.",
        xb_fit_family_name(f), xb_fit_family_ks(f));
    cli_demo_section(d, "noise", "The noise and its law");
    show_series(d);
    show_sample(d, fit);
    show_warnings(d, fit);
    xb_status status = cli_demo_figure(
        d, "fit",
        "Above: the trace against time. Middle: histogram of the stationary part with the"
        " fitted densities, and its quantiles against those of the chosen law. Below: its"
        " spectrum and its autocorrelation.",
        caption, command, fit_finding(fit));
    show_families(d, fit);
    free(command);
    return status;
}
