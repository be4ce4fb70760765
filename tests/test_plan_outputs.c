/* Plans of one output of several, against the net of that output written by hand; and the
 * verdict on reads as draws that stands at the head of a plan. */
#include "scratch.h"

#include "base/ctx.h"
#include "crossbayes/crossbar.h"
#include "plan/plan.h"

enum { IN = 3, HIDDEN = 4, OUT = 3, BELOW = IN * HIDDEN + HIDDEN };

typedef struct two_nets {
    xb_net *whole, *one; /* of all outputs, and of the one at `output` */
    float mu[BELOW + (HIDDEN + 1) * OUT], sigma[BELOW + (HIDDEN + 1) * OUT];
    float one_mu[BELOW + HIDDEN + 1], one_sigma[BELOW + HIDDEN + 1];
} two_nets;

/* Kernel [IN][HIDDEN], bias [HIDDEN], kernel [HIDDEN][OUT], bias [OUT]. */
static void make_nets(xb_ctx *ctx, two_nets *n, int output)
{
    const xb_shape input = {1, 1, IN};
    assert_ok(ctx, xb_net_parse(ctx, &n->whole, "dense 4, elu, dense 3", input, NULL));
    assert_ok(ctx, xb_net_parse(ctx, &n->one, "dense 4, elu, dense 1", input, NULL));
    for (int i = 0; i < (int)XB_COUNT(n->mu); i++) {
        n->mu[i] = (float)(0.1 * (i * 7 % 13) - 0.6);
        n->sigma[i] = (float)(0.05 + 0.04 * (i * 5 % 11));
    }
    for (int i = 0; i < BELOW; i++)
        n->one_mu[i] = n->mu[i], n->one_sigma[i] = n->sigma[i];
    for (int i = 0; i <= HIDDEN; i++) { /* the bias is row HIDDEN */
        n->one_mu[BELOW + i] = n->mu[BELOW + i * OUT + output];
        n->one_sigma[BELOW + i] = n->sigma[BELOW + i * OUT + output];
    }
}

static void an_output_has_the_plan_of_its_own_net(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "bimodal:m=0.95");
    const float x[IN] = {1, -0.5f, 0.25f};
    xb_plan_options opt = xb_plan_options_default();
    opt.draws = 2048, opt.weight_draws = 256;
    double kl[OUT];
    for (int output = 0; output < OUT; output++) {
        two_nets n;
        xb_plan *one = NULL, *all = NULL;
        make_nets(ctx, &n, output);
        const xb_weights some = {n.one_mu, n.one_sigma, NULL, NULL};
        const xb_weights every = {n.mu, n.sigma, NULL, NULL};
        opt.output = 0;
        assert_ok(ctx, xb_plan_create(ctx, &one, n.one, &some, x, law, &opt));
        opt.output = output;
        assert_ok(ctx, xb_plan_create(ctx, &all, n.whole, &every, x, law, &opt));
        kl[output] = xb_plan_measured(all).value;
        assert_true(xb_plan_measured(all).value == xb_plan_measured(one).value);
        assert_true(xb_plan_predicted(all).value == xb_plan_predicted(one).value);
        assert_true(xb_plan_n_eff(all) == xb_plan_n_eff(one));
        for (int i = 0; i < xb_plan_weight_count(all); i++) {
            const xb_plan_weight a = xb_plan_weight_at(all, i),
                                 b = xb_plan_weight_at(one, i);
            assert_int_equal(a.tensor, b.tensor);
            assert_int_equal(a.element,
                             a.tensor == 2 ? b.element * OUT + output : b.element);
        }
        xb_plan_destroy(one);
        xb_plan_destroy(all);
        xb_net_destroy(n.whole);
        xb_net_destroy(n.one);
    }
    assert_true(kl[0] != kl[1] && kl[1] != kl[2]);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void outputs_that_are_not_there(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj");
    const float x[IN] = {1, 1, 1};
    two_nets n;
    make_nets(ctx, &n, 0);
    xb_plan *plan = NULL;
    xb_plan_options opt = xb_plan_options_default();
    const xb_weights weights = {n.mu, n.sigma, NULL, NULL};
    opt.output = OUT;
    assert_int_equal(xb_plan_create(ctx, &plan, n.whole, &weights, x, law, &opt),
                     XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "output 3"));
    opt.output = -1;
    assert_int_equal(xb_plan_create(ctx, &plan, n.whole, &weights, x, law, &opt),
                     XB_E_ARGUMENT);
    assert_null(plan);
    xb_net_destroy(n.whole);
    xb_net_destroy(n.one);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* ---- reads as draws */

static void write_law(const char *path, const char *interval, const char *from)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"crossbayes\": \"law\", \"family\": \"gaussian\", \"offset\": 0,"
            " \"scale\": 1, \"fit\": {\"tau\": 3}, \"series\": {\"interval_s\": %s,"
            " \"correlation\": [0.5, 0.25, 0.125, 0.0625], \"usable_from\": %s}}",
            interval, from);
    fclose(file);
}

/* (X41) Two reads are worth 2 / (1 + r): 4/3 at the trace's interval, 8/5 at twice it. */
static void a_verdict_at_an_interval(void **state)
{
    (void)state;
    scratch s = scratch_make();
    const char *path = scratch_path(&s, "law.json");
    xb_ctx *ctx = test_ctx();
    xb_draws_verdict v;
    write_law(path, "0.001", "0.004");
    assert_ok(ctx, xb_draws_judge(ctx, &v, path, 0, 2));
    assert_int_equal(v.usable, XB_USABLE_SLOWER);
    assert_close(v.read_interval, 0.001, 1e-15);
    assert_close(v.independent, 4. / 3, 1e-9);
    assert_non_null(strstr(v.text, "Not usable at a read interval of 1 ms, usable at"));
    assert_ok(ctx, xb_draws_judge(ctx, &v, path, 0, 1));
    assert_close(v.independent, 1, 1e-9);
    assert_ok(ctx, xb_draws_judge(ctx, &v, path, 0.002, 2));
    assert_close(v.independent, 8. / 5, 1e-9);
    assert_int_equal(v.usable, XB_USABLE_SLOWER);
    assert_ok(ctx, xb_draws_judge(ctx, &v, path, 0.004, 0));
    assert_int_equal(v.usable, XB_USABLE);
    assert_int_equal(v.reads, 100);
    assert_non_null(strstr(v.text, "at read intervals of 4 ms or more"));
    write_law(path, "0.001", "null");
    assert_ok(ctx, xb_draws_judge(ctx, &v, path, 10, 0));
    assert_int_equal(v.usable, XB_USABLE_LONGER);
    assert_non_null(strstr(v.text, "which the trace is too short to confirm"));
    assert_ok(ctx, xb_draws_judge(ctx, &v, path, 1e-6, 100));
    assert_null(strstr(v.text, "too short to confirm"));
    write_law(path, "null", "4");
    assert_ok(ctx, xb_draws_judge(ctx, &v, path, 0, 0));
    assert_int_equal(v.reads, 0);
    assert_ok(ctx, xb_draws_judge(ctx, &v, "mtj:B=0.15,w=0.5", 0, 0));
    assert_int_equal(v.reads, 0);
    assert_int_equal(xb_draws_judge(ctx, &v, path, -1, 0), XB_E_INPUT);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_has_the_plan_of_its_own_net),
        cmocka_unit_test(outputs_that_are_not_there),
        cmocka_unit_test(a_verdict_at_an_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
