/* npyhead.c: the header of an NPY file, a Python dictionary such as
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 * read by a parser that knows these three keys and nothing else.
 * Format: numpy.lib.format, versions 1 to 3. */
#include "data/npyhead.h"

#include <stdio.h>
#include <string.h>

typedef struct cursor {
    const char *p, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t')) c->p++;
}

static bool take(cursor *c, const char *word)
{
    size_t size = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->p) < size || memcmp(c->p, word, size) != 0) return false;
    c->p += size;
    return true;
}

/* A string in either kind of quotes that fits into out[size]. */
static bool take_string(cursor *c, char *out, size_t size)
{
    skip_space(c);
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"')) return false;
    char quote = *c->p++;
    const char *close = memchr(c->p, quote, (size_t)(c->end - c->p));
    if (!close || (size_t)(close - c->p) >= size) return false;
    memcpy(out, c->p, (size_t)(close - c->p));
    out[close - c->p] = '\0';
    c->p = close + 1;
    return true;
}

static bool take_bool(cursor *c, bool *out)
{
    *out = take(c, "True");
    return *out || take(c, "False");
}

static bool take_length(cursor *c, int64_t *out)
{
    skip_space(c);
    const char *first = c->p;
    int64_t n = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, *c->p - '0', &n))
            return false;
    *out = n;
    return c->p > first;
}

static bool take_shape(cursor *c, xb_npy_head *head)
{
    if (!take(c, "(")) return false;
    while (!take(c, ")")) {
        if (head->ndim == XB_NPY_DIMENSIONS) return false;
        if (!take_length(c, &head->shape[head->ndim++])) return false;
        if (!take(c, ",")) return take(c, ")");
    }
    return true;
}

/* One "key: value"; the bits of *seen make sure that each key occurs once. */
static const char *take_entry(cursor *c, xb_npy_head *head, unsigned *seen)
{
    char key[16];
    if (!take_string(c, key, sizeof key) || !take(c, ":")) return "its header";
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    int which = 0;
    while (which < XB_COUNT(keys) && strcmp(key, keys[which]) != 0) which++;
    if (which == XB_COUNT(keys) || *seen >> which & 1) return "its header's keys";
    *seen |= 1u << which;
    if (which == 0)
        return take_string(c, head->type, sizeof head->type) ? NULL : "its element type";
    if (which == 1) return take_bool(c, &head->fortran) ? NULL : "its order";
    return take_shape(c, head) ? NULL : "its shape";
}

xb_status xb_npy_head_parse(xb_ctx *ctx, xb_npy_head *out, const char *file,
                            const char *text, int64_t size)
{
    cursor c = {text, text + size};
    xb_npy_head head = {.ndim = 0};
    unsigned seen = 0;
    const char *wrong = take(&c, "{") ? NULL : "its header";
    while (!wrong && !take(&c, "}")) {
        wrong = take_entry(&c, &head, &seen);
        if (wrong || take(&c, ",")) continue;
        if (!take(&c, "}")) wrong = "its header";
        break;
    }
    skip_space(&c);
    if (!wrong && (c.p != c.end || seen != 7)) wrong = "its header";
    if (wrong)
        return xb_fail(ctx, XB_E_INPUT, "%s: an NPY file, but %s cannot be used: '%.*s'",
                       file, wrong, (int)(size < 120 ? size : 120), text);
    *out = head;
    return XB_OK;
}

int xb_npy_head_format(char out[512], const xb_npy_head *head)
{
    enum { PREFIX = 10, ALIGN = 64, GROWTH_DIGITS = 21 };
    char *text = out + PREFIX;
    int used = sprintf(text, "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                       head->type, head->fortran ? "True" : "False");
    for (int i = 0; i < head->ndim; i++)
        used += sprintf(text + used, i ? ", %lld" : "%lld", (long long)head->shape[i]);
    used += sprintf(text + used, head->ndim == 1 ? ",), }" : "), }");
    /* NumPy leaves room so that the first length can grow in place */
    if (head->ndim > 0)
        used += sprintf(
            text + used, "%*s",
            GROWTH_DIGITS - snprintf(NULL, 0, "%lld", (long long)head->shape[0]), "");
    while ((PREFIX + used + 1) % ALIGN != 0) text[used++] = ' ';
    text[used++] = '\n';
    memcpy(out, XB_NPY_MAGIC, XB_NPY_MAGIC_SIZE);
    out[6] = 1; /* version 1.0 */
    out[7] = 0;
    out[8] = (char)(used & 0xFF);
    out[9] = (char)(used >> 8);
    return PREFIX + used;
}
