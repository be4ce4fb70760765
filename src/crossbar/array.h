/* array.h: the table behind xb_array: each number once, with its range, its meaning and
 * the effect it belongs to. Reading, writing, sweeps, help and "this effect alone" all
 * go through it. */
#ifndef XB_CROSSBAR_ARRAY_H
#define XB_CROSSBAR_ARRAY_H

#include "base/ctx.h"
#include "crossbayes/crossbar.h"

typedef enum xb_effect {
    XB_EFFECT_NONE, /* a size or a unit that does nothing by itself */
    XB_EFFECT_LAW,
    XB_EFFECT_MEAN_LEVELS,
    XB_EFFECT_PROGRAM,
    XB_EFFECT_SIGMA_RANGE,
    XB_EFFECT_SIGMA_LEVELS,
    XB_EFFECT_SIGMA_SPREAD,
    XB_EFFECT_SHAPE_SPREAD,
    XB_EFFECT_STUCK,
    XB_EFFECT_LINE,
    XB_EFFECT_DAC,
    XB_EFFECT_ADC,
    XB_EFFECT_CORRELATION,
    XB_EFFECT_REDRAW,
    XB_EFFECTS
} xb_effect;

typedef struct xb_array_row {
    const char *key;
    bool whole;
    double min, max;
    xb_effect effect;
    size_t offset; /* of a double, or of an int64_t where whole */
    const char *label, *unit; /* of an axis; "": a number without a unit */
    const char *about;
} xb_array_row;

extern const xb_array_row xb_array_rows[];
extern const int xb_array_row_count;

/* The row of a key (dashes for underscores will do); NULL after saying that there is
 * none, `where` before the message. */
const xb_array_row *xb_array_row_find(xb_ctx *ctx, const char *key, const char *where);
double xb_array_value(const xb_array *array, const xb_array_row *row);
xb_status xb_array_put(xb_ctx *ctx, xb_array *array, const xb_array_row *row,
                       double value, const char *where);

#endif
