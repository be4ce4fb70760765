/* test_design.c: the search for a design. Scores of groups of draws against the library's
 * own scores, costs against the cost model, a design's loss against the same computed
 * through the public API chip by chip, the front and the choice against their definition,
 * giving up against reading everything, and what is refused. */
#include "arraytest.h"

#include "crossbayes/design.h"
#include "crossbayes/score.h"
#include "design/search.h"
#include "failalloc.h"

enum { SCORED = 24, DRAWS = 3, CHIPS = 4 };

static const double bits[] = {4, 6, 8, 12}, inputs[] = {4, 9}, draws[DRAWS] = {3, 8, 17};

typedef struct fixture {
    xb_ctx *ctx;
    xb_model *model;
    double *x, y[SCORED];
} fixture;

static fixture make_fixture(const char *net)
{
    fixture f = {.ctx = test_ctx()};
    f.model = net_model(f.ctx, net, (xb_shape){1, 1, 3}, 0, 0.02);
    f.x = net_inputs(f.model, SCORED);
    for (int i = 0; i < SCORED; i++) f.y[i] = f.x[3 * i] + 0.05 * (i % 5);
    return f;
}

static void free_fixture(fixture *f)
{
    free(f->x);
    xb_model_destroy(f->model);
    xb_ctx_destroy(f->ctx);
}

static xb_array start_array(void)
{
    xb_array array = test_array("ideal");
    array.g_min_us = 10;
    array.program_error = 0.01;
    return array;
}

static xb_design_space *make_space(xb_ctx *ctx, const xb_array *array)
{
    xb_design_space *space = NULL;
    assert_ok(ctx, xb_design_space_create(ctx, &space, array));
    assert_ok(ctx, xb_design_space_add(ctx, space, "adc-bits", bits, 4));
    assert_ok(ctx, xb_design_space_add(ctx, space, "draws", draws, DRAWS));
    assert_ok(ctx, xb_design_space_add(ctx, space, "dac_bits", inputs, 2));
    return space;
}

static xb_design *search_with(const fixture *f, const xb_design_space *space,
                              const char *keep, const xb_design_options *opt)
{
    xb_design *d = NULL;
    assert_ok(f->ctx,
              xb_design_find(f->ctx, &d, f->model, f->x, f->y, SCORED, space, keep, opt));
    return d;
}

static xb_design *search(const fixture *f, const char *keep, bool exhaustive)
{
    const xb_array array = start_array();
    xb_design_space *space = make_space(f->ctx, &array);
    xb_design_options opt = xb_design_options_default();
    opt.chips = exhaustive ? CHIPS : 2 * CHIPS;
    opt.exhaustive = exhaustive;
    xb_design *d = search_with(f, space, keep, &opt);
    xb_design_space_destroy(space);
    return d;
}

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

static double mean_error(const double *x, double *error)
{
    double mean = 0, square = 0;
    for (int c = 0; c < CHIPS; c++) mean += x[c] / CHIPS;
    for (int c = 0; c < CHIPS; c++) square += (x[c] - mean) * (x[c] - mean);
    *error = sqrt(square / (CHIPS * (CHIPS - 1)));
    return mean;
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
        bool energy = p.finalist, time = p.finalist;
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
               all->paired[c * XB_QUALITIES] + all->offset[0];
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
    assert_non_null(strstr(xb_ctx_message(ctx), "2 draws of an ensemble of 3"));
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

/* ---- texts and refusals */

static void conditions_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int quality, sign;
        double limit; /* where the digital score is -2 */
    } good[] = {{"nll<=+2%", 0, 1, -1.96},           {"nll<=-50%", 0, 1, -3},
                {" rmse <= 4.5 ", 1, 1, 4.5},        {"coverage95>=93%", 2, -1, 0.93},
                {"coverage95>=-0.02", 2, -1, -2.02}, {"nll<=+0.05", 0, 1, -1.95}};
    static const char *const bad[] = {"",
                                      "nll",
                                      "nll<2",
                                      "nll<=",
                                      "mae<=+2%",
                                      "nll<=x",
                                      "<=+2%",
                                      "nll<=+2%;",
                                      "nll<=+2%,",
                                      "nll<=nan",
                                      "nll<=inf",
                                      "NLL<=1",
                                      "nll<=1,nll<=1,nll<=1,nll<=1"};
    xb_ctx *ctx = test_ctx();
    const xb_judge judge = {.n = 1, .outputs = 1};
    xb_condition c[XB_CONDITIONS_MOST];
    int n = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(ctx, xb_conditions_parse(ctx, c, &n, good[i].text, &judge));
        xb_condition_settle(c, -2);
        assert_int_equal(n, 1);
        assert_int_equal(c->quality, good[i].quality);
        assert_int_equal(c->sign, good[i].sign);
        assert_close(c->limit, good[i].limit, 1e-12);
    }
    assert_ok(ctx, xb_conditions_parse(ctx, c, &n, "nll<=+2%, coverage95>=0.9", &judge));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(xb_conditions_parse(ctx, c, &n, bad[i], &judge), XB_E_INPUT);
    xb_ctx_destroy(ctx);
}

static void axes_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        double value[2];
        const char *why;
    } bad[] = {{"adc_bits", {0, 8}, "adc_bits is 0: a design needs converters"},
               {"adc_bits", {8, 8}, "8 is listed twice"},
               {"adc_bits", {8, 30}, "'adc_bits'"},
               {"read_v", {-0.5, 1}, "'read_v'"},
               {"draws", {0, 1}, "draws is 0, expected a whole number"},
               {"draws", {1.5, 2}, "draws is 1.5"},
               {"adc_bit", {8, 9}, "adc_bits"},
               {"rows", {8, 9}, "listed twice"},
               {"tile", {8, 9}, "listed twice"}};
    xb_ctx *ctx = test_ctx();
    const xb_array array = test_array("mtj");
    xb_design_space *space = NULL;
    const double tile[] = {16, 32};
    assert_ok(ctx, xb_design_space_create(ctx, &space, &array));
    assert_ok(ctx, xb_design_space_add(ctx, space, "tile", tile, 2));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(xb_design_space_add(ctx, space, bad[i].key, bad[i].value, 2),
                         XB_E_INPUT);
        if (!strstr(xb_ctx_message(ctx), bad[i].why)) fail_msg("%s", xb_ctx_message(ctx));
    }
    assert_int_equal(xb_design_space_axis_count(space), 1);
    assert_ok(ctx, xb_design_space_complete(ctx, space)); /* draws alone are missing */
    assert_int_equal(xb_design_space_axis_count(space), 2);
    assert_int_equal(xb_design_space_axis_find(space, "draws"), 1);
    xb_design_space_destroy(space);
    assert_ok(ctx, xb_design_space_create(ctx, &space, &array));
    assert_ok(ctx, xb_design_space_complete(ctx, space));
    assert_int_equal(xb_design_space_axis_count(space), 5);
    assert_close(xb_design_space_axis_value(
                     space, xb_design_space_axis_find(space, "read_interval_ns"), 3),
                 40, 0);
    xb_design_space_destroy(space);
    xb_ctx_destroy(ctx);
}

static void what_cannot_be_searched_is_refused(void **state)
{
    (void)state;
    fixture f = make_fixture("dense 4, relu, dense 1");
    const xb_array array = start_array();
    xb_design_space *space = make_space(f.ctx, &array), *bare = NULL;
    xb_design_options opt = xb_design_options_default();
    xb_design *d = NULL;
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, 0, space, "nll<=+2%", NULL),
        XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(f.ctx), "no rows to score designs on"));
    opt.chips = 3;
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED, space, "nll<=+2%", &opt),
        XB_E_ARGUMENT);
    opt.chips = 4, opt.yield = 0;
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED, space, "nll<=+2%", &opt),
        XB_E_ARGUMENT);
    assert_ok(f.ctx, xb_design_space_create(f.ctx, &bare, &array)); /* no converters */
    assert_ok(f.ctx, xb_design_space_add(f.ctx, bare, "draws", draws, DRAWS));
    assert_int_equal(
        xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED, bare, "nll<=+2%", NULL),
        XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(f.ctx), "costs need converters"));
    assert_null(d);
    xb_design_space_destroy(bare);
    xb_design_space_destroy(space);
    free_fixture(&f);
}

/* Memory runs out at one allocation after the other, later ones in longer steps. */
static void memory_may_run_out(void **state)
{
    (void)state;
    static const double two[] = {6, 9}, three[] = {3};
    fixture f = make_fixture("dense 2, relu, dense 1");
    xb_array array = start_array();
    array.dac_bits = 8;
    xb_design_space *space = NULL;
    assert_ok(f.ctx, xb_design_space_create(f.ctx, &space, &array));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "adc_bits", two, 2));
    assert_ok(f.ctx, xb_design_space_add(f.ctx, space, "draws", three, 1));
    xb_design_options opt = xb_design_options_default();
    opt.chips = 4;
    xb_ctx_set_threads(f.ctx, 1);
    int k = 0;
    for (; fail_alloc_after(k); k += 1 + k / 8) {
        xb_design *d = NULL;
        const xb_status status = xb_design_find(f.ctx, &d, f.model, f.x, f.y, SCORED,
                                                space, "nll<=+100%", &opt);
        const bool failed = fail_alloc_happened();
        assert_ran_out(f.ctx, failed, status, d, k);
        xb_design_destroy(d);
        if (!failed) break;
    }
    assert_true(k > 200);
    xb_design_space_destroy(space);
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
        cmocka_unit_test(conditions_are_read),
        cmocka_unit_test(axes_are_checked),
        cmocka_unit_test(what_cannot_be_searched_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
