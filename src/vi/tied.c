/* tied.c: training with widths that follow from the states of a weight's cells (maths
 * V31).
 *
 * Parameters of random tensors are then their cells' states, in both phases; mu and sigma
 * follow from them after every step, which first brings the states back into their range.
 * Passes and KL give gradients with respect to mu and sigma, as with free widths, and the
 * chain rule converts them to gradients of the states. */
#include "vi/trainer.h"
#include "vi/weight_cells.h"

static xb_cell_block block_of(const xb_trainer *t, const xb_tensor *k)
{
    return (xb_cell_block){.curve = &t->opt.cells->curve,
                           .state = t->theta + t->cells + k->offset,
                           .d_state = t->gradient + t->cells + k->offset,
                           .stride = t->p,
                           .mu = t->theta + k->offset,
                           .sigma = t->sigma + k->offset,
                           .d_mu = t->gradient + k->offset,
                           .d_sigma = t->gradient + t->rho + k->offset,
                           .n = k->size};
}

void xb_tied_fill(xb_trainer *t)
{
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        const xb_cell_block block = block_of(t, k);
        if (k->stochastic) t->backend->cells_fill(t->backend, t->ctx, &block);
    }
}

void xb_tied_chain(xb_trainer *t)
{
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        xb_cell_block block = block_of(t, k);
        if (t->place.phase == XB_PHASE_MLE) block.d_sigma = NULL;
        if (k->stochastic) t->backend->cells_chain(t->backend, t->ctx, &block);
    }
}

void xb_tied_start(const xb_trainer *t, float *theta)
{
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        for (int64_t j = k->offset; k->stochastic && j < k->offset + k->size; j++)
            xb_weight_cells_start(t->opt.cells, theta + t->cells + j, t->p,
                                  (double)theta[j]);
    }
}

xb_status xb_tied_check(const xb_trainer *t)
{
    if (!t->opt.cells || t->backend->cells_fill) return XB_OK;
    return xb_fail(t->ctx, XB_E_ARGUMENT,
                   "weights made of cells are not trained on this backend: use cpu");
}

/* Fetches states in the cells' own unit, tensor by tensor, as a model keeps them. */
void xb_tied_fetch(const xb_trainer *t, float *out)
{
    const xb_cell_curve *c = &t->opt.cells->curve;
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *w = xb_net_tensor_at(t->model->net, i);
        float *to = out + c->n * w->offset;
        for (int k = 0; w->stochastic && k < c->n; k++, to += w->size) {
            t->backend->get(t->backend, to, t->theta + t->cells + k * t->p + w->offset,
                            w->size * (int64_t)sizeof *to);
            for (int64_t j = 0; j < w->size; j++)
                to[j] = (float)(c->low + c->span * (double)to[j]);
        }
    }
}
