/* one_output.h: a net with several outputs as the net of one of them (A20). */
#ifndef XB_PLAN_ONE_OUTPUT_H
#define XB_PLAN_ONE_OUTPUT_H

#include "base/ctx.h"
#include "crossbayes/net.h"

typedef struct xb_one_output {
    xb_net *net;
    xb_real *block; /* mu, then sigma */
    xb_weights weights;
} xb_one_output;

/* It ends in a dense layer of two or more. */
bool xb_one_output_needed(const xb_net *net);
/* The net that makes `output`, from 0; free it with xb_one_output_free(). */
xb_status xb_one_output_make(xb_ctx *ctx, xb_one_output *out, const xb_net *net,
                             const xb_weights *weights, int64_t output);
/* An element of a tensor of that net as an element of the whole net's tensor. */
int64_t xb_one_output_element(const xb_net *net, int64_t tensor, int64_t element,
                              int64_t output);
void xb_one_output_free(xb_one_output *one);

#endif
