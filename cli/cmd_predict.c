/* cmd_predict.c: `crossbayes predict`: predicts the rows of a table with a model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "doubts.h"
#include "inputs.h"
#include "model_data.h"
#include "outputs.h"
#include "predicted.h"
#include "print.h"
#include "table_options.h"
#include "textfile.h"

typedef struct request {
    cli_session *s;
    const xb_model *model;
    cli_inputs in;
    xb_predict_options opt;
    cli_predicted shown;
    const char *path;
    /* state of a long table, which is read one block of rows at a time */
    cli_textfile file;
    bool open;
    int64_t rows, draws;
    double used; /* total number of draws of all rows if each row takes its own number */
    bool asked;  /* some rows have been predicted already */
    double error;
    double share; /* ensembles: share of the epistemic variance that lies between members,
                     mean over blocks */
    cli_exit failed;
} request;

/* The number of rows of a table that are held in memory at a time. Their draws take as
 * much memory again. */
enum { BLOCK_ROWS = 1 << 16 };

static int64_t blank_lines(const request *r)
{
    return r->in.frame ? xb_frame_blank_lines(r->in.frame) : 0;
}

static bool to_stdout(const request *r) { return strcmp(r->path, "-") == 0; }

static cli_exit print_json(const request *r, const xb_prediction *p, const xb_law *law)
{
    json_t *root = json_object();
    if (to_stdout(r))
        cli_predicted_json(root, &r->shown, p);
    else
        json_object_set_new(root, "file", cli_json_text(r->path));
    json_object_set_new(root, "law", json_string(xb_law_text(law)));
    json_object_set_new(root, "n", json_integer(r->rows));
    json_object_set_new(root, "blank_lines", json_integer(blank_lines(r)));
    json_object_set_new(root, "draws", json_integer(r->draws));
    if (r->opt.adaptive && r->rows > 0)
        json_object_set_new(root, "draws_mean", cli_json_real(r->used / (double)r->rows));
    json_object_set_new(root, "mc_error", cli_json_real(r->error));
    if (xb_prediction_disagreement(p)) {
        json_object_set_new(root, "members",
                            json_integer(xb_model_member_count(r->model)));
        json_object_set_new(root, "disagreement_share", cli_json_real(r->share));
    }
    return cli_json_print(r->s, root);
}

/* Writes the rows of one prediction, preceded by the column names if they are the first.
 */
static cli_exit write_prediction(request *r, const xb_prediction *p)
{
    if (!r->open) {
        cli_exit code = r->shown.block ? cli_textfile_open_whole(r->s, &r->file, r->path)
                                       : cli_textfile_open(r->s, &r->file, r->path);
        if (code != CLI_DONE) return code;
        r->open = true;
        cli_predicted_head(r->file.stream, &r->shown);
    }
    cli_predicted_rows(r->file.stream, &r->shown, p);
    return CLI_DONE;
}

/* Runs before the first rows: chooses the number of draws, which then holds for all
 * rows. */
static cli_exit prepare(request *r, const xb_rows *rows)
{
    if (r->asked) return CLI_DONE;
    r->asked = true;
    if (r->opt.draws > 0 || r->opt.adaptive) return CLI_DONE;
    return cli_status(
        r->s, xb_predict_draws_needed(r->s->ctx, &r->opt.draws, r->model, rows, &r->opt));
}

static cli_exit predict_rows(request *r, xb_prediction **out, const xb_rows *rows)
{
    cli_exit code = prepare(r, rows);
    if (code != CLI_DONE) return code;
    code = cli_status(r->s, xb_predict_rows(r->s->ctx, out, r->model, rows, &r->opt));
    if (code != CLI_DONE) return code;
    const double error = xb_prediction_mc_error(*out);
    const double n = (double)xb_prediction_count(*out);
    const double share = xb_prediction_disagreement_share(*out); /* NAN: not an
                                                                    ensemble */
    if (r->rows == 0)
        r->share = share;
    else if (n > 0)
        r->share += (share - r->share) * n / ((double)r->rows + n);
    r->rows += xb_prediction_count(*out);
    if (xb_prediction_draws(*out) > r->draws) r->draws = xb_prediction_draws(*out);
    for (int64_t i = 0; i < xb_prediction_count(*out) && r->opt.adaptive; i++)
        r->used += (double)xb_prediction_draws_used(*out)[i];
    if (isnan(error) || error > r->error) r->error = error;
    return CLI_DONE;
}

/* This is the on_block callback of xb_frame_options. */
static bool take_block(void *arg, const xb_frame *block)
{
    request *r = arg;
    xb_prediction *p = NULL;
    const xb_rows rows = {.x = xb_frame_values(block),
                          .n = xb_frame_row_count(block),
                          .features = xb_frame_feature_count(block),
                          .first = xb_frame_first(block)};
    r->shown.block = block;
    r->failed = predict_rows(r, &p, &rows);
    if (r->failed == CLI_DONE) r->failed = write_prediction(r, p);
    if (r->failed == CLI_ELSEWHERE)
        r->failed = CLI_DONE; /* the prediction of the next block of rows can go on */
    r->shown.block = NULL;
    xb_prediction_destroy(p);
    return r->failed == CLI_DONE;
}

/* Tells the user about blank lines, because one may have been meant as a row. */
static void say_blanks(const request *r, const char *data)
{
    const int64_t n = blank_lines(r);
    char name[CLI_SHOWN];
    if (n == 0 || cli_quiet(r->s)) return;
    cli_progress_clear(&r->s->progress);
    fprintf(stderr,
            "  %s: %lld blank %s skipped; there is one prediction per row, so row "
            "numbers differ from line numbers of the file\n",
            cli_shown(name, data), (long long)n, xb_plural(n, "line was", "lines were"));
}

static void print_summary(const request *r, const xb_law *law)
{
    char target[CLI_SHOWN];
    printf("%s: %s for %lld %s, %s%lld %s, law %s\n", r->path,
           cli_shown(target, xb_model_target_name(r->model)), (long long)r->rows,
           xb_plural(r->rows, "row", "rows"), r->opt.adaptive ? "at most " : "",
           (long long)r->draws, xb_plural(r->draws, "weight draw", "weight draws"),
           xb_law_text(law));
    if (r->opt.adaptive && r->rows > 0)
        printf("  each row took as many draws as its interval needs, %.0f on average\n",
               r->used / (double)r->rows);
    if (isnan(r->error))
        printf("  Monte Carlo error of the means: unknown with so few draws\n");
    else
        printf("  Monte Carlo error of the means: at most %.2g of the predictive sd\n",
               r->error);
    if (xb_model_member_count(r->model) > 1)
        printf("  %lld members: %.0f %% of the epistemic %s lies between them\n",
               (long long)xb_model_member_count(r->model), 100 * r->share,
               xb_model_class_count(r->model) > 0 ? "information" : "variance");
}

/* Writes the last rows, or all of them if the table was not read in blocks. */
static cli_exit deliver(request *r, const xb_prediction *p)
{
    const xb_law *law = r->opt.law ? r->opt.law : xb_model_law(r->model);
    cli_progress_clear(&r->s->progress);
    if (cli_json(r->s) && to_stdout(r)) return print_json(r, p, law);
    cli_exit code = write_prediction(r, p);
    if (code != CLI_DONE) return code;
    r->open = false;
    code = cli_textfile_close(r->s, &r->file, true);
    if (code != CLI_DONE || to_stdout(r)) return code;
    if (cli_json(r->s)) return print_json(r, p, law);
    if (!cli_quiet(r->s)) print_summary(r, law);
    return CLI_DONE;
}

/* Long tables are processed in blocks, unless all predictions form one JSON object. */
static cli_exit ask(request *r, const char *data)
{
    const bool whole = cli_json(r->s) && to_stdout(r);
    if (xb_model_of_images(r->model) || whole)
        return cli_inputs_ask(r->s, &r->in, r->model, data, false);
    const cli_exit fit = cli_inputs_check(r->s, r->model);
    if (fit != CLI_DONE) return fit;
    xb_frame_options opt = xb_frame_options_default();
    opt.block = BLOCK_ROWS;
    opt.on_block = take_block;
    opt.on_block_arg = r;
    xb_status status = cli_model_rows(r->s, &r->in.frame, r->model, data, false, &opt);
    if (r->failed != CLI_DONE) return r->failed; /* already reported */
    if (status == XB_OK) r->in.n = xb_frame_row_count(r->in.frame);
    return cli_status(r->s, status);
}

static cli_exit predict(request *r, const char *data)
{
    xb_prediction *p = NULL;
    cli_exit code = ask(r, data);
    if (code == CLI_DONE) say_blanks(r, data);
    if (code == CLI_DONE) {
        const xb_rows rows = cli_inputs_rows(&r->in);
        code = predict_rows(r, &p, &rows);
    }
    if (code == CLI_DONE) code = deliver(r, p);
    if (r->open) cli_textfile_close(r->s, &r->file, false);
    xb_prediction_destroy(p);
    cli_inputs_free(&r->in);
    return code;
}

static cli_exit run(cli_session *s)
{
    request r = {.s = s, .opt = xb_predict_options_default()};
    r.path = cli_text(&s->args, "output", "-");
    r.opt.adaptive = cli_draws_adaptive(s);
    if (r.opt.adaptive)
        r.opt.draws = 0;
    else if (!cli_draws_option(s, &r.opt.draws))
        return cli_fail(s, CLI_USAGE,
                        "--draws: expected a whole number from 1, 'auto' or 'adaptive'");
    cli_doubt_predict_options(s);
    r.opt.draws_needed = r.opt.draws == 0;
    double share = cli_number(&s->args, "interval", 0.95);
    r.shown = (cli_predicted){.in = &r.in,
                              .level = {(1 - share) / 2, (1 + share) / 2},
                              .adaptive = r.opt.adaptive,
                              .draws_needed = r.opt.draws_needed};
    r.opt.quantile = r.shown.level;
    r.opt.quantiles = CLI_COUNT_OF(r.shown.level);
    r.opt.tolerance = cli_number(&s->args, "tolerance", r.opt.tolerance);
    r.opt.interval_tolerance =
        cli_number(&s->args, "interval-tolerance", r.opt.interval_tolerance);
    r.opt.seed = cli_seed(s);
    xb_model *model = NULL;
    xb_law *law = NULL;
    cli_exit code = cli_plan_file(s, "output", "");
    if (code == CLI_DONE) code = cli_plan_file(s, "cache", "");
    if (code == CLI_DONE)
        code = cli_status(s, xb_model_load(s->ctx, &model, s->args.arg[0]));
    if (code == CLI_DONE && cli_flag(&s->args, "law"))
        code = cli_status(s, xb_law_parse(s->ctx, &law, cli_text(&s->args, "law", NULL)));
    r.model = r.shown.model = model;
    r.opt.law = law;
    if (code == CLI_DONE) code = predict(&r, s->args.arg[1]);
    xb_law_destroy(law);
    xb_model_destroy(model);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', CLI_OUTPUT, "FILE",
     "predictions to write, .csv; -: stdout, with --json as JSON [-]", 0, 0},
    {"law", 0, CLI_TEXT, "LAW",
     "distribution of the weights' noise (crossbayes help law) [the model's]", 0, 0},
    {"draws", 0, CLI_TEXT, "N|auto|adaptive",
     "number of weight draws; auto: as many as the means need, with the number that each "
     "interval needs in the output; adaptive: for each row as many as its interval needs "
     "[1000]",
     0, 0},
    {"tolerance", 0, CLI_NUMBER, "SDS",
     "auto: largest Monte Carlo error of a mean, in predictive sds [0.02]", 1e-4, 1},
    {"interval-tolerance", 0, CLI_NUMBER, "SDS",
     "auto, adaptive: largest Monte Carlo error of an interval's ends, in predictive sds"
     " [0.1]",
     1e-3, 1},
    {"interval", 0, CLI_NUMBER, "SHARE",
     "probability inside the central predictive interval [0.95]", 1e-6, 0.999999},
    {"id", 0, CLI_TEXT, "COLUMN",
     "table: column that names the rows, copied to the output [that of train"
     " --id]",
     0, 0},
    CLI_MISSING_OPTION,
    CLI_IMAGE_OPTIONS,
    CLI_BACKEND_OPTION,
    CLI_SHARE_OPTION,
};

static const cli_title titles[] = {
    {"output", "Prediction"}, {"id", "Tables"}, {"target-table", "Images"},
    {"backend", "Machines"},  {NULL, NULL},
};

static void more_help(FILE *out)
{
    fputs("\nColumns of the output, in the target's units:\n"
          "  mean, sd               of the predictive\n"
          "  epistemic, aleatoric   standard deviations from the weights and from the "
          "data's\n"
          "                         noise; their squares add up to that of sd\n"
          "  q0.025, q0.975         ends of the interval, with --interval 0.95\n"
          "  disagreement           ensembles: the part of epistemic that is between "
          "members\n"
          "For classes: class (the most probable), p_NAME (probabilities), entropy, and\n"
          "information (the part of the entropy that comes from the weights), in nats.\n",
          out);
    cli_help_families(out);
}

const cli_command cli_command_predict = {
    .name = "predict",
    .group = "A Bayesian network",
    .about = "means, uncertainties and intervals for new rows",
    .usage = "MODEL DATA [-o FILE] [options]",
    .example = "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
               "crossbayes train square.csv --target y -o square.safetensors\n"
               "crossbayes predict square.safetensors square.csv -o pred.csv",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 2,
    .max_args = 2,
    .more = more_help,
    .run = run,
};
