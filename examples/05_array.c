/* 05_array.c: a trained model on a simulated array: how many bits does its ADC need?
 *
 *     cc 05_array.c $(pkg-config --cflags --libs crossbayes) -lm -o 05_array
 *     ./05_array
 *
 * An assay scores the digital model once and then any number of arrays against it.
 */
#include <math.h>
#include <stdio.h>

#include <crossbayes/crossbayes.h>

enum { ROWS = 200 };

static xb_status make_model(xb_ctx *ctx, xb_model **out, double *x, double *y)
{
    xb_stream where = {.key = xb_key_make(3, XB_PURPOSE_DATA)};
    for (int i = 0; i < ROWS; i++) {
        x[i] = 2 * xb_stream_uniform(&where, 2 * i) - 1;
        y[i] = sin(3 * x[i]) + 0.2 * (xb_stream_uniform(&where, 2 * i + 1) - 0.5);
    }
    const xb_train_data data = {.x = x, .y = y, .n = ROWS, .features = 1};
    xb_train_options options = xb_train_options_default();
    options.net = "dense 16, elu, dense 1";
    return xb_train(ctx, out, NULL, &data, &options);
}

static xb_status try_bits(xb_ctx *ctx, xb_assay *assay, int bits)
{
    xb_array *array = NULL; /* ideal except for its converter */
    xb_assay_result *r = NULL;
    xb_status status = xb_array_preset(ctx, &array, "ideal");
    if (status == XB_OK) status = xb_array_set(ctx, array, "adc_bits", bits);
    if (status == XB_OK) status = xb_assay_run(ctx, &r, assay, array);
    xb_array_destroy(array);
    if (status != XB_OK) return status;
    const xb_scores *scores = xb_assay_result_scores(r);
    const xb_distances *d = xb_assay_result_distance(r);
    printf("%2d bits: RMSE %.4f, coverage %.3f, means differ by %.3f sd: %s\n", bits,
           xb_scores_get(scores, "rmse").value, xb_scores_get(scores, "coverage").value,
           xb_distances_gap_get(d, "mean").rms, xb_verdict_name(xb_distances_verdict(d)));
    xb_assay_result_destroy(r);
    return XB_OK;
}

int main(void)
{
    double x[ROWS], y[ROWS];
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 1;

    xb_model *model = NULL;
    xb_assay *assay = NULL;
    xb_status status = make_model(ctx, &model, x, y);
    if (status == XB_OK) {
        xb_assay_options options = xb_assay_options_default();
        status = xb_assay_create(ctx, &assay, model, x, y, ROWS, &options);
    }
    if (status == XB_OK)
        printf(
            "digital: RMSE %.4f\n",
            xb_scores_get(xb_assay_result_scores(xb_assay_digital(assay)), "rmse").value);
    for (int bits = 4; bits <= 12 && status == XB_OK; bits += 2)
        status = try_bits(ctx, assay, bits);
    if (status != XB_OK) fprintf(stderr, "%s\n", xb_ctx_message(ctx));

    xb_assay_destroy(assay);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
    return status == XB_OK ? 0 : 1;
}
