/* convert.c: see convert.h. A signed converter of b bits has 2^b - 1 levels around zero,
 * which is exactly one of them; an unsigned one has 2^b levels from zero on, because
 * zeros behind a rectifier must stay exactly zero. The backend does the rounding
 * (`quantise`). */
#include "crossbar/convert.h"

#include <math.h>
#include <string.h>

xb_converter xb_converter_make(int64_t bits, double range, bool has_sign)
{
    if (bits == 0 || !(range > 0)) return (xb_converter){.range = range};
    double steps = ldexp(1, (int)bits - (has_sign ? 1 : 0)) - 1; /* (X13) */
    double step = range / steps;
    return (xb_converter){.on = true,
                          .has_sign = has_sign,
                          .range = range,
                          .steps = {.step = (float)step,
                                    .inverse = (float)(1 / step),
                                    .low = has_sign ? -(float)steps : 0,
                                    .high = (float)steps}};
}

void xb_spectrum_add(xb_spectrum *s, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        s->count[(bits & UINT32_C(0x7FFFFFFF)) >> 16]++;
        s->top = fmaxf(s->top, fabsf(x[i]));
        s->negative = s->negative || x[i] < 0;
    }
    s->n += n;
}

void xb_spectrum_merge(xb_spectrum *a, const xb_spectrum *b)
{
    for (int i = 0; i < XB_SPECTRUM; i++) a->count[i] += b->count[i];
    a->n += b->n;
    a->top = fmaxf(a->top, b->top);
    a->negative = a->negative || b->negative;
}

double xb_spectrum_quantile(const xb_spectrum *s, double share)
{
    double wanted = share * (double)s->n, seen = 0;
    for (uint32_t i = 0; i < XB_SPECTRUM && share < 1; i++) {
        seen += (double)s->count[i];
        if (seen < wanted) continue;
        uint32_t bits = (i + 1) << 16; /* upper end of the bin */
        float edge;
        memcpy(&edge, &bits, sizeof edge);
        return fmin((double)edge, (double)s->top); /* (X12) */
    }
    return (double)s->top;
}
