/* test_level_mixture.c: Newton's method on the likelihood of Gaussian levels; maths F16.
 * At the optimum, first and second differences of a likelihood that is computed here. */
#include "xbtest.h"

#include "fit/level_mixture.h"

enum { N = 240 };

/* The mean log density at theta: positions, log widths, logits beside the first's. */
static long double mean_log_density(const xb_level_mixture *shape, const double *theta,
                                    const xb_points *points)
{
    const int n = shape->n, widths = shape->common ? 1 : n;
    long double weight[8] = {1}, all = 1, value = 0;
    for (int i = 1; i < n; i++) all += weight[i] = expl(theta[n + widths + i - 1]);
    for (int64_t j = 0; j < points->n; j++) {
        long double density = 0;
        for (int i = 0; i < n; i++) {
            long double sd = expl(theta[n + (shape->common ? 0 : i)]);
            long double y = (points->x[j] - theta[i]) / sd;
            density += weight[i] / all * expl(-y * y / 2) / sd;
        }
        value += points->count[j] * (logl(density) - 0.5L * logl(2 * M_PI));
    }
    return value / points->total;
}

/* Differences of the likelihood when variables a and b move by h either way. */
static double second_difference(const xb_level_mixture *shape, const double *theta,
                                const xb_points *points, int a, int b)
{
    const double h = 1e-4;
    long double sum = 0;
    for (int k = 0; k < 4; k++) {
        double moved[XB_VARIABLES_MAX];
        memcpy(moved, theta, sizeof moved);
        const int up = k & 1 ? 1 : -1, right = k & 2 ? 1 : -1;
        moved[a] += up * h, moved[b] += right * h;
        sum += up * right * mean_log_density(shape, moved, points);
    }
    return (double)(sum / (4 * h * h));
}

static void check_optimum(bool common)
{
    double x[N], count[N], total = 0;
    static const double at[] = {-3, 0.2, 2.5}, sd[] = {0.6, 0.4, 0.7};
    for (int j = 0; j < N; j++) { /* three levels that overlap, of 1, 2 and 3 parts */
        const int level = j % 6 < 1 ? 0 : j % 6 < 3 ? 1 : 2;
        x[j] = at[level] + sd[level] * 2.2 * sin(1.7 * j + level);
        total += count[j] = 1 + j % 3;
    }
    const xb_points points = {N, x, count, total};
    xb_level_mixture m = {3, common, {{0.3, -2.5, 0.5}, {0.3, 0, 0.5}, {0.4, 2.2, 0.5}}};
    const xb_level_mixture shape = m;
    xb_problem problem;
    xb_level_mixture_em(&m, &points, 20, 1e-3);
    xb_optimum best = xb_level_mixture_newton(&problem, &m, &points, 1e-3, 0);
    const int n = xb_level_mixture_variables(&m);
    assert_int_equal(n, common ? 6 : 8);
    assert_true(best.converged);
    assert_close(best.value, (double)mean_log_density(&shape, best.theta, &points),
                 1e-13);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            assert_close_floor(best.hessian[a * n + b],
                               second_difference(&shape, best.theta, &points, a, b), 1e-6,
                               1);
}

static void hessian_is_that_of_the_likelihood(void **state)
{
    (void)state;
    check_optimum(false);
    check_optimum(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hessian_is_that_of_the_likelihood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
