/* predicted.c: writes predictions as rows of a table, or as JSON with the names of its
 * columns. */
#include "predicted.h"

#include <math.h>
#include <string.h>

#include "print.h"

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

/* An image is named by its file, a row by its id column. */
static const char *name_head(const cli_predicted *r)
{
    if (r->block) return xb_frame_id(r->block);
    return r->in->frame ? xb_frame_id(r->in->frame) : "file";
}

static const char *name_at(const cli_predicted *r, int64_t i)
{
    return r->block ? xb_frame_row_name(r->block, i) : cli_inputs_name(r->in, i);
}

static void write_name(FILE *out, const cli_predicted *r, int64_t i)
{
    const char *name = name_at(r, i);
    if (!name) return;
    write_cell(out, "", name);
    fputc(',', out);
}

static void write_name_head(FILE *out, const cli_predicted *r)
{
    if (!name_at(r, 0)) return;
    write_cell(out, "", name_head(r));
    fputc(',', out);
}

/* Writes the column names of a target, with its name in front if there are several
 * targets. The last column is for ensembles only. */
static void write_head(FILE *out, const cli_predicted *r, int64_t k)
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

/* The name of the last column: the draws that a row took, or that its interval needs. */
static const char *draws_column(const cli_predicted *r)
{
    return r->adaptive ? "draws" : r->draws_needed ? "draws_needed" : NULL;
}

static void end_head(FILE *out, const cli_predicted *r)
{
    if (draws_column(r)) fprintf(out, ",%s", draws_column(r));
    fputc('\n', out);
}

static void end_row(FILE *out, const xb_prediction *p, int64_t row)
{
    if (xb_prediction_draws_used(p))
        fprintf(out, ",%lld", (long long)xb_prediction_draws_used(p)[row]);
    else if (xb_prediction_draws_needed(p))
        fprintf(out, ",%.0f", ceil(xb_prediction_draws_needed(p)[row]));
    fputc('\n', out);
}

static void write_numbers_head(FILE *out, const cli_predicted *r)
{
    write_name_head(out, r);
    for (int64_t k = 0; k < xb_model_target_count(r->model); k++) write_head(out, r, k);
    end_head(out, r);
}

static void write_numbers(FILE *out, const xb_prediction *p, const cli_predicted *r)
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

static void write_classes_head(FILE *out, const cli_predicted *r)
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

static void write_classes(FILE *out, const xb_prediction *p, const cli_predicted *r)
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

/* Adds every `stride`-th value as one column. */
static void set_column(json_t *root, const char *name, const double *value, int64_t n,
                       int64_t stride)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, cli_json_real(value[i * stride]));
    json_object_set_new(root, name, list);
}

static void set_target(json_t *root, const xb_prediction *p, const cli_predicted *r,
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

/* With several targets, each has its own object. */
static void set_numbers(json_t *root, const xb_prediction *p, const cli_predicted *r)
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

static void set_classes(json_t *root, const xb_prediction *p, const cli_predicted *r)
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
        json_array_append_new(list, json_integer(xb_prediction_draws_used(p)[i]));
    json_object_set_new(root, "draws_used", list);
}

void cli_predicted_head(FILE *out, const cli_predicted *r)
{
    if (xb_model_class_count(r->model) > 0)
        write_classes_head(out, r);
    else
        write_numbers_head(out, r);
}

void cli_predicted_rows(FILE *out, const cli_predicted *r, const xb_prediction *p)
{
    if (xb_model_class_count(r->model) > 0)
        write_classes(out, p, r);
    else
        write_numbers(out, p, r);
}

void cli_predicted_json(json_t *root, const cli_predicted *r, const xb_prediction *p)
{
    json_t *files = json_array();
    for (int64_t i = 0; i < xb_prediction_count(p); i++)
        if (cli_inputs_name(r->in, i))
            json_array_append_new(files, cli_json_text(cli_inputs_name(r->in, i)));
    if (json_array_size(files) > 0)
        json_object_set(root, r->in->frame ? "id" : "files", files);
    json_decref(files);
    if (xb_model_class_count(r->model) > 0)
        set_classes(root, p, r);
    else
        set_numbers(root, p, r);
    if (xb_prediction_disagreement(p))
        set_column(root, "disagreement", xb_prediction_disagreement(p),
                   xb_prediction_count(p), 1);
    if (xb_prediction_draws_needed(p))
        set_column(root, "draws_needed", xb_prediction_draws_needed(p),
                   xb_prediction_count(p), 1);
    if (xb_prediction_draws_used(p)) set_used(root, p);
}
