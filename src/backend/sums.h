/* sums.h: sums of weight gradients over the rows of all ranks (crew.h). A rank adds its
 * own blocks when a layer's backward pass ends (base/comm.h), and what is left of many
 * layers is exchanged at once: an exchange makes every rank wait for the slowest one. */
#ifndef XB_BACKEND_SUMS_H
#define XB_BACKEND_SUMS_H

#include "backend/linear.h"

typedef struct xb_sums xb_sums;

/* Memory for the crew of a pass through `net`, in batches of up to `batch` examples. */
xb_status xb_sums_create(xb_ctx *ctx, xb_crew *crew, const xb_net *net, int64_t batch);
void xb_sums_destroy(xb_sums *sums); /* NULL is fine */

/* Keeps what is left of the slots of a dealt layer; see xb_op_gradient(). */
void xb_sums_put(const xb_op *op, const xb_real *slot, int64_t stride, int64_t count,
                 int64_t n, xb_sum_fn use);
/* Adds all that was put between the ranks and hands out the sums. */
void xb_sums_finish(xb_crew *crew);

#endif
