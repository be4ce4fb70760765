/* test_train_step.c: one step of training: the objective and its weights against sums
 * written out here, gradients by differences, no allocation, fair shuffles. */
#include "traintest.h"

#include "failalloc.h"
#include "vi/trainer.h"

static xb_trainer *make_trainer(xb_ctx *ctx, xb_model **model, const rows *r,
                                xb_train_options opt)
{
    xb_train_data data = rows_data(r, false);
    xb_trainer *t = NULL;
    xb_net_options random = xb_net_options_default();
    random.stochastic = opt.stochastic;
    assert_ok(ctx, xb_model_new(ctx, model));
    (*model)->likelihood = XB_LIKELIHOOD_GAUSSIAN;
    (*model)->prior = xb_train_prior(&opt, (*model)->likelihood);
    assert_ok(ctx, xb_model_fit_columns(ctx, *model, &data, &opt));
    assert_ok(ctx, xb_net_parse(ctx, &(*model)->net, opt.net, (xb_shape){1, 1, COLUMNS},
                                &random));
    assert_ok(ctx, xb_law_parse(ctx, &(*model)->law, "gaussian"));
    assert_ok(ctx, xb_trainer_build(ctx, &t, *model, &data, &opt));
    xb_trainer_start_weights(t);
    return t;
}

/* F/N written out: nothing shared with the step but the forward pass. The KL of a
 * normal weight to N(0, s^2), in units of s: (sigma^2 + mu^2 - 1)/2 - log sigma, once for
 * all rows; s = sqrt(2 / inputs), 3 and 4 of them. */
static double objective(xb_trainer *t, double temperature)
{
    const double half_log_two_pi = 0.91893853320467274;
    double kl = 0, log_p = 0, log_sd = (double)t->theta[t->noise];
    xb_trainer_fill_sigma(t);
    for (int k = 0; k < xb_net_tensor_count(t->model->net); k++) {
        const xb_tensor *w = xb_net_tensor_at(t->model->net, k);
        double inputs = k < 2 ? COLUMNS : 4, prior = sqrt(2 / inputs); /* (V14) */
        for (int64_t i = w->offset; w->stochastic && i < w->offset + w->size; i++) {
            double s = (double)t->sigma[i] / prior, m = (double)t->theta[i] / prior;
            kl += 0.5 * (s * s + m * m - 1) - log(s);
        }
    }
    const xb_weights weights = {t->theta, t->sigma, t->state, t->state};
    const xb_noise noise = {.sampler = t->sampler, .key = t->noise_key};
    int64_t batch = xb_trainer_gather(t, 0);
    assert_ok(t->ctx, xb_pass_forward(t->ctx, t->pass, t->out, t->bx, batch, &weights,
                                      &noise, XB_MODE_TRAIN));
    for (int64_t i = 0; i < batch; i++) {
        double e = ((double)t->by[i] - (double)t->out[i]) / exp(log_sd);
        log_p -= 0.5 * e * e + log_sd + half_log_two_pi;
    }
    double n = (double)ROWS;
    return (-(n / (double)batch) * log_p / temperature + kl) / n;
}

/* The gradient that Adam gets, for every kind of parameter, against differences of F.
 * Passes are in single precision: a step of 1e-2 leaves about 1e-4. */
static void gradient_is_that_of_f(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    xb_train_options opt = quick_options();
    opt.net = "dense 4, tanh, dense 1";
    opt.sigma = 0.2;
    opt.temperature = (xb_schedule){.kind = XB_SCHEDULE_CONSTANT, .value = 0.7};
    opt.batch = 30;
    xb_model *model = NULL;
    xb_trainer *t = make_trainer(ctx, &model, &r, opt);
    assert_ok(ctx, xb_trainer_start_vi(t));
    t->place.phase = XB_PHASE_VI;
    int64_t n = t->n_theta;
    float *start = malloc((size_t)n * sizeof *start);
    memcpy(start, t->theta, (size_t)n * sizeof *start);
    double f = objective(t, 0.7);
    assert_ok(ctx, xb_trainer_move(t));
    assert_close(t->sums.f / ROWS, f, 1e-6);
    int checked = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t j = i - t->rho, k = i - t->noise;
        bool random =
            i < t->p || (j >= 0 && j < t->p && t->sigma[j] > 0) || (k >= 0 && k < t->q);
        if (!random) continue;
        const float h = 1e-2f;
        memcpy(t->theta, start, (size_t)n * sizeof *start);
        t->theta[i] = start[i] + h;
        double above = objective(t, 0.7);
        t->theta[i] = start[i] - h;
        double slope = (above - objective(t, 0.7)) / (2 * (double)h);
        assert_close_floor((double)t->gradient[i], slope, 2e-3, 0.1);
        checked++;
    }
    assert_true(checked > 30);
    free(start);
    xb_trainer_destroy(t);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* (V11) The noise of phase 2 starts at the root mean square of what phase 1 leaves. */
static void noise_starts_at_what_is_left(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    xb_train_options opt = quick_options();
    opt.batch = ROWS;
    xb_model *model = NULL;
    xb_trainer *t = make_trainer(ctx, &model, &r, opt);
    assert_ok(ctx, xb_trainer_start_vi(t));
    const xb_weights weights = {t->theta, NULL, t->state, NULL};
    xb_trainer_take(t, 0, ROWS);
    assert_ok(ctx, xb_pass_forward(ctx, t->pass, t->out, t->bx, ROWS, &weights, NULL,
                                   XB_MODE_PREDICT));
    double square = 0;
    for (int i = 0; i < ROWS; i++) {
        double e = (double)t->by[i] - (double)t->out[i];
        square += e * e / ROWS;
    }
    assert_true(fabs(square - 1) > 0.1); /* or a square root would not be seen */
    assert_close(exp((double)t->theta[t->noise]), sqrt(square), 1e-5);
    xb_trainer_destroy(t);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* Targets in a unit of the caller's own: their spread is kept, for what is in units of
 * it. */
static void a_scale_of_ones_own(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    xb_train_options opt = quick_options();
    xb_model *model = NULL;
    double sd[2];
    for (int k = 0; k < 2; k++) {
        opt.target_sd = k ? 5 : 0;
        xb_trainer *t = make_trainer(ctx, &model, &r, opt);
        sd[k] = model->y_sd[0];
        assert_close(model->target_spread[0], k ? sd[0] / 5 : 1, 1e-14);
        xb_trainer_destroy(t);
        xb_model_destroy(model);
        model = NULL;
    }
    assert_true(sd[1] == 5);
    xb_ctx_destroy(ctx);
}

/* Steps of both phases take no memory: the first allocation would fail. */
static void steps_do_not_allocate(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    rows r = make_rows(false);
    xb_model *model = NULL;
    xb_train_options opt = quick_options();
    opt.net = "dense 8, batchnorm, elu, dense 1";
    opt.validation = 0.2;
    xb_trainer *t = make_trainer(ctx, &model, &r, opt);
    xb_shuffle(t->order, t->n, t->data_key, 0, 0);
    fail_alloc_after(0);
    for (int i = 0; i < 5; i++) assert_ok(ctx, xb_trainer_move(t));
    assert_ok(ctx, xb_trainer_start_vi(t));
    t->place.phase = XB_PHASE_VI;
    double score = 0;
    for (int i = 0; i < 5; i++) assert_ok(ctx, xb_trainer_move(t));
    assert_ok(ctx, xb_trainer_validate(t, &score));
    assert_false(fail_alloc_happened());
    assert_true(isfinite(score));
    xb_trainer_destroy(t);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

static void shuffle_is_a_fair_permutation(void **state)
{
    (void)state;
    enum { N = 5, TIMES = 4000 };
    int count[N][N] = {{0}};
    for (uint32_t epoch = 0; epoch < TIMES; epoch++) {
        int32_t order[N];
        bool seen[N] = {false};
        xb_shuffle(order, N, xb_key_make(1, XB_PURPOSE_DATA), 0, epoch);
        for (int i = 0; i < N; i++) {
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
            count[i][order[i]]++;
        }
    }
    /* each cell binomial, sd 25: five of them, false alarm below 1e-5 */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) assert_close(count[i][j], TIMES / 5.0, 0.16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_that_of_f),
        cmocka_unit_test(noise_starts_at_what_is_left),
        cmocka_unit_test(a_scale_of_ones_own),
        cmocka_unit_test(steps_do_not_allocate),
        cmocka_unit_test(shuffle_is_a_fair_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
