/* test_relax.c: arrays whose conductances move after programming, against the curves of
 * their device file, read by another way, and against a measured campaign; pairs of quiet
 * states against a search of all pairs; what does not go together. Statistical bounds are
 * five standard errors: a false alarm in a million, and seeds are fixed. */
#include "arraytest.h"
#include "devicetest.h"

#include "crossbar/analog.h"
#include "crossbayes/device.h"
#include "crossbayes/json.h"

enum { IN = 100, OUT = 80, N = IN * OUT };

typedef struct bed {
    xb_array array;
    xb_cells c;
    xb_chip chip;
    double plus[N], minus[N], width[N];
} bed;

static bed *bed_make(double g_us, double age_s, uint64_t chip)
{
    bed *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->array = test_array("ideal");
    b->array.age_s = age_s;
    b->c = (xb_cells){IN, OUT, IN, OUT, b->plus, b->minus, b->width,
                      1,  1,   0,  80,  NULL,    0,        false};
    b->chip = (xb_chip){.key = xb_key_make(chip, XB_PURPOSE_ARRAY), .tensor = 2};
    for (int i = 0; i < N; i++) b->plus[i] = b->minus[i] = g_us, b->width[i] = 8;
    return b;
}

/* Cells at g after `age_s`; free it. */
static bed *relaxed(const xb_device *d, double g_us, double age_s, uint64_t chip)
{
    xb_aged aged = {.device = d};
    assert_int_equal(xb_device_microsiemens(NULL, &aged.us, d), XB_OK);
    bed *b = bed_make(g_us, age_s, chip);
    xb_cells_relax(&b->c, &b->array, &aged, &b->chip);
    return b;
}

/* The mean, spread and skewness of N cells, at states and between: by hand. */
static void cells_move_as_the_curves_say(void **state)
{
    (void)state;
    static const struct {
        double g_us, age_s, shift, spread;
    } cases[] = {
        {10, 1, -0.5, 0.5},    {10, 100, -1, 1},   {50, 100, -4, 5},
        {100, 100, 2, 1},      {30, 100, -2.5, 3}, {50, 10, -3, 3.75},
        {75, 10, -0.75, 2.25}, {50, 1e4, -6, 7.5}, /* on the line through 1 s and 100 s */
    };
    static const char *const units[] = {"S", "uS"};
    xb_ctx *ctx = test_ctx();
    for (int u = 0; u < 2; u++) {
        xb_device *d = made_device(ctx, units[u]);
        for (int i = 0; i < XB_COUNT(cases); i++) {
            bed *b = relaxed(d, cases[i].g_us, cases[i].age_s, 5);
            const double *const both[] = {b->plus, b->minus};
            for (int k = 0; k < 2; k++) {
                const double mean = moment(both[k], N, 0, 1), sd = cases[i].spread;
                assert_close_floor(mean, cases[i].g_us + cases[i].shift, 5 * sd / sqrt(N),
                                   1);
                /* an exponential has kurtosis 9: the sd of a spread is sqrt(8 / 4n) */
                assert_close(sqrt(moment(both[k], N, mean, 2)), sd, 5 * sqrt(2.0 / N));
                assert_close_floor(moment(both[k], N, mean, 3) / pow(sd, 3), 2, 0.35, 1);
            }
            assert_close(moment(b->width, N, 0, 1), 8, 0);
            free(b);
        }
        xb_device_destroy(d);
    }
    xb_ctx_destroy(ctx);
}

/* A cell keeps its rank; the cells of a pair, of two chips and of two tensors have ranks
 * of their own. */
static void cells_keep_their_rank(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_device *d = made_device(ctx, "S");
    bed *young = relaxed(d, 50, 1, 5), *old = relaxed(d, 50, 100, 5);
    bed *other = relaxed(d, 50, 100, 6), *fresh = relaxed(d, 50, 0, 5);
    double pair = 0, chip = 0;
    for (int i = 0; i < N; i++) {
        assert_close_floor((old->plus[i] - 50) / (young->plus[i] - 50), 2, 1e-9, 1);
        assert_true(fresh->plus[i] == 50);
        pair += (old->plus[i] - 46) * (old->minus[i] - 46) / 25 / N;
        chip += (old->plus[i] - 46) * (other->plus[i] - 46) / 25 / N;
    }
    assert_at_most(fabs(pair), 5 / sqrt(N));
    assert_at_most(fabs(chip), 5 / sqrt(N));
    free(young), free(old), free(other), free(fresh);
    xb_device_destroy(d);
    xb_ctx_destroy(ctx);
}

/* ---- a measured campaign */

typedef struct raw_state {
    double moved[2000];
    int64_t n;
    double programmed;
} raw_state;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Readings of a level at a time, uS, from the columns of the table themselves. */
static void pick(raw_state *out, const xb_frame *f, double level, double time)
{
    enum { CONDUCTANCE = 2, PROGRAMMED, LEVEL, TIME, TABLE_COLUMNS };
    const double *v = xb_frame_values(f);
    double sum = 0;
    int64_t all = 0;
    out->n = 0;
    for (int64_t i = 0; i < xb_frame_row_count(f); i++, v += TABLE_COLUMNS) {
        if (v[LEVEL] != level) continue;
        sum += v[PROGRAMMED], all++;
        if (v[TIME] == time)
            out->moved[out->n++] = 1e6 * (v[CONDUCTANCE] - v[PROGRAMMED]);
    }
    out->programmed = 1e6 * sum / (double)all;
    qsort(out->moved, (size_t)out->n, sizeof *out->moved, ascending);
}

static double rank_at(const double *sorted, int64_t n, double u)
{
    return sorted[(int64_t)(u * (double)(n - 1))];
}

static void compare_with_raw(const raw_state *raw, const xb_device *d, double age)
{
    static const double ranks[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    bed *b = relaxed(d, raw->programmed, age, 5);
    for (int i = 0; i < N; i++) b->plus[i] -= raw->programmed;
    const double mean = moment(raw->moved, raw->n, 0, 1);
    const double sd = sqrt(moment(raw->moved, raw->n, mean, 2));
    const double four = moment(raw->moved, raw->n, mean, 4) / pow(sd, 4);
    assert_close_floor(moment(b->plus, N, 0, 1), mean, 5 * sd / sqrt(N), 1);
    assert_close(sqrt(moment(b->plus, N, mean, 2)), sd, 5 * sqrt((four - 1) / (4.0 * N)));
    qsort(b->plus, N, sizeof *b->plus, ascending);
    for (int k = 0; k < XB_COUNT(ranks); k++) { /* by the ranks next to it */
        const double seen = rank_at(b->plus, N, ranks[k]);
        assert_true(seen >= rank_at(raw->moved, raw->n, ranks[k] - 0.03) - 0.02 * sd);
        assert_true(seen <= rank_at(raw->moved, raw->n, ranks[k] + 0.03) + 0.02 * sd);
    }
    free(b);
}

static void a_measured_campaign_comes_back(void **state)
{
    (void)state;
    static const double levels[] = {0, 2, 12, 20, 31}, times[] = {0.01, 1, 10000};
    const char *dir = test_data_dir();
    char path[4200];
    if (!dir) return;
    snprintf(path, sizeof path, "%s/noise/rram_relaxation_techB.csv.gz", dir);
    xb_ctx *ctx = test_ctx();
    xb_frame *f = NULL;
    assert_ok(ctx, xb_frame_read(ctx, &f, path, NULL));
    const int64_t n = xb_frame_row_count(f);
    double *column = malloc(5 * (size_t)n * sizeof *column);
    raw_state *raw = malloc(sizeof *raw);
    assert_true(column && raw);
    static const int order[] = {0, 4, 5, 2, 3}; /* cell, level, time, value, programmed */
    for (int c = 0; c < 5; c++)
        for (int64_t i = 0; i < n; i++)
            column[c * n + i] = xb_frame_values(f)[i * 6 + order[c]];
    const xb_campaign campaign = {
        n, column, column + n, column + 2 * n, column + 3 * n, column + 4 * n};
    xb_device *d = NULL;
    assert_ok(ctx, xb_device_measure(ctx, &d, &campaign, NULL));
    for (int l = 0; l < XB_COUNT(levels); l++)
        for (int t = 0; t < XB_COUNT(times); t++) {
            pick(raw, f, levels[l], times[t]);
            compare_with_raw(raw, d, times[t]);
        }
    xb_device_destroy(d);
    free(column);
    free(raw);
    xb_frame_destroy(f);
    xb_ctx_destroy(ctx);
}

/* ---- quiet states */

/* Spreads at 100 s by hand: 1 at 10 uS, 5 at 50, 1 at 100, linear between. */
static double spread_by_hand(double g_us)
{
    return g_us < 50 ? 1 + (g_us - 10) / 10 : 5 - (g_us - 50) * 4 / 50;
}

/* Of the pairs with one difference the quietest is taken: no pair of a fine search is
 * quieter, and the difference stays, to the states there are. */
static void pairs_are_the_quietest(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_device *d = made_device(ctx, "S");
    const xb_aged aged = {d, 1e6};
    for (int levels = 0; levels < 2; levels++) {
        xb_array a = test_array("ideal");
        a.g_min_us = 10, a.mean_levels = levels ? 46 : 0; /* 2 uS apart */
        xb_quiet q = {0};
        assert_ok(ctx, xb_quiet_make(ctx, &q, &a, &aged));
        for (int i = -90; i <= 90; i++) {
            const double apart = levels ? abs(i) / 2 * 2 : abs(i) * 0.999;
            double high = 10 + apart, low = 10, least = INFINITY;
            xb_cells c = {1, 1, 1, 1, &high, &low, NULL, 1, 0, 0, 0, NULL, 0, false};
            if (i < 0) c.plus = &low, c.minus = &high; /* a weight below 0 */
            xb_cells_quiet(&c, &q);
            assert_close_floor(high - low, apart, 1e-9, 1);
            assert_true(low >= 10 - 1e-9 && high <= 100 + 1e-9);
            for (double g = 10; g + apart <= 100 + 1e-9; g += levels ? 2 : 0.01)
                least = fmin(least, hypot(spread_by_hand(g), spread_by_hand(g + apart)));
            assert_at_most(hypot(spread_by_hand(high), spread_by_hand(low)),
                           least + (levels ? 1e-9 : 0.02));
        }
        free(q.first);
    }
    xb_device_destroy(d);
    xb_ctx_destroy(ctx);
}

/* ---- a model on such an array */

static xb_array aged_array(xb_ctx *ctx, const char *path, double age_s)
{
    xb_array a = test_array("ideal");
    a.g_min_us = 10;
    a.age_s = age_s;
    assert_ok(ctx, xb_array_set_device(ctx, &a, path));
    return a;
}

/* The means of a model after 100 s: those of (X1), (X21) and back, cell by cell; quiet
 * pairs alone change no weight. */
static void a_model_relaxes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = net_model(ctx, "dense 6, relu, dense 1", (xb_shape){1, 1, 5}, 0, 0.1);
    xb_array a = aged_array(ctx, device_file(ctx, &s, "S"), 100);
    xb_device *d = NULL;
    assert_ok(ctx, xb_device_load(ctx, &d, a.device));
    xb_analog *analog = test_analog(ctx, m, &a, NULL, 0);
    const xb_analog_layer *p = &analog->layer[0];
    const double k = 90 / p->weight_top;
    const xb_key chip = xb_key_make(1, XB_PURPOSE_ARRAY);
    const xb_stream plus = {chip, (uint32_t)p->tensor, XB_CHIP_RELAX_PLUS, 0};
    const xb_stream minus = {chip, (uint32_t)p->tensor, XB_CHIP_RELAX_MINUS, 0};
    for (int64_t i = 0; i < p->size; i++) {
        const double mu = (double)m->mu[p->offset + i];
        const double gp = xb_device_relaxed(d, 1e-6 * (10 + fmax(k * mu, 0)), 100,
                                            xb_stream_uniform(&plus, i));
        const double gm = xb_device_relaxed(d, 1e-6 * (10 + fmax(-k * mu, 0)), 100,
                                            xb_stream_uniform(&minus, i));
        assert_close_floor((double)analog->mu[p->offset + i], 1e6 * (gp - gm) / k, 1e-6,
                           1);
        assert_true(analog->sigma[p->offset + i] == m->sigma[p->offset + i]);
    }
    const int64_t size = p->size;
    xb_analog_destroy(analog);
    a.age_s = 0, a.quiet_pairs = 1;
    analog = test_analog(ctx, m, &a, NULL, 0);
    for (int64_t i = 0; i < size; i++)
        assert_close_floor((double)analog->mu[i], (double)m->mu[i], 1e-6, 1);
    xb_analog_destroy(analog);
    xb_device_destroy(d);
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void assert_not_made(xb_ctx *ctx, const xb_model *m, const xb_array *a,
                            const char *says)
{
    xb_analog *analog = NULL;
    assert_int_equal(xb_analog_create(ctx, &analog, m, a, NULL, 0, NULL), XB_E_INPUT);
    assert_null(analog);
    if (!strstr(xb_ctx_message(ctx), says))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), says);
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = net_model(ctx, "dense 2, relu, dense 1", (xb_shape){1, 1, 2}, 0, 0.1);
    char path[256];
    snprintf(path, sizeof path, "%s", device_file(ctx, &s, "S"));
    xb_array a = aged_array(ctx, path, 100);
    a.g_min_us = 0;
    assert_not_made(ctx, m, &a,
                    "device.json: states were measured from 10 to 100 µS,"
                    " but the array uses 0 to 100 µS");
    a.g_min_us = 10, a.g_max_us = 101;
    assert_not_made(ctx, m, &a, "the array uses 10 to 101 µS");
    a = test_array("ideal");
    a.age_s = 1;
    assert_not_made(ctx, m, &a, "'age_s' needs 'device'");
    a.age_s = 0, a.quiet_pairs = 1;
    assert_not_made(ctx, m, &a, "'quiet_pairs' needs 'device'");
    a = aged_array(ctx, "/no/such/device.json", 100);
    assert_not_made(ctx, m, &a, "cannot");
    a = aged_array(ctx, device_file(ctx, &s, "A"), 100);
    assert_not_made(ctx, m, &a, "measured in 'A': expected a unit of conductance");
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* ---- read noise by state */

static const char with_traces[] =
    "{\"crossbayes\": \"device\", \"unit\": \"S\", \"times_s\": [], \"ranks\": [0, 0.002,"
    " 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7,"
    " 0.8, 0.85, 0.9, 0.925, 0.95, 0.965, 0.98, 0.99, 0.995, 0.998, 1], \"states\": [],"
    " \"cells\": 0, \"states_left_out\": 0, \"cells_left_out\": 0, \"traces\": ["
    "{\"label\": 0, \"conductance\": 1e-5, \"width\": 3e-7, \"width_error\": 3e-8,"
    " \"independent\": 50}, {\"label\": 8, \"conductance\": 5e-5, \"width\": 1.1e-6,"
    " \"width_error\": 4e-8, \"independent\": 60}, {\"label\": 16, \"conductance\": 8e-5,"
    " \"width\": 5e-7, \"width_error\": 1e-8, \"independent\": 9, \"interval_s\": 0.0025,"
    " \"correlation\": [0.5, 0.25], \"law\": \"gaussian\"}]}";

static void widths_are_linear_between_traces(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_device *d = NULL;
    assert_ok(ctx, xb_device_load(ctx, &d,
                                  scratch_write(&s, "device.json", with_traces,
                                                strlen(with_traces))));
    assert_int_equal(xb_device_trace_count(d), 3);
    assert_int_equal(xb_device_state_count(d), 0);
    assert_close(xb_device_trace_at(d, 1).conductance, 5e-5, 0);
    xb_device_width w = xb_device_width_of(d, 2e-5);
    assert_close(w.sigma, 5e-7, 1e-12);
    assert_close(w.sigma_error, hypot(0.75 * 3e-8, 0.25 * 4e-8), 1e-12);
    assert_close(w.slope, 0.02, 1e-12);
    assert_false(w.extrapolated);
    w = xb_device_width_of(d, 1e-5);
    assert_close(w.sigma, 3e-7, 1e-15);
    assert_close(w.slope, 0.02, 1e-12);
    assert_false(w.extrapolated);
    w = xb_device_width_of(d, 7e-5);
    assert_close(w.sigma, 7e-7, 1e-12);
    assert_close(w.slope, -0.02, 1e-12);
    w = xb_device_width_of(d, 9e-5);
    assert_close(w.sigma, 5e-7, 1e-15);
    assert_true(w.slope == 0 && w.extrapolated);
    assert_true(xb_device_width_of(d, 1e-6).extrapolated);
    assert_true(xb_device_relaxed(d, 2e-5, 1e4, 0.9) == 2e-5);
    xb_model *m = net_model(ctx, "dense 2, relu, dense 1", (xb_shape){1, 1, 2}, 0, 0.1);
    const xb_array a = aged_array(ctx, s.path, 100);
    assert_not_made(ctx, m, &a, "device.json: the device file has no relaxation");
    xb_device *back = NULL;
    char *text = NULL, *again = NULL;
    assert_ok(ctx, xb_device_save(ctx, d, scratch_path(&s, "back.json")));
    assert_ok(ctx, xb_device_load(ctx, &back, s.path));
    assert_ok(ctx, xb_device_json(ctx, &text, d));
    assert_ok(ctx, xb_device_json(ctx, &again, back));
    assert_string_equal(text, again);
    xb_free(text), xb_free(again);
    xb_device_destroy(d), xb_device_destroy(back);
    d = made_device(ctx, "S");
    assert_true(isnan(xb_device_width_of(d, 1e-5).sigma));
    xb_device_destroy(d);
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_move_as_the_curves_say),
        cmocka_unit_test(cells_keep_their_rank),
        cmocka_unit_test(a_measured_campaign_comes_back),
        cmocka_unit_test(pairs_are_the_quietest),
        cmocka_unit_test(a_model_relaxes),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(widths_are_linear_between_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
