/* test_predict.c: predictions against closed forms (a linear net is a weighted sum of
 * draws), draws against the stream they must come from, quantiles of mixtures, and the
 * same bytes however the work is cut. */
#include "comparetest.h"
#include "traintest.h"

#include "base/ctx.h"
#include "crossbayes/score.h"
#include "data/rows.h"
#include "failalloc.h"
#include "predict/predict.h"
#include "vi/model.h"

/* y = 10 + 2 (b + sum_j w_j (x_j - m_j) / s_j), weights known. */
static xb_model *linear_model(xb_ctx *ctx)
{
    xb_train_options opt = quick_options();
    opt.net = "dense 1";
    opt.epochs = opt.mle_epochs = 1;
    xb_model *m = train_model(ctx, &opt, false, NULL);
    for (int j = 0; j < COLUMNS; j++) {
        m->x_mean[j] = j;
        m->x_sd[j] = 2;
    }
    const xb_tensor *w = xb_net_tensor_at(m->net, xb_net_tensor_find(m->net, "0.kernel"));
    const xb_tensor *b = xb_net_tensor_at(m->net, xb_net_tensor_find(m->net, "0.bias"));
    const float mu[COLUMNS] = {1, -2, 0.5f}, sigma[COLUMNS] = {0.1f, 0.5f, 0.25f};
    memcpy(m->mu + w->offset, mu, sizeof mu);
    memcpy(m->sigma + w->offset, sigma, sizeof sigma);
    m->mu[b->offset] = 0.25f;
    m->y_mean[0] = 10;
    m->y_sd[0] = 2;
    m->noise_log_sd[0] = log(0.3);
    return m;
}

static const double inputs[2 * COLUMNS] = {2, 3, 0, -2, 1, 6};

static double scaled(int row, int j) { return (inputs[row * COLUMNS + j] - j) / 2; }

static double exact_mean(int row)
{
    static const double mu[COLUMNS] = {1, -2, 0.5};
    double sum = 0.25;
    for (int j = 0; j < COLUMNS; j++) sum += mu[j] * scaled(row, j);
    return 10 + 2 * sum;
}

static double exact_sd(int row)
{
    static const double sigma[COLUMNS] = {0.1, 0.5, 0.25};
    double sum = 0;
    for (int j = 0; j < COLUMNS; j++) sum += pow(sigma[j] * scaled(row, j), 2);
    return 2 * sqrt(sum);
}

/* 20000 draws: standard errors 0.7 % of the sd; bounds of five. Gaussian weights make a
 * gaussian predictive, so the quantiles are known. */
static void moments_are_the_closed_form(void **state)
{
    (void)state;
    static const char *const laws[] = {"gaussian", "mtj:B=0.15,w=0.5", "bimodal:m=0.9"};
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    for (int l = 0; l < 3; l++) {
        xb_law *law = test_law(ctx, laws[l]);
        xb_predict_options opt = xb_predict_options_default();
        opt.draws = 20000;
        opt.law = law;
        xb_prediction *p = NULL;
        assert_ok(ctx, xb_predict(ctx, &p, m, inputs, 2, &opt));
        for (int i = 0; i < 2; i++) {
            double e = exact_sd(i), a = 0.6, sd = hypot(e, a);
            assert_true(fabs(xb_prediction_mean(p)[i] - exact_mean(i)) < 0.035 * e);
            assert_close(xb_prediction_epistemic(p)[i], e, 0.04);
            assert_close(xb_prediction_aleatoric(p)[i], a, 1e-12);
            assert_close(xb_prediction_sd(p)[i], sd, 0.04);
            if (l > 0) continue;
            const double z = 1.959963984540054;
            double q = xb_prediction_quantile(p)[2 * i];
            assert_true(fabs(q - (exact_mean(i) - z * sd)) < 0.1 * sd);
        }
        double share = 0; /* of the epistemic in the whole sd, at most */
        for (int i = 0; i < 2; i++)
            share = fmax(share, exact_sd(i) / hypot(exact_sd(i), 0.6));
        assert_close(xb_prediction_mc_error(p), share / sqrt(20000), 0.1);
        xb_prediction_destroy(p);
        xb_law_destroy(law);
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* No rows are no failure; draws beyond the stream's are, however large their numbers. */
static void odd_counts_of_rows_and_draws(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    xb_predict_options opt = xb_predict_options_default();
    double value = 7, sd = 7;
    assert_ok(ctx, xb_predict_draws(ctx, &value, &sd, m, inputs, 0, 0, 5, &opt));
    assert_ok(ctx, xb_predict_draws(ctx, &value, NULL, m, inputs, 2, 3, 0, &opt));
    assert_true(value == 7 && sd == 7);
    static const int64_t beyond[][2] = {
        {UINT32_MAX, 1}, {INT64_MAX, 1}, {1, INT64_MAX}, {-1, 1}, {0, -1}};
    for (int i = 0; i < XB_COUNT(beyond); i++)
        assert_int_equal(xb_predict_draws(ctx, &value, NULL, m, inputs, 1, beyond[i][0],
                                          beyond[i][1], &opt),
                         XB_E_ARGUMENT);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Draw s is the stream's: sample s of tensor "0.kernel" at the step that is never one of
 * training. */
static void draws_come_from_their_place(void **state)
{
    (void)state;
    enum { DRAWS = 40, FIRST = 5 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    xb_law *law = test_law(ctx, "ecram:B=0.1,w=0.6");
    xb_sampler *sampler = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    xb_predict_options opt = xb_predict_options_default();
    opt.law = law;
    opt.seed = 9;
    double value[DRAWS * 2], part[DRAWS * 2], sd[2];
    assert_ok(ctx, xb_predict_draws(ctx, value, sd, m, inputs, 2, 0, DRAWS, &opt));
    static const double mu[COLUMNS] = {1, -2, 0.5}, sigma[COLUMNS] = {0.1, 0.5, 0.25};
    for (int s = 0; s < DRAWS; s++) {
        float z[COLUMNS];
        const xb_stream where = {.key = xb_key_make(9, XB_PURPOSE_WEIGHT),
                                 .tensor =
                                     (uint32_t)xb_net_tensor_find(m->net, "0.kernel"),
                                 .sample = (uint32_t)s,
                                 .step = UINT32_MAX};
        xb_sampler_fill(sampler, z, COLUMNS, &where, 0);
        for (int i = 0; i < 2; i++) {
            double y = 0.25;
            for (int j = 0; j < COLUMNS; j++)
                y += (mu[j] + sigma[j] * (double)z[j]) * scaled(i, j);
            assert_close(value[2 * s + i], 10 + 2 * y, 1e-5);
        }
    }
    assert_ok(ctx, xb_predict_draws(ctx, part, NULL, m, inputs, 2, FIRST, 10, &opt));
    assert_memory_equal(part, value + 2 * FIRST, 20 * sizeof *part);
    xb_sampler_destroy(sampler);
    xb_law_destroy(law);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static double correlation(const double *a, const double *b, int64_t n)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (int64_t i = 0; i < n; i++) ma += a[i] / (double)n, mb += b[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return ab / sqrt(aa * bb);
}

static void laws_share_their_words(void **state)
{
    (void)state;
    enum { DRAWS = 500 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    xb_law *law = test_law(ctx, "mtj:B=0.15,w=0.5");
    xb_predict_options opt = xb_predict_options_default();
    double a[DRAWS], b[DRAWS], c[DRAWS];
    assert_ok(ctx, xb_predict_draws(ctx, a, NULL, m, inputs, 1, 0, DRAWS, &opt));
    opt.law = law;
    assert_ok(ctx, xb_predict_draws(ctx, b, NULL, m, inputs, 1, 0, DRAWS, &opt));
    opt.seed = 2;
    assert_ok(ctx, xb_predict_draws(ctx, c, NULL, m, inputs, 1, 0, DRAWS, &opt));
    assert_true(correlation(a, b, DRAWS) > 0.97);
    assert_true(fabs(correlation(a, c, DRAWS)) < 0.2);
    xb_law_destroy(law);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Antithetic pairs: the mean of a linear net is exact. */
static void antithetic_pairs_cancel(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    xb_predict_options opt = xb_predict_options_default();
    opt.draws = 10;
    opt.antithetic = true;
    xb_prediction *p = NULL;
    assert_ok(ctx, xb_predict(ctx, &p, m, inputs, 2, &opt));
    assert_close(xb_prediction_mean(p)[0], exact_mean(0), 1e-6);
    assert_true(xb_prediction_mc_error(p) < 1e-5);
    xb_prediction_destroy(p);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* One draw says nothing of its own error; a net without noise has none. */
static void an_unknown_error_is_not_zero(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    xb_predict_options opt = xb_predict_options_default();
    xb_prediction *p = NULL;
    for (opt.draws = 1; opt.draws <= 4; opt.draws++) {
        assert_ok(ctx, xb_predict(ctx, &p, m, inputs, 2, &opt));
        assert_true((isnan(xb_prediction_mc_error(p)) != 0) == (opt.draws < 4));
        xb_prediction_destroy(p);
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void enough_draws_are_found(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    xb_predict_options opt = xb_predict_options_default();
    opt.draws = 0;
    opt.tolerance = 0.05;
    xb_prediction *p = NULL;
    assert_ok(ctx, xb_predict(ctx, &p, m, inputs, 2, &opt));
    assert_at_most(xb_prediction_mc_error(p), 0.05);
    int64_t wide = xb_prediction_draws(p);
    assert_in_range(wide, 64, 1024);
    xb_prediction_destroy(p);
    double noise = m->noise_log_sd[0];
    m->noise_log_sd[0] = noise + log(20.0); /* the weights hardly count: few draws do */
    opt.tolerance = 0.01;
    assert_ok(ctx, xb_predict(ctx, &p, m, inputs, 2, &opt));
    assert_at_most(xb_prediction_draws(p), 256);
    xb_prediction_destroy(p);
    m->noise_log_sd[0] = noise - log(20.0); /* and here all: 1 / 0.01^2 */
    assert_ok(ctx, xb_predict(ctx, &p, m, inputs, 2, &opt));
    assert_in_range(xb_prediction_draws(p), 8192, 16384);
    xb_prediction_destroy(p);
    opt.tolerance = 1e-6;
    opt.max_draws = 1000;
    assert_ok(ctx, xb_predict(ctx, &p, m, inputs, 2, &opt));
    assert_int_equal(xb_prediction_draws(p), 1000);
    xb_prediction_destroy(p);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Feature j of row i, whatever the kind. */
static double number_at(const xb_rows *r, int64_t i, int64_t j)
{
    int64_t at = (r->select ? r->select[i] : i) * r->features + j;
    return r->x ? r->x[at] : r->scaled ? (double)r->scaled[at] : r->bytes[at];
}

static void a_part_has_its_own_rows(void **state)
{
    (void)state;
    enum { ALL = 5, FEATURES = 2, FIRST = 2, SOME = 2 };
    static const double x[ALL * FEATURES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const float scaled[ALL * FEATURES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const uint8_t bytes[ALL * FEATURES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int64_t picked[ALL] = {4, 0, 3, 1, 2};
    for (int kind = 0; kind < 6; kind++) {
        const xb_rows all = {.x = kind % 3 == 0 ? x : NULL,
                             .scaled = kind % 3 == 1 ? scaled : NULL,
                             .bytes = kind % 3 == 2 ? bytes : NULL,
                             .select = kind < 3 ? NULL : picked,
                             .n = ALL,
                             .features = FEATURES,
                             .first = 10};
        const xb_rows part = xb_rows_part(&all, FIRST, SOME);
        assert_int_equal(part.n, SOME);
        assert_int_equal(part.first, 10 + FIRST);
        for (int64_t i = 0; i < SOME; i++)
            for (int64_t j = 0; j < FEATURES; j++)
                assert_true(number_at(&part, i, j) == number_at(&all, FIRST + i, j));
    }
}

/* Rows scored a few at a time are the scores of all at once. */
static void scores_come_in_parts(void **state)
{
    (void)state;
    enum { DRAWS = 36000, N = ROWS };
    xb_ctx *ctx = test_ctx();
    xb_predict_options opt = xb_predict_options_default();
    opt.draws = DRAWS; /* times rows: more than fit */
    for (int classes = 0; classes < 2; classes++) {
        xb_train_options train = quick_options();
        train.net = classes ? "dense 2" : "dense 1";
        xb_model *m = train_model(ctx, &train, classes, NULL);
        rows r = make_rows(classes);
        const xb_rows all = {.x = r.x, .n = N, .features = m->features};
        const int64_t outputs = classes ? 2 : 1;
        double *value = malloc((size_t)(DRAWS * N * outputs) * sizeof *value);
        double sd[N];
        int64_t label[N];
        assert_non_null(value);
        assert_ok(ctx, xb_predict_draws_rows(ctx, value, sd, m, &all, 0, DRAWS, &opt));
        xb_scores *s = NULL;
        assert_ok(ctx, xb_score_model(ctx, &s, m, &all, r.y, &opt));
        if (classes) {
            for (int i = 0; i < N; i++) label[i] = (int64_t)r.y[i];
            const xb_class_draws p = {value, DRAWS, N, 2};
            class_scores whole, parts;
            read_classes(&parts, s);
            assert_ok(ctx, score_classes(ctx, &whole, &p, label, NULL));
            assert_close(parts.nll.value, whole.nll.value, 1e-12);
            assert_close(parts.nll.mc_error, whole.nll.mc_error, 1e-9);
            assert_close(parts.ece.std_error, whole.ece.std_error, 1e-12);
            assert_true(parts.accuracy.value == whole.accuracy.value);
        } else {
            const xb_mixture p = {value, sd, DRAWS, N, .sd_shared = true};
            double each[N];
            const point_scores points = {.nll = each};
            number_scores whole, parts;
            read_numbers(&parts, s);
            assert_ok(ctx, score_numbers(ctx, &whole, &points, &p, r.y, NULL));
            assert_memory_equal(xb_scores_array_get(s, "nll", NULL), each, sizeof each);
            assert_close(parts.crps.value, whole.crps.value, 1e-12);
            assert_close(parts.crps.mc_error, whole.crps.mc_error, 1e-9);
            assert_true(parts.coverage.value == whole.coverage.value);
            assert_true(parts.miscalibration_area.std_error ==
                        whole.miscalibration_area.std_error);
        }
        xb_scores_destroy(s);
        free(value);
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

/* The quantile put back into the mixture's cdf. */
static void quantiles_solve_the_mixture(void **state)
{
    (void)state;
    static const double levels[] = {1e-6, 0.025, 0.3, 0.5, 0.975, 1 - 1e-6};
    static const double widths[] = {1e-3, 0.1, 1, 30};
    static const double means[] = {-3, -2.5, 0, 0.1, 0.2, 8, 8.5, 9, 100};
    const int64_t n = sizeof means / sizeof *means;
    assert_close(xb_normal_quantile(0.975), 1.9599639845400542355, 1e-8);
    assert_close(xb_normal_quantile(1e-6), -4.7534243088228987, 1e-8);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
            double z = xb_normal_quantile(levels[i]), cdf = 0, sd = widths[k];
            double q = xb_predictive_quantile(means, n, &sd, 1, levels[i], z);
            for (int64_t s = 0; s < n; s++)
                cdf += 0.5 * erfc((means[s] - q) / (sd * sqrt(2))) / (double)n;
            assert_close(cdf, levels[i], 1e-3 * fmin(1, (1 - levels[i]) * 1e6));
        }
    const double one = 4, none = 0;
    assert_close(xb_predictive_quantile(&one, 1, &none, 1, 0.3, -0.5), 4, 1e-9);
}

static void as_many_quantiles_as_wanted(void **state)
{
    (void)state;
    enum { LEVELS = 99 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    xb_predict_options opt = xb_predict_options_default();
    double level[LEVELS];
    for (int k = 0; k < LEVELS; k++) level[k] = (k + 1) / 100.0;
    xb_prediction *all = NULL, *one = NULL;
    opt.draws = 200;
    opt.quantile = level;
    opt.quantiles = LEVELS;
    assert_ok(ctx, xb_predict(ctx, &all, m, inputs, 2, &opt));
    assert_int_equal(xb_prediction_quantiles(all), LEVELS);
    assert_int_equal(xb_prediction_classes(all), 0);
    assert_null(xb_prediction_class(all));
    for (int k = 0; k < LEVELS; k += 14) {
        opt.quantile = &level[k];
        opt.quantiles = 1;
        assert_ok(ctx, xb_predict(ctx, &one, m, inputs, 2, &opt));
        for (int i = 0; i < 2; i++)
            assert_true(xb_prediction_quantile(all)[i * LEVELS + k] ==
                        xb_prediction_quantile(one)[i]);
        xb_prediction_destroy(one);
    }
    opt.quantiles = -1;
    one = NULL;
    assert_int_equal(xb_predict(ctx, &one, m, inputs, 2, &opt), XB_E_ARGUMENT);
    assert_null(one);
    xb_prediction_destroy(all);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void classes_have_probabilities(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options train = quick_options();
    train.net = "dense 8, elu, dense 2";
    xb_model *m = train_model(ctx, &train, true, NULL);
    rows r = make_rows(true);
    xb_predict_options opt = xb_predict_options_default();
    xb_prediction *p = NULL;
    assert_ok(ctx, xb_predict(ctx, &p, m, r.x, ROWS, &opt));
    assert_null(xb_prediction_mean(p));
    int right = 0;
    for (int i = 0; i < ROWS; i++) {
        const double *q = xb_prediction_probability(p) + 2 * i;
        double h = xb_prediction_entropy(p)[i], info = xb_prediction_information(p)[i];
        assert_close(q[0] + q[1], 1, 1e-12);
        assert_close_floor(h, -q[0] * log(q[0]) - q[1] * log(q[1]), 1e-9, 1e-6);
        assert_true(info >= 0 && info <= h);
        assert_int_equal(xb_prediction_class(p)[i], q[1] > q[0]);
        right += (q[1] > 0.5) == (r.y[i] > 0.5);
    }
    assert_true(right > 0.9 * ROWS);
    assert_int_equal(xb_prediction_classes(p), 2);
    assert_int_equal(xb_prediction_quantiles(p), 0);
    xb_prediction_destroy(p);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Many rows in several chunks, one thread or three; a row alone. */
static void check_cuts(const char *net)
{
    enum { MANY = 700 };
    xb_ctx *ctx = test_ctx();
    xb_train_options train = quick_options();
    if (net) train.net = net;
    train.epochs = 2;
    xb_model *m = train_model(ctx, &train, false, NULL);
    static double x[MANY * COLUMNS];
    for (int i = 0; i < MANY * COLUMNS; i++) x[i] = sin(i);
    xb_predict_options opt = xb_predict_options_default();
    opt.draws = 50;
    xb_prediction *p[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        xb_ctx_set_threads(ctx, i == 1 ? 3 : 1);
        assert_ok(ctx, xb_predict(ctx, &p[i], m, i < 2 ? x : x + 650 * COLUMNS,
                                  i < 2 ? MANY : 1, &opt));
    }
    size_t bytes = MANY * sizeof(double);
    assert_memory_equal(xb_prediction_mean(p[0]), xb_prediction_mean(p[1]), bytes);
    assert_memory_equal(xb_prediction_quantile(p[0]), xb_prediction_quantile(p[1]),
                        2 * bytes);
    assert_close(xb_prediction_mean(p[2])[0], xb_prediction_mean(p[0])[650], 1e-5);
    for (int i = 0; i < 3; i++) xb_prediction_destroy(p[i]);
    xb_prediction *none = NULL;
    assert_ok(ctx, xb_predict(ctx, &none, m, x, 0, &opt));
    assert_int_equal(xb_prediction_count(none), 0);
    xb_prediction_destroy(none);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* A net drawn once for all inputs, and one too large for that. */
static void cuts_do_not_matter(void **state)
{
    (void)state;
    check_cuts(NULL);
    check_cuts("dense 200, relu, dense 200, relu, dense 1");
}

typedef struct listener {
    int told;
    bool stop;
} listener;

static bool listen(void *arg, const xb_progress *event)
{
    listener *l = arg;
    assert_true(event->done <= event->total);
    l->told++;
    return !l->stop;
}

/* Draws of a small net are made in rounds of about a second: a draw of the second round
 * is the one that it is alone, and whoever asks to stop waits for one round. */
static void a_long_prediction_can_be_stopped(void **state)
{
    (void)state;
    enum { MANY = 800, DRAWS = 400, LATE = 390 };
    xb_ctx *ctx = test_ctx();
    xb_train_options train = quick_options();
    train.net = "dense 175, relu, dense 175, relu, dense 1"; /* 31,676 weights */
    train.epochs = train.mle_epochs = 1;
    xb_model *m = train_model(ctx, &train, false, NULL);
    double *x = calloc((size_t)MANY * COLUMNS, sizeof *x), one[MANY];
    double *all = calloc((size_t)MANY * DRAWS, sizeof *all);
    assert_true(x && all);
    for (int i = 0; i < MANY * COLUMNS; i++) x[i] = sin(i);
    xb_predict_options opt = xb_predict_options_default();
    opt.backend = "cpu"; /* a GPU makes all draws at once */
    listener l = {.stop = true};
    xb_ctx_set_threads(ctx, 1);
    xb_ctx_set_progress(ctx, listen, &l);
    assert_int_equal(xb_predict_draws(ctx, all, NULL, m, x, MANY, 0, DRAWS, &opt),
                     XB_E_CANCELLED);
    assert_int_equal(l.told, 1);
    l.stop = false;
    assert_ok(ctx, xb_predict_draws(ctx, all, NULL, m, x, MANY, 0, DRAWS, &opt));
    assert_int_equal(l.told, 2);
    assert_ok(ctx, xb_predict_draws(ctx, one, NULL, m, x, MANY, LATE, 1, &opt));
    assert_memory_equal(one, all + (size_t)LATE * MANY, sizeof one);
    free(x);
    free(all);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void impossible_requests_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = linear_model(ctx);
    xb_prediction *p = NULL;
    const double bad[COLUMNS] = {1, NAN, 2}, level = 1;
    xb_predict_options opt = xb_predict_options_default();
    assert_int_equal(xb_predict(ctx, &p, m, bad, 1, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "feature 2"));
    opt.draws = -1;
    assert_int_equal(xb_predict(ctx, &p, m, inputs, 1, &opt), XB_E_ARGUMENT);
    opt = xb_predict_options_default();
    opt.quantile = &level;
    opt.quantiles = 1;
    assert_int_equal(xb_predict(ctx, &p, m, inputs, 1, &opt), XB_E_ARGUMENT);
    opt = xb_predict_options_default();
    opt.draws = 0, opt.max_draws = 0;
    assert_int_equal(xb_predict(ctx, &p, m, inputs, 1, &opt), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "at most 0 draws"));
    assert_null(p);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    xb_model *m = linear_model(ctx);
    xb_predict_options opt = xb_predict_options_default();
    opt.draws = 20;
    xb_prediction *whole = NULL;
    assert_ok(ctx, xb_predict(ctx, &whole, m, inputs, 2, &opt));
    bool failed = true;
    for (int k = 0; failed && fail_alloc_after(k); k++) {
        xb_prediction *p = NULL;
        xb_status status = xb_predict(ctx, &p, m, inputs, 2, &opt);
        failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, p, k);
        if (p)
            assert_memory_equal(xb_prediction_mean(p), xb_prediction_mean(whole),
                                2 * sizeof(double));
        xb_prediction_destroy(p);
    }
    xb_prediction_destroy(whole);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* The net of the noise runs on the backend that is asked for: with no draws nothing else
 * runs at all. */
static void the_noise_net_takes_the_backend(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options train = quick_options();
    train.epochs = train.mle_epochs = 1;
    train.noise_net = "dense 4, elu, dense 1";
    train.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    xb_model *m = train_model(ctx, &train, false, NULL);
    xb_predict_options opt = xb_predict_options_default();
    double fast[2], plain[2] = {0};
    assert_ok(ctx, xb_predict_draws(ctx, NULL, fast, m, inputs, 2, 0, 0, &opt));
    opt.backend = "ref";
    assert_ok(ctx, xb_predict_draws(ctx, NULL, plain, m, inputs, 2, 0, 0, &opt));
    for (int i = 0; i < 2; i++) assert_close(plain[i], fast[i], 1e-5);
    opt.backend = "no such backend";
    assert_int_not_equal(xb_predict_draws(ctx, NULL, plain, m, inputs, 2, 0, 0, &opt),
                         XB_OK);
    assert_non_null(strstr(xb_ctx_message(ctx), "no such backend"));
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_net_takes_the_backend),
        cmocka_unit_test(moments_are_the_closed_form),
        cmocka_unit_test(odd_counts_of_rows_and_draws),
        cmocka_unit_test(draws_come_from_their_place),
        cmocka_unit_test(laws_share_their_words),
        cmocka_unit_test(antithetic_pairs_cancel),
        cmocka_unit_test(an_unknown_error_is_not_zero),
        cmocka_unit_test(enough_draws_are_found),
        cmocka_unit_test(a_part_has_its_own_rows),
        cmocka_unit_test(scores_come_in_parts),
        cmocka_unit_test(quantiles_solve_the_mixture),
        cmocka_unit_test(as_many_quantiles_as_wanted),
        cmocka_unit_test(classes_have_probabilities),
        cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(a_long_prediction_can_be_stopped),
        cmocka_unit_test(impossible_requests_are_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
