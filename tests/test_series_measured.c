/* test_series_measured.c: measured traces as time series, beside numbers by NumPy. */
#include "seriestest.h"

/* Levels of the same cell at 400 Hz; numbers by NumPy, bursts cut from the quiet parts.
 */
typedef struct numpy_values {
    const char *file;
    int64_t first;
    double draw[2], mean[2], worth[2], exponent[2];
} numpy_values;

static void check_bursts(xb_ctx *ctx, const double *x, int64_t n, xb_series_options o,
                         const numpy_values *want)
{
    o.first = want->first;
    xb_series *s = series_of(ctx, x, n, &o);
    for (int k = 0; k < 2; k++) {
        xb_burst b = xb_series_burst(s, k ? 0.1 : 2.5e-3, 100);
        double tolerance = k ? 0.13 : 0.02; /* 100 ms: few bursts, cut otherwise */
        assert_close(b.sd_draw * 1e6, want->draw[k], tolerance);
        assert_close(b.sd_mean * 1e6, want->mean[k], tolerance);
        assert_close(b.independent, want->worth[k], tolerance);
    }
    xb_series_destroy(s);
}

static void check_exponents(xb_ctx *ctx, const double *x, int64_t n, xb_series_options o,
                            const numpy_values *want)
{
    xb_series *s = series_of(ctx, x, n, &o);
    for (int k = 0; k < 2; k++) {
        xb_power_law l;
        assert_ok(ctx, xb_series_power_law_in(ctx, &l, s, 0.1, k ? 5 : 100, false));
        assert_at_most(fabs(l.exponent - want->exponent[k]), 0.1);
    }
    xb_series_destroy(s);
}

/* The wandering start is left out without being asked for. */
static void check_choice(xb_ctx *ctx, const double *x, int64_t n, xb_series_options o)
{
    o.whole = false;
    xb_series *s = series_of(ctx, x, n, &o);
    assert_true(xb_series_jump_count(s) >= 1 && xb_series_jump_count(s) <= 10);
    xb_segment part = xb_series_segment_at(s, xb_series_segment_chosen(s));
    assert_true(part.first > 10000 && part.first + part.count == n);
    assert_int_not_equal(xb_series_usable(s), XB_USABLE);
    xb_series_destroy(s);
}

static void measured_traces_agree_with_numpy(void **state)
{
    (void)state;
    static const numpy_values of[] = {
        {.file = "rram_level00.csv",
         .first = 30000,
         .draw = {.324, .385},
         .mean = {.231, .121},
         .worth = {2.96, 11.2},
         .exponent = {.90, 1.01}},
        {.file = "rram_level16.csv",
         .first = 30000,
         .draw = {.409, .599},
         .mean = {.502, .219},
         .worth = {1.66, 8.48},
         .exponent = {.99, 1.46}},
        {.file = "rram_level08.csv",
         .first = 60000,
         .draw = {1.49, 2.06},
         .mean = {3.03, 2.29},
         .worth = {1.24, 1.81},
         .exponent = {1.22, 1.69}},
    };
    const char *folder = test_data_dir();
    if (!folder) skip();
    xb_ctx *ctx = test_ctx();
    for (int f = 0; f < XB_COUNT(of); f++) {
        char path[4200];
        double *x = NULL;
        int64_t n = 0;
        snprintf(path, sizeof path, "%s/noise/%s", folder, of[f].file);
        assert_ok(ctx, xb_column_read(ctx, &x, &n, path, NULL));
        xb_series_options o = xb_series_options_default();
        o.sample_interval = 1 / 400.0, o.whole = true;
        check_bursts(ctx, x, n, o, &of[f]);
        check_exponents(ctx, x, n, o, &of[f]);
        check_choice(ctx, x, n, o);
        xb_free(x);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_traces_agree_with_numpy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
