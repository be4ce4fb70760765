/* resume_difference.c: lists the settings, with both values, that differ between the run
 * that left a checkpoint and the one that wants to resume it, for the error message.
 *
 * A fingerprint (train.c) is nine fields and a JSON object of settings, separated by '|'.
 */
#include <stdlib.h>
#include <string.h>

#include "crossbayes/json.h"
#include "vi/trainer.h"

typedef struct differences {
    char *out;
    size_t size, used;
    int count;
} differences;

static void add(differences *d, const char *name, const char *was, const char *is)
{
    if (d->used >= d->size) return; /* full: the first ones are enough */
    int length = snprintf(d->out + d->used, d->size - d->used, "%s%s was %s and is %s",
                          d->count++ ? "; " : "", name, was, is);
    d->used += (size_t)length;
}

/* ---- fields */

/* `from` is the field that this one may follow from; else -1. */
static const struct {
    const char *name;
    int from;
} fields[] = {{"net", -1},
              {"noise_net", -1},
              {"the number of random weights", 0},
              {"law", -1},
              {"the law's standard deviation", 3},
              {"likelihood", -1},
              {"prior", -1},
              {"the data's checksum", -1},
              {"the starting model's checksum", -1}};

enum { FIELDS = XB_COUNT(fields), SHOWN = 120 };

/* Writes a field, in quotes if it has blanks, and shortened if it is long. */
static void field_text(char out[SHOWN], const char *begin, const char *end)
{
    const int most = SHOWN - 8, length = (int)(end - begin);
    const char *quote = memchr(begin, ' ', (size_t)length) ? "'" : "";
    if (length == 0)
        snprintf(out, SHOWN, "none");
    else
        snprintf(out, SHOWN, "%s%.*s%s%s", quote, length < most ? length : most, begin,
                 length < most ? "" : "...", quote);
}

/* Returns where the field that begins at p ends; NULL: there is no end. */
static const char *field_end(const char *p) { return p ? strchr(p, '|') : NULL; }

/* ---- settings */

static void value_text(char out[SHOWN], const json_t *value)
{
    if (!value)
        snprintf(out, SHOWN, "not set");
    else if (json_is_string(value))
        snprintf(out, SHOWN, "%.100s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(out, SHOWN, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(out, SHOWN, "%.10g", json_real_value(value));
    else
        snprintf(out, SHOWN, "%s", json_is_true(value) ? "on" : "off");
}

/* Compares the keys in `all`; `only_missing`: those that one of the two does not have. */
static void compare_settings(differences *d, const json_t *was, const json_t *is,
                             const json_t *all, bool only_missing)
{
    char before[SHOWN], after[SHOWN];
    json_t *list = (json_t *)(uintptr_t)all; /* jansson iterates without const */
    for (void *i = json_object_iter(list); i; i = json_object_iter_next(list, i)) {
        const char *key = json_object_iter_key(i);
        const json_t *old = json_object_get(was, key), *new = json_object_get(is, key);
        if (json_equal(old, new) || (only_missing && old && new)) continue;
        value_text(before, old);
        value_text(after, new);
        add(d, key, before, after);
    }
}

static void settings_differ(differences *d, const char *was, const char *is)
{
    json_t *old = json_loads(was, 0, NULL), *new = json_loads(is, 0, NULL);
    compare_settings(d, old, new, new, false);
    compare_settings(d, old, new, old, new != NULL);
    json_decref(old);
    json_decref(new);
}

void xb_resume_difference(char *out, size_t size, const char *was, const char *is)
{
    differences d = {.out = out, .size = size};
    bool differs[FIELDS] = {false};
    for (int i = 0; i < FIELDS; i++) {
        const char *a = field_end(was), *b = field_end(is);
        char before[SHOWN], after[SHOWN];
        if (!a || !b) break;
        const int from = fields[i].from;
        differs[i] = a - was != b - is || memcmp(was, is, (size_t)(a - was)) != 0;
        field_text(before, was, a);
        field_text(after, is, b);
        if (differs[i] && !(from >= 0 && differs[from]))
            add(&d, fields[i].name, before, after);
        was = a + 1;
        is = b + 1;
    }
    settings_differ(&d, was, is);
    if (d.count == 0) snprintf(out, size, "its settings cannot be read");
}
