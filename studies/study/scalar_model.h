/* scalar_model.h: the data and settings of the scalar study. */
#ifndef XB_STUDY_SCALAR_MODEL_H
#define XB_STUDY_SCALAR_MODEL_H

#include "crossbayes/study.h"
#include "crossbayes/train.h"

/* Training points lie in [-XB_SCALAR_KNOWN, XB_SCALAR_KNOWN], and predictions are made in
 * [-XB_SCALAR_ASKED, XB_SCALAR_ASKED]. */
#define XB_SCALAR_KNOWN 1.0
#define XB_SCALAR_ASKED 1.5

typedef enum xb_scalar_set {
    XB_SCALAR_TRAIN,
    XB_SCALAR_TEST_IN, /* inside the training range */
    XB_SCALAR_TEST_OUT /* on both sides outside it */
} xb_scalar_set;

double xb_scalar_truth(double x); /* sin 2 pi x */
double xb_scalar_noise_sd(double x, xb_noise_scale scale);

/* x, y: [n], fixed by (seed, set, scale). */
void xb_scalar_draw(double *x, double *y, int64_t n, uint64_t seed, xb_scalar_set set,
                    xb_noise_scale scale, const xb_law *gaussian);

/* Settings under which sigma converges, and the paper's own. `law` NULL: the
 * Gaussian. */
xb_train_options xb_scalar_settled(const xb_law *law, uint64_t seed);
xb_train_options xb_scalar_literal(uint64_t seed);

#endif
