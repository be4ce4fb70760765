/* table.c: named columns of equal length, stored column by column, and their CSV form.
 * Numbers are written with the fewest digits that read back the same. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/outfile.h"
#include "crossbayes/data.h"
#include "data/number.h"

struct xb_table {
    char *name;
    int64_t rows;
    int64_t columns;
    char **column_name; /* [columns] */
    double *cell;       /* [columns][rows] */
};

static xb_status check_names(xb_ctx *ctx, int64_t columns, const char *const *names)
{
    for (int k = 0; k < columns; k++) {
        if (!names[k] || !*names[k])
            return xb_fail(ctx, XB_E_ARGUMENT, "column %d of a table has no name", k + 1);
        for (int j = 0; j < k; j++)
            if (strcmp(names[j], names[k]) == 0)
                return xb_fail(ctx, XB_E_ARGUMENT, "two columns are named '%s'",
                               names[k]);
    }
    return XB_OK;
}

static bool copy_names(xb_ctx *ctx, xb_table *table, const char *const *names)
{
    for (int64_t k = 0; k < table->columns; k++) {
        table->column_name[k] = xb_strdup(ctx, names[k]);
        if (!table->column_name[k]) return false;
    }
    return true;
}

xb_status xb_table_create(xb_ctx *ctx, xb_table **out, const char *name, int64_t rows,
                          int64_t columns, const char *const *column_names)
{
    int64_t cells = 0;
    if (rows < 0 || columns < 1 || __builtin_mul_overflow(rows, columns, &cells))
        return xb_fail(ctx, XB_E_ARGUMENT, "a table of %lld %s and %lld columns",
                       (long long)rows, xb_plural(rows, "row", "rows"),
                       (long long)columns);
    XB_TRY(check_names(ctx, columns, column_names));
    xb_table *table = xb_new(ctx, 1, sizeof *table);
    if (!table) return XB_E_MEMORY;
    table->rows = rows;
    table->columns = columns;
    table->name = xb_strdup(ctx, name);
    table->column_name = xb_new(ctx, columns, sizeof *table->column_name);
    table->cell = xb_new(ctx, cells, sizeof *table->cell);
    if (!table->name || !table->column_name || !table->cell ||
        !copy_names(ctx, table, column_names)) {
        xb_table_destroy(table);
        return XB_E_MEMORY;
    }
    for (int64_t i = 0; i < cells; i++) table->cell[i] = NAN;
    *out = table;
    return XB_OK;
}

void xb_table_destroy(xb_table *table)
{
    if (!table) return;
    for (int64_t k = 0; table->column_name && k < table->columns; k++)
        free(table->column_name[k]);
    free(table->column_name);
    free(table->cell);
    free(table->name);
    free(table);
}

const char *xb_table_name(const xb_table *table) { return table->name; }
int64_t xb_table_row_count(const xb_table *table) { return table->rows; }
int64_t xb_table_column_count(const xb_table *table) { return table->columns; }

const char *xb_table_column_name(const xb_table *table, int64_t column)
{
    assert(column >= 0 && column < table->columns);
    return table->column_name[column];
}

int64_t xb_table_column_find(const xb_table *table, const char *name)
{
    for (int64_t k = 0; k < table->columns; k++)
        if (strcmp(table->column_name[k], name) == 0) return k;
    return -1;
}

static double *cell_at(const xb_table *table, int64_t row, int64_t column)
{
    assert(row >= 0 && row < table->rows && column >= 0 && column < table->columns);
    return &table->cell[column * table->rows + row];
}

double xb_table_get(const xb_table *table, int64_t row, int64_t column)
{
    return *cell_at(table, row, column);
}

void xb_table_set(xb_table *table, int64_t row, int64_t column, double value)
{
    *cell_at(table, row, column) = value;
}

/* Quotes a name if a reader would otherwise misread it. */
static void write_name(FILE *stream, const char *name)
{
    bool plain = !strpbrk(name, ",;\t\"#\r\n") && name[0] != ' ';
    if (plain) {
        fputs(name, stream);
        return;
    }
    fputc('"', stream);
    for (const char *p = name; *p; p++) {
        if (*p == '"') fputc('"', stream);
        fputc(*p == '\n' || *p == '\r' ? ' ' : *p, stream);
    }
    fputc('"', stream);
}

static void write_row(FILE *stream, const xb_table *table, int64_t row)
{
    for (int64_t k = 0; k < table->columns; k++) {
        double value = xb_table_get(table, row, k);
        char text[XB_NUMBER_TEXT_MAX];
        if (k > 0) fputc(',', stream);
        if (!isnan(value)) {
            xb_number_format(text, value);
            fputs(text, stream);
        } else if (table->columns == 1) {
            fputs("\"\"", stream); /* a blank line would not count as a row */
        }
    }
    fputc('\n', stream);
}

xb_status xb_table_write_csv(xb_ctx *ctx, const xb_table *table, const char *path)
{
    xb_outfile *f = NULL;
    XB_TRY(xb_outfile_open(ctx, &f, path));
    FILE *stream = xb_outfile_stream(f);
    for (int64_t k = 0; k < table->columns; k++) {
        if (k > 0) fputc(',', stream);
        write_name(stream, table->column_name[k]);
    }
    fputc('\n', stream);
    for (int64_t row = 0; row < table->rows; row++) write_row(stream, table, row);
    return xb_outfile_commit(ctx, f);
}
