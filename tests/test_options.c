/* Options grow: programs built with older and with newer headers get what they mean, and
 * options that were never filled are refused by every function that takes some. */
#include "xbtest.h"

#include <string.h>

#include "crossbayes/crossbayes.h"
#include "crossbayes/extend.h"
#include "plan/plan.h"
#include "rule/standard.h"

/* Options in their second version; those of the first ended with `seed`. */
typedef struct xb_toy_options {
    size_t struct_size;
    uint64_t seed;
    double level;
} xb_toy_options;

XB_OPTIONS(toy);

void xb_toy_options_init(xb_toy_options *opt, size_t size)
{
    const xb_toy_options standard = {.seed = 7, .level = 0.5};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

static xb_status toy_read(xb_ctx *ctx, xb_toy_options *out, const void *opt)
{
    return XB_OPTIONS_READ(ctx, toy, out, opt, seed);
}

/* What a program built with the first headers has, and what lies behind it. */
typedef struct older_options {
    size_t struct_size;
    uint64_t seed;
} older_options;

typedef struct newer_options {
    size_t struct_size;
    uint64_t seed;
    double level;
    bool quick;
    const char *name;
} newer_options;

#define FOREIGN UINT64_C(0x5a5a5a5a5a5a5a5a)

static void an_older_caller_keeps_its_bounds(void **state)
{
    xb_ctx *ctx = *state;
    struct {
        older_options opt;
        uint64_t behind[2];
    } room = {.behind = {FOREIGN, FOREIGN}};
    xb_toy_options got;
    xb_toy_options_init((xb_toy_options *)(void *)&room.opt, sizeof room.opt);
    assert_int_equal(room.opt.struct_size, sizeof room.opt);
    assert_int_equal(room.opt.seed, 7);
    assert_true(room.behind[0] == FOREIGN && room.behind[1] == FOREIGN);
    room.opt.seed = 8;
    assert_int_equal(toy_read(ctx, &got, &room.opt), XB_OK);
    assert_int_equal(got.struct_size, sizeof got);
    assert_int_equal(got.seed, 8);
    assert_true(got.level == 0.5); /* not what lies behind */
}

static void a_newer_caller_is_told_what_is_unknown(void **state)
{
    xb_ctx *ctx = *state;
    newer_options opt;
    xb_toy_options got;
    memset(&opt, 0xa5, sizeof opt);
    xb_toy_options_init((xb_toy_options *)(void *)&opt, sizeof opt);
    assert_int_equal(opt.struct_size, sizeof opt);
    assert_true(opt.seed == 7 && opt.level == 0.5 && !opt.quick && !opt.name);
    opt.level = 0.25;
    assert_int_equal(toy_read(ctx, &got, &opt), XB_OK);
    assert_true(got.struct_size == sizeof got && got.seed == 7 && got.level == 0.25);
    opt.name = "x";
    got.seed = 99;
    assert_int_equal(toy_read(ctx, &got, &opt), XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(ctx),
                        "xb_toy_options set a field that version " XB_VERSION_STRING
                        " of the library does not know");
}

static void sizes_that_nobody_set_are_refused(void **state)
{
    xb_ctx *ctx = *state;
    const size_t wrong[] = {0,    1,       sizeof(size_t), sizeof(older_options) - 1,
                            4097, SIZE_MAX};
    xb_toy_options opt = xb_toy_options_default(), got;
    for (int i = 0; i < XB_COUNT(wrong); i++) {
        opt.struct_size = wrong[i];
        assert_int_equal(toy_read(ctx, &got, &opt), XB_E_ARGUMENT);
        assert_string_equal(xb_ctx_message(ctx),
                            "options were not initialised; use xb_toy_options_default()");
    }
    assert_int_equal(toy_read(ctx, &got, NULL), XB_OK);
    assert_true(got.seed == 7 && got.level == 0.5);
    opt.seed = 3;
    xb_toy_options_init(&opt, 1); /* no room for a size */
    assert_int_equal(opt.seed, 3);
}

/* The same through the library: a struct with a field more than its own. */
static void the_library_reads_longer_options(void **state)
{
    xb_ctx *ctx = *state;
    struct {
        xb_net_options now;
        uint64_t later;
    } opt;
    const xb_shape input = {1, 1, 2};
    xb_net *net = NULL;
    xb_net_options_init(&opt.now, sizeof opt);
    assert_int_equal(opt.now.struct_size, sizeof opt);
    assert_int_equal(opt.later, 0);
    opt.now.stochastic = XB_STOCHASTIC_ALL;
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 3", input, &opt.now));
    assert_int_equal(xb_net_stochastic_count(net), 9);
    xb_net_destroy(net);
    opt.later = 1;
    net = NULL;
    assert_int_equal(xb_net_parse(ctx, &net, "dense 3", input, &opt.now), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "xb_net_options set a field"));
    assert_null(net);
}

/* ---- every function that takes options looks at their size before anything else */

static void refused(xb_ctx *ctx, xb_status status, const char *name)
{
    char line[128];
    snprintf(line, sizeof line,
             "options were not initialised; use xb_%s_options_default()", name);
    assert_int_equal(status, XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(ctx), line);
    xb_note(ctx, "%s", "");
}

static void models_refuse_literals(void **state)
{
    xb_ctx *ctx = *state;
    const xb_rows rows = {.n = 1};
    const xb_train_options train = {.batch = 100};
    const xb_predict_options predict = {.draws = 10};
    const xb_evaluate_options evaluate = {.draws = 10};
    const xb_density_options density = {.blocks = 32};
    const xb_plan_options plan = {.tolerance = 1};
    const xb_pass_options pass = {.batch = 1};
    const xb_net_options net = {.stochastic = XB_STOCHASTIC_ALL};
    refused(ctx, xb_train(ctx, NULL, NULL, NULL, &train), "train");
    refused(ctx, xb_trainer_create(ctx, NULL, NULL, &train), "train");
    refused(ctx, xb_train_gradient_noise(ctx, NULL, NULL, NULL, &train, 2), "train");
    refused(ctx, xb_predict_rows(ctx, NULL, NULL, &rows, &predict), "predict");
    refused(ctx, xb_predict_draws_rows(ctx, NULL, NULL, NULL, &rows, 0, 1, &predict),
            "predict");
    refused(ctx, xb_score_model(ctx, NULL, NULL, &rows, NULL, &predict), "predict");
    refused(ctx, xb_evaluate(ctx, NULL, NULL, &rows, NULL, NULL, 0, &evaluate),
            "evaluate");
    refused(ctx, xb_densities_create(ctx, NULL, NULL, NULL, NULL, NULL, 1, &density),
            "density");
    refused(ctx, xb_plan_fill(ctx, NULL, NULL, NULL, NULL, NULL, &plan), "plan");
    refused(ctx, xb_plan_find_n_eff(ctx, NULL, NULL, NULL, NULL, &plan), "plan");
    refused(ctx, xb_plan_find_width(ctx, NULL, "dense 1", 1, NULL, &plan), "plan");
    refused(ctx, xb_pass_create(ctx, NULL, NULL, &pass), "pass");
    refused(ctx, xb_net_parse(ctx, NULL, "dense 1", (xb_shape){1, 1, 1}, &net), "net");
}

static void the_rest_refuses_literals(void **state)
{
    xb_ctx *ctx = *state;
    const double one = 1;
    const int64_t label = 0;
    const xb_mixture mixture = {.mean = &one, .draws = 1, .n = 1};
    const xb_class_draws classes = {.p = &one, .draws = 1, .n = 1, .classes = 1};
    const xb_score_options score = {.interval = 0.5};
    const xb_distance_options distance = {.exponent = 1};
    const xb_fit_options fit = {.level = 0.01};
    const xb_composite_options composite = {.epsilon = 0.1};
    const xb_sampler_options sampler = {.standardise = true};
    const xb_frame_options frame = {.whole = true};
    const xb_image_options image = {.channels = 3};
    const xb_analog_options analog = {.seed = 1};
    xb_assay_options assay = {.reads = 10};
    refused(ctx, xb_score_regression(ctx, NULL, &mixture, &one, &score), "score");
    refused(ctx, xb_score_classes(ctx, NULL, &classes, &label, &score), "score");
    refused(ctx, xb_distance_samples(ctx, NULL, &one, 1, &one, 1, 1, &distance),
            "distance");
    refused(ctx, xb_fit_run(ctx, NULL, &one, 1, &fit), "fit");
    refused(ctx,
            xb_rule_fill_composite(ctx, NULL, NULL, 2, XB_COMPOSITE_SPLIT, &composite),
            "composite");
    refused(ctx, xb_sampler_create(ctx, NULL, NULL, &sampler), "sampler");
    refused(ctx, xb_frame_read(ctx, NULL, "no such file", &frame), "frame");
    refused(ctx, xb_images_open(ctx, NULL, "no such file", &image), "image");
    refused(ctx, xb_analog_create(ctx, NULL, NULL, NULL, NULL, 0, &analog), "analog");
    refused(ctx, xb_assay_create(ctx, NULL, NULL, NULL, NULL, 1, &assay), "assay");
    assay = xb_assay_options_default();
    assay.analog = &analog; /* pointed to, and with a size of its own */
    refused(ctx, xb_assay_create(ctx, NULL, NULL, NULL, NULL, 1, &assay), "analog");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_caller_keeps_its_bounds),
        cmocka_unit_test(a_newer_caller_is_told_what_is_unknown),
        cmocka_unit_test(sizes_that_nobody_set_are_refused),
        cmocka_unit_test(the_library_reads_longer_options),
        cmocka_unit_test(models_refuse_literals),
        cmocka_unit_test(the_rest_refuses_literals),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
