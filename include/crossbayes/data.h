/* crossbayes/data.h: reading columns of numbers, writing tables and arrays.
 *
 * No file is trusted: sizes are checked before memory is asked for, and an
 * error names the file, the line and what was expected.
 */
#ifndef CROSSBAYES_DATA_H
#define CROSSBAYES_DATA_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One column of numbers from a CSV-like text or an NPY file (told apart by the
 * content). `column` is a header name, a number from 1, or NULL: then the file
 * must have one column of numbers only. Text dialects: comma, semicolon, tab or
 * blanks between fields (found from the first rows), a header or none, comments
 * from a '#' that starts a line or follows a blank, LF or CRLF, a UTF-8 mark at
 * the start, quoted fields, "1,5" as a decimal where the separator is a semicolon
 * or tab; lines of at most 1 MiB. NaN, inf and text are errors, as is an empty
 * column. Of an NPY array a column is chosen by number. Free *out with free().
 * path "-" reads stdin.
 */
XB_API xb_status xb_column_read(xb_ctx *ctx, double **out, int64_t *n, const char *path,
                                const char *column);

/* NPY: little-endian float32 and float64 (and integers on reading), C order. */
typedef enum xb_dtype { XB_F32, XB_F64 } xb_dtype;

XB_API xb_status xb_npy_write(xb_ctx *ctx, const char *path, const void *values,
                              xb_dtype type, const int64_t *shape, int ndim);
/* Any shape, converted to double, C order. Free *out and keep shape[8]. */
XB_API xb_status xb_npy_read(xb_ctx *ctx, double **out, int64_t shape[8], int *ndim,
                             const char *path);

/* A table of named columns of equal length: what studies return, what figures
 * are drawn from, what goes to CSV and JSON. A NAN is an empty cell. */
typedef struct xb_table xb_table;

XB_API xb_status xb_table_create(xb_ctx *ctx, xb_table **out, const char *name,
                                 int64_t rows, int columns,
                                 const char *const *column_names);
XB_API void xb_table_destroy(xb_table *table);
XB_API const char *xb_table_name(const xb_table *table);
XB_API int64_t xb_table_rows(const xb_table *table);
XB_API int xb_table_columns(const xb_table *table);
XB_API const char *xb_table_column_name(const xb_table *table, int column);
XB_API int xb_table_find(const xb_table *table, const char *column); /* -1: none */
XB_API double xb_table_get(const xb_table *table, int64_t row, int column);
XB_API void xb_table_set(xb_table *table, int64_t row, int column, double value);
XB_API xb_status xb_table_write_csv(xb_ctx *ctx, const xb_table *table, const char *path);

#ifdef __cplusplus
}
#endif
#endif
