/* test_program_state.c: writes that miss by what a campaign measured for their state: the
 * curve of a device file against what its cells were made of, cells of an array against
 * that curve, and what a model on such an array becomes. Statistical bounds are five
 * standard errors: a false alarm in a million, and seeds are fixed. */
#include "arraytest.h"
#include "devicetest.h"

#include "crossbar/analog.h"

static const double miss_us[STATES] = {0.5, 3, 1};

/* At 10, 50 and 100 uS, half way, and outside. */
static void errors_are_linear_between_states(void **state)
{
    (void)state;
    static const double at_us[] = {10, 50, 100, 30, 75, 5, 200};
    static const double want_us[] = {0.5, 3, 1, 1.75, 2, 0.5, 1};
    static const char *const units[] = {"S", "uS"};
    xb_ctx *ctx = test_ctx();
    for (int u = 0; u < 2; u++) {
        const double per_us = u ? 1 : 1e-6;
        xb_device *d = missed_device(ctx, units[u], miss_us);
        for (int i = 0; i < XB_COUNT(at_us); i++)
            assert_close(xb_device_program_error(d, per_us * at_us[i]),
                         per_us * want_us[i], 1e-9);
        xb_device_destroy(d);
    }
    xb_ctx_destroy(ctx);
}

enum { IN = 100, OUT = 80, N = IN * OUT };

/* The standard deviation of N cells written at g, with both kinds of error. */
static void cells_miss_by_their_state(void **state)
{
    (void)state;
    static const double at_us[] = {20, 50, 75};
    static const double want_us[] = {1.125, 3, 2};
    static double plus[N], minus[N];
    static float draws[N];
    xb_ctx *ctx = test_ctx();
    xb_device *d = missed_device(ctx, "S", miss_us);
    const xb_aged aged = {d, 1e6};
    xb_law *gaussian = test_law(ctx, "gaussian");
    xb_sampler *normal = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &normal, gaussian, NULL));
    const xb_chip chip = {xb_key_make(3, XB_PURPOSE_ARRAY), normal, 2, draws};
    for (int k = 0; k < 2 * XB_COUNT(at_us); k++) {
        const double g = at_us[k / 2], flat = k % 2 ? 0.9 : 0;
        xb_array a = test_array("ideal"); /* 10 to 100 uS */
        a.program_by_state = 2, a.program_error = flat / 90;
        xb_cells c = {IN, OUT, IN, OUT, plus, minus, NULL, 1, 1, 0, 0, NULL};
        for (int i = 0; i < N; i++) plus[i] = minus[i] = g;
        xb_cells_program(&c, &a, &aged, &chip);
        const double want = hypot(2 * want_us[k / 2], flat);
        assert_close_floor(moment(plus, N, 0, 1), g, 5 * want / sqrt(N), 1);
        assert_close(sqrt(moment(plus, N, g, 2)), want, 5 / sqrt(2.0 * N));
        assert_close(sqrt(moment(minus, N, g, 2)), want, 5 / sqrt(2.0 * N));
    }
    xb_sampler_destroy(normal);
    xb_law_destroy(gaussian);
    xb_device_destroy(d);
    xb_ctx_destroy(ctx);
}

/* A weight of a model: the pair of (X1), each device with the error of its own state; no
 * error where the file has none; the key alone needs a file. */
static void a_model_is_written_with_it(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = net_model(ctx, "dense 40, relu, dense 40, relu, dense 1",
                            (xb_shape){1, 1, 30}, 0, 0.1);
    xb_array a = test_array("ideal");
    xb_device *d = missed_device(ctx, "S", miss_us);
    assert_ok(ctx, xb_device_save(ctx, d, scratch_path(&s, "device.json")));
    assert_ok(ctx, xb_array_set_device(ctx, &a, s.path));
    a.program_by_state = 1;
    xb_analog *analog = test_analog(ctx, m, &a, NULL, 0);
    const xb_analog_layer *p = &analog->layer[1];
    const double k = 90 / p->weight_top;
    double square = 0;
    for (int64_t i = 0; i < p->size; i++) {
        const double mu = (double)m->mu[p->offset + i];
        const double sd_us =
            1e6 * hypot(xb_device_program_error(d, 1e-6 * (10 + fabs(k * mu))),
                        xb_device_program_error(d, 10e-6));
        square += pow(k * ((double)analog->mu[p->offset + i] - mu) / sd_us, 2);
        assert_true(analog->sigma[p->offset + i] == m->sigma[p->offset + i]);
    }
    assert_close(square / (double)p->size, 1, 5 * sqrt(2.0 / (double)p->size));
    xb_analog_destroy(analog);
    xb_device_destroy(d);
    analog = NULL;
    assert_ok(ctx, xb_array_set_device(ctx, &a, ""));
    assert_int_equal(xb_analog_create(ctx, &analog, m, &a, NULL, 0, NULL), XB_E_INPUT);
    assert_non_null(
        strstr(xb_ctx_message(ctx), "'program_by_state' needs 'device', a device file"));
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_linear_between_states),
        cmocka_unit_test(cells_miss_by_their_state),
        cmocka_unit_test(a_model_is_written_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
