/* classes.c: turns labels into class numbers.
 *
 * Labels are kept sorted by bytes, so finding one costs log K comparisons; a new
 * one moves those behind it, which K <= 10,000 makes cheap. A label that is a
 * number is kept in its shortest form, so "1" and "1.0" are the same. */
#include "data/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/data.h"
#include "data/number.h"
#include "crossbayes/extend.h"

/* The position of `text`, or the position where it would be inserted. */
static int64_t place_of(const xb_classes *c, const char *text, bool *found)
{
    int64_t low = 0, high = c->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int order = strcmp(c->label[middle].text, text);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = false;
    return low;
}

static xb_status insert(xb_classes *c, int64_t at, const char *text)
{
    XB_TRY(xb_grow(c->ctx, (void **)&c->label, &c->capacity, c->count + 1,
                   sizeof *c->label));
    char *copy = xb_strdup(c->ctx, text);
    if (!copy) return XB_E_MEMORY;
    memmove(c->label + at + 1, c->label + at, (size_t)(c->count - at) * sizeof *c->label);
    c->label[at] = (xb_class_label){copy, c->count};
    c->count++;
    return XB_OK;
}

static xb_status number_of(xb_classes *c, int64_t *out, const char *text)
{
    bool found = false;
    int64_t at = place_of(c, text, &found);
    *out = found ? c->label[at].number : -1;
    if (found || c->closed) return XB_OK;
    *out = !xb_utf8_valid(text) ? -3 : c->count >= XB_CLASSES_MAX ? -2 : c->count;
    return *out < 0 ? XB_OK : insert(c, at, text);
}

const char *xb_class_canonical(char out[XB_NUMBER_TEXT_MAX], const char *text, char point)
{
    double value;
    if (!xb_number_parse(&value, text, text + strlen(text), point) || !isfinite(value))
        return text;
    xb_number_format(out, value + 0.0); /* adding 0.0 turns -0 into 0 */
    return out;
}

xb_status xb_classes_number(xb_classes *c, int64_t *out, xb_slice field, char point)
{
    char small[256], number[XB_NUMBER_TEXT_MAX], *copy = small;
    int64_t size = field.end - field.text + 1;
    if (size > (int64_t)sizeof small) copy = xb_new(c->ctx, size, 1);
    if (!copy) return XB_E_MEMORY;
    xb_field_copy(copy, field);
    xb_status status = number_of(c, out, xb_class_canonical(number, copy, point));
    if (copy != small) free(copy);
    return status;
}

xb_status xb_classes_number_of_text(xb_classes *c, int64_t *out, const char *text)
{
    char number[XB_NUMBER_TEXT_MAX];
    return number_of(c, out, xb_class_canonical(number, text, '.'));
}

xb_status xb_classes_number_of_value(xb_classes *c, int64_t *out, double value)
{
    char text[XB_NUMBER_TEXT_MAX];
    xb_number_format(text, value + 0.0);
    return number_of(c, out, text);
}

xb_status xb_classes_start(xb_ctx *ctx, xb_classes *out, const char *const *names,
                           int64_t n)
{
    xb_classes c = {.ctx = ctx};
    xb_status status = XB_OK;
    for (int64_t i = 0; names && status == XB_OK && i < n; i++) {
        char number[XB_NUMBER_TEXT_MAX];
        int64_t k = -1;
        status = number_of(&c, &k, xb_class_canonical(number, names[i], '.'));
        if (status == XB_OK && k != i)
            status = xb_fail(
                ctx, XB_E_ARGUMENT,
                "class '%s' is listed twice, is not UTF-8, or is one class too many",
                names[i]);
    }
    c.closed = names != NULL;
    if (status != XB_OK) xb_classes_free(&c);
    if (status == XB_OK) *out = c;
    return status;
}

void xb_classes_free(xb_classes *c)
{
    for (int64_t i = 0; i < c->count; i++) free(c->label[i].text);
    free(c->label);
    *c = (xb_classes){.ctx = c->ctx};
}

static double value_of(const char *text)
{
    double value = NAN;
    (void)xb_number_parse(&value, text, text + strlen(text), '.');
    return value;
}

static int by_value(const void *a, const void *b)
{
    double x = value_of(((const xb_class_label *)a)->text);
    double y = value_of(((const xb_class_label *)b)->text);
    return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const xb_class_label *)a)->number;
    int64_t y = ((const xb_class_label *)b)->number;
    return (x > y) - (x < y);
}

static void sort_labels(xb_classes *c)
{
    bool numbers = true;
    for (int64_t i = 0; i < c->count; i++) numbers &= !isnan(value_of(c->label[i].text));
    if (c->closed)
        qsort(c->label, (size_t)c->count, sizeof *c->label, by_number);
    else if (numbers)
        qsort(c->label, (size_t)c->count, sizeof *c->label, by_value);
}

xb_status xb_classes_finish(xb_classes *c, int64_t **rank, char ***names)
{
    int64_t *r = xb_new(c->ctx, c->count, sizeof *r);
    char **texts = xb_new(c->ctx, c->count, sizeof *texts);
    if (!r || !texts) {
        free(r);
        free(texts);
        return XB_E_MEMORY;
    }
    sort_labels(c);
    for (int64_t i = 0; i < c->count; i++) {
        r[c->label[i].number] = i;
        texts[i] = c->label[i].text; /* owned by the caller from now on */
    }
    c->count = 0;
    *rank = r;
    *names = texts;
    return XB_OK;
}
