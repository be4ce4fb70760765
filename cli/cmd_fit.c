/* cmd_fit.c: `crossbayes fit`: fits a law to the stationary part of a measured trace.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "outputs.h"
#include "print.h"
#include "show.h"
#include "trace_input.h"

static xb_fit_options read_options(const cli_session *s)
{
    const cli_args *args = &s->args;
    xb_fit_options o = xb_fit_options_default();
    o.family = cli_text(args, "family", NULL);
    if (strcmp(cli_text(args, "optimiser", ""), "adam") == 0)
        o.optimiser = XB_OPTIMISER_ADAM;
    if (strcmp(cli_text(args, "criterion", ""), "bic") == 0)
        o.criterion = XB_CRITERION_BIC;
    o.adam_rate = cli_number(args, "adam-rate", o.adam_rate);
    o.fixed_scale = cli_number(args, "scale", o.fixed_scale);
    o.fixed_offset = cli_number(args, "offset", o.fixed_offset);
    o.has_fixed_offset = cli_flag(args, "offset");
    o.unit = cli_text(args, "unit", NULL);
    o.source = args->arg[0];
    o.seed = cli_seed(s);
    return o;
}

static cli_exit check_family(cli_session *s, const char *family)
{
    enum { FAMILIES_MAX = 16 };
    const char *names[FAMILIES_MAX];
    char known[128] = "";
    int count = xb_law_family_count();
    if (!family) return CLI_DONE;
    for (int i = 0; i < count && i < FAMILIES_MAX; i++) {
        names[i] = xb_law_family_name(i);
        if (strcmp(names[i], family) == 0) return CLI_DONE;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
    }
    char suggestion[CLI_SUGGESTION];
    cli_suggest(suggestion, family, names, count);
    return cli_fail(s, CLI_USAGE, "--family: '%s' is not one of %s%s", family, known,
                    suggestion);
}

static cli_exit print_json(cli_session *s, const xb_fit *fit)
{
    char *text = NULL;
    xb_status status = xb_fit_json(s->ctx, &text, fit);
    if (status != XB_OK) return cli_status(s, status);
    puts(text);
    xb_free(text);
    return CLI_DONE;
}

/* The inputs and results of a fit. */
typedef struct job {
    cli_trace trace;
    xb_series *series;
    xb_fit *fit, *whole; /* `whole` is NULL if the stationary part is the whole trace */
    cli_figure figure;
} job;

static void show(cli_session *s, const job *j)
{
    cli_show_series(j->series, s->args.arg[0], j->trace.n, j->trace.found);
    cli_show_fit(j->fit, "stationary part", read_options(s).criterion);
    if (j->whole) cli_show_whole(j->whole);
}

/* The figure is written first, so that no law file is left if it fails. */
static cli_exit deliver(cli_session *s, const job *j)
{
    const char *file = cli_text(&s->args, "output", NULL);
    bool to_stdout = file && strcmp(file, "-") == 0;
    xb_status status = XB_OK;
    if (j->figure.stem)
        status = xb_report_trace(s->ctx, j->fit, j->series, j->trace.x, j->trace.n,
                                 j->figure.stem, j->figure.format);
    if (status == XB_OK && file && !to_stdout) status = xb_fit_save(s->ctx, j->fit, file);
    if (status != XB_OK) return cli_status(s, status);
    cli_progress_clear(&s->progress);
    if (cli_json(s) || to_stdout) return print_json(s, j->fit);
    show(s, j);
    return CLI_DONE;
}

static cli_exit work(cli_session *s, job *j, xb_fit_options *o)
{
    xb_series_options series;
    cli_exit code = cli_trace_read(s, &j->trace, s->args.arg[0]);
    if (code == CLI_DONE) code = cli_trace_options(s, &series, &j->trace);
    if (code == CLI_DONE)
        code = cli_status(
            s, xb_series_run(s->ctx, &j->series, j->trace.x, j->trace.n, &series));
    if (code == CLI_DONE)
        code = cli_status(s, cli_trace_fit(s, &j->fit, &j->whole, j->trace.x, j->trace.n,
                                           j->series, o));
    return code == CLI_DONE ? deliver(s, j) : code;
}

static cli_exit run(cli_session *s)
{
    xb_fit_options options = read_options(s);
    job j = {0};
    cli_exit code = check_family(s, options.family);
    if (code == CLI_DONE) code = cli_plan_file(s, "output", "");
    if (code == CLI_DONE) code = cli_plan_figure(s, &j.figure, "figure");
    if (code == CLI_DONE) code = work(s, &j, &options);
    xb_fit_destroy(j.fit);
    xb_fit_destroy(j.whole);
    xb_series_destroy(j.series);
    cli_trace_free(&j.trace);
    free(j.figure.stem);
    return code;
}

static const cli_option options[] = {
    CLI_TRACE_OPTIONS,
    {"family", 0, CLI_TEXT, "FAMILY",
     "family to fit [every family; the best by --criterion is kept]", 0, 0},
    {"criterion", 0, CLI_CHOICE, "aic|bic", "criterion that chooses the family [aic]", 0,
     0},
    {"optimiser", 0, CLI_CHOICE, "newton|adam",
     "optimiser of the likelihood; adam: as in the paper [newton]", 0, 0},
    {"adam-rate", 0, CLI_NUMBER, "RATE", "learning rate of Adam [1e-3]", 1e-9, 1},
    {"scale", 0, CLI_NUMBER, "S", "half-width of the support [fitted]", 1e-300, 1e300},
    {"offset", 0, CLI_NUMBER, "X", "centre of the law [the mean]", -1e300, 1e300},
    {"unit", 0, CLI_TEXT, "UNIT", "unit of the samples, e.g. S; kept in the law file", 0,
     0},
    {"output", 'o', CLI_OUTPUT, "FILE", "law file to write (JSON); -: stdout", 0, 0},
    {"figure", 0, CLI_OUTPUT, "NAME",
     "figure to draw, NAME.svg, or NAME.png or NAME.pdf if so named", 0, 0},
};

static const cli_title titles[] = {
    {"column", "Trace"},
    {"family", "Law"},
    {"output", "Output"},
    {NULL, NULL},
};

const cli_command cli_command_fit = {
    .name = "fit",
    .group = "What is my device's noise?",
    .about = "law of a measured trace: stationary part, independent draws, family",
    .usage = "NOISE.csv [-o law.json] [options]",
    .example = "crossbayes sample mtj:B=0.15,w=0.5 -n 1e5 -o noise.csv\n"
               "crossbayes fit noise.csv -o law.json --figure noise",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
