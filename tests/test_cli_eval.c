/* test_cli_eval.c: `eval --json` prints the numbers that xb_evaluate gives for the same
 * files, for numbers, numbers with noise of their own at each row, and classes. */
#include "clitest.h"

enum { ROWS = 90, LAWS = 2 };

typedef struct table {
    double x[2 * ROWS], y[ROWS];
} table;

/* y = sin a + b with noise that grows with |a|, or whether that is above 0. */
static table make_table(const char *name, bool classes)
{
    table t;
    char path[512];
    in_folder(path, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    const xb_stream where = {.key = xb_key_make(7, XB_PURPOSE_TEST)};
    fprintf(f, "a,b,y\n");
    for (int i = 0; i < ROWS; i++) {
        double a = 4 * xb_stream_uniform(&where, 3 * i) - 2;
        double b = xb_stream_uniform(&where, 3 * i + 1);
        double y = sin(a) + b + fabs(a) * (xb_stream_uniform(&where, 3 * i + 2) - 0.5);
        t.x[2 * i] = a, t.x[2 * i + 1] = b;
        t.y[i] = classes ? y > 0.5 : y;
        fprintf(f, "%.17g,%.17g,%.17g\n", a, b, t.y[i]);
    }
    fclose(f);
    return t;
}

static void same_number(const json_t *object, const char *key, double value)
{
    const json_t *found = json_object_get(object, key);
    if (!found) fail_msg("'%s' is not there", key);
    const double number = json_is_null(found) ? NAN : json_number_value(found);
    if (!(number == value || (isnan(number) && !isfinite(value))))
        fail_msg("%s: %.17g, the library has %.17g", key, number, value);
}

/* Every score of the JSON is one of the library's, whatever it is called. */
static void same_scores(const json_t *law, const xb_scores *s)
{
    static const char *const other[][2] = {{"coverage", "coverage95"},
                                           {"width", "width95"}};
    int found = 0;
    for (int64_t i = 0; i < xb_scores_count(s); i++) {
        const char *name = xb_scores_name(s, i);
        const xb_score score = xb_scores_at(s, i);
        char key[64];
        for (int k = 0; k < 2; k++)
            if (strcmp(name, other[k][0]) == 0) name = other[k][1];
        if (!json_object_get(law, name)) continue;
        same_number(law, name, score.value);
        snprintf(key, sizeof key, "%s_error", name);
        same_number(law, key, score.std_error);
        snprintf(key, sizeof key, "%s_mc_error", name);
        same_number(law, key, score.mc_error);
        found++;
    }
    if (xb_scores_classes(s) > 0)
        same_number(law, "ece_chance", xb_scores_get(s, "ece_floor").value);
    else
        same_number(law, "miscalibration_area_chance",
                    xb_scores_get(s, "miscalibration_floor").value);
    assert_int_equal(found, xb_scores_classes(s) > 0 ? 6 : 9);
}

static void same_gaps(const json_t *object, const xb_distances *d)
{
    assert_string_equal(words(object, "verdict"),
                        xb_verdict_name(xb_distances_verdict(d)));
    for (int64_t i = 0; i < xb_distances_gap_count(d); i++) {
        const json_t *found = json_object_get(object, xb_distances_gap_name(d, i));
        const xb_gap gap = xb_distances_gap_at(d, i);
        assert_non_null(found);
        same_number(found, "rms", gap.rms);
        same_number(found, "noise", gap.noise);
        same_number(found, "lower", gap.lower);
        same_number(found, "upper", gap.upper);
        same_number(found, "draws_needed", gap.draws_needed);
        assert_string_equal(words(found, "verdict"), xb_verdict_name(gap.verdict));
    }
}

static void same_law(const json_t *law, const xb_evaluation *e, int64_t i)
{
    same_scores(law, xb_evaluation_scores(e, i));
    const json_t *distance = json_object_get(law, "distance");
    const xb_distances *d = xb_evaluation_outputs(e, i);
    assert_true((distance != NULL) == (d != NULL) && (d != NULL) == (i > 0));
    if (!d) return;
    same_gaps(distance, d);
    same_number(distance, "rows", (double)xb_evaluation_compared_rows(e));
    same_number(distance, "kl_at_least", xb_evaluation_kl_at_least(e, i));
    same_number(distance, "wasserstein", xb_distances_get(d, "wasserstein").value);
    same_number(distance, "ks", xb_distances_get(d, "ks").value);
    if (xb_evaluation_predictive(e, i)) {
        same_gaps(json_object_get(distance, "predictive"),
                  xb_evaluation_predictive(e, i));
        same_number(distance, "nll_difference", xb_evaluation_nll_difference(e, i).value);
    } else {
        same_number(distance, "probability_gap", xb_evaluation_probability_gap(e, i));
    }
}

static xb_evaluation *evaluate(xb_ctx *ctx, const table *t, int64_t samples)
{
    char path[512];
    xb_model *model = NULL;
    xb_law *law[LAWS] = {test_law(ctx, "gaussian"), test_law(ctx, "bimodal:m=0.99")};
    xb_evaluation *e = NULL;
    const xb_rows rows = {.x = t->x, .n = ROWS, .features = 2};
    xb_evaluate_options opt = xb_evaluate_options_default();
    opt.draws = samples;
    opt.seed = 9;
    opt.tolerance = 0.05;
    in_folder(path, "m.safetensors");
    assert_ok(ctx, xb_model_load(ctx, &model, path));
    assert_ok(ctx, xb_evaluate(ctx, &e, model, &rows, t->y, (const xb_law *const *)law,
                               LAWS, &opt));
    for (int i = 0; i < LAWS; i++) xb_law_destroy(law[i]);
    xb_model_destroy(model);
    return e;
}

static void check(const char *options, bool classes, const char *samples, int64_t count)
{
    char line[512], json[520];
    folder_empty(folder);
    const table t = make_table("t.csv", classes);
    snprintf(line, sizeof line,
             "train t.csv --target y -o m.safetensors --quiet --epochs 20 --mle-epochs 20"
             " --net 'dense 6, elu, dense %d' %s",
             classes ? 2 : 1, options);
    run_well(line);
    snprintf(line, sizeof line,
             "eval m.safetensors t.csv --law gaussian --law bimodal:m=0.99 --seed 9"
             " --tolerance 0.05 --draws %s",
             samples);
    snprintf(json, sizeof json, "%s --json", line);
    json_t *root = run_json(json);
    xb_ctx *ctx = test_ctx();
    xb_evaluation *e = evaluate(ctx, &t, count);
    same_number(root, "rows", ROWS);
    same_number(root, "draws", (double)xb_evaluation_draws(e));
    const json_t *laws = json_object_get(root, "laws");
    assert_int_equal(json_array_size(laws), LAWS);
    for (int i = 0; i < LAWS; i++) same_law(json_array_get(laws, (size_t)i), e, i);
    json_decref(root);
    run_well(line); /* prints its sentences */
    assert_int_equal(xb_evaluation_finding_count(e, 1), classes ? 5 : 6);
    for (int64_t k = 0; k < xb_evaluation_finding_count(e, 1); k++)
        assert_non_null(strstr(out_text, xb_evaluation_finding_at(e, 1, k)));
    xb_evaluation_destroy(e);
    xb_ctx_destroy(ctx);
}

static void numbers(void **state)
{
    (void)state;
    check("", false, "300", 300);
}

static void numbers_with_noise_of_their_own(void **state)
{
    (void)state;
    check("--likelihood heteroscedastic", false, "auto", 0);
}

static void classes(void **state)
{
    (void)state;
    check("--classes", true, "300", 300);
}

/* A net of one weight: its predictives under two laws are the same, though the measured
 * difference, which is noise, is above the tolerance; then the sentence has the bound. */
static void same_beyond_the_tolerance_has_its_bound(void **state)
{
    (void)state;
    double measured = 0, noise = 0, bound = 0;
    make_table("line.csv", false);
    run_well("train line.csv -t y --only a --net 'dense 1 nobias' --members 1 -q"
             " -o line.safetensors");
    run_well("eval line.safetensors line.csv --law gaussian --law bimodal:m=0.99");
    const char *line = strstr(out_text, "predictives, with the data's noise");
    assert_non_null(line);
    assert_int_equal(sscanf(line,
                            "predictives, with the data's noise, differ as much as a mean"
                            " shift of %lf of their sd (noise alone %lf; without it at "
                            "most %lf): same",
                            &measured, &noise, &bound),
                     3);
    assert_true(measured > 0.01 && noise > 0.005 && bound < 0.01);
    assert_non_null(strstr(line, "): same\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(numbers_with_noise_of_their_own),
        cmocka_unit_test(classes),
        cmocka_unit_test(same_beyond_the_tolerance_has_its_bound),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
