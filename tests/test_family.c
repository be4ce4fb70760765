/* A law is one file and one row: this file is the family `glogistic`, and the row is in
 * the table below, which is linked in place of src/law/families.c. Every stage works on
 * it, and no stage outside src/law names a family. */
#include "traintest.h"

#include <dirent.h>

#include "law/family.h"
#include "rule/standard.h"
#include "plan/plan.h"
#include "fit/fit_results.h"

/* ---- the family: F(x) = (1 + exp(-x))^-a; closed forms throughout, skewed unless a = 1
 */

static double softplus(double x) { return fmax(x, 0) + log1p(exp(-fabs(x))); }

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    law->lower = -INFINITY;
    law->upper = INFINITY;
    law->symmetric = law->param[0] == 1;
    return XB_OK;
}

static double log_pdf(const xb_law *law, double x)
{
    double a = law->param[0];
    return log(a) - x - (a + 1) * softplus(-x);
}

static double pdf(const xb_law *law, double x) { return exp(log_pdf(law, x)); }

static double tail(const xb_law *law, double x, bool upper)
{
    double log_below = -law->param[0] * softplus(-x);
    return upper ? -expm1(log_below) : exp(log_below);
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    double log_below = upper ? log1p(-v) : log(v);
    return (xb_tail_point){-log(expm1(-log_below / law->param[0])), INFINITY};
}

static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    enum { PANELS = 64 };
    double a = law->param[0], from = -45 / fmin(a, 1), to = 45 + log(fmax(a, 1));
    int64_t n = 0;
    for (int i = 0; i <= PANELS; i++)
        n = xb_panel_add(out, capacity, n, from + (to - from) * i / PANELS);
    return n;
}

static const xb_family glogistic = {
    .name = "glogistic",
    .about = "a logistic law raised to the power a",
    .n_param = 1,
    .param = {{"a", 1, 0.1, 50}},
    .setup = setup,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .panels = panels,
};

/* ---- the row */

const xb_family *const xb_families[] = {
    &xb_family_gaussian, &xb_family_mtj,          &xb_family_ecram,
    &xb_family_bimodal,  &xb_family_laplace,      &xb_family_student,
    &glogistic,          &xb_family_sinh_arcsinh, &xb_family_empirical,
};

const int xb_families_count = XB_COUNT(xb_families);

/* ---- the chain */

static const double MEAN = 1, VARIANCE = M_PI * M_PI / 3 - 1; /* at a = 2 */

static void text_and_file(void **state)
{
    xb_ctx *ctx = *state;
    scratch s = scratch_make();
    xb_law *law = test_law(ctx, "glogistic:a=2"), *again = NULL;
    assert_string_equal(xb_law_text(law), "glogistic:a=2");
    assert_ok(ctx, xb_law_save(ctx, law, scratch_path(&s, "law.json")));
    assert_ok(ctx, xb_law_load(ctx, &again, s.path));
    assert_string_equal(xb_law_text(again), "glogistic:a=2");
    xb_law_destroy(again);
    again = NULL;
    assert_int_equal(xb_law_parse(ctx, &again, "glogistic:a=0.01"), XB_E_INPUT);
    assert_int_equal(xb_law_parse(ctx, &again, "glogistic:A=0.01"), XB_E_INPUT);
    assert_null(again);
    xb_law_destroy(law);
    assert_int_equal(scratch_remove(&s), 1);
}

static void density_moments_and_rule(void **state)
{
    xb_ctx *ctx = *state;
    xb_law *law = test_law(ctx, "glogistic:a=2");
    xb_rule rule = {0};
    assert_true(fabs(xb_law_cdf(law, 0) - 0.25) < 1e-15);
    assert_true(fabs(xb_law_pdf(law, 0) - 0.25) < 1e-15);
    assert_true(fabs(xb_law_quantile(law, 0.25)) < 1e-15);
    assert_true(fabs(xb_law_mean(law) - MEAN) < 1e-12);
    assert_true(fabs(xb_law_sd(law) * xb_law_sd(law) - VARIANCE) < 1e-12);
    assert_ok(ctx, xb_rule_fill_gauss(ctx, &rule, law, 8, XB_RECURRENCE_STABLE));
    double sum[3] = {0};
    for (int64_t i = 0; i < rule.n; i++)
        for (int k = 0; k < 3; k++) sum[k] += rule.weights[i] * pow(rule.nodes[i], k);
    assert_true(fabs(sum[0] - 1) < 1e-12 && fabs(sum[1] - MEAN) < 1e-12);
    assert_true(fabs(sum[2] - VARIANCE - MEAN * MEAN) < 1e-11);
    xb_rule_free(&rule);
    xb_law_destroy(law);
}

/* The sampler's quantile is the law's, standardised; draws have its first moments, within
 * four standard errors each: a false alarm in 8000. */
static void draws(void **state)
{
    enum { N = 1 << 16 };
    xb_ctx *ctx = *state;
    xb_law *law = test_law(ctx, "glogistic:a=2");
    xb_sampler *sampler = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    for (double v = 1e-6; v < 0.5; v *= 1.5) {
        double below = xb_sampler_quantile(sampler, v, false);
        double above = xb_sampler_quantile(sampler, v, true), sd = sqrt(VARIANCE);
        assert_close(xb_law_cdf(law, MEAN + sd * below), v, 1e-5);
        assert_close(xb_law_survival(law, MEAN + sd * above), v, 1e-5);
    }
    const xb_stream where = {.key = xb_key_make(3, XB_PURPOSE_TEST)};
    float *z = malloc(N * sizeof *z);
    double sum = 0, square = 0;
    assert_non_null(z);
    xb_sampler_fill(sampler, z, N, &where, 0);
    for (int i = 0; i < N; i++)
        sum += (double)z[i], square += (double)z[i] * (double)z[i];
    double kurtosis = xb_law_moments(law).excess_kurtosis;
    assert_true(fabs(sum / N) < 4 / sqrt(N));
    assert_true(fabs(square / N - 1) < 4 * sqrt((kurtosis + 2) / N));
    free(z);
    xb_sampler_destroy(sampler);
    xb_law_destroy(law);
}

/* Within four standard errors each: a false alarm in 8000. */
static void fit_finds_it(void **state)
{
    enum { N = 20000 };
    xb_ctx *ctx = *state;
    xb_law *law = test_law(ctx, "glogistic:a=3");
    double *x = NULL;
    xb_fit *fit = NULL;
    assert_ok(ctx, xb_noise_draw(ctx, &x, law, N, 11));
    for (int i = 0; i < N; i++) x[i] = 5 + 2 * x[i];
    assert_ok(ctx, xb_fit_run(ctx, &fit, x, N, NULL));
    const xb_fit_family *f = xb_fit_family_at(fit, xb_fit_chosen(fit));
    const double want[] = {3, 2, 5}; /* a, scale, offset */
    assert_string_equal(f->family, "glogistic");
    assert_true(f->converged && f->ks_p > 0.01 && f->ad_p > 0.01);
    for (int i = 0; i < 3; i++) {
        assert_true(f->std_error[i] > 0 && f->std_error[i] < 0.3 * want[i]);
        assert_true(fabs(f->value[i] - want[i]) < 4 * f->std_error[i]);
    }
    xb_fit_destroy(fit);
    free(x);
    xb_law_destroy(law);
}

static void kl_and_training(void **state)
{
    xb_ctx *ctx = *state;
    const xb_prior prior = {.kind = XB_PRIOR_NORMAL, .sd = 1};
    xb_law *law = test_law(ctx, "glogistic:a=2");
    xb_kl *closed = NULL, *by_rule = NULL;
    assert_ok(ctx, xb_kl_create(ctx, &closed, law, &prior, 0));
    assert_ok(ctx, xb_kl_create(ctx, &by_rule, law, &prior, 2));
    xb_kl_value a = xb_kl_one(closed, 0.3, 0.2), b = xb_kl_one(by_rule, 0.3, 0.2);
    assert_true(a.kl > 0 && fabs(a.kl - b.kl) < 1e-12);
    xb_kl_destroy(closed);
    xb_kl_destroy(by_rule);

    xb_train_options opt = quick_options();
    xb_model *plain = train_model(ctx, &opt, false, NULL);
    opt.law = law;
    xb_model *model = train_model(ctx, &opt, false, NULL);
    assert_string_equal(xb_law_text(xb_model_law(model)), "glogistic:a=2");
    assert_true(xb_model_noise_sd(model) < 1);
    assert_false(same_numbers(plain, model)); /* the law was used */
    xb_model_destroy(plain);
    xb_model_destroy(model);
    xb_law_destroy(law);
}

static void plan_predicts_what_draws_measure(void **state)
{
    xb_ctx *ctx = *state;
    enum { WEIGHTS = 4 };
    const float mu[WEIGHTS + 1] = {0}, sigma[WEIGHTS + 1] = {1, 1, 1, 1, 0};
    const float x[WEIGHTS] = {1, 1, 1, 1};
    const xb_weights weights = {mu, sigma, NULL, NULL};
    xb_law *law = test_law(ctx, "glogistic:a=2");
    xb_net *net = NULL;
    xb_plan plan;
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 1", (xb_shape){1, 1, WEIGHTS}, NULL));
    assert_ok(ctx, xb_plan_fill(ctx, &plan, net, &weights, x, law, NULL));
    assert_true(fabs(plan.n_eff - WEIGHTS) < 0.1 * WEIGHTS);
    double predicted = plan.predicted.value, measured = plan.measured.value;
    assert_true(measured > 1e-3 && fabs(predicted - measured) < 0.2 * measured);
    xb_net_destroy(net);
    xb_law_destroy(law);
}

/* ---- no stage names a family */

enum { SOURCE_SIZE = 1 << 18 };

static const char *const words[] = {"gaussian",     "mtj",     "ecram",
                                    "bimodal",      "laplace", "student",
                                    "sinh-arcsinh", "levels",  "empirical"};

/* The first line of a source that refers to a family's row or compares with its name. */
static bool names_a_family(char found[160], const char *text)
{
    for (int i = 0; i < XB_COUNT(words); i++) {
        char row[64], name[64];
        snprintf(row, sizeof row, "xb_family_%s", words[i]);
        for (char *dash = strchr(row, '-'); dash; dash = strchr(dash, '-')) *dash = '_';
        snprintf(name, sizeof name, "\"%s\"", words[i]);
        const char *at = strstr(text, row);
        for (const char *p = text; !at && (p = strstr(p, name)) != NULL; p++) {
            const char *line = p;
            while (line > text && line[-1] != '\n') line--;
            const char *compare = strstr(line, "strcmp(");
            if (compare && compare < p) at = line;
        }
        if (!at) continue;
        snprintf(found, 160, "%.*s", (int)strcspn(at, "\n"), at);
        return true;
    }
    return false;
}

static int check_folder(const char *path, char *text)
{
    int files = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char file[1024], found[160];
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || (strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0)) continue;
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        scratch_read(file, text, SOURCE_SIZE);
        if (names_a_family(found, text)) fail_msg("%s names a family: %s", file, found);
        files++;
    }
    closedir(dir);
    return files;
}

static void no_stage_names_a_family(void **state)
{
    (void)state;
    char *text = malloc(SOURCE_SIZE), found[160];
    int files = 0;
    assert_non_null(text);
    DIR *src = opendir(XB_SOURCE_DIR "/src");
    assert_non_null(src);
    for (struct dirent *e; (e = readdir(src)) != NULL;) {
        char path[512];
        if (e->d_name[0] == '.' || strcmp(e->d_name, "law") == 0) continue;
        snprintf(path, sizeof path, XB_SOURCE_DIR "/src/%s", e->d_name);
        files += check_folder(path, text);
    }
    closedir(src);
    free(text);
    assert_true(files > 150); /* it did look */
    assert_true(names_a_family(found, "a\nif (strcmp(name, \"mtj\") == 0)\n"));
    assert_true(names_a_family(found, "x = &xb_family_ecram;\n"));
    assert_true(names_a_family(found, "x = &xb_family_sinh_arcsinh;\n"));
    assert_false(names_a_family(found, "xb_law_parse(ctx, &law, \"gaussian\");\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_file),
        cmocka_unit_test(density_moments_and_rule),
        cmocka_unit_test(draws),
        cmocka_unit_test(fit_finds_it),
        cmocka_unit_test(kl_and_training),
        cmocka_unit_test(plan_predicts_what_draws_measure),
        cmocka_unit_test(no_stage_names_a_family),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
