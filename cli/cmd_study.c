/* cmd_study.c: `crossbayes study`: one of the paper's experiments, its numbers
 * as CSV and JSON and its figures. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print.h"
#include "show.h"

static cli_exit check_name(cli_session *s, const char *name)
{
    const char *names[16];
    int count = xb_study_count() < 16 ? xb_study_count() : 16;
    for (int i = 0; i < count; i++) {
        names[i] = xb_study_name_at(i);
        if (strcmp(names[i], name) == 0) return CLI_DONE;
    }
    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        return cli_fail(s, CLI_USAGE, "no study '%s', did you mean '%s'?", name, nearest);
    return cli_fail(s, CLI_USAGE, "no study '%s' (crossbayes study --help lists them)",
                    name);
}

/* Options that only one study has. */
static cli_exit check_options(cli_session *s, const char *name)
{
    static const char *const own[][2] = {{"noise", "laws"}, {"noise-scale", "scalar"}};
    for (int i = 0; i < CLI_COUNT_OF(own); i++)
        if (cli_flag(&s->args, own[i][0]) && strcmp(name, own[i][1]) != 0)
            return cli_fail(s, CLI_USAGE, "--%s goes with the study '%s' only", own[i][0],
                            own[i][1]);
    return CLI_DONE;
}

static cli_exit print_json(cli_session *s, const xb_study *study)
{
    char *text = NULL;
    xb_status status = xb_study_json(s->ctx, &text, study);
    if (status != XB_OK) return cli_status(s, status);
    puts(text);
    free(text);
    return CLI_DONE;
}

static cli_exit deliver(cli_session *s, const xb_study *study, const char *dir)
{
    unsigned formats = cli_formats(cli_text(&s->args, "format", "svg,png"));
    xb_status status = xb_study_write(s->ctx, study, dir);
    if (status == XB_OK) status = xb_report_study(s->ctx, study, dir, formats);
    if (status != XB_OK) return cli_status(s, status);
    cli_progress_clear(&s->progress);
    if (cli_json(s)) return print_json(s, study);
    cli_show_study(study);
    if (!cli_quiet(s)) printf("\n  tables, facts and figures are in %s\n", dir);
    return CLI_DONE;
}

static cli_exit run(cli_session *s)
{
    const char *name = s->args.arg[0];
    const char *dir = cli_text(&s->args, "output", name);
    const char *noise = cli_text(&s->args, "noise", NULL);
    cli_exit code = check_name(s, name);
    if (code != CLI_DONE) return code;
    code = check_options(s, name);
    if (code != CLI_DONE) return code;
    if (cli_flag(&s->args, "column") && !noise)
        return cli_fail(s, CLI_USAGE, "--column goes with --noise");
    xb_study_options options = xb_study_options_default();
    options.device = cli_text(&s->args, "device", options.device);
    if (strcmp(cli_text(&s->args, "noise-scale", "min"), "max") == 0)
        options.noise_scale = XB_NOISE_SCALE_MAX;
    options.quick = cli_flag(&s->args, "quick");
    options.seed = cli_seed(s);
    double *x = NULL;
    xb_study *study = NULL;
    xb_status status = XB_OK;
    if (noise)
        status = xb_column_read(s->ctx, &x, &options.noise_n, noise,
                                cli_text(&s->args, "column", NULL));
    options.noise = x;
    if (status == XB_OK) status = xb_study_run(s->ctx, &study, name, &options);
    code = status == XB_OK ? deliver(s, study, dir) : cli_status(s, status);
    xb_study_destroy(study);
    free(x);
    return code;
}

static void list_studies(FILE *out)
{
    fprintf(out, "\nStudies:\n");
    for (int i = 0; i < xb_study_count(); i++)
        fprintf(out, "  %-12s%s\n", xb_study_name_at(i), xb_study_about_at(i));
}

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "DIR", "where the files go (a folder named as the study)",
     0, 0},
    {"device", 0, CLI_TEXT, "LAW", "the device's law (mtj:B=0.15,w=0.5)", 0, 0},
    {"noise", 0, CLI_PATH, "FILE", "laws: measured samples (a built-in sample)", 0, 0},
    {"column", 'c', CLI_TEXT, "COLUMN", "the column of FILE, by name or number", 0, 0},
    {"noise-scale", 0, CLI_CHOICE, "min|max",
     "scalar: the data's noise, 0.1 |min(1, x)| or 0.1 max(1, x) (min)", 0, 0},
    {"quick", 0, CLI_FLAG, NULL, "fewer draws and orders: seconds", 0, 0},
    {"format", 0, CLI_CHOICES, CLI_FORMATS, "of the figures (svg,png)", 0, 0},
};

const cli_command cli_command_study = {
    .name = "study",
    .group = "The paper's experiments",
    .about = "one experiment: tables, facts and figures",
    .usage = "NAME [-o DIR] [options]",
    .example = "crossbayes study quadrature --quick -o quadrature",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .min_args = 1,
    .max_args = 1,
    .more = list_studies,
    .run = run,
};
