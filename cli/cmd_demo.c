/* cmd_demo.c: `crossbayes demo`: the whole chain on built-in data. Fits a noise
 * sample, says what it found, runs the paper's studies in their quick form and
 * draws everything into one folder. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print.h"
#include "show.h"

typedef struct demo {
    cli_session *s;
    const char *dir, *source;
    double *x;
    int64_t n;
    json_t *json; /* what --json prints; NULL without it */
} demo;

static const char figure_formats[] = "svg,png";

static void add_json(demo *d, const char *name, char *text)
{
    if (d->json && text) json_object_set_new(d->json, name, json_loads(text, 0, NULL));
    free(text);
}

static xb_status load_noise(demo *d)
{
    enum { BUILTIN_N = 100000 };
    d->source = cli_text(&d->s->args, "noise", NULL);
    if (d->source)
        return xb_column_read(d->s->ctx, &d->x, &d->n, d->source,
                              cli_text(&d->s->args, "column", NULL));
    d->source = "built-in sample (synthetic, mtj:B=0.15,w=0.5)";
    d->n = BUILTIN_N;
    return xb_builtin_noise(d->s->ctx, &d->x, d->n, cli_seed(d->s));
}

static xb_status write_fit(demo *d, const xb_fit *fit)
{
    char *file = cli_join(d->dir, "law", ".json"), *figure = cli_join(d->dir, "fit", "");
    xb_status status = file && figure ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK)
        status = xb_report_fit(d->s->ctx, fit, d->x, d->n, figure,
                               cli_formats(figure_formats));
    if (status == XB_OK) status = xb_fit_save(d->s->ctx, fit, file);
    free(file);
    free(figure);
    return status;
}

static xb_status fit_noise(demo *d)
{
    xb_fit_options options = xb_fit_options_default();
    options.seed = cli_seed(d->s);
    options.source = d->source;
    xb_fit *fit = NULL;
    xb_status status = xb_fit_run(d->s->ctx, &fit, d->x, d->n, &options);
    char *text = NULL;
    if (status == XB_OK) status = write_fit(d, fit);
    if (status == XB_OK && d->json) status = xb_fit_json(d->s->ctx, &text, fit);
    add_json(d, "fit", text);
    cli_progress_clear(&d->s->progress);
    if (status == XB_OK && !d->json) {
        printf("From samples to a law\n\n");
        cli_show_fit(fit, d->source, options.criterion);
    }
    xb_fit_destroy(fit);
    return status;
}

static xb_status run_study(demo *d, int i)
{
    xb_study_options options = xb_study_options_default();
    if (strcmp(xb_study_name_at(i), "utkface") == 0) options.data = "synthetic";
    options.quick = true;
    options.seed = cli_seed(d->s);
    options.noise = d->x;
    options.noise_n = d->n;
    xb_study *study = NULL;
    xb_ctx *ctx = d->s->ctx;
    xb_status status = xb_study_run(ctx, &study, xb_study_name_at(i), &options);
    char *text = NULL;
    if (status == XB_OK) status = xb_study_write(ctx, study, d->dir);
    if (status == XB_OK)
        status = xb_report_study(ctx, study, d->dir, cli_formats(figure_formats));
    if (status == XB_OK && d->json) status = xb_study_json(ctx, &text, study);
    add_json(d, xb_study_name_at(i), text);
    cli_progress_clear(&d->s->progress);
    if (status == XB_OK && !d->json) {
        printf("\nStudy '%s': %s\n\n", xb_study_name_at(i), xb_study_about_at(i));
        cli_show_study(study);
        if (strcmp(xb_study_name(study), "utkface") == 0)
            cli_show_scores(xb_study_table(study, "scores"));
    }
    xb_study_destroy(study);
    return status;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void list_files(const char *dir)
{
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, visible, alphasort);
    printf("\nFiles in %s\n\n", dir);
    for (int i = 0; i < count; i++) {
        printf("  %s\n", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static cli_exit run(cli_session *s)
{
    demo d = {.s = s, .dir = cli_text(&s->args, "output", "crossbayes-demo")};
    if (cli_json(s)) d.json = json_object();
    xb_status status = load_noise(&d);
    if (status == XB_OK) status = fit_noise(&d);
    for (int i = 0; status == XB_OK && i < xb_study_count(); i++)
        status = run_study(&d, i);
    cli_exit code = cli_status(s, status);
    if (code == CLI_DONE && d.json)
        code = cli_json_print(s, d.json);
    else
        json_decref(d.json);
    if (code == CLI_DONE && !d.json && !cli_quiet(s)) list_files(d.dir);
    free(d.x);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "DIR", "where the files go (crossbayes-demo)", 0, 0},
    {"noise", 0, CLI_PATH, "FILE", "your own samples (a built-in sample)", 0, 0},
    {"column", 'c', CLI_TEXT, "COLUMN", "the column of FILE, by name or number", 0, 0},
};

const cli_command cli_command_demo = {
    .name = "demo",
    .group = "Start here",
    .about = "the whole chain on built-in data, with figures",
    .usage = "[-o DIR] [--noise FILE]",
    .example = "crossbayes demo -o demo",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .run = run,
};
