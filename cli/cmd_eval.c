/* cmd_eval.c: `crossbayes eval`: scores of a model under one law or several, and how
 * far the laws' predictives are apart, in words or as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "doubts.h"
#include "evaluation.h"
#include "model_data.h"
#include "outputs.h"
#include "scores.h"

/* The law of a column; NULL stands for the model's own. */
static const char *law_text(const cli_evaluation *e, int i)
{
    const xb_law *law = e->law[i].law;
    return xb_law_text(law ? law : xb_model_law(e->model));
}

/* The same for people: laws made from samples are told apart by their files. */
static const char *law_label(const cli_evaluation *e, int i)
{
    const cli_value *given = cli_get(&e->s->args, "law");
    const char *text = law_text(e, i);
    bool file = given->given && strcmp(text, "empirical") == 0;
    return file ? given->texts[i] : text;
}

static int score_rows(cli_score out[CLI_SCORES_MAX], const cli_evaluation *e, int i)
{
    const xb_model_scores *s = &e->law[i].scores;
    return cli_score_rows(out, cli_evaluation_classes(e), &s->regression, &s->classes);
}

/* ---- JSON */

/* With the data's noise. */
static json_t *predictive_json(const cli_law_scores *law)
{
    const xb_distances *d = &law->predictive;
    json_t *root = json_object();
    json_object_set_new(root, "mean", cli_gap_json(&d->mean));
    json_object_set_new(root, "sd", cli_gap_json(&d->sd));
    json_object_set_new(root, "whole", cli_gap_json(&d->whole));
    json_object_set_new(root, "verdict", json_string(xb_verdict_text(d->verdict)));
    return root;
}

static void numbers_json(json_t *root, const cli_law_scores *law)
{
    json_object_set_new(root, "nll_difference", cli_json_real(law->nll_difference.value));
    json_object_set_new(root, "nll_difference_error",
                        cli_json_real(law->nll_difference.std_error));
    json_object_set_new(root, "predictive", predictive_json(law));
}

/* Of the outputs over weight draws. */
static json_t *distance_json(const cli_evaluation *e, const cli_law_scores *law)
{
    const xb_distances *d = &law->outputs;
    json_t *root = json_object();
    json_object_set_new(root, "law", json_string(law_text(e, 0)));
    json_object_set_new(root, "rows", json_integer(e->compared_rows));
    json_object_set_new(root, "points", json_integer(d->n));
    json_object_set_new(root, "tolerance", json_real(e->tolerance));
    json_object_set_new(root, "kl_at_least", cli_json_real(law->kl_at_least));
    json_object_set_new(root, "wasserstein", cli_json_real(d->wasserstein.value));
    json_object_set_new(root, "ks", cli_json_real(d->ks.value));
    json_object_set_new(root, "mean", cli_gap_json(&d->mean));
    json_object_set_new(root, "sd", cli_gap_json(&d->sd));
    json_object_set_new(root, "whole", cli_gap_json(&d->whole));
    json_object_set_new(root, "verdict", json_string(xb_verdict_text(d->verdict)));
    if (cli_evaluation_classes(e))
        json_object_set_new(root, "probability_gap", cli_json_real(law->probability_gap));
    else
        numbers_json(root, law);
    return root;
}

static json_t *law_json(const cli_evaluation *e, int i)
{
    cli_score row[CLI_SCORES_MAX];
    int rows = score_rows(row, e, i);
    json_t *root = json_object();
    json_object_set_new(root, "law", json_string(law_text(e, i)));
    json_object_set_new(root, "n", json_integer(e->n));
    json_object_set_new(root, "draws", json_integer(e->draws));
    cli_scores_json(root, row, rows);
    if (i > 0) json_object_set_new(root, "distance", distance_json(e, &e->law[i]));
    return root;
}

static cli_exit print_json(const cli_evaluation *e)
{
    json_t *root = json_object(), *list = json_array();
    for (int i = 0; i < e->laws; i++) json_array_append_new(list, law_json(e, i));
    json_object_set_new(root, "model", cli_json_text(e->s->args.arg[0]));
    json_object_set_new(root, "data", cli_json_text(e->s->args.arg[1]));
    json_object_set_new(root, "rows", json_integer(e->n));
    json_object_set_new(root, "draws", json_integer(e->draws));
    json_object_set_new(root, "seed", json_integer((json_int_t)cli_seed(e->s)));
    json_object_set_new(root, "laws", list);
    return cli_json_print(e->s, root);
}

/* ---- words */

/* "5.23 ± 0.36 [0.004]", "0.041 ± 0.010 [0.002], chance 0.037". */
static void format_score(char *out, size_t size, const cli_score *row)
{
    const xb_score *score = &row->score;
    cli_format_error(out, size, score->value, score->std_error);
    size_t used = strlen(out);
    const double rounding = 1e-9; /* of the value: no noise at all */
    if (isnan(score->mc_error))
        snprintf(out + used, size - used, " [?]");
    else if (score->mc_error > rounding * fabs(score->value))
        snprintf(out + used, size - used, " [%.1g]", score->mc_error);
    used = strlen(out);
    if (!isnan(row->chance))
        snprintf(out + used, size - used, ", chance %.2g", row->chance);
}

static void score_cell(const void *arg, int row, int column, char *out, size_t size)
{
    const cli_evaluation *e = arg;
    cli_score score[CLI_SCORES_MAX];
    if (row == 0) {
        snprintf(out, size, "%s", column ? law_label(e, column - 1) : "");
        return;
    }
    score_rows(score, e, column ? column - 1 : 0);
    if (column == 0)
        snprintf(out, size, "%s", score[row - 1].name);
    else
        format_score(out, size, &score[row - 1]);
}

static void print_scores(const cli_evaluation *e)
{
    cli_score row[CLI_SCORES_MAX];
    putchar('\n');
    cli_print_grid(1 + score_rows(row, e, 0), 1 + e->laws, score_cell, e);
}

/* What the marks behind the scores mean. */
static void print_legend(const cli_evaluation *e)
{
    cli_score row[CLI_SCORES_MAX];
    int rows = score_rows(row, e, 0);
    printf("\n  ± the error over rows, [] the Monte Carlo error over draws\n");
    for (int k = 0; k < rows; k++) {
        if (isnan(row[k].chance)) continue;
        printf("  chance: the average for a perfectly calibrated model on %lld row%s",
               (long long)e->n, e->n == 1 ? "" : "s");
        if (row[k].bins > 0) printf(", %d bins", row[k].bins);
        printf("\n");
    }
}

static void print_noise(const xb_gap *gap)
{
    if (isnan(gap->noise))
        printf(" (noise unknown)");
    else
        printf(" (noise alone %.2g)", gap->noise);
}

static void print_gap(const char *what, const char *unit, const xb_gap *gap)
{
    printf("    %s %.2g%s", what, gap->rms, unit);
    print_noise(gap);
    printf(": %s\n", xb_verdict_text(gap->verdict));
}

/* A bound, not an estimate: samples cannot say how large KL is at most (maths C22). */
static void print_kl(const cli_evaluation *e, int i)
{
    const double nats = e->law[i].kl_at_least;
    printf("    KL(%s‖%s), mean over rows, is ", law_label(e, i), law_label(e, 0));
    if (isnan(nats))
        printf("unknown: fewer than 200 draws\n");
    else if (nats > 0)
        printf("at least %.2g nats (95 %% confidence)\n", nats);
    else
        printf("indistinguishable from 0 with this many draws\n");
}

static void print_predictive(const cli_evaluation *e, const cli_law_scores *law)
{
    char text[64];
    if (cli_evaluation_classes(e)) {
        printf("    predicted probabilities (the means) differ by %.2g\n",
               law->probability_gap);
        return;
    }
    const xb_gap *whole = &law->predictive.whole;
    printf("    predictives, with the data's noise, differ like a shift of %.2g of their"
           " sd",
           whole->rms);
    print_noise(whole);
    printf(": %s\n", xb_verdict_text(law->predictive.verdict));
    cli_format_error(text, sizeof text, law->nll_difference.value,
                     law->nll_difference.std_error);
    printf("    NLL differs by %s (error over rows)\n", text);
}

/* The draws for which C17 expects a verdict, as far as one can run them. */
static void print_needed(const xb_distances *d)
{
    double needed =
        fmax(fmax(d->mean.draws_needed, d->sd.draws_needed), d->whole.draws_needed);
    const int64_t few = 20; /* (C17) */
    if (d->verdict != XB_VERDICT_UNRESOLVED) return;
    if (d->draws_a < few)
        printf("    fewer than %lld draws cannot tell (--samples)\n", (long long)few);
    else if (!(needed <= XB_DRAWS_MOST))
        printf("    the gap is so near the tolerance that more than %.0e draws, the most"
               " --samples takes, would be needed\n",
               XB_DRAWS_MOST);
    else if (needed <= (double)d->draws_a)
        printf("    a few more draws would tell (--samples)\n");
    else
        printf("    about %.2g draws would tell (--samples)\n", needed);
}

static void print_distances(const cli_evaluation *e)
{
    bool classes = cli_evaluation_classes(e);
    printf("\n  The net's %s over its weights' noise (epistemic) against those of %s, at"
           " %lld %s:\n",
           classes ? "class probabilities" : "outputs", law_label(e, 0),
           (long long)e->compared_rows, xb_plural(e->compared_rows, "row", "rows"));
    for (int i = 1; i < e->laws; i++) {
        const cli_law_scores *law = &e->law[i];
        const xb_distances *d = &law->outputs;
        printf("  %s: %s\n", law_label(e, i), xb_verdict_text(d->verdict));
        if (d->draws_a < 2) { /* no spread, no noise: gaps would read 0 or NaN */
            print_needed(d);
            continue;
        }
        print_gap("means differ by", " of the epistemic sd", &d->mean);
        print_gap("epistemic sds differ by", " of it", &d->sd);
        print_gap("distributions, shape and all, differ like a shift of", " of it",
                  &d->whole);
        print_kl(e, i);
        print_predictive(e, law);
        print_needed(d);
    }
    printf("\n  same: all three within %g of the epistemic sd (root mean square over"
           " rows); different: one\n  beyond it. For each law either is wrong in at most"
           " 5 %% of runs.\n",
           e->tolerance);
}

static cli_exit deliver(const cli_evaluation *e)
{
    cli_progress_clear(&e->s->progress);
    if (cli_json(e->s)) return print_json(e);
    printf("%s on %s: %lld %s, %lld %s\n", e->s->args.arg[0], e->s->args.arg[1],
           (long long)e->n, xb_plural(e->n, "row", "rows"), (long long)e->draws,
           xb_plural(e->draws, "weight draw", "weight draws"));
    print_scores(e);
    print_legend(e);
    if (e->laws > 1) print_distances(e);
    cli_doubt_scores(e->n);
    return CLI_DONE;
}

/* ---- the run */

static xb_status parse_laws(cli_evaluation *e)
{
    const cli_value *given = cli_get(&e->s->args, "law");
    xb_status status = XB_OK;
    e->laws = given->given ? given->n_texts : 1;
    for (int i = 0; given->given && i < e->laws && status == XB_OK; i++)
        status = xb_law_parse(e->s->ctx, &e->law[i].law, given->texts[i]);
    return status;
}

static cli_exit evaluate_model(cli_evaluation *e)
{
    const int64_t most = (int64_t)XB_DRAWS_MOST; /* at once: 80 MB an output of a row */
    cli_exit code = cli_inputs_ask(e->s, &e->in, e->model, e->s->args.arg[1], true);
    if (code != CLI_DONE) return code;
    if (e->draws > most)
        return cli_fail(e->s, CLI_USAGE, "--samples %lld: expected at most %lld",
                        (long long)e->draws, (long long)most);
    xb_status status = parse_laws(e);
    if (status == XB_OK) status = cli_evaluate(e);
    return status == XB_OK ? deliver(e) : cli_status(e->s, status);
}

static cli_exit run(cli_session *s)
{
    cli_evaluation *e = calloc(1, sizeof *e); /* scores of many laws: not for a stack */
    if (!e) return cli_fail(s, CLI_FAILED, "not enough memory");
    xb_model *model = NULL;
    cli_exit code = CLI_DONE;
    e->s = s;
    e->tolerance =
        cli_number(&s->args, "tolerance", xb_distance_options_default().tolerance);
    if (!cli_samples(s, &e->draws))
        code = cli_fail(s, CLI_USAGE, "--samples: expected a whole number or 'auto'");
    if (code == CLI_DONE) code = cli_plan_file(s, "cache", "");
    if (code == CLI_DONE)
        code = cli_status(s, xb_model_load(s->ctx, &model, s->args.arg[0]));
    e->model = model;
    if (code == CLI_DONE) code = evaluate_model(e);
    cli_evaluation_free(e);
    free(e);
    xb_model_destroy(model);
    return code;
}

static const cli_option options[] = {
    {"law", 0, CLI_TEXTS, "LAW", "of the weights' noise (the model's); may be repeated",
     0, 0},
    {"samples", 0, CLI_TEXT, "N|auto",
     "weight draws; auto: as many as the verdicts need, at most 40000 (1000)", 0, 0},
    {"tolerance", 0, CLI_NUMBER, "X",
     "laws whose outputs are this near, in units of their sd, are the same (0.01)", 1e-6,
     10},
    CLI_BACKEND_OPTION,
    CLI_IMAGE_OPTIONS,
};

const cli_command cli_command_eval = {
    .name = "eval",
    .group = "A Bayesian network",
    .about = "scores of a model under laws, and how far the laws are apart",
    .usage = "MODEL DATA [--law LAW]... [options]",
    .example = "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
               "crossbayes train square.csv --target y -o square.safetensors\n"
               "crossbayes eval square.safetensors square.csv --law gaussian --law mtj",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .min_args = 2,
    .max_args = 2,
    .more = cli_help_families,
    .run = run,
};
