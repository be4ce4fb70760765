/* cmd_predict.c: `crossbayes predict`: predicts the rows of a table with a model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "inputs.h"
#include "model_data.h"
#include "outputs.h"
#include "print.h"
#include "table_options.h"
#include "textfile.h"

typedef struct request {
    cli_session *s;
    const xb_model *model;
    cli_inputs in;
    xb_predict_options opt;
    double level[2];
    const char *path;
    /* so far, where a long table comes a block of rows at a time */
    const xb_frame *block; /* the one under way; NULL: all of `in` */
    cli_textfile file;
    bool open;
    int64_t rows, draws;
    double used; /* draws of all rows together, where each takes its own number */
    bool asked;  /* some rows went to the model already */
    double error;
    double share; /* of ensembles: epistemic variance between members, mean over blocks */
    cli_exit failed;
} request;

/* The number of rows of a table in memory at a time. Their draws take as much memory
 * again. */
enum { BLOCK_ROWS = 1 << 16 };

/* A name as a CSV cell, quoted if necessary. */
static void write_cell(FILE *out, const char *before, const char *text)
{
    if (!strpbrk(text, ",\"\n\r;\t #")) {
        fprintf(out, "%s%s", before, text);
        return;
    }
    fprintf(out, "\"%s", before);
    for (; *text; text++) fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

/* The name of an image is its file, that of a row is in the id column. */
static const char *name_head(const request *r)
{
    if (r->block) return xb_frame_id(r->block);
    return r->in.frame ? xb_frame_id(r->in.frame) : "file";
}

static const char *name_at(const request *r, int64_t i)
{
    return r->block ? xb_frame_row_name(r->block, i) : cli_inputs_name(&r->in, i);
}

static void write_name(FILE *out, const request *r, int64_t i)
{
    const char *name = name_at(r, i);
    if (!name) return;
    write_cell(out, "", name);
    fputc(',', out);
}

static void write_name_head(FILE *out, const request *r)
{
    if (!name_at(r, 0)) return;
    write_cell(out, "", name_head(r));
    fputc(',', out);
}

/* The columns of a target, preceded by its name if there are several targets; the last is
 * for ensembles only. */
static void write_head(FILE *out, const request *r, int64_t k)
{
    static const char *const column[] = {"mean", "sd", "epistemic", "aleatoric"};
    enum { NUMBERS = CLI_COUNT_OF(column), QUANTILES = NUMBERS + 2 };
    const bool several = xb_model_target_count(r->model) > 1;
    const char *target = several ? xb_model_target_at(r->model, k).name : "";
    const int columns = QUANTILES + (xb_model_member_count(r->model) > 1);
    char name[512], level[32];
    for (int i = 0; i < columns; i++) {
        if (i >= NUMBERS && i < QUANTILES)
            snprintf(level, sizeof level, "q%.10g", r->level[i - NUMBERS]);
        snprintf(name, sizeof name, "%s%s%s", target, several ? "_" : "",
                 i < NUMBERS     ? column[i]
                 : i < QUANTILES ? level
                                 : "disagreement");
        if (i + k > 0) fputc(',', out);
        write_cell(out, "", name);
    }
}

/* The last column: draws that a row took, or that its interval needs. */
static const char *draws_column(const request *r)
{
    return r->opt.adaptive ? "draws" : r->opt.needs ? "draws_needed" : NULL;
}

static void end_head(FILE *out, const request *r)
{
    if (draws_column(r)) fprintf(out, ",%s", draws_column(r));
    fputc('\n', out);
}

static void end_row(FILE *out, const xb_prediction *p, int64_t row)
{
    if (xb_prediction_used(p))
        fprintf(out, ",%lld", (long long)xb_prediction_used(p)[row]);
    else if (xb_prediction_needed(p))
        fprintf(out, ",%.0f", ceil(xb_prediction_needed(p)[row]));
    fputc('\n', out);
}

static void write_numbers_head(FILE *out, const request *r)
{
    write_name_head(out, r);
    for (int64_t k = 0; k < xb_model_target_count(r->model); k++) write_head(out, r, k);
    end_head(out, r);
}

static void write_numbers(FILE *out, const xb_prediction *p, const request *r)
{
    const int64_t targets = xb_prediction_targets(p);
    const double *q = xb_prediction_quantile(p), *apart = xb_prediction_disagreement(p);
    for (int64_t i = 0; i < xb_prediction_count(p) * targets; i++) {
        if (i % targets == 0) write_name(out, r, i / targets);
        fprintf(out, "%.10g,%.10g,%.10g,%.10g,%.10g,%.10g", xb_prediction_mean(p)[i],
                xb_prediction_sd(p)[i], xb_prediction_epistemic(p)[i],
                xb_prediction_aleatoric(p)[i], q[2 * i], q[2 * i + 1]);
        if (apart) fprintf(out, ",%.10g", apart[i]);
        if (i % targets == targets - 1)
            end_row(out, p, i / targets);
        else
            fputc(',', out);
    }
}

static void write_classes_head(FILE *out, const request *r)
{
    int64_t classes = xb_model_class_count(r->model);
    write_name_head(out, r);
    fprintf(out, "class");
    for (int64_t k = 0; k < classes; k++) {
        fputc(',', out);
        write_cell(out, "p_", xb_model_class_name(r->model, k));
    }
    fprintf(out, ",entropy,information%s",
            xb_model_member_count(r->model) > 1 ? ",disagreement" : "");
    end_head(out, r);
}

static void write_classes(FILE *out, const xb_prediction *p, const request *r)
{
    int64_t classes = xb_model_class_count(r->model);
    const double *apart = xb_prediction_disagreement(p);
    for (int64_t i = 0; i < xb_prediction_count(p); i++) {
        const double *row = xb_prediction_probability(p) + i * classes;
        write_name(out, r, i);
        write_cell(out, "", xb_model_class_name(r->model, xb_prediction_class(p)[i]));
        for (int64_t k = 0; k < classes; k++) fprintf(out, ",%.10g", row[k]);
        fprintf(out, ",%.10g,%.10g", xb_prediction_entropy(p)[i],
                xb_prediction_information(p)[i]);
        if (apart) fprintf(out, ",%.10g", apart[i]);
        end_row(out, p, i);
    }
}

/* Every `stride`-th value as a column of its own. */
static void set_column(json_t *root, const char *name, const double *value, int64_t n,
                       int64_t stride)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, cli_json_real(value[i * stride]));
    json_object_set_new(root, name, list);
}

static void set_target(json_t *root, const xb_prediction *p, const request *r,
                       int64_t target)
{
    const int64_t n = xb_prediction_count(p), targets = xb_prediction_targets(p);
    const int64_t quantiles = xb_prediction_quantiles(p);
    set_column(root, "mean", xb_prediction_mean(p) + target, n, targets);
    set_column(root, "sd", xb_prediction_sd(p) + target, n, targets);
    set_column(root, "epistemic", xb_prediction_epistemic(p) + target, n, targets);
    set_column(root, "aleatoric", xb_prediction_aleatoric(p) + target, n, targets);
    for (int64_t k = 0; k < quantiles; k++) {
        char name[32];
        snprintf(name, sizeof name, "q%.10g", r->level[k]);
        set_column(root, name, xb_prediction_quantile(p) + target * quantiles + k, n,
                   targets * quantiles);
    }
}

/* Of several targets each in an object of its own. */
static void set_numbers(json_t *root, const xb_prediction *p, const request *r)
{
    const int64_t targets = xb_prediction_targets(p);
    if (targets == 1) {
        set_target(root, p, r, 0);
        return;
    }
    json_t *each = json_array();
    for (int64_t k = 0; k < targets; k++) {
        json_t *one = json_pack("{s:s}", "target", xb_model_target_at(r->model, k).name);
        set_target(one, p, r, k);
        json_array_append_new(each, one);
    }
    json_object_set_new(root, "targets", each);
}

static void set_classes(json_t *root, const xb_prediction *p, const request *r)
{
    int64_t n = xb_prediction_count(p), classes = xb_model_class_count(r->model);
    const double *probability = xb_prediction_probability(p);
    json_t *names = json_array(), *each = json_object();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(
            names, json_string(xb_model_class_name(r->model, xb_prediction_class(p)[i])));
    for (int64_t k = 0; k < classes; k++)
        set_column(each, xb_model_class_name(r->model, k), probability + k, n, classes);
    json_object_set_new(root, "class", names);
    json_object_set_new(root, "probability", each);
    set_column(root, "entropy", xb_prediction_entropy(p), n, 1);
    set_column(root, "information", xb_prediction_information(p), n, 1);
}

static void set_used(json_t *root, const xb_prediction *p)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < xb_prediction_count(p); i++)
        json_array_append_new(list, json_integer(xb_prediction_used(p)[i]));
    json_object_set_new(root, "draws_used", list);
}

/* The predictions themselves, under the names of the table's columns. */
static void set_predictions(json_t *root, const xb_prediction *p, const request *r)
{
    json_t *files = json_array();
    for (int64_t i = 0; i < xb_prediction_count(p); i++)
        if (cli_inputs_name(&r->in, i))
            json_array_append_new(files, cli_json_text(cli_inputs_name(&r->in, i)));
    if (json_array_size(files) > 0)
        json_object_set(root, r->in.frame ? "id" : "files", files);
    json_decref(files);
    if (xb_model_class_count(r->model) > 0)
        set_classes(root, p, r);
    else
        set_numbers(root, p, r);
    if (xb_prediction_disagreement(p))
        set_column(root, "disagreement", xb_prediction_disagreement(p),
                   xb_prediction_count(p), 1);
    if (xb_prediction_needed(p))
        set_column(root, "draws_needed", xb_prediction_needed(p), xb_prediction_count(p),
                   1);
    if (xb_prediction_used(p)) set_used(root, p);
}

static int64_t blank_lines(const request *r)
{
    return r->in.frame ? xb_frame_blank_lines(r->in.frame) : 0;
}

static bool to_stdout(const request *r) { return strcmp(r->path, "-") == 0; }

static cli_exit print_json(const request *r, const xb_prediction *p, const xb_law *law)
{
    json_t *root = json_object();
    if (to_stdout(r))
        set_predictions(root, p, r);
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
    const bool classes = xb_model_class_count(r->model) > 0;
    if (!r->open) {
        cli_exit code = r->block ? cli_textfile_open_whole(r->s, &r->file, r->path)
                                 : cli_textfile_open(r->s, &r->file, r->path);
        if (code != CLI_DONE) return code;
        r->open = true;
        if (classes)
            write_classes_head(r->file.stream, r);
        else
            write_numbers_head(r->file.stream, r);
    }
    if (classes)
        write_classes(r->file.stream, p, r);
    else
        write_numbers(r->file.stream, p, r);
    return CLI_DONE;
}

/* Before the first rows: chooses the number of draws, which holds for all rows. */
static cli_exit prepare(request *r, const xb_rows *rows)
{
    if (r->asked) return CLI_DONE;
    r->asked = true;
    if (r->opt.samples > 0 || r->opt.adaptive) return CLI_DONE;
    return cli_status(r->s, xb_predict_draws_enough(r->s->ctx, &r->opt.samples, r->model,
                                                    rows, &r->opt));
}

static cli_exit predict_rows(request *r, xb_prediction **out, const xb_rows *rows)
{
    cli_exit code = prepare(r, rows);
    if (code != CLI_DONE) return code;
    code = cli_status(r->s, xb_predict_rows(r->s->ctx, out, r->model, rows, &r->opt));
    if (code != CLI_DONE) return code;
    const double error = xb_prediction_error(*out);
    const double n = (double)xb_prediction_count(*out);
    const double share = xb_prediction_disagreement_share(*out); /* NAN: no ensemble */
    if (r->rows == 0)
        r->share = share;
    else if (n > 0)
        r->share += (share - r->share) * n / ((double)r->rows + n);
    r->rows += xb_prediction_count(*out);
    if (xb_prediction_draws(*out) > r->draws) r->draws = xb_prediction_draws(*out);
    for (int64_t i = 0; i < xb_prediction_count(*out) && r->opt.adaptive; i++)
        r->used += (double)xb_prediction_used(*out)[i];
    if (isnan(error) || error > r->error) r->error = error;
    return CLI_DONE;
}

/* An on_block of xb_frame_options. */
static bool take_block(void *arg, const xb_frame *block)
{
    request *r = arg;
    xb_prediction *p = NULL;
    const xb_rows rows = {.x = xb_frame_values(block),
                          .n = xb_frame_row_count(block),
                          .features = xb_frame_feature_count(block),
                          .first = xb_frame_first(block)};
    r->block = block;
    r->failed = predict_rows(r, &p, &rows);
    if (r->failed == CLI_DONE) r->failed = write_prediction(r, p);
    if (r->failed == CLI_ELSEWHERE)
        r->failed = CLI_DONE; /* continue with the next rows */
    r->block = NULL;
    xb_prediction_destroy(p);
    return r->failed == CLI_DONE;
}

/* A blank line may have been meant as a row. */
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
        printf("  each row took as many draws as its interval needs, %.4g on average\n",
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

/* The last rows, or all of them. */
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
    r.opt.adaptive = cli_samples_adaptive(s);
    if (r.opt.adaptive)
        r.opt.samples = 0;
    else if (!cli_samples(s, &r.opt.samples))
        return cli_fail(s, CLI_USAGE,
                        "--samples: expected a whole number, 'auto' or 'adaptive'");
    r.opt.needs = r.opt.samples == 0;
    double share = cli_number(&s->args, "interval", 0.95);
    r.level[0] = (1 - share) / 2;
    r.level[1] = (1 + share) / 2;
    r.opt.quantile = r.level;
    r.opt.quantiles = CLI_COUNT_OF(r.level);
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
    r.model = model;
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
    {"samples", 0, CLI_TEXT, "N|auto|adaptive",
     "number of weight draws; auto: as many as the means need, with the number that each "
     "interval needs in the output; adaptive: for each row as many as its interval needs "
     "[1000]",
     0, 0},
    {"tolerance", 0, CLI_NUMBER, "X",
     "auto: largest Monte Carlo error of a mean, in predictive sds [0.02]", 1e-4, 1},
    {"interval-tolerance", 0, CLI_NUMBER, "X",
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
    {"output", "Prediction"}, {"id", "Tables"}, {"targets", "Images"},
    {"backend", "Machines"},  {NULL, NULL},
};

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
    .more = cli_help_families,
    .run = run,
};
