/* draws.h: what draws.c hands to draws_together.c, and shares with noise_sd.c. */
#ifndef XB_PREDICT_DRAWS_H
#define XB_PREDICT_DRAWS_H

#include "backend/backend.h"
#include "data/rows.h"
#include "predict/predict.h"
#include "vi/model.h"

/* Outputs of all rows under draws first .. first + count - 1. */
typedef struct xb_draw_slab {
    const xb_model *model;
    const xb_predict_options *opt;
    const xb_sampler *sampler;
    const xb_rows *rows;
    const xb_backend *backend;
    xb_weights weights; /* in the backend's memory */
    double *value;      /* [count][n][outputs] */
    float *raw;         /* the same before xb_predict_values; one of the two is NULL */
    int64_t first, count, outputs;
} xb_draw_slab;

/* Whether the backend makes many draws of this net at once. */
bool xb_draws_together_suit(const xb_draw_slab *job);
xb_status xb_draws_together(xb_ctx *ctx, const xb_draw_slab *job);

/* The number of rows for which a pass stays within its memory limit. */
int64_t xb_chunk_rows(const xb_backend *b, const xb_net *net);

#endif
