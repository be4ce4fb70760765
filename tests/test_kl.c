/* test_kl.c: KL of a law to a prior, one weight and many: closed forms, brute
 * force, central differences, extremes, threads. */
#include "scratch.h"

#include "base/ctx.h"
#include "base/gauss.h"
#include "failalloc.h"
#include "vi/meanabs.h"

static const char *const laws[] = {"gaussian",          "mtj:B=0.15,w=0.5",
                                   "ecram:B=0.1,w=0.6", "bimodal:m=0.9",
                                   "mtj:B=0.01,w=0.7",  "bimodal:m=0.99"};
enum { PEAKED_LAW = 4 };

static xb_prior prior_of(xb_ctx *ctx, const char *text)
{
    xb_prior prior;
    assert_ok(ctx, xb_prior_parse(ctx, &prior, text));
    return prior;
}

static xb_kl *make_kl(xb_ctx *ctx, const xb_law *law, const char *prior, int64_t points)
{
    xb_kl *kl = NULL;
    xb_prior p = prior_of(ctx, prior);
    assert_ok(ctx, xb_kl_create(ctx, &kl, law, &p, points));
    return kl;
}

/* A skewed two-humped sample's smooth law: neither symmetric nor of one piece. */
static xb_law *skewed_law(xb_ctx *ctx)
{
    enum { N = 2000 };
    static double x[N];
    xb_stream where = {xb_key_make(5, XB_PURPOSE_TEST), 0, 0, 0};
    for (int64_t i = 0; i < N; i++) {
        double u = xb_stream_uniform(&where, 2 * i),
               v = xb_stream_uniform(&where, 2 * i + 1);
        x[i] = v < 0.3 ? 3 + u : -log(u) - log(1 - v);
    }
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_from_samples(ctx, &law, x, N));
    return law;
}

/* ---- brute force: Gauss-Legendre between the law's panels, the place where the
 * weight is 0 and `scale` about it, cut finely */
typedef struct brute {
    double value, d_mu, d_sigma;
} brute;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { CUTS_MAX = 1000, ORDER = 20, PARTS = 8 };

static int64_t cut_support(double *cut, const xb_law *law, double mu, double sigma,
                           double scale)
{
    double mean = xb_law_mean(law), sd = xb_law_sd(law), centre = -mu / sigma;
    int64_t n = xb_law_panels(law, cut, CUTS_MAX - 100);
    for (int64_t i = 0; i < n; i++) cut[i] = (cut[i] - mean) / sd;
    double low = cut[0], high = cut[n - 1];
    cut[n++] = centre;
    for (double u = 0.5; u < 64; u *= 1.5) {
        cut[n++] = centre - u * scale / sigma;
        cut[n++] = centre + u * scale / sigma;
    }
    for (int64_t i = 0; i < n; i++) cut[i] = fmin(fmax(cut[i], low), high);
    qsort(cut, (size_t)n, sizeof *cut, ascending);
    return n;
}

static brute by_force(const xb_law *law, const xb_prior *prior, double mu, double sigma)
{
    double cut[CUTS_MAX], node[ORDER], weight[ORDER];
    assert_int_equal(xb_gauss_legendre(NULL, node, weight, ORDER), XB_OK);
    double scale = prior->kind == XB_PRIOR_MIXTURE ? fmin(prior->s1, prior->s2) : 1;
    int64_t n = cut_support(cut, law, mu, sigma, scale);
    brute sum = {0, 0, 0};
    for (int64_t i = 0; i + 1 < n; i++)
        for (int part = 0; part < PARTS && cut[i + 1] > cut[i]; part++) {
            double h = (cut[i + 1] - cut[i]) / PARTS, from = cut[i] + part * h;
            for (int k = 0; k < ORDER; k++) {
                double z = from + 0.5 * h * (1 + node[k]), x = mu + sigma * z;
                double q = xb_law_sd(law) *
                           xb_law_pdf(law, xb_law_mean(law) + xb_law_sd(law) * z);
                double w = 0.5 * h * weight[k] * q;
                double slope = xb_prior_slope(prior, x);
                sum.value -= w * xb_prior_log_density(prior, x);
                sum.d_mu -= w * slope;
                sum.d_sigma -= w * z * slope;
            }
        }
    sum.value += log(xb_law_sd(law)) - xb_law_entropy(law) - log(sigma);
    sum.d_sigma -= 1 / sigma;
    return sum;
}

/* ---- priors */

static void densities_integrate_to_one(void **state)
{
    (void)state;
    static const char *const texts[] = {"normal", "normal:mean=0.7,sd=0.3",
                                        "laplace:b=0.4", "mixture",
                                        "mixture:pi=0.2,s1=0.1,s2=2"};
    enum { N = 400001 };
    xb_ctx *ctx = test_ctx();
    for (int k = 0; k < XB_COUNT(texts); k++) {
        xb_prior p = prior_of(ctx, texts[k]);
        double sum = 0, h = 40.0 / (N - 1), worst = 0;
        for (int i = 0; i < N; i++) sum += h * exp(xb_prior_log_density(&p, -20 + i * h));
        assert_close(sum, 1, 1e-8);
        for (double x = -3; x < 3; x += 0.0371) {
            double e = 1e-6;
            double d =
                (xb_prior_log_density(&p, x + e) - xb_prior_log_density(&p, x - e)) /
                (2 * e);
            worst = fmax(worst, fabs(d - xb_prior_slope(&p, x)) / (1 + fabs(d)));
        }
        assert_at_most(worst, 1e-6);
    }
    xb_prior laplace = prior_of(ctx, "laplace");
    assert_true(xb_prior_slope(&laplace, 0) == 0);
    xb_prior far = prior_of(ctx, "mixture");
    assert_true(isfinite(xb_prior_log_density(&far, 1e6)));
    assert_close(xb_prior_slope(&far, 1e6), -1e6, 1e-12);
    xb_ctx_destroy(ctx);
}

/* ---- against what is known */

/* Two Gaussians: the textbook's closed form. */
static void gaussians_are_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    static const double m = 0.3, s = 0.7;
    for (int points = 0; points <= 4; points += 2) {
        xb_kl *kl = make_kl(ctx, law, "normal:mean=0.3,sd=0.7", points);
        for (double mu = -3; mu < 3; mu += 0.37)
            for (double sigma = 1e-6; sigma < 1e6; sigma *= 9.7) {
                double d = mu - m;
                xb_kl_value v = xb_kl_one(kl, mu, sigma);
                double expected =
                    log(s / sigma) + (sigma * sigma + d * d) / (2 * s * s) - 0.5;
                double size = fabs(log(s / sigma)) + (sigma * sigma + d * d) / (s * s);
                assert_close_floor(v.kl, expected, 1e-13, size);
                assert_close_floor(v.d_mu, d / (s * s), 1e-12, sigma / s);
                assert_close_floor(v.d_sigma, sigma / (s * s) - 1 / sigma, 1e-12,
                                   1 / sigma + (sigma + fabs(d)) / (s * s));
                assert_true(v.kl >= -1e-13 * size);
            }
        xb_kl_destroy(kl);
    }
    xb_kl *kl = make_kl(ctx, law, "normal:mean=0.3,sd=0.7", 0);
    assert_close_floor(xb_kl_one(kl, m, s).kl, 0, 1e-15, 1);
    xb_kl_destroy(kl);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* ecram:w=0 is the parabola 3/4 (1 - x^2), whose entropy and variance are
 * rational: H = 5/3 - log 3, var = 1/5 (sympy). A wide prior is flat over it:
 * then KL -> log(p(0)^-1) - H - log sigma. */
static void parabolas_are_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "ecram:B=0.1,w=0");
    double h = 5.0 / 3 - log(3) + 0.5 * log(5);
    static const char *const priors[] = {"normal:sd=1e8", "laplace:b=1e8",
                                         "mixture:pi=0.5,s1=1e8,s2=1e9"};
    for (int k = 0; k < XB_COUNT(priors); k++) {
        xb_kl *kl = make_kl(ctx, law, priors[k], 0);
        xb_prior p = prior_of(ctx, priors[k]);
        for (double sigma = 1e-3; sigma < 10; sigma *= 3)
            assert_close(xb_kl_one(kl, 0, sigma).kl,
                         -log(sigma) - h - xb_prior_log_density(&p, 0), 1e-7);
        xb_kl_destroy(kl);
    }
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* A = E|t + z| of the Gaussian is t erf(t / sqrt 2) + 2 phi(t); of bimodal, the
 * mean of two such; of the parabola, E|z| = sqrt(5) 3/8 at t = 0. */
static void mean_absolute_values_are_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const char *const texts[] = {"gaussian", "bimodal:m=0.9"};
    double worst = 0;
    for (int k = 0; k < 2; k++) {
        xb_law *law = test_law(ctx, texts[k]);
        xb_meanabs table;
        assert_ok(ctx, xb_meanabs_make(ctx, &table, law));
        double m = k ? 0.9 : 0, s = k ? sqrt(1 - 0.81) : 1;
        for (double t = -12; t <= 12; t += 0.00137) {
            double slope, value = xb_meanabs_at(&table, t, &slope), a = 0, d = 0;
            for (int side = -1; side <= 1; side += 2) {
                double u = (t + side * m) / s;
                a += 0.5 * s * (u * erf(u / M_SQRT2) + sqrt(2 / M_PI) * exp(-u * u / 2));
                d += 0.5 * erf(u / M_SQRT2);
            }
            worst = fmax(worst, fmax(fabs(value - a), fabs(slope - d)));
        }
        xb_meanabs_free(&table);
        xb_law_destroy(law);
    }
    print_message("E|t + z|: off by %.1e at most\n", worst);
    assert_at_most(worst, 4e-12);
    xb_law *law = test_law(ctx, "mtj:B=0.1,w=0");
    xb_meanabs table;
    double slope;
    assert_ok(ctx, xb_meanabs_make(ctx, &table, law));
    assert_close(xb_meanabs_at(&table, 0, &slope), 3.0 / 8 * sqrt(5), 1e-12);
    xb_meanabs_free(&table);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

typedef struct worst {
    double value, d_mu, d_sigma; /* gradients: of the size of 1/sigma */
} worst;

/* A gradient's error as a step in nats: times sigma. */
static void judge(worst *w, xb_kl_value v, brute b, double sigma)
{
    w->value = fmax(w->value, fabs(v.kl - b.value));
    w->d_mu = fmax(w->d_mu, sigma * fabs(v.d_mu - b.d_mu));
    w->d_sigma = fmax(w->d_sigma, sigma * fabs(v.d_sigma - b.d_sigma));
}

static void try_prior(xb_ctx *ctx, worst *w, const xb_law *law, const char *text,
                      int64_t points, double sigma_from, double sigma_to)
{
    xb_prior p = prior_of(ctx, text);
    xb_kl *kl = make_kl(ctx, law, text, points);
    double ratio = test_long() ? 1.37 : 2.03, step = test_long() ? 0.13 : 0.83;
    for (double sigma = sigma_from; sigma <= sigma_to; sigma *= ratio)
        for (double t = -7; t <= 7; t += step) {
            double mu = t < -3.5 || t > 3.5 ? t * 0.3 : t * sigma;
            judge(w, xb_kl_one(kl, mu, sigma), by_force(law, &p, mu, sigma), sigma);
        }
    xb_kl_destroy(kl);
}

static void every_law_and_prior_agrees_with_brute_force(void **state)
{
    (void)state;
    static const struct {
        const char *prior;
        double from, to, value, gradient; /* tolerated */
    } cases[] = {
        {"normal:mean=-0.2,sd=0.5", 1e-3, 3, 1e-11, 1e-11},
        {"laplace:b=0.3", 1e-3, 3, 1e-11, 1e-10},
        {"mixture:pi=0.5,s1=1,s2=0.01", 1e-4, 10, 1e-4, 2e-3},
        {"mixture:pi=0.25,s1=0.37,s2=0.0025", 1e-4, 3, 1e-4, 2e-3},
        {"mixture:pi=0.9,s1=0.02,s2=0.3", 1e-3, 3, 1e-4, 2e-3},
    };
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l <= XB_COUNT(laws); l++) {
        xb_law *law = l < XB_COUNT(laws) ? test_law(ctx, laws[l]) : skewed_law(ctx);
        for (int k = 0; k < XB_COUNT(cases); k++) {
            worst w = {0, 0, 0};
            try_prior(ctx, &w, law, cases[k].prior, 0, cases[k].from, cases[k].to);
            print_message("%-20s %-36s %.1e %.1e %.1e\n", xb_law_text(law),
                          cases[k].prior, w.value, w.d_mu, w.d_sigma);
            /* a peak of a hundredth of the range: the staircase shows in d_mu */
            double peaked = l == PEAKED_LAW ? 10 : 1;
            assert_at_most(w.value, cases[k].value);
            assert_at_most(w.d_mu, peaked * cases[k].gradient);
            assert_at_most(w.d_sigma, cases[k].gradient);
        }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* mtj:B=0.15,w=0.5 by mpmath (40 digits, quad split at the kinks), entropy and
 * standardisation included. */
static void device_law_agrees_with_mpmath(void **state)
{
    (void)state;
    static const struct {
        const char *prior;
        double at_half;  /* mu = 0.2, sigma = 0.5 */
        double at_small; /* mu = -0.03, sigma = 0.02 */
        double tolerance;
    } known[] = {
        {"normal:mean=-0.2,sd=0.5", 0.368105646196122855, 2.8255814710643236, 1e-13},
        {"laplace:b=0.3", 0.213341915550630164, 2.13530366068838585, 1e-12},
        {"mixture:pi=0.5,s1=1,s2=0.01", 0.937433308532532387, 2.69855441005881108, 2e-5},
    };
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj:B=0.15,w=0.5");
    for (int k = 0; k < XB_COUNT(known); k++) {
        xb_kl *kl = make_kl(ctx, law, known[k].prior, 0);
        assert_close(xb_kl_one(kl, 0.2, 0.5).kl, known[k].at_half, known[k].tolerance);
        assert_close(xb_kl_one(kl, -0.03, 0.02).kl, known[k].at_small,
                     known[k].tolerance);
        xb_kl_destroy(kl);
    }
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* By the law's Gauss rule, whatever the prior: the table in maths V6. Two points
 * are exact for a normal prior; a kink or a narrow spike is another matter. */
static void gauss_rules_are_as_good_as_said(void **state)
{
    (void)state;
    static const struct {
        const char *prior;
        int64_t points;
        double from, to, value; /* of KL, at most */
    } cases[] = {
        {"normal:mean=-0.2,sd=0.5", 2, 1e-3, 3, 1e-11},
        {"laplace:b=0.3", 8, 1e-3, 3, 0.7},
        {"laplace:b=0.3", 32, 1e-3, 3, 0.2},
        {"laplace:b=0.3", 128, 1e-3, 3, 0.05},
        {"mixture", 8, 1e-3, 5e-3, 4e-6},
        {"mixture", 32, 1e-3, 5e-3, 1e-11},
        {"mixture", 32, 0.01, 0.1, 0.2},
    };
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < 2; l++) {
        xb_law *law = test_law(ctx, laws[l]);
        for (int k = 0; k < XB_COUNT(cases); k++) {
            worst w = {0, 0, 0};
            try_prior(ctx, &w, law, cases[k].prior, cases[k].points, cases[k].from,
                      cases[k].to);
            assert_at_most(w.value, cases[k].value);
        }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* ---- properties */

static const char *const priors[] = {"normal:mean=0.1,sd=0.5", "laplace:b=0.3",
                                     "mixture:pi=0.5,s1=1,s2=0.01"};

/* Value and gradient belong together, also where the ways of a mixture meet. */
static void gradients_are_central_differences(void **state)
{
    (void)state;
    static const double tolerance[] = {1e-7, 1e-6, 1e-3};
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < 4; l++) {
        xb_law *law = test_law(ctx, laws[l]);
        for (int k = 0; k < XB_COUNT(priors); k++)
            for (int points = 0; points <= 16; points += 16) {
                if (points && k == 1) continue; /* a staircase has no slope */
                xb_kl *kl = make_kl(ctx, law, priors[k], points);
                for (double s = 0.0013; s < 2; s *= 1.9)
                    for (double mu = -0.7; mu < 0.8; mu += 0.137) {
                        double e = 1e-5 * s;
                        xb_kl_value v = xb_kl_one(kl, mu, s);
                        double dm =
                            (xb_kl_one(kl, mu + e, s).kl - xb_kl_one(kl, mu - e, s).kl) /
                            (2 * e);
                        double ds =
                            (xb_kl_one(kl, mu, s + e).kl - xb_kl_one(kl, mu, s - e).kl) /
                            (2 * e);
                        assert_close_floor(v.d_mu, dm, tolerance[k], 1 / s);
                        assert_close_floor(v.d_sigma, ds, tolerance[k], 1 / s);
                    }
                xb_kl_destroy(kl);
            }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* KL is not negative, falls to a minimum in sigma, and its extremes are those of
 * -log sigma and of the prior's tails. */
static void extremes_are_sound(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < XB_COUNT(laws); l++) {
        xb_law *law = test_law(ctx, laws[l]);
        double h = xb_law_entropy(law) - log(xb_law_sd(law));
        for (int k = 0; k < XB_COUNT(priors); k++) {
            xb_kl *kl = make_kl(ctx, law, priors[k], 0);
            xb_prior p = prior_of(ctx, priors[k]);
            for (double s = 1e-30; s < 1e8; s *= 7)
                for (double mu = -2; mu <= 2; mu += 0.25) {
                    xb_kl_value v = xb_kl_one(kl, mu, s);
                    assert_true(isfinite(v.kl) && isfinite(v.d_mu) &&
                                isfinite(v.d_sigma));
                    assert_true(v.kl > -1e-4);
                }
            for (double mu = -1; mu < 1.1; mu += 0.3) { /* a point mass at mu */
                double expected = -log(1e-20) - h - xb_prior_log_density(&p, mu);
                assert_close(xb_kl_one(kl, mu, 1e-20).kl, expected, 1e-10);
                assert_close(xb_kl_one(kl, mu, 1e-20).d_sigma, -1e20, 1e-10);
            }
            assert_true(isinf(xb_kl_one(kl, 0.5, 0).kl));
            xb_kl_destroy(kl);
        }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* ---- many weights */

typedef struct weights {
    float *mu, *sigma, *grad_mu, *grad_sigma;
} weights;

static weights make_weights(int64_t n)
{
    weights w = {malloc((size_t)n * 4 + 1), malloc((size_t)n * 4 + 1),
                 malloc((size_t)n * 4 + 1), malloc((size_t)n * 4 + 1)};
    xb_stream where = {xb_key_make(3, XB_PURPOSE_TEST), 0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        w.mu[i] = (float)(2 * xb_stream_uniform(&where, 2 * i) - 1);
        w.sigma[i] = (float)exp(-12 * xb_stream_uniform(&where, 2 * i + 1));
        w.grad_mu[i] = 1;
        w.grad_sigma[i] = -2;
    }
    return w;
}

static void free_weights(weights *w)
{
    free(w->mu);
    free(w->sigma);
    free(w->grad_mu);
    free(w->grad_sigma);
}

static void sums_are_sums_of_ones(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 17, 32, 33, 4095, 4097, 20001};
    const double factor = 0.25;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, laws[1]);
    for (int k = 0; k < XB_COUNT(priors); k++) {
        xb_kl *kl = make_kl(ctx, law, priors[k], 0);
        for (int j = 0; j < XB_COUNT(sizes); j++) {
            weights w = make_weights(sizes[j]);
            double sum = xb_kl_sum(ctx, kl, w.grad_mu, w.grad_sigma, w.mu, w.sigma,
                                   sizes[j], factor);
            double expected = 0;
            for (int64_t i = 0; i < sizes[j]; i++) {
                xb_kl_value v = xb_kl_one(kl, w.mu[i], w.sigma[i]);
                expected += v.kl;
                assert_close_floor(w.grad_mu[i], 1 + factor * v.d_mu, 3e-7, 1);
                assert_close_floor(w.grad_sigma[i], -2 + factor * v.d_sigma, 3e-7, 1);
            }
            assert_close_floor(sum, expected, 1e-12, 1e-12);
            assert_true(sum ==
                        xb_kl_sum(ctx, kl, NULL, NULL, w.mu, w.sigma, sizes[j], 1));
            free_weights(&w);
        }
        xb_kl_destroy(kl);
    }
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    enum { N = 300007 };
    static const int threads[] = {1, 2, 3, 8};
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, laws[1]);
    for (int k = 0; k < XB_COUNT(priors); k++) {
        int64_t n = k == 2 ? N / 10 : N;
        xb_kl *kl = make_kl(ctx, law, priors[k], 0);
        weights first = make_weights(n);
        double kept = 0;
        for (int j = 0; j < XB_COUNT(threads); j++) {
            weights w = make_weights(n);
            xb_ctx_set_threads(ctx, threads[j]);
            double sum =
                xb_kl_sum(ctx, kl, w.grad_mu, w.grad_sigma, w.mu, w.sigma, n, 0.3);
            if (j == 0) {
                kept = sum;
                memcpy(first.grad_mu, w.grad_mu, (size_t)n * 4);
                memcpy(first.grad_sigma, w.grad_sigma, (size_t)n * 4);
            }
            assert_memory_equal(&sum, &kept, sizeof sum);
            assert_memory_equal(w.grad_mu, first.grad_mu, (size_t)n * 4);
            assert_memory_equal(w.grad_sigma, first.grad_sigma, (size_t)n * 4);
            free_weights(&w);
        }
        free_weights(&first);
        xb_kl_destroy(kl);
    }
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* Denormal and huge sigmas in one block: the product of four must not vanish. */
static void tiny_and_huge_sigmas_keep_their_logarithm(void **state)
{
    (void)state;
    enum { N = 64 };
    float mu[N] = {0}, sigma[N];
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    xb_kl *kl = make_kl(ctx, law, "normal:sd=1e10", 0);
    static const float extremes[] = {1e-45F, 3e38F};
    for (int e = 0; e < 2; e++) {
        for (int i = 0; i < N; i++) sigma[i] = extremes[e];
        double one = xb_kl_one(kl, 0, extremes[e]).kl;
        assert_close(xb_kl_sum(ctx, kl, NULL, NULL, mu, sigma, N, 1), N * one, 1e-13);
    }
    sigma[5] = 0;
    assert_true(xb_kl_sum(ctx, kl, NULL, NULL, mu, sigma, N, 1) == INFINITY);
    xb_kl_destroy(kl);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, laws[1]);
    xb_kl *kl = NULL;
    xb_prior p = prior_of(ctx, "normal");
    assert_int_equal(xb_kl_create(ctx, &kl, law, &p, -1), XB_E_ARGUMENT);
    assert_int_equal(xb_kl_create(ctx, &kl, law, &p, XB_RULE_MAX + 1), XB_E_ARGUMENT);
    assert_null(kl);
    xb_kl_destroy(NULL);
    for (int k = 0; k < XB_COUNT(priors); k++)
        for (int points = 0; points <= 2; points += 2)
            for (int a = 0; fail_alloc_after(a); a++) {
                p = prior_of(ctx, priors[k]);
                xb_status status = xb_kl_create(ctx, &kl, law, &p, points);
                bool happened = fail_alloc_happened();
                xb_kl_destroy(status == XB_OK ? kl : NULL);
                kl = NULL;
                if (!happened) {
                    assert_int_equal(status, XB_OK);
                    break;
                }
                assert_int_equal(status, XB_E_MEMORY);
            }
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_integrate_to_one),
        cmocka_unit_test(gaussians_are_exact),
        cmocka_unit_test(parabolas_are_exact),
        cmocka_unit_test(mean_absolute_values_are_exact),
        cmocka_unit_test(every_law_and_prior_agrees_with_brute_force),
        cmocka_unit_test(device_law_agrees_with_mpmath),
        cmocka_unit_test(gauss_rules_are_as_good_as_said),
        cmocka_unit_test(gradients_are_central_differences),
        cmocka_unit_test(extremes_are_sound),
        cmocka_unit_test(sums_are_sums_of_ones),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(tiny_and_huge_sigmas_keep_their_logarithm),
        cmocka_unit_test(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
