/* test_families.c: laplace, student, sinh-arcsinh and levels against mpmath
 * (tests/fixtures/families.json), their texts and files, what their draws keep of the far
 * tail, and networks under each. Fits are in test_fit_families.c. */
#include "traintest.h"

#include <jansson.h>

#include "law/family.h"
#include "plan/plan.h"
#include "rule/standard.h"

/* What the headers promise for pdf and cdf; where the C library's exp and asinh have more
 * roundings than glibc's, those far out in a tail show. WebAssembly's asinhl computes in
 * double. */
#if defined(__GLIBC__)
static const double PRECISION = 1e-13;
#elif defined(__EMSCRIPTEN__)
static const double PRECISION = 2e-12;
#else
static const double PRECISION = 4e-13;
#endif

static json_t *fixture(void)
{
    json_error_t error;
    json_t *root = json_load_file(XB_FIXTURES "/families.json", 0, &error);
    if (!root) fail_msg("families.json:%d: %s", error.line, error.text);
    return root;
}

static double number_at(const json_t *list, size_t i)
{
    return strtod(json_string_value(json_array_get(list, i)), NULL);
}

static double number(const json_t *object, const char *key)
{
    return strtod(json_string_value(json_object_get(object, key)), NULL);
}

typedef void check_fn(xb_ctx *ctx, const xb_law *law, const json_t *entry);

static void for_each_law(check_fn *check)
{
    xb_ctx *ctx = test_ctx();
    json_t *root = fixture(), *entry;
    size_t i;
    json_array_foreach(json_object_get(root, "laws"), i, entry)
    {
        xb_law *law = test_law(ctx, json_string_value(json_object_get(entry, "law")));
        check(ctx, law, entry);
        xb_law_destroy(law);
    }
    assert_int_equal(i, 16);
    json_decref(root);
    xb_ctx_destroy(ctx);
}

static void check_value(const xb_law *law, const char *what, double at, double got,
                        double want, double tolerance, double floor)
{
    if (got == want) return; /* infinities too */
    if (!(fabs(got - want) <= tolerance * fmax(fabs(want), floor)))
        fail_msg("%s: %s at %g is %.17g, not %.17g (off by %.2g)", xb_law_text(law), what,
                 at, got, want, fabs(got - want) / fmax(fabs(want), floor));
}

static void check_numbers(xb_ctx *ctx, const xb_law *law, const json_t *entry)
{
    (void)ctx;
    xb_moments m = xb_law_moments(law);
    double sd = xb_law_sd(law);
    check_value(law, "mean", 0, m.mean, number(entry, "mean"), PRECISION, sd);
    check_value(law, "variance", 0, m.variance, number(entry, "variance"), PRECISION, 0);
    check_value(law, "skewness", 0, m.skewness, number(entry, "skewness"), PRECISION, 1);
    check_value(law, "kurtosis", 0, m.excess_kurtosis, number(entry, "excess_kurtosis"),
                PRECISION, 10);
    check_value(law, "entropy", 0, xb_law_entropy(law), number(entry, "entropy"),
                PRECISION, 1);
    check_value(law, "KL", 0, xb_law_kl_gaussian(law), number(entry, "kl_gaussian"),
                PRECISION, 1);
}

/* x, density, mass below, mass above. */
static void check_points(xb_ctx *ctx, const xb_law *law, const json_t *entry)
{
    (void)ctx;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(entry, "points"), i, row)
    {
        double x = number_at(row, 0), pdf = number_at(row, 1);
        check_value(law, "pdf", x, xb_law_pdf(law, x), pdf, PRECISION, 1e-300);
        check_value(law, "cdf", x, xb_law_cdf(law, x), number_at(row, 2), PRECISION,
                    1e-300);
        check_value(law, "survival", x, xb_law_survival(law, x), number_at(row, 3),
                    PRECISION, 1e-300);
        if (pdf > 1e-300)
            check_value(law, "log pdf", x, xb_law_log_pdf(law, x), log(pdf), PRECISION,
                        10);
    }
}

/* u, x with mass u below, x with mass u above. Between distant levels any x has the mass
 * to rounding; elsewhere x itself is compared, relative to the width. */
static void check_quantiles(xb_ctx *ctx, const xb_law *law, const json_t *entry)
{
    (void)ctx;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(entry, "quantiles"), i, row)
    {
        double u = number_at(row, 0), sides[] = {number_at(row, 1), number_at(row, 2)};
        double x[] = {xb_law_quantile(law, u), xb_law_isf(law, u)};
        for (int s = 0; s < 2; s++) {
            double back = s ? xb_law_survival(law, x[s]) : xb_law_cdf(law, x[s]);
            double flat = xb_law_pdf(law, x[s]) * xb_law_sd(law);
            check_value(law, "mass of the quantile", u, back, u, 4e-13, 0);
            if (flat > 1e-3 * u)
                check_value(law, s ? "isf" : "quantile", u, x[s], sides[s], PRECISION,
                            0.1 * xb_law_sd(law));
        }
    }
}

static void check_rules(xb_ctx *ctx, const xb_law *law, const json_t *entry)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(entry, "rules"), i, one)
    {
        int64_t n = json_integer_value(json_object_get(one, "n"));
        const json_t *nodes = json_object_get(one, "nodes");
        const json_t *weights = json_object_get(one, "weights");
        xb_rule rule;
        assert_ok(ctx, xb_rule_fill_gauss(ctx, &rule, law, n, XB_RECURRENCE_STABLE));
        for (int64_t k = 0; k < n; k++) {
            check_value(law, "node", (double)n, rule.nodes[k],
                        number_at(nodes, (size_t)k), 1e-12, xb_law_sd(law));
            check_value(law, "weight", (double)n, rule.weights[k],
                        number_at(weights, (size_t)k), 1e-11, 1e-300);
        }
        xb_rule_free(&rule);
    }
}

/* prior, mu, sigma, KL. Normal and Laplace priors are exact; mixtures to maths V6. */
static void check_kl(xb_ctx *ctx, const xb_law *law, const json_t *entry)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(entry, "kl"), i, row)
    {
        const char *text = json_string_value(json_array_get(row, 0));
        xb_prior prior;
        xb_kl *kl = NULL;
        assert_ok(ctx, xb_prior_parse(ctx, &prior, text));
        assert_ok(ctx, xb_kl_create(ctx, &kl, law, &prior, 0));
        double got = xb_kl_one(kl, number_at(row, 1), number_at(row, 2)).kl;
        bool mixture = prior.kind == XB_PRIOR_MIXTURE;
        check_value(law, text, number_at(row, 2), got, number_at(row, 3),
                    mixture ? 5e-5 : 1e-11, 1);
        xb_kl_destroy(kl);
    }
}

static void numbers_are_mpmaths(void **state)
{
    (void)state;
    for_each_law(check_numbers);
}
static void points_are_mpmaths(void **state)
{
    (void)state;
    for_each_law(check_points);
}
static void quantiles_are_mpmaths(void **state)
{
    (void)state;
    for_each_law(check_quantiles);
}
static void rules_are_mpmaths(void **state)
{
    (void)state;
    for_each_law(check_rules);
}
static void kl_is_mpmaths(void **state)
{
    (void)state;
    for_each_law(check_kl);
}

/* (F15) Derivatives of the log density against central differences. */
static void jets_are_differences(void **state)
{
    (void)state;
    static const struct {
        const xb_family *family;
        double v[4][2];
    } cases[] = {
        {&xb_family_student, {{0.4}, {0.2}, {0.01}, {1e-3}}},
        {&xb_family_sinh_arcsinh, {{0.3, -0.2}, {-1, 0.7}, {0, 0}, {2, -1}}},
    };
    const double h = 1e-5;
    for (int c = 0; c < XB_COUNT(cases); c++)
        for (int k = 0; k < 4; k++)
            for (double x = -3; x <= 3; x += 0.37) {
                const xb_family *f = cases[c].family;
                xb_log_jet at, up, down;
                f->jet(&at, cases[c].v[k], &x, 1);
                double x_up = x + h, x_down = x - h;
                f->jet(&up, cases[c].v[k], &x_up, 1);
                f->jet(&down, cases[c].v[k], &x_down, 1);
                assert_close_floor(at.x, (up.value - down.value) / (2 * h), 1e-7, 1);
                assert_close_floor(at.xx, (up.x - down.x) / (2 * h), 1e-7, 1);
                for (int i = 0; i < f->n_param; i++) {
                    double v[2] = {cases[c].v[k][0], cases[c].v[k][1]};
                    v[i] += h;
                    f->jet(&up, v, &x, 1);
                    v[i] -= 2 * h;
                    f->jet(&down, v, &x, 1);
                    assert_close_floor(at.v[i], (up.value - down.value) / (2 * h), 1e-6,
                                       1);
                    assert_close_floor(at.vx[i], (up.x - down.x) / (2 * h), 1e-6, 1);
                    for (int j = 0; j < f->n_param; j++)
                        assert_close_floor(at.vv[i][j], (up.v[j] - down.v[j]) / (2 * h),
                                           1e-5, 1);
                }
            }
}

static void rules_end_where_moments_do(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const struct {
        const char *law;
        int64_t most;
    } cases[] = {{"student:nu=2.05", 2},
                 {"student:nu=4", 2},
                 {"student:nu=4.1", 3},
                 {"student:nu=20", 10},
                 {"laplace", XB_RULE_MAX}};
    xb_rule rule;
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_law *law = test_law(ctx, cases[i].law);
        assert_int_equal(xb_rule_gauss_max(law), cases[i].most);
        xb_law_destroy(law);
    }
    xb_law *law = test_law(ctx, "student:nu=5");
    assert_int_equal(xb_rule_fill_gauss(ctx, &rule, law, 4, XB_RECURRENCE_STABLE),
                     XB_E_INPUT);
    assert_string_equal(
        xb_ctx_message(ctx),
        "student:nu=5 has no moments for a Gauss rule of 4 points: at most 3 points");
    assert_true(isinf(xb_law_raw_moment(law, 6)) && isnan(xb_law_raw_moment(law, 5)));
    assert_close(xb_law_raw_moment(law, 4), 25, 1e-14);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* ---- texts and files */

static void texts_and_files(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const char *const same[] = {"laplace",
                                       "student:nu=3.5",
                                       "sinh-arcsinh:epsilon=-0.25,delta=0.75",
                                       "levels:x=-1/0.5,p=0.25/0.75,s=0.1",
                                       "levels:x=-1/0.5,p=0.25/0.75,s=0.1/0.2",
                                       "levels:x=0,p=1,s=2"};
    for (int i = 0; i < XB_COUNT(same); i++) {
        scratch s = scratch_make();
        xb_law *law = test_law(ctx, same[i]), *again = NULL;
        assert_string_equal(xb_law_text(law), same[i]);
        assert_ok(ctx, xb_law_save(ctx, law, scratch_path(&s, "law.json")));
        assert_ok(ctx, xb_law_load(ctx, &again, s.path));
        assert_string_equal(xb_law_text(again), same[i]);
        assert_true(xb_law_pdf(again, 0.3) == xb_law_pdf(law, 0.3));
        xb_law_destroy(law);
        xb_law_destroy(again);
        scratch_remove(&s);
    }
    xb_law *law = test_law(ctx, "levels:x=2/-1/0,s=0.5");
    assert_string_equal(xb_law_text(law),
                        "levels:x=-1/0/2,p=0.3333333333/0.3333333333/0.3333333333,s=0.5");
    assert_true(xb_law_number(law, "x3") == 2 && isnan(xb_law_number(law, "x4")));
    assert_true(xb_law_number(law, "s1") == 0.5 && isnan(xb_law_number(law, "x")));
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void bad_texts(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"student:nu=2", "student: nu = 2, expected 2.05 to 10000"},
        {"laplace:b=1", "law 'laplace:b=1': unknown parameter 'b' (laplace has: none)"},
        {"levels:x=0/1,p=0.5/0.6,s=0.1",
         "law 'levels:x=0/1,p=0.5/0.6,s=0.1': the weights p sum to 1.1, expected 1"},
        {"levels:x=0/1,p=1",
         "law 'levels:x=0/1,p=1': 2 of x (positions) and 1 of p (weights), "
         "expected the same number"},
        {"levels:x=0/1/2,s=1/2",
         "law 'levels:x=0/1/2,s=1/2': 3 of x (positions) and 2 of s "
         "(widths), expected the same number or one s"},
        {"levels:x=0/,s=1", "law 'levels:x=0/,s=1': x is not a number: ''"},
        {"levels:x=0/1,x=2", "law 'levels:x=0/1,x=2': x is given twice"},
        {"levels:y=1", "law 'levels:y=1': unknown parameter 'y' (levels has: x, p, s)"},
        {"levels:x=1/2/3/4/5/6/7/8/9", "law 'levels:x=1/2/3/4/5/6/7/8/9': more than 8"
                                       " values of x"},
        {"levels:x=0/1,s=0", "law 'levels:x=0/1,s=0': s = 0, expected more than 0, up to"
                             " 1e+06"},
        {"levels:0/1", "law 'levels:0/1': '0/1' is not NAME=VALUE (levels has: x, p, s)"},
    };
    for (int i = 0; i < XB_COUNT(bad); i++) {
        xb_law *law = NULL;
        assert_int_equal(xb_law_parse(ctx, &law, bad[i].text), XB_E_INPUT);
        assert_null(law);
        assert_string_equal(xb_ctx_message(ctx), bad[i].message);
    }
    const double two[] = {0, 1, 0.5, 0.5, 0.1, 0.2};
    xb_law *law = NULL;
    assert_int_equal(xb_law_create(ctx, &law, "levels", two, 4), XB_E_ARGUMENT);
    assert_ok(ctx, xb_law_create(ctx, &law, "levels", two, 6));
    assert_string_equal(xb_law_text(law), "levels:x=0/1,p=0.5/0.5,s=0.1/0.2");
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* bimodal is the symmetric case of levels, and one level is the Gaussian. */
static void levels_have_special_cases(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *two = test_law(ctx, "bimodal:m=0.8");
    xb_law *levels = test_law(ctx, "levels:x=-0.8/0.8,s=0.6");
    xb_law *one = test_law(ctx, "levels:x=0,s=1"), *normal = test_law(ctx, "gaussian");
    assert_true(xb_law_is_symmetric(levels) && xb_law_is_symmetric(one));
    for (double v = 1e-12; v < 0.5; v *= 1.7) {
        double x = xb_law_quantile(two, v);
        assert_close_floor(xb_law_quantile(levels, v), x, 1e-13, 0.1);
        assert_close(xb_law_pdf(levels, x), xb_law_pdf(two, x), 1e-13);
        assert_close_floor(xb_law_isf(one, v), xb_law_isf(normal, v), 1e-13, 0.1);
    }
    xb_law_destroy(two);
    xb_law_destroy(levels);
    xb_law_destroy(one);
    xb_law_destroy(normal);
    xb_ctx_destroy(ctx);
}

/* ---- the far tail of 32-bit draws (maths D10) */

/* The largest draw is the quantile at 2^-33, and draws have the variance less what lies
 * beyond: by quadrature of the quantile over the words' masses. */
static void largest_draws(void **state)
{
    (void)state;
    static const struct {
        const char *law;
        double largest, kept; /* in standard deviations; share of the variance */
    } cases[] = {{"gaussian", 6.337957, 1.0},
                 {"laplace", 15.684125, 1.0},
                 {"student:nu=3", 1221.5637, 0.99896},
                 {"student:nu=2.5", 3688.795, 0.98416},
                 {"student:nu=2.05", 7936.316, 0.39874},
                 {"sinh-arcsinh:epsilon=0,delta=0.5", 20.3333, 1}};
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_law *law = test_law(ctx, cases[i].law);
        xb_sampler *s = NULL;
        assert_ok(ctx, xb_sampler_create(ctx, &s, law, NULL));
        double largest = (double)xb_sampler_value(s, 0x80000000u), kept = 0;
        assert_close(largest, xb_law_isf(law, 0x1p-33) / xb_law_sd(law), 1e-6);
        assert_true((double)xb_sampler_value(s, 0) == -largest);
        enum { STEPS = 4000 };
        for (int k = 0; k < STEPS; k++) { /* equal steps of log v, from 2^-33 to 1/2 */
            double step = 32 * M_LN2 / STEPS, v = ldexp(exp((k + 0.5) * step), -33);
            double z = xb_sampler_quantile(s, v, true);
            kept += 2 * z * z * v * step;
        }
        print_message("%s: largest draw %.4f, share of the variance %.5f\n", cases[i].law,
                      largest, kept);
        assert_close(largest, cases[i].largest, 1e-5);
        assert_close(kept, cases[i].kept, 1e-4);
        xb_sampler_destroy(s);
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* ---- networks */

enum { HEAVY = 1 }; /* without a sixth moment */

static const char *const each[] = {"laplace", "student:nu=3",
                                   "sinh-arcsinh:epsilon=0.5,delta=0.8",
                                   "levels:x=-1/0/1.5,p=0.3/0.5/0.2,s=0.2"};

static void training_and_predicting(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    xb_model *plain = train_model(ctx, &opt, false, NULL);
    for (int i = 0; i < XB_COUNT(each); i++) {
        xb_law *law = test_law(ctx, each[i]);
        opt.law = law;
        xb_model *model = train_model(ctx, &opt, false, NULL);
        assert_string_equal(xb_law_text(xb_model_law(model)), each[i]);
        assert_true(xb_model_noise_sd(model) < 1);
        assert_false(same_numbers(plain, model)); /* the law was used */
        xb_model_destroy(model);
        xb_law_destroy(law);
    }
    xb_model_destroy(plain);
    xb_ctx_destroy(ctx);
}

/* The output of four equal weights under each law: predicted within a tenth of what draws
 * measure. For `laplace` the KL is known (by its characteristic function (1 + t^2 /
 * 8)^-4: 0.0075525); for student:nu=3 it is 0.0904, of which the densities see 0.059: not
 * trusted, and within a tolerance of 0.1 the verdict is that nobody can tell. */
static void plan_of_one_layer(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    enum { WEIGHTS = 4 };
    const float mu[WEIGHTS + 1] = {0}, sigma[WEIGHTS + 1] = {1, 1, 1, 1, 0};
    const float x[WEIGHTS] = {1, 1, 1, 1};
    const xb_weights weights = {mu, sigma, NULL, NULL};
    xb_net *net = NULL;
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 1", (xb_shape){1, 1, WEIGHTS}, NULL));
    for (int i = 0; i < XB_COUNT(each); i++) {
        xb_law *law = test_law(ctx, each[i]);
        xb_plan plan;
        assert_ok(ctx, xb_plan_fill(ctx, &plan, net, &weights, x, law, NULL));
        double predicted = plan.predicted.value, measured = plan.measured.value;
        print_message("%s: predicted %.5g, measured %.5g ± %.2g, %s\n", each[i],
                      predicted, measured, plan.measured.std_error,
                      plan.trusted ? "trusted" : "not trusted");
        assert_true(measured > 1e-3 && fabs(predicted - measured) < 0.1 * measured);
        assert_true(plan.trusted == (i != HEAVY));
        assert_true(plan.verdict == XB_PLAN_NOT_MET);
        if (i == 0) assert_close(measured, 0.0075525, 1e-3);
        xb_plan_options opt = xb_plan_options_default();
        opt.tolerance = 0.1;
        assert_ok(ctx, xb_plan_fill(ctx, &plan, net, &weights, x, law, &opt));
        assert_true(plan.verdict == (i == HEAVY ? XB_PLAN_UNSURE : XB_PLAN_MET));
        xb_law_destroy(law);
    }
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_mpmaths),
        cmocka_unit_test(points_are_mpmaths),
        cmocka_unit_test(quantiles_are_mpmaths),
        cmocka_unit_test(rules_are_mpmaths),
        cmocka_unit_test(kl_is_mpmaths),
        cmocka_unit_test(jets_are_differences),
        cmocka_unit_test(rules_end_where_moments_do),
        cmocka_unit_test(texts_and_files),
        cmocka_unit_test(bad_texts),
        cmocka_unit_test(levels_have_special_cases),
        cmocka_unit_test(largest_draws),
        cmocka_unit_test(training_and_predicting),
        cmocka_unit_test(plan_of_one_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
