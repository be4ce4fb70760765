/* frame.c: a table of features and a target, from a text table, an NPY file or memory.
 * Training and prediction get their data here. Rows come one by one through csv.h;
 * classes.c turns labels into numbers. If cells may be something other than numbers,
 * frame_prepare.c handles them. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/data.h"
#include "data/classes.h"
#include "data/csv.h"
#include "data/frame.h"
#include "data/npy.h"
#include "data/rows.h"
#include "crossbayes/extend.h"

enum {
    NAME_SHOWN = 80,
    LABELS_SHOWN = 200,
    OTHER_MOST = 64 /* number of consecutive rows that are not all numbers, after which
                       none is expected */
};

typedef xb_filling filling;

void xb_frame_options_init(xb_frame_options *opt, size_t size)
{
    const xb_frame_options standard = {.target_kind = XB_TARGET_AUTO};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

static void free_texts(char **texts, int64_t n)
{
    for (int64_t i = 0; texts && i < n; i++) free(texts[i]);
    free(texts);
}

void xb_frame_destroy(xb_frame *frame)
{
    if (!frame) return;
    free_texts(frame->feature_name, frame->features);
    free_texts(frame->class_name, frame->classes);
    xb_store_free(&frame->store);
    free_texts(frame->target_each, frame->targets);
    free(frame->target_name);
    free(frame->target);
    xb_recipe_destroy(frame->recipe);
    xb_notes_free(&frame->notes);
    free(frame->id);
    free(frame->row_text);
    free(frame->row_at);
    free(frame);
}

/* ---- one row */

static xb_status make_room(filling *f, int64_t more)
{
    xb_frame *frame = f->frame;
    int64_t cells = 0;
    if (__builtin_mul_overflow(frame->rows + more, frame->features, &cells))
        return xb_fail(f->ctx, XB_E_MEMORY, "not enough memory for the table");
    XB_TRY(xb_store_grow(f->ctx, &frame->store, cells, XB_STORE_MEMORY));
    frame->values = frame->store.at;
    if (f->target < 0) return XB_OK;
    if (__builtin_mul_overflow(frame->rows + more, f->targets, &cells))
        return xb_fail(f->ctx, XB_E_MEMORY, "not enough memory for the table");
    return xb_grow(f->ctx, (void **)&frame->target, &f->target_room, cells,
                   sizeof *frame->target);
}

/* The message of a bad cell, and which column it is in. */
static xb_status number_in(double *out, const xb_csv_row *row, int64_t column,
                           const char *name)
{
    xb_status status = xb_csv_number(out, row, column);
    if (status != XB_E_INPUT) return status;
    xb_ctx *ctx = row->head->ctx;
    return xb_fail(ctx, status, "%s (column '%.*s')", ctx ? xb_ctx_message(ctx) : "",
                   NAME_SHOWN, name);
}

/* A target, unlike other columns, is never filled in. */
static bool is_missing(const xb_csv_row *row, int64_t column)
{
    const xb_field_kind kind =
        xb_field_kind_of(row->field[column], row->head->dialect.point);
    return kind == XB_FIELD_EMPTY || kind == XB_FIELD_MISSING;
}

static xb_status no_target(const xb_csv_row *row, const char *what, const char *name)
{
    const xb_csv_head *head = row->head;
    return xb_fail(head->ctx, XB_E_INPUT,
                   "%s:%lld: %s is missing (column '%.*s'): a target is not filled in, so"
                   " complete the cell or remove the row",
                   head->file, (long long)row->line, what, NAME_SHOWN, name);
}

static xb_status target_in(double *out, const xb_csv_row *row, int64_t column,
                           const char *name)
{
    if (is_missing(row, column)) return no_target(row, "the target", name);
    return number_in(out, row, column, name);
}

/* One of several targets: these cannot be classes. */
static xb_status one_target_in(double *out, const xb_csv_row *row, int64_t column,
                               const char *name)
{
    const xb_status status = target_in(out, row, column, name);
    if (status != XB_E_INPUT || is_missing(row, column)) return status;
    xb_ctx *ctx = row->head->ctx;
    return xb_fail(ctx, status, "%s: several targets must all be numbers",
                   ctx ? xb_ctx_message(ctx) : "");
}

/* Writes "a, b, c" as far as there is room. */
static const char *known_classes(char out[LABELS_SHOWN], const xb_frame_options *opt)
{
    int used = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < opt->n_classes && used < LABELS_SHOWN; i++)
        used += snprintf(out + used, (size_t)(LABELS_SHOWN - used), "%s%s", i ? ", " : "",
                         opt->classes[i]);
    return out;
}

/* Why a label has no number (classes.h); `where` is "file:line". */
static xb_status no_class(const filling *f, const char *where, int64_t why,
                          const char *label, int size)
{
    char known[LABELS_SHOWN];
    if (why == -2)
        return xb_fail(f->ctx, XB_E_INPUT,
                       "%s: more than %d classes in column '%.*s': is it a number?",
                       where, XB_CLASSES_MAX, NAME_SHOWN, f->frame->target_name);
    if (why == -3)
        return xb_fail(f->ctx, XB_E_INPUT, "%s: class '%.*s' is not UTF-8", where, size,
                       label);
    return xb_fail(f->ctx, XB_E_INPUT, "%s: class '%.*s' is not among: %s", where, size,
                   label, known_classes(known, f->opt));
}

static xb_status label_in(filling *f, double *out, const xb_csv_row *row)
{
    const xb_csv_head *head = row->head;
    xb_slice field = row->field[f->target];
    if (is_missing(row, f->target))
        return no_target(row, "the class", f->frame->target_name);
    if (xb_field_kind_of(field, head->dialect.point) == XB_FIELD_NOT_FINITE)
        return number_in(out, row, f->target, f->frame->target_name);
    int64_t number = 0, size = field.end - field.text;
    XB_TRY(xb_classes_number(&f->classes, &number, field, head->dialect.point));
    *out = (double)number;
    if (number >= 0) return XB_OK;
    char where[512];
    snprintf(where, sizeof where, "%s:%lld", head->file, (long long)row->line);
    return no_class(f, where, number, field.text,
                    size < NAME_SHOWN ? (int)size : NAME_SHOWN);
}

static xb_status take_targets(filling *f, const xb_csv_row *row)
{
    double *out = &f->frame->target[f->frame->rows * f->targets];
    for (int64_t k = 0; k < f->targets; k++)
        XB_TRY(one_target_in(&out[k], row, f->more[k], f->frame->target_each[k]));
    return XB_OK;
}

static xb_status take_target(filling *f, const xb_csv_row *row)
{
    if (f->targets > 1) return take_targets(f, row);
    double *out = &f->frame->target[f->frame->rows];
    bool first = f->frame->rows == 0 && f->opt->target_kind == XB_TARGET_AUTO;
    if (first && xb_field_kind_of(row->field[f->target], row->head->dialect.point) ==
                     XB_FIELD_TEXT)
        f->as_classes = true;
    if (f->as_classes) return label_in(f, out, row);
    return target_in(out, row, f->target, f->frame->target_name);
}

static bool is_prepared(const filling *f)
{
    return f->prepare.learns || f->prepare.applies;
}

/* Whether there are enough rows for a caller that takes them in blocks. */
static xb_status give_block(filling *f)
{
    xb_frame *frame = f->frame;
    const xb_frame_options *o = f->opt;
    if (!o->recipe || o->block < 1 || frame->rows < o->block) return XB_OK;
    if (!o->on_block(o->on_block_arg, frame))
        return xb_fail(f->ctx, XB_E_CANCELLED, "stopped on request while reading %s",
                       f->file);
    frame->first += frame->rows;
    frame->rows = 0;
    frame->row_used = 0;
    return XB_OK;
}

static xb_status take_row(void *arg, const xb_csv_row *row)
{
    filling *f = arg;
    xb_frame *frame = f->frame;
    XB_TRY(make_room(f, 1));
    double *to = frame->values + frame->rows * frame->features;
    if (is_prepared(f)) XB_TRY(xb_prepare_row(f, row));
    for (int64_t i = 0; i < frame->features && !is_prepared(f); i++)
        XB_TRY(number_in(&to[i], row, f->column[i], frame->feature_name[i]));
    if (f->target >= 0) XB_TRY(take_target(f, row));
    frame->rows++;
    f->other++;
    return give_block(f);
}

/* Whether every column is a feature or a target of numbers, which the first row may
 * decide, or an unused column that has held only numbers so far. */
static bool is_plain(const void *arg)
{
    const filling *f = arg;
    const bool known = f->frame->rows > 0 || f->opt->target_kind != XB_TARGET_AUTO;
    if (f->prepare.learner.texts || f->prepare.id >= 0) return false;
    if (f->opt->recipe && !xb_recipe_is_plain(f->opt->recipe)) return false;
    const bool all = f->frame->features + f->targets == f->columns;
    return known && !f->as_classes && (all || f->other < OTHER_MOST);
}

static xb_status take_numbers(void *arg, const double *value, int64_t rows)
{
    filling *f = arg;
    xb_frame *frame = f->frame;
    XB_TRY(make_room(f, rows));
    f->other = 0;
    double *to = frame->values + frame->rows * frame->features;
    for (int64_t r = 0; r < rows; r++, value += f->columns) {
        for (int64_t i = 0; i < frame->features; i++) *to++ = value[f->column[i]];
        for (int64_t k = 0; k < f->targets; k++)
            frame->target[frame->rows * f->targets + k] = value[f->more[k]];
        frame->rows++;
    }
    return give_block(f);
}

/* ---- the two kinds of file */

static xb_status read_text(filling *f, xb_source *source)
{
    xb_csv_visitor visitor = {.arg = f,
                              .head = xb_frame_choose,
                              .row = take_row,
                              .plain = is_plain,
                              .numbers = take_numbers};
    return xb_csv_read(source, &visitor);
}

static xb_status value_at(double *out, const xb_source *s, const double *row,
                          int64_t index, int64_t column)
{
    if (!isfinite(row[column]))
        return xb_fail(s->ctx, XB_E_INPUT,
                       "%s: row %lld, column %lld is not a finite number: '%g'", s->name,
                       (long long)index + 1, (long long)column + 1, row[column]);
    *out = row[column];
    return XB_OK;
}

/* A NAN counts as a missing value where missing values are allowed. */
static xb_status prepared_at(filling *f, const xb_source *s, const double *row,
                             int64_t index)
{
    for (int64_t k = 0; k < f->wanted; k++) {
        xb_cell cell = {.value = row[f->column[k]], .line = index + 1};
        const bool missing = isnan(cell.value) && f->opt->missing == XB_MISSING_IMPUTE;
        if (!missing) XB_TRY(value_at(&cell.value, s, row, index, f->column[k]));
        XB_TRY(xb_prepare_cell(f, k, &cell));
    }
    if (f->prepare.id < 0) return XB_OK;
    return xb_prepare_name(f, &(xb_cell){.value = row[f->prepare.id]});
}

static xb_status class_at(filling *f, double *out, const xb_source *s, int64_t index)
{
    int64_t number = 0;
    char where[512], label[32];
    double value = *out;
    XB_TRY(xb_classes_number_of_value(&f->classes, &number, value));
    *out = (double)number;
    if (number >= 0) return XB_OK;
    snprintf(where, sizeof where, "%s: row %lld", s->name, (long long)index + 1);
    snprintf(label, sizeof label, "%g", value);
    return no_class(f, where, number, label, (int)strlen(label));
}

/* Rows of an array, as they are read. */
typedef struct array_rows {
    filling *f;
    const xb_source *source;
    const xb_csv_head *head;
    int64_t columns, taken;
} array_rows;

static xb_status take_array_row(const array_rows *a, const double *row)
{
    filling *f = a->f;
    xb_frame *frame = f->frame;
    XB_TRY(make_room(f, 1));
    const int64_t i = a->taken;
    double *to = frame->values + frame->rows * frame->features;
    const int64_t targets = frame->target ? f->targets : 0;
    const int64_t first = frame->rows * targets;
    if (is_prepared(f)) XB_TRY(prepared_at(f, a->source, row, i));
    for (int64_t k = 0; k < frame->features && !is_prepared(f); k++)
        XB_TRY(value_at(&to[k], a->source, row, i, f->column[k]));
    for (int64_t k = 0; k < targets; k++)
        XB_TRY(value_at(&frame->target[first + k], a->source, row, i, f->more[k]));
    if (targets > 0 && f->as_classes)
        XB_TRY(class_at(f, &frame->target[first], a->source, i));
    frame->rows++;
    return give_block(f);
}

static xb_status take_array(void *arg, const double *row, int64_t rows)
{
    array_rows *a = arg;
    if (a->taken == 0) XB_TRY(xb_frame_choose(a->f, a->head));
    for (int64_t i = 0; i < rows; i++, a->taken++)
        XB_TRY(take_array_row(a, row + i * a->columns));
    return XB_OK;
}

static xb_status read_npy(filling *f, xb_source *s)
{
    xb_npy_layout npy;
    XB_TRY(xb_npy_layout_read(&npy, s));
    const int ndim = npy.head.ndim;
    const int64_t columns = ndim == 2 ? npy.head.shape[1] : 1;
    const xb_csv_head head = {s->ctx, s->name, {'\0', '.', columns}, NULL, 1};
    if (ndim < 1 || ndim > 2 || npy.n == 0)
        return xb_fail(s->ctx, XB_E_INPUT,
                       "%s: an array of %d %s and %lld %s, expected rows and columns",
                       s->name, ndim, xb_plural(ndim, "dimension", "dimensions"),
                       (long long)npy.n, xb_plural(npy.n, "value", "values"));
    array_rows rows = {f, s, &head, columns, 0};
    return xb_npy_read_rows(s, &npy, columns, take_array, &rows);
}

/* Replaces the labels' numbers of first appearance by the numbers of the sorted
 * classes. */
static xb_status number_classes(filling *f)
{
    xb_frame *frame = f->frame;
    int64_t *rank = NULL, count = f->classes.count;
    XB_TRY(xb_classes_finish(&f->classes, &rank, &frame->class_name));
    frame->classes = count;
    for (int64_t i = 0; i < frame->rows; i++)
        frame->target[i] = (double)rank[(int64_t)frame->target[i]];
    free(rank);
    return XB_OK;
}

static xb_status start(filling *f)
{
    const xb_frame_options *opt = f->opt;
    if (opt->target && opt->classes && opt->target_kind == XB_TARGET_NUMBER)
        return xb_fail(f->ctx, XB_E_ARGUMENT,
                       "classes are given, but the target is a number");
    f->as_classes = opt->target_kind == XB_TARGET_CLASS || opt->classes;
    if (!(opt->test_share >= 0 && opt->test_share < 1))
        return xb_fail(f->ctx, XB_E_ARGUMENT,
                       "held-out share %g: expected 0 or more, and below 1",
                       opt->test_share);
    f->frame = xb_new(f->ctx, 1, sizeof *f->frame);
    if (!f->frame) return XB_E_MEMORY;
    f->frame->notes.ctx = f->ctx;
    return xb_classes_start(f->ctx, &f->classes, opt->classes, opt->n_classes);
}

/* Returns the filled frame on success; frees the rest. */
static xb_status finish(filling *f, xb_frame **out, xb_status status)
{
    if (status == XB_OK && f->target >= 0 && f->as_classes) status = number_classes(f);
    if (status == XB_OK) status = xb_prepare_finish(f);
    xb_prepare_free(f);
    xb_classes_free(&f->classes);
    free(f->column);
    free(f->more);
    if (status == XB_OK)
        *out = f->frame;
    else
        xb_frame_destroy(f->frame);
    return status;
}

static xb_status fill(filling *f, xb_source *source)
{
    bool npy = xb_source_starts(source, XB_NPY_MAGIC, XB_NPY_MAGIC_SIZE);
    XB_TRY(start(f));
    XB_TRY(npy ? read_npy(f, source) : read_text(f, source));
    assert(f->frame->first + f->frame->rows >
           0); /* both readers fail if they find nothing */
    f->frame->blank_lines = source->blank_lines;
    return XB_OK;
}

xb_status xb_frame_read(xb_ctx *ctx, xb_frame **out, const char *path,
                        const xb_frame_options *opt)
{
    xb_frame_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, frame, &chosen, opt, whole));
    filling f = {.ctx = ctx, .opt = &chosen, .target = -1, .prepare.id = -1};
    xb_source source;
    XB_TRY(xb_source_open(ctx, &source, path));
    xb_status status = fill(&f, &source);
    xb_source_close(&source);
    status = finish(&f, out, status);
    return xb_source_explain(&source, status, XB_KIND_TABLE);
}

/* ---- columns in memory */

static const void *cell_of(const xb_column *c, int64_t row)
{
    static const int64_t packed[] = {[XB_COLUMN_F64] = sizeof(double),
                                     [XB_COLUMN_F32] = sizeof(float),
                                     [XB_COLUMN_I64] = sizeof(int64_t),
                                     [XB_COLUMN_I32] = sizeof(int32_t),
                                     [XB_COLUMN_U8] = 1,
                                     [XB_COLUMN_TEXT] = sizeof(char *)};
    return (const char *)c->values + row * (c->stride ? c->stride : packed[c->type]);
}

/* Strides may be anything, so values are copied out byte by byte. */
#define READ_AS(type, from)                                                              \
    ({                                                                                   \
        type value_;                                                                     \
        memcpy(&value_, (from), sizeof value_);                                          \
        value_;                                                                          \
    })

static double number_of(const xb_column *c, int64_t row)
{
    const void *at = cell_of(c, row);
    switch (c->type) {
    case XB_COLUMN_F64: return READ_AS(double, at);
    case XB_COLUMN_F32: return (double)READ_AS(float, at);
    case XB_COLUMN_I64: return (double)READ_AS(int64_t, at);
    case XB_COLUMN_I32: return READ_AS(int32_t, at);
    case XB_COLUMN_U8: return READ_AS(uint8_t, at);
    default: return NAN;
    }
}

static xb_status take_number(const filling *f, double *out, const xb_column *c,
                             const char *name, int64_t row)
{
    *out = number_of(c, row);
    if (isfinite(*out)) return XB_OK;
    return xb_fail(f->ctx, XB_E_INPUT, "row %lld, column '%.*s' is not a finite number",
                   (long long)row + 1, NAME_SHOWN, name);
}

static xb_status take_class(filling *f, double *out, const xb_column *c, int64_t row)
{
    const char *text = c->type == XB_COLUMN_TEXT ? READ_AS(char *, cell_of(c, row)) : "";
    char where[32], label[NAME_SHOWN];
    int64_t number = 0;
    snprintf(where, sizeof where, "row %lld", (long long)row + 1);
    if (c->type != XB_COLUMN_TEXT) {
        XB_TRY(take_number(f, out, c, f->frame->target_name, row));
        snprintf(label, sizeof label, "%g", *out);
        XB_TRY(xb_classes_number_of_value(&f->classes, &number, *out));
    } else {
        if (!text || !*text)
            return xb_fail(f->ctx, XB_E_INPUT, "%s: the class is missing", where);
        snprintf(label, sizeof label, "%s", text);
        XB_TRY(xb_classes_number_of_text(&f->classes, &number, text));
    }
    *out = (double)number;
    return number >= 0 ? XB_OK : no_class(f, where, number, label, (int)strlen(label));
}

static xb_status take_prepared(filling *f, const xb_column *column, int64_t row)
{
    for (int64_t k = 0; k < f->wanted; k++) {
        const xb_column *c = &column[f->column[k]];
        xb_cell cell = {.value = number_of(c, row), .line = row + 1};
        if (c->type == XB_COLUMN_TEXT)
            cell = xb_prepare_text(READ_AS(char *, cell_of(c, row)), row + 1);
        else if (!isnan(cell.value) || f->opt->missing == XB_MISSING_REFUSE)
            XB_TRY(take_number(f, &cell.value, c, f->prepare.name[k], row));
        XB_TRY(xb_prepare_cell(f, k, &cell));
    }
    if (f->prepare.id < 0) return XB_OK;
    const xb_column *c = &column[f->prepare.id];
    const char *text =
        c->type == XB_COLUMN_TEXT ? READ_AS(char *, cell_of(c, row)) : NULL;
    return xb_prepare_name(f, &(xb_cell){.value = number_of(c, row), .text = text});
}

static xb_status take_columns(filling *f, const xb_column *column, int64_t rows)
{
    xb_frame *frame = f->frame;
    XB_TRY(make_room(f, rows));
    for (; frame->rows < rows; frame->rows++) {
        double *to = frame->values + frame->rows * frame->features;
        if (is_prepared(f)) XB_TRY(take_prepared(f, column, frame->rows));
        for (int64_t k = 0; k < frame->features && !is_prepared(f); k++)
            XB_TRY(take_number(f, &to[k], &column[f->column[k]], frame->feature_name[k],
                               frame->rows));
        for (int64_t k = 0; k < f->targets; k++) {
            const xb_column *c = &column[f->more[k]];
            double *y = &frame->target[frame->rows * f->targets + k];
            XB_TRY(f->as_classes
                       ? take_class(f, y, c, frame->rows)
                       : take_number(f, y, c, frame->target_each[k], frame->rows));
        }
    }
    return XB_OK;
}

static xb_status check_columns(xb_ctx *ctx, const xb_column *column, int64_t columns,
                               int64_t rows)
{
    if (columns < 1 || rows < 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld %s and %lld %s, expected 1 or more",
                       (long long)columns, xb_plural(columns, "column", "columns"),
                       (long long)rows, xb_plural(rows, "row", "rows"));
    for (int64_t i = 0; i < columns; i++)
        if (!column[i].values || (int)column[i].type < 0 ||
            column[i].type > XB_COLUMN_TEXT)
            return xb_fail(ctx, XB_E_ARGUMENT, "column %lld has no %s", (long long)i + 1,
                           column[i].values ? "known type" : "values");
    return XB_OK;
}

static xb_status fill_columns(filling *f, const xb_column *column, int64_t columns,
                              int64_t rows)
{
    char empty[] = "";
    char **name = xb_new(f->ctx, columns, sizeof *name);
    if (!name) return XB_E_MEMORY;
    for (int64_t i = 0; i < columns; i++)
        name[i] = column[i].name ? (char *)(uintptr_t)column[i].name : empty;
    const xb_csv_head head = {f->ctx, "table in memory", {'\0', '.', columns}, name, 1};
    xb_status status = start(f);
    if (status == XB_OK) status = xb_frame_choose(f, &head);
    free(name);
    if (status != XB_OK) return status;
    if (f->target >= 0 && f->opt->target_kind == XB_TARGET_AUTO)
        f->as_classes |= f->targets == 1 && column[f->target].type == XB_COLUMN_TEXT;
    return take_columns(f, column, rows);
}

xb_status xb_frame_create(xb_ctx *ctx, xb_frame **out, const xb_column *columns,
                          int64_t n_columns, int64_t n_rows, const xb_frame_options *opt)
{
    xb_frame_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, frame, &chosen, opt, whole));
    XB_TRY(check_columns(ctx, columns, n_columns, n_rows));
    filling f = {.ctx = ctx, .opt = &chosen, .target = -1, .prepare.id = -1};
    return finish(&f, out, fill_columns(&f, columns, n_columns, n_rows));
}

int64_t xb_frame_row_count(const xb_frame *frame) { return frame->rows; }
int64_t xb_frame_first(const xb_frame *frame) { return frame->first; }
int64_t xb_frame_feature_count(const xb_frame *frame) { return frame->features; }
int64_t xb_frame_blank_lines(const xb_frame *frame) { return frame->blank_lines; }
const double *xb_frame_values(const xb_frame *frame) { return frame->values; }
const double *xb_frame_target(const xb_frame *frame) { return frame->target; }
const char *xb_frame_target_name(const xb_frame *frame) { return frame->target_name; }
int64_t xb_frame_target_count(const xb_frame *frame) { return frame->targets; }

const char *xb_frame_target_name_at(const xb_frame *frame, int64_t k)
{
    assert(k >= 0 && k < frame->targets);
    return frame->target_each[k];
}
int64_t xb_frame_class_count(const xb_frame *frame) { return frame->classes; }

const char *xb_frame_feature_name(const xb_frame *frame, int64_t i)
{
    assert(i >= 0 && i < frame->features);
    return frame->feature_name[i];
}

int64_t xb_frame_feature_find(const xb_frame *frame, const char *name)
{
    for (int64_t i = 0; i < frame->features; i++)
        if (strcmp(frame->feature_name[i], name) == 0) return i;
    return -1;
}

const char *xb_frame_class_name(const xb_frame *frame, int64_t k)
{
    assert(k >= 0 && k < frame->classes);
    return frame->class_name[k];
}

void xb_frame_rest(const xb_frame *frame) { xb_store_rest(&frame->store); }

const xb_recipe *xb_frame_recipe(const xb_frame *frame) { return frame->recipe; }
int64_t xb_frame_note_count(const xb_frame *frame) { return frame->notes.count; }
int64_t xb_frame_left_out(const xb_frame *frame) { return frame->notes.left_out; }
int64_t xb_frame_test_count(const xb_frame *frame) { return frame->test; }
const char *xb_frame_id(const xb_frame *frame) { return frame->id; }

const char *xb_frame_note_at(const xb_frame *frame, int64_t i)
{
    assert(i >= 0 && i < frame->notes.count);
    return frame->notes.text[i];
}

const char *xb_frame_row_name(const xb_frame *frame, int64_t row)
{
    return frame->id ? frame->row_text + frame->row_at[row] : NULL;
}
