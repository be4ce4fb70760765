/* test_law_functions.c: laws of a caller's functions: what is computed in place of those
 * that are missing against closed forms, every stage on them, and what is refused. */
#include "traintest.h"

#include "failalloc.h"
#include "plan/plan.h"
#include "rule/standard.h"

/* ---- laws with closed forms; arg is a scale, or NULL for 1 */

static double unit(void *arg) { return arg ? *(const double *)arg : 1; }

static double laplace_pdf(void *arg, double x)
{
    return 0.5 / unit(arg) * exp(-fabs(x) / unit(arg));
}
static double laplace_cdf(void *arg, double x)
{
    double e = 0.5 * exp(-fabs(x) / unit(arg));
    return x < 0 ? e : 1 - e;
}
static double laplace_survival(void *arg, double x) { return laplace_cdf(arg, -x); }
static double laplace_quantile(void *arg, double v)
{
    return v <= 0.5 ? unit(arg) * log(2 * v) : -unit(arg) * log(2 * (1 - v));
}

static double exponential_pdf(void *arg, double x)
{
    return exp(-x / unit(arg)) / unit(arg);
}
static double exponential_cdf(void *arg, double x) { return -expm1(-x / unit(arg)); }
static double exponential_survival(void *arg, double x) { return exp(-x / unit(arg)); }

static double even_pdf(void *arg, double x) { return (void)arg, (void)x, 1.0 / 3; }
static double even_cdf(void *arg, double x) { return (void)arg, (x - 2) / 3; }
static double even_survival(void *arg, double x) { return (void)arg, (5 - x) / 3; }

/* A square root at both ends, and poles there. */
static double circle_pdf(void *arg, double x)
{
    return (void)arg, 2 / M_PI * sqrt(fmax(0, (1 - x) * (1 + x)));
}
static double circle_cdf(void *arg, double x)
{
    return (void)arg, 0.5 + (x * sqrt((1 - x) * (1 + x)) + asin(x)) / M_PI;
}
static double circle_survival(void *arg, double x) { return circle_cdf(arg, -x); }

/* Student's t with 6 degrees of freedom: a heavy tail whose fourth moment is finite. */
static double student_pdf(void *arg, double x)
{
    (void)arg;
    return 0.38273277230987174 * pow(1 + x * x / 6, -3.5);
}
static double student_survival(void *arg, double x)
{
    (void)arg;
    double s = x / sqrt(6 + x * x);
    return 0.5 - s * (15 - 10 * s * s + 3 * s * s * s * s) / 16;
}
static double student_cdf(void *arg, double x) { return student_survival(arg, -x); }

typedef double (*one)(void *arg, double x);

typedef struct known_law {
    const char *name;
    one pdf, cdf, survival;
    double lower, upper;
    bool symmetric, corner; /* at 0 */
    double mean, variance, kurtosis;
    double tolerance; /* of masses, absolute */
    double deep;      /* of the tail at mass 1e-9, relative */
} known_law;

static const known_law known[] = {
    {"own-laplace", laplace_pdf, laplace_cdf, laplace_survival, -INFINITY, INFINITY, true,
     true, 0, 2, 3, 1e-12, 1e-12},
    {"exponential", exponential_pdf, exponential_cdf, exponential_survival, 0, INFINITY,
     false, false, 1, 1, 6, 1e-12, 1e-12},
    {"even", even_pdf, even_cdf, even_survival, 2, 5, false, false, 3.5, 0.75, -1.2,
     1e-12, 1e-6},
    {"circle", circle_pdf, circle_cdf, circle_survival, -1, 1, true, false, 0, 0.25, -1,
     1e-12, 1e-3},
    {"own-student", student_pdf, student_cdf, student_survival, -INFINITY, INFINITY, true,
     false, 0, 1.5, 3, 1e-12, 1e-6},
};

static const double corner_at_0 = 0;

static xb_law_functions_options options_of(const known_law *k)
{
    xb_law_functions_options f = xb_law_functions_options_default();
    f.pdf = k->pdf;
    f.lower = k->lower, f.upper = k->upper;
    f.symmetric = k->symmetric;
    if (k->corner) f.breaks = &corner_at_0, f.n_breaks = 1;
    return f;
}

static xb_law *law_of(xb_ctx *ctx, const known_law *k)
{
    const xb_law_functions_options f = options_of(k);
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_from_functions(ctx, &law, k->name, &f));
    return law;
}

/* ---- numbers */

/* The density alone: both tails and both quantiles from it. */
static void the_density_is_enough(void **state)
{
    xb_ctx *ctx = *state;
    for (int i = 0; i < XB_COUNT(known); i++) {
        const known_law *k = &known[i];
        xb_law *law = law_of(ctx, k);
        double worst = 0;
        assert_string_equal(xb_law_text(law), k->name);
        assert_string_equal(xb_law_family(law), "functions");
        for (double v = 1e-9; v < 0.5; v *= 1.7) {
            double low = xb_law_quantile(law, v), high = xb_law_isf(law, v);
            worst = fmax(worst, fabs(k->cdf(NULL, low) - v));
            worst = fmax(worst, fabs(k->survival(NULL, high) - v));
            worst = fmax(worst, fabs(xb_law_cdf(law, low) - k->cdf(NULL, low)));
            worst =
                fmax(worst, fabs(xb_law_survival(law, high) - k->survival(NULL, high)));
        }
        print_message("%s: masses within %.1e\n", k->name, worst);
        assert_true(worst <= k->tolerance);
        assert_close(k->survival(NULL, xb_law_isf(law, 1e-9)), 1e-9, k->deep);
        xb_moments m = xb_law_moments(law);
        assert_close_floor(m.mean, k->mean, 1e-9, 1);
        assert_close(m.variance, k->variance, 1e-9);
        assert_close_floor(m.excess_kurtosis, k->kurtosis, 1e-7, 1);
        assert_int_equal(xb_law_is_symmetric(law), k->symmetric);
        assert_true(xb_law_pdf(law, k->lower - 1) == 0);
        xb_law_destroy(law);
    }
}

/* Where all functions are given they are what is used. */
static void given_functions_are_used(void **state)
{
    xb_ctx *ctx = *state;
    xb_law_functions_options f = options_of(&known[0]);
    xb_law *law = NULL;
    f.cdf = laplace_cdf, f.survival = laplace_survival, f.quantile = laplace_quantile;
    assert_ok(ctx, xb_law_from_functions(ctx, &law, "own-laplace", &f));
    for (double v = 1e-30; v < 0.5; v *= 7) {
        assert_true(xb_law_quantile(law, v) == laplace_quantile(NULL, v));
        assert_true(xb_law_isf(law, v) == -laplace_quantile(NULL, v)); /* symmetric */
    }
    assert_true(xb_law_cdf(law, -700) == laplace_cdf(NULL, -700));
    assert_true(xb_law_survival(law, 700) == laplace_cdf(NULL, -700));
    xb_law_destroy(law);
}

/* Units so small that nothing of the density is near 1. */
static void any_scale_will_do(void **state)
{
    xb_ctx *ctx = *state;
    static double scales[] = {1e-12, 1e-3, 1e6};
    for (int i = 0; i < XB_COUNT(scales); i++) {
        xb_law_functions_options f = options_of(&known[0]);
        xb_law *law = NULL;
        f.arg = &scales[i];
        assert_ok(ctx, xb_law_from_functions(ctx, &law, "own-laplace", &f));
        assert_close(xb_law_sd(law), M_SQRT2 * scales[i], 1e-9);
        assert_close(xb_law_quantile(law, 1e-6), scales[i] * log(2e-6), 1e-11);
        xb_law_destroy(law);
    }
}

/* ---- every stage */

static void check_draws(xb_ctx *ctx, const xb_law *law, const known_law *k)
{
    enum { N = 1 << 16 };
    static float z[N];
    xb_sampler *sampler = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    xb_sampler_info info = xb_sampler_describe(sampler);
    print_message("%s: u missed by %.1e (double), %.1e (float), %lld pieces\n", k->name,
                  info.double_u_error, info.float_u_error, (long long)info.double_pieces);
    assert_true(info.double_u_error <= 1e-12 && info.float_u_error < 1e-6);
    double sd = sqrt(k->variance), sum = 0, square = 0;
    for (double v = 1e-6; v < 0.5; v *= 1.5) {
        double low = k->mean + sd * xb_sampler_quantile(sampler, v, false);
        double high = k->mean + sd * xb_sampler_quantile(sampler, v, true);
        assert_close_floor(k->cdf(NULL, low), v, 1e-6, 1e-6);
        assert_close_floor(k->survival(NULL, high), v, 1e-6, 1e-6);
    }
    const xb_stream where = {.key = xb_key_make(3, XB_PURPOSE_TEST)};
    xb_sampler_fill(sampler, z, N, &where, 0);
    for (int i = 0; i < N; i++)
        sum += (double)z[i], square += (double)z[i] * (double)z[i];
    /* within four standard errors each: a false alarm in 8000 */
    assert_true(fabs(sum / N) < 4 / sqrt(N));
    assert_true(fabs(square / N - 1) < 4 * sqrt((k->kurtosis + 2) / N));
    xb_sampler_destroy(sampler);
}

static void rules_and_draws(void **state)
{
    xb_ctx *ctx = *state;
    for (int i = 0; i < XB_COUNT(known); i++) {
        const known_law *k = &known[i];
        xb_law *law = law_of(ctx, k);
        xb_rule rule = {0};
        assert_ok(ctx, xb_rule_fill_gauss(ctx, &rule, law, 2, XB_RECURRENCE_STABLE));
        double sum[3] = {0};
        for (int64_t j = 0; j < rule.n; j++)
            for (int p = 0; p < 3; p++) sum[p] += rule.weights[j] * pow(rule.nodes[j], p);
        assert_close(sum[0], 1, 1e-12);
        assert_close_floor(sum[1], k->mean, 1e-9, 1);
        assert_close(sum[2], k->variance + k->mean * k->mean, 1e-9);
        xb_rule_free(&rule);
        check_draws(ctx, law, k);
        xb_law_destroy(law);
    }
}

static void kl_training_and_prediction(void **state)
{
    xb_ctx *ctx = *state;
    const xb_prior prior = {.kind = XB_PRIOR_NORMAL, .sd = 1};
    xb_law *law = law_of(ctx, &known[1]);
    xb_kl *closed = NULL, *by_rule = NULL;
    assert_ok(ctx, xb_kl_create(ctx, &closed, law, &prior, 0));
    assert_ok(ctx, xb_kl_create(ctx, &by_rule, law, &prior, 2));
    xb_kl_value a = xb_kl_one(closed, 0.3, 0.2), b = xb_kl_one(by_rule, 0.3, 0.2);
    assert_true(a.kl > 0 && fabs(a.kl - b.kl) < 1e-9);
    xb_kl_destroy(closed);
    xb_kl_destroy(by_rule);
    xb_train_options opt = quick_options();
    xb_model *plain = train_model(ctx, &opt, false, NULL);
    opt.law = law;
    xb_model *model = train_model(ctx, &opt, false, NULL);
    xb_law_destroy(law); /* the model has it still */
    assert_string_equal(xb_law_text(xb_model_law(model)), "exponential");
    assert_false(same_numbers(plain, model));
    rows r = make_rows(false);
    enum { DRAWS = 4 };
    static double value[DRAWS * ROWS], again[DRAWS * ROWS], sd[ROWS];
    assert_ok(ctx, xb_predict_draws(ctx, value, sd, model, r.x, ROWS, 0, DRAWS, NULL));
    xb_ctx_set_threads(ctx, 1);
    assert_ok(ctx, xb_predict_draws(ctx, again, sd, model, r.x, ROWS, 0, DRAWS, NULL));
    xb_ctx_set_threads(ctx, 0);
    assert_memory_equal(value, again, sizeof value);
    for (int i = 0; i < DRAWS * ROWS; i++) assert_true(isfinite(value[i]));
    scratch s = scratch_make();
    assert_int_equal(xb_model_save(ctx, model, scratch_path(&s, "m.safetensors")),
                     XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(ctx),
                        "law 'exponential' is made of a program's"
                        " functions and cannot be written to a file");
    assert_int_equal(scratch_remove(&s), 0);
    xb_model_destroy(plain);
    xb_model_destroy(model);
}

static void plan_predicts_what_draws_measure(void **state)
{
    xb_ctx *ctx = *state;
    enum { WEIGHTS = 4 };
    const float mu[WEIGHTS + 1] = {0}, sigma[WEIGHTS + 1] = {1, 1, 1, 1, 0};
    const float x[WEIGHTS] = {1, 1, 1, 1};
    const xb_weights weights = {mu, sigma, NULL, NULL};
    xb_law *law = law_of(ctx, &known[0]);
    xb_net *net = NULL;
    xb_plan *plan = NULL;
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 1", (xb_shape){1, 1, WEIGHTS}, NULL));
    assert_ok(ctx, xb_plan_create(ctx, &plan, net, &weights, x, law, NULL));
    assert_close(xb_plan_n_eff(plan), WEIGHTS, 0.1);
    double measured = xb_plan_measured(plan).value;
    assert_true(measured > 1e-3);
    assert_close(xb_plan_predicted(plan).value, measured, 0.2);
    xb_plan_destroy(plan);
    xb_net_destroy(net);
    xb_law_destroy(law);
}

/* ---- what is refused */

static double half_pdf(void *arg, double x) { return 0.5 * laplace_pdf(arg, x); }
static double negative_pdf(void *arg, double x) { return (void)arg, cos(3 * x); }
static double cauchy_pdf(void *arg, double x)
{
    return (void)arg, 1 / (M_PI * (1 + x * x));
}
static double wrong_cdf(void *arg, double x) { return laplace_cdf(arg, x - 0.01); }
/* Right to 1e-9, but not monotone where it is nearly 0. */
static double falling_cdf(void *arg, double x)
{
    return laplace_cdf(arg, x) + 5e-10 * sin(12345 * x);
}
static double wrong_quantile(void *arg, double v)
{
    return 1.001 * laplace_quantile(arg, v);
}

static void refuse(xb_ctx *ctx, const xb_law_functions_options *f, const char *name,
                   xb_status want, const char *says)
{
    xb_law *law = NULL;
    assert_int_equal(xb_law_from_functions(ctx, &law, name, f), want);
    assert_null(law);
    if (!strstr(xb_ctx_message(ctx), says))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), says);
}

static void wrong_laws_are_refused(void **state)
{
    xb_ctx *ctx = *state;
    const xb_law_functions_options good = options_of(&known[0]);
    xb_law_functions_options f = good;
    refuse(ctx, &f, "mtj", XB_E_ARGUMENT, "cannot name a law");
    refuse(ctx, &f, "a b", XB_E_ARGUMENT, "cannot name a law");
    f.pdf = NULL;
    refuse(ctx, &f, "l", XB_E_ARGUMENT, "has no density");
    f = good, f.lower = 1;
    refuse(ctx, &f, "l", XB_E_ARGUMENT, "symmetric about 0");
    f = good, f.symmetric = false, f.lower = 3, f.upper = 3;
    refuse(ctx, &f, "l", XB_E_ARGUMENT, "a lower end below an upper one");
    f = good, f.breaks = &(const double){INFINITY};
    refuse(ctx, &f, "l", XB_E_ARGUMENT, "break point 1 is inf");
    f = good, f.pdf = half_pdf;
    refuse(ctx, &f, "l", XB_E_INPUT, "the density integrates to 0.5,");
    f = good, f.pdf = negative_pdf, f.lower = -2, f.upper = 2;
    refuse(ctx, &f, "l", XB_E_INPUT, "expected 0 or more and finite");
    f = good, f.pdf = cauchy_pdf;
    refuse(ctx, &f, "l", XB_E_INPUT, "no finite fourth moment");
    f = good, f.pdf = exponential_pdf, f.lower = -5, f.upper = 5;
    refuse(ctx, &f, "l", XB_E_INPUT, "integrates to");
    f = good, f.cdf = wrong_cdf;
    refuse(ctx, &f, "l", XB_E_INPUT, "but the density integrates to");
    f = good, f.cdf = falling_cdf;
    refuse(ctx, &f, "l", XB_E_INPUT, "the cdf is not monotone");
    f = good, f.quantile = wrong_quantile;
    refuse(ctx, &f, "l", XB_E_INPUT, "the quantile of 1e-06");
}

/* On [-1, 1], larger on the right: no even density. */
static double tilted_pdf(void *arg, double x) { return (void)arg, 0.5 * (1 + 0.5 * x); }

static void a_false_symmetry_is_seen(void **state)
{
    xb_law_functions_options f = xb_law_functions_options_default();
    f.pdf = tilted_pdf, f.lower = -1, f.upper = 1, f.symmetric = true;
    refuse(*state, &f, "tilted", XB_E_INPUT, "is said to be symmetric");
}

static void no_file_form(void **state)
{
    xb_ctx *ctx = *state;
    scratch s = scratch_make();
    xb_law *law = law_of(ctx, &known[0]);
    char *text = NULL;
    assert_int_equal(xb_law_save(ctx, law, scratch_path(&s, "law.json")), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "cannot be written to a file"));
    assert_int_equal(xb_law_json(ctx, &text, law), XB_E_ARGUMENT);
    assert_null(text);
    assert_int_equal(scratch_remove(&s), 0);
    xb_law_destroy(law);
}

static void count_destroy(void *arg) { ++*(int *)arg; }
static double counted_pdf(void *arg, double x) { return (void)arg, laplace_pdf(NULL, x); }
static double counted_cdf(void *arg, double x) { return (void)arg, wrong_cdf(NULL, x); }

/* Once, with the last owner; never where making the law failed, memory included. */
static void destroyed_once(void **state)
{
    xb_ctx *ctx = *state;
    int calls = 0;
    xb_law_functions_options f = options_of(&known[0]);
    xb_law *law = NULL;
    xb_sampler *sampler = NULL;
    f.arg = &calls, f.pdf = counted_pdf, f.destroy = count_destroy;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_status status = xb_law_from_functions(ctx, &law, "own-laplace", &f);
        bool failed = fail_alloc_happened();
        assert_int_equal(status, failed ? XB_E_MEMORY : XB_OK);
        if (!failed) break;
        assert_null(law);
    }
    assert_int_equal(calls, 0);
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    xb_law_destroy(law);
    assert_int_equal(calls, 0);
    xb_sampler_destroy(sampler);
    assert_int_equal(calls, 1);
    law = NULL;
    f.cdf = counted_cdf;
    assert_int_equal(xb_law_from_functions(ctx, &law, "own-laplace", &f), XB_E_INPUT);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_density_is_enough),
        cmocka_unit_test(given_functions_are_used),
        cmocka_unit_test(any_scale_will_do),
        cmocka_unit_test(rules_and_draws),
        cmocka_unit_test(kl_training_and_prediction),
        cmocka_unit_test(plan_predicts_what_draws_measure),
        cmocka_unit_test(wrong_laws_are_refused),
        cmocka_unit_test(a_false_symmetry_is_seen),
        cmocka_unit_test(no_file_form),
        cmocka_unit_test(destroyed_once),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
