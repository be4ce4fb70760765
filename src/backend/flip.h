/* flip.h: the weights of one example under flipout, mu + sigma z with the signs r s of
 * the example (maths N10). Where weights are used at many positions, as in a convolution,
 * one product by them takes half the time of the two products by mu and by sigma z. */
#ifndef XB_BACKEND_FLIP_H
#define XB_BACKEND_FLIP_H

#include "backend/linear.h"

/* A draw for the batch, and the signs of its examples. */
typedef struct xb_flip {
    const xb_op *op;
    xb_real *noise, *z; /* [n]: sigma z, z */
    xb_real *r, *s;     /* [batch][cin], [batch][cout] */
} xb_flip;

/* Reals of a flip, and of a piece's work: sums of gradients dw [n] and ds [n], which are
 * first, then theta [n] and the gradient g [n] of one example. */
int64_t xb_flip_scratch(const xb_op *op);
static inline int64_t xb_flip_slot(const xb_op *op) { return 4 * op->n; }

/* Draws. The memory is the run's scratch. */
xb_flip xb_flip_of(const xb_op *op, xb_real *scratch);
/* Makes the signs of these rows. */
void xb_flip_signs(const xb_flip *flip, int64_t begin, int64_t end);
/* The weights of an example, in theta of the slot. */
const xb_real *xb_flip_theta(const xb_flip *flip, xb_real *slot, int64_t row);
/* Where the gradient g by them goes, and the slot's sums with it added. */
static inline xb_real *xb_flip_g(const xb_flip *flip, xb_real *slot)
{
    return slot + 3 * flip->op->n;
}
void xb_flip_clear(const xb_flip *flip, xb_real *slot);
void xb_flip_add(const xb_flip *flip, xb_real *slot, int64_t row);
/* The sum of dw and ds of all slots, added to the run's gradient. */
void xb_flip_gradient(const xb_flip *flip, xb_real *slots, int64_t slot, int64_t count);

#endif
