/* cmd_plan.c: `crossbayes plan`: will the shape of a law's noise matter to a net? The
 * prediction, the measured distance beside it, and what to do about it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "model_data.h"
#include "print.h"

enum { ROWS_DEFAULT = 3, ROWS_MAX = 64, SOUND_N_EFF = 17 };

/* One input that was planned for. */
typedef struct plan_case {
    int64_t row;    /* of the data, from 1; 0: no data */
    int64_t member; /* of an ensemble, from 1; 0: one posterior */
    xb_plan *plan;
} plan_case;

typedef struct plan_job {
    cli_session *s;
    xb_law *law;
    xb_plan_options opt;
    xb_net *own_net; /* of --net */
    xb_model *model;
    const xb_net *net;
    xb_weights weights;
    float *block; /* of own weights */
    int cases;
    plan_case at[ROWS_MAX];
    xb_plan_width width; /* of --net */
    double needed;
} plan_job;

static int64_t members_of(const plan_job *job)
{
    return job->model ? xb_model_member_count(job->model) : 1;
}

/* KL is convex: that of a mixture is at most the mean of its members', whose cases begin
 * at `first`. */
static double mixture_kl(const plan_job *job, int first, bool measured)
{
    const int64_t members = members_of(job);
    double sum = 0;
    for (int i = first; i < first + members; i++) {
        const xb_plan *plan = job->at[i].plan;
        sum += (measured ? xb_plan_measured(plan) : xb_plan_predicted(plan)).value;
    }
    return sum / (double)members;
}

/* ---- words */

static const char *cumulant_name(int n)
{
    static const char *const name[] = {"",           "",           "",
                                       "skewness",   "kurtosis",   "cumulant 5",
                                       "cumulant 6", "cumulant 7", "cumulant 8"};
    return name[n];
}

static int largest_cumulant(const xb_plan *plan)
{
    int largest = 3;
    for (int n = 4; n <= XB_PLAN_ORDER; n++)
        if (xb_plan_rule_part(plan, n) > xb_plan_rule_part(plan, largest)) largest = n;
    return largest;
}

/* The worst input: by what was measured, or else predicted. */
static const plan_case *worst_case(const plan_job *job)
{
    const plan_case *worst = &job->at[0];
    for (int i = 1; i < job->cases; i++) {
        const xb_plan *a = job->at[i].plan, *b = worst->plan;
        bool measured = isfinite(xb_plan_measured(a).value);
        double x = measured ? xb_plan_measured(a).value : xb_plan_predicted(a).value;
        if (x > (measured ? xb_plan_measured(b).value : xb_plan_predicted(b).value))
            worst = &job->at[i];
    }
    return worst;
}

/* "0.00310 ± 0.00020", "below 4e-06"; no distance is below 0. */
static void format_kl(char *out, size_t size, xb_estimate kl)
{
    double value = fmax(0, kl.value);
    if (kl.std_error > 0 && kl.value < 2 * kl.std_error)
        snprintf(out, size, "below %.1g", value + 2 * kl.std_error);
    else
        cli_format_error(out, size, value, kl.std_error);
}

static void print_kl(const char *name, xb_estimate kl)
{
    char text[64];
    if (!isfinite(kl.value)) return;
    format_kl(text, sizeof text, kl);
    printf("  %-20s%s nats, KL(law‖Gaussian)\n", name, text);
}

typedef struct layer_grid {
    const plan_job *job;
    const xb_plan *plan;
} layer_grid;

static void layer_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[] = {"layer", "share of variance (at most)",
                                       "effective weights", "KL if it alone had the law"};
    const layer_grid *g = arg;
    if (row == 0) {
        snprintf(out, size, "%s", head[column]);
        return;
    }
    const xb_plan_layer l = xb_plan_layer_at(g->plan, row - 1);
    switch (column) {
    case 0:
        snprintf(out, size, "%lld %s", (long long)l.layer + 1,
                 xb_net_layer_name(g->job->net, l.layer));
        break;
    case 1: snprintf(out, size, "%.2g", l.share); break;
    case 2: snprintf(out, size, isfinite(l.n_eff) ? "%.3g" : "-", l.n_eff); break;
    default: format_kl(out, size, l.kl);
    }
}

static void print_layers(const plan_job *job, const xb_plan *plan)
{
    const layer_grid g = {job, plan};
    putchar('\n');
    cli_print_grid(1 + (int)xb_plan_layer_count(plan), 4, layer_cell, &g);
}

static void print_weights(const plan_job *job, const xb_plan *plan)
{
    printf("\n  shares, at most");
    for (int i = 0; i < xb_plan_weight_count(plan); i++) {
        const xb_plan_weight w = xb_plan_weight_at(plan, i);
        const double percent = 100 * w.share;
        printf("%s%s[%lld] %.*f %%", i ? ", " : "     ",
               xb_net_tensor_at(job->net, w.tensor)->name, (long long)w.element,
               percent < 9.95 ? 1 : 0, percent);
    }
    int n = largest_cumulant(plan);
    printf("\n  leading cumulant    %s: %.0f %% of the rule of thumb, %.2g nats%s\n",
           cumulant_name(n),
           xb_plan_rule(plan) > 0 ? 100 * xb_plan_rule_part(plan, n) / xb_plan_rule(plan)
                                  : 0,
           xb_plan_rule(plan),
           xb_plan_n_eff(plan) < SOUND_N_EFF ? " (few weights: unreliable)" : "");
}

/* The far tail is beyond the range of densities: both KL are lower bounds. */
static bool lower_bounds(const xb_law *law)
{
    enum { MOMENT = 6 };
    return !isfinite(xb_law_raw_moment(law, MOMENT));
}

static void print_advice(const plan_job *job, const xb_plan *plan)
{
    char text[512];
    const bool net =
        job->own_net != NULL && xb_plan_layer_count(plan) > 1; /* with hidden layers */
    size_t used = 0;
    if (xb_plan_verdict_of(plan) == XB_PLAN_NOT_MET && net && job->width.width > 0)
        used = (size_t)snprintf(text, sizeof text,
                                "Hidden layers of width %lld would do (predicted %.2g).",
                                (long long)job->width.width, job->width.predicted.value);
    else if (xb_plan_verdict_of(plan) == XB_PLAN_NOT_MET && net)
        used = (size_t)snprintf(text, sizeof text,
                                "Not even hidden layers of width %d would do.",
                                XB_PLAN_WIDEST);
    else if (xb_plan_verdict_of(plan) == XB_PLAN_NOT_MET)
        used = (size_t)snprintf(
            text, sizeof text,
            "About %.3g equal weights behind the output would do, here it is as if there"
            " were %.2g. Width alone does not help: the shares must become even.",
            xb_plan_needed(plan), xb_plan_n_eff(plan));
    else if (xb_plan_verdict_of(plan) == XB_PLAN_UNSURE && !lower_bounds(job->law))
        used = (size_t)snprintf(text, sizeof text, "More --draws would tell.");
    if (!xb_plan_trusted(plan) && used < sizeof text)
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%s", used ? " " : "",
            lower_bounds(job->law) ? "Both values are lower bounds: the law has no sixth"
                                     " moment, and its far tail adds to the KL beyond"
                                     " the range of these densities."
                                   : "Few weights make hidden units that matter: rely on"
                                     " the measured value alone.");
    if (used == 0) return;
    printf("  ");
    cli_print_words(text, 2, true);
}

static void print_head(const plan_job *job)
{
    printf("%s instead of gaussian in '%s'\n", job->s->args.arg[0],
           xb_net_text(job->net));
    if (job->own_net)
        printf("  no weights given: equal shares (means 0, every sigma 1/sqrt(inputs)),"
               " all inputs 1\n");
    else if (job->at[0].row == 0)
        printf("  at the mean input of the training data\n");
    printf("\n");
}

/* "51", "51, member 2". */
static void name_case(char *out, size_t size, const plan_case *c)
{
    if (c->member == 0)
        snprintf(out, size, "%lld", (long long)c->row);
    else
        snprintf(out, size, "%lld, member %lld", (long long)c->row, (long long)c->member);
}

static void row_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[] = {"row", "effective weights", "predicted KL",
                                       "measured KL"};
    const plan_job *job = arg;
    const plan_case *c = &job->at[row - (row > 0)];
    if (row == 0)
        snprintf(out, size, "%s", head[column]);
    else if (column == 0)
        name_case(out, size, c);
    else if (column == 1)
        snprintf(out, size, "%.3g", xb_plan_n_eff(c->plan));
    else
        format_kl(out, size,
                  column == 2 ? xb_plan_predicted(c->plan) : xb_plan_measured(c->plan));
}

/* The row where the ensemble's KL may be largest. */
static void print_mixture(const plan_job *job)
{
    const int members = (int)members_of(job);
    int worst = 0;
    for (int i = members; i < job->cases; i += members)
        if (mixture_kl(job, i, job->opt.measure) >
            mixture_kl(job, worst, job->opt.measure))
            worst = i;
    printf("\n  The mixture of the %d members: KL at most %.2g nats at row %lld (the mean"
           " over members, %s)\n",
           members, mixture_kl(job, worst, job->opt.measure),
           (long long)job->at[worst].row, job->opt.measure ? "measured" : "predicted");
}

static void print_rows(const plan_job *job)
{
    char name[48];
    if (job->cases < 2) return;
    cli_print_grid(1 + job->cases, job->opt.measure ? 4 : 3, row_cell, job);
    if (members_of(job) > 1) print_mixture(job);
    name_case(name, sizeof name, worst_case(job));
    printf("\n  The worst of them, row %s:\n", name);
}

static cli_exit print_text(const plan_job *job)
{
    const xb_plan *plan = worst_case(job)->plan;
    print_head(job);
    print_rows(job);
    printf("  %-20s%.3g: the output's noise is spread as over so many equal ones\n",
           "effective weights", xb_plan_n_eff(plan));
    printf(
        "  %-20s%.3g in a plain sum for a KL below %g nats, more behind hidden layers\n",
        "needed", xb_plan_needed(plan), job->opt.tolerance);
    print_kl("predicted KL", xb_plan_predicted(plan));
    print_kl("measured KL", xb_plan_measured(plan));
    print_layers(job, plan);
    print_weights(job, plan);
    printf("\n  At a tolerance of %g nats: %s.\n", job->opt.tolerance,
           xb_plan_verdict_name(xb_plan_verdict_of(plan)));
    print_advice(job, plan);
    return CLI_DONE;
}

/* ---- JSON */

static void set_estimate(json_t *root, const char *name, xb_estimate e)
{
    char error[64];
    snprintf(error, sizeof error, "%s_error", name);
    json_object_set_new(root, name, cli_json_real(e.value));
    json_object_set_new(root, error, cli_json_real(e.std_error));
}

static json_t *layers_json(const plan_job *job, const xb_plan *plan)
{
    json_t *list = json_array();
    for (int i = 0; i < xb_plan_layer_count(plan); i++) {
        const xb_plan_layer l = xb_plan_layer_at(plan, i);
        json_t *one = json_object();
        json_object_set_new(one, "layer", json_integer(l.layer));
        json_object_set_new(one, "kind",
                            json_string(xb_net_layer_name(job->net, l.layer)));
        json_object_set_new(one, "share", cli_json_real(l.share));
        json_object_set_new(one, "n_eff", cli_json_real(l.n_eff));
        set_estimate(one, "kl", l.kl);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *weights_json(const plan_job *job, const xb_plan *plan)
{
    json_t *list = json_array();
    for (int i = 0; i < xb_plan_weight_count(plan); i++) {
        const xb_plan_weight w = xb_plan_weight_at(plan, i);
        json_array_append_new(list, json_pack("{s:s,s:I,s:o}", "tensor",
                                              xb_net_tensor_at(job->net, w.tensor)->name,
                                              "element", (json_int_t)w.element, "share",
                                              cli_json_real(w.share)));
    }
    return list;
}

static json_t *case_json(const plan_job *job, const plan_case *c)
{
    const xb_plan *plan = c->plan;
    json_t *root = json_object(), *cumulants = json_object();
    if (c->row) json_object_set_new(root, "row", json_integer(c->row));
    if (c->member) json_object_set_new(root, "member", json_integer(c->member));
    json_object_set_new(root, "n_eff", cli_json_real(xb_plan_n_eff(plan)));
    set_estimate(root, "predicted", xb_plan_predicted(plan));
    set_estimate(root, "measured", xb_plan_measured(plan));
    json_object_set_new(root, "trusted", json_boolean(xb_plan_trusted(plan)));
    json_object_set_new(root, "verdict",
                        json_string(xb_plan_verdict_name(xb_plan_verdict_of(plan))));
    json_object_set_new(root, "rule", cli_json_real(xb_plan_rule(plan)));
    for (int n = 3; n <= XB_PLAN_ORDER; n++) {
        char key[8];
        snprintf(key, sizeof key, "%d", n);
        json_object_set_new(cumulants, key, cli_json_real(xb_plan_rule_part(plan, n)));
    }
    json_object_set_new(root, "rule_by_cumulant", cumulants);
    json_object_set_new(root, "layers", layers_json(job, plan));
    json_object_set_new(root, "weights", weights_json(job, plan));
    return root;
}

static json_t *mixture_json(const plan_job *job)
{
    json_t *list = json_array();
    for (int i = 0; i < job->cases; i += (int)members_of(job))
        json_array_append_new(
            list, json_pack("{s:I,s:o,s:o}", "row", (json_int_t)job->at[i].row,
                            "predicted_at_most", cli_json_real(mixture_kl(job, i, false)),
                            "measured_at_most", cli_json_real(mixture_kl(job, i, true))));
    return list;
}

static cli_exit print_json(const plan_job *job)
{
    json_t *root = json_object(), *list = json_array();
    json_object_set_new(root, "law", json_string(xb_law_text(job->law)));
    json_object_set_new(root, "tolerance", cli_json_real(job->opt.tolerance));
    json_object_set_new(root, "n_eff_needed", cli_json_real(job->needed));
    if (job->net) json_object_set_new(root, "net", json_string(xb_net_text(job->net)));
    if (job->own_net)
        json_object_set_new(root, "width_needed",
                            job->width.width ? json_integer(job->width.width)
                                             : json_null());
    for (int i = 0; i < job->cases; i++)
        json_array_append_new(list, case_json(job, &job->at[i]));
    json_object_set_new(root, "at", list);
    if (members_of(job) > 1) json_object_set_new(root, "mixture", mixture_json(job));
    return cli_json_print(job->s, root);
}

/* ---- the run */

static xb_status plan_case_at(plan_job *job, const xb_weights *weights, const float *x,
                              int64_t row, int64_t member)
{
    plan_case *c = &job->at[job->cases++];
    xb_progress event = {"planning", job->cases - 1, 0};
    if (!cli_progress_event(&job->s->progress, &event)) return XB_E_CANCELLED;
    c->row = row;
    c->member = member;
    return xb_plan_create(job->s->ctx, &c->plan, job->net, weights, x, job->law,
                          &job->opt);
}

/* Each member of an ensemble for itself. */
static xb_status plan_at(plan_job *job, const float *x, int64_t row)
{
    const int64_t members = members_of(job);
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
            x[j] = (float)((xb_frame_values(frame)[row * d + j] -
                            xb_model_input_mean(job->model)[j]) /
                           xb_model_input_sd(job->model)[j]);
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
    const int64_t most = ROWS_MAX / members_of(job);
    if ((cli_flag(&s->args, "data") ? rows : 1) > most)
        return cli_fail(s, CLI_USAGE,
                        "--rows %lld of an ensemble of %lld: expected at most %lld rows",
                        (long long)rows, (long long)members_of(job), (long long)most);
    job->net = xb_model_net(job->model);
    job->weights = xb_model_weights(job->model);
    job->block = calloc((size_t)xb_model_feature_count(job->model), sizeof *job->block);
    if (!job->block) return cli_fail(s, CLI_FAILED, "not enough memory");
    status = cli_flag(&s->args, "data") ? plan_rows(job, job->block)
                                        : plan_at(job, job->block, 0);
    return cli_status(s, status);
}

/* Neither net nor model: what equal shares would need. */
static cli_exit deliver(const plan_job *job)
{
    cli_progress_clear(&job->s->progress);
    if (cli_json(job->s)) return print_json(job);
    if (job->cases > 0) return print_text(job);
    char needed[32];
    cli_format_plain(needed, sizeof needed, ceil(job->needed));
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
        return cli_fail(s, CLI_USAGE, "--net and --model: one of them, not both");
    if (cli_flag(&s->args, "data") && !model)
        return cli_fail(s, CLI_USAGE, "--data goes with --model");
    xb_status status = xb_law_parse(s->ctx, &job->law, s->args.arg[0]);
    if (status == XB_OK)
        status = xb_plan_find_needed(s->ctx, &job->needed, job->law, job->opt.tolerance);
    cli_exit code = cli_status(s, status);
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
    {"net", 0, CLI_TEXT, "TEXT", "a net without weights: equal shares are assumed", 0, 0},
    {"inputs", 0, CLI_COUNT, "N", "of that net (1)", 1, 65536},
    {"model", 0, CLI_PATH, "FILE", "a trained net: its own weights count", 0, 0},
    {"data", 0, CLI_PATH, "FILE", "plan at rows of this table (the mean input)", 0, 0},
    {"rows", 0, CLI_COUNT, "N", "how many of them, evenly spread (3)", 1, ROWS_MAX},
    {"tolerance", 0, CLI_NUMBER, "KL", "nats that do not matter (0.001)", 1e-12, 10},
    {"draws", 0, CLI_COUNT, "N", "of the hidden layers (32768)", 32, 1e9},
    {"predict-only", 0, CLI_FLAG, NULL, "do not measure beside the prediction", 0, 0},
    CLI_BACKEND_OPTION,
};

const cli_command cli_command_plan = {
    .name = "plan",
    .group = "Will it work on my device?",
    .about = "will the shape of the noise matter, and how wide must layers be",
    .usage = "LAW [--net TEXT | --model FILE] [--tolerance KL] [options]",
    .example = "crossbayes plan bimodal --net 'dense 8, elu, dense 1' --tolerance 1e-3\n"
               "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
               "crossbayes train square.csv --target y -o square.safetensors\n"
               "crossbayes plan mtj --model square.safetensors --data square.csv",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .min_args = 1,
    .max_args = 1,
    .more = cli_help_families,
    .run = run,
};
