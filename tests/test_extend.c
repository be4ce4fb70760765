/* What a library on top of this one is written with (crossbayes/extend.h), and what is
 * made from arrays: models, images. */
#include "scratch.h"
#include "failalloc.h"

#include <math.h>

#include "crossbayes/extend.h"
#include "data/images.h"

static void a_failure_has_its_line(void **state)
{
    xb_ctx *ctx = *state;
    assert_int_equal(xb_fail(ctx, XB_E_INPUT, "%s:%d: odd\nline", "a.csv", 7),
                     XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx), "a.csv:7: odd line");
}

static bool count_events(void *arg, const xb_progress *event)
{
    *(int64_t *)arg += event->done;
    return event->done < 3;
}

static void a_listener_can_be_wrapped(void **state)
{
    xb_ctx *ctx = *state;
    int64_t sum = 0;
    void *arg = NULL;
    xb_ctx_set_progress(ctx, count_events, &sum);
    assert_true(xb_ctx_progress(ctx, &arg) == count_events && arg == &sum);
    assert_int_equal(xb_progress_tell(ctx, "adding", 2, 3), XB_OK);
    assert_int_equal(xb_progress_tell(ctx, "adding", 3, 3), XB_E_CANCELLED);
    assert_int_equal(sum, 5);
    xb_ctx_set_progress(ctx, NULL, NULL);
    assert_true(xb_ctx_progress(ctx, &arg) == NULL);
}

static void a_file_hashes_as_its_bytes(void **state)
{
    xb_ctx *ctx = *state;
    scratch s = scratch_make();
    uint64_t hash = 5;
    int64_t bytes = 0;
    const char *path = scratch_write(&s, "a.txt", "abcdefghij", 10);
    assert_int_equal(xb_file_hash(ctx, &hash, &bytes, path), XB_OK);
    assert_int_equal(bytes, 10);
    assert_true(hash == xb_hash_bytes(5, "abcdefghij", 10));
    assert_int_equal(scratch_remove(&s), 1);
}

/* ---- images */

enum { N = 3, SIDE = 2, CHANNELS = 3, IMAGE = SIDE * SIDE * CHANNELS };

static void images_come_from_arrays(void **state)
{
    xb_ctx *ctx = *state;
    uint8_t bytes[N * IMAGE];
    const double target[N] = {1, 2, 1};
    for (int i = 0; i < N * IMAGE; i++) bytes[i] = (uint8_t)(i % (2 * IMAGE));
    xb_images *m = NULL;
    assert_ok(ctx,
              xb_images_create(ctx, &m, bytes, N, SIDE, SIDE, CHANNELS, target, "age"));
    assert_int_equal(xb_images_count(m), N);
    assert_memory_equal(xb_images_bytes(m), bytes, sizeof bytes);
    assert_memory_equal(xb_images_target(m), target, sizeof target);
    assert_string_equal(xb_images_target_name(m), "age");
    assert_true(xb_images_hash(m, 1) == xb_hash_bytes(0, bytes + IMAGE, IMAGE));
    assert_int_equal(xb_images_report(m)->duplicates, 1); /* the third is the first */
    xb_images_destroy(m);
    m = NULL;
    assert_int_equal(xb_images_create(ctx, &m, bytes, N, SIDE, SIDE, 2, NULL, NULL),
                     XB_E_ARGUMENT);
    assert_int_equal(xb_images_create(ctx, &m, bytes, N, SIDE, SIDE, 3, target, NULL),
                     XB_E_ARGUMENT);
    assert_null(m);
}

/* ---- models */

typedef struct made {
    xb_net *net;
    xb_law *law;
    float mu[9], sigma[9]; /* dense 2 with biases on 2 inputs, dense 1 */
    xb_model_parts parts;
} made;

static const char *const inputs[] = {"current", "voltage"};
static const double mean[] = {1, 2}, sd[] = {3, 4};

static void make(xb_ctx *ctx, made *m)
{
    *m = (made){0};
    assert_ok(ctx, xb_net_parse(ctx, &m->net, "dense 2, elu, dense 1",
                                (xb_shape){1, 1, 2}, NULL));
    assert_ok(ctx, xb_law_parse(ctx, &m->law, "mtj:B=0.15,w=0.5"));
    assert_int_equal(xb_net_param_count(m->net), XB_COUNT(m->mu));
    for (int i = 0; i < XB_COUNT(m->mu); i++)
        m->mu[i] = (float)i, m->sigma[i] = 0.5F + (float)i;
    m->parts = (xb_model_parts){.net = m->net,
                                .weights = {m->mu, m->sigma, NULL, NULL},
                                .law = m->law,
                                .prior = {.kind = XB_PRIOR_NORMAL, .sd = 1},
                                .likelihood = XB_LIKELIHOOD_GAUSSIAN,
                                .noise_sd = 0.25,
                                .feature_name = inputs,
                                .input_mean = mean,
                                .input_sd = sd,
                                .target_name = "y",
                                .target_mean = -1,
                                .target_sd = 2};
}

static void drop(made *m)
{
    xb_net_destroy(m->net);
    xb_law_destroy(m->law);
}

static void assert_is(const xb_model *model, const made *m)
{
    const xb_weights w = xb_model_weights(model);
    assert_memory_equal(w.mu, m->mu, sizeof m->mu);
    for (int i = 0; i < xb_net_tensor_count(m->net); i++) {
        const xb_tensor *t = xb_net_tensor_at(m->net, i);
        for (int64_t k = t->offset; k < t->offset + t->size; k++)
            assert_true(w.sigma[k] == (t->stochastic ? m->sigma[k] : 0));
    }
    assert_string_equal(xb_model_net_text(model), xb_net_text(m->net));
    assert_string_equal(xb_law_text(xb_model_law(model)), xb_law_text(m->law));
    assert_string_equal(xb_model_feature_name(model, 1), "voltage");
    assert_memory_equal(xb_model_input_mean(model), mean, sizeof mean);
    assert_memory_equal(xb_model_input_sd(model), sd, sizeof sd);
    assert_true(fabs(xb_model_noise_sd(model) - 0.25) < 1e-15);
    assert_true(xb_model_target_mean(model) == -1 && xb_model_target_sd(model) == 2);
}

static void a_model_comes_from_arrays_and_back_from_its_file(void **state)
{
    xb_ctx *ctx = *state;
    made m;
    xb_model *model = NULL, *again = NULL;
    scratch s = scratch_make();
    make(ctx, &m);
    assert_ok(ctx, xb_model_create(ctx, &model, &m.parts));
    assert_is(model, &m);
    scratch_path(&s, "model.safetensors");
    assert_ok(ctx, xb_model_save(ctx, model, s.path));
    assert_ok(ctx, xb_model_load(ctx, &again, s.path));
    assert_is(again, &m);
    xb_model_destroy(model);
    xb_model_destroy(again);
    drop(&m);
    assert_int_equal(scratch_remove(&s), 1);
}

static void assert_refused(xb_ctx *ctx, const xb_model_parts *parts, const char *line)
{
    xb_model *model = NULL;
    assert_int_equal(xb_model_create(ctx, &model, parts), XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(ctx), line);
    assert_null(model);
}

static void parts_that_make_no_model_are_refused(void **state)
{
    xb_ctx *ctx = *state;
    made m;
    make(ctx, &m);
    xb_model_parts p = m.parts;
    p.noise_sd = 0;
    assert_refused(ctx, &p, "noise_sd is 0, expected more than 0");
    p = m.parts, p.classes = 2;
    assert_refused(ctx, &p, "2 classes do not go with the likelihood 'gaussian'");
    p = m.parts, p.target_sd = 0;
    assert_refused(
        ctx, &p,
        "scale of the target: mean -1, sd 0; expected finite numbers and an sd above 0");
    p = m.parts, p.feature_name = NULL;
    assert_refused(ctx, &p, "a name of the model is missing");
    p = m.parts, m.sigma[1] = 0;
    assert_refused(ctx, &p, "0.kernel: value 1 is 0, expected more than 0");
    p = m.parts, m.mu[8] = NAN;
    assert_refused(ctx, &p, "mu: value 8 is nan, expected a finite number");
    drop(&m);
}

static void memory_may_run_out_anywhere(void **state)
{
    xb_ctx *ctx = *state;
    made m;
    xb_model *model = NULL;
    xb_status status = XB_E_MEMORY;
    make(ctx, &m);
    int failures = 0;
    while (fail_alloc_after(failures)) {
        status = xb_model_create(ctx, &model, &m.parts);
        if (!fail_alloc_happened()) break;
        assert_int_equal(status, XB_E_MEMORY);
        assert_null(model);
        failures++;
    }
    assert_int_equal(status, XB_OK);
    assert_true(failures > 10);
    assert_is(model, &m);
    xb_model_destroy(model);
    drop(&m);
}

/* Threads take blocks of columns: any size, any number of threads, the same bytes; and
 * the elements are those of plain sums in double. */
static void a_product_has_the_bytes_of_one_thread(void **state)
{
    enum { ROWS = 70, COLUMNS = 205, DEPTH = 150 };
    xb_ctx *ctx = *state;
    static float a[ROWS * DEPTH], b[DEPTH * COLUMNS], bias[COLUMNS], c[2][ROWS * COLUMNS];
    for (int i = 0; i < ROWS * DEPTH; i++) a[i] = sinf((float)i);
    for (int i = 0; i < DEPTH * COLUMNS; i++) b[i] = cosf((float)i);
    for (int i = 0; i < COLUMNS; i++) bias[i] = (float)i;
    for (int t = 0; t < 2; t++) {
        xb_ctx_set_threads(ctx, t ? 4 : 1);
        xb_product_run(ctx, &(xb_product){.c = c[t],
                                          .a = a,
                                          .b = b,
                                          .bias = bias,
                                          .m = ROWS,
                                          .n = COLUMNS,
                                          .k = DEPTH,
                                          .c_row = COLUMNS,
                                          .a_row = DEPTH,
                                          .a_step = 1,
                                          .b_row = COLUMNS});
    }
    assert_memory_equal(c[0], c[1], sizeof c[0]);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double sum = bias[j];
            for (int k = 0; k < DEPTH; k++)
                sum += (double)a[i * DEPTH + k] * b[k * COLUMNS + j];
            assert_true(fabs(c[0][i * COLUMNS + j] - sum) < 1e-3);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_has_its_line),
        cmocka_unit_test(a_listener_can_be_wrapped),
        cmocka_unit_test(a_file_hashes_as_its_bytes),
        cmocka_unit_test(a_product_has_the_bytes_of_one_thread),
        cmocka_unit_test(images_come_from_arrays),
        cmocka_unit_test(a_model_comes_from_arrays_and_back_from_its_file),
        cmocka_unit_test(parts_that_make_no_model_are_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
