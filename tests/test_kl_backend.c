/* test_kl_backend.c: KL of weights in a backend's memory, every kind of prior: the sums
 * and gradients of one weight at a time (test_kl.c checks those). Runs with sealed
 * buffers and with the GPU module's kernels as well. */
#include "scratch.h"

#include "vi/kl.h"

enum { N = 5001, PARTS = 5 };

/* mu, sigma, rho and both gradients, side by side. */
enum part { MU, SIGMA, RHO, GRAD_MU, GRAD_SIGMA };

static void fill_weights(float w[PARTS][N])
{
    const xb_stream where = {xb_key_make(4, XB_PURPOSE_TEST), 0, 0, 0};
    for (int64_t i = 0; i < N; i++) {
        double rho = -12 * xb_stream_uniform(&where, 2 * i + 1);
        w[MU][i] = (float)(2 * xb_stream_uniform(&where, 2 * i) - 1);
        w[RHO][i] = (float)rho;
        w[SIGMA][i] = (float)exp(rho);
        w[GRAD_MU][i] = 1, w[GRAD_SIGMA][i] = -2;
    }
}

/* The sum over the backend's weights; w gets what is there after it. */
static double sum_there(xb_ctx *ctx, const xb_kl *kl, bool to_rho, float w[PARTS][N],
                        double weight)
{
    const xb_backend *b = xb_backend_find(NULL);
    void *buffer = NULL;
    assert_ok(ctx, b->take(b, ctx, &buffer, PARTS * N * 4));
    float *at = buffer;
    b->put(b, buffer, w, PARTS * N * 4);
    const xb_kl_block block = {.grad_mu = at + GRAD_MU * N,
                               .grad_sigma = at + GRAD_SIGMA * N,
                               .mu = at + MU * N,
                               .sigma = at + SIGMA * N,
                               .rho = at + RHO * N,
                               .n = N,
                               .weight = weight};
    double sum = to_rho ? xb_kl_sum_rho(b, ctx, kl, XB_SIGMA_TRANSFORM_EXP, &block)
                        : xb_kl_sum_sigma(b, ctx, kl, &block);
    b->get(b, w, buffer, PARTS * N * 4);
    assert_ok(ctx, xb_backend_check(b, ctx));
    b->release(b, buffer);
    return sum;
}

static void check_weights(xb_ctx *ctx, const xb_kl *kl, bool to_rho)
{
    static float w[PARTS][N];
    const double weight = 0.25;
    double expected = 0;
    fill_weights(w);
    double sum = sum_there(ctx, kl, to_rho, w, weight);
    for (int64_t i = 0; i < N; i++) {
        const double sigma = w[SIGMA][i];
        const xb_kl_value v = xb_kl_one(kl, w[MU][i], sigma);
        const double chain = to_rho ? sigma : 1;
        expected += v.kl;
        assert_close_floor(w[GRAD_MU][i], 1 + weight * v.d_mu, 3e-7, 1);
        assert_close_floor(w[GRAD_SIGMA][i], chain * (-2 + weight * v.d_sigma), 4e-7, 1);
    }
    assert_close(sum, expected, 1e-7); /* log sigma is rho, rounded to float */
}

static void sums_are_those_of_single_weights(void **state)
{
    (void)state;
    static const char *const priors[] = {"normal:mean=0.1,sd=0.5", "laplace:b=0.3",
                                         "mixture:pi=0.5,s1=1,s2=0.05"};
    static const char *const laws[] = {"gaussian", "mtj:B=0.15,w=0.5"};
    xb_ctx *ctx = test_ctx();
    const xb_backend *b = xb_backend_find(NULL);
    for (int l = 0; l < XB_COUNT(laws); l++) {
        xb_law *law = test_law(ctx, laws[l]);
        for (int k = 0; k < XB_COUNT(priors); k++)
            for (int64_t points = 0; points <= 16; points += 16) {
                xb_kl *kl = NULL;
                xb_prior prior;
                assert_ok(ctx, xb_prior_parse(ctx, &prior, priors[k]));
                assert_ok(ctx, xb_kl_create(ctx, &kl, law, &prior, points));
                assert_ok(ctx, xb_kl_place(ctx, kl, b));
                check_weights(ctx, kl, false);
                check_weights(ctx, kl, true);
                xb_kl_destroy(kl);
            }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_single_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
