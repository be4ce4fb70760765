/* bins.h: bins of histograms for figures. They show the shape of the noise, not the steps
 * of the converter that measured it. */
#ifndef XB_STUDY_BINS_H
#define XB_STUDY_BINS_H

#include "crossbayes/extend.h"

typedef struct xb_bins {
    double low, width; /* bin k is [low + k width, low + (k + 1) width) */
    int64_t count;
} xb_bins;

/* Bins for n >= 2 ascending values, not all equal; one bin is centred on
 * `centre` (a law may peak there) unless the values are multiples of a step:
 * then every bin holds the same number of steps. */
xb_status xb_bins_choose(xb_ctx *ctx, xb_bins *out, const double *sorted, int64_t n,
                         double centre);

double xb_bins_middle(const xb_bins *bins, int64_t k);

/* density[count]: the share of the values in each bin over its width. */
void xb_bins_density(double *density, const xb_bins *bins, const double *sorted,
                     int64_t n);

#endif
