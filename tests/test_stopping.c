/* test_stopping.c: how many draws an interval needs. The error of a quantile against the
 * spread of quantiles over many repetitions and against its closed form; intervals that
 * stop early against those of all draws: the same coverage, at a fraction of the draws;
 * adaptive predictions are those of their number of draws, whatever the threads. Seeds
 * are fixed; each statistical bound is missed by a right program in fewer than 1 of
 * 10,000 seeds. */
#include "arraytest.h"

#include "crossbayes/predict.h"
#include "failalloc.h"
#include "predict/predict.h"

static double normal(const xb_stream *where, int64_t i)
{
    const double r = sqrt(-2 * log(xb_stream_uniform(where, 2 * i)));
    return r * cos(6.283185307179586 * xb_stream_uniform(where, 2 * i + 1));
}

/* With no data noise to speak of the quantile of S normal draws has the error
 * sqrt(p (1 - p) / S) / phi(z_p). */
static void the_error_of_a_quantile_is_known(void **state)
{
    (void)state;
    enum { S = 2000, REPEATS = 200 };
    double value[S], room[S], q[REPEATS], claimed = 0, mean = 0, square = 0;
    const double level = 0.025, z = -1.959963984540054, noise = 0.3;
    for (int r = 0; r < REPEATS; r++) {
        const xb_stream where = {xb_key_make(40 + (uint64_t)r, XB_PURPOSE_TEST), 0, 0, 0};
        for (int s = 0; s < S; s++) value[s] = normal(&where, s);
        q[r] = xb_predictive_quantile(value, S, &noise, 1, level, z);
        claimed += xb_quantile_error(value, S, &noise, 1, 1, q[r], room) / REPEATS;
        mean += q[r] / REPEATS;
    }
    for (int r = 0; r < REPEATS; r++) square += (q[r] - mean) * (q[r] - mean);
    const double spread = sqrt(square / (REPEATS - 1));
    assert_close(claimed / spread, 1, 0.2); /* 4 errors of a spread of 200 */
    assert_close(mean, z * sqrt(1 + noise * noise), 0.02);
    const double sharp = 0.02,
                 density = 0.05844507; /* of a normal at its 0.025 quantile */
    const double exact = sqrt(level * (1 - level) / S) / density;
    const double found = xb_quantile_error(value, S, &sharp, 1, 1, z, room);
    assert_close(found / exact, 1, 0.35); /* of about 50 draws in the tail */
}

static void needs_are_of_the_error(void **state)
{
    (void)state;
    assert_close(xb_draws_needed(0.2, 2, 0.1, 100), 100, 1e-12);
    assert_close(xb_draws_needed(0.4, 2, 0.1, 100), 400, 1e-12);
    assert_close(xb_draws_needed(0, 2, 0.1, 100), 1, 0);
    assert_int_equal(xb_next_look(32, 1, 1000), 48);
    assert_int_equal(xb_next_look(48, 1, 1000), 72);
    assert_int_equal(xb_next_look(700, 1, 1000), 1000);
    assert_int_equal(xb_next_look(32, 3, 1000), 48);
    assert_int_equal(xb_next_look(50, 3, 1000), 75);
    assert_int_equal(xb_next_look(51, 3, 1000), 78);
}

enum { INPUTS = 3000, DRAWS = 600 };

/* Inputs from all noise to nearly all epistemic, targets from their own predictive. */
typedef struct inputs {
    double *value, *sd, *y, *low, *high;
} inputs;

static inputs make_inputs(void)
{
    inputs in = {calloc(INPUTS * DRAWS, sizeof(double)), calloc(INPUTS, sizeof(double)),
                 calloc(INPUTS, sizeof(double)), calloc(INPUTS, sizeof(double)),
                 calloc(INPUTS, sizeof(double))};
    const xb_stream where = {xb_key_make(77, XB_PURPOSE_TEST), 0, 0, 0};
    for (int64_t i = 0; i < INPUTS; i++) {
        const double share = (double)(i % 50 + 1) / 51; /* epistemic */
        in.sd[i] = sqrt(1 - share);
        in.y[i] = normal(&where, i);
        for (int64_t s = 0; s < DRAWS; s++)
            in.value[s * INPUTS + i] =
                sqrt(share) * normal(&where, INPUTS + i * DRAWS + s);
    }
    for (int64_t i = 0; i < INPUTS; i++) { /* of all draws */
        double own[DRAWS];
        for (int s = 0; s < DRAWS; s++) own[s] = in.value[s * INPUTS + i];
        const double z = xb_normal_quantile(0.975);
        in.low[i] = xb_predictive_quantile(own, DRAWS, &in.sd[i], 1, 0.025, -z);
        in.high[i] = xb_predictive_quantile(own, DRAWS, &in.sd[i], 1, 0.975, z);
    }
    return in;
}

static void free_inputs(inputs *in)
{
    free(in->value);
    free(in->sd);
    free(in->y);
    free(in->low);
    free(in->high);
}

/* Row by row the two intervals differ in who is covered by few rows: the difference of
 * coverages has the error of those alone. */
static void stopping_early_covers_as_much(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    xb_ctx *ctx = test_ctx();
    inputs in = make_inputs();
    xb_stopping *s = NULL;
    assert_ok(ctx, xb_stopping_find(ctx, &s, in.value, in.sd, DRAWS, INPUTS, 1, NULL));
    double full = 0, early = 0, differ = 0, used = 0, last = 0, few = 0, many = 0;
    for (int64_t i = 0; i < INPUTS; i++) {
        const bool a = in.low[i] <= in.y[i] && in.y[i] <= in.high[i];
        const bool b =
            xb_stopping_low(s)[i] <= in.y[i] && in.y[i] <= xb_stopping_high(s)[i];
        full += a, early += b, differ += a != b;
        used += (double)xb_stopping_draws_used(s)[i] / INPUTS;
        if (i % 50 == 0) few += xb_stopping_draws_needed(s)[i] * 50 / INPUTS;
        if (i % 50 == 49) many += xb_stopping_draws_needed(s)[i] * 50 / INPUTS;
        last = fmax(last, (double)xb_stopping_draws_used(s)[i]);
        assert_true(xb_stopping_draws_used(s)[i] >= 32);
    }
    print_message("coverage %.4f of all draws, %.4f stopping early; %.0f of %d draws\n",
                  full / INPUTS, early / INPUTS, used, DRAWS);
    assert_true(fabs(full / INPUTS - 0.95) < 4 * sqrt(0.95 * 0.05 / INPUTS));
    assert_true(fabs(early - full) < 4 * sqrt(differ) + 0.004 * INPUTS);
    assert_true(used < 0.4 * DRAWS);
    assert_true(last == DRAWS);          /* there are some that need all */
    assert_true(few < 10 && many > 300); /* all noise; nearly all epistemic */
    xb_stopping_destroy(s);
    free_inputs(&in);
    xb_ctx_destroy(ctx);
}

/* Draws of which each is worth a half need twice as many. */
static void reads_that_remember_need_more(void **state)
{
    (void)state;
    enum { N = 8, S = 200 };
    xb_ctx *ctx = test_ctx();
    double value[S * N], sd[N];
    const xb_stream where = {xb_key_make(3, XB_PURPOSE_TEST), 0, 0, 0};
    for (int i = 0; i < S * N; i++) value[i] = normal(&where, i);
    for (int i = 0; i < N; i++) sd[i] = 0.5;
    xb_stopping *a = NULL, *b = NULL;
    xb_stopping_options opt = xb_stopping_options_default();
    assert_ok(ctx, xb_stopping_find(ctx, &a, value, sd, S, N, 1, &opt));
    opt.worth = 0.5;
    assert_ok(ctx, xb_stopping_find(ctx, &b, value, sd, S, N, 1, &opt));
    for (int i = 0; i < N; i++) {
        assert_close(xb_stopping_draws_needed(b)[i], 2 * xb_stopping_draws_needed(a)[i],
                     1e-12);
        assert_true(xb_stopping_draws_used(b)[i] >= xb_stopping_draws_used(a)[i]);
    }
    xb_stopping_destroy(b);
    xb_stopping_destroy(a);
    const xb_stopping_options bad[] = {{sizeof *bad, 1, 0.1, 32, 1, 1},
                                       {sizeof *bad, 0.95, 0, 32, 1, 1},
                                       {sizeof *bad, 0.95, 0.1, 3, 1, 1},
                                       {sizeof *bad, 0.95, 0.1, 32, 60, 1},
                                       {sizeof *bad, 0.95, 0.1, 32, 1, 0}};
    a = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(xb_stopping_find(ctx, &a, value, sd, S, N, 1, &bad[i]),
                         XB_E_ARGUMENT);
    assert_null(a);
    xb_ctx_destroy(ctx);
}

/* ---- predictions */

enum { ROWS_ASKED = 40 };

static xb_prediction *predict(xb_ctx *ctx, const xb_model *m, const double *x, int64_t n,
                              const xb_predict_options *opt)
{
    xb_prediction *p = NULL;
    assert_ok(ctx, xb_predict(ctx, &p, m, x, n, opt));
    return p;
}

static void check_adaptive(xb_ctx *ctx, const xb_model *m, int64_t members,
                           double tolerance)
{
    double *x = net_inputs(m, ROWS_ASKED);
    const int64_t features = xb_model_feature_count(m);
    xb_predict_options opt = xb_predict_options_default();
    opt.adaptive = true;
    opt.draws = 0;
    opt.max_draws = 3000;
    opt.tolerance = opt.interval_tolerance = tolerance;
    xb_ctx_set_threads(ctx, 1);
    xb_prediction *p = predict(ctx, m, x, ROWS_ASKED, &opt);
    xb_ctx_set_threads(ctx, 20);
    xb_prediction *again = predict(ctx, m, x, ROWS_ASKED, &opt);
    const bool numbers = xb_prediction_classes(p) == 0;
    int64_t least = INT64_MAX, most = 0;
    double error = 0;
    for (int64_t i = 0; i < ROWS_ASKED; i++) {
        const int64_t used = xb_prediction_draws_used(p)[i];
        assert_int_equal(used, xb_prediction_draws_used(again)[i]);
        least = used < least ? used : least;
        most = used > most ? used : most;
        assert_true(used % members == 0 || used == opt.max_draws);
        assert_true(xb_prediction_draws_needed(p)[i] <= (double)used ||
                    used == opt.max_draws);
        xb_predict_options one = xb_predict_options_default(); /* the very same */
        one.draws = used;
        xb_prediction *alone = predict(ctx, m, x + i * features, 1, &one);
        if (numbers) {
            assert_true(xb_prediction_mean(alone)[0] == xb_prediction_mean(p)[i]);
            assert_true(xb_prediction_mean(again)[i] == xb_prediction_mean(p)[i]);
            assert_true(xb_prediction_sd(alone)[0] == xb_prediction_sd(p)[i]);
            assert_true(xb_prediction_quantile(alone)[1] ==
                        xb_prediction_quantile(p)[2 * i + 1]);
        } else {
            assert_true(xb_prediction_entropy(alone)[0] == xb_prediction_entropy(p)[i]);
            assert_int_equal(xb_prediction_class(alone)[0], xb_prediction_class(p)[i]);
        }
        error = fmax(error, xb_prediction_mc_error(alone));
        xb_prediction_destroy(alone);
    }
    if (least >= most) fail_msg("all rows took %lld draws", (long long)least);
    assert_int_equal(xb_prediction_draws(p), most);
    assert_close(xb_prediction_mc_error(p), error, 1e-12);
    xb_prediction_destroy(again);
    xb_prediction_destroy(p);
    free(x);
}

static void adaptive_predictions_are_those_of_their_draws(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 6, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.05);
    check_adaptive(ctx, m, 1, 0.05);
    xb_model_destroy(m);
    m = net_model(ctx, "dense 6, relu, dense 3", (xb_shape){1, 1, 3}, 3, 0.1);
    check_adaptive(ctx, m, 1, 0.05);
    xb_model_destroy(m);
    xb_train_options opt = quick_options();
    opt.members = 3;
    opt.net = "dense 6, relu, dense 1";
    m = train_model(ctx, &opt, false, NULL);
    for (int k = 0; k < 3; k++) /* wide enough to be seen */
        for (int64_t i = 0; i < xb_net_param_count(m->member[k]->net); i++)
            m->member[k]->sigma[i] *= 10;
    check_adaptive(ctx, m, 3, 0.05);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* What is needed, told or not, changes no prediction; it is that of xb_stopping_find. */
static void needs_change_nothing(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 6, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.05);
    double *x = net_inputs(m, ROWS_ASKED), sd[ROWS_ASKED];
    xb_predict_options opt = xb_predict_options_default();
    opt.draws = 100;
    xb_prediction *plain = predict(ctx, m, x, ROWS_ASKED, &opt);
    opt.draws_needed = true;
    xb_prediction *told = predict(ctx, m, x, ROWS_ASKED, &opt);
    double *value = calloc(100 * ROWS_ASKED, sizeof *value);
    assert_ok(ctx, xb_predict_draws(ctx, value, sd, m, x, ROWS_ASKED, 0, 100, &opt));
    xb_stopping *s = NULL;
    assert_ok(ctx, xb_stopping_find(ctx, &s, value, sd, 100, ROWS_ASKED, 1, NULL));
    assert_null(xb_prediction_draws_needed(plain));
    assert_null(xb_prediction_draws_used(told));
    for (int i = 0; i < ROWS_ASKED; i++) {
        assert_true(xb_prediction_quantile(plain)[2 * i] ==
                    xb_prediction_quantile(told)[2 * i]);
        assert_close(xb_prediction_draws_needed(told)[i], xb_stopping_draws_needed(s)[i],
                     1e-6);
    }
    opt.interval_tolerance = 0;
    xb_prediction *bad = NULL;
    assert_int_equal(xb_predict(ctx, &bad, m, x, ROWS_ASKED, &opt), XB_E_ARGUMENT);
    xb_stopping_destroy(s);
    free(value);
    xb_prediction_destroy(told);
    xb_prediction_destroy(plain);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 3, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.3);
    double *x = net_inputs(m, 3), value[12], sd[3] = {1, 1, 1};
    for (int i = 0; i < 12; i++) value[i] = i % 5;
    xb_predict_options opt = xb_predict_options_default();
    opt.adaptive = true;
    opt.draws = 200;
    xb_ctx_set_threads(ctx, 1);
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_prediction *p = NULL;
        const xb_status status = xb_predict(ctx, &p, m, x, 3, &opt);
        const bool failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, p, k);
        xb_prediction_destroy(p);
        if (!failed) break;
    }
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_stopping *s = NULL;
        const xb_status status = xb_stopping_find(ctx, &s, value, sd, 4, 3, 1, NULL);
        const bool failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, s, k);
        xb_stopping_destroy(s);
        if (!failed) break;
    }
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_of_a_quantile_is_known),
        cmocka_unit_test(needs_are_of_the_error),
        cmocka_unit_test(stopping_early_covers_as_much),
        cmocka_unit_test(reads_that_remember_need_more),
        cmocka_unit_test(adaptive_predictions_are_those_of_their_draws),
        cmocka_unit_test(needs_change_nothing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
