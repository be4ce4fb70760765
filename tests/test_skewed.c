/* test_skewed.c: columns of skewed values (maths V21): which are bent and how, what a
 * model file remembers, and that F takes logarithms where the target follows them and
 * columns as they are where it does not. Seeds are fixed; F differs by dozens of its
 * standard errors. */
#include "traintest.h"

enum { N = 400, WIDTH = 4, FIRST = 0, LEFT = 1, RARE = 2, EVEN = 3 };

typedef struct skewed_rows {
    double x[N * WIDTH], y[N];
} skewed_rows;

/* exp(1.2 z), its mirror image, a rare 0 or 1, and z: normal quantiles in mixed order. */
static skewed_rows make_skewed(bool logarithmic)
{
    skewed_rows r;
    for (int i = 0; i < N; i++) {
        const double u = (fmod(i * 0.6180339887, 1) * (N - 1) + 0.5) / N;
        const double v = (fmod(i * 0.4142135624, 1) * (N - 1) + 0.5) / N;
        const double z = 1.2 * log(u / (1 - u)) / 1.7, t = 1.2 * log(v / (1 - v)) / 1.7;
        double *x = r.x + i * WIDTH;
        x[FIRST] = exp(z);
        x[LEFT] = 5 - exp(t);
        x[RARE] = i % 25 == 0;
        x[EVEN] = t;
        const double noise = 0.1 * sin(12.9898 * i);
        r.y[i] = (logarithmic ? z * z - z : x[FIRST] - 0.5 * x[LEFT]) + noise;
    }
    return r;
}

static xb_train_data data_of(const skewed_rows *r)
{
    return (xb_train_data){.x = r->x, .y = r->y, .n = N, .features = WIDTH};
}

static xb_model *trained(xb_ctx *ctx, const skewed_rows *r, xb_skewed skewed,
                         const char *net)
{
    xb_model *m = NULL;
    xb_train_options opt = xb_train_options_default();
    const xb_train_data data = data_of(r);
    opt.skewed = skewed;
    opt.net = net;
    opt.likelihood = XB_LIKELIHOOD_GAUSSIAN;
    opt.members = 1;
    opt.mle_epochs = net ? 2 : 100;
    opt.epochs = net ? 2 : 400;
    assert_ok(ctx, xb_train(ctx, &m, NULL, &data, &opt));
    return m;
}

static double skewness_of(const xb_model *m, const skewed_rows *r, int j)
{
    double mean = 0, two = 0, three = 0;
    for (int i = 0; i < N; i++)
        mean += xb_model_scaled_input(m, j, r->x[i * WIDTH + j]) / N;
    for (int i = 0; i < N; i++) {
        const double d = xb_model_scaled_input(m, j, r->x[i * WIDTH + j]) - mean;
        two += d * d / N;
        three += d * d * d / N;
    }
    assert_true(fabs(mean) < 1e-9);
    assert_close(two, 1, 1e-9);
    return three;
}

static void both_tails_are_bent_straight(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const skewed_rows r = make_skewed(true);
    xb_model *m = trained(ctx, &r, XB_SKEWED_LOG, "dense 2, relu, dense 1");
    const double *bend = xb_model_input_bend(m);
    assert_non_null(bend);
    assert_true(bend[FIRST] > 0 && bend[LEFT] < 0);
    assert_true(bend[RARE] == 0 && bend[EVEN] == 0);
    assert_true(fabs(skewness_of(m, &r, FIRST)) < 1e-6);
    assert_true(fabs(skewness_of(m, &r, LEFT)) < 1e-6);
    assert_non_null(strstr(xb_model_settings(m), "skewed"));
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Monotone and finite from far below the training rows to far above. */
static void beyond_the_rows_it_goes_on(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const skewed_rows r = make_skewed(true);
    xb_model *m = trained(ctx, &r, XB_SKEWED_LOG, "dense 2, relu, dense 1");
    double before = -INFINITY;
    for (double x = -50; x <= 1000; x += 0.25) {
        const double now = xb_model_scaled_input(m, FIRST, x);
        assert_true(isfinite(now) && now > before);
        before = now;
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void files_remember_the_bend(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    const skewed_rows r = make_skewed(true);
    xb_model *a = trained(ctx, &r, XB_SKEWED_LOG, "dense 2, relu, dense 1"), *b = NULL;
    assert_ok(ctx, xb_model_save(ctx, a, scratch_path(&s, "m.safetensors")));
    assert_ok(ctx, xb_model_load(ctx, &b, s.path));
    for (int j = 0; j < WIDTH; j++)
        for (double x = -2; x < 9; x += 0.5)
            assert_true(xb_model_scaled_input(a, j, x) == xb_model_scaled_input(b, j, x));
    xb_model_destroy(a);
    xb_model_destroy(b);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

static void f_chooses(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
        const skewed_rows r = make_skewed(logarithmic);
        xb_model *m = trained(ctx, &r, XB_SKEWED_AUTO, NULL);
        assert_int_equal(xb_model_input_bend(m) != NULL, logarithmic);
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

/* With a net, and with `keep`, columns enter as they are. */
static void left_alone_they_enter_as_they_are(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const skewed_rows r = make_skewed(true);
    xb_model *given = trained(ctx, &r, XB_SKEWED_AUTO, "dense 2, relu, dense 1");
    xb_model *kept = trained(ctx, &r, XB_SKEWED_KEEP, NULL);
    assert_null(xb_model_input_bend(given));
    assert_null(xb_model_input_bend(kept));
    xb_model_destroy(given);
    xb_model_destroy(kept);
    xb_ctx_destroy(ctx);
}

static void names_are_read(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_skewed s = XB_SKEWED_AUTO;
    assert_ok(ctx, xb_skewed_parse(ctx, &s, "log"));
    assert_int_equal(s, XB_SKEWED_LOG);
    assert_string_equal(xb_skewed_name(XB_SKEWED_KEEP), "keep");
    assert_int_not_equal(xb_skewed_parse(ctx, &s, "sqrt"), XB_OK);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_tails_are_bent_straight),
        cmocka_unit_test(beyond_the_rows_it_goes_on),
        cmocka_unit_test(files_remember_the_bend),
        cmocka_unit_test(f_chooses),
        cmocka_unit_test(left_alone_they_enter_as_they_are),
        cmocka_unit_test(names_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
