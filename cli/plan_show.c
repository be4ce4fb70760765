/* plan_show.c: see plan_show.h. */
#include "plan_show.h"

#include <math.h>
#include <string.h>

#include "print.h"

enum { SOUND_N_EFF = 17 };

int64_t cli_plan_members(const plan_job *job)
{
    return job->model ? xb_model_member_count(job->model) : 1;
}

/* With equal shares all outputs are alike, so only one of them is planned. */
int64_t cli_plan_outputs(const plan_job *job)
{
    return job->model ? xb_model_target_count(job->model) : 1;
}

/* KL is convex, so the KL of a mixture is at most the mean of its members'. The cases of
 * the members, with one case for each output, begin at `first`. */
static xb_estimate mixture_kl(const plan_job *job, int first, bool measured)
{
    const int64_t members = cli_plan_members(job), step = cli_plan_outputs(job);
    double sum = 0, error = 0;
    for (int64_t i = 0; i < members; i++) {
        const xb_plan *plan = job->at[first + i * step].plan;
        const xb_estimate kl =
            measured ? xb_plan_measured(plan) : xb_plan_predicted(plan);
        sum += kl.value;
        error = hypot(error, kl.std_error);
    }
    return (xb_estimate){sum / (double)members, error / (double)members};
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

/* The worst input by the measured KL, or by the predicted one if nothing was measured. */
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
    printf("\n  %-20s", "largest shares");
    for (int i = 0; i < xb_plan_weight_count(plan); i++) {
        const xb_plan_weight w = xb_plan_weight_at(plan, i);
        const double percent = 100 * w.share;
        const xb_tensor *t = xb_net_tensor_at(job->net, w.tensor);
        printf("%slayer %lld %s[%lld] %.*f %%", i ? ", " : "", (long long)t->layer + 1,
               strchr(t->name, '.') + 1, (long long)w.element, percent < 9.95 ? 1 : 0,
               percent);
    }
    const int n = largest_cumulant(plan);
    const double rule = xb_plan_rule(plan);
    printf("\n  rule of thumb       KL %.2g nats, %.0f %% of it from %s%s\n", rule,
           rule > 0 ? 100 * xb_plan_rule_part(plan, n) / rule : 0, cumulant_name(n),
           xb_plan_n_eff(plan) < SOUND_N_EFF ? " (few weights: unreliable)" : "");
}

/* Whether the far tail lies outside the range of densities, so that both KL are lower
 * bounds. */
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
        used = (size_t)snprintf(
            text, sizeof text,
            "Hidden layers of width %lld would suffice (predicted KL %.2g).",
            (long long)job->width.width, job->width.predicted.value);
    else if (xb_plan_verdict_of(plan) == XB_PLAN_NOT_MET && net)
        used = (size_t)snprintf(text, sizeof text,
                                "Not even hidden layers of width %d would suffice.",
                                XB_PLAN_WIDEST);
    else if (xb_plan_verdict_of(plan) == XB_PLAN_NOT_MET)
        used =
            (size_t)snprintf(text, sizeof text,
                             "About %.3g equal weights behind the output would suffice; "
                             "this net is equivalent to %.2g. Width alone does not help: "
                             "the weights must share the variance more evenly.",
                             xb_plan_n_eff_needed(plan), xb_plan_n_eff(plan));
    else if (xb_plan_verdict_of(plan) == XB_PLAN_UNSURE && !lower_bounds(job->law))
        used = (size_t)snprintf(text, sizeof text, "More --draws would decide.");
    if (!xb_plan_trusted(plan) && used < sizeof text)
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%s", used ? " " : "",
            lower_bounds(job->law)
                ? "Both values are lower bounds: the law has no sixth moment, and its "
                  "far tail adds to the KL outside the range of these densities."
                : "The predicted KL is unreliable, since few weights make up some hidden "
                  "units: rely on the measured KL.");
    if (used == 0) return;
    printf("  ");
    cli_print_words(text, 2, true);
}

/* The headline for a law of a trace, because the shape matters only if reads can serve as
 * draws. */
void cli_plan_print_draws(const plan_job *job)
{
    if (job->draws.reads == 0) return;
    printf("  %-20s", "draws");
    cli_print_words(job->draws.text, 22, true);
    printf("\n");
}

static void print_head(const plan_job *job)
{
    printf("%s instead of gaussian in '%s'\n", job->s->args.arg[0],
           xb_net_text(job->net));
    if (job->own_net)
        printf("  without trained weights, equal shares are assumed: means 0, every "
               "sigma 1/sqrt(inputs), all inputs 1\n");
    else if (job->at[0].row == 0)
        printf("  at the mean input of the training data\n");
    if (job->model && xb_model_cells(job->model))
        printf("  weights are made of cells whose noise is their width; the law is that "
               "of a whole\n  weight: if it is the law of a single cell, the KL is at "
               "most this\n");
    printf("\n");
    cli_plan_print_draws(job);
}

/* "row 51", "row 51, member 2", "the mean input, next_y". */
static void name_case(char *out, size_t size, const plan_job *job, const plan_case *c)
{
    size_t used = c->row ? (size_t)snprintf(out, size, "row %lld", (long long)c->row)
                         : (size_t)snprintf(out, size, "the mean input");
    if (c->member && used < size)
        used += (size_t)snprintf(out + used, size - used, ", member %lld",
                                 (long long)c->member);
    if (c->output && used < size)
        snprintf(out + used, size - used, ", %s",
                 xb_model_target_at(job->model, c->output - 1).name);
}

static void row_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[] = {"at", "effective weights", "predicted KL",
                                       "measured KL"};
    const plan_job *job = arg;
    const plan_case *c = &job->at[row - (row > 0)];
    if (row == 0)
        snprintf(out, size, "%s", head[column]);
    else if (column == 0)
        name_case(out, size, job, c);
    else if (column == 1)
        snprintf(out, size, "%.3g", xb_plan_n_eff(c->plan));
    else
        format_kl(out, size,
                  column == 2 ? xb_plan_predicted(c->plan) : xb_plan_measured(c->plan));
}

/* Prints the row where the ensemble's KL may be largest. */
static void print_mixture(const plan_job *job)
{
    const int members = (int)cli_plan_members(job), outputs = (int)cli_plan_outputs(job);
    int worst = 0;
    char name[96], kl[64];
    for (int i = 0; i < job->cases; i++)
        if (i / outputs % members == 0 &&
            mixture_kl(job, i, job->opt.measure).value >
                mixture_kl(job, worst, job->opt.measure).value)
            worst = i;
    plan_case mixture = job->at[worst];
    mixture.member = 0;
    name_case(name, sizeof name, job, &mixture);
    format_kl(kl, sizeof kl, mixture_kl(job, worst, job->opt.measure));
    printf(
        "\n  Mixture of the %d members at %s: its KL is at most the mean of the members' "
        "KLs, %s nats (%s)\n",
        members, name, kl, job->opt.measure ? "measured" : "predicted");
}

static void print_rows(const plan_job *job)
{
    char name[96];
    if (job->cases < 2) return;
    cli_print_grid(1 + job->cases, job->opt.measure ? 4 : 3, row_cell, job);
    if (cli_plan_members(job) > 1) print_mixture(job);
    name_case(name, sizeof name, job, worst_case(job));
    printf("\n  The case with the largest %s KL, at %s:\n",
           job->opt.measure ? "measured" : "predicted", name);
}

cli_exit cli_plan_print_text(const plan_job *job)
{
    const xb_plan *plan = worst_case(job)->plan;
    print_head(job);
    print_rows(job);
    printf(
        "  %-20s%.3g: the noise of the output is equivalent to that many equal weights\n",
        "effective weights", xb_plan_n_eff(plan));
    printf(
        "  %-20s%.3g in a plain sum for a KL below %g nats; more behind hidden layers\n",
        "needed", xb_plan_n_eff_needed(plan), job->opt.tolerance);
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
    if (c->output)
        json_object_set_new(
            root, "target",
            cli_json_text(xb_model_target_at(job->model, c->output - 1).name));
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
    const int members = (int)cli_plan_members(job), outputs = (int)cli_plan_outputs(job);
    for (int i = 0; i < job->cases; i++) {
        if (i / outputs % members != 0) continue; /* another member of the same mixture */
        json_t *one =
            json_pack("{s:I,s:o,s:o}", "row", (json_int_t)job->at[i].row,
                      "predicted_at_most", cli_json_real(mixture_kl(job, i, false).value),
                      "measured_at_most", cli_json_real(mixture_kl(job, i, true).value));
        if (job->at[i].output)
            json_object_set_new(
                one, "target",
                cli_json_text(
                    xb_model_target_at(job->model, job->at[i].output - 1).name));
        json_array_append_new(list, one);
    }
    return list;
}

cli_exit cli_plan_print_json(const plan_job *job)
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
    if (cli_plan_members(job) > 1)
        json_object_set_new(root, "mixture", mixture_json(job));
    if (job->draws.reads)
        json_object_set_new(root, "usable", cli_usable_json(&job->draws));
    return cli_json_print(job->s, root);
}
