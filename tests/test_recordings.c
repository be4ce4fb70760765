/* test_recordings.c: traces of cells in one state each: widths and laws against what they
 * were made of, one shape or several, what cannot be; and arrays with that read noise.
 * Statistical bounds are five standard errors, and seeds are fixed. */
#include "arraytest.h"
#include "devicetest.h"

#include "crossbar/analog.h"
#include "device/relaxation.h"

enum { SAMPLES = 1500, TRACES = 3 };

static const double mean_of[TRACES] = {90e-6, 10e-6, 50e-6};
static const double width_of[TRACES] = {1e-6, 0.2e-6, 2e-6};

typedef struct made {
    double x[TRACES][SAMPLES];
    xb_recording each[TRACES];
} made;

/* Trace k of a law, its samples correlated by an autoregression where rho is above 0. */
static void make_trace(xb_ctx *ctx, double *x, int k, const char *text, double rho)
{
    xb_law *law = test_law(ctx, text);
    const xb_stream where = {xb_key_make(71, XB_PURPOSE_TEST), (uint32_t)k, 0, 0};
    const xb_moments m = xb_law_moments(law);
    double last = 0;
    for (int i = 0; i < SAMPLES; i++) {
        const double u = xb_stream_uniform(&where, i);
        const double z = (xb_law_quantile(law, u) - m.mean) / sqrt(m.variance);
        last = i == 0 ? z : rho * last + sqrt(1 - rho * rho) * z;
        x[i] = mean_of[k] + width_of[k] * last;
    }
    xb_law_destroy(law);
}

static made *made_traces(xb_ctx *ctx, const char *const law[TRACES], double rho)
{
    made *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (int k = 0; k < TRACES; k++) {
        make_trace(ctx, t->x[k], k, law[k], rho);
        t->each[k] = (xb_recording){.label = 4 * k,
                                    .x = t->x[k],
                                    .n = SAMPLES,
                                    .sample_interval = 2.5e-3,
                                    .source = "trace.csv"};
    }
    return t;
}

static const char *const gaussians[TRACES] = {"gaussian", "gaussian", "gaussian"};

static xb_device *recorded(xb_ctx *ctx, const made *t, const xb_device *campaign)
{
    xb_device *d = NULL;
    assert_ok(ctx, xb_device_record(ctx, &d, t->each, TRACES, campaign, NULL));
    return d;
}

static void traces_are_measured(void **state)
{
    (void)state;
    static const int order[TRACES] = {1, 2, 0}; /* ascending in conductance */
    xb_ctx *ctx = test_ctx();
    made *t = made_traces(ctx, gaussians, 0);
    xb_device *d = recorded(ctx, t, NULL);
    assert_int_equal(xb_device_trace_count(d), TRACES);
    for (int i = 0; i < TRACES; i++) {
        const int k = order[i];
        const xb_device_trace r = xb_device_trace_at(d, i);
        assert_true(r.label == 4 * k);
        assert_close_floor(r.conductance, mean_of[k], 5 * width_of[k] / sqrt(SAMPLES), 1);
        assert_close_floor(r.width, width_of[k], 5 * r.width_error, 1);
        assert_close(r.width_error, width_of[k] / sqrt(2.0 * SAMPLES), 0.5);
        assert_true(r.independent > 0.5 * SAMPLES);
        assert_close(d->record[i].interval_s, 2.5e-3, 1e-12);
        assert_true(d->record[i].lags > 0 && fabs(d->record[i].correlation[0]) < 0.1);
        assert_string_equal(xb_device_trace_fits(d, i), "yes");
    }
    assert_string_equal(xb_device_shapes(d), "agree");
    assert_true(xb_device_shapes_p(d) > 0.01);
    xb_law *law = NULL;
    assert_ok(ctx, xb_device_law(ctx, &law, d));
    xb_law_destroy(law);
    xb_device_destroy(d);
    free(t);
    xb_ctx_destroy(ctx);
}

/* With a correlation of 0.9 the samples are worth about a 19th of their number. */
static void correlation_counts(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    made *t = made_traces(ctx, gaussians, 0.9);
    xb_device *d = recorded(ctx, t, NULL);
    for (int i = 0; i < TRACES; i++) {
        assert_close(xb_device_trace_at(d, i).independent, SAMPLES / 19.0, 0.5);
        assert_close_floor(d->record[i].correlation[0], 0.9, 0.03, 1);
        assert_close_floor(d->record[i].correlation[1], 0.81, 0.06, 1);
    }
    assert_string_equal(xb_device_shapes(d), "agree");
    xb_device_destroy(d);
    free(t);
    xb_ctx_destroy(ctx);
}

static void shapes_differ(void **state)
{
    (void)state;
    static const char *const laws[TRACES] = {"gaussian", "bimodal:m=0.95", "gaussian"};
    xb_ctx *ctx = test_ctx();
    made *t = made_traces(ctx, laws, 0);
    xb_device *d = recorded(ctx, t, NULL);
    xb_law *law = NULL;
    assert_string_equal(xb_device_shapes(d), "differ");
    assert_true(xb_device_shapes_p(d) < 1e-6);
    assert_int_equal(xb_device_law(ctx, &law, d), XB_E_INPUT);
    assert_non_null(strstr(xb_device_trace_law(d, 0), "bimodal"));
    xb_device_destroy(d);
    for (int k = 0; k < TRACES; k++) t->each[k].n = 10; /* nobody can tell */
    d = recorded(ctx, t, NULL);
    assert_string_equal(xb_device_shapes(d), "cannot be tested");
    assert_true(isnan(xb_device_shapes_p(d)));
    xb_device_destroy(d);
    free(t);
    xb_ctx_destroy(ctx);
}

/* With a campaign; and a file that is a device file and a law file. */
static void files_have_both(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    made *t = made_traces(ctx, gaussians, 0);
    xb_device *campaign = made_device(ctx, "S");
    xb_device *d = recorded(ctx, t, campaign), *back = NULL;
    xb_law *law = NULL, *own = NULL;
    assert_int_equal(xb_device_state_count(d), 3);
    assert_close(xb_device_moved(d, 50e-6, 100).spread,
                 xb_device_moved(campaign, 50e-6, 100).spread, 1e-15);
    assert_ok(ctx, xb_device_save(ctx, d, scratch_path(&s, "device.json")));
    assert_ok(ctx, xb_device_load(ctx, &back, s.path));
    assert_ok(ctx, xb_law_load(ctx, &law, s.path));
    assert_ok(ctx, xb_device_law(ctx, &own, back));
    assert_string_equal(xb_law_text(law), xb_law_text(own));
    assert_memory_equal(d->record, back->record, TRACES * sizeof *d->record);
    assert_string_equal(xb_device_shapes(d), xb_device_shapes(back));
    assert_close(xb_device_shapes_p(d), xb_device_shapes_p(back), 1e-15);
    xb_law_destroy(law), xb_law_destroy(own);
    law = NULL;
    assert_ok(ctx, xb_device_save(ctx, campaign, scratch_path(&s, "bare.json")));
    assert_int_equal(xb_law_load(ctx, &law, s.path), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "no law of its read noise"));
    xb_device_destroy(d), xb_device_destroy(back), xb_device_destroy(campaign);
    free(t);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void assert_refused(xb_ctx *ctx, const made *t, int64_t count, const char *says)
{
    xb_device *d = NULL;
    assert_true(xb_device_record(ctx, &d, t->each, count, NULL, NULL) != XB_OK);
    assert_null(d);
    if (!strstr(xb_ctx_message(ctx), says)) fail_msg("says: %s", xb_ctx_message(ctx));
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    made *t = made_traces(ctx, gaussians, 0);
    assert_refused(ctx, t, 0, "0 traces");
    t->each[1].n = 3;
    assert_refused(ctx, t, TRACES, "trace.csv");
    t->each[1] = t->each[0];
    assert_refused(ctx, t, TRACES, "have the same conductance");
    for (int i = 0; i < SAMPLES; i++) t->x[0][i] -= 1e-4;
    assert_refused(ctx, t, TRACES, "trace.csv: the mean of the trace is -");
    for (int i = 0; i < SAMPLES; i++) t->x[0][i] = i;
    assert_refused(ctx, t, TRACES, "trace.csv");
    free(t);
    xb_ctx_destroy(ctx);
}

/* (X23), by hand, on a range within the traces. */
static void reads_have_the_noise_of_their_states(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    made *t = made_traces(ctx, gaussians, 0);
    xb_device *d = recorded(ctx, t, NULL);
    xb_model *m = net_model(ctx, "dense 6, relu, dense 1", (xb_shape){1, 1, 5}, 0, 0.01);
    xb_array a = test_array("ideal");
    assert_ok(ctx, xb_device_save(ctx, d, scratch_path(&s, "device.json")));
    assert_ok(ctx, xb_array_set_device(ctx, &a, s.path));
    a.g_min_us = 12, a.g_max_us = 88, a.read_noise = 0.5;
    xb_analog *analog = test_analog(ctx, m, &a, NULL, 0);
    const xb_analog_layer *p = &analog->layer[0];
    const double k = 76 / p->weight_top;
    for (int64_t i = 0; i < p->size; i++) {
        const double mu = (double)m->mu[p->offset + i];
        const double plus = 12e-6 + 1e-6 * fmax(k * mu, 0);
        const double minus = 12e-6 + 1e-6 * fmax(-k * mu, 0);
        const double pair = 0.5e6 * hypot(xb_device_width_of(d, plus).sigma,
                                          xb_device_width_of(d, minus).sigma);
        assert_close((double)analog->sigma[p->offset + i],
                     hypot((double)m->sigma[p->offset + i], pair / k), 1e-6);
        assert_true(analog->mu[p->offset + i] == m->mu[p->offset + i]);
    }
    xb_analog_destroy(analog);
    analog = NULL;
    a.g_min_us = 5;
    assert_int_equal(xb_analog_create(ctx, &analog, m, &a, NULL, 0, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "read noise was measured from 10"));
    assert_int_equal(xb_device_state_count(d), 0);
    a = test_array("ideal");
    a.read_noise = 1;
    assert_int_equal(xb_analog_create(ctx, &analog, m, &a, NULL, 0, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "'read_noise' needs 'device'"));
    assert_ok(ctx, xb_array_set_device(ctx, &a, device_file(ctx, &s, "S")));
    a.g_min_us = 12, a.g_max_us = 88;
    assert_int_equal(xb_analog_create(ctx, &analog, m, &a, NULL, 0, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "has no read noise"));
    xb_model_destroy(m);
    xb_device_destroy(d);
    free(t);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_measured),
        cmocka_unit_test(correlation_counts),
        cmocka_unit_test(shapes_differ),
        cmocka_unit_test(files_have_both),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(reads_have_the_noise_of_their_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
