/* trace_panels.h: panels of a trace as a time series, beside those of its fit. */
#ifndef XB_REPORT_TRACE_PANELS_H
#define XB_REPORT_TRACE_PANELS_H

#include <stdio.h>

#include "crossbayes/report.h"

/* A trace and the findings about it. */
typedef struct xb_trace_view {
    const xb_series *series;
    const double *x; /* [n] all samples */
    int64_t n;
    xb_si_unit unit, time, rate; /* units of the axes */
} xb_trace_view;

xb_trace_view xb_trace_view_make(const xb_series *series, const double *x, int64_t n,
                                 xb_si_unit unit);

/* Write and draw three blocks of data: trace, spectrum, autocorrelation; `first` is the
 * index of the first one in the file. */
void xb_trace_write_data(FILE *data, const xb_trace_view *v);
void xb_trace_panel(FILE *script, const xb_trace_view *v, const char *data, int first);
void xb_spectrum_panel(FILE *script, const xb_trace_view *v, const char *data, int first);
void xb_memory_panel(FILE *script, const xb_trace_view *v, const char *data, int first);

#endif
