/* flip.c: see flip.h. */
#include "backend/flip.h"

#include <string.h>

static const xb_real one = 1; /* the sign of a bias's input */

int64_t xb_flip_scratch(const xb_op *op)
{
    return 2 * op->n + op->run->batch * (op->cin + op->cout);
}

xb_flip xb_flip_of(const xb_op *op, xb_real *scratch)
{
    xb_flip flip = {.op = op, .noise = scratch, .z = scratch + op->n};
    flip.r = flip.z + op->n;
    flip.s = flip.r + op->run->batch * op->cin;
    xb_op_draw(op, xb_op_z(op, flip.z), 0, 1, true);
    xb_op_scaled(op, flip.noise, flip.z);
    return flip;
}

void xb_flip_signs(const xb_flip *flip, int64_t begin, int64_t end)
{
    const xb_op *op = flip->op;
    const int tensor = op->layer->tensor;
    const int64_t rows = end - begin, from = op->run->noise.first + begin;
    xb_run_signs(op->run, flip->r + begin * op->cin, rows * op->cin, tensor, XB_SIDE_IN,
                 from * op->cin);
    xb_run_signs(op->run, flip->s + begin * op->cout, rows * op->cout, tensor,
                 XB_SIDE_OUT, from * op->cout);
}

const xb_real *xb_flip_theta(const xb_flip *flip, xb_real *slot, int64_t row)
{
    const xb_op *op = flip->op;
    const xb_real *mu = xb_op_mu(op), *s = flip->s + row * op->cout;
    const int64_t positions = op->size / (op->cin * op->cout);
    xb_real *theta = slot + 2 * op->n;
    op->run->kernels->flip_theta(theta, mu, flip->noise, flip->r + row * op->cin, s,
                                 positions, op->cin, op->cout);
    if (op->tensors == 2)
        op->run->kernels->flip_theta(theta + op->size, mu + op->size,
                                     flip->noise + op->size, &one, s, 1, 1, op->cout);
    return theta;
}

void xb_flip_clear(const xb_flip *flip, xb_real *slot)
{
    memset(slot, 0, (size_t)(2 * flip->op->n) * sizeof *slot);
}

void xb_flip_add(const xb_flip *flip, xb_real *slot, int64_t row)
{
    const xb_op *op = flip->op;
    const xb_real *g = xb_flip_g(flip, slot), *s = flip->s + row * op->cout;
    const int64_t positions = op->size / (op->cin * op->cout);
    xb_real *ds = slot + op->n;
    op->run->kernels->flip_add(slot, ds, g, flip->r + row * op->cin, s, positions,
                               op->cin, op->cout);
    if (op->tensors == 2)
        op->run->kernels->flip_add(slot + op->size, ds + op->size, g + op->size, &one, s,
                                   1, 1, op->cout);
}

static void add_gradient(const xb_op *op, const xb_real *sum, bool later)
{
    const xb_z z = xb_op_z(op, op->run->scratch + op->n);
    if (later) xb_op_draw(op, z, 0, 1, true);
    xb_op_add_mu(op, op->run->gradient.mu + op->offset, sum);
    xb_op_add_sigma(op, op->run->gradient.sigma + op->offset, sum + op->n,
                    (const xb_real *[]){z.of[0], z.of[1]}, 1);
}

void xb_flip_gradient(const xb_flip *flip, xb_real *slots, int64_t slot, int64_t count)
{
    xb_op_gradient(flip->op, slots, slot, count, 2 * flip->op->n, add_gradient);
}
