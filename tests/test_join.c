/* test_join.c: which models may be members of one ensemble: each thing that a file holds
 * once for all members must agree, and one that differs is refused. */
#include "traintest.h"

#include "vi/model.h"

static xb_model *small_model(xb_ctx *ctx)
{
    xb_train_options opt = quick_options();
    opt.epochs = opt.mle_epochs = 1;
    return train_model(ctx, &opt, false, NULL);
}

static xb_status join(xb_ctx *ctx, xb_model *a, xb_model *b)
{
    xb_model *list[] = {a, b}, *whole = NULL;
    xb_status status = xb_model_join(ctx, &whole, list, 2);
    if (status == XB_OK) { /* the members are the caller's again */
        free(whole->member);
        free(whole);
    }
    return status;
}

static void one_scale_that_differs_is_enough(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *a = small_model(ctx), *b = small_model(ctx);
    assert_int_equal(join(ctx, a, b), XB_OK);
    double *const scale[] = {b->x_mean, b->x_sd, b->x_low, b->x_bend, b->y_mean, b->y_sd};
    for (int i = 0; i < 6; i++) {
        const double kept = scale[i][0];
        scale[i][0] = kept + 0.25;
        assert_int_equal(join(ctx, a, b), XB_E_ARGUMENT);
        scale[i][0] = kept;
    }
    for (int i = 0; i < 4; i++) { /* the last column too */
        const double kept = scale[i][b->features - 1];
        scale[i][b->features - 1] = kept + 0.25;
        assert_int_equal(join(ctx, a, b), XB_E_ARGUMENT);
        scale[i][b->features - 1] = kept;
    }
    assert_int_equal(join(ctx, a, b), XB_OK);
    xb_model_destroy(a);
    xb_model_destroy(b);
    xb_ctx_destroy(ctx);
}

static void other_kinds_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *a = small_model(ctx), *b = small_model(ctx);
    b->likelihood = XB_LIKELIHOOD_STUDENT;
    assert_int_equal(join(ctx, a, b), XB_E_ARGUMENT);
    b->likelihood = a->likelihood;
    b->pixels = !a->pixels;
    assert_int_equal(join(ctx, a, b), XB_E_ARGUMENT);
    b->pixels = a->pixels;
    assert_int_equal(join(ctx, a, b), XB_OK);
    xb_model_destroy(b);
    xb_train_options opt = quick_options();
    opt.epochs = opt.mle_epochs = 1;
    opt.net = "dense 3, elu, dense 1";
    b = train_model(ctx, &opt, false, NULL);
    assert_int_equal(join(ctx, a, b), XB_E_ARGUMENT);
    xb_model_destroy(a);
    xb_model_destroy(b);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_scale_that_differs_is_enough),
        cmocka_unit_test(other_kinds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
