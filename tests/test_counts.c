/* Counts from end to end (the laws alone: test_count_masses.c): gradients against
 * differences, training of Poisson and negative binomial tables, intervals that stay at 0
 * or above, files, ensembles, several targets, arrays, and what is refused. */
#include "noisetables.h"
#include "slopetest.h"

#include "base/count_mass.h"

typedef enum count_kind { PLAIN, SPREAD } count_kind;

static table train_rows, test_rows;

/* A count of that rate, by its cdf. */
static double count_of(double rate, double size, double u)
{
    double k = 0, sum = exp(xb_count_log_mass(0, rate, size));
    for (; sum < u && k < 1e5; k += 1) sum += exp(xb_count_log_mass(k + 1, rate, size));
    return k;
}

/* Rates from 0.6 to 30, of mean 4. */
static void make_counts(table *t, count_kind which, int64_t first, int64_t n)
{
    const xb_stream noise = {.key = xb_key_make(5, XB_PURPOSE_TEST), .tensor = 2};
    make(t, CONSTANT, first, n, 5);
    for (int64_t i = 0; i < n; i++) {
        const double *x = t->x + i * COLUMNS;
        const double log_rate = 0.8 + sin(3 * x[0]) + 0.8 * x[1] * x[1] + 0.5 * x[2];
        t->y[i] = count_of(exp(log_rate), which == PLAIN ? INFINITY : 2,
                           xb_stream_uniform(&noise, first + i));
    }
}

static xb_train_options options(void)
{
    xb_train_options o = xb_train_options_default();
    o.net = "dense 20, relu, dense 1";
    o.adam.rate = 1e-2;
    o.mle_epochs = 60;
    o.epochs = 150;
    return o;
}

static xb_model *train(xb_ctx *ctx, xb_likelihood likelihood, int64_t members)
{
    xb_train_options o = options();
    xb_model *model = NULL;
    const xb_train_data data = data_of(&train_rows);
    o.likelihood = likelihood;
    o.members = members;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    return model;
}

/* (V40, V41) Both phases, weights, widths and dispersion. */
static void gradients_are_differences(void **state)
{
    (void)state;
    static const xb_likelihood kinds[] = {XB_LIKELIHOOD_POISSON,
                                          XB_LIKELIHOOD_NEGATIVE_BINOMIAL};
    const float h = 2e-3f; /* rates are exponentials: they bend */
    xb_ctx *ctx = test_ctx();
    make_counts(&train_rows, SPREAD, 0, 60);
    for (int k = 0; k < 2; k++)
        for (int backend = 0; backend < xb_backend_count(); backend++) {
            xb_train_options o = options();
            const xb_train_data data = data_of(&train_rows);
            xb_trainer *t = NULL;
            double f = 0;
            o.net = "dense 3, tanh, dense 1";
            o.likelihood = kinds[k];
            o.mle_epochs = 2, o.epochs = 2, o.sigma = 0.1, o.batch = 60;
            o.backend = xb_backend_name(backend);
            if (strcmp(o.backend, "cuda") == 0) continue; /* refuses: see below */
            assert_ok(ctx, xb_trainer_create(ctx, &t, &data, &o));
            while (xb_trainer_phase(t) == 1) assert_ok(ctx, xb_trainer_epoch(ctx, t));
            const int64_t mu = xb_trainer_array_size(t, xb_trainer_array_find(t, "mu"));
            float *d = malloc(3 * (size_t)mu * sizeof *d);
            const probe p = {ctx, t, data, 60};
            assert_ok(ctx,
                      xb_trainer_gradient(ctx, &f, d, d + mu, d + 2 * mu, t, &data, 3));
            assert_true(check_slopes_by(&p, "mu", d, h) > 10);
            assert_true(check_slopes_by(&p, "sigma", d + mu, h) > 10);
            if (kinds[k] == XB_LIKELIHOOD_NEGATIVE_BINOMIAL)
                assert_int_equal(check_slopes_by(&p, "noise", d + 2 * mu, h), 1);
            free(d);
            xb_trainer_destroy(t);
        }
    xb_ctx_destroy(ctx);
}

/* Each is better on its own table, or as good; the dispersion is found. */
static void each_table_has_its_law(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    xb_ctx *ctx = test_ctx();
    static double nll[2][TEST_ROWS];
    for (int which = PLAIN; which <= SPREAD; which++) {
        make_counts(&train_rows, (count_kind)which, 0, 600);
        make_counts(&test_rows, (count_kind)which, MOST, TEST_ROWS);
        xb_model *poisson = train(ctx, XB_LIKELIHOOD_POISSON, 1);
        xb_model *spread = train(ctx, XB_LIKELIHOOD_NEGATIVE_BINOMIAL, 1);
        test_nll(ctx, nll[0], poisson, &test_rows);
        test_nll(ctx, nll[1], spread, &test_rows);
        const loss l = loss_of(nll[1], nll[0]);
        const double dispersion = xb_model_dispersion(spread, 0);
        print_message("negative binomial less Poisson: %+.4f +- %.4f, dispersion %.3f\n",
                      l.mean, l.error, dispersion);
        assert_true(xb_model_dispersion(poisson, 0) == 0);
        assert_true(isnan(xb_model_noise_sd(poisson)));
        if (which == PLAIN) assert_true(l.mean < 3 * l.error + 0.02 && dispersion < 0.1);
        if (which == SPREAD) assert_true(l.mean < -0.1);
        if (which == SPREAD) assert_true(dispersion > 0.4 && dispersion < 0.8);
        xb_model_destroy(poisson);
        xb_model_destroy(spread);
    }
    xb_ctx_destroy(ctx);
}

/* Left open, counts are noticed and no interval goes below 0; a Gaussian's do. */
static void counts_are_chosen(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    xb_ctx *ctx = test_ctx();
    make_counts(&train_rows, SPREAD, 0, 300);
    make_counts(&test_rows, SPREAD, MOST, TEST_ROWS);
    xb_train_options o = options();
    xb_train_report *report = NULL;
    xb_model *model = NULL;
    xb_prediction *p = NULL;
    const xb_train_data data = data_of(&train_rows);
    o.choose_likelihood = true;
    assert_ok(ctx, xb_train(ctx, &model, &report, &data, &o));
    print_message("%s\n", xb_train_report_likelihood_reason(report));
    assert_int_equal(xb_model_likelihood(model), XB_LIKELIHOOD_NEGATIVE_BINOMIAL);
    assert_int_equal(xb_train_report_likelihood_count(report), 5);
    const double gaussian =
        xb_train_report_likelihood_f(report,
                                     xb_train_report_likelihood_find(report, "gaussian"))
            .value;
    assert_true(gaussian > xb_train_report_f(report).value + 50);
    assert_ok(ctx, xb_predict(ctx, &p, model, test_rows.x, TEST_ROWS, NULL));
    for (int i = 0; i < TEST_ROWS; i++) {
        const double *q = xb_prediction_quantile(p) + 2 * i;
        const double epistemic = xb_prediction_epistemic(p)[i];
        assert_true(q[0] >= 0 && q[0] == floor(q[0]) && q[1] == floor(q[1]));
        assert_close(pow(xb_prediction_sd(p)[i], 2),
                     epistemic * epistemic + pow(xb_prediction_aleatoric(p)[i], 2),
                     1e-12);
        assert_true(pow(xb_prediction_aleatoric(p)[i], 2) >
                    xb_prediction_mean(p)[i]); /* more than Poisson's */
    }
    xb_prediction_destroy(p);
    xb_train_report_destroy(report);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* Nets that are given may be long; of few rows counts are not tried. */
static void long_nets_and_few_rows(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int k = 0; k < 2; k++) {
        xb_train_options o = options();
        xb_train_report *report = NULL;
        xb_model *model = NULL;
        make_counts(&train_rows, SPREAD, 0, k ? 49 : 60);
        const xb_train_data data = data_of(&train_rows);
        o.net = "dense 6, relu, dense 6, relu, dense 6, relu, dense 6, relu, dense 1";
        o.choose_likelihood = true;
        o.mle_epochs = o.epochs = 3;
        assert_ok(ctx, xb_train(ctx, &model, &report, &data, &o));
        assert_int_equal(xb_train_report_likelihood_count(report), k ? 3 : 5);
        assert_string_equal(xb_model_net_text(model), o.net);
        xb_train_report_destroy(report);
        xb_model_destroy(model);
    }
    xb_ctx_destroy(ctx);
}

/* (V18) A deeper net of counts is compared under their law, and its own law of counts is
 * chosen and reported; with so few epochs it wins on the rows held out. */
static void a_deeper_net_is_of_counts_too(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_train_report *report = NULL;
    xb_model *model = NULL;
    make_counts(&train_rows, SPREAD, 0, 300);
    const xb_train_data data = data_of(&train_rows);
    o.net = NULL;
    o.members = 1;
    o.adam.rate = 1e-3;
    o.validation = 0.2;
    o.mle_epochs = o.epochs = 6;
    assert_ok(ctx, xb_train(ctx, &model, &report, &data, &o));
    print_message("%s: %s\n", xb_model_net_text(model),
                  xb_train_report_likelihood_reason(report));
    assert_string_equal(xb_model_net_text(model),
                        "dense 50, relu, dense 50, relu, dense 1");
    assert_true(xb_model_of_counts(model));
    assert_int_equal(xb_train_report_likelihood_count(report), 2);
    assert_true(xb_train_report_likelihood_find(report, "poisson") >= 0);
    assert_true(xb_train_report_likelihood_find(report, "negative-binomial") >= 0);
    xb_train_report_destroy(report);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* Whole numbers that vary less than counts must are not tried as such. */
static void ratings_are_no_counts(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_train_report *report = NULL;
    xb_model *model = NULL;
    make(&train_rows, WHOLE, 0, 300, 1);
    const xb_train_data data = data_of(&train_rows);
    o.choose_likelihood = true;
    o.mle_epochs = o.epochs = 10;
    assert_ok(ctx, xb_train(ctx, &model, &report, &data, &o));
    assert_int_equal(xb_train_report_likelihood_count(report), 3);
    xb_train_report_destroy(report);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* A file has it all, of an ensemble too; scores and predictions are the same bytes. */
static void files_and_members(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch folder = scratch_make();
    make_counts(&train_rows, SPREAD, 0, 200);
    make_counts(&test_rows, SPREAD, MOST, TEST_ROWS);
    static double nll[2][TEST_ROWS];
    xb_model *model = train(ctx, XB_LIKELIHOOD_NEGATIVE_BINOMIAL, 2), *again = NULL;
    const char *path = scratch_path(&folder, "counts.safetensors");
    assert_ok(ctx, xb_model_save(ctx, model, path));
    assert_ok(ctx, xb_model_load(ctx, &again, path));
    assert_int_equal(xb_model_member_count(again), 2);
    assert_true(xb_model_of_counts(again));
    assert_true(xb_model_dispersion(again, 0) == xb_model_dispersion(model, 0));
    test_nll(ctx, nll[0], model, &test_rows);
    test_nll(ctx, nll[1], again, &test_rows);
    assert_memory_equal(nll[0], nll[1], sizeof nll[0]);
    double value[20], sd[2];
    const xb_model *one = xb_model_member_at(again, 1);
    assert_ok(ctx, xb_predict_draws(ctx, value, sd, one, test_rows.x, 2, 0, 10, NULL));
    double mean = 0; /* of the variances of its draws */
    for (int d = 0; d < 10; d++)
        mean +=
            (value[2 * d] + xb_model_dispersion(one, 0) * value[2 * d] * value[2 * d]) /
            10;
    assert_close(sd[0] * sd[0], mean, 1e-12);
    xb_model_destroy(model);
    xb_model_destroy(again);
    scratch_remove(&folder);
    xb_ctx_destroy(ctx);
}

/* Two counts by one net: each its own dispersion, and a joint mass. */
static void two_counts_by_one_net(void **state)
{
    (void)state;
    enum { N = 120 };
    static double y[2 * N];
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_model *model = NULL;
    xb_scores *s = NULL;
    make_counts(&train_rows, SPREAD, 0, N);
    for (int i = 0; i < N; i++)
        y[2 * i] = train_rows.y[i], y[2 * i + 1] = train_rows.y[(i + 7) % N] + 3;
    const xb_train_data data = {.x = train_rows.x, .y = y, .n = N, .features = COLUMNS};
    o.net = "dense 5, relu, dense 2";
    o.likelihood = XB_LIKELIHOOD_NEGATIVE_BINOMIAL;
    o.targets = 2, o.mle_epochs = 20, o.epochs = 40;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    assert_true(xb_model_dispersion(model, 0) != xb_model_dispersion(model, 1));
    xb_predict_options p = xb_predict_options_default();
    p.draws = 50;
    const xb_rows rows = {.x = train_rows.x, .n = N, .features = COLUMNS};
    assert_ok(ctx, xb_score_model(ctx, &s, model, &rows, y, &p));
    double sum = 0;
    for (int k = 0; k < 2; k++)
        sum += xb_scores_get(xb_scores_target_at(s, k), "nll").value;
    assert_close(xb_scores_get(s, "nll").value, sum, 0.05); /* nearly independent */
    xb_scores_destroy(s);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

static void what_is_no_count_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_model *model = NULL;
    xb_scores *s = NULL;
    make_counts(&train_rows, PLAIN, 0, 50);
    const xb_train_data data = data_of(&train_rows);
    o.likelihood = XB_LIKELIHOOD_POISSON;
    o.mle_epochs = o.epochs = 2;
    static const double bad[] = {-1, 2.5, 2e7};
    for (int i = 0; i < 3; i++) {
        const double kept = train_rows.y[7];
        train_rows.y[7] = bad[i];
        assert_int_equal(xb_train(ctx, &model, NULL, &data, &o), XB_E_INPUT);
        assert_non_null(strstr(xb_ctx_message(ctx), "row 8: target"));
        train_rows.y[7] = kept;
    }
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    const xb_rows rows = {.x = train_rows.x, .n = 50, .features = COLUMNS};
    train_rows.y[3] = 0.5;
    assert_int_equal(xb_score_model(ctx, &s, model, &rows, train_rows.y, NULL),
                     XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "whole number"));
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* Arrays and other laws take rates as they take numbers. */
static void arrays_and_laws(void **state)
{
    (void)state;
    enum { N = 40 };
    xb_ctx *ctx = test_ctx();
    make_counts(&train_rows, SPREAD, 0, 200);
    xb_model *model = train(ctx, XB_LIKELIHOOD_NEGATIVE_BINOMIAL, 1);
    xb_array *array = NULL;
    xb_assay *assay = NULL;
    xb_assay_result *result = NULL;
    xb_assay_options o = xb_assay_options_default();
    o.reads = 100;
    assert_ok(ctx, xb_array_preset(ctx, &array, "ideal"));
    assert_ok(ctx,
              xb_assay_create(ctx, &assay, model, train_rows.x, train_rows.y, N, &o));
    assert_ok(ctx, xb_assay_run(ctx, &result, assay, array));
    assert_close_floor(
        xb_scores_get(xb_assay_result_scores(result), "nll").value,
        xb_scores_get(xb_assay_result_scores(xb_assay_digital(assay)), "nll").value, 0.05,
        1);
    xb_evaluation *e = NULL;
    xb_law *law = NULL;
    const xb_law *laws[] = {NULL, NULL};
    assert_ok(ctx, xb_law_parse(ctx, &law, "bimodal:m=0.9"));
    laws[1] = law;
    const xb_rows rows = {.x = train_rows.x, .n = N, .features = COLUMNS};
    xb_evaluate_options eo = xb_evaluate_options_default();
    eo.draws = 200;
    assert_ok(ctx, xb_evaluate(ctx, &e, model, &rows, train_rows.y, laws, 2, &eo));
    assert_true(isfinite(xb_evaluation_nll_difference(e, 1).value));
    assert_non_null(xb_evaluation_predictive(e, 1));
    xb_evaluation_destroy(e);
    xb_law_destroy(law);
    xb_assay_result_destroy(result);
    xb_assay_destroy(assay);
    xb_array_destroy(array);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(each_table_has_its_law),
        cmocka_unit_test(counts_are_chosen),
        cmocka_unit_test(a_deeper_net_is_of_counts_too),
        cmocka_unit_test(ratings_are_no_counts),
        cmocka_unit_test(long_nets_and_few_rows),
        cmocka_unit_test(files_and_members),
        cmocka_unit_test(two_counts_by_one_net),
        cmocka_unit_test(what_is_no_count_is_refused),
        cmocka_unit_test(arrays_and_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
