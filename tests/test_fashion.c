/* Fashion-MNIST (Xiao, Rasul, Vollgraf 2017; Debian's dataset-fashion-mnist) with a
 * small convolutional net: 89 % of the test images right under every law. Long form
 * only: a minute or two. */
#include "comparetest.h"

#define FOLDER "/usr/share/datasets/fashion-mnist/"

static xb_images *open_set(xb_ctx *ctx, const char *path)
{
    xb_images *images = NULL;
    assert_ok(ctx, xb_images_open(ctx, &images, path, NULL));
    assert_int_equal(xb_images_class_count(images), 10);
    return images;
}

static void score(xb_ctx *ctx, const xb_model *model, const xb_images *test,
                  const char *text)
{
    enum { DRAWS = 16, CLASSES = 10 };
    int64_t n = xb_images_count(test);
    double *p = malloc((size_t)(DRAWS * n * CLASSES) * sizeof *p);
    int64_t *label = malloc((size_t)n * sizeof *label);
    assert_non_null(p);
    assert_non_null(label);
    xb_law *law = test_law(ctx, text);
    xb_predict_options opt = xb_predict_options_default();
    opt.law = law;
    const xb_rows rows = xb_images_rows(test, NULL, n);
    for (int64_t i = 0; i < n; i++) label[i] = (int64_t)xb_images_target(test)[i];
    assert_ok(ctx, xb_predict_draws_rows(ctx, p, NULL, model, &rows, 0, DRAWS, &opt));
    class_scores s = {0};
    const xb_class_draws draws = {p, DRAWS, n, CLASSES};
    assert_ok(ctx, score_classes(ctx, &s, &draws, label, NULL));
    print_message("%s: accuracy %.4f +- %.4f, NLL %.4f, ECE %.4f\n", text,
                  s.accuracy.value, s.accuracy.mc_error, s.nll.value, s.ece.value);
    assert_true(s.accuracy.value >= 0.89);
    assert_at_most(s.ece.value, 0.05);
    xb_law_destroy(law);
    free(label);
    free(p);
}

static void clothes_are_told_apart_under_every_law(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_images *train = open_set(ctx, FOLDER "train-images-idx3-ubyte.gz");
    xb_images *test = open_set(ctx, FOLDER "t10k-images-idx3-ubyte.gz");
    xb_train_options o = xb_train_options_default();
    o.input = (xb_shape){28, 28, 1};
    o.mle_epochs = 2;
    o.epochs = 2;
    xb_train_data data = xb_train_data_of_images(train, NULL, 0);
    xb_model *model = NULL;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    score(ctx, model, test, "gaussian");
    score(ctx, model, test, "mtj:B=0.15,w=0.5");
    score(ctx, model, test, "bimodal:m=0.9");
    xb_model_destroy(model);
    xb_images_destroy(train);
    xb_images_destroy(test);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    if (!test_long() || access(FOLDER, R_OK) != 0)
        return test_skipped("Fashion-MNIST (XB_LONG=1 and dataset-fashion-mnist)");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clothes_are_told_apart_under_every_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
