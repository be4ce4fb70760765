/* process_draws.h: what draws.c hands to process_draws.c. */
#ifndef XB_PREDICT_PROCESS_DRAWS_H
#define XB_PREDICT_PROCESS_DRAWS_H

#include "vi/model.h"

/* Outputs of the net under draws first .. first + count - 1, which those of the model's
 * process are added to: raw or value [count][rows], the other NULL. */
typedef struct xb_process_draws {
    const xb_model *model;
    const xb_rows *rows;
    float *raw;
    double *value;
    int64_t first, count;
    uint64_t seed;
} xb_process_draws;

xb_status xb_process_add(xb_ctx *ctx, const xb_process_draws *in);

#endif
