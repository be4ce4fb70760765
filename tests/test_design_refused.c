/* test_design_refused.c: conditions and axes as texts, what a search refuses, and memory
 * that runs out during one. */
#include "designtest.h"

#include "design/search.h"
#include "failalloc.h"

/* ---- texts and refusals */

static void conditions_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int quality, sign;
        double limit; /* where the digital score is -2 */
    } good[] = {{"nll<=+2%", 0, 1, -1.96},           {"nll<=-50%", 0, 1, -3},
                {" rmse <= 4.5 ", 1, 1, 4.5},        {"coverage95>=93%", 2, -1, 0.93},
                {"coverage95>=-0.02", 2, -1, -2.02}, {"nll<=+0.05", 0, 1, -1.95}};
    static const char *const bad[] = {"",
                                      "nll",
                                      "nll<2",
                                      "nll<=",
                                      "mae<=+2%",
                                      "nll<=x",
                                      "<=+2%",
                                      "nll<=+2%;",
                                      "nll<=+2%,",
                                      "nll<=nan",
                                      "nll<=inf",
                                      "NLL<=1",
                                      "nll<=1,nll<=1,nll<=1,nll<=1"};
    xb_ctx *ctx = test_ctx();
    const xb_judge judge = {.n = 1, .outputs = 1};
    xb_condition c[XB_CONDITIONS_MOST];
    int n = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(ctx, xb_conditions_parse(ctx, c, &n, good[i].text, &judge));
        xb_condition_settle(c, -2);
        assert_int_equal(n, 1);
        assert_int_equal(c->quality, good[i].quality);
        assert_int_equal(c->sign, good[i].sign);
        assert_close(c->limit, good[i].limit, 1e-12);
    }
    assert_ok(ctx, xb_conditions_parse(ctx, c, &n, "nll<=+2%, coverage95>=0.9", &judge));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(xb_conditions_parse(ctx, c, &n, bad[i], &judge), XB_E_INPUT);
    xb_ctx_destroy(ctx);
}

static void axes_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        double value[2];
        const char *why;
    } bad[] = {{"adc_bits", {0, 8}, "adc_bits is 0: a design needs converters"},
               {"adc_bits", {8, 8}, "8 is listed twice"},
               {"adc_bits", {8, 30}, "'adc_bits'"},
               {"read_v", {-0.5, 1}, "'read_v'"},
               {"draws", {0, 1}, "draws is 0, expected a whole number"},
               {"draws", {1.5, 2}, "draws is 1.5"},
               {"adc_bit", {8, 9}, "adc_bits"},
               {"rows", {8, 9}, "listed twice"},
               {"tile", {8, 9}, "listed twice"}};
    xb_ctx *ctx = test_ctx();
    const xb_array array = test_array("mtj");
    xb_design_space *space = NULL;
    const double tile[] = {16, 32};
    assert_ok(ctx, xb_design_space_create(ctx, &space, &array));
    assert_ok(ctx, xb_design_space_add(ctx, space, "tile", tile, 2));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(xb_design_space_add(ctx, space, bad[i].key, bad[i].value, 2),
                         XB_E_INPUT);
        if (!strstr(xb_ctx_message(ctx), bad[i].why)) fail_msg("%s", xb_ctx_message(ctx));
    }
    assert_int_equal(xb_design_space_axis_count(space), 1);
    assert_ok(ctx, xb_design_space_complete(ctx, space)); /* draws alone are missing */
    assert_int_equal(xb_design_space_axis_count(space), 2);
    assert_int_equal(xb_design_space_axis_find(space, "draws"), 1);
    xb_design_space_destroy(space);
    assert_ok(ctx, xb_design_space_create(ctx, &space, &array));
    assert_ok(ctx, xb_design_space_complete(ctx, space));
    assert_int_equal(xb_design_space_axis_count(space), 5);
    assert_close(xb_design_space_axis_value(
                     space, xb_design_space_axis_find(space, "read_interval_ns"), 3),
                 40, 0);
    for (int i = 0; i < 5; i++) {
        const int64_t n = xb_design_space_axis_size(space, i);
        assert_true(isnan(xb_design_space_axis_value(space, i, -1)));
        assert_true(isnan(xb_design_space_axis_value(space, i, n)));
        assert_true(xb_design_space_axis_value(space, i, 0) <
                    xb_design_space_axis_value(space, i, n - 1));
    }
    assert_int_equal(xb_design_space_axis_size(space, 5), 0);
    xb_design_space_destroy(space);
    xb_ctx_destroy(ctx);
}

static void what_cannot_be_searched_is_refused(void **state)
{
    (void)state;
    fixture f = make_fixture("dense 4, relu, dense 1");
    const xb_array array = start_array();
    xb_design_space *space = make_space(f.ctx, &array), *bare = NULL;
    xb_design_options opt = xb_design_options_default();
    xb_design *d = NULL;
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, 0, space, "nll<=+2%", NULL),
        XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(f.ctx), "no rows to score designs on"));
    opt.chips = 3;
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED, space, "nll<=+2%", &opt),
        XB_E_ARGUMENT);
    opt.chips = 4, opt.yield = 0;
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED, space, "nll<=+2%", &opt),
        XB_E_ARGUMENT);
    assert_ok(f.ctx, xb_design_space_create(f.ctx, &bare, &array)); /* no converters */
    assert_ok(f.ctx, xb_design_space_add(f.ctx, bare, "draws", draws, DRAWS));
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED, bare, "nll<=+2%", NULL),
        XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(f.ctx), "costs need converters"));
    assert_null(d);
    xb_design_space_destroy(bare);
    xb_design_space_destroy(space);
    free_fixture(&f);
}

/* Memory runs out at one allocation after the other, later ones in longer steps. */
static void memory_may_run_out(void **state)
{
    (void)state;
    static const double two[] = {6, 9}, three[] = {3};
    fixture f = make_fixture("dense 2, relu, dense 1");
    xb_array array = start_array();
    array.dac_bits = 8;
    xb_design_space *space = NULL;
    assert_ok(f.ctx, xb_design_space_create(f.ctx, &space, &array));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "adc_bits", two, 2));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "draws", three, 1));
    xb_design_options opt = xb_design_options_default();
    opt.chips = 4;
    xb_ctx_set_threads(f.ctx, 1);
    int k = 0;
    for (; fail_alloc_after(k); k += 1 + k / 8) {
        xb_design *d = NULL;
        const xb_status status = xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED,
                                                space, "nll<=+100%", &opt);
        const bool failed = fail_alloc_happened();
        assert_ran_out(f.ctx, failed, status, d, k);
        xb_design_destroy(d);
        if (!failed) break;
    }
    assert_true(k > 200);
    xb_design_space_destroy(space);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_are_read),
        cmocka_unit_test(axes_are_checked),
        cmocka_unit_test(what_cannot_be_searched_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
