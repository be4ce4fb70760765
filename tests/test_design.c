/* test_design.c: the search for a design. The front and the choice against their
 * definition, giving up against reading everything, ties, threads, ensembles, classes. */
#include "designtest.h"

#include "design/search.h"

/* ---- the front and the choice */

static double middle(const xb_design_point *p)
{
    return sqrt(p->energy_pj.low * p->energy_pj.high);
}

/* By definition: all pairs. */
static void check_front(const xb_design *d)
{
    int64_t best = 0;
    for (int64_t i = 0; i < xb_design_count(d); i++) {
        const xb_design_point p = xb_design_at(d, i);
        bool energy = p.finalist, time = energy;
        for (int64_t j = 0; j < xb_design_count(d); j++) {
            const xb_design_point o = xb_design_at(d, j);
            if (!o.finalist || j == i) continue;
            const bool better = o.loss < p.loss || (o.loss == p.loss && j < i);
            if (o.loss <= p.loss &&
                (middle(&o) < middle(&p) || (middle(&o) == middle(&p) && better)))
                energy = false;
            if (o.loss <= p.loss &&
                (o.time_ns < p.time_ns || (o.time_ns == p.time_ns && better)))
                time = false;
        }
        assert_int_equal(p.energy_front, energy);
        assert_int_equal(p.time_front, time);
        assert_true(!p.tie || p.energy_front);
        if (p.finalist && p.loss < xb_design_at(d, best).loss) best = i;
    }
    assert_int_equal(xb_design_best(d), best);
}

static void the_front_is_what_nothing_beats(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    fixture f = make_fixture("dense 6, relu, dense 1");
    xb_design *d = search(&f, "nll<=+2%", true);
    check_front(d);
    xb_design_destroy(d);
    d = search(&f, "rmse<=+5%, coverage95>=0.5", false);
    check_front(d);
    xb_design_destroy(d);
    free_fixture(&f);
}

static void the_choice_is_the_cheapest_that_keeps(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    fixture f = make_fixture("dense 6, relu, dense 1");
    xb_design *d = search(&f, "nll<=+5%", true);
    const int64_t chosen = xb_design_chosen(d);
    assert_true(chosen >= 0);
    const xb_design_point c = xb_design_at(d, chosen), sure = xb_design_confirmed(d);
    int64_t undecided = 0;
    for (int64_t i = 0; i < xb_design_count(d); i++) {
        const xb_design_point p = xb_design_at(d, i);
        const double t = 2.3534; /* of three degrees */
        if (!p.refuted) {
            const double beyond = p.score - xb_design_limit(d);
            const xb_kept kept = beyond + t * p.error <= 0  ? XB_KEPT_YES
                                 : beyond - t * p.error > 0 ? XB_KEPT_NO
                                                            : XB_KEPT_UNRESOLVED;
            assert_int_equal(p.kept, kept);
        }
        if (middle(&p) < middle(&c)) assert_true(p.kept != XB_KEPT_YES);
        undecided += middle(&p) < middle(&c) && p.kept == XB_KEPT_UNRESOLVED;
    }
    assert_int_equal(undecided, xb_design_undecided(d));
    assert_int_equal(sure.kept, XB_KEPT_YES);
    assert_int_equal(sure.chips, 2 * CHIPS);
    assert_int_equal(sure.draws, c.draws);
    char keep[64]; /* half an error beyond the score of the choice is no certainty */
    snprintf(keep, sizeof keep, "nll<=%+.17g", c.loss + 0.5 * c.error);
    xb_design_destroy(d);
    d = search(&f, keep, true);
    assert_int_equal(xb_design_at(d, chosen).kept, XB_KEPT_UNRESOLVED);
    xb_design_destroy(d);
    d = search(&f, "nll<=+100000%", true); /* anything will do: the very cheapest */
    double least = INFINITY;
    for (int64_t i = 0; i < xb_design_count(d); i++) {
        const xb_design_point p = xb_design_at(d, i);
        least = fmin(least, middle(&p));
    }
    const xb_design_point any = xb_design_at(d, xb_design_chosen(d));
    assert_close(middle(&any), least, 0);
    assert_int_equal(xb_design_chosen_low(d), xb_design_chosen(d));
    xb_design_destroy(d);
    free_fixture(&f);
}

static void what_cannot_be_reached_is_said(void **state)
{
    (void)state;
    fixture f = make_fixture("dense 6, relu, dense 1");
    xb_design *d = search(&f, "nll<=-5000%", true);
    assert_int_equal(xb_design_chosen(d), -1);
    assert_int_equal(xb_design_chosen_low(d), -1);
    assert_true(xb_design_best(d) >= 0);
    assert_true(isnan(xb_design_confirmed(d).loss));
    xb_design_destroy(d);
    free_fixture(&f);
}

/* Arrays that are given up would not have been chosen. */
static void giving_up_changes_no_choice(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    static const double few[] = {2, 4, 6, 9, 12};
    fixture f = make_fixture("dense 6, relu, dense 1");
    const xb_array array = start_array();
    xb_design_space *space = NULL;
    assert_ok(f.ctx, xb_design_space_create(f.ctx, &space, &array));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "adc_bits", few, 5));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "dac_bits", few + 1, 4));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "draws", draws, DRAWS));
    xb_design *d[2];
    for (int i = 0; i < 2; i++) {
        xb_design_options opt = xb_design_options_default();
        opt.chips = 8;
        opt.exhaustive = i;
        d[i] = search_with(&f, space, "nll<=+10%", &opt);
    }
    assert_int_equal(xb_design_finalist_count(d[1]), 20);
    assert_true(xb_design_finalist_count(d[0]) < 20);
    assert_true(xb_design_chosen(d[1]) >= 0);
    assert_int_equal(xb_design_chosen(d[0]), xb_design_chosen(d[1]));
    for (int64_t i = 0; i < xb_design_count(d[0]); i++) {
        const xb_design_point a = xb_design_at(d[0], i), b = xb_design_at(d[1], i);
        assert_int_equal(a.chips, a.finalist ? 8 : 4);
        if (a.finalist) assert_true(a.loss == b.loss && a.error == b.error);
        if (!a.finalist) assert_true(fabs(a.loss - b.loss) < 6 * hypot(a.error, b.error));
    }
    for (int i = 0; i < 2; i++) xb_design_destroy(d[i]);
    xb_design_space_destroy(space);
    free_fixture(&f);
}

/* One score apart: a bit more is better, far more bits are not. */
static void within_the_error_is_a_tie(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    fixture f = make_fixture("dense 8, relu, dense 1");
    xb_design *d = search(&f, "nll<=+5%", true);
    int ties = 0, clear = 0;
    int64_t last = -1;
    double below = -1;
    for (;;) { /* along the front, the cheapest first */
        int64_t next = -1;
        for (int64_t i = 0; i < xb_design_count(d); i++) {
            const xb_design_point p = xb_design_at(d, i);
            if (!p.energy_front || middle(&p) <= below) continue;
            const xb_design_point q = xb_design_at(d, next < 0 ? i : next);
            if (next < 0 || middle(&p) < middle(&q)) next = i;
        }
        if (next < 0) break;
        const xb_design_point p = xb_design_at(d, next);
        below = middle(&p);
        if (last >= 0) {
            double gain[CHIPS], error;
            for (int c = 0; c < CHIPS; c++) /* the digital model's cancels */
                gain[c] = d->candidate[last / DRAWS]
                              .score[(c * DRAWS + last % DRAWS) * XB_QUALITIES] -
                          d->candidate[next / DRAWS]
                              .score[(c * DRAWS + next % DRAWS) * XB_QUALITIES];
            const double mean = mean_error(gain, &error);
            assert_int_equal(p.tie, !(mean > 2.3534 * error));
        }
        ties += p.tie, clear += !p.tie;
        if (!p.tie) last = next;
    }
    assert_true(ties > 0 && clear > 1);
    xb_design_destroy(d);
    free_fixture(&f);
}

/* The mean over the better chips, and its error by Winsor's row: by hand for ten. */
static void the_worst_chips_are_left_out(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    enum { N = 10 };
    fixture f = make_fixture("dense 4, relu, dense 1");
    const xb_array array = start_array();
    xb_design_space *space = make_space(f.ctx, &array);
    xb_design_options opt = xb_design_options_default();
    opt.chips = N;
    opt.exhaustive = true;
    opt.yield = 1;
    xb_design *all = search_with(&f, space, "nll<=+5%", &opt);
    opt.yield = 0.8;
    xb_design *most = search_with(&f, space, "nll<=+5%", &opt);
    const int64_t k = 4;
    double x[N], sum = 0, square = 0, mean = 0;
    for (int c = 0; c < N; c++)
        x[c] = all->candidate[k / DRAWS].score[(c * DRAWS + k % DRAWS) * XB_QUALITIES] -
               all->variant[0].paired[c * XB_QUALITIES] + all->variant[0].offset[0];
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++)
            if (x[j] < x[i]) {
                const double swap = x[i];
                x[i] = x[j], x[j] = swap;
            }
    for (int c = 0; c < 8; c++) sum += x[c] / 8;
    x[8] = x[9] = x[7];
    for (int c = 0; c < N; c++) mean += x[c] / N;
    for (int c = 0; c < N; c++) square += (x[c] - mean) * (x[c] - mean);
    assert_close(xb_design_at(most, k).loss, sum, 1e-9);
    assert_close(xb_design_at(most, k).error, sqrt(square / 90) / 0.8, 1e-9);
    assert_true(xb_design_at(most, k).loss < xb_design_at(all, k).loss);
    xb_design_destroy(most);
    xb_design_destroy(all);
    xb_design_space_destroy(space);
    free_fixture(&f);
}

static void students_t_is_known(void **state)
{
    (void)state; /* 0.95 quantiles of 3, 7, 15, 31 and 255 degrees, from tables */
    assert_close(xb_front_student(3), 2.353363, 0.004);
    assert_close(xb_front_student(7), 1.894579, 2e-4);
    assert_close(xb_front_student(15), 1.753050, 2e-5);
    assert_close(xb_front_student(31), 1.695519, 2e-6);
    assert_close(xb_front_student(255), 1.650851, 1e-6);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    fixture f = make_fixture("dense 6, relu, dense 1");
    xb_design *d[2];
    for (int i = 0; i < 2; i++) {
        xb_ctx_set_threads(f.ctx, i ? 5 : 1);
        d[i] = search(&f, "nll<=+5%", false);
    }
    for (int64_t i = 0; i < xb_design_count(d[0]); i++) {
        const xb_design_point a = xb_design_at(d[0], i), b = xb_design_at(d[1], i);
        assert_true(a.loss == b.loss && a.error == b.error && a.chips == b.chips &&
                    a.row_error == b.row_error && a.energy_pj.low == b.energy_pj.low);
    }
    assert_int_equal(xb_design_chosen(d[0]), xb_design_chosen(d[1]));
    for (int i = 0; i < 2; i++) xb_design_destroy(d[i]);
    free_fixture(&f);
}

/* Devices that remember are read again when all layers were, not sooner. */
static void reads_are_no_faster_than_the_layers(void **state)
{
    (void)state;
    static const double interval[] = {0.5, 1, 1e6}, one[] = {8}, four[] = {4};
    fixture f = make_fixture("dense 6, relu, dense 1");
    xb_array array = start_array();
    array.adc_bits = array.dac_bits = 8;
    array.read_interval_ns = 1, array.correlation_time_ns = 100;
    xb_design_space *space = NULL;
    assert_ok(f.ctx, xb_design_space_create(f.ctx, &space, &array));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "read_interval_ns", interval, 3));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "adc_bits", one, 1));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "draws", four, 1));
    xb_design_options opt = xb_design_options_default();
    opt.chips = 4;
    xb_design *d = search_with(&f, space, "nll<=+500%", &opt);
    const double busy = (2 + 9 * 6) + (2 + 9); /* a pulse and up to 6 conversions */
    assert_int_equal(xb_design_count(d), 2);   /* the first two have become one */
    assert_close(xb_design_value(d, 0, 0), busy, 1e-12);
    assert_close(xb_design_at(d, 0).time_ns, 4 * busy, 1e-12);
    assert_close(xb_design_at(d, 1).time_ns, 4e6, 1e-12);
    xb_array *chosen = NULL;
    assert_ok(f.ctx, xb_design_array(f.ctx, &chosen, d, 0));
    assert_close(chosen->read_interval_ns, busy, 1e-12);
    xb_array_destroy(chosen);
    xb_design_destroy(d);
    opt.deadline_ns = 3 * busy;
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED, space, "nll<=+5%", &opt),
        XB_E_INPUT);
    assert_string_equal(
        xb_ctx_message(f.ctx),
        "no design predicts within 201 ns: the fastest takes 268 ns (4 draws)");
    opt.deadline_ns = 5 * busy; /* the slow one is not read */
    d = search_with(&f, space, "nll<=+500%", &opt);
    assert_int_equal(xb_design_at(d, 1).chips, 0);
    assert_int_equal(xb_design_at(d, 1).kept, XB_KEPT_NO);
    assert_int_equal(xb_design_chosen(d), 0);
    xb_design_destroy(d);
    xb_design_space_destroy(space);
    free_fixture(&f);
}

/* ---- ensembles, classes */

static void ensembles_are_dealt(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    opt.members = 3;
    opt.net = "dense 4, relu, dense 1";
    xb_model *m = train_model(ctx, &opt, false, NULL);
    double *x = net_inputs(m, SCORED), y[SCORED] = {0};
    const xb_array array = start_array();
    xb_design_space *space = make_space(ctx, &array);
    xb_design_options o = xb_design_options_default();
    o.chips = 4;
    xb_design *d = NULL;
    assert_ok(ctx, xb_design_find(ctx, &d, m, x, y, SCORED, space, "nll<=+50%", &o));
    assert_int_equal(xb_design_reads(d), 18); /* 17, and each member as often */
    for (int64_t i = 0; i < xb_design_count(d); i++)
        assert_true(isfinite(xb_design_at(d, i).loss));
    xb_design_destroy(d);
    const double two = 2;
    xb_design_space_destroy(space);
    assert_ok(ctx, xb_design_space_create(ctx, &space, &array));
    assert_ok(ctx, xb_design_space_add(ctx, space, "draws", &two, 1));
    assert_int_equal(xb_design_find(ctx, &d, m, x, y, SCORED, space, "nll<=+50%", &o),
                     XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "2 draws for an ensemble of 3 members"));
    xb_design_space_destroy(space);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void classifiers_have_designs(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 6, relu, dense 3", (xb_shape){1, 1, 3}, 3, 0.02);
    double *x = net_inputs(m, SCORED), y[SCORED];
    for (int i = 0; i < SCORED; i++) y[i] = i % 3;
    const xb_array array = start_array();
    xb_design_space *space = make_space(ctx, &array);
    xb_design_options o = xb_design_options_default();
    o.chips = 4;
    xb_design *d = NULL;
    assert_ok(ctx, xb_design_find(ctx, &d, m, x, y, SCORED, space,
                                  "nll<=+20%, accuracy>=-50%", &o));
    assert_true(xb_design_chosen(d) >= 0);
    assert_string_equal(xb_design_score_name(d), "nll");
    check_front(d);
    xb_design_destroy(d);
    xb_design_space_destroy(space);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void what_is_fixed_is_not_searched(void **state)
{
    (void)state;
    static const char *const key[] = {"adc-bits", "dac_bits", "columns",
                                      "read_interval_ns"};
    static const char *const axis[] = {"adc_bits", "dac_bits", "tile",
                                       "read_interval_ns"};
    xb_ctx *ctx = test_ctx();
    xb_array *array = NULL;
    assert_ok(ctx, xb_array_parse(ctx, &array, "mtj"));
    for (int i = 0; i < 4; i++) {
        xb_design_space *space = NULL;
        assert_ok(ctx, xb_design_space_create(ctx, &space, array));
        assert_ok(ctx, xb_design_space_fix(ctx, space, key[i]));
        assert_int_equal(xb_design_space_fix(ctx, space, "no_key"), XB_E_INPUT);
        assert_ok(ctx, xb_design_space_complete(ctx, space));
        for (int k = 0; k < 4; k++)
            assert_int_equal(xb_design_space_axis_find(space, axis[k]) >= 0, k != i);
        xb_design_space_destroy(space);
    }
    xb_array_destroy(array);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_fixed_is_not_searched),
        cmocka_unit_test(the_front_is_what_nothing_beats),
        cmocka_unit_test(the_choice_is_the_cheapest_that_keeps),
        cmocka_unit_test(what_cannot_be_reached_is_said),
        cmocka_unit_test(giving_up_changes_no_choice),
        cmocka_unit_test(within_the_error_is_a_tie),
        cmocka_unit_test(the_worst_chips_are_left_out),
        cmocka_unit_test(students_t_is_known),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(reads_are_no_faster_than_the_layers),
        cmocka_unit_test(ensembles_are_dealt),
        cmocka_unit_test(classifiers_have_designs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
