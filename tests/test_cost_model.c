/* test_cost_model.c: energy and time of a draw: a case computed by hand, the published
 * values of both ADC models, each term written out again from its counts, what must grow
 * with what, and what is refused. */
#include "arraytest.h"

#include "crossbar/adc_energy.h"
#include "crossbar/analog.h"
#include "vi/weight_cells.h"

enum { ARRAY, DIGITAL, DETERMINISTIC };
enum { DAC, CELLS, ADC, LOGIC, SAMPLING };

static const char conv_net[] = "conv 3, relu, batchnorm, maxpool 2 ceil,"
                               " conv 4 3x3 stride 2 valid, elu, flatten, dense 1";

/* The model of a chip with that array. */
static xb_cost_model *cost_of(xb_ctx *ctx, const xb_model *m, const xb_array *array,
                              int64_t draws)
{
    double *x = net_inputs(m, 4);
    xb_analog *a = test_analog(ctx, m, array, x, 4);
    xb_cost_model *cost = NULL;
    assert_ok(ctx, xb_cost_model_create(ctx, &cost, a, draws));
    xb_analog_destroy(a);
    free(x);
    return cost;
}

static xb_array converted(const char *preset)
{
    xb_array array = test_array(preset);
    array.dac_bits = 8, array.adc_bits = 8;
    return array;
}

static xb_band energy(const xb_cost_model *cost, int64_t design, int64_t layer, int part)
{
    return xb_cost_model_energy_pj(cost, design, layer, part);
}

/* A layer of 64 x 64, four cells a weight at 30 fJ (0.2 V, 1 ns, 1.33 kOhm), 128
 * conversions of 10 bits at 3.3 pJ: 0.49 + 0.42 nJ a draw, 91 nJ for 100 draws. */
static void the_hand_has_the_same(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m =
        net_model(ctx, "dense 64, relu, dense 1", (xb_shape){1, 1, 64}, 0, 0.05);
    xb_array array = converted("ideal");
    array.adc_bits = 10;
    array.g_min_us = 751.0, array.g_max_us = 752.8; /* all pairs at 1/1.33 kOhm */
    array.cost.noise_g_us = 1e3 / 1.33;
    array.cost.noise_cells = 2, array.cost.adc_per_output = 2;
    array.cost.read_v = 0.2, array.cost.read_ns = 1;
    xb_cost_model *cost = cost_of(ctx, m, &array, 100);
    const double cells = energy(cost, ARRAY, 0, CELLS).high,
                 noise = energy(cost, ARRAY, 0, SAMPLING).high,
                 adc = energy(cost, ARRAY, 0, ADC).high;
    assert_close(cells + noise, 64 * 64 * 4 * 0.030, 0.01);
    assert_close(adc, 128 * 3.3, 0.01);
    assert_close((double)xb_cost_model_draws(cost, ARRAY) * (cells + noise + adc), 91e3,
                 0.01);
    assert_close(energy(cost, ARRAY, 0, ADC).low, 128 * 0.31, 0.01);
    xb_cost_model_destroy(cost);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void converters_have_their_published_energies(void **state)
{
    (void)state;
    static const struct {
        int bits;
        double pj;
    } survey[] = {{4, 0.92}, {6, 1.06}, {8, 1.71}, {10, 3.3}, {11, 9.3}, {12, 29}};
    for (size_t i = 0; i < sizeof survey / sizeof *survey; i++) /* at 100 MS/s, 32 nm */
        assert_close(xb_adc_survey_pj(survey[i].bits, 100 * (survey[i].bits + 1), 32),
                     survey[i].pj, 0.01);
    assert_close(xb_adc_circuit_pj(8, 1e4, 32), 0.235, 0.01);
    assert_close(xb_adc_circuit_pj(10, 1e4, 32), 0.31, 0.01);
    /* 22 nm, 1 MOhm, 8 bits: 8.679 uW and 0.0723 uW for 9 ns */
    assert_close(xb_adc_circuit_pj(8, 1e6, 22), 8.7513 * 9e-3, 1e-3);
}

/* conv 18 x 3 on 63 pixels, conv 27 x 4 on 2, dense 8 x 1; tiles of 16 x 3: 2 x 1,
 * 2 x 2, 1 x 1. */
static void terms_are_those_of_the_hand(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, conv_net, (xb_shape){9, 7, 2}, 0, 0.05);
    xb_array array = converted("ideal");
    array.rows = 16, array.columns = 3;
    array.g_min_us = 10, array.g_max_us = 50;
    array.stuck_high = 1; /* every pair 50 + 50 uS */
    array.dac_bits = 6, array.adc_bits = 8;
    array.cost.noise_cells = 3, array.cost.adc_per_output = 2, array.cost.adc_share = 4;
    xb_cost_model *cost = cost_of(ctx, m, &array, 10);
    assert_int_equal(xb_cost_model_layer_count(cost), 3);
    const double dac[] = {63 * 18, 2 * 27 * 2, 8}, adc[] = {63 * 3 * 2, 2 * 4 * 2, 1},
                 weights[] = {63 * 54, 2 * 108, 8}, waits[] = {4, 4, 2},
                 operations[] = {63, 2, 1}, alone[] = {3, 3, 1}, kernel[] = {54, 108, 8};
    for (int i = 0; i < 3; i++) {
        assert_close(energy(cost, ARRAY, i, DAC).low, dac[i] * 6 * 0.05, 1e-12);
        assert_close(energy(cost, ARRAY, i, DAC).high, dac[i] * 6 * 0.417, 1e-12);
        /* 0.25 V^2 x 100 uS x 2 ns = 50 fJ a pair; a noise device has 30 uS: 15 fJ */
        assert_close(energy(cost, ARRAY, i, CELLS).low, weights[i] * 0.050, 1e-9);
        assert_close(energy(cost, ARRAY, i, SAMPLING).high, weights[i] * 3 * 0.015, 1e-9);
        assert_close(energy(cost, ARRAY, i, ADC).low, adc[i] * 2 * 0.235, 0.01);
        assert_close(energy(cost, ARRAY, i, ADC).high, adc[i] * 2 * 1.71, 0.01);
        assert_close(energy(cost, ARRAY, i, LOGIC).low, adc[i] * 2 * 0.1, 1e-12);
        /* 2 ns, and 9 ns for each of up to 4 conversions of one converter */
        assert_close(xb_cost_model_time_ns(cost, ARRAY, i),
                     operations[i] * (2 + 9 * waits[i]), 1e-12);
        assert_close(energy(cost, DETERMINISTIC, i, ADC).high, adc[i] * 1.71, 0.01);
        assert_close(energy(cost, DETERMINISTIC, i, CELLS).high, weights[i] * 0.050,
                     1e-9);
        assert_close(energy(cost, DETERMINISTIC, i, SAMPLING).high, 0, 0);
        assert_close(xb_cost_model_time_ns(cost, DETERMINISTIC, i),
                     operations[i] * (2 + 9 * alone[i]), 1e-12);
        assert_close(energy(cost, DIGITAL, i, LOGIC).low, (weights[i] + kernel[i]) * 0.3,
                     1e-12);
        assert_close(energy(cost, DIGITAL, i, LOGIC).high,
                     (weights[i] + kernel[i]) * 1.55, 1e-12);
        assert_close(energy(cost, DIGITAL, i, SAMPLING).low, kernel[i] * 0.0163, 1e-12);
        assert_close(energy(cost, DIGITAL, i, SAMPLING).high, kernel[i] * 0.360, 1e-12);
        assert_close(energy(cost, DIGITAL, i, CELLS).high, 0, 0);
        assert_close(xb_cost_model_time_ns(cost, DIGITAL, i), kernel[i] / 5.12, 1e-12);
    }
    assert_int_equal(xb_cost_model_draws(cost, DIGITAL), 10);
    assert_int_equal(xb_cost_model_draws(cost, DETERMINISTIC), 1);
    xb_cost_model_destroy(cost);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Of each pair one device is at its lowest, the other above it by |mu| of the range. */
static double cells_pj(const xb_model *m, double low_us, double range_us, int64_t n)
{
    double top = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs((double)m->mu[i]));
    for (int64_t i = 0; i < n; i++)
        sum += 2 * low_us + range_us * fabs((double)m->mu[i]) / top;
    return sum * 0.5 * 0.5 * 2 * 1e-3;
}

static void cells_are_those_programmed(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 40, relu, dense 1", (xb_shape){1, 1, 5}, 0, 0.05);
    xb_array array = converted("ideal");
    array.g_min_us = 20, array.g_max_us = 90;
    xb_cost_model *cost = cost_of(ctx, m, &array, 10);
    const double written = energy(cost, ARRAY, 0, CELLS).low;
    assert_close(written, cells_pj(m, 20, 70, 5 * 40), 1e-9);
    xb_cost_model_destroy(cost);
    array.line_ohm = 20; /* wires take current away */
    cost = cost_of(ctx, m, &array, 10);
    assert_true(energy(cost, ARRAY, 0, CELLS).low < 0.99 * written);
    xb_cost_model_destroy(cost);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void members_are_averaged(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    opt.members = 3;
    opt.net = "dense 8, relu, dense 1";
    xb_model *m = train_model(ctx, &opt, false, NULL);
    xb_array array = converted("ideal");
    xb_cost_model *all = cost_of(ctx, m, &array, 9);
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        xb_cost_model *one = cost_of(ctx, xb_model_member_at(m, i), &array, 9);
        sum += energy(one, ARRAY, -1, CELLS).low;
        assert_close(energy(all, ARRAY, -1, ADC).low, energy(one, ARRAY, -1, ADC).low, 0);
        xb_cost_model_destroy(one);
    }
    assert_close(energy(all, ARRAY, -1, CELLS).low, sum / 3, 1e-12);
    xb_cost_model_destroy(all);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* A draw waits until its devices have forgotten the last one; without noise none does. */
static void draws_wait_for_their_devices(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 4, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.05);
    xb_array array = converted("ecram");
    xb_cost_model *cost = cost_of(ctx, m, &array, 10);
    const double busy = (5 + 9 * 4) + (5 + 9); /* pulses of 5 ns, 4 and 1 columns */
    assert_close(xb_cost_model_time_ns(cost, ARRAY, -1), 1000, 0);
    assert_close(xb_cost_model_time_ns(cost, DETERMINISTIC, -1), busy, 1e-12);
    xb_cost_model_destroy(cost);
    array.read_interval_ns = 1, array.correlation_time_ns = 0;
    cost = cost_of(ctx, m, &array, 10);
    assert_close(xb_cost_model_time_ns(cost, ARRAY, -1), busy, 1e-12);
    xb_cost_model_destroy(cost);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void sums_are_those_of_their_parts(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 4, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.05);
    xb_array array = test_array("mtj");
    xb_cost_model *cost = cost_of(ctx, m, &array, 10);
    for (int64_t d = 0; d < xb_cost_model_design_count(); d++) {
        double low = 0, high = 0;
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < xb_cost_model_part_count(); k++) {
                const xb_band pj = energy(cost, d, i, k);
                assert_true(pj.low >= 0 && pj.high >= pj.low);
                low += pj.low, high += pj.high;
            }
        assert_close(energy(cost, d, -1, -1).low, low, 1e-12);
        assert_close(energy(cost, d, -1, -1).high, high, 1e-12);
        assert_int_equal(xb_cost_model_design_find(xb_cost_model_design_name(d)), d);
    }
    for (int64_t k = 0; k < xb_cost_model_part_count(); k++)
        assert_int_equal(xb_cost_model_part_find(xb_cost_model_part_name(k)), k);
    assert_int_equal(xb_cost_model_part_find("rust"), -1);
    assert_int_equal(xb_cost_model_layer_at(cost, 1), 2);
    xb_cost_model_destroy(cost);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Each key by itself, from one end of its values to the other: never cheaper. */
static void more_is_never_cheaper(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        double from, to, step;
    } cases[] = {{"adc_bits", 2, 20, 1},     {"dac_bits", 2, 20, 1},
                 {"read_v", 0.1, 2, 0.1},    {"read_ns", 1, 50, 7},
                 {"node_nm", 7, 180, 15},    {"adc_share", 1, 9, 1},
                 {"noise_cells", 0, 4, 1},   {"adc_per_output", 1, 4, 1},
                 {"noise_g_us", 1, 100, 11}, {"read_interval_ns", 10, 1000, 100}};
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 20, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.05);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xb_array array = converted("mtj");
        xb_band last = {0, 0};
        double last_ns = 0;
        for (double v = cases[i].from; v <= cases[i].to; v += cases[i].step) {
            assert_ok(ctx, xb_array_set(ctx, &array, cases[i].key, v));
            xb_cost_model *cost = cost_of(ctx, m, &array, 10);
            const xb_band pj = energy(cost, ARRAY, -1, -1);
            const double ns = xb_cost_model_time_ns(cost, ARRAY, -1);
            if (pj.low < last.low || pj.high < last.high || ns < last_ns)
                fail_msg("%s: %g is cheaper", cases[i].key, v);
            last = pj, last_ns = ns;
            xb_cost_model_destroy(cost);
        }
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* A draw costs the same whatever their number, so more of them cost more. */
static void draws_cost_the_same_each(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 4, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.05);
    xb_array array = test_array("mtj");
    for (int64_t design = 0; design < xb_cost_model_design_count(); design++) {
        double last = 0;
        for (int64_t draws = 1; draws < 1000; draws *= 3) {
            xb_cost_model *cost = cost_of(ctx, m, &array, draws);
            const int64_t each = design == DETERMINISTIC ? 1 : draws;
            const double pj = energy(cost, design, -1, -1).low;
            assert_int_equal(xb_cost_model_draws(cost, design), each);
            assert_true(pj > 0 && (draws == 1 || pj == last));
            last = pj;
            xb_cost_model_destroy(cost);
        }
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void assert_refused(xb_ctx *ctx, const xb_model *m, const xb_array *array,
                           int64_t draws, const char *why)
{
    double *x = net_inputs(m, 4);
    xb_analog *a = test_analog(ctx, m, array, x, 4);
    xb_cost_model *cost = NULL;
    assert_true(xb_cost_model_create(ctx, &cost, a, draws) != XB_OK);
    assert_null(cost);
    assert_non_null(strstr(xb_ctx_message(ctx), why));
    xb_analog_destroy(a);
    free(x);
}

static void what_has_no_cost_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 4, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.05);
    xb_array array = converted("mtj");
    assert_refused(ctx, m, &array, 0, "0 draws");
    array.adc_bits = 0;
    assert_refused(ctx, m, &array, 10, "'adc_bits' is 0");
    array.adc_bits = 8, array.dac_bits = 0;
    assert_refused(ctx, m, &array, 10, "'dac_bits' is 0");
    xb_model_destroy(m);
    xb_weight_cells *cells = NULL;
    assert_ok(ctx, xb_weight_cells_parse(ctx, &cells, "three"));
    xb_train_options opt = quick_options();
    opt.cells = cells;
    m = train_model(ctx, &opt, false, NULL);
    array.dac_bits = 8;
    assert_refused(ctx, m, &array, 10, "made of cells");
    xb_weight_cells_destroy(cells);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const positive[] = {"read_v",         "read_ns",    "node_nm",
                                           "adc_clock_mhz",  "adc_share",  "dac_pj_low",
                                           "adc_column_ohm", "add_pj",     "mac_pj_high",
                                           "sample_fj_low",  "sample_gsps"};
    xb_ctx *ctx = test_ctx();
    xb_array array = test_array("mtj");
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        for (int sign = -1; sign <= 0; sign++)
            assert_int_equal(xb_array_set(ctx, &array, positive[i], sign), XB_E_INPUT);
    assert_ok(ctx, xb_array_check(ctx, &array));
    array.cost.sample_fj_low = 400;
    assert_int_equal(xb_array_check(ctx, &array), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx),
                        "sample_fj_high is 360, expected at least sample_fj_low 400");
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hand_has_the_same),
        cmocka_unit_test(converters_have_their_published_energies),
        cmocka_unit_test(terms_are_those_of_the_hand),
        cmocka_unit_test(cells_are_those_programmed),
        cmocka_unit_test(members_are_averaged),
        cmocka_unit_test(draws_wait_for_their_devices),
        cmocka_unit_test(sums_are_those_of_their_parts),
        cmocka_unit_test(more_is_never_cheaper),
        cmocka_unit_test(draws_cost_the_same_each),
        cmocka_unit_test(what_has_no_cost_is_refused),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
