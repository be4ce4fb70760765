/* test_device.c: campaigns with known answers, what cannot be measured, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failalloc.h"
#include "scratch.h"

#include "crossbayes/law.h"
#include "crossbayes/random.h"
#include "device/relaxation.h"

enum { STATES = 3, CELLS = 2000, TIMES = 3, ROWS = STATES * CELLS * (TIMES + 1) };

static const double seconds[TIMES + 1] = {0, 0.01, 1, 100};

/* Cells of state s move by a shift of -(s + 1) per decade after 1 ms, with a spread of (s
 * + 1) per decade: normal in state 0, skewed in the others. Microsiemens. */
static double true_shift(int s, int k) { return -(s + 1) * (log10(seconds[k]) + 3); }
static double true_spread(int s, int k) { return (s + 1) * (log10(seconds[k]) + 3) / 2; }

typedef struct table {
    double cell[ROWS], state[ROWS], time[ROWS], value[ROWS], programmed[ROWS];
    xb_campaign campaign;
} table;

static double normal_at(const xb_law *gaussian, int64_t i)
{
    xb_stream where = {xb_key_make(31, XB_PURPOSE_TEST), 0, 0, 0};
    return xb_law_quantile(gaussian, xb_stream_uniform(&where, i));
}

static table *table_make(xb_ctx *ctx)
{
    xb_law *gaussian = test_law(ctx, "gaussian");
    table *t = calloc(1, sizeof *t);
    assert_non_null(t);
    int64_t row = 0;
    for (int k = TIMES; k >= 0; k--) /* late readings first: order does not matter */
        for (int i = 0; i < STATES * CELLS; i++, row++) {
            const int s = i % STATES;
            const double programmed = 100 - 30 * s + 0.5 * normal_at(gaussian, i);
            double z = normal_at(gaussian, STATES * CELLS + i);
            if (s > 0)
                z = (z * z - 1) / sqrt(2); /* mean 0, variance 1, skewness sqrt 8 */
            t->cell[row] = i;
            t->state[row] = 10 * s;
            t->time[row] = seconds[k];
            t->programmed[row] = programmed;
            t->value[row] =
                k ? programmed + true_shift(s, k) + true_spread(s, k) * z : programmed;
        }
    t->campaign =
        (xb_campaign){ROWS, t->cell, t->state, t->time, t->value, t->programmed};
    xb_law_destroy(gaussian);
    return t;
}

static xb_device *measured(xb_ctx *ctx, const table *t)
{
    xb_device *d = NULL;
    assert_ok(ctx, xb_device_measure(ctx, &d, &t->campaign, NULL));
    return d;
}

/* All within 4.5 standard errors that the device states; 36 of them. */
static void a_campaign_is_measured(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    table *t = table_make(ctx);
    xb_device *d = measured(ctx, t);
    assert_int_equal(xb_device_state_count(d), STATES);
    assert_int_equal(xb_device_time_count(d), TIMES);
    assert_int_equal(xb_device_cells(d), STATES * CELLS);
    assert_int_equal(xb_device_states_left_out(d), 0);
    assert_string_equal(xb_device_unit(d), "S");
    for (int i = 0; i < STATES; i++) {
        const int s = STATES - 1 - i; /* the file's states ascend in conductance */
        const xb_device_state at = xb_device_state_at(d, i);
        assert_true(at.label == 10 * s);
        assert_close(at.conductance, 100 - 30 * s, 0.001);
        assert_close(at.error, 0.5, 0.08);
        assert_int_equal(at.cells, CELLS);
        for (int k = 0; k < TIMES; k++) {
            const xb_device_move m = xb_device_move_at(d, i, k);
            assert_close(xb_device_time_at(d, k), seconds[k + 1], 1e-15);
            assert_close_floor(m.shift, true_shift(s, k + 1), 4.5 * m.shift_error, 1);
            assert_close_floor(m.spread, true_spread(s, k + 1), 4.5 * m.spread_error, 1);
            assert_close(m.shift_error, true_spread(s, k + 1) / sqrt(CELLS), 0.15);
            /* sd of a variance: sqrt(kurtosis - 1), 3 for a normal, 15 for the other */
            assert_close(m.spread_error,
                         true_spread(s, k + 1) * sqrt((s ? 14.0 : 2.0) / 4 / CELLS), 0.3);
            assert_close_floor(m.skewness, s ? sqrt(8) : 0, s ? 0.6 : 0.25, 1);
        }
    }
    xb_device_destroy(d);
    free(t);
    xb_ctx_destroy(ctx);
}

/* Without the column the reading at time 0 is what was programmed. */
static void programmed_is_the_first_reading(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    table *t = table_make(ctx);
    xb_device *with = measured(ctx, t), *without;
    t->campaign.programmed = NULL;
    without = measured(ctx, t);
    char *a = NULL, *b = NULL;
    assert_ok(ctx, xb_device_json(ctx, &a, with));
    assert_ok(ctx, xb_device_json(ctx, &b, without));
    assert_string_equal(a, b);
    xb_free(a), xb_free(b);
    xb_device_destroy(with), xb_device_destroy(without);
    free(t);
    xb_ctx_destroy(ctx);
}

static void curves_are_linear_between(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    table *t = table_make(ctx);
    xb_device *d = measured(ctx, t);
    const double low = xb_device_state_at(d, 0).conductance;
    const double high = xb_device_state_at(d, 1).conductance;
    const xb_device_move a = xb_device_move_at(d, 0, 0), b = xb_device_move_at(d, 1, 0);
    const xb_device_move c = xb_device_move_at(d, 0, 1), e = xb_device_move_at(d, 0, 2);
    xb_device_move m = xb_device_moved(d, low + (high - low) / 4, 0.01);
    assert_close(m.shift, 0.75 * a.shift + 0.25 * b.shift, 1e-12);
    assert_close(m.spread, 0.75 * a.spread + 0.25 * b.spread, 1e-12);
    assert_close(m.spread_error, hypot(0.75 * a.spread_error, 0.25 * b.spread_error),
                 1e-12);
    assert_false(m.extrapolated);
    m = xb_device_moved(d, low, 0.1); /* the middle of 0.01 and 1, by the logarithm */
    assert_close(m.spread, (a.spread + c.spread) / 2, 1e-12);
    m = xb_device_moved(d, low, 1e4); /* as far past 100 as 1 is before it */
    assert_close(m.spread, 2 * e.spread - c.spread, 1e-12);
    assert_close(m.spread_error, hypot(2 * e.spread_error, c.spread_error), 1e-12);
    assert_true(m.extrapolated);
    assert_true(xb_device_moved(d, low - 1, 1).extrapolated);
    assert_close(xb_device_moved(d, low - 1, 1).spread, c.spread, 1e-12);
    assert_close(xb_device_moved(d, low, 1e-6).spread, a.spread, 1e-12);
    assert_true(xb_device_moved(d, low, 0).spread == 0);
    assert_true(xb_device_relaxed(d, low, 0, 0.1) == low);
    xb_device_destroy(d);
    free(t);
    xb_ctx_destroy(ctx);
}

/* Over all ranks a relaxed cell has the shift and the spread it says, and the skewness to
 * what the quantiles keep of it. */
static void relaxed_cells_have_the_moments(void **state)
{
    (void)state;
    enum { U = 200000 };
    xb_ctx *ctx = test_ctx();
    table *t = table_make(ctx);
    xb_device *d = measured(ctx, t);
    for (int s = 0; s < STATES; s++) {
        const double g = xb_device_state_at(d, s).conductance;
        const xb_device_move m = xb_device_move_at(d, s, 1);
        double sum[4] = {0};
        for (int i = 0; i < U; i++) {
            const double moved = xb_device_relaxed(d, g, 1, (i + 0.5) / U) - g;
            for (int p = 1; p < 4; p++)
                sum[p] += pow((moved - m.shift) / m.spread, p) / U;
        }
        assert_close_floor(sum[1], 0, 1e-4, 1);
        assert_close(sum[2], 1, 1e-3);
        assert_close_floor(sum[3], m.skewness, 0.1 + 0.1 * fabs(m.skewness), 1);
    }
    assert_true(xb_device_relaxed(d, 0.5, 100, 1e-6) == 0); /* never below 0 */
    xb_device_destroy(d);
    free(t);
    xb_ctx_destroy(ctx);
}

static void states_of_few_cells_are_left_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    table *t = table_make(ctx);
    for (int i = 0; i < ROWS; i++)
        if (t->cell[i] < 19) t->state[i] = 99; /* one short of 20 */
    xb_device *d = measured(ctx, t);
    assert_int_equal(xb_device_state_count(d), STATES);
    assert_int_equal(xb_device_states_left_out(d), 1);
    assert_int_equal(xb_device_cells_left_out(d), 19);
    xb_device_destroy(d);
    xb_device_options opt = xb_device_options_default();
    opt.min_cells = 19;
    assert_ok(ctx, xb_device_measure(ctx, &d, &t->campaign, &opt));
    assert_int_equal(xb_device_state_count(d), STATES + 1);
    xb_device_destroy(d);
    free(t);
    xb_ctx_destroy(ctx);
}

/* ---- what cannot be measured */

typedef void spoil_fn(table *t);
static void negative_time(table *t) { t->time[5] = -1; }
static void negative_value(table *t) { t->value[5] = -1e-9; }
static void not_a_number(table *t) { t->value[5] = NAN; }
static void negative_programmed(table *t) { t->programmed[5] = -1; }
static void no_cell(table *t) { t->cell[5] = INFINITY; }
static void twice(table *t) { t->cell[5] = t->cell[5 + STATES]; }
static void reprogrammed(table *t) { t->state[5] += 10; }
static void no_rows(table *t) { t->campaign.n = 0; }
static void one_cell(table *t) { t->campaign.n = 1; }
static void no_first(table *t)
{
    t->campaign.programmed = NULL;
    t->campaign.n = ROWS - STATES * CELLS; /* those at time 0 come last */
}
static void only_first(table *t)
{
    for (int i = 0; i < ROWS; i++) t->time[i] = 0, t->cell[i] = i, t->state[i] = 0;
}
static void all_equal(table *t)
{
    for (int i = 0; i < ROWS; i++) t->value[i] = t->programmed[i];
}
static void many_times(table *t)
{
    for (int i = 0; i < ROWS; i++) t->time[i] += 1e-3 * (i % 100);
}
static void same_conductance(table *t)
{
    for (int i = 0; i < ROWS; i++) t->programmed[i] = 50;
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        spoil_fn *spoil;
        const char *says;
    } cases[] = {
        {negative_time, "reading 6: expected a time of 0 s or more"},
        {negative_value, "reading 6: expected a conductance of 0 or more"},
        {not_a_number, "reading 6: expected a conductance"},
        {negative_programmed, "reading 6: expected a programmed conductance"},
        {no_cell, "reading 6: expected a number for the cell"},
        {twice, "another reading at this time"},
        {reprogrammed, "programmed to another state"},
        {no_rows, "no readings"},
        {one_cell, "no state has 20 cells"},
        {no_first, "neither a reading at time 0"},
        {only_first, "all readings are at time 0"},
        {all_equal, "moved by the same"},
        {many_times, "more than 64 different times"},
        {same_conductance, "the same conductance"},
    };
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_ctx *ctx = test_ctx();
        table *t = table_make(ctx);
        cases[i].spoil(t);
        xb_device *d = NULL;
        xb_device_options opt = xb_device_options_default();
        opt.source = "campaign.csv";
        assert_int_equal(xb_device_measure(ctx, &d, &t->campaign, &opt), XB_E_INPUT);
        assert_null(d);
        if (!strstr(xb_ctx_message(ctx), cases[i].says))
            fail_msg("case %d says: %s", i, xb_ctx_message(ctx));
        free(t);
        xb_ctx_destroy(ctx);
    }
}

/* Note that qsort may do without its room. */
static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    table *t = table_make(ctx);
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_device *d = NULL;
        xb_status status = xb_device_measure(ctx, &d, &t->campaign, NULL);
        bool failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, d, k);
        xb_device_destroy(d);
        if (!failed) break;
    }
    free(t);
    xb_ctx_destroy(ctx);
}

/* ---- files */

static char *text_of(xb_ctx *ctx, const xb_device *d)
{
    char *text = NULL;
    assert_ok(ctx, xb_device_json(ctx, &text, d));
    return text;
}

/* What is loaded says what was saved; a file cut anywhere is refused. */
static void files_go_round(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    table *t = table_make(ctx);
    xb_device *d = measured(ctx, t), *back = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path(&s, "device.json"));
    assert_ok(ctx, xb_device_save(ctx, d, path));
    assert_ok(ctx, xb_device_load(ctx, &back, path));
    for (int i = 0; i < STATES; i++)
        for (int k = 0; k < TIMES; k++)
            assert_memory_equal(&xb_device_node_at(d, i, k)->move,
                                &xb_device_node_at(back, i, k)->move,
                                sizeof(xb_device_move));
    assert_close(xb_device_relaxed(back, 60, 3, 0.123),
                 xb_device_relaxed(d, 60, 3, 0.123), 1e-12);
    char *text = text_of(ctx, d);
    const size_t size = strlen(text);
    for (size_t cut = 0; cut < size - 2; cut += size / 40) {
        xb_device *none = NULL;
        snprintf(path, sizeof path, "%s", scratch_write(&s, "cut.json", text, cut));
        assert_int_equal(xb_device_load(ctx, &none, path), XB_E_INPUT);
        assert_null(none);
        assert_non_null(strstr(xb_ctx_message(ctx), "cut.json"));
    }
    xb_free(text);
    xb_device_destroy(d), xb_device_destroy(back);
    free(t);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* The text with the first `old` replaced; each is one that a reader must see. */
static void spoilt_files_are_refused(void **state)
{
    (void)state;
    static const char *const swaps[][2] = {
        {"\"device\"", "\"law\""},
        {"\"spread\": ", "\"spread\": -"},
        {"\"cells\": ", "\"cells\": -"},
        {"\"times_s\"", "\"times\""},
        {"0.002", "0.003"},
        {"\"conductance\": ", "\"conductance\": 1e9"},
        {"\"unit\": \"S\"", "\"unit\": 3"},
        {"\"skewness\": ", "\"skewness\": \"x\", \"a\": "},
        {"\"shape\": [", "\"shape\": [9, "},
    };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    table *t = table_make(ctx);
    xb_device *d = measured(ctx, t);
    char *text = text_of(ctx, d), *spoilt = malloc(strlen(text) + 100);
    for (int i = 0; i < XB_COUNT(swaps); i++) {
        const char *at = strstr(text, swaps[i][0]);
        assert_non_null(at);
        sprintf(spoilt, "%.*s%s%s", (int)(at - text), text, swaps[i][1],
                at + strlen(swaps[i][0]));
        xb_device *none = NULL;
        const char *path = scratch_write(&s, "bad.json", spoilt, strlen(spoilt));
        if (xb_device_load(ctx, &none, path) != XB_E_INPUT)
            fail_msg("loaded with %s", swaps[i][1]);
    }
    free(spoilt);
    xb_free(text);
    xb_device_destroy(d);
    free(t);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_campaign_is_measured),
        cmocka_unit_test(programmed_is_the_first_reading),
        cmocka_unit_test(curves_are_linear_between),
        cmocka_unit_test(relaxed_cells_have_the_moments),
        cmocka_unit_test(states_of_few_cells_are_left_out),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(files_go_round),
        cmocka_unit_test(spoilt_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
