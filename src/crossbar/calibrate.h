/* calibrate.h: the steps of calibration, for a layer at a time or for all. */
#ifndef XB_CROSSBAR_CALIBRATE_H
#define XB_CROSSBAR_CALIBRATE_H

#include "crossbar/analog.h"

/* Known inputs, scaled as the net needs them. */
typedef struct xb_known {
    const float *x; /* [n][features] */
    int64_t n, features;
} xb_known;

/* Reads all inputs a few times, with the observers of r->seen. */
void xb_calibrate_watch(xb_reader *r, const xb_known *known);
/* (X12) Sets the converters of a layer; `sum` is the range of its tile sums, used if the
 * array has no fixed one. */
void xb_calibrate_set(xb_analog_layer *p, const xb_array *array, const xb_spectrum *in,
                      double sum);
/* The same for a layer with planes: first for its inputs, then for each slice, whose sums
 * in pulses can be observed only once the inputs have a converter. */
void xb_calibrate_inputs(xb_analog_layer *p, const xb_array *array,
                         const xb_spectrum *in);
void xb_calibrate_planes(xb_analog_layer *p, const xb_array *array,
                         const xb_spectrum *planes);
/* calibrate_columns.c: (X50, X51) one layer after the other. */
xb_status xb_calibrate_columns(xb_ctx *ctx, xb_analog *analog, const xb_known *known);

#endif
