/* cmd_eval.c: `crossbayes eval`: scores of a model under one law or several, and how
 * far the laws' predictives are apart. All laws see the same random words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "inputs.h"
#include "model_data.h"
#include "scores.h"

/* Predictives are compared at so many inputs at most, evenly spread over the rows. */
enum { LAWS_MAX = CLI_REPEAT_MAX, COMPARED_MAX = 200, DRAWS_AUTO = 2500 };

typedef struct evaluation {
    xb_law *law;
    double *value;    /* [draws][n][outputs] */
    double *compared; /* [draws][points] of them */
    double *nll;      /* [n], numbers */
    xb_regression_scores regression;
    xb_class_scores classes;
    xb_distances distance;   /* from the first law */
    xb_score nll_difference; /* row by row, numbers */
} evaluation;

typedef struct eval_job {
    cli_session *s;
    const xb_model *model;
    cli_inputs in;
    int64_t n, outputs, draws, points;
    double *sd; /* [n] */
    evaluation e[LAWS_MAX];
    int laws;
} eval_job;

/* The law of a column; NULL in the job stands for the model's own. */
static const char *law_text(const eval_job *job, int i)
{
    const xb_law *law = job->e[i].law;
    return xb_law_text(law ? law : xb_model_law(job->model));
}

static int score_rows(cli_score out[CLI_SCORES_MAX], const eval_job *job,
                      const evaluation *e)
{
    return cli_score_rows(out, xb_model_classes(job->model) > 0, &e->regression,
                          &e->classes);
}

/* ---- numbers */

static xb_status score(eval_job *job, evaluation *e)
{
    const double *target = cli_inputs_target(&job->in);
    if (xb_model_classes(job->model) == 0) {
        xb_mixture p = {e->value, job->sd, job->draws, job->n, .sd_shared = true};
        xb_point_scores points = {.nll = e->nll};
        return xb_score_regression(job->s->ctx, &e->regression, &points, &p, target,
                                   NULL);
    }
    int64_t *label = malloc((size_t)job->n * sizeof *label);
    if (!label) return XB_E_MEMORY;
    for (int64_t i = 0; i < job->n; i++) label[i] = (int64_t)target[i];
    xb_class_draws p = {e->value, job->draws, job->n, job->outputs};
    xb_status status = xb_score_classes(job->s->ctx, &e->classes, &p, label, NULL);
    free(label);
    return status;
}

static void pick_points(const eval_job *job, evaluation *e)
{
    int64_t all = job->n * job->outputs;
    for (int64_t d = 0; d < job->draws; d++)
        for (int64_t i = 0; i < job->points; i++)
            e->compared[d * job->points + i] = e->value[d * all + i * all / job->points];
}

static xb_status evaluate(eval_job *job, evaluation *e)
{
    xb_predict_options opt = xb_predict_options_default();
    int64_t all = job->n * job->outputs;
    opt.law = e->law;
    opt.seed = cli_seed(job->s);
    e->value = malloc((size_t)(job->draws * all) * sizeof *e->value);
    e->compared = malloc((size_t)(job->draws * job->points) * sizeof *e->compared);
    e->nll = malloc((size_t)job->n * sizeof *e->nll);
    if (!e->value || !e->compared || !e->nll) return XB_E_MEMORY;
    const xb_rows rows = cli_inputs_rows(&job->in);
    xb_status status = xb_predict_draws_rows(job->s->ctx, e->value, job->sd, job->model,
                                             &rows, 0, job->draws, &opt);
    if (status == XB_OK) status = score(job, e);
    if (status == XB_OK) pick_points(job, e);
    free(e->value);
    e->value = NULL;
    return status;
}

static xb_status compare(eval_job *job, evaluation *e)
{
    xb_distance_options opt = xb_distance_options_default();
    opt.paired = true;
    opt.standardise = true;
    opt.permutations = 0; /* the verdicts come from the paired gaps */
    opt.tolerance = cli_number(&job->s->args, "tolerance", opt.tolerance);
    opt.seed = cli_seed(job->s);
    xb_status status = XB_OK;
    if (xb_model_classes(job->model) == 0)
        status = xb_score_difference(job->s->ctx, &e->nll_difference, e->nll,
                                     job->e[0].nll, job->n);
    if (status != XB_OK) return status;
    return xb_distance_samples(job->s->ctx, &e->distance, job->e[0].compared, job->draws,
                               e->compared, job->draws, job->points, &opt);
}

static xb_status evaluate_all(eval_job *job)
{
    xb_status status = XB_OK;
    for (int i = 0; i < job->laws && status == XB_OK; i++) {
        xb_progress event = {"scoring", i, job->laws};
        if (!cli_progress_event(&job->s->progress, &event)) return XB_E_CANCELLED;
        status = evaluate(job, &job->e[i]);
        if (status == XB_OK && i > 0) status = compare(job, &job->e[i]);
    }
    return status;
}

/* ---- words */

static json_t *distance_json(const eval_job *job, const evaluation *e)
{
    const xb_distances *d = &e->distance;
    json_t *root = json_object();
    json_object_set_new(root, "law", json_string(law_text(job, 0)));
    json_object_set_new(root, "points", json_integer(job->points));
    json_object_set_new(root, "kl", cli_json_real(d->kl.value));
    json_object_set_new(root, "kl_error", cli_json_real(d->kl.std_error));
    json_object_set_new(root, "wasserstein", cli_json_real(d->wasserstein.value));
    json_object_set_new(root, "ks", cli_json_real(d->ks.value));
    if (xb_model_classes(job->model) == 0) {
        json_object_set_new(root, "nll_difference",
                            cli_json_real(e->nll_difference.value));
        json_object_set_new(root, "nll_difference_error",
                            cli_json_real(e->nll_difference.std_error));
    }
    json_object_set_new(root, "mean", cli_gap_json(&d->mean));
    json_object_set_new(root, "sd", cli_gap_json(&d->sd));
    json_object_set_new(root, "whole", cli_gap_json(&d->whole));
    json_object_set_new(root, "verdict", json_string(xb_verdict_text(d->verdict)));
    return root;
}

static json_t *law_json(const eval_job *job, int i)
{
    const evaluation *e = &job->e[i];
    cli_score row[CLI_SCORES_MAX];
    int rows = score_rows(row, job, e);
    json_t *root = json_object();
    json_object_set_new(root, "law", json_string(law_text(job, i)));
    json_object_set_new(root, "n", json_integer(job->n));
    json_object_set_new(root, "draws", json_integer(job->draws));
    cli_scores_json(root, row, rows);
    if (i > 0) json_object_set_new(root, "distance", distance_json(job, e));
    return root;
}

static cli_exit print_json(const eval_job *job)
{
    json_t *list = json_array();
    for (int i = 0; i < job->laws; i++) json_array_append_new(list, law_json(job, i));
    return cli_json_print(job->s, list);
}

/* "5.23 ± 0.36 [0.004]". */
static void format_score(char *out, size_t size, const xb_score *score)
{
    cli_format_error(out, size, score->value, score->std_error);
    size_t used = strlen(out);
    const double rounding = 1e-9; /* of the value: no noise at all */
    if (score->mc_error > rounding * fabs(score->value))
        snprintf(out + used, size - used, " [%.1g]", score->mc_error);
}

static void print_scores(const eval_job *job)
{
    enum { NAME = 16, CELL = 28 };
    cli_score row[CLI_SCORES_MAX];
    int rows = score_rows(row, job, &job->e[0]);
    printf("\n  ");
    cli_print_cell("", NAME);
    for (int i = 0; i < job->laws; i++) cli_print_cell(law_text(job, i), CELL);
    printf("\n");
    for (int k = 0; k < rows; k++) {
        printf("  ");
        cli_print_cell(row[k].name, NAME);
        for (int i = 0; i < job->laws; i++) {
            char text[96];
            cli_score mine[CLI_SCORES_MAX];
            score_rows(mine, job, &job->e[i]);
            format_score(text, sizeof text, &mine[k].score);
            cli_print_cell(text, CELL);
        }
        printf("\n");
    }
}

static void print_distances(const eval_job *job)
{
    printf("\n  Predictives against %s, at %lld inputs:\n", law_text(job, 0),
           (long long)job->points);
    for (int i = 1; i < job->laws; i++) {
        const evaluation *e = &job->e[i];
        const xb_distances *d = &e->distance;
        char text[64];
        printf("  %s: %s\n", law_text(job, i), xb_verdict_text(d->verdict));
        printf("    means differ by %.2g of the epistemic sd (noise alone %.2g): %s\n",
               d->mean.rms, d->mean.noise, xb_verdict_text(d->mean.verdict));
        printf("    epistemic sds differ by %.2g (noise alone %.2g): %s\n", d->sd.rms,
               d->sd.noise, xb_verdict_text(d->sd.verdict));
        printf("    whole distributions, shape and all, differ as by a shift of %.2g"
               " (noise alone %.2g): %s\n",
               d->whole.rms, d->whole.noise, xb_verdict_text(d->whole.verdict));
        cli_format_error(text, sizeof text, d->kl.value, d->kl.std_error);
        printf("    KL %s nats\n", text);
        cli_format_error(text, sizeof text, e->nll_difference.value,
                         e->nll_difference.std_error);
        if (xb_model_classes(job->model) == 0) printf("    NLL differs by %s\n", text);
        if (d->verdict == XB_VERDICT_UNRESOLVED)
            printf("    about %.2g draws would tell\n",
                   fmax(d->mean.draws_needed, d->sd.draws_needed));
    }
}

static cli_exit deliver(const eval_job *job)
{
    cli_progress_clear(&job->s->progress);
    if (cli_json(job->s)) return print_json(job);
    printf("%s on %s: %lld rows, %lld weight draws\n", job->s->args.arg[0],
           job->s->args.arg[1], (long long)job->n, (long long)job->draws);
    print_scores(job);
    printf("\n  ± the error over rows, [] the Monte Carlo error over draws\n");
    if (job->laws > 1) print_distances(job);
    return CLI_DONE;
}

/* ---- the run */

static xb_status parse_laws(eval_job *job)
{
    const cli_value *given = cli_get(&job->s->args, "law");
    xb_status status = XB_OK;
    job->laws = given->given ? given->n_texts : 1;
    for (int i = 0; given->given && i < job->laws && status == XB_OK; i++)
        status = xb_law_parse(job->s->ctx, &job->e[i].law, given->texts[i]);
    return status;
}

static cli_exit evaluate_model(eval_job *job)
{
    job->n = job->in.n;
    job->outputs = xb_model_classes(job->model) ? xb_model_classes(job->model) : 1;
    int64_t all = job->n * job->outputs;
    job->points = all < COMPARED_MAX ? all : COMPARED_MAX;
    const double most = 1e9; /* values at once: 8 GB */
    if ((double)all * (double)job->draws > most)
        return cli_fail(job->s, CLI_USAGE,
                        "%lld rows under %lld draws are too many at once: fewer"
                        " --samples, or part of the rows",
                        (long long)job->n, (long long)job->draws);
    job->sd = malloc((size_t)job->n * sizeof *job->sd);
    xb_status status = job->sd ? parse_laws(job) : XB_E_MEMORY;
    if (status == XB_OK) status = evaluate_all(job);
    return status == XB_OK ? deliver(job) : cli_status(job->s, status);
}

static void free_job(eval_job *job)
{
    for (int i = 0; i < job->laws; i++) {
        free(job->e[i].value);
        free(job->e[i].compared);
        free(job->e[i].nll);
        xb_law_destroy(job->e[i].law);
    }
    free(job->sd);
    cli_inputs_free(&job->in);
}

static cli_exit run(cli_session *s)
{
    eval_job *job =
        calloc(1, sizeof *job); /* scores of many laws: too much for a stack */
    if (!job) return cli_fail(s, CLI_FAILED, "not enough memory");
    job->s = s;
    xb_model *model = NULL;
    cli_exit code = CLI_DONE;
    if (!cli_samples(s, &job->draws))
        code = cli_fail(s, CLI_USAGE, "--samples: expected a whole number or 'auto'");
    if (job->draws == 0) job->draws = DRAWS_AUTO;
    xb_status status = XB_OK;
    if (code == CLI_DONE) status = xb_model_load(s->ctx, &model, s->args.arg[0]);
    if (code == CLI_DONE) code = cli_status(s, status);
    job->model = model;
    if (code == CLI_DONE) code = cli_inputs_ask(s, &job->in, model, s->args.arg[1], true);
    if (code == CLI_DONE) code = evaluate_model(job);
    free_job(job);
    free(job);
    xb_model_destroy(model);
    return code;
}

static const cli_option options[] = {
    {"law", 0, CLI_TEXTS, "LAW", "of the weights' noise (the model's); may be repeated",
     0, 0},
    {"samples", 0, CLI_TEXT, "N|auto", "weight draws (1000)", 0, 0},
    {"tolerance", 0, CLI_NUMBER, "X",
     "predictives this near, in units of their sd, are the same (0.01)", 1e-6, 10},
    CLI_IMAGE_OPTIONS,
};

const cli_command cli_command_eval = {
    .name = "eval",
    .group = "Networks",
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
