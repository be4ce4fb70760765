/* test_crossbar.c: models on arrays: the ideal array is the digital model, tiles add up,
 * redraws have the law they say, and the same bytes however the work is cut. The single
 * effects are in test_crossbar_effects.c. */
#include "arraytest.h"

#include "failalloc.h"
#include "crossbar/array.h"

enum { INPUTS = 9, READS = 21 };

typedef struct net_case {
    const char *net;
    xb_shape shape;
    int64_t classes;
} net_case;

static const net_case nets[] = {
    {"dense 8, elu, dense 1", {1, 1, 3}, 0},
    {"dense 40, relu, dense 17, tanh, dense 3", {1, 1, 5}, 3},
    {"conv 3, relu, batchnorm, maxpool 2 ceil, conv 4 3x3 stride 2 valid, elu, flatten,"
     " dense 1",
     {9, 7, 2},
     0},
};

static double *digital(xb_ctx *ctx, const xb_model *model, const double *x, int64_t n,
                       int64_t first, int64_t count)
{
    xb_predict_options opt = xb_predict_options_default();
    double *value = calloc((size_t)(count * n * xb_model_outputs(model)), sizeof *value);
    assert_non_null(value);
    assert_ok(ctx, xb_predict_draws(ctx, value, NULL, model, x, n, first, count, &opt));
    return value;
}

static xb_assay_result *run_assay(xb_ctx *ctx, xb_assay *assay, const xb_array *array)
{
    xb_assay_result *result = NULL;
    assert_ok(ctx, xb_assay_run(ctx, &result, assay, array));
    return result;
}

static double assay_score(const xb_assay_result *result, const char *name)
{
    return xb_scores_get(xb_assay_result_scores(result), name).value;
}

static xb_verdict assay_verdict(const xb_assay_result *result)
{
    return xb_distances_verdict(xb_assay_result_distance(result));
}

/* Largest difference, in units of b's spread over its draws. */
static double worst(const double *a, const double *b, int64_t n)
{
    double top = 0, mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += b[i] / (double)n;
    for (int64_t i = 0; i < n; i++) square += pow(b[i] - mean, 2) / (double)n;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs(a[i] - b[i]));
    return top / sqrt(square);
}

static void the_ideal_array_is_the_digital_model(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_array array = test_array("ideal");
    for (int k = 0; k < 3; k++) {
        xb_model *m = net_model(ctx, nets[k].net, nets[k].shape, nets[k].classes, 0.05);
        double *x = net_inputs(m, INPUTS);
        double *a = test_reads(ctx, m, &array, x, INPUTS, 3, READS);
        double *b = digital(ctx, m, x, INPUTS, 3, READS);
        assert_at_most(worst(a, b, INPUTS * READS * xb_model_outputs(m)), 1e-5);
        free(a), free(b), free(x);
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

/* Fine converters on small tiles: as the digital model within their steps. */
static void tiles_add_up(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_array array = test_array("ideal");
    array.rows = 5, array.columns = 3;
    array.adc_bits = array.dac_bits = 20;
    array.dac_range = 8, array.adc_range = 1; /* nothing is clipped */
    for (int k = 0; k < 3; k++) {
        xb_model *m = net_model(ctx, nets[k].net, nets[k].shape, nets[k].classes, 0.01);
        double *x = net_inputs(m, INPUTS);
        double *a = test_reads(ctx, m, &array, x, INPUTS, 0, READS);
        double *b = digital(ctx, m, x, INPUTS, 0, READS);
        assert_at_most(worst(a, b, INPUTS * READS * xb_model_outputs(m)), 2e-3);
        free(a), free(b), free(x);
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

static xb_array everything(xb_redraw redraw)
{
    xb_array array = test_array("mtj");
    array.rows = 4, array.columns = 3;
    array.redraw = redraw;
    array.stuck_low = array.stuck_high = 0.02;
    array.correlation_time_ns = 30;
    return array;
}

/* All effects, all redraws: bytes do not depend on threads, nor on where reads start,
 * nor on how many inputs come with them. */
static void bytes_do_not_depend_on_the_cut(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int k = 0; k < 3; k++)
        for (int redraw = 0; redraw < 3; redraw++) {
            xb_model *m =
                net_model(ctx, nets[k].net, nets[k].shape, nets[k].classes, 0.05);
            int64_t out = xb_model_outputs(m);
            xb_array array = everything((xb_redraw)redraw);
            double *x = net_inputs(m, INPUTS);
            xb_ctx_set_threads(ctx, 1);
            double *a = test_reads(ctx, m, &array, x, INPUTS, 0, READS);
            xb_ctx_set_threads(ctx, 3);
            double *b = test_reads(ctx, m, &array, x, INPUTS, 0, READS);
            xb_ctx_set_threads(ctx, 20);
            double *c = test_reads(ctx, m, &array, x, INPUTS, 7, READS - 7);
            size_t row = (size_t)(INPUTS * out) * sizeof *a;
            assert_memory_equal(a, b, READS * row);
            assert_memory_equal(a + 7 * INPUTS * out, c, (READS - 7) * row);
            free(a), free(b), free(c), free(x);
            xb_model_destroy(m);
        }
    xb_ctx_destroy(ctx);
}

/* Few inputs are multiplied as their weights are drawn, many when all are: an input reads
 * the same bytes alone and among others. Layers of odd widths, of more than one stretch
 * of devices, with tiles that end amid one. */
static void an_input_alone_reads_as_among_others(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 90, relu, dense 64, tanh, dense 33, elu, dense 1",
                            (xb_shape){1, 1, 3}, 0, 0.05);
    double *x = net_inputs(m, INPUTS), all[READS * INPUTS], few[READS * 2];
    for (int remember = 0; remember < 2; remember++) {
        xb_array array = test_array("mtj");
        array.rows = 37;
        array.correlation_time_ns = remember ? 30 : 0;
        array.shape_spread = remember ? 0.02 : 0;
        xb_analog *analog = test_analog(ctx, m, &array, x, INPUTS);
        assert_ok(ctx, xb_analog_draws(ctx, all, NULL, analog, x, INPUTS, 0, READS));
        for (int n = 1; n <= 2; n++) {
            assert_ok(ctx, xb_analog_draws(ctx, few, NULL, analog, x, n, 0, READS));
            for (int s = 0; s < READS; s++)
                assert_memory_equal(few + s * n, all + s * INPUTS,
                                    (size_t)n * sizeof *few);
        }
        xb_analog_destroy(analog);
    }
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static bool count_parts(void *parts, const xb_progress *event)
{
    assert_string_equal(event->task, "reading the array");
    assert_in_range(event->done, 1, event->total - 1);
    return --*(int *)parts > 0;
}

/* Reads that take long are made part by part, which changes no byte; a listener hears of
 * each part and may stop them. */
static void many_reads_are_made_part_by_part(void **state)
{
    (void)state;
    enum { LONG = 7000, FROM = 6990 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 90, relu, dense 64, tanh, dense 33, elu, dense 1",
                            (xb_shape){1, 1, 3}, 0, 0.05);
    double *x = net_inputs(m, INPUTS), few[(LONG - FROM) * INPUTS];
    double *all = malloc(LONG * INPUTS * sizeof *all);
    assert_non_null(all);
    xb_array array = everything(XB_REDRAW_NETWORK);
    xb_analog *analog = test_analog(ctx, m, &array, x, INPUTS);
    int parts = 1000;
    xb_ctx_set_threads(ctx, 1);
    xb_ctx_set_progress(ctx, count_parts, &parts);
    assert_ok(ctx, xb_analog_draws(ctx, all, NULL, analog, x, INPUTS, 0, LONG));
    assert_in_range(parts, 900, 998);
    assert_ok(ctx, xb_analog_draws(ctx, few, NULL, analog, x, INPUTS, FROM, LONG - FROM));
    assert_memory_equal(few, all + FROM * INPUTS, sizeof few);
    parts = 1;
    assert_int_equal(xb_analog_draws(ctx, all, NULL, analog, x, INPUTS, 0, LONG),
                     XB_E_CANCELLED);
    assert_int_equal(parts, 0);
    free(all), free(x);
    xb_analog_destroy(analog);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- when weights are redrawn */

/* One weight w = mu + sigma z on P pixels, then their mean: y = w mean(x) where the draw
 * is shared, mean(w_p x_p) where each pixel has its own. */
enum { PIXELS = 12, MANY = 20000 };

static xb_model *pixel_model(xb_ctx *ctx)
{
    xb_model *m = net_model(ctx, "conv 1 1x1 nobias, flatten, dense 1 nobias",
                            (xb_shape){4, 3, 1}, 0, 0);
    assert_ok(ctx, xb_net_set_stochastic(ctx, m->net, 1, false));
    for (int j = 0; j < PIXELS; j++) m->x_mean[j] = 0, m->x_sd[j] = 1;
    m->mu[0] = 1, m->sigma[0] = 0.5F;
    for (int j = 0; j < PIXELS; j++) m->mu[1 + j] = 1.0F / PIXELS, m->sigma[1 + j] = 0;
    m->y_mean[0] = 0, m->y_sd[0] = 1;
    return m;
}

static double mean_of(const double *v, int64_t n, int64_t stride)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i * stride];
    return sum / (double)n;
}

static double covariance(const double *a, const double *b, int64_t n, int64_t stride)
{
    double ma = mean_of(a, n, stride), mb = mean_of(b, n, stride), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (a[i * stride] - ma) * (b[i * stride] - mb);
    return sum / (double)(n - 1);
}

/* 20000 reads: sds to 0.5 %, correlations to 0.007; bounds of five and more standard
 * errors: one false alarm in a million. */
static void redraws_have_the_variance_they_say(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = pixel_model(ctx);
    double *x = net_inputs(m, 2), sum = 0, square = 0;
    for (int j = 0; j < PIXELS; j++) sum += x[j], square += x[j] * x[j];
    const double shared = 0.5 * fabs(sum) / PIXELS, own = 0.5 * sqrt(square) / PIXELS;
    assert_true(own < 0.8 * shared);
    for (int redraw = 0; redraw < 3; redraw++) {
        xb_array array = test_array("ideal");
        array.redraw = (xb_redraw)redraw;
        double *v = test_reads(ctx, m, &array, x, 2, 0, MANY);
        double sd = sqrt(covariance(v, v, MANY, 2));
        double r = covariance(v, v + 1, MANY, 2) /
                   sqrt(covariance(v, v, MANY, 2) * covariance(v + 1, v + 1, MANY, 2));
        assert_close(mean_of(v, MANY, 2), sum / PIXELS, 0.03);
        assert_close(sd, redraw == XB_REDRAW_OPERATION ? own : shared, 0.03);
        assert_close_floor(r, redraw == XB_REDRAW_NETWORK ? 1 : 0, 0.04, 1);
        free(v);
    }
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* The first input of its own draw has the network's: the same address. Another backend
 * makes only the latter, and rounds its activations in its own way. */
static void the_first_inputs_draw_is_the_networks(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, nets[2].net, nets[2].shape, 0, 0.05);
    double *x = net_inputs(m, 1);
    xb_array array = test_array("ideal");
    double *a = test_reads(ctx, m, &array, x, 1, 0, READS);
    array.redraw = XB_REDRAW_INPUT;
    double *b = test_reads(ctx, m, &array, x, 1, 0, READS);
#if defined(XB_OTHER_BACKEND)
    for (int i = 0; i < READS; i++) assert_close_floor(a[i], b[i], 1e-5, 1);
#else
    assert_memory_equal(a, b, READS * sizeof *a);
#endif
    free(a), free(b), free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- counts, assays, failures */

static void counts_are_those_of_the_hand(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, nets[2].net, nets[2].shape, 0, 0.05);
    xb_array array = test_array("ideal");
    array.rows = 16, array.columns = 3;
    double *x = net_inputs(m, 1);
    xb_analog *a = test_analog(ctx, m, &array, x, 1);
    /* conv 18 x 3 on 63 pixels, conv 27 x 4 on 1 x 2 (5 x 4, stride 2, valid: 2 x 1),
     * dense 8 x 1; tiles 2 x 1, 2 x 2, 1 x 1 */
    assert_int_equal(xb_analog_place_count(a), 3);
    xb_analog_counts c = xb_analog_count(a, 10);
    assert_close(c.devices, 3 * (54 + 108 + 8), 0);
    assert_close(c.tile_operations, 10 * (63 * 2 + 2 * 4 + 1), 0);
    assert_close(c.device_reads, 30 * (63 * 54 + 2 * 108 + 8), 0);
    assert_close(c.dac_conversions, 10 * (63 * 18 + 2 * 27 * 2 + 8), 0);
    assert_close(c.adc_conversions, 10 * (63 * 3 * 2 + 2 * 4 * 2 + 1), 0);
    xb_costs costs = {
        .read_pj = 1, .dac_pj = 10, .adc_pj = 100, .write_pj = 5, .operation_ns = 2};
    xb_cost_estimate e = xb_analog_cost(a, &costs, 10);
    assert_close(e.total_pj,
                 c.device_reads + 10 * c.dac_conversions + 100 * c.adc_conversions,
                 1e-15);
    assert_close(e.write_pj, 5 * c.devices, 1e-15);
    assert_close(e.time_ns, 2 * 10 * (63 + 2 + 1), 1e-15);
    xb_analog_destroy(a);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void an_assay_tells_same_from_different(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    xb_model *m = train_model(ctx, &opt, false, NULL);
    rows r = make_rows(false);
    xb_assay_options o = xb_assay_options_default();
    o.reads = 400;
    xb_assay *assay = NULL;
    assert_ok(ctx, xb_assay_create(ctx, &assay, m, r.x, r.y, ROWS, &o));
    xb_array array = test_array("ideal");
    xb_assay_result *result = run_assay(ctx, assay, &array);
    const xb_assay_result *plain = xb_assay_digital(assay);
    assert_close(assay_score(result, "nll"), assay_score(plain, "nll"), 1e-6);
    assert_int_equal(assay_verdict(result), XB_VERDICT_SAME);
    const xb_distances *d = xb_assay_result_distance(result);
    assert_at_most(xb_distances_gap_get(d, "mean").rms, 1e-4);
    xb_assay_result_destroy(result);
    assert_null(xb_assay_result_distance(plain));
    array.adc_bits = 3;
    result = run_assay(ctx, assay, &array);
    assert_int_equal(assay_verdict(result), XB_VERDICT_DIFFERENT);
    assert_true(assay_score(result, "rmse") > assay_score(plain, "rmse"));
    xb_assay_result_destroy(result);
    xb_assay_destroy(assay);
    o.tolerance = 1e-3; /* too much to ask of 400 reads */
    assert_ok(ctx, xb_assay_create(ctx, &assay, m, r.x, r.y, ROWS, &o));
    array = test_array("ideal");
    snprintf(array.law, sizeof array.law, "ecram");
    result = run_assay(ctx, assay, &array);
    assert_int_equal(assay_verdict(result), XB_VERDICT_UNRESOLVED);
    xb_assay_result_destroy(result);
    xb_assay_destroy(assay);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Devices that keep their noise in few reads: the law of a read is as before, nearly all
 * reads are the digital draws, and the fewer are not the surer that is seen; reads that
 * share their noise for long are too few to tell. */
static void an_assay_sees_through_memory(void **state)
{
    (void)state;
    static const double time_ns[] = {0.5, 1, 1.5, 2, 100}; /* reads are 10 ns apart */
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    xb_model *m = train_model(ctx, &opt, false, NULL);
    rows r = make_rows(false);
    xb_assay *assay = NULL;
    assert_ok(ctx, xb_assay_create(ctx, &assay, m, r.x, r.y, ROWS, NULL));
    xb_array array = test_array("ideal");
    array.read_interval_ns = 10;
    double before = 0;
    for (int i = 0; i < 5; i++) {
        array.correlation_time_ns = time_ns[i];
        xb_assay_result *result = run_assay(ctx, assay, &array);
        const xb_gap whole =
            xb_distances_gap_get(xb_assay_result_distance(result), "whole");
        print_message("%g ns: off by %.2g (noise %.2g)\n", time_ns[i], whole.rms,
                      whole.noise);
        assert_true(whole.noise >= before);
        assert_int_equal(assay_verdict(result),
                         i < 4 ? XB_VERDICT_SAME : XB_VERDICT_UNRESOLVED);
        before = whole.noise;
        xb_assay_result_destroy(result);
    }
    xb_assay_destroy(assay);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, nets[0].net, nets[0].shape, 0, 0.05);
    xb_array array = test_array("ideal");
    xb_analog *a = NULL;
    double nan_input[3] = {0, NAN, 0}, value[2];
    array.adc_bits = 8;
    assert_int_equal(xb_analog_create(ctx, &a, m, &array, NULL, 0, NULL), XB_E_ARGUMENT);
    assert_int_equal(xb_analog_create(ctx, &a, m, &array, nan_input, 1, NULL),
                     XB_E_INPUT);
    array = test_array("ideal");
    snprintf(array.law, sizeof array.law, "gausian");
    assert_int_equal(xb_analog_create(ctx, &a, m, &array, NULL, 0, NULL), XB_E_INPUT);
    array = test_array("ideal");
    array.sigma_spread = NAN;
    assert_int_equal(xb_analog_create(ctx, &a, m, &array, NULL, 0, NULL), XB_E_INPUT);
    assert_null(a);
    array = test_array("ideal");
    a = test_analog(ctx, m, &array, NULL, 0);
    assert_int_equal(xb_analog_draws(ctx, value, NULL, a, nan_input, 1, 0, 1),
                     XB_E_INPUT);
    assert_int_equal(xb_analog_draws(ctx, value, NULL, a, nan_input, 0, 0, -1),
                     XB_E_ARGUMENT);
    assert_ok(ctx, xb_analog_draws(ctx, value, NULL, a, NULL, 0, 0, 5));
    xb_analog_destroy(a);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, nets[0].net, nets[0].shape, 0, 0.05);
    xb_array array = everything(XB_REDRAW_NETWORK);
    double *x = net_inputs(m, 2), value[4];
    int k = 0;
    for (; fail_alloc_after(k); k++) {
        xb_analog *a = NULL;
        xb_status status = xb_analog_create(ctx, &a, m, &array, x, 2, NULL);
        if (status == XB_OK) status = xb_analog_draws(ctx, value, NULL, a, x, 2, 0, 2);
        xb_analog_destroy(a);
        if (!fail_alloc_happened()) {
            assert_int_equal(status, XB_OK);
            break;
        }
        assert_int_equal(status, XB_E_MEMORY);
    }
    assert_true(k > 20);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Reads of a whole model whose devices remember as a trace did: the mean over S of them
 * has the variance that xb_array_independent() says. 4000 means of 50 reads, nearly
 * independent since nothing is remembered for more than 8: 2.2 % for the variance. */
static void reads_are_worth_what_the_array_says(void **state)
{
    (void)state;
    enum { BURSTS = 4000, EACH = 50 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 1 nobias", (xb_shape){1, 1, 2}, 0, 0.2);
    const double x[2] = {0.7, -0.4};
    xb_array a = test_array("ideal");
    a.read_interval_ns = 1;
    a.correlation_time_ns = 5;
    a.memory = (xb_trace_memory){1, {0.6, 0.4, 0.2}, 3};
    double *v = test_reads(ctx, m, &a, x, 1, 0, (int64_t)BURSTS * EACH);
    double square = 0, mean = 0, all = 0;
    for (int64_t i = 0; i < (int64_t)BURSTS * EACH; i++) mean += v[i];
    mean /= (double)BURSTS * EACH;
    for (int64_t i = 0; i < (int64_t)BURSTS * EACH; i++)
        all += (v[i] - mean) * (v[i] - mean) / ((double)BURSTS * EACH);
    for (int b = 0; b < BURSTS; b++) {
        double burst = 0;
        for (int i = 0; i < EACH; i++) burst += v[b * EACH + i] / EACH;
        square += (burst - mean) * (burst - mean) / BURSTS;
    }
    assert_close(all / square, xb_array_independent(&a, EACH), 0.11);
    free(v);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ideal_array_is_the_digital_model),
        cmocka_unit_test(tiles_add_up),
        cmocka_unit_test(bytes_do_not_depend_on_the_cut),
        cmocka_unit_test(an_input_alone_reads_as_among_others),
        cmocka_unit_test(many_reads_are_made_part_by_part),
        cmocka_unit_test(redraws_have_the_variance_they_say),
        cmocka_unit_test(the_first_inputs_draw_is_the_networks),
        cmocka_unit_test(counts_are_those_of_the_hand),
        cmocka_unit_test(an_assay_tells_same_from_different),
        cmocka_unit_test(an_assay_sees_through_memory),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(reads_are_worth_what_the_array_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
