/* test_finding_grid.c: every finding over a grid of numbers and errors (exactly zero,
 * rounding, tiny, at the threshold and on either side, far off, below zero, unknown,
 * infinite): its kind is what the number and its error say, and label, sentence and the
 * study's file agree with it. */
#include <jansson.h>

#include "xbtest.h"

#include "base/ctx.h"
#include "study/findings.h"

static const double values[] = {0, -8.48e-19, 1e-300, 1e-6, 0.5,    0.999, 1,   1.001,
                                2, 100,       -0.5,   -1,   -1.001, -100,  NAN, INFINITY};
static const double errors[] = {0, 1e-300, 1e-6, 0.01, 0.3, 5, INFINITY, NAN};

/* A finding: how a study is made whose number is `value` limits, and what its kinds are
 * called. */
typedef struct finding_case {
    const char *name;
    void (*make)(xb_ctx *ctx, xb_study *study, double value, double error);
    xb_study_find_fn *find;
    int index;              /* of the study's findings */
    double errors;          /* standard errors that count; 0: the number is exact */
    bool is_distance;       /* KL: far below 0 is not far */
    bool one_sided;         /* below the limit is always good */
    const char *word[2][3]; /* agrees, differs, unclear; of positive and negative ones */
    const char *says[2][3]; /* what the sentence has then */
} finding_case;

static void fact(xb_ctx *ctx, xb_study *study, const char *name, double value,
                 double error)
{
    assert_ok(ctx, xb_study_add_fact(ctx, study, name, value, error, "%s", name));
}

static void row(xb_ctx *ctx, xb_study *study, const char *name, int columns,
                const char *const *names, const double *cell)
{
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, name, 1, columns, names));
    for (int c = 0; c < columns; c++) xb_table_set(t, 0, c, cell[c]);
}

static void make_quadrature(xb_ctx *ctx, xb_study *study, double value, double error)
{
    (void)error;
    fact(ctx, study, "two_point_cross_entropy_error", 1e-16, NAN);
    fact(ctx, study, "smooth_kl_error", value * 1e-12, NAN);
    fact(ctx, study, "device_kl", -8.48e-19, NAN);
}

static void make_quantile(xb_ctx *ctx, xb_study *study, double value, double error)
{
    (void)error;
    fact(ctx, study, "sampler_u_error_float", value * 1e-5, NAN);
    fact(ctx, study, "sampler_u_error_double", 1e-16, NAN);
}

static void make_energy(xb_ctx *ctx, xb_study *study, double value, double error)
{
    static const char *const names[] = {"law",   "depth", "width",
                                        "n_eff", "kl",    "kl_error"};
    row(ctx, study, "kl", 6, names,
        (const double[]){1, 1, 8, 2.5, value * 1e-3, error * 1e-3});
}

static void make_narrow(xb_ctx *ctx, xb_study *study, double value, double error)
{
    static const char *const names[] = {"law",   "depth", "width",
                                        "n_eff", "tail2", "tail2_error"};
    row(ctx, study, "gaps", 6, names,
        (const double[]){1, 1, 2, 1.5, value * 0.05, error * 0.05});
}

static void make_scalar(xb_ctx *ctx, xb_study *study, double value, double error)
{
    fact(ctx, study, "rmse", 2 * (1 + 0.1 * value), 0.2 * error);
    fact(ctx, study, "rmse_ideal", 2, NAN);
    fact(ctx, study, "coverage95", 0.96, NAN);
    fact(ctx, study, "coverage95_out", 0.4, NAN);
    fact(ctx, study, "gap_mean_device_rms", value * 0.01, error * 0.01);
    fact(ctx, study, "gap_sd_device_rms", 0, 0);
}

static void make_faces(xb_ctx *ctx, xb_study *study, double value, double error)
{
    static const char *const names[] = {"coverage95", "miscalibration_area",
                                        "miscalibration_area_mc", "miscalibration_floor"};
    double limit = 2 * sqrt(0.95 * 0.05 / 400);
    row(ctx, study, "scores", 4, names,
        (const double[]){0.95 + value * limit, 0.03, 0.003, 0.03});
    fact(ctx, study, "test", 400, NAN);
    fact(ctx, study, "rmse_gap", value * 0.05 * 8, error * 0.05 * 8);
    fact(ctx, study, "rmse_gaussian", 8, 0.05);
}

static void make_array(xb_ctx *ctx, xb_study *study, double value, double error)
{
    fact(ctx, study, "shape_device_scalar", value * 0.1, error * 0.1);
    fact(ctx, study, "shape_device_table", 0, 0);
    fact(ctx, study, "adc_bits_scalar", 7, NAN);
    fact(ctx, study, "adc_bits_table", 8, NAN);
    fact(ctx, study, "mean_levels_scalar", 256, NAN);
    fact(ctx, study, "mean_levels_table", 64, NAN);
}

#define BOTH(a, d, u)                                                                    \
    {                                                                                    \
        {a, d, u}, { a, d, u }                                                           \
    }

#define LIMITS                                                                           \
    BOTH("Both are within their limits.", "At least one is beyond its limit.",           \
         "One of them is unknown.")
#define SIDES(limit)                                                                     \
    BOTH(": within " limit, ": beyond " limit,                                           \
         ": neither clearly within nor clearly beyond " limit)
#define SHAPE BOTH("shape does not matter", "shape matters", "cannot tell")

static const finding_case cases[] = {
    {"quadrature", make_quadrature, xb_find_quadrature, 0, 0, false, false,
     BOTH("accurate", "not accurate", "cannot tell"), LIMITS},
    {"quantile", make_quantile, xb_find_quantile, 0, 0, false, false,
     BOTH("accurate", "not accurate", "cannot tell"), LIMITS},
    {"energy", make_energy, xb_find_energy, 0, 3, true, false, SHAPE,
     BOTH("does not matter from", "noise matters up to", "may or may not matter at")},
    {"narrow", make_narrow, xb_find_narrow, 0, 3, false, false, SHAPE,
     BOTH("does not matter even", "Shape matters in", "may or may not matter in")},
    {"learnt", make_scalar, xb_find_scalar, 0, 2, false, true,
     BOTH("learnt", "not learnt", "cannot tell"), SIDES("10 %")},
    {"swapped", make_scalar, xb_find_scalar, 1, 2, false, false,
     BOTH("same", "different", "cannot tell"), SIDES("0.01")},
    {"calibrated",
     make_faces,
     xb_find_utkface,
     0,
     0,
     false,
     false,
     {{"calibrated", "underconfident", "cannot tell"},
      {"calibrated", "overconfident", "cannot tell"}},
     {{", as many as they should;", ", too many;", "may or may not"},
      {", as many as they should;", ", too few;", "may or may not"}}},
    {"faces swapped", make_faces, xb_find_utkface, 1, 2, false, false,
     BOTH("same", "different", "cannot tell"), SIDES("0.4")},
    {"array", make_array, xb_find_array, 0, 2, false, false, SHAPE,
     BOTH("noise does not matter", "noise matters", "noise may or may not matter")},
};

/* What the number and its error say, in limits: (H1), written anew. At the limit itself,
 * give or take rounding, either side will do: -1. */
static int expected(const finding_case *c, double value, double error)
{
    double size = c->one_sided && value < 0 ? 0 : fabs(value);
    double wide = c->errors > 0 ? c->errors * error : 0;
    if (isnan(size) || isnan(wide)) return XB_FINDING_UNCLEAR;
    if (fabs(size + wide - 1) < 1e-9 || fabs(size - wide - 1) < 1e-9) return -1;
    if (size + wide < 1) return XB_FINDING_AGREES;
    if (!(size - wide > 1)) return XB_FINDING_UNCLEAR;
    return c->is_distance && value < 0 ? XB_FINDING_UNCLEAR : XB_FINDING_DIFFERS;
}

static void check_words(const finding_case *c, xb_finding f, double value)
{
    static const char *const never[] = {"nan", "-nan", "e-19", "-0 ", "e-30"};
    int sign = value < 0, is = (int)f.kind - XB_FINDING_AGREES;
    assert_string_equal(f.word, c->word[sign][is]);
    for (int k = 0; k < 3; k++)
        if ((strstr(f.text, c->says[sign][k]) != NULL) != (k == is))
            fail_msg("%s of %g: '%s' with the label '%s'", c->name, value, f.text,
                     f.word);
    for (size_t k = 0; k < sizeof never / sizeof *never; k++)
        if (strstr(f.text, never[k])) fail_msg("%s of %g: '%s'", c->name, value, f.text);
}

/* The file says the same. */
static void check_file(xb_ctx *ctx, const xb_study *study, const finding_case *c)
{
    static const char *const kinds[] = {"none", "agrees", "differs", "unclear"};
    xb_finding f = xb_study_finding_at(study, c->index);
    char *text = NULL;
    assert_ok(ctx, xb_study_json(ctx, &text, study));
    json_t *root = json_loads(text, 0, NULL);
    json_t *one = json_array_get(json_object_get(root, "findings"), (size_t)c->index);
    assert_string_equal(json_string_value(json_object_get(one, "verdict")),
                        kinds[f.kind]);
    assert_string_equal(json_string_value(json_object_get(one, "word")), f.word);
    assert_string_equal(json_string_value(json_object_get(one, "text")), f.text);
    json_decref(root);
    free(text);
}

static void check_case(const finding_case *c, double value, double error)
{
    xb_ctx *ctx = test_ctx();
    xb_study *study = NULL;
    assert_ok(ctx, xb_study_new(ctx, &study, "grid", "mtj", 1));
    c->make(ctx, study, value, error);
    assert_ok(ctx, c->find(ctx, study));
    assert_true(c->index < xb_study_finding_count(study));
    xb_finding f = xb_study_finding_at(study, c->index);
    int kind = expected(c, value, error);
    if (kind >= 0 && (int)f.kind != kind)
        fail_msg("%s of %g ± %g: found %d, expected %d: '%s'", c->name, value, error,
                 f.kind, kind, f.text);
    check_words(c, f, value);
    check_file(ctx, study, c);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void label_sentence_and_file_agree(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
                check_case(&cases[c], values[v], errors[e]);
}

/* Whether samples are Gaussian: p-values and numbers of samples on either side. */
static void gaussian_label_and_sentence_agree(void **state)
{
    (void)state;
    static const double p[] = {0, 1e-300, 0.0099, 0.01, 0.5, 1, NAN};
    static const double n[] = {0, 13, 99.9, 100, 1e5, INFINITY, NAN};
    static const double kl[] = {0, -8.48e-19, 0.05, NAN};
    static const finding_case c = {
        .name = "laws",
        .word = BOTH("Gaussian", "not Gaussian", "cannot tell"),
        .says = BOTH("A Gaussian fits these samples", "These samples are not Gaussian",
                     "neither confirm a Gaussian nor rule it out")};
    for (int i = 0; i < 7 * 7 * 4 * 2; i++) {
        double pi = p[i % 7], ni = n[i / 7 % 7];
        bool fits = i / 196;
        xb_ctx *ctx = test_ctx();
        xb_study *study = NULL;
        assert_ok(ctx, xb_study_new(ctx, &study, "laws", "mtj", 1));
        fact(ctx, study, "kl_device", kl[i / 49 % 4], NAN);
        fact(ctx, study, "excess_kurtosis_device", 0, NAN);
        fact(ctx, study, "gaussian_p", pi, NAN);
        fact(ctx, study, "gaussian_fits", fits, NAN);
        fact(ctx, study, "effective_samples", ni, NAN);
        assert_ok(ctx, xb_find_laws(ctx, study));
        xb_finding f = xb_study_finding_at(study, 0);
        assert_int_equal(f.kind, pi < 0.01                         ? XB_FINDING_DIFFERS
                                 : pi >= 0.01 && fits && ni >= 100 ? XB_FINDING_AGREES
                                                                   : XB_FINDING_UNCLEAR);
        check_words(&c, f, 0);
        check_file(ctx, study, &c);
        xb_study_destroy(study);
        xb_ctx_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_sentence_and_file_agree),
        cmocka_unit_test(gaussian_label_and_sentence_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
