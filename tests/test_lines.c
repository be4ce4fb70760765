/* test_lines.c: the chance that a peak of a spectrum is none (maths T7), for few and many
 * stretches of a trace, against the incomplete gamma function of GSL and closed forms. */
#include "xbtest.h"

#include <math.h>
#if defined(XB_HAS_GSL)
#include <gsl/gsl_sf_gamma.h>
#endif

#include "series/series.h"

enum { NEIGHBOURS = 1000 };

/* (T7) x */
static double argument(double ratio, double stretches)
{
    const double m = NEIGHBOURS / 2.08 * stretches;
    return m * log1p(ratio * stretches / m);
}

static void one_stretch_is_an_exponential(void **state)
{
    (void)state;
    for (double ratio = 1.5; ratio < 40; ratio *= 1.7)
        assert_close(xb_line_chance(ratio, 1, NEIGHBOURS) / exp(-argument(ratio, 1)), 1,
                     1e-12);
}

static void two_stretches_have_two_terms(void **state)
{
    (void)state;
    for (double ratio = 1.5; ratio < 40; ratio *= 1.7) {
        const double x = argument(ratio, 2);
        assert_close(xb_line_chance(ratio, 2, NEIGHBOURS) / (exp(-x) * (1 + x)), 1,
                     1e-12);
    }
}

/* A trace of 1e9 samples has 953 stretches; exp(-x) is 0 there. */
static void many_stretches_have_chances_too(void **state)
{
    (void)state;
    double before = 1;
    for (int i = 1; i < 6; i++) {
        const double ratio = 1 + i / sqrt(953),
                     p = xb_line_chance(ratio, 953, NEIGHBOURS);
        assert_true(p > 0 && p < before);
        before = p;
    }
    assert_true(xb_line_chance(0.9, 953, NEIGHBOURS) == 1);
    assert_true(xb_line_chance(3, 953, NEIGHBOURS) < 1e-100);
}

static void chances_are_those_of_gsl(void **state)
{
    (void)state;
#if defined(XB_HAS_GSL)
    static const int64_t stretches[] = {1, 3, 17, 200, 740, 953, 5000, 100000};
    for (int i = 0; i < XB_COUNT(stretches); i++)
        for (int k = 1; k < 12; k++) {
            const double n = (double)stretches[i], ratio = 1 + k / sqrt(n);
            const double x = argument(ratio, n);
            if (x <= n) continue;
            const double want = gsl_sf_gamma_inc_Q(n, x);
            assert_close(xb_line_chance(ratio, stretches[i], NEIGHBOURS) / want, 1, 1e-9);
        }
#else
    print_message("skipped: the comparison with GSL, which is not here\n");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stretch_is_an_exponential),
        cmocka_unit_test(two_stretches_have_two_terms),
        cmocka_unit_test(many_stretches_have_chances_too),
        cmocka_unit_test(chances_are_those_of_gsl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
