/* read_noise.c: the width of a device's read noise as a function of its state (maths K5),
 * from traces of cells that stay in one state. It also interprets the device's unit. */
#include <math.h>
#include <stdio.h>

#include "crossbayes/data.h"
#include "device/relaxation.h"

int64_t xb_device_trace_count(const xb_device *d) { return d->traces; }
xb_device_trace xb_device_trace_at(const xb_device *d, int64_t i)
{
    return d->record[i].trace;
}

/* The width at one trace, which is also used outside all traces. */
static xb_device_width width_at(const xb_device *d, int64_t i, bool outside)
{
    const xb_device_trace *t = &d->record[i].trace;
    return (xb_device_width){t->width, t->width_error, 0, outside};
}

xb_device_width xb_device_width_of(const xb_device *d, double g)
{
    const int64_t last = d->traces - 1;
    if (last < 0 || isnan(g)) return (xb_device_width){NAN, NAN, NAN, true};
    const double low = d->record[0].trace.conductance;
    const double high = d->record[last].trace.conductance;
    if (g < low || last == 0) return width_at(d, 0, g != low);
    if (g >= high) return width_at(d, last, g > high);
    int64_t i = 0;
    while (d->record[i + 1].trace.conductance <= g) i++;
    const xb_device_trace *a = &d->record[i].trace, *b = &d->record[i + 1].trace;
    const double slope = (b->width - a->width) / (b->conductance - a->conductance);
    const double part = (g - a->conductance) / (b->conductance - a->conductance);
    return (xb_device_width){
        .sigma = a->width + slope * (g - a->conductance), /* (K5) */
        .sigma_error = hypot((1 - part) * a->width_error, part * b->width_error),
        .slope = slope,
    };
}

xb_status xb_device_microsiemens(xb_ctx *ctx, double *out, const xb_device *d)
{
    char one[XB_DEVICE_TEXT + 2];
    double siemens;
    snprintf(one, sizeof one, "1%s", d->unit);
    if (!*d->unit || xb_quantity_parse(ctx, &siemens, one, "S") != XB_OK)
        return xb_fail(ctx, XB_E_INPUT,
                       "the device is measured in '%.60s': expected a unit of"
                       " conductance, such as S or uS",
                       d->unit);
    *out = 1e6 * siemens;
    return XB_OK;
}
