/* cmd_plan.c: `crossbayes plan`: forecasts whether the shape of a law's noise matters to
 * a net: the predicted distance, the measured one beside it, and what to do about it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "model_data.h"
#include "plan_show.h"
#include "print.h"

enum { ROWS_DEFAULT = 3 };

/* ---- the run */

static xb_status plan_output(plan_job *job, const xb_weights *weights, const float *x,
                             plan_case which)
{
    plan_case *c = &job->at[job->cases++];
    xb_progress event = {"planning", job->cases - 1, 0};
    if (!cli_progress_event(&job->s->progress, &event)) return XB_E_CANCELLED;
    *c = which;
    xb_plan_options opt = job->opt;
    opt.output = c->output ? c->output - 1 : 0;
    return xb_plan_create(job->s->ctx, &c->plan, job->net, weights, x, job->law, &opt);
}

/* Plans each output separately. */
static xb_status plan_case_at(plan_job *job, const xb_weights *weights, const float *x,
                              int64_t row, int64_t member)
{
    const int64_t outputs = cli_plan_outputs(job);
    xb_status status = XB_OK;
    for (int64_t k = 0; k < outputs && status == XB_OK; k++)
        status = plan_output(job, weights, x,
                             (plan_case){row, member, outputs > 1 ? k + 1 : 0, NULL});
    return status;
}

/* Plans each member of an ensemble separately. */
static xb_status plan_at(plan_job *job, const float *x, int64_t row)
{
    const int64_t members = cli_plan_members(job);
    if (members == 1) return plan_case_at(job, &job->weights, x, row, 0);
    xb_status status = XB_OK;
    for (int64_t i = 0; i < members && status == XB_OK; i++) {
        const xb_weights weights = xb_model_weights(xb_model_member_at(job->model, i));
        status = plan_case_at(job, &weights, x, row, i + 1);
    }
    return status;
}

static cli_exit plan_net(plan_job *job)
{
    cli_session *s = job->s;
    const char *text = cli_text(&s->args, "net", NULL);
    int64_t inputs = (int64_t)cli_count(&s->args, "inputs", 1);
    xb_status status =
        xb_net_parse(s->ctx, &job->own_net, text, (xb_shape){1, 1, inputs}, NULL);
    if (status != XB_OK) return cli_status(s, status);
    int64_t n = xb_net_param_count(job->own_net);
    job->net = job->own_net;
    job->block = calloc((size_t)(2 * n + inputs), sizeof *job->block);
    if (!job->block) return cli_fail(s, CLI_FAILED, "not enough memory");
    float *x = job->block + 2 * n;
    for (int64_t i = 0; i < inputs; i++) x[i] = 1;
    xb_plan_equal_shares(job->net, job->block, job->block + n);
    job->weights = (xb_weights){job->block, job->block + n, NULL, NULL};
    status = plan_at(job, x, 0);
    if (status == XB_OK)
        status =
            xb_plan_find_width(s->ctx, &job->width, text, inputs, job->law, &job->opt);
    return cli_status(s, status);
}

static xb_status plan_rows(plan_job *job, float *x)
{
    cli_session *s = job->s;
    xb_frame *frame = NULL;
    xb_status status =
        cli_model_frame(s, &frame, job->model, cli_text(&s->args, "data", NULL), false);
    if (status != XB_OK) return status;
    int64_t all = xb_frame_row_count(frame), d = xb_model_feature_count(job->model);
    int64_t rows = (int64_t)cli_count(&s->args, "rows", ROWS_DEFAULT);
    if (rows > all) rows = all;
    for (int64_t i = 0; i < rows && status == XB_OK; i++) {
        int64_t row = rows > 1 ? i * (all - 1) / (rows - 1) : 0;
        for (int64_t j = 0; j < d; j++)
            x[j] = (float)xb_model_scaled_input(job->model, j,
                                                xb_frame_values(frame)[row * d + j]);
        status = plan_at(job, x, row + 1);
    }
    xb_frame_destroy(frame);
    return status;
}

static cli_exit plan_model(plan_job *job)
{
    cli_session *s = job->s;
    xb_status status =
        xb_model_load(s->ctx, &job->model, cli_text(&s->args, "model", NULL));
    if (status != XB_OK) return cli_status(s, status);
    const int64_t rows = (int64_t)cli_count(&s->args, "rows", ROWS_DEFAULT);
    const int64_t each = cli_plan_members(job) * cli_plan_outputs(job),
                  most = PLAN_ROWS_MAX / each;
    if (xb_model_class_count(job->model) > 0)
        return cli_fail(
            s, CLI_USAGE,
            "%s: the model predicts classes; plan takes models that predict numbers",
            cli_text(&s->args, "model", NULL));
    if ((cli_flag(&s->args, "data") ? rows : 1) > most)
        return cli_fail(s, CLI_USAGE,
                        "--rows %lld of %lld members and %lld targets: expected at most"
                        " %lld rows",
                        (long long)rows, (long long)cli_plan_members(job),
                        (long long)cli_plan_outputs(job), (long long)most);
    job->net = xb_model_net(job->model);
    job->weights = xb_model_weights(job->model);
    job->block = calloc((size_t)xb_model_feature_count(job->model), sizeof *job->block);
    if (!job->block) return cli_fail(s, CLI_FAILED, "not enough memory");
    status = cli_flag(&s->args, "data") ? plan_rows(job, job->block)
                                        : plan_at(job, job->block, 0);
    return cli_status(s, status);
}

/* Without a net and a model, prints the number of equal shares needed. */
static cli_exit deliver(const plan_job *job)
{
    cli_progress_clear(&job->s->progress);
    if (cli_json(job->s)) return cli_plan_print_json(job);
    if (job->cases > 0) return cli_plan_print_text(job);
    char needed[32];
    cli_format_plain(needed, sizeof needed, ceil(job->needed));
    cli_plan_print_draws(job);
    printf("%s: %s equal weights behind an output make its shape Gaussian within %g"
           " nats\n",
           job->s->args.arg[0], needed, job->opt.tolerance);
    return CLI_DONE;
}

static cli_exit plan(plan_job *job)
{
    cli_session *s = job->s;
    bool net = cli_flag(&s->args, "net"), model = cli_flag(&s->args, "model");
    if (net && model)
        return cli_fail(s, CLI_USAGE, "--net and --model exclude each other");
    if (cli_flag(&s->args, "data") && !model)
        return cli_fail(s, CLI_USAGE, "--data needs --model");
    double interval = 0;
    cli_exit code = cli_quantity(s, &interval, "read-interval", "s");
    if (code != CLI_DONE) return code;
    xb_status status = xb_law_parse(s->ctx, &job->law, s->args.arg[0]);
    if (status == XB_OK)
        status = xb_draws_judge(s->ctx, &job->draws, s->args.arg[0], interval,
                                (int64_t)cli_count(&s->args, "reads", 0));
    if (status == XB_OK && interval > 0 && job->draws.reads == 0)
        return cli_fail(s, CLI_USAGE,
                        "--read-interval: %s is not a law file of a trace with a time"
                        " axis",
                        s->args.arg[0]);
    if (status == XB_OK)
        status =
            xb_plan_find_n_eff_needed(s->ctx, &job->needed, job->law, job->opt.tolerance);
    code = cli_status(s, status);
    if (code == CLI_DONE && net) code = plan_net(job);
    if (code == CLI_DONE && model) code = plan_model(job);
    return code == CLI_DONE ? deliver(job) : code;
}

static cli_exit run(cli_session *s)
{
    plan_job *job = calloc(1, sizeof *job);
    if (!job) return cli_fail(s, CLI_FAILED, "not enough memory");
    job->s = s;
    job->opt = xb_plan_options_default();
    job->opt.tolerance = cli_number(&s->args, "tolerance", job->opt.tolerance);
    job->opt.draws = (int64_t)cli_count(&s->args, "draws", (uint64_t)job->opt.draws);
    job->opt.measure = !cli_flag(&s->args, "predict-only");
    job->opt.seed = cli_seed(s);
    cli_exit code = plan(job);
    for (int i = 0; i < job->cases; i++) xb_plan_destroy(job->at[i].plan);
    xb_law_destroy(job->law);
    xb_net_destroy(job->own_net);
    xb_model_destroy(job->model);
    free(job->block);
    free(job);
    return code;
}

static const cli_option options[] = {
    {"net", 0, CLI_TEXT, "NET",
     "layers of an untrained net (crossbayes help net), whose weights are assumed to "
     "share the variance equally",
     0, 0},
    {"inputs", 0, CLI_COUNT, "N", "number of inputs of --net [1]", 1, 65536},
    {"model", 0, CLI_PATH, "FILE", "trained model whose weights are used", 0, 0},
    {"data", 0, CLI_PATH, "FILE",
     "table whose rows are the inputs to plan for [the mean input]", 0, 0},
    {"rows", 0, CLI_COUNT, "N",
     "number of rows of --data that are used, evenly spread [3]", 1, PLAN_ROWS_MAX},
    {"tolerance", 0, CLI_NUMBER, "KL", "largest KL that does not matter, in nats [0.001]",
     1e-12, 10},
    {"draws", 0, CLI_COUNT, "N", "number of draws of the hidden layers [32768]", 32, 1e9},
    {"predict-only", 0, CLI_FLAG, NULL,
     "print the predicted KL only, without a measured one beside it", 0, 0},
    CLI_BACKEND_OPTION,
    {"reads", 0, CLI_COUNT, "N",
     "number of reads of a device per prediction; the line 'draws' says what they are "
     "worth [100]",
     1, 1e9},
    {"read-interval", 0, CLI_TEXT, "TIME",
     "time between these reads, in s or e.g. 50ms [the trace's interval]", 0, 0},
};

static const cli_title titles[] = {
    {"net", "Network"},
    {"tolerance", "Forecast"},
    {"reads", "Reads of the device"},
    {NULL, NULL},
};

const cli_command cli_command_plan = {
    .name = "plan",
    .group = "Will it work on my device?",
    .about = "forecast: will the shape of the noise matter, and how wide must layers be",
    .usage = "LAW [--net NET | --model FILE] [--tolerance KL] [options]",
    .example =
        "crossbayes plan bimodal --net 'dense 8, elu, dense 1' --tolerance 1e-3\n"
        "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
        "crossbayes train square.csv --target y -o square.safetensors\n"
        "crossbayes plan mtj --model square.safetensors --data square.csv --rows 1",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 1,
    .max_args = 1,
    .more = cli_help_families,
    .run = run,
};
