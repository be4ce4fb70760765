/* remedies.c: the remedies of an array against its effects, by name, and an array without
 * one of them. A remedy is on if its number is not 0. Its benefit shows when it is left
 * out, while the harm of an effect shows when it is alone. */
#include <string.h>

#include "crossbar/array.h"

static const struct remedy {
    const char *name, *key, *about;
} remedies[] = {
    {"column calibration", "column_calibration", "gain and offset of each column"},
    {"ADC ranges", "adc_range_per", "ADC ranges of tiles or columns"},
    {"stuck repair", "stuck_repair", "partners that compensate for stuck devices"},
    {"spare columns", "spare_columns", "spare columns that replace the worst ones"},
    {"quiet pairs", "quiet_pairs", "pairs of states that move little"},
};

int64_t xb_array_remedy_count(void) { return XB_COUNT(remedies); }
const char *xb_array_remedy_name(int64_t i) { return remedies[i].name; }
const char *xb_array_remedy_about(int64_t i) { return remedies[i].about; }

int64_t xb_array_remedy_find(const char *name)
{
    for (int64_t i = 0; i < xb_array_remedy_count(); i++)
        if (strcmp(remedies[i].name, name) == 0) return i;
    return -1;
}

static const xb_array_row *row_of(int64_t i)
{
    return &xb_array_rows[xb_array_field_find(remedies[i].key)];
}

bool xb_array_has_remedy(const xb_array *array, int64_t i)
{
    return xb_array_value(array, row_of(i)) != 0;
}

xb_status xb_array_without(xb_ctx *ctx, xb_array **out, const xb_array *array, int64_t i)
{
    xb_array *copy = NULL;
    XB_TRY(xb_array_copy(ctx, &copy, array));
    (void)xb_array_put(NULL, copy, row_of(i), 0, "");
    *out = copy;
    return XB_OK;
}
