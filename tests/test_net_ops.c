/* test_net_ops.c: every layer with every way of noise, on every backend. One table of
 * nets, driven in two modes:
 *   float build   each backend gives what `ref` gives, within float's reach
 *   double build  (XB_REAL_DOUBLE) gradients by mu, sigma and x are the central
 *                 differences of the forward pass at the same draw, to 1e-6
 * and two nets without noise against PyTorch, in both; in float also passes that only run
 * forward. */
#include "nettest.h"

#include "base/ctx.h"

typedef struct op_case {
    const char *text;
    xb_shape in;
} op_case;

static const op_case cases[] = {
    {"dense 1", {1, 1, 1}},
    {"dense 17", {1, 1, 3}},
    {"dense 33", {1, 1, 17}},
    {"dense 3 nobias", {1, 1, 33}},
    {"dense 16, elu, dense 16, elu, dense 1", {1, 1, 1}},
    {"dense 5, tanh, sigmoid, dense 3, relu", {1, 1, 4}},
    {"elu, dense 3", {1, 1, 5}},
    {"dense 4, elu, flatten, tanh", {1, 1, 3}},
    {"conv 1 1x1", {1, 1, 1}},
    {"conv 3", {5, 6, 2}},
    {"conv 3 valid", {5, 6, 2}},
    {"conv 17 2x3 stride 2", {7, 5, 3}},
    {"conv 2 3x2 stride 2 valid nobias", {7, 6, 1}},
    {"conv 2 5x5", {3, 2, 2}},
    {"conv 33 1x1, relu, maxpool 2", {4, 4, 3}},
    {"maxpool 2 ceil, conv 2", {5, 5, 3}},
    {"conv 3, maxpool 3 stride 2 ceil, elu", {6, 7, 2}},
    {"conv 4, maxpool 2 stride 1", {4, 3, 1}},
    {"maxpool 1 stride 2 ceil, conv 2", {4, 6, 2}}, /* no window starts outside */
    {"maxpool 2, conv 1 1x1", {3, 4, 70}},
    {"flatten, dense 4", {3, 2, 2}},
    {"dense 6, batchnorm, elu, dense 2", {1, 1, 4}},
    {"conv 3, batchnorm, relu, maxpool 2 ceil, flatten, dense 3, batchnorm", {5, 5, 2}},
    {"batchnorm, dense 2", {1, 1, 3}},
#if !defined(XB_REAL_DOUBLE)
    /* blocks: what runs as one where it can (run/fuse.c), as vector kernels alone do */
    {"conv 3, relu, maxpool 2", {6, 8, 3}},
    {"conv 17 nobias, relu, maxpool 2", {5, 7, 2}},
    {"conv 3, relu, maxpool 2 ceil", {5, 9, 3}}, /* five windows, the last cut */
    {"conv 16 valid, relu, maxpool 2 ceil", {7, 6, 5}},
    {"conv 33 valid, relu, maxpool 2", {6, 9, 1}},
    {"conv 2, relu, maxpool 2 ceil, elu", {5, 5, 17}},
    {"conv 48, relu, maxpool 2 ceil, flatten, dense 2", {3, 1, 4}},
    {"conv 5 valid, relu, maxpool 2, relu, conv 2 1x1", {4, 30, 16}},
    {"batchnorm, conv 3, relu, maxpool 2", {4, 6, 3}},
    {"conv 16, relu, maxpool 2 ceil, batchnorm, conv 18, relu, maxpool 2 ceil, batchnorm",
     {9, 7, 3}},
    {"conv 20, batchnorm, conv 3 valid, relu, maxpool 2, elu", {8, 7, 2}},
    {"elu, batchnorm, conv 2, relu, maxpool 2 ceil", {1, 35, 2}},
    {"conv 17, relu, maxpool 2 ceil", {7, 9, 16}},
    {"conv 33 valid nobias, relu, maxpool 2", {10, 9, 16}},
    {"conv 16, relu, maxpool 2, batchnorm, conv 5, relu, maxpool 2 ceil", {13, 15, 1}},
#endif
};

typedef struct way {
    const char *law; /* NULL: no noise */
    xb_estimator estimator;
    int64_t group;
    bool antithetic;
    xb_stochastic choice;
    xb_mode mode;
} way;

static const char mtj[] = "mtj:B=0.15,w=0.5";

static const way ways[] = {
    {NULL, XB_ESTIMATOR_SHARED, 1, false, XB_STOCHASTIC_NONE, XB_MODE_TRAIN},
    {NULL, XB_ESTIMATOR_LOCAL, 1, false, XB_STOCHASTIC_ALL, XB_MODE_PREDICT},
    {mtj, XB_ESTIMATOR_SHARED, 1, false, XB_STOCHASTIC_KERNELS, XB_MODE_TRAIN},
    {mtj, XB_ESTIMATOR_SHARED, 1, true, XB_STOCHASTIC_ALL, XB_MODE_PREDICT},
    {mtj, XB_ESTIMATOR_EXAMPLE, 1, false, XB_STOCHASTIC_KERNELS, XB_MODE_PREDICT},
    {mtj, XB_ESTIMATOR_EXAMPLE, 2, true, XB_STOCHASTIC_ALL, XB_MODE_TRAIN},
    {mtj, XB_ESTIMATOR_FLIPOUT, 1, false, XB_STOCHASTIC_KERNELS, XB_MODE_TRAIN},
    {mtj, XB_ESTIMATOR_FLIPOUT, 1, true, XB_STOCHASTIC_ALL, XB_MODE_PREDICT},
    {"gaussian", XB_ESTIMATOR_LOCAL, 1, false, XB_STOCHASTIC_KERNELS, XB_MODE_TRAIN},
    {"gaussian", XB_ESTIMATOR_LOCAL, 1, true, XB_STOCHASTIC_ALL, XB_MODE_PREDICT},
};

static netbed bed_of(const op_case *c, const way *w, int64_t batch, const char *backend)
{
    xb_net_options choice = xb_net_options_default();
    choice.stochastic = w->choice;
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = backend;
    opt.batch = batch;
    opt.estimator = w->estimator;
    opt.group = w->group;
    netbed b = netbed_make(c->text, c->in, w->law, &choice, &opt);
    b.noise.antithetic = w->antithetic;
    b.noise.first =
        w->estimator == XB_ESTIMATOR_EXAMPLE ? 3 : 0; /* not at a group's start */
    b.mode = w->mode;
    return b;
}

static void say_case(char *text, size_t size, const op_case *c, const way *w,
                     int64_t batch, const char *what)
{
    snprintf(text, size, "'%s' %s %s group %d%s choice %d mode %d batch %d: %s", c->text,
             w->law ? w->law : "no noise", xb_estimator_name(w->estimator), (int)w->group,
             w->antithetic ? " antithetic" : "", (int)w->choice, (int)w->mode, (int)batch,
             what);
}

/* |a - b| within tol of the largest |b|. */
static void compare(const char *who, const xb_real *a, const xb_real *b, int64_t n,
                    double tol)
{
    double scale = 1e-3, worst = 0;
    for (int64_t i = 0; i < n; i++) scale = fmax(scale, fabs((double)b[i]));
    for (int64_t i = 0; i < n; i++) {
        double off = fabs((double)a[i] - (double)b[i]);
        worst = off <= worst ? worst : off;
    }
    if (!(worst <= tol * scale)) fail_msg("%s: off by %.3g of %.3g", who, worst, scale);
}

#if defined(XB_REAL_DOUBLE)

static double loss(netbed *b)
{
    netbed_forward(b);
    double sum = 0;
    for (int64_t i = 0; i < b->batch * b->out; i++) sum += b->y[i] * b->dy[i];
    return sum;
}

/* Central differences of the loss by v[0..n-1]. */
static double *differences(netbed *b, double *v, int64_t n)
{
    const double h = 1e-5;
    double *d = calloc((size_t)n + 1, sizeof *d);
    assert_non_null(d);
    for (int64_t i = 0; i < n; i++) {
        double old = v[i];
        v[i] = old + h;
        double up = loss(b);
        v[i] = old - h;
        d[i] = (up - loss(b)) / (2 * h);
        v[i] = old;
    }
    return d;
}

static void check_case(const op_case *c, const way *w, int64_t batch)
{
    char who[512];
    netbed b = bed_of(c, w, batch, "ref");
    netbed_forward(&b);
    netbed_backward(&b);
    struct {
        const char *name;
        double *value, *gradient;
        int64_t n;
    } part[] = {{"mu", b.mu, b.d_mu, b.params},
                {"sigma", b.sigma, b.d_sigma, b.params},
                {"x", b.x, b.d_x, b.batch * b.in}};
    for (int i = 0; i < 3; i++) {
        double *d = differences(&b, part[i].value, part[i].n);
        say_case(who, sizeof who, c, w, batch, part[i].name);
        compare(who, part[i].gradient, d, part[i].n, 1e-6);
        free(d);
    }
    netbed_free(&b);
}

#else

static void check_backend(const op_case *c, const way *w, int64_t batch,
                          const char *backend)
{
    const double tol = 2e-5;
    char what[64], who[512];
    netbed a = bed_of(c, w, batch, backend), b = bed_of(c, w, batch, "ref");
    snprintf(what, sizeof what, "%s against ref", backend);
    say_case(who, sizeof who, c, w, batch, what);
    netbed_forward(&a);
    netbed_forward(&b);
    compare(who, a.y, b.y, batch * a.out, tol);
    compare(who, a.state, b.state, a.states, tol);
    netbed_backward(&a);
    netbed_backward(&b);
    compare(who, a.d_mu, b.d_mu, a.params, tol);
    compare(who, a.d_sigma, b.d_sigma, a.params, tol);
    compare(who, a.d_x, b.d_x, batch * a.in, tol);
    netbed_free(&a);
    netbed_free(&b);
}

/* One that stands in for all of them (XB_OTHER_BACKEND) is looked at once. */
static int64_t backends(void)
{
#if defined(XB_OTHER_BACKEND)
    return 1;
#else
    return xb_backend_count();
#endif
}

static void check_case(const op_case *c, const way *w, int64_t batch)
{
    for (int i = 0; i < backends(); i++) check_backend(c, w, batch, xb_backend_name(i));
}

#endif

static void every_op_every_way(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 5};
    for (int c = 0; c < XB_COUNT(cases); c++)
        for (int w = 0; w < XB_COUNT(ways); w++)
            for (int b = 0; b < XB_COUNT(batch); b++) {
                /* one row per channel: the batch's variance is 0, nothing to compare */
                bool alone = batch[b] == 1 && ways[w].mode == XB_MODE_TRAIN &&
                             strstr(cases[c].text, "batchnorm");
                if (!alone) check_case(&cases[c], &ways[w], batch[b]);
            }
}

/* ---- passes without a backward pass, where blocks in a row can be one (run/fuse.c) */

#if !defined(XB_REAL_DOUBLE)

static void check_forward_only(const op_case *c, const way *w, const char *backend)
{
    const double tol = 1e-4; /* of sums over several layers, each as on tensor cores */
    enum { BATCH = 5 };
    netbed bed[2];
    char who[512];
    say_case(who, sizeof who, c, w, BATCH, backend);
    for (int i = 0; i < 2; i++) {
        xb_net_options choice = xb_net_options_default();
        choice.stochastic = w->choice;
        xb_pass_options opt = xb_pass_options_default();
        opt.backend = i == 0 ? backend : "ref";
        opt.batch = BATCH, opt.gradients = false, opt.estimator = w->estimator;
        bed[i] = netbed_make(c->text, c->in, w->law, &choice, &opt);
        bed[i].noise.antithetic = w->antithetic;
        bed[i].mode = w->mode;
        netbed_forward(&bed[i]);
    }
    compare(who, bed[0].y, bed[1].y, BATCH * bed[0].out, tol);
    compare(who, bed[0].state, bed[1].state, bed[0].states, tol);
    netbed_free(&bed[0]), netbed_free(&bed[1]);
}

static void forward_only(void **state)
{
    static const op_case nets[] = {
        {"conv 16, relu, maxpool 2 ceil, batchnorm, conv 32, relu, maxpool 2, flatten",
         {22, 27, 3}},
        {"conv 2, conv 16 nobias, relu, maxpool 2, conv 32, relu, maxpool 2 ceil, "
         "batchnorm,"
         "conv 48 nobias, relu, maxpool 2, batchnorm, flatten, dense 20, batchnorm, relu,"
         "dense 7 nobias, sigmoid, dense 33, batchnorm",
         {23, 28, 3}},
        {"conv 16, relu, maxpool 2, conv 32, relu, maxpool 2 ceil, conv 2 1x1",
         {22, 27, 3}},
        {"conv 16, batchnorm, conv 16, relu, maxpool 2, batchnorm, conv 64 valid, relu,"
         "maxpool 2 ceil, batchnorm, elu, batchnorm, conv 3 1x1",
         {21, 20, 2}},
    };
    (void)state;
    for (int c = 0; c < XB_COUNT(nets); c++)
        for (int w = 0; w < XB_COUNT(ways); w++)
            for (int i = 0; i < backends(); i++)
                check_forward_only(&nets[c], &ways[w], xb_backend_name(i));
}

#endif

/* ---- against PyTorch (fixtures/make_net.py, double) */

static void wave(xb_real *v, int64_t n, double a, double b)
{
    for (int64_t i = 0; i < n; i++) {
        double t = (double)i;
        v[i] = (xb_real)(sin(a * (t + 1)) * 0.7 + cos(b * t * t) * 0.3);
    }
}

/* The next part of the file, which must be called `name` and hold n numbers. */
static void compare_part(FILE *f, const char *backend, const char *name,
                         const xb_real *got, int64_t n)
{
    char found[16];
    int count = 0;
    assert_int_equal(fscanf(f, "%15s %d", found, &count), 2);
    assert_string_equal(found, name);
    assert_int_equal(count, n);
    xb_real *want = calloc((size_t)n + 1, sizeof *want);
    assert_non_null(want);
    for (int64_t i = 0; i < n; i++) {
        double value = NAN;
        assert_int_equal(fscanf(f, "%lf", &value), 1);
        want[i] = (xb_real)value;
    }
    char who[64];
    snprintf(who, sizeof who, "%s: %s against PyTorch", backend, name);
    compare(who, got, want, n, sizeof(xb_real) == sizeof(double) ? 1e-13 : 5e-6);
    free(want);
}

static void check_torch(FILE *f, const char *text, xb_shape in, int64_t batch,
                        const char *backend)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = backend;
    opt.batch = batch;
    netbed b = netbed_make(text, in, NULL, NULL, &opt);
    wave(b.mu, b.params, 1.3, 0.7);
    wave(b.x, batch * b.in, 0.9, 0.3);
    wave(b.dy, batch * b.out, 2.1, 0.4);
    xb_net_state_start(b.net, b.state);
    b.mode = XB_MODE_TRAIN;
    netbed_forward(&b);
    netbed_backward(&b);
    compare_part(f, backend, "y", b.y, batch * b.out);
    compare_part(f, backend, "mu", b.d_mu, b.params);
    compare_part(f, backend, "x", b.d_x, batch * b.in);
    if (b.states) compare_part(f, backend, "state", b.state, b.states);
    netbed_free(&b);
}

static void nets_are_pytorchs(void **state)
{
    (void)state;
    for (int i = 0; i < xb_backend_count(); i++) {
        FILE *f = fopen(XB_SOURCE_DIR "/tests/fixtures/net.txt", "r");
        assert_non_null(f);
        check_torch(f,
                    "conv 3 stride 2, batchnorm, elu, maxpool 2 ceil, conv 2 2x2, tanh,"
                    " flatten, dense 2",
                    (xb_shape){6, 5, 2}, 3, xb_backend_name(i));
        check_torch(f, "dense 7, sigmoid, dense 5, relu, dense 1", (xb_shape){1, 1, 3}, 4,
                    xb_backend_name(i));
        fclose(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nets_are_pytorchs),
        cmocka_unit_test(every_op_every_way),
#if !defined(XB_REAL_DOUBLE)
        cmocka_unit_test(forward_only),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
