/* The Student likelihood from end to end: the mixture of normals that stands for it, what
 * training finds in tables of heavy tails, what predictions, scores and files make of
 * it. */
#include "noisetables.h"
#include "predict/predict.h"
#include "vi/model.h"

static table train_rows, test_rows;

/* (P9) Against the law's own density and quantiles. */
static void the_mixture_is_student(void **state)
{
    (void)state;
    enum { DRAWS = 1000 };
    static const double degrees[] = {2.5, 3, 8, 60}, at[] = {0, 0.5, 1, 2, 4, 6};
    xb_ctx *ctx = test_ctx();
    for (int k = 0; k < 4; k++) {
        const double nu = degrees[k], s = sqrt((nu - 2) / nu);
        xb_model m = {.likelihood = XB_LIKELIHOOD_STUDENT, .noise_degrees = nu};
        double mean[DRAWS] = {0}, width[DRAWS];
        char text[32];
        xb_law *law = NULL;
        snprintf(text, sizeof text, "student:nu=%g", nu);
        assert_ok(ctx, xb_law_parse(ctx, &law, text));
        for (int d = 0; d < DRAWS; d++) width[d] = xb_noise_scale(&m, d);
        for (int i = 0; i < 6; i++) { /* at[i] scales of the t */
            double density = 0;
            for (int d = 0; d < DRAWS; d++)
                density += exp(-0.5 * pow(at[i] * s / width[d], 2)) /
                           (width[d] * sqrt(2 * M_PI) * DRAWS);
            assert_close(density, xb_law_pdf(law, at[i]) / s, at[i] <= 2 ? 0.02 : 0.15);
        }
        const double z = 1.95996398454005;
        assert_close(xb_predictive_quantile(mean, DRAWS, width, DRAWS, 0.975, z),
                     s * xb_law_quantile(law, 0.975), 0.01);
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

static xb_model *train(xb_ctx *ctx, xb_likelihood likelihood)
{
    xb_train_options o = xb_train_options_default();
    xb_model *model = NULL;
    const xb_train_data data = data_of(&train_rows);
    o.net = "dense 20, relu, dense 1";
    o.likelihood = likelihood;
    o.adam.rate = 1e-2;
    o.mle_epochs = 500 * 100 / train_rows.n;
    o.epochs = 3000 * 100 / train_rows.n;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    return model;
}

static void heavy_tails_are_learnt(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double normal[TEST_ROWS], student[TEST_ROWS];
    make(&train_rows, HEAVY, 0, 800, 1);
    make(&test_rows, HEAVY, MOST, TEST_ROWS, 1);
    xb_model *a = train(ctx, XB_LIKELIHOOD_GAUSSIAN);
    xb_model *b = train(ctx, XB_LIKELIHOOD_STUDENT);
    assert_true(isnan(xb_model_noise_degrees(a)));
    print_message("degrees %.3g, noise sd %.3g\n", xb_model_noise_degrees(b),
                  xb_model_noise_sd(b));
    assert_true(xb_model_noise_degrees(b) > 2 && xb_model_noise_degrees(b) < 5);
    test_nll(ctx, normal, a, &test_rows);
    test_nll(ctx, student, b, &test_rows);
    const loss l = loss_of(student, normal);
    print_message("student less gaussian: %+.4f +- %.4f\n", l.mean, l.error);
    assert_true(l.mean < -0.05);
    xb_model_destroy(a);
    xb_model_destroy(b);
    xb_ctx_destroy(ctx);
}

/* Quantiles hold what they say, and a file gives the same predictions. */
static void predictions_have_the_tails(void **state)
{
    (void)state;
    static const double levels[] = {0.005, 0.25, 0.75, 0.995};
    xb_ctx *ctx = test_ctx();
    scratch folder = scratch_make();
    make(&train_rows, HEAVY, 0, 800, 2);
    make(&test_rows, HEAVY, MOST, TEST_ROWS, 2);
    xb_model *model = train(ctx, XB_LIKELIHOOD_STUDENT), *again = NULL;
    xb_predict_options o = xb_predict_options_default();
    xb_prediction *p = NULL, *q = NULL;
    o.draws = 400, o.quantile = levels, o.quantiles = 4;
    assert_ok(ctx, xb_predict(ctx, &p, model, test_rows.x, TEST_ROWS, &o));
    int inside[2] = {0};
    for (int i = 0; i < TEST_ROWS; i++) {
        const double *quantile = xb_prediction_quantile(p) + 4 * i, y = test_rows.y[i];
        inside[0] += y > quantile[0] && y < quantile[3];
        inside[1] += y > quantile[1] && y < quantile[2];
    }
    assert_close_floor(inside[0] / (double)TEST_ROWS, 0.99, 0.01, 1);
    assert_close_floor(inside[1] / (double)TEST_ROWS, 0.5, 0.06, 1);
    const char *path = scratch_path(&folder, "student.safetensors");
    assert_ok(ctx, xb_model_save(ctx, model, path));
    assert_ok(ctx, xb_model_load(ctx, &again, path));
    assert_true(xb_model_noise_degrees(again) == xb_model_noise_degrees(model));
    assert_ok(ctx, xb_predict(ctx, &q, again, test_rows.x, TEST_ROWS, &o));
    assert_memory_equal(xb_prediction_quantile(p), xb_prediction_quantile(q),
                        4 * TEST_ROWS * sizeof(double));
    xb_prediction_destroy(p);
    xb_prediction_destroy(q);
    xb_model_destroy(model);
    xb_model_destroy(again);
    scratch_remove(&folder);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mixture_is_student),
        cmocka_unit_test(heavy_tails_are_learnt),
        cmocka_unit_test(predictions_have_the_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
