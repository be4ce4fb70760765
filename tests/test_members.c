/* test_members.c: ensembles: what training them gives and what files keep of them, draws
 * dealt over members, the mixture they predict, and how much of its spread is
 * disagreement (maths V50, P7). */
#include "comparetest.h"
#include "traintest.h"

#include "crossbayes/crossbar.h"
#include "crossbayes/safetensors.h"
#include "crossbayes/score.h"
#include "failalloc.h"
#include "predict/predict.h"
#include "vi/member_seed.h"
#include "vi/model.h"

enum { MEMBERS = 3, FILE_MOST = 1 << 16, HEADER = 8 }; /* bytes of its length */

static xb_train_options short_options(int64_t members)
{
    xb_train_options opt = quick_options();
    opt.epochs = opt.mle_epochs = 5;
    opt.members = members;
    return opt;
}

static xb_model *train_members(xb_ctx *ctx, int64_t members, bool classes)
{
    xb_train_options opt = short_options(members);
    if (classes) opt.net = "dense 8, elu, dense 2";
    return train_model(ctx, &opt, classes, NULL);
}

static size_t bytes_of(xb_ctx *ctx, char *out, const xb_model *m)
{
    scratch s = scratch_make();
    assert_ok(ctx, xb_model_save(ctx, m, scratch_path(&s, "m.safetensors")));
    const size_t n = scratch_read(s.path, out, FILE_MOST);
    assert_true(n < FILE_MOST - 1);
    assert_int_equal(scratch_remove(&s), 1);
    return n;
}

/* ---- training */

/* The first is the single model; the others are what their seeds alone would give. */
static void members_are_single_models(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *one = train_members(ctx, 1, false);
    xb_model *all = train_members(ctx, MEMBERS, false);
    assert_int_equal(xb_model_member_count(one), 1);
    assert_ptr_equal(xb_model_member_at(one, 0), one);
    assert_null(xb_model_member_at(one, 1));
    assert_int_equal(xb_model_member_count(all), MEMBERS);
    assert_null(xb_model_member_at(all, MEMBERS));
    assert_true(same_numbers(one, xb_model_member_at(all, 0)));
    for (int i = 1; i < MEMBERS; i++) {
        xb_train_options opt = short_options(1);
        opt.seed = xb_member_seed(opt.seed, i);
        xb_model *own = train_model(ctx, &opt, false, NULL);
        assert_true(same_numbers(own, xb_model_member_at(all, i)));
        assert_false(same_numbers(one, xb_model_member_at(all, i)));
        xb_model_destroy(own);
    }
    xb_model_destroy(one);
    xb_model_destroy(all);
    xb_ctx_destroy(ctx);
}

static void one_member_writes_what_a_single_model_does(void **state)
{
    (void)state;
    static char a[FILE_MOST], b[FILE_MOST];
    xb_ctx *ctx = test_ctx();
    for (int64_t i = 0; i < 2; i++) {
        xb_model *m = train_members(ctx, i, false); /* 0: the default */
        const size_t n = bytes_of(ctx, i ? b : a, m);
        if (i) assert_memory_equal(a, b, n);
        assert_null(strstr(i ? b : a, "member"));
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

/* Full effort takes five where none are asked for. */
static void effort_has_members(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int64_t asked = 0; asked < 3; asked++) {
        xb_train_options opt = short_options(asked);
        opt.effort = XB_TRAIN_EFFORT_FULL;
        xb_model *m = train_model(ctx, &opt, false, NULL);
        assert_int_equal(xb_model_member_count(m), asked ? asked : XB_MEMBERS_FULL);
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    static char a[FILE_MOST], b[FILE_MOST];
    size_t size = 0;
    static const int threads[] = {1, 2, 3, 7};
    for (int i = 0; i < XB_COUNT(threads); i++) {
        xb_ctx *ctx = test_ctx();
        xb_ctx_set_threads(ctx, threads[i]);
        xb_model *m = train_members(ctx, 5, false);
        const size_t n = bytes_of(ctx, i ? b : a, m);
        if (i == 0) size = n;
        assert_int_equal(n, size);
        if (i > 0) assert_memory_equal(a, b, n);
        xb_model_destroy(m);
        xb_ctx_destroy(ctx);
    }
}

/* Scales are those of the rows learnt from: members that hold out others would not go
 * together. */
static void members_hold_out_the_same_rows(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = short_options(MEMBERS);
    opt.validation = 0.3;
    xb_model *m = train_model(ctx, &opt, false, NULL);
    for (int i = 0; i < MEMBERS; i++)
        assert_memory_equal(xb_model_input_mean(xb_model_member_at(m, i)),
                            xb_model_input_mean(m), COLUMNS * sizeof(double));
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void impossible_numbers_of_members_are_refused(void **state)
{
    (void)state;
    static const int64_t bad[] = {-1, XB_MEMBERS_MAX + 1};
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    for (int i = 0; i < XB_COUNT(bad); i++) {
        xb_train_options opt = short_options(bad[i]);
        xb_model *m = NULL;
        assert_int_equal(xb_train(ctx, &m, NULL, &data, &opt), XB_E_ARGUMENT);
        assert_null(m);
        assert_non_null(strstr(xb_ctx_message(ctx), "members: expected 1 to 1000"));
    }
    xb_ctx_destroy(ctx);
}

/* Stops at the first word about members. */
static bool stop_at_members(void *arg, const xb_progress *p)
{
    int *told = arg;
    *told += strcmp(p->task, "training members") == 0;
    return *told == 0;
}

static bool count_epochs(void *arg, xb_trainer *t)
{
    (void)t;
    ++*(int *)arg;
    return true;
}

static void listeners_hear_of_members(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    xb_train_options opt = short_options(MEMBERS);
    xb_model *m = NULL;
    int told = 0, epochs = 0;
    xb_ctx_set_threads(ctx, 2);
    xb_ctx_set_progress(ctx, stop_at_members, &told);
    assert_int_equal(xb_train(ctx, &m, NULL, &data, &opt), XB_E_CANCELLED);
    assert_null(m);
    xb_ctx_set_progress(ctx, NULL, NULL);
    opt.on_epoch = count_epochs;
    opt.on_epoch_arg = &epochs;
    assert_ok(ctx, xb_train(ctx, &m, NULL, &data, &opt));
    assert_int_equal(epochs, MEMBERS * 10);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Whatever runs out, nothing is left and nothing half made. One thread: allocations are
 * counted. */
static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    xb_train_options opt = short_options(2);
    opt.net = "dense 1";
    opt.epochs = opt.mle_epochs = 1;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_model *m = NULL;
        xb_status status = xb_train(ctx, &m, NULL, &data, &opt);
        const bool failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, m, k);
        if (m) assert_int_equal(xb_model_member_count(m), 2);
        xb_model_destroy(m);
        if (!failed) break;
    }
    xb_ctx_destroy(ctx);
}

/* ---- files */

static void ensembles_come_back_the_same(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int l = XB_LIKELIHOOD_GAUSSIAN; l <= XB_LIKELIHOOD_SOFTMAX; l++) {
        const bool classes = l == XB_LIKELIHOOD_SOFTMAX;
        xb_train_options opt = short_options(MEMBERS);
        opt.likelihood = (xb_likelihood)l;
        opt.net = classes ? "dense 4, batchnorm, elu, dense 2" : "dense 4, elu, dense 1";
        xb_model *a = train_model(ctx, &opt, classes, NULL), *b = NULL;
        scratch s = scratch_make();
        assert_ok(ctx, xb_model_save(ctx, a, scratch_path(&s, "m.safetensors")));
        assert_ok(ctx, xb_model_load(ctx, &b, s.path));
        assert_int_equal(xb_model_member_count(b), MEMBERS);
        rows r = make_rows(false);
        double u[6 * ROWS * 2] = {0}, v[6 * ROWS * 2] = {0}, sd_a[ROWS] = {0},
                            sd_b[ROWS] = {0};
        assert_ok(ctx, xb_predict_draws(ctx, u, sd_a, a, r.x, ROWS, 0, 6, NULL));
        assert_ok(ctx, xb_predict_draws(ctx, v, sd_b, b, r.x, ROWS, 0, 6, NULL));
        assert_memory_equal(u, v, sizeof u);
        assert_memory_equal(sd_a, sd_b, sizeof sd_a);
        for (int i = 0; i < MEMBERS; i++)
            assert_true(classes ||
                        same_numbers(xb_model_member_at(a, i), xb_model_member_at(b, i)));
        xb_model_destroy(a);
        xb_model_destroy(b);
        assert_int_equal(scratch_remove(&s), 1);
    }
    xb_ctx_destroy(ctx);
}

/* The first place of `from` in the file becomes `to`, as long. */
static void load_changed(xb_ctx *ctx, const char *from, const char *to, const char *why)
{
    static char bytes[FILE_MOST];
    xb_model *m = train_members(ctx, 2, false), *again = NULL;
    const size_t n = bytes_of(ctx, bytes, m);
    char *at = strstr(bytes + HEADER, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    scratch s = scratch_make();
    const char *path = scratch_write(&s, "m.safetensors", bytes, n);
    assert_int_equal(xb_model_load(ctx, &again, path), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), why));
    assert_null(again);
    xb_model_destroy(m);
    scratch_remove(&s);
}

static void files_that_lie_about_members_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    load_changed(ctx, "\"members\":\"2\"", "\"members\":\"3\"", "member.3.0.kernel.mu");
    load_changed(ctx, "\"members\":\"2\"", "\"members\":\"1\"",
                 "1 members: expected 2 to 1000");
    load_changed(ctx, "\"members\":\"2\"", "\"members\":\"x\"", "x members");
    load_changed(ctx, "member.2.0.kernel.mu", "member.4.0.kernel.mu",
                 "member.2.0.kernel.mu");
    load_changed(ctx, "\"members\":\"2\"", "\"nembers\":\"2\"",
                 "its format is unknown to this version");
    xb_ctx_destroy(ctx);
}

/* ---- the mixture */

static void draws_are_dealt_over_members(void **state)
{
    (void)state;
    enum { DRAWS = 20, FIRST = 4, N = 7 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = train_members(ctx, MEMBERS, false);
    rows r = make_rows(false);
    xb_predict_options opt = xb_predict_options_default();
    double all[DRAWS * N], part[DRAWS * N], own[DRAWS * N];
    assert_ok(ctx, xb_predict_draws(ctx, all, NULL, m, r.x, N, 0, DRAWS, &opt));
    assert_ok(ctx,
              xb_predict_draws(ctx, part, NULL, m, r.x, N, FIRST, DRAWS - FIRST, &opt));
    assert_memory_equal(part, all + FIRST * N, (DRAWS - FIRST) * N * sizeof *all);
    assert_ok(ctx, xb_predict_draws(ctx, own, NULL, xb_model_member_at(m, 0), r.x, N, 0,
                                    DRAWS, &opt));
    for (int s = 0; s < DRAWS; s += MEMBERS) /* the first's are those it has alone */
        assert_memory_equal(all + s * N, own + s / MEMBERS * N, N * sizeof *all);
    xb_ctx_set_threads(ctx, 5);
    assert_ok(ctx, xb_predict_draws(ctx, part, NULL, m, r.x, N, 0, DRAWS, &opt));
    assert_memory_equal(part, all, sizeof all);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Members draw apart: with equal weights, draws of two members are not the same, and
 * their average has half the variance. 4000 pairs: 2.2 % of it, bounds of five. */
static void members_draw_apart(void **state)
{
    (void)state;
    enum { PAIRS = 4000 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = train_members(ctx, 2, false);
    const size_t n = (size_t)xb_net_param_count(m->net);
    memcpy(m->member[1]->mu, m->member[0]->mu, n * sizeof *m->mu);
    memcpy(m->member[1]->sigma, m->member[0]->sigma, n * sizeof *m->sigma);
    rows r = make_rows(false);
    double *v = calloc(2 * PAIRS, sizeof *v), single[2] = {0}, both[2] = {0};
    assert_ok(ctx, xb_predict_draws(ctx, v, NULL, m, r.x, 1, 0, 2 * PAIRS, NULL));
    for (int k = 0; k < PAIRS; k++) {
        const double mean = 0.5 * (v[2 * k] + v[2 * k + 1]);
        single[0] += v[2 * k] / PAIRS, both[0] += mean / PAIRS;
        single[1] += v[2 * k] * v[2 * k] / PAIRS, both[1] += mean * mean / PAIRS;
    }
    assert_close((both[1] - both[0] * both[0]) / (single[1] - single[0] * single[0]), 0.5,
                 0.16);
    free(v);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Two linear members whose outputs are known: means 1 and 3, noise 0.3 and 0.4, weights
 * that make sds of 0.2 and 0.6 at x = 1. */
static xb_model *known_pair(xb_ctx *ctx)
{
    xb_train_options opt = short_options(2);
    opt.net = "dense 1";
    xb_model *m = train_model(ctx, &opt, false, NULL);
    const double mean[] = {1, 3}, sd[] = {0.2, 0.6}, noise[] = {0.3, 0.4};
    for (int i = 0; i < 2; i++) {
        xb_model *one = m->member[i];
        const xb_tensor *w = xb_net_tensor_at(one->net, 0),
                        *b = xb_net_tensor_at(one->net, 1);
        for (int j = 0; j < COLUMNS; j++) {
            one->x_mean[j] = 0, one->x_sd[j] = 1;
            one->mu[w->offset + j] = 0;
            one->sigma[w->offset + j] = j == 0 ? (float)sd[i] : 1e-12f;
        }
        one->mu[b->offset] = (float)mean[i];
        one->noise_log_sd[0] = log(noise[i]);
        one->y_mean[0] = 0, one->y_sd[0] = 1;
    }
    xb_model **list = m->member;
    const int64_t members = m->members;
    *m = *list[0]; /* the ensemble looks like its first */
    m->member = list;
    m->members = members;
    return m;
}

static double mixture_cdf(double y)
{
    const double first = hypot(0.2, 0.3), second = hypot(0.6, 0.4);
    return 0.25 * (erfc((1 - y) / first / sqrt(2)) + erfc((3 - y) / second / sqrt(2)));
}

/* (P7) Mean 2, variance within 0.2, between 1; errors of 40000 draws are 0.5 %, bounds of
 * five or more. */
static void the_mixture_is_the_closed_form(void **state)
{
    (void)state;
    static const double x[COLUMNS] = {1, 0, 0}, levels[] = {0.025, 0.3, 0.7, 0.975};
    xb_ctx *ctx = test_ctx();
    xb_model *m = known_pair(ctx);
    xb_predict_options opt = xb_predict_options_default();
    xb_prediction *p = NULL;
    opt.draws = 40000;
    opt.quantile = levels;
    opt.quantiles = XB_COUNT(levels);
    assert_ok(ctx, xb_predict(ctx, &p, m, x, 1, &opt));
    assert_close(xb_prediction_mean(p)[0], 2, 0.01);
    assert_close(xb_prediction_epistemic(p)[0], sqrt(1.2), 0.02);
    assert_close(xb_prediction_disagreement(p)[0], 1, 0.02);
    assert_close(xb_prediction_disagreement_share(p), 1 / 1.2, 0.02);
    assert_close(xb_prediction_aleatoric(p)[0], sqrt(0.125), 1e-6);
    assert_close(xb_model_noise_sd(m), sqrt(0.125), 1e-6);
    for (int k = 0; k < XB_COUNT(levels); k++)
        assert_true(fabs(mixture_cdf(xb_prediction_quantile(p)[k]) - levels[k]) < 0.006);
    /* of the members' own means, not of the gap between them */
    assert_close(xb_prediction_mc_error(p), sqrt(0.2 / 40000) / sqrt(1.325), 0.1);
    xb_prediction_destroy(p);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Scores of the same mixture: a target at y has the density of the mixture, each draw
 * with the noise of its member. */
static void scores_are_those_of_the_mixture(void **state)
{
    (void)state;
    const double x[2 * COLUMNS] = {1, 0, 0, 1, 0, 0}, y[] = {1.2, 2.5};
    xb_ctx *ctx = test_ctx();
    xb_model *m = known_pair(ctx);
    const xb_rows inputs = {.x = x, .n = 2, .features = COLUMNS};
    xb_predict_options opt = xb_predict_options_default();
    xb_scores *s = NULL;
    opt.draws = 40000;
    assert_ok(ctx, xb_score_model(ctx, &s, m, &inputs, y, &opt));
    for (int i = 0; i < 2; i++) {
        const double a = hypot(0.2, 0.3), b = hypot(0.6, 0.4);
        const double density = 0.5 / sqrt(2 * M_PI) *
                               (exp(-0.5 * pow((y[i] - 1) / a, 2)) / a +
                                exp(-0.5 * pow((y[i] - 3) / b, 2)) / b);
        assert_true(fabs(xb_scores_array_get(s, "nll", NULL)[i] + log(density)) < 0.03);
        assert_true(fabs(xb_scores_array_get(s, "pit", NULL)[i] - mixture_cdf(y[i])) <
                    0.01);
    }
    const xb_score share = xb_scores_get(s, "disagreement_share");
    assert_close(share.value, 1 / 1.2, 0.02);
    assert_true(share.mc_error > 0 && share.mc_error < 0.01);
    assert_true(share.std_error < 1e-9); /* both rows are the same */
    xb_scores_destroy(s);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Where members agree there is no disagreement but noise, and a single posterior has
 * none to report. */
static void agreement_is_no_disagreement(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int classes = 0; classes < 2; classes++) {
        xb_model *m = train_members(ctx, 2, classes), *one = m->member[0];
        const size_t n = (size_t)xb_net_param_count(m->net) * sizeof *m->mu;
        rows r = make_rows(classes);
        const xb_rows inputs = {.x = r.x, .n = 20, .features = COLUMNS};
        xb_scores *s = NULL;
        xb_prediction *p = NULL;
        assert_ok(ctx, xb_score_model(ctx, &s, m, &inputs, r.y, NULL));
        const double apart = xb_scores_get(s, "disagreement_share").value;
        xb_scores_destroy(s);
        memcpy(m->member[1]->mu, one->mu, n);
        memcpy(m->member[1]->sigma, one->sigma, n);
        assert_ok(ctx, xb_score_model(ctx, &s, m, &inputs, r.y, NULL));
        assert_true(apart > 0.1);
        assert_true(xb_scores_get(s, "disagreement_share").value < 0.02);
        xb_scores_destroy(s);
        assert_ok(ctx, xb_predict(ctx, &p, m, r.x, 20, NULL));
        assert_true(xb_prediction_disagreement_share(p) < 0.02);
        xb_prediction_destroy(p);
        assert_ok(ctx, xb_predict(ctx, &p, one, r.x, 20, NULL));
        assert_null(xb_prediction_disagreement(p));
        assert_true(isnan(xb_prediction_disagreement_share(p)));
        xb_prediction_destroy(p);
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

/* Classes: the chain rule of information, from the members' probabilities. */
static void information_splits(void **state)
{
    (void)state;
    /* members say (0.9, 0.1) and (0.2, 0.8) in every draw: all of it is between them */
    const double value[] = {0.9, 0.1, 0.2, 0.8, 0.9, 0.1, 0.2, 0.8};
    double room[2], h = -0.55 * log(0.55) - 0.45 * log(0.45);
    h += 0.5 * (0.9 * log(0.9) + 0.1 * log(0.1) + 0.2 * log(0.2) + 0.8 * log(0.8));
    assert_close(xb_members_information(value, 4, 2, 2, 2, room), h, 1e-12);
    assert_true(xb_members_information(value, 4, 2, 1, 2, room) == 0);
}

static void every_member_needs_a_draw(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = train_members(ctx, MEMBERS, false);
    rows r = make_rows(false);
    xb_predict_options opt = xb_predict_options_default();
    xb_prediction *p = NULL;
    opt.draws = MEMBERS - 1;
    assert_int_equal(xb_predict(ctx, &p, m, r.x, 1, &opt), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "at least one for each member"));
    opt.draws = MEMBERS;
    assert_ok(ctx, xb_predict(ctx, &p, m, r.x, 1, &opt));
    xb_prediction_destroy(p);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- arrays */

/* An ideal array reads what the digital ensemble draws, wherever reading starts; tiles
 * are counted member by member. */
static void members_have_tiles_of_their_own(void **state)
{
    (void)state;
    enum { READS = 11, N = 5, FIRST = 4 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = train_members(ctx, MEMBERS, false);
    rows r = make_rows(false);
    xb_array *ideal = NULL;
    xb_analog *all = NULL, *one = NULL;
    double read[READS * N], drawn[READS * N];
    assert_ok(ctx, xb_array_parse(ctx, &ideal, "ideal"));
    assert_ok(ctx, xb_analog_create(ctx, &all, m, ideal, r.x, ROWS, NULL));
    assert_ok(ctx, xb_analog_create(ctx, &one, xb_model_member_at(m, 0), ideal, r.x, ROWS,
                                    NULL));
    assert_ok(ctx, xb_analog_draws(ctx, read, NULL, all, r.x, N, FIRST, READS));
    assert_ok(ctx, xb_predict_draws(ctx, drawn, NULL, m, r.x, N, FIRST, READS, NULL));
    for (int i = 0; i < READS * N; i++) assert_close(read[i], drawn[i], 1e-5);
    assert_close(xb_analog_count(all, 9).devices,
                 MEMBERS * xb_analog_count(one, 9).devices, 1e-12);
    assert_close(xb_analog_count(all, 9).tile_operations,
                 xb_analog_count(one, 9).tile_operations, 1e-12);
    assert_int_equal(xb_analog_export(ctx, all, "/nowhere"), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "ensemble of 3"));
    xb_analog_destroy(one);
    xb_analog_destroy(all);
    xb_array_destroy(ideal);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_single_models),
        cmocka_unit_test(one_member_writes_what_a_single_model_does),
        cmocka_unit_test(effort_has_members),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(members_hold_out_the_same_rows),
        cmocka_unit_test(impossible_numbers_of_members_are_refused),
        cmocka_unit_test(listeners_hear_of_members),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(ensembles_come_back_the_same),
        cmocka_unit_test(files_that_lie_about_members_are_refused),
        cmocka_unit_test(draws_are_dealt_over_members),
        cmocka_unit_test(members_draw_apart),
        cmocka_unit_test(the_mixture_is_the_closed_form),
        cmocka_unit_test(scores_are_those_of_the_mixture),
        cmocka_unit_test(agreement_is_no_disagreement),
        cmocka_unit_test(information_splits),
        cmocka_unit_test(every_member_needs_a_draw),
        cmocka_unit_test(members_have_tiles_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
