/* test_evaluate.c: a model under several laws: an evaluation is what its parts give one
 * by one, finds its draws by itself, says what it found in words, and is the same at any
 * number of threads; scores and distances are found by name. */
#include "comparetest.h"
#include "traintest.h"

#include "base/ctx.h"
#include "failalloc.h"

enum { LAWS = 3, DRAWS = 250, N = 90 };

/* LINE: numbers too, of so few weights that their law's shape is plain to see. */
typedef enum target_kind { NUMBERS, NOISY, CLASSES, KINDS, LINE = KINDS } target_kind;

typedef struct evaluated {
    xb_ctx *ctx;
    xb_model *model;
    rows data;
    xb_rows rows;
    xb_law *law[LAWS]; /* the first NULL: the model's */
    int64_t outputs;
} evaluated;

static evaluated make_case(target_kind kind)
{
    evaluated c = {.ctx = test_ctx(), .outputs = kind == CLASSES ? 2 : 1};
    xb_train_options opt = quick_options();
    if (kind == NOISY) opt.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    if (kind == LINE) opt.net = "dense 1";
    if (kind == CLASSES) opt.net = "dense 8, elu, dense 2";
    c.model = train_model(c.ctx, &opt, kind == CLASSES, NULL);
    c.data = make_rows(kind == CLASSES);
    c.law[1] = test_law(c.ctx, "bimodal:m=0.99");
    c.law[2] = test_law(c.ctx, "gaussian");
    return c;
}

/* The case's own rows; it must not move afterwards. */
static void use_rows(evaluated *c, int64_t n)
{
    c->rows = (xb_rows){.x = c->data.x, .n = n, .features = COLUMNS};
}

static void free_case(evaluated *c)
{
    for (int i = 0; i < LAWS; i++) xb_law_destroy(c->law[i]);
    xb_model_destroy(c->model);
    xb_ctx_destroy(c->ctx);
}

static xb_status evaluate(const evaluated *c, xb_evaluation **out, int64_t laws,
                          const xb_evaluate_options *opt)
{
    return xb_evaluate(c->ctx, out, c->model, &c->rows, c->data.y,
                       (const xb_law *const *)c->law, laws, opt);
}

static void assert_same_scores(const xb_scores *a, const xb_scores *b)
{
    assert_int_equal(xb_scores_count(a), xb_scores_count(b));
    for (int64_t i = 0; i < xb_scores_count(a); i++) {
        const xb_score u = xb_scores_at(a, i), v = xb_scores_at(b, i);
        assert_memory_equal(&u, &v, sizeof u);
    }
    for (int64_t i = 0; i < xb_scores_array_count(a); i++) {
        int64_t n = -1, m = -1;
        const double *u = xb_scores_array_at(a, i, &n), *v = xb_scores_array_at(b, i, &m);
        assert_int_equal(n, m);
        assert_memory_equal(u, v, (size_t)n * sizeof *u);
    }
}

static void assert_same_distances(const xb_distances *a, const xb_distances *b)
{
    for (int64_t i = 0; i < xb_distances_count(a); i++) {
        const xb_distance u = xb_distances_at(a, i), v = xb_distances_at(b, i);
        assert_memory_equal(&u, &v, sizeof u);
    }
    for (int64_t i = 0; i < xb_distances_gap_count(a); i++) {
        const xb_gap u = xb_distances_gap_at(a, i), v = xb_distances_gap_at(b, i);
        assert_memory_equal(&u, &v, offsetof(xb_gap, verdict));
        assert_int_equal(u.verdict, v.verdict);
    }
    assert_int_equal(xb_distances_verdict(a), xb_distances_verdict(b));
}

/* ---- an evaluation is its parts */

typedef struct part {
    double *value; /* [DRAWS][N][outputs] */
    xb_scores *scores;
} part;

static part make_part(const evaluated *c, const xb_rows *of, const xb_law *law)
{
    part p = {malloc((size_t)(DRAWS * of->n * c->outputs) * sizeof(double)), NULL};
    xb_predict_options opt = xb_predict_options_default();
    opt.law = law;
    opt.seed = 5;
    opt.draws = DRAWS;
    assert_non_null(p.value);
    assert_ok(c->ctx,
              xb_predict_draws_rows(c->ctx, p.value, NULL, c->model, of, 0, DRAWS, &opt));
    assert_ok(c->ctx, xb_score_model(c->ctx, &p.scores, c->model, of, c->data.y, &opt));
    return p;
}

static void free_part(part *p)
{
    free(p->value);
    xb_scores_destroy(p->scores);
}

static xb_distances *distance_of(const evaluated *c, const part *a, const part *b,
                                 int64_t n)
{
    xb_distance_options opt = xb_distance_options_default();
    xb_distances *d = NULL;
    opt.paired = opt.standardise = true;
    opt.permutations = 0;
    opt.neighbours = -1;
    assert_ok(c->ctx, xb_distance_samples(c->ctx, &d, a->value, DRAWS, b->value, DRAWS,
                                          n * c->outputs, &opt));
    return d;
}

static double gap_of_means(const double *a, const double *b, int64_t points)
{
    double square = 0;
    for (int64_t i = 0; i < points; i++) {
        double gap = 0;
        for (int d = 0; d < DRAWS; d++) gap += a[d * points + i] - b[d * points + i];
        square += gap * gap / DRAWS / DRAWS;
    }
    return sqrt(square / (double)points);
}

static void check_law(const evaluated *c, const xb_evaluation *e, int64_t law,
                      const part *first, const part *p)
{
    const int64_t points = N * c->outputs;
    xb_distances *d = distance_of(c, first, p, N);
    double bound = NAN;
    assert_same_scores(xb_evaluation_scores(e, law), p->scores);
    assert_same_distances(xb_evaluation_outputs(e, law), d);
    assert_ok(c->ctx, xb_distance_kl_lower(c->ctx, &bound, p->value, first->value, DRAWS,
                                           points));
    assert_true(xb_evaluation_kl_at_least(e, law) == bound);
    if (c->outputs > 1) {
        assert_close(xb_evaluation_probability_gap(e, law),
                     gap_of_means(first->value, p->value, points), 1e-12);
        assert_null(xb_evaluation_predictive(e, law));
        assert_true(isnan(xb_evaluation_nll_difference(e, law).value));
    } else {
        const xb_score found = xb_evaluation_nll_difference(e, law);
        xb_score expected;
        assert_ok(c->ctx,
                  xb_score_difference(
                      c->ctx, &expected, xb_scores_array_get(p->scores, "nll", NULL),
                      xb_scores_array_get(first->scores, "nll", NULL), N));
        assert_memory_equal(&found, &expected, sizeof found);
        /* the data's noise, shared by all laws, makes them nearer */
        assert_true(xb_distances_gap_get(xb_evaluation_predictive(e, law), "mean").rms <=
                    xb_distances_gap_get(d, "mean").rms);
        assert_true(isnan(xb_evaluation_probability_gap(e, law)));
    }
    xb_distances_destroy(d);
}

static void an_evaluation_is_its_parts(void **state)
{
    (void)state;
    for (target_kind kind = 0; kind <= LINE; kind++) {
        evaluated c = make_case(kind);
        use_rows(&c, N);
        part p[LAWS];
        xb_evaluation *e = NULL;
        xb_evaluate_options opt = xb_evaluate_options_default();
        opt.draws = DRAWS;
        opt.seed = 5;
        assert_ok(c.ctx, evaluate(&c, &e, LAWS, &opt));
        assert_int_equal(xb_evaluation_rows(e), N);
        assert_int_equal(xb_evaluation_draws(e), DRAWS);
        assert_int_equal(xb_evaluation_compared_rows(e), N);
        for (int i = 0; i < LAWS; i++) p[i] = make_part(&c, &c.rows, c.law[i]);
        assert_same_scores(xb_evaluation_scores(e, 0), p[0].scores);
        for (int i = 1; i < LAWS; i++) check_law(&c, e, i, &p[0], &p[i]);
        if (kind == LINE) assert_true(xb_evaluation_kl_at_least(e, 1) > 0.01);
        for (int i = 0; i < LAWS; i++) free_part(&p[i]);
        xb_evaluation_destroy(e);
        free_case(&c);
    }
}

/* Of 120 rows with two outputs each, 100 are compared, from the first to nearly the last;
 * the rows are some of a block, in an order of their own. */
static void compared_rows_are_spread(void **state)
{
    (void)state;
    enum { COMPARED = 100 };
    evaluated c = make_case(CLASSES);
    int64_t select[ROWS], picked[COMPARED];
    xb_evaluation *e = NULL;
    xb_evaluate_options opt = xb_evaluate_options_default();
    opt.draws = DRAWS;
    opt.seed = 5;
    use_rows(&c, ROWS);
    for (int i = 0; i < ROWS; i++) select[i] = ROWS - 1 - i;
    for (int i = 0; i < COMPARED; i++) picked[i] = select[i * ROWS / COMPARED];
    c.rows.select = select;
    assert_ok(c.ctx, evaluate(&c, &e, 2, &opt));
    assert_int_equal(xb_evaluation_compared_rows(e), COMPARED);
    xb_rows few = c.rows;
    few.select = picked;
    few.n = COMPARED;
    part a = make_part(&c, &few, c.law[0]), b = make_part(&c, &few, c.law[1]);
    xb_distances *d = distance_of(&c, &a, &b, COMPARED);
    assert_same_distances(xb_evaluation_outputs(e, 1), d);
    xb_distances_destroy(d);
    free_part(&a), free_part(&b);
    xb_evaluation_destroy(e);
    free_case(&c);
}

/* ---- words */

static bool says(const char *text, const char *words)
{
    return text && strstr(text, words) != NULL;
}

static void findings_say_the_verdicts(void **state)
{
    (void)state;
    evaluated c = make_case(LINE);
    use_rows(&c, 5);
    xb_evaluation *e = NULL;
    static const char *const names[LAWS] = {NULL, "two peaks", NULL};
    xb_evaluate_options opt = xb_evaluate_options_default();
    opt.draws = DRAWS;
    opt.names = names;
    assert_ok(c.ctx, evaluate(&c, &e, LAWS, &opt));
    assert_string_equal(xb_evaluation_law_name(e, 1), "two peaks");
    assert_string_equal(xb_evaluation_law_name(e, 2), "gaussian");
    assert_int_equal(xb_evaluation_finding_count(e, 0), 0);
    assert_null(xb_evaluation_needed(e, 0));
    for (int i = 1; i < LAWS; i++) {
        static const char *const gap[] = {"mean", "sd", "whole"};
        const xb_distances *d = xb_evaluation_outputs(e, i);
        assert_int_equal(xb_evaluation_finding_count(e, i), 6);
        for (int k = 0; k < XB_COUNT(gap); k++) {
            char verdict[32];
            snprintf(verdict, sizeof verdict, ": %s",
                     xb_verdict_name(xb_distances_gap_get(d, gap[k]).verdict));
            assert_true(says(xb_evaluation_finding_at(e, i, k), verdict));
        }
        assert_true((xb_distances_verdict(d) == XB_VERDICT_UNRESOLVED) ==
                    (xb_evaluation_needed(e, i) != NULL));
    }
    assert_int_equal(xb_distances_verdict(xb_evaluation_outputs(e, 1)),
                     XB_VERDICT_DIFFERENT);
    assert_true(says(xb_evaluation_finding_at(e, 1, 3), "KL(two peaks‖gaussian)"));
    /* the model's own law once more: not one draw differs */
    assert_int_equal(xb_distances_verdict(xb_evaluation_outputs(e, 2)), XB_VERDICT_SAME);
    assert_true(says(xb_evaluation_finding_at(e, 2, 3), "indistinguishable from 0"));
    assert_null(xb_evaluation_finding_at(e, 2, 6));
    assert_true(says(xb_scores_doubt_at(xb_evaluation_scores(e, 0), 0),
                     "5 rows: too few to judge a model"));
    xb_evaluation_destroy(e);
    free_case(&c);
}

/* The sentence on draws for each reason that there is no verdict. */
static void what_a_verdict_needs_is_said(void **state)
{
    (void)state;
    static const struct {
        int64_t samples, findings;
        double tolerance;
        const char *text;
    } cases[] = {
        {1, 0, 0.01, "fewer than 20 draws cannot decide"},
        {19, 6, 0.01, "fewer than 20 draws cannot decide"},
        {40, 6, 0.02, "draws would decide"},
        {40, 6, 1e-7, "the gap is so close to the tolerance that more than 10 million"}};
    evaluated c = make_case(NUMBERS);
    use_rows(&c, 20);
    xb_law_destroy(c.law[1]);
    c.law[1] = test_law(c.ctx, "mtj");
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_evaluation *e = NULL;
        xb_evaluate_options opt = xb_evaluate_options_default();
        opt.draws = cases[i].samples;
        opt.tolerance = cases[i].tolerance;
        assert_ok(c.ctx, evaluate(&c, &e, 2, &opt));
        if (!says(xb_evaluation_needed(e, 1), cases[i].text))
            fail_msg("'%s' does not say '%s'", xb_evaluation_needed(e, 1), cases[i].text);
        assert_int_equal(xb_evaluation_finding_count(e, 1), cases[i].findings);
        assert_int_equal(xb_scores_doubt_count(xb_evaluation_scores(e, 0)), 0);
        xb_evaluation_destroy(e);
    }
    free_case(&c);
}

/* ---- draws, threads, failures */

static void draws_are_found(void **state)
{
    (void)state;
    evaluated c = make_case(NUMBERS);
    use_rows(&c, 20);
    xb_evaluation *e = NULL;
    xb_evaluate_options opt = xb_evaluate_options_default();
    opt.draws = 0;
    opt.tolerance = 0.03;
    assert_ok(c.ctx, evaluate(&c, &e, 2, &opt));
    print_message("%lld draws\n", (long long)xb_evaluation_draws(e));
    assert_true(xb_evaluation_draws(e) >= 1000 && xb_evaluation_draws(e) % 100 == 0);
    assert_true(xb_distances_verdict(xb_evaluation_outputs(e, 1)) !=
                XB_VERDICT_UNRESOLVED);
    xb_evaluation_destroy(e);
    opt.tolerance = 1e-6;
    opt.max_draws = 1250;
    xb_law_destroy(c.law[1]);
    c.law[1] = test_law(c.ctx, "mtj");
    assert_ok(c.ctx, evaluate(&c, &e, 2, &opt));
    assert_int_equal(xb_evaluation_draws(e), 1250);
    xb_evaluation_destroy(e);
    /* one law, its own: no rows are compared, and few draws will do */
    opt.max_draws = 40000;
    assert_ok(c.ctx, evaluate(&c, &e, 0, &opt));
    assert_int_equal(xb_evaluation_law_count(e), 1);
    assert_int_equal(xb_evaluation_compared_rows(e), 0);
    assert_true(xb_evaluation_law_at(e, 0) == xb_model_law(c.model));
    const xb_score nll = xb_scores_get(xb_evaluation_scores(e, 0), "nll");
    assert_at_most(nll.mc_error, 0.15 * nll.std_error); /* 0.1 is aimed at */
    assert_null(xb_evaluation_outputs(e, 0));
    xb_evaluation_destroy(e);
    free_case(&c);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (target_kind kind = 0; kind < KINDS; kind++) {
        evaluated c = make_case(kind);
        use_rows(&c, 40);
        xb_evaluation *e[2] = {NULL, NULL};
        xb_evaluate_options opt = xb_evaluate_options_default();
        opt.draws = 210;
        for (int t = 0; t < 2; t++) {
            xb_ctx_set_threads(c.ctx, t + 1);
            assert_ok(c.ctx, evaluate(&c, &e[t], 2, &opt));
        }
        for (int i = 0; i < 2; i++)
            assert_same_scores(xb_evaluation_scores(e[0], i),
                               xb_evaluation_scores(e[1], i));
        assert_same_distances(xb_evaluation_outputs(e[0], 1),
                              xb_evaluation_outputs(e[1], 1));
        if (kind != CLASSES)
            assert_same_distances(xb_evaluation_predictive(e[0], 1),
                                  xb_evaluation_predictive(e[1], 1));
        for (int64_t k = 0; k < xb_evaluation_finding_count(e[0], 1); k++)
            assert_string_equal(xb_evaluation_finding_at(e[0], 1, k),
                                xb_evaluation_finding_at(e[1], 1, k));
        assert_true(xb_evaluation_kl_at_least(e[0], 1) ==
                    xb_evaluation_kl_at_least(e[1], 1));
        for (int t = 0; t < 2; t++) xb_evaluation_destroy(e[t]);
        free_case(&c);
    }
}

static bool stop(void *arg, const xb_progress *event)
{
    (void)event;
    return --*(int *)arg > 0;
}

static void refused(const evaluated *c, int64_t laws, const xb_evaluate_options *opt,
                    const char *text)
{
    xb_evaluation *e = NULL;
    assert_int_equal(evaluate(c, &e, laws, opt), XB_E_ARGUMENT);
    assert_null(e);
    if (!strstr(xb_ctx_message(c->ctx), text))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(c->ctx), text);
}

static void impossible_requests_are_refused(void **state)
{
    (void)state;
    evaluated c = make_case(NUMBERS);
    use_rows(&c, 20);
    xb_evaluate_options opt = xb_evaluate_options_default();
    refused(&c, -1, NULL, "20 rows under -1 laws");
    opt.draws = (int64_t)XB_DRAWS_MAX + 1;
    refused(&c, 2, &opt, "10000001 draws: expected 0 (automatic) to 10000000");
    opt.draws = -1;
    refused(&c, 2, &opt, "-1 draws");
    opt.draws = 0, opt.max_draws = 0;
    refused(&c, 2, &opt, "at most 0 draws: expected 1 to 10000000");
    opt.max_draws = 10, opt.tolerance = NAN;
    refused(&c, 2, &opt, "tolerance nan");
    opt.struct_size = 0;
    refused(&c, 2, &opt, "evaluate");
    use_rows(&c, 0);
    refused(&c, 2, NULL, "0 rows");
    use_rows(&c, 20);
    int events = 3;
    xb_evaluation *e = NULL;
    xb_ctx_set_progress(c.ctx, stop, &events);
    assert_int_equal(evaluate(&c, &e, 2, NULL), XB_E_CANCELLED);
    assert_null(e);
    free_case(&c);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (target_kind kind = 0; kind < KINDS; kind += 2) {
        evaluated c = make_case(kind);
        use_rows(&c, 3);
        xb_evaluation *whole = NULL;
        xb_evaluate_options opt = xb_evaluate_options_default();
        opt.draws = 4;
        xb_ctx_set_threads(c.ctx, 1);
        assert_ok(c.ctx, evaluate(&c, &whole, 2, &opt));
        bool failed = true;
        for (int k = 0; failed && fail_alloc_after(k); k++) {
            xb_evaluation *e = NULL;
            xb_status status = evaluate(&c, &e, 2, &opt);
            failed = fail_alloc_happened();
            assert_ran_out(c.ctx, failed, status, e, k);
            if (e)
                assert_same_scores(xb_evaluation_scores(e, 1),
                                   xb_evaluation_scores(whole, 1));
            xb_evaluation_destroy(e);
        }
        xb_evaluation_destroy(whole);
        free_case(&c);
    }
}

/* ---- names */

static void check_score_names(const xb_scores *s)
{
    for (int64_t i = 0; i < xb_scores_count(s); i++) {
        assert_int_equal(xb_scores_find(s, xb_scores_name(s, i)), i);
        assert_true(strlen(xb_scores_about(s, i)) > 10);
        assert_non_null(xb_scores_unit(s, i));
        assert_in_range(xb_scores_better(s, i) + 1, 0, 2);
        const bool of_ensembles = strcmp(xb_scores_name(s, i), "disagreement_share") == 0;
        assert_int_equal(isnan(xb_scores_at(s, i).value) != 0, of_ensembles);
    }
    for (int64_t i = 0; i < xb_scores_array_count(s); i++)
        assert_int_equal(xb_scores_array_find(s, xb_scores_array_name(s, i)), i);
    const int64_t beyond[] = {-1, xb_scores_count(s), xb_scores_array_count(s),
                              INT64_MAX};
    for (int k = 0; k < XB_COUNT(beyond); k++) {
        int64_t size = 7;
        if (beyond[k] >= 0 && beyond[k] < xb_scores_count(s)) continue;
        assert_null(xb_scores_name(s, beyond[k]));
        assert_null(xb_scores_about(s, beyond[k]));
        assert_null(xb_scores_unit(s, beyond[k]));
        assert_int_equal(xb_scores_better(s, beyond[k]), 0);
        assert_true(isnan(xb_scores_at(s, beyond[k]).value));
        if (beyond[k] >= 0 && beyond[k] < xb_scores_array_count(s)) continue;
        assert_null(xb_scores_array_name(s, beyond[k]));
        assert_null(xb_scores_array_at(s, beyond[k], &size));
        assert_int_equal(size, 0);
    }
    assert_int_equal(xb_scores_find(s, "loss"), -1);
    assert_int_equal(xb_scores_find(s, NULL), -1);
    assert_int_equal(xb_scores_array_find(s, "loss"), -1);
    assert_int_equal(xb_scores_array_find(s, NULL), -1);
    assert_null(xb_scores_array_get(s, "loss", NULL));
    assert_true(isnan(xb_scores_get(s, "loss").mc_error));
}

static void check_distance_names(const xb_distances *d)
{
    for (int64_t i = 0; i < xb_distances_count(d); i++)
        assert_int_equal(xb_distances_find(d, xb_distances_name(d, i)), i);
    double most = 0;
    for (int64_t i = 0; i < xb_distances_gap_count(d); i++) {
        assert_int_equal(xb_distances_gap_find(d, xb_distances_gap_name(d, i)), i);
        most = fmax(most, xb_distances_gap_at(d, i).draws_needed);
    }
    assert_true(xb_distances_draws_needed(d) == most);
    assert_int_equal(xb_distances_find(d, "mean"), -1);
    assert_int_equal(xb_distances_find(d, NULL), -1);
    assert_int_equal(xb_distances_gap_find(d, "kl"), -1);
    assert_int_equal(xb_distances_gap_find(d, NULL), -1);
    assert_null(xb_distances_name(d, -1));
    assert_null(xb_distances_name(d, xb_distances_count(d)));
    assert_null(xb_distances_gap_name(d, xb_distances_gap_count(d)));
    assert_true(isnan(xb_distances_get(d, "mean").p_value));
    assert_true(isnan(xb_distances_gap_get(d, "kl").upper));
    assert_int_equal(xb_distances_gap_get(d, "kl").verdict, XB_VERDICT_UNRESOLVED);
}

static void names_are_found(void **state)
{
    (void)state;
    for (target_kind kind = 0; kind < KINDS; kind++) {
        evaluated c = make_case(kind);
        use_rows(&c, 20);
        xb_evaluation *e = NULL;
        xb_evaluate_options opt = xb_evaluate_options_default();
        opt.draws = 30;
        assert_ok(c.ctx, evaluate(&c, &e, LAWS, &opt));
        check_score_names(xb_evaluation_scores(e, 0));
        check_distance_names(xb_evaluation_outputs(e, 1));
        for (int64_t i = 1; i < LAWS; i++) /* the first is called as the third is */
            assert_int_equal(xb_evaluation_law_find(e, xb_evaluation_law_name(e, i)),
                             i == 2 ? 0 : i);
        assert_int_equal(xb_evaluation_law_find(e, "cauchy"), -1);
        assert_int_equal(xb_evaluation_law_find(e, NULL), -1);
        const int64_t beyond[] = {-1, LAWS};
        for (int k = 0; k < XB_COUNT(beyond); k++) {
            assert_null(xb_evaluation_law_name(e, beyond[k]));
            assert_null(xb_evaluation_law_at(e, beyond[k]));
            assert_null(xb_evaluation_scores(e, beyond[k]));
            assert_null(xb_evaluation_outputs(e, beyond[k]));
            assert_null(xb_evaluation_finding_at(e, beyond[k], 0));
            assert_true(isnan(xb_evaluation_kl_at_least(e, beyond[k])));
        }
        xb_evaluation_destroy(e);
        free_case(&c);
    }
    xb_evaluation_destroy(NULL);
    xb_scores_destroy(NULL);
    xb_distances_destroy(NULL);
    assert_string_equal(xb_verdict_name((xb_verdict)7), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_evaluation_is_its_parts),
        cmocka_unit_test(compared_rows_are_spread),
        cmocka_unit_test(findings_say_the_verdicts),
        cmocka_unit_test(what_a_verdict_needs_is_said),
        cmocka_unit_test(draws_are_found),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(impossible_requests_are_refused),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
