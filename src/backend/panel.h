/* panel.h: a large dense layer under one draw of its weights, without ever holding the
 * draw; maths N1, N8. The kernel is made a panel at a time, DEPTH inputs by a block of
 * outputs, small enough for the second cache, and multiplied while it is there: noise
 * stays in the first cache, theta in the second, and neither takes memory that grows
 * with the layer. Every output is the same chain of multiply-adds, in the order of
 * inputs, as in xb_op_forward: the same bytes. */
#ifndef XB_BACKEND_PANEL_H
#define XB_BACKEND_PANEL_H

#include "backend/linear.h"

/* Whether it is the better way for this run: a dense layer of some size, and at least as
 * many blocks of outputs as threads that examples could be given to. */
bool xb_panel_suits(const xb_op *op);
int64_t xb_panel_scratch(const xb_op *op); /* reals; 0: never used for this layer */
/* y = f(x theta + b), f = run->above. */
void xb_panel_forward(const xb_op *op, xb_real *y, const xb_real *x);

#endif
