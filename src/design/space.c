/* space.c: the axes of a search and the arrays that they make. An axis is any number of
 * an array, by its name, so a new number of arrays can be searched at once. */
#include "design/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

xb_status xb_design_space_create(xb_ctx *ctx, xb_design_space **out,
                                 const xb_array *array)
{
    XB_TRY(xb_array_check(ctx, array));
    xb_design_space *space = xb_new(ctx, 1, sizeof *space);
    if (!space) return XB_E_MEMORY;
    space->base = *array;
    *out = space;
    return XB_OK;
}

void xb_design_space_destroy(xb_design_space *space) { free(space); }

/* ---- axes */

static bool same_key(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b)) return false;
    return *a == *b;
}

int64_t xb_design_space_axis_find(const xb_design_space *space, const char *key)
{
    for (int64_t i = 0; i < space->n; i++)
        if (same_key(space->axis[i].key, key)) return i;
    return -1;
}

static xb_axis_kind kind_of(const char *key)
{
    static const struct {
        const char *key;
        xb_axis_kind kind;
    } kinds[] = {{"draws", XB_AXIS_DRAWS},
                 {"tile", XB_AXIS_TILE},
                 {"width", XB_AXIS_WIDTH},
                 {"n_eff_penalty", XB_AXIS_N_EFF},
                 {"for_array", XB_AXIS_AWARE}};
    for (int i = 0; i < XB_COUNT(kinds); i++)
        if (same_key(kinds[i].key, key)) return kinds[i].kind;
    return XB_AXIS_FIELD;
}

xb_status xb_space_put(xb_ctx *ctx, xb_array *array, const xb_axis *axis, double value)
{
    if (axis->kind != XB_AXIS_FIELD && axis->kind != XB_AXIS_TILE) return XB_OK;
    if (axis->kind == XB_AXIS_FIELD) return xb_array_set(ctx, array, axis->key, value);
    XB_TRY(xb_array_set(ctx, array, "rows", value));
    return xb_array_set(ctx, array, "columns", value);
}

static bool is_bits(const char *key)
{
    return same_key(key, "adc_bits") || same_key(key, "dac_bits");
}

static xb_status check_whole(xb_ctx *ctx, const char *key, double value, double least,
                             double most)
{
    if (value >= least && value <= most && value == floor(value)) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "%s is %g, expected a whole number from %g to %g",
                   key, value, least, most);
}

static xb_status check_value(xb_ctx *ctx, const xb_design_space *space,
                             const xb_axis *axis, double value)
{
    xb_array trial = space->base;
    if (axis->kind == XB_AXIS_DRAWS) return check_whole(ctx, axis->key, value, 1, 1e6);
    if (axis->kind == XB_AXIS_WIDTH) return check_whole(ctx, axis->key, value, 1, 65536);
    if (axis->kind == XB_AXIS_AWARE) return check_whole(ctx, axis->key, value, 0, 1);
    if (axis->kind == XB_AXIS_N_EFF && !(value >= 0 && value <= 1e6))
        return xb_fail(ctx, XB_E_INPUT, "n_eff_penalty is %g, expected 0 or more", value);
    if (is_bits(axis->key) && value == 0)
        return xb_fail(ctx, XB_E_INPUT,
                       "%s is 0: a design needs converters, expected 2 to 20 bits",
                       axis->key);
    return xb_space_put(ctx, &trial, axis, value);
}

static xb_status check_axis(xb_ctx *ctx, const xb_design_space *space,
                            const xb_axis *axis)
{
    for (int64_t i = 0; i < axis->n; i++) {
        XB_TRY(check_value(ctx, space, axis, axis->value[i]));
        for (int64_t k = 0; k < i; k++)
            if (axis->value[k] == axis->value[i])
                return xb_fail(ctx, XB_E_INPUT, "%s: %g is listed twice", axis->key,
                               axis->value[i]);
    }
    return XB_OK;
}

/* "tile" sets rows and columns, so it excludes the axes "rows" and "columns". */
static bool clashes(const xb_design_space *space, const char *key)
{
    const bool part = same_key(key, "rows") || same_key(key, "columns");
    if (xb_design_space_axis_find(space, key) >= 0) return true;
    if (kind_of(key) == XB_AXIS_TILE)
        return xb_design_space_axis_find(space, "rows") >= 0 ||
               xb_design_space_axis_find(space, "columns") >= 0;
    return part && xb_design_space_axis_find(space, "tile") >= 0;
}

xb_status xb_design_space_add(xb_ctx *ctx, xb_design_space *space, const char *key,
                              const double *value, int64_t n)
{
    if (kind_of(key) == XB_AXIS_FIELD && !xb_array_row_find(ctx, key, ""))
        return XB_E_INPUT;
    if (clashes(space, key))
        return xb_fail(ctx, XB_E_INPUT, "%s is listed twice; give all its values at once",
                       key);
    if (space->n == XB_AXES_MOST)
        return xb_fail(ctx, XB_E_INPUT, "more than %d numbers to choose", XB_AXES_MOST);
    if (n < 1 || n > XB_AXIS_VALUES)
        return xb_fail(ctx, XB_E_INPUT, "%s: %lld values, expected 1 to %d", key,
                       (long long)n, XB_AXIS_VALUES);
    xb_axis axis = {.kind = kind_of(key), .n = n};
    snprintf(axis.key, sizeof axis.key, "%s", key);
    for (char *p = axis.key; *p; p++)
        if (*p == '-') *p = '_';
    memcpy(axis.value, value, (size_t)n * sizeof *value);
    XB_TRY(check_axis(ctx, space, &axis));
    space->axis[space->n++] = axis;
    return XB_OK;
}

/* ---- the default search */

xb_status xb_design_space_fix(xb_ctx *ctx, xb_design_space *space, const char *key)
{
    xb_axis axis = {.kind = XB_AXIS_FIELD};
    double value;
    XB_TRY(xb_array_get(ctx, &value, &space->base, key));
    snprintf(axis.key, sizeof axis.key, "%s", key);
    XB_TRY(check_value(ctx, space, &axis, value));
    space->keeps_adc |= same_key(key, "adc_bits");
    space->keeps_dac |= same_key(key, "dac_bits");
    space->keeps_tile |= same_key(key, "rows") || same_key(key, "columns");
    space->keeps_interval |= same_key(key, "read_interval_ns");
    return XB_OK;
}

/* Half and multiples of the time between reads, if reads depend on it. */
static xb_status add_intervals(xb_ctx *ctx, xb_design_space *space)
{
    const xb_array *a = &space->base;
    const bool remembers = a->correlation_time_ns > 0 || a->memory.lags > 0;
    double value[] = {0.5, 1, 2, 4};
    if (space->keeps_interval || !remembers || !(a->read_interval_ns > 0)) return XB_OK;
    for (int i = 0; i < XB_COUNT(value); i++) value[i] *= a->read_interval_ns;
    return xb_design_space_add(ctx, space, "read_interval_ns", value, XB_COUNT(value));
}

xb_status xb_design_space_complete(xb_ctx *ctx, xb_design_space *space)
{
    static const double adc[] = {5, 6, 7, 8, 9, 10, 11}, dac[] = {4, 6, 8},
                        tile[] = {64, 128, 256}, draws[] = {10, 20, 50, 100, 200};
    const bool has_draws = xb_space_draws(space) != NULL;
    if (space->n == (has_draws ? 1 : 0)) {
        if (!space->keeps_adc)
            XB_TRY(xb_design_space_add(ctx, space, "adc_bits", adc, XB_COUNT(adc)));
        if (!space->keeps_dac)
            XB_TRY(xb_design_space_add(ctx, space, "dac_bits", dac, XB_COUNT(dac)));
        if (!space->keeps_tile)
            XB_TRY(xb_design_space_add(ctx, space, "tile", tile, XB_COUNT(tile)));
        XB_TRY(add_intervals(ctx, space));
    }
    if (has_draws) return XB_OK;
    return xb_design_space_add(ctx, space, "draws", draws, XB_COUNT(draws));
}

int64_t xb_design_space_axis_count(const xb_design_space *space) { return space->n; }

static const xb_axis *axis_at(const xb_design_space *space, int64_t i)
{
    return i >= 0 && i < space->n ? &space->axis[i] : NULL;
}

const char *xb_design_space_axis_name(const xb_design_space *space, int64_t i)
{
    const xb_axis *axis = axis_at(space, i);
    return axis ? axis->key : NULL;
}

int64_t xb_design_space_axis_size(const xb_design_space *space, int64_t i)
{
    const xb_axis *axis = axis_at(space, i);
    return axis ? axis->n : 0;
}

double xb_design_space_axis_value(const xb_design_space *space, int64_t i, int64_t k)
{
    const xb_axis *axis = axis_at(space, i);
    return axis && k >= 0 && k < axis->n ? axis->value[k] : NAN;
}

const xb_axis *xb_space_axis(const xb_design_space *space, xb_axis_kind kind)
{
    for (int64_t i = 0; i < space->n; i++)
        if (space->axis[i].kind == kind) return &space->axis[i];
    return NULL;
}

const xb_axis *xb_space_draws(const xb_design_space *space)
{
    return xb_space_axis(space, XB_AXIS_DRAWS);
}

/* ---- combinations; the last axis varies fastest */

double xb_space_value(const xb_design_space *space, int64_t index, int64_t wanted)
{
    double value = NAN;
    for (int64_t i = space->n - 1; i >= wanted; i--) {
        const xb_axis *axis = &space->axis[i];
        if (axis->kind == XB_AXIS_DRAWS) continue;
        value = axis->value[index % axis->n];
        index /= axis->n;
    }
    return value;
}

double xb_space_value_of(const xb_design_space *space, int64_t index, xb_axis_kind kind,
                         double other)
{
    const xb_axis *axis = xb_space_axis(space, kind);
    return axis ? xb_space_value(space, index, axis - space->axis) : other;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static xb_status build(xb_ctx *ctx, xb_array *out, const xb_design_space *space,
                       int64_t index)
{
    *out = space->base;
    for (int64_t i = 0; i < space->n; i++)
        if (space->axis[i].kind != XB_AXIS_DRAWS)
            XB_TRY(
                xb_space_put(ctx, out, &space->axis[i], xb_space_value(space, index, i)));
    return xb_array_check(ctx, out);
}

/* A tile that is larger than every layer is reduced to the size of the largest layer. */
void xb_space_trim(xb_array *array, int64_t rows, int64_t columns)
{
    array->rows = array->rows > 0 ? smaller(array->rows, rows) : rows;
    array->columns = array->columns > 0 ? smaller(array->columns, columns) : columns;
}

/* Compares all numbers of the two arrays. */
bool xb_space_same(const xb_array *a, const xb_array *b)
{
    for (int i = 0; i < xb_array_row_count; i++)
        if (xb_array_value(a, &xb_array_rows[i]) != xb_array_value(b, &xb_array_rows[i]))
            return false;
    return true;
}

static xb_status count_combinations(xb_ctx *ctx, int64_t *out,
                                    const xb_design_space *space)
{
    double arrays = 1, designs = 1;
    for (int64_t i = 0; i < space->n; i++) {
        const double n = (double)space->axis[i].n;
        if (space->axis[i].kind != XB_AXIS_DRAWS) arrays *= n;
        designs *= n;
    }
    if (arrays > XB_ARRAYS_MOST || designs > XB_DESIGNS_MOST)
        return xb_fail(ctx, XB_E_INPUT,
                       "%.0f arrays and %.0f designs are too many: expected at most %d"
                       " and %d",
                       arrays, designs, XB_ARRAYS_MOST, XB_DESIGNS_MOST);
    *out = (int64_t)arrays;
    return XB_OK;
}

xb_status xb_space_combine(xb_ctx *ctx, xb_combination **out, int64_t *n,
                           int64_t *left_out, const xb_design_space *space)
{
    int64_t all = 0, kept = 0, refused = 0;
    XB_TRY(count_combinations(ctx, &all, space));
    xb_combination *list = xb_new(ctx, all, sizeof *list);
    if (!list) return XB_E_MEMORY;
    for (int64_t index = 0; index < all; index++) {
        list[kept].index = index;
        if (build(ctx, &list[kept].array, space, index) == XB_OK)
            kept++;
        else
            refused++;
    }
    if (kept == 0) { /* the message is that of the last combination */
        free(list);
        return XB_E_INPUT;
    }
    *out = list, *n = kept, *left_out = refused;
    return XB_OK;
}
