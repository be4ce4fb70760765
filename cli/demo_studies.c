/* demo_studies.c: the studies of the demo's page, each run once with the fitted law as
 * the device; study_words.c lists their figures and captions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"
#include "print.h"
#include "show.h"
#include "study_words.h"

/* The study that asks whether the shape of the noise matters; its finding is the headline
 * of the page. */
static const char HEADLINE_STUDY[] = "energy";

/* The study of a device file, which is optional. */
static bool needs_device(const char *study) { return strcmp(study, "retention") == 0; }

static bool left_out(const char *study, const char *device)
{
    return needs_device(study) && !device;
}

/* ---- commands */

static void put_option(FILE *out, const char *name, const char *value)
{
    if (!value) return;
    fprintf(out, " %s ", name);
    cli_quote(out, value);
}

/* The stationary part, if it is not the whole trace. */
static void put_rows(FILE *out, const xb_series *series)
{
    const xb_segment part =
        xb_series_segment_at(series, xb_series_segment_chosen(series));
    if (xb_series_segment_count(series) > 1 || part.first > 0)
        fprintf(out, " --sample-range %lld:%lld", (long long)part.first + 1,
                (long long)(part.first + part.count));
}

/* The command that repeats a study; free() it. NULL: memory has run out. */
static char *study_command(const cli_demo *d, const char *study)
{
    char *text = NULL;
    FILE *out = cli_memory_open(&text);
    if (!out) return NULL;
    fprintf(out, "crossbayes study %s --quick", study);
    if (needs_device(study))
        put_option(out, "--device", d->device);
    else
        put_option(out, "--device-law", d->law);
    if (strcmp(study, "laws") == 0) {
        put_option(out, "--noise", d->noise);
        put_option(out, "--column", d->column);
        put_rows(out, d->series);
    }
    if (strcmp(study, "utkface") == 0) put_option(out, "--data", "synthetic");
    if (cli_seed(d->s) != 1)
        fprintf(out, " --seed %llu", (unsigned long long)cli_seed(d->s));
    put_option(out, "-o", d->dir);
    return cli_memory_close(out, text);
}

/* ---- running */

static xb_status run_study(const cli_demo *d, xb_study **out, const char *name)
{
    xb_study_options options = xb_study_options_default();
    xb_ctx *ctx = d->s->ctx;
    if (strcmp(name, "utkface") == 0) options.data = "synthetic";
    options.quick = true;
    options.seed = cli_seed(d->s);
    if (needs_device(name))
        options.device = d->device;
    else
        options.device_law = d->staged;
    options.noise = xb_series_values(d->series);
    options.noise_n = xb_series_count(d->series);
    xb_status status = xb_study_run(ctx, out, name, &options);
    const char *dir = xb_stage_dir(d->stage);
    if (status == XB_OK) status = xb_study_write(ctx, *out, dir);
    if (status == XB_OK) status = xb_report_study(ctx, *out, dir, cli_demo_formats(d->s));
    if (status != XB_OK || !d->json) return status;
    char *text = NULL;
    status = xb_study_json(ctx, &text, *out);
    if (status == XB_OK) json_object_set_new(d->json, name, json_loads(text, 0, NULL));
    xb_free(text);
    return status;
}

static xb_status show_figure(cli_demo *d, const cli_study_figure *f,
                             const xb_study *study)
{
    char *caption = cli_study_caption(f->caption, study), *command = NULL;
    command = study_command(d, f->study);
    char name[64];
    snprintf(name, sizeof name, "%s%s", f->study, f->part);
    xb_finding finding = {0};
    if (f->finding >= 0 && f->finding < xb_study_finding_count(study))
        finding = xb_study_finding_at(study, f->finding);
    if (f->id) cli_demo_section(d, f->id, f->heading);
    if (strcmp(f->study, HEADLINE_STUDY) == 0 && finding.kind != XB_FINDING_NONE)
        xb_page_headline(d->page, &finding);
    xb_status status = caption && command
                           ? cli_demo_figure(d, name, f->alt, caption, command, finding)
                           : XB_E_MEMORY;
    free(caption);
    free(command);
    return status;
}

/* ---- tables of numbers that figures do not show */

typedef struct table_row {
    const char *label, *fact[3];
} table_row;

static void show_rows(const cli_demo *d, const xb_study *study, const char *caption,
                      const char *const *heading, int columns, const table_row *row,
                      int n)
{
    enum { ROWS = 8, COLUMNS = 4, TEXT = 64 };
    char text[ROWS][COLUMNS][TEXT];
    const char *cell[ROWS * COLUMNS];
    for (int r = 0; r < n; r++)
        for (int c = 0; c < columns; c++) {
            const char *name = c ? row[r].fact[c - 1] : "";
            xb_fact fact = cli_study_fact(study, name, strlen(name));
            if (c == 0)
                snprintf(text[r][c], TEXT, "%s", row[r].label);
            else if (isnan(fact.value))
                snprintf(text[r][c], TEXT, "none of those tried");
            else if (fact.std_error > 0)
                xb_number_with_error(text[r][c], TEXT, fact.value, fact.std_error);
            else
                snprintf(text[r][c], TEXT, "%.5g", fact.value);
            cell[r * columns + c] = text[r][c];
        }
    xb_page_rows(d->page, &(xb_page_rows_info){.caption = caption,
                                               .columns = columns,
                                               .heading = heading,
                                               .rows = n,
                                               .cell = cell});
}

static void show_laws(const cli_demo *d, const xb_study *study)
{
    static const char *const heading[] = {"noise of the weights", "RMSE", "NLL (nats)"};
    static const table_row row[] = {
        {"Gaussian", {"rmse", "nll"}},
        {"device", {"rmse_device", "nll_device"}},
        {"bimodal", {"rmse_bimodal", "nll_bimodal"}},
        {"device, also in training", {"rmse_trained", "nll_trained"}}};
    show_rows(d, study, "Scores on the same test data, within the training range",
              heading, 3, row, CLI_COUNT_OF(row));
}

static void show_needs(const cli_demo *d, const xb_study *study)
{
    static const char *const heading[] = {"predictives move by at most 0.1 sd",
                                          "the sine", "the table"};
    static const table_row row[] = {
        {"ADC bits, at least", {"adc_bits_scalar", "adc_bits_table"}},
        {"states of a mean device, at least",
         {"mean_levels_scalar", "mean_levels_table"}},
        {"widths of a noise device, at least",
         {"sigma_levels_scalar", "sigma_levels_table"}},
        {"smallest over largest width, at most",
         {"sigma_min_us_scalar", "sigma_min_us_table"}},
        {"programming error over range, at most",
         {"program_error_scalar", "program_error_table"}},
        {"correlation time over read interval, at most (100 reads)",
         {"correlation_scalar", "correlation_table"}}};
    show_rows(d, study, "What the array needs, among the settings tried", heading, 3, row,
              CLI_COUNT_OF(row));
}

/* The words of the page that a reader from another field may not know. */
static void show_words(cli_demo *d)
{
    static const char *const heading[] = {"word", "meaning"};
    static const char *const cell[][2] = {
        {"law", "the distribution of the noise; only its shape enters a network"},
        {"independent samples",
         "the number of independent draws that would determine a mean as well as the "
         "correlated samples do"},
        {"AIC", "compares families: fit to the samples with a charge for each parameter; "
                "lower is better"},
        {"KS, AD",
         "Kolmogorov-Smirnov and Anderson-Darling tests of a fit; AD weighs the "
         "tails more"},
        {"KL, nat", "KL(A‖B) says how far distribution A is from B, in nats; 0: they "
                    "are equal"},
        {"rule", "points and weights that replace an integral over the law by a sum"},
        {"sd", "standard deviation"},
        {"predictive", "the distribution of the target for one input, over all draws of "
                       "the weights"},
        {"epistemic, aleatoric",
         "the part of a predictive's variance that comes from not "
         "knowing the weights, and the part that is noise of the "
         "data"},
        {"NLL, RMSE",
         "mean negative log likelihood (it judges mean and uncertainty), and "
         "root mean square error; lower is better for both"},
        {"oracle", "a predictor that knows the true function and noise"},
        {"miscalibration area", "mean distance between stated and observed probabilities "
                                "of intervals; 0 is perfect"},
        {"n_eff", "the number of equal weights that would share an output's variance as "
                  "the actual weights do"},
        {"width, depth", "units of each hidden layer, and number of hidden layers"},
        {"mean device, noise device", "a device of the array that holds a weight's mean, "
                                      "and one that adds its noise"}};
    cli_demo_section(d, "words", "Words of this page");
    xb_page_rows(d->page, &(xb_page_rows_info){.columns = 2,
                                               .heading = heading,
                                               .rows = CLI_COUNT_OF(cell),
                                               .cell = &cell[0][0]});
}

/* Called after the last figure of a study. */
static void show_rest(cli_demo *d, const xb_study *study)
{
    const char *name = xb_study_name(study);
    if (strcmp(name, "scalar") == 0) show_laws(d, study);
    if (strcmp(name, "array") == 0) show_needs(d, study);
    if (strcmp(name, "utkface") == 0 && xb_study_finding_count(study) > 1)
        cli_demo_finding(d, xb_study_finding_at(study, 1));
    for (int i = 1; needs_device(name) && i < xb_study_finding_count(study); i++)
        cli_demo_finding(d, xb_study_finding_at(study, i));
}

static bool last_of_study(int i)
{
    return i + 1 == cli_study_figure_count() ||
           strcmp(cli_study_figure_at(i)->study, cli_study_figure_at(i + 1)->study) != 0;
}

cli_exit cli_demo_plan_studies(cli_session *s, const char *dir, unsigned formats,
                               const char *label)
{
    const xb_study_options options = xb_study_options_default();
    xb_status status = XB_OK;
    for (int i = 0; i < cli_study_figure_count() && status == XB_OK; i++) {
        const char *study = cli_study_figure_at(i)->study;
        if (!last_of_study(i) || left_out(study, cli_text(&s->args, "device", NULL)))
            continue;
        status = xb_study_plan(s->ctx, study, &options, dir, label);
        if (status == XB_OK)
            status = xb_report_plan_study(s->ctx, study, dir, formats, label);
    }
    return cli_status(s, status);
}

xb_status cli_demo_studies(cli_demo *d)
{
    xb_study *study = NULL;
    xb_status status = XB_OK;
    for (int i = 0; i < cli_study_figure_count() && status == XB_OK; i++) {
        const cli_study_figure *f = cli_study_figure_at(i);
        if (left_out(f->study, d->device)) continue;
        if (!study) status = xb_page_check(d->s->ctx, d->page);
        if (status == XB_OK && !study) status = run_study(d, &study, f->study);
        if (status == XB_OK) status = show_figure(d, f, study);
        if (status != XB_OK || !last_of_study(i)) continue;
        show_rest(d, study);
        xb_study_destroy(study);
        study = NULL;
    }
    xb_study_destroy(study);
    if (status == XB_OK) show_words(d);
    return status;
}
