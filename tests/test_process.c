/* A Gaussian process beside a net (maths V43, P22): its features have the kernel that
 * they stand for, its variance is that of the dual formula, draws are the same bytes by
 * any number of threads and from a file, intervals beyond the rows learnt from hold more,
 * and what cannot have one is refused. */
#include "noisetables.h"

#include "vi/model.h"
#include "vi/process.h"

enum { N = 60, LINE = 800 };

/* (V43) exp(-r^2 / 2), r in lengths, to four standard errors of 256 features. */
static void features_have_the_kernel(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_process *p = NULL;
    double a[XB_PROCESS_FEATURES], b[XB_PROCESS_FEATURES];
    assert_ok(ctx, xb_process_create(ctx, &p, 0.5, 4));
    for (int k = 0; k < 6; k++) {
        const float u[4] = {0.3f, -1, 0, 2}, v[4] = {0.3f + 0.3f * (float)k, -1, 0, 2};
        double sum = 0;
        xb_process_features(a, p, u);
        xb_process_features(b, p, v);
        for (int i = 0; i < XB_PROCESS_FEATURES; i++) sum += a[i] * b[i];
        const double r = 0.3 * k / (0.5 * 2);
        assert_close_floor(sum, exp(-0.5 * r * r), 4 / sqrt(2.0 * XB_PROCESS_FEATURES),
                           1);
    }
    xb_process_destroy(p);
    xb_ctx_destroy(ctx);
}

/* A net that is certain of y = 0. */
static xb_model *still_model(xb_ctx *ctx)
{
    const char *names[COLUMNS] = {"a", "b", "c", "d"};
    float mu[COLUMNS + 1] = {0}, sigma[COLUMNS + 1];
    xb_net *net = NULL;
    xb_law *law = NULL;
    xb_model *m = NULL;
    for (int i = 0; i <= COLUMNS; i++) sigma[i] = 1e-7f;
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 1", (xb_shape){1, 1, COLUMNS}, NULL));
    assert_ok(ctx, xb_law_parse(ctx, &law, "gaussian"));
    const xb_model_parts parts = {.net = net,
                                  .weights = {mu, sigma, NULL, NULL},
                                  .law = law,
                                  .prior = {.kind = XB_PRIOR_NORMAL, .sd = 1},
                                  .likelihood = XB_LIKELIHOOD_GAUSSIAN,
                                  .noise_sd = 0.3,
                                  .feature_name = names,
                                  .target_name = "y",
                                  .target_sd = 1};
    assert_ok(ctx, xb_model_create(ctx, &m, &parts));
    xb_net_destroy(net);
    xb_law_destroy(law);
    return m;
}

/* k - K (K + s^2)^-1 K' of the features' own kernel, by elimination. */
static double dual_variance(const xb_process *p, const float *z, const float *at,
                            double noise)
{
    static double k[N][N + 1], phi[N + 1][XB_PROCESS_FEATURES];
    double left = 0, side[N];
    for (int i = 0; i < N; i++) xb_process_features(phi[i], p, z + i * COLUMNS);
    xb_process_features(phi[N], p, at);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= N; j++) {
            k[i][j] = i == j ? noise * noise : 0;
            for (int f = 0; f < XB_PROCESS_FEATURES; f++)
                k[i][j] += phi[i][f] * phi[j][f];
        }
    for (int i = 0; i < N; i++) side[i] = k[i][N];
    for (int i = 0; i < N; i++)
        for (int r = i + 1; r < N; r++) {
            const double part = k[r][i] / k[i][i];
            for (int j = i; j <= N; j++) k[r][j] -= part * k[i][j];
        }
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++) k[i][N] -= k[i][j] * k[j][N];
        k[i][N] /= k[i][i];
    }
    for (int f = 0; f < XB_PROCESS_FEATURES; f++) left += phi[N][f] * phi[N][f];
    for (int i = 0; i < N; i++) left -= side[i] * k[i][N];
    return left;
}

static void variance_is_that_of_the_dual(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    static table rows;
    static double value[DRAWS * 2];
    float z[N * COLUMNS], at[2 * COLUMNS];
    xb_ctx *ctx = test_ctx();
    xb_model *m = still_model(ctx);
    make(&rows, CONSTANT, 0, N, 1);
    const xb_rows learnt = {.x = rows.x, .n = N, .features = COLUMNS};
    assert_true(isnan(xb_model_process_length(m)));
    assert_ok(ctx, xb_model_add_process(ctx, m, &learnt, 0.5));
    for (int i = 0; i < N * COLUMNS; i++) z[i] = (float)rows.x[i];
    const double asked[2 * COLUMNS] = {0.1, 0.2, -0.3, 0.4, 4, 4, -4, 4};
    for (int i = 0; i < 2 * COLUMNS; i++) at[i] = (float)asked[i];
    assert_ok(ctx, xb_predict_draws(ctx, value, NULL, m, asked, 2, 0, DRAWS, NULL));
    for (int i = 0; i < 2; i++) {
        double mean = 0, square = 0, phi[XB_PROCESS_FEATURES], exact = 0;
        const double dual = dual_variance(m->process, z, at + i * COLUMNS, 0.3);
        xb_process_features(phi, m->process, at + i * COLUMNS);
        xb_process_solve(phi, m->process);
        for (int f = 0; f < XB_PROCESS_FEATURES; f++) exact += phi[f] * phi[f];
        assert_close(exact, dual, 1e-8);
        for (int s = 0; s < DRAWS; s++) mean += value[2 * s + i] / DRAWS;
        for (int s = 0; s < DRAWS; s++) square += pow(value[2 * s + i] - mean, 2) / DRAWS;
        assert_close(square, dual, 5 * sqrt(2.0 / DRAWS)); /* one in two million */
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* sin 3x with noise 0.1, |x| from low to high. */
static void make_line(double *x, double *y, int64_t n, double low, double high,
                      uint32_t part)
{
    const xb_stream u = {.key = xb_key_make(4, XB_PURPOSE_TEST), .sample = part};
    for (int64_t i = 0; i < n; i++) {
        const double side = xb_stream_uniform(&u, 4 * i) < 0.5 ? -1 : 1;
        x[i] = side * (low + (high - low) * xb_stream_uniform(&u, 4 * i + 1));
        y[i] = sin(3 * x[i]) + 0.1 * normal(&u, 2 * i + 1);
    }
}

static double coverage(xb_ctx *ctx, const xb_model *m, double low, double high)
{
    static double x[LINE], y[LINE];
    xb_scores *s = NULL;
    xb_predict_options o = xb_predict_options_default();
    o.draws = 200;
    make_line(x, y, LINE, low, high, 1);
    const xb_rows rows = {.x = x, .n = LINE, .features = 1};
    assert_ok(ctx, xb_score_model(ctx, &s, m, &rows, y, &o));
    const double found = xb_scores_get(s, "coverage").value;
    xb_scores_destroy(s);
    return found;
}

static void beyond_the_rows_intervals_hold_more(void **state)
{
    (void)state;
    static double x[LINE], y[LINE];
    xb_ctx *ctx = test_ctx();
    scratch folder = scratch_make();
    xb_train_options o = xb_train_options_default();
    xb_model *m = NULL, *again = NULL;
    make_line(x, y, LINE / 2, 0, 1, 0);
    const xb_train_data data = {.x = x, .y = y, .n = LINE / 2, .features = 1};
    const xb_rows rows = {.x = x, .n = LINE / 2, .features = 1};
    o.net = "dense 20, relu, dense 1";
    o.adam.rate = 1e-2;
    o.mle_epochs = 100, o.epochs = 100, o.members = 2;
    assert_ok(ctx, xb_train(ctx, &m, NULL, &data, &o));
    const double inside = coverage(ctx, m, 0, 1), outside = coverage(ctx, m, 1.1, 1.6);
    assert_ok(ctx, xb_model_add_process(ctx, m, &rows, 0.25));
    const double in = coverage(ctx, m, 0, 1), out = coverage(ctx, m, 1.1, 1.6);
    print_message("inside %.3f, then %.3f; outside %.3f, then %.3f\n", inside, in,
                  outside, out);
    assert_true(in > 0.9 && in < inside + 0.05);
    assert_true(out > outside + 0.2);
    const char *path = scratch_path(&folder, "gp.safetensors");
    assert_ok(ctx, xb_model_save(ctx, m, path));
    assert_ok(ctx, xb_model_load(ctx, &again, path));
    double a[40], b[40];
    xb_ctx_set_threads(ctx, 1);
    assert_ok(ctx, xb_predict_draws(ctx, a, NULL, m, x, 4, 5, 10, NULL));
    xb_ctx_set_threads(ctx, 3);
    assert_ok(ctx, xb_predict_draws(ctx, b, NULL, again, x, 4, 5, 10, NULL));
    assert_memory_equal(a, b, sizeof a);
    assert_true(xb_model_process_length(again) == 0.25);
    xb_model_destroy(m);
    xb_model_destroy(again);
    scratch_remove(&folder);
    xb_ctx_destroy(ctx);
}

static void what_can_have_none_is_refused(void **state)
{
    (void)state;
    static table rows;
    xb_ctx *ctx = test_ctx();
    xb_model *m = still_model(ctx);
    xb_array *array = NULL;
    xb_analog *analog = NULL;
    make(&rows, CONSTANT, 0, N, 1);
    const xb_rows learnt = {.x = rows.x, .n = N, .features = COLUMNS};
    const xb_rows other = {.x = rows.x, .n = N, .features = COLUMNS - 1};
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(xb_model_add_process(ctx, m, &learnt, bad[i]), XB_E_ARGUMENT);
    assert_int_equal(xb_model_add_process(ctx, m, &other, 1), XB_E_ARGUMENT);
    assert_ok(ctx, xb_model_add_process(ctx, m, &learnt, 1));
    assert_ok(ctx, xb_array_preset(ctx, &array, "ideal"));
    assert_int_equal(xb_analog_create(ctx, &analog, m, array, rows.x, 4, NULL),
                     XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "Gaussian process"));
    m->likelihood = XB_LIKELIHOOD_POISSON; /* of counts */
    assert_int_equal(xb_model_add_process(ctx, m, &learnt, 1), XB_E_ARGUMENT);
    m->likelihood = XB_LIKELIHOOD_GAUSSIAN;
    xb_array_destroy(array);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_have_the_kernel),
        cmocka_unit_test(variance_is_that_of_the_dual),
        cmocka_unit_test(beyond_the_rows_intervals_hold_more),
        cmocka_unit_test(what_can_have_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
