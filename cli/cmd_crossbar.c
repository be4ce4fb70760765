/* cmd_crossbar.c: `crossbayes crossbar`: runs a model on simulated arrays. It compares
 * the scores with those of the digital model, for each effect alone and for all together,
 * sweeps one number of the array, writes the conductances to program, and adds up what a
 * prediction costs. */
#include <stdlib.h>

#include "commands.h"
#include "crossbar_job.h"
#include "outputs.h"
#include "show.h"
#include "topics.h"

static cli_exit simulate(crossbar_job *job)
{
    xb_analog *analog = NULL;
    const xb_analog_options o = crossbar_analog_options(job);
    const cli_array_data *on = job->calibration.x ? &job->calibration : &job->data;
    xb_status status =
        xb_analog_create(job->s->ctx, &analog, job->model, job->array, on->x, on->n, &o);
    if (status == XB_OK && crossbar_costs_by_model(job->s))
        status = xb_cost_model_create(job->s->ctx, &job->cost_model, analog, job->reads);
    if (status == XB_OK) status = crossbar_run_assays(job);
    if (status == XB_OK)
        status = cli_draws_find(job->s->ctx, &job->draws, job->model, analog, job->data.x,
                                job->data.y, job->data.n, job->reads);
    cli_exit code =
        status == XB_OK ? crossbar_deliver(job, analog) : cli_status(job->s, status);
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
    /* It holds many scores and would be too big for the stack. */
    crossbar_job *job = calloc(1, sizeof *job);
    if (!job) return cli_fail(s, CLI_FAILED, "not enough memory");
    job->s = s;
    job->reads = (int64_t)cli_count(&s->args, "reads", 1000);
    cli_exit code = crossbar_read_array(job);
    if (code == CLI_DONE) code = crossbar_plan_outputs(job);
    if (code == CLI_DONE) code = cli_plan_file(s, "cache", "");
    if (code == CLI_DONE) code = crossbar_read_data(job);
    if (code == CLI_DONE) code = check_export(job);
    if (code == CLI_DONE) code = simulate(job);
    free_job(job);
    return code;
}

static const cli_option options[] = {
    {"array", 0, CLI_TEXT, "ARRAY",
     "array to simulate: a preset or a JSON file (crossbayes help array) [mtj]", 0, 0},
    {"set", 0, CLI_TEXTS, "KEY=X",
     "value of one key of the array (below); may be repeated", 0, 0},
    {"sweep", 0, CLI_TEXTS, "KEY=FROM:TO",
     "values of one key of the array to score, also FROM:TO:STEP or A,B,C; may be "
     "repeated",
     0, 0},
    {"law", 0, CLI_TEXT, "LAW", "law of the noise devices [the array's]", 0, 0},
    {"read-interval", 0, CLI_TEXT, "TIME",
     "time from one read of a device to the next, in s or e.g. 2.5ms [the array's]", 0,
     0},
    {"device", 0, CLI_PATH, "FILE",
     "device file (crossbayes device) that says how the mean devices relax", 0, 0},
    {"age", 0, CLI_TEXT, "TIME", "time since programming, in s or e.g. 10ms [0]", 0, 0},
    {"redraw", 0, CLI_CHOICE, "network|input|operation",
     "when weights are redrawn: for each read of the network, for each input, or for each"
     " array operation [the array's]",
     0, 0},
    {"calibration", 0, CLI_PATH, "FILE",
     "inputs to calibrate converters on, best the training data [DATA itself]", 0, 0},
    {"rows", 0, CLI_COUNT, "N",
     "largest number of rows or images scored, evenly spread over DATA [all]", 1, 1e12},
    {"reads", 0, CLI_COUNT, "N", "number of reads of the arrays per prediction [1000]", 2,
     1e8},
    {"chips", 0, CLI_COUNT, "N",
     "number of chips that scores are averaged over, for all effects together and for"
     " each one that differs from chip to chip [8, for all effects together only]",
     1, 1e5},
    {"chip", 0, CLI_COUNT, "N",
     "number of the first chip, a seed of what differs from chip to chip [1]", 0, 1e15},
    {"tolerance", 0, CLI_NUMBER, "SDS",
     "largest difference of outputs that counts as the same, in epistemic sds [0.1]",
     1e-6, 10},
    {"costs", 0, CLI_PATH, "model|FILE",
     "also print the energy and time of a prediction, by the built-in model or by a JSON"
     " table of costs",
     0, 0},
    CLI_IMAGE_OPTIONS,
    {"output", 'o', CLI_OUTPUT, "DIR",
     "folder for the tables and figures of --sweep and of --costs model; created if"
     " missing",
     0, 0},
    {"format", 0, CLI_CHOICES, CLI_FORMATS, "formats of the figures [svg,png]", 0, 0},
    {"export", 0, CLI_OUTPUT, "DIR",
     "folder for the conductances to program, and for CrossSim's inputs", 0, 0},
    {"backend", 0, CLI_CHOICE, "cpu|cuda|auto",
     "processor that reads the arrays; auto: the CPU [cpu]", 0, 0},
    CLI_SHARE_OPTION,
};

static const cli_title titles[] = {
    {"array", "Array"},   {"rows", "Scores"},      {"target-table", "Images"},
    {"output", "Output"}, {"backend", "Machines"}, {NULL, NULL},
};

const cli_command cli_command_crossbar = {
    .name = "crossbar",
    .group = "Will it work on my device?",
    .about =
        "a model on simulated analog arrays: scores, sweeps, data for programming them",
    .usage = "MODEL DATA [--array ARRAY] [--sweep KEY=FROM:TO]... [options]",
    .example = "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
               "crossbayes train square.csv --target y -o square.safetensors\n"
               "crossbayes crossbar square.safetensors square.csv --sweep adc-bits=4:8",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 2,
    .max_args = 2,
    .more = cli_help_arrays,
    .run = run,
};
