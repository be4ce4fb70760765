/* test_empirical.c: the law made of M-splines: exact values, both tails, files,
 * and what it makes of all sorts of samples. */
#include "xbtest.h"

#include "law/empirical.h"
#include "fit/fit.h"
#include "law/mspline.h"
#include "fit/sample.h"
#include "fit/spline_fit.h"

static const double knots[] = {-2, -1.75, -1.5, -0.25, 0.125, 0.1875, 2, 2.5, 7};
static const double weights[] = {0.125, 0.25, 0, 0.5, 0.125};

static xb_law *uneven_law(xb_ctx *ctx)
{
    xb_law *law = NULL;
    assert_ok(ctx, xb_empirical_make(ctx, &law, knots, weights, XB_COUNT(knots)));
    return law;
}

/* mpmath, 60 digits: Cox-de Boor and integration. */
static void values_are_exact(void **state)
{
    (void)state;
    static const struct {
        double x, pdf, cdf, survival;
    } known[] = {
        {-0x1.ffffffffffp+0, 8.0921426234757808952e-37, 1.8399402105105266162e-49, 1.0},
        {-0x1.fffffp+0, 9.3296052489508952977e-19, 2.2243512270333517307e-25, 1.0},
        {-1.9, 0.0010756302521008432022, 0.000026890756302521103939,
         0.9999731092436974789},
        {-1.75, 0.016806722689075630252, 0.0010504201680672268908,
         0.99894957983193277311},
        {-1.6, 0.061717755489292457985, 0.0066169368392518242825, 0.99338306316074817572},
        {-1.0, 0.28559257174057933071, 0.11450769168985487771, 0.88549230831014512229},
        {-0.25, 0.20907680414321780546, 0.3407634462662925661, 0.6592365537337074339},
        {0.1, 0.091749223662696151201, 0.38222867444453782266, 0.61777132555546217734},
        {0.15, 0.12638591957247304816, 0.3876017632285340258, 0.6123982367714659742},
        {0.5, 0.3584245254656017406, 0.47833684428166520775, 0.52166315571833479225},
        {1.5, 0.24528413920445089795, 0.84261747504691942661, 0.15738252495308057339},
        {2.0, 0.087355869103816955097, 0.92235824780489193816, 0.077641752195108061839},
        {2.25, 0.054355680468669362923, 0.93939676496653802303, 0.060603235033461976968},
        {3.0, 0.030366045778889815587, 0.96963395422111018441, 0.030366045778889815587},
        {6.5, 0.000059308683161894171068, 0.99999258641460476323,
         7.4135853952367713836e-6},
        {0x1.bffffcp+2, 4.1153666004083274596e-22, 1.0, 9.8117985735138117305e-29},
        {0x1.bfffffffffp+2, 2.2844873772733406468e-38, 1.0, 2.0777291658972359498e-50},
    };
    xb_ctx *ctx = test_ctx();
    xb_law *law = uneven_law(ctx);
    for (int i = 0; i < XB_COUNT(known); i++) {
        assert_close(xb_law_pdf(law, known[i].x), known[i].pdf, 4e-15);
        assert_close(xb_law_cdf(law, known[i].x), known[i].cdf, 4e-15);
        assert_close(xb_law_survival(law, known[i].x), known[i].survival, 4e-15);
        assert_close(xb_law_log_pdf(law, known[i].x), log(known[i].pdf), 1e-14);
    }
    assert_true(xb_law_pdf(law, -2) == 0 && xb_law_pdf(law, 7) == 0);
    assert_true(xb_law_cdf(law, -3) == 0 && xb_law_cdf(law, 8) == 1);
    assert_true(xb_law_log_pdf(law, 9) == -INFINITY);
    assert_true(isnan(xb_law_pdf(law, NAN)) && isnan(xb_law_cdf(law, NAN)));
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* Value, slope and second derivative agree where cells meet; zero at the ends. */
static void density_is_smooth(void **state)
{
    (void)state;
    int64_t cells = XB_COUNT(knots) - 1;
    double left[3] = {0, 0, 0};
    for (int64_t j = 0; j <= cells; j++) {
        double b[4] = {0, 0, 0, 0}, h = j < cells ? knots[j + 1] - knots[j] : 1;
        if (j < cells) xb_mspline_bernstein(b, knots, weights, cells, j);
        assert_close_floor(b[0], left[0], 1e-14, 0.1);
        assert_close_floor(3 * (b[1] - b[0]) / h, left[1], 1e-13, 1);
        assert_close_floor(6 * (b[2] - 2 * b[1] + b[0]) / (h * h), left[2], 1e-12, 10);
        left[0] = b[3];
        left[1] = 3 * (b[3] - b[2]) / h;
        left[2] = 6 * (b[3] - 2 * b[2] + b[1]) / (h * h);
    }
}

/* The two ways to evaluate agree, and every M-spline has integral one. */
static void basis_is_normalised(void **state)
{
    (void)state;
    int64_t cells = XB_COUNT(knots) - 1;
    for (int64_t k = 0; k < cells - 3; k++) {
        double one[5] = {0}, mass = 0;
        one[k] = 1;
        for (int64_t j = 0; j < cells; j++) {
            double b[4], value[4], h = knots[j + 1] - knots[j], r = 0.3;
            xb_mspline_bernstein(b, knots, one, cells, j);
            mass += 0.25 * h * (b[0] + b[1] + b[2] + b[3]);
            double cubic =
                0.343 * b[0] + 3 * 0.147 * b[1] + 3 * 0.063 * b[2] + 0.027 * b[3];
            xb_mspline_values(value, knots, cells, j, knots[j] + r * h);
            double direct = k >= j - 3 && k <= j ? value[k - j + 3] : 0;
            assert_close_floor(direct, cubic, 1e-14, 0.01);
        }
        assert_close(mass, 1, 1e-15);
    }
}

/* In the first cell the mass is w0 t^4 over the product of the distances to the
 * next four knots; likewise from the right. */
static void edges_are_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = uneven_law(ctx);
    double low = 0.25 * 0.5 * 1.75 * 2.125 / 0.125,
           high = 4.5 * 5 * 6.8125 * 6.875 / 0.125;
    for (double v = 1e-6; v > 1e-300; v *= 1e-7) {
        assert_close(xb_law_quantile_from_edge(law, v), pow(v * low, 0.25), 1e-14);
        assert_close(xb_law_isf_from_edge(law, v), pow(v * high, 0.25), 1e-14);
    }
    assert_true(xb_law_quantile(law, 0) == -2 && xb_law_quantile(law, 1) == 7);
    assert_true(isnan(xb_law_quantile(law, -0.1)) && isnan(xb_law_isf(law, NAN)));
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void check_round_trip(const xb_law *law)
{
    double last = -INFINITY;
    for (int i = 1; i < 2000; i++) {
        double u = i / 2000.0, x = xb_law_quantile(law, u);
        assert_true(x >= last);
        last = x;
        double y = xb_law_isf(law, u); /* x and y are themselves rounded */
        double slip =
            2e-16 * (fabs(x) * xb_law_pdf(law, x) + fabs(y) * xb_law_pdf(law, y));
        assert_close_floor(xb_law_cdf(law, x), u, 4e-15 + slip / u, 0);
        assert_close_floor(xb_law_survival(law, y), u, 4e-15 + slip / u, 0);
        double v = pow(10, -i / 100.0);
        double from = xb_law_lower(law) + xb_law_quantile_from_edge(law, v);
        double size = fmax(fabs(xb_law_lower(law)), fabs(xb_law_upper(law)));
        assert_close_floor(xb_law_quantile(law, v), from, 1e-15, size);
    }
}

static void quantiles_invert(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = uneven_law(ctx);
    check_round_trip(law);
    xb_law_destroy(law);
    /* a gap of zero density, and zero weights at both ends that are dropped */
    double t[16], w[12] = {0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0};
    for (int i = 0; i < 16; i++) t[i] = i;
    assert_ok(ctx, xb_empirical_make(ctx, &law, t, w, 16));
    assert_true(xb_law_lower(law) == 1 && xb_law_upper(law) == 13);
    check_round_trip(law);
    assert_true(xb_law_pdf(law, 7) == 0 && xb_law_log_pdf(law, 7) == -INFINITY);
    assert_true(xb_law_quantile(law, 0.4999) < 5 && xb_law_quantile(law, 0.5001) > 9);
    assert_true(xb_law_isf(law, 0.4999) > 9 && xb_law_isf(law, 0.5001) < 5);
    assert_close(xb_law_mean(law), 7, 1e-14);
    assert_close(xb_law_moments(law).variance, 16 + 1.0 / 3, 1e-14);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* Moments against the exact ones of M-splines: mean of M_k is the mean of its
 * five knots, second moment the mean of all products t_i t_j, i <= j. */
static void moments_are_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = uneven_law(ctx);
    double mean = 0, second = 0;
    for (int k = 0; k < XB_COUNT(weights); k++) {
        double products = 0, sum = 0;
        for (int i = k; i < k + 5; i++) {
            sum += knots[i];
            for (int j = k; j <= i; j++) products += knots[i] * knots[j];
        }
        mean += weights[k] * sum / 5;
        second += weights[k] * products / 15;
    }
    assert_close(xb_law_mean(law), mean, 1e-14);
    assert_close(xb_law_moments(law).variance, second - mean * mean, 1e-14);
    assert_close(xb_law_raw_moment(law, 2), second, 1e-14);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* ------------------------------------------------------------------ samples */

typedef enum kind {
    NORMAL,
    CAUCHY,
    EXPONENTIAL,
    UNIFORM,
    TWO_LEVELS,
    TELEGRAPH,
    STEPS
} kind;

static double *draw(kind what, int64_t n, uint64_t seed)
{
    xb_ctx *ctx = test_ctx();
    xb_law *normal = test_law(ctx, "gaussian");
    xb_stream s = {xb_key_make(seed, XB_PURPOSE_TEST), 0, 0, 0}, other = s;
    other.tensor = 1;
    double *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        double u = xb_stream_uniform(&s, i), z = 0;
        if (what == NORMAL || what == TELEGRAPH || what == STEPS)
            z = xb_law_quantile(normal, xb_stream_uniform(&other, i));
        x[i] = what == NORMAL        ? z
               : what == CAUCHY      ? tan(M_PI * (u - 0.5))
               : what == EXPONENTIAL ? -log(u)
               : what == UNIFORM     ? u
               : what == TWO_LEVELS  ? (u < 0.3 ? 1 : 4)
               : what == TELEGRAPH   ? (u < 0.7 ? 1 : 2) + 0.03 * z
                                     : floor(20 * z) / 20;
    }
    xb_law_destroy(normal);
    xb_ctx_destroy(ctx);
    return x;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Largest distance between the law's and the sample's distribution. */
static double distance(const xb_law *law, const double *x, int64_t n)
{
    double *sorted = malloc((size_t)n * sizeof *sorted), worst = 0;
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    xb_law_place p = xb_law_placement(law);
    for (int64_t i = 0; i < n; i++) {
        double u = xb_law_cdf(law, (sorted[i] - p.offset) / p.scale);
        worst =
            fmax(worst, fmax(u - (double)i / (double)n, (double)(i + 1) / (double)n - u));
    }
    free(sorted);
    return worst;
}

/* Local maxima of the density above a twentieth of the highest. */
static int maxima(const xb_law *law)
{
    enum { POINTS = 4000 };
    double from = xb_law_lower(law), to = xb_law_upper(law), highest = 0;
    double *q = malloc(POINTS * sizeof *q);
    for (int i = 0; i < POINTS; i++) {
        q[i] = xb_law_pdf(law, from + (to - from) * i / (POINTS - 1));
        highest = fmax(highest, q[i]);
    }
    int count = 0;
    for (int i = 1; i + 1 < POINTS; i++)
        count += q[i] > q[i - 1] && q[i] >= q[i + 1] && q[i] > 0.05 * highest;
    free(q);
    return count;
}

static xb_law *from_samples(xb_ctx *ctx, const double *x, int64_t n)
{
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_from_samples(ctx, &law, x, n));
    return law;
}

/* sqrt(n) times the distance: 1.36 is the 5 % point of a law known beforehand,
 * and a fitted one is closer. */
static void any_sample_is_followed(void **state)
{
    (void)state;
    static const struct {
        kind what;
        double limit;
        int peaks;
    } cases[] = {{NORMAL, 0.8, 1},
                 {CAUCHY, 0.8, 1},
                 {EXPONENTIAL, 0.8, 1},
                 {UNIFORM, 1, 1},
                 {TELEGRAPH, 0.8, 2}};
    enum { N = 50000 };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        double *x = draw(cases[i].what, N, 7);
        xb_law *law = from_samples(ctx, x, N);
        assert_at_most(sqrt(N) * distance(law, x, N), cases[i].limit);
        assert_int_equal(xb_law_peaks(law), cases[i].peaks);
        check_round_trip(law);
        xb_law_destroy(law);
        free(x);
    }
    xb_ctx_destroy(ctx);
}

static void moments_follow_the_sample(void **state)
{
    (void)state;
    enum { N = 50000 };
    xb_ctx *ctx = test_ctx();
    for (kind what = NORMAL; what <= STEPS; what++) {
        if (what == CAUCHY) continue;
        double *x = draw(what, N, 11);
        xb_sample s;
        assert_ok(ctx, xb_sample_make(ctx, &s, x, N));
        xb_law *law = from_samples(ctx, x, N);
        xb_law_place p = xb_law_placement(law);
        xb_moments m = xb_law_moments(law);
        assert_close_floor(p.offset + p.scale * m.mean, s.info.mean, 0.01, s.info.sd);
        assert_close(p.scale * xb_law_sd(law), s.info.sd, 0.01);
        assert_close_floor(m.skewness, s.info.skewness, 0.05, 1);
        assert_close_floor(m.excess_kurtosis, s.info.excess_kurtosis, 0.1, 1.5);
        xb_law_destroy(law);
        xb_sample_free(&s);
        free(x);
    }
    xb_ctx_destroy(ctx);
}

/* 20 steps a standard deviation: one smooth peak, no comb. */
static void steps_leave_no_comb(void **state)
{
    (void)state;
    enum { N = 100000 };
    xb_ctx *ctx = test_ctx();
    double *x = draw(STEPS, N, 3);
    xb_law *law = from_samples(ctx, x, N);
    assert_int_equal(xb_law_peaks(law), 1);
    assert_at_most(maxima(law), 3); /* a ripple at the top, no comb of 120 */
    double knot[4096];
    int64_t n = xb_law_panels(law, knot, 4096);
    for (int64_t i = 4; i + 5 < n; i++) assert_true(knot[i + 1] - knot[i] > 2 * 0.05);
    xb_law *normal = test_law(ctx, "gaussian"); /* floor moves by half a step */
    for (double z = -2.5; z <= 2.5; z += 0.1)
        assert_close_floor(xb_law_pdf(law, z), xb_law_pdf(normal, z), 0.06, 0.2);
    xb_law_destroy(normal);
    xb_law_destroy(law);
    for (int i = 0; i < N; i++) x[i] = floor(2 * x[i]); /* two steps a deviation */
    law = from_samples(ctx, x, N);
    assert_int_equal(maxima(law), 1);
    assert_close(xb_law_moments(law).excess_kurtosis + 3, 3, 0.05);
    assert_close(xb_law_pdf(law, 0), 1 / sqrt(2 * M_PI), 0.05);
    xb_law_destroy(law);
    free(x);
    xb_ctx_destroy(ctx);
}

/* Values written with two digits: steps ten times as wide above 1 as below. */
static void rounded_values_leave_no_comb(void **state)
{
    (void)state;
    enum { N = 50000 };
    xb_ctx *ctx = test_ctx();
    double *x = draw(NORMAL, N, 3);
    for (int i = 0; i < N; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.2g", exp(0.6 * x[i]));
        x[i] = strtod(text, NULL);
    }
    xb_law *law = from_samples(ctx, x, N);
    xb_law_place p = xb_law_placement(law);
    for (double v = 1.3; v < 2.6; v += 0.1) { /* a value and the middle of its step */
        double at = xb_law_pdf(law, (v - p.offset) / p.scale);
        double between = xb_law_pdf(law, (v + 0.05 - p.offset) / p.scale);
        assert_close(between, at, 0.15);
    }
    xb_law_destroy(law);
    free(x);
    xb_ctx_destroy(ctx);
}

static void two_levels_are_two_bumps(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const int64_t sizes[] = {10, 1000, 50000};
    for (int i = 0; i < XB_COUNT(sizes); i++) {
        double *x = draw(TWO_LEVELS, sizes[i], 1);
        xb_law *law = from_samples(ctx, x, sizes[i]);
        xb_law_place p = xb_law_placement(law);
        double low = (1 - p.offset) / p.scale, high = (4 - p.offset) / p.scale;
        double third = (high - low) / 3, share = 0;
        for (int64_t j = 0; j < sizes[i]; j++) share += x[j] == 1;
        assert_close(xb_law_cdf(law, low + third), share / (double)sizes[i], 0.05);
        assert_at_most(xb_law_cdf(law, high - third) - xb_law_cdf(law, low + third),
                       1e-3);
        assert_int_equal(maxima(law), 2);
        share /= (double)sizes[i]; /* a level is a bump, a thirtieth of the gap wide */
        double width =
            xb_law_quantile(law, 0.8 * share) - xb_law_quantile(law, 0.2 * share);
        assert_true(width > 0.015 * (high - low) && width < 0.08 * (high - low));
        xb_law_destroy(law);
        free(x);
    }
    xb_ctx_destroy(ctx);
}

static void few_samples_will_do(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int64_t n = 8; n <= 64; n += 7)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            double *x = draw(seed % 2 ? NORMAL : EXPONENTIAL, n, seed);
            xb_law *law = from_samples(ctx, x, n);
            assert_at_most(sqrt((double)n) * distance(law, x, n), 1.36);
            assert_true(xb_law_sd(law) > 0.7 && xb_law_sd(law) < 1.5);
            xb_law_destroy(law);
            free(x);
        }
    xb_ctx_destroy(ctx);
}

/* The unit and the offset do not matter; neither do wild exponents. */
static void units_do_not_matter(void **state)
{
    (void)state;
    enum { N = 4096 };
    xb_ctx *ctx = test_ctx();
    double *x = draw(EXPONENTIAL, N, 5), y[N];
    xb_law *law = from_samples(ctx, x, N);
    for (int e = -1000; e <= 1000; e += 500) {
        for (int i = 0; i < N; i++) y[i] = ldexp(x[i], e);
        xb_law *other = from_samples(ctx, y, N);
        for (double u = 0.01; u < 1; u += 0.07)
            assert_close(xb_law_quantile(other, u), xb_law_quantile(law, u), 1e-9);
        xb_law_destroy(other);
    }
    xb_law_destroy(law);
    free(x);
    xb_ctx_destroy(ctx);
}

static void bad_samples_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = NULL;
    double x[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_int_equal(xb_law_from_samples(ctx, &law, x, 3), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx), "3 samples: at least 8 are needed");
    assert_int_equal(xb_law_from_samples(ctx, &law, x, 9), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "all 9 samples are 1"));
    x[4] = NAN;
    assert_int_equal(xb_law_from_samples(ctx, &law, x, 9), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "sample 5 is nan"));
    x[4] = -INFINITY;
    assert_int_equal(xb_law_from_samples(ctx, &law, x, 9), XB_E_INPUT);
    x[4] = -1e308, x[5] = 1e308;
    assert_int_equal(xb_law_from_samples(ctx, &law, x, 9), XB_E_INPUT);
    assert_null(law);
    xb_ctx_destroy(ctx);
}

/* -------------------------------------------------------------------- files */

static void files_come_back(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double *x = draw(TELEGRAPH, 2000, 2);
    xb_law *law = from_samples(ctx, x, 2000), *back = NULL;
    char path[] = "/tmp/xb-empirical-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_ok(ctx, xb_law_save(ctx, law, path));
    assert_ok(ctx, xb_law_load(ctx, &back, path));
    assert_string_equal(xb_law_text(back), "empirical");
    assert_false(xb_law_is_symmetric(back));
    for (double u = 0.001; u < 1; u += 0.0137) {
        assert_close(xb_law_quantile(back, u), xb_law_quantile(law, u), 1e-13);
        double at = xb_law_quantile(law, u);
        assert_close(xb_law_pdf(back, at), xb_law_pdf(law, at), 1e-12);
    }
    assert_true(xb_law_placement(back).scale == xb_law_placement(law).scale);
    assert_true(xb_law_placement(back).offset == xb_law_placement(law).offset);
    xb_law_destroy(back);
    xb_law_destroy(law);
    free(x);
    unlink(path);
    xb_ctx_destroy(ctx);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *data, *message;
    } cases[] = {
        {"\"weights\":[1]", "'knots' is not a list"},
        {"\"knots\":[0,1,2,3],\"weights\":[]", "'knots' is not a list of 5 to 4096"},
        {"\"knots\":\"abc\",\"weights\":[1]", "'knots' is not a list"},
        {"\"knots\":[0,1,2,3,4]", "'weights' is not a list of 1"},
        {"\"knots\":[0,1,2,3,4],\"weights\":[0.5,0.5]", "'weights' is not a list of 1"},
        {"\"knots\":[0,1,2,2,4],\"weights\":[1]", "do not ascend at item 4"},
        {"\"knots\":[0,1,2,3,1e999],\"weights\":[1]", "not JSON"},
        {"\"knots\":[0,1,2,\"3\",4],\"weights\":[1]", "item 4 is not a finite number"},
        {"\"knots\":[-1e308,1,2,3,1e308],\"weights\":[1]", "too far apart"},
        {"\"knots\":[0,1e-320,2,3,4],\"weights\":[1]", "do not ascend at item 2"},
        {"\"knots\":[0,1,2,3,4],\"weights\":[0.9]", "sum to 0.9"},
        {"\"knots\":[0,1,2,3,4],\"weights\":[0]", "sum to 0"},
        {"\"knots\":[0,1,2,3,4,5],\"weights\":[1.5,-0.5]", "item 2 is negative"},
        {"\"knots\":[0,1,2,3,4],\"weights\":[1],\"scale\":0", "scale = 0"},
        {"\"knots\":[0,1,2,3,4],\"weights\":[1],\"secret\":0", "unknown key"},
    };
    xb_ctx *ctx = test_ctx();
    char path[] = "/tmp/xb-badlaw-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < XB_COUNT(cases); i++) {
        FILE *f = fopen(path, "w");
        fprintf(f, "{\"crossbayes\":\"law\",\"family\":\"empirical\",%s}", cases[i].data);
        fclose(f);
        xb_law *law = NULL;
        assert_int_equal(xb_law_load(ctx, &law, path), XB_E_INPUT);
        if (!strstr(xb_ctx_message(ctx), cases[i].message))
            fail_msg("'%s', expected '%s'", xb_ctx_message(ctx), cases[i].message);
        assert_null(law);
    }
    unlink(path);
    xb_ctx_destroy(ctx);
}

/* Measured traces: close to the sample, smooth in spite of 362 to 2649 distinct
 * values. */
static void measured_traces(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double skewness;
    } traces[] = {
        {"rram_level00", -1.29}, {"rram_level08", 0.22}, {"rram_level16", -1.59}};
    enum { N = 100000 };
    const char *dir = test_data_dir();
    if (!dir) skip();
    xb_ctx *ctx = test_ctx();
    double *x = malloc(N * sizeof *x);
    for (int i = 0; i < XB_COUNT(traces); i++) {
        char path[4200], line[64];
        snprintf(path, sizeof path, "%s/noise/%s.csv", dir, traces[i].name);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        assert_non_null(fgets(line, sizeof line, f));
        for (int j = 0; j < N; j++) assert_int_equal(fscanf(f, "%lf", &x[j]), 1);
        fclose(f);
        xb_law *law = from_samples(ctx, x, N);
        assert_close_floor(xb_law_moments(law).skewness, traces[i].skewness, 0.05, 1);
        assert_close(xb_law_sd(law), 1, 0.01);
        assert_at_most(distance(law, x, N), 0.012);
        check_round_trip(law);
        xb_law_destroy(law);
    }
    free(x);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_exact),
        cmocka_unit_test(density_is_smooth),
        cmocka_unit_test(basis_is_normalised),
        cmocka_unit_test(edges_are_exact),
        cmocka_unit_test(quantiles_invert),
        cmocka_unit_test(moments_are_exact),
        cmocka_unit_test(any_sample_is_followed),
        cmocka_unit_test(moments_follow_the_sample),
        cmocka_unit_test(steps_leave_no_comb),
        cmocka_unit_test(rounded_values_leave_no_comb),
        cmocka_unit_test(two_levels_are_two_bumps),
        cmocka_unit_test(few_samples_will_do),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(bad_samples_are_refused),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(measured_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
