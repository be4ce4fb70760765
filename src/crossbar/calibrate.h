/* calibrate.h: the steps of calibration, for a layer at a time or for all. */
#ifndef XB_CROSSBAR_CALIBRATE_H
#define XB_CROSSBAR_CALIBRATE_H

#include "crossbar/analog.h"

/* Inputs that are known, as the net wants them. */
typedef struct xb_known {
    const float *x; /* [n][features] */
    int64_t n, features;
} xb_known;

/* Reads them all, some times, with whatever watches r->seen has. */
void xb_calibrate_watch(xb_reader *r, const xb_known *known);
/* (X12) Converters of a layer; `sum` the range of its tile sums where the array has no
 * fixed one. */
void xb_calibrate_set(xb_analog_layer *p, const xb_array *array, const xb_spectrum *in,
                      double sum);
/* The same of a layer with planes: of its inputs, and then of each slice, whose sums in
 * pulses can be seen only when the inputs' converter is there. */
void xb_calibrate_inputs(xb_analog_layer *p, const xb_array *array,
                         const xb_spectrum *in);
void xb_calibrate_planes(xb_analog_layer *p, const xb_array *array,
                         const xb_spectrum *planes);
/* calibrate_columns.c: (X50, X51) one layer after the other. */
xb_status xb_calibrate_columns(xb_ctx *ctx, xb_analog *analog, const xb_known *known);

#endif
