/* test_score.c: scores of predictives: mpmath and hand-made values, closed forms,
 * three ways to one CRPS, calibration, propriety, honest Monte Carlo errors, odd
 * sizes, bad input. Statistical tests fix their seeds; their bands are 4 standard
 * errors (false alarm 6e-5 each) unless said otherwise. */
#include "xbtest.h"

#include "failalloc.h"

#include "base/ctx.h"
#include "compare/calibration.h"
#include "compare/crps.h"
#include "compare/normal_table.h"

/* tests/fixtures/make_compare.py: mpmath 1.3, 30 digits; NumPy 2.4, SciPy 1.17. */
static const double ref_nll[] = {1.1470721278243319, 1.398959807623296,
                                 1.9735319676759641, 1.9127206891708497,
                                 1.0057596478137096};
static const double ref_crps[] = {0.58134927014911817, 0.32739932831675458,
                                  0.41872893242592834, 0.73617020870225098,
                                  0.38239128179316876};
static const double ref_fair[] = {0.54769105015254726, 0.26333121554779865,
                                  0.36071350554260597, 0.70929750302885528,
                                  0.36440720964878533};
static const double ref_pit[] = {0.92874134070147882, 0.48051665908088341,
                                 0.38965129467403264, 0.027277442118875034,
                                 0.12681550330536827};
static const double ref_width[] = {2.3996507472526421, 2.9252180537306176,
                                   2.9614197578130016, 2.0020336051657765,
                                   2.1361967986670293};
static const double ref_pinball[] = {0.32148441648811048, 0.18326600140916683,
                                     0.22305193159668237, 0.40718204343002072,
                                     0.2105122135890751};
/* Plain sample: fair CRPS at 0.4, quantiles 0.1 and 0.77, kernel NLL at 0.4. */
static const double ref_sample[] = {0.26097951529504143, -0.94737694792020799,
                                    0.70721873892230813, 0.87691132247593884};

static double mean_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* n standard normal numbers, stream `sample` of the tests. */
static void normals(double *z, int64_t n, uint32_t sample)
{
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    xb_sampler *sampler = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    xb_stream where = {xb_key_make(20, XB_PURPOSE_TEST), 0, sample, 0};
    xb_sampler_fill_double(sampler, z, n, &where, 0);
    xb_sampler_destroy(sampler);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static double *new_normals(int64_t n, uint32_t sample)
{
    double *z = malloc((size_t)n * sizeof *z);
    assert_non_null(z);
    normals(z, n, sample);
    return z;
}

static void the_table_is_erfc(void **state)
{
    (void)state;
    static xb_normal_table table;
    xb_normal_table_fill(&table);
    double worst = 0, worst_pdf = 0;
    for (int i = -90000; i <= 90000; i++) {
        double t = i * 1e-4 + 3e-7;
        xb_normal_pair at = xb_normal_at(&table, t);
        worst = fmax(worst, fabs(at.cdf - 0.5 * erfc(-t * M_SQRT1_2)));
        worst_pdf = fmax(worst_pdf, fabs(at.pdf - exp(-t * t / 2) / sqrt(2 * M_PI)));
    }
    print_message("normal table: cdf off by %.2g, pdf by %.2g\n", worst, worst_pdf);
    assert_at_most(worst, 1e-15);
    assert_at_most(worst_pdf, 1e-15);
    assert_true(xb_normal_at(&table, INFINITY).cdf == 1);
    assert_true(xb_normal_at(&table, -9).cdf == 0);
}

enum { REF_S = 7, REF_N = 5 };

static void fill_reference(double *m, double *a, double *y)
{
    for (int s = 0; s < REF_S; s++)
        for (int i = 0; i < REF_N; i++) {
            m[s * REF_N + i] = sin(1 + 3 * s + 7 * i);
            a[s * REF_N + i] = 0.3 + 0.2 * cos(2 + 5 * s + 3 * i);
        }
    for (int i = 0; i < REF_N; i++) y[i] = cos(i);
}

static void mixtures_agree_with_mpmath(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[REF_S * REF_N], a[REF_S * REF_N], y[REF_N];
    double nll[REF_N], crps[REF_N], pit[REF_N], square[REF_N];
    fill_reference(m, a, y);
    xb_mixture p = {m, a, REF_S, REF_N, false};
    xb_point_scores points = {square, NULL, nll, crps, pit};
    xb_score_options opt = xb_score_options_default();
    xb_regression_scores s;
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, y, NULL));
    for (int i = 0; i < REF_N; i++) {
        double mean = 0;
        for (int d = 0; d < REF_S; d++) mean += m[d * REF_N + i] / REF_S;
        assert_close(nll[i], ref_nll[i], 1e-14);
        assert_close(crps[i], ref_fair[i], 1e-13);
        assert_close(pit[i], ref_pit[i], 1e-13);
        assert_close(square[i], (y[i] - mean) * (y[i] - mean), 1e-13);
    }
    assert_close(s.nll.value, mean_of(ref_nll, REF_N), 1e-14);
    assert_close(s.width.value, mean_of(ref_width, REF_N), 1e-11);
    assert_close(s.pinball.value, mean_of(ref_pinball, REF_N), 1e-11);
    assert_close(s.rmse.value, sqrt(mean_of(square, REF_N)), 1e-14);
    assert_close(s.sharpness.value, hypot(s.epistemic.value, s.aleatoric.value), 1e-14);
    opt.fair = false;
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, y, &opt));
    for (int i = 0; i < REF_N; i++) assert_close(crps[i], ref_crps[i], 1e-13);
    xb_ctx_destroy(ctx);
}

static void one_gaussian_is_closed_form(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[] = {3, 3, 3}, a[] = {2, 2, 2}, y[] = {3, 5, -1}, crps[3], pit[3], nll[3];
    xb_mixture p = {m, a, 1, 3, false};
    xb_point_scores points = {.crps = crps, .pit = pit, .nll = nll};
    xb_regression_scores s;
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, y, NULL));
    for (int i = 0; i < 3; i++) { /* Gneiting & Raftery 2007, (21) */
        double z = (y[i] - 3) / 2, pdf = exp(-z * z / 2) / sqrt(2 * M_PI);
        assert_close(crps[i], 2 * (z * erf(z / M_SQRT2) + 2 * pdf - 1 / sqrt(M_PI)),
                     4e-15);
        assert_close(pit[i], 0.5 * erfc(-z / M_SQRT2), 4e-15);
        assert_close(nll[i], 0.5 * z * z + log(2 * sqrt(2 * M_PI)), 4e-16);
    }
    assert_close(s.width.value, 4 * 1.9599639845400542, 1e-14);
    assert_close(s.mae.value, 2, 1e-15);
    assert_close(s.rmse.value, sqrt(20.0 / 3), 1e-15);
    assert_close(s.rmse.std_error, 0.5 / s.rmse.value * sqrt(208.0 / 9), 1e-14);
    assert_true(isnan(s.rmse.mc_error)); /* one draw tells nothing of others */
    assert_true(s.epistemic.value == 0 && s.aleatoric.value == 2);
    xb_ctx_destroy(ctx);
}

/* A point with scratch, for the inner functions. */
enum { DRAWS = 60 };

typedef struct scratch_point {
    xb_jackknife groups;
    xb_normal_table normal;
    double number[4][DRAWS], grid[XB_VERSIONS * XB_GRID_MAX];
    xb_tagged tagged[2][DRAWS];
    xb_point point;
} scratch_point;

static void point_make(scratch_point *s, const double *m, const double *a, int64_t draws)
{
    s->groups = xb_jackknife_make(draws);
    xb_normal_table_fill(&s->normal);
    s->point = (xb_point){.groups = &s->groups,
                          .normal = &s->normal,
                          .draws = draws,
                          .m = s->number[0],
                          .a = s->number[1],
                          .inverse = s->number[2],
                          .plain = s->number[3],
                          .sorted = s->tagged[0],
                          .spare = s->tagged[1],
                          .grid = {.all = s->grid, .group = s->grid + XB_GRID_MAX}};
    memcpy(s->point.m, m, (size_t)draws * sizeof *m);
    memcpy(s->point.a, a, (size_t)draws * sizeof *a);
    xb_point_prepare(&s->point);
}

static void three_ways_to_one_crps(void **state)
{
    (void)state;
    static scratch_point s;
    double m[DRAWS], a[DRAWS], zero[DRAWS] = {0}, one[XB_VERSIONS], other[XB_VERSIONS];
    normals(m, DRAWS, 1);
    double worst = 0;
    for (double spread = 0; spread <= 8; spread += 0.5) {
        for (int i = 0; i < DRAWS; i++) a[i] = 0.5 + spread * (i % 7) / 7;
        point_make(&s, m, a, DRAWS);
        assert_true(xb_crps_pairs_grid(one, &s.point));
        xb_crps_pairs_direct(other, &s.point);
        for (int v = 0; v < s.groups.versions; v++)
            worst = fmax(worst, fabs(one[v] / other[v] - 1));
    }
    print_message("pairs by grid and direct: %.2g apart\n", worst);
    assert_at_most(worst, 2e-14);
    point_make(&s, m, zero, DRAWS);
    xb_crps_pairs_sorted(one, &s.point);
    xb_crps_pairs_direct(other, &s.point);
    for (int v = 0; v < s.groups.versions; v++) assert_close(one[v], other[v], 1e-14);
}

/* Version 1 + g is what the draws without group g give by themselves. */
static void versions_leave_a_group_out(void **state)
{
    (void)state;
    static scratch_point s, part;
    double m[DRAWS], a[DRAWS], all[4][XB_VERSIONS], own[4][XB_VERSIONS];
    normals(m, DRAWS, 2);
    for (int kind = 0; kind < 3; kind++) { /* Gaussians, samples, some point masses */
        for (int i = 0; i < DRAWS; i++)
            a[i] = kind == 0 || (kind == 2 && i % 2) ? 0.2 + 0.01 * i : 0;
        point_make(&s, m, a, DRAWS);
        xb_crps(all[0], &s.point, 0.3, true);
        xb_mixture_pit(all[1], &s.point, 0.3);
        xb_mixture_log_density(all[2], &s.point, kind == 1 ? m : a, 0.3);
        xb_mixture_quantile(all[3], &s.point, 0.8);
        for (int g = 0; g < XB_JACKKNIFE_GROUPS; g++) {
            double m2[DRAWS], a2[DRAWS];
            int64_t kept = 0;
            for (int64_t i = 0; i < DRAWS; i++)
                if (i < s.groups.start[g] || i >= s.groups.start[g + 1])
                    m2[kept] = m[i], a2[kept++] = a[i];
            point_make(&part, m2, a2, kept);
            xb_crps(own[0], &part.point, 0.3, true);
            xb_mixture_pit(own[1], &part.point, 0.3);
            xb_mixture_log_density(own[2], &part.point, kind == 1 ? m2 : a2, 0.3);
            xb_mixture_quantile(own[3], &part.point, 0.8);
            for (int j = 0; j < (kind == 1 ? 2 : 3); j++)
                assert_close(all[j][1 + g], own[j][0], 1e-13);
            if (kind == 1) assert_close(all[3][1 + g], own[3][0], 1e-15);
            if (kind == 0) /* one Newton step */
                assert_close_floor(all[3][1 + g], own[3][0], 1e-2, 1);
        }
    }
}

static void quantiles_invert_the_cdf(void **state)
{
    (void)state;
    static scratch_point s;
    static const double level[] = {1e-4, 0.025, 0.3, 0.5, 0.77, 0.975, 0.9999};
    double m[DRAWS], a[DRAWS], q[XB_VERSIONS], u[XB_VERSIONS];
    for (int kind = 0; kind < 4; kind++) {
        normals(m, DRAWS, 3);
        for (int i = 0; i < DRAWS; i++) {
            a[i] = kind == 1 ? 1e-5 : 0.3 + 0.1 * (i % 5);
            if (kind == 2) m[i] += i % 2 ? 1e6 : -1e6; /* flat for a million */
            if (kind == 3) m[i] = 1e8 + m[i];
        }
        double tolerance = kind < 2 ? 1e-12 : kind == 2 ? 1e-9 : 1e-7;
        point_make(&s, m, a, DRAWS);
        for (int grid = 0; grid < 2; grid++)
            for (int i = 0; i < XB_COUNT(level); i++) {
                if (grid) xb_crps(u, &s.point, 0, true);
                xb_mixture_quantile(q, &s.point, level[i]);
                xb_mixture_pit(u, &s.point, q[0]);
                assert_close_floor(u[0], level[i], tolerance, 1);
            }
    }
}

static void plain_samples(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double x[40], y = 0.4, level[] = {0.1, 0.77}, crps, nll;
    for (int i = 0; i < 40; i++) x[i] = sin(1 + 3 * i);
    xb_mixture p = {.mean = x, .draws = 40, .n = 1};
    xb_point_scores points = {.crps = &crps, .nll = &nll};
    xb_score_options opt = xb_score_options_default();
    opt.quantile = level, opt.quantiles = 2;
    xb_regression_scores s;
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, &y, &opt));
    assert_close(crps, ref_sample[0], 1e-14);
    assert_close(nll, ref_sample[3], 1e-13);
    assert_close(s.pinball.value,
                 0.5 * (0.1 * (y - ref_sample[1]) + 0.23 * (ref_sample[2] - y)), 1e-14);
    assert_true(isnan(s.crps.std_error) && s.crps.mc_error > 0);
    x[0] = x[1] = x[2] = 2, y = 5; /* hand: ties, three equal draws */
    p.draws = 3;
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, &y, &opt));
    assert_true(crps == 3 && s.width.value == 0 && s.sharpness.value == 0);
    assert_true(nll == INFINITY && s.coverage.value == 1 && s.rmse.value == 3);
    x[1] = 4, x[2] = 9; /* 2 4 9 at 5: E|x - y| = 8/3, fair spread 14/3 */
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, &y, &opt));
    assert_close(crps, 8.0 / 3 - 7.0 / 3, 1e-15);
    opt.fair = false; /* spread 28/9 */
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, &y, &opt));
    assert_close(crps, 8.0 / 3 - 14.0 / 9, 1e-15);
    p.draws = 1; /* a point forecast: CRPS is the absolute error */
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, &y, NULL));
    assert_true(crps == 3 && s.mae.value == 3);
    xb_ctx_destroy(ctx);
}

static void no_noise_at_some_points(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[] = {1, 1, 2, 3}, a[] = {0, 0.5}, y[] = {1.5, 2}, nll[2], crps[2];
    xb_mixture p = {m, a, 2, 2, true}; /* point 0: masses at 1 and 2 */
    xb_point_scores points = {.nll = nll, .crps = crps};
    xb_regression_scores s;
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, y, NULL));
    assert_true(nll[0] == INFINITY && s.nll.value == INFINITY);
    assert_close(crps[0], 0, 1e-15); /* fair: 1/2 - 1/2 */
    assert_close(nll[1], 0.5 * 4 + log(0.5 * sqrt(2 * M_PI)), 1e-15);
    double mixed[] = {0, 1, 1, 1}; /* a draw without noise beside one with it */
    p = (xb_mixture){m, mixed, 2, 2, false};
    assert_ok(ctx, xb_score_regression(ctx, &s, &points, &p, y, NULL));
    assert_close(nll[0], 0.125 + log(2 * sqrt(2 * M_PI)), 1e-15);
    assert_true(isfinite(crps[0]) && isfinite(s.width.value));
    xb_ctx_destroy(ctx);
}

/* y ~ N(0.5 z, 1 + ..): the predictive of each point is exact, or too narrow. */
typedef struct forecast {
    int64_t n;
    double *mean, *sd, *y;
} forecast;

static forecast forecast_make(int64_t n, double scale, double shift)
{
    forecast f = {n, new_normals(n, 4), new_normals(n, 5), new_normals(n, 6)};
    for (int64_t i = 0; i < n; i++) {
        double sd = 1 + 0.5 * fabs(f.sd[i]);
        f.y[i] = f.mean[i] + sd * f.y[i];
        f.mean[i] += shift;
        f.sd[i] = scale * sd;
    }
    return f;
}

static xb_regression_scores forecast_score(double scale, double shift)
{
    xb_ctx *ctx = test_ctx();
    forecast f = forecast_make(4000, scale, shift);
    xb_mixture p = {f.mean, f.sd, 1, f.n, false};
    xb_regression_scores s;
    assert_ok(ctx, xb_score_regression(ctx, &s, NULL, &p, f.y, NULL));
    free(f.mean), free(f.sd), free(f.y);
    xb_ctx_destroy(ctx);
    return s;
}

static void calibration_is_seen(void **state)
{
    (void)state;
    xb_regression_scores s = forecast_score(1, 0);
    print_message("calibrated: area %.4f, floor %.4f; coverage %.4f +- %.4f\n",
                  s.miscalibration_area.value, s.miscalibration_floor, s.coverage.value,
                  s.coverage.std_error);
    assert_at_most(fabs(s.coverage.value - 0.95), 4 * s.coverage.std_error);
    for (int i = 0; i < XB_CALIBRATION_LEVELS; i++)
        assert_at_most(fabs(s.share[i] - s.level[i]), 4 * s.share_error[i]);
    /* the integral of a bridge exceeds 3 times its mean once in a thousand */
    assert_at_most(s.miscalibration_area.value, 3 * s.miscalibration_floor);
    s = forecast_score(0.5, 0); /* area 1/2 - E(2 Phi(|z| / 2) - 1) */
    assert_at_most(fabs(s.miscalibration_area.value - (0.5 - 2 / M_PI * atan(0.5))),
                   4 * s.miscalibration_area.std_error);
    assert_at_most(s.miscalibration_area.std_error, 0.01);
    assert_true(s.coverage.value < 0.7);
}

/* Area of hand-made curves: pit all 1/2 gives share 1 at once, area 1/2; two points
 * with masses 0.2 and 0.6: triangles 0.02 + 0.045 + 0.005 + 0.08. */
static void area_by_hand(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[] = {0, 0}, a[] = {1, 1}, y[] = {0, 0};
    xb_mixture p = {m, a, 1, 2, false};
    xb_regression_scores s;
    assert_ok(ctx, xb_score_regression(ctx, &s, NULL, &p, y, NULL));
    assert_close(s.miscalibration_area.value, 0.5, 1e-15);
    y[0] = 0.2533471031357997; /* Phi = 0.6 */
    y[1] = -0.8416212335729143;
    assert_ok(ctx, xb_score_regression(ctx, &s, NULL, &p, y, NULL));
    assert_close(s.miscalibration_area.value, 0.15, 1e-14);
    assert_true(s.share[18] == 0 && s.share[20] == 0.5 && s.share[60] == 1);
    assert_close(s.miscalibration_floor, 0.31332853432887503 / sqrt(2), 1e-14);
    xb_ctx_destroy(ctx);
}

/* (C8) What lies on the level is within. */
static void shares_by_hand(void **state)
{
    (void)state;
    static const double mass[] = {0.25, 0.5, 0.5, 1};
    static const double level[] = {0, 0.25, 0.49, 0.5, 0.99, 1};
    static const double share[] = {0, 0.25, 0.25, 0.75, 0.75, 1};
    for (int i = 0; i < XB_COUNT(level); i++)
        assert_close(xb_calibration_share(mass, XB_COUNT(mass), level[i]), share[i],
                     1e-15);
}

static void truth_scores_best(void **state)
{
    (void)state;
    xb_regression_scores best = forecast_score(1, 0);
    static const double scale[] = {0.8, 1.25, 1, 1}, shift[] = {0, 0, 0.25, -0.25};
    for (int i = 0; i < XB_COUNT(scale); i++) {
        xb_regression_scores s = forecast_score(scale[i], shift[i]);
        assert_true(s.crps.value > best.crps.value);
        assert_true(s.nll.value > best.nll.value);
        assert_true(s.pinball.value > best.pinball.value);
    }
}

/* Means N(0, 1), noise sd 0.5: the true predictive is N(0, 1.25). Over 4000 sets of
 * three draws the fair score has its mean, the plain one does not. */
static void fair_is_unbiased(void **state)
{
    (void)state;
    enum { N = 4000, S = 3 };
    xb_ctx *ctx = test_ctx();
    double *m = new_normals((int64_t)N * S, 7), sd[N], y[N];
    for (int i = 0; i < N; i++) sd[i] = 0.5, y[i] = 0.7;
    double root = sqrt(1.25), z = 0.7 / root;
    double truth = root * (z * erf(z / M_SQRT2) + 2 * exp(-z * z / 2) / sqrt(2 * M_PI) -
                           1 / sqrt(M_PI));
    xb_mixture p = {m, sd, S, N, true};
    xb_score_options opt = xb_score_options_default();
    xb_regression_scores s;
    assert_ok(ctx, xb_score_regression(ctx, &s, NULL, &p, y, NULL));
    print_message("fair CRPS of 3 draws %.5f +- %.5f, truth %.5f\n", s.crps.value,
                  s.crps.std_error, truth);
    assert_at_most(fabs(s.crps.value - truth), 4 * s.crps.std_error);
    opt.fair = false;
    assert_ok(ctx, xb_score_regression(ctx, &s, NULL, &p, y, &opt));
    assert_true(s.crps.value - truth > 10 * s.crps.std_error);
    free(m);
    xb_ctx_destroy(ctx);
}

/* 150 runs of 200 draws: the spread of each score over runs is its mc_error. With
 * 150 runs and 20 groups the ratio has a standard error of 6 %. */
static void mc_errors_are_honest(void **state)
{
    (void)state;
    enum { RUNS = 150, S = 200, N = 3, SCORES = 7 };
    xb_ctx *ctx = test_ctx();
    double y[N] = {0.5, 1, -2}, sd[N] = {0.7, 0.2, 1};
    double sum[SCORES] = {0}, square[SCORES] = {0}, claimed[SCORES] = {0};
    for (int r = 0; r < RUNS; r++) {
        double *m = new_normals(S * N, 100 + (uint32_t)r);
        for (int s = 0; s < S; s++) /* the points share the draw, as weights do */
            for (int i = 1; i < N; i++) m[s * N + i] += 0.5 * m[s * N];
        xb_mixture p = {m, sd, S, N, true};
        xb_regression_scores o;
        assert_ok(ctx, xb_score_regression(ctx, &o, NULL, &p, y, NULL));
        const xb_score score[SCORES] = {o.rmse,    o.nll,       o.crps,     o.width,
                                        o.pinball, o.sharpness, o.epistemic};
        for (int j = 0; j < SCORES; j++) {
            sum[j] += score[j].value;
            square[j] += score[j].value * score[j].value;
            claimed[j] += score[j].mc_error * score[j].mc_error / RUNS;
        }
        free(m);
    }
    for (int j = 0; j < SCORES; j++) {
        double variance = (square[j] - sum[j] * sum[j] / RUNS) / (RUNS - 1);
        double ratio = sqrt(claimed[j] / variance);
        print_message("score %d: claimed / true Monte Carlo error %.3f\n", j, ratio);
        assert_true(ratio > 0.76 && ratio < 1.3);
    }
    xb_ctx_destroy(ctx);
}

static void same_bytes_at_any_threads(void **state)
{
    (void)state;
    enum { S = 50, N = 131, C = 4 };
    double *m = new_normals(S * N, 8), *y = new_normals(N, 9),
           *p = new_normals(S * N * C, 10);
    double sd[N];
    int64_t label[N];
    for (int i = 0; i < N; i++) sd[i] = 0.3 + 0.01 * i, label[i] = i % C;
    for (int64_t i = 0; i < S * N; i++) {
        double sum = 0;
        for (int c = 0; c < C; c++) sum += p[i * C + c] = exp(p[i * C + c]);
        for (int c = 0; c < C; c++) p[i * C + c] /= sum;
    }
    xb_mixture predictive = {m, sd, S, N, true};
    xb_class_draws draws = {p, S, N, C};
    xb_regression_scores r[4];
    xb_class_scores c[4];
    static const int threads[] = {1, 2, 3, 8};
    memset(r, 0, sizeof r), memset(c, 0, sizeof c);
    for (int i = 0; i < 4; i++) {
        xb_ctx *ctx = test_ctx();
        xb_ctx_set_threads(ctx, threads[i]);
        assert_ok(ctx, xb_score_regression(ctx, &r[i], NULL, &predictive, y, NULL));
        assert_ok(ctx, xb_score_classes(ctx, &c[i], &draws, label, NULL));
        assert_memory_equal(&r[i], &r[0], sizeof r[0]);
        assert_memory_equal(&c[i].accuracy, &c[0].accuracy,
                            6 * sizeof(xb_score)); /* then padding */
        assert_memory_equal(c[i].bin_share, c[0].bin_share, sizeof c[0].bin_share);
        xb_ctx_destroy(ctx);
    }
    free(m), free(y), free(p);
}

static void classes_by_hand(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    /* two draws, three points, two classes; means .7 .3 / .5 .5 / .1 .9 */
    const double p[] = {0.8, 0.2, 1, 0, 0.1, 0.9, 0.6, 0.4, 0, 1, 0.1, 0.9};
    const int64_t label[] = {0, 1, 0};
    xb_class_draws draws = {p, 2, 3, 2};
    xb_class_scores s;
    assert_ok(ctx, xb_score_classes(ctx, &s, &draws, label, NULL));
    assert_close(s.accuracy.value, 1.0 / 3, 1e-15); /* a tie goes to class 0 */
    assert_close(s.nll.value, -(log(0.7) + log(0.5) + log(0.1)) / 3, 1e-14);
    assert_close(s.brier.value, (2 * 0.09 + 2 * 0.25 + 2 * 0.81) / 3, 1e-14);
    assert_close(s.ece.value, (0.3 + 0.5 + 0.9) / 3, 1e-14); /* three bins of one */
    double h7 = -0.7 * log(0.7) - 0.3 * log(0.3), h9 = -0.9 * log(0.9) - 0.1 * log(0.1);
    double h8 = -0.8 * log(0.8) - 0.2 * log(0.2), h6 = -0.6 * log(0.6) - 0.4 * log(0.4);
    assert_close(s.entropy.value, (h7 + log(2) + h9) / 3, 1e-14);
    assert_close(s.information.value, (h7 - 0.5 * (h8 + h6) + log(2)) / 3, 1e-14);
    assert_true(s.bins == 15 && s.bin_accuracy[10] == 1 && s.bin_accuracy[13] == 0);
    assert_close(s.bin_share[7], 1.0 / 3, 1e-15);
    assert_true(isnan(s.bin_confidence[0]));
    /* without draw 1 or 2 the accuracy is 1/3 or 2/3 */
    assert_close(s.accuracy.mc_error, sqrt(0.5 * 2 * 1.0 / 36), 1e-14);
    assert_close(s.accuracy.std_error, sqrt((2.0 / 3) / 2 / 3), 1e-14);
    draws.draws = 1; /* no draws to disagree */
    assert_ok(ctx, xb_score_classes(ctx, &s, &draws, label, NULL));
    assert_close_floor(s.information.value, 0, 1e-15, 1);
    assert_true(s.nll.value == INFINITY && isnan(s.nll.mc_error));
    xb_ctx_destroy(ctx);
}

static void difference_knows_the_pairs(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const double a[] = {1, 2, 9}, b[] = {0, 1, 5}, bad[] = {0, NAN, 5};
    xb_score d;
    assert_ok(ctx, xb_score_difference(ctx, &d, a, b, 3));
    assert_close(d.value, 2, 1e-15);
    assert_close(d.std_error, 1, 1e-15); /* 1 1 4: sd sqrt 3 */
    assert_ok(ctx, xb_score_difference(ctx, &d, a, b, 1));
    assert_true(d.value == 1 && isnan(d.std_error));
    assert_int_equal(xb_score_difference(ctx, &d, a, bad, 3), XB_E_INPUT);
    assert_int_equal(xb_score_difference(ctx, &d, a, b, 0), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

static void assert_refused(xb_ctx *ctx, const xb_mixture *p, const double *y,
                           const xb_score_options *opt, xb_status status,
                           const char *says)
{
    xb_regression_scores s;
    memset(&s, 7, sizeof s);
    xb_regression_scores before = s;
    assert_int_equal(xb_score_regression(ctx, &s, NULL, p, y, opt), status);
    assert_memory_equal(&s, &before, sizeof s);
    if (!strstr(xb_ctx_message(ctx), says))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), says);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[] = {1, 2, 3, 4}, a[] = {1, 1, 1, 1}, y[] = {1, 2};
    xb_mixture p = {m, a, 2, 2, false};
    xb_score_options opt = xb_score_options_default();
    m[3] = NAN;
    assert_refused(ctx, &p, y, NULL, XB_E_INPUT, "mean of draw 2 at point 2 is nan");
    m[3] = 1, a[2] = -1;
    assert_refused(ctx, &p, y, NULL, XB_E_INPUT, "deviation of draw 2 at point 1 is -1");
    a[2] = 1, y[0] = INFINITY;
    assert_refused(ctx, &p, y, NULL, XB_E_INPUT, "target 1 is inf");
    y[0] = 1, opt.interval = 1;
    assert_refused(ctx, &p, y, &opt, XB_E_ARGUMENT, "interval 1");
    opt = xb_score_options_default(), opt.quantiles = 0;
    assert_refused(ctx, &p, y, &opt, XB_E_ARGUMENT, "0 quantile levels");
    p.draws = 0;
    assert_refused(ctx, &p, y, NULL, XB_E_ARGUMENT, "0 draws at 2 points");
    const double c[] = {0.5, 0.6}, n[] = {NAN, 1}, good[] = {0.5, 0.5};
    const int64_t label[] = {1}, wrong[] = {2};
    xb_class_draws draws = {c, 1, 1, 2};
    xb_class_scores s;
    assert_int_equal(xb_score_classes(ctx, &s, &draws, label, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "add up to 1.1"));
    draws.p = n;
    assert_int_equal(xb_score_classes(ctx, &s, &draws, label, NULL), XB_E_INPUT);
    draws.p = good;
    assert_int_equal(xb_score_classes(ctx, &s, &draws, wrong, NULL), XB_E_INPUT);
    assert_int_equal(xb_score_classes(ctx, &s, &draws, label, NULL), XB_OK);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    double m[] = {1, 2, 3, 4}, y[] = {1, 2}, p[] = {0.5, 0.5};
    int64_t label[] = {1};
    xb_mixture predictive = {.mean = m, .draws = 2, .n = 2};
    xb_class_draws draws = {p, 1, 1, 2};
    xb_regression_scores s;
    xb_class_scores c;
    int failures = 0;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_status status = xb_score_regression(ctx, &s, NULL, &predictive, y, NULL);
        if (!fail_alloc_happened()) break;
        assert_int_equal(status, XB_E_MEMORY);
        failures++;
    }
    assert_true(failures >= 6);
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_status status = xb_score_classes(ctx, &c, &draws, label, NULL);
        if (!fail_alloc_happened()) break;
        assert_int_equal(status, XB_E_MEMORY);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_erfc),
        cmocka_unit_test(mixtures_agree_with_mpmath),
        cmocka_unit_test(one_gaussian_is_closed_form),
        cmocka_unit_test(three_ways_to_one_crps),
        cmocka_unit_test(versions_leave_a_group_out),
        cmocka_unit_test(quantiles_invert_the_cdf),
        cmocka_unit_test(plain_samples),
        cmocka_unit_test(no_noise_at_some_points),
        cmocka_unit_test(calibration_is_seen),
        cmocka_unit_test(area_by_hand),
        cmocka_unit_test(shares_by_hand),
        cmocka_unit_test(truth_scores_best),
        cmocka_unit_test(fair_is_unbiased),
        cmocka_unit_test(mc_errors_are_honest),
        cmocka_unit_test(same_bytes_at_any_threads),
        cmocka_unit_test(classes_by_hand),
        cmocka_unit_test(difference_knows_the_pairs),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
