/* cmd_crossbar.c: `crossbayes crossbar`: a model on simulated arrays: its scores against
 * the digital model's, for each effect alone and for all together; sweeps of a number;
 * what to programme; what a prediction costs. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "cost_show.h"
#include "crossbar_cases.h"
#include "crossbar_chips.h"
#include "crossbar_data.h"
#include "crossbar_device.h"
#include "crossbar_draws.h"
#include "crossbar_show.h"
#include "model_data.h"
#include "outputs.h"
#include "show.h"
#include "sweep.h"

enum {
    CASES_MAX = 64,
    REMEDIES_MAX = 16,
    KNOWN_MOST = 512,
    SWEEPS_MAX = CLI_REPEAT_MAX,
    CHIPS = 8
};

typedef struct sweep_run {
    cli_sweep sweep;
    cli_case *cases; /* [sweep.count] */
} sweep_run;

typedef struct crossbar_job {
    cli_session *s;
    xb_model *model;
    cli_array_data data, calibration; /* calibration without rows: the data */
    xb_array *array;
    xb_costs costs;            /* where --costs is a file */
    cli_draws draws;           /* that rows need */
    xb_cost_model *cost_model; /* where it is the model, else NULL */
    xb_assay *assay;
    int64_t reads;
    cli_case cases[CASES_MAX];
    int n_cases;
    char without[REMEDIES_MAX][64]; /* names of cases */
    sweep_run sweep[SWEEPS_MAX];
    int n_sweeps;
    xb_draws_verdict usable; /* reads 0: reads do not follow a trace */
} crossbar_job;

/* ---- what was asked for */

static cli_exit apply_set(crossbar_job *job, const char *text)
{
    cli_sweep one;
    char why[160];
    if (!cli_sweep_read(&one, text, why, sizeof why) || one.count != 1)
        return cli_fail(job->s, CLI_USAGE, "--set %s: expected KEY=NUMBER", text);
    return cli_status(job->s,
                      xb_array_set(job->s->ctx, job->array, one.key, one.value[0]));
}

/* Each key once: a sweep's files are named after it. */
static bool swept_already(const crossbar_job *job, const char *key)
{
    int64_t field = xb_array_field_find(key);
    for (int i = 0; field >= 0 && i < job->n_sweeps; i++)
        if (xb_array_field_find(job->sweep[i].sweep.key) == field) return true;
    return false;
}

/* Fails where the array cannot have one of the values. */
static xb_status try_sweep(crossbar_job *job, const cli_sweep *sweep)
{
    xb_array *trial = NULL;
    xb_status status = xb_array_copy(job->s->ctx, &trial, job->array);
    for (int k = 0; k < sweep->count && status == XB_OK; k++) {
        status = xb_array_set(job->s->ctx, trial, sweep->key, sweep->value[k]);
        if (status == XB_OK) status = xb_array_check(job->s->ctx, trial);
    }
    xb_array_destroy(trial);
    return status;
}

static cli_exit read_sweeps(crossbar_job *job)
{
    const cli_value *given = cli_get(&job->s->args, "sweep");
    char why[160];
    for (int i = 0; given->given && i < given->n_texts; i++) {
        sweep_run *run = &job->sweep[job->n_sweeps];
        if (!cli_sweep_read(&run->sweep, given->texts[i], why, sizeof why))
            return cli_fail(job->s, CLI_USAGE, "--sweep %s", why);
        if (swept_already(job, run->sweep.key))
            return cli_fail(
                job->s, CLI_USAGE,
                "--sweep %s: %s is swept twice; give all of its values at once",
                given->texts[i], run->sweep.key);
        xb_status status = try_sweep(job, &run->sweep);
        if (status != XB_OK) return cli_status(job->s, status);
        run->cases = calloc((size_t)run->sweep.count, sizeof *run->cases);
        if (!run->cases) return cli_fail(job->s, CLI_FAILED, "not enough memory");
        job->n_sweeps++;
    }
    return CLI_DONE;
}

/* The law, and where it is of a trace whose interval is known, the trace's memory. */
static xb_status use_law(crossbar_job *job, const char *law)
{
    xb_ctx *ctx = job->s->ctx;
    double interval = 0;
    const bool file = strpbrk(law, "./") != NULL;
    XB_TRY(xb_array_get(ctx, &interval, job->array, "read_interval_ns"));
    if (file && interval > 0 && xb_array_measured(ctx, job->array, law, 0) == XB_OK)
        return xb_draws_judge(ctx, &job->usable, law, 1e-9 * interval, job->reads);
    if (file && !(interval > 0) && !cli_quiet(job->s))
        fprintf(stderr,
                "  reads are taken as independent draws; --read-interval TIME lets"
                " them follow the trace behind the law\n");
    return xb_array_set_law(ctx, job->array, law);
}

static cli_exit read_interval(crossbar_job *job)
{
    cli_session *s = job->s;
    const char *text = cli_text(&s->args, "read-interval", NULL);
    double seconds = 0;
    if (!text) return CLI_DONE;
    if (xb_quantity_parse(s->ctx, &seconds, text, "s") != XB_OK)
        return cli_fail(s, CLI_USAGE, "--read-interval: %s", xb_ctx_message(s->ctx));
    return cli_status(
        s, xb_array_set(s->ctx, job->array, "read_interval_ns", 1e9 * seconds));
}

static cli_exit read_array(crossbar_job *job)
{
    cli_session *s = job->s;
    const cli_value *set = cli_get(&s->args, "set");
    xb_status status =
        xb_array_parse(s->ctx, &job->array, cli_text(&s->args, "array", "mtj"));
    if (status != XB_OK) return cli_status(s, status);
    for (int i = 0; set->given && i < set->n_texts; i++) {
        cli_exit code = apply_set(job, set->texts[i]);
        if (code != CLI_DONE) return code;
    }
    xb_redraw redraw = xb_array_redraw(job->array);
    const char *wanted = cli_text(&s->args, "redraw", NULL);
    if (wanted) status = xb_redraw_parse(s->ctx, &redraw, wanted);
    xb_array_set_redraw(job->array, redraw);
    cli_exit code = read_interval(job);
    if (code != CLI_DONE) return code;
    const char *law = cli_text(&s->args, "law", NULL);
    if (law && use_law(job, law) != XB_OK)
        return cli_fail(s, CLI_USAGE, "--law: the text is too long");
    code = cli_array_device(s, job->array);
    if (code != CLI_DONE) return code;
    if (status == XB_OK) status = xb_array_check(s->ctx, job->array);
    if (status != XB_OK) return cli_status(s, status);
    return read_sweeps(job);
}

/* Costs by the model of the library, not from a file. */
static bool by_model(const cli_session *s)
{
    return strcmp(cli_text(&s->args, "costs", ""), "model") == 0;
}

static cli_exit read_data(crossbar_job *job)
{
    cli_session *s = job->s;
    const char *calibration = cli_text(&s->args, "calibration", NULL);
    const char *costs = cli_text(&s->args, "costs", NULL);
    xb_status status = XB_OK;
    if (costs && !by_model(s)) status = xb_costs_load(s->ctx, &job->costs, costs);
    if (status == XB_OK) status = xb_model_load(s->ctx, &job->model, s->args.arg[0]);
    if (status != XB_OK) return cli_status(s, status);
    const int64_t most = (int64_t)cli_count(&s->args, "inputs", 0);
    cli_exit code =
        cli_array_data_read(s, &job->data, job->model, s->args.arg[1], true, most);
    if (code == CLI_DONE && calibration)
        code = cli_array_data_read(s, &job->calibration, job->model, calibration, false,
                                   KNOWN_MOST);
    return code;
}

/* A sweep writes KEY.csv and a figure. */
static xb_status plan_sweep(crossbar_job *job, const sweep_run *run, const char *dir,
                            const char *label)
{
    char name[2 * sizeof run->sweep.key];
    xb_ctx *ctx = job->s->ctx;
    unsigned formats = cli_formats(cli_text(&job->s->args, "format", "svg,png"));
    snprintf(name, sizeof name, "%s.csv", run->sweep.key);
    xb_status status = xb_files_plan_in(ctx, dir, name, label);
    if (status != XB_OK) return status;
    return xb_report_plan_in(ctx, dir, run->sweep.key, formats, label);
}

static cli_exit plan_outputs(crossbar_job *job)
{
    cli_session *s = job->s;
    const char *dir = cli_text(&s->args, "output", NULL);
    const char *export = cli_text(&s->args, "export", NULL);
    char label[CLI_LABEL];
    xb_status status = XB_OK;
    if (export) {
        cli_output_label(label, s, "export", export);
        status = xb_analog_export_plan(s->ctx, export, label);
    }
    if (dir) cli_output_label(label, s, "output", dir);
    for (int i = 0; dir && i < job->n_sweeps && status == XB_OK; i++)
        status = plan_sweep(job, &job->sweep[i], dir, label);
    return cli_status(s, status);
}

/* ---- arrays */

static int64_t chips_of(const crossbar_job *job)
{
    return (int64_t)cli_count(&job->s->args, "chips", CHIPS);
}

/* All effects, without one of the remedies. */
static xb_status add_without(crossbar_job *job, cli_case_list *list, int remedy,
                             int64_t chips)
{
    cli_case *c = &job->cases[job->n_cases++];
    xb_array *less = NULL;
    snprintf(job->without[remedy], sizeof job->without[remedy], "all, no %s",
             xb_array_remedy_name(remedy));
    c->name = job->without[remedy];
    XB_TRY(xb_array_without(job->s->ctx, &less, job->array, remedy));
    return cli_cases_add(job->s->ctx, list, c, less, chips);
}

/* Each effect alone, all without each remedy, then all. The effects are on one chip
 * unless chips were asked for: they would take most of the time. */
static xb_status add_effects(crossbar_job *job, cli_case_list *list)
{
    xb_ctx *ctx = job->s->ctx;
    const int64_t asked = (int64_t)cli_count(&job->s->args, "chips", 1);
    for (int e = 0; e < xb_array_effect_count(); e++) {
        if (!xb_array_has(job->array, e)) continue;
        cli_case *c = &job->cases[job->n_cases++];
        xb_array *alone = NULL;
        c->name = xb_array_effect_name(e);
        XB_TRY(xb_array_only(ctx, &alone, job->array, e));
        XB_TRY(cli_cases_add(ctx, list, c, alone, asked));
    }
    for (int i = 0; i < xb_array_remedy_count(); i++)
        if (xb_array_has_remedy(job->array, i)) XB_TRY(add_without(job, list, i, asked));
    cli_case *all = &job->cases[job->n_cases++];
    xb_array *copy = NULL;
    all->name = "all together";
    XB_TRY(xb_array_copy(ctx, &copy, job->array));
    return cli_cases_add(ctx, list, all, copy, chips_of(job));
}

static xb_status add_sweep(crossbar_job *job, cli_case_list *list, sweep_run *run)
{
    xb_ctx *ctx = job->s->ctx;
    for (int k = 0; k < run->sweep.count; k++) {
        xb_array *array = NULL;
        run->cases[k].value = run->sweep.value[k];
        XB_TRY(xb_array_copy(ctx, &array, job->array));
        const xb_status status =
            xb_array_set(ctx, array, run->sweep.key, run->sweep.value[k]);
        if (status != XB_OK) {
            xb_array_destroy(array);
            return status;
        }
        XB_TRY(cli_cases_add(ctx, list, &run->cases[k], array, chips_of(job)));
    }
    return XB_OK;
}

static xb_analog_options analog_options(const crossbar_job *job)
{
    xb_analog_options o = xb_analog_options_default();
    o.seed = cli_seed(job->s);
    o.chip = cli_count(&job->s->args, "chip", o.chip);
    return o;
}

static xb_assay_options assay_options(const crossbar_job *job,
                                      const xb_analog_options *analog)
{
    xb_assay_options o = xb_assay_options_default();
    o.reads = job->reads;
    o.tolerance = cli_number(&job->s->args, "tolerance", o.tolerance);
    o.analog = analog;
    if (job->calibration.x) {
        o.calibration = job->calibration.x;
        o.calibration_n = job->calibration.n;
    }
    return o;
}

static xb_status run_assays(crossbar_job *job)
{
    const xb_analog_options analog = analog_options(job);
    const xb_assay_options o = assay_options(job, &analog);
    cli_case_list list = {0};
    xb_status status = xb_assay_create(job->s->ctx, &job->assay, job->model, job->data.x,
                                       job->data.y, job->data.n, &o);
    if (status == XB_OK) status = add_effects(job, &list);
    for (int i = 0; i < job->n_sweeps && status == XB_OK; i++)
        status = add_sweep(job, &list, &job->sweep[i]);
    if (status == XB_OK) status = cli_cases_run(job->s->ctx, &list, job->assay);
    cli_cases_free(&list);
    return status;
}

/* ---- results */

/* KEY.csv and the figure of one sweep into DIR. */
static xb_status write_sweep(crossbar_job *job, const sweep_run *run, const char *dir)
{
    xb_ctx *ctx = job->s->ctx;
    unsigned formats = cli_formats(cli_text(&job->s->args, "format", "svg,png"));
    xb_table *table = NULL;
    xb_status status = cli_cases_table(ctx, &table, run->sweep.key, run->cases,
                                       run->sweep.count, xb_assay_digital(job->assay),
                                       cli_number(&job->s->args, "tolerance", 0.1));
    char *path = cli_join(dir, run->sweep.key, ""),
         *csv = cli_join(dir, run->sweep.key, ".csv");
    if (status == XB_OK && !(path && csv)) status = XB_E_MEMORY;
    if (status == XB_OK) status = xb_report_sweep(ctx, table, path, formats);
    if (status == XB_OK) status = xb_table_write_csv(ctx, table, csv);
    free(path);
    free(csv);
    xb_table_destroy(table);
    return status;
}

static json_t *sweep_json(const sweep_run *run, const xb_assay_result *digital)
{
    json_t *list = json_array();
    for (int k = 0; k < run->sweep.count; k++) {
        const cli_case *c = &run->cases[k];
        json_t *one = cli_case_json(NULL, c->value, c->result);
        json_object_set_new(one, "chips", cli_chips_json(c, digital));
        json_array_append_new(list, one);
    }
    return json_pack("{s:s,s:o}", "key", run->sweep.key, "cases", list);
}

static cli_exit print_json(const crossbar_job *job, const xb_analog *analog,
                           json_t *costs)
{
    const cli_args *args = &job->s->args;
    json_t *list = json_array(), *sweeps = json_array();
    json_array_append_new(list,
                          cli_case_json("digital", 0, xb_assay_digital(job->assay)));
    for (int i = 0; i < job->n_cases; i++) {
        const cli_case *c = &job->cases[i];
        json_t *one = cli_case_json(c->name, 0, c->result);
        json_object_set_new(one, "chips",
                            cli_chips_json(c, xb_assay_digital(job->assay)));
        json_array_append_new(list, one);
    }
    for (int i = 0; i < job->n_sweeps; i++)
        json_array_append_new(sweeps,
                              sweep_json(&job->sweep[i], xb_assay_digital(job->assay)));
    json_t *root = json_pack(
        "{s:o,s:I,s:I,s:o,s:o,s:o}", "array", cli_json_text(xb_array_name(job->array)),
        "rows", (json_int_t)job->data.n, "reads", (json_int_t)job->reads, "calibration",
        cli_json_text(cli_text(args, "calibration", "the data")), "cases", list, "sweeps",
        sweeps);
    json_object_set_new(root, "chip", json_integer((json_int_t)analog_options(job).chip));
    json_object_set_new(root, "independent_draws",
                        cli_json_real(xb_array_independent(job->array, job->reads)));
    json_object_set_new(root, "limits", cli_limits_json(analog));
    json_object_set_new(root, "draws", cli_draws_json(&job->draws));
    if (job->usable.reads > 0)
        json_object_set_new(root, "usable", cli_usable_json(&job->usable));
    if (costs) json_object_set_new(root, "costs", costs);
    return cli_json_print(job->s, root);
}

static cli_exit print_text(const crossbar_job *job, const xb_analog *analog)
{
    const cli_args *args = &job->s->args;
    printf("%s on %s: %lld %s, %lld reads, array %s\n", args->arg[0], args->arg[1],
           (long long)job->data.n, xb_plural(job->data.n, "row", "rows"),
           (long long)job->reads, xb_array_name(job->array));
    if (xb_model_member_count(job->model) > 1)
        printf("  %lld members on tiles of their own, reads dealt over them\n",
               (long long)xb_model_member_count(job->model));
    const cli_exit code = cli_show_device(job->s, job->array);
    if (code != CLI_DONE) return code;
    const double worth = xb_array_independent(job->array, job->reads);
    if (job->usable.reads > 0) {
        printf("  ");
        cli_print_words(job->usable.text, 2, true);
    } else if (worth < 0.99 * (double)job->reads)
        printf("  devices remember: the reads are worth %.3g independent %s\n", worth,
               worth < 1.005 ? "draw" : "draws");
    if (xb_model_cells(job->model))
        printf(
            "  weights are made of cells whose noise is their width: sigma range, sigma"
            " levels\n  and line do not apply\n");
    cli_show_cases(job->cases, job->n_cases, xb_assay_digital(job->assay),
                   "effect alone");
    for (int i = 0; i < job->n_sweeps; i++) {
        const sweep_run *run = &job->sweep[i];
        cli_show_cases(run->cases, run->sweep.count, xb_assay_digital(job->assay),
                       run->sweep.key);
        cli_show_sweep_chips(run->cases, run->sweep.count, run->sweep.key);
    }
    const uint64_t chip = analog_options(job).chip;
    printf("\n  ± the Monte Carlo error over reads of chip %llu; 'off': root mean square"
           " over\n  inputs, in predictive epistemic sds; converters calibrated on %s\n",
           (unsigned long long)chip,
           cli_text(args, "calibration", "the inputs of the data itself"));
    cli_show_chips(job->cases, job->n_cases, xb_assay_digital(job->assay), chip);
    if (!xb_array_differs(job->array))
        printf("  nothing on this array differs from chip to chip\n");
    cli_show_limits(job->s->ctx, analog);
    cli_print_doubts(xb_assay_result_scores(xb_assay_digital(job->assay)));
    return CLI_DONE;
}

/* All sweeps, or what was there before. */
static xb_status write_sweeps(crossbar_job *job, const char *dir)
{
    xb_ctx *ctx = job->s->ctx;
    xb_stage *stage = NULL;
    xb_status status = xb_stage_open(ctx, &stage, dir);
    if (status != XB_OK) return status;
    for (int i = 0; i < job->n_sweeps && status == XB_OK; i++)
        status = write_sweep(job, &job->sweep[i], xb_stage_dir(stage));
    if (status == XB_OK) return xb_stage_publish(ctx, stage, NULL);
    xb_stage_discard(ctx, stage);
    return status;
}

static json_t *costs_json(const crossbar_job *job, const xb_analog *analog)
{
    if (job->cost_model) return cli_cost_model_json(job->cost_model);
    if (!cli_flag(&job->s->args, "costs")) return NULL;
    return cli_costs_json(analog, job->reads, &job->costs);
}

static cli_exit deliver(crossbar_job *job, const xb_analog *analog)
{
    cli_session *s = job->s;
    const char *dir = cli_text(&s->args, "output", NULL);
    const char *export = cli_text(&s->args, "export", NULL);
    xb_status status = XB_OK;
    if (export) status = xb_analog_export(s->ctx, analog, export);
    if (status == XB_OK && dir && job->n_sweeps) status = write_sweeps(job, dir);
    if (status != XB_OK) return cli_status(s, status);
    cli_progress_clear(&s->progress);
    if (cli_json(s)) return print_json(job, analog, costs_json(job, analog));
    cli_exit code = print_text(job, analog);
    cli_show_draws(&job->draws, job->reads);
    if (job->cost_model)
        cli_show_cost_model(job->cost_model);
    else if (cli_flag(&s->args, "costs"))
        cli_show_costs(analog, job->reads, &job->costs);
    return code;
}

static cli_exit simulate(crossbar_job *job)
{
    xb_analog *analog = NULL;
    const xb_analog_options o = analog_options(job);
    const cli_array_data *on = job->calibration.x ? &job->calibration : &job->data;
    xb_status status =
        xb_analog_create(job->s->ctx, &analog, job->model, job->array, on->x, on->n, &o);
    if (status == XB_OK && by_model(job->s))
        status = xb_cost_model_create(job->s->ctx, &job->cost_model, analog, job->reads);
    if (status == XB_OK) status = run_assays(job);
    if (status == XB_OK)
        status = cli_draws_find(job->s->ctx, &job->draws, job->model, analog, job->data.x,
                                job->data.y, job->data.n, job->reads);
    cli_exit code = status == XB_OK ? deliver(job, analog) : cli_status(job->s, status);
    xb_analog_destroy(analog);
    return code;
}

static void free_job(crossbar_job *job)
{
    for (int i = 0; i < job->n_cases; i++) xb_chips_destroy(job->cases[i].chips);
    for (int i = 0; i < SWEEPS_MAX; i++) {
        const sweep_run *run = &job->sweep[i];
        for (int k = 0; run->cases && k < run->sweep.count; k++)
            xb_chips_destroy(run->cases[k].chips);
        free(run->cases);
    }
    xb_array_destroy(job->array);
    xb_assay_destroy(job->assay);
    xb_cost_model_destroy(job->cost_model);
    cli_draws_free(&job->draws);
    cli_array_data_free(&job->calibration);
    cli_array_data_free(&job->data);
    xb_model_destroy(job->model);
    free(job);
}

static cli_exit check_export(const crossbar_job *job)
{
    const int64_t members = xb_model_member_count(job->model);
    if (members == 1 || !cli_text(&job->s->args, "export", NULL)) return CLI_DONE;
    return cli_fail(job->s, CLI_USAGE,
                    "%s has %lld members, and --export writes one: train with"
                    " --members 1",
                    job->s->args.arg[0], (long long)members);
}

static cli_exit run(cli_session *s)
{
    crossbar_job *job = calloc(1, sizeof *job); /* many scores: too much for a stack */
    if (!job) return cli_fail(s, CLI_FAILED, "not enough memory");
    job->s = s;
    job->reads = (int64_t)cli_count(&s->args, "samples", 1000);
    cli_exit code = read_array(job);
    if (code == CLI_DONE) code = plan_outputs(job);
    if (code == CLI_DONE) code = cli_plan_file(s, "cache", "");
    if (code == CLI_DONE) code = read_data(job);
    if (code == CLI_DONE) code = check_export(job);
    if (code == CLI_DONE) code = simulate(job);
    free_job(job);
    return code;
}

static void list_keys(FILE *out)
{
    fprintf(out, "\nArrays:\n");
    for (int i = 0; i < xb_array_preset_count(); i++)
        fprintf(out, "  %-22s%s\n", xb_array_preset_name(i), xb_array_preset_about(i));
    fprintf(out, "  %-22s%s\n", "FILE.json",
            "{\"crossbayes\": \"array\", \"base\": \"mtj\", KEY: NUMBER, ...}");
    fprintf(out, "\nKeys of --set, --sweep and FILE.json:\n");
    for (int i = 0; i < xb_array_field_count(); i++)
        fprintf(out, "  %-22s%s\n", xb_array_field_at(i).key, xb_array_field_at(i).about);
}

static const cli_option options[] = {
    {"array", 0, CLI_TEXT, "ARRAY",
     "array to simulate: a preset or a JSON file (crossbayes help array) [mtj]", 0, 0},
    {"set", 0, CLI_TEXTS, "KEY=X", "one number of the array; may be repeated", 0, 0},
    {"sweep", 0, CLI_TEXTS, "KEY=A:B",
     "range of a number of the array to score; also A:B:STEP or A,B,C", 0, 0},
    {"law", 0, CLI_TEXT, "LAW", "law of the noise devices [the array's]", 0, 0},
    {"read-interval", 0, CLI_TEXT, "TIME",
     "time from one read of a device to the next, e.g. 2.5ms [the array's]", 0, 0},
    {"device", 0, CLI_PATH, "FILE",
     "device file of the mean devices: how they relax (crossbayes device)", 0, 0},
    {"age", 0, CLI_TEXT, "TIME", "time since programming, e.g. 10ms or 1e4s [0]", 0, 0},
    {"redraw", 0, CLI_CHOICE, "network|input|operation",
     "when weights are drawn anew [the array's]", 0, 0},
    {"calibration", 0, CLI_PATH, "FILE",
     "inputs to calibrate converters on, best the training data [the data"
     " itself]",
     0, 0},
    {"inputs", 0, CLI_COUNT, "N",
     "largest number of inputs scored, evenly spread over the data [all]", 1, 1e12},
    CLI_IMAGE_OPTIONS,
    {"samples", 0, CLI_COUNT, "N", "reads of the arrays [1000]", 2, 1e8},
    {"chip", 0, CLI_COUNT, "N",
     "number of the first chip, a seed of what differs from chip to chip [1]", 0, 1e15},
    {"chips", 0, CLI_COUNT, "N",
     "number of chips that scores are averaged over: for all effects together"
     " and for each that differs from chip to chip [8, all together alone]",
     1, 1e5},
    {"tolerance", 0, CLI_NUMBER, "X",
     "largest difference of predictives that counts as the same, in their sds"
     " [0.1]",
     1e-6, 10},
    {"costs", 0, CLI_PATH, "model|FILE",
     "energy and time of a prediction, by the built-in model or a JSON table of costs", 0,
     0},
    {"export", 0, CLI_OUTPUT, "DIR",
     "folder for the conductances to program, and CrossSim's inputs", 0, 0},
    {"output", 'o', CLI_OUTPUT, "DIR",
     "folder of tables and figures of sweeps, made if missing", 0, 0},
    {"format", 0, CLI_CHOICES, CLI_FORMATS, "formats of the figures [svg,png]", 0, 0},
    CLI_SHARE_OPTION,
};

const cli_command cli_command_crossbar = {
    .name = "crossbar",
    .group = "Will it work on my device?",
    .about =
        "a model on simulated analog arrays: scores, sweeps, data for programming them",
    .usage = "MODEL DATA [--array ARRAY] [--sweep KEY=A:B]... [options]",
    .example = "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
               "crossbayes train square.csv --target y -o square.safetensors\n"
               "crossbayes crossbar square.safetensors square.csv --sweep adc-bits=4:8",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .min_args = 2,
    .max_args = 2,
    .more = list_keys,
    .run = run,
};
