/* choose_features.c: which columns of a training table become features, and how: the
 * policy of crossbayes/recipe.h, its limits, and the sentences that report it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/data.h"
#include "data/learnt.h"

enum {
    FEW_WORDS = 20, /* columns with at most this many words are words, however few rows
                       there are */
    FEW_ROWS = 10,  /* too few rows to recognise row numbers */
    NAME_SHOWN = 80
};

/* The decision on a column. */
typedef enum fate {
    USED,
    CONSTANT,
    EMPTY,
    DATES,
    ROW_NUMBERS,
    ROW_WORDS,
    MANY_WORDS,
    NO_UTF8,
    FATES
} fate;

typedef struct choice {
    xb_learner *l;
    const xb_learnt_table *t;
    xb_notes *notes;
    fate *fate;     /* [columns] */
    int64_t *there; /* [columns] number of cells in training rows that are not missing */
    int64_t rows;   /* number of training rows */
} choice;

static bool is_learnt(const choice *c, int64_t row)
{
    return !c->t->held || !c->t->held[row];
}

static double cell_at(const choice *c, int64_t row, int64_t k)
{
    return c->t->value[row * c->l->columns + k];
}

static xb_status refuse(const choice *c, int64_t k, const char *why)
{
    return xb_fail(c->l->ctx, XB_E_INPUT, "%s: column '%.*s' %s", c->t->file, NAME_SHOWN,
                   c->t->name[k], why);
}

/* ---- one column */

static bool never_changes(const choice *c, int64_t k)
{
    double first = NAN;
    for (int64_t i = 0; i < c->t->rows; i++) {
        const double value = cell_at(c, i, k);
        if (!is_learnt(c, i)) continue;
        if (isnan(value) || (!isnan(first) && value != first)) return false;
        first = value;
    }
    return c->rows > 1;
}

/* Whether the name is like "id", "ID", "customer_id", "customerId", "index", "Unnamed:
 * 0", or empty in the first column while others have names. */
static bool is_named_id(const choice *c, int64_t k)
{
    static const char *const names[] = {"id",         "index", "row", "rowid",
                                        "unnamed: 0", "no",    "nr",  "uuid"};
    char text[NAME_SHOWN] = "";
    const char *name = c->t->name[k];
    const size_t size = strlen(name);
    if (!c->t->named || size >= sizeof text) return false;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    for (int i = 0; i < XB_COUNT(names); i++)
        if (strcmp(text, names[i]) == 0) return true;
    if (size > 2 &&
        (strcmp(name + size - 2, "Id") == 0 || strcmp(name + size - 2, "ID") == 0))
        return true;
    if (size > 3 &&
        (strcmp(text + size - 3, "_id") == 0 || strcmp(text + size - 3, " id") == 0))
        return true;
    return c->t->place[k] == 0 && strcmp(name, "1") == 0; /* it has no name */
}

/* Whether the cells are distinct whole numbers. */
static xb_status numbers_rows(const choice *c, bool *out, int64_t k)
{
    *out = false;
    if (c->rows <= FEW_ROWS || c->there[k] < c->rows || !is_named_id(c, k)) return XB_OK;
    double *x = xb_new(c->l->ctx, c->rows, sizeof *x);
    if (!x) return XB_E_MEMORY;
    int64_t n = 0;
    bool whole = true;
    for (int64_t i = 0; i < c->t->rows; i++) {
        if (!is_learnt(c, i)) continue;
        x[n++] = cell_at(c, i, k);
        whole &= x[n - 1] == floor(x[n - 1]);
    }
    xb_status status = whole ? xb_sort_doubles(c->l->ctx, x, n) : XB_OK;
    for (int64_t i = 1; i < n; i++) whole &= x[i] != x[i - 1];
    free(x);
    *out = whole;
    return status;
}

/* Counts the words in training rows: rank [words] is 0 for those, else -1. */
static xb_status count_words(const choice *c, int64_t *words, int64_t k)
{
    xb_learnt_column *column = &c->l->column[k];
    const int64_t all = column->words.count;
    column->rank = xb_new(c->l->ctx, all, sizeof *column->rank);
    if (!column->rank) return XB_E_MEMORY;
    for (int64_t i = 0; i < all; i++) column->rank[i] = -1;
    *words = 0;
    for (int64_t i = 0; i < c->t->rows; i++) {
        const double value = cell_at(c, i, k);
        if (isnan(value) || !is_learnt(c, i)) continue;
        *words += column->rank[(int64_t)value] < 0;
        column->rank[(int64_t)value] = 0;
    }
    return XB_OK;
}

/* A column of numbers with a few texts is a mistake in the table more often than a column
 * of words. */
static xb_status check_mixed(const choice *c, int64_t k)
{
    const xb_learnt_column *column = &c->l->column[k];
    if (c->t->keep[k] || column->numbers <= column->texts) return XB_OK;
    return xb_fail(c->l->ctx, XB_E_INPUT,
                   "%s:%lld: not a number: '%s' (column '%.*s', which has more numbers"
                   " than texts: correct the cell, leave the column out, or keep it as"
                   " words)",
                   c->t->file, (long long)column->first_line, column->first_text,
                   NAME_SHOWN, c->t->name[k]);
}

static xb_status judge_words(const choice *c, int64_t k)
{
    const xb_learnt_column *column = &c->l->column[k];
    int64_t words = 0;
    XB_TRY(count_words(c, &words, k));
    if (column->dates == column->texts && column->numbers == 0) {
        c->fate[k] = DATES;
        return XB_OK;
    }
    XB_TRY(check_mixed(c, k));
    if (words <= 1 && c->there[k] == c->rows)
        c->fate[k] = CONSTANT;
    else if (words > FEW_WORDS && 2 * words > c->there[k])
        c->fate[k] = ROW_WORDS;
    else if (words > XB_WORDS_MAX)
        c->fate[k] = MANY_WORDS;
    return XB_OK;
}

static xb_status judge_numbers(const choice *c, int64_t k)
{
    bool rows = false;
    if (c->there[k] == c->rows && never_changes(c, k)) {
        c->fate[k] = CONSTANT;
        return XB_OK;
    }
    XB_TRY(numbers_rows(c, &rows, k));
    if (rows) c->fate[k] = ROW_NUMBERS;
    return XB_OK;
}

/* A column that the caller keeps is used whatever it looks like. */
static xb_status keep(const choice *c, int64_t k)
{
    const xb_learnt_column *column = &c->l->column[k];
    switch (c->fate[k]) {
    case EMPTY: return refuse(c, k, "is to be kept, but it is empty");
    case NO_UTF8: return refuse(c, k, "is to be kept, but it is not UTF-8");
    case MANY_WORDS:
        if (column->state == XB_LEARNT_MANY) {
            char why[80];
            snprintf(why, sizeof why,
                     "is to be kept, but it has more than %d different words",
                     XB_CLASSES_MAX);
            return refuse(c, k, why);
        }
        break;
    case DATES:
        if (column->twofold)
            return refuse(c, k,
                          "is to be kept, but its dates can be read in two ways: write"
                          " them as 2020-12-31");
        break;
    default: break;
    }
    c->fate[k] = USED;
    return XB_OK;
}

static xb_status judge(const choice *c, int64_t k)
{
    const xb_learnt_column *column = &c->l->column[k];
    xb_status status = XB_OK;
    c->fate[k] = USED;
    if (c->there[k] == 0) {
        c->fate[k] = EMPTY;
    } else {
        switch (column->state) {
        case XB_LEARNT_NUMBERS: status = judge_numbers(c, k); break;
        case XB_LEARNT_WORDS: status = judge_words(c, k); break;
        case XB_LEARNT_DAYS: c->fate[k] = DATES; break;
        case XB_LEARNT_BYTES: c->fate[k] = NO_UTF8; break;
        case XB_LEARNT_MANY:
            status = check_mixed(c, k);
            c->fate[k] =
                2 * (int64_t)XB_CLASSES_MAX > c->there[k] ? ROW_WORDS : MANY_WORDS;
            if (c->t->keep[k]) c->fate[k] = MANY_WORDS;
            break;
        }
    }
    if (status == XB_OK && c->t->keep[k] && c->fate[k] != USED) status = keep(c, k);
    return status;
}

/* ---- all of them */

/* If no other column is left, columns that never change are used: every row then gets the
 * same prediction, which is all that they support. */
static xb_status use_constants(const choice *c)
{
    int64_t used = 0;
    for (int64_t k = 0; k < c->l->columns; k++) used += c->fate[k] == USED;
    for (int64_t k = 0; k < c->l->columns && used == 0; k++)
        if (c->fate[k] == CONSTANT && c->l->column[k].state == XB_LEARNT_NUMBERS)
            c->fate[k] = USED;
    for (int64_t k = 0; k < c->l->columns; k++)
        if (c->fate[k] == USED) return XB_OK;
    return refuse(
        c, 0,
        c->l->columns == 1
            ? "is the only column besides the target, and it does not look like a "
              "feature (it is empty, an id, dates, or never changes); name it to use it "
              "anyway"
            : "and all other columns do not look like features (they are empty, ids, "
              "dates, or never change); name those that are to be used anyway");
}

static void count_there(choice *c)
{
    const int64_t columns = c->l->columns;
    c->rows = 0;
    for (int64_t i = 0; i < c->t->rows; i++) c->rows += is_learnt(c, i);
    for (int64_t k = 0; k < columns; k++) {
        c->there[k] = c->rows;
        for (int64_t i = 0; i < c->t->rows && c->l->column[k].missing > 0; i++)
            c->there[k] -= is_learnt(c, i) && isnan(cell_at(c, i, k));
    }
}

static bool is_plain(const choice *c)
{
    for (int64_t k = 0; k < c->l->columns; k++)
        if (c->fate[k] != USED || c->l->column[k].state != XB_LEARNT_NUMBERS ||
            c->l->column[k].missing > 0)
            return false;
    return c->l->columns == c->t->beside;
}

/* ---- the recipe */

static double mean_of(const choice *c, int64_t k)
{
    const double *day = c->l->column[k].day;
    double mean = 0;
    for (int64_t i = 0; i < c->t->rows; i++) {
        const double value = cell_at(c, i, k);
        if (!isnan(value) && is_learnt(c, i))
            mean += (day ? day[(int64_t)value] : value) / (double)c->there[k];
    }
    return mean;
}

static xb_status make_days(const choice *c, int64_t k)
{
    xb_learnt_column *column = &c->l->column[k];
    column->day = xb_new(c->l->ctx, column->words.count, sizeof *column->day);
    if (!column->day) return XB_E_MEMORY;
    xb_learnt_days(column->day, &column->words);
    return XB_OK;
}

/* Collects the words of training rows in ascending order of bytes, as they are kept. */
static xb_status make_words(const choice *c, xb_recipe_column *to, int64_t k)
{
    xb_learnt_column *column = &c->l->column[k];
    const xb_classes *words = &column->words;
    to->kind = XB_COLUMN_WORDS;
    to->word = xb_new(c->l->ctx, words->count, sizeof *to->word);
    if (!to->word) return XB_E_MEMORY;
    for (int64_t i = 0; i < words->count; i++) {
        if (column->rank[words->label[i].number] < 0) continue;
        column->rank[words->label[i].number] = to->words;
        to->word[to->words] = xb_strdup(c->l->ctx, words->label[i].text);
        if (!to->word[to->words]) return XB_E_MEMORY;
        to->words++;
    }
    return XB_OK;
}

static xb_status make_column(const choice *c, xb_recipe_column *to, int64_t k)
{
    const xb_learnt_column *column = &c->l->column[k];
    const bool words = column->state == XB_LEARNT_WORDS;
    const bool dates = column->state == XB_LEARNT_DAYS ||
                       (words && column->dates == column->texts && column->numbers == 0);
    to->place = c->t->place[k];
    to->flagged = c->there[k] < c->rows;
    to->name = xb_strdup(c->l->ctx, c->t->name[k]);
    if (!to->name) return XB_E_MEMORY;
    if (words && !dates) return make_words(c, to, k);
    to->kind = dates ? XB_COLUMN_DATES : XB_COLUMN_NUMBERS;
    if (words) XB_TRY(make_days(c, k));
    to->fill = mean_of(c, k);
    return XB_OK;
}

static xb_status fill_recipe(const choice *c, xb_recipe *r)
{
    c->l->source = xb_new(c->l->ctx, r->columns, sizeof *c->l->source);
    if (!c->l->source) return XB_E_MEMORY;
    for (int64_t k = 0, i = 0; k < c->l->columns; k++) {
        if (c->fate[k] != USED) continue;
        c->l->source[i] = k;
        XB_TRY(make_column(c, &r->column[i], k));
        i++;
    }
    r->beside = c->t->beside;
    xb_recipe_number(r);
    return XB_OK;
}

/* ---- in words */

static xb_status tell_left_out(const choice *c)
{
    static const char *const why[FATES] = {
        [CONSTANT] = "the same in every row",
        [EMPTY] = "empty",
        [DATES] = "dates or times, which would become days since 1970-01-01",
        [ROW_NUMBERS] = "row numbers, judging by name and values",
        [ROW_WORDS] = "a different text in most rows, like names and ids",
        [MANY_WORDS] = "too many different words, more than",
        [NO_UTF8] = "text that is not UTF-8",
    };
    for (int f = USED + 1; f < FATES; f++) {
        xb_note_list list = {.count = 0};
        char limit[16] = "";
        for (int64_t k = 0; k < c->l->columns; k++)
            if (c->fate[k] == (fate)f) xb_note_list_add(&list, c->t->name[k], NULL);
        if (list.count == 0) continue;
        if (f == MANY_WORDS) snprintf(limit, sizeof limit, " %d", XB_WORDS_MAX);
        if (f != EMPTY && f != NO_UTF8) c->notes->left_out += list.count;
        XB_TRY(xb_notes_add(c->notes, "left out (%s%s): %s", why[f], limit, list.text));
    }
    return XB_OK;
}

static xb_status tell_words(const choice *c, const xb_recipe *r)
{
    xb_note_list list = {.count = 0};
    int64_t features = 0;
    for (int64_t i = 0; i < r->columns; i++) {
        char more[32];
        const int64_t words = r->column[i].words;
        if (r->column[i].kind != XB_COLUMN_WORDS) continue;
        snprintf(more, sizeof more, "%lld %s", (long long)words,
                 xb_plural(words, "word", "words"));
        xb_note_list_add(&list, r->column[i].name, more);
        features += words;
    }
    if (list.count == 0) return XB_OK;
    return xb_notes_add(c->notes, "%s of words %s %lld features of 0 and 1: %s",
                        xb_plural(list.count, "a column", "columns"),
                        xb_plural(list.count, "becomes", "become"), (long long)features,
                        list.text);
}

static xb_status tell_missing(const choice *c, const xb_recipe *r)
{
    xb_note_list list = {.count = 0};
    for (int64_t i = 0; i < r->columns; i++) {
        char more[64];
        if (!r->column[i].flagged) continue;
        snprintf(more, sizeof more, "%lld of %lld",
                 (long long)(c->rows - c->there[c->l->source[i]]), (long long)c->rows);
        xb_note_list_add(&list, r->column[i].name, more);
    }
    if (list.count == 0) return XB_OK;
    return xb_notes_add(c->notes,
                        "missing values: %s; numbers are filled with their column's mean,"
                        " and a further feature marks them",
                        list.text);
}

static xb_status make_recipe(const choice *c, xb_recipe **out)
{
    int64_t used = 0;
    xb_recipe *r = NULL;
    for (int64_t k = 0; k < c->l->columns; k++) used += c->fate[k] == USED;
    XB_TRY(xb_recipe_new(c->l->ctx, &r, used));
    xb_status status = fill_recipe(c, r);
    if (status == XB_OK) status = tell_words(c, r);
    if (status == XB_OK) status = tell_missing(c, r);
    if (status == XB_OK) status = tell_left_out(c);
    if (status == XB_OK)
        *out = r;
    else
        xb_recipe_destroy(r);
    return status;
}

xb_status xb_learner_finish(xb_learner *l, xb_recipe **out, xb_notes *notes,
                            const xb_learnt_table *t)
{
    choice c = {.l = l, .t = t, .notes = notes};
    c.fate = xb_new(l->ctx, l->columns, sizeof *c.fate);
    c.there = xb_new(l->ctx, l->columns, sizeof *c.there);
    xb_status status = c.fate && c.there ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) count_there(&c);
    for (int64_t k = 0; k < l->columns && status == XB_OK; k++) status = judge(&c, k);
    if (status == XB_OK) status = use_constants(&c);
    if (status == XB_OK && !is_plain(&c)) status = make_recipe(&c, out);
    free(c.fate);
    free(c.there);
    return status;
}
