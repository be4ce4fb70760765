/* scalar_facts.h: named facts derived from the tables of the scalar study. */
#ifndef XB_STUDY_SCALAR_FACTS_H
#define XB_STUDY_SCALAR_FACTS_H

#include "study/study.h"

/* Cases of the table `scores`. The first three are one model under three laws. */
typedef enum xb_scalar_case {
    XB_SCALAR_GAUSSIAN,
    XB_SCALAR_DEVICE,
    XB_SCALAR_BIMODAL,
    XB_SCALAR_TRAINED, /* trained with the device law and evaluated under it */
    XB_SCALAR_LITERAL, /* with the paper's literal setting, Gaussian */
    XB_SCALAR_IDEAL,   /* the oracle, which knows truth and noise; rmse and nll only */
    XB_SCALAR_CASES
} xb_scalar_case;

/* Needs the tables `scores` and `gaps`. Errors are over seeds; with one seed, over test
 * points, or NAN if the score has none. */
xb_status xb_scalar_facts(xb_ctx *ctx, xb_study *study);

#endif
