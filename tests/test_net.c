/* test_net.c: the text of a net, its shapes, its tensors, and every complaint. */
#include "xbtest.h"

#include "base/ctx.h"
#include "failalloc.h"

static const xb_shape features8 = {1, 1, 8}, image = {200, 200, 3}, small = {5, 6, 2};

static xb_net *parsed(xb_ctx *ctx, const char *text, xb_shape input)
{
    xb_net *net = NULL;
    assert_ok(ctx, xb_net_parse(ctx, &net, text, input, NULL));
    return net;
}

static void text_is_shortest_and_round(void **state)
{
    (void)state;
    static const struct {
        xb_shape in;
        const char *text, *shortest;
    } known[] = {
        {{1, 1, 8}, "dense 16,elu ,  dense 1", "dense 16, elu, dense 1"},
        {{1, 1, 8}, "dense 7 nobias, tanh, sigmoid", "dense 7 nobias, tanh, sigmoid"},
        {{9, 9, 1}, "conv 4", "conv 4 3x3"},
        {{9, 9, 1}, "conv 4 same stride 1 3x3", "conv 4 3x3"},
        {{9, 9, 1},
         "conv 4 valid 5x2 nobias stride 2",
         "conv 4 5x2 stride 2 valid nobias"},
        {{9, 9, 1}, "maxpool 2 stride 2 floor", "maxpool 2"},
        {{9, 9, 1}, "maxpool 3 ceil stride 2", "maxpool 3 stride 2 ceil"},
        {{9, 9, 1}, "batchnorm epsilon 1e-3 momentum 0.99", "batchnorm"},
        {{9, 9, 1},
         "batchnorm momentum 0.9 epsilon 0.25, flatten, relu",
         "batchnorm momentum 0.9 epsilon 0.25, flatten, relu"},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(known); i++) {
        xb_net *net = parsed(ctx, known[i].text, known[i].in);
        assert_string_equal(xb_net_text(net), known[i].shortest);
        xb_net *again = parsed(ctx, xb_net_text(net), known[i].in);
        assert_string_equal(xb_net_text(again), known[i].shortest);
        assert_int_equal(xb_net_param_count(net), xb_net_param_count(again));
        xb_net_destroy(net);
        xb_net_destroy(again);
    }
    xb_net_destroy(NULL);
    xb_ctx_destroy(ctx);
}

static void assert_shape(xb_shape s, int64_t h, int64_t w, int64_t c)
{
    if (s.h != h || s.w != w || s.c != c)
        fail_msg("%d x %d x %d, expected %d x %d x %d", (int)s.h, (int)s.w, (int)s.c,
                 (int)h, (int)w, (int)c);
}

/* Sizes known from TensorFlow (same, valid) and PyTorch (ceil_mode). */
static void shapes_are_inferred(void **state)
{
    (void)state;
    static const struct {
        xb_shape in;
        const char *text;
        xb_shape out;
    } known[] = {
        {{5, 6, 2}, "conv 4", {5, 6, 4}},
        {{5, 6, 2}, "conv 4 stride 2", {3, 3, 4}},
        {{5, 6, 2}, "conv 4 valid", {3, 4, 4}},
        {{5, 6, 2}, "conv 4 5x6 valid", {1, 1, 4}},
        {{5, 6, 2}, "conv 1 2x2 stride 3 valid", {2, 2, 1}},
        {{5, 6, 2}, "maxpool 2", {2, 3, 2}},
        {{5, 6, 2}, "maxpool 2 ceil", {3, 3, 2}},
        {{5, 6, 2}, "maxpool 7 ceil", {1, 1, 2}},
        {{6, 6, 1}, "maxpool 1 stride 4 ceil", {2, 2, 1}},
        {{5, 6, 2}, "flatten", {1, 1, 60}},
        {{1, 1, 3}, "conv 2, flatten, dense 5, elu", {1, 1, 5}},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(known); i++) {
        xb_net *net = parsed(ctx, known[i].text, known[i].in);
        xb_shape out = known[i].out;
        assert_shape(xb_net_output(net), out.h, out.w, out.c);
        xb_net_destroy(net);
    }
    xb_ctx_destroy(ctx);
}

/* The paper's face network: 200 -> 100 -> 50 -> 25 -> 13 -> 7 -> 4 -> 2 -> 1. */
static void faces_go_to_one_pixel(void **state)
{
    (void)state;
    char text[1024] = "";
    for (int i = 0; i < 8; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "conv %d, relu, maxpool 2 ceil, batchnorm, ", 16 << i / 2);
    strcat(text, "flatten, dense 100, batchnorm, relu, dense 10, batchnorm, relu,"
                 " dense 1, batchnorm, sigmoid");
    static const int side[] = {100, 50, 25, 13, 7, 4, 2, 1};
    xb_ctx *ctx = test_ctx();
    xb_net *net = parsed(ctx, text, image);
    assert_int_equal(xb_net_layer_count(net), 8 * 4 + 1 + 9);
    for (int i = 0; i < 8; i++)
        assert_shape(xb_net_layer_output(net, 4 * i + 3), side[i], side[i], 16 << i / 2);
    assert_shape(xb_net_output(net), 1, 1, 1);
    assert_string_equal(xb_net_layer_name(net, 32), "flatten");
    int64_t channels = 2 * (16 + 32 + 64 + 128) + 100 + 10 + 1;
    assert_int_equal(xb_net_state_count(net), 2 * channels);
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

static void assert_tensor(const xb_net *net, int i, const char *name, xb_role role,
                          int64_t offset, int64_t size, bool stochastic)
{
    const xb_tensor *t = xb_net_tensor_at(net, i);
    assert_string_equal(t->name, name);
    assert_int_equal(t->role, role);
    assert_int_equal(t->offset, offset);
    assert_int_equal(t->size, size);
    assert_int_equal(t->stochastic, stochastic);
    assert_int_equal(xb_net_tensor_find(net, name), i);
    int64_t product = 1;
    for (int d = 0; d < t->ndim; d++) product *= t->shape[d];
    assert_int_equal(product, size);
}

static void tensors_are_listed(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const char text[] = "conv 3 3x2 valid, batchnorm, flatten, dense 4 nobias";
    static const int64_t stochastic[] = {36 + 60 * 3, 36 + 60 * 3 + 3, 0};
    for (int choice = 0; choice < 3; choice++) {
        xb_net_options opt = xb_net_options_default();
        opt.stochastic = (xb_stochastic)choice;
        xb_net *net = NULL;
        assert_ok(ctx, xb_net_parse(ctx, &net, text, small, &opt));
        bool kernels = choice != XB_STOCHASTIC_NONE, all = choice == XB_STOCHASTIC_ALL;
        assert_int_equal(xb_net_tensor_count(net), 5);
        assert_tensor(net, 0, "0.kernel", XB_ROLE_KERNEL, 0, 36, kernels);
        assert_tensor(net, 1, "0.bias", XB_ROLE_BIAS, 36, 3, all);
        assert_tensor(net, 2, "1.scale", XB_ROLE_SCALE, 39, 3, false);
        assert_tensor(net, 3, "1.shift", XB_ROLE_SHIFT, 42, 3, false);
        assert_tensor(net, 4, "3.kernel", XB_ROLE_KERNEL, 45, 180, kernels);
        assert_int_equal(xb_net_tensor_at(net, 0)->ndim, 4);
        assert_int_equal(xb_net_tensor_at(net, 0)->shape[1], 2);
        assert_int_equal(xb_net_tensor_at(net, 4)->shape[0], 45);
        assert_int_equal(xb_net_param_count(net), 225);
        assert_int_equal(xb_net_state_count(net), 6);
        assert_int_equal(xb_net_stochastic_count(net), stochastic[choice]);
        assert_int_equal(xb_net_tensor_find(net, "2.kernel"), -1);
        xb_net_destroy(net);
    }
    xb_ctx_destroy(ctx);
}

static void tensors_can_be_chosen(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_net *net = parsed(ctx, "dense 4, batchnorm, dense 2", features8);
    assert_ok(ctx, xb_net_set_stochastic(ctx, net, 0, false));
    assert_ok(ctx, xb_net_set_stochastic(ctx, net, 1, true));
    assert_int_equal(xb_net_stochastic_count(net), 4 + 8);
    assert_int_equal(xb_net_set_stochastic(ctx, net, 2, true), XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(ctx),
                        "1.scale cannot be random: kernels and biases can");
    assert_ok(ctx, xb_net_set_stochastic(ctx, net, 2, false));
    assert_int_equal(xb_net_set_stochastic(ctx, net, 6, true), XB_E_ARGUMENT);
    assert_int_equal(xb_net_set_stochastic(ctx, net, -1, true), XB_E_ARGUMENT);
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

/* Within the bound, of the bound's variance, and by place alone. */
static void parameters_start_as_glorot(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_net *net = parsed(ctx, "conv 40 3x5, batchnorm, flatten, dense 30", small);
    int64_t n = xb_net_param_count(net);
    xb_real *mu = calloc((size_t)n, sizeof *mu), *again = calloc((size_t)n, sizeof *mu);
    xb_net_params_start(net, mu, xb_key_make(3, XB_PURPOSE_INIT));
    xb_net_params_start(net, again, xb_key_make(3, XB_PURPOSE_INIT));
    assert_memory_equal(mu, again, (size_t)n * sizeof *mu);
    const double bound[] = {sqrt(6.0 / (15 * (2 + 40))),   0, 0, 0,
                            sqrt(6.0 / (5 * 6 * 40 + 30)), 0};
    for (int k = 0; k < xb_net_tensor_count(net); k++) {
        const xb_tensor *t = xb_net_tensor_at(net, k);
        double square = 0, largest = 0, fixed = t->role == XB_ROLE_SCALE ? 1 : 0;
        for (int64_t i = t->offset; i < t->offset + t->size; i++) {
            largest = fmax(largest, fabs((double)mu[i]));
            square += (double)mu[i] * (double)mu[i] / (double)t->size;
            if (t->role != XB_ROLE_KERNEL) assert_true(mu[i] == (xb_real)fixed);
        }
        if (t->role != XB_ROLE_KERNEL) continue;
        assert_at_most(largest, bound[k] * (1 + 1e-6));
        assert_close(square, bound[k] * bound[k] / 3, 0.1); /* 4 standard errors */
    }
    free(mu), free(again);
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

/* Hidden dense units bend anywhere within their kernel's length: uniform on it (mean
 * square 1/3, 5 standard errors of 400 values: 0.075); the last layer has biases 0. */
static void hidden_units_bend_all_over(void **state)
{
    (void)state;
    enum { UNITS = 400, IN = 2 };
    xb_ctx *ctx = test_ctx();
    xb_net *net = parsed(ctx, "dense 400, relu, dense 3", (xb_shape){1, 1, IN});
    xb_real mu[IN * UNITS + UNITS + UNITS * 3 + 3];
    double square = 0;
    xb_net_params_start(net, mu, xb_key_make(3, XB_PURPOSE_INIT));
    for (int j = 0; j < UNITS; j++) {
        double length = hypot((double)mu[j], (double)mu[UNITS + j]);
        double share = (double)mu[IN * UNITS + j] / length;
        assert_at_most(fabs(share), 1 + 1e-6);
        square += share * share / UNITS;
    }
    assert_close_floor(square, 1.0 / 3, 0.075, 1);
    for (int k = 0; k < 3; k++) assert_true(mu[(IN + 1 + 3) * UNITS + k] == 0);
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

/* Texts of nets that are none, and what is said of each. */
static const struct {
    xb_shape in;
    const char *text, *says;
} wrong_texts[] = {
    {{1, 1, 8},
     "dense 16, elo, dense 1",
     "layer 2: unknown layer 'elo' (did you mean elu?)"},
    {{1, 1, 8}, "desne 16", "layer 1: unknown layer 'desne' (did you mean dense?)"},
    {{1, 1, 8}, "dense 1, gelu", "layer 2: unknown layer 'gelu' (did you mean elu?)"},
    {{1, 1, 8},
     "transformer",
     "layer 1: unknown layer 'transformer', expected one of dense, conv, maxpool, "
     "batchnorm,"
     " elu, relu, tanh, sigmoid, flatten"},
    {{1, 1, 8}, "", "layer 1: it is empty"},
    {{1, 1, 8}, "dense 1,", "layer 2: it is empty"},
    {{1, 1, 8}, "dense 1, , elu", "layer 2: it is empty"},
    {{1, 1, 8}, "dense", "layer 1: the number of outputs, as in 'dense 16', is missing"},
    {{1, 1, 8},
     "dense x",
     "layer 1: the number of outputs, as in 'dense 16', is 'x', expected a whole"
     " number from 1 to 16777216"},
    {{1, 1, 8},
     "dense 0",
     "layer 1: the number of outputs, as in 'dense 16', is '0', expected a whole"
     " number from 1 to 16777216"},
    {{1, 1, 8},
     "dense 99999999999999999999",
     "layer 1: the number of outputs, as in 'dense 16', is '99999999999999999999',"
     " expected a whole number from 1 to 16777216"},
    {{1, 1, 8},
     "dense 4 nobais",
     "layer 1: unknown option 'nobais' (did you mean nobias?)"},
    {{1, 1, 8}, "dense 4 nobias 3", "layer 1: unexpected word '3'"},
    {{1, 1, 8}, "elu 3", "layer 1: unexpected word '3'"},
    {{5, 6, 2},
     "dense 4",
     "layer 1: dense takes a vector and gets 5 x 6 x 2: put flatten before it"},
    {{5, 6, 2}, "conv", "layer 1: the number of filters, as in 'conv 16', is missing"},
    {{5, 6, 2}, "conv 4 3x", "layer 1: '3x' is not a window, expected e.g. 3x3"},
    {{5, 6, 2}, "conv 4 3", "layer 1: '3' is not a window, expected e.g. 3x3"},
    {{5, 6, 2}, "conv 4 stride", "layer 1: the stride is missing"},
    {{5, 6, 2},
     "conv 4 strid 2",
     "layer 1: unknown option 'strid' (did you mean stride?)"},
    {{5, 6, 2},
     "conv 4 6x6 valid",
     "layer 1: a window of 6 x 6 does not fit into 5 x 6: use same, or a smaller "
     "one"},
    {{5, 6, 2}, "maxpool", "layer 1: the window, as in 'maxpool 2', is missing"},
    {{5, 6, 2},
     "maxpool 6",
     "layer 1: a window of 6 does not fit into 5 x 6: use ceil, or a smaller one"},
    {{5, 6, 2},
     "maxpool 2 ceiling",
     "layer 1: unknown option 'ceiling', expected one of stride,"
     " floor, ceil or a comma"},
    {{5, 6, 2},
     "batchnorm momentum 1",
     "layer 1: the momentum is 1, expected 0 or more and below 1"},
    {{5, 6, 2},
     "batchnorm epsilon 0",
     "layer 1: epsilon is 0, expected above 0 and below 1"},
    {{5, 6, 2}, "batchnorm momentum nan", "layer 1: the momentum is not a number: 'nan'"},
    {{5, 6, 2},
     "batchnorm momentum 0.900000000000000000000000000000000001",
     "layer 1: the momentum is not a number: '0.90000000000000000000000000...'"},
    {{1, 1, 8},
     "dense 16777216, dense 16777216",
     "layer 2: its kernel has more than 2^31 elements"},
    {{4096, 4096, 1}, "conv 1024 1x1", "layer 1: its output has more than 2^31 elements"},
};

static void errors_point_at_the_layer(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(wrong_texts); i++) {
        xb_net *net = NULL;
        char expected[1024];
        snprintf(expected, sizeof expected, "net '%s': %s", wrong_texts[i].text,
                 wrong_texts[i].says);
        assert_int_equal(
            xb_net_parse(ctx, &net, wrong_texts[i].text, wrong_texts[i].in, NULL),
            XB_E_INPUT);
        assert_string_equal(xb_ctx_message(ctx), expected);
        assert_null(net);
    }
    xb_ctx_destroy(ctx);
}

static void long_texts_are_quoted_in_part(void **state)
{
    (void)state;
    char text[2048] = "dense 1";
    for (int i = 0; i < 100; i++) strcat(text, ", dense 1");
    strcat(text, ", emu, dense 1");
    xb_ctx *ctx = test_ctx();
    xb_net *net = NULL;
    assert_int_equal(xb_net_parse(ctx, &net, text, features8, NULL), XB_E_INPUT);
    assert_string_equal(
        xb_ctx_message(ctx),
        "net '... emu...': layer 102: unknown layer 'emu' (did you mean elu?)");
    static const xb_shape bad[] = {
        {0, 1, 1}, {1, -1, 1}, {1, 1, 0}, {1 << 20, 1 << 20, 1}};
    for (int i = 0; i < XB_COUNT(bad); i++)
        assert_int_equal(xb_net_parse(ctx, &net, "elu", bad[i], NULL), XB_E_ARGUMENT);
    assert_null(net);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_net *net = NULL;
        xb_status status = xb_net_parse(ctx, &net, "dense 3, elu", features8, NULL);
        bool failed = fail_alloc_happened();
        assert_int_equal(status, failed ? XB_E_MEMORY : XB_OK);
        xb_net_destroy(net);
        if (!failed) {
            assert_int_equal(k, 4);
            break;
        }
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_shortest_and_round),
        cmocka_unit_test(shapes_are_inferred),
        cmocka_unit_test(faces_go_to_one_pixel),
        cmocka_unit_test(tensors_are_listed),
        cmocka_unit_test(tensors_can_be_chosen),
        cmocka_unit_test(parameters_start_as_glorot),
        cmocka_unit_test(hidden_units_bend_all_over),
        cmocka_unit_test(errors_point_at_the_layer),
        cmocka_unit_test(long_texts_are_quoted_in_part),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
