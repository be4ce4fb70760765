/* cmd_demo.c: `crossbayes demo`: the whole chain on built-in data or the user's own.
 * Fits a noise sample, runs the studies in their quick form with the fitted law as the
 * device, and ends with one page that shows it all; the terminal gets the verdicts. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "demo.h"
#include "trace_input.h"
#include "inputs.h"
#include "outputs.h"
#include "print.h"
#include "show.h"

/* ---- functions for demo_noise.c and demo_studies.c */

void cli_demo_section(cli_demo *d, const char *id, const char *heading)
{
    d->section = id;
    xb_page_section(d->page, id, heading);
}

static const char *kind_name(xb_finding_kind kind)
{
    static const char *const names[] = {
        [XB_FINDING_NONE] = "none",
        [XB_FINDING_AGREES] = "agrees",
        [XB_FINDING_DIFFERS] = "differs",
        [XB_FINDING_UNCLEAR] = "unclear",
    };
    return names[kind];
}

/* Prints a finding as soon as it is known, or adds it to the JSON. */
static void tell(cli_demo *d, xb_finding f)
{
    if (d->json) {
        json_array_append_new(d->findings,
                              json_pack("{s:s, s:s, s:s, s:s}", "section", d->section,
                                        "verdict", kind_name(f.kind), "word", f.word,
                                        "text", f.text));
        return;
    }
    cli_progress_clear(&d->s->progress);
    cli_show_finding(f);
    fflush(stdout);
}

void cli_demo_finding(cli_demo *d, xb_finding finding)
{
    if (finding.kind == XB_FINDING_NONE) return;
    xb_page_finding(d->page, &finding);
    tell(d, finding);
}

xb_status cli_demo_figure(cli_demo *d, const char *name, const char *alt,
                          const char *caption, const char *command, xb_finding finding)
{
    char *path = cli_join(xb_stage_dir(d->stage), name, ".svg");
    if (!path) return XB_E_MEMORY;
    xb_page_figure(d->page, &(xb_page_figure_info){path, alt, caption, command, finding});
    free(path);
    if (finding.kind != XB_FINDING_NONE) tell(d, finding);
    return XB_OK;
}

unsigned cli_demo_formats(const cli_session *s)
{
    return cli_formats(cli_text(&s->args, "format", "svg")) | XB_FIGURE_SVG;
}

/* ---- samples */

/* Samples that come from no file are written to one, so that every command of the page
 * runs. Its name is one that users are unlikely to choose for their own measurements. */
static const char KEPT[] = "demo_noise";

static xb_status keep_samples(cli_demo *d)
{
    static const char *const columns[] = {"noise"};
    xb_table *table = NULL;
    char *path = cli_join(xb_stage_dir(d->stage), KEPT, ".csv");
    if (!path) return XB_E_MEMORY;
    xb_status status = xb_table_create(d->s->ctx, &table, "noise", d->n, 1, columns);
    for (int64_t i = 0; i < d->n && status == XB_OK; i++)
        xb_table_set(table, i, 0, d->x[i]);
    if (status == XB_OK) status = xb_table_write_csv(d->s->ctx, table, path);
    xb_table_destroy(table);
    free(path);
    return status;
}

static cli_exit load_noise(cli_demo *d, const char *kept)
{
    enum { BUILTIN_N = 100000 };
    const char *given = cli_text(&d->s->args, "noise", NULL);
    bool in_file = given && strcmp(given, "-") != 0;
    cli_trace trace = {.n = BUILTIN_N};
    cli_exit code;
    if (given)
        code = cli_trace_read(d->s, &trace, given);
    else
        code = cli_status(d->s,
                          xb_builtin_noise(d->s->ctx, &trace.x, trace.n, cli_seed(d->s)));
    d->x = trace.x;
    d->n = trace.n;
    d->interval = trace.interval;
    d->source = in_file ? given : given ? "standard input" : "the built-in sample";
    d->noise = in_file ? given : kept;
    d->kept = !in_file;
    d->column = in_file ? cli_text(&d->s->args, "column", NULL) : NULL;
    return code;
}

/* ---- the page */

static xb_status begin_page(cli_demo *d)
{
    const char *slash = strrchr(d->source, '/');
    char title[256];
    bool own = cli_flag(&d->s->args, "noise");
    snprintf(title, sizeof title, own ? "Noise of %.200s" : "Noise of %.200s (synthetic)",
             slash ? slash + 1 : d->source);
    xb_status status = xb_page_create(
        d->s->ctx, &d->page, title,
        "This page follows a device's noise from its samples to its effect on Bayesian "
        "neural networks. Every study below uses the law fitted to the samples, and runs "
        "in its quick form. A number after ± is one standard error. Verdicts are "
        "computed from the numbers and their errors; where these do not suffice, the "
        "verdict says so. The last section explains the words.");
    if (status != XB_OK) return status;
    xb_page_summary(d->page, own ? "Summary of your noise" : "Summary");
    if (!d->json) printf("Noise of %s\n\n", d->source);
    return XB_OK;
}

static void add_provenance(cli_demo *d, const xb_fit *fit)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)cli_seed(d->s));
    xb_page_provenance(d->page, "seed", text);
    xb_page_provenance(d->page, "samples", d->source);
    snprintf(text, sizeof text, "%016llx",
             (unsigned long long)xb_fit_sample_checksum(xb_fit_sample_info(fit)));
    xb_page_provenance(d->page, "checksum of the samples", text);
    xb_page_provenance(d->page, "device law", xb_law_text(xb_fit_law(fit)));
}

/* Writes the page beside its files, and puts all of them in place. */
static xb_status publish(cli_demo *d)
{
    char *staged = cli_join(xb_stage_dir(d->stage), "report", ".html");
    if (!staged) return XB_E_MEMORY;
    xb_status status = xb_page_write(d->s->ctx, d->page, staged);
    free(staged);
    if (status != XB_OK) return status;
    xb_stage *stage = d->stage;
    d->stage = NULL; /* ownership has passed on */
    return xb_stage_publish(d->s->ctx, stage, (const char *const[]){"report.html", NULL});
}

static cli_exit end_page(cli_demo *d, const char *path)
{
    xb_status status = publish(d);
    if (status != XB_OK) return cli_status(d->s, status);
    cli_progress_clear(&d->s->progress);
    if (d->json) {
        json_object_set_new(d->json, "page", cli_json_text(path));
        json_t *root = d->json;
        d->json = NULL; /* ownership has passed on */
        return cli_json_print(d->s, root);
    }
    printf("\nThe page with figures, numbers and commands:\n  ");
    cli_print_address(path);
    return CLI_DONE;
}

/* ---- the chain */

static void add_json(cli_demo *d, const char *name, char *text)
{
    if (d->json && text) json_object_set_new(d->json, name, json_loads(text, 0, NULL));
    xb_free(text);
}

static xb_status write_fit(cli_demo *d, const xb_fit *fit)
{
    char *figure = cli_join(xb_stage_dir(d->stage), "fit", ""), *text = NULL;
    if (!figure) return XB_E_MEMORY;
    xb_status status = xb_report_trace(d->s->ctx, fit, d->series, d->x, d->n, figure,
                                       cli_demo_formats(d->s));
    free(figure);
    if (status == XB_OK) status = xb_fit_save(d->s->ctx, fit, d->staged);
    if (status == XB_OK && d->kept) status = keep_samples(d);
    if (status == XB_OK && d->json) status = xb_fit_json(d->s->ctx, &text, fit);
    add_json(d, "fit", text);
    return status;
}

/* As in `fit`, the law describes the stationary part. */
static xb_status fit_parts(cli_demo *d, xb_fit **fit, xb_fit **whole)
{
    xb_series_options search = xb_series_options_default();
    xb_fit_options options = xb_fit_options_default();
    search.seed = options.seed = cli_seed(d->s);
    search.source = options.source = d->source;
    search.unit = options.unit = cli_text(&d->s->args, "unit", NULL);
    search.sample_interval = d->interval;
    XB_TRY(xb_series_run(d->s->ctx, &d->series, d->x, d->n, &search));
    return cli_trace_fit(d->s, fit, whole, d->x, d->n, d->series, &options);
}

static xb_status fit_noise(cli_demo *d)
{
    xb_fit *fit = NULL, *whole = NULL;
    xb_status status = fit_parts(d, &fit, &whole);
    if (status == XB_OK) status = write_fit(d, fit);
    if (status == XB_OK) status = begin_page(d);
    if (status == XB_OK) status = cli_demo_noise(d, fit);
    if (status == XB_OK) add_provenance(d, fit);
    xb_fit_destroy(fit);
    xb_fit_destroy(whole);
    return status;
}

static cli_exit plan_outputs(cli_session *s, const char *dir)
{
    static const char *const names[] = {"law.json", "demo_noise.csv", "report.html"};
    char label[CLI_LABEL];
    cli_output_label(label, s, "output", dir);
    xb_status status = xb_report_plan_in(s->ctx, dir, "fit", cli_demo_formats(s), label);
    for (int i = 0; i < CLI_COUNT_OF(names) && status == XB_OK; i++)
        status = xb_files_plan_in(s->ctx, dir, names[i], label);
    if (status != XB_OK) return cli_status(s, status);
    return cli_demo_plan_studies(s, dir, cli_demo_formats(s), label);
}

static cli_exit make_files(cli_demo *d, const char *path)
{
    char *staged = cli_join(xb_stage_dir(d->stage), "law", ".json");
    xb_status status = staged ? XB_OK : XB_E_MEMORY;
    d->staged = staged;
    if (status == XB_OK) status = fit_noise(d);
    xb_ctx_set_notice(d->s->ctx, NULL,
                      NULL); /* notices about the law are already on the page */
    if (status == XB_OK) status = cli_demo_studies(d);
    cli_exit code = status == XB_OK ? end_page(d, path) : cli_status(d->s, status);
    free(staged);
    return code;
}

/* A device file that cannot be used stops the demo before any work is done. */
static cli_exit check_device(const cli_demo *d)
{
    xb_device *device = NULL;
    if (!d->device) return CLI_DONE;
    xb_status status = xb_device_load(d->s->ctx, &device, d->device);
    if (status != XB_OK) return cli_status(d->s, status);
    const bool relaxes = xb_device_state_count(device) > 1;
    xb_device_destroy(device);
    if (relaxes) return CLI_DONE;
    return cli_fail(
        d->s, CLI_USAGE,
        "%s: fewer than 2 states have relaxation data, so there is nothing to show",
        d->device);
}

static cli_exit make_page(cli_demo *d, const char *kept, const char *path)
{
    cli_exit code = plan_outputs(d->s, d->dir);
    if (code == CLI_DONE) code = check_device(d);
    if (code == CLI_DONE) code = load_noise(d, kept);
    if (code == CLI_DONE)
        code = cli_status(d->s, xb_stage_open(d->s->ctx, &d->stage, d->dir));
    if (code != CLI_DONE) return code;
    code = make_files(d, path);
    xb_stage_discard(d->s->ctx, d->stage);
    return code;
}

static cli_exit run(cli_session *s)
{
    cli_demo d = {.s = s,
                  .dir = cli_text(&s->args, "output", "crossbayes-demo"),
                  .device = cli_text(&s->args, "device", NULL)};
    char *law = cli_join(d.dir, "law", ".json"), *kept = cli_join(d.dir, KEPT, ".csv");
    char *path = cli_join(d.dir, "report", ".html");
    cli_exit code = CLI_FAILED;
    d.law = law;
    if (cli_json(s)) d.json = json_pack("{s:o}", "findings", d.findings = json_array());
    if (!law || !kept || !path || (cli_json(s) && !d.json))
        cli_fail(s, code, "not enough memory");
    else
        code = make_page(&d, kept, path);
    xb_page_destroy(d.page);
    json_decref(d.json);
    xb_series_destroy(d.series);
    xb_free(d.x);
    free(law);
    free(kept);
    free(path);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', CLI_OUTPUT, "DIR",
     "folder for the results; created if missing [crossbayes-demo]", 0, 0},
    {"noise", 0, CLI_PATH, "FILE", "file of your own samples [a built-in sample]", 0, 0},
    {"column", 'c', CLI_TEXT, "COLUMN", "column of FILE, by name or number from 1", 0, 0},
    {"sample-interval", 0, CLI_TEXT, "TIME", "time between samples, in s or e.g. 2.5ms",
     0, 0},
    {"sample-rate", 0, CLI_TEXT, "RATE", "samples per second, e.g. 400Hz", 0, 0},
    {"time", 0, CLI_TEXT, "COLUMN",
     "column of times, in s or as in time_ms [found by name]", 0, 0},
    {"unit", 0, CLI_TEXT, "UNIT", "unit of the samples, e.g. S", 0, 0},
    {"device", 0, CLI_PATH, "FILE",
     "device file (crossbayes device); adds a section on how long predictions last", 0,
     0},
    {"format", 0, CLI_CHOICES, CLI_FORMATS,
     "formats of the figures beside the page [svg]", 0, 0},
};

const cli_command cli_command_demo = {
    .name = "demo",
    .group = "Start here",
    .about = "one page with every step, from built-in samples or your own",
    .usage = "[-o DIR] [--noise FILE]",
    .example = "crossbayes demo -o demo",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .run = run,
};
