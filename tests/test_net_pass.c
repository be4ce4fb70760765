/* test_net_pass.c: what passes promise: a batch in parts is the whole, bytes do not
 * depend on threads, batchnorm keeps its statistics, values by hand, calls that are
 * refused. Noise is in test_net_noise.c. */
#include "passtest.h"

#include "base/ctx.h"
#include "failalloc.h"
#include "run/pass.h"

/* A net of 3 x 3 layers, examples 0 .. 10 at once and as 0 .. 3 and 4 .. 10. */
static void a_batch_in_parts_is_the_whole(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++)
        for (int64_t group = 1; group <= 3; group++) {
            xb_pass_options opt = options_of((xb_estimator)e, 11, NULL);
            opt.group = group;
            opt.gradients = false;
            netbed b = netbed_make("dense 4, tanh, elu, dense 2", features3,
                                   law_for(opt.estimator), NULL, &opt);
            xb_weights w = {b.mu, b.sigma, NULL, NULL};
            xb_real parts[22];
            netbed_forward(&b);
            assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, parts, b.x, 4, &w, &b.noise,
                                             XB_MODE_PREDICT));
            b.noise.first = 4;
            assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, parts + 8, b.x + 12, 7, &w,
                                             &b.noise, XB_MODE_PREDICT));
            assert_memory_equal(parts, b.y, sizeof parts);
            netbed_free(&b);
        }
}

/* The gradient by the inputs of a batch that is cut into pieces, against its halves,
 * which are other pieces. */
static void gradients_of_pieces_are_those_of_parts(void **state)
{
    (void)state;
    enum { MANY = 64, HALF = MANY / 2, WIDE = 128 };
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_pass_options opt = options_of((xb_estimator)e, MANY, NULL);
        netbed b = netbed_make("dense 96", (xb_shape){1, 1, WIDE}, law_for(opt.estimator),
                               NULL, &opt);
        const xb_weights w = {b.mu, b.sigma, NULL, NULL};
        static xb_real part[HALF * WIDE], y[HALF * 96];
        netbed_forward(&b);
        netbed_backward(&b);
        for (int64_t from = 0; from < MANY; from += HALF) {
            const xb_gradient g = {b.d_mu, b.d_sigma, part};
            b.noise.first = from;
            assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, y, b.x + from * WIDE, HALF,
                                             &w, &b.noise, XB_MODE_PREDICT));
            assert_ok(b.ctx, xb_pass_backward(b.ctx, b.pass, &g, b.dy + from * 96));
            for (int64_t i = 0; i < HALF * WIDE; i++)
                assert_close_floor(part[i], b.d_x[from * WIDE + i], 1e-4, 1);
        }
        netbed_free(&b);
    }
}

/* Work large enough to be cut into pieces, at several thread counts. */
static void check_threads(const char *text, xb_shape in, int64_t batch, xb_estimator e,
                          const char *backend)
{
    static const int threads[] = {1, 2, 3, 8};
    xb_pass_options opt = options_of(e, batch, backend);
    netbed b = netbed_make(text, in, law_for(e), NULL, &opt);
    size_t size = (size_t)b.params * sizeof *b.mu;
    size_t y_size = (size_t)(batch * b.out) * sizeof *b.y;
    size_t x_size = (size_t)(batch * b.in) * sizeof *b.x;
    xb_real *mu = malloc(size), *sigma = malloc(size), *y = malloc(y_size);
    xb_real *x = malloc(x_size);
    b.mode = XB_MODE_TRAIN;
    for (int t = 0; t < XB_COUNT(threads); t++) {
        xb_ctx_set_threads(b.ctx, threads[t]);
        netbed_forward(&b);
        netbed_backward(&b);
        if (t == 0) {
            memcpy(mu, b.d_mu, size);
            memcpy(sigma, b.d_sigma, size);
            memcpy(y, b.y, y_size);
            memcpy(x, b.d_x, x_size);
        }
        assert_memory_equal(mu, b.d_mu, size);
        assert_memory_equal(sigma, b.d_sigma, size);
        assert_memory_equal(y, b.y, y_size);
        assert_memory_equal(x, b.d_x, x_size);
    }
    free(mu), free(sigma), free(y), free(x);
    netbed_free(&b);
}

static void check_nets(xb_estimator e, const char *backend)
{
    check_threads("dense 100, batchnorm, elu, dense 33", (xb_shape){1, 1, 90}, 300, e,
                  backend);
    check_threads("conv 16, batchnorm, relu, maxpool 2, flatten, dense 3",
                  (xb_shape){15, 15, 9}, 45, e, backend);
    check_threads("maxpool 3 stride 1, conv 1 1x1", (xb_shape){40, 40, 8}, 10, e,
                  backend);
    check_threads("conv 16, relu, maxpool 2 ceil, batchnorm, conv 20, relu, maxpool 2",
                  (xb_shape){29, 31, 3}, 43, e, backend);
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) check_nets((xb_estimator)e, "cpu");
    check_nets(XB_ESTIMATOR_SHARED, "ref");
}

/* Against numbers worked out from the definition (N4). */
static void batchnorm_runs_its_statistics(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 4, NULL);
    netbed b = netbed_make("batchnorm momentum 0.75 epsilon 0.5", (xb_shape){1, 1, 2},
                           NULL, NULL, &opt);
    static const float x[] = {1, -1, 2, 0, 3, 1, 6, 8}; /* means 3 and 2 */
    static const double variance[] = {(4 + 1 + 0 + 9) / 4.0, (9 + 4 + 1 + 36) / 4.0};
    for (int i = 0; i < 8; i++) b.x[i] = x[i];
    xb_net_state_start(b.net, b.state);
    for (int i = 0; i < 4; i++) assert_close((double)b.state[i], i < 2 ? 0 : 1, 0);
    b.mode = XB_MODE_TRAIN;
    netbed_forward(&b);
    for (int c = 0; c < 2; c++) {
        double mean = c == 0 ? 3 : 2, scale = (double)b.mu[c],
               shift = (double)b.mu[2 + c];
        assert_close((double)b.state[c], 0.25 * mean, 1e-6);
        assert_close((double)b.state[2 + c], 0.75 + 0.25 * variance[c], 1e-6);
        for (int n = 0; n < 4; n++)
            assert_close_floor(
                (double)b.y[2 * n + c],
                ((double)x[2 * n + c] - mean) / sqrt(variance[c] + 0.5) * scale + shift,
                1e-6, 1);
    }
    xb_real kept[4];
    memcpy(kept, b.state, sizeof kept);
    b.mode = XB_MODE_PREDICT;
    netbed_forward(&b);
    assert_memory_equal(kept, b.state, sizeof kept);
    for (int i = 0; i < 8; i++) {
        int c = i % 2;
        double y = ((double)x[i] - (double)kept[c]) / sqrt((double)kept[2 + c] + 0.5);
        assert_close_floor((double)b.y[i], y * (double)b.mu[c] + (double)b.mu[2 + c],
                           1e-6, 1);
    }
    netbed_free(&b);
}

/* Small numbers by hand: conv is correlation, not flipped; maxpool's ceil. */
static void values_by_hand(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 1, NULL);
    netbed b = netbed_make("conv 1 2x2 valid, maxpool 2 ceil", (xb_shape){4, 4, 1}, NULL,
                           NULL, &opt);
    static const float w[] = {1, 0, -2, 3, 0.5f}; /* [ky][kx], bias */
    for (int i = 0; i < 5; i++) b.mu[i] = w[i];
    for (int i = 0; i < 16; i++) b.x[i] = (float)(i * i % 7);
    netbed_forward(&b);
    double conv[9];
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            conv[3 * y + x] = (double)b.x[4 * y + x] - 2 * (double)b.x[4 * y + 4 + x] +
                              3 * (double)b.x[4 * y + 5 + x] + 0.5;
    double expected[] = {fmax(fmax(conv[0], conv[1]), fmax(conv[3], conv[4])),
                         fmax(conv[2], conv[5]), fmax(conv[6], conv[7]), conv[8]};
    for (int i = 0; i < 4; i++) assert_close((double)b.y[i], expected[i], 1e-6);
    netbed_free(&b);
}

/* TensorFlow's SAME, worked out by hand: 4 rows, window 2, stride 2: 2 places, no
 * padding; 7 columns, window 5, stride 2: 4 places, 2 before and 2 after. */
static void same_pads_as_tensorflow(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 1, NULL);
    netbed b =
        netbed_make("conv 1 2x5 stride 2 nobias", (xb_shape){4, 7, 1}, NULL, NULL, &opt);
    netbed_forward(&b);
    for (int oy = 0; oy < 2; oy++)
        for (int ox = 0; ox < 4; ox++) {
            double sum = 0;
            for (int ky = 0; ky < 2; ky++)
                for (int kx = 0; kx < 5; kx++) {
                    int y = 2 * oy + ky, x = 2 * ox + kx - 2;
                    if (x < 0 || x > 6) continue;
                    sum += (double)b.mu[5 * ky + kx] * (double)b.x[7 * y + x];
                }
            assert_close_floor((double)b.y[4 * oy + ox], sum, 1e-6, 1);
        }
    netbed_free(&b);
}

static void not_a_number_shows(void **state)
{
    (void)state;
    static const char *const text[] = {"relu", "elu", "tanh", "sigmoid", "maxpool 2"};
    for (int i = 0; i < xb_backend_count(); i++)
        for (int t = 0; t < XB_COUNT(text); t++)
            for (int at = 0; at < 4; at++) {
                xb_pass_options opt =
                    options_of(XB_ESTIMATOR_SHARED, 1, xb_backend_name(i));
                netbed b = netbed_make(text[t], (xb_shape){2, 2, 1}, NULL, NULL, &opt);
                b.x[at] = NAN;
                netbed_forward(&b);
                bool seen = false;
                for (int j = 0; j < b.out; j++) seen |= isnan(b.y[j]);
                if (!seen) fail_msg("%s loses NaN on %s", text[t], xb_backend_name(i));
                netbed_free(&b);
            }
}

/* The state is read where it is and written where it is asked for. */
static void the_state_is_only_read(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 4, NULL);
    netbed b = netbed_make("dense 2, batchnorm", features3, mtj, NULL, &opt);
    xb_real before[4], moved[4] = {0};
    assert_int_equal(b.states, 4);
    memcpy(before, b.state, sizeof before);
    const xb_weights apart = {b.mu, b.sigma, b.state, moved},
                     in_place = {b.mu, b.sigma, b.state, b.state};
    assert_ok(b.ctx,
              xb_pass_forward(b.ctx, b.pass, b.y, b.x, 4, &apart, NULL, XB_MODE_TRAIN));
    assert_memory_equal(b.state, before, sizeof before);
    assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, b.y, b.x, 4, &in_place, NULL,
                                     XB_MODE_TRAIN));
    assert_memory_equal(b.state, moved, sizeof moved);
    for (int i = 0; i < 4; i++) assert_true(moved[i] != before[i]);
    netbed_free(&b);
}

static void assert_refused(xb_ctx *ctx, xb_status status, const char *says)
{
    assert_int_equal(status, XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(ctx), says);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_LOCAL, 2, NULL);
    netbed b = netbed_make("dense 2, batchnorm", features3, mtj, NULL, &opt);
    xb_weights w = {b.mu, b.sigma, b.state, b.state};
    xb_gradient g = {b.d_mu, b.d_sigma, NULL};
    xb_noise n = b.noise;
#define FORWARD(batch, weights, noise)                                                   \
    xb_pass_forward(b.ctx, b.pass, b.y, b.x, batch, weights, noise, XB_MODE_PREDICT)
    assert_refused(b.ctx, xb_pass_backward(b.ctx, b.pass, &g, b.dy),
                   "the backward pass needs a forward pass that was made for gradients");
    assert_refused(b.ctx, FORWARD(3, &w, NULL), "a batch of 3: this pass takes 0 to 2");
    assert_refused(b.ctx, FORWARD(-1, &w, NULL), "a batch of -1: this pass takes 0 to 2");
    assert_refused(b.ctx, FORWARD(1, &w, &n),
                   "estimator local needs the gaussian law, not mtj:B=0.15,w=0.5; shared "
                   "and example take any law");
    w.state = NULL;
    assert_refused(b.ctx, FORWARD(1, &w, NULL),
                   "the net has batchnorm and needs its state");
    w = (xb_weights){b.mu, b.sigma, b.state, NULL};
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 1, &w, NULL, XB_MODE_TRAIN),
                   "the net has batchnorm: training needs new_state to write to");
    assert_refused(b.ctx,
                   xb_pass_step(b.ctx, b.pass, &g, true, b.x, 1, &w, NULL, NULL, NULL),
                   "the net has batchnorm: training needs new_state to write to");
    w = (xb_weights){b.mu, NULL, b.state, b.state};
    assert_refused(b.ctx, FORWARD(1, &w, &n), "noise is given without sigma");
    assert_ok(b.ctx, FORWARD(0, &w, NULL));
    assert_ok(b.ctx, xb_pass_backward(b.ctx, b.pass, &g, b.dy));
#undef FORWARD
    netbed_free(&b);
}

/* A skewed law from samples: flipout and antithetic pairs are refused. */
static void laws_must_suit(void **state)
{
    (void)state;
    double sample[64];
    for (int i = 0; i < 64; i++) sample[i] = exp(2.0 * i / 64);
    xb_pass_options opt = options_of(XB_ESTIMATOR_FLIPOUT, 2, NULL);
    netbed b = netbed_make("dense 2", features3, NULL, NULL, &opt);
    xb_weights w = {b.mu, b.sigma, NULL, NULL};
    xb_law *law = NULL;
    assert_ok(b.ctx, xb_law_from_samples(b.ctx, &law, sample, 64));
    assert_ok(b.ctx, xb_sampler_create(b.ctx, &b.sampler, law, NULL));
    xb_noise n = {.sampler = b.sampler};
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN),
                   "estimator flipout needs a symmetric law, not empirical; shared and "
                   "example take any law");
    xb_pass_destroy(b.pass);
    opt.estimator = XB_ESTIMATOR_SHARED;
    assert_ok(b.ctx, xb_pass_create(b.ctx, &b.pass, b.net, &opt));
    assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN));
    n.antithetic = true;
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN),
                   "antithetic pairs need a symmetric law, not empirical");
    n = (xb_noise){.sampler = b.sampler, .first = -1};
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN),
                   "the first example is number -1, expected 0 to 2^34");
    n.first = XB_STREAM_MAX;
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN),
                   "example 17179869186 is beyond the noise that tensor 0.kernel has");
    xb_law_destroy(law);
    netbed_free(&b);
}

static void options_are_checked(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_net *net = NULL;
    xb_pass *pass = NULL;
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 2", features3, NULL));
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 2, "abacus");
    assert_refused(ctx, xb_pass_create(ctx, &pass, net, &opt),
                   "unknown backend 'abacus', expected cpu, cuda or auto");
    opt = options_of((xb_estimator)9, 2, NULL);
    assert_refused(ctx, xb_pass_create(ctx, &pass, net, &opt),
                   "unknown estimator number 9");
    opt = options_of(XB_ESTIMATOR_SHARED, 0, NULL);
    assert_refused(ctx, xb_pass_create(ctx, &pass, net, &opt),
                   "a batch of 0: expected 1 to 2^31 - 1");
    opt = options_of(XB_ESTIMATOR_EXAMPLE, 2, NULL);
    opt.group = 0;
    assert_refused(ctx, xb_pass_create(ctx, &pass, net, &opt),
                   "groups of 0 examples: expected 1 to 2^31 - 1");
    xb_net *wide = NULL;
    assert_ok(ctx,
              xb_net_parse(ctx, &wide, "elu", (xb_shape){1, 1 << 16, 1 << 15}, NULL));
    opt = options_of(XB_ESTIMATOR_SHARED, INT32_MAX, NULL);
    assert_int_equal(xb_pass_create(ctx, &pass, wide, &opt), XB_E_MEMORY);
    xb_net_destroy(wide);
    assert_ok(ctx, xb_net_parse(ctx, &wide, "dense 1000000, dense 1", features3, NULL));
    assert_int_equal(xb_pass_create(ctx, &pass, wide, &opt), XB_E_MEMORY);
    assert_string_equal(xb_ctx_message(ctx),
                        "a batch of 2147483647 is more than memory can hold");
    xb_net_destroy(wide);
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_estimator found;
        assert_ok(ctx,
                  xb_estimator_parse(ctx, &found, xb_estimator_name((xb_estimator)e)));
        assert_int_equal(found, e);
    }
    assert_int_equal(xb_estimator_parse(ctx, &(xb_estimator){0}, "locl"), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx),
                        "unknown estimator 'locl': expected shared, example, flipout or"
                        " local; did you mean 'local'?");
    opt = options_of(XB_ESTIMATOR_SHARED, 2, NULL);
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_status status = xb_pass_create(ctx, &pass, net, &opt);
        bool failed = fail_alloc_happened();
        assert_int_equal(status, failed ? XB_E_MEMORY : XB_OK);
        if (!failed) break;
        assert_null(pass);
    }
    assert_true(xb_pass_bytes(pass) > 0);
    xb_pass_destroy(pass);
    xb_pass_destroy(NULL);
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_in_parts_is_the_whole),
        cmocka_unit_test(gradients_of_pieces_are_those_of_parts),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(batchnorm_runs_its_statistics),
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(same_pads_as_tensorflow),
        cmocka_unit_test(not_a_number_shows),
        cmocka_unit_test(the_state_is_only_read),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(laws_must_suit),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
