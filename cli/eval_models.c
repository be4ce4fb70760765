/* eval_models.c: see eval_models.h. Each model reads the table by its own columns, so the
 * two need not have the same inputs; rows and targets are the same. */
#include "eval_models.h"

#include <math.h>
#include <string.h>

#include "inputs.h"
#include "scores.h"

enum { MODELS = 2 };

static const char *const letters[MODELS] = {"A", "B"};

typedef struct contest {
    cli_session *s;
    xb_evaluate_options opt;
    xb_law *law; /* NULL: each model uses its own */
    xb_model *model[MODELS];
    cli_inputs in[MODELS];
    xb_evaluation *e[MODELS];
    xb_score_gaps *gaps;
} contest;

static const char *file_of(const contest *c, int i) { return c->s->args.arg[i]; }
static const char *data_of(const contest *c) { return c->s->args.arg[MODELS]; }
static const xb_scores *scores_of(const contest *c, int i)
{
    return xb_evaluation_scores(c->e[i], 0);
}

/* The verdict on the first model. */
static const char *verdict_of(const contest *c, int64_t i)
{
    const int64_t better = xb_score_gaps_better(c->gaps, i);
    return better > 0 ? "better" : better < 0 ? "worse" : "indistinguishable";
}

static double whole_error(xb_score d)
{
    return isfinite(d.mc_error) ? hypot(d.std_error, d.mc_error) : d.std_error;
}

/* ---- JSON */

static json_t *gap_json(const contest *c, int64_t i)
{
    const xb_score d = xb_score_gaps_difference(c->gaps, i);
    const xb_gap gap = xb_score_gaps_at(c->gaps, i);
    const int64_t better = xb_score_gaps_better(c->gaps, i);
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "difference",
                     cli_json_real(d.value), "difference_error",
                     cli_json_real(d.std_error), "difference_mc_error",
                     cli_json_real(d.mc_error), "lower", cli_json_real(gap.lower),
                     "upper", cli_json_real(gap.upper), "rows_needed",
                     cli_json_real(gap.draws_needed), "verdict",
                     better > 0   ? "better"
                     : better < 0 ? "worse"
                                  : "same");
}

static cli_exit print_json(const contest *c)
{
    json_t *root = json_object(), *models = json_array(), *gaps = json_object();
    for (int i = 0; i < MODELS; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "model", cli_json_text(file_of(c, i)));
        json_object_set_new(one, "law",
                            json_string(xb_law_text(xb_evaluation_law_at(c->e[i], 0))));
        json_object_set_new(one, "members",
                            json_integer(xb_model_member_count(c->model[i])));
        json_object_set_new(one, "draws", json_integer(xb_evaluation_draws(c->e[i])));
        cli_scores_json(one, scores_of(c, i));
        json_array_append_new(models, one);
    }
    for (int64_t i = 0; i < xb_score_gaps_count(c->gaps); i++)
        json_object_set_new(gaps, xb_score_gaps_name(c->gaps, i), gap_json(c, i));
    json_object_set_new(root, "data", cli_json_text(data_of(c)));
    json_object_set_new(root, "rows", json_integer(xb_evaluation_rows(c->e[0])));
    json_object_set_new(root, "seed", json_integer((json_int_t)cli_seed(c->s)));
    json_object_set_new(root, "models", models);
    json_object_set_new(root, "first_model", gaps);
    return cli_json_print(c->s, root);
}

/* ---- words */

static void contest_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[] = {"", "A", "B", "A − B", "A is"};
    const contest *c = arg;
    const int64_t i = row - 1;
    const char *name = row > 0 ? xb_score_gaps_name(c->gaps, i) : NULL;
    if (row == 0) {
        snprintf(out, size, "%s", head[column]);
    } else if (column == 0) {
        snprintf(out, size, "%s", cli_score_get(scores_of(c, 0), name).name);
    } else if (column <= MODELS) {
        const xb_score s = xb_scores_get(scores_of(c, column - 1), name);
        cli_format_error(out, size, s.value, s.std_error);
    } else if (column == MODELS + 1) {
        const xb_score d = xb_score_gaps_difference(c->gaps, i);
        cli_format_error(out, size, d.value, whole_error(d));
    } else {
        snprintf(out, size, "%s", verdict_of(c, i));
    }
}

static void print_text(const contest *c)
{
    const int64_t rows = xb_evaluation_rows(c->e[0]);
    for (int i = 0; i < MODELS; i++) {
        const int64_t draws = xb_evaluation_draws(c->e[i]);
        printf("%s: %s, %lld %s\n", letters[i], file_of(c, i), (long long)draws,
               xb_plural(draws, "weight draw", "weight draws"));
    }
    printf("on %s: %lld %s\n\n", data_of(c), (long long)rows,
           xb_plural(rows, "row", "rows"));
    cli_print_grid(1 + (int)xb_score_gaps_count(c->gaps), MODELS + 3, contest_cell, c);
    printf(
        "\n  ±: standard error over rows; the difference is taken row by row, and its "
        "error includes that of the draws.\n  better, worse: with 95 %% confidence for "
        "all scores together; indistinguishable: these rows do not suffice for either\n");
    if (xb_model_target_count(c->model[0]) > 1)
        printf("  NLL is that of the joint density of %lld targets.\n",
               (long long)xb_model_target_count(c->model[0]));
    cli_print_doubts(scores_of(c, 0));
}

/* ---- the run */

/* Checks that both models predict the same target with the same class names. */
static cli_exit check_targets(const contest *c)
{
    const xb_model *a = c->model[0], *b = c->model[1];
    char u[CLI_SHOWN], v[CLI_SHOWN];
    if (strcmp(xb_model_target_name(a), xb_model_target_name(b)) != 0)
        return cli_fail(c->s, CLI_USAGE,
                        "%s predicts '%s' but %s predicts '%s': only models of the same "
                        "target can be compared",
                        file_of(c, 0), cli_shown(u, xb_model_target_name(a)),
                        file_of(c, 1), cli_shown(v, xb_model_target_name(b)));
    bool same = xb_model_class_count(a) == xb_model_class_count(b);
    for (int64_t k = 0; same && k < xb_model_class_count(a); k++)
        same = strcmp(xb_model_class_name(a, k), xb_model_class_name(b, k)) == 0;
    if (same) return CLI_DONE;
    return cli_fail(c->s, CLI_USAGE, "%s and %s know different classes of '%s'",
                    file_of(c, 0), file_of(c, 1), cli_shown(u, xb_model_target_name(a)));
}

static cli_exit read_models(contest *c)
{
    const cli_value *laws = cli_get(&c->s->args, "law");
    if (laws->given && laws->n_texts > 1)
        return cli_fail(c->s, CLI_USAGE,
                        "--law: at most one can be given with two models");
    if (cli_flag(&c->s->args, "ood") || cli_flag(&c->s->args, "selective") ||
        cli_flag(&c->s->args, "save-calibrated"))
        return cli_fail(
            c->s, CLI_USAGE,
            "--ood, --selective and --save-calibrated take one model, not two");
    if (strcmp(data_of(c), "-") == 0)
        return cli_fail(c->s, CLI_USAGE,
                        "standard input can be read only once: two models need a file");
    xb_status status = XB_OK;
    for (int i = 0; i < MODELS && status == XB_OK; i++)
        status = xb_model_load(c->s->ctx, &c->model[i], file_of(c, i));
    if (status == XB_OK && laws->given)
        status = xb_law_parse(c->s->ctx, &c->law, laws->texts[0]);
    return status == XB_OK ? check_targets(c) : cli_status(c->s, status);
}

static cli_exit score(contest *c, int i)
{
    cli_exit code = cli_inputs_ask(c->s, &c->in[i], c->model[i], data_of(c), true);
    if (code != CLI_DONE) return code;
    const xb_rows rows = cli_inputs_rows(&c->in[i]);
    return cli_status(c->s, xb_evaluate(c->s->ctx, &c->e[i], c->model[i], &rows,
                                        cli_inputs_target(&c->in[i]),
                                        (const xb_law *const *)&c->law, c->law != NULL,
                                        &c->opt));
}

static cli_exit run(contest *c)
{
    cli_exit code = read_models(c);
    for (int i = 0; i < MODELS && code == CLI_DONE; i++) code = score(c, i);
    if (code == CLI_DONE) code = cli_status(c->s, xb_ranks_deliver(c->s->ctx));
    if (code != CLI_DONE) return code;
    code = cli_status(c->s, xb_score_gaps_create(c->s->ctx, &c->gaps, scores_of(c, 0),
                                                 scores_of(c, 1)));
    if (code != CLI_DONE) return code;
    cli_progress_clear(&c->s->progress);
    if (cli_json(c->s)) return print_json(c);
    print_text(c);
    return CLI_DONE;
}

cli_exit cli_eval_models(cli_session *s, const xb_evaluate_options *opt)
{
    contest c = {.s = s, .opt = *opt};
    c.opt.names = NULL;
    cli_exit code = run(&c);
    xb_score_gaps_destroy(c.gaps);
    for (int i = 0; i < MODELS; i++) {
        xb_evaluation_destroy(c.e[i]);
        cli_inputs_free(&c.in[i]);
        xb_model_destroy(c.model[i]);
    }
    xb_law_destroy(c.law);
    return code;
}
