/* test_score_point.c: scores of one predictive: mpmath and closed forms, three ways to
 * one CRPS, versions that leave draws out, quantiles, plain samples. */
#include "comparetest.h"

#include "base/ctx.h"
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
    point_scores points = {square, NULL, nll, crps, pit};
    xb_score_options opt = xb_score_options_default();
    number_scores s;
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, y, NULL));
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
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, y, &opt));
    for (int i = 0; i < REF_N; i++) assert_close(crps[i], ref_crps[i], 1e-13);
    xb_ctx_destroy(ctx);
}

static void one_gaussian_is_closed_form(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[] = {3, 3, 3}, a[] = {2, 2, 2}, y[] = {3, 5, -1};
    double crps[3] = {0}, pit[3] = {0}, nll[3] = {0};
    xb_mixture p = {m, a, 1, 3, false};
    point_scores points = {.crps = crps, .pit = pit, .nll = nll};
    number_scores s;
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, y, NULL));
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
    fill_normals(m, DRAWS, 1);
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
    fill_normals(m, DRAWS, 2);
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
        fill_normals(m, DRAWS, 3);
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
    point_scores points = {.crps = &crps, .nll = &nll};
    xb_score_options opt = xb_score_options_default();
    opt.quantile = level, opt.quantiles = 2;
    number_scores s;
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, &y, &opt));
    assert_close(crps, ref_sample[0], 1e-14);
    assert_close(nll, ref_sample[3], 1e-13);
    assert_close(s.pinball.value,
                 0.5 * (0.1 * (y - ref_sample[1]) + 0.23 * (ref_sample[2] - y)), 1e-14);
    assert_true(isnan(s.crps.std_error) && s.crps.mc_error > 0);
    double many[200], pinball = s.pinball.value; /* the same levels again and again */
    for (int i = 0; i < 200; i++) many[i] = level[i % 2];
    opt.quantile = many, opt.quantiles = 200;
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, &y, &opt));
    assert_close(s.pinball.value, pinball, 1e-13);
    opt.quantile = level, opt.quantiles = 2;
    x[0] = x[1] = x[2] = 2, y = 5; /* hand: ties, three equal draws */
    p.draws = 3;
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, &y, &opt));
    assert_true(crps == 3 && s.width.value == 0 && s.sharpness.value == 0);
    assert_true(nll == INFINITY && s.coverage.value == 1 && s.rmse.value == 3);
    x[1] = 4, x[2] = 9; /* 2 4 9 at 5: E|x - y| = 8/3, fair spread 14/3 */
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, &y, &opt));
    assert_close(crps, 8.0 / 3 - 7.0 / 3, 1e-15);
    opt.fair = false; /* spread 28/9 */
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, &y, &opt));
    assert_close(crps, 8.0 / 3 - 14.0 / 9, 1e-15);
    p.draws = 1; /* a point forecast: CRPS is the absolute error */
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, &y, NULL));
    assert_true(crps == 3 && s.mae.value == 3);
    xb_ctx_destroy(ctx);
}

static void no_noise_at_some_points(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[] = {1, 1, 2, 3}, a[] = {0, 0.5}, y[] = {1.5, 2};
    double nll[2] = {0}, crps[2] = {0};
    xb_mixture p = {m, a, 2, 2, true}; /* point 0: masses at 1 and 2 */
    point_scores points = {.nll = nll, .crps = crps};
    number_scores s;
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, y, NULL));
    assert_true(nll[0] == INFINITY && s.nll.value == INFINITY);
    assert_close(crps[0], 0, 1e-15); /* fair: 1/2 - 1/2 */
    assert_close(nll[1], 0.5 * 4 + log(0.5 * sqrt(2 * M_PI)), 1e-15);
    double mixed[] = {0, 1, 1, 1}; /* a draw without noise beside one with it */
    p = (xb_mixture){m, mixed, 2, 2, false};
    assert_ok(ctx, score_numbers(ctx, &s, &points, &p, y, NULL));
    assert_close(nll[0], 0.125 + log(2 * sqrt(2 * M_PI)), 1e-15);
    assert_true(isfinite(crps[0]) && isfinite(s.width.value));
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
