/* test_targets.c: several targets by one net: columns found by their names, gradients of
 * both likelihoods, a linear net against its closed form, files that keep the names, and
 * the joint density of a row against a plain sum. Only public headers. */
#include "scratch.h"
#include "slopetest.h"

#include "crossbayes/score.h"

enum { N = 160, FEATURES = 2, TARGETS = 2 };

typedef struct pair_rows {
    double x[N * FEATURES], y[N * TARGETS];
} pair_rows;

/* y0 = 5 + 2 a - b, y1 = 100 a b; noises of sd 0.3 and 20. */
static pair_rows make_pairs(bool linear)
{
    pair_rows r;
    const xb_stream where = {.key = xb_key_make(8, XB_PURPOSE_TEST)};
    for (int64_t i = 0; i < N; i++) {
        double z[2] = {-2, -2};
        for (int64_t k = 0; k < 8; k++) z[k / 4] += xb_stream_uniform(&where, 16 * i + k);
        const double a = 2 * xb_stream_uniform(&where, 16 * i + 8) - 1;
        const double b = 2 * xb_stream_uniform(&where, 16 * i + 9) - 1;
        r.x[2 * i] = a, r.x[2 * i + 1] = b;
        r.y[2 * i] = 5 + 2 * a - b + 0.3 * sqrt(3) * z[0];
        r.y[2 * i + 1] = 100 * (linear ? b : a * b) + 20 * sqrt(3) * z[1];
    }
    return r;
}

static xb_train_data pair_data(const pair_rows *r)
{
    return (xb_train_data){.x = r->x, .y = r->y, .n = N, .features = FEATURES};
}

static xb_train_options pair_options(const char *net)
{
    xb_train_options opt = xb_train_options_default();
    opt.net = net;
    opt.targets = TARGETS;
    opt.batch = 40;
    opt.mle_epochs = opt.epochs = 20;
    opt.adam.rate = 1e-2;
    return opt;
}

static xb_model *train_pairs(xb_ctx *ctx, const pair_rows *r, const xb_train_options *opt)
{
    const xb_train_data data = pair_data(r);
    xb_model *model = NULL;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, opt));
    return model;
}

/* ---- columns */

static xb_status read_targets(xb_ctx *ctx, xb_frame **out, const char *text,
                              const char *target, xb_target_kind kind)
{
    scratch s = scratch_make();
    xb_frame_options opt = xb_frame_options_default();
    opt.target = target;
    opt.target_kind = kind;
    scratch_write(&s, "t.csv", text, strlen(text));
    xb_status status = xb_frame_read(ctx, out, scratch_path(&s, "t.csv"), &opt);
    scratch_remove(&s);
    return status;
}

static void columns_are_found(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_frame *f = NULL;
    const char *table = "a,b,c,d\n1,2,3,4\n5,6,7,8\n";
    assert_ok(ctx, read_targets(ctx, &f, table, "d,b", XB_TARGET_AUTO));
    assert_int_equal(xb_frame_target_count(f), 2);
    assert_string_equal(xb_frame_target_name(f), "d,b");
    assert_string_equal(xb_frame_target_name_at(f, 0), "d");
    assert_int_equal(xb_frame_feature_count(f), 2);
    assert_string_equal(xb_frame_feature_name(f, 1), "c");
    const double values[] = {1, 3, 5, 7}, targets[] = {4, 2, 8, 6};
    assert_memory_equal(xb_frame_values(f), values, sizeof values);
    assert_memory_equal(xb_frame_target(f), targets, sizeof targets);
    xb_frame_destroy(f);
    /* by number; one column whose name has a comma stays one */
    assert_ok(ctx, read_targets(ctx, &f, "1 2 3\n4 5 6\n", "3,1", XB_TARGET_NUMBER));
    assert_string_equal(xb_frame_target_name(f), "3,1");
    xb_frame_destroy(f);
    assert_ok(ctx, read_targets(ctx, &f, "a,\"b,c\",c\n1,2,3\n", "b,c", XB_TARGET_AUTO));
    assert_int_equal(xb_frame_target_count(f), 1);
    xb_frame_destroy(f);
    xb_ctx_destroy(ctx);
}

static void bad_targets_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_frame *f = NULL;
    static const struct {
        const char *target, *says;
        xb_target_kind kind;
    } bad[] = {{"b,b", "t.csv:1: target 'b' is listed twice", XB_TARGET_AUTO},
               {"b,2", "target '2' is listed twice", XB_TARGET_AUTO},
               {"b,z", "no column 'z'", XB_TARGET_AUTO},
               {"b,", "no column ''", XB_TARGET_AUTO},
               {"a,b,c", "there is no column besides the target", XB_TARGET_AUTO},
               {"a,b", "2 targets of classes", XB_TARGET_CLASS},
               {"a,c", "not a number: 'x' (column 'c')", XB_TARGET_AUTO}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(
            read_targets(ctx, &f, "a,b,c\n1,2,x\n4,5,6\n", bad[i].target, bad[i].kind),
            XB_OK);
        assert_null(f);
        if (!strstr(xb_ctx_message(ctx), bad[i].says))
            fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), bad[i].says);
    }
    xb_ctx_destroy(ctx);
}

static void nets_and_options_must_agree(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const pair_rows r = make_pairs(false);
    const xb_train_data data = pair_data(&r);
    xb_model *model = NULL;
    xb_train_options opt = pair_options("dense 4, relu, dense 1");
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "end it with 'dense 2'"));
    opt = pair_options("dense 4, relu, dense 2");
    opt.noise_net = "dense 1";
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "expected 2 outputs"));
    opt = pair_options(NULL);
    opt.targets = -1;
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &opt), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

/* ---- training */

static void gradients_are_those_of_f(void **state)
{
    (void)state;
    const pair_rows r = make_pairs(false);
    for (int noise_net = 0; noise_net < 2; noise_net++) {
        xb_ctx *ctx = test_ctx();
        xb_train_options opt = pair_options("dense 4, tanh, dense 2");
        if (noise_net) opt.noise_net = "dense 3, tanh, dense 2";
        opt.sigma = 0.2;
        const xb_train_data data = pair_data(&r);
        probe p = {.ctx = ctx, .rows = data, .rows_all = N * TARGETS};
        p.rows.n = 30;
        assert_ok(ctx, xb_trainer_create(ctx, &p.t, &data, &opt));
        while (xb_trainer_phase(p.t) < 2) assert_ok(ctx, xb_trainer_epoch(ctx, p.t));
        assert_ok(ctx, xb_trainer_step(ctx, p.t));
        float d_mu[64], d_sigma[64], d_noise[64];
        double f = 0;
        assert_ok(ctx,
                  xb_trainer_gradient(ctx, &f, d_mu, d_sigma, d_noise, p.t, &p.rows, 3));
        assert_int_equal(check_slopes(&p, "mu", d_mu), 22);
        assert_int_equal(check_slopes(&p, "sigma", d_sigma), 16);
        assert_int_equal(check_slopes(&p, "noise", d_noise), noise_net ? 17 : 2);
        xb_trainer_destroy(p.t);
        xb_ctx_destroy(ctx);
    }
}

/* Bayesian linear regression of one target, standardised: weights m and s by the
 * mean-field fixed point, the noise by its own condition (the mean of E residual^2). */
typedef struct linear_fit {
    double mean[FEATURES], sd[FEATURES], noise;
} linear_fit;

static linear_fit fit_linear(const double *x, const double *y, double prior_sd)
{
    double g[3] = {0}, c[2] = {0};
    for (int i = 0; i < N; i++) {
        const double a = x[2 * i], b = x[2 * i + 1];
        g[0] += a * a, g[1] += a * b, g[2] += b * b;
        c[0] += a * y[i], c[1] += b * y[i];
    }
    linear_fit f = {.noise = 1};
    for (int round = 0; round < 1000; round++) {
        const double s2 = f.noise * f.noise, p = 1 / (prior_sd * prior_sd);
        const double h0 = g[0] / s2 + p, h1 = g[1] / s2, h2 = g[2] / s2 + p;
        const double det = h0 * h2 - h1 * h1;
        f.mean[0] = (h2 * c[0] - h1 * c[1]) / s2 / det;
        f.mean[1] = (h0 * c[1] - h1 * c[0]) / s2 / det;
        f.sd[0] = 1 / sqrt(h0), f.sd[1] = 1 / sqrt(h2);
        double left = 0;
        for (int i = 0; i < N; i++) {
            const double a = x[2 * i], b = x[2 * i + 1];
            const double e = y[i] - f.mean[0] * a - f.mean[1] * b;
            left += e * e + a * a * f.sd[0] * f.sd[0] + b * b * f.sd[1] * f.sd[1];
        }
        f.noise = sqrt(left / N);
    }
    return f;
}

static void linear_net_is_its_closed_form(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const pair_rows r = make_pairs(true);
    xb_train_options opt = pair_options("dense 2 nobias");
    opt.batch = N;
    opt.prior.sd = 1;
    opt.prior_by_fan = false;
    opt.epochs = 2500;
    opt.draws = 4;
    xb_model *m = train_pairs(ctx, &r, &opt);
    const double *mean = xb_model_input_mean(m), *sd = xb_model_input_sd(m);
    const xb_weights w = xb_model_weights(m);
    double x[N * FEATURES], y[N];
    for (int i = 0; i < N * FEATURES; i++)
        x[i] = (r.x[i] - mean[i % FEATURES]) / sd[i % FEATURES];
    for (int k = 0; k < TARGETS; k++) {
        const xb_model_target t = xb_model_target_at(m, k);
        for (int i = 0; i < N; i++) y[i] = (r.y[TARGETS * i + k] - t.mean) / t.sd;
        const linear_fit f = fit_linear(x, y, 1);
        for (int j = 0; j < FEATURES; j++) {
            assert_close_floor((double)w.mu[j * TARGETS + k], f.mean[j], 0.01, 0.1);
            assert_close((double)w.sigma[j * TARGETS + k], f.sd[j], 0.03);
        }
        assert_close(t.noise_sd, t.sd * f.noise, 0.01);
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- files, predictions, scores */

static void files_keep_the_targets(void **state)
{
    (void)state;
    const pair_rows r = make_pairs(false);
    for (int noise_net = 0; noise_net < 2; noise_net++) {
        xb_ctx *ctx = test_ctx();
        xb_train_options opt = pair_options("dense 4, relu, dense 2");
        if (noise_net) opt.noise_net = "dense 3, relu, dense 2";
        opt.validation = 0.2;
        xb_model *m = train_pairs(ctx, &r, &opt), *back = NULL;
        scratch s = scratch_make();
        assert_ok(ctx, xb_model_save(ctx, m, scratch_path(&s, "m")));
        assert_ok(ctx, xb_model_load(ctx, &back, scratch_path(&s, "m")));
        assert_string_equal(xb_model_target_name(back), "3,4");
        assert_int_equal(xb_model_target_count(back), 2);
        for (int k = 0; k < TARGETS; k++) {
            const xb_model_target a = xb_model_target_at(m, k);
            const xb_model_target b = xb_model_target_at(back, k);
            assert_string_equal(a.name, b.name);
            assert_true(a.mean == b.mean && a.sd == b.sd);
            assert_true(noise_net ? isnan(b.noise_sd) : a.noise_sd == b.noise_sd);
        }
        assert_null(xb_model_target_at(back, TARGETS).name);
        xb_prediction *p = NULL, *q = NULL;
        assert_ok(ctx, xb_predict(ctx, &p, m, r.x, N, NULL));
        assert_ok(ctx, xb_predict(ctx, &q, back, r.x, N, NULL));
        assert_int_equal(xb_prediction_targets(q), 2);
        assert_memory_equal(xb_prediction_quantile(p), xb_prediction_quantile(q),
                            2 * TARGETS * N * sizeof(double));
        xb_prediction_destroy(p);
        xb_prediction_destroy(q);
        xb_model_destroy(m);
        xb_model_destroy(back);
        scratch_remove(&s);
        xb_ctx_destroy(ctx);
    }
}

enum { DRAWS = 300 };

/* Log density of y under draw d, by the formula alone. */
static double log_normal(double y, double mean, double sd)
{
    const double e = (y - mean) / sd;
    return -0.5 * e * e - log(sd) - 0.5 * log(2 * M_PI);
}

static void scores_are_those_of_the_draws(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const pair_rows r = make_pairs(false);
    xb_train_options opt = pair_options("dense 4, relu, dense 2");
    opt.noise_net = "dense 3, relu, dense 2";
    opt.sigma = 0.3; /* wide: the targets depend on each other through the weights */
    opt.sigma_rate = 0;
    xb_model *m = train_pairs(ctx, &r, &opt);
    xb_predict_options few = xb_predict_options_default();
    few.draws = DRAWS;
    double *value = malloc(sizeof(double) * DRAWS * N * TARGETS), sd[N * TARGETS];
    assert_ok(ctx, xb_predict_draws(ctx, value, sd, m, r.x, N, 0, DRAWS, &few));
    xb_prediction *p = NULL;
    assert_ok(ctx, xb_predict(ctx, &p, m, r.x, N, &few));
    const xb_rows rows = {.x = r.x, .n = N, .features = FEATURES};
    xb_scores *s = NULL;
    assert_ok(ctx, xb_score_model(ctx, &s, m, &rows, r.y, &few));
    assert_int_equal(xb_scores_target_count(s), TARGETS);
    assert_string_equal(xb_scores_target_name(s, 1), "4");
    double joint = 0, alone[TARGETS] = {0}, square[TARGETS] = {0};
    for (int i = 0; i < N; i++) {
        double all = 0, one[TARGETS] = {0}, mean[TARGETS] = {0};
        for (int d = 0; d < DRAWS; d++) {
            double sum = 0;
            for (int k = 0; k < TARGETS; k++) {
                const int at = i * TARGETS + k;
                const double v = value[d * N * TARGETS + at];
                const double l = log_normal(r.y[at], v, sd[at]);
                sum += l;
                one[k] += exp(l) / DRAWS;
                mean[k] += v / DRAWS;
            }
            all += exp(sum) / DRAWS;
        }
        joint -= log(all) / N;
        for (int k = 0; k < TARGETS; k++) {
            alone[k] -= log(one[k]) / N;
            square[k] += pow(mean[k] - r.y[i * TARGETS + k], 2) / N;
            assert_close(xb_prediction_mean(p)[i * TARGETS + k], mean[k], 1e-12);
        }
    }
    assert_close(xb_scores_get(s, "nll").value, joint, 1e-10);
    assert_true(fabs(joint - alone[0] - alone[1]) > 1e-3); /* they do depend */
    double coverage = 0;
    for (int k = 0; k < TARGETS; k++) {
        const xb_scores *one = xb_scores_target_at(s, k);
        assert_close(xb_scores_get(one, "nll").value, alone[k], 1e-10);
        assert_close(xb_scores_get(one, "rmse").value, sqrt(square[k]), 1e-10);
        coverage += xb_scores_get(one, "coverage").value / TARGETS;
    }
    assert_close(xb_scores_get(s, "coverage").value, coverage, 1e-14);
    assert_true(isfinite(xb_scores_get(s, "nll").mc_error));
    assert_true(isnan(xb_scores_get(s, "rmse").value));
    xb_scores_destroy(s);
    xb_prediction_destroy(p);
    free(value);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Two laws, the rows of which are compared output by output. */
/* Constant noise is the same in every row, members or not; (P7) of members it is the root
 * of their mean square. */
static void members_have_the_noise_of_each_target(void **state)
{
    (void)state;
    enum { MEMBERS = 3 };
    xb_ctx *ctx = test_ctx();
    const pair_rows r = make_pairs(false);
    xb_train_options opt = pair_options("dense 4, relu, dense 2");
    opt.members = MEMBERS;
    xb_model *m = train_pairs(ctx, &r, &opt);
    double square[TARGETS] = {0};
    xb_prediction *p = NULL;
    for (int64_t i = 0; i < MEMBERS; i++) {
        assert_ok(ctx, xb_predict(ctx, &p, xb_model_member_at(m, i), r.x, 1, NULL));
        for (int k = 0; k < TARGETS; k++)
            square[k] += pow(xb_prediction_aleatoric(p)[k], 2) / MEMBERS;
        xb_prediction_destroy(p);
    }
    assert_true(square[1] > 100 * square[0]); /* 20 and 0.3 were put in */
    assert_ok(ctx, xb_predict(ctx, &p, m, r.x, N, NULL));
    for (int i = 0; i < N * TARGETS; i++)
        assert_close(xb_prediction_aleatoric(p)[i], sqrt(square[i % TARGETS]), 1e-12);
    xb_prediction_destroy(p);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void laws_are_compared(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const pair_rows r = make_pairs(false);
    const xb_train_options opt = pair_options("dense 4, relu, dense 2");
    xb_model *m = train_pairs(ctx, &r, &opt);
    const xb_rows rows = {.x = r.x, .n = N, .features = FEATURES};
    xb_law *mtj = NULL;
    assert_ok(ctx, xb_law_parse(ctx, &mtj, "mtj"));
    const xb_law *laws[] = {NULL, mtj};
    xb_evaluation *e = NULL;
    assert_ok(ctx, xb_evaluate(ctx, &e, m, &rows, r.y, laws, 2, NULL));
    assert_int_equal(xb_distances_points(xb_evaluation_outputs(e, 1)),
                     xb_evaluation_compared_rows(e) * TARGETS);
    const xb_score nll = xb_evaluation_nll_difference(e, 1);
    assert_close_floor(nll.value,
                       xb_scores_get(xb_evaluation_scores(e, 1), "nll").value -
                           xb_scores_get(xb_evaluation_scores(e, 0), "nll").value,
                       1e-6, 1e-6);
    xb_score_gaps *g = NULL; /* the same scores against each other, as of two models */
    assert_ok(ctx, xb_score_gaps_create(ctx, &g, xb_evaluation_scores(e, 1),
                                        xb_evaluation_scores(e, 0)));
    assert_int_equal(xb_score_gaps_count(g), 1);
    assert_string_equal(xb_score_gaps_name(g, 0), "nll");
    assert_close_floor(xb_score_gaps_difference(g, 0).value, nll.value, 1e-9, 1e-6);
    assert_null(xb_score_gaps_name(g, 1));
    xb_score_gaps_destroy(g);
    xb_evaluation_destroy(e);
    xb_law_destroy(mtj);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found),
        cmocka_unit_test(bad_targets_are_refused),
        cmocka_unit_test(nets_and_options_must_agree),
        cmocka_unit_test(gradients_are_those_of_f),
        cmocka_unit_test(linear_net_is_its_closed_form),
        cmocka_unit_test(files_keep_the_targets),
        cmocka_unit_test(scores_are_those_of_the_draws),
        cmocka_unit_test(members_have_the_noise_of_each_target),
        cmocka_unit_test(laws_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
