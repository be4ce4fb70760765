/* The Student likelihood from end to end: the mixture of Student's t over weight draws,
 * what training finds in tables of heavy tails, what predictions, scores and files make
 * of it. */
#include "compare/target_scorer.h"
#include "predict/predict.h"
#include "vi/model.h"

#include "noisetables.h"

static table train_rows, test_rows;

/* tests/fixtures/make_student.py: mpmath 1.3, 25 digits. */
static const double ref_nll[] = {6.7295548989329696, 16.710026456206212};
static const double ref_crps[] = {1.5483325787364729, 29.480687415240402};
static const double ref_fair[] = {1.5024224652443392, 29.395896192472601};
static const double ref_pit[] = {0.99940180847479873, 6.8528203434495695e-7};
static const double ref_width[] = {2.3184966074481785, 2.5476866391481765};
static const double ref_pinball[] = {0.80615904076837177, 14.758267485154323};
static const double ref_joint[] = {22.938234396812508};
static const double ref_quantile[] = {-2.2172938354689024, -1.3169731231985699,
                                      0.26879820970095642, 1.0015234842496086,
                                      1.7654330620043636};
static const double ref_narrow[] = {3.1388840088553364};
static const double ref_above[] = {0.3333322423829324, 0.047730107293293837,
                                   0.0003121125502339106, 4.9945732049269628e-11};

enum { REF_S = 6, REF_N = 2, MEMBERS = 2 };
static const double ref_degrees[MEMBERS] = {2.5, 7};

static xb_student_table ref_table[MEMBERS];

static void fill_reference(double *m, double *a, double *y)
{
    for (int k = 0; k < MEMBERS; k++) xb_student_fill(&ref_table[k], ref_degrees[k]);
    for (int s = 0; s < REF_S; s++)
        for (int i = 0; i < REF_N; i++) {
            m[s * REF_N + i] = sin(1 + 3 * s + 7 * i);
            a[s * REF_N + i] = 0.3 + 0.2 * cos(2 + 5 * (s % MEMBERS) + 3 * i);
        }
    y[0] = 2, y[1] = -30;
}

/* (L32) Against the series of the law, which has its own fixtures. */
static void the_table_is_the_law(void **state)
{
    (void)state;
    static const double degrees[] = {2.0001, 2.05, 3, 8, 60, 1e4, 1e9};
    static const double far[] = {0.5, 3, 40, 1e5};
    static xb_student_table t;
    double worst = 0, worst_pdf = 0, worst_place = 0;
    for (int k = 0; k < 7; k++) {
        xb_student_fill(&t, degrees[k]);
        const xb_law *law = &t.law;
        for (double x = 0; x < 1e14; x = 1.003 * x + 0.001) {
            const xb_student_pair at = xb_student_above(&t, x);
            worst = fmax(worst, fabs(at.above - law->family->tail(law, x, true)));
            worst_pdf = fmax(worst_pdf, fabs(at.pdf - law->family->pdf(law, x)));
        }
        for (double z = 0; z < 6; z += 0.013) {
            const double exact = xb_student_quantile(&t, 0.5 * erfc(z / M_SQRT2));
            const double found = xb_student_from_normal(&t, -z);
            worst_place = fmax(worst_place, fabs(found - exact) / (1 + fabs(exact)));
            assert_true(xb_student_from_normal(&t, z) == -found);
        }
        assert_close(xb_student_above(&t, 0).above, 0.5, 1e-12);
        assert_true(xb_student_cdf(&t, INFINITY) == 1);
        assert_true(isnan(xb_student_cdf(&t, NAN)));
        assert_close(t.scale * t.scale * t.variance, 1, 1e-14);
    }
    print_message("table: masses off by %.2g, density by %.2g, places by %.2g\n", worst,
                  worst_pdf, worst_place);
    assert_at_most(worst, 1e-12);
    assert_at_most(worst_pdf, 1e-12);
    assert_at_most(worst_place, 1e-8);
    xb_student_fill(&t, 2.0001);
    for (int i = 0; i < 4; i++)
        assert_close(xb_student_above(&t, far[i]).above, ref_above[i], 1e-10);
}

/* The CRPS of the mixture itself at one point, of the reference members. */
static double crps_of(xb_ctx *ctx, const double *m, const double *a, double y)
{
    const xb_mixture p = {m, a, REF_S, 1, false};
    xb_score_options opt = xb_score_options_default();
    xb_target_scorer *w = NULL;
    xb_scores *s = NULL;
    opt.fair = false;
    assert_ok(ctx, xb_target_scorer_create(ctx, &w, 1, 1, REF_S, 1, &opt));
    xb_target_scorer_student(w, ref_table, MEMBERS);
    assert_ok(ctx, xb_target_scorer_add(ctx, w, &p, &y));
    assert_ok(ctx, xb_target_scorer_sum(ctx, &s, w));
    const double crps = xb_scores_get(s, "crps").value;
    xb_scores_destroy(s);
    xb_target_scorer_destroy(w);
    return crps;
}

/* (P9, C45) */
static void scores_agree_with_mpmath(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[REF_S * REF_N], a[REF_S * REF_N], y[REF_N];
    fill_reference(m, a, y);
    const xb_mixture p = {m, a, REF_S, REF_N, false};
    for (int i = 0; i < REF_N; i++) {
        double own[2][REF_S];
        for (int s = 0; s < REF_S; s++)
            own[0][s] = m[s * REF_N + i], own[1][s] = a[s * REF_N + i];
        const xb_mixture one = {own[0], own[1], REF_S, 1, false};
        xb_scores *s = NULL;
        assert_ok(ctx, xb_score_student(ctx, &s, &one, &y[i], 1, ref_table, MEMBERS));
        assert_close(xb_scores_get(s, "nll").value, ref_nll[i], 1e-13);
        assert_close(xb_scores_get(s, "crps").value, ref_fair[i], 1e-8);
        assert_close(crps_of(ctx, own[0], own[1], y[i]), ref_crps[i], 1e-8);
        assert_close(xb_scores_array_get(s, "pit", NULL)[0], ref_pit[i], 1e-9);
        assert_close(xb_scores_get(s, "width").value, ref_width[i], 1e-10);
        assert_close(xb_scores_get(s, "pinball").value, ref_pinball[i], 1e-10);
        const double square = own[1][0] * own[1][0] + own[1][1] * own[1][1];
        assert_close(xb_scores_get(s, "aleatoric").value, sqrt(square / 2), 1e-13);
        xb_scores_destroy(s);
    }
    xb_scores *both = NULL;
    assert_ok(ctx, xb_score_student(ctx, &both, &p, y, REF_N, ref_table, MEMBERS));
    assert_close(xb_scores_get(both, "nll").value, ref_joint[0], 1e-13);
    xb_scores_destroy(both);
    xb_ctx_destroy(ctx);
}

/* (P4, P9) A thousandth on either side is as exact as the middle. */
static void quantiles_agree_with_mpmath(void **state)
{
    (void)state;
    static const double level[] = {0.001, 0.025, 0.5, 0.975, 0.999};
    double m[REF_S * REF_N], a[REF_S * REF_N], y[REF_N], own[REF_S];
    fill_reference(m, a, y);
    for (int s = 0; s < REF_S; s++) own[s] = m[s * REF_N];
    const double sd[MEMBERS] = {a[0], a[REF_N]};
    for (int i = 0; i < 5; i++)
        assert_close(xb_heavy_quantile(own, REF_S, sd, ref_table, MEMBERS, level[i]),
                     ref_quantile[i], 1e-8);
}

/* (C45) Noise far narrower than the spread of the draws: pairs. */
static void narrow_noise_is_scored(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[REF_S], a[REF_S], y[REF_N], room[2 * REF_S * REF_N];
    fill_reference(room, room + REF_S * REF_N, y);
    for (int s = 0; s < REF_S; s++) m[s] = s * s - 10, a[s] = ldexp(1, -14);
    const double found = crps_of(ctx, m, a, 0.5);
    print_message("narrow: crps off by %.2g\n", found - ref_narrow[0]);
    assert_close(found, ref_narrow[0], 1e-5);
    /* where the sum over pairs takes over from the integral, also for draws that
     * coincide, the score goes on as smoothly as before */
    double last[3] = {NAN, NAN, NAN}, worst = 0;
    for (double sd = 0.08; sd < 0.16; sd *= 1.002) {
        for (int s = 0; s < REF_S; s++) m[s] = 6.0 * (s / 2) * (s / 2) - 10, a[s] = sd;
        last[0] = last[1], last[1] = last[2], last[2] = crps_of(ctx, m, a, 0.5);
        worst = fmax(worst, fabs(last[0] - 2 * last[1] + last[2]) / last[1]);
    }
    print_message("from the integral to pairs: a step of %.2g\n", worst);
    assert_at_most(worst, 2e-5);
    xb_ctx_destroy(ctx);
}

/* With many degrees everything is what normal noise has. */
static void many_degrees_are_normal(void **state)
{
    (void)state;
    enum { S = 50, N = 40 };
    static const char *const names[] = {
        "nll",     "crps",      "coverage",           "width",
        "pinball", "sharpness", "miscalibration_area"};
    static xb_student_table t;
    xb_ctx *ctx = test_ctx();
    double m[S * N], own[S], sd = 0.4, room[S], y[N];
    const xb_stream where = {.key = xb_key_make(4, XB_PURPOSE_TEST)};
    for (int i = 0; i < S * N; i++) m[i] = xb_stream_uniform(&where, i);
    for (int i = 0; i < N; i++) y[i] = 2 * xb_stream_uniform(&where, S * N + i) - 0.5;
    for (int s = 0; s < S; s++) own[s] = m[s * N];
    double shared[N];
    for (int i = 0; i < N; i++) shared[i] = sd;
    const xb_mixture p = {m, shared, S, N, .sd_shared = true};
    xb_student_fill(&t, 1e10);
    xb_scores *heavy = NULL, *normal = NULL;
    assert_ok(ctx, xb_score_student(ctx, &heavy, &p, y, 1, &t, 1));
    assert_ok(ctx, xb_score_targets(ctx, &normal, &p, y, 1, NULL));
    for (int i = 0; i < XB_COUNT(names); i++) {
        const xb_score a = xb_scores_get(heavy, names[i]);
        const xb_score b = xb_scores_get(normal, names[i]);
        assert_close(a.value, b.value, 1e-7);
        assert_close(a.std_error, b.std_error, 1e-6);
        assert_close_floor(a.mc_error, b.mc_error, 1e-3, 1e-6);
    }
    for (int i = 0; i < 5; i++) {
        const double level = 0.1 + 0.2 * i, z = xb_normal_quantile(level);
        const double q = xb_predictive_quantile(own, S, &sd, 1, level, z);
        assert_close(xb_heavy_quantile(own, S, &sd, &t, 1, level), q, 1e-8);
        assert_close(xb_heavy_quantile_error(own, S, &sd, &t, 1, q, room),
                     xb_quantile_error(own, S, &sd, 1, 1, q, room), 1e-7);
    }
    xb_scores_destroy(heavy);
    xb_scores_destroy(normal);
    xb_ctx_destroy(ctx);
}

static xb_model *train(xb_ctx *ctx, xb_likelihood likelihood)
{
    xb_train_options o = xb_train_options_default();
    xb_model *model = NULL;
    const xb_train_data data = data_of(&train_rows);
    o.net = "dense 20, relu, dense 1";
    o.likelihood = likelihood;
    o.adam.rate = 1e-2;
    o.mle_epochs = 500 * 100 / train_rows.n;
    o.epochs = 3000 * 100 / train_rows.n;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    return model;
}

static void heavy_tails_are_learnt(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double normal[TEST_ROWS], student[TEST_ROWS];
    make(&train_rows, HEAVY, 0, 800, 1);
    make(&test_rows, HEAVY, MOST, TEST_ROWS, 1);
    xb_model *a = train(ctx, XB_LIKELIHOOD_GAUSSIAN);
    xb_model *b = train(ctx, XB_LIKELIHOOD_STUDENT);
    assert_true(isnan(xb_model_noise_degrees(a)));
    print_message("degrees %.3g, noise sd %.3g\n", xb_model_noise_degrees(b),
                  xb_model_noise_sd(b));
    assert_true(xb_model_noise_degrees(b) > 2 && xb_model_noise_degrees(b) < 5);
    test_nll(ctx, normal, a, &test_rows);
    test_nll(ctx, student, b, &test_rows);
    const loss l = loss_of(student, normal);
    print_message("student less gaussian: %+.4f +- %.4f\n", l.mean, l.error);
    assert_true(l.mean < -0.05);
    xb_model_destroy(a);
    xb_model_destroy(b);
    xb_ctx_destroy(ctx);
}

/* The density of t by its gamma functions. */
static double log_t(double x, double nu)
{
    return lgamma(0.5 * (nu + 1)) - lgamma(0.5 * nu) - 0.5 * log(M_PI * nu) -
           0.5 * (nu + 1) * log1p(x * x / nu);
}

/* (P9) -log of the mean over draws of t((y - f) / b) / b, for each row. */
static void closed_nll(xb_ctx *ctx, double nll[TEST_ROWS], const xb_model *model,
                       int64_t draws)
{
    double *f = malloc((size_t)(draws * TEST_ROWS) * sizeof *f);
    const double nu = xb_model_noise_degrees(model);
    const double b = xb_model_noise_sd(model) * sqrt((nu - 2) / nu);
    assert_non_null(f);
    assert_ok(ctx, xb_predict_draws(ctx, f, NULL, model, test_rows.x, TEST_ROWS, 0, draws,
                                    NULL));
    for (int i = 0; i < TEST_ROWS; i++) {
        double top = -INFINITY, sum = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t s = 0; s < draws; s++) {
                const double l = log_t((test_rows.y[i] - f[s * TEST_ROWS + i]) / b, nu);
                if (pass == 0)
                    top = fmax(top, l);
                else
                    sum += exp(l - top) / (double)draws;
            }
        nll[i] = log(b) - top - log(sum);
    }
    free(f);
}

/* One row in fifty is a hundred standard deviations away: what is said of it must not
 * depend on how many draws there are. */
static void outliers_have_the_density_of_t(void **state)
{
    (void)state;
    static const int64_t draws[] = {20, 100, 1000};
    xb_ctx *ctx = test_ctx();
    static double nll[TEST_ROWS];
    make(&train_rows, CONSTANT, 0, 600, 3);
    make(&test_rows, CONSTANT, MOST, TEST_ROWS, 3);
    for (int i = 0; i < train_rows.n; i += 50) train_rows.y[i] += i % 100 ? 30 : -30;
    for (int i = 0; i < TEST_ROWS; i += 50) test_rows.y[i] += i % 100 ? 30 : -30;
    xb_model *model = train(ctx, XB_LIKELIHOOD_STUDENT);
    xb_score found[3];
    for (int k = 0; k < 3; k++) {
        xb_scores *s = NULL;
        xb_predict_options o = xb_predict_options_default();
        const xb_rows rows = {.x = test_rows.x, .n = TEST_ROWS, .features = COLUMNS};
        o.draws = draws[k];
        assert_ok(ctx, xb_score_model(ctx, &s, model, &rows, test_rows.y, &o));
        const double *each = xb_scores_array_get(s, "nll", NULL);
        closed_nll(ctx, nll, model, draws[k]);
        for (int i = 0; i < TEST_ROWS; i++)
            assert_close_floor(each[i], nll[i], 1e-9, 1e-9);
        found[k] = xb_scores_get(s, "nll");
        xb_scores_destroy(s);
    }
    print_message("nll %.4f, %.4f, %.4f with 20, 100, 1000 draws\n", found[0].value,
                  found[1].value, found[2].value);
    for (int k = 0; k < 2; k++) /* five errors: 1 in 10^6, but seeds are fixed */
        assert_at_most(fabs(found[k].value - found[2].value),
                       5 * hypot(found[k].mc_error, found[2].mc_error) + 1e-3);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* Quantiles hold what they say, and a file gives the same predictions. */
static void predictions_have_the_tails(void **state)
{
    (void)state;
    static const double levels[] = {0.005, 0.25, 0.75, 0.995};
    xb_ctx *ctx = test_ctx();
    scratch folder = scratch_make();
    make(&train_rows, HEAVY, 0, 800, 2);
    make(&test_rows, HEAVY, MOST, TEST_ROWS, 2);
    xb_model *model = train(ctx, XB_LIKELIHOOD_STUDENT), *again = NULL;
    xb_predict_options o = xb_predict_options_default();
    xb_prediction *p = NULL, *q = NULL;
    o.draws = 400, o.quantile = levels, o.quantiles = 4;
    assert_ok(ctx, xb_predict(ctx, &p, model, test_rows.x, TEST_ROWS, &o));
    int inside[2] = {0};
    for (int i = 0; i < TEST_ROWS; i++) {
        const double *quantile = xb_prediction_quantile(p) + 4 * i, y = test_rows.y[i];
        inside[0] += y > quantile[0] && y < quantile[3];
        inside[1] += y > quantile[1] && y < quantile[2];
    }
    assert_close_floor(inside[0] / (double)TEST_ROWS, 0.99, 0.01, 1);
    assert_close_floor(inside[1] / (double)TEST_ROWS, 0.5, 0.06, 1);
    const char *path = scratch_path(&folder, "student.safetensors");
    assert_ok(ctx, xb_model_save(ctx, model, path));
    assert_ok(ctx, xb_model_load(ctx, &again, path));
    assert_true(xb_model_noise_degrees(again) == xb_model_noise_degrees(model));
    assert_ok(ctx, xb_predict(ctx, &q, again, test_rows.x, TEST_ROWS, &o));
    assert_memory_equal(xb_prediction_quantile(p), xb_prediction_quantile(q),
                        4 * TEST_ROWS * sizeof(double));
    xb_prediction_destroy(p);
    xb_prediction_destroy(q);
    xb_model_destroy(model);
    xb_model_destroy(again);
    scratch_remove(&folder);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_law),
        cmocka_unit_test(scores_agree_with_mpmath),
        cmocka_unit_test(quantiles_agree_with_mpmath),
        cmocka_unit_test(narrow_noise_is_scored),
        cmocka_unit_test(many_degrees_are_normal),
        cmocka_unit_test(outliers_have_the_density_of_t),
        cmocka_unit_test(heavy_tails_are_learnt),
        cmocka_unit_test(predictions_have_the_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
