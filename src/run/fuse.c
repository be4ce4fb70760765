/* fuse.c: plans a pass: which layers run separately, and which as one block.
 *
 * A block is `conv` (3 x 3, stride 1), `relu`, `maxpool 2`, where the backend has the
 * operation and the whole batch shares its draw (estimator shared, and flipout if the
 * operation can); a `batchnorm` directly before it is included. The last layer of the
 * block runs it, and the others do nothing. If there will be no backward pass, blocks
 * that follow each other can be a stack, with what comes after them. In addition, a
 * linear layer that can (dense, estimators shared and local) does the work of the
 * activations next to it: it applies the one above to its outputs and multiplies its dx
 * by the slope of the one below. */
#include "run/fuse.h"

enum { BLOCK_LAYERS = 3, KERNEL = 3, POOL = 2 };

static bool is_window(const xb_window *win, int64_t size, int64_t stride)
{
    return win->kh == size && win->kw == size && win->stride == stride;
}

/* Layers [l, l + BLOCK_LAYERS) of the net are a block. */
static bool block_at(const xb_net *net, int l)
{
    const xb_layer *layer = net->layer + l;
    return l + BLOCK_LAYERS <= net->n_layer && layer[0].kind == &xb_layer_conv &&
           is_window(&layer[0].window, KERNEL, 1) && layer[1].kind == &xb_layer_relu &&
           layer[2].kind == &xb_layer_maxpool && is_window(&layer[2].window, POOL, POOL);
}

/* Whether a batchnorm with parameters below it comes before layer l: then the gradient
 * with respect to its input is always computed, and the convolution after it can write
 * its own gradient there. */
static bool norm_before(const xb_net *net, int l)
{
    bool below = false;
    for (int i = 0; i + 1 < l; i++) below |= net->layer[i].tensors > 0;
    return l > 0 && below && net->layer[l - 1].kind == &xb_layer_batchnorm;
}

static bool can_fuse(const xb_run *run, const xb_layer *last)
{
    const xb_layer_ops *block = run->backend->block;
    if (!block || !block->fuses(run, last)) return false;
    return run->estimator == XB_ESTIMATOR_SHARED ||
           (run->estimator == XB_ESTIMATOR_FLIPOUT && block->flips);
}

static void fuse_blocks(xb_pass *pass)
{
    const xb_net *net = pass->net;
    const xb_backend *b = pass->run.backend;
    for (int l = 0; l < net->n_layer; l++) {
        if (!block_at(net, l) || !can_fuse(&pass->run, net->layer + l + BLOCK_LAYERS - 1))
            continue;
        int last = l + BLOCK_LAYERS - 1;
        bool norm = b->norm_block && norm_before(net, l) &&
                    b->norm_block->fuses(&pass->run, net->layer + last);
        int first = norm ? l - 1 : l;
        for (int i = first; i < last; i++) pass->layer[i].ops = NULL;
        pass->layer[last].ops = norm ? b->norm_block : b->block;
        pass->layer[last].first = first;
    }
}

static bool is_block(const xb_pass *pass, int l)
{
    const xb_backend *b = pass->run.backend;
    const xb_layer_ops *ops = pass->layer[l].ops;
    return ops && (ops == b->block || ops == b->norm_block);
}

/* The last layer of the block that follows directly on layer l; l if there is none. */
static int next_block(const xb_pass *pass, int l)
{
    for (int i = l + 1; i < pass->net->n_layer; i++)
        if (pass->layer[i].ops)
            return is_block(pass, i) && pass->layer[i].first == l + 1 ? i : l;
    return l;
}

/* Whether layers first .. last became a stack. */
static bool is_stacked(xb_pass *pass, int first, int last)
{
    const xb_layer_ops *stack = pass->run.backend->stack;
    pass->run.first = first;
    if (!stack->fuses(&pass->run, pass->net->layer + last)) return false;
    for (int i = first; i < last; i++) pass->layer[i].ops = NULL;
    pass->layer[last].ops = stack, pass->layer[last].first = first;
    return true;
}

/* Whether no layer after this one has a window. */
static bool rest_is_flat(const xb_net *net, int l)
{
    while (++l < net->n_layer)
        if (net->layer[l].kind == &xb_layer_conv ||
            net->layer[l].kind == &xb_layer_maxpool)
            return false;
    return true;
}

/* Blocks from layer `first` on that end with layer `last`, with the rest of the net if
 * the backend can, or else with a batchnorm after them. Returns the last layer. */
static int fuse_stack(xb_pass *pass, int first, int last)
{
    const int end = pass->net->n_layer - 1;
    const bool norm = last < end && pass->layer[last + 1].ops &&
                      pass->net->layer[last + 1].kind == &xb_layer_batchnorm;
    if (rest_is_flat(pass->net, last) && is_stacked(pass, first, end)) return end;
    is_stacked(pass, first, last + norm);
    return last + norm;
}

static void fuse_stacks(xb_pass *pass)
{
    if (!pass->run.backend->stack || pass->opt.gradients) return;
    for (int l = 0; l < pass->net->n_layer; l++) {
        if (!is_block(pass, l)) continue;
        int last = l;
        for (int next; (next = next_block(pass, last)) > last;) last = next;
        if (last > l) l = fuse_stack(pass, pass->layer[l].first, last);
    }
}

/* Whether layer l takes over its neighbours' work. */
static bool takes_over(const xb_pass *pass, int l)
{
    if (l < 0 || l >= pass->net->n_layer) return false;
    const xb_layer *layer = &pass->net->layer[l];
    const xb_layer_ops *ops = xb_backend_layer(pass->run.backend, layer);
    return ops && pass->layer[l].ops == ops && ops->fuses &&
           ops->fuses(&pass->run, layer);
}

/* An activation over a linear layer overwrites its input, so the linear layer can write
 * the activation's output itself. */
static void fuse_activations(xb_pass *pass)
{
    for (int l = 0; l < pass->net->n_layer; l++) {
        xb_pass_layer *here = &pass->layer[l];
        xb_act act = pass->net->layer[l].kind->act;
        if (!here->ops || act == XB_ACT_NONE) continue;
        here->done_below = takes_over(pass, l - 1);
        here->slope_above = takes_over(pass, l + 1);
        if (here->done_below) here[-1].above = act;
        if (here->slope_above) here[1].below = act;
    }
}

void xb_fuse(xb_pass *pass)
{
    for (int l = 0; l < pass->net->n_layer; l++)
        pass->layer[l] = (xb_pass_layer){
            .ops = xb_backend_layer(pass->run.backend, &pass->net->layer[l]), .first = l};
    fuse_blocks(pass);
    fuse_stacks(pass);
    fuse_activations(pass);
}
