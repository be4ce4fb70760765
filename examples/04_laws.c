/* 04_laws.c: does the shape of the noise matter? This compares one model under two laws.
 *
 *     cc 04_laws.c $(pkg-config --cflags --libs crossbayes) -o 04_laws
 *     ./04_laws bimodal:m=0.9
 *
 * Both laws have mean 0 and variance 1 and use the same random numbers, so that only
 * their shape is compared; the verdict says whether there were enough draws.
 */
#include <stdio.h>
#include <stdlib.h>

#include <crossbayes/crossbayes.h>

enum { ROWS = 64, DRAWS = 4000 };

static xb_status make_model(xb_ctx *ctx, xb_model **out)
{
    double x[ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[i] = i / (double)(ROWS - 1);
        y[i] = x[i] * (1 - x[i]) + (i % 2 ? 0.02 : -0.02);
    }
    const xb_train_data data = {.x = x, .y = y, .n = ROWS, .features = 1};
    xb_train_options options = xb_train_options_default();
    options.net = "dense 16, elu, dense 1";
    return xb_train(ctx, out, NULL, &data, &options);
}

/* Draws the net's output at one input DRAWS times, under a law. */
static xb_status draw(xb_ctx *ctx, double *value, const xb_model *model,
                      const xb_law *law)
{
    const double middle = 0.5;
    xb_predict_options opt = xb_predict_options_default();
    opt.law = law;
    return xb_predict_draws(ctx, value, NULL, model, &middle, 1, 0, DRAWS, &opt);
}

int main(int argc, char **argv)
{
    static double a[DRAWS], b[DRAWS];
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 1;

    xb_model *model = NULL;
    xb_law *law = NULL;
    xb_distances *d = NULL;
    xb_distance_options opt = xb_distance_options_default();
    opt.paired = opt.standardise = true;
    xb_status status = xb_law_parse(ctx, &law, argc > 1 ? argv[1] : "mtj:B=0.15,w=0.5");
    if (status == XB_OK) status = make_model(ctx, &model);
    if (status == XB_OK) status = draw(ctx, a, model, law);
    if (status == XB_OK) status = draw(ctx, b, model, NULL); /* the model's own law */
    if (status == XB_OK)
        status = xb_distance_samples(ctx, &d, a, DRAWS, b, DRAWS, 1, &opt);
    if (status == XB_OK) {
        printf("%s against %s\n", xb_law_text(law), xb_law_text(xb_model_law(model)));
        const xb_gap mean = xb_distances_gap_get(d, "mean");
        const xb_gap sd = xb_distances_gap_get(d, "sd");
        const xb_gap whole = xb_distances_gap_get(d, "whole");
        const xb_distance w1 = xb_distances_get(d, "wasserstein");
        printf("mean: %+.4f +- %.4f sd apart: %s\n", mean.largest, mean.largest_error,
               xb_verdict_name(mean.verdict));
        printf("sd:   %+.4f +- %.4f apart, relative: %s\n", sd.largest, sd.largest_error,
               xb_verdict_name(sd.verdict));
        printf("all:  equivalent to a shift of %.4f sd (noise alone %.4f): %s\n",
               whole.rms, whole.noise, xb_verdict_name(whole.verdict));
        printf("W1:   %.4f sd, p = %.3f\n", w1.value, w1.p_value);
    } else {
        fprintf(stderr, "%s\n", xb_ctx_message(ctx));
    }
    xb_distances_destroy(d);
    xb_model_destroy(model);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
    return status == XB_OK ? 0 : 1;
}
