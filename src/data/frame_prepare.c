/* frame_prepare.c: tables with cells of any kind: turns cells into the features of a
 * frame, by a learner (features.h) for training and by its recipe (apply.h) afterwards;
 * and chooses the rows held out of training. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/random.h"
#include "data/copies.h"
#include "data/frame.h"

enum { NAME_SHOWN = 80 };

/* ---- columns */

xb_status xb_prepare_id(xb_filling *f, const xb_csv_head *head)
{
    const xb_recipe *recipe = f->opt->recipe;
    if (f->opt->id) return xb_csv_column(&f->prepare.id, head, f->opt->id);
    /* the id column of the training table, if this table has it by name */
    for (int64_t k = 0; recipe && recipe->id && head->names && k < f->columns; k++)
        if (strcmp(head->names[k], recipe->id) == 0) f->prepare.id = k;
    return XB_OK;
}

static int64_t targets_before(const xb_filling *f, int64_t column)
{
    int64_t n = 0;
    for (int64_t k = 0; k < f->targets; k++) n += f->more[k] < column;
    return n;
}

static xb_status mark(const xb_filling *f, bool *out, const xb_csv_head *head,
                      const char *const *names, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        XB_TRY(xb_csv_column(&k, head, names[i]));
        if (targets_before(f, k + 1) > targets_before(f, k))
            return xb_fail(f->ctx, XB_E_INPUT,
                           "%s: column '%.*s' is the target, not a feature", head->file,
                           NAME_SHOWN, names[i]);
        out[k] = true;
    }
    return XB_OK;
}

xb_status xb_prepare_marks(const xb_filling *f, bool *out, const xb_csv_head *head)
{
    if (f->prepare.id >= 0 && f->opt->id) out[f->prepare.id] = true;
    return mark(f, out, head, f->opt->drop, f->opt->n_drop);
}

static xb_status mark_kept(xb_filling *f, const xb_csv_head *head)
{
    xb_preparing *p = &f->prepare;
    bool *kept = xb_new(f->ctx, f->columns, sizeof *kept);
    if (!kept) return XB_E_MEMORY;
    xb_status status = mark(f, kept, head, f->opt->use_anyway, f->opt->n_use_anyway);
    for (int64_t i = 0; i < f->wanted; i++) {
        p->keep[i] = kept[f->column[i]] || f->opt->columns;
        p->place[i] = f->column[i] - targets_before(f, f->column[i]);
    }
    free(kept);
    return status;
}

static xb_status start_learning(xb_filling *f, const xb_csv_head *head)
{
    xb_preparing *p = &f->prepare;
    p->learns = true;
    p->name = f->frame->feature_name;
    p->beside = f->columns - f->targets;
    p->named = head->names != NULL;
    p->keep = xb_new(f->ctx, f->wanted, sizeof *p->keep);
    p->place = xb_new(f->ctx, f->wanted, sizeof *p->place);
    if (!p->keep || !p->place) return XB_E_MEMORY;
    XB_TRY(mark_kept(f, head));
    return xb_learner_start(f->ctx, &p->learner, f->wanted);
}

static xb_status name_features(xb_filling *f, const xb_recipe *recipe)
{
    xb_frame *frame = f->frame;
    frame->feature_name = xb_new(f->ctx, recipe->features, sizeof *frame->feature_name);
    if (!frame->feature_name) return XB_E_MEMORY;
    frame->features = recipe->features;
    for (int64_t i = 0; i < recipe->columns; i++)
        for (int64_t k = 0; k < xb_recipe_width(&recipe->column[i]); k++) {
            char *name = xb_recipe_feature_name(f->ctx, &recipe->column[i], k);
            if (!name) return XB_E_MEMORY;
            frame->feature_name[recipe->column[i].first + k] = name;
        }
    return XB_OK;
}

static xb_status start_applying(xb_filling *f, const xb_csv_head *head)
{
    xb_preparing *p = &f->prepare;
    p->applies = true;
    p->name = f->frame->feature_name;
    f->frame->feature_name = NULL;
    f->frame->features = 0;
    XB_TRY(name_features(f, f->opt->recipe));
    XB_TRY(xb_applier_start(f->ctx, &p->applier, f->opt->recipe));
    if (p->id < 0) return XB_OK;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)p->id + 1);
    const bool named = head->names && *head->names[p->id];
    f->frame->id = xb_strdup(f->ctx, named ? head->names[p->id] : number);
    return f->frame->id ? XB_OK : XB_E_MEMORY;
}

xb_status xb_prepare_start(xb_filling *f, const xb_csv_head *head)
{
    if (f->opt->recipe) return start_applying(f, head);
    f->prepare.id = -1; /* in training it is not a feature and has no other use */
    return f->opt->prepare ? start_learning(f, head) : XB_OK;
}

void xb_prepare_free(xb_filling *f)
{
    xb_preparing *p = &f->prepare;
    if (p->applies) {
        for (int64_t i = 0; i < f->wanted; i++) free(p->name[i]);
        free(p->name);
        xb_applier_free(&p->applier);
    }
    xb_learner_free(&p->learner);
    free(p->keep);
    free(p->place);
    free(p->text);
}

/* ---- cells */

xb_status xb_prepare_cell(xb_filling *f, int64_t i, const xb_cell *cell)
{
    xb_preparing *p = &f->prepare;
    xb_frame *frame = f->frame;
    const char *expected = "";
    if (!cell->text && isnan(cell->value) && f->opt->missing == XB_MISSING_REFUSE)
        return xb_fail(f->ctx, XB_E_INPUT,
                       "%s:%lld: a missing value (column '%.*s'): complete the cell "
                       "or remove the row, or let missing values be filled in",
                       f->file, (long long)cell->line, NAME_SHOWN, p->name[i]);
    if (p->learns)
        return xb_learner_take(&p->learner, frame->values, frame->rows, i, cell);
    double *row = frame->values + frame->rows * frame->features;
    if (xb_applier_take(&p->applier, row, i, cell, &expected)) return XB_OK;
    return xb_fail(f->ctx, XB_E_INPUT, "%s:%lld: '%.*s' (column '%.*s'), expected %s",
                   f->file, (long long)cell->line, NAME_SHOWN,
                   cell->text ? cell->text : "a number", NAME_SHOWN, p->name[i],
                   expected);
}

xb_status xb_prepare_name(xb_filling *f, const xb_cell *cell)
{
    xb_frame *frame = f->frame;
    char number[XB_NUMBER_TEXT_MAX] = "";
    const char *text = cell->text;
    if (!text) {
        if (!isnan(cell->value)) xb_number_format(number, cell->value);
        text = number;
    }
    const int64_t size = (int64_t)strlen(text) + 1;
    XB_TRY(xb_grow(f->ctx, (void **)&frame->row_at, &frame->row_room, frame->rows + 1,
                   sizeof *frame->row_at));
    XB_TRY(xb_grow(f->ctx, (void **)&frame->row_text, &frame->row_text_room,
                   frame->row_used + size, 1));
    memcpy(frame->row_text + frame->row_used, text, (size_t)size);
    frame->row_at[frame->rows] = frame->row_used;
    frame->row_used += size;
    return XB_OK;
}

xb_cell xb_prepare_text(const char *text, int64_t line)
{
    xb_cell cell = {.value = NAN, .line = line};
    double value = 0;
    if (!text) return cell;
    const xb_slice field = {text, text + strlen(text)};
    switch (xb_field_kind_of(field, '.')) {
    case XB_FIELD_EMPTY:
    case XB_FIELD_MISSING: return cell;
    case XB_FIELD_NUMBER:
        if (xb_number_parse(&value, field.text, field.end, '.') && isfinite(value)) {
            cell.value = value;
            return cell;
        }
        break;
    default: break;
    }
    cell.text = text;
    return cell;
}

/* Copies the field to the memory for it, as a separate text. */
static xb_status copy_field(xb_filling *f, xb_slice field)
{
    xb_preparing *p = &f->prepare;
    XB_TRY(
        xb_grow(f->ctx, (void **)&p->text, &p->text_room, field.end - field.text + 1, 1));
    xb_field_copy(p->text, field);
    return XB_OK;
}

/* The fast path for the usual cell: a number in a column of numbers. */
static bool put_number(const xb_filling *f, int64_t i, double value)
{
    const xb_frame *frame = f->frame;
    if (!f->prepare.applies) return false;
    const xb_recipe_column *c = &f->opt->recipe->column[i];
    if (c->kind != XB_COLUMN_NUMBERS) return false;
    double *to = frame->values + frame->rows * frame->features + c->first;
    to[0] = value;
    if (c->flagged) to[1] = 0;
    return true;
}

static xb_status take_field(xb_filling *f, const xb_csv_row *row, int64_t i)
{
    const xb_slice field = row->field[f->column[i]];
    const char point = row->head->dialect.point;
    xb_cell cell = {.value = NAN, .line = row->line};
    if (xb_number_parse(&cell.value, field.text, field.end, point) &&
        isfinite(cell.value)) {
        if (put_number(f, i, cell.value)) return XB_OK;
        return xb_prepare_cell(f, i, &cell);
    }
    switch (xb_field_kind_of(field, point)) {
    case XB_FIELD_EMPTY:
    case XB_FIELD_MISSING: cell.value = NAN; return xb_prepare_cell(f, i, &cell);
    case XB_FIELD_ALMOST:
    case XB_FIELD_TEXT:
        if (f->prepare.applies && f->opt->recipe->column[i].kind == XB_COLUMN_NUMBERS)
            break;
        XB_TRY(copy_field(f, field));
        cell.text = f->prepare.text;
        return xb_prepare_cell(f, i, &cell);
    default: break;
    }
    const xb_status status = xb_csv_number(&cell.value, row, f->column[i]);
    if (status != XB_E_INPUT) return status;
    return xb_fail(f->ctx, status, "%s (column '%.*s')",
                   f->ctx ? xb_ctx_message(f->ctx) : "", NAME_SHOWN, f->prepare.name[i]);
}

xb_status xb_prepare_row(xb_filling *f, const xb_csv_row *row)
{
    for (int64_t i = 0; i < f->wanted; i++) XB_TRY(take_field(f, row, i));
    if (f->prepare.id < 0) return XB_OK;
    XB_TRY(copy_field(f, row->field[f->prepare.id]));
    return xb_prepare_name(f, &(xb_cell){.text = f->prepare.text});
}

/* ---- rows held out */

/* Not used by shuffles, by the validation split or by mirroring. */
enum { TEST_STREAM = 1002 };

/* Row i has the random number u_i; the rows with the smallest ones are held out. */
static double test_number(const xb_filling *f, int64_t row)
{
    const xb_stream where = {.key = xb_key_make(f->opt->test_seed, XB_PURPOSE_DATA),
                             .tensor = TEST_STREAM};
    return xb_stream_uniform(&where, row);
}

/* Copies of a row (V22) have its number, so that all of them are on one side. */
static xb_status test_numbers(xb_filling *f, double *u)
{
    const xb_frame *frame = f->frame;
    const xb_copied_rows rows = {.x = frame->values,
                                 .y = frame->target,
                                 .width = f->prepare.learns ? f->wanted : frame->features,
                                 .targets = f->as_classes ? 0 : f->targets,
                                 .n = frame->rows};
    int64_t *first = NULL;
    if (rows.targets > 0) XB_TRY(xb_copies_find(f->ctx, &first, &rows));
    for (int64_t i = 0; i < frame->rows; i++) u[i] = test_number(f, first ? first[i] : i);
    free(first);
    return XB_OK;
}

/* Holds out the rows whose numbers are the smallest, `count` of them or, where copies
 * cannot be divided, a few more. */
static xb_status hold_out(xb_filling *f, bool *held, int64_t count)
{
    const int64_t n = f->frame->rows;
    double *u = xb_new(f->ctx, n, sizeof *u), *sorted = xb_new(f->ctx, n, sizeof *sorted);
    xb_status status = u && sorted ? test_numbers(f, u) : XB_E_MEMORY;
    if (status == XB_OK) {
        memcpy(sorted, u, (size_t)n * sizeof *u);
        status = xb_sort_doubles(f->ctx, sorted, n);
    }
    for (int64_t i = 0; i < n && status == XB_OK; i++) {
        held[i] = u[i] <= sorted[count - 1];
        f->frame->test += held[i];
    }
    free(u);
    free(sorted);
    return status;
}

static xb_status choose_test(xb_filling *f, bool **out)
{
    const int64_t n = f->frame->rows;
    const int64_t count = (int64_t)floor(f->opt->test_share * (double)n);
    /* There is no training. */
    if (f->opt->test_share == 0 || f->opt->recipe) return XB_OK;
    if (count == 0 || count > n - 2)
        return xb_fail(f->ctx, XB_E_INPUT,
                       "%s: a held-out share of %g of %lld %s is %lld: expected 1 or "
                       "more, with 2 or more left to learn from",
                       f->file, f->opt->test_share, (long long)n,
                       xb_plural(n, "row", "rows"), (long long)count);
    bool *held = xb_new(f->ctx, n, sizeof *held);
    xb_status status = held ? hold_out(f, held, count) : XB_E_MEMORY;
    if (status == XB_OK && f->frame->test > n - 2)
        status = xb_fail(f->ctx, XB_E_INPUT,
                         "%s: too few different rows to hold some of them out", f->file);
    if (status == XB_OK)
        *out = held;
    else
        free(held);
    return status;
}

/* ---- the end */

static xb_status check_names(const xb_filling *f)
{
    const xb_frame *frame = f->frame;
    for (int64_t i = 0; i < frame->features; i++) {
        const char *name = frame->feature_name[i];
        const bool made = strchr(name, '=') || strstr(name, " missing");
        for (int64_t k = 0; made && k < frame->features; k++)
            if (k != i && strcmp(name, frame->feature_name[k]) == 0)
                return xb_fail(f->ctx, XB_E_INPUT, "%s: two features named '%.*s'",
                               f->file, NAME_SHOWN, name);
    }
    return XB_OK;
}

/* Converts all rows to features; rows that are held out come after the others. */
static xb_status rebuild(xb_filling *f, const xb_recipe *recipe, const bool *held)
{
    xb_frame *frame = f->frame;
    const int64_t width = recipe ? recipe->features : frame->features;
    xb_store store = {0};
    int64_t cells = 0;
    if (__builtin_mul_overflow(frame->rows, width, &cells))
        return xb_fail(f->ctx, XB_E_MEMORY, "not enough memory for the table");
    XB_TRY(xb_store_grow(f->ctx, &store, cells, XB_STORE_MEMORY));
    double *values = store.at;
    double *target = xb_room(f->ctx, frame->rows * f->targets, sizeof *target);
    if (!target) {
        xb_store_free(&store);
        return XB_E_MEMORY;
    }
    int64_t learnt = 0, last = frame->rows - frame->test;
    for (int64_t i = 0; i < frame->rows; i++) {
        const int64_t at = held && held[i] ? last++ : learnt++;
        const double *row = frame->values + i * f->wanted;
        if (recipe)
            xb_learner_expand(&f->prepare.learner, values + at * width, recipe, row);
        else
            memcpy(values + at * width, row, (size_t)width * sizeof *values);
        for (int64_t k = 0; k < f->targets; k++)
            target[at * f->targets + k] = frame->target[i * f->targets + k];
    }
    xb_store_free(&frame->store);
    free(frame->target);
    frame->store = store;
    frame->values = values;
    frame->target = f->targets > 0 ? target : NULL;
    if (f->targets == 0) free(target);
    return XB_OK;
}

/* Replaces the columns by the features of the recipe. */
static xb_status take_recipe(xb_filling *f, xb_recipe *recipe, const bool *held)
{
    xb_frame *frame = f->frame;
    frame->recipe = recipe;
    if (f->opt->id && !(recipe->id = xb_strdup(f->ctx, f->opt->id))) return XB_E_MEMORY;
    XB_TRY(rebuild(f, recipe, held));
    for (int64_t i = 0; i < frame->features; i++) free(frame->feature_name[i]);
    free(frame->feature_name);
    frame->feature_name = NULL;
    frame->features = 0;
    XB_TRY(name_features(f, recipe));
    return check_names(f);
}

static xb_status finish_learning(xb_filling *f, const bool *held)
{
    xb_preparing *p = &f->prepare;
    const xb_learnt_table table = {.file = f->file,
                                   .name = (const char *const *)p->name,
                                   .place = p->place,
                                   .keep = p->keep,
                                   .beside = p->beside,
                                   .named = p->named,
                                   .value = f->frame->values,
                                   .rows = f->frame->rows,
                                   .held = held};
    xb_recipe *recipe = NULL;
    XB_TRY(xb_learner_finish(&p->learner, &recipe, &f->frame->notes, &table));
    if (recipe) return take_recipe(f, recipe, held);
    return held ? rebuild(f, NULL, held) : XB_OK;
}

xb_status xb_prepare_finish(xb_filling *f)
{
    bool *held = NULL;
    XB_TRY(choose_test(f, &held));
    xb_status status = XB_OK;
    if (f->prepare.learns)
        status = finish_learning(f, held);
    else if (held)
        status = rebuild(f, NULL, held);
    if (status == XB_OK && f->prepare.applies)
        status = xb_applier_tell(&f->prepare.applier, &f->frame->notes,
                                 f->frame->first + f->frame->rows);
    free(held);
    return status;
}
