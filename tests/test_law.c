/* test_law.c: the laws against mpmath (60 digits), closed forms and identities.
 * tests/fixtures/laws.json holds the reference values and how they were made. */
#include "xbtest.h"

#include <jansson.h>

#include "base/ctx.h"
#include "law/device.h"
#include "law/family.h"

static const double PRECISION = 1e-13; /* what the headers promise for pdf and cdf */

static json_t *fixture(void)
{
    json_error_t error;
    json_t *root = json_load_file(XB_FIXTURES "/laws.json", 0, &error);
    if (!root) fail_msg("laws.json:%d: %s", error.line, error.text);
    return root;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) fail_msg("fixture without '%s'", key);
    return strtod(json_string_value(value), NULL);
}

/* Calls `check` for every law of the fixture. */
static void for_each_law(void (*check)(const xb_law *, const json_t *))
{
    xb_ctx *ctx = test_ctx();
    json_t *root = fixture(), *entry;
    size_t i;
    int count = 0;
    json_array_foreach(json_object_get(root, "laws"), i, entry)
    {
        xb_law *law = test_law(ctx, json_string_value(json_object_get(entry, "law")));
        check(law, entry);
        xb_law_destroy(law);
        count++;
    }
    assert_true(count >= 16);
    json_decref(root);
    xb_ctx_destroy(ctx);
}

static void check_numbers(const xb_law *law, const json_t *entry)
{
    xb_moments m = xb_law_moments(law);
    assert_close(xb_law_number(law, "A"), number(entry, "A"), PRECISION);
    assert_close_floor(xb_law_number(law, "C"), number(entry, "C"), PRECISION, 1e-3);
    assert_close(m.variance, number(entry, "variance"), PRECISION);
    assert_close_floor(m.excess_kurtosis, number(entry, "excess_kurtosis"), PRECISION,
                       10);
    assert_close_floor(xb_law_entropy(law), number(entry, "entropy"), PRECISION, 1);
    assert_close_floor(xb_law_kl_gaussian(law), number(entry, "kl_gaussian"), PRECISION,
                       1);
    assert_close(xb_law_number(law, "K"), number(entry, "edge_slope"), PRECISION);
    assert_true(m.mean == 0 && m.skewness == 0);
}

/* Pairs [t, pdf, cdf] at x = -1 + t; t is a double and so is x. */
static void check_points(const xb_law *law, const json_t *entry)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(entry, "points"), i, row)
    {
        double x = strtod(json_string_value(json_array_get(row, 0)), NULL);
        double pdf = strtod(json_string_value(json_array_get(row, 1)), NULL);
        double cdf = strtod(json_string_value(json_array_get(row, 2)), NULL);
        if (pdf < 1e-290) continue; /* w = 1, small B: below what a double holds */
        assert_close(xb_law_pdf(law, x), pdf, PRECISION);
        assert_close(xb_law_cdf(law, x), cdf, PRECISION);
        assert_close(xb_law_pdf(law, -x), pdf, PRECISION);
        assert_close(xb_law_survival(law, -x), cdf, PRECISION);
        assert_close_floor(xb_law_survival(law, x), 1 - cdf, 1e-15, 1);
        assert_close_floor(xb_law_log_pdf(law, x), log(pdf), 1e-13, 1);
    }
}

static void check_quantiles(const xb_law *law, const json_t *entry)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(entry, "quantiles"), i, row)
    {
        double u = strtod(json_string_value(json_array_get(row, 0)), NULL);
        double t = strtod(json_string_value(json_array_get(row, 1)), NULL);
        assert_close(xb_law_quantile_from_edge(law, u), t, 1e-12);
        assert_close(xb_law_isf_from_edge(law, u), t, 1e-12);
        assert_close_floor(xb_law_quantile(law, u), -1 + t, 1e-15, 1);
        assert_close_floor(xb_law_isf(law, u), 1 - t, 1e-15, 1);
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

static const char *const every_law[] = {
    "gaussian",         "mtj:B=0.15,w=0.5",  "mtj:B=0.001,w=0.5", "mtj:B=0.01,w=1",
    "mtj:B=1e6,w=0.5",  "mtj:B=0.3,w=0",     "ecram:B=0.1,w=0.6", "ecram:B=0.0005,w=0.5",
    "ecram:B=0.02,w=1", "ecram:B=1e6,w=0.3", "bimodal:m=0.9",     "bimodal:m=0.999",
    "bimodal:m=0",      "bimodal:m=0.5",
};

/* Q(G(u)) = u in both tails, relatively far out, and G grows with u. */
static void quantile_inverts_cdf(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int j = 0; j < XB_COUNT(every_law); j++) {
        xb_law *law = test_law(ctx, every_law[j]);
        double last = xb_law_lower(law);
        for (double v = 1e-12; v <= 0.5; v *= 1.3) {
            double x = xb_law_quantile(law, v), y = xb_law_isf(law, v);
            /* x itself carries half an ulp: its share of u is allowed for */
            double ulp = xb_law_pdf(law, x) * 0x1p-53 * fmax(fabs(x), 0x1p-60);
            if (!(fabs(xb_law_cdf(law, x) - v) <= 4e-16 * v + 2 * ulp + 2e-14 * v))
                fail_msg("%s: Q(G(%g)) is off by %g", every_law[j], v,
                         fabs(xb_law_cdf(law, x) - v));
            assert_close(xb_law_survival(law, y), xb_law_cdf(law, -y), 1e-12);
            assert_true(x >= last);
            assert_true(x == -y);
            last = x;
        }
        assert_true(xb_law_quantile(law, 0.5) == 0);
        assert_true(xb_law_quantile(law, 0) == xb_law_lower(law));
        assert_true(xb_law_quantile(law, 1) == xb_law_upper(law));
        assert_true(isnan(xb_law_quantile(law, -0.1)) &&
                    isnan(xb_law_quantile(law, NAN)));
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* The density is the derivative of the distribution (central differences). */
static void pdf_is_the_slope_of_cdf(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int j = 0; j < XB_COUNT(every_law); j++) {
        xb_law *law = test_law(ctx, every_law[j]);
        for (double u = 0.01; u < 0.5; u += 0.0371) {
            double x = xb_law_quantile(law, u);
            double h = 1e-5 * u / xb_law_pdf(law, x);
            double slope = (xb_law_cdf(law, x + h) - xb_law_cdf(law, x - h)) / (2 * h);
            assert_close(slope, xb_law_pdf(law, x), 1e-6);
            assert_close_floor(log(xb_law_pdf(law, x)), xb_law_log_pdf(law, x), 1e-12, 1);
        }
        assert_true(xb_law_pdf(law, 1e3) == 0);
        assert_true(xb_law_log_pdf(law, 1e300) == -INFINITY);
        assert_true(xb_law_cdf(law, -1e3) == 0 && xb_law_cdf(law, 1e3) == 1);
        assert_true(isnan(xb_law_pdf(law, NAN)) && isnan(xb_law_cdf(law, NAN)));
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* Moments of the parabola and of the mixtures in closed form. */
static void moments_in_closed_form(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *parabola = test_law(ctx, "mtj:B=0.15,w=0");
    for (int k = 0; k <= 128; k += 2) /* 3/4 (2/(k+1) - 2/(k+3)) */
        assert_close(xb_law_raw_moment(parabola, k), 3.0 / ((k + 1.0) * (k + 3.0)),
                     1e-13);
    assert_true(xb_law_raw_moment(parabola, 3) == 0);
    assert_true(isnan(xb_law_raw_moment(parabola, 129)));
    xb_law_destroy(parabola);
    xb_law *normal = test_law(ctx, "gaussian");
    assert_close(xb_law_raw_moment(normal, 8), 105, 1e-15);
    assert_true(xb_law_kl_gaussian(normal) == 0); /* not what rounding left of it */
    xb_law_destroy(normal);
    xb_law *two = test_law(ctx, "bimodal:m=0.9");
    double m2 = 0.81, s2 = 0.19;
    assert_close(xb_law_raw_moment(two, 4), m2 * m2 + 6 * m2 * s2 + 3 * s2 * s2, 1e-14);
    assert_close(xb_law_moments(two).variance, 1, 1e-15);
    assert_close(xb_law_number(two, "s"), sqrt(0.19), 1e-15);
    xb_law_destroy(two);
    xb_ctx_destroy(ctx);
}

static void texts_and_abc_form(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj");
    assert_string_equal(xb_law_text(law), "mtj:B=0.15,w=0.5");
    double a = xb_law_number(law, "A"), c = xb_law_number(law, "C");
    assert_true(isnan(xb_law_number(law, "m")));
    xb_law_destroy(law);
    char text[128];
    snprintf(text, sizeof text, "mtj:A=%.17g,B=0.15,C=%.17g", a, c);
    law = test_law(ctx, text);
    assert_close(xb_law_number(law, "w"), 0.5, 1e-15);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void bad_texts_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"mtj:B=-1", "expected 1e-06 to 1e+09"},
        {"mtj:B=abc", "B is not a number: 'abc'"},
        {"mtj:B=nan", "B is not a number: 'nan'"},
        {"mtj:w=1.5", "expected 0 to 1"},
        {"mtj:Q=1", "unknown parameter 'Q' (mtj has: B, w, A, C)"},
        {"mtj:B", "'B' is not NAME=VALUE"},
        {"mtj:B=1,B=2", "B is given twice"},
        {"mtj:A=1,B=0.15,C=0.375,A=1", "A is given twice"},
        {"mtj:A=1,B=0.15,C=0.375", "does not make the density integrate to one"},
        {"mtj:A=-1,B=0.15,C=0.375", "A = -1, expected 0 or more"},
        {"mtj:A=1", "A needs C"},
        {"bimodal:m=1", "expected 0 to 0.999999"},
        {"gaussian:s=1", "unknown parameter 's'"},
        {"empirical", "made from samples"},
        {"nosuchlaw", "neither a law"},
        {"", "neither a law"},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(bad); i++) {
        xb_law *law = NULL;
        assert_int_equal(xb_law_parse(ctx, &law, bad[i][0]), XB_E_INPUT);
        assert_null(law);
        if (!strstr(xb_ctx_message(ctx), bad[i][1]))
            fail_msg("'%s': message '%s' lacks '%s'", bad[i][0], xb_ctx_message(ctx),
                     bad[i][1]);
    }
    xb_ctx_destroy(ctx);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void law_files_round_trip(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    char path[] = "/tmp/xb-law-XXXXXX";
    close(mkstemp(path));
    for (int j = 0; j < XB_COUNT(every_law); j++) {
        xb_law *law = test_law(ctx, every_law[j]), *again = NULL;
        xb_law_set_place(law, 1e-5, 2e-6, "S");
        assert_ok(ctx, xb_law_save(ctx, law, path));
        assert_ok(ctx, xb_law_load(ctx, &again, path));
        assert_string_equal(xb_law_text(law), xb_law_text(again));
        assert_true(xb_law_cdf(law, -0.3) == xb_law_cdf(again, -0.3));
        assert_true(xb_law_placement(again).scale == 2e-6);
        assert_string_equal(xb_law_placement(again).unit, "S");
        xb_law_destroy(law);
        xb_law_destroy(again);
    }
    unlink(path);
    xb_ctx_destroy(ctx);
}

static void bad_law_files_are_refused(void **state)
{
    (void)state;
#define LAW "{\"crossbayes\": \"law\", "
    static const char *const bad[][2] = {
        {"", "empty file"},
        {"[1]", "expected a JSON object"},
        {"{}", "not a law file"},
        {LAW "\"family\": \"mtj\", \"B\": 0.15,\n \"w\": }", ":2: not JSON"},
        {LAW "\"family\": \"nope\"}", "'family' is not one of"},
        {LAW "\"family\": \"mtj\", \"w\": 0.5}", "'B' is missing"},
        {LAW "\"family\": \"mtj\", \"B\": 0.15}", "expected 'w', or both"},
        {LAW "\"family\": \"mtj\", \"B\": 0.15, \"w\": 2}", "expected 0 to 1"},
        {LAW "\"family\": \"mtj\", \"B\": \"x\", \"w\": 0.5}",
         "'B' is not a finite number"},
        {LAW "\"family\": \"mtj\", \"A\": -1, \"B\": 0.15, \"C\": 0.375}", "A = -1"},
        {LAW "\"family\": \"mtj\", \"A\": 5, \"B\": 0.15, \"C\": 0.375}",
         "integrate to one"},
        {LAW "\"family\": \"mtj\", \"B\": 0.15, \"w\": 0.5, \"colour\": 1}",
         "unknown key 'colour'"},
        {LAW "\"family\": \"gaussian\", \"scale\": 0}", "scale = 0"},
        {LAW "\"family\": \"gaussian\", \"unit\": 3}", "'unit' is not"},
        {LAW "\"family\": \"gaussian\", \"family\": \"mtj\"}", "not JSON: duplicate"},
    };
#undef LAW
    xb_ctx *ctx = test_ctx();
    char path[] = "/tmp/xb-law-XXXXXX";
    close(mkstemp(path));
    for (int i = 0; i < XB_COUNT(bad); i++) {
        xb_law *law = NULL;
        write_file(path, bad[i][0]);
        assert_int_equal(xb_law_load(ctx, &law, path), XB_E_INPUT);
        assert_null(law);
        assert_memory_equal(xb_ctx_message(ctx), path, strlen(path));
        if (!strstr(xb_ctx_message(ctx), bad[i][1]))
            fail_msg("message '%s' lacks '%s'", xb_ctx_message(ctx), bad[i][1]);
    }
    xb_law *law = NULL;
    assert_int_equal(xb_law_load(ctx, &law, "/tmp"), XB_E_INPUT);
    unlink(path);
    assert_int_equal(xb_law_load(ctx, &law, path), XB_E_INPUT);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_mpmaths),
        cmocka_unit_test(points_are_mpmaths),
        cmocka_unit_test(quantiles_are_mpmaths),
        cmocka_unit_test(quantile_inverts_cdf),
        cmocka_unit_test(pdf_is_the_slope_of_cdf),
        cmocka_unit_test(moments_in_closed_form),
        cmocka_unit_test(texts_and_abc_form),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(law_files_round_trip),
        cmocka_unit_test(bad_law_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
