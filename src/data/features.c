/* features.c: finds out what the columns of a training table hold while it is read.
 *
 * A column is numbers until its first text. Then the numbers so far become words too (of
 * their shortest form), and every cell is kept as the number of its word. A column of
 * texts that all are dates stays words until there are too many of them, and is days from
 * then on. So a table is read once, and a cell takes one double whatever it holds. The
 * final decision on a column is made in choose_features.c. */
#include "data/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/date.h"
#include "data/learnt.h"

xb_status xb_learner_start(xb_ctx *ctx, xb_learner *out, int64_t columns)
{
    *out = (xb_learner){.ctx = ctx, .columns = columns};
    out->column = xb_new(ctx, columns, sizeof *out->column);
    if (!out->column) return XB_E_MEMORY;
    for (int64_t k = 0; k < columns; k++) out->column[k].words = (xb_classes){.ctx = ctx};
    return XB_OK;
}

void xb_learner_free(xb_learner *l)
{
    for (int64_t k = 0; l->column && k < l->columns; k++) {
        xb_classes_free(&l->column[k].words);
        free(l->column[k].rank);
        free(l->column[k].day);
    }
    free(l->source);
    free(l->column);
    *l = (xb_learner){.ctx = l->ctx};
}

/* Words are no longer kept, because the column will not be a feature. */
static void give_up(xb_learnt_column *c, xb_learnt_state why)
{
    xb_classes_free(&c->words);
    c->state = why;
}

/* Writes the number of a word to *to, or the state of the column if it has none. */
static void put_word(xb_learnt_column *c, double *to, int64_t number)
{
    *to = number >= 0 ? (double)number : 0;
    if (number < 0) give_up(c, number == -3 ? XB_LEARNT_BYTES : XB_LEARNT_MANY);
}

/* A column that had numbers has words from now on. */
static xb_status numbers_to_words(xb_learner *l, xb_learnt_column *c, double *value,
                                  int64_t rows)
{
    c->state = XB_LEARNT_WORDS;
    for (int64_t i = 0; i < rows && c->state == XB_LEARNT_WORDS; i++) {
        double *cell = &value[i * l->columns];
        int64_t number = 0;
        if (isnan(*cell)) continue;
        c->numbers++;
        XB_TRY(xb_classes_number_of_value(&c->words, &number, *cell));
        put_word(c, cell, number);
    }
    return XB_OK;
}

/* The column has too many words, all of them dates: from now on it holds days. */
static xb_status words_to_days(xb_learner *l, xb_learnt_column *c, double *value,
                               int64_t rows)
{
    double *day = xb_new(l->ctx, c->words.count, sizeof *day);
    if (!day) return XB_E_MEMORY;
    xb_learnt_days(day, &c->words);
    for (int64_t i = 0; i < rows; i++) {
        double *cell = &value[i * l->columns];
        if (!isnan(*cell)) *cell = day[(int64_t)*cell];
    }
    free(day);
    give_up(c, XB_LEARNT_DAYS);
    return XB_OK;
}

static void note_text(xb_learnt_column *c, const xb_cell *cell)
{
    c->texts++;
    if (c->texts > 1) return;
    c->first_line = cell->line;
    size_t size = strnlen(cell->text, sizeof c->first_text - 1);
    while (size > 0 && ((unsigned char)cell->text[size] & 0xC0) == 0x80) size--;
    memcpy(c->first_text, cell->text, size);
}

static xb_status take_text(xb_learner *l, double *values, int64_t row, int64_t k,
                           const xb_cell *cell)
{
    xb_learnt_column *c = &l->column[k];
    double *to = &values[row * l->columns + k], day = 0;
    const xb_date_form form = xb_date_parse(&day, cell->text);
    int64_t number = 0;
    l->texts = true;
    note_text(c, cell);
    if (form != XB_DATE_NONE) c->dates++;
    c->twofold |= form == XB_DATE_TWOFOLD;
    if (c->state == XB_LEARNT_NUMBERS) XB_TRY(numbers_to_words(l, c, values + k, row));
    if (c->state == XB_LEARNT_WORDS) {
        XB_TRY(xb_classes_number_of_text(&c->words, &number, cell->text));
        const bool dates = c->dates == c->texts && c->numbers == 0;
        if (number == -2 && dates)
            XB_TRY(words_to_days(l, c, values + k, row));
        else
            put_word(c, to, number);
    }
    if (c->state == XB_LEARNT_DAYS && form == XB_DATE_NONE) c->state = XB_LEARNT_MANY;
    if (c->state == XB_LEARNT_DAYS) *to = day;
    return XB_OK;
}

void xb_learnt_days(double *day, const xb_classes *words)
{
    for (int64_t i = 0; i < words->count; i++)
        (void)xb_date_parse(&day[words->label[i].number], words->label[i].text);
}

xb_status xb_learner_take(xb_learner *l, double *values, int64_t row, int64_t k,
                          const xb_cell *cell)
{
    xb_learnt_column *c = &l->column[k];
    double *to = &values[row * l->columns + k];
    int64_t number = 0;
    if (cell->text) return take_text(l, values, row, k, cell);
    *to = cell->value;
    if (isnan(cell->value)) {
        c->missing++;
        return XB_OK;
    }
    if (c->state == XB_LEARNT_NUMBERS) return XB_OK;
    c->numbers++;
    if (c->state == XB_LEARNT_DAYS) c->state = XB_LEARNT_MANY;
    if (c->state != XB_LEARNT_WORDS) return XB_OK;
    XB_TRY(xb_classes_number_of_value(&c->words, &number, cell->value));
    put_word(c, to, number);
    return XB_OK;
}

/* ---- features */

void xb_learner_expand(const xb_learner *l, double *out, const xb_recipe *recipe,
                       const double *row)
{
    memset(out, 0, (size_t)recipe->features * sizeof *out);
    for (int64_t i = 0; i < recipe->columns; i++) {
        const xb_recipe_column *to = &recipe->column[i];
        const xb_learnt_column *from = &l->column[l->source[i]];
        const double value = row[l->source[i]];
        double *feature = out + to->first;
        if (isnan(value)) {
            if (to->kind != XB_COLUMN_WORDS) feature[0] = to->fill;
            if (to->flagged) feature[xb_recipe_width(to) - 1] = 1;
        } else if (to->kind == XB_COLUMN_WORDS) {
            const int64_t word = from->rank[(int64_t)value];
            if (word >= 0) feature[word] = 1;
        } else {
            feature[0] = from->day ? from->day[(int64_t)value] : value;
        }
    }
}
