/* process.h: a Gaussian process over the inputs beside a net (maths V43): it adds the
 * uncertainty far from the training rows that the net's weights cannot express. By random
 * Fourier features (Rahimi & Recht 2007), whose weights have a full covariance. */
#ifndef XB_VI_PROCESS_H
#define XB_VI_PROCESS_H

#include "crossbayes/model.h"

enum { XB_PROCESS_FEATURES = 256, XB_PROCESS_FACTOR = 256 * 257 / 2 };

typedef struct xb_process {
    double length;     /* in sds of a column times the square root of the number of
                          columns */
    int64_t columns;   /* number of columns of the inputs */
    double *frequency; /* [features][columns] */
    double *phase;     /* [features] */
    double *factor; /* [XB_PROCESS_FACTOR] of the precision of the weights, by rows: lower
                       triangle */
} xb_process;

/* Frequencies and phases are functions of length and columns; the factor is 1 so far. */
xb_status xb_process_create(xb_ctx *ctx, xb_process **out, double length,
                            int64_t columns);
void xb_process_destroy(xb_process *process); /* NULL is fine */
/* Computes phi [features] of one standardised input z [columns]. */
void xb_process_features(double *phi, const xb_process *process, const float *z);
/* The factor of a precision [XB_PROCESS_FACTOR], in place; and phi multiplied by its
 * inverse, with which independent normal numbers are multiplied. */
void xb_process_factorise(double *precision);
void xb_process_solve(double *phi, const xb_process *process);

#endif
