/* glue_parts.h: a part of a network as one pass of the library, for crossbayes.torch: the
 * parameters of PyTorch come together in the net's blocks, the pass runs, and gradients
 * go back. float32 alone. The parameter of a width is log sigma (maths V8), so that the
 * derivative by it is sigma times the one by sigma. */
#ifndef CROSSBAYES_GLUE_PARTS_H
#define CROSSBAYES_GLUE_PARTS_H

/* A tensor of the net: its size, and addresses as integers, as PyTorch gives them. */
typedef struct xb_py_tensor {
    int64_t m;
    uintptr_t mu;    /* [m] */
    uintptr_t width; /* [m]: log sigma; 0: it is not random */
} xb_py_tensor;

typedef struct xb_py_part {
    xb_ctx *ctx;
    const xb_ctx *alone; /* of one thread, for what a piece calls */
    xb_pass *pass;
    const xb_kl *kl;            /* NULL: the KL is not wanted */
    const xb_py_tensor *tensor; /* [count], in the net's order */
    int64_t count;
    uintptr_t mu, sigma;     /* [params]: the net's blocks */
    uintptr_t d_mu, d_width; /* [params], written by the backward pass */
    double weight;           /* of the KL's gradient */
    double divergence;       /* the KL in nats, written by the forward pass */
} xb_py_part;

typedef struct xb_py_part_block {
    const xb_py_part *part;
    const xb_py_tensor *tensor;
    double *sums; /* the KL of each piece */
    int64_t at;   /* of the tensor in the net's blocks */
} xb_py_part_block;

/* Parameters come together: mu and sigma of one piece of a tensor, and its KL. */
static void xb_py_part_gather(void *arg, int64_t piece)
{
    const xb_py_part_block *b = arg;
    const xb_py_part *p = b->part;
    const int64_t from = piece * XB_PY_BLOCK, left = b->tensor->m - from;
    const int64_t n = left < XB_PY_BLOCK ? left : XB_PY_BLOCK;
    const float *mu = (const float *)b->tensor->mu + from;
    float *sigma = (float *)p->sigma + b->at + from;
    memcpy((float *)p->mu + b->at + from, mu, (size_t)n * sizeof *mu);
    if (!b->tensor->width) return;
    const float *width = (const float *)b->tensor->width + from;
    xb_sigma_transform_fill(p->alone, XB_SIGMA_TRANSFORM_EXP, sigma, width, n);
    if (p->kl) b->sums[piece] = xb_kl_sum(p->alone, p->kl, NULL, NULL, mu, sigma, n, 0);
}

/* Gradients start as `weight` times the KL's, 0 where it is not wanted. */
static void xb_py_part_start(void *arg, int64_t piece)
{
    const xb_py_part_block *b = arg;
    const xb_py_part *p = b->part;
    const int64_t from = piece * XB_PY_BLOCK, left = b->tensor->m - from;
    const int64_t n = left < XB_PY_BLOCK ? left : XB_PY_BLOCK, at = b->at + from;
    float *d_mu = (float *)p->d_mu + at, *d_sigma = (float *)p->d_width + at;
    memset(d_mu, 0, (size_t)n * sizeof *d_mu);
    memset(d_sigma, 0, (size_t)n * sizeof *d_sigma);
    if (p->kl && b->tensor->width)
        xb_kl_sum(p->alone, p->kl, d_mu, d_sigma, (const float *)p->mu + at,
                  (const float *)p->sigma + at, n, p->weight);
}

/* By log sigma instead of sigma. */
static void xb_py_part_end(void *arg, int64_t piece)
{
    const xb_py_part_block *b = arg;
    const int64_t from = piece * XB_PY_BLOCK, left = b->tensor->m - from;
    const int64_t n = left < XB_PY_BLOCK ? left : XB_PY_BLOCK;
    float *restrict d = (float *)b->part->d_width + b->at + from;
    const float *sigma = (const float *)b->part->sigma + b->at + from;
    for (int64_t i = 0; b->tensor->width && i < n; i++) d[i] *= sigma[i];
}

/* Weights below which threads cost more than they bring. */
enum { XB_PY_PART_ALONE = 1 << 16, XB_PY_PART_SUMS = 1024 };

/* The loop over the pieces of all tensors; returns the sum of their KL. Pieces of a large
 * tensor go in rounds of XB_PY_PART_SUMS, so that sums need no memory of their own. */
static double xb_py_part_each(const xb_py_part *p, void (*body)(void *, int64_t),
                              bool sums)
{
    double sum[XB_PY_PART_SUMS], all = 0;
    xb_py_part_block b = {.part = p, .sums = sum};
    for (int64_t t = 0; t < p->count; t++) {
        const int64_t round = (int64_t)XB_PY_PART_SUMS * XB_PY_BLOCK;
        for (int64_t done = 0; done < p->tensor[t].m; done += round) {
            xb_py_tensor some = p->tensor[t];
            some.mu += (uintptr_t)done * sizeof(float);
            some.width += some.width ? (uintptr_t)done * sizeof(float) : 0;
            some.m = some.m - done < round ? some.m - done : round;
            b.tensor = &some;
            const int64_t pieces = (some.m + XB_PY_BLOCK - 1) / XB_PY_BLOCK;
            xb_parallel_for(some.m < XB_PY_PART_ALONE ? p->alone : p->ctx, pieces, body,
                            &b);
            for (int64_t i = 0; sums && some.width && i < pieces; i++) all += sum[i];
            b.at += some.m;
        }
    }
    return all;
}

/* y [batch][out] of the part for x [batch][in], and the KL of its weights unless kl is
 * NULL. */
static xb_status xb_py_part_forward(xb_py_part *p, xb_ctx *ctx, const xb_ctx *alone,
                                    const xb_sampler *sampler, const xb_stream *where,
                                    const xb_kl *kl, uintptr_t y, uintptr_t x,
                                    int64_t batch)
{
    const xb_weights weights = {(const float *)p->mu, (const float *)p->sigma, NULL,
                                NULL};
    const xb_noise noise = {.sampler = sampler,
                            .key = where->key,
                            .step = where->step,
                            .sample = where->sample};
    p->ctx = ctx, p->alone = alone, p->kl = kl;
    p->divergence = xb_py_part_each(p, xb_py_part_gather, kl != NULL);
    return xb_pass_forward(ctx, p->pass, (float *)y, (const float *)x, batch, &weights,
                           &noise, XB_MODE_TRAIN);
}

/* Gradients by mu and log sigma of `params` weights into d [2][params], with `weight`
 * times the KL's unless kl is NULL; dy 0: the KL's alone; dx 0: it is not wanted. */
static xb_status xb_py_part_backward(xb_py_part *p, xb_ctx *ctx, const xb_ctx *alone,
                                     const xb_kl *kl, double weight, int64_t params,
                                     uintptr_t d, uintptr_t dx, uintptr_t dy)
{
    p->ctx = ctx, p->alone = alone, p->kl = kl, p->weight = weight;
    p->d_mu = d, p->d_width = d + (uintptr_t)params * sizeof(float);
    const xb_gradient gradient = {(float *)p->d_mu, (float *)p->d_width, (float *)dx};
    xb_py_part_each(p, xb_py_part_start, false);
    if (dy) XB_TRY(xb_pass_backward(ctx, p->pass, &gradient, (const float *)dy));
    xb_py_part_each(p, xb_py_part_end, false);
    return XB_OK;
}

#endif
