/* 03_train.c: trains a Bayesian network on a table and predicts new inputs.
 *
 *     cc 03_train.c $(pkg-config --cflags --libs crossbayes) -lm -o 03_train
 *     ./03_train
 */
#include <math.h>
#include <stdio.h>

#include <crossbayes/crossbayes.h>

enum { ROWS = 400, ASKED = 4 };

/* y = sin 3x + noise of sd 0.1, x in [-1, 1]. */
static void make_data(double *x, double *y)
{
    xb_stream where = {.key = xb_key_make(7, XB_PURPOSE_DATA)};
    for (int i = 0; i < ROWS; i++) {
        double noise = -2; /* the sum of four uniforms is nearly normal, variance 1/3 */
        for (int k = 1; k <= 4; k++) noise += xb_stream_uniform(&where, 5 * i + k);
        x[i] = 2 * xb_stream_uniform(&where, 5 * i) - 1;
        y[i] = sin(3 * x[i]) + 0.1 * sqrt(3) * noise;
    }
}

int main(void)
{
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 1;

    double x[ROWS], y[ROWS];
    make_data(x, y);
    const xb_train_data data = {.x = x, .y = y, .n = ROWS, .features = 1};

    /* The defaults suffice: Gaussian weights. If no net is given, a deeper one is tried
     * as well, and the better is kept. */
    xb_train_options options = xb_train_options_default();
    options.net = "dense 50, relu, dense 1";
    xb_model *model = NULL;
    xb_prediction *p = NULL;
    xb_status status = xb_train(ctx, &model, NULL, &data, &options);
    const double asked[ASKED] = {-0.5, 0, 0.5, 2};
    if (status == XB_OK) {
        xb_predict_options how = xb_predict_options_default();
        status = xb_predict(ctx, &p, model, asked, ASKED, &how);
    }
    if (status == XB_OK) {
        printf("noise of the data: sd %.3f\n", xb_model_noise_sd(model));
        for (int i = 0; i < ASKED; i++)
            printf("x = %+.1f: %+.3f +- %.3f (weights) +- %.3f (data), truth %+.3f\n",
                   asked[i], xb_prediction_mean(p)[i], xb_prediction_epistemic(p)[i],
                   xb_prediction_aleatoric(p)[i], sin(3 * asked[i]));
    } else {
        fprintf(stderr, "%s\n", xb_ctx_message(ctx));
    }
    xb_prediction_destroy(p);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
    return status == XB_OK ? 0 : 1;
}
