/* utkface_facts.h: the facts of the study of faces, from its tables and counts. */
#ifndef XB_STUDY_UTKFACE_FACTS_H
#define XB_STUDY_UTKFACE_FACTS_H

#include "crossbayes/images.h"
#include "study/study.h"

typedef struct xb_utkface_rmse {
    double value, error; /* over faces */
} xb_utkface_rmse;

/* The numbers that the tables do not hold; in years. */
typedef struct xb_utkface_results {
    const xb_image_report *report;
    int64_t train, held, test, size;
    xb_utkface_rmse blind, mle; /* always predicting the mean age; the ordinary net */
} xb_utkface_results;

xb_status xb_utkface_facts(xb_ctx *ctx, xb_study *study, const xb_utkface_results *r);

#endif
