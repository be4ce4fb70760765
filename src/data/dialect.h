/* dialect.h: the format of a text table: the separator of fields, the decimal point, and
 * whether the first row is a header. */
#ifndef XB_DATA_DIALECT_H
#define XB_DATA_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a line or a field, borrowed from the reader's buffer. */
typedef struct xb_slice {
    const char *text;
    const char *end;
} xb_slice;

typedef struct xb_dialect {
    char separator;  /* ',' ';' '\t', ' ' for runs of blanks, '\0' for none */
    char point;      /* '.' or, only with ';' and '\t', ',' */
    int64_t columns; /* fields that a row has */
} xb_dialect;

/* Examines the first rows (lines without comments, none of them blank; n >= 1). */
xb_dialect xb_dialect_guess(const xb_slice *rows, int64_t n);

/* True if rows[0] names columns. `fields` is room for 2 x columns. */
bool xb_dialect_has_header(const xb_dialect *dialect, const xb_slice *rows, int64_t n,
                           xb_slice *fields);

/* Splits a line into fields without surrounding blanks and quotes. Returns the number of
 * fields and writes at most `capacity` of them; -1 if quotes do not match. */
int64_t xb_dialect_split(xb_slice *out, int64_t capacity, xb_slice line, char separator);

/* The newline, outside quotes, that ends the row starting at `p`; `end` if there is none;
 * NULL if in addition the quotes of a field do not close before `end`. separator '\0':
 * unknown yet. `comments`: the row may have comments. */
const char *xb_dialect_row_end(const char *p, const char *end, char separator,
                               bool comments);

/* Copies a field with a terminating NUL, with "" inside it as "; returns the end of the
 * copy. The field's bytes and one more are enough memory. */
char *xb_field_copy(char *to, xb_slice field);

/* The line up to a '#' that starts it or follows a blank, outside quotes. */
xb_slice xb_dialect_uncomment(xb_slice line);

typedef enum xb_field_kind {
    XB_FIELD_EMPTY,
    XB_FIELD_NUMBER,
    XB_FIELD_MISSING,    /* nan, NA, N/A, null, ? */
    XB_FIELD_NOT_FINITE, /* inf and the like */
    XB_FIELD_ALMOST,     /* starts like a number: "1.5x", "12:30" */
    XB_FIELD_TEXT
} xb_field_kind;

xb_field_kind xb_field_kind_of(xb_slice field, char point);

#endif
