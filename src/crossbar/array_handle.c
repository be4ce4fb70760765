/* array_handle.c: the functions with which users create arrays and change their numbers
 * by name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/array.h"

static xb_status keep(xb_ctx *ctx, xb_array **out, const xb_array *array)
{
    xb_array *kept = xb_new(ctx, 1, sizeof *kept);
    if (!kept) return XB_E_MEMORY;
    *kept = *array;
    *out = kept;
    return XB_OK;
}

xb_status xb_array_preset(xb_ctx *ctx, xb_array **out, const char *name)
{
    xb_array array;
    XB_TRY(xb_array_fill(ctx, &array, name));
    return keep(ctx, out, &array);
}

xb_status xb_array_load(xb_ctx *ctx, xb_array **out, const char *path)
{
    xb_array array;
    XB_TRY(xb_array_read(ctx, &array, path));
    return keep(ctx, out, &array);
}

/* A name without a dot or a slash is meant as a preset. */
xb_status xb_array_parse(xb_ctx *ctx, xb_array **out, const char *text)
{
    if (strpbrk(text, "./")) return xb_array_load(ctx, out, text);
    return xb_array_preset(ctx, out, text);
}

xb_status xb_array_copy(xb_ctx *ctx, xb_array **out, const xb_array *array)
{
    return keep(ctx, out, array);
}

xb_status xb_array_only(xb_ctx *ctx, xb_array **out, const xb_array *array,
                        int64_t effect)
{
    const xb_array alone = xb_array_alone(array, effect);
    return keep(ctx, out, &alone);
}

void xb_array_destroy(xb_array *array) { free(array); }

/* ---- texts */

static xb_status set_text(xb_ctx *ctx, char *out, size_t size, const char *text)
{
    if (strlen(text) >= size)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "'%.60s...' is too long: expected at most %zu bytes", text,
                       size - 1);
    memmove(out, text, strlen(text) + 1);
    return XB_OK;
}

const char *xb_array_name(const xb_array *array) { return array->name; }
xb_status xb_array_set_name(xb_ctx *ctx, xb_array *array, const char *name)
{
    return set_text(ctx, array->name, sizeof array->name, name);
}

const char *xb_array_law(const xb_array *array) { return array->law; }
xb_status xb_array_set_law(xb_ctx *ctx, xb_array *array, const char *law)
{
    XB_TRY(set_text(ctx, array->law, sizeof array->law, law));
    array->memory.lags = 0; /* it belonged to another trace */
    return XB_OK;
}

const char *xb_array_device(const xb_array *array) { return array->device; }
xb_status xb_array_set_device(xb_ctx *ctx, xb_array *array, const char *path)
{
    return set_text(ctx, array->device, sizeof array->device, path);
}

xb_redraw xb_array_redraw(const xb_array *array) { return array->redraw; }
void xb_array_set_redraw(xb_array *array, xb_redraw redraw) { array->redraw = redraw; }
