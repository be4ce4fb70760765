/* table_read.c: reads a table back from its CSV, with exactly the doubles that were
 * written. An empty cell becomes a NAN again. Files come from a disk, so nothing in them
 * is trusted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/data.h"
#include "data/csv.h"
#include "data/number.h"

typedef struct table_reader {
    xb_ctx *ctx;
    char **names; /* [columns], owned */
    int columns;
    double *cell; /* [rows][columns] */
    int64_t cells, capacity;
} table_reader;

static xb_status take_head(void *arg, const xb_csv_head *head)
{
    table_reader *r = arg;
    if (!head->names)
        return xb_fail(r->ctx, XB_E_INPUT, "%s:%lld: expected names of columns",
                       head->file, (long long)head->line);
    r->names = xb_new(r->ctx, head->dialect.columns, sizeof *r->names);
    if (!r->names) return XB_E_MEMORY;
    for (; r->columns < (int)head->dialect.columns; r->columns++) {
        r->names[r->columns] = xb_strdup(r->ctx, head->names[r->columns]);
        if (!r->names[r->columns]) return XB_E_MEMORY;
    }
    return XB_OK;
}

static bool is_word(xb_slice field, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(field.end - field.text) == size &&
           memcmp(field.text, word, size) == 0;
}

/* Reads a cell; refuses text that xb_table_write_csv cannot have written. */
static xb_status read_cell(double *out, const xb_csv_row *row, int column)
{
    xb_slice field = row->field[column];
    if (field.text == field.end)
        *out = NAN;
    else if (is_word(field, "inf"))
        *out = INFINITY;
    else if (is_word(field, "-inf"))
        *out = -INFINITY;
    else
        return xb_csv_number(out, row, column);
    return XB_OK;
}

static xb_status take_row(void *arg, const xb_csv_row *row)
{
    table_reader *r = arg;
    void *block = r->cell;
    XB_TRY(xb_grow(r->ctx, &block, &r->capacity, r->cells + r->columns, sizeof *r->cell));
    r->cell = block;
    for (int c = 0; c < r->columns; c++)
        XB_TRY(read_cell(&r->cell[r->cells + c], row, c));
    r->cells += r->columns;
    return XB_OK;
}

static xb_status make_table(table_reader *r, xb_table **out, const char *name)
{
    xb_table *table = NULL;
    int64_t rows = r->cells / r->columns;
    XB_TRY(xb_table_create(r->ctx, &table, name, rows, r->columns,
                           (const char *const *)r->names));
    for (int64_t i = 0; i < rows; i++)
        for (int c = 0; c < r->columns; c++)
            xb_table_set(table, i, c, r->cell[i * r->columns + c]);
    *out = table;
    return XB_OK;
}

xb_status xb_table_read_csv(xb_ctx *ctx, xb_table **out, const char *name,
                            const char *path)
{
    xb_source source;
    table_reader r = {.ctx = ctx};
    const xb_csv_visitor visitor = {.arg = &r, .head = take_head, .row = take_row};
    XB_TRY(xb_source_open(ctx, &source, path));
    xb_status status = xb_csv_read(&source, &visitor);
    xb_source_close(&source);
    if (status == XB_OK) status = make_table(&r, out, name);
    for (int c = 0; c < r.columns; c++) free(r.names[c]);
    free(r.names);
    free(r.cell);
    return xb_source_explain(&source, status, XB_KIND_TABLE);
}
