/* space.h: the axes of a design, and the arrays that they make. */
#ifndef XB_DESIGN_SPACE_H
#define XB_DESIGN_SPACE_H

#include "crossbar/array.h"
#include "crossbayes/design.h"

enum {
    XB_AXES_MOST = 12,
    XB_AXIS_VALUES = 64,
    XB_ARRAYS_MOST = 4096,
    XB_DESIGNS_MOST = 20000,
    XB_CHIPS_MOST = 512 /* including the chips that confirm the choice */
};

typedef enum xb_axis_kind {
    XB_AXIS_FIELD,
    XB_AXIS_TILE,
    XB_AXIS_DRAWS,
    XB_AXIS_WIDTH, /* this and the following train the model again */
    XB_AXIS_N_EFF,
    XB_AXIS_AWARE
} xb_axis_kind;

typedef struct xb_axis {
    char key[32];
    xb_axis_kind kind;
    int64_t n;
    double value[XB_AXIS_VALUES];
} xb_axis;

struct xb_design_space {
    xb_array base;
    xb_axis axis[XB_AXES_MOST];
    int64_t n;
    /* numbers that the default search leaves unchanged */
    bool keeps_adc, keeps_dac, keeps_tile, keeps_interval;
};

/* Combination number `index` of all axes except the draws. */
typedef struct xb_combination {
    int64_t index;
    xb_array array;
} xb_combination;

/* The axis of a kind that a space can have only once; NULL: it has none. */
const xb_axis *xb_space_axis(const xb_design_space *space, xb_axis_kind kind);
/* The value of combination `index` on that axis, or `other` if there is no such axis. */
double xb_space_value_of(const xb_design_space *space, int64_t index, xb_axis_kind kind,
                         double other);
/* Sets the number of an axis in the array. Draws and the axes of the model are not
 * numbers of an array and change nothing. */
xb_status xb_space_put(xb_ctx *ctx, xb_array *array, const xb_axis *axis, double value);
const xb_axis *xb_space_draws(const xb_design_space *space); /* NULL: no such axis */
/* Lists the combinations that can be built; free() the list. */
xb_status xb_space_combine(xb_ctx *ctx, xb_combination **out, int64_t *n,
                           int64_t *left_out, const xb_design_space *space);
/* Limits tiles to the rows and columns of the largest layer; and tells whether two arrays
 * have the same numbers. */
void xb_space_trim(xb_array *array, int64_t rows, int64_t columns);
bool xb_space_same(const xb_array *a, const xb_array *b);
/* The value of combination `index` on an axis other than the draws. */
double xb_space_value(const xb_design_space *space, int64_t index, int64_t axis);

#endif
