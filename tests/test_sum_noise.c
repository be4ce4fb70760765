/* test_sum_noise.c: noise of the column sums, whose standard deviation over reads is
 * computed by hand, and which is a function of the read alone. Statistical bounds are
 * five standard errors, seeds are fixed. */
#include "arraytest.h"

#include "crossbar/analog.h"

enum { INPUTS = 3, READS = 2000, IN = 5 };

typedef struct bench {
    xb_ctx *ctx;
    xb_model *m;
    double *x;
    xb_array array;
} bench;

/* One layer without noise of its own: what varies is the sums' noise. */
static bench make_bench(void)
{
    bench b = {.ctx = test_ctx(), .array = test_array("ideal")};
    b.m = net_model(b.ctx, "dense 1", (xb_shape){1, 1, IN}, 0, 0);
    for (int64_t i = 0; i < xb_net_param_count(b.m->net); i++) b.m->sigma[i] = 0;
    b.x = net_inputs(b.m, INPUTS);
    return b;
}

static void free_bench(bench *b)
{
    free(b->x);
    xb_model_destroy(b->m);
    xb_ctx_destroy(b->ctx);
}

/* Of output i over reads, in the net's units. */
static double sd_of(const bench *b, int i)
{
    double *v = test_reads(b->ctx, b->m, &b->array, b->x, INPUTS, 0, READS), sum = 0,
           square = 0;
    for (int s = 0; s < READS; s++) sum += v[s * INPUTS + i] / READS;
    for (int s = 0; s < READS; s++) square += pow(v[s * INPUTS + i] - sum, 2);
    free(v);
    return sqrt(square / (READS - 1)) / b->m->y_sd[0];
}

static void assert_sd(const bench *b, int i, double want)
{
    assert_close(sd_of(b, i), want, 5 / sqrt(2.0 * READS));
}

static double top_weight(const xb_model *m)
{
    double top = 0;
    for (int i = 0; i < IN; i++) top = fmax(top, fabs((double)m->mu[i]));
    return top;
}

/* (X56) Two devices of 2 uS each on a range of 90 uS. */
static void mean_devices_have_read_noise(void **state)
{
    (void)state;
    bench b = make_bench();
    float x[INPUTS * IN];
    xb_model_scale_inputs(b.m, x, b.x, INPUTS);
    b.array.mean_noise_us = 2;
    for (int i = 0; i < INPUTS; i++) {
        double square = 0;
        for (int j = 0; j < IN; j++) square += pow((double)x[i * IN + j], 2);
        assert_sd(&b, i, sqrt(2 * square) * 2 / 90 * top_weight(b.m));
    }
    free_bench(&b);
}

/* (X57) Amplifiers in parts of the range, converters in steps. */
static void amplifiers_and_converters_have_noise(void **state)
{
    (void)state;
    bench b = make_bench();
    b.array.amp_noise = 0.03;
    xb_analog *a = test_analog(b.ctx, b.m, &b.array, b.x, INPUTS);
    const double range = a->layer[0].adc.range;
    xb_analog_destroy(a);
    assert_true(range > 0);
    assert_sd(&b, 1, 0.03 * range);
    b.array.rows = 2; /* three tiles, each with an amplifier */
    a = test_analog(b.ctx, b.m, &b.array, b.x, INPUTS);
    assert_sd(&b, 1, sqrt(3) * 0.03 * a->layer[0].adc.range);
    xb_analog_destroy(a);
    b.array.rows = 0, b.array.amp_noise = 0;
    b.array.adc_bits = 12, b.array.adc_noise_lsb = 8; /* rounding adds 1/12 */
    b.array.adc_range = 1;                            /* far from its ends */
    a = test_analog(b.ctx, b.m, &b.array, b.x, INPUTS);
    assert_sd(&b, 1, sqrt(64 + 1.0 / 12) * a->layer[0].adc.range / 2047);
    xb_analog_destroy(a);
    b.array.adc_bits = 0;
    assert_int_equal(xb_array_check(b.ctx, &b.array), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(b.ctx), "adc_noise_lsb"));
    free_bench(&b);
}

/* (X58) 4kTG over a bandwidth of 1/2t, as a current of 0.5 V times uS a weight. */
static void conductances_have_thermal_noise(void **state)
{
    (void)state;
    bench b = make_bench();
    b.array.temperature_k = 300;
    b.array.cost.read_ns = 1e-3; /* to see it */
    xb_analog *a = test_analog(b.ctx, b.m, &b.array, b.x, INPUTS);
    const xb_analog_layer *p = &a->layer[0];
    double us = 0; /* the pairs' conductances */
    for (int j = 0; j < IN; j++)
        us += 20 + 90 * fabs((double)b.m->mu[j]) / top_weight(b.m);
    assert_close(p->conductance_us, us, 1e-6);
    const double ampere = sqrt(4 * 1.380649e-23 * 300 * us * 1e-6 / (2 * 1e-12));
    assert_sd(&b, 0, ampere / (0.5 * 90e-6 / top_weight(b.m)) * p->dac.range);
    xb_analog_destroy(a);
    free_bench(&b);
}

/* Reads [7, 12) are those of [0, 12), of convolutions as well, for any number of threads.
 */
static void noise_is_a_function_of_the_read(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m =
        net_model(ctx, "conv 3 3x3, relu, flatten, dense 2", (xb_shape){5, 5, 1}, 2, 0.1);
    xb_array array = test_array("mtj");
    array.mean_noise_us = 1, array.amp_noise = 0.01, array.adc_noise_lsb = 0.5;
    array.column_calibration = 4, array.adc_range_per = XB_RANGE_COLUMN;
    double *x = net_inputs(m, 4);
    for (int redraw = 0; redraw < 3; redraw++) {
        array.redraw = (xb_redraw)redraw;
        xb_ctx_set_threads(ctx, 1);
        double *all = test_reads(ctx, m, &array, x, 4, 0, 12);
        xb_ctx_set_threads(ctx, 3);
        double *late = test_reads(ctx, m, &array, x, 4, 7, 5);
        assert_memory_equal(all + 7 * 4 * 2, late, 5 * 4 * 2 * sizeof *all);
        assert_true(all[0] != all[4 * 2]);
        free(all);
        free(late);
    }
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_devices_have_read_noise),
        cmocka_unit_test(amplifiers_and_converters_have_noise),
        cmocka_unit_test(conductances_have_thermal_noise),
        cmocka_unit_test(noise_is_a_function_of_the_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
