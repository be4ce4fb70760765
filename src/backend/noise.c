/* noise.c: a pass's draws by their address; maths N7, N10. No number is stored here:
 * forward and backward use the same address and get the same bytes. */
#include <string.h>

#include "draw/kernel.h"
#include "backend/host.h"

/* Tensors are numbered from 0; the two highest bits tell their signs apart. */
#define SIGNS_IN (UINT32_C(1) << 30)
#define SIGNS_OUT (UINT32_C(1) << 31)

xb_stream xb_run_stream(const xb_run *run, uint32_t tensor)
{
    const xb_noise *n = &run->noise;
    uint32_t sample = n->antithetic ? n->sample & ~UINT32_C(1) : n->sample;
    return (xb_stream){n->key, run->first_tensor + tensor, sample, n->step};
}

#if defined(XB_REAL_DOUBLE)
/* The same draws as the float build's, widened. */
void xb_real_draws(const xb_sampler *sampler, xb_real *z, int64_t n,
                   const xb_stream *where, int64_t first)
{
    float part[XB_BLOCK];
    for (int64_t i = 0; i < n; i += XB_BLOCK) {
        int64_t some = n - i < XB_BLOCK ? n - i : XB_BLOCK;
        xb_sampler_fill(sampler, part, some, where, first + i);
        for (int64_t j = 0; j < some; j++) z[i + j] = (double)part[j];
    }
}

static void fill(const xb_run *run, xb_real *z, int64_t n, const xb_stream *where,
                 int64_t first, bool wide)
{
    (void)wide;
    xb_real_draws(run->noise.sampler, z, n, where, first);
}
#else
void xb_real_draws(const xb_sampler *sampler, xb_real *z, int64_t n,
                   const xb_stream *where, int64_t first)
{
    xb_sampler_fill(sampler, z, n, where, first);
}

enum { WIDE_WORTH = 1 << 18 }; /* draws that are worth waking threads for */

static void fill(const xb_run *run, xb_real *z, int64_t n, const xb_stream *where,
                 int64_t first, bool wide)
{
    if (wide && n > WIDE_WORTH)
        xb_sampler_fill_parallel(run->ctx, run->noise.sampler, z, n, where, first);
    else
        xb_real_draws(run->noise.sampler, z, n, where, first);
}
#endif

void xb_run_draw(const xb_run *run, xb_real *z, int64_t n, int tensor, int64_t first,
                 bool wide)
{
    xb_stream where = xb_run_stream(run, (uint32_t)tensor);
    fill(run, z, n, &where, first, wide);
    if (run->noise.antithetic && run->noise.sample % 2)
        for (int64_t i = 0; i < n; i++) z[i] = -z[i];
}

void xb_run_theta(const xb_run *run, xb_real *theta, const xb_real *z,
                  const xb_tensor *tensor)
{
    const xb_real *mu = run->weights.mu + tensor->offset;
    if (tensor->stochastic)
        run->kernels->theta(theta, mu, run->weights.sigma + tensor->offset, z,
                            tensor->size);
    else
        memcpy(theta, mu, (size_t)tensor->size * sizeof *theta);
}

enum { DRAW_PART = 4096 }; /* draws at a time: z stays in the first cache */

static void draw_tensor(const xb_run *run, xb_real *theta, int number)
{
    const xb_tensor *t = &run->net->tensor[number];
    const xb_real *mu = run->weights.mu + t->offset;
    xb_real z[DRAW_PART];
    for (int64_t i = 0; i < t->size; i += DRAW_PART) {
        int64_t some = t->size - i < DRAW_PART ? t->size - i : DRAW_PART;
        xb_run_draw(run, z, some, number, i, false);
        run->kernels->theta(theta + i, mu + i, run->weights.sigma + t->offset + i, z,
                            some);
    }
}

void xb_host_draw(const xb_run *run, xb_real *theta)
{
    for (int k = 0; k < run->net->n_tensor; k++) {
        const xb_tensor *t = &run->net->tensor[k];
        if (t->stochastic)
            draw_tensor(run, theta + t->offset, k);
        else
            xb_run_theta(run, theta + t->offset, NULL, t);
    }
}

enum { SIGN_WORDS = 16 * XB_BLOCK }; /* made at a time: 4 KiB */

void xb_run_signs(const xb_run *run, xb_real *sign, int64_t n, int tensor, xb_side side,
                  int64_t first)
{
    xb_stream where = xb_run_stream(run, (uint32_t)tensor |
                                             (side == XB_SIDE_IN ? SIGNS_IN : SIGNS_OUT));
    const xb_kernel *kernel = xb_kernel_best();
    for (int64_t i = 0; i < n;) {
        uint32_t word[SIGN_WORDS];
        int64_t skip = (first + i) % XB_BLOCK, some = SIGN_WORDS - skip;
        if (some > n - i) some = n - i;
        kernel->words(word, (skip + some + XB_BLOCK - 1) / XB_BLOCK, &where,
                      (first + i) / XB_BLOCK);
        run->kernels->signs(sign + i, word + skip, some);
        i += some;
    }
}
