/* crossbayes/data.h: reading columns and tables, writing tables and arrays.
 *
 * No file is trusted: sizes are checked before memory is asked for, and an
 * error names the file, the line and what was expected.
 */
#ifndef CROSSBAYES_DATA_H
#define CROSSBAYES_DATA_H

#include "crossbayes/base.h"
#include "crossbayes/recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads one column of numbers from a CSV-like text or an NPY file, which are recognised
 * by their content. `column` is a header name, a number from 1, or NULL, in which case
 * the file must have exactly one column. Text dialects: comma, semicolon, tab or blanks
 * between fields (found from the first rows), a header or none, comments from a '#' that
 * starts a line or follows a blank, LF or CRLF, a UTF-8 mark at the start, quoted fields,
 * "1,5" as a decimal where the separator is a semicolon or tab; lines of at most 1 MiB.
 * NaN, inf and text are errors, as is an empty column. A column of an NPY array is chosen
 * by number. Free *out with xb_free(). The path "-" means standard input.
 */
XB_API xb_status xb_column_read(xb_ctx *ctx, double **out, int64_t *n, const char *path,
                                const char *column);

/* A long trace: more samples than XB_TRACE_LONG, which are not held in memory but read
 * from their file again and again, in blocks; ranks that work together read different
 * parts of it (crossbayes/work.h). xb_series_run_trace() analyses it, and
 * xb_trace_thin() leaves few enough samples to fit a law to; sums run over 32 pieces of
 * it, so the bytes do not depend on the number of ranks. */
typedef struct xb_trace xb_trace;

#define XB_TRACE_LONG (INT64_C(1) << 24)

/* Opens an NPY file of one column with more than XB_TRACE_LONG samples. For every other
 * file *out is NULL: xb_column_read() reads those. */
XB_API xb_status xb_trace_open(xb_ctx *ctx, xb_trace **out, const char *path);
/* The same for n values in memory, which are borrowed until it is closed, at any n. */
XB_API xb_status xb_trace_of_values(xb_ctx *ctx, xb_trace **out, const double *x,
                                    int64_t n);
XB_API void xb_trace_close(xb_trace *trace); /* NULL is fine */
XB_API int64_t xb_trace_count(const xb_trace *trace);

/* A table to train on or to predict from: rows of features, all numbers, and a target if
 * one is named. It is read from the same kinds of file as xb_column_read takes. With
 * `prepare`, columns of words and missing cells become features as crossbayes/recipe.h
 * says, and columns that would mislead are left out; without it, a cell that is missing
 * or not a number is an error with file and line.
 *
 *     xb_frame_options opt = xb_frame_options_default();
 *     opt.target = "price";
 *     if (xb_frame_read(ctx, &frame, "houses.csv", &opt) != XB_OK) ...
 *
 * Columns are named by the header, or "1", "2", ... where there is none (always
 * in an NPY file, and for a nameless column). Names must differ and be UTF-8. */
typedef struct xb_frame xb_frame;

/* A target of classes has the values 0, 1, ...: the position of the class in ascending
 * order (as numbers if all of them are, else by bytes). "1", "1.0" and "1e0" are one
 * class, "1". */
typedef enum xb_target_kind {
    XB_TARGET_AUTO,   /* classes if its first cell is text, else numbers */
    XB_TARGET_NUMBER, /* numbers; text is an error */
    XB_TARGET_CLASS   /* every distinct cell is a class, numbers too */
} xb_target_kind;

#define XB_CLASSES_MAX 10000

typedef struct xb_frame_options {
    size_t struct_size;
    const char *target; /* a column's name, or its number from 1; several columns of
                           numbers are separated by commas; NULL: none */
    xb_target_kind target_kind;
    const char *const *classes; /* the only valid classes, in their order; */
    int64_t n_classes;          /* NULL: those found in the data */
    const char *const *columns; /* the features wanted, names or numbers, in this */
    int64_t n_columns;          /* order; NULL: all columns but the target */
    bool whole; /* `columns` and the target are all columns of the original table: a file
                   without names must have exactly these, in the same order, with the
                   target or, if none is requested, without it */
    int64_t whole_targets; /* number of targets in the original table; 0: one */
    /* NULL, or how the features of the training table are made from this one; `columns`,
     * `prepare`, `drop` and `use_anyway` are then ignored */
    const xb_recipe *recipe;
    const char *const *drop; /* columns to leave out, names or numbers */
    int64_t n_drop;
    /* prepare: columns to use whatever they look like, as those of `columns` are */
    const char *const *use_anyway;
    int64_t n_use_anyway;
    /* A column that names rows and is not a feature; with `recipe` its cells become
     * xb_frame_row_name. NULL: the recipe's */
    const char *id;
    /* Share of rows held out of training, 0 to below 1: see xb_frame_test_count */
    double test_share;
    uint64_t test_seed;
    xb_missing missing; /* prepare and recipe: impute */
    bool prepare; /* the table may hold words, dates and gaps; false: numbers only */
    /* recipe: reads a table of any length in little memory. Whenever `block` rows or more
     * have been read, on_block gets them, and they are freed; the rows left at the end,
     * if any, are in the frame returned. If on_block returns false, reading stops with
     * XB_E_CANCELLED. NPY arrays in Fortran order come in one piece. 0: all rows at once
     */
    int64_t block;
    bool (*on_block)(void *arg, const xb_frame *rows);
    void *on_block_arg;
} xb_frame_options;

XB_OPTIONS(frame);
XB_API xb_status xb_frame_read(xb_ctx *ctx, xb_frame **out, const char *path,
                               const xb_frame_options *opt); /* NULL: the defaults */

/* A column in memory, borrowed; a frozen value. Its values have one of these types. */
typedef enum xb_column_type {
    XB_COLUMN_F64,
    XB_COLUMN_F32,
    XB_COLUMN_I64,
    XB_COLUMN_I32,
    XB_COLUMN_U8,  /* bytes and booleans */
    XB_COLUMN_TEXT /* const char *; NULL and "" are missing */
} xb_column_type;

typedef struct xb_column {
    const char *name; /* NULL: its number, from 1 */
    const void *values;
    xb_column_type type;
    int64_t stride; /* bytes from one value to the next, may be negative; 0: packed */
} xb_column;

/* Makes from memory the table that a file with these columns would give. The columns may
 * be arrays of any of these types, or columns of a row-major matrix, whose stride is a
 * row. All data are copied. */
XB_API xb_status xb_frame_create(xb_ctx *ctx, xb_frame **out, const xb_column *columns,
                                 int64_t n_columns, int64_t n_rows,
                                 const xb_frame_options *opt); /* NULL: the defaults */
XB_API void xb_frame_destroy(xb_frame *frame);                 /* NULL is fine */

/* All borrowed from the frame. */
XB_API int64_t xb_frame_row_count(const xb_frame *frame);
/* Number of rows before these, which on_block was given. */
XB_API int64_t xb_frame_first(const xb_frame *frame);
XB_API int64_t xb_frame_feature_count(const xb_frame *frame);
/* Number of blank lines of a text before its last row. They are skipped, so that with
 * blank lines row i is not the i-th line after the header. */
XB_API int64_t xb_frame_blank_lines(const xb_frame *frame);
XB_API const char *xb_frame_feature_name(const xb_frame *frame, int64_t i);
XB_API int64_t xb_frame_feature_find(const xb_frame *frame,
                                     const char *name); /* -1: none */
/* How its columns became features; NULL: each column is one feature, unchanged. */
XB_API const xb_recipe *xb_frame_recipe(const xb_frame *frame);
/* Sentences that say what became of columns and cells; and the number of columns that
 * were left out and that `use_anyway` would bring back. */
XB_API int64_t xb_frame_note_count(const xb_frame *frame);
XB_API const char *xb_frame_note_at(const xb_frame *frame, int64_t i);
XB_API int64_t xb_frame_left_out(const xb_frame *frame);
/* Number of rows held out by test_share. They are the last rows of the frame, after the
 * training rows; both are in the order of the table. Which rows are held out depends only
 * on the seed and the number of rows; no scale, word or mean is learnt from them. */
XB_API int64_t xb_frame_test_count(const xb_frame *frame);
/* The cell of the column that names rows, and the name of that column; NULL if there is
 * none. */
XB_API const char *xb_frame_row_name(const xb_frame *frame, int64_t row);
XB_API const char *xb_frame_id(const xb_frame *frame);
XB_API const double *xb_frame_values(const xb_frame *frame); /* [rows][features] */
/* [rows], with several targets [rows][targets]; NULL: no target. */
XB_API const double *xb_frame_target(const xb_frame *frame);
/* The name; with several targets all names, separated by commas; NULL: no target. */
XB_API const char *xb_frame_target_name(const xb_frame *frame);
XB_API int64_t xb_frame_target_count(const xb_frame *frame); /* 0: no target */
XB_API const char *xb_frame_target_name_at(const xb_frame *frame, int64_t k);
XB_API int64_t xb_frame_class_count(const xb_frame *frame); /* 0: a target of numbers */
XB_API const char *xb_frame_class_name(const xb_frame *frame, int64_t k);

/* Rows of inputs in memory, borrowed. Exactly one of x, scaled and bytes is not NULL:
 * numbers in the data's own units, which the model scales; floats as the net takes them;
 * or bytes, which the net takes as byte / 255. A frozen value. */
typedef struct xb_rows {
    const double *x;       /* [..][features] */
    const float *scaled;   /* [..][features] */
    const uint8_t *bytes;  /* [..][features] */
    const int64_t *select; /* [n]: row i is row select[i] of the block; NULL: row i */
    int64_t n, features;
    int64_t first; /* number of rows before these in the whole table; messages count from
                      it */
} xb_rows;

/* Writes "0.5012 ± 0.0047", both rounded to the error's second digit, or "(3.1
 * ± 1.2)e-05". Without an error (NAN, or no larger than rounding) it writes the value
 * alone with three digits, a whole number with all of them; "none" for NAN. */
XB_API void xb_number_with_error(char *out, size_t size, double value, double error);

/* The unit with the SI prefix that brings `largest` between 1 and 1000: 2e-6
 * and "S" give 1e-6 and "µS". A unit may have a prefix already ("nA", "uS"). A unit that
 * takes none ("", "%", "counts") stays as it is, with a factor of 1. A frozen value. */
typedef struct xb_si_unit {
    double factor; /* a number in `unit` divided by this is a number in `text` */
    char text[64];
} xb_si_unit;

XB_API xb_si_unit xb_si_unit_for(double largest, const char *unit);
XB_API bool xb_si_takes_prefix(const char *unit);

/* Writes "2.25 ± 0.58 µS": the number as xb_number_with_error writes it, with a suitable
 * prefix. */
XB_API void xb_quantity_text(char *out, size_t size, double value, double error,
                             const char *unit);

/* "2.5ms", "2.5 ms" or "0.0025" with the unit "s" is 0.0025; "400Hz" and "0.4kHz" with
 * "Hz" are 400. XB_E_INPUT for anything else, and for numbers that are not finite. */
XB_API xb_status xb_quantity_parse(xb_ctx *ctx, double *out, const char *text,
                                   const char *unit);

/* NPY files are written as little-endian float32 or float64 in C order. Integers,
 * big-endian elements and Fortran order are read as well. */
typedef enum xb_dtype { XB_F32, XB_F64 } xb_dtype;

XB_API xb_status xb_npy_write(xb_ctx *ctx, const char *path, const void *values,
                              xb_dtype type, const int64_t *shape, int64_t ndim);
/* Reads an array of any shape of at most 8 dimensions, converted to double in C order.
 * Free *out with xb_free(). */
XB_API xb_status xb_npy_read(xb_ctx *ctx, double **out, int64_t shape[8], int64_t *ndim,
                             const char *path);

/* A table of named columns of equal length: studies return such tables, figures are drawn
 * from them, and they are written as CSV and JSON. A NAN is an empty cell. */
typedef struct xb_table xb_table;

XB_API xb_status xb_table_create(xb_ctx *ctx, xb_table **out, const char *name,
                                 int64_t rows, int64_t columns,
                                 const char *const *column_names);
XB_API void xb_table_destroy(xb_table *table);
XB_API const char *xb_table_name(const xb_table *table);
XB_API int64_t xb_table_row_count(const xb_table *table);
XB_API int64_t xb_table_column_count(const xb_table *table);
XB_API const char *xb_table_column_name(const xb_table *table, int64_t column);
XB_API int64_t xb_table_column_find(const xb_table *table,
                                    const char *name); /* -1: none */
XB_API double xb_table_get(const xb_table *table, int64_t row, int64_t column);
XB_API void xb_table_set(xb_table *table, int64_t row, int64_t column, double value);
XB_API xb_status xb_table_write_csv(xb_ctx *ctx, const xb_table *table, const char *path);
/* Reads the table back from its CSV, identical to the last bit, and calls it `name`. */
XB_API xb_status xb_table_read_csv(xb_ctx *ctx, xb_table **out, const char *name,
                                   const char *path);

#ifdef __cplusplus
}
#endif
#endif
