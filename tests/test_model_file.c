/* test_model_file.c: models out and in again, bit for bit, what their files hold, and
 * every way in which such a file can lie. */
#include "traintest.h"

#include "crossbayes/safetensors.h"
#include "failalloc.h"

static xb_model *small_model(xb_ctx *ctx, xb_likelihood likelihood)
{
    xb_train_options opt = quick_options();
    bool classes = likelihood == XB_LIKELIHOOD_SOFTMAX;
    xb_law *law = test_law(ctx, "mtj:B=0.2,w=0.4");
    opt.net = classes ? "dense 4, batchnorm, elu, dense 2" : "dense 4, elu, dense 1";
    opt.likelihood = likelihood;
    opt.law = law;
    opt.epochs = opt.mle_epochs = 2;
    xb_model *model = train_model(ctx, &opt, classes, NULL);
    xb_law_destroy(law);
    return model;
}

static void models_come_back_the_same(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_origin(ctx, "a test");
    for (int l = XB_LIKELIHOOD_GAUSSIAN; l <= XB_LIKELIHOOD_SOFTMAX; l++) {
        scratch s = scratch_make();
        xb_model *a = small_model(ctx, (xb_likelihood)l), *b = NULL;
        assert_ok(ctx, xb_model_save(ctx, a, scratch_path(&s, "m.safetensors")));
        assert_ok(ctx, xb_model_load(ctx, &b, s.path));
        assert_true(same_numbers(a, b));
        assert_int_equal(xb_model_likelihood(b), l);
        assert_string_equal(xb_model_net_text(a), xb_model_net_text(b));
        assert_string_equal(xb_law_text(xb_model_law(b)), "mtj:B=0.2,w=0.4");
        assert_string_equal(xb_model_settings(a), xb_model_settings(b));
        assert_non_null(strstr(xb_model_provenance(b), "a test"));
        assert_int_equal(xb_model_class_count(b), l == XB_LIKELIHOOD_SOFTMAX ? 2 : 0);
        assert_string_equal(xb_model_feature_name(b, 2), "3");
        rows r = make_rows(false);
        double u[2 * ROWS * 2], v[2 * ROWS * 2], sd_a[ROWS], sd_b[ROWS];
        xb_predict_options opt = xb_predict_options_default();
        memset(u, 0, sizeof u), memset(v, 0, sizeof v);
        memset(sd_a, 0, sizeof sd_a), memset(sd_b, 0, sizeof sd_b);
        assert_ok(ctx, xb_predict_draws(ctx, u, sd_a, a, r.x, ROWS, 0, 2, &opt));
        assert_ok(ctx, xb_predict_draws(ctx, v, sd_b, b, r.x, ROWS, 0, 2, &opt));
        assert_memory_equal(u, v, sizeof u);
        assert_memory_equal(sd_a, sd_b, sizeof sd_a);
        xb_model_destroy(a);
        xb_model_destroy(b);
        assert_int_equal(scratch_remove(&s), 1);
    }
    xb_ctx_destroy(ctx);
}

/* The scales: means and population standard deviations of the columns, a column that
 * never changes by its size. */
static void scales_are_those_of_the_data(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, XB_LIKELIHOOD_GAUSSIAN);
    rows r = make_rows(false);
    double mean = 0, square = 0;
    for (int i = 0; i < ROWS; i++) mean += r.x[3 * i + 1] / ROWS;
    for (int i = 0; i < ROWS; i++) square += pow(r.x[3 * i + 1] - mean, 2) / ROWS;
    assert_close(xb_model_input_mean(m)[1], mean, 1e-12);
    assert_close(xb_model_input_sd(m)[1], sqrt(square), 1e-12);
    assert_close(xb_model_input_mean(m)[2], 7, 1e-12);
    assert_close(xb_model_input_sd(m)[2], 7, 1e-12);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* No prefix of a file is a model, and no changed byte of the header crashes. */
static void broken_files_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = small_model(ctx, XB_LIKELIHOOD_GAUSSIAN), *out = NULL;
    assert_ok(ctx, xb_model_save(ctx, m, scratch_path(&s, "m")));
    static char bytes[1 << 16], other[1 << 16];
    size_t n = scratch_read(s.path, bytes, sizeof bytes);
    for (size_t cut = 0; cut < n; cut += 13) {
        scratch_write(&s, "m", bytes, cut);
        assert_int_equal(xb_model_load(ctx, &out, s.path), XB_E_INPUT);
        assert_non_null(strstr(xb_ctx_message(ctx), s.path));
    }
    for (size_t at = 0; at < n; at += 7) {
        memcpy(other, bytes, n);
        other[at] = (char)(other[at] ^ 0x15);
        scratch_write(&s, "m", other, n);
        out = NULL;
        if (xb_model_load(ctx, &out, s.path) == XB_OK) xb_model_destroy(out);
    }
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* The good file with one text or one number of it changed. */
typedef struct lie {
    const char *from, *to; /* of the same length */
    const char *part;      /* of the message */
} lie;

static char *find_bytes(char *in, size_t n, const char *what)
{
    size_t length = strlen(what);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(in + i, what, length) == 0) return in + i;
    return NULL;
}

static void lies_are_named(void **state)
{
    (void)state;
    static const lie lies[] = {
        {"\"crossbayes\":\"model\"", "\"crossbayes\":\"modem\"", "not a model"},
        {"dense 4, elu, dense 1", "dense 4, elo, dense 1", "elo"},
        {"dense 4, elu, dense 1", "dense 5, elu, dense 1", "0.kernel"},
        {"dense 4, elu, dense 1", "dense 4, elu, dense 2", "2 outputs"},
        {"\"gaussian\"", "\"gaussiam\"", "likelihood"},
        {"normal:mean=0,sd=1", "normal:mean=0,sd=0", "prior"},
        {"[1,1,3]", "[1,3,3]", "do not agree"},
        {"[1,1,3]", "[1,1,x]", "not JSON"},
        {"input.mean", "input.meam", "input.mean"},
    };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = small_model(ctx, XB_LIKELIHOOD_GAUSSIAN), *out = NULL;
    assert_ok(ctx, xb_model_save(ctx, m, scratch_path(&s, "m")));
    static char bytes[1 << 16];
    size_t n = scratch_read(s.path, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        static char changed[1 << 16];
        memcpy(changed, bytes, n);
        char *at = find_bytes(changed, n, lies[i].from);
        assert_non_null(at);
        memcpy(at, lies[i].to, strlen(lies[i].to));
        scratch_write(&s, "m", changed, n);
        assert_int_equal(xb_model_load(ctx, &out, s.path), XB_E_INPUT);
        if (!strstr(xb_ctx_message(ctx), lies[i].part))
            fail_msg("'%s' in: %s", lies[i].part, xb_ctx_message(ctx));
    }
    assert_null(out);
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* NaN weights, a sigma of 0, a negative scale: each in its place. */
static void bad_values_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *tensor;
        float value;
    } bad[] = {{"0.kernel.mu", NAN}, {"0.kernel.sigma", 0}, {"2.bias.mu", INFINITY}};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = small_model(ctx, XB_LIKELIHOOD_GAUSSIAN), *out = NULL;
    assert_ok(ctx, xb_model_save(ctx, m, scratch_path(&s, "m")));
    static char bytes[1 << 16];
    size_t n = scratch_read(s.path, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        static char changed[1 << 16];
        memcpy(changed, bytes, n);
        uint64_t header = 0;
        memcpy(&header, bytes, sizeof header);
        char *entry = find_bytes(changed, n, bad[i].tensor);
        assert_non_null(entry);
        long offset = strtol(strstr(entry, "offsets\":[") + 10, NULL, 10);
        memcpy(changed + 8 + header + offset, &bad[i].value, sizeof(float));
        scratch_write(&s, "m", changed, n);
        assert_int_equal(xb_model_load(ctx, &out, s.path), XB_E_INPUT);
        if (!strstr(xb_ctx_message(ctx), bad[i].tensor))
            fail_msg("'%s' in: %s", bad[i].tensor, xb_ctx_message(ctx));
    }
    assert_null(out);
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = small_model(ctx, XB_LIKELIHOOD_HETEROSCEDASTIC);
    bool failed = true;
    for (int k = 0; failed && fail_alloc_after(k); k++) {
        xb_model *out = NULL;
        xb_status status = xb_model_save(ctx, m, scratch_path(&s, "m"));
        if (status == XB_OK) status = xb_model_load(ctx, &out, s.path);
        failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, out, k);
        if (out) assert_true(same_numbers(out, m));
        xb_model_destroy(out);
    }
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_come_back_the_same),
        cmocka_unit_test(scales_are_those_of_the_data),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(lies_are_named),
        cmocka_unit_test(bad_values_are_named),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
