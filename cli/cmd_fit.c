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
    xb_trace *samples; /* NULL: not a long trace */
    double *thin;      /* [n_thin] what the law of a long trace is fitted to */
    int64_t n_thin;
    xb_series *series;
    xb_fit *fit, *whole; /* `whole` is NULL if the stationary part is the whole trace */
    cli_figure figure;
} job;

static void show(cli_session *s, const job *j)
{
    cli_show_series(j->series, s->args.arg[0], j->trace.n, j->trace.found,
                    xb_law_placement(xb_fit_law(j->fit)).unit);
    cli_show_fit(j->fit, "stationary part", read_options(s).criterion);
    if (j->whole) cli_show_whole(j->whole);
}

/* The figure is written first, so that no law file is left if it fails. */
static cli_exit deliver(cli_session *s, const job *j)
{
    const char *file = cli_text(&s->args, "output", NULL);
    bool to_stdout = file && strcmp(file, "-") == 0;
    xb_status status = XB_OK;
    if (j->figure.stem && j->samples)
        status = xb_report_fit(s->ctx, j->fit, j->thin, j->n_thin, j->figure.stem,
                               j->figure.format);
    else if (j->figure.stem)
        status = xb_report_trace(s->ctx, j->fit, j->series, j->trace.x, j->trace.n,
                                 j->figure.stem, j->figure.format);
    if (status == XB_OK && file && !to_stdout) status = xb_fit_save(s->ctx, j->fit, file);
    if (status != XB_OK) return cli_status(s, status);
    cli_progress_clear(&s->progress);
    if (cli_json(s) || to_stdout) return print_json(s, j->fit);
    show(s, j);
    return CLI_DONE;
}

/* ---- long traces (docs/scaling.md) */

/* Whether the samples are taken as they are, which a long trace must be. */
static bool unchanged(const cli_session *s)
{
    return !cli_flag(&s->args, "detrend") && !cli_flag(&s->args, "difference") &&
           !cli_flag(&s->args, "remove-lines") && !cli_flag(&s->args, "time") &&
           !cli_flag(&s->args, "column");
}

static cli_exit open_long(cli_session *s, job *j)
{
    if (!unchanged(s)) return CLI_DONE;
    xb_status status = xb_trace_open(s->ctx, &j->samples, s->args.arg[0]);
    if (status != XB_OK || !j->samples) return cli_status(s, status);
    j->trace.n = xb_trace_count(j->samples);
    return cli_trace_interval(s, &j->trace.interval);
}

/* A trace that is not read by parts: all of it, in memory. */
static cli_exit read_whole(cli_session *s, job *j)
{
    cli_exit code = cli_trace_read(s, &j->trace, s->args.arg[0]);
    if (code == CLI_DONE && unchanged(s) && j->trace.n > XB_TRACE_LONG)
        code = cli_status(
            s, xb_trace_of_values(s->ctx, &j->samples, j->trace.x, j->trace.n));
    if (code == CLI_DONE && s->ranked && !j->samples)
        code =
            cli_fail(s, CLI_USAGE,
                     "%s: only traces of more than %lld samples that are taken as they "
                     "are can be divided among ranks: start it once, without mpirun",
                     s->args.arg[0], (long long)XB_TRACE_LONG);
    return code;
}

/* The law of samples first .. first + count - 1. */
static xb_status fit_thin(cli_session *s, xb_fit **fit, job *j, int64_t first,
                          int64_t count, const xb_fit_options *o)
{
    int64_t k = 1;
    xb_free(j->thin);
    j->thin = NULL;
    XB_TRY(xb_trace_thin(s->ctx, &j->thin, &j->n_thin, &k, j->samples, first, count));
    if (k > 1)
        snprintf(j->trace.found, sizeof j->trace.found,
                 "the law is fitted to one sample in %lld", (long long)k);
    return xb_ranks_first(s->ctx) ? xb_fit_run(s->ctx, fit, j->thin, j->n_thin, o)
                                  : XB_OK;
}

static xb_status fit_long(cli_session *s, job *j, xb_fit_options *o)
{
    const xb_segment part =
        xb_series_segment_at(j->series, xb_series_segment_chosen(j->series));
    if (part.count != j->trace.n) XB_TRY(fit_thin(s, &j->whole, j, 0, j->trace.n, o));
    o->series = j->series;
    o->whole = j->whole;
    XB_TRY(fit_thin(s, &j->fit, j, part.first, part.count, o));
    return xb_ranks_deliver(s->ctx);
}

static xb_status analyse(cli_session *s, job *j, const xb_series_options *o)
{
    return j->samples ? xb_series_run_trace(s->ctx, &j->series, j->samples, o)
                      : xb_series_run(s->ctx, &j->series, j->trace.x, j->trace.n, o);
}

static cli_exit work(cli_session *s, job *j, xb_fit_options *o)
{
    xb_series_options series;
    cli_exit code = open_long(s, j);
    if (code == CLI_DONE && !j->samples) code = read_whole(s, j);
    if (code == CLI_DONE) code = cli_trace_options(s, &series, &j->trace);
    if (code == CLI_DONE) code = cli_status(s, analyse(s, j, &series));
    if (code == CLI_DONE)
        code = cli_status(s, j->samples ? fit_long(s, j, o)
                                        : cli_trace_fit(s, &j->fit, &j->whole, j->trace.x,
                                                        j->trace.n, j->series, o));
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
    xb_free(j.thin);
    xb_trace_close(j.samples);
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
    {"scale", 0, CLI_NUMBER, "S", "half-width of the support of mtj and ecram [fitted]",
     1e-300, 1e300},
    {"offset", 0, CLI_NUMBER, "X",
     "centre of the law [the mean; fitted for bimodal, heavy-tailed and skewed families]",
     -1e300, 1e300},
    {"unit", 0, CLI_TEXT, "UNIT", "unit of the samples, e.g. S; kept in the law file", 0,
     0},
    {"output", 'o', CLI_OUTPUT, "FILE", "law file to write (JSON); -: stdout", 0, 0},
    {"figure", 0, CLI_OUTPUT, "NAME",
     "figure to draw: NAME.svg, unless NAME ends in .png or .pdf", 0, 0},
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
    .together = true,
    .run = run,
};
