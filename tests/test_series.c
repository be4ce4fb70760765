/* test_series.c: a trace as a time series: what is refused, what is found and where, and
 * how often noise is taken for something else (test_series_noise.c for the rates,
 * test_series_measured.c for measured traces). */
#include "seriestest.h"

#include <jansson.h>
#include <string.h>

#include "failalloc.h"
#include "series/welch.h"

static void check_refused(const double *x, int64_t n, const char *why)
{
    xb_ctx *ctx = test_ctx();
    xb_series *s = NULL;
    xb_series_options opt = xb_series_options_default();
    opt.source = "noise.csv";
    assert_int_equal(xb_series_run(ctx, &s, x, n, &opt), XB_E_INPUT);
    assert_null(s);
    if (!strstr(xb_ctx_message(ctx), why) || !strstr(xb_ctx_message(ctx), "noise.csv: "))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), why);
    xb_ctx_destroy(ctx);
}

static void what_is_no_noise_is_refused(void **state)
{
    (void)state;
    enum { N = 500 };
    double time[N], down[N], counter[N], constant[N], sorted[N], bad[N];
    for (int i = 0; i < N; i++) {
        time[i] = 1e-3 * i + 1e-5 * (i % 7);
        down[i] = -time[i];
        counter[i] = i % 64;
        constant[i] = 4;
        sorted[i] = i / 3;
        bad[i] = i % 5;
    }
    bad[3] = NAN;
    check_refused(time, N, "only increase");
    check_refused(down, N, "only decrease");
    check_refused(sorted, N, "sorted list");
    check_refused(counter, N, "as in a counter");
    check_refused(constant, N, "all 500 samples are 4");
    check_refused(bad, N, "sample 4 is nan");
    check_refused(time, 2, "2 samples: at least 8 are needed");
    check_refused(time, 0, "0 samples");
}

/* One step in a steady trace is a change of level, not a monotone column. */
static void few_changes_are_no_counter(void **state)
{
    (void)state;
    enum { N = 20 };
    xb_ctx *ctx = test_ctx();
    double x[N];
    for (int i = 0; i < N; i++) x[i] = i >= 10;
    xb_series *s = series_of(ctx, x, N, NULL);
    assert_int_equal(xb_series_count(s), N);
    xb_series_destroy(s);
    xb_ctx_destroy(ctx);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    enum { N = 400 };
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(WHITE, N, 1);
    xb_series *s = NULL;
    for (int i = 0; i < 9; i++) {
        xb_series_options o = xb_series_options_default();
        if (i == 0) o.sample_interval = -1;
        if (i == 1) o.sample_interval = NAN;
        if (i == 2) o.first = N;
        if (i == 3) o.end = N + 1;
        if (i == 4) o.segment = 1;
        if (i == 5) o.detrend = XB_DETREND_WINDOW;
        if (i == 6) o.detrend = XB_DETREND_WINDOW, o.detrend_window = 2 * N;
        if (i == 7) o.reads = 0;
        if (i == 8) o.level = 0;
        assert_int_equal(xb_series_run(ctx, &s, x, N, &o), XB_E_INPUT);
    }
    assert_null(s);
    xb_detrend detrend = XB_DETREND_LINEAR;
    assert_int_equal(xb_detrend_parse(ctx, &detrend, "linaer"), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "did you mean 'linear'?"));
    assert_ok(ctx, xb_detrend_parse(ctx, &detrend, "window"));
    assert_string_equal(xb_detrend_name(detrend), "window");
    free(x);
    xb_ctx_destroy(ctx);
}

static void times_are_regular_or_refused(void **state)
{
    (void)state;
    enum { N = 1000 };
    xb_ctx *ctx = test_ctx();
    double t[N], interval = 0;
    for (int i = 0; i < N; i++) t[i] = 1e6 + 2.5e-3 * i;
    assert_ok(ctx, xb_series_interval_of(ctx, &interval, t, N));
    assert_close(interval, 2.5e-3, 1e-6);
    for (int i = 0; i < N; i++) t[i] = round(2.5 * i) * 1e-3; /* whole milliseconds */
    assert_ok(ctx, xb_series_interval_of(ctx, &interval, t, N));
    assert_close(interval, 2.5e-3, 1e-3);
    t[500] = t[499];
    assert_int_equal(xb_series_interval_of(ctx, &interval, t, N), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "time 501"));
    for (int i = 0; i < N; i++) t[i] = i < 300 ? i : i + 7;
    assert_int_equal(xb_series_interval_of(ctx, &interval, t, N), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "expected regular times"));
    assert_int_equal(xb_series_interval_of(ctx, &interval, t, 1), XB_E_INPUT);
    xb_ctx_destroy(ctx);
}

/* A decay from -25 standard deviations in the first 94 of 1e5 samples. */
static void a_start_up_transient_is_left_out(void **state)
{
    (void)state;
    enum { N = 100000, START = 94 };
    xb_ctx *ctx = test_ctx();
    for (int shape = 0; shape < 2; shape++) {
        double *x = make_noise(WHITE, N, 7);
        for (int i = 0; i < START; i++)
            x[i] -= 25 * (shape ? 1 - (double)i / START : exp(-i / 20.0));
        xb_series *s = series_of(ctx, x, N, NULL);
        assert_in_range(xb_series_settling(s), 64, 130);
        assert_int_equal(xb_series_jump_count(s), 0);
        assert_int_equal(xb_series_count(s), N - xb_series_settling(s));
        xb_fit *fit = NULL;
        assert_ok(ctx,
                  xb_fit_run(ctx, &fit, xb_series_values(s), xb_series_count(s), NULL));
        assert_string_equal(xb_law_family(xb_fit_law(fit)), "gaussian");
        assert_int_equal(xb_fit_outcome_of(fit), XB_FIT_FITS);
        xb_fit_destroy(fit);
        xb_series_destroy(s);
        free(x);
    }
    xb_ctx_destroy(ctx);
}

/* (T3) A hundred places of the shortest transient are as few as a level of 1 % needs:
 * there the largest of all contrasts must be the first, and one sample less is too few.
 */
static void the_shortest_trace_that_shows_a_transient(void **state)
{
    (void)state;
    enum { N = 8 * (100 + 8) };
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(WHITE, N, 3);
    for (int i = 0; i < 8; i++) x[i] += 40;
    for (int less = 0; less < 2; less++) {
        xb_series *s = series_of(ctx, x, N - less, NULL);
        assert_int_equal(xb_series_settling(s) > 0, !less);
        xb_series_destroy(s);
    }
    free(x);
    xb_ctx_destroy(ctx);
}

static void a_jump_in_one_over_f_noise_is_found(void **state)
{
    (void)state;
    enum { N = 20000, AT = 6130 };
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(ONE_OVER_F, N, 3);
    for (int i = AT; i < N; i++) x[i] += 25; /* standard deviation about 4 */
    xb_series *s = series_of(ctx, x, N, NULL);
    assert_int_equal(xb_series_jump_count(s), 1);
    xb_jump j = xb_series_jump_at(s, 0);
    assert_at_most(fabs((double)j.sample - AT), 40);
    assert_at_most(fabs(j.size - 25), 6);
    assert_at_most(j.p, 0.01);
    assert_int_equal(xb_series_segment_count(s), 2);
    assert_int_equal(xb_series_segment_chosen(s), 1);
    assert_int_equal(xb_series_segment_at(s, 1).first, j.sample);
    assert_memory_equal(xb_series_values(s), x + j.sample,
                        (size_t)xb_series_count(s) * sizeof *x);
    xb_series_destroy(s);
    xb_series_options o = xb_series_options_default();
    o.segment = 0;
    s = series_of(ctx, x, N, &o);
    assert_int_equal(xb_series_count(s), j.sample);
    xb_series_destroy(s);
    o.segment = XB_SEGMENT_LAST;
    o.end = AT - 100;
    s = series_of(ctx, x, N, &o);
    assert_int_equal(xb_series_segment_count(s), 1);
    xb_series_destroy(s);
    o = xb_series_options_default();
    o.whole = true;
    s = series_of(ctx, x, N, &o);
    assert_int_equal(xb_series_count(s), N);
    xb_series_destroy(s);
    free(x);
    xb_ctx_destroy(ctx);
}

static void a_trend_is_found_and_removed(void **state)
{
    (void)state;
    enum { N = 8192 };
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(WHITE, N, 11);
    for (int i = 0; i < N; i++) x[i] += 0.25 * i / N;
    xb_series_options o = xb_series_options_default();
    o.sample_interval = 0.5;
    xb_series *s = series_of(ctx, x, N, &o);
    xb_trend t = xb_series_trend(s);
    assert_at_most(t.p, 0.01);
    assert_at_most(fabs(t.slope - 0.25 / N / 0.5), 4 * t.error);
    assert_close(t.error, sqrt(12.0 / N) / N / 0.5, 0.15); /* of white noise */
    xb_series_destroy(s);
    for (int kind = XB_DETREND_LINEAR; kind <= XB_DETREND_WINDOW; kind++) {
        o.detrend = (xb_detrend)kind;
        o.detrend_window = 0.5 * N / 2;
        s = series_of(ctx, x, N, &o);
        const double *y = xb_series_values(s);
        double sum = 0;
        for (int i = 0; i < N; i++) sum += (i - 0.5 * N) * y[i];
        assert_at_most(fabs(12 * sum / N / N), 0.1); /* 0.25 before */
        xb_series_destroy(s);
    }
    o.detrend = XB_DETREND_NONE, o.difference = true;
    s = series_of(ctx, x, N, &o);
    assert_int_equal(xb_series_count(s), N - 1);
    assert_close(xb_series_values(s)[5], x[6] - x[5], 1e-12);
    xb_series_destroy(s);
    free(x);
    xb_ctx_destroy(ctx);
}

/* One stretch against the sum itself. */
static void spectrum_is_the_sum(void **state)
{
    (void)state;
    enum { N = 64 };
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(WHITE, N, 5), mean = 0, squares = 0;
    xb_log_spectrum s;
    assert_ok(ctx, xb_welch(ctx, &s, x, N, 0.25, 1, XB_WELCH_MEAN));
    for (int i = 0; i < N; i++) mean += x[i] / N, squares += pow(sin(M_PI * i / N), 4);
    for (int k = 2; k < 6; k++) {
        double re = 0, im = 0;
        for (int i = 0; i < N; i++) {
            double y = (x[i] - mean) * pow(sin(M_PI * i / N), 2);
            re += y * cos(2 * M_PI * i * k / N), im += y * sin(2 * M_PI * i * k / N);
        }
        assert_close(s.power[k - 2], 2 * 0.25 / squares * (re * re + im * im), 1e-10);
        assert_close(s.frequency[k - 2], k / (N * 0.25), 1e-12);
    }
    free(x);
    xb_ctx_destroy(ctx);
}

static void exponents_are_found(void **state)
{
    (void)state;
    enum { N = 65536 };
    xb_ctx *ctx = test_ctx();
    xb_series_options o = xb_series_options_default();
    o.sample_interval = 1e-3;
    double *x = make_noise(WHITE, N, 21);
    xb_series *s = series_of(ctx, x, N, &o);
    xb_power_law l = xb_series_power_law(s);
    assert_at_most(fabs(l.exponent), 4 * l.exponent_error);
    assert_at_most(l.exponent_error, 0.02);
    assert_close(xb_series_spectrum_at(s, 20).power, 2e-3, 0.3); /* 2 sd^2 interval */
    assert_non_null(strstr(finding(s, "spectrum"), "White"));
    xb_series_destroy(s);
    free(x);
    x = make_noise(ONE_OVER_F, N, 22);
    o.whole = true;
    s = series_of(ctx, x, N, &o);
    assert_ok(ctx, xb_series_power_law_in(ctx, &l, s, 0.5, 50, true));
    assert_at_most(fabs(l.exponent - 1), 0.1);
    assert_int_equal(xb_series_power_law_in(ctx, &l, s, 600, 700, true), XB_E_INPUT);
    xb_series_destroy(s);
    dice d = dice_of(4);
    for (int i = 0; i < N; i++) x[i] += 10 * dice_normal(&d);
    s = series_of(ctx, x, N, &o);
    l = xb_series_power_law(s);
    assert_true(l.floor > 0);
    assert_close(l.floor, 2 * 100 * 1e-3, 0.2);
    assert_at_most(fabs(l.exponent - 1), 0.25);
    xb_series_destroy(s);
    free(x);
    xb_ctx_destroy(ctx);
}

static void lines_are_found_and_removed(void **state)
{
    (void)state;
    enum { N = 20000 };
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(ONE_OVER_F, N, 31);
    for (int i = 0; i < N; i++)
        x[i] +=
            1.5 * sin(2 * M_PI * 50.3 * i / 400) + 0.7 * cos(2 * M_PI * 150.1 * i / 400);
    xb_series_options o = xb_series_options_default();
    o.sample_interval = 1 / 400.0;
    xb_series *s = series_of(ctx, x, N, &o);
    assert_int_equal(xb_series_line_count(s), 2);
    xb_line a = xb_series_line_at(s, 0), b = xb_series_line_at(s, 1);
    assert_at_most(fabs(a.frequency - 50.3), 0.01);
    assert_at_most(fabs(b.frequency - 150.1), 0.01);
    assert_at_most(fabs(a.amplitude - 1.5), 4 * a.amplitude_error);
    assert_at_most(fabs(b.amplitude - 0.7), 4 * b.amplitude_error);
    xb_series_destroy(s);
    o.remove_lines = true;
    s = series_of(ctx, x, N, &o);
    xb_series *again = series_of(ctx, xb_series_values(s), xb_series_count(s), &o);
    assert_int_equal(xb_series_line_count(again), 0);
    xb_series_destroy(again);
    xb_series_destroy(s);
    free(x);
    xb_ctx_destroy(ctx);
}

/* (T20) One value in a hundred is far below: neither a level nor a reason to miss two. */
static void excursions_are_no_levels(void **state)
{
    (void)state;
    enum { N = 20000 };
    xb_ctx *ctx = test_ctx();
    double *x = malloc(N * sizeof *x);
    for (int levels = 1; levels <= 2; levels++) {
        dice d = dice_of(7);
        make_telegraph(x, N, 10, levels == 1 ? 0 : 8, &d);
        for (int64_t i = 0; i < N; i++)
            if (dice_uniform(&d) < 0.012) x[i] = -40 + 5 * dice_normal(&d);
        xb_series *s = series_of(ctx, x, N, NULL);
        assert_int_equal(xb_series_level_count(s), levels);
        if (levels == 2)
            assert_true(fabs(fabs(xb_series_level_at(s, 1).value -
                                  xb_series_level_at(s, 0).value) -
                             8) < 0.2);
        xb_series_destroy(s);
    }
    free(x);
    xb_ctx_destroy(ctx);
}

static void telegraph_levels_and_dwells_are_found(void **state)
{
    (void)state;
    enum { N = 60000 };
    xb_ctx *ctx = test_ctx();
    double *x = malloc(N * sizeof *x);
    dice d = dice_of(41);
    make_telegraph(x, N, 80, 8, &d);
    xb_series_options o = xb_series_options_default();
    o.sample_interval = 1e-3;
    xb_series *s = series_of(ctx, x, N, &o);
    assert_int_equal(xb_series_level_count(s), 2);
    double shares = 0;
    for (int k = 0; k < 2; k++) {
        xb_trace_level l = xb_series_level_at(s, k);
        assert_at_most(fabs(l.value - 8 * k), 0.1);
        assert_close(l.sd, 1, 0.05);
        assert_at_most(fabs(l.dwell - 0.080), 4 * l.dwell_error);
        assert_close(l.dwell_error, 0.080 / sqrt(375), 0.25);
        assert_true(l.exponential_p > 0.001);
        shares += l.occupation;
    }
    assert_close(shares, 1, 1e-12);
    xb_series_destroy(s);
    for (int i = 0; i < N; i++) x[i] = 8 * (i / 100 % 2) + dice_normal(&d); /* a clock */
    s = series_of(ctx, x, N, &o);
    assert_int_equal(xb_series_level_count(s), 2);
    assert_at_most(xb_series_level_at(s, 0).exponential_p, 1e-6);
    xb_series_destroy(s);
    free(x);
    xb_ctx_destroy(ctx);
}

/* (T12) against the closed form of a relaxation, and against bursts cut from the trace.
 */
static void draws_of_a_relaxation_are_known(void **state)
{
    (void)state;
    enum { N = 400000, READS = 50, STEP = 3 };
    const double keep = 0.9;
    xb_ctx *ctx = test_ctx();
    double *x = malloc(N * sizeof *x), share = 1, mean = 0, within = 0, between = 0;
    dice d = dice_of(51);
    make_relaxation(x, N, keep, &d);
    xb_series_options o = xb_series_options_default();
    o.sample_interval = 0.01;
    o.reads = READS;
    xb_series *s = series_of(ctx, x, N, &o);
    for (int k = 1; k < READS; k++)
        share += 2 * (1 - (double)k / READS) * pow(keep, STEP * k);
    share /= READS;
    xb_burst b = xb_series_burst(s, STEP * 0.01, READS);
    assert_false(b.extrapolated);
    assert_at_most(fabs(b.independent - 1 / share), 4 * b.error);
    assert_at_most(b.error, 0.05 / share);
    int bursts = N / (READS * STEP);
    for (int j = 0; j < bursts; j++) {
        double sum = 0, squares = 0;
        for (int k = 0; k < READS; k++) {
            double v = x[(j * READS + k) * STEP];
            sum += v / READS, squares += v * v / READS;
        }
        mean += sum / bursts;
        within += (squares - sum * sum) / bursts, between += sum * sum / bursts;
    }
    assert_close(b.sd_draw, sqrt(within), 0.02);
    assert_close(b.sd_mean, sqrt(between - mean * mean), 0.05);
    /* Reads far enough apart are independent: the verdict finds where. */
    assert_int_equal(xb_series_usable(s), XB_USABLE_SLOWER);
    assert_at_most(fabs(xb_series_usable_from(s) / 0.01 - 9), 4);
    assert_non_null(
        strstr(finding(s, "draws"), "Not usable at a read interval of 10 ms"));
    /* ten cells in turn are ten bursts of a tenth */
    double each = xb_series_burst(s, 0.1, READS / 10).independent;
    assert_close(xb_series_in_turn(s, 0.01, READS, 10), 10 * each, 1e-12);
    xb_series_destroy(s);
    free(x);
    xb_ctx_destroy(ctx);
}

static void white_noise_is_usable_and_a_short_trace_is_not(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(WHITE, 20000, 61);
    xb_series *s = series_of(ctx, x, 20000, NULL);
    assert_int_equal(xb_series_usable(s), XB_USABLE);
    assert_true(xb_series_burst(s, 1, 100).independent > 70);
    xb_series_destroy(s);
    free(x);
    x = make_noise(ONE_OVER_F, 20000, 62);
    s = series_of(ctx, x, 20000, NULL);
    assert_int_equal(xb_series_usable(s), XB_USABLE_LONGER);
    xb_burst measured = xb_series_burst(s, 40, 100), beyond = xb_series_burst(s, 60, 100);
    assert_false(measured.extrapolated);
    assert_true(beyond.extrapolated);
    /* one continues the other, lower: to the measured one the trace's mean is the truth
     */
    assert_true(beyond.independent < measured.independent);
    assert_at_most(fabs(measured.independent - beyond.independent),
                   3 * hypot(measured.error, beyond.error));
    assert_non_null(strstr(finding(s, "draws"), "Measure longer"));
    xb_series_destroy(s);
    free(x);
    xb_ctx_destroy(ctx);
}

/* (T13) The fitted spectrum of a trace gives what the trace itself gives. */
static void extrapolation_agrees_where_both_are_known(void **state)
{
    (void)state;
    enum { LONG = 400000, SHORT = 20000 };
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(ONE_OVER_F, LONG, 71);
    xb_series_options o = xb_series_options_default();
    o.whole = true;
    xb_series *whole = series_of(ctx, x, LONG, &o), *part = series_of(ctx, x, SHORT, &o);
    xb_burst known = xb_series_burst(whole, 200, 100);
    xb_burst guess = xb_series_burst(part, 200, 100);
    assert_true(guess.extrapolated);
    assert_close(guess.sd_draw, known.sd_draw, 0.25);
    assert_at_most(fabs(guess.independent - known.independent),
                   3 * hypot(guess.error, known.error));
    assert_true(guess.error >
                0.2 * guess.independent); /* nobody knows how slow it gets */
    xb_series_destroy(whole);
    xb_series_destroy(part);
    free(x);
    xb_ctx_destroy(ctx);
}

/* ---- long traces */

static void check_same(const char *name, const json_t *a, const json_t *b)
{
    assert_int_equal(json_typeof(a), json_typeof(b));
    if (json_is_number(a)) {
        const double x = json_number_value(a), y = json_number_value(b);
        if (!(fabs(x - y) <= 1e-9 * fmax(fabs(x), 1e-3)))
            fail_msg("%s: %.17g, expected %.17g", name, y, x);
        return;
    }
    const char *key = NULL;
    json_t *value = NULL;
    size_t i = 0;
    assert_int_equal(json_object_size(a), json_object_size(b));
    assert_int_equal(json_array_size(a), json_array_size(b));
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
        check_same(key, value, json_object_get(b, key));
    json_array_foreach(a, i, value) check_same(name, value, json_array_get(b, i));
    if (json_is_string(a))
        assert_string_equal(json_string_value(a), json_string_value(b));
}

static json_t *series_json(xb_ctx *ctx, xb_series *s)
{
    char *text = NULL;
    assert_ok(ctx, xb_series_json(ctx, &text, s));
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    xb_free(text);
    xb_series_destroy(s);
    return root;
}

/* It is read in 32 pieces, which begin inside blocks of every kind. */
static void a_long_trace_is_the_same_in_pieces(void **state)
{
    (void)state;
    enum { N = 7013 };
    for (int k = 0; k < 6; k++) {
        xb_ctx *ctx = test_ctx();
        double *x = make_noise(k == 1 ? ONE_OVER_F : k == 2 ? TELEGRAPH : WHITE, N, 3);
        for (int i = 0; i < N; i++)
            x[i] += k == 3   ? 9 * exp(-i / 300.0) + (i > 4100 ? 3 : 0)
                    : k == 4 ? sin(0.7 * i) + 0.4 * sin(2 * M_PI * i / 50)
                    : k == 5 ? i * 4e-4
                             : 0;
        xb_series_options o = xb_series_options_default();
        if (k == 4) o.sample_interval = 2.5e-3, o.first = 100, o.end = N - 33;
        xb_trace *trace = NULL;
        xb_series *s = NULL;
        assert_ok(ctx, xb_trace_of_values(ctx, &trace, x, N));
        assert_int_equal(xb_trace_count(trace), N);
        assert_ok(ctx, xb_series_run_trace(ctx, &s, trace, &o));
        assert_null(xb_series_values(s));
        json_t *pieces = series_json(ctx, s),
               *whole = series_json(ctx, series_of(ctx, x, N, &o));
        check_same("", whole, pieces);
        json_decref(pieces), json_decref(whole);
        double *thin = NULL;
        int64_t n = 0, each = 0;
        assert_ok(ctx, xb_trace_thin(ctx, &thin, &n, &each, trace, 7, N - 9));
        assert_int_equal(each, 1);
        assert_int_equal(n, N - 9);
        assert_memory_equal(thin, x + 7, (size_t)n * sizeof *x);
        xb_free(thin);
        assert_int_equal(xb_trace_thin(ctx, &thin, &n, &each, trace, 7, N - 6),
                         XB_E_ARGUMENT);
        o.difference = true;
        assert_int_equal(xb_series_run_trace(ctx, &s, trace, &o), XB_E_ARGUMENT);
        xb_trace_close(trace);
        free(x);
        xb_ctx_destroy(ctx);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    enum { N = 600 };
    xb_ctx *ctx = test_ctx();
    double *x = make_noise(WHITE, N, 81);
    xb_series_options o = xb_series_options_default();
    o.detrend = XB_DETREND_WINDOW, o.detrend_window = 300;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_series *s = NULL;
        xb_status status = xb_series_run(ctx, &s, x, N, &o);
        bool failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, s, k);
        xb_series_destroy(s);
        if (!failed) break;
    }
    free(x);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_noise_is_refused),
        cmocka_unit_test(few_changes_are_no_counter),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(times_are_regular_or_refused),
        cmocka_unit_test(a_start_up_transient_is_left_out),
        cmocka_unit_test(the_shortest_trace_that_shows_a_transient),
        cmocka_unit_test(a_jump_in_one_over_f_noise_is_found),
        cmocka_unit_test(a_trend_is_found_and_removed),
        cmocka_unit_test(spectrum_is_the_sum),
        cmocka_unit_test(exponents_are_found),
        cmocka_unit_test(lines_are_found_and_removed),
        cmocka_unit_test(telegraph_levels_and_dwells_are_found),
        cmocka_unit_test(excursions_are_no_levels),
        cmocka_unit_test(draws_of_a_relaxation_are_known),
        cmocka_unit_test(white_noise_is_usable_and_a_short_trace_is_not),
        cmocka_unit_test(extrapolation_agrees_where_both_are_known),
        cmocka_unit_test(a_long_trace_is_the_same_in_pieces),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
