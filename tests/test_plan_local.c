/* test_plan_local.c: hidden units as the planner draws them: sums of scaled draws, whose
 * cumulants are known. n equal weights of a law have its skewness over sqrt(n) and its
 * excess kurtosis over n; one weight has the law itself. */
#include "xbtest.h"

#include "plan/local.h"

enum { UNITS = 16, BATCHES = 400, INPUTS_MOST = 16 };

typedef struct shape {
    double variance, skewness, kurtosis;
} shape;

static shape shape_of(const double *x, int64_t n)
{
    double mean = 0, two = 0, three = 0, four = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double d = x[i] - mean, dd = d * d;
        two += dd / (double)n, three += dd * d / (double)n, four += dd * dd / (double)n;
    }
    return (shape){two, three / (two * sqrt(two)), four / (two * two) - 3};
}

/* Units of `inputs` weights each, all of the same spread. */
static shape drawn(xb_ctx *ctx, const xb_law *law, int inputs)
{
    xb_net *net = NULL;
    xb_charfn charfn;
    xb_local local;
    float mu[INPUTS_MOST * UNITS + UNITS + 1] = {0}, sigma[sizeof mu / sizeof *mu];
    float x[INPUTS_MOST];
    for (int i = 0; i < (int)(sizeof mu / sizeof *mu); i++)
        sigma[i] = 1 / sqrtf((float)inputs);
    for (int i = 0; i < inputs; i++) x[i] = 1;
    const xb_weights weights = {mu, sigma, NULL, NULL};
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 16 nobias, dense 1",
                                (xb_shape){1, 1, inputs}, NULL));
    assert_ok(ctx, xb_charfn_make(ctx, &charfn, law));
    assert_ok(ctx, xb_local_make(ctx, &local, net, &weights, x, law, &charfn, 1, NULL));
    xb_hidden_source source = xb_local_source_of(&local);
    void *run = NULL;
    double *all = malloc(sizeof *all * BATCHES * XB_HIDDEN_BATCH * UNITS);
    assert_int_equal(source.open(&run, source.self), XB_OK);
    for (int64_t b = 0, at = 0; b < BATCHES; b++) {
        const xb_real *h = NULL;
        assert_int_equal(
            source.draw(run, &h, XB_LOCAL_ALL, 0, b * XB_HIDDEN_BATCH, XB_HIDDEN_BATCH),
            XB_OK);
        for (int i = 0; i < XB_HIDDEN_BATCH * UNITS; i++) all[at++] = (double)h[i];
    }
    shape s = shape_of(all, (int64_t)BATCHES * XB_HIDDEN_BATCH * UNITS);
    source.close(run);
    free(all);
    xb_local_free(&local);
    xb_charfn_free(&charfn);
    xb_net_destroy(net);
    return s;
}

/* 410,000 units: standard errors 0.002 of a variance, 0.004 of a skewness, 0.008 of a
 * kurtosis; bands are five of them. */
static void check(const char *name, const xb_law *law, int inputs)
{
    xb_ctx *ctx = test_ctx();
    xb_moments m = xb_law_moments(law);
    double n = inputs;
    shape want = {1, m.skewness / sqrt(n), m.excess_kurtosis / n};
    shape is = drawn(ctx, law, inputs);
    print_message("%s, %d weights: skewness %.4f (%.4f), kurtosis %.4f (%.4f)\n", name,
                  inputs, is.skewness, want.skewness, is.kurtosis, want.kurtosis);
    assert_at_most(fabs(is.variance - want.variance), 0.01);
    assert_at_most(fabs(is.skewness - want.skewness), 0.02);
    assert_at_most(fabs(is.kurtosis - want.kurtosis), 0.04);
    xb_ctx_destroy(ctx);
}

static void units_have_the_cumulants_of_their_sum(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law[] = {test_skewed_law(ctx), test_law(ctx, "bimodal:m=0.9"),
                     test_law(ctx, "mtj")};
    static const char *const name[] = {"skewed", "bimodal", "mtj"};
    for (int l = 0; l < 3; l++) {
        check(name[l], law[l], 16);
        check(name[l], law[l], 9);
        check(name[l], law[l], 1);
        xb_law_destroy(law[l]);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_have_the_cumulants_of_their_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
