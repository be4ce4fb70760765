/* test_fit.c: from samples to a law: the choice of a family and its verdict, the law
 * file, bad input and odd samples, measured traces. The parts are in test_fit_maximum.c,
 * test_goodness.c and test_autocorrelation.c. */
#include "fittest.h"

#include <jansson.h>

#include "base/ctx.h"
#include "fit/fit_results.h"

static void choice_is_honest(void **state)
{
    (void)state;
    enum { N = 20000 };
    xb_ctx *ctx = test_ctx();
    static const char *const laws[] = {"gaussian", "mtj", "ecram", "bimodal"};
    for (int l = 0; l < XB_COUNT(laws); l++) {
        double *x = draw(ctx, laws[l], N, 77, 1, 2);
        xb_fit *fit = run(ctx, x, N, NULL);
        assert_int_equal(xb_fit_family_count(fit), xb_law_family_count());
        assert_string_equal(xb_law_family(xb_fit_law(fit)), laws[l]);
        assert_non_null(strstr(xb_fit_verdict(fit), "fits"));
        xb_fit_destroy(fit);
        free(x);
    }
    double *x = draw(ctx, "gaussian", N, 78, 0, 1);
    for (int i = 0; i < N; i++) /* exponential: skewed, and ends at once */
        x[i] = -log(0.5 * erfc(-x[i] * M_SQRT1_2));
    xb_fit *fit = run(ctx, x, N, NULL);
    assert_string_equal(xb_law_family(xb_fit_law(fit)), "empirical");
    assert_non_null(strstr(xb_fit_verdict(fit), "No parametric family fits"));
    assert_non_null(strstr(xb_fit_verdict(fit), "skewed"));
    xb_fit_destroy(fit);
    for (int i = 0; i < N; i++) x[i] = (i % 5 < 2) + 0.05 * x[i]; /* twice the same */
    fit = run(ctx, x, N, NULL);
    assert_string_equal(xb_law_family(xb_fit_law(fit)), "empirical");
    assert_non_null(strstr(xb_fit_verdict(fit), "2 separate peaks"));
    xb_fit_destroy(fit);
    free(x);
    xb_ctx_destroy(ctx);
}

/* What a fit's verdict must and must not say, and whether the chosen family fits. */
static const struct {
    const char *says, *never;
    bool fits;
} outcomes[] = {
    [XB_FIT_FITS] = {" fits", "empirical law", true},
    [XB_FIT_EMPIRICAL] = {"using the empirical law instead", "does not either", true},
    [XB_FIT_NOTHING] = {"the empirical law does not either", "instead", false},
    [XB_FIT_REFUSED] = {"', does not fit: ", "best by", false},
    [XB_FIT_DIVERGED] = {"did not converge", " fits", false},
    [XB_FIT_UNTESTED] = {"too few to test any law", " fits", false},
};

/* The outcome, the words, the chosen family and the file are of one opinion. */
static void check_outcome(xb_ctx *ctx, const xb_fit *fit)
{
    xb_fit_outcome outcome = xb_fit_outcome_of(fit);
    const xb_fit_family *f = xb_fit_family_at(fit, xb_fit_chosen(fit));
    const char *verdict = xb_fit_verdict(fit);
    assert_non_null(strstr(verdict, outcomes[outcome].says));
    assert_null(strstr(verdict, outcomes[outcome].never));
    if (outcome != XB_FIT_DIVERGED) assert_int_equal(f->fits, outcomes[outcome].fits);
    char *text = NULL;
    assert_ok(ctx, xb_fit_json(ctx, &text, fit));
    json_t *root = json_loads(text, 0, NULL), *file = json_object_get(root, "fit");
    assert_string_equal(json_string_value(json_object_get(file, "outcome")),
                        xb_fit_outcome_name(outcome));
    assert_string_equal(json_string_value(json_object_get(file, "verdict")), verdict);
    json_t *family =
        json_array_get(json_object_get(file, "families"), (size_t)xb_fit_chosen(fit));
    assert_int_equal(json_is_true(json_object_get(family, "fits")), f->fits);
    json_decref(root);
    free(text);
}

/* Gaussian noise that forgets in 500 samples: 3000 are worth about ten, and no law can be
 * tested, not even one that is asked for; or it is far enough off to be refused all the
 * same. Whatever comes out, words and file agree. */
static void outcome_words_and_file_agree(void **state)
{
    (void)state;
    enum { N = 3000, TRACES = SANITIZED ? 5 : 40 };
    xb_ctx *ctx = test_ctx();
    int seen[XB_COUNT(outcomes)] = {0};
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        double *x = draw(ctx, "gaussian", N, 500 + seed, 0, 0.1);
        for (int i = 1; i < N; i++) x[i] += 0.998 * x[i - 1];
        xb_fit *fit = run(ctx, x, N, NULL);
        check_outcome(ctx, fit);
        seen[xb_fit_outcome_of(fit)]++;
        xb_fit_destroy(fit);
        fit = run(ctx, x, N, "empirical");
        check_outcome(ctx, fit);
        seen[xb_fit_outcome_of(fit)]++;
        xb_fit_destroy(fit);
        free(x);
    }
    print_message("fits %d, cannot be tested %d, no family %d, as asked not %d\n",
                  seen[XB_FIT_FITS], seen[XB_FIT_UNTESTED], seen[XB_FIT_EMPIRICAL],
                  seen[XB_FIT_REFUSED]);
    assert_int_equal(seen[XB_FIT_FITS], 0);
    assert_true(seen[XB_FIT_UNTESTED] > TRACES);
    xb_ctx_destroy(ctx);
}

/* Three levels, each held for long: too few independent values for a test, so no family
 * is believed. */
static void a_drift_is_not_believed(void **state)
{
    (void)state;
    enum { N = 20000 };
    xb_ctx *ctx = test_ctx();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        double *x = draw(ctx, "gaussian", N, seed, 0, 0.02);
        for (int i = 0; i < N; i++) x[i] += i < N / 5 ? 0 : i < N / 2 ? 1 : 3;
        xb_fit *fit = run(ctx, x, N, NULL);
        assert_string_equal(xb_law_family(xb_fit_law(fit)), "empirical");
        assert_non_null(strstr(xb_fit_verdict(fit), "too few to test any law"));
        assert_non_null(strstr(xb_fit_verdict(fit), "3 separate peaks"));
        xb_fit_destroy(fit);
        free(x);
    }
    xb_ctx_destroy(ctx);
}

/* One more parameter must be worth 2 of AIC but log n of BIC: 150 samples of a device
 * that is not far from Gaussian. */
static void criteria_differ(void **state)
{
    (void)state;
    enum { N = 150 };
    static const char *const expected[] = {"bimodal", "gaussian"};
    xb_ctx *ctx = test_ctx();
    xb_fit_options opt = xb_fit_options_default();
    double *x = draw(ctx, "bimodal:m=0.75", N, 3, 0, 1);
    for (int c = 0; c < 2; c++) {
        opt.criterion = c ? XB_CRITERION_BIC : XB_CRITERION_AIC;
        xb_fit *fit = NULL;
        assert_ok(ctx, xb_fit_run(ctx, &fit, x, N, &opt));
        assert_string_equal(xb_law_family(xb_fit_law(fit)), expected[c]);
        assert_non_null(strstr(xb_fit_verdict(fit), c ? "by BIC" : "by AIC"));
        xb_fit_destroy(fit);
    }
    free(x);
    xb_ctx_destroy(ctx);
}

static void law_file_comes_back(void **state)
{
    (void)state;
    enum { N = 4000 };
    static const char *const families[] = {"gaussian",     "mtj",     "ecram",
                                           "bimodal",      "laplace", "student",
                                           "sinh-arcsinh", "levels",  "empirical"};
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_origin(ctx, "test \"fit\"\n");
    double *x = draw(ctx, "mtj", N, 12, 1e-5, 1e-6);
    char path[] = "/tmp/xb-fit-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < XB_COUNT(families); i++) {
        xb_fit_options opt = xb_fit_options_default();
        opt.family = families[i];
        opt.unit = "S";
        opt.source = "noise.csv";
        opt.seed = 18446744073709551615u;
        xb_fit *fit = NULL;
        assert_ok(ctx, xb_fit_run(ctx, &fit, x, N, &opt));
        assert_ok(ctx, xb_fit_save(ctx, fit, path));
        xb_law *law = NULL;
        assert_ok(ctx, xb_law_load(ctx, &law, path));
        assert_string_equal(xb_law_family(law), families[i]);
        assert_string_equal(xb_law_placement(law).unit, "S");
        for (double u = 0.1; u < 1; u += 0.1)
            assert_close_floor(xb_law_quantile(law, u),
                               xb_law_quantile(xb_fit_law(fit), u), 1e-12, 1);
        xb_law_destroy(law);
        char *text = NULL;
        assert_ok(ctx, xb_fit_json(ctx, &text, fit));
        json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(root);
        const json_t *f = json_object_get(root, "fit");
        assert_int_equal(json_integer_value(json_object_get(f, "n")), N);
        assert_true(json_is_object(json_object_get(f, "std_error")));
        assert_string_equal(json_string_value(json_object_get(f, "chosen_by")), "user");
        assert_close(json_number_value(json_object_get(f, "physical_mean")), 1e-5, 0.02);
        assert_int_equal(json_array_size(json_object_get(f, "families")), 1);
        const json_t *p = json_object_get(root, "provenance");
        assert_string_equal(json_string_value(json_object_get(p, "source")), "noise.csv");
        assert_int_equal(strlen(json_string_value(json_object_get(p, "checksum"))), 16);
        assert_string_equal(json_string_value(json_object_get(p, "seed")),
                            "18446744073709551615");
        if (i == 1)
            for (const char *const *k = (const char *const[]){"A", "B", "C", "w", NULL};
                 *k; k++)
                assert_true(json_is_number(json_object_get(root, *k)));
        json_decref(root);
        free(text);
        xb_fit_destroy(fit);
    }
    unlink(path);
    free(x);
    xb_ctx_destroy(ctx);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    enum { N = 30000 };
    xb_ctx *ctx = test_ctx();
    double *x = draw(ctx, "ecram", N, 12, 0, 1);
    char *text[3];
    for (int i = 0; i < 3; i++) {
        xb_ctx_set_threads(ctx, 1 + 2 * i);
        xb_fit *fit = run(ctx, x, N, NULL);
        assert_ok(ctx, xb_fit_json(ctx, &text[i], fit));
        xb_fit_destroy(fit);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_equal(text[0], text[2]);
    for (int i = 0; i < 3; i++) free(text[i]);
    free(x);
    xb_ctx_destroy(ctx);
}

static void expect(xb_ctx *ctx, const double *x, int64_t n, const xb_fit_options *opt,
                   const char *message)
{
    xb_fit *fit = NULL;
    assert_int_equal(xb_fit_run(ctx, &fit, x, n, opt), XB_E_INPUT);
    assert_null(fit);
    if (!strstr(xb_ctx_message(ctx), message))
        fail_msg("'%s', expected '%s'", xb_ctx_message(ctx), message);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double x[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, same[10] = {0};
    xb_fit_options opt = xb_fit_options_default();
    expect(ctx, x, 3, &opt, "3 samples: at least 8 are needed");
    expect(ctx, x, 0, &opt, "0 samples: at least 8 are needed");
    expect(ctx, same, 10, &opt, "all 10 samples are 0");
    opt.family = "cauchy";
    expect(ctx, x, 10, &opt,
           "expected one of gaussian, mtj, ecram, bimodal, laplace, student,"
           " sinh-arcsinh, levels, empirical");
    opt = xb_fit_options_default();
    opt.fixed_scale = 2;
    expect(ctx, x, 10, &opt, "the half-width 2 given is too small");
    opt.fixed_scale = -1;
    expect(ctx, x, 10, &opt, "scale -1");
    opt = xb_fit_options_default();
    opt.level = 1.5;
    expect(ctx, x, 10, &opt, "level 1.5");
    opt = xb_fit_options_default();
    opt.has_fixed_offset = true, opt.fixed_offset = NAN;
    expect(ctx, x, 10, &opt, "offset nan");
    opt = xb_fit_options_default();
    opt.optimiser = XB_OPTIMISER_ADAM, opt.adam_rate = 0;
    expect(ctx, x, 10, &opt, "rate 0");
    opt = xb_fit_options_default();
    opt.unit = "a unit that is much too long to be a unit of anything";
    expect(ctx, x, 10, &opt, "too long");
    opt.unit = "S\n"; /* no law file could be read with it */
    expect(ctx, x, 10, &opt, "not printable");
    x[7] = INFINITY;
    opt = xb_fit_options_default();
    expect(ctx, x, 10, &opt, "sample 8 is inf");
    xb_fit_destroy(NULL);
    xb_ctx_destroy(ctx);
}

static void any_sample_gets_an_answer(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const int64_t sizes[] = {8, 2000};
    for (int j = 0; j < XB_COUNT(sizes); j++)
        for (int kind = 0; kind < 6; kind++) {
            double *x = draw(ctx, "gaussian", sizes[j], 3 + (uint64_t)j, 0, 1);
            for (int64_t i = 0; i < sizes[j]; i++) {
                double u = 0.5 * erfc(-x[i] * M_SQRT1_2);
                x[i] = kind == 0   ? x[i] + 1e9
                       : kind == 1 ? tan(M_PI * (u - 0.5))
                       : kind == 2 ? -log(u)
                       : kind == 3 ? (i % 3 == 0 ? -1 : 2)
                       : kind == 4 ? floor(4 * x[i])
                                   : ldexp(x[i], -900);
            }
            xb_fit *fit = run(ctx, x, sizes[j], NULL);
            assert_true(strlen(xb_fit_verdict(fit)) > 20);
            assert_true(isfinite(xb_law_entropy(xb_fit_law(fit))));
            for (int i = 0; i < xb_fit_family_count(fit); i++) {
                const xb_fit_family *f = xb_fit_family_at(fit, i);
                if (!f->converged)
                    fail_msg("%s, kind %d, n %d: not converged, gradient %g", f->family,
                             kind, (int)sizes[j], f->gradient_norm);
                assert_true(f->ks_p > 0 && f->ks_p <= 1 && f->ad_p > 0 && f->ad_p <= 1);
                if (!isfinite(f->log_likelihood) || !isfinite(f->aic))
                    fail_msg("%s, kind %d, n %d: log likelihood %g, aic %g", f->family,
                             kind, (int)sizes[j], f->log_likelihood, f->aic);
            }
            xb_fit_destroy(fit);
            free(x);
        }
    xb_ctx_destroy(ctx);
}

static void measured_traces(void **state)
{
    (void)state;
    static const char *const traces[] = {"rram_level00", "rram_level08", "rram_level16"};
    enum { N = 100000 };
    const char *dir = test_data_dir();
    if (!dir) skip();
    xb_ctx *ctx = test_ctx();
    double *x = malloc(N * sizeof *x);
    for (int i = 0; i < XB_COUNT(traces); i++) {
        char path[4200], line[64];
        snprintf(path, sizeof path, "%s/noise/%s.csv", dir, traces[i]);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        assert_non_null(fgets(line, sizeof line, f));
        for (int j = 0; j < N; j++) assert_int_equal(fscanf(f, "%lf", &x[j]), 1);
        fclose(f);
        xb_fit *fit = run(ctx, x, N, NULL);
        const xb_fit_sample *s = xb_fit_sample_info(fit);
        assert_true(s->lag1 > 0.93 && s->lag1 < 0.997);
        assert_true(s->n_effective < 50);
        assert_string_equal(xb_law_family(xb_fit_law(fit)), "empirical");
        assert_int_equal(xb_fit_outcome_of(fit), XB_FIT_UNTESTED);
        xb_fit_destroy(fit);
    }
    free(x);
    xb_ctx_destroy(ctx);
}

/* Errors of the moments against the spread of many samples: an exponential law, of which
 * a Gaussian's formulas give half. */
static void errors_of_moments_are_those_of_the_law(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    enum { N = 2000, SAMPLES = 400 };
    xb_ctx *ctx = test_ctx();
    double sum[3] = {0}, squares[3] = {0}, stated[3] = {0};
    for (uint64_t r = 0; r < SAMPLES; r++) {
        double *x = draw(ctx, "gaussian", N, 9000 + r, 0, 1);
        for (int i = 0; i < N; i++) x[i] = -log(0.5 * erfc(x[i] * M_SQRT1_2));
        xb_fit *fit = run(ctx, x, N, "gaussian");
        const xb_fit_sample *s = xb_fit_sample_info(fit);
        double value[] = {s->sd, s->skewness, s->excess_kurtosis};
        double error[] = {s->sd_error, s->skewness_error, s->excess_kurtosis_error};
        for (int k = 0; k < 3; k++) {
            sum[k] += value[k] / SAMPLES, squares[k] += value[k] * value[k] / SAMPLES;
            stated[k] += error[k] / SAMPLES;
        }
        assert_int_equal(xb_fit_family_at(fit, 0)->decision, XB_FIT_NO);
        xb_fit_destroy(fit);
        free(x);
    }
    static const double tolerance[] = {0.15, 0.25,
                                       0.45}; /* the tails are seen too rarely */
    for (int k = 0; k < 3; k++) {
        double spread = sqrt(squares[k] - sum[k] * sum[k]);
        print_message("moment %d: spread %.4g, stated %.4g\n", k + 2, spread, stated[k]);
        assert_close(stated[k], spread, tolerance[k]);
    }
    assert_true(stated[0] > 1.7 * sum[0] / sqrt(2.0 * N)); /* twice the Gaussian's */
    xb_ctx_destroy(ctx);
}

/* A symmetric law does not fit a skewness of many standard errors, however close its
 * distribution function is. */
static void skewness_and_kurtosis_count(void **state)
{
    (void)state;
    enum { N = 3000 };
    xb_ctx *ctx = test_ctx();
    double *x = draw(ctx, "gaussian", N, 31, 0, 1);
    xb_fit *fit = run(ctx, x, N, "gaussian");
    assert_int_equal(xb_fit_family_at(fit, 0)->decision, XB_FIT_YES);
    xb_fit_destroy(fit);
    for (int i = 0; i < N; i += 600) x[i] = 6; /* five values: KS hardly moves */
    fit = run(ctx, x, N, "gaussian");
    const xb_fit_family *f = xb_fit_family_at(fit, 0);
    assert_true(f->ks_p > 0.01);
    assert_at_most(f->skewness_p, 0.01);
    assert_at_most(f->kurtosis_p, 0.01);
    assert_int_equal(f->decision, XB_FIT_NO);
    assert_false(f->fits);
    xb_fit_destroy(fit);
    free(x);
    x = draw(ctx, "student:nu=3", N, 32, 0, 1); /* no kurtosis: it is not tested */
    fit = run(ctx, x, N, "student");
    assert_int_equal(xb_fit_family_at(fit, 0)->decision, XB_FIT_YES);
    xb_fit_destroy(fit);
    free(x);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_moments_are_those_of_the_law),
        cmocka_unit_test(skewness_and_kurtosis_count),
        cmocka_unit_test(choice_is_honest),
        cmocka_unit_test(outcome_words_and_file_agree),
        cmocka_unit_test(a_drift_is_not_believed),
        cmocka_unit_test(criteria_differ),
        cmocka_unit_test(law_file_comes_back),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(any_sample_gets_an_answer),
        cmocka_unit_test(measured_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
