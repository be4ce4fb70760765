/* array_file.c: arrays as JSON. Nothing in a file is trusted: keys must be known, numbers
 * in range, and texts not too long; a law is parsed when the array is used. */
#include "crossbar/array_file.h"

#include <stdio.h>
#include <string.h>

#include "crossbayes/filekind.h"
#include "law/lawfile.h"

enum { WHERE_MAX = 512 };

/* Keys that are not rows of the table. */
static const char *const texts[] = {
    "crossbayes", "base",   "name",       "law",
    "device",     "redraw", "provenance", "sample_interval_ns"};

static bool is_text(const char *key)
{
    for (int i = 0; i < XB_COUNT(texts); i++)
        if (strcmp(texts[i], key) == 0) return true;
    return false;
}

/* Reads a text shorter than `size` under `key`, if the key exists. */
static xb_status read_text(xb_ctx *ctx, char *out, size_t size, const json_t *root,
                           const char *key, const char *where)
{
    const json_t *value = json_object_get(root, key);
    if (!value) return XB_OK;
    if (!json_is_string(value) || json_string_length(value) >= size)
        return xb_fail(ctx, XB_E_INPUT, "%s'%s': expected a text of at most %d letters",
                       where, key, (int)size - 1);
    snprintf(out, size, "%s", json_string_value(value));
    return XB_OK;
}

static xb_status read_numbers(xb_ctx *ctx, xb_array *out, const json_t *root,
                              const char *where)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, key, value)
    {
        if (is_text(key)) continue;
        const xb_array_row *row = xb_array_row_find(ctx, key, where);
        if (!row) return XB_E_INPUT;
        if (!json_is_number(value))
            return xb_fail(ctx, XB_E_INPUT, "%s'%s': expected a number", where, key);
        XB_TRY(xb_array_put(ctx, out, row, json_number_value(value), where));
    }
    return XB_OK;
}

static xb_status read_redraw(xb_ctx *ctx, xb_array *out, const json_t *root,
                             const char *where)
{
    char name[32] = "";
    XB_TRY(read_text(ctx, name, sizeof name, root, "redraw", where));
    if (!*name || xb_redraw_parse(ctx, &out->redraw, name) == XB_OK) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "%s'redraw' is '%s', expected network, input or operation", where,
                   name);
}

static xb_status read_base(xb_ctx *ctx, xb_array *out, const json_t *root,
                           const char *where)
{
    char base[32] = "ideal";
    XB_TRY(read_text(ctx, base, sizeof base, root, "base", where));
    if (xb_array_fill(ctx, out, base) == XB_OK) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "%s'base' is '%s', expected ideal, mtj, ecram or rram", where, base);
}

/* Reads the correlation of the trace behind the law, if the sample interval is given. */
static xb_status read_measured(xb_ctx *ctx, xb_array *out, const json_t *root,
                               const char *path, const char *where)
{
    double interval = 0;
    XB_TRY(xb_json_number_optional(ctx, &interval, root, path, "sample_interval_ns"));
    if (!json_object_get(root, "sample_interval_ns")) return XB_OK;
    if (json_object_get(root, "correlation_time_ns"))
        return xb_fail(ctx, XB_E_INPUT,
                       "%s'sample_interval_ns' and 'correlation_time_ns': expected one"
                       " of them",
                       where);
    if (!out->law[0])
        return xb_fail(ctx, XB_E_INPUT,
                       "%s'sample_interval_ns' needs 'law', the law file of a fit",
                       where);
    char law[sizeof out->law];
    snprintf(law, sizeof law, "%s", out->law);
    return xb_array_set_measured(ctx, out, law, interval);
}

static xb_status read_array(xb_ctx *ctx, xb_array *out, const json_t *root,
                            const char *path, const char *where)
{
    const json_t *kind = json_object_get(root, "crossbayes");
    if (!json_is_string(kind) || strcmp(json_string_value(kind), "array") != 0)
        return xb_fail(ctx, XB_E_INPUT,
                       "%snot an array file (no \"crossbayes\": \"array\")", where);
    xb_array array;
    XB_TRY(read_base(ctx, &array, root, where));
    XB_TRY(read_numbers(ctx, &array, root, where));
    XB_TRY(read_text(ctx, array.name, sizeof array.name, root, "name", where));
    XB_TRY(read_text(ctx, array.law, sizeof array.law, root, "law", where));
    XB_TRY(read_text(ctx, array.device, sizeof array.device, root, "device", where));
    XB_TRY(read_redraw(ctx, &array, root, where));
    XB_TRY(read_measured(ctx, &array, root, path, where));
    xb_status status = xb_array_check(ctx, &array);
    if (status != XB_OK) {
        char why[WHERE_MAX];
        snprintf(why, sizeof why, "%s", xb_ctx_message(ctx));
        return xb_fail(ctx, status, "%s%s", where, why);
    }
    *out = array;
    return XB_OK;
}

/* The array itself, also if the file is the array.json of an export. */
static const json_t *array_of(const json_t *root)
{
    const json_t *kind = json_object_get(root, "crossbayes");
    const json_t *inside = json_object_get(root, "array");
    const bool export =
        json_is_string(kind) && strcmp(json_string_value(kind), "array export") == 0;
    return export && json_is_object(inside) ? inside : root;
}

xb_status xb_array_read(xb_ctx *ctx, xb_array *out, const char *path)
{
    json_t *root = NULL;
    char where[WHERE_MAX];
    snprintf(where, sizeof where, "%.400s: ", path);
    xb_status status = xb_json_load(ctx, &root, path);
    if (status == XB_OK) status = read_array(ctx, out, array_of(root), path, where);
    json_decref(root);
    return xb_filekind_explain(ctx, status, path, XB_KIND_ARRAY);
}

json_t *xb_array_to_json(const xb_ctx *ctx, const xb_array *array)
{
    json_t *root = json_object();
    xb_json_set(&root, "crossbayes", xb_json_string("array"));
    xb_json_set(&root, "name", xb_json_string(array->name));
    xb_json_set(&root, "law", xb_json_string(array->law));
    if (array->device[0]) xb_json_set(&root, "device", xb_json_string(array->device));
    for (int i = 0; i < xb_array_row_count; i++) {
        const xb_array_row *row = &xb_array_rows[i];
        double value = xb_array_value(array, row);
        if (array->memory.lags > 0 &&
            row->offset == offsetof(xb_array, correlation_time_ns)) {
            xb_json_set(&root, "sample_interval_ns",
                        json_real(array->memory.interval_ns));
            continue; /* it follows from the law's file */
        }
        xb_json_set(&root, row->key,
                    row->whole ? json_integer((json_int_t)value) : json_real(value));
    }
    xb_json_set(&root, "redraw", xb_json_string(xb_redraw_name(array->redraw)));
    xb_json_set(&root, "provenance", xb_provenance(ctx));
    return root;
}

xb_status xb_array_save(xb_ctx *ctx, const xb_array *array, const char *path)
{
    XB_TRY(xb_array_check(ctx, array));
    json_t *root = xb_array_to_json(ctx, array);
    xb_status status = xb_json_save(ctx, root, path);
    json_decref(root);
    return status;
}
