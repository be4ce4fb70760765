/* distinct_rows.h: the rows of a table that training learns from. */
#ifndef XB_VI_DISTINCT_ROWS_H
#define XB_VI_DISTINCT_ROWS_H

#include "vi/trainer.h"

typedef struct xb_distinct {
    xb_train_data data; /* without the copies */
    int64_t *select;    /* data.select if there are copies; free it. NULL: none */
    int64_t copies;     /* number of rows left out */
} xb_distinct;

/* (V22) */
xb_status xb_distinct_rows(xb_ctx *ctx, xb_distinct *out, const xb_train_data *data,
                           const xb_train_options *opt);

#endif
