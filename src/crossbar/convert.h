/* convert.h: converters between the digital and the analog side (maths X12, X13). */
#ifndef XB_CROSSBAR_CONVERT_H
#define XB_CROSSBAR_CONVERT_H

#include "kernel/kernels.h"

typedef struct xb_converter {
    bool on;
    bool has_sign;
    double range; /* largest value it can say */
    xb_steps steps;
} xb_converter;

/* bits 0, or a range that is not above 0: off. */
xb_converter xb_converter_make(int64_t bits, double range, bool has_sign);

/* How values are spread, to find a range that covers a share of them: counts by the
 * upper half of a float, so to 1/128 of the value (maths X12). */
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
/* |x| below which `share` of the values lie, rounded up; the largest for share 1. */
double xb_spectrum_quantile(const xb_spectrum *s, double share);

#endif
