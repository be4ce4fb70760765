/* cmd_design.c: `crossbayes design`: finds the cheapest array that keeps a model's
 * quality, and the front of energy and time against quality. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "crossbar_data.h"
#include "crossbar_device.h"
#include "design_show.h"
#include "doubts.h"
#include "outputs.h"
#include "show.h"
#include "sweep.h"

/* Largest number of rows that are scored, and of inputs that converters are calibrated
 * on. */
enum { ROWS_MOST = 512, KNOWN_MOST = 512 };

typedef struct design_job {
    cli_session *s;
    xb_model *model;
    cli_array_data data, calibration; /* if `calibration` has no rows, `data` is used */
    xb_array *array;
    xb_design_space *space;
    xb_design *design;
    double deadline_s;
} design_job;

/* ---- the options */

static cli_exit read_sets(design_job *job)
{
    cli_session *s = job->s;
    const cli_value *set = cli_get(&s->args, "set");
    char why[160];
    cli_sweep one;
    for (int i = 0; set->given && i < set->n_texts; i++) {
        if (!cli_sweep_read(&one, set->texts[i], why, sizeof why) || one.count != 1)
            return cli_fail(s, CLI_USAGE, "--set %s: expected KEY=NUMBER", set->texts[i]);
        xb_status status = xb_array_set(s->ctx, job->array, one.key, one.value[0]);
        if (status != XB_OK) return cli_status(s, status);
    }
    return CLI_DONE;
}

/* Many threads will read the array's files later; reading them once here records them as
 * inputs and stops if one cannot be read. */
static xb_status note_files(xb_ctx *ctx, const xb_array *array)
{
    xb_law *law = NULL;
    xb_device *device = NULL;
    xb_status status = XB_OK;
    if (xb_array_law(array)[0]) status = xb_law_parse(ctx, &law, xb_array_law(array));
    if (status == XB_OK && xb_array_device(array)[0])
        status = xb_device_load(ctx, &device, xb_array_device(array));
    xb_device_destroy(device);
    xb_law_destroy(law);
    return status;
}

static cli_exit read_array(design_job *job)
{
    cli_session *s = job->s;
    const char *law = cli_text(&s->args, "law", NULL);
    cli_exit code = cli_status(
        s, xb_array_parse(s->ctx, &job->array, cli_text(&s->args, "array", "mtj")));
    if (code == CLI_DONE) code = read_sets(job);
    if (code == CLI_DONE && law)
        code = cli_status(s, xb_array_set_law(s->ctx, job->array, law));
    if (code == CLI_DONE) code = cli_array_device(s, job->array);
    if (code == CLI_DONE) code = cli_status(s, note_files(s->ctx, job->array));
    if (code != CLI_DONE) return code;
    return cli_status(s, xb_design_space_create(s->ctx, &job->space, job->array));
}

/* Keys that --set gives are not searched. */
static cli_exit fix_sets(design_job *job)
{
    cli_session *s = job->s;
    const cli_value *set = cli_get(&s->args, "set");
    char why[160];
    cli_sweep one;
    for (int i = 0; set->given && i < set->n_texts; i++) {
        if (!cli_sweep_read(&one, set->texts[i], why, sizeof why)) continue;
        if (xb_design_space_axis_find(job->space, one.key) >= 0)
            return cli_fail(s, CLI_USAGE,
                            "--set %s: --over lists values of this key; leave one of the"
                            " two out",
                            set->texts[i]);
        if (xb_design_space_fix(s->ctx, job->space, one.key) != XB_OK)
            return cli_fail(s, CLI_USAGE, "--set %s: %s", set->texts[i],
                            xb_ctx_message(s->ctx));
    }
    return CLI_DONE;
}

static cli_exit read_axes(design_job *job)
{
    cli_session *s = job->s;
    const cli_value *over = cli_get(&s->args, "over");
    char why[160];
    cli_sweep one;
    for (int i = 0; over->given && i < over->n_texts; i++) {
        if (!cli_sweep_read(&one, over->texts[i], why, sizeof why))
            return cli_fail(s, CLI_USAGE, "--over %s", why);
        xb_status status =
            xb_design_space_add(s->ctx, job->space, one.key, one.value, one.count);
        if (status != XB_OK)
            return cli_fail(s, CLI_USAGE, "--over %s: %s", over->texts[i],
                            xb_ctx_message(s->ctx));
    }
    const cli_exit code = fix_sets(job);
    if (code != CLI_DONE) return code;
    return cli_status(s, xb_design_space_complete(s->ctx, job->space));
}

/* Adds the default axis of --retrain if no other is given: whether training takes the
 * array into account. */
static cli_exit read_retrain(design_job *job)
{
    static const char *const of_models[] = {"width", "n_eff_penalty", "for_array"};
    static const double both[] = {0, 1};
    cli_session *s = job->s;
    bool any = false;
    for (int i = 0; i < CLI_COUNT_OF(of_models); i++) {
        const bool has = xb_design_space_axis_find(job->space, of_models[i]) >= 0;
        any = any || has;
        if (has && !cli_flag(&s->args, "retrain"))
            return cli_fail(s, CLI_USAGE,
                            "--over %s needs --retrain: models are trained"
                            " again for it",
                            of_models[i]);
    }
    if (!cli_flag(&s->args, "retrain")) {
        cli_doubt_design_options(s);
        return CLI_DONE;
    }
    if (!cli_flag(&s->args, "calibration"))
        return cli_fail(s, CLI_USAGE,
                        "--retrain needs --calibration FILE: the rows to train on, with"
                        " their targets");
    if (any) return CLI_DONE;
    return cli_status(s, xb_design_space_add(s->ctx, job->space, "for_array", both, 2));
}

static cli_exit read_deadline(design_job *job)
{
    cli_session *s = job->s;
    const char *text = cli_text(&s->args, "deadline", NULL);
    if (!text) return CLI_DONE;
    if (xb_quantity_parse(s->ctx, &job->deadline_s, text, "s") != XB_OK)
        return cli_fail(s, CLI_USAGE, "--deadline: %s", xb_ctx_message(s->ctx));
    if (!(job->deadline_s > 0))
        return cli_fail(s, CLI_USAGE, "--deadline %s: expected a time above 0", text);
    return CLI_DONE;
}

static cli_exit read_data(design_job *job)
{
    cli_session *s = job->s;
    const char *calibration = cli_text(&s->args, "calibration", NULL);
    const bool retrain = cli_flag(&s->args, "retrain");
    cli_exit code = cli_status(s, xb_model_load(s->ctx, &job->model, s->args.arg[0]));
    if (code == CLI_DONE)
        code = cli_array_data_read(s, &job->data, job->model, s->args.arg[1], true,
                                   ROWS_MOST);
    if (code == CLI_DONE && calibration)
        code = cli_array_data_read(s, &job->calibration, job->model, calibration, retrain,
                                   KNOWN_MOST);
    return code;
}

/* ---- the search */

static const char *keep_of(const cli_session *s)
{
    return cli_text(&s->args, "keep", "nll<=+2%");
}

static double yield_of(const cli_session *s)
{
    return cli_number(&s->args, "yield", xb_design_options_default().yield);
}

static xb_status find(design_job *job)
{
    cli_session *s = job->s;
    xb_design_options o = xb_design_options_default();
    xb_analog_options analog = xb_analog_options_default();
    analog.seed = cli_seed(s);
    analog.chip = cli_count(&s->args, "chip", analog.chip);
    o.analog = &analog;
    o.chips = (int64_t)cli_count(&s->args, "chips", (uint64_t)o.chips);
    o.deadline_ns = 1e9 * job->deadline_s;
    o.fastest = strcmp(cli_text(&s->args, "minimise", "energy"), "time") == 0;
    o.yield = yield_of(s);
    o.exhaustive = cli_flag(&s->args, "exhaustive");
    if (job->calibration.x) {
        o.calibration = job->calibration.x;
        o.calibration_n = job->calibration.n;
    }
    xb_train_options train = xb_train_options_default();
    xb_train_data rows;
    if (cli_flag(&s->args, "retrain")) {
        rows = cli_inputs_train(&job->calibration.in);
        train.seed = cli_seed(s);
        const xb_status status = xb_train_effort_parse(
            s->ctx, &train.effort, cli_text(&s->args, "effort", "standard"));
        if (status != XB_OK) return status;
        o.retrain = &rows;
        o.train = &train;
    }
    return xb_design_find(s->ctx, &job->design, job->model, job->data.x, job->data.y,
                          job->data.n, job->space, keep_of(s), &o);
}

static cli_exit deliver(design_job *job)
{
    cli_session *s = job->s;
    const xb_design *d = job->design;
    char why[1024];
    cli_progress_clear(&s->progress);
    cli_exit code = cli_design_write(s, d, keep_of(s));
    if (code == CLI_DONE && cli_json(s))
        code = cli_json_print(s, cli_design_json(d, keep_of(s)));
    else if (code == CLI_DONE) {
        printf("%s on %s: %lld %s, array %s\n", s->args.arg[0], s->args.arg[1],
               (long long)xb_design_rows(d), xb_plural(xb_design_rows(d), "row", "rows"),
               xb_array_name(job->array));
        cli_show_design(d, keep_of(s), yield_of(s));
    }
    if (code != CLI_DONE || xb_design_chosen(d) >= 0) return code;
    cli_design_why(why, sizeof why, d, keep_of(s));
    return cli_fail(s, CLI_FAILED, "%s", why);
}

static cli_exit run(cli_session *s)
{
    design_job job = {.s = s};
    cli_exit code = read_array(&job);
    if (code == CLI_DONE) code = read_axes(&job);
    if (code == CLI_DONE) code = read_retrain(&job);
    if (code == CLI_DONE) code = read_deadline(&job);
    if (code == CLI_DONE) code = cli_design_plan(s);
    if (code == CLI_DONE) code = cli_plan_file(s, "cache", "");
    if (code == CLI_DONE) code = read_data(&job);
    if (code == CLI_DONE) code = cli_status(s, find(&job));
    if (code == CLI_DONE) code = deliver(&job);
    xb_design_destroy(job.design);
    xb_design_space_destroy(job.space);
    xb_array_destroy(job.array);
    cli_array_data_free(&job.calibration);
    cli_array_data_free(&job.data);
    xb_model_destroy(job.model);
    return code;
}

static void explain(FILE *out)
{
    fprintf(
        out,
        "\nKEY of --over is draws (weight draws per prediction), tile (rows and columns "
        "of a tile),\nor any key of an array, which crossbayes crossbar --help lists. "
        "VALUES are written\n4:10, 4:10:2 or 1,2,5. Without --over the search covers "
        "adc_bits=5:11, dac_bits=4,6,8,\ntile=64,128,256, draws=10,20,50,100,200 and, "
        "where reads of a device are correlated, the\ntime between reads. Some keys "
        "(states, widths, errors) cost nothing in the cost model:\nthe search then picks "
        "their best value. If costs are equal, it takes the value listed first.\n"
        "\nWith --retrain, KEY may also be width (units of the hidden dense layers), "
        "n_eff_penalty\n(weight of a penalty that lets many weights share the variance) "
        "or for_array (1: the\nmodel is trained with the array's converters, states and "
        "errors in the forward pass,\n0: without). If none of them is given, the search "
        "covers for_array=0,1.\n"
        "\nCONDITION is SCORE<=LIMIT or SCORE>=LIMIT, up to three of them separated by "
        "commas.\nLIMIT is a number; with a sign it is relative to the digital model's "
        "score: nll<=+2%%,\nnll<=+0.05, rmse<=4.5, coverage95>=0.93. Scores for a target "
        "of "
        "numbers are nll, rmse\nand coverage95; scores for classes are nll, accuracy and "
        "brier.\n");
}

static const cli_option options[] = {
    {"array", 0, CLI_TEXT, "ARRAY",
     "array to start from, a preset or a JSON file (crossbayes help array) [mtj]", 0, 0},
    {"set", 0, CLI_TEXTS, "KEY=X",
     "value of one key of that array, which is then not searched; may be repeated", 0, 0},
    {"over", 0, CLI_TEXTS, "KEY=VALUES",
     "key to choose, with its candidate values (below); may be repeated", 0, 0},
    {"keep", 0, CLI_TEXT, "CONDITION",
     "quality that the design must keep (below) [nll<=+2%]", 0, 0},
    {"minimise", 0, CLI_CHOICE, "energy|time",
     "cost of a prediction to minimise [energy]", 0, 0},
    {"deadline", 0, CLI_TEXT, "TIME",
     "longest time of a prediction, in s or e.g. 20us [none]", 0, 0},
    {"exhaustive", 0, CLI_FLAG, "",
     "simulate every array on all chips, without dropping any early", 0, 0},
    {"law", 0, CLI_TEXT, "LAW", "law of the noise devices [the array's]", 0, 0},
    {"device", 0, CLI_PATH, "FILE",
     "device file (crossbayes device) that says how the mean devices relax", 0, 0},
    {"age", 0, CLI_TEXT, "TIME", "time since programming, in s or e.g. 10ms [0]", 0, 0},
    {"calibration", 0, CLI_PATH, "FILE",
     "inputs to calibrate converters on, best the training data [DATA itself]", 0, 0},
    {"chips", 0, CLI_COUNT, "N",
     "number of simulated chips for the last round of the search; the choice is "
     "confirmed on twice as many [16]",
     4, 256},
    {"chip", 0, CLI_COUNT, "N",
     "number of the first chip, a seed of what differs from chip to chip [1]", 0, 1e15},
    {"yield", 0, CLI_NUMBER, "SHARE",
     "share of the chips that scores are averaged over; the worst chips are left out "
     "[0.9]",
     0.01, 1},
    {"retrain", 0, CLI_FLAG, "",
     "also train models again on the rows of --calibration; --over width, n_eff_penalty"
     " and for_array choose which",
     0, 0},
    {"effort", 0, CLI_CHOICE, "quick|standard|full",
     "length of that training, as in train --effort [standard]", 0, 0},
    CLI_IMAGE_OPTIONS,
    {"output", 'o', CLI_OUTPUT, "DIR",
     "folder for the chosen array's file, the table, figure and page; created if missing",
     0, 0},
    {"format", 0, CLI_CHOICES, CLI_FORMATS, "formats of the figure [svg,png]", 0, 0},
};

static const cli_title titles[] = {
    {"array", "Search"},
    {"law", "Device"},
    {"chips", "Chips"},
    {"retrain", "Retraining"},
    {"target-table", "Images"},
    {"output", "Output"},
    {NULL, NULL},
};

const cli_command cli_command_design = {
    .name = "design",
    .group = "Will it work on my device?",
    .about = "cheapest array that keeps a model's quality, and the trade-off of cost and "
             "quality",
    .usage = "MODEL DATA [--array ARRAY] [--over KEY=VALUES]... [--keep CONDITION]",
    .example =
        "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
        "crossbayes train square.csv --target y --members 1 -o square.safetensors\n"
        "crossbayes design square.safetensors square.csv --array ideal --set dac_bits=8"
        " --over adc_bits=6:12 --keep 'nll<=+50%'",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 2,
    .max_args = 2,
    .more = explain,
    .run = run,
};
