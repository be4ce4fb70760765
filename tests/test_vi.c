/* test_vi.c: the small parts of variational inference: priors and schedules from
 * text, sigma's forms, Adam. KL is in test_kl.c. */
#include "xbtest.h"

#include <float.h>

#include "base/ctx.h"
#include "vi/adam.h"
#include "kernel/update.h"

static bool same_prior(const xb_prior *p, const xb_prior *q)
{
    return p->kind == q->kind && p->mean == q->mean && p->sd == q->sd &&
           p->scale == q->scale && p->pi == q->pi && p->s1 == q->s1 && p->s2 == q->s2;
}

static void priors_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        xb_prior prior;
        const char *whole;
    } known[] = {
        {"normal", {.kind = XB_PRIOR_NORMAL, .sd = 1}, "normal:mean=0,sd=1"},
        {"normal:sd=0.1", {.kind = XB_PRIOR_NORMAL, .sd = 0.1}, "normal:mean=0,sd=0.1"},
        {"normal:sd=2,mean=-1e-1",
         {.kind = XB_PRIOR_NORMAL, .mean = -0.1, .sd = 2},
         "normal:mean=-0.1,sd=2"},
        {"laplace:b=0.5", {.kind = XB_PRIOR_LAPLACE, .scale = 0.5}, "laplace:b=0.5"},
        {"mixture",
         {.kind = XB_PRIOR_MIXTURE, .pi = 0.5, .s1 = 1, .s2 = 0.01},
         "mixture:pi=0.5,s1=1,s2=0.01"},
        {"mixture:s2=3,pi=0.1",
         {.kind = XB_PRIOR_MIXTURE, .pi = 0.1, .s1 = 1, .s2 = 3},
         "mixture:pi=0.1,s1=1,s2=3"},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(known); i++) {
        xb_prior p, again;
        char text[XB_PRIOR_TEXT];
        assert_ok(ctx, xb_prior_parse(ctx, &p, known[i].text));
        assert_true(same_prior(&p, &known[i].prior));
        xb_prior_text(text, &p);
        assert_string_equal(text, known[i].whole);
        assert_ok(ctx, xb_prior_parse(ctx, &again, text));
        assert_true(same_prior(&p, &again));
    }
    xb_ctx_destroy(ctx);
}

static void wrong_priors_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"gauss:sd=1", "prior 'gauss:sd=1': unknown prior 'gauss', expected one of "
                       "normal, laplace, mixture"},
        {"", "unknown prior '', expected one of normal, laplace, mixture"},
        {"normal:sd=0", "prior 'normal:sd=0': sd = 0, expected 1e-10 to 1e+10"},
        {"normal:sd=x", "prior 'normal:sd=x': sd is not a number: 'x'"},
        {"normal:sd=nan", "prior 'normal:sd=nan': sd is not a number: 'nan'"},
        {"normal:1", "prior 'normal:1': '1' is not NAME=VALUE (normal has: mean, sd)"},
        {"normal:=1", "prior 'normal:=1': unknown parameter '' (normal has: mean, sd)"},
        {"normal:b=1",
         "prior 'normal:b=1': unknown parameter 'b' (normal has: mean, sd)"},
        {"normal:sd=1,sd=2", "prior 'normal:sd=1,sd=2': sd is given twice"},
        {"normal:sd=1,",
         "prior 'normal:sd=1,': '' is not NAME=VALUE (normal has: mean, sd)"},
        {"mixture:pi=1", "prior 'mixture:pi=1': pi = 1, expected 1e-06 to 0.999999"},
        {"mixture:s1=2,s2=2",
         "prior 'mixture:s1=2,s2=2': s1 and s2 are the same; use normal"},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(wrong); i++) {
        xb_prior p = {.mean = 7};
        assert_int_equal(xb_prior_parse(ctx, &p, wrong[i].text), XB_E_INPUT);
        assert_string_equal(xb_ctx_message(ctx), wrong[i].message);
        assert_true(p.mean == 7);
    }
    xb_ctx_destroy(ctx);
}

static void schedules_are_as_written(void **state)
{
    (void)state;
    static const struct {
        const char *text, *whole;
        int64_t step, total;
        double value;
    } known[] = {
        {"constant", "constant:1", 5, 10, 1},
        {"constant:0.5", "constant:0.5", 0, 1, 0.5},
        {"exp:1000", "exp:1000,floor=0", 0, 10, 1},
        {"exp:1000", "exp:1000,floor=0", 1000, 10, 0.36787944117144233},
        {"exp:1000,floor=0.5", "exp:1000,floor=0.5", 1000, 10, 0.5},
        {"exp:1000", "exp:1000,floor=0", 100000000, 10, 1e-12},
        {"cosine", "cosine:floor=0", 0, 101, 1},
        {"cosine", "cosine:floor=0", 50, 101, 0.5},
        {"cosine", "cosine:floor=0", 100, 101, 1e-12},
        {"cosine", "cosine:floor=0", 999, 101, 1e-12},
        {"cosine", "cosine:floor=0", 0, 1, 1},
        {"cosine:floor=0.2", "cosine:floor=0.2", 25, 101, 0.8828427124746190},
        {"step:100", "step:100,factor=0.1,floor=0", 99, 1000, 1},
        {"step:100", "step:100,factor=0.1,floor=0", 100, 1000, 0.1},
        {"step:100,factor=0.5", "step:100,factor=0.5,floor=0", 399, 1000, 0.125},
        {"step:100,factor=0.5,floor=0.2", "step:100,factor=0.5,floor=0.2", 399, 1000,
         0.2},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(known); i++) {
        xb_schedule s;
        char text[XB_SCHEDULE_TEXT];
        assert_ok(ctx, xb_schedule_parse(ctx, &s, known[i].text));
        assert_close(xb_schedule_at(&s, known[i].step, known[i].total), known[i].value,
                     1e-14);
        xb_schedule_text(text, &s);
        assert_string_equal(text, known[i].whole);
    }
    xb_ctx_destroy(ctx);
}

static void wrong_schedules_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"linear", "unknown schedule 'linear', expected one of constant, exp, "
                   "cosine, step"},
        {"0.1", "schedule '0.1': expected its kind first: constant:0.1"},
        {"e", "unknown schedule 'e', expected one of constant, exp, cosine, step"},
        {"exp", "schedule 'exp': expected the number of steps first: exp:1000"},
        {"step:factor=1",
         "schedule 'step:factor=1': expected the number of steps first: step:1000"},
        {"exp:0", "schedule 'exp:0': 0, expected 1e-12 to 1e+12"},
        {"constant:-1", "schedule 'constant:-1': -1, expected 1e-12 to 1e+12"},
        {"constant:1,floor=0",
         "schedule 'constant:1,floor=0': unknown parameter 'floor' (constant has: none)"},
        {"exp:10,floor=2", "schedule 'exp:10,floor=2': floor = 2, expected 0 to 1"},
        {"exp:10,20", "schedule 'exp:10,20': '20' is not NAME=VALUE (exp has: floor)"},
        {"cosine:5", "schedule 'cosine:5': '5' is not NAME=VALUE (cosine has: floor)"},
    };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(wrong); i++) {
        xb_schedule s = {.value = 7};
        assert_int_equal(xb_schedule_parse(ctx, &s, wrong[i].text), XB_E_INPUT);
        assert_string_equal(xb_ctx_message(ctx), wrong[i].message);
        assert_true(s.value == 7);
    }
    xb_ctx_destroy(ctx);
}

/* mpmath, 40 digits. */
static void transforms_agree_with_mpmath(void **state)
{
    (void)state;
    static const double known[][3] = {
        /* rho, softplus, its slope */
        {-80, 1.8048513878454151723e-35, 1.8048513878454151723e-35},
        {-20, 2.0611536203143807032e-9, 2.0611536181902035814e-9},
        {-1, 0.31326168751822283405, 0.26894142136999512075},
        {0, 0.69314718055994530942, 0.5},
        {1, 1.313261687518222834, 0.73105857863000487925},
        {20, 20.00000000206115362, 0.99999999793884638181},
        {80, 80, 1},
    };
    static const double inverse[][2] = {
        /* sigma, rho of softplus */
        {1e-30, -69.077552789821370521}, {1e-8, -18.420680738952365468},
        {0.01, -4.6001660193248969181},  {1, 0.54132485461291810898},
        {30, 29.999999999999906424},     {800, 800},
    };
    for (int i = 0; i < XB_COUNT(known); i++) {
        assert_close(xb_sigma_transform_apply(XB_SIGMA_TRANSFORM_SOFTPLUS, known[i][0]),
                     known[i][1], 3e-16);
        assert_close(xb_sigma_transform_slope(XB_SIGMA_TRANSFORM_SOFTPLUS, known[i][0]),
                     known[i][2], 5e-16);
    }
    for (int i = 0; i < XB_COUNT(inverse); i++)
        assert_close(
            xb_sigma_transform_inverse(XB_SIGMA_TRANSFORM_SOFTPLUS, inverse[i][0]),
            inverse[i][1], 5e-16);
    for (double s = 1e-300; s < 1e300; s *= 17)
        for (int k = 0; k < 2; k++) {
            if (k == XB_SIGMA_TRANSFORM_SOFTPLUS && s > 1e15) continue;
            double rho = xb_sigma_transform_inverse((xb_sigma_transform)k, s);
            assert_close(xb_sigma_transform_apply((xb_sigma_transform)k, rho), s, 2e-13);
        }
    assert_true(xb_sigma_transform_slope(XB_SIGMA_TRANSFORM_EXP, -3) == exp(-3));
}

/* Blocks of float against the double functions, and one name for each form. */
static void transform_blocks_agree(void **state)
{
    (void)state;
    enum { N = 40001 };
    static float rho[N], sigma[N], gradient[N];
    xb_ctx *ctx = test_ctx();
    for (int k = 0; k < 2; k++) {
        xb_sigma_transform form, again;
        form = (xb_sigma_transform)k;
        assert_ok(ctx,
                  xb_sigma_transform_parse(ctx, &again, xb_sigma_transform_name(form)));
        assert_int_equal(again, form);
        for (int i = 0; i < N; i++) {
            rho[i] = -110 + (k ? 180.0F : 190.0F) * (float)i / N;
            gradient[i] = 1;
        }
        xb_sigma_transform_fill(ctx, form, sigma, rho, N);
        xb_sigma_transform_chain(ctx, form, gradient, sigma, N);
        for (int i = 0; i < N; i++) {
            double s = fmax(xb_sigma_transform_apply(form, rho[i]), FLT_MIN);
            double d = fmax(xb_sigma_transform_slope(form, rho[i]), FLT_MIN);
            assert_close(sigma[i], s, 2.5e-7);
            assert_close(gradient[i], d, 5e-7);
        }
    }
    xb_sigma_transform form;
    assert_int_equal(xb_sigma_transform_parse(ctx, &form, "square"), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx),
                        "unknown sigma_transform 'square': expected exp or softplus");
    xb_ctx_destroy(ctx);
}

/* ---- the kernels of a step, level by level */

/* In units of float's last place. */
static double ulps(float got, double exact)
{
    int e;
    frexp(exact, &e);
    return fabs((double)got - exact) / ldexp(1, e - 24);
}

static void sigma_is_exp_to_the_last_bit_or_so(void **state)
{
    (void)state;
    enum { N = 200003 };
    static float rho[N], sigma[N];
    const float ends[] = {-INFINITY, -200, -88, NAN, 88.8F, INFINITY};
    for (int i = 0; i < N; i++) rho[i] = -87.3F + (float)i * (175.99F / N);
    for (int k = 0; xb_update_at(k); k++) {
        const xb_update *update = xb_update_at(k);
        double worst = 0;
        update->sigma_exp(sigma, rho, N);
        for (int i = 0; i < N; i++)
            worst = fmax(worst, ulps(sigma[i], exp((double)rho[i])));
        print_message("%s: sigma %.2f ulp\n", update->level, worst);
        assert_at_most(worst, 1.1);
        update->sigma_exp(sigma, ends, 6);
        for (int i = 0; i < 4; i++) assert_true(sigma[i] == FLT_MIN);
        assert_true(isinf(sigma[4]) && isinf(sigma[5]));
    }
}

static void assert_near(const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        assert_true(fabsf(a[i] - b[i]) <= 1e-6F * (1 + fabsf(b[i])));
}

/* Levels with fused multiply-adds give the same bytes; the others differ by their
 * roundings. */
static void assert_like(const float *a, const float *b, int64_t n, const xb_update *level)
{
    if (level->fused)
        assert_memory_equal(a, b, (size_t)n * sizeof *a);
    else
        assert_near(a, b, n);
}

/* Every level gives the same, at any length. */
static void levels_of_a_step_agree(void **state)
{
    (void)state;
    enum { N = 1111 };
    static const int64_t sizes[] = {0, 1, 7, 16, 33, 512, 513, N};
    static const xb_adam_rates rates = {1e-3F, 0.9F, 0.999F, 0.1F, 0.001F, 1e-7F};
    static float mu[N], sigma[N], start[4][N], of[2][4][N];
    for (int i = 0; i < N; i++)
        mu[i] = sinf((float)i), sigma[i] = expf(3 * cosf((float)i));
    for (int i = 0; i < 4 * N; i++) start[i / N][i % N] = fabsf(sinf((float)(i * i)));
    for (int k = 0; xb_update_at(k); k++)
        for (int s = 0; s < XB_COUNT(sizes); s++) {
            const xb_update *level[] = {xb_update_best(), xb_update_at(k)};
            xb_normal_sums sums[2];
            for (int j = 0; j < 2; j++) {
                float(*p)[N] = of[j];
                memcpy(p, start, sizeof start);
                sums[j] = level[j]->normal_sums(mu, sigma, sizes[s], 0.1);
                level[j]->normal_gradient(p[0], p[1], mu, sigma, sizes[s], 0.1F, 2, 0.3F);
                level[j]->chain_exp(p[1], sigma, sizes[s]);
                level[j]->adam(p[0], p[1], p[2], p[3], sizes[s], &rates);
                assert_true(level[j]->squares_finite(p[0], sizes[s]));
            }
            assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
            assert_like(of[1][0], of[0][0], XB_COUNT(start) * N, level[1]);
            if (sizes[s] == 0) continue;
            of[0][0][sizes[s] - 1] = s % 3 == 0 ? NAN : s % 3 == 1 ? INFINITY : -2e19F;
            assert_false(level[1]->squares_finite(of[0][0], sizes[s]));
        }
}

/* One sweep finds what three find, and Adam with the exponential what the two do. */
static void sweeps_in_one_agree(void **state)
{
    (void)state;
    enum { N = 333 };
    static const int64_t sizes[] = {1, 15, 16, 17, 63, 64, 65, 256, N};
    static const xb_adam_rates rates = {1e-3F, 0.9F, 0.999F, 0.1F, 0.001F, 1e-7F};
    static float mu[N], rho[N], sigma[N], one[6][N], two[6][N], best[2][N];
    const float mean = 0.1F, scaled = 2, weight = 0.3F;
    for (int i = 0; i < N; i++) mu[i] = sinf((float)i), rho[i] = 3 * cosf((float)i);
    rho[0] = -100; /* sigma is FLT_MIN there */
    xb_update_plain.sigma_exp(sigma, rho, N);
    for (int k = 0; xb_update_at(k); k++)
        for (int s = 0; s < XB_COUNT(sizes); s++) {
            const xb_update *u = xb_update_at(k);
            int64_t n = sizes[s];
            for (int i = 0; i < 6 * N; i++)
                one[i / N][i % N] = two[i / N][i % N] = 1 + fabsf(sinf((float)(i * i)));
            memcpy(best, one, sizeof best);
            xb_normal_sums a =
                u->normal_exp(one[0], one[1], mu, sigma, rho, n, mean, scaled, weight);
            xb_normal_sums b = u->normal_sums(mu, sigma, n, mean);
            xb_normal_sums c = xb_update_best()->normal_exp(best[0], best[1], mu, sigma,
                                                            rho, n, mean, scaled, weight);
            u->normal_gradient(two[0], two[1], mu, sigma, n, mean, scaled, weight);
            u->chain_exp(two[1], sigma, n);
            assert_close(a.square, b.square, 1e-6);
            assert_close(a.logs, b.logs, 1e-6);
            assert_near(one[0], two[0], n);
            assert_near(one[1], two[1], n);
            assert_like(one[0], best[0], 2 * N, u);
            if (u->fused) assert_memory_equal(&a, &c, sizeof a);
            u->adam_exp(one[2], one[3], one[4], one[5], mu, n, &rates);
            u->adam(two[3], two[4], two[5], mu, n, &rates);
            u->sigma_exp(two[2], two[3], n);
            assert_memory_equal(one[2], two[2], 4 * sizeof one[2]);
        }
}

/* A shuffle's places are the stream's uniforms times how many there are, cut off. */
static void places_are_uniforms(void **state)
{
    (void)state;
    enum { N = 37 };
    const int32_t firsts[] = {0, 5, 1000, INT32_MAX - N};
    const xb_stream where = {.key = xb_key_make(3, XB_PURPOSE_DATA)};
    uint32_t word[2 * N];
    int32_t place[N];
    for (int i = 0; i < 2 * N; i++) word[i] = xb_stream_word(&where, i);
    for (int k = 0; xb_update_at(k); k++)
        for (int f = 0; f < XB_COUNT(firsts); f++) {
            xb_update_at(k)->places(place, word, firsts[f], N);
            for (int i = 0; i < N; i++) {
                double all = (double)firsts[f] + i + 1;
                assert_int_equal(place[i], (int32_t)(xb_stream_uniform(&where, i) * all));
            }
        }
    const uint32_t ends[] = {UINT32_MAX, UINT32_MAX, 0, 0};
    xb_update_best()->places(place, ends, 8, 2);
    assert_true(place[0] == 8 && place[1] == 0);
}

/* ---- Adam: TensorFlow's update (keras/optimisers/adam.py: alpha = rate
 * sqrt(1 - beta2^t) / (1 - beta1^t), p -= alpha m / (sqrt(v) + epsilon)), written
 * anew in mpmath with 30 digits. */
enum { TRACE_STEPS = 4, TRACE_WIDTH = 4 };
static const double trace_gradient[TRACE_STEPS][TRACE_WIDTH] = {
    {0.1, -2, 1e-6, 0}, {0.3, 1, -1e-6, 0}, {-0.2, 0.5, 3e-6, 0}, {0.05, -4, 1e-9, 0.25}};
static const double trace_start[TRACE_WIDTH] = {1, -0.5, 0.25, 2};
static const double trace_parameter[TRACE_STEPS][TRACE_WIDTH] = {
    {0.999000031622, -0.499000001581, 0.249759746927, 2.0},
    {0.998082259681, -0.498733664918, 0.249776008169, 2.0},
    {0.997824358056, -0.49867227614, 0.249489064921, 2.0},
    {0.99753792608, -0.498142880606, 0.249253986147, 1.99941887899}};

static void adam_follows_the_trace(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_adam_options o = xb_adam_options_default();
    float p[TRACE_WIDTH], m[TRACE_WIDTH] = {0}, v[TRACE_WIDTH] = {0}, g[TRACE_WIDTH];
    xb_adam_block block = {p, m, v, g, TRACE_WIDTH, 1, NULL};
    assert_ok(ctx, xb_adam_check(ctx, &o));
    for (int i = 0; i < TRACE_WIDTH; i++) p[i] = (float)trace_start[i];
    for (int t = 1; t <= TRACE_STEPS; t++) {
        for (int i = 0; i < TRACE_WIDTH; i++) g[i] = (float)trace_gradient[t - 1][i];
        xb_adam_step(ctx, &o, &block, 1, t, 1);
        for (int i = 0; i < TRACE_WIDTH; i++) /* a float step at 2 is 1.2e-7 */
            assert_close_floor(p[i], trace_parameter[t - 1][i], 1.5e-7, 1);
    }
    xb_ctx_destroy(ctx);
}

/* From zero with gradient 1 and moments 0 the first step at any t is rate_t (1 -
 * beta1) / (sqrt(1 - beta2) + epsilon), rate_t by mpmath. */
static void adam_corrects_its_bias(void **state)
{
    (void)state;
    static const struct {
        int64_t step;
        double rate;
    } known[] = {{1, 0.000316227766016838},
                 {10, 0.000153189073951183},
                 {1000, 0.000795175814036768},
                 {100000, 0.001},
                 {INT64_C(1) << 40, 0.001}};
    xb_ctx *ctx = test_ctx();
    xb_adam_options o = xb_adam_options_default();
    for (int i = 0; i < XB_COUNT(known); i++) {
        float p = 0, m = 0, v = 0, g = 1;
        xb_adam_block block = {&p, &m, &v, &g, 1, 3, NULL}; /* three times the rate */
        xb_adam_step(ctx, &o, &block, 1, known[i].step, 0.5);
        double expected = -1.5 * known[i].rate * 0.1 / (sqrt(0.001) + 1e-7);
        assert_close(p, expected, 4e-7);
    }
    xb_ctx_destroy(ctx);
}

static void adam_blocks_are_independent(void **state)
{
    (void)state;
    enum { N = 50001 };
    static float p[3][N], m[3][N], v[3][N], g[N];
    static const int threads[] = {1, 3, 8};
    xb_ctx *ctx = test_ctx();
    xb_adam_options o = xb_adam_options_default();
    for (int i = 0; i < N; i++) g[i] = sinf((float)i);
    for (int k = 0; k < 3; k++) {
        xb_adam_block two[] = {{p[k], m[k], v[k], g, N - 7, 1, NULL},
                               {p[k] + N - 7, m[k] + N - 7, v[k] + N - 7, g, 7, 0, NULL}};
        xb_ctx_set_threads(ctx, threads[k]);
        for (int t = 1; t <= 3; t++) xb_adam_step(ctx, &o, two, 2, t, 1);
        assert_memory_equal(p[k], p[0], sizeof p[0]);
        assert_memory_equal(m[k], m[0], sizeof m[0]);
        assert_memory_equal(v[k], v[0], sizeof v[0]);
    }
    for (int i = 0; i < N; i++) assert_true((p[0][i] != 0) == (i < N - 7 && g[i] != 0));
    o.beta1 = 1;
    assert_int_equal(xb_adam_check(ctx, &o), XB_E_ARGUMENT);
    o = (xb_adam_options){NAN, 0.9, 0.999, 1e-7};
    assert_int_equal(xb_adam_check(ctx, &o), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priors_are_parsed),
        cmocka_unit_test(sigma_is_exp_to_the_last_bit_or_so),
        cmocka_unit_test(levels_of_a_step_agree),
        cmocka_unit_test(sweeps_in_one_agree),
        cmocka_unit_test(places_are_uniforms),
        cmocka_unit_test(wrong_priors_are_explained),
        cmocka_unit_test(schedules_are_as_written),
        cmocka_unit_test(wrong_schedules_are_explained),
        cmocka_unit_test(transforms_agree_with_mpmath),
        cmocka_unit_test(transform_blocks_agree),
        cmocka_unit_test(adam_follows_the_trace),
        cmocka_unit_test(adam_corrects_its_bias),
        cmocka_unit_test(adam_blocks_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
