/* test_score_gaps.c: two models on the same rows: differences and their errors against
 * plain sums, verdicts and how often they are wrong (maths C23). */
#include "comparetest.h"

#include "crossbayes/score.h"

enum { N = 200, FEW = 19 };

/* Normal numbers from the sum of twelve uniforms. */
static double normal(const xb_stream *where, int64_t i)
{
    double sum = -6;
    for (int k = 0; k < 12; k++) sum += xb_stream_uniform(where, 12 * i + k);
    return sum;
}

typedef struct data {
    double y[N], a[N], b[N], sd[N];
} data;

/* Targets of sd 3; model a is off by noise of sd 1, model b by 1 and `worse` besides. */
static data make_data(uint32_t run, double worse)
{
    data d;
    const xb_stream where = {.key = xb_key_make(7, XB_PURPOSE_TEST), .sample = run};
    for (int i = 0; i < N; i++) {
        d.y[i] = 3 * normal(&where, 4 * i);
        d.a[i] = d.y[i] + normal(&where, 4 * i + 1);
        d.b[i] = d.y[i] + hypot(1, worse) * normal(&where, 4 * i + 2);
        d.sd[i] = 1;
    }
    return d;
}

static xb_scores *scores_of(xb_ctx *ctx, const data *d, const double *mean, int64_t n)
{
    const xb_mixture p = {mean, d->sd, 1, n, .sd_shared = true};
    xb_scores *s = NULL;
    assert_ok(ctx, xb_score_regression(ctx, &s, &p, d->y, NULL));
    return s;
}

static xb_score_gaps *gaps_of(xb_ctx *ctx, const data *d, int64_t n)
{
    xb_scores *a = scores_of(ctx, d, d->a, n), *b = scores_of(ctx, d, d->b, n);
    xb_score_gaps *g = NULL;
    assert_ok(ctx, xb_score_gaps_create(ctx, &g, a, b));
    xb_scores_destroy(a);
    xb_scores_destroy(b);
    return g;
}

/* NLL of N(mean, 1) is (y - mean)^2 / 2 and a constant. */
static void differences_are_paired(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const data d = make_data(1, 1);
    xb_score_gaps *g = gaps_of(ctx, &d, N);
    double mean = 0, square = 0, mse[2] = {0};
    for (int i = 0; i < N; i++) {
        const double u = pow(d.y[i] - d.a[i], 2), v = pow(d.y[i] - d.b[i], 2);
        mean += 0.5 * (u - v) / N;
        mse[0] += u / N, mse[1] += v / N;
    }
    for (int i = 0; i < N; i++)
        square +=
            pow(0.5 * (pow(d.y[i] - d.a[i], 2) - pow(d.y[i] - d.b[i], 2)) - mean, 2);
    const xb_score nll = xb_score_gaps_difference(g, xb_score_gaps_find(g, "nll"));
    assert_close(nll.value, mean, 1e-9);
    assert_close(nll.std_error, sqrt(square / N / (N - 1)), 1e-9);
    const xb_score rmse = xb_score_gaps_difference(g, xb_score_gaps_find(g, "rmse"));
    assert_close(rmse.value, sqrt(mse[0]) - sqrt(mse[1]), 1e-9);
    /* leaving rows out says how far the difference of roots moves */
    double root = 0, roots = 0;
    for (int i = 0; i < N; i++) {
        const double u = (N * mse[0] - pow(d.y[i] - d.a[i], 2)) / (N - 1);
        const double v = (N * mse[1] - pow(d.y[i] - d.b[i], 2)) / (N - 1);
        const double without = sqrt(u) - sqrt(v);
        root += without / N, roots += without * without / N;
    }
    assert_close(rmse.std_error, sqrt((N - 1) * (roots - root * root)), 0.02);
    assert_int_equal(xb_score_gaps_better(g, 0), 1);
    const xb_gap gap = xb_score_gaps_at(g, 0);
    assert_close(gap.rms, fabs(mean), 1e-9);
    assert_true(gap.lower > 0 && gap.lower < gap.rms && gap.rms < gap.upper);
    xb_score_gaps_destroy(g);
    xb_ctx_destroy(ctx);
}

/* Which of two is first changes the sign and nothing else. */
static void sides_may_change(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const data d = make_data(2, 1);
    xb_scores *a = scores_of(ctx, &d, d.a, N), *b = scores_of(ctx, &d, d.b, N);
    xb_score_gaps *g = NULL, *h = NULL;
    assert_ok(ctx, xb_score_gaps_create(ctx, &g, a, b));
    assert_ok(ctx, xb_score_gaps_create(ctx, &h, b, a));
    for (int64_t i = 0; i < xb_score_gaps_count(g); i++) {
        const xb_score u = xb_score_gaps_difference(g, i);
        const xb_score v = xb_score_gaps_difference(h, i);
        assert_true(u.value == -v.value);
        assert_close(u.std_error, v.std_error, 1e-12);
        assert_int_equal(xb_score_gaps_better(g, i), -xb_score_gaps_better(h, i));
        assert_int_equal(xb_score_gaps_find(g, xb_score_gaps_name(g, i)), i);
    }
    assert_null(xb_score_gaps_name(g, 3));
    assert_int_equal(xb_score_gaps_find(g, "accuracy"), -1);
    assert_true(isnan(xb_score_gaps_difference(g, -1).value));
    assert_int_equal(xb_score_gaps_better(g, 3), 0);
    xb_score_gaps_destroy(h);
    xb_score_gaps_destroy(g);
    xb_scores_destroy(a);
    xb_scores_destroy(b);
    xb_ctx_destroy(ctx);
}

/* Equal models: one of three verdicts wrong in at most 5 % of runs; 100 runs, 2.2 % of
 * error: more than 12 have a chance of 1e-3. A model that is truly worse is found out. */
static void equal_models_are_the_same(void **state)
{
    (void)state;
    enum { RUNS = 100 };
    xb_ctx *ctx = test_ctx();
    int wrong = 0, found = 0;
    for (uint32_t run = 0; run < RUNS; run++)
        for (int worse = 0; worse < 2; worse++) {
            const data d = make_data(100 + run, worse);
            xb_score_gaps *g = gaps_of(ctx, &d, 100);
            bool any = false;
            for (int64_t i = 0; i < 3; i++) any = any || xb_score_gaps_better(g, i) != 0;
            if (worse)
                found += xb_score_gaps_better(g, 0) == 1;
            else
                wrong += any;
            xb_score_gaps_destroy(g);
        }
    assert_true(wrong <= 12);
    assert_true(found > RUNS / 2);
    xb_ctx_destroy(ctx);
}

static void few_rows_tell_nothing(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const data d = make_data(3, 50);
    xb_score_gaps *g = gaps_of(ctx, &d, FEW);
    for (int64_t i = 0; i < 3; i++) assert_int_equal(xb_score_gaps_better(g, i), 0);
    xb_score_gaps_destroy(g);
    g = gaps_of(ctx, &d, FEW + 1);
    assert_int_equal(xb_score_gaps_better(g, 1), 1);
    xb_score_gaps_destroy(g);
    xb_ctx_destroy(ctx);
}

/* Larger accuracy is better, larger nll is worse. */
static void classes_are_compared(void **state)
{
    (void)state;
    enum { ROWS = 60 };
    double p[2][ROWS * 2];
    int64_t label[ROWS];
    xb_ctx *ctx = test_ctx();
    xb_scores *s[2] = {NULL, NULL}, *few = NULL;
    xb_score_gaps *g = NULL;
    for (int i = 0; i < ROWS; i++) {
        label[i] = i % 2;
        for (int m = 0; m < 2; m++) {
            const double right = i % 7 == 0 ? 0.3 : m == 0 || i % 3 ? 0.9 : 0.2;
            p[m][2 * i + label[i]] = right, p[m][2 * i + 1 - label[i]] = 1 - right;
        }
    }
    for (int m = 0; m < 2; m++) {
        const xb_class_draws in = {p[m], 1, ROWS, 2};
        assert_ok(ctx, xb_score_classes(ctx, &s[m], &in, label, NULL));
    }
    assert_ok(ctx, xb_score_gaps_create(ctx, &g, s[0], s[1]));
    assert_true(xb_score_gaps_difference(g, xb_score_gaps_find(g, "accuracy")).value > 0);
    assert_true(xb_score_gaps_difference(g, xb_score_gaps_find(g, "nll")).value < 0);
    for (int64_t i = 0; i < 3; i++) assert_int_equal(xb_score_gaps_better(g, i), 1);
    xb_score_gaps_destroy(g);
    g = NULL;
    const xb_class_draws in = {p[0], 1, ROWS - 1, 2};
    assert_ok(ctx, xb_score_classes(ctx, &few, &in, label, NULL));
    assert_int_equal(xb_score_gaps_create(ctx, &g, s[0], few), XB_E_ARGUMENT);
    assert_null(g);
    xb_scores_destroy(few);
    xb_scores_destroy(s[0]);
    xb_scores_destroy(s[1]);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_paired),
        cmocka_unit_test(sides_may_change),
        cmocka_unit_test(equal_models_are_the_same),
        cmocka_unit_test(few_rows_tell_nothing),
        cmocka_unit_test(classes_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
