/* cmd_eval.c: `crossbayes eval`: scores of a model under one law or several, and how
 * far the laws' predictives are apart, in words or as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "eval_calibrate.h"
#include "eval_models.h"
#include "eval_uncertainty.h"
#include "inputs.h"
#include "model_data.h"
#include "outputs.h"
#include "scores.h"
#include "table_options.h"

typedef struct request {
    cli_session *s;
    xb_model *model;
    cli_inputs in;
    xb_evaluate_options opt;
    xb_law *law[CLI_REPEAT_MAX];
    const char *name[CLI_REPEAT_MAX];
    int laws; /* 0: the model's own law */
    xb_evaluation *e;
    cli_uncertainty uncertainty;
    cli_recalibration recalibration;
} request;

static bool of_classes(const request *r) { return xb_model_class_count(r->model) > 0; }

static json_t *law_text(const request *r, int64_t i)
{
    return json_string(xb_law_text(xb_evaluation_law_at(r->e, i)));
}

/* ---- JSON */

static void numbers_json(json_t *root, const request *r, int64_t i)
{
    const xb_score difference = xb_evaluation_nll_difference(r->e, i);
    json_t *predictive = json_object(); /* including the noise of the data */
    cli_gaps_json(predictive, xb_evaluation_predictive(r->e, i));
    json_object_set_new(root, "nll_difference", cli_json_real(difference.value));
    json_object_set_new(root, "nll_difference_error",
                        cli_json_real(difference.std_error));
    json_object_set_new(root, "predictive", predictive);
}

static void set_distance(json_t *root, const xb_distances *d, const char *name)
{
    json_object_set_new(root, name, cli_json_real(xb_distances_get(d, name).value));
}

/* Distances between the distributions of the outputs over weight draws. */
static json_t *distance_json(const request *r, int64_t i)
{
    const xb_distances *d = xb_evaluation_outputs(r->e, i);
    json_t *root = json_object();
    json_object_set_new(root, "law", law_text(r, 0));
    json_object_set_new(root, "rows", json_integer(xb_evaluation_compared_rows(r->e)));
    json_object_set_new(root, "points", json_integer(xb_distances_points(d)));
    json_object_set_new(root, "tolerance", json_real(r->opt.tolerance));
    json_object_set_new(root, "kl_at_least",
                        cli_json_real(xb_evaluation_kl_at_least(r->e, i)));
    set_distance(root, d, "wasserstein");
    set_distance(root, d, "ks");
    cli_gaps_json(root, d);
    if (of_classes(r))
        json_object_set_new(root, "probability_gap",
                            cli_json_real(xb_evaluation_probability_gap(r->e, i)));
    else
        numbers_json(root, r, i);
    return root;
}

static json_t *law_json(const request *r, int64_t i)
{
    json_t *root = json_object();
    json_object_set_new(root, "law", law_text(r, i));
    json_object_set_new(root, "n", json_integer(xb_evaluation_rows(r->e)));
    json_object_set_new(root, "draws", json_integer(xb_evaluation_draws(r->e)));
    cli_scores_json(root, xb_evaluation_scores(r->e, i));
    if (i > 0) json_object_set_new(root, "distance", distance_json(r, i));
    return root;
}

static cli_exit print_json(const request *r)
{
    json_t *root = json_object(), *list = json_array();
    for (int64_t i = 0; i < xb_evaluation_law_count(r->e); i++)
        json_array_append_new(list, law_json(r, i));
    json_object_set_new(root, "model", cli_json_text(r->s->args.arg[0]));
    json_object_set_new(root, "data", cli_json_text(r->s->args.arg[1]));
    json_object_set_new(root, "rows", json_integer(xb_evaluation_rows(r->e)));
    json_object_set_new(root, "draws", json_integer(xb_evaluation_draws(r->e)));
    json_object_set_new(root, "seed", json_integer((json_int_t)cli_seed(r->s)));
    json_object_set_new(root, "members", json_integer(xb_model_member_count(r->model)));
    json_object_set_new(root, "laws", list);
    cli_uncertainty_json(root, &r->uncertainty);
    cli_recalibration_json(root, &r->recalibration);
    return cli_json_print(r->s, root);
}

/* ---- words */

/* "5.23 ± 0.36 [0.004]", "0.041 ± 0.010 [0.002], chance 0.037". */
static void format_score(char *out, size_t size, const cli_score *row)
{
    const xb_score *score = &row->score;
    cli_format_error(out, size, score->value, score->std_error);
    size_t used = strlen(out);
    const double rounding = 1e-9; /* relative to the value: below it, there is no noise at
                                     all */
    if (isnan(score->mc_error))
        snprintf(out + used, size - used, " [?]");
    else if (score->mc_error > rounding * fabs(score->value))
        snprintf(out + used, size - used, " [%.1g]", score->mc_error);
    used = strlen(out);
    if (!isnan(row->chance))
        snprintf(out + used, size - used, ", chance %.2g", row->chance);
}

/* Scores of one target, or of all together. */
typedef struct score_table {
    const xb_evaluation *e;
    int64_t target; /* -1: all targets together */
    int row[32];    /* numbers of the scores that exist */
    int rows;
} score_table;

static const xb_scores *scores_in(const score_table *t, int64_t law)
{
    const xb_scores *s = xb_evaluation_scores(t->e, law);
    return t->target < 0 ? s : xb_scores_target_at(s, t->target);
}

static void score_cell(const void *arg, int row, int column, char *out, size_t size)
{
    const score_table *t = arg;
    const xb_evaluation *e = t->e;
    if (row == 0) {
        snprintf(out, size, "%s", column ? xb_evaluation_law_name(e, column - 1) : "");
        return;
    }
    const cli_score score =
        cli_score_at(scores_in(t, column ? column - 1 : 0), t->row[row - 1]);
    if (column == 0)
        snprintf(out, size, "%s", score.name);
    else
        format_score(out, size, &score);
}

static void print_table(const xb_evaluation *e, int64_t target)
{
    score_table t = {.e = e, .target = target};
    const xb_scores *s = scores_in(&t, 0);
    const bool part = target < 0 && xb_scores_target_count(s) > 1;
    for (int i = 0; i < cli_score_count(s) && i < CLI_COUNT_OF(t.row); i++)
        if (!part || !isnan(cli_score_at(s, i).score.value)) t.row[t.rows++] = i;
    cli_print_grid(1 + t.rows, 1 + (int)xb_evaluation_law_count(e), score_cell, &t);
}

static void print_scores(const xb_evaluation *e)
{
    const xb_scores *s = xb_evaluation_scores(e, 0);
    const int64_t targets = xb_scores_target_count(s);
    char name[CLI_SHOWN];
    for (int64_t k = 0; targets > 1 && k < targets; k++) {
        printf("\n  %s\n", cli_shown(name, xb_scores_target_name(s, k)));
        print_table(e, k);
    }
    printf(targets > 1 ? "\n  all %lld targets together, NLL of their joint density\n"
                       : "\n",
           (long long)targets);
    print_table(e, -1);
}

/* Explains the marks behind the scores; of several targets, the first stands for all. */
static void print_legend(const xb_evaluation *e)
{
    const xb_scores *all = xb_evaluation_scores(e, 0);
    const xb_scores *s =
        xb_scores_target_count(all) > 1 ? xb_scores_target_at(all, 0) : all;
    printf("\n  ±: standard error over rows; []: Monte Carlo error over draws%s\n",
           isnan(cli_score_at(s, 0).score.mc_error)
               ? ", which so few draws do not show ([?])"
               : "");
    cli_print_score_words(s, "  ");
}

static void print_law(const xb_evaluation *e, int64_t i)
{
    const xb_distances *d = xb_evaluation_outputs(e, i);
    const char *needed = xb_evaluation_needed(e, i);
    const bool possible = !(xb_distances_draws_needed(d) > XB_DRAWS_MAX);
    printf("  %s: %s\n", xb_evaluation_law_name(e, i),
           xb_verdict_name(xb_distances_verdict(d)));
    for (int64_t k = 0; k < xb_evaluation_finding_count(e, i); k++)
        printf("    %s\n", xb_evaluation_finding_at(e, i, k));
    if (needed) printf("    %s%s\n", needed, possible ? " (--draws)" : "");
}

static void print_distances(const request *r)
{
    const xb_evaluation *e = r->e;
    const int64_t rows = xb_evaluation_compared_rows(e);
    printf("\n  The net's %s over its weights' noise (epistemic) against those of %s, at"
           " %lld %s:\n",
           of_classes(r) ? "class probabilities" : "outputs",
           xb_evaluation_law_name(e, 0), (long long)rows, xb_plural(rows, "row", "rows"));
    for (int64_t i = 1; i < xb_evaluation_law_count(e); i++) print_law(e, i);
    printf(
        "\n  same: means, sds and distributions all differ by at most %g of the "
        "epistemic sd"
        " (root mean\n  square over rows); different: at least one of them differs by"
        " more. For each law, either\n  verdict is wrong in at most 5 %% of runs.\n"
        "  noise alone: the difference that equal laws would show with this many draws;"
        " without it: bounds\n  of the true difference, which decide the verdicts (all of"
        " them hold with 95 %% confidence)\n",
        r->opt.tolerance);
}

static cli_exit deliver(const request *r)
{
    const xb_evaluation *e = r->e;
    const int64_t rows = xb_evaluation_rows(e), draws = xb_evaluation_draws(e);
    cli_progress_clear(&r->s->progress);
    if (cli_json(r->s)) return print_json(r);
    printf("%s on %s: %lld %s, %lld %s\n", r->s->args.arg[0], r->s->args.arg[1],
           (long long)rows, xb_plural(rows, "row", "rows"), (long long)draws,
           xb_plural(draws, "weight draw", "weight draws"));
    print_scores(e);
    print_legend(e);
    if (xb_evaluation_law_count(e) > 1) print_distances(r);
    cli_recalibration_print(&r->recalibration);
    cli_uncertainty_print(&r->uncertainty, cli_text(&r->s->args, "ood", NULL));
    cli_print_doubts(xb_evaluation_scores(e, 0));
    return CLI_DONE;
}

/* ---- the run */

/* All laws made from samples are called "empirical", so file names distinguish them. */
static xb_status parse_laws(request *r)
{
    const cli_value *given = cli_get(&r->s->args, "law");
    for (int i = 0; given->given && i < given->n_texts; i++) {
        xb_status status = xb_law_parse(r->s->ctx, &r->law[i], given->texts[i]);
        if (status != XB_OK) return status;
        r->laws = i + 1;
        if (strcmp(xb_law_text(r->law[i]), "empirical") == 0)
            r->name[i] = given->texts[i];
    }
    return XB_OK;
}

static cli_exit evaluate(request *r)
{
    cli_exit code = cli_inputs_ask(r->s, &r->in, r->model, r->s->args.arg[1], true);
    if (code != CLI_DONE) return code;
    const xb_rows rows = cli_inputs_rows(&r->in);
    xb_status status = parse_laws(r);
    if (status == XB_OK)
        status = xb_evaluate(r->s->ctx, &r->e, r->model, &rows, cli_inputs_target(&r->in),
                             (const xb_law *const *)r->law, r->laws, &r->opt);
    code = cli_status(r->s, status);
    if (code == CLI_DONE)
        code = cli_uncertainty_find(r->s, &r->uncertainty, r->model, &rows,
                                    xb_evaluation_scores(r->e, 0),
                                    xb_evaluation_law_at(r->e, 0));
    if (code == CLI_DONE) code = cli_status(r->s, xb_ranks_deliver(r->s->ctx));
    if (code == CLI_DONE)
        code = cli_recalibrate(r->s, &r->recalibration, r->model,
                               xb_evaluation_scores(r->e, 0));
    return code == CLI_DONE ? deliver(r) : code;
}

static cli_exit run(cli_session *s)
{
    request r = {.s = s, .opt = xb_evaluate_options_default()};
    xb_model *model = NULL;
    cli_exit code = CLI_DONE;
    r.opt.tolerance = cli_number(&s->args, "tolerance", r.opt.tolerance);
    r.opt.seed = cli_seed(s);
    r.opt.names = r.name;
    if (!cli_draws_option(s, &r.opt.draws))
        code =
            cli_fail(s, CLI_USAGE, "--draws: expected a whole number from 1, or 'auto'");
    if (code == CLI_DONE) code = cli_plan_file(s, "cache", "");
    if (code == CLI_DONE) code = cli_plan_file(s, "save-calibrated", "");
    if (code == CLI_DONE && s->args.n_args == 3) return cli_eval_models(s, &r.opt);
    if (code == CLI_DONE)
        code = cli_status(s, xb_model_load(s->ctx, &model, s->args.arg[0]));
    r.model = model;
    if (code == CLI_DONE) code = evaluate(&r);
    xb_evaluation_destroy(r.e);
    for (int i = 0; i < r.laws; i++) xb_law_destroy(r.law[i]);
    cli_inputs_free(&r.in);
    xb_model_destroy(model);
    return code;
}

static const cli_option options[] = {
    {"law", 0, CLI_TEXTS, "LAW",
     "distribution of the weights' noise (crossbayes help law) [the model's];"
     " may be repeated",
     0, 0},
    {"save-calibrated", 0, CLI_OUTPUT, "MODEL",
     "model file to write with intervals recalibrated on these rows,"
     " .safetensors",
     0, 0},
    {"ood", 0, CLI_PATH, "FILE",
     "file of rows from another distribution; prints how well the uncertainty detects "
     "them, as the area under the ROC curve (AUROC)",
     0, 0},
    {"selective", 0, CLI_FLAG, NULL,
     "also print the error that remains when the least certain rows are left"
     " unanswered",
     0, 0},
    {"draws", 0, CLI_TEXT, "N|auto",
     "number of weight draws; auto: as many as the verdicts need, at most 40000 [1000]",
     0, 0},
    {"tolerance", 0, CLI_NUMBER, "SDS",
     "largest difference of outputs that counts as the same, in epistemic sds"
     " [0.01]",
     1e-6, 10},
    CLI_BACKEND_OPTION,
    CLI_MISSING_OPTION,
    CLI_IMAGE_OPTIONS,
};

static const cli_title titles[] = {
    {"law", "Evaluation"},
    {"missing", "Tables"},
    {"target-table", "Images"},
    {NULL, NULL},
};

const cli_command cli_command_eval = {
    .name = "eval",
    .group = "A Bayesian network",
    .about =
        "scores of a model under one or more laws, and how far apart its outputs are; or "
        "two models compared",
    .usage = "MODEL [OTHER] DATA [--law LAW]... [options]",
    .example = "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
               "crossbayes train square.csv --target y -o square.safetensors\n"
               "crossbayes eval square.safetensors square.csv --law gaussian --law mtj",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 2,
    .max_args = 3,
    .more = cli_help_families,
    .run = run,
    .together = true,
};
