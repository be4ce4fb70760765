/* settings.c: see settings.h. Every error quotes the whole text and says what was
 * expected. */
#include "data/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/number.h"

enum { LIST = 160, PART = 64 }; /* letters of a list, and of a part that is quoted */

static const char *list_kinds(char out[LIST], const char *const *kinds)
{
    int used = 0;
    out[0] = '\0';
    for (int i = 0; kinds[i] && used < LIST; i++)
        used +=
            snprintf(out + used, (size_t)(LIST - used), "%s%s", i ? ", " : "", kinds[i]);
    return out;
}

xb_status xb_settings_kind(xb_ctx *ctx, int *out, const char **rest, const char *what,
                           const char *text, const char *const *kinds)
{
    size_t length = strcspn(text, ":");
    char list[LIST];
    for (int i = 0; kinds[i]; i++) {
        if (strlen(kinds[i]) != length || strncmp(kinds[i], text, length) != 0) continue;
        *out = i;
        *rest = text[length] ? text + length + 1 : text + length;
        return XB_OK;
    }
    if (!text[length])
        return xb_fail(ctx, XB_E_INPUT, "unknown %s '%s', expected one of %s", what, text,
                       list_kinds(list, kinds));
    return xb_fail(ctx, XB_E_INPUT, "%s '%s': unknown %s '%.*s', expected one of %s",
                   what, text, what, (int)length, text, list_kinds(list, kinds));
}

typedef struct reading {
    xb_ctx *ctx;
    const char *what, *text;
    const xb_setting *setting;
    int n;
    bool given[XB_SETTINGS_MAX];
} reading;

/* "(normal has: mean, sd)" after what is wrong with one part of the text. */
static xb_status refuse(const reading *r, const char *wrong)
{
    char list[LIST] = "none";
    int used = 0;
    for (int i = 0; i < r->n && used < LIST; i++)
        if (*r->setting[i].name)
            used += snprintf(list + used, (size_t)(LIST - used), "%s%s", used ? ", " : "",
                             r->setting[i].name);
    return xb_fail(r->ctx, XB_E_INPUT, "%s '%s': %s (%.*s has: %s)", r->what, r->text,
                   wrong, (int)strcspn(r->text, ":"), r->text, list);
}

static int shown(size_t size) { return size < PART ? (int)size : PART; }

static xb_status not_a_pair(const reading *r, const char *part, size_t size)
{
    char wrong[LIST];
    snprintf(wrong, sizeof wrong, "'%.*s' is not NAME=VALUE", shown(size), part);
    return refuse(r, wrong);
}

static xb_status unknown(const reading *r, const char *name, size_t size)
{
    char wrong[LIST];
    snprintf(wrong, sizeof wrong, "unknown parameter '%.*s'", shown(size), name);
    return refuse(r, wrong);
}

static int find(const reading *r, const char *name, size_t size)
{
    for (int i = 0; i < r->n; i++)
        if (strlen(r->setting[i].name) == size &&
            strncmp(r->setting[i].name, name, size) == 0)
            return i;
    return -1;
}

/* Reads one "NAME=VALUE" or a lone "VALUE". */
static xb_status read_one(reading *r, const char *part, size_t size, bool first)
{
    const char *equals = memchr(part, '=', size), *end = part + size;
    if (!equals && !first) return not_a_pair(r, part, size);
    size_t name_size = equals ? (size_t)(equals - part) : 0;
    int i = find(r, part, name_size);
    if (i < 0 && !equals) return not_a_pair(r, part, size);
    if (i < 0 || (equals && name_size == 0)) return unknown(r, part, name_size);
    const char *number = equals ? equals + 1 : part;
    double value;
    const xb_setting *s = &r->setting[i];
    if (!xb_number_parse(&value, number, end, '.') || !isfinite(value))
        return xb_fail(r->ctx, XB_E_INPUT, "%s '%s': %s%sis not a number: '%.*s'",
                       r->what, r->text, s->name, *s->name ? " " : "",
                       (int)(end - number), number);
    if (r->given[i])
        return xb_fail(r->ctx, XB_E_INPUT, "%s '%s': %s is given twice", r->what, r->text,
                       *s->name ? s->name : "the value");
    if (!(value >= s->min && value <= s->max))
        return xb_fail(r->ctx, XB_E_INPUT, "%s '%s': %s%s%g, expected %g to %g", r->what,
                       r->text, s->name, *s->name ? " = " : "", value, s->min, s->max);
    *s->value = value;
    r->given[i] = true;
    return XB_OK;
}

xb_status xb_settings_read(xb_ctx *ctx, const char *what, const char *text,
                           const char *rest, const xb_setting *settings, int n)
{
    reading r = {.ctx = ctx, .what = what, .text = text, .setting = settings, .n = n};
    const char *part = rest;
    while (*part) {
        size_t size = strcspn(part, ",");
        XB_TRY(read_one(&r, part, size, part == rest));
        part += size;
        if (*part == ',' && !*++part) return not_a_pair(&r, "", 0);
    }
    return XB_OK;
}

/* ---- lists */

/* Reads the values of one "NAME=VALUE/VALUE/..", from `value` to `end`. */
static xb_status read_list(const reading *r, const xb_setting_list *list,
                           const char *value, const char *end)
{
    if (*list->count > 0)
        return xb_fail(r->ctx, XB_E_INPUT, "%s '%s': %s is given twice", r->what, r->text,
                       list->name);
    for (;; value++) {
        size_t size = strcspn(value, "/,");
        if (*list->count == list->most)
            return xb_fail(r->ctx, XB_E_INPUT, "%s '%s': more than %d values of %s",
                           r->what, r->text, list->most, list->name);
        double *to = &list->value[*list->count];
        if (!xb_number_parse(to, value, value + size, '.') || !isfinite(*to))
            return xb_fail(r->ctx, XB_E_INPUT, "%s '%s': %s is not a number: '%.*s'",
                           r->what, r->text, list->name, (int)size, value);
        ++*list->count;
        value += size;
        if (value == end) return XB_OK;
    }
}

xb_status xb_settings_lists(xb_ctx *ctx, const char *what, const char *text,
                            const char *rest, const xb_setting_list *lists, int n)
{
    xb_setting names[XB_SETTINGS_MAX]; /* for messages */
    for (int i = 0; i < n; i++) names[i] = (xb_setting){lists[i].name, NULL, 0, 0};
    reading r = {.ctx = ctx, .what = what, .text = text, .setting = names, .n = n};
    for (int i = 0; i < n; i++) *lists[i].count = 0;
    for (const char *part = rest; *part;) {
        size_t size = strcspn(part, ",");
        const char *equals = memchr(part, '=', size);
        if (!equals) return not_a_pair(&r, part, size);
        int i = find(&r, part, (size_t)(equals - part));
        if (i < 0) return unknown(&r, part, (size_t)(equals - part));
        XB_TRY(read_list(&r, &lists[i], equals + 1, part + size));
        part += size;
        if (*part == ',' && !*++part) return not_a_pair(&r, "", 0);
    }
    return XB_OK;
}
