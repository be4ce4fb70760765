/* test_chips.c: an array on many chips: what is told over them is what a loop over assays
 * finds, each of one chip; which effects differ from chip to chip; what is refused. */
#include "arraytest.h"

#include "failalloc.h"

enum { CHIPS = 7, FIRST = 3, READS = 60 };

typedef struct bench {
    xb_ctx *ctx;
    xb_model *model;
    rows r;
} bench;

static bench make_bench(bool classes)
{
    xb_train_options opt = quick_options();
    bench b = {.ctx = test_ctx(), .r = make_rows(classes)};
    if (classes) opt.net = "dense 8, elu, dense 2";
    b.model = train_model(b.ctx, &opt, classes, NULL);
    return b;
}

static void free_bench(bench *b)
{
    xb_model_destroy(b->model);
    xb_ctx_destroy(b->ctx);
}

/* An array on which chips differ by much. */
static xb_array rough(void)
{
    xb_array array = test_array("mtj");
    array.program_error = 0.02;
    array.stuck_low = array.stuck_high = 0.01;
    return array;
}

static xb_assay *assay_of_chip(const bench *b, uint64_t chip)
{
    xb_analog_options analog = xb_analog_options_default();
    xb_assay_options opt = xb_assay_options_default();
    xb_assay *assay = NULL;
    analog.chip = chip;
    opt.reads = READS;
    opt.tolerance = 0.6; /* about half of the chips are within it */
    opt.analog = &analog;
    assert_ok(b->ctx,
              xb_assay_create(b->ctx, &assay, b->model, b->r.x, b->r.y, ROWS, &opt));
    return assay;
}

static xb_chips *chips_of(const bench *b, const xb_array *array, int64_t count)
{
    xb_assay *assay = assay_of_chip(b, FIRST);
    xb_chips *chips = NULL;
    assert_ok(b->ctx, xb_chips_create(b->ctx, &chips, assay, array, count));
    xb_assay_destroy(assay);
    return chips;
}

/* What one chip has, by an assay of its own. */
typedef struct one_chip {
    double nll, coverage, hit, whole; /* hit: accuracy of classes, else RMSE */
    double nll_digital, coverage_digital, hit_digital;
    xb_verdict verdict;
} one_chip;

static one_chip read_chip(const bench *b, const xb_array *array, uint64_t chip)
{
    xb_assay *assay = assay_of_chip(b, chip);
    xb_assay_result *result = NULL;
    assert_ok(b->ctx, xb_assay_run(b->ctx, &result, assay, array));
    const xb_scores *mine = xb_assay_result_scores(result);
    const xb_scores *digital = xb_assay_result_scores(xb_assay_digital(assay));
    const xb_distances *d = xb_assay_result_distance(result);
    const char *hit = xb_scores_classes(mine) > 0 ? "accuracy" : "rmse";
    one_chip out = {.nll = xb_scores_get(mine, "nll").value,
                    .coverage = xb_scores_get(mine, "coverage").value,
                    .hit = xb_scores_get(mine, hit).value,
                    .whole = xb_distances_gap_get(d, "whole").rms,
                    .nll_digital = xb_scores_get(digital, "nll").value,
                    .coverage_digital = xb_scores_get(digital, "coverage").value,
                    .hit_digital = xb_scores_get(digital, hit).value,
                    .verdict = xb_distances_verdict(d)};
    xb_assay_result_destroy(result);
    xb_assay_destroy(assay);
    return out;
}

/* How many of x are below x[i], and of equal ones those before it. */
static int rank_of(const double *x, int i)
{
    int below = 0;
    for (int k = 0; k < CHIPS; k++) below += x[k] < x[i] || (k < i && x[k] == x[i]);
    return below;
}

static double of_rank(const double *x, int rank)
{
    for (int i = 0; i < CHIPS; i++)
        if (rank_of(x, i) == rank) return x[i];
    return NAN;
}

/* Against sums over the chips; of seven, 5 % lies 0.3 of the way from the first to the
 * second in order, 95 % 0.7 of the way from the sixth to the last. */
static void assert_spread(xb_chip_spread s, const double *x)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < CHIPS; i++) sum += x[i], squares += x[i] * x[i];
    const double variance = (squares - sum * sum / CHIPS) / (CHIPS - 1);
    assert_close(s.mean, sum / CHIPS, 1e-12);
    assert_close(s.sd * s.sd, variance, 1e-9);
    assert_close(s.low, 0.7 * of_rank(x, 0) + 0.3 * of_rank(x, 1), 1e-12);
    assert_close(s.median, of_rank(x, 3), 0);
    assert_close(s.high, 0.3 * of_rank(x, 5) + 0.7 * of_rank(x, 6), 1e-12);
}

static void over_chips_is_a_loop_over_them(void **state)
{
    (void)state;
    bench b = make_bench(false);
    const xb_array array = rough();
    xb_chips *chips = chips_of(&b, &array, CHIPS);
    double nll[CHIPS], rmse[CHIPS], whole[CHIPS], verdict[3] = {0};
    double loss[CHIPS], off[CHIPS];
    for (int i = 0; i < CHIPS; i++) {
        const one_chip one = read_chip(&b, &array, FIRST + (uint64_t)i);
        const xb_scores *same = xb_assay_result_scores(xb_chips_at(chips, i));
        nll[i] = one.nll, rmse[i] = one.hit, whole[i] = one.whole;
        loss[i] = one.nll - one.nll_digital;
        off[i] = fabs(one.coverage - one.coverage_digital);
        verdict[one.verdict] += 1.0 / CHIPS;
        assert_close(xb_scores_get(same, "nll").value, one.nll, 0); /* the same bytes */
    }
    assert_int_equal(xb_chips_count(chips), CHIPS);
    assert_true(xb_chips_score_get(chips, "nll").sd > 0.01);
    assert_spread(xb_chips_score_get(chips, "nll"), nll);
    assert_spread(xb_chips_score_get(chips, "rmse"), rmse);
    assert_spread(xb_chips_gap_get(chips, "whole"), whole);
    for (int v = 0; v < 3; v++)
        assert_close(xb_chips_verdict_share(chips, (xb_verdict)v), verdict[v], 1e-12);
    assert_true(verdict[XB_VERDICT_DIFFERENT] < 1); /* or the shares say little */
    assert_close(xb_chips_loss(chips, "nll", 0.9), of_rank(loss, 6), 0);
    assert_close(xb_chips_loss(chips, "nll", 5.0 / 7), of_rank(loss, 4), 0);
    assert_close(xb_chips_loss(chips, "nll", 0.5), of_rank(loss, 3), 0);
    assert_close(xb_chips_loss(chips, "coverage", 0.01), of_rank(off, 0), 0);
    assert_close(xb_chips_yield(chips, "nll", of_rank(loss, 2)), 3.0 / 7, 1e-12);
    assert_close(xb_chips_yield(chips, "nll", of_rank(loss, 0) - 1), 0, 0);
    xb_chips_destroy(chips);
    free_bench(&b);
}

/* More is better: a chip loses what it has less. */
static void accuracy_is_lost_downwards(void **state)
{
    (void)state;
    bench b = make_bench(true);
    xb_array array = rough();
    array.program_error = 0.2;
    xb_chips *chips = chips_of(&b, &array, CHIPS);
    double accuracy[CHIPS], loss[CHIPS];
    for (int i = 0; i < CHIPS; i++) {
        const one_chip one = read_chip(&b, &array, FIRST + (uint64_t)i);
        accuracy[i] = one.hit;
        loss[i] = one.hit_digital - one.hit;
    }
    assert_true(of_rank(loss, 6) > 0);
    assert_spread(xb_chips_score_get(chips, "accuracy"), accuracy);
    assert_close(xb_chips_loss(chips, "accuracy", 1), of_rank(loss, 6), 0);
    assert_close(xb_chips_loss(chips, "accuracy", 0.5), of_rank(loss, 3), 0);
    xb_chips_destroy(chips);
    free_bench(&b);
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    bench b = make_bench(false);
    const xb_array array = rough();
    xb_chip_spread found[2][2];
    for (int k = 0; k < 2; k++) {
        xb_ctx_set_threads(b.ctx, k ? 3 : 1);
        xb_chips *chips = chips_of(&b, &array, 3);
        found[k][0] = xb_chips_score_get(chips, "nll");
        found[k][1] = xb_chips_gap_get(chips, "sd");
        xb_chips_destroy(chips);
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
    free_bench(&b);
}

/* The scores of two chips differ where the array says that chips do, and only there. */
static void arrays_say_whether_chips_differ(void **state)
{
    (void)state;
    bench b = make_bench(false);
    xb_array array = rough();
    array.sigma_spread = array.shape_spread = 0.5;
    int differ = 0, alike = 0;
    for (int64_t e = 0; e < xb_array_effect_count(); e++) {
        if (!xb_array_has_effect(&array, e)) continue;
        xb_array *alone = NULL;
        assert_ok(b.ctx, xb_array_only(b.ctx, &alone, &array, e));
        xb_chips *chips = chips_of(&b, alone, 4);
        const bool seen = xb_chips_score_get(chips, "nll").sd > 0;
        if (seen != xb_array_differs(alone))
            fail_msg("%s: chips %s", xb_array_effect_name(e), seen ? "differ" : "do not");
        differ += seen, alike += !seen;
        xb_chips_destroy(chips);
        xb_array_destroy(alone);
    }
    assert_int_equal(differ, 4); /* writes, stuck devices, both spreads */
    assert_true(alike >= 6);
    array = test_array("ideal");
    assert_false(xb_array_differs(&array));
    array.age_s = 1; /* relaxation: test_relax.c has the chips */
    assert_true(xb_array_differs(&array));
    free_bench(&b);
}

static bool stop_at_the_third(void *arg, const xb_progress *event)
{
    int64_t *chips = arg;
    if (strcmp(event->task, "reading chips") == 0) *chips = event->done;
    return *chips < 2;
}

static void what_cannot_be_is_told(void **state)
{
    (void)state;
    bench b = make_bench(false);
    const xb_array array = rough();
    xb_assay *assay = assay_of_chip(&b, 1);
    xb_chips *chips = NULL;
    int64_t told = 0;
    assert_int_equal(xb_chips_create(b.ctx, &chips, assay, &array, 0), XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(b.ctx), "0 chips: expected 1 or more");
    xb_ctx_set_progress(b.ctx, stop_at_the_third, &told);
    assert_int_equal(xb_chips_create(b.ctx, &chips, assay, &array, 9), XB_E_CANCELLED);
    assert_int_equal(told, 2);
    xb_ctx_set_progress(b.ctx, NULL, NULL);
    assert_null(chips);
    assert_ok(b.ctx, xb_chips_create(b.ctx, &chips, assay, &array, 1));
    assert_true(isnan(xb_chips_score_get(chips, "nll").sd));
    assert_close(xb_chips_score_get(chips, "nll").high,
                 xb_chips_score_get(chips, "nll").mean, 0);
    assert_true(isnan(xb_chips_score_get(chips, "nnl").mean));
    assert_true(isnan(xb_chips_gap_get(chips, "shape").mean));
    assert_true(isnan(xb_chips_loss(chips, "nnl", 0.9)));
    assert_true(isnan(xb_chips_loss(chips, "nll", 0)));
    assert_true(isnan(xb_chips_yield(chips, "nnl", 0)));
    assert_null(xb_chips_at(chips, 1));
    assert_null(xb_chips_at(chips, -1));
    xb_chips_destroy(chips);
    xb_chips_destroy(NULL);
    xb_assay_destroy(assay);
    free_bench(&b);
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    bench b = make_bench(false);
    const xb_array array = rough();
    xb_assay *assay = assay_of_chip(&b, 1);
    int k = 0;
    for (; fail_alloc_after(k); k++) {
        xb_chips *chips = NULL;
        const xb_status status = xb_chips_create(b.ctx, &chips, assay, &array, 2);
        const bool failed = fail_alloc_happened();
        assert_ran_out(b.ctx, failed, status, chips, k);
        xb_chips_destroy(chips);
        if (!failed) break;
    }
    assert_true(k > 20);
    xb_assay_destroy(assay);
    free_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_chips_is_a_loop_over_them),
        cmocka_unit_test(accuracy_is_lost_downwards),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(arrays_say_whether_chips_differ),
        cmocka_unit_test(what_cannot_be_is_told),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
