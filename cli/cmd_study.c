/* cmd_study.c: `crossbayes study`: runs one of the paper's experiments and writes its
 * numbers as CSV and JSON and its figures. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "inputs.h"
#include "outputs.h"
#include "print.h"
#include "share_option.h"
#include "show.h"
#include "study_words.h"
#include "trace_input.h"

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
        return cli_fail(s, CLI_USAGE, "unknown study '%s', did you mean '%s'?", name,
                        nearest);
    return cli_fail(s, CLI_USAGE,
                    "unknown study '%s' (crossbayes study --help lists them)", name);
}

/* Options that only some studies have, with the names of these studies. */
static const char *const owners[][2] = {
    {"device-law", "laws|quadrature|quantile|energy|scalar|utkface|narrow|array"},
    {"noise", "laws"},
    {"column", "laws"},
    {"sample-range", "laws"},
    {"noise-scale", "scalar"},
    {"law", "energy|narrow"},
    {"widths", "energy|narrow"},
    {"depths", "energy|narrow"},
    {"seeds", "energy|narrow"},
    {"device", "retention"},
    {"chips", "retention"},
    {"loss", "retention"},
    {"full", "energy|narrow"},
    {"kernels-only", "energy|narrow"},
    {"n-eff-penalty", "energy|narrow"},
    {"data", "array|retention|utkface"},
    {"target", "array|retention"},
    {"size", "utkface"},
    {"cache", "utkface"},
    {"no-cache", "utkface"},
    {"resume", "utkface"},
    {"share", "energy|narrow|array|retention"},
};

/* Studies whose work can be shared among processes, and the one that all ranks run
 * through together. */
static const char dealt[] = "energy|narrow|array|retention|utkface";

/* "--widths is an option of the studies energy and narrow, not of scalar" */
static cli_exit refuse_option(cli_session *s, const char *const owner[2],
                              const char *name)
{
    char names[128] = "";
    for (const char *c = owner[1]; *c; c++) {
        const size_t used = strlen(names);
        const char letter[2] = {*c, 0};
        const char *comma = strchr(c + 1, '|') ? ", " : " and ";
        snprintf(names + used, sizeof names - used, "%s", *c == '|' ? comma : letter);
    }
    return cli_fail(s, CLI_USAGE, "--%s is an option of the %s %s, not of %s", owner[0],
                    strchr(owner[1], '|') ? "studies" : "study", names, name);
}

static cli_exit check_options(cli_session *s, const char *name)
{
    if (xb_work_is_sent(s->ctx) && !cli_has_word(dealt, name) &&
        !cli_flag(&s->args, "share"))
        return cli_fail(
            s, CLI_USAGE,
            "the study %s cannot run on several ranks: start it once, without mpirun",
            name);
    for (int i = 0; i < CLI_COUNT_OF(owners); i++)
        if (cli_flag(&s->args, owners[i][0]) && !cli_has_word(owners[i][1], name))
            return refuse_option(s, owners[i], name);
    if (cli_flag(&s->args, "column") && !cli_flag(&s->args, "noise"))
        return cli_fail(s, CLI_USAGE, "--column needs --noise");
    if (cli_flag(&s->args, "sample-range") && !cli_flag(&s->args, "noise"))
        return cli_fail(s, CLI_USAGE, "--sample-range needs --noise");
    if (cli_flag(&s->args, "target") && !cli_flag(&s->args, "data"))
        return cli_fail(s, CLI_USAGE, "--target needs --data");
    if (strcmp(name, "retention") == 0 && !cli_flag(&s->args, "device"))
        return cli_fail(s, CLI_USAGE,
                        "missing --device FILE, a device file (crossbayes device)");
    if (cli_flag(&s->args, "cache") && cli_flag(&s->args, "no-cache"))
        return cli_fail(s, CLI_USAGE, "--cache and --no-cache exclude each other");
    if (cli_flag(&s->args, "full") && cli_flag(&s->args, "quick"))
        return cli_fail(s, CLI_USAGE, "--quick and --full exclude each other");
    return CLI_DONE;
}

static cli_exit print_json(cli_session *s, const xb_study *study)
{
    char *text = NULL;
    xb_status status = xb_study_json(s->ctx, &text, study);
    if (status != XB_OK) return cli_status(s, status);
    puts(text);
    xb_free(text);
    return CLI_DONE;
}

/* Older results stay until all new ones are made. */
static xb_status write_study(cli_session *s, const xb_study *study, const char *dir)
{
    char facts[128], page[128];
    xb_stage *stage = NULL;
    xb_status status = xb_stage_open(s->ctx, &stage, dir);
    if (status != XB_OK) return status;
    snprintf(facts, sizeof facts, "%s.json", xb_study_name(study));
    snprintf(page, sizeof page, "%s.html", xb_study_name(study));
    status = xb_study_write(s->ctx, study, xb_stage_dir(stage));
    if (status == XB_OK)
        status = xb_report_study(s->ctx, study, xb_stage_dir(stage), cli_page_formats(s));
    if (status == XB_OK) status = cli_study_page(s->ctx, study, xb_stage_dir(stage));
    if (status == XB_OK)
        return xb_stage_publish(s->ctx, stage, (const char *const[]){facts, page, NULL});
    xb_stage_discard(s->ctx, stage);
    return status;
}

static cli_exit plan_outputs(cli_session *s, const char *name, const char *dir,
                             const xb_study_options *options)
{
    char label[CLI_LABEL], page[128];
    cli_output_label(label, s, "output", dir);
    snprintf(page, sizeof page, "%s.html", name);
    xb_status status = xb_study_plan(s->ctx, name, options, dir, label);
    if (status == XB_OK) status = xb_files_plan_in(s->ctx, dir, page, label);
    if (status == XB_OK)
        status = xb_report_plan_study(s->ctx, name, dir, cli_page_formats(s), label);
    return status == XB_OK ? cli_plan_file(s, "cache", "") : cli_status(s, status);
}

static cli_exit deliver(cli_session *s, const xb_study *study, const char *dir)
{
    xb_status status = write_study(s, study, dir);
    if (status != XB_OK) return cli_status(s, status);
    cli_progress_clear(&s->progress);
    if (cli_json(s)) return print_json(s, study);
    cli_show_study(study);
    if (strcmp(xb_study_name(study), "utkface") == 0)
        cli_show_scores(xb_study_table(study, "scores"));
    return CLI_DONE;
}

enum { LIST_MAX = 64 };

/* The whole numbers of a list option; -1 after reporting an error. */
static int read_list(cli_session *s, int64_t out[LIST_MAX], const char *name)
{
    const cli_value *v = cli_get(&s->args, name);
    if (v->n_items > LIST_MAX) {
        cli_fail(s, CLI_USAGE, "--%s: more than %d numbers", name, LIST_MAX);
        return -1;
    }
    for (int i = 0; i < v->n_items; i++) {
        double x = v->items[i].value;
        if (!(x >= 1 && x <= INT32_MAX) || x != (double)(int64_t)x) {
            cli_fail(s, CLI_USAGE, "--%s: %g is not a whole number from 1", name, x);
            return -1;
        }
        out[i] = (int64_t)x;
    }
    return v->n_items;
}

/* Sets the options of the studies of trained nets; the caller keeps the lists. */
static cli_exit net_options(cli_session *s, xb_study_options *o, int64_t width[LIST_MAX],
                            int64_t depth[LIST_MAX])
{
    const cli_value *law = cli_get(&s->args, "law");
    o->widths = read_list(s, width, "widths");
    o->depths = read_list(s, depth, "depths");
    if (o->widths < 0 || o->depths < 0) return CLI_USAGE;
    o->width = o->widths > 0 ? width : NULL;
    o->depth = o->depths > 0 ? depth : NULL;
    o->law = law->texts;
    o->laws = law->n_texts;
    o->seeds = (int)cli_count(&s->args, "seeds", 0);
    o->full = cli_flag(&s->args, "full");
    o->kernels_only = cli_flag(&s->args, "kernels-only");
    o->n_eff_penalty = cli_number(&s->args, "n-eff-penalty", 0);
    return CLI_DONE;
}

/* Sets the options of the study of faces; its checkpoints go to the folder of its
 * results. */
static cli_exit face_options(cli_session *s, xb_study_options *o, const char *name,
                             const char *dir)
{
    o->data = cli_text(&s->args, "data", NULL);
    o->size = (int64_t)cli_count(&s->args, "size", 0);
    o->cache = cli_text(&s->args, "cache", NULL);
    o->no_cache = cli_flag(&s->args, "no-cache");
    o->work = dir;
    o->resume = cli_flag(&s->args, "resume");
    if (o->data || strcmp(name, "utkface") != 0) return CLI_DONE;
    return cli_fail(s, CLI_USAGE,
                    "missing --data FOLDER of UTKFace, or --data synthetic");
}

static cli_exit run_study(cli_session *s, const char *name, const char *dir,
                          xb_study_options *options)
{
    const char *noise = cli_text(&s->args, "noise", NULL);
    double *x = NULL;
    xb_study *study = NULL;
    xb_status status = XB_OK;
    int64_t first = 0, end = 0;
    if (noise) status = cli_column_read(s, &x, &end, noise);
    cli_exit code = cli_status(s, status);
    if (code == CLI_DONE && noise) code = cli_trace_rows(s, &first, &end, end);
    options->noise = x ? x + first : NULL;
    options->noise_n = end - first;
    if (code == CLI_DONE && strcmp(name, "utkface") == 0)
        code = cli_ranks_together(s, false);
    if (code == CLI_DONE)
        code = cli_status(s, xb_study_run(s->ctx, &study, name, options));
    if (code == CLI_DONE) code = cli_status(s, xb_ranks_deliver(s->ctx));
    if (code == CLI_DONE) code = deliver(s, study, dir);
    xb_study_destroy(study);
    xb_free(x);
    return code;
}

static cli_exit run(cli_session *s)
{
    const char *name = s->args.arg[0];
    const char *dir = cli_text(&s->args, "output", name);
    int64_t width[LIST_MAX], depth[LIST_MAX];
    xb_study_options options = xb_study_options_default();
    options.data = cli_text(&s->args, "data", NULL);
    options.target = cli_text(&s->args, "target", NULL);
    options.device_law = cli_text(&s->args, "device-law", NULL);
    options.device = cli_text(&s->args, "device", NULL);
    options.chips = (int64_t)cli_count(&s->args, "chips", 0);
    if (strcmp(cli_text(&s->args, "noise-scale", "min"), "max") == 0)
        options.noise_scale = XB_NOISE_SCALE_MAX;
    options.loss = cli_number(&s->args, "loss", 0);
    options.quick = cli_flag(&s->args, "quick");
    options.seed = cli_seed(s);
    cli_exit code = check_name(s, name);
    if (code == CLI_DONE) code = check_options(s, name);
    if (code == CLI_DONE) code = net_options(s, &options, width, depth);
    if (code == CLI_DONE) code = face_options(s, &options, name, dir);
    if (code != CLI_DONE) return code;
    char *nets = cli_join(dir, "nets", "");
    if (!nets) return cli_fail(s, CLI_FAILED, "not enough memory");
    options.cells = nets;
    code = plan_outputs(s, name, dir, &options);
    if (code == CLI_DONE) code = run_study(s, name, dir, &options);
    free(nets);
    return code;
}

static void list_studies(FILE *out)
{
    fprintf(out, "\nStudies:\n");
    for (int i = 0; i < xb_study_count(); i++)
        fprintf(out, "  %-12s%s\n", xb_study_name_at(i), xb_study_about_at(i));
}

static const cli_option options[] = {
    {"device-law", 0, CLI_TEXT, "LAW",
     "law of the device's noise (crossbayes help law) [mtj:B=0.15,w=0.5]", 0, 0},
    {"quick", 0, CLI_FLAG, NULL,
     "fewer draws, nets and quadrature orders; takes seconds, utkface minutes", 0, 0},
    {"law", 'l', CLI_TEXTS, "LAW",
     "energy, narrow: further law to compare; may be repeated", 0, 0},
    {"widths", 0, CLI_NUMBERS, "W,..",
     "energy, narrow: widths of the hidden layers, in units [energy: "
     "1,2,4,8,16,32,64,128;"
     " narrow: 1,2,3,4,6,8; fewer with --quick]",
     0, 0},
    {"depths", 0, CLI_NUMBERS, "D,..",
     "energy, narrow: depths of the nets, in hidden layers [energy: 1,2,3; narrow:"
     " 1,2,3,4,6,8; --quick and --full change this]",
     0, 0},
    {"seeds", 0, CLI_COUNT, "K",
     "energy, narrow: number of nets of each size [1; 3 with --full]", 1, 1000},
    {"kernels-only", 0, CLI_FLAG, NULL, "energy, narrow: keep biases fixed", 0, 0},
    {"n-eff-penalty", 0, CLI_NUMBER, "X",
     "energy, narrow: weight of a penalty that lets many weights share the output's"
     " variance, e.g. 0.01 [0]",
     0, 1e6},
    {"full", 0, CLI_FLAG, NULL,
     "energy, narrow: three seeds and more draws; energy: also depth 4", 0, 0},
    {"noise", 0, CLI_PATH, "FILE", "laws: file of measured samples [a built-in sample]",
     0, 0},
    {"column", 'c', CLI_TEXT, "COLUMN",
     "laws: column of --noise FILE, by name or number from 1", 0, 0},
    {"sample-range", 0, CLI_TEXT, "A:B",
     "laws: use samples A to B of --noise FILE only, counted from 1 [all]", 0, 0},
    {"noise-scale", 0, CLI_CHOICE, "min|max",
     "scalar: noise of the data, 0.1 |min(1, x)| or 0.1 max(1, x) [min]", 0, 0},
    {"data", 0, CLI_TEXT, "FILE|DIR|synthetic",
     "array, retention: table to learn from [a built-in one]; utkface: folder of images, "
     "or synthetic",
     0, 0},
    {"target", 0, CLI_TEXT, "COLUMN",
     "array, retention: target column of the table [the last]", 0, 0},
    {"device", 0, CLI_PATH, "FILE", "retention: device file (crossbayes device)", 0, 0},
    {"chips", 0, CLI_COUNT, "N", "retention: number of chips [24; 4 with --quick]", 1,
     1000},
    {"loss", 0, CLI_NUMBER, "NATS",
     "retention: growth of the NLL at which a refresh is due, in nats [0.1]", 1e-6, 1e6},
    {"size", 0, CLI_COUNT, "N",
     "utkface: size of the images, N x N [100; 64 with --quick; synthetic: 40, 24]", 8,
     512},
    CLI_CACHE_OPTIONS("utkface: "),
    {"resume", 0, CLI_FLAG, NULL, "utkface: continue a run that was stopped", 0, 0},
    {"output", 'o', CLI_OUTPUT, "DIR",
     "folder for the results; created if missing [named after the study]", 0, 0},
    {"format", 0, CLI_CHOICES, CLI_FORMATS, "formats of the figures [svg,png]", 0, 0},
    CLI_BACKEND_OPTION,
    CLI_SHARE_OPTION,
};

static const cli_title titles[] = {
    {"device-law", "General"}, {"law", "Nets"},    {"noise", "Data"},
    {"device", "Retention"},   {"size", "Images"}, {"output", "Output"},
    {"backend", "Machines"},   {NULL, NULL},
};

const cli_command cli_command_study = {
    .name = "study",
    .group = "The paper's experiments",
    .about = "one experiment, of the paper or beyond it: tables, facts and figures",
    .usage = "NAME [-o DIR] [options]",
    .example =
        "crossbayes study quadrature --quick -o quadrature\n"
        "crossbayes study energy --device-law ecram --widths 1,8 --quick -o energy\n"
        "crossbayes study energy --n-eff-penalty 0.01 --widths 8 --quick -o shared\n"
        "printf 'cell,level,time_s,conductance_S\\n' > campaign.csv\n"
        "printf '%s,1,0,5e-5\\n%s,1,100,4.%se-5\\n' $(seq 10 49 | sed 'p;p')"
        " >> campaign.csv\n"
        "printf '%s,2,0,9e-5\\n%s,2,100,8.%se-5\\n' $(seq 50 89 | sed 'p;p')"
        " >> campaign.csv\n"
        "crossbayes device campaign.csv -o device.json\n"
        "crossbayes study retention --device device.json --quick -o retention",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 1,
    .max_args = 1,
    .more = list_studies,
    .run = run,
};
