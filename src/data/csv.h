/* csv.h: a text table, row by row. Memory stays at a few MiB however long the
 * file is; the visitor decides what to keep.
 *
 *     xb_csv_visitor v = {.arg = &mine, .head = choose_columns, .row = take_row};
 *     XB_TRY(xb_csv_read(&source, &v));
 */
#ifndef XB_DATA_CSV_H
#define XB_DATA_CSV_H

#include "data/dialect.h"
#include "data/source.h"

enum { XB_CSV_LINE_MAX = 1 << 20 }; /* bytes; a longer line is refused */

typedef struct xb_csv_head {
    xb_ctx *ctx;
    const char *file;   /* for messages */
    xb_dialect dialect; /* has the number of columns */
    char **names;       /* [columns], or NULL where there is no header */
    int64_t line;       /* of the first row, header or not */
} xb_csv_head;

typedef struct xb_csv_row {
    const xb_csv_head *head;
    int64_t line;
    const xb_slice *field; /* [columns] */
} xb_csv_row;

/* `head` is called once before the first row and `row` for every row; any status other
 * than XB_OK ends the reading with that status. Arguments are borrowed for the call. */
typedef struct xb_csv_visitor {
    void *arg;
    xb_status (*head)(void *arg, const xb_csv_head *head);
    xb_status (*row)(void *arg, const xb_csv_row *row);
    /* Optional: while plain(arg) returns true, because every column is wanted as a
     * number, rows of finite numbers alone may go to `numbers` instead, value
     * [rows][columns]. It is called from time to time, not for every row. */
    bool (*plain)(const void *arg);
    xb_status (*numbers)(void *arg, const double *value, int64_t rows);
} xb_csv_visitor;

xb_status xb_csv_read(xb_source *source, const xb_csv_visitor *visitor);

/* The finite number in a field, or an error that says why it is not one. 0 <= column <
 * columns. */
xb_status xb_csv_number(double *out, const xb_csv_row *row, int64_t column);

/* The column called `wanted`, or, if none is, the one with that number from 1.
 * NULL means the only column. */
xb_status xb_csv_column(int64_t *out, const xb_csv_head *head, const char *wanted);

/* The same for a column that the file must have for a model: the user did not name it. */
xb_status xb_csv_model_column(int64_t *out, const xb_csv_head *head, const char *wanted);

/* Reads "3" as a column number; 0 unless it is from 1 to `columns`. */
int64_t xb_column_number(const char *text, int64_t columns);

#endif
