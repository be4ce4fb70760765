/* frame_choice.c: which columns of a table are features and which are targets, by name,
 * by number or by their order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/frame.h"
#include "base/names.h"
#include "crossbayes/extend.h"

typedef xb_filling filling;

enum { NAME_SHOWN = 80 };

/* The column's name, or its number if it has none; free() it. */
static char *name_of(const xb_csv_head *head, int64_t column)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)column + 1);
    bool named = head->names && *head->names[column];
    return xb_strdup(head->ctx, named ? head->names[column] : number);
}

/* The name of a wanted column; NULL: all columns are wanted. */
static const char *wanted_name(const filling *f, int64_t i)
{
    if (f->opt->recipe) return f->opt->recipe->column[i].name;
    return f->opt->columns ? f->opt->columns[i] : NULL;
}

static bool is_by_name(const filling *f) { return f->opt->recipe || f->opt->columns; }

/* The number of columns besides the target in the table that the names come from. */
static int64_t known_beside(const filling *f)
{
    return f->opt->recipe ? f->opt->recipe->beside : f->opt->n_columns;
}

static bool is_target(const filling *f, int64_t column)
{
    for (int64_t k = 0; k < f->targets; k++)
        if (f->more[k] == column) return true;
    return false;
}

/* Reports that the file has the wrong number of columns, which are known by their numbers
 * only. */
static xb_status check_whole(const filling *f, const xb_csv_head *head)
{
    const int64_t n = known_beside(f), there = head->dialect.columns;
    const int64_t targets = f->targets              ? f->targets
                            : f->opt->whole_targets ? f->opt->whole_targets
                                                    : 1;
    if (there == n + targets || (there == n && f->target < 0)) return XB_OK;
    char without[48] = "";
    if (f->target < 0)
        snprintf(without, sizeof without, "%lld without the target, or ", (long long)n);
    return xb_fail(f->ctx, XB_E_INPUT, "%s:%lld: %lld %s, expected %s%lld%s", head->file,
                   (long long)head->line, (long long)there,
                   xb_plural(there, "column", "columns"), without,
                   (long long)(n + targets), f->target < 0 ? " with it" : "");
}

static bool has_name(const xb_csv_head *head, const char *name)
{
    for (int64_t k = 0; head->names && k < head->dialect.columns; k++)
        if (strcmp(head->names[k], name) == 0) return true;
    return false;
}

/* Whether all names are numbers, and none of them is a name in the file. */
static bool is_numbered(const filling *f, const xb_csv_head *head)
{
    if (!f->opt->recipe && !(f->opt->whole && f->opt->columns)) return false;
    for (int64_t i = 0; i < f->wanted; i++) {
        const char *name = wanted_name(f, i);
        if (name[strspn(name, "0123456789")] || has_name(head, name)) return false;
    }
    return true;
}

/* Finds the position of the column in the file. */
static xb_status place_of(const filling *f, int64_t *out, const xb_csv_head *head,
                          int64_t i, bool in_order)
{
    if (!in_order && f->opt->recipe)
        return xb_csv_model_column(out, head, wanted_name(f, i));
    if (!in_order) return xb_csv_column(out, head, wanted_name(f, i));
    *out = f->opt->recipe ? f->opt->recipe->column[i].place : i;
    return XB_OK;
}

static xb_status choose_by_name(filling *f, const xb_csv_head *head)
{
    const bool numbered = is_numbered(f, head);
    if (numbered) XB_TRY(check_whole(f, head));
    const bool in_order = numbered && head->dialect.columns == known_beside(f);
    for (int64_t i = 0; i < f->wanted; i++)
        XB_TRY(place_of(f, &f->column[i], head, i, in_order));
    return XB_OK;
}

/* All columns except the target and those excluded by the options. */
static xb_status choose_the_rest(filling *f, const xb_csv_head *head)
{
    bool *none = xb_new(f->ctx, f->columns, sizeof *none);
    if (!none) return XB_E_MEMORY;
    for (int64_t k = 0; k < f->targets; k++) none[f->more[k]] = true;
    xb_status status = xb_prepare_marks(f, none, head);
    f->wanted = 0;
    for (int64_t k = 0; k < f->columns; k++)
        if (!none[k]) f->column[f->wanted++] = k;
    free(none);
    return status;
}

static xb_status name_features(filling *f, const xb_csv_head *head)
{
    xb_frame *frame = f->frame;
    frame->feature_name = xb_new(f->ctx, f->wanted, sizeof *frame->feature_name);
    if (!frame->feature_name) return XB_E_MEMORY;
    frame->features = f->wanted;
    for (int64_t i = 0; i < f->wanted; i++) {
        frame->feature_name[i] = name_of(head, f->column[i]);
        if (!frame->feature_name[i]) return XB_E_MEMORY;
    }
    return XB_OK;
}

static xb_status choose_features(filling *f, const xb_csv_head *head)
{
    const int64_t given = f->opt->recipe ? f->opt->recipe->columns : f->opt->n_columns;
    f->wanted = is_by_name(f) ? given : f->columns;
    f->column = xb_new(f->ctx, f->wanted, sizeof *f->column);
    if (!f->column) return XB_E_MEMORY;
    XB_TRY(is_by_name(f) ? choose_by_name(f, head) : choose_the_rest(f, head));
    if (f->wanted < 1)
        return xb_fail(f->ctx, XB_E_INPUT,
                       "%s:%lld: there is no column besides the target", head->file,
                       (long long)head->line);
    return name_features(f, head);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names identify columns in other files, so they must be distinct and fit into a model
 * file. */
static xb_status check_names(const filling *f, const xb_csv_head *head)
{
    int64_t n = f->frame->features, total = n + f->targets;
    const char **sorted = xb_new(f->ctx, total, sizeof *sorted);
    if (!sorted) return XB_E_MEMORY;
    for (int64_t i = 0; i < n; i++) sorted[i] = f->frame->feature_name[i];
    for (int64_t k = 0; k < f->targets; k++) sorted[n + k] = f->frame->target_each[k];
    qsort(sorted, (size_t)total, sizeof *sorted, by_text);
    const char *what = NULL, *name = NULL;
    for (int64_t i = 0; i < total && !what; i++) {
        if (!xb_utf8_valid(sorted[i])) what = "a name is not UTF-8:";
        if (i > 0 && strcmp(sorted[i - 1], sorted[i]) == 0) what = "two columns named";
        name = sorted[i];
    }
    free(sorted);
    if (!what) return XB_OK;
    return xb_fail(f->ctx, XB_E_INPUT, "%s:%lld: %s '%.*s'", head->file,
                   (long long)head->line, what, NAME_SHOWN, name);
}

/* Commas separate several names, unless the whole text is the name of a column. */
static int64_t count_targets(const xb_csv_head *head, const char *text)
{
    int64_t n = 1;
    for (int64_t i = 0; head->names && i < head->dialect.columns; i++)
        if (strcmp(head->names[i], text) == 0) return 1;
    for (; (text = strchr(text, ',')); text++) n++;
    return n;
}

static xb_status one_target(filling *f, const xb_csv_head *head, char *name)
{
    int64_t column = 0;
    XB_TRY(xb_csv_column(&column, head, name));
    if (is_target(f, column))
        return xb_fail(f->ctx, XB_E_INPUT, "%s:%lld: target '%.*s' is listed twice",
                       head->file, (long long)head->line, NAME_SHOWN, name);
    f->frame->target_each[f->targets] = name_of(head, column);
    if (!f->frame->target_each[f->targets]) return XB_E_MEMORY;
    f->more[f->targets++] = column;
    f->frame->targets = f->targets;
    return XB_OK;
}

static xb_status choose_targets(filling *f, const xb_csv_head *head)
{
    const int64_t n = count_targets(head, f->opt->target);
    if (n > 1 && f->as_classes)
        return xb_fail(f->ctx, XB_E_ARGUMENT,
                       "%lld targets of classes: expected one, or several of numbers",
                       (long long)n);
    char *text = xb_strdup(f->ctx, f->opt->target), *next = text;
    f->more = xb_new(f->ctx, n, sizeof *f->more);
    f->frame->target_each = xb_new(f->ctx, n, sizeof *f->frame->target_each);
    xb_status status = text && f->more && f->frame->target_each ? XB_OK : XB_E_MEMORY;
    for (int64_t k = 0; k < n && status == XB_OK; k++) {
        char *name = next, *end = n > 1 ? strchr(name, ',') : NULL;
        if (end) *end = '\0', next = end + 1;
        status = one_target(f, head, name);
    }
    free(text);
    if (status != XB_OK) return status;
    f->target = f->more[0];
    f->frame->target_name = xb_names_join(f->ctx, f->frame->target_each, n);
    return f->frame->target_name ? XB_OK : XB_E_MEMORY;
}

xb_status xb_frame_choose(void *arg, const xb_csv_head *head)
{
    filling *f = arg;
    f->columns = head->dialect.columns;
    f->file = head->file;
    if (f->opt->target) XB_TRY(choose_targets(f, head));
    XB_TRY(xb_prepare_id(f, head));
    XB_TRY(choose_features(f, head));
    XB_TRY(check_names(f, head));
    return xb_prepare_start(f, head);
}
