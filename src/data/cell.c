/* cell.c: parses one cell of a text table as a number, and finds one column by name or
 * number: the part of csv.h whose failures are explained to the user. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/csv.h"
#include "data/number.h"

enum { QUOTED_MAX = 40, LIST_MAX = 400 }; /* bytes of user text in a message */

/* The contents of a cell, shortened if it is long, but never inside a character. */
static int shown_size(xb_slice field)
{
    int64_t size = field.end - field.text;
    if (size <= QUOTED_MAX) return (int)size;
    int cut = QUOTED_MAX;
    while (cut > 0 && ((unsigned char)field.text[cut] & 0xC0) == 0x80) cut--;
    return cut;
}

static const char *why_not(xb_slice field, char point)
{
    switch (xb_field_kind_of(field, point)) {
    case XB_FIELD_NUMBER: return "beyond the range of a double";
    case XB_FIELD_MISSING:
    case XB_FIELD_NOT_FINITE: return "not a finite number";
    case XB_FIELD_EMPTY:
    case XB_FIELD_ALMOST:
    case XB_FIELD_TEXT: break;
    }
    return "not a number";
}

/* Whether text is in the line below the first one: instruments write such lines above
 * their table, and the first of them was taken for the header. */
static bool is_preamble(const xb_csv_row *row, xb_slice field)
{
    const xb_csv_head *head = row->head;
    return head->names && row->line == head->line + 1 && head->dialect.columns == 1 &&
           xb_field_kind_of(field, head->dialect.point) == XB_FIELD_TEXT;
}

static xb_status not_a_number(const xb_csv_row *row, xb_slice field)
{
    const xb_csv_head *head = row->head;
    if (field.text == field.end)
        return xb_fail(head->ctx, XB_E_INPUT, "%s:%lld: an empty cell, expected a number",
                       head->file, (long long)row->line);
    int size = shown_size(field);
    return xb_fail(
        head->ctx, XB_E_INPUT, "%s:%lld: %s: '%.*s%s'%s", head->file,
        (long long)row->line, why_not(field, head->dialect.point), size, field.text,
        size < field.end - field.text ? "..." : "",
        is_preamble(row, field) ? " (start lines of text above the table with #)" : "");
}

xb_status xb_csv_number(double *out, const xb_csv_row *row, int64_t column)
{
    xb_slice field = row->field[column];
    double value;
    if (!xb_number_parse(&value, field.text, field.end, row->head->dialect.point) ||
        !isfinite(value))
        return not_a_number(row, field);
    *out = value;
    return XB_OK;
}

/* "3 columns: time, current, voltage" or "3 columns without names". */
static const char *list_columns(char out[LIST_MAX], const xb_csv_head *head)
{
    int64_t columns = head->dialect.columns;
    int used = snprintf(out, LIST_MAX, "%lld %s%s", (long long)columns,
                        xb_plural(columns, "column", "columns"),
                        head->names ? "" : " without names");
    for (int64_t k = 0; head->names && k < columns; k++) {
        int size = (int)strlen(head->names[k]);
        if (used + size + 8 > LIST_MAX) {
            snprintf(out + used, (size_t)(LIST_MAX - used), ", ...");
            break;
        }
        used += snprintf(out + used, (size_t)(LIST_MAX - used), "%s%s", k ? ", " : ": ",
                         head->names[k]);
    }
    return out;
}

/* Index of the column so named, -1 if none, -2 if several. */
static int64_t find_name(const xb_csv_head *head, const char *wanted)
{
    int64_t found = -1;
    for (int64_t k = 0; head->names && k < head->dialect.columns; k++)
        if (strcmp(head->names[k], wanted) == 0) found = found == -1 ? k : -2;
    return found;
}

static xb_status which_one(const xb_csv_head *head)
{
    char list[LIST_MAX];
    bool perhaps_decimal =
        !head->names && head->dialect.separator == ',' && head->dialect.columns == 2;
    return xb_fail(
        head->ctx, XB_E_INPUT, "%s:%lld: %s; choose one by %s%s", head->file,
        (long long)head->line, list_columns(list, head),
        head->names ? "name or number" : "number",
        perhaps_decimal ? " (if these are decimal commas, write points instead)" : "");
}

static xb_status no_column(const xb_csv_head *head, const char *wanted, const char *why)
{
    char list[LIST_MAX];
    const int64_t columns = head->dialect.columns;
    const int64_t near =
        head->names && *wanted
            ? xb_nearest(wanted, (const char *const *)head->names, columns)
            : -1;
    return xb_fail(head->ctx, XB_E_INPUT,
                   "%s:%lld: no column '%s'%s%s%s%s; there %s %s%s", head->file,
                   (long long)head->line, wanted, why, near < 0 ? "" : " (did you mean '",
                   near < 0 ? "" : head->names[near], near < 0 ? "" : "'?)",
                   columns == 1 ? "is" : "are", list_columns(list, head),
                   head->names || (*wanted >= '0' && *wanted <= '9')
                       ? ""
                       : "; a text table names its columns in the first line");
}

/* `why` follows the name of a column that is missing. */
static xb_status column_of(int64_t *out, const xb_csv_head *head, const char *wanted,
                           const char *why)
{
    int64_t columns = head->dialect.columns;
    if (!wanted && columns > 1) return which_one(head);
    int64_t found = wanted ? find_name(head, wanted) : 0;
    if (found == -2)
        return xb_fail(head->ctx, XB_E_INPUT,
                       "%s:%lld: several columns are named '%s'; choose by number",
                       head->file, (long long)head->line, wanted);
    if (found == -1) found = xb_column_number(wanted, columns) - 1;
    if (found < 0) return no_column(head, wanted, why);
    *out = found;
    return XB_OK;
}

xb_status xb_csv_column(int64_t *out, const xb_csv_head *head, const char *wanted)
{
    return column_of(out, head, wanted, "");
}

xb_status xb_csv_model_column(int64_t *out, const xb_csv_head *head, const char *wanted)
{
    return column_of(out, head, wanted, ", which the model needs");
}

int64_t xb_column_number(const char *text, int64_t columns)
{
    char *end = NULL;
    if (*text < '0' || *text > '9') return 0;
    long long number = strtoll(text, &end, 10); /* strtoll saturates */
    return *end == '\0' && number >= 1 && number <= columns ? number : 0;
}
