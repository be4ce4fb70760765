/* array_task.h: a trained model and its test points, for the study of arrays. */
#ifndef XB_STUDY_ARRAY_TASK_H
#define XB_STUDY_ARRAY_TASK_H

#include "crossbayes/extend.h"
#include "crossbayes/crossbar.h"
#include "crossbayes/study.h"

typedef struct xb_array_task {
    xb_model *model;
    xb_assay *assay;
    double *train_x, *train_y, *test_x, *test_y; /* [n_train or n_test][features] */
    int64_t n_train, n_test, features;
    double *mean, *sd; /* [n_test] moments of the digital model's outputs, from many
                          draws */
} xb_array_task;

typedef struct xb_array_sizes {
    int64_t train, test; /* numbers of points of the scalar experiment */
    int64_t epochs;      /* epochs of each of its phases */
    int64_t reads;
} xb_array_sizes;

/* The scalar experiment of scalar_model.h, and a table: opt->data, or Friedman's function
 * (maths X17). Free in any case. */
xb_status xb_array_task_scalar(xb_ctx *ctx, xb_array_task *out,
                               const xb_study_options *opt, const xb_array_sizes *sizes);
xb_status xb_array_task_table(xb_ctx *ctx, xb_array_task *out,
                              const xb_study_options *opt, const xb_array_sizes *sizes);
void xb_array_task_free(xb_array_task *task);

#endif
