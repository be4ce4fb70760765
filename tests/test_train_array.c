/* test_train_array.c: training for an array (maths V60, V61): nets with converters
 * against the same numbers rounded by hand, their straight-through gradients written out
 * in double, weights as they would be written; what an array says of itself to training;
 * that it is worth it. And the penalty that keeps n_eff large (V62): its gradient by
 * central differences, what it does, and that a run that was stopped goes on the same. */
#include "arraytest.h"

#include "backend/host.h"
#include "crossbar/analog.h"
#include "crossbayes/plan.h"
#include "net/rounded.h"
#include "run/pass.h"
#include "vi/trainer.h"

/* ---- nets with converters */

enum { BATCH = 9, IN = 4, HIDDEN = 6, W1 = IN * HIDDEN, WEIGHTS = W1 + 2 * HIDDEN + 1 };

static void round_all(double *to, const float *from, int n, int bits)
{
    double most = 0, low = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs((double)from[i]));
        low = fmin(low, (double)from[i]);
    }
    const double steps = pow(2, bits - (low < 0 ? 1 : 0)) - 1;
    for (int i = 0; i < n; i++)
        to[i] = rint((double)from[i] / most * steps) * most / steps;
}

static void round_again(double *x, int n, int bits)
{
    float copy[BATCH * HIDDEN];
    for (int i = 0; i < n; i++) copy[i] = (float)x[i];
    round_all(x, copy, n, bits);
}

/* y and the gradient by the weights for dy, with rounding taken as the identity: for
 * dense 6, relu, dense 1 with weights w = [W1][b1][W2][b2]. */
static void by_hand(double *y, double *dw, const float *x, const float *w,
                    const float *dy, int in_bits, int out_bits)
{
    double a[BATCH * IN], h[BATCH * HIDDEN], u[BATCH * HIDDEN];
    const float *b1 = w + W1, *w2 = b1 + HIDDEN, *b2 = w2 + HIDDEN;
    round_all(a, x, BATCH * IN, in_bits);
    for (int n = 0; n < BATCH; n++)
        for (int j = 0; j < HIDDEN; j++) {
            h[n * HIDDEN + j] = (double)b1[j];
            for (int i = 0; i < IN; i++)
                h[n * HIDDEN + j] += a[n * IN + i] * (double)w[i * HIDDEN + j];
        }
    round_again(h, BATCH * HIDDEN, out_bits);
    for (int i = 0; i < BATCH * HIDDEN; i++) u[i] = fmax(h[i], 0);
    round_again(u, BATCH * HIDDEN, in_bits);
    for (int n = 0; n < BATCH; n++) {
        y[n] = (double)b2[0];
        for (int j = 0; j < HIDDEN; j++) y[n] += u[n * HIDDEN + j] * (double)w2[j];
    }
    round_again(y, BATCH, out_bits);
    for (int i = 0; i < WEIGHTS; i++) dw[i] = 0;
    for (int n = 0; n < BATCH; n++) {
        const double d = (double)dy[n];
        dw[WEIGHTS - 1] += d;
        for (int j = 0; j < HIDDEN; j++) {
            const double back = h[n * HIDDEN + j] > 0 ? d * (double)w2[j] : 0;
            dw[W1 + HIDDEN + j] += d * u[n * HIDDEN + j];
            dw[W1 + j] += back;
            for (int i = 0; i < IN; i++) dw[i * HIDDEN + j] += back * a[n * IN + i];
        }
    }
}

static void gradients_go_straight_through(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_net *net = NULL, *rounded = NULL;
    xb_net_options opt = xb_net_options_default();
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 6, relu, dense 1", (xb_shape){1, 1, IN},
                                &opt));
    assert_ok(ctx, xb_net_rounded(ctx, &rounded, net, 4, 5));
    assert_int_equal(rounded->n_layer, 7); /* in, dense, out, relu, in, dense, out */
    assert_int_equal(xb_net_param_count(rounded), WEIGHTS);
    assert_int_equal(xb_net_rounded_layer(rounded, 5), 2);
    xb_pass_options po = xb_pass_options_default();
    po.batch = BATCH;
    xb_pass *pass = NULL;
    assert_ok(ctx, xb_pass_create(ctx, &pass, rounded, &po));
    float x[BATCH * IN], w[WEIGHTS], dy[BATCH], y[BATCH], dw[WEIGHTS] = {0};
    const xb_stream where = {.key = xb_key_make(8, XB_PURPOSE_TEST)};
    for (int i = 0; i < BATCH * IN; i++)
        x[i] = (float)(2 * xb_stream_uniform(&where, i) - 1);
    for (int i = 0; i < WEIGHTS; i++)
        w[i] = (float)(2 * xb_stream_uniform(&where, 1000 + i) - 1);
    for (int i = 0; i < BATCH; i++) dy[i] = (float)(i - 4) / 3;
    const xb_weights weights = {w, NULL, NULL, NULL};
    const xb_gradient gradient = {dw, NULL, NULL};
    assert_ok(ctx,
              xb_pass_forward(ctx, pass, y, x, BATCH, &weights, NULL, XB_MODE_TRAIN));
    assert_ok(ctx, xb_pass_backward(ctx, pass, &gradient, dy));
    double want[BATCH], slope[WEIGHTS];
    by_hand(want, slope, x, w, dy, 4, 5);
    for (int i = 0; i < BATCH; i++) assert_close_floor((double)y[i], want[i], 1e-6, 1);
    for (int i = 0; i < WEIGHTS; i++)
        assert_close_floor((double)dw[i], slope[i], 1e-5, 1);
    xb_pass_destroy(pass);
    xb_net_destroy(rounded);
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

/* ---- weights as they are written */

static void weights_are_written(void **state)
{
    (void)state;
    enum { N = 5000 };
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    xb_sampler *normal = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &normal, law, NULL));
    static float mu[N], sigma[N], to[N], wide[N];
    for (int i = 0; i < N; i++) {
        mu[i] = (float)(2.0 * i / (N - 1) - 1) * 3; /* -3 to 3 */
        sigma[i] = (float)(i + 1) / N;
    }
    xb_written_block w = {to, wide, mu, sigma, N, 6, 0, 0.25, normal, {.tensor = 1}};
    xb_host_written(&xb_backend_host, ctx, &w);
    for (int i = 0; i < N; i++) { /* steps of 0.5 */
        assert_close_floor((double)to[i], 0.5 * rint((double)mu[i] / 0.5), 1e-6, 1);
        assert_close((double)wide[i], fmax((double)sigma[i], 0.25), 1e-6);
    }
    w.levels = 0, w.error = 0.1; /* 0.3 */
    xb_host_written(&xb_backend_host, ctx, &w);
    double sum = 0, square = 0;
    for (int i = 0; i < N; i++) {
        const double off = (double)to[i] - (double)mu[i];
        sum += off / N, square += off * off / N;
    }
    assert_at_most(fabs(sum), 5 * 0.3 / sqrt(N));
    assert_close(sqrt(square), 0.3, 5 / sqrt(2.0 * N));
    xb_sampler_destroy(normal);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* The numbers of an array against what writing weights onto it does. */
static void an_array_tells_training(void **state)
{
    (void)state;
    enum { SIDE = 60, N = SIDE * 50 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 50, relu, dense 1", (xb_shape){1, 1, SIDE}, 0, 0);
    double *x = net_inputs(m, 2);
    for (int k = 0; k < 6; k++) {
        xb_array a = test_array("mtj");
        a.rows = a.columns = 0, a.line_ohm = 0, a.stuck_low = a.stuck_high = 0;
        a.offset_columns = k % 2, a.mean_levels = k < 2 ? 0 : 8;
        a.weight_slices = k < 4 ? 1 : 2, a.dac_bits = a.adc_bits = 0;
        a.program_error = 0.005;
        xb_train_array t;
        xb_array_training(&a, &t);
        xb_analog *an = test_analog(ctx, m, &a, x, 2);
        double top = an->layer[0].weight_top, square = 0;
        for (int i = 0; i < N; i++) {
            double now = (double)an->mu[i];
            const xb_plane *plane = an->layer[0].plane;
            for (int64_t s = 1; s < an->layer[0].planes; s++)
                now += (double)plane[s].mean[i];
            if (plane && plane[0].reference) /* where it was meant to be, exactly */
                for (int64_t s = 0; s < an->layer[0].planes; s++) {
                    const double middle = k < 2 ? 87.5
                                                : 50 + 75 *
                                                           (s == 0  ? 4
                                                            : k < 4 ? 4
                                                                    : 0) /
                                                           7.0;
                    now -= middle / plane[s].us_per_weight;
                }
            const double step = t.levels > 0 ? top / (double)t.levels : 0;
            const double want =
                step > 0 ? step * rint((double)m->mu[i] / step) : (double)m->mu[i];
            square += pow(now - want, 2) / N;
        }
        assert_close(sqrt(square), t.error * top, 5 / sqrt(2.0 * N));
        assert_close(t.floor, 0.1, 1e-12);
        xb_analog_destroy(an);
    }
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- what it is worth */

enum { WAVES = 200 };

/* y = sin 2 pi x with little noise: what few bits lose is seen. */
static void make_waves(double *x, double *y)
{
    const xb_stream where = {.key = xb_key_make(6, XB_PURPOSE_TEST)};
    for (int i = 0; i < WAVES; i++) {
        x[i] = 2 * xb_stream_uniform(&where, 2 * i) - 1;
        y[i] = sin(2 * M_PI * x[i]) + 0.1 * (xb_stream_uniform(&where, 2 * i + 1) - 0.5);
    }
}

/* NLL of predictions with 50 reads. */
static double nll_on(xb_ctx *ctx, const xb_model *m, const xb_array *array,
                     const double *x, const double *y)
{
    enum { READS = 50 };
    double *value = test_reads(ctx, m, array, x, WAVES, 0, READS), sum = 0;
    const double sd = xb_model_noise_sd(m);
    for (int i = 0; i < WAVES; i++) {
        double density = 0;
        for (int s = 0; s < READS; s++)
            density += exp(-0.5 * pow((value[s * WAVES + i] - y[i]) / sd, 2)) /
                       (sd * sqrt(2 * M_PI) * READS);
        sum -= log(fmax(density, 1e-30)) / WAVES;
    }
    free(value);
    return sum;
}

/* (V60) One ADC bit more than the array has, within what training takes; none stays none.
 */
static void training_has_a_bit_more(void **state)
{
    (void)state;
    static const int64_t bits[][2] = {{0, 0}, {4, 5}, {19, 20}, {20, 20}};
    for (int i = 0; i < XB_COUNT(bits); i++) {
        xb_array array = test_array("ideal");
        xb_train_array known;
        array.dac_bits = 6, array.adc_bits = bits[i][0];
        xb_array_training(&array, &known);
        assert_int_equal(known.adc_bits, bits[i][1]);
        assert_int_equal(known.dac_bits, 6);
    }
}

/* Converters of 4 bits: a net that was trained for them loses less. */
static void training_for_the_array_pays(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double x[WAVES], y[WAVES], nll[2] = {0};
    make_waves(x, y);
    const xb_train_data data = {.x = x, .y = y, .n = WAVES, .features = 1};
    xb_array array = test_array("ideal");
    array.dac_bits = 8, array.adc_bits = 4;
    xb_train_array known;
    xb_array_training(&array, &known);
    xb_train_options opt = quick_options();
    opt.net = "dense 16, relu, dense 16, relu, dense 1";
    opt.mle_epochs = opt.epochs = 300;
    for (int k = 0; k < 2; k++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            xb_model *m = NULL;
            opt.seed = seed;
            opt.array = k ? &known : NULL;
            assert_ok(ctx, xb_train(ctx, &m, NULL, &data, &opt));
            nll[k] += nll_on(ctx, m, &array, x, y) / 3;
            xb_model_destroy(m);
        }
    assert_true(nll[1] < nll[0] - 0.3);
    xb_ctx_destroy(ctx);
}

static void the_same_for_any_threads(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const xb_train_array known = {4, 5, 15, 0.02, 0.1};
    xb_train_options opt = quick_options();
    opt.array = &known;
    opt.n_eff_penalty = 0.01;
    xb_ctx_set_threads(ctx, 1);
    xb_model *one = train_model(ctx, &opt, false, NULL);
    xb_ctx_set_threads(ctx, 3);
    xb_model *three = train_model(ctx, &opt, false, NULL);
    assert_true(same_numbers(one, three));
    assert_non_null(strstr(xb_model_settings(one), "\"adc_bits\""));
    opt.array = NULL;
    xb_model *plain = train_model(ctx, &opt, false, NULL);
    assert_false(same_numbers(one, plain));
    xb_model_destroy(plain);
    xb_model_destroy(one);
    xb_model_destroy(three);
    xb_ctx_destroy(ctx);
}

static void wrong_arrays_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    const xb_train_data data = rows_data(&r, false);
    static const xb_train_array wrong[] = {
        {.adc_bits = 1}, {.dac_bits = 21}, {.levels = -1}, {.error = NAN}, {.floor = 2}};
    for (int i = 0; i < XB_COUNT(wrong); i++) {
        xb_train_options opt = quick_options();
        xb_model *m = NULL;
        opt.array = &wrong[i];
        assert_int_equal(xb_train(ctx, &m, NULL, &data, &opt), XB_E_ARGUMENT);
        assert_non_null(strstr(xb_ctx_message(ctx), "training for"));
        assert_null(m);
    }
    xb_ctx_destroy(ctx);
}

/* ---- n_eff */

static void the_penalty_has_its_gradient(void **state)
{
    (void)state;
    enum { N = 7 };
    float sigma[N], slope[N];
    double v[N];
    for (int i = 0; i < N; i++) {
        sigma[i] = 0.1F * (float)(1 + i % 3);
        v[i] = 1 + 0.7 * i;
    }
    const double weight = 0.3;
    const double n = xb_sharing_gradient(slope, sigma, v, N, weight);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        const double a = pow((double)sigma[i], 2) * v[i];
        sum += a, squares += a * a;
    }
    assert_close(n, sum * sum / squares, 1e-12);
    for (int i = 0; i < N; i++) {
        const float middle = sigma[i], h = 1e-3F;
        sigma[i] = middle + h;
        const double up = -weight * log(xb_sharing_gradient(NULL, sigma, v, N, 0));
        sigma[i] = middle - h;
        const double down = -weight * log(xb_sharing_gradient(NULL, sigma, v, N, 0));
        sigma[i] = middle;
        assert_close_floor((double)slope[i], (up - down) / (2 * (double)h), 2e-3, 0.1);
    }
}

/* At equal shares there is nothing to gain. */
static void equal_shares_stay(void **state)
{
    (void)state;
    const float sigma[] = {0.5F, 0.25F, 1};
    const double v[] = {4, 16, 1};
    float slope[3];
    assert_close(xb_sharing_gradient(slope, sigma, v, 3, 1), 3, 1e-12);
    for (int i = 0; i < 3; i++) assert_at_most(fabs((double)slope[i]), 1e-6);
}

/* (V62) Of all rows, at the means: gradients row by row. */
static double n_eff_of(xb_ctx *ctx, const xb_model *m, const rows *r)
{
    enum { MOST = 256 };
    const xb_weights w = xb_model_weights(m), weights = {w.mu, NULL, NULL, NULL};
    const int64_t n = xb_net_param_count(m->net);
    double v[MOST] = {0}, sum = 0, squares = 0;
    xb_pass *pass = NULL;
    assert_true(n <= MOST);
    assert_ok(ctx, xb_pass_create(ctx, &pass, m->net, NULL));
    for (int i = 0; i < ROWS; i++) {
        float x[COLUMNS], y, one = 1, d[MOST] = {0};
        const xb_gradient gradient = {d, NULL, NULL};
        xb_model_scale_inputs(m, x, r->x + i * COLUMNS, 1);
        assert_ok(ctx,
                  xb_pass_forward(ctx, pass, &y, x, 1, &weights, NULL, XB_MODE_TRAIN));
        assert_ok(ctx, xb_pass_backward(ctx, pass, &gradient, &one));
        for (int64_t k = 0; k < n; k++) v[k] += (double)d[k] * (double)d[k] / ROWS;
    }
    xb_pass_destroy(pass);
    for (int64_t k = 0; k < n; k++) {
        const double a = (double)w.sigma[k] * (double)w.sigma[k] * v[k];
        sum += a, squares += a * a;
    }
    return sum * sum / squares;
}

static void the_penalty_shares_the_variance(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    xb_train_options opt = quick_options();
    opt.net = "dense 16, relu, dense 1";
    opt.epochs = 300;
    xb_model *plain = train_model(ctx, &opt, false, NULL);
    opt.n_eff_penalty = 1;
    xb_model *shared = train_model(ctx, &opt, false, NULL);
    assert_true(n_eff_of(ctx, shared, &r) > 1.1 * n_eff_of(ctx, plain, &r));
    xb_model_destroy(plain);
    xb_model_destroy(shared);
    xb_ctx_destroy(ctx);
}

static void a_stopped_run_goes_on(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    const rows r = make_rows(false);
    const xb_train_data data = rows_data(&r, false);
    const xb_train_array known = {.adc_bits = 5, .error = 0.02};
    xb_train_options opt = quick_options();
    opt.n_eff_penalty = 0.05;
    opt.array = &known;
    xb_trainer *whole = NULL, *again = NULL;
    assert_ok(ctx, xb_trainer_create(ctx, &whole, &data, &opt));
    for (int i = 0; i < 25; i++) assert_ok(ctx, xb_trainer_epoch(ctx, whole));
    const char *path = scratch_path(&s, "run.checkpoint");
    assert_ok(ctx, xb_trainer_save(ctx, whole, path));
    assert_ok(ctx, xb_trainer_create(ctx, &again, &data, &opt));
    assert_ok(ctx, xb_trainer_resume(ctx, again, path));
    xb_trainer *const both[] = {whole, again};
    xb_model *model[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        while (!xb_trainer_done(both[k])) assert_ok(ctx, xb_trainer_epoch(ctx, both[k]));
        assert_ok(ctx, xb_trainer_model(ctx, &model[k], both[k]));
        xb_trainer_destroy(both[k]);
    }
    assert_true(same_numbers(model[0], model[1]));
    xb_model_destroy(model[0]);
    xb_model_destroy(model[1]);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_go_straight_through),
        cmocka_unit_test(weights_are_written),
        cmocka_unit_test(an_array_tells_training),
        cmocka_unit_test(training_has_a_bit_more),
        cmocka_unit_test(training_for_the_array_pays),
        cmocka_unit_test(the_same_for_any_threads),
        cmocka_unit_test(wrong_arrays_are_refused),
        cmocka_unit_test(the_penalty_has_its_gradient),
        cmocka_unit_test(equal_shares_stay),
        cmocka_unit_test(the_penalty_shares_the_variance),
        cmocka_unit_test(a_stopped_run_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
