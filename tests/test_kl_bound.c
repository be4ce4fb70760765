/* test_kl_bound.c: lower bounds of KL against its true value, by closed forms and by
 * quadrature, at several numbers of draws; they must not be above it in more than 5 % of
 * runs, and not be far below it where draws are many. */
#include "comparetest.h"

#include "base/ctx.h"
#include "failalloc.h"

enum { POINTS = 3, DRAWS_MOST = 20000, RUNS = SANITIZED ? 10 : 200 };

/* A linear net of two weights at three inputs: y = x1 z1 + x2 z2. */
static const double inputs[POINTS][2] = {{1, 0}, {0.8, 0.6}, {0.3, 0.2}};

/* Draws under a law, [draws][POINTS]; the same words under every law. */
static void draw_net(double *y, const xb_sampler *law, int64_t draws, uint32_t run)
{
    static double z[2 * DRAWS_MOST];
    const xb_stream where = {xb_key_make(40, XB_PURPOSE_TEST), 0, run, 0};
    xb_sampler_fill_double(law, z, 2 * draws, &where, 0);
    for (int64_t s = 0; s < draws; s++)
        for (int i = 0; i < POINTS; i++)
            y[s * POINTS + i] = inputs[i][0] * z[2 * s] + inputs[i][1] * z[2 * s + 1];
}

/* Weights of +-m and Gaussian noise of variance 1 - m^2; m = 0 is the Gaussian law. */
static double net_density(double y, const double *x, double m)
{
    double v = (x[0] * x[0] + x[1] * x[1]) * (1 - m * m), sum = 0;
    for (int k = 0; k < 4; k++) {
        double d = y - m * ((k & 1 ? x[0] : -x[0]) + (k & 2 ? x[1] : -x[1]));
        sum += 0.25 * exp(-d * d / (2 * v)) / sqrt(2 * M_PI * v);
    }
    return sum;
}

/* By the trapezoid rule, which for smooth densities is exact to rounding. log q where q
 * underflows is of no weight here: 12 standard deviations are enough. */
static double exact_kl(double m_a, double m_b)
{
    const int steps = 40000;
    double sum = 0;
    for (int i = 0; i < POINTS; i++) {
        double reach = 12 * hypot(inputs[i][0], inputs[i][1]), h = 2 * reach / steps;
        for (int k = 1; k < steps; k++) {
            double y = -reach + k * h, p = net_density(y, inputs[i], m_a);
            double q = net_density(y, inputs[i], m_b);
            if (p > 1e-300 && q > 1e-300) sum += p * log(p / q) * h / POINTS;
        }
    }
    return sum;
}

static xb_sampler *sampler_of(xb_ctx *ctx, const char *text)
{
    xb_law *law = test_law(ctx, text);
    xb_sampler *sampler = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    xb_law_destroy(law);
    return sampler;
}

typedef struct outcome {
    double mean; /* of the bounds */
    int above;   /* the truth */
} outcome;

static outcome bounds(xb_ctx *ctx, const char *a, const char *b, double truth,
                      int64_t draws, int runs)
{
    xb_sampler *law_a = sampler_of(ctx, a), *law_b = sampler_of(ctx, b);
    double *y_a = malloc(sizeof *y_a * DRAWS_MOST * POINTS);
    double *y_b = malloc(sizeof *y_b * DRAWS_MOST * POINTS);
    outcome o = {0};
    for (int r = 0; r < runs; r++) {
        double nats = 0;
        draw_net(y_a, law_a, draws, (uint32_t)r);
        draw_net(y_b, law_b, draws, (uint32_t)r);
        assert_ok(ctx, xb_distance_kl_lower(ctx, &nats, y_a, y_b, draws, POINTS));
        assert_true(nats >= 0);
        o.mean += nats / runs, o.above += nats > truth;
    }
    free(y_a), free(y_b);
    xb_sampler_destroy(law_a), xb_sampler_destroy(law_b);
    return o;
}

/* At most 5 % of runs, and three standard deviations of that: 22 of 200. Where the law is
 * far from its bins (bimodal) none is expected. */
static int allowed(int runs) { return (int)(0.05 * runs + 3 * sqrt(0.05 * 0.95 * runs)); }

static void linear_net(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        double m_a, m_b;
        double tight; /* part of the truth that 20,000 draws find */
    } cases[] = {{"bimodal:m=0.9", "gaussian", 0.9, 0, 0.8},
                 {"bimodal:m=0.99", "gaussian", 0.99, 0, 0.8},
                 {"gaussian", "bimodal:m=0.99", 0, 0.99, 0.1},
                 {"gaussian", "gaussian", 0, 0, 0}};
    static const int64_t draws[] = {200, 1000, DRAWS_MOST};
    xb_ctx *ctx = test_ctx();
    for (int c = 0; c < XB_COUNT(cases); c++)
        for (int d = 0; d < XB_COUNT(draws); d++) {
            int runs = draws[d] == DRAWS_MOST ? RUNS / 10 : RUNS;
            double truth = exact_kl(cases[c].m_a, cases[c].m_b);
            outcome o = bounds(ctx, cases[c].a, cases[c].b, truth, draws[d], runs);
            print_message("KL(%s || %s) = %.4f: %lld draws say at least %.4f on average,"
                          " too much in %d of %d\n",
                          cases[c].a, cases[c].b, truth, (long long)draws[d], o.mean,
                          o.above, runs);
            assert_at_most(o.above, allowed(runs));
            if (draws[d] == DRAWS_MOST) assert_true(o.mean >= cases[c].tight * truth);
        }
    xb_ctx_destroy(ctx);
}

/* The law of bounded support against the Gaussian: KL(mtj || gaussian) is the law's own,
 * the other way it is infinite and any bound holds. */
static void bounded_support(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *mtj = test_law(ctx, "mtj");
    double alone = xb_law_kl_gaussian(mtj);
    xb_law_destroy(mtj);
    xb_sampler *law = sampler_of(ctx, "mtj"), *gaussian = sampler_of(ctx, "gaussian");
    static double a[DRAWS_MOST], b[DRAWS_MOST];
    const xb_stream where = {xb_key_make(41, XB_PURPOSE_TEST), 0, 0, 0};
    xb_sampler_fill_double(law, a, DRAWS_MOST, &where, 0);
    xb_sampler_fill_double(gaussian, b, DRAWS_MOST, &where, 0);
    double forth = 0, back = 0;
    assert_ok(ctx, xb_distance_kl_lower(ctx, &forth, a, b, DRAWS_MOST, 1));
    assert_ok(ctx, xb_distance_kl_lower(ctx, &back, b, a, DRAWS_MOST, 1));
    print_message("KL(mtj || gaussian) = %.4f, at least %.4f; infinite, at least %.4f\n",
                  alone, forth, back);
    assert_true(forth > 0.6 * alone && forth < alone && back > 0);
    xb_sampler_destroy(law), xb_sampler_destroy(gaussian);
    xb_ctx_destroy(ctx);
}

/* A ratio of two steps at the median, which four bins have exactly: nothing is lost but
 * the error, so the bound is above the truth as often as is allowed to one of six levels,
 * 0.05/6; independent samples. */
static void exact_bins(void **state)
{
    (void)state;
    enum { S = 1000, MANY = SANITIZED ? 20 : 2000 };
    xb_ctx *ctx = test_ctx();
    double truth = 0.6 * log(1.2) + 0.4 * log(0.8), mean = 0;
    int above = 0;
    for (int r = 0; r < MANY; r++) {
        double a[S], b[S], nats = 0;
        const xb_stream where = {xb_key_make(42, XB_PURPOSE_TEST), 0, (uint32_t)r, 0};
        for (int s = 0; s < S; s++) {
            double u = xb_stream_uniform(&where, s);
            a[s] = u < 0.6 ? u / 1.2 : 0.5 + (u - 0.6) / 0.8;
            b[s] = xb_stream_uniform(&where, S + s);
        }
        assert_ok(ctx, xb_distance_kl_lower(ctx, &nats, a, b, S, 1));
        above += nats > truth, mean += nats / MANY;
    }
    print_message("two steps: KL %.4f, at least %.4f on average, too much in %d of %d\n",
                  truth, mean, above, (int)MANY);
    assert_at_most(above, allowed(MANY));
    xb_ctx_destroy(ctx);
}

static void ties_and_few_draws(void **state)
{
    (void)state;
    enum { S = 400 };
    xb_ctx *ctx = test_ctx();
    double a[S], b[S], nats = 1;
    for (int s = 0; s < S; s++) a[s] = b[s] = 7;
    assert_ok(ctx, xb_distance_kl_lower(ctx, &nats, a, b, S, 1));
    assert_true(nats == 0);
    for (int s = 0; s < S; s++) a[s] = s % 2, b[s] = s % 4 == 0; /* 1/2 and 1/4 ones */
    assert_ok(ctx, xb_distance_kl_lower(ctx, &nats, a, b, S, 1));
    double truth = 0.5 * log(0.5 / 0.25) + 0.5 * log(0.5 / 0.75);
    assert_true(nats > 0.5 * truth && nats <= truth);
    for (int s = 0; s < S; s++) a[s] = 1, b[s] = 0; /* never where b is: f stays 0 */
    assert_ok(ctx, xb_distance_kl_lower(ctx, &nats, a, b, S, 1));
    assert_true(nats >= 0 && isfinite(nats));
    assert_ok(ctx, xb_distance_kl_lower(ctx, &nats, a, b, 199, 1));
    assert_true(isnan(nats));
    a[3] = NAN;
    assert_int_equal(xb_distance_kl_lower(ctx, &nats, a, b, S, 1), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "draw 4 at point 1"));
    assert_int_equal(xb_distance_kl_lower(ctx, &nats, a, b, 0, 1), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

static void same_at_any_threads(void **state)
{
    (void)state;
    enum { S = 1000, N = 11 };
    double *a = new_normals(S * N, 31), *b = new_normals(S * N, 32), nats[2];
    for (int64_t i = 0; i < S * N; i++) a[i] *= 1.5;
    for (int i = 0; i < 2; i++) {
        xb_ctx *ctx = test_ctx();
        xb_ctx_set_threads(ctx, i ? 7 : 1);
        assert_ok(ctx, xb_distance_kl_lower(ctx, &nats[i], a, b, S, N));
        xb_ctx_destroy(ctx);
    }
    assert_true(nats[0] == nats[1] && nats[0] > 0);
    free(a), free(b);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    enum { S = 200, N = 3 };
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    double *a = new_normals(S * N, 33), *b = new_normals(S * N, 34), nats = -1;
    int failures = 0;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_status status = xb_distance_kl_lower(ctx, &nats, a, b, S, N);
        if (!fail_alloc_happened()) break;
        assert_int_equal(status, XB_E_MEMORY);
        assert_true(nats == -1); /* left alone */
        failures++;
    }
    assert_true(failures >= 3 && nats >= 0);
    free(a), free(b);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_net),          cmocka_unit_test(bounded_support),
        cmocka_unit_test(exact_bins),          cmocka_unit_test(ties_and_few_draws),
        cmocka_unit_test(same_at_any_threads), cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
