/* convert.h: converters between the digital and the analog side (maths X12, X13). */
#ifndef XB_CROSSBAR_CONVERT_H
#define XB_CROSSBAR_CONVERT_H

#include "kernel/kernels.h"

typedef struct xb_converter {
    bool on;
    bool has_sign;
    double range; /* largest value that it can represent */
    xb_steps steps;
} xb_converter;

/* The converter is off if bits is 0 or the range is not above 0. */
xb_converter xb_converter_make(int64_t bits, double range, bool has_sign);

/* A histogram of values, to find a range that covers a share of them: counts by the upper
 * half of a float, which resolves 1/128 of the value (maths X12). */
enum { XB_SPECTRUM = 1 << 15 };

typedef struct xb_spectrum {
    int64_t count[XB_SPECTRUM];
    int64_t n;
    float top; /* largest |x| */
    bool negative;
} xb_spectrum;

void xb_spectrum_add(xb_spectrum *s, const float *x, int64_t n);
/* Adds all of b to a. */
void xb_spectrum_merge(xb_spectrum *a, const xb_spectrum *b);
/* The |x| below which `share` of the values lie, rounded up; the largest value for share
 * 1. */
double xb_spectrum_quantile(const xb_spectrum *s, double share);

#endif
