/* json.c: see json.h. */
#include "crossbayes/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/outfile.h"
#include "data/json_parse.h"
#include "data/source.h"
#include "crossbayes/extend.h"

static xb_status check_file(xb_ctx *ctx, const char *path)
{
    xb_os_info info;
    if (!xb_os_look(&info, path))
        return xb_fail(ctx, XB_E_INPUT, "%s: cannot read: %s", path, strerror(errno));
    if (info.kind == XB_OS_FOLDER)
        return xb_fail(ctx, XB_E_INPUT, "%s: this is a folder; a JSON file was expected",
                       path);
    if (info.size > XB_JSON_BYTES_MAX)
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: %lld bytes, expected a JSON file of at most %d", path,
                       (long long)info.size, XB_JSON_BYTES_MAX);
    return XB_OK;
}

/* Reads everything up to the limit, because the size of a pipe is unknown. */
static xb_status read_text(xb_source *s, char **text, int64_t *size)
{
    enum { PIECE = 1 << 16 };
    int64_t capacity = 0, got = PIECE;
    for (*size = 0; got == PIECE; *size += got) {
        if (*size > XB_JSON_BYTES_MAX)
            return xb_fail(s->ctx, XB_E_INPUT,
                           "%s: expected a JSON file of at most %d bytes", s->name,
                           XB_JSON_BYTES_MAX);
        XB_TRY(xb_grow(s->ctx, (void **)text, &capacity, *size + PIECE, 1));
        XB_TRY(xb_source_read(s, *text + *size, PIECE, &got));
    }
    return XB_OK;
}

static xb_status parse_text(xb_ctx *ctx, json_t **out, const char *path, const char *text,
                            int64_t size)
{
    json_error_t error;
    if (size == 0) return xb_fail(ctx, XB_E_INPUT, "%s: empty file", path);
    const xb_status status = xb_json_parse(out, text, size, &error);
    if (status == XB_E_MEMORY)
        return xb_fail(ctx, status, "%s: not enough memory to read it", path);
    if (status != XB_OK)
        return xb_fail(ctx, status, "%s:%d: not JSON: %s", path, error.line, error.text);
    return XB_OK;
}

static xb_status parse_file(xb_ctx *ctx, json_t **out, const char *path)
{
    xb_source source;
    char *text = NULL;
    int64_t size = 0;
    XB_TRY(xb_source_open(ctx, &source, path));
    xb_status status = read_text(&source, &text, &size);
    xb_source_close(&source);
    if (status == XB_OK) status = parse_text(ctx, out, path, text, size);
    free(text);
    return status;
}

xb_status xb_json_load(xb_ctx *ctx, json_t **out, const char *path)
{
    json_t *root = NULL;
    XB_TRY(check_file(ctx, path));
    XB_TRY(parse_file(ctx, &root, path));
    if (!json_is_object(root)) {
        json_decref(root);
        return xb_fail(ctx, XB_E_INPUT, "%s:1: expected a JSON object {...}", path);
    }
    *out = root;
    return XB_OK;
}

/* Not json_dumps(), which silently truncates if its buffer cannot grow. */
static xb_status print_json(xb_ctx *ctx, char **out, const json_t *root, size_t style)
{
    size_t size = root ? json_dumpb(root, NULL, 0, style) : 0;
    char *text = size > 0 ? xb_new(ctx, (int64_t)size + 1, 1) : NULL;
    if (!text || json_dumpb(root, text, size, style) != size) {
        free(text);
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a JSON text");
    }
    *out = text;
    return XB_OK;
}

xb_status xb_json_text(xb_ctx *ctx, char **out, const json_t *root)
{
    return print_json(ctx, out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
}

xb_status xb_json_line(xb_ctx *ctx, char **out, const json_t *root)
{
    return print_json(ctx, out, root,
                      JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

xb_status xb_json_save(xb_ctx *ctx, const json_t *root, const char *path)
{
    char *text = NULL;
    XB_TRY(xb_json_text(ctx, &text, root));
    xb_outfile *f = NULL;
    xb_status status = xb_outfile_open(ctx, &f, path);
    if (status == XB_OK) {
        fprintf(xb_outfile_stream(f), "%s\n", text);
        status = xb_outfile_commit(ctx, f);
    }
    free(text);
    return status;
}

/* Lists the known keys, each once, as far as there is room. */
static xb_status unknown_key(xb_ctx *ctx, const char *path, const char *key,
                             const char *const *known)
{
    char list[256] = "";
    size_t used = 0;
    for (const char *const *k = known; *k; k++) {
        const char *const *same = known;
        while (strcmp(*same, *k) != 0) same++;
        if (same < k) continue;
        if (used + strlen(*k) + sizeof ", , ..." > sizeof list) {
            snprintf(list + used, sizeof list - used, ", ...");
            break;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 used ? ", " : "", *k);
    }
    return xb_fail(ctx, XB_E_INPUT, "%s: unknown key '%s', expected %s", path, key, list);
}

xb_status xb_json_known_keys(xb_ctx *ctx, const json_t *object, const char *path,
                             const char *const *known)
{
    for (void *i = json_object_iter((json_t *)(uintptr_t)object); i;
         i = json_object_iter_next((json_t *)(uintptr_t)object, i)) {
        const char *key = json_object_iter_key(i);
        const char *const *k = known;
        while (*k && strcmp(*k, key) != 0) k++;
        if (!*k) return unknown_key(ctx, path, key, known);
    }
    return XB_OK;
}

xb_status xb_json_number_optional(xb_ctx *ctx, double *out, const json_t *object,
                                  const char *path, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) return XB_OK;
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return xb_fail(ctx, XB_E_INPUT, "%s: '%s' is not a finite number", path, key);
    *out = json_number_value(value);
    return XB_OK;
}

xb_status xb_json_number(xb_ctx *ctx, double *out, const json_t *object, const char *path,
                         const char *key)
{
    double value = NAN;
    XB_TRY(xb_json_number_optional(ctx, &value, object, path, key));
    if (isnan(value)) return xb_fail(ctx, XB_E_INPUT, "%s: '%s' is missing", path, key);
    *out = value;
    return XB_OK;
}

json_t *xb_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *xb_json_string(const char *text)
{
    return json_string(xb_utf8_valid(text) ? text : "?");
}

static void give_up(json_t **whole)
{
    json_decref(*whole);
    *whole = NULL;
}

void xb_json_set(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) != 0) give_up(object);
}

void xb_json_add(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) != 0) give_up(list);
}
