/* dialect.c: splits lines into fields, and finds out how to split them.
 *
 * The guess looks at up to a thousand rows. A separator is possible if more than
 * half of the rows have it; among the possible ones, the one with which most rows have
 * the majority's number of fields wins, then the one with which most rows are all
 * numbers, then the first in the order ; tab , blank (so that "1,5;2,5" is two numbers
 * and "a b, c" two fields). A table with a few broken rows is still recognised, and the
 * reader can then name the wrong row. */
#include "data/dialect.h"

#include <string.h>

#include "data/number.h"

static const char separators[] = {';', '\t', ',', ' '};

/* Number of fields of each row that are examined to choose the separator. */
enum { FIELDS_JUDGED = 64 };

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_blanks(const char *p, const char *end, char separator)
{
    while (p < end && is_blank(*p) && *p != separator) p++;
    return p;
}

/* The quote that closes a field, where "" inside stands for one quote; NULL: there is
 * none. */
static const char *closing_quote(const char *p, const char *end)
{
    while ((p = memchr(p, '"', (size_t)(end - p))) != NULL) {
        if (p + 1 == end || p[1] != '"') return p;
        p += 2;
    }
    return NULL;
}

static const char *field_end(const char *p, const char *end, char separator)
{
    if (separator == '\0') return end;
    if (separator == ' ')
        while (p < end && !is_blank(*p)) p++;
    else
        while (p < end && *p != separator) p++;
    return p;
}

/* Takes one field from p on. Returns its end, which is a separator or the end of the
 * line; NULL if a quote does not close, or if text follows the closing one. */
static const char *take_field(xb_slice *out, const char *p, const char *end,
                              char separator)
{
    char kept = separator == ' ' ? '\0' : separator;
    p = skip_blanks(p, end, kept);
    if (p < end && *p == '"') {
        const char *close = closing_quote(p + 1, end);
        if (!close) return NULL;
        *out = (xb_slice){p + 1, close};
        p = close + 1;
        if (separator == ' ') return p == end || is_blank(*p) ? p : NULL;
        p = skip_blanks(p, end, kept);
        return p == end || *p == separator ? p : NULL;
    }
    const char *stop = field_end(p, end, separator), *last = stop;
    while (last > p && is_blank(last[-1])) last--;
    *out = (xb_slice){p, last};
    return stop;
}

int64_t xb_dialect_split(xb_slice *out, int64_t capacity, xb_slice line, char separator)
{
    const char *p = line.text;
    for (int64_t count = 0;; p++) {
        xb_slice field;
        p = take_field(&field, p, line.end, separator);
        if (!p) return -1;
        if (count < capacity) out[count] = field;
        count++;
        if (separator == ' ' && skip_blanks(p, line.end, '\0') == line.end) return count;
        if (p == line.end) return count;
    }
}

static bool may_separate(char c, char separator)
{
    if (separator == ' ') return is_blank(c);
    return separator ? c == separator : c == ',' || c == ';' || c == '\t';
}

const char *xb_dialect_row_end(const char *p, const char *end, char separator,
                               bool comments)
{
    bool starts = true, after_blank = true; /* whether a field starts here */
    for (; p < end && *p != '\n'; p++) {
        if (comments && *p == '#' && after_blank) {
            const char *newline = memchr(p, '\n', (size_t)(end - p));
            return newline ? newline : end;
        }
        if (*p == '"' && starts) p = closing_quote(p + 1, end);
        if (!p) return NULL;
        after_blank = is_blank(*p);
        starts = may_separate(*p, separator) || (starts && after_blank);
    }
    return p;
}

char *xb_field_copy(char *to, xb_slice field)
{
    for (const char *p = field.text; p < field.end; p++) {
        *to++ = *p;
        if (*p == '"' && p + 1 < field.end && p[1] == '"') p++;
    }
    *to++ = '\0';
    return to;
}

xb_slice xb_dialect_uncomment(xb_slice line)
{
    bool quoted = false, after_blank = true;
    for (const char *p = line.text; p < line.end; p++) {
        if (*p == '#' && after_blank && !quoted) return (xb_slice){line.text, p};
        if (*p == '"') quoted = !quoted;
        after_blank = is_blank(*p);
    }
    return line;
}

static bool is_word(xb_slice field, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(field.end - field.text) == size &&
           strncasecmp(field.text, word, size) == 0;
}

xb_field_kind xb_field_kind_of(xb_slice field, char point)
{
    static const char *const not_finite[] = {"inf", "infinity"};
    static const char *const missing[] = {"nan", "null", "?", "N/A"};
    double value;
    if (field.text == field.end) return XB_FIELD_EMPTY;
    if (xb_number_parse(&value, field.text, field.end, point)) return XB_FIELD_NUMBER;
    if (*field.text == '-' || *field.text == '+') field.text++;
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (is_word(field, missing[i])) return XB_FIELD_MISSING;
    for (size_t i = 0; i < sizeof not_finite / sizeof *not_finite; i++)
        if (is_word(field, not_finite[i])) return XB_FIELD_NOT_FINITE;
    /* NA is R's missing value; "Na" is sodium. */
    if (is_word(field, "NA") && field.text[1] == 'A') return XB_FIELD_MISSING;
    if (field.text < field.end && (*field.text == '.' || *field.text == ','))
        field.text++;
    bool almost = field.text < field.end && is_digit(*field.text);
    return almost ? XB_FIELD_ALMOST : XB_FIELD_TEXT;
}

static bool decimal_comma_allowed(char separator)
{
    return separator == ';' || separator == '\t';
}

static bool is_number(xb_slice field, char separator)
{
    return xb_field_kind_of(field, '.') == XB_FIELD_NUMBER ||
           (decimal_comma_allowed(separator) &&
            xb_field_kind_of(field, ',') == XB_FIELD_NUMBER);
}

static bool all_numbers(xb_slice row, char separator)
{
    xb_slice field[FIELDS_JUDGED];
    int64_t n = xb_dialect_split(field, FIELDS_JUDGED, row, separator);
    if (n > FIELDS_JUDGED) n = FIELDS_JUDGED;
    for (int64_t i = 0; i < n; i++)
        if (!is_number(field[i], separator)) return false;
    return n > 0;
}

/* How well a separator explains the rows. */
typedef struct judgement {
    int64_t columns;    /* the majority's number of columns, by the Boyer-Moore vote */
    int64_t whole;      /* rows that can be cut at all */
    int64_t with;       /* rows that have the separator */
    int64_t consistent; /* rows with that many columns */
    int64_t numeric;    /* rows that are all numbers */
} judgement;

/* More than half of the rows have it. */
static bool common(const judgement *j) { return 2 * j->with > j->whole; }

static judgement judge(const xb_slice *rows, int64_t n, char separator)
{
    judgement j = {.columns = 0};
    for (int64_t i = 0, lead = 0; i < n; i++) {
        int64_t count = xb_dialect_split(NULL, 0, rows[i], separator);
        if (count < 0) continue; /* rows with unmatched quotes decide nothing */
        j.whole++;
        if (count < 2) continue;
        j.with++;
        if (lead == 0) j.columns = count;
        lead += count == j.columns ? 1 : -1;
    }
    if (!common(&j)) return j; /* the rest is not needed in that case */
    for (int64_t i = 0; i < n; i++) {
        j.consistent += xb_dialect_split(NULL, 0, rows[i], separator) == j.columns;
        j.numeric += all_numbers(rows[i], separator);
    }
    return j;
}

static bool better(const judgement *a, const judgement *b)
{
    if (a->consistent != b->consistent) return a->consistent > b->consistent;
    return a->numeric > b->numeric;
}

/* A comma is the decimal point if there are numbers with a comma and none with
 * a point. */
static char guess_point(const xb_slice *rows, int64_t n, char separator)
{
    bool comma = false;
    if (!decimal_comma_allowed(separator)) return '.';
    for (int64_t i = 0; i < n; i++) {
        xb_slice field[FIELDS_JUDGED];
        int64_t count = xb_dialect_split(field, FIELDS_JUDGED, rows[i], separator);
        for (int64_t k = 0; k < count && k < FIELDS_JUDGED; k++) {
            size_t size = (size_t)(field[k].end - field[k].text);
            if (!is_number(field[k], separator)) continue;
            if (memchr(field[k].text, '.', size)) return '.';
            if (memchr(field[k].text, ',', size)) comma = true;
        }
    }
    return comma ? ',' : '.';
}

xb_dialect xb_dialect_guess(const xb_slice *rows, int64_t n)
{
    xb_dialect best = {'\0', '.', 1};
    judgement best_judgement = {.columns = 0};
    for (size_t s = 0; s < sizeof separators; s++) {
        judgement j = judge(rows, n, separators[s]);
        if (!common(&j) || !better(&j, &best_judgement)) continue;
        best_judgement = j;
        best.separator = separators[s];
        best.columns = j.columns;
    }
    best.point = guess_point(rows, n, best.separator);
    return best;
}

/* A row of names has text and nothing like a number; or it has text in a column
 * that holds numbers further down. "1.5x" is never a name, because treating it as one
 * would silently lose a value. */
bool xb_dialect_has_header(const xb_dialect *dialect, const xb_slice *rows, int64_t n,
                           xb_slice *fields)
{
    int64_t columns = dialect->columns, text = 0, other = 0;
    xb_slice *first = fields, *later = fields + columns;
    if (xb_dialect_split(first, columns, rows[0], dialect->separator) != columns)
        return false;
    for (int64_t k = 0; k < columns; k++) {
        xb_field_kind kind = xb_field_kind_of(first[k], dialect->point);
        text += kind == XB_FIELD_TEXT;
        other += kind != XB_FIELD_TEXT && kind != XB_FIELD_EMPTY;
    }
    if (text == 0 || other == 0) return text > 0;
    for (int64_t i = 1; i < n; i++) {
        if (xb_dialect_split(later, columns, rows[i], dialect->separator) != columns)
            continue;
        for (int64_t k = 0; k < columns; k++)
            if (xb_field_kind_of(first[k], dialect->point) == XB_FIELD_TEXT &&
                xb_field_kind_of(later[k], dialect->point) == XB_FIELD_NUMBER)
                return true;
    }
    return false;
}
