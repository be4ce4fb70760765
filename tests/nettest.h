/* nettest.h: a net with everything a pass needs, filled with numbers that do not
 * repeat. */
#ifndef NETTEST_H
#define NETTEST_H

#include "xbtest.h"

typedef struct netbed {
    xb_ctx *ctx;
    xb_net *net;
    xb_sampler *sampler;
    xb_pass *pass;
    int64_t batch, in, out, params, states; /* in, out: of one example */
    xb_real *mu, *sigma, *state, *x, *y, *dy, *d_mu, *d_sigma, *d_x;
    xb_noise noise;
    bool noisy;
    xb_mode mode;
} netbed;

/* n uniform numbers in (low, high), which depend only on their position. */
static inline xb_real *test_reals(int64_t n, double low, double high, uint32_t tensor)
{
    xb_real *v = calloc((size_t)n + 1, sizeof *v);
    xb_stream s = {xb_key_make(11, XB_PURPOSE_TEST), tensor, 0, 0};
    assert_non_null(v);
    for (int64_t i = 0; i < n; i++)
        v[i] = (xb_real)(float)(low + (high - low) * xb_stream_uniform(&s, i));
    return v;
}

/* law NULL: no noise. */
static inline netbed netbed_make(const char *text, xb_shape shape, const char *law,
                                 const xb_net_options *choice, const xb_pass_options *opt)
{
    netbed b = {.ctx = test_ctx(), .batch = opt->batch, .noisy = law != NULL};
    assert_ok(b.ctx, xb_net_parse(b.ctx, &b.net, text, shape, choice));
    assert_ok(b.ctx, xb_pass_create(b.ctx, &b.pass, b.net, opt));
    if (law) {
        xb_law *l = test_law(b.ctx, law);
        assert_ok(b.ctx, xb_sampler_create(b.ctx, &b.sampler, l, NULL));
        xb_law_destroy(l);
    }
    b.in = xb_shape_size(shape);
    b.out = xb_shape_size(xb_net_output(b.net));
    b.params = xb_net_param_count(b.net);
    b.states = xb_net_state_count(b.net);
    b.mu = test_reals(b.params, -0.8, 0.8, 1);
    b.sigma = test_reals(b.params, 0.1, 0.5, 2);
    b.state = test_reals(b.states, 0.3, 1.3, 3);
    b.x = test_reals(b.batch * b.in, -1.5, 1.5, 4);
    b.dy = test_reals(b.batch * b.out, -1, 1, 5);
    b.y = test_reals(b.batch * b.out, 0, 0, 0);
    b.d_mu = test_reals(b.params, 0, 0, 0);
    b.d_sigma = test_reals(b.params, 0, 0, 0);
    b.d_x = test_reals(b.batch * b.in, 0, 0, 0);
    b.noise = (xb_noise){.sampler = b.sampler,
                         .key = xb_key_make(5, XB_PURPOSE_WEIGHT),
                         .step = 7,
                         .sample = 3};
    return b;
}

static inline void netbed_forward(netbed *b)
{
    xb_weights w = {b->mu, b->sigma, b->state, b->state};
    assert_ok(b->ctx, xb_pass_forward(b->ctx, b->pass, b->y, b->x, b->batch, &w,
                                      b->noisy ? &b->noise : NULL, b->mode));
}

/* Gradients from zero. */
static inline void netbed_backward(netbed *b)
{
    xb_gradient g = {b->d_mu, b->d_sigma, b->d_x};
    memset(b->d_mu, 0, (size_t)b->params * sizeof *b->d_mu);
    memset(b->d_sigma, 0, (size_t)b->params * sizeof *b->d_sigma);
    assert_ok(b->ctx, xb_pass_backward(b->ctx, b->pass, &g, b->dy));
}

static inline void netbed_free(netbed *b)
{
    xb_pass_destroy(b->pass);
    xb_net_destroy(b->net);
    xb_sampler_destroy(b->sampler);
    xb_real *all[] = {b->mu, b->sigma, b->state,   b->x,  b->y,
                      b->dy, b->d_mu,  b->d_sigma, b->d_x};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    xb_ctx_destroy(b->ctx);
}

#endif
