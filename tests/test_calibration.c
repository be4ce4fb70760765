/* test_calibration.c: what an array does against its effects: gains and offsets of
 * columns against lines that are known, ranges against a conversion written out again,
 * repair of stuck pairs by hand, spare columns by what they must not do, and their costs.
 * Statistical bounds are five standard errors, seeds are fixed. */
#include "arraytest.h"

#include "crossbar/analog.h"
#include "crossbar/columns.h"

/* ---- gains and offsets */

enum { KNOWN = 200, WIDE = 40 };

static double normal_of(const xb_stream *where, int64_t i)
{
    double sum = -6;
    for (int64_t k = 0; k < 12; k++) sum += xb_stream_uniform(where, 12 * i + k);
    return sum;
}

/* Columns m = level + slope t + noise, t normal; what the fit makes of them. */
static xb_correction fit_lines(xb_ctx *ctx, double slope, double step, double level,
                               double noise)
{
    const xb_stream where = {.key = xb_key_make(31, XB_PURPOSE_TEST)};
    xb_column_fit fit;
    xb_correction out;
    assert_ok(ctx, xb_column_fit_make(ctx, &fit, 1, WIDE));
    assert_ok(ctx, xb_correction_make(ctx, &out, WIDE));
    for (int64_t k = 0; k < KNOWN; k++) {
        for (int64_t j = 0; j < WIDE; j++) {
            const double t = normal_of(&where, 2 * (k * WIDE + j));
            const double n = normal_of(&where, 2 * (k * WIDE + j) + 1);
            fit.wanted[j] = (float)t;
            fit.given[j] =
                (float)(level * (double)j + (slope + step * (double)j) * t + noise * n);
        }
        xb_column_fit_add(&fit, 0);
    }
    xb_column_fit_solve(&fit, &out);
    xb_column_fit_free(&fit);
    return out;
}

static void lines_without_noise_are_found(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_correction c = fit_lines(ctx, 0.6, 0.01, 0.02, 0);
    for (int j = 0; j < WIDE; j++) {
        const double slope = 0.6 + 0.01 * j, level = 0.02 * j;
        assert_close((double)c.post[j], 1 / slope, 1e-4);
        assert_close_floor((double)c.shift[j], -level / slope, 1e-4, 1);
        assert_close((double)c.pre[j], 1, 0);
    }
    xb_correction_free(&c);
    xb_ctx_destroy(ctx);
}

/* Columns that are alike under noise three times the signal: each alone would be off by
 * 3/sqrt(200) = 21 %, together by 3.4 %; offsets of 0 by 0.3, together by none. */
static void noisy_columns_learn_from_each_other(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_correction c = fit_lines(ctx, 0.7, 0, 0, 3);
    double apart = 0, off = 0;
    for (int j = 0; j < WIDE; j++) {
        apart += pow(0.7 * (double)c.post[j] - 1, 2) / WIDE;
        off += pow((double)c.shift[j], 2) / WIDE;
    }
    assert_at_most(sqrt(apart), 5 * 3 / (0.7 * sqrt((double)KNOWN * WIDE)));
    assert_at_most(sqrt(off), 0.15);
    xb_correction_free(&c);
    xb_ctx_destroy(ctx);
}

/* Columns that differ by a standard deviation of 0.115, each known to 2/sqrt(200) =
 * 0.141: both together leave 0.089, and neither alone less than 0.115. */
static void columns_are_trusted_as_far_as_they_are_known(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_correction c = fit_lines(ctx, 0.5, 0.01, 0, 2);
    double apart = 0;
    for (int j = 0; j < WIDE; j++)
        apart += pow(1 / (double)c.post[j] - 0.5 - 0.01 * j, 2) / WIDE;
    assert_at_most(sqrt(apart), 0.105);
    xb_correction_free(&c);
    xb_ctx_destroy(ctx);
}

/* Operations come tile by tile, some rows at a time: the examined one is found once. */
static void the_examined_operation_is_found_once(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_column_fit fit;
    assert_ok(ctx, xb_column_fit_make(ctx, &fit, 2, 1));
    xb_column_fit_start(&fit, 5);
    assert_int_equal(xb_column_fit_row(&fit, 0, 4), -1);
    assert_int_equal(xb_column_fit_row(&fit, 0, 4), 1);
    assert_int_equal(xb_column_fit_row(&fit, 0, 4), -1);
    assert_int_equal(xb_column_fit_row(&fit, 1, 8), 5); /* another tile counts anew */
    xb_column_fit_start(&fit, 4);
    assert_int_equal(xb_column_fit_row(&fit, 0, 4), -1);
    assert_int_equal(xb_column_fit_row(&fit, 0, 4), 0);
    xb_column_fit_free(&fit);
    xb_ctx_destroy(ctx);
}

/* Mean over inputs of the squared distance of an array's mean output from the model's. */
static double distance(xb_ctx *ctx, const xb_model *m, const xb_array *array)
{
    enum { INPUTS = 24, READS = 40 };
    double *x = net_inputs(m, INPUTS), sum = 0;
    const xb_array ideal = test_array("ideal");
    double *got = test_reads(ctx, m, array, x, INPUTS, 0, READS);
    double *want = test_reads(ctx, m, &ideal, x, INPUTS, 0, READS);
    for (int i = 0; i < INPUTS; i++) {
        double apart = 0;
        for (int s = 0; s < READS; s++)
            apart += (got[s * INPUTS + i] - want[s * INPUTS + i]) / READS;
        sum += apart * apart / INPUTS;
    }
    free(x);
    free(got);
    free(want);
    return sum;
}

/* Wires that cost up to a third of the current: a gain and an offset bring most of it
 * back, in dense layers and in convolutions of several tiles. A single column of a long
 * tile loses more at its far rows, which no gain can give back. */
static void calibration_gives_back_what_wires_take(void **state)
{
    (void)state;
    static const struct {
        const char *net;
        xb_shape shape;
        double ohm, better;
    } nets[] = {{"dense 40, relu, dense 30, relu, dense 1", {1, 1, 6}, 12, 30},
                {"conv 6 3x3, relu, maxpool 2, conv 8 3x3, relu, flatten, dense 1",
                 {8, 8, 2},
                 15,
                 5}};
    xb_ctx *ctx = test_ctx();
    for (size_t k = 0; k < sizeof nets / sizeof *nets; k++) {
        xb_model *m = net_model(ctx, nets[k].net, nets[k].shape, 0, 1e-5);
        xb_array array = test_array("ideal");
        array.g_min_us = 20;
        array.rows = 32, array.columns = 32;
        array.line_ohm = nets[k].ohm;
        const double before = distance(ctx, m, &array);
        array.column_calibration = 64;
        const double after = distance(ctx, m, &array);
        if (!(after < before / nets[k].better))
            fail_msg("%s: %g before, %g after", nets[k].net, before, after);
        array.dac_bits = 10, array.adc_bits = 12; /* and through converters */
        assert_at_most(distance(ctx, m, &array), 2 * before / nets[k].better);
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

/* ---- ranges */

static double quantised(double x, double range, int bits)
{
    const double step = range / (ldexp(1, bits - 1) - 1);
    return step * rint(fmin(fmax(x, -range), range) / step);
}

/* One layer without noise and biases, 2 row tiles: what is read is the sum of the tiles'
 * sums, each rounded in the range of its own column. */
static void columns_have_ranges_of_their_own(void **state)
{
    (void)state;
    enum { IN = 6, OUT = 3, ROWS_TILE = 3, INPUTS = 5, BITS = 4 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 3, dense 1", (xb_shape){1, 1, IN}, 0, 0);
    for (int64_t i = 0; i < xb_net_param_count(m->net); i++) m->sigma[i] = 0;
    for (int i = 0; i < IN; i++)
        for (int j = 0; j < OUT; j++) /* columns a factor 10 apart */
            m->mu[i * OUT + j] = (float)((0.3 + 0.1 * i - 0.07 * j) * pow(0.1, j));
    xb_array array = test_array("ideal");
    array.rows = ROWS_TILE;
    array.adc_bits = BITS, array.adc_range_per = XB_RANGE_COLUMN, array.coverage = 1;
    double *x = net_inputs(m, INPUTS);
    xb_analog *a = test_analog(ctx, m, &array, x, INPUTS);
    const xb_analog_layer *p = &a->layer[0];
    float scaled[INPUTS * IN], y[OUT], part[OUT], slice[ROWS_TILE];
    xb_model_scale_inputs(m, scaled, x, INPUTS);
    for (int i = 0; i < INPUTS; i++) {
        xb_tile_product(a, p, y, scaled + i * IN, a->mu + p->offset, NULL, 1,
                        (xb_tile_room){slice, part, NULL, NULL}, NULL, NULL);
        for (int j = 0; j < OUT; j++) {
            double want = 0;
            for (int t = 0; t < 2; t++) {
                double range = 0, sum = 0;
                for (int k = 0; k < INPUTS; k++) {
                    sum = 0;
                    for (int r = 3 * t; r < 3 * t + 3; r++)
                        sum += (double)scaled[k * IN + r] * (double)m->mu[r * OUT + j];
                    range = fmax(range, fabs(sum));
                }
                sum = 0;
                for (int r = 3 * t; r < 3 * t + 3; r++)
                    sum += (double)scaled[i * IN + r] * (double)m->mu[r * OUT + j];
                want += quantised(sum, range, BITS);
            }
            assert_close_floor((double)y[j], want, 1e-5, pow(0.1, j));
        }
    }
    xb_analog_destroy(a);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- stuck devices */

enum { IN = 30, OUT = 24, N = IN * OUT };

typedef struct bed {
    xb_array array;
    xb_cells c;
    xb_chip chip;
    double plus[N], minus[N], width[N], room[N];
    int32_t spare[N];
} bed;

/* Weights in tiles of 10 x 8; a tenth of the devices stuck. */
static bed *bed_make(void)
{
    bed *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->array = test_array("ideal");
    b->array.g_min_us = 20;
    b->array.stuck_low = 0.04, b->array.stuck_high = 0.06;
    b->c = (xb_cells){IN, OUT, 10, 8,  b->plus,  b->minus, b->width,
                      1,  0.5, 0,  10, b->spare, 0,        false};
    b->chip = (xb_chip){.key = xb_key_make(3, XB_PURPOSE_ARRAY), .tensor = 2};
    for (int i = 0; i < N; i++) {
        const double g = 80 * (double)((i * 37) % 101 - 50) / 50;
        b->plus[i] = 20 + fmax(g, 0), b->minus[i] = 20 + fmax(-g, 0);
        b->width[i] = i % 9;
    }
    return b;
}

/* Squared errors of the differences, after repair and faults. */
static double wrong(const bed *was, bed *b)
{
    double sum = 0;
    xb_cells_repair(&b->c, &b->array, &b->chip, b->room);
    xb_cells_stuck(&b->c, &b->array, &b->chip);
    for (int i = 0; i < N; i++)
        sum += pow((b->plus[i] - b->minus[i] - was->plus[i] + was->minus[i]) / 80, 2) +
               pow(0.5 * (b->width[i] - was->width[i]) / 10, 2);
    return sum;
}

/* A partner makes up for a stuck device where the range lets it. */
static void partners_make_up_for_stuck_devices(void **state)
{
    (void)state;
    bed *was = bed_make(), *b = bed_make();
    b->array.stuck_repair = 1;
    (void)wrong(was, b);
    int repaired = 0;
    for (int i = 0; i < N; i++) {
        double low = 0, high = 0;
        const bool plus =
            xb_stuck_device(&low, &b->c, &b->array, &b->chip, XB_CHIP_STUCK_PLUS, i, -1);
        const bool minus = xb_stuck_device(&high, &b->c, &b->array, &b->chip,
                                           XB_CHIP_STUCK_MINUS, i, -1);
        const double apart = was->plus[i] - was->minus[i];
        double want = apart;
        if (plus && minus) want = low - high;
        if (plus && !minus) want = low - fmin(fmax(low - apart, 20), 100);
        if (minus && !plus) want = fmin(fmax(high + apart, 20), 100) - high;
        assert_close_floor(b->plus[i] - b->minus[i], want, 1e-12, 1);
        repaired += plus != minus && fabs(want - apart) < 1e-9;
    }
    assert_true(repaired > 20);
    b->array.stuck_repair = 0;
    free(was);
    free(b);
}

/* Spare columns never make a tile worse, are used once each, and a handful of them takes
 * the worst columns away. */
static void spare_columns_take_the_worst(void **state)
{
    (void)state;
    bed *was = bed_make();
    double before = INFINITY, first = 0;
    for (int spares = 0; spares <= 4; spares++) {
        bed *b = bed_make();
        b->array.spare_columns = spares;
        const double error = wrong(was, b);
        if (spares == 0) first = error;
        if (!(error <= before))
            fail_msg("%d spares: %g, before %g", spares, error, before);
        before = error;
        for (int t = 0; t < 3 * 3; t++) { /* tiles of 8 columns */
            int used[4] = {0};
            const int32_t *spare = b->spare + t / 3 * OUT + t % 3 * 8;
            for (int j = 0; j < 8; j++)
                if (spare[j] >= 0) {
                    assert_true(spare[j] < spares);
                    assert_int_equal(++used[spare[j]], 1);
                }
        }
        free(b);
    }
    assert_at_most(before, 0.7 * first);
    free(was);
}

/* ---- the table and the costs */

static void remedies_can_be_left_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_array array = test_array("mtj");
    for (int64_t i = 0; i < xb_array_remedy_count(); i++) {
        assert_false(xb_array_has_remedy(&array, i));
        assert_int_equal(xb_array_remedy_find(xb_array_remedy_name(i)), i);
        assert_true(strlen(xb_array_remedy_about(i)) > 10);
    }
    assert_int_equal(xb_array_remedy_find("hope"), -1);
    array.column_calibration = 100, array.spare_columns = 2;
    const int64_t columns = xb_array_remedy_find("column calibration");
    xb_array *less = NULL;
    assert_ok(ctx, xb_array_without(ctx, &less, &array, columns));
    assert_false(xb_array_has_remedy(less, columns));
    assert_int_equal(less->spare_columns, 2);
    assert_int_equal(less->adc_bits, array.adc_bits);
    xb_array_destroy(less);
    array.adc_range = 0.5, array.adc_range_per = 1;
    assert_int_equal(xb_array_check(ctx, &array), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "adc_range_per"));
    xb_ctx_destroy(ctx);
}

static void known_inputs_must_be_there(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 4, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.1);
    xb_array array = test_array("ideal");
    xb_analog *a = NULL;
    array.column_calibration = 10;
    assert_int_equal(xb_analog_create(ctx, &a, m, &array, NULL, 0, NULL), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "known inputs"));
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* (X54) A gain is a multiplication and addition for each conversion; known inputs are
 * operations of each layer, once; spare columns are devices. */
static void remedies_have_their_price(void **state)
{
    (void)state;
    enum { INPUTS = 20 };
    xb_ctx *ctx = test_ctx();
    xb_model *m =
        net_model(ctx, "conv 4 3x3, relu, flatten, dense 1", (xb_shape){4, 4, 1}, 0, 0.1);
    xb_array array = test_array("mtj");
    double *x = net_inputs(m, INPUTS);
    xb_cost_model *plain = NULL, *cost = NULL;
    xb_analog *a = test_analog(ctx, m, &array, x, INPUTS);
    assert_ok(ctx, xb_cost_model_create(ctx, &plain, a, 100));
    const double devices = xb_analog_count(a, 1).devices;
    assert_close(xb_cost_model_calibration_ns(plain), 0, 0);
    xb_analog_destroy(a);
    array.column_calibration = 15, array.spare_columns = 2;
    a = test_analog(ctx, m, &array, x, INPUTS);
    assert_ok(ctx, xb_cost_model_create(ctx, &cost, a, 100));
    const int64_t digital = xb_cost_model_part_find("digital");
    const double results = 16 * 4;
    assert_close(xb_cost_model_energy_pj(plain, 0, 0, digital).high, 0.1 * results,
                 1e-12);
    assert_close(xb_cost_model_energy_pj(cost, 0, 0, digital).low, 0.3 * results, 1e-12);
    assert_close(xb_cost_model_energy_pj(cost, 0, 0, digital).high, 1.55 * results,
                 1e-12);
    assert_close(xb_cost_model_calibration_pj(cost).high,
                 15 * (xb_cost_model_energy_pj(cost, 0, 0, -1).high / 16 +
                       xb_cost_model_energy_pj(cost, 0, 1, -1).high),
                 1e-12);
    assert_close(
        xb_cost_model_calibration_ns(cost),
        15 * (xb_cost_model_time_ns(cost, 0, 0) / 16 + xb_cost_model_time_ns(cost, 0, 1)),
        1e-12);
    assert_close(xb_analog_count(a, 1).devices, devices + 2 * 3 * (9 + 64), 1e-12);
    xb_analog_destroy(a);
    xb_cost_model_destroy(plain);
    xb_cost_model_destroy(cost);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_without_noise_are_found),
        cmocka_unit_test(the_examined_operation_is_found_once),
        cmocka_unit_test(noisy_columns_learn_from_each_other),
        cmocka_unit_test(columns_are_trusted_as_far_as_they_are_known),
        cmocka_unit_test(calibration_gives_back_what_wires_take),
        cmocka_unit_test(columns_have_ranges_of_their_own),
        cmocka_unit_test(partners_make_up_for_stuck_devices),
        cmocka_unit_test(spare_columns_take_the_worst),
        cmocka_unit_test(remedies_can_be_left_out),
        cmocka_unit_test(known_inputs_must_be_there),
        cmocka_unit_test(remedies_have_their_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
