/* Training and prediction on images: bytes where they lie give what floats give, a
 * stopped run goes on to the same bytes, a model of images comes back from its file. */
#include "scratch.h"

#include <math.h>

#include "crossbayes/studies.h"

enum { FACES = 120, SIDE = 8, PIXELS = SIDE * SIDE * 3 };

static const char NET[] = "conv 3, relu, maxpool 2, batchnorm momentum 0.9, flatten,"
                          " dense 1, sigmoid";

static xb_images *faces(xb_ctx *ctx)
{
    xb_images *images = NULL;
    assert_ok(ctx, xb_builtin_faces(ctx, &images, FACES, SIDE, 3));
    return images;
}

static xb_train_options options(void)
{
    xb_train_options o = xb_train_options_default();
    o.net = NET;
    o.noise_net = "conv 2 stride 4, relu, batchnorm momentum 0.9, flatten, dense 2,"
                  " batchnorm momentum 0.9, tanh, dense 1";
    o.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    o.input = (xb_shape){SIDE, SIDE, 3};
    o.target_sd = 116;
    o.batch = 20;
    o.mle_epochs = 3;
    o.epochs = 3;
    return o;
}

static bool same(const xb_model *a, const xb_model *b)
{
    xb_weights u = xb_model_weights(a), v = xb_model_weights(b);
    size_t n = (size_t)xb_net_param_count(xb_model_net(a)) * sizeof *u.mu;
    size_t states = (size_t)xb_net_state_count(xb_model_net(a)) * sizeof *u.state;
    return memcmp(u.mu, v.mu, n) == 0 && memcmp(u.sigma, v.sigma, n) == 0 &&
           memcmp(u.state, v.state, states) == 0;
}

static xb_model *train(xb_ctx *ctx, const xb_train_data *data, const xb_train_options *o)
{
    xb_model *model = NULL;
    assert_ok(ctx, xb_train(ctx, &model, NULL, data, o));
    return model;
}

static void bytes_are_as_good_as_floats(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_images *images = faces(ctx);
    const uint8_t *bytes = xb_images_bytes(images);
    static float scaled[FACES * PIXELS];
    static double plain[FACES * PIXELS];
    for (int i = 0; i < FACES * PIXELS; i++) {
        plain[i] = bytes[i] / 255.0;
        scaled[i] = (float)plain[i];
    }
    xb_train_options o = options();
    xb_train_data data = xb_train_data_of_images(images, NULL, 0);
    xb_model *a = train(ctx, &data, &o);
    data.bytes = NULL;
    data.scaled = scaled;
    xb_model *b = train(ctx, &data, &o);
    assert_true(same(a, b));
    assert_true(xb_model_of_images(a));
    xb_ctx_set_threads(ctx, 3);
    data = xb_train_data_of_images(images, NULL, 0);
    xb_model *c = train(ctx, &data, &o);
    assert_true(same(a, c));
    /* and so do predictions, whichever way rows come */
    enum { DRAWS = 3 };
    double value[3][DRAWS * FACES], sd[3][FACES];
    const xb_predict_options p = xb_predict_options_default();
    const xb_rows rows[3] = {
        {.bytes = bytes, .n = FACES, .features = PIXELS},
        {.scaled = scaled, .n = FACES, .features = PIXELS},
        {.x = plain, .n = FACES, .features = PIXELS},
    };
    for (int k = 0; k < 3; k++)
        assert_ok(ctx,
                  xb_predict_draws_rows(ctx, value[k], sd[k], a, &rows[k], 0, DRAWS, &p));
    for (int k = 1; k < 3; k++) {
        assert_memory_equal(value[0], value[k], sizeof value[0]);
        assert_memory_equal(sd[0], sd[k], sizeof sd[0]);
    }
    for (int i = 0; i < FACES; i++) /* ages, between 0 and 116 */
        assert_true(value[0][i] > 0 && value[0][i] < 116 && sd[0][i] > 0);
    xb_model_destroy(a);
    xb_model_destroy(b);
    xb_model_destroy(c);
    xb_images_destroy(images);
    xb_ctx_destroy(ctx);
}

/* The scores of an epoch on images held out, flipped images learnt from: bytes give what
 * floats give, also where a device has the bytes in its own memory. */
static void images_held_out_score_like_floats(void **state)
{
    (void)state;
    enum { HELD = 45 }; /* two batches and a part */
    xb_ctx *ctx = test_ctx();
    xb_images *images = faces(ctx);
    static float scaled[FACES * PIXELS];
    for (int i = 0; i < FACES * PIXELS; i++)
        scaled[i] = (float)(xb_images_bytes(images)[i] / 255.0);
    xb_train_options o = options();
    o.mirror = true;
    xb_train_data data = xb_train_data_of_images(images, NULL, 0);
    data.held = HELD;
    xb_model *model[2];
    xb_train_report *report[2];
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, xb_train(ctx, &model[k], &report[k], &data, &o));
        assert_int_equal(xb_train_report_held_count(report[k]), HELD);
        data.bytes = NULL;
        data.scaled = scaled;
    }
    const xb_table *a = xb_train_report_history(report[0]);
    const xb_table *b = xb_train_report_history(report[1]);
    const int64_t score = xb_table_column_find(a, "validation");
    assert_true(score >= 0);
    assert_int_equal(xb_table_row_count(a), xb_table_row_count(b));
    int scores = 0;
    for (int64_t i = 0; i < xb_table_row_count(a); i++) {
        const double x = xb_table_get(a, i, score), y = xb_table_get(b, i, score);
        assert_int_equal(isnan(x), isnan(y));
        if (!isnan(x)) assert_true(x == y);
        scores += !isnan(x);
    }
    assert_int_equal(scores, o.epochs);
    assert_true(same(model[0], model[1]));
    for (int k = 0; k < 2; k++) {
        xb_model_destroy(model[k]);
        xb_train_report_destroy(report[k]);
    }
    xb_images_destroy(images);
    xb_ctx_destroy(ctx);
}

/* A selection is the same as the rows copied together. */
static void a_selection_is_a_smaller_set(void **state)
{
    (void)state;
    enum { FEW = 40 };
    xb_ctx *ctx = test_ctx();
    xb_images *images = faces(ctx);
    int64_t select[FEW];
    static uint8_t bytes[FEW * PIXELS];
    double age[FEW];
    for (int i = 0; i < FEW; i++) {
        select[i] = (7 * i + 3) % FACES;
        memcpy(bytes + i * PIXELS, xb_images_bytes(images) + select[i] * PIXELS, PIXELS);
        age[i] = xb_images_target(images)[select[i]];
    }
    xb_train_options o = options();
    xb_train_data picked = xb_train_data_of_images(images, select, FEW);
    picked.held = 10;
    xb_train_data copied = {
        .bytes = bytes, .y = age, .n = FEW, .features = PIXELS, .held = 10};
    xb_model *a = train(ctx, &picked, &o), *b = train(ctx, &copied, &o);
    assert_true(same(a, b));
    copied.held = 0;
    xb_model *c = train(ctx, &copied, &o);
    assert_false(same(a, c)); /* what is held out is not learnt from */
    copied.held = FEW;
    xb_model *d = NULL;
    assert_int_equal(xb_train(ctx, &d, NULL, &copied, &o), XB_E_ARGUMENT);
    xb_model_destroy(a);
    xb_model_destroy(b);
    xb_model_destroy(c);
    xb_images_destroy(images);
    xb_ctx_destroy(ctx);
}

static bool stop_at(void *arg, const xb_progress *event)
{
    return event->done != *(const int64_t *)arg;
}

static void a_stopped_run_ends_in_the_same_bytes(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_images *images = faces(ctx);
    xb_train_options o = options();
    xb_train_data data = xb_train_data_of_images(images, NULL, 0);
    xb_model *whole = train(ctx, &data, &o), *parts = NULL;
    o.checkpoint = scratch_path(&s, "c");
    o.checkpoint_seconds = 1e9;
    o.resume = true;
    for (int64_t stop = 7; stop < 36; stop += 13) { /* 36 steps in all */
        xb_ctx_set_progress(ctx, stop_at, &stop);
        assert_int_equal(xb_train(ctx, &parts, NULL, &data, &o), XB_E_CANCELLED);
    }
    xb_ctx_set_progress(ctx, NULL, NULL);
    parts = train(ctx, &data, &o);
    assert_true(same(whole, parts));
    xb_model *again = train(ctx, &data, &o); /* all done: at once */
    assert_true(same(whole, again));
    xb_model_destroy(whole);
    xb_model_destroy(parts);
    xb_model_destroy(again);
    xb_images_destroy(images);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

/* Phase 1 in one call, phase 2 in another from its model: the same means to start. */
static void a_model_starts_another(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_images *images = faces(ctx);
    xb_train_options o = options();
    xb_train_data data = xb_train_data_of_images(images, NULL, 0);
    xb_model *whole = train(ctx, &data, &o);
    o.epochs = 0;
    xb_model *first = train(ctx, &data, &o);
    o.mle_epochs = 0;
    o.epochs = 3;
    o.start = first;
    xb_model *second = train(ctx, &data, &o);
    assert_true(same(whole, second));
    o.net = "flatten, dense 1";
    xb_model *other = NULL;
    assert_int_equal(xb_train(ctx, &other, NULL, &data, &o), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "cannot start from"));
    xb_model_destroy(whole);
    xb_model_destroy(first);
    xb_model_destroy(second);
    xb_images_destroy(images);
    xb_ctx_destroy(ctx);
}

static void a_model_of_images_comes_back(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_images *images = faces(ctx);
    xb_train_options o = options();
    xb_train_data data = xb_train_data_of_images(images, NULL, 0);
    xb_model *model = train(ctx, &data, &o), *back = NULL;
    assert_ok(ctx, xb_model_save(ctx, model, scratch_path(&s, "m.safetensors")));
    assert_ok(ctx, xb_model_load(ctx, &back, s.path));
    assert_true(same(model, back));
    assert_true(xb_model_of_images(back));
    assert_int_equal(xb_model_feature_count(back), PIXELS);
    assert_string_equal(xb_model_feature_name(back, 5), "");
    assert_close(xb_model_input_sd(back)[PIXELS - 1], 1, 0);
    assert_close(xb_model_target_sd(back), 116, 0);
    assert_string_equal(xb_model_target_name(back), "age");
    xb_model_destroy(model);
    xb_model_destroy(back);
    xb_images_destroy(images);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Of symmetric pictures a mirror changes nothing; of others it does. */
static void a_mirror_turns_left_to_right(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_images *images = faces(ctx);
    static uint8_t bytes[FACES * PIXELS];
    for (int i = 0; i < FACES * SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            int from = j < SIDE / 2 ? j : SIDE - 1 - j;
            memcpy(bytes + (i * SIDE + j) * 3,
                   xb_images_bytes(images) + (i * SIDE + from) * 3, 3);
        }
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        xb_train_options o = options();
        xb_train_data data = xb_train_data_of_images(images, NULL, 0);
        if (symmetric) data.bytes = bytes;
        xb_model *a = train(ctx, &data, &o);
        o.mirror = true;
        xb_model *b = train(ctx, &data, &o);
        assert_int_equal(same(a, b), symmetric);
        xb_model_destroy(a);
        xb_model_destroy(b);
    }
    xb_images_destroy(images);
    xb_ctx_destroy(ctx);
}

static void inputs_of_two_kinds_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_images *images = faces(ctx);
    xb_train_options o = options();
    xb_train_data data = xb_train_data_of_images(images, NULL, 0);
    xb_model *model = NULL;
    static float scaled[FACES * PIXELS];
    data.scaled = scaled;
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &o), XB_E_ARGUMENT);
    data.bytes = NULL;
    scaled[PIXELS + 4] = INFINITY;
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &o), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "row 2, feature 5 is not finite"));
    data = xb_train_data_of_images(images, NULL, 0);
    o.target_sd = -1;
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &o), XB_E_ARGUMENT);
    xb_images_destroy(images);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_good_as_floats),
        cmocka_unit_test(images_held_out_score_like_floats),
        cmocka_unit_test(a_selection_is_a_smaller_set),
        cmocka_unit_test(a_stopped_run_ends_in_the_same_bytes),
        cmocka_unit_test(a_model_starts_another),
        cmocka_unit_test(a_model_of_images_comes_back),
        cmocka_unit_test(a_mirror_turns_left_to_right),
        cmocka_unit_test(inputs_of_two_kinds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
