/* apply.c: see apply.h. */
#include "data/apply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/date.h"

xb_status xb_applier_start(xb_ctx *ctx, xb_applier *out, const xb_recipe *recipe)
{
    *out = (xb_applier){.ctx = ctx, .recipe = recipe};
    out->column = xb_new(ctx, recipe->columns, sizeof *out->column);
    return out->column ? XB_OK : XB_E_MEMORY;
}

void xb_applier_free(xb_applier *a)
{
    free(a->column);
    *a = (xb_applier){0};
}

static int64_t find_word(const xb_recipe_column *c, const char *text)
{
    int64_t low = 0, high = c->words;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int order = strcmp(c->word[middle], text);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static void note_unknown(xb_applied *a, const char *text)
{
    if (a->unknown++ > 0) return;
    size_t size = strnlen(text, sizeof a->first - 1);
    while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80) size--;
    memcpy(a->first, text, size);
}

static void take_word(xb_applied *a, double *out, const xb_recipe_column *c,
                      const xb_cell *cell)
{
    char number[XB_NUMBER_TEXT_MAX];
    const char *text = cell->text;
    if (text)
        text = xb_class_canonical(number, text, '.');
    else
        xb_number_format(number, cell->value + 0.0), text = number;
    const int64_t word = find_word(c, text);
    if (word < 0)
        note_unknown(a, text);
    else
        out[word] = 1;
}

bool xb_applier_take(xb_applier *a, double *features, int64_t i, const xb_cell *cell,
                     const char **expected)
{
    const xb_recipe_column *c = &a->recipe->column[i];
    const int64_t width = xb_recipe_width(c);
    double *out = features + c->first;
    memset(out, 0, (size_t)width * sizeof *out);
    if (!cell->text && isnan(cell->value)) {
        a->column[i].missing++;
        if (c->kind != XB_COLUMN_WORDS) out[0] = c->fill;
        if (c->flagged) out[width - 1] = 1;
        return true;
    }
    if (c->kind == XB_COLUMN_WORDS) {
        take_word(&a->column[i], out, c, cell);
        return true;
    }
    const bool dates = c->kind == XB_COLUMN_DATES;
    *expected = dates ? "a date, such as 2020-12-31" : "a number";
    if (dates) return cell->text && xb_date_parse(out, cell->text) == XB_DATE_CLEAR;
    out[0] = cell->value;
    return !cell->text;
}

/* ---- in words */

static xb_status tell_unknown(const xb_applier *a, xb_notes *notes)
{
    xb_note_list list = {.count = 0};
    for (int64_t i = 0; i < a->recipe->columns; i++) {
        char more[96];
        if (a->column[i].unknown == 0) continue;
        snprintf(more, sizeof more, "%lld %s, the first '%s'",
                 (long long)a->column[i].unknown,
                 xb_plural(a->column[i].unknown, "cell", "cells"), a->column[i].first);
        xb_note_list_add(&list, a->recipe->column[i].name, more);
    }
    if (list.count == 0) return XB_OK;
    return xb_notes_add(notes,
                        "words that the training data did not have, encoded as none of "
                        "the known words: %s",
                        list.text);
}

/* If `flagged`, reports the columns that also had missing values in training, else the
 * other columns. */
static xb_status tell_missing(const xb_applier *a, xb_notes *notes, int64_t rows,
                              bool flagged)
{
    xb_note_list list = {.count = 0};
    for (int64_t i = 0; i < a->recipe->columns; i++) {
        char more[64];
        if (a->column[i].missing == 0 || a->recipe->column[i].flagged != flagged)
            continue;
        snprintf(more, sizeof more, "%lld of %lld", (long long)a->column[i].missing,
                 (long long)rows);
        xb_note_list_add(&list, a->recipe->column[i].name, more);
    }
    if (list.count == 0) return XB_OK;
    return xb_notes_add(notes, "missing values, filled %s: %s",
                        flagged
                            ? "as in training"
                            : "with the training mean (none were missing in training)",
                        list.text);
}

xb_status xb_applier_tell(const xb_applier *a, xb_notes *notes, int64_t rows)
{
    XB_TRY(tell_unknown(a, notes));
    XB_TRY(tell_missing(a, notes, rows, true));
    return tell_missing(a, notes, rows, false);
}
