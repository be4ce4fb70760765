/* welch.h: power spectral densities in logarithmic bins, and noise simulated from them.
 */
#ifndef XB_SERIES_WELCH_H
#define XB_SERIES_WELCH_H

#include "base/ctx.h"
#include "crossbayes/random.h"
#include "crossbayes/series.h"
#include "series/signal.h"

enum { XB_SPECTRUM_BINS = 128 };

/* A one-sided density; frequencies ascend. */
typedef struct xb_log_spectrum {
    int64_t bins;
    double frequency[XB_SPECTRUM_BINS], power[XB_SPECTRUM_BINS];
    double weight[XB_SPECTRUM_BINS]; /* number of independent ordinates behind a bin */
} xb_log_spectrum;

typedef enum xb_welch_mean { XB_WELCH_MEAN, XB_WELCH_MEDIAN } xb_welch_mean;

/* (T8) Uses stretches of about n / `parts` values. The median over stretches ignores what
 * happens in less than half of them, such as a jump. */
xb_status xb_welch(xb_ctx *ctx, xb_log_spectrum *out, const double *x, int64_t n,
                   double interval, int64_t parts, xb_welch_mean mean);
xb_status xb_welch_signal(xb_ctx *ctx, xb_log_spectrum *out, const xb_signal *x,
                          double interval, int64_t parts, xb_welch_mean mean);

/* (T5) Interpolates on logarithmic axes. Below three times the lowest frequency it
 * follows the line through the lowest decade; above the bins it is constant. */
double xb_spectrum_at(const xb_log_spectrum *s, double frequency);

/* (T9) */
xb_status xb_power_law_fit(xb_ctx *ctx, xb_power_law *out, const xb_log_spectrum *s,
                           double low, double high, bool floor);
double xb_power_law_at(const xb_power_law *law, double frequency);

#endif
