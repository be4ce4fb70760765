/* test_likelihood.c: likelihoods against closed forms, and (double build) gradients
 * against central differences. */
#include "nettest.h"

#include "base/ctx.h"

#if defined(XB_REAL_DOUBLE)
static const double TOLERANCE = 1e-14;
#else
static const double TOLERANCE = 3e-7; /* the inputs are floats */
#endif

static void values_are_closed_forms(void **state)
{
    (void)state;
    const xb_real y[] = {1, -2, 0.5f}, t[] = {0, -1, 2};
    xb_real dy[3];
    assert_close(xb_nll_square(dy, y, t, 3), 1 + 1 + 2.25, 1e-15);
    assert_close((double)dy[2], -3, 1e-15);
    /* -sum log N(t; y, s^2) at s = 2 */
    double slope = 0, log_sd = log(2);
    assert_close(xb_nll_gaussian(dy, &slope, y, t, log_sd, 3),
                 4.25 / 8 + 3 * log(2 * sqrt(2 * M_PI)), 1e-15);
    assert_close(slope, 3 - 4.25 / 4, 1e-15);
    assert_close((double)dy[0], 0.25, 1e-15);
    assert_close(xb_nll_square(NULL, y, t, 0), 0, 0);
    assert_close(xb_nll_gaussian(NULL, NULL, y, t, 0, 0), 0, 0);
}

/* With raw = log s the heteroscedastic one is the other. */
static void one_sd_is_a_case_of_many(void **state)
{
    (void)state;
    const xb_real y[] = {1, -2, 0.5f}, t[] = {0, -1, 2};
    const xb_real raw[] = {(xb_real)0.25, (xb_real)0.25, (xb_real)0.25};
    xb_real d1[3], d2[3], draw[3];
    double slope, one = xb_nll_gaussian(d1, &slope, y, t, 0.25, 3);
    double many = xb_nll_heteroscedastic(d2, draw, y, raw, t, 3, 1, 1, XB_SD_EXP, 0);
    assert_close(many, one, 1e-15);
    for (int i = 0; i < 3; i++) assert_close((double)d2[i], (double)d1[i], TOLERANCE);
    assert_close((double)draw[0] + (double)draw[1] + (double)draw[2], slope, TOLERANCE);
    /* the same numbers from one net of two outputs */
    xb_real both[6], d_both[6];
    for (int i = 0; i < 3; i++) both[2 * i] = y[i], both[2 * i + 1] = raw[i];
    assert_close(xb_nll_heteroscedastic(d_both, d_both + 1, both, both + 1, t, 3, 1, 2,
                                        XB_SD_EXP, 0),
                 many, 1e-15);
    for (int i = 0; i < 3; i++) {
        assert_close((double)d_both[2 * i], (double)d2[i], 0);
        assert_close((double)d_both[2 * i + 1], (double)draw[i], 0);
    }
}

static void softplus_neither_overflows_nor_vanishes(void **state)
{
    (void)state;
    assert_close(xb_sd_of(XB_SD_SOFTPLUS, 0, 0), log(2), 1e-15);
    assert_close(xb_sd_of(XB_SD_SOFTPLUS, 0, 1000), 1000, 1e-15);
    assert_close(xb_sd_of(XB_SD_SOFTPLUS, 0, -700), exp(-700), 1e-13);
    assert_close(xb_sd_of(XB_SD_SOFTPLUS, 0.25, 1), 0.25 + log1p(exp(1)), 1e-15);
    assert_close(xb_sd_of(XB_SD_EXP, 0.25, -2), 0.25 + exp(-2), 1e-15);
    const xb_real mean[] = {1}, raw[] = {-800}, t[] = {0};
    xb_real dm[1], dr[1];
    double nll =
        xb_nll_heteroscedastic(dm, dr, mean, raw, t, 1, 1, 1, XB_SD_SOFTPLUS, 0.5);
    assert_close(nll, 2 + log(0.5) + 0.5 * log(2 * M_PI), 1e-14);
    assert_close((double)dm[0], 4, TOLERANCE);
}

static void softmax_is_cross_entropy(void **state)
{
    (void)state;
    const xb_real y[] = {0, (xb_real)1, 2, 500, -500, 0};
    const int32_t label[] = {2, 1};
    xb_real dy[6];
    double z = 1 + exp(1) + exp(2);
    assert_close(xb_nll_softmax(dy, y, label, 2, 3), log(z) - 2 + 1000, 1e-15);
    assert_close((double)dy[0], 1 / z, TOLERANCE);
    assert_close((double)dy[2], exp(2) / z - 1, TOLERANCE);
    assert_close((double)dy[3], 1, 0);
    assert_close((double)dy[4], -1, 0);
    for (int r = 0; r < 2; r++)
        assert_close_floor((double)dy[3 * r] + (double)dy[3 * r + 1] +
                               (double)dy[3 * r + 2],
                           0, TOLERANCE, 1);
    static const int32_t bad[][1] = {{-1}, {3}};
    for (int i = 0; i < 2; i++) assert_true(isnan(xb_nll_softmax(dy, y, bad[i], 1, 3)));
}

#if defined(XB_REAL_DOUBLE)

enum { ROWS = 5, D = 3 };

/* Which likelihood, for a loop. */
typedef struct subject {
    double y[2 * ROWS * D], target[ROWS * D];
    int32_t label[ROWS];
    double log_sd;
    int which;
} subject;

static double value(const subject *s, double *dy)
{
    double slope;
    switch (s->which) {
    case 0: return xb_nll_square(dy, s->y, s->target, ROWS * D);
    case 1: return xb_nll_gaussian(dy, &slope, s->y, s->target, s->log_sd, ROWS * D);
    case 2: return xb_nll_softmax(dy, s->y, s->label, ROWS, D);
    default:
        return xb_nll_heteroscedastic(dy, dy ? dy + D : NULL, s->y, s->y + D, s->target,
                                      ROWS, D, 2 * D,
                                      s->which == 3 ? XB_SD_EXP : XB_SD_SOFTPLUS, 0.1);
    }
}

static void gradients_are_differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    for (int which = 0; which < 5; which++) {
        subject s = {.which = which, .log_sd = -0.3, .label = {0, 2, 1, 1, 0}};
        double dy[2 * ROWS * D];
        double *y = test_reals(2 * ROWS * D, -1, 1, 1),
               *t = test_reals(ROWS * D, -1, 1, 2);
        memcpy(s.y, y, sizeof s.y);
        memcpy(s.target, t, sizeof s.target);
        value(&s, dy);
        for (int i = 0; i < (which < 3 ? 1 : 2) * ROWS * D; i++) {
            double old = s.y[i];
            s.y[i] = old + h;
            double up = value(&s, NULL);
            s.y[i] = old - h;
            double d = (up - value(&s, NULL)) / (2 * h);
            s.y[i] = old;
            assert_close_floor(dy[i], d, 1e-7, 0.1);
        }
        double slope, up, down;
        xb_nll_gaussian(NULL, &slope, s.y, s.target, s.log_sd, ROWS * D);
        up = xb_nll_gaussian(NULL, NULL, s.y, s.target, s.log_sd + h, ROWS * D);
        down = xb_nll_gaussian(NULL, NULL, s.y, s.target, s.log_sd - h, ROWS * D);
        assert_close(slope, (up - down) / (2 * h), 1e-7);
        free(y);
        free(t);
    }
}

/* (N20) Near the normal, at four degrees of freedom, and near its end at two. */
static void student_gradients_are_differences(void **state)
{
    (void)state;
    enum { N = 6 };
    const double h = 1e-5, log_sd = -0.4;
    const double y[N] = {0.1, -2, 5, 0.3, 1, -7}, t[N] = {0, 0.5, -1, 0.3, 3, 2};
    static const double shapes[] = {-3, 0.69314718055994531, 4, 6};
    for (int k = 0; k < 4; k++) {
        const double tau = shapes[k];
        double dy[N], moved[N], slope, by_shape;
#define NLL(Y, LOG_SD, SHAPE) xb_nll_student(NULL, NULL, NULL, Y, t, LOG_SD, SHAPE, N, 1)
        xb_nll_student(dy, &slope, &by_shape, y, t, log_sd, tau, N, 1);
        for (int i = 0; i < N; i++) {
            memcpy(moved, y, sizeof moved);
            moved[i] = y[i] + h;
            const double up = NLL(moved, log_sd, tau);
            moved[i] = y[i] - h;
            assert_close_floor(dy[i], (up - NLL(moved, log_sd, tau)) / (2 * h), 1e-7,
                               0.1);
        }
        assert_close_floor(slope,
                           (NLL(y, log_sd + h, tau) - NLL(y, log_sd - h, tau)) / (2 * h),
                           1e-7, 0.1);
        assert_close_floor(by_shape,
                           (NLL(y, log_sd, tau + h) - NLL(y, log_sd, tau - h)) / (2 * h),
                           1e-6, 0.1);
#undef NLL
    }
}

#endif

/* (N20) At a target that is met exactly, for nu = 2 n: psi(n + 1/2) - psi(n) is
 * 2 (1 + 1/3 + ... + 1/(2 n - 1)) - 2 log 2 - (1 + 1/2 + ... + 1/(n - 1)). */
static void student_shape_by_harmonic_sums(void **state)
{
    (void)state;
    const xb_real y = 0.25f;
    double odd = 1, all = 0; /* of n = 1 */
    for (int n = 2; n <= 60; n++) {
        odd += 1 / (2.0 * n - 1), all += 1 / (n - 1.0);
        const double nu = 2.0 * n, step = 2 * odd - 2 * log(2) - all;
        double by_shape;
        xb_nll_student(NULL, NULL, &by_shape, &y, &y, 0.3, log(nu - 2), 1, 1);
        assert_close_floor(by_shape, 0.5 * (1 / nu - step) * (nu - 2) + 1 / nu, 1e-11, 1);
    }
}

/* (N20) Of four degrees of freedom the density is 3/8 (1 + e^2 / 4)^(-5/2); of very many
 * it is the normal's. */
static void student_has_heavy_tails(void **state)
{
    (void)state;
    const xb_real y[2] = {1, 9}, t[2] = {0, 0};
    const double sd = 1.5, s = sd / sqrt(2), e = 1 / s;
    const double four = log(2);
    double one = xb_nll_student(NULL, NULL, NULL, y, t, log(sd), four, 1, 1);
    assert_close(one, log(s) - log(0.375) + 2.5 * log1p(e * e / 4), 1e-6);
    assert_close(xb_nll_student(NULL, NULL, NULL, y, t, log(sd), 16, 1, 1),
                 xb_nll_gaussian(NULL, NULL, y, t, log(sd), 1), 1e-5);
    assert_true(xb_nll_student(NULL, NULL, NULL, y + 1, t, log(sd), four, 1, 1) + 8 <
                xb_nll_gaussian(NULL, NULL, y + 1, t, log(sd), 1));
    assert_close(xb_student_degrees(four), 4, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_closed_forms),
        cmocka_unit_test(one_sd_is_a_case_of_many),
        cmocka_unit_test(softplus_neither_overflows_nor_vanishes),
        cmocka_unit_test(softmax_is_cross_entropy),
        cmocka_unit_test(student_shape_by_harmonic_sums),
        cmocka_unit_test(student_has_heavy_tails),
#if defined(XB_REAL_DOUBLE)
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(student_gradients_are_differences),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
