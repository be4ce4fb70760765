/* test_claims.c: the paper's claims, judged on made-up studies: a finding turns when the
 * numbers turn, and nothing is found where there is nothing to find it by. */
#include "xbtest.h"

#include "base/ctx.h"
#include "reproduce/claims.h"
#include "reproduce/exhibits.h"
#include "study/study.h"

enum { AGREES = XB_FINDING_AGREES, DIFFERS = XB_FINDING_DIFFERS };
enum { UNCLEAR = XB_FINDING_UNCLEAR };

/* ---- claims */

static const xb_claim_kind *claim(const char *id)
{
    for (int i = 0; i < xb_claim_count(); i++)
        if (strcmp(xb_claim_at(i)->id, id) == 0) return xb_claim_at(i);
    fail_msg("no claim '%s'", id);
    return NULL;
}

static xb_study *new_study(xb_ctx *ctx)
{
    xb_study *study = NULL;
    assert_ok(ctx, xb_study_new(ctx, &study, "made-up", "none", 1));
    return study;
}

typedef struct made_fact {
    const char *name;
    double value, error;
} made_fact;

static xb_study *study_of(xb_ctx *ctx, const made_fact *fact)
{
    xb_study *study = new_study(ctx);
    for (; fact->name; fact++)
        assert_ok(ctx, xb_study_add_fact(ctx, study, fact->name, fact->value, fact->error,
                                         "made up"));
    return study;
}

static xb_judgement judge(xb_ctx *ctx, const char *id, const xb_study *study,
                          const char *device, bool made_up)
{
    xb_law *law = test_law(ctx, device), *mtj = test_law(ctx, "mtj:B=0.15,w=0.5");
    const xb_evidence e = {study, law, mtj, made_up};
    xb_judgement j;
    xb_claim_judge(&j, claim(id), &e);
    xb_law_destroy(law);
    xb_law_destroy(mtj);
    return j;
}

static void assert_finding(const char *id, const xb_judgement *j, int expected)
{
    static const char *const words[] = {"none", "agrees", "differs", "cannot tell"};
    if ((int)j->finding != expected)
        fail_msg("%s: %s, expected %s: %s. %s", id, words[j->finding], words[expected],
                 j->number, j->why);
}

/* Facts of a study, and what a claim that hangs on them comes to. */
static const struct {
    const char *id;
    made_fact fact[4];
    int expected;
} fact_cases[] = {
    {"two-points", {{"two_point_cross_entropy_error", 4e-16, NAN}}, AGREES},
    {"two-points", {{"two_point_cross_entropy_error", 1e-9, NAN}}, DIFFERS},
    {"wheeler", {{"wheeler_breaks_at", 11, NAN}}, AGREES},
    {"wheeler", {{"wheeler_breaks_at", 27, NAN}}, DIFFERS},
    {"parameters", {{"fit_B", 0.151, 0.002}, {"fit_w", 0.49, 0.01}}, AGREES},
    {"parameters", {{"fit_B", 0.16, 0.002}, {"fit_w", 0.49, 0.01}}, DIFFERS},
    {"not-gaussian", {{"kl_device", 0.05, NAN}, {"effective_samples", 1e4, NAN}}, AGREES},
    {"not-gaussian",
     {{"kl_device", 5e-5, NAN}, {"effective_samples", 1e4, NAN}},
     DIFFERS},
    {"bimodal-further", {{"kl_device", 0.05, NAN}, {"kl_bimodal", 0.2, NAN}}, AGREES},
    {"bimodal-further", {{"kl_device", 0.15, NAN}, {"kl_bimodal", 0.2, NAN}}, DIFFERS},
    {"ecram-nearer", {{"kl_device", 0.01, NAN}}, AGREES},
    {"ecram-nearer", {{"kl_device", 0.1, NAN}}, DIFFERS},
    {"device-same",
     {{"gap_mean_device_rms", 1e-3, 1e-3}, {"gap_sd_device_rms", 2e-3, 1e-3}},
     AGREES},
    {"device-same",
     {{"gap_mean_device_rms", 1e-3, 1e-3}, {"gap_sd_device_rms", 2e-2, 1e-3}},
     DIFFERS},
    {"device-same",
     {{"gap_mean_device_rms", 8e-3, 4e-3}, {"gap_sd_device_rms", 2e-3, 1e-3}},
     UNCLEAR},
    {"bimodal-same",
     {{"gap_mean_bimodal_rms", 1e-3, 1e-3}, {"gap_sd_bimodal_rms", 3e-3, 1e-3}},
     AGREES},
    {"bimodal-same",
     {{"gap_mean_bimodal_rms", 0.1, 1e-3}, {"gap_sd_bimodal_rms", 3e-3, 1e-3}},
     DIFFERS},
    {"device-training", {{"rmse", 0.058, 0.001}, {"rmse_trained", 0.058, 0.001}}, AGREES},
    {"device-training", {{"rmse", 0.058, 0.001}, {"rmse_trained", 0.08, 0.001}}, DIFFERS},
    {"literal-training",
     {{"rmse_literal", 0.06, NAN}, {"rmse_ideal", 0.058, NAN}},
     AGREES},
    {"literal-training",
     {{"rmse_literal", 0.2, NAN}, {"rmse_ideal", 0.058, NAN}},
     DIFFERS},
    {"outside-range", {{"coverage95_out", 0.94, 0.01}}, AGREES},
    {"outside-range", {{"coverage95_out", 0.4, 0.01}}, DIFFERS},
    {"outside-range", {{"coverage95_out", 0.89, 0.01}}, UNCLEAR},
    {"rmse", {{"rmse_gaussian", 7.6, 0.02}}, AGREES},
    {"rmse", {{"rmse_gaussian", 9.4, 0.02}}, DIFFERS},
    {"rmse", {{"rmse_gaussian", 5.9, 0.02}}, DIFFERS},
    {"rmse", {{"rmse_gaussian", 8.9, 0.3}}, UNCLEAR},
    {"swap",
     {{"rmse_gaussian", 8, 0.01},
      {"rmse_device", 8.01, 0.01},
      {"rmse_bimodal", 7.97, 0.01}},
     AGREES},
    {"swap",
     {{"rmse_gaussian", 8, 0.01},
      {"rmse_device", 8.01, 0.01},
      {"rmse_bimodal", 7.7, 0.01}},
     DIFFERS},
    {"swap-device-trained",
     {{"rmse_dev_gaussian", 8, 0.01},
      {"rmse_dev_device", 8.3, 0.01},
      {"rmse_dev_bimodal", 8, 0.01}},
     DIFFERS},
};

/* Claims that hang on one or two facts, on both sides of their limits. */
static void facts_turn_findings(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(fact_cases); i++) {
        xb_study *study = study_of(ctx, fact_cases[i].fact);
        xb_judgement j = judge(ctx, fact_cases[i].id, study, "mtj:B=0.15,w=0.5", false);
        assert_finding(fact_cases[i].id, &j, fact_cases[i].expected);
        xb_study_destroy(study);
    }
    xb_ctx_destroy(ctx);
}

/* What synthetic data find is no finding; what is missing is none either. */
static void nothing_is_found_without_data(void **state)
{
    (void)state;
    static const char *const need_data[] = {
        "fit",  "not-gaussian", "bimodal-further", "ecram-near-gaussian", "ecram-nearer",
        "rmse", "swap",         "calibration",     "swap-device-trained"};
    static const made_fact faces[] = {{"rmse_gaussian", 8, 0.01},
                                      {"rmse_device", 8, 0.01},
                                      {"rmse_bimodal", 8, 0.01},
                                      {"kl_device", 0.01, NAN},
                                      {"kl_bimodal", 0.2, NAN},
                                      {"effective_samples", 1e5, NAN},
                                      {NULL, 0, 0}};
    xb_ctx *ctx = test_ctx();
    xb_study *study = study_of(ctx, faces), *empty = new_study(ctx);
    for (int i = 0; i < XB_COUNT(need_data); i++) {
        xb_judgement j = judge(ctx, need_data[i], study, "mtj:B=0.15,w=0.5", true);
        assert_finding(need_data[i], &j, UNCLEAR);
    }
    for (int i = 0; i < xb_claim_count(); i++) {
        const xb_claim_kind *kind = xb_claim_at(i);
        if (strcmp(kind->id, "edge-slope") == 0) continue; /* it asks the law alone */
        xb_judgement j = judge(ctx, kind->id, empty, "mtj:B=0.15,w=0.5", false);
        assert_finding(kind->id, &j, UNCLEAR);
        assert_string_equal(j.number, "none");
        assert_true(strlen(j.why) > 0);
    }
    xb_study_destroy(study);
    xb_study_destroy(empty);
    xb_ctx_destroy(ctx);
}

static void claims_are_in_order(void **state)
{
    (void)state;
    int figure = 1, each[XB_PAPER_FIGURES + 1] = {0};
    for (int i = 0; i < xb_claim_count(); i++) {
        const xb_claim_kind *kind = xb_claim_at(i);
        assert_true(kind->figure >= figure && kind->figure <= XB_PAPER_FIGURES);
        figure = kind->figure;
        each[figure]++;
        assert_true(*kind->claim && *kind->paper && *kind->id);
        assert_ptr_equal(claim(kind->id), kind); /* no id twice */
    }
    assert_null(xb_claim_at(xb_claim_count()));
    for (int f = 1; f <= XB_PAPER_FIGURES; f++) {
        assert_true(each[f] >= 3);
        for (int p = 0; p < XB_PICTURES_MAX && xb_exhibit_at(f)->picture[p].part; p++)
            assert_int_equal(claim(xb_exhibit_at(f)->picture[p].by)->figure, f);
    }
}

/* The law's slope at the edge is 2C only where the exponential has none. */
static void the_slope_is_the_laws(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *empty = new_study(ctx);
    xb_judgement j = judge(ctx, "edge-slope", empty, "mtj:B=0.15,w=0.5", false);
    assert_finding("edge-slope", &j, DIFFERS);
    xb_law *law = test_law(ctx, "mtj:B=0.15,w=0.5");
    double a = xb_law_number(law, "A"), c = xb_law_number(law, "C");
    assert_close(j.value, a * exp(-1 / 0.15) / 0.15 / (2 * c), 1e-4);
    j = judge(ctx, "edge-slope", empty, "mtj:B=0.01,w=0.5", false); /* e^-100 */
    assert_finding("edge-slope", &j, AGREES);
    xb_law_destroy(law);
    xb_study_destroy(empty);
    xb_ctx_destroy(ctx);
}

/* ---- claims that read tables */

static xb_table *add_table(xb_ctx *ctx, xb_study *study, const char *name, int64_t rows,
                           int columns, const char *const *names)
{
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, name, rows, columns, names));
    return t;
}

/* A table without a row says as little as none. */
static void empty_tables_are_none(void **state)
{
    (void)state;
    static const char *const names[] = {
        "n",     "legendre", "paper_split", "hermite", "paper_laguerre", "degree",
        "u",     "exact",    "direct",      "draws",   "corrected",      "std_error",
        "depth", "width",    "y",           "target",  "gaussian",       "gaussian_mc",
        "law",   "seed",     "kl",          "device",  "device_mc",      "kl_error",
        "x",     "density",  "fit",         "bimodal", "bimodal_mc",     "true_sd"};
    static const char *const tables[] = {"device_variance_step",
                                         "device_kl_step",
                                         "bimodal_kl_error",
                                         "kl",
                                         "device_variance_error",
                                         "near_zero",
                                         "device_kl_error",
                                         "u_error",
                                         "histogram",
                                         "densities",
                                         "kl_error",
                                         "calibration",
                                         "bands"};
    xb_ctx *ctx = test_ctx();
    xb_study *study = new_study(ctx);
    for (int i = 0; i < XB_COUNT(tables); i++)
        (void)add_table(ctx, study, tables[i], 0, XB_COUNT(names), names);
    for (int i = 0; i < xb_claim_count(); i++) {
        const char *id = xb_claim_at(i)->id;
        if (strcmp(id, "edge-slope") == 0) continue; /* it asks the law alone */
        xb_judgement j = judge(ctx, id, study, "mtj:B=0.15,w=0.5", false);
        assert_finding(id, &j, UNCLEAR);
    }
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

/* (H2) Every bin is off by `spreads` of its own; five degrees of freedom are the fit's.
 */
static void misfit_turns_findings(void **state)
{
    (void)state;
    enum { BINS = 27, USED = BINS - 2, FREE = USED - 5, EACH = 100 };
    static const char *const names[] = {"x", "density", "fit"};
    static const struct {
        double spreads;
        int expected;
    } cases[] = {{1, AGREES}, {2, DIFFERS}};
    const made_fact samples[] = {{"samples", BINS * EACH, NAN}, {NULL, 0, 0}};
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_study *study = study_of(ctx, samples);
        xb_table *t = add_table(ctx, study, "histogram", BINS, XB_COUNT(names), names);
        double off = cases[i].spreads * sqrt(EACH), square = pow(cases[i].spreads, 2);
        for (int r = 0; r < BINS; r++) {
            const double fit = 1.0 / BINS, side = r % 2 ? 1 : -1;
            const double cell[] = {r, fit * (1 + side * off / EACH), fit};
            for (int c = 0; c < XB_COUNT(cell); c++) xb_table_set(t, r, c, cell[c]);
        }
        xb_judgement j = judge(ctx, "fit", study, "mtj:B=0.15,w=0.5", false);
        assert_finding("fit", &j, cases[i].expected);
        assert_close(j.value, USED * square / FREE, 1e-12);
        xb_study_destroy(study);
    }
    xb_ctx_destroy(ctx);
}

/* Nets of widths 1, 4, 16 and `depths` depths; KL of law l at width w is kl(w). */
static xb_study *energy_study(xb_ctx *ctx, int depths, const double kl[3], double error)
{
    static const char *const names[] = {"law",   "seed", "depth",
                                        "width", "kl",   "kl_error"};
    static const double width[] = {1, 4, 16};
    xb_study *study = new_study(ctx);
    xb_table *t = add_table(ctx, study, "kl", 2 * depths * 3, XB_COUNT(names), names);
    int64_t row = 0;
    for (int law = 1; law <= 2; law++)
        for (int d = 1; d <= depths; d++)
            for (int w = 0; w < 3; w++, row++) {
                const double cell[] = {law, 1, d, width[w], kl[w], error};
                for (int c = 0; c < XB_COUNT(cell); c++) xb_table_set(t, row, c, cell[c]);
            }
    return study;
}

static void nets_turn_findings(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        int depths;
        double kl[3], error;
        int expected;
    } cases[] = {
        {"device-falls", 2, {1e-2, 1e-3, 1e-4}, 1e-5, AGREES},
        {"bimodal-falls", 2, {1e-4, 1e-3, 1e-2}, 1e-5, DIFFERS},
        {"bimodal-falls", 2, {1e-3, 1e-3, 9e-4}, 1e-3, UNCLEAR},
        {"ecram-falls", 3, {1e-2, 1e-3, 1e-4}, 1e-5, AGREES},
        {"small-width", 2, {1e-2, 1e-3, 1e-4}, 1e-5, AGREES},
        {"small-width", 2, {1e-1, 5e-2, 2e-2}, 1e-5, DIFFERS},
        {"small-width", 2, {1e-2, 1e-2, 5e-3}, 1e-3, UNCLEAR},
        {"width-does-it", 5, {1e-2, 1e-3, 1e-4}, 1e-6, AGREES},
        {"width-does-it", 1, {1e-2, 1e-3, 1e-4}, 1e-6, UNCLEAR}, /* four steps */
        {"width-does-it", 5, {1e-2, 1e-3, 1e-3}, 1e-6, DIFFERS},
        {"ecram-narrow", 2, {1e-3, 1e-4, 1e-5}, 1e-5, AGREES},
        {"ecram-narrow", 2, {1e-2, 1e-4, 1e-5}, 1e-5, DIFFERS},
        {"ecram-narrow", 2, {5e-3, 1e-4, 1e-5}, 1e-4, UNCLEAR},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_study *study = energy_study(ctx, cases[i].depths, cases[i].kl, cases[i].error);
        xb_judgement j = judge(ctx, cases[i].id, study, "ecram:B=0.1,w=0.6", false);
        assert_finding(cases[i].id, &j, cases[i].expected);
        xb_study_destroy(study);
    }
    xb_ctx_destroy(ctx);
}

/* Curves of widths 1 and 8, one depth: bimodal is off the target by a shift. */
static void outputs_turn_findings(void **state)
{
    (void)state;
    enum { POINTS = 81 };
    static const char *const names[] = {"depth",    "width",  "y",      "target",
                                        "gaussian", "device", "bimodal"};
    static const struct {
        double narrow, wide, floor;
        int expected;
    } cases[] = {
        {0.5, 0.01, 1e-4, AGREES}, {0.1, 0.5, 1e-4, DIFFERS}, {0.1, 0.09, 1e-3, UNCLEAR}};
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        const made_fact floor[] = {{"floor", cases[i].floor, NAN}, {NULL, 0, 0}};
        xb_study *study = study_of(ctx, floor);
        xb_table *t =
            add_table(ctx, study, "densities", 2 * POINTS, XB_COUNT(names), names);
        for (int r = 0; r < 2 * POINTS; r++) {
            double y = 0.1 * (r % POINTS - POINTS / 2);
            double off = r < POINTS ? cases[i].narrow : cases[i].wide;
            double target = exp(-y * y / 2) / sqrt(2 * M_PI);
            double moved = exp(-(y - off) * (y - off) / 2) / sqrt(2 * M_PI);
            const double cell[] = {1,    r < POINTS ? 1 : 8, y, target, target, target,
                                   moved};
            for (int c = 0; c < XB_COUNT(cell); c++) xb_table_set(t, r, c, cell[c]);
        }
        xb_judgement j = judge(ctx, "to-target", study, "gaussian", false);
        assert_finding("to-target", &j, cases[i].expected);
        /* total variation of two Gaussians: erf(shift / sqrt 8) */
        assert_close(j.value, erf(cases[i].wide / sqrt(8)), 0.01);
        xb_study_destroy(study);
    }
    xb_ctx_destroy(ctx);
}

/* Errors or changes of two rules, constant over all orders. */
static xb_study *rules_study(xb_ctx *ctx, const char *const table[2],
                             const double value[2], const char *const rule[2])
{
    enum { ORDERS = 16 };
    const char *names[] = {"n", rule[0], rule[1]};
    xb_study *study = new_study(ctx);
    for (int k = 0; k < 2 && table[k]; k++) {
        xb_table *t = add_table(ctx, study, table[k], ORDERS, XB_COUNT(names), names);
        for (int r = 0; r < ORDERS; r++) {
            xb_table_set(t, r, 0, 2 * r + 2);
            for (int c = 0; c < 2; c++) xb_table_set(t, r, 1 + c, value[c]);
        }
    }
    return study;
}

static void rules_turn_findings(void **state)
{
    (void)state;
    static const char *const standard[2] = {"legendre", "paper_split"};
    static const char *const mixture[2] = {"hermite", "paper_laguerre"};
    static const struct {
        const char *id, *table[2];
        bool mixture;
        double value[2];
        int expected;
    } cases[] = {
        {"steps-variance", {"device_variance_step"}, false, {1e-6, 1e-20}, AGREES},
        {"steps-variance", {"device_variance_step"}, false, {1e-20, 1e-6}, DIFFERS},
        {"steps-kl", {"device_kl_step"}, false, {1e-6, 1e-6}, UNCLEAR},
        {"true-error",
         {"device_variance_error", "device_kl_error"},
         false,
         {1e-3, 1e-6},
         AGREES},
        {"true-error",
         {"device_variance_error", "device_kl_error"},
         false,
         {1e-6, 1e-3},
         DIFFERS},
        {"laguerre", {"bimodal_kl_error"}, true, {1e-3, 1e-6}, AGREES},
        {"laguerre", {"bimodal_kl_error"}, true, {1e-6, 1e-3}, DIFFERS},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_study *study = rules_study(ctx, cases[i].table, cases[i].value,
                                      cases[i].mixture ? mixture : standard);
        xb_judgement j = judge(ctx, cases[i].id, study, "gaussian", false);
        assert_finding(cases[i].id, &j, cases[i].expected);
        xb_study_destroy(study);
    }
    xb_ctx_destroy(ctx);
}

/* One row each, so that one table says one thing. */
static void draws_turn_findings(void **state)
{
    (void)state;
    static const char *const kl[] = {"draws", "direct", "corrected", "std_error"};
    static const char *const u[] = {"degree", "direct", "corrected"};
    static const char *const edge[] = {"u", "exact", "direct", "corrected"};
    static const struct {
        double kl[4], u[3], edge[4];
        int direct, corrected, fit, near;
    } cases[] = {
        {{1e6, 6e-3, 1e-4, 3e-4},
         {10, 1e-2, 1e-5},
         {0, -1, -0.9, -0.99},
         AGREES,
         AGREES,
         AGREES,
         AGREES},
        {{1e6, 1e-4, 6e-3, 3e-4},
         {10, 1e-5, 1e-2},
         {0, -1, -0.99, -0.9},
         DIFFERS,
         DIFFERS,
         DIFFERS,
         DIFFERS},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_study *study = new_study(ctx);
        xb_table *t = add_table(ctx, study, "kl_error", 1, XB_COUNT(kl), kl);
        for (int c = 0; c < XB_COUNT(kl); c++) xb_table_set(t, 0, c, cases[i].kl[c]);
        t = add_table(ctx, study, "u_error", 1, XB_COUNT(u), u);
        for (int c = 0; c < XB_COUNT(u); c++) xb_table_set(t, 0, c, cases[i].u[c]);
        t = add_table(ctx, study, "near_zero", 1, XB_COUNT(edge), edge);
        for (int c = 0; c < XB_COUNT(edge); c++) xb_table_set(t, 0, c, cases[i].edge[c]);
        const struct {
            const char *id;
            int expected;
        } asked[] = {{"direct-bias", cases[i].direct},
                     {"corrected-converges", cases[i].corrected},
                     {"corrected-fit", cases[i].fit},
                     {"near-zero", cases[i].near}};
        for (int k = 0; k < XB_COUNT(asked); k++) {
            xb_judgement j = judge(ctx, asked[k].id, study, "gaussian", false);
            assert_finding(asked[k].id, &j, asked[k].expected);
        }
        xb_study_destroy(study);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_turn_findings),
        cmocka_unit_test(nothing_is_found_without_data),
        cmocka_unit_test(claims_are_in_order),
        cmocka_unit_test(the_slope_is_the_laws),
        cmocka_unit_test(empty_tables_are_none),
        cmocka_unit_test(misfit_turns_findings),
        cmocka_unit_test(nets_turn_findings),
        cmocka_unit_test(outputs_turn_findings),
        cmocka_unit_test(rules_turn_findings),
        cmocka_unit_test(draws_turn_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
