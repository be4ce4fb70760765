/* show.c: see show.h. Every number is rounded to its error. */
#include "show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

static void show_sample(const xb_fit_sample *x, const char *source, const char *unit)
{
    double n = xb_fit_sample_effective(x);
    printf("%s: %lld samples, %lld distinct values\n\n", source,
           (long long)xb_fit_sample_count(x), (long long)xb_fit_sample_distinct(x));
    char range[96];
    cli_format_range(range, sizeof range, xb_fit_sample_min(x), xb_fit_sample_max(x),
                     unit);
    printf("  %-20s%s\n", "range", range);
    cli_print_estimate("mean", xb_fit_sample_mean(x), xb_fit_sample_sd(x) / sqrt(n),
                       unit);
    cli_print_estimate("standard deviation", xb_fit_sample_sd(x),
                       xb_fit_sample_sd_error(x), unit);
    cli_print_estimate("skewness", xb_fit_sample_skewness(x),
                       xb_fit_sample_skewness_error(x), "");
    cli_print_estimate("excess kurtosis", xb_fit_sample_excess_kurtosis(x),
                       xb_fit_sample_excess_kurtosis_error(x), "");
    printf("  %-20s%.*f of %lld\n", "independent samples", n < 100 ? 1 : 0, n,
           (long long)xb_fit_sample_count(x));
    char tau[32];
    cli_format_rounded(tau, sizeof tau, xb_fit_sample_tau(x));
    printf("  %-20s%.3f at lag 1, correlation time %s samples\n\n", "autocorrelation",
           xb_fit_sample_lag1(x), tau);
}

/* The empirical law has the sample's own placement and width. */
static double error_of(const xb_fit_family *f, int i, const xb_fit_sample *x)
{
    if (!isnan(xb_fit_family_param_error(f, i))) return xb_fit_family_param_error(f, i);
    if (xb_fit_family_param_value(f, i) == xb_fit_sample_mean(x))
        return xb_fit_sample_sd(x) / sqrt(xb_fit_sample_effective(x));
    return xb_fit_family_param_value(f, i) == xb_fit_sample_sd(x)
               ? xb_fit_sample_sd_error(x)
               : NAN;
}

const char *cli_parameter_unit(const char *name, const char *unit)
{
    bool placed = strcmp(name, "scale") == 0 || strcmp(name, "offset") == 0;
    return placed ? unit : "";
}

/* Parameters that the sample could not determine have no error and few digits; those that
 * are given, or end at the outermost sample, have no error and more digits. */
static void format_parameter(char *out, size_t size, const xb_fit_family *f, int i,
                             const xb_fit_sample *x, const char *unit)
{
    enum { GIVEN = 5 };
    bool pinned = !isnan(xb_fit_family_param_error(f, 0)) ||
                  strcmp(xb_fit_family_param_name(f, 0), "scale") == 0;
    double error = error_of(f, i, x);
    const char *own = cli_parameter_unit(xb_fit_family_param_name(f, i), unit);
    if (isnan(error) && pinned) {
        xb_si_unit u = xb_si_unit_for(fabs(xb_fit_family_param_value(f, i)), own);
        char number[48];
        cli_format_value(number, sizeof number,
                         xb_fit_family_param_value(f, i) / u.factor, GIVEN);
        snprintf(out, size, "%s%s%s", number, *u.text ? " " : "", u.text);
    } else {
        xb_quantity_text(out, size, xb_fit_family_param_value(f, i), error, own);
    }
}

int cli_level_count(const xb_fit_family *f)
{
    return strcmp(xb_fit_family_param_name(f, 0), "x1") == 0
               ? (xb_fit_family_param_count(f) - 2) / 3
               : 0;
}

/* One line per level: position, weight and width. */
static void show_levels(const xb_fit_family *f, const xb_fit_sample *x, int levels,
                        int column)
{
    for (int i = 0; i < 3 * levels; i++) {
        char text[128];
        int at = i % 3 * levels + i / 3;
        format_parameter(text, sizeof text, f, at, x, "");
        printf("%s%s = %s", i % 3 ? ", " : "", xb_fit_family_param_name(f, at), text);
        if (i % 3 == 2) printf(",\n%*s", column, "");
    }
}

/* Two parameters per line, aligned; for levels that were not chosen, only their number.
 */
static void show_parameters(const xb_fit_family *f, const xb_fit_sample *x,
                            const char *unit, int column, bool chosen)
{
    int levels = cli_level_count(f), first = 3 * levels;
    if (levels > 0 && chosen) show_levels(f, x, levels, column);
    if (levels > 0 && !chosen)
        printf("%d %s,\n%*s", levels, levels == 1 ? "level" : "levels", column, "");
    for (int i = first; i < xb_fit_family_param_count(f); i++) {
        char text[128];
        format_parameter(text, sizeof text, f, i, x, unit);
        if (i > first && (i - first) % 2 == 0) printf(",\n%*s", column, "");
        printf("%s%s = %s", (i - first) % 2 ? ", " : "", xb_fit_family_param_name(f, i),
               text);
    }
    if (!xb_fit_family_converged(f))
        printf("%s(not converged)", xb_fit_family_param_count(f) ? " " : "");
    putchar('\n');
}

const char *cli_decision_text(const xb_fit_family *f)
{
    const double skewness = xb_fit_family_skewness_p(f);
    const double kurtosis = xb_fit_family_kurtosis_p(f);
    const double distance = fmin(xb_fit_family_ks_p(f), xb_fit_family_ad_p(f));
    const xb_fit_decision decision = xb_fit_family_decision(f);
    if (decision != XB_FIT_NO || !(fmin(skewness, kurtosis) < distance))
        return xb_fit_decision_name(decision);
    return skewness < kurtosis ? "no: skewness" : "no: kurtosis";
}

static double score(const xb_fit_family *f, xb_criterion criterion)
{
    return criterion == XB_CRITERION_BIC ? xb_fit_family_bic(f) : xb_fit_family_aic(f);
}

static double best_score(const xb_fit *fit, xb_criterion criterion)
{
    double best = INFINITY;
    for (int i = 0; i < xb_fit_family_count(fit); i++)
        best = fmin(best, score(xb_fit_family_at(fit, i), criterion));
    return best;
}

static void show_families(const xb_fit *fit, xb_criterion criterion, const char *unit)
{
    enum { COLUMN = 65 };
    double best = best_score(fit, criterion);
    printf("    %-13s%11s%7s%8s%8s%13s %s\n", "family",
           criterion == XB_CRITERION_BIC ? "BIC - best" : "AIC - best", "KS", "KS p",
           "AD p", "fits", "parameters");
    for (int i = 0; i < xb_fit_family_count(fit); i++) {
        const xb_fit_family *f = xb_fit_family_at(fit, i);
        char text[32] = "-", ks[16], ad[16];
        double above = score(f, criterion) - best;
        if (isfinite(above)) snprintf(text, sizeof text, "%.1f", above);
        cli_format_p(ks, sizeof ks, xb_fit_family_ks_p(f));
        cli_format_p(ad, sizeof ad, xb_fit_family_ad_p(f));
        printf("  %s %-13s%11s%7.3f%8s%8s%13s ", i == xb_fit_chosen(fit) ? "*" : " ",
               xb_fit_family_name(f), text, xb_fit_family_ks(f), ks, ad,
               cli_decision_text(f));
        show_parameters(f, xb_fit_sample_info(fit), unit, COLUMN,
                        i == xb_fit_chosen(fit));
    }
}

/* Prints ", one every 2.5 ms", and the options that give what is not known. */
static void print_axes(const xb_series *series, bool has_unit)
{
    char interval[64];
    const bool timed = xb_series_has_interval(series);
    if (timed) {
        xb_quantity_text(interval, sizeof interval, xb_series_interval(series), NAN, "s");
        printf(", one every %s", interval);
    }
    if (timed && !has_unit) printf(", unit not given (--unit)");
    if (!timed)
        printf(has_unit ? ", interval not given (--sample-interval)"
                        : ", interval and unit not given (--sample-interval, --unit)");
}

void cli_show_series(const xb_series *series, const char *source, int64_t samples,
                     const char *found, const char *unit)
{
    enum { COLUMN = 22 };
    printf("%s: %lld samples", source, (long long)samples);
    print_axes(series, *unit);
    printf("%s%s\n\n", *found ? "; " : "", found);
    for (int64_t i = 0; i < xb_series_finding_count(series); i++) {
        printf("  %-*s", COLUMN - 2, xb_series_finding_name(series, i));
        cli_print_words(xb_series_finding_text(series, i), COLUMN, true);
    }
    putchar('\n');
}

void cli_show_whole(const xb_fit *whole)
{
    char text[1200];
    snprintf(text, sizeof text, "The law of the whole trace would be %s. %s",
             xb_law_family(xb_fit_law(whole)), xb_fit_verdict(whole));
    putchar('\n');
    cli_print_words(text, 2, false);
}

void cli_show_fit(const xb_fit *fit, const char *source, xb_criterion criterion)
{
    xb_law_place place = xb_law_placement(xb_fit_law(fit));
    show_sample(xb_fit_sample_info(fit), source, place.unit);
    show_families(fit, criterion, place.unit);
    putchar('\n');
    cli_print_words(xb_fit_verdict(fit), 2, false);
}

void cli_show_finding(xb_finding finding)
{
    enum { COLUMN = 25 }; /* the longest is "shape does not matter" */
    printf("  %-*s", COLUMN - 2, finding.word);
    cli_print_words(finding.text, COLUMN, true);
}

/* The number, then its meaning, which is a sentence. */
void cli_show_study(const xb_study *study)
{
    enum { COLUMN = 24 };
    for (int i = 0; i < xb_study_fact_count(study); i++) {
        xb_fact fact = xb_study_fact_at(study, i);
        char text[64];
        cli_format_error(text, sizeof text, fact.value, fact.std_error);
        int blanks = COLUMN - 2 - cli_text_columns(text);
        printf("  %s%*s", text, blanks > 1 ? blanks : 1, "");
        cli_print_words(fact.text, COLUMN, true);
    }
    if (xb_study_finding_count(study) > 0) putchar('\n');
    for (int i = 0; i < xb_study_finding_count(study); i++)
        cli_show_finding(xb_study_finding_at(study, i));
}

static const char *const score_columns[] = {"rmse", "nll", "crps", "coverage95",
                                            "miscalibration_area"};

static void score_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const laws[] = {"gaussian", "device", "bimodal"};
    static const char *const head[] = {"trained", "evaluated"};
    const xb_table *t = arg;
    const char *key = column < 2 ? NULL : score_columns[column - 2];
    if (row == 0) {
        snprintf(out, size, "%s", column < 2 ? head[column] : key);
    } else if (column < 2) {
        snprintf(out, size, "%s", laws[(int)xb_table_get(t, row - 1, column)]);
    } else {
        char name[64];
        snprintf(name, sizeof name, "%s_mc", key);
        int error = xb_table_column_find(t, name);
        cli_format_error(out, size,
                         xb_table_get(t, row - 1, xb_table_column_find(t, key)),
                         error < 0 ? NAN : xb_table_get(t, row - 1, error));
    }
}

void cli_show_scores(const xb_table *scores)
{
    putchar('\n');
    cli_print_grid((int)xb_table_row_count(scores) + 1, 2 + CLI_COUNT_OF(score_columns),
                   score_cell, scores);
    printf("  ages in years; ±: Monte Carlo error over weight draws\n");
}

unsigned cli_formats(const char *list)
{
    return (cli_has_word(list, "svg") ? XB_FIGURE_SVG : 0u) |
           (cli_has_word(list, "png") ? XB_FIGURE_PNG : 0u) |
           (cli_has_word(list, "pdf") ? XB_FIGURE_PDF : 0u);
}

char *cli_join(const char *dir, const char *name, const char *extension)
{
    size_t size = strlen(dir) + strlen(name) + strlen(extension) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s%s", dir, name, extension);
    return path;
}
