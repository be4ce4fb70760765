/* assay.h: what an assay found, as the library holds it. */
#ifndef XB_CROSSBAR_ASSAY_H
#define XB_CROSSBAR_ASSAY_H

#include "crossbayes/crossbar.h"

struct xb_assay_result {
    bool of_classes;
    xb_regression_scores regression; /* a target of numbers */
    xb_class_scores classes;         /* classes */
    xb_score nll_difference;         /* from the digital model, row by row; numbers */
    xb_distances distance;           /* of the predictives from the digital ones, no kl */
    double kl_at_least;              /* KL(array || digital), nats: xb_kl_at_least() */
};

#endif
