/* Masses of counts, their mixtures over draws and all scores of them against SciPy
 * (fixtures/make_counts.py); quantiles, and what calibration makes of targets that jump.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xbtest.h"

#include "base/count_mass.h"
#include "compare/target_scorer.h"
#include "crossbayes/net.h"
#include "crossbayes/random.h"
#include "predict/count_grid.h"

static void check_mass(FILE *f)
{
    double k, rate, size, log_mass;
    assert_int_equal(fscanf(f, "%lf %lf %lf %lf", &k, &rate, &size, &log_mass), 4);
    assert_close_floor(xb_count_log_mass(k, rate, size), log_mass, 2e-11, 10);
    const float y = (float)(log(rate) / 2), count = (float)k;
    const double centre = log(rate) - 2 * (double)y; /* what a float leaves */
    const double nll = isinf(size)
                           ? xb_nll_poisson(NULL, &y, &count, centre, 2, 1, 1)
                           : xb_nll_negative_binomial(NULL, NULL, &y, &count, centre, 2,
                                                      -log(size), 1, 1);
    assert_close_floor(nll, -log_mass, 2e-11, 10);
}

static void check_mixture(xb_ctx *ctx, FILE *f)
{
    enum { DRAWS = 60 };
    double centre, spread, y, size[3], rate[DRAWS], want[6];
    int members;
    xb_scores *s = NULL;
    assert_int_equal(fscanf(f, "%lf %lf %d", &centre, &spread, &members), 3);
    for (int m = 0; m < members; m++) assert_int_equal(fscanf(f, "%lf", &size[m]), 1);
    assert_int_equal(fscanf(f, "%lf", &y), 1);
    for (int i = 0; i < 6; i++) assert_int_equal(fscanf(f, "%lf", &want[i]), 1);
    for (int d = 0; d < DRAWS; d++) rate[d] = centre * exp(spread * cos(d));
    const double near = centre < 1000 ? 1e-10 : 1e-3; /* every number is a node, or not */
    const xb_mixture p = {.mean = rate, .draws = DRAWS, .n = 1};
    assert_ok(ctx, xb_score_counts(ctx, &s, &p, &y, 1, size, members));
    assert_close(xb_scores_get(s, "nll").value, -want[0], 1e-10);
    const double u = xb_count_uniform(0);
    assert_close_floor(xb_scores_array_get(s, "pit", NULL)[0],
                       want[1] + u * (want[2] - want[1]), 0.2 * near, 1);
    assert_close_floor(xb_scores_get(s, "width").value, want[4] - want[3], near, 0);
    assert_close(xb_scores_get(s, "crps").value, want[5], fmax(near, 1e-8));
    double *room = malloc((size_t)xb_count_grid_room(1) * sizeof *room);
    xb_count_grid grid = xb_count_grid_in(room, 1);
    const int64_t start[] = {0, DRAWS};
    xb_count_grid_make(&grid, &(xb_count_draws){rate, DRAWS, size, members}, start, NAN);
    assert_close(xb_count_grid_quantile(&grid, 0.025 * DRAWS, -1), want[3], near);
    assert_close(xb_count_grid_quantile(&grid, 0.975 * DRAWS, -1), want[4], near);
    free(room);
    xb_scores_destroy(s);
}

static void laws_and_scores_are_scipys(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    FILE *f = fopen(XB_SOURCE_DIR "/tests/fixtures/counts.txt", "r");
    char word[16];
    int masses = 0, mixtures = 0;
    assert_non_null(f);
    while (fscanf(f, "%15s", word) == 1) {
        const bool mass = strcmp(word, "mass") == 0;
        mass ? check_mass(f) : check_mixture(ctx, f);
        *(mass ? &masses : &mixtures) += 1;
    }
    fclose(f);
    assert_int_equal(masses, 138);
    assert_int_equal(mixtures, 6);
    xb_ctx_destroy(ctx);
}

/* The quantile of one law has its share, from small to large. */
static void quantiles_have_their_share(void **state)
{
    (void)state;
    static const double rates[] = {0.1, 3, 40, 2e4}, sizes[] = {0.7, 5, INFINITY};
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 3; k++)
            for (double z = -2; z <= 2; z += 1) {
                if (rates[r] > 1e3 && sizes[k] < 1) continue; /* wider than its mean */
                const double q = xb_count_quantile(rates[r], sizes[k], z);
                const double level = 0.5 * erfc(-z / sqrt(2));
                const double mass = exp(xb_count_log_mass(q, rates[r], sizes[k]));
                double below = 0;
                for (double i = 0; i < q; i += 1)
                    below += exp(xb_count_log_mass(i, rates[r], sizes[k]));
                const double slack = rates[r] > 1e3 ? 0.02 : 1e-12; /* gamma's */
                assert_true(below <= level + slack && below + mass >= level - slack);
            }
}

/* A count of that rate, by its cdf. */
static double count_of(double rate, double size, double u)
{
    double k = 0, sum = exp(xb_count_log_mass(0, rate, size));
    for (; sum < u && k < 1e5; k += 1) sum += exp(xb_count_log_mass(k + 1, rate, size));
    return k;
}

/* (C41) Of a model that is right the cdf values are uniform: all levels of the curve are
 * within four errors, and coverage; with mid-values they are not. */
static void calibration_is_that_of_counts(void **state)
{
    (void)state;
    enum { POINTS = 4000, DRAWS = 4 };
    static double rate[DRAWS * POINTS], y[POINTS];
    const xb_stream noise = {.key = xb_key_make(9, XB_PURPOSE_TEST)};
    const double size = 2;
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < POINTS; i++) {
        for (int d = 0; d < DRAWS; d++)
            rate[d * POINTS + i] = 0.1 * exp(3.0 * i / POINTS);
        y[i] = count_of(rate[i], size, xb_stream_uniform(&noise, i));
    }
    const xb_mixture p = {.mean = rate, .draws = DRAWS, .n = POINTS};
    xb_scores *s = NULL;
    assert_ok(ctx, xb_score_counts(ctx, &s, &p, y, 1, &size, 1));
    const xb_score coverage = xb_scores_get(s, "coverage");
    assert_close_floor(coverage.value, 0.95, 4 * 0.0035, 1);
    assert_true(xb_scores_get(s, "miscalibration_area").value <
                2.5 * xb_scores_get(s, "miscalibration_floor").value);
    xb_scores_destroy(s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_and_scores_are_scipys),
        cmocka_unit_test(quantiles_have_their_share),
        cmocka_unit_test(calibration_is_that_of_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
