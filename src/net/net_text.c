/* net_text.c: the words of a net's text; see net_text.h. Layers are separated by
 * commas, words by blanks. For an unknown word the error suggests the nearest known one
 * (edit distance with swaps of neighbours, at most 2). */
#include "net/net_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"

enum { QUOTE_MAX = 160, COUNT_MAX = 1 << 24 };

bool xb_reading_layer(xb_reading *r)
{
    if (r->layer > 0 && !*r->end) return false;
    r->begin = r->layer > 0 ? r->end + 1 : r->text;
    r->end = r->begin + strcspn(r->begin, ",");
    r->next = r->begin;
    r->layer++;
    return true;
}

bool xb_reading_word(xb_reading *r)
{
    const char *p = r->next;
    while (p < r->end && isspace((unsigned char)*p)) p++;
    size_t length = 0;
    while (p + length < r->end && !isspace((unsigned char)p[length])) length++;
    if (length <
        sizeof r->word) /* known words fit; of a longer one the beginning shows */
        snprintf(r->word, sizeof r->word, "%.*s", (int)length, p);
    else
        snprintf(r->word, sizeof r->word, "%.*s...", (int)sizeof r->word - 4, p);
    r->next = p + length;
    return length > 0;
}

xb_status xb_reading_fail(const xb_reading *r, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (strlen(r->text) <= QUOTE_MAX)
        return xb_fail(r->ctx, XB_E_INPUT, "net '%s': layer %d: %s", r->text, r->layer,
                       what);
    int length = (int)(r->end - r->begin < QUOTE_MAX ? r->end - r->begin : QUOTE_MAX);
    return xb_fail(r->ctx, XB_E_INPUT, "net '...%.*s...': layer %d: %s", length, r->begin,
                   r->layer, what);
}

xb_status xb_reading_unknown(const xb_reading *r, const char *what,
                             const char *const *known, int count)
{
    char list[256] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i]);
    }
    int best = xb_nearest(r->word, known, count);
    if (best >= 0)
        return xb_reading_fail(r, "unknown %s '%s' (did you mean %s?)", what, r->word,
                               known[best]);
    if (count == 0) return xb_reading_fail(r, "unexpected word '%s'", r->word);
    return xb_reading_fail(r, "unknown %s '%s', expected %s%s%s", what, r->word,
                           count > 1 ? "one of " : "", list,
                           strcmp(what, "option") == 0 ? " or a comma" : "");
}

/* Digits alone, 1 to COUNT_MAX; false otherwise. */
static bool count_of(const char *text, size_t length, int64_t *out)
{
    int64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i]) || value > COUNT_MAX) return false;
        value = 10 * value + (text[i] - '0');
    }
    *out = value;
    return length > 0 && value >= 1 && value <= COUNT_MAX;
}

xb_status xb_reading_count(xb_reading *r, int64_t *out, const char *what)
{
    if (!xb_reading_word(r)) return xb_reading_fail(r, "%s is missing", what);
    if (!count_of(r->word, strlen(r->word), out))
        return xb_reading_fail(r, "%s is '%s', expected a whole number from 1 to %d",
                               what, r->word, COUNT_MAX);
    return XB_OK;
}

xb_status xb_reading_number(xb_reading *r, double *out, const char *what, bool from_low,
                            double low, double high)
{
    if (!xb_reading_word(r)) return xb_reading_fail(r, "%s is missing", what);
    double value;
    if (!xb_number_parse(&value, r->word, r->word + strlen(r->word), '.') ||
        !isfinite(value))
        return xb_reading_fail(r, "%s is not a number: '%s'", what, r->word);
    if (value < low || (value == low && !from_low) || value >= high)
        return xb_reading_fail(r, "%s is %s, expected %s%g%s and below %g", what, r->word,
                               from_low ? "" : "above ", low, from_low ? " or more" : "",
                               high);
    *out = value;
    return XB_OK;
}

xb_status xb_reading_pair(const xb_reading *r, int64_t *a, int64_t *b)
{
    const char *x = strchr(r->word, 'x');
    if (!x || !count_of(r->word, (size_t)(x - r->word), a) ||
        !count_of(x + 1, strlen(x + 1), b))
        return xb_reading_fail(r, "'%s' is not a window, expected e.g. 3x3", r->word);
    return XB_OK;
}
