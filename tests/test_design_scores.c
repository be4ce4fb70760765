/* test_design_scores.c: the quality and the cost of one design. Scores of groups of draws
 * against the library's own scores, a design's loss against the same computed through the
 * public API chip by chip, costs against the cost model. */
#include "designtest.h"

#include "compare/target_scorer.h"
#include "crossbayes/score.h"
#include "design/search.h"

/* ---- scores */

static void groups_have_the_librarys_scores(void **state)
{
    (void)state;
    enum { N = 9, READS = 14 };
    xb_ctx *ctx = test_ctx();
    double value[READS * N], sd[2 * N], y[N], room[2 * READS * N + 4 * N];
    double row[XB_QUALITIES * N];
    xb_stream where = {xb_key_make(5, XB_PURPOSE_TEST), 0, 0, 0};
    for (int i = 0; i < READS * N; i++) value[i] = 3 * xb_stream_uniform(&where, i);
    for (int i = 0; i < N; i++) {
        y[i] = 0.4 * i, sd[i] = 0.3 + 0.1 * i;
        sd[N + i] = 2 * sd[i];
    }
    const xb_judge judge = {.n = N, .outputs = 1, .y = y, .sd = sd, .sds = 1};
    xb_judge_prepare(&judge, room, value, READS);
    for (int64_t group = 1; group <= READS; group += 6) { /* 1, 7 and 13 draws */
        double sum[XB_QUALITIES] = {0};
        const int64_t groups = READS / group;
        for (int64_t g = 0; g < groups; g++) {
            const xb_mixture p = {value + g * group * N, sd, group, N, .sd_shared = true};
            xb_scores *s = NULL;
            assert_ok(ctx, xb_score_regression(ctx, &s, &p, y, NULL));
            const double rmse = xb_scores_get(s, "rmse").value;
            sum[0] += xb_scores_get(s, "nll").value / (double)groups;
            sum[1] += rmse * rmse / (double)groups;
            sum[2] += xb_scores_get(s, "coverage").value / (double)groups;
            xb_scores_destroy(s);
        }
        xb_judge_rows(&judge, row, room, value, READS, group);
        assert_close(xb_judge_score(&judge, row, 0), sum[0], 1e-12);
        assert_close(xb_judge_score(&judge, row, 1), sqrt(sum[1]), 1e-12);
        assert_close(xb_judge_score(&judge, row, 2), sum[2], 1e-12);
    }
    /* reads dealt over two members with a noise of their own */
    double each[READS * N];
    for (int s = 0; s < READS; s++)
        for (int i = 0; i < N; i++) each[s * N + i] = sd[s % 2 * N + i];
    const xb_judge two = {.n = N, .outputs = 1, .y = y, .sd = sd, .sds = 2};
    const xb_mixture p = {value, each, READS, N, .sd_shared = false};
    xb_scores *s = NULL;
    assert_ok(ctx, xb_score_regression(ctx, &s, &p, y, NULL));
    xb_judge_prepare(&two, room, value, READS);
    xb_judge_rows(&two, row, room, value, READS, READS);
    assert_close(xb_judge_score(&two, row, 0), xb_scores_get(s, "nll").value, 1e-12);
    xb_scores_destroy(s);
    /* ... and with heavy tails (P9) */
    static xb_student_table tables[2];
    xb_student_fill(&tables[0], 2.5);
    xb_student_fill(&tables[1], 9);
    const xb_judge heavy = {
        .n = N, .outputs = 1, .y = y, .sd = sd, .sds = 2, .heavy = tables};
    assert_ok(ctx, xb_score_student(ctx, &s, &p, y, 1, tables, 2));
    xb_judge_prepare(&heavy, room, value, READS);
    xb_judge_rows(&heavy, row, room, value, READS, READS);
    assert_close(xb_judge_score(&heavy, row, 0), xb_scores_get(s, "nll").value, 1e-12);
    assert_close(xb_judge_score(&heavy, row, 2), xb_scores_get(s, "coverage").value,
                 1e-12);
    xb_scores_destroy(s);
    xb_ctx_destroy(ctx);
}

static void classes_have_the_librarys_scores(void **state)
{
    (void)state;
    enum { N = 7, READS = 9, CLASSES = 3 };
    xb_ctx *ctx = test_ctx();
    double value[READS * N * CLASSES], y[N], room[CLASSES], row[XB_QUALITIES * N];
    int64_t label[N];
    xb_stream where = {xb_key_make(6, XB_PURPOSE_TEST), 0, 0, 0};
    for (int i = 0; i < READS * N; i++) {
        double sum = 0, *p = value + i * CLASSES;
        for (int k = 0; k < CLASSES; k++)
            sum += p[k] = xb_stream_uniform(&where, i * CLASSES + k) + 0.01;
        for (int k = 0; k < CLASSES; k++) p[k] /= sum;
    }
    for (int i = 0; i < N; i++) y[i] = (double)(label[i] = i % CLASSES);
    const xb_judge judge = {.n = N, .outputs = CLASSES, .classes = CLASSES, .y = y};
    const xb_class_draws p = {value, READS, N, CLASSES};
    xb_scores *s = NULL;
    assert_ok(ctx, xb_score_classes(ctx, &s, &p, label, NULL));
    xb_judge_rows(&judge, row, room, value, READS, READS);
    for (int q = 0; q < XB_QUALITIES; q++)
        assert_close(xb_judge_score(&judge, row, q),
                     xb_scores_get(s, xb_quality_name(&judge, q)).value, 1e-12);
    xb_scores_destroy(s);
    xb_ctx_destroy(ctx);
}

/* Several targets have their joint density (C30). */
static void several_targets_are_joint(void **state)
{
    (void)state;
    enum { N = 5, READS = 6, TARGETS = 2 };
    xb_ctx *ctx = test_ctx();
    double value[READS * N * TARGETS], sd[N * TARGETS], y[N * TARGETS];
    double room[2 * READS * N + 4 * N], row[XB_QUALITIES * N];
    xb_stream where = {xb_key_make(7, XB_PURPOSE_TEST), 0, 0, 0};
    for (int i = 0; i < READS * N * TARGETS; i++) value[i] = xb_stream_uniform(&where, i);
    for (int i = 0; i < N * TARGETS; i++) y[i] = 0.1 * i, sd[i] = 0.5 + 0.1 * (i % 2);
    const xb_judge judge = {.n = N, .outputs = TARGETS, .y = y, .sd = sd, .sds = 1};
    const xb_mixture p = {value, sd, READS, N * TARGETS, .sd_shared = true};
    xb_scores *s = NULL;
    assert_ok(ctx, xb_score_targets(ctx, &s, &p, y, TARGETS, NULL));
    xb_judge_prepare(&judge, room, value, READS);
    xb_judge_rows(&judge, row, room, value, READS, READS);
    assert_close(xb_judge_score(&judge, row, 0), xb_scores_get(s, "nll").value, 1e-12);
    assert_int_equal(xb_quality_find(&judge, "rmse"), -1);
    xb_scores_destroy(s);
    xb_ctx_destroy(ctx);
}

/* ---- one design, by the public API alone */

static double nll_of(const fixture *f, const double *value, const double *sd,
                     int64_t reads, int64_t group)
{
    double sum = 0;
    for (int64_t g = 0; g < reads / group; g++) {
        const xb_mixture p = {value + g * group * SCORED, sd, group, SCORED,
                              .sd_shared = true};
        xb_scores *s = NULL;
        assert_ok(f->ctx, xb_score_regression(f->ctx, &s, &p, f->y, NULL));
        sum += xb_scores_get(s, "nll").value / (double)(reads / group);
        xb_scores_destroy(s);
    }
    return sum;
}

static void a_loss_is_that_of_the_chips(void **state)
{
    (void)state;
    enum { READS = 17, ALL = 2 * CHIPS };
    fixture f = make_fixture("dense 6, relu, dense 1");
    xb_design *d = search(&f, "nll<=+2%", true);
    const int64_t which = 11;
    const xb_design_point p = xb_design_at(d, which);
    double *digital = calloc(ALL * READS * SCORED, sizeof *digital),
           value[READS * SCORED];
    double sd[SCORED], paired[ALL], loss[CHIPS], error, offset = 0;
    for (int c = 0; c < ALL; c++) {
        xb_predict_options opt = xb_predict_options_default();
        opt.seed = 1 + (uint64_t)c;
        double *own = digital + c * READS * SCORED;
        assert_ok(f.ctx,
                  xb_predict_draws(f.ctx, own, sd, f.model, f.x, SCORED, 0, READS, &opt));
        paired[c] = nll_of(&f, own, sd, READS, READS);
        offset += paired[c] / ALL;
    }
    const double reference = nll_of(&f, digital, sd, ALL * READS, ALL * READS);
    xb_array *array = NULL;
    assert_ok(f.ctx, xb_design_array(f.ctx, &array, d, which));
    for (int c = 0; c < CHIPS; c++) {
        xb_analog_options opt = xb_analog_options_default();
        opt.seed = opt.chip = 1 + (uint64_t)c;
        xb_analog *analog = NULL;
        assert_ok(f.ctx,
                  xb_analog_create(f.ctx, &analog, f.model, array, f.x, SCORED, &opt));
        assert_ok(f.ctx,
                  xb_analog_draws(f.ctx, value, NULL, analog, f.x, SCORED, 0, READS));
        loss[c] = nll_of(&f, value, sd, READS, p.draws) - paired[c] + offset - reference;
        xb_analog_destroy(analog);
    }
    const double mean = mean_error(loss, &error);
    assert_close(xb_design_digital(d), reference, 1e-12);
    assert_close(p.loss, mean, 1e-9);
    assert_close(p.error, error, 1e-9);
    assert_close(p.score, reference + mean, 1e-9);
    assert_close(xb_design_limit(d), reference + 0.02 * fabs(reference), 1e-12);
    xb_array_destroy(array);
    free(digital);
    xb_design_destroy(d);
    free_fixture(&f);
}

static void costs_are_those_of_the_model(void **state)
{
    (void)state;
    fixture f = make_fixture("dense 6, relu, dense 1");
    xb_design *d = search(&f, "nll<=+2%", true);
    assert_int_equal(xb_design_count(d), 4 * 2 * DRAWS);
    for (int64_t i = 0; i < xb_design_count(d); i++) {
        const xb_design_point p = xb_design_at(d, i);
        xb_array *array = NULL;
        assert_ok(f.ctx, xb_design_array(f.ctx, &array, d, i));
        assert_close(xb_design_value(d, i, 0), bits[i / (2 * DRAWS)], 0);
        assert_close(xb_design_value(d, i, 1), draws[i % DRAWS], 0);
        assert_close(xb_design_value(d, i, 2), inputs[i / DRAWS % 2], 0);
        assert_close((double)array->adc_bits, xb_design_value(d, i, 0), 0);
        assert_close((double)array->dac_bits, xb_design_value(d, i, 2), 0);
        xb_analog *analog = test_analog(f.ctx, f.model, array, f.x, SCORED);
        xb_cost_model *cost = NULL;
        assert_ok(f.ctx, xb_cost_model_create(f.ctx, &cost, analog, p.draws));
        const xb_band pj = xb_cost_model_energy_pj(cost, 0, -1, -1);
        assert_close(p.energy_pj.low, pj.low * (double)p.draws, 1e-12);
        assert_close(p.energy_pj.high, pj.high * (double)p.draws, 1e-12);
        assert_close(p.time_ns, xb_cost_model_time_ns(cost, 0, -1) * (double)p.draws,
                     1e-12);
        xb_cost_model_destroy(cost);
        xb_analog_destroy(analog);
        xb_array_destroy(array);
    }
    xb_design_destroy(d);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_have_the_librarys_scores),
        cmocka_unit_test(classes_have_the_librarys_scores),
        cmocka_unit_test(several_targets_are_joint),
        cmocka_unit_test(a_loss_is_that_of_the_chips),
        cmocka_unit_test(costs_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
