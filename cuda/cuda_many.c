/* cuda_many.c: small nets of dense layers under many draws of their weights at once:
 * describes the net as the kernel reads it; maths N1, N6, N7. */
#include <string.h>

#include "cuda_module.h"

static bool is_dense(const xb_layer *l) { return strcmp(l->kind->name, "dense") == 0; }

static bool link_of(xbc_link *to, const xb_net *net, const xb_layer *l)
{
    *to = (xbc_link){.in = (int)l->in.c,
                     .out = (int)l->out.c,
                     .bias = l->tensors == 2,
                     .offset = net->tensor[l->tensor].offset};
    return l->out.c <= XBC_WIDEST;
}

/* Whether the net has only dense layers, each with or without an activation after it. */
static bool read_net(xbc_many *job, const xb_net *net)
{
    if (net->n_tensor > 2 * XBC_LINKS) return false;
    for (int l = 0; l < net->n_layer; l++) {
        const xb_layer *layer = &net->layer[l];
        bool over = l > 0 && is_dense(layer - 1);
        if (is_dense(layer)) {
            if (job->links == XBC_LINKS || !link_of(&job->link[job->links++], net, layer))
                return false;
        } else if (over && layer->kind->act != XB_ACT_NONE) {
            job->link[job->links - 1].act = xbc_act_of(layer);
        } else {
            return false;
        }
    }
    return job->links > 0;
}

bool xbc_op_draws_suit(const xb_net *net)
{
    xbc_many job = {0};
    return read_net(&job, net);
}

void xbc_op_draws(const xb_run *run, xb_real *y, const xb_real *x, xb_real *theta,
                  int64_t count)
{
    const xb_net *net = run->net;
    const xb_noise *noise = &run->noise;
    xbc_many job = {.where = {noise->key, 0, noise->sample, noise->step},
                    .antithetic = noise->antithetic,
                    .rows = run->batch,
                    .count = count,
                    .params = net->param_count,
                    .tensors = net->n_tensor,
                    .y = y,
                    .theta = theta,
                    .x = x,
                    .mu = run->weights.mu,
                    .sigma = run->weights.sigma};
    if (!read_net(&job, net)) return;
    for (int k = 0; k < net->n_tensor; k++)
        job.tensor[k] = (xbc_tensor){.number = (uint32_t)k,
                                     .stochastic = net->tensor[k].stochastic,
                                     .offset = net->tensor[k].offset,
                                     .size = net->tensor[k].size};
    XBC_INSIDE(job.source = xbc_source_of(noise->sampler); xbc_many_draws(&job));
}
