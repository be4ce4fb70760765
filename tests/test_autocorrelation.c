/* test_autocorrelation.c: how strongly a trace remembers itself: Fourier transforms and
 * lags against their sums, correlation times of known processes. */
#include "fittest.h"

#include <complex.h>

#include "base/ctx.h"
#include "base/fft.h"

static void fft_is_the_sum(void **state)
{
    (void)state;
    enum { N = 64 };
    xb_ctx *ctx = test_ctx();
    xb_fft fft;
    assert_ok(ctx, xb_fft_make(ctx, &fft, N));
    double complex z[N], y[N];
    for (int i = 0; i < N; i++) y[i] = z[i] = xb_cmplx(sin(i * i), cos(3 * i));
    xb_fft_forward(&fft, y);
    for (int k = 0; k < N; k++) {
        double complex sum = 0;
        for (int j = 0; j < N; j++) sum += z[j] * cexp(-2 * M_PI * I * j * k / N);
        assert_close_floor(creal(y[k]), creal(sum), 1e-13, 8);
        assert_close_floor(cimag(y[k]), cimag(sum), 1e-13, 8);
    }
    xb_fft_free(&fft);
    xb_ctx_destroy(ctx);
}

static void autocorrelation_is_the_sum(void **state)
{
    (void)state;
    enum { N = 1501 };
    xb_ctx *ctx = test_ctx();
    double *x = draw(ctx, "mtj", N, 1, 1e6, 3), rho[N], mean = 0, variance = 0;
    for (int i = 1; i < N; i++) x[i] += 0.7 * (x[i - 1] - 1e6);
    for (int i = 0; i < N; i++) mean += x[i] / N;
    for (int i = 0; i < N; i++) variance += (x[i] - mean) * (x[i] - mean);
    static const int lags[] = {1, 2, 16, 17, 100, 375, 376, 1000, N};
    for (int j = 0; j < XB_COUNT(lags); j++) {
        assert_ok(ctx, xb_autocorrelation(ctx, rho, lags[j], x, N));
        for (int k = 0; k < lags[j]; k++) {
            double sum = 0;
            for (int i = 0; i + k < N; i++) sum += (x[i] - mean) * (x[i + k] - mean);
            assert_close_floor(rho[k], sum / variance, 1e-10, 1);
        }
    }
    assert_int_equal(xb_autocorrelation(ctx, rho, N + 1, x, N), XB_E_ARGUMENT);
    assert_int_equal(xb_autocorrelation(ctx, rho, 0, x, N), XB_E_ARGUMENT);
    double same[5] = {2, 2, 2, 2, 2}, bad[3] = {1, NAN, 2}, tau;
    assert_int_equal(xb_autocorrelation(ctx, rho, 2, same, 5), XB_E_INPUT);
    assert_int_equal(xb_autocorrelation(ctx, rho, 2, bad, 3), XB_E_INPUT);
    double wide[3] = {-1e308, 0, 1e308};
    assert_int_equal(xb_autocorrelation(ctx, rho, 2, wide, 3), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "too wide"));
    assert_int_equal(xb_autocorrelation_time(ctx, &tau, same, 1), XB_E_INPUT);
    free(x);
    xb_ctx_destroy(ctx);
}

/* AR(1): tau = (1 + phi) / (1 - phi). */
static void tau_of_known_processes(void **state)
{
    (void)state;
    static const double phi[] = {0, 0.5, 0.9, 0.98};
    enum { N = 200000 };
    xb_ctx *ctx = test_ctx();
    for (int j = 0; j < XB_COUNT(phi); j++) {
        double *x = draw(ctx, "gaussian", N, 5, 0, 1), tau;
        for (int i = 1; i < N; i++) x[i] += phi[j] * x[i - 1];
        assert_ok(ctx, xb_autocorrelation_time(ctx, &tau, x, N));
        assert_close(tau, (1 + phi[j]) / (1 - phi[j]), phi[j] > 0 ? 0.1 : 0.02);
        free(x);
    }
    xb_ctx_destroy(ctx);
}

/* (F9) x = e + 0.3 e(-2) + e(-5) has correlations 0.3 / 2.09 at lags 2 and 3, 1 / 2.09 at
 * 5: sums of pairs 1, 0.287, 0.478, then none. They may not rise again. */
static void pairs_never_rise(void **state)
{
    (void)state;
    enum { N = 200000, LAST = 5 };
    xb_ctx *ctx = test_ctx();
    double *e = draw(ctx, "gaussian", N + LAST, 6, 0, 1), tau;
    for (int i = N + LAST - 1; i >= LAST; i--) e[i] += 0.3 * e[i - 2] + e[i - LAST];
    assert_ok(ctx, xb_autocorrelation_time(ctx, &tau, e + LAST, N));
    assert_close(tau, 2 * (1 + 2 * 0.6 / 2.09) - 1, 0.02);
    free(e);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fft_is_the_sum),
        cmocka_unit_test(autocorrelation_is_the_sum),
        cmocka_unit_test(tau_of_known_processes),
        cmocka_unit_test(pairs_never_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
