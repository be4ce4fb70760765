/* calibration.h: from predictive cdfs at the targets to a calibration curve. */
#ifndef XB_COMPARE_CALIBRATION_H
#define XB_COMPARE_CALIBRATION_H

#include "base/ctx.h"

/* The central interval that just reaches the target holds mass |2 pit - 1|. Writes
 * these masses in ascending order. */
xb_status xb_central_masses(xb_ctx *ctx, double *mass, const double *pit, int64_t n);

/* (C8) Share of the n ascending masses that are at most `level`. */
double xb_calibration_share(const double *mass, int64_t n, double level);
/* (C8) Its standard error over test points, never 0. */
double xb_share_error(double share, int64_t n);

/* (C9) Area between the curve and the diagonal, exact; its standard error (NULL if
 * not wanted, NAN for n = 1), and the mean area of a calibrated predictive. */
double xb_miscalibration_area(double *std_error, const double *mass, int64_t n);
double xb_miscalibration_floor(int64_t n);

/* The bin of a confidence, (b, b + 1] / bins. */
int64_t xb_confidence_bin(double confidence, int64_t bins);
/* (C21) The mean ECE of a perfectly calibrated classifier with these n confidences. */
double xb_ece_floor(const double *confidence, int64_t n, int64_t bins);

#endif
