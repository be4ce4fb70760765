/* 06_steps.c: trains on columns in memory, watches the training and stops it early.
 *
 *     cc 06_steps.c $(pkg-config --cflags --libs crossbayes) -lm && ./a.out
 */
#include <math.h>
#include <stdio.h>

#include <crossbayes/crossbayes.h>

enum { ROWS = 300, PATIENCE = 20 };
typedef struct watch {
    double best;
    int since; /* epochs since the best one */
} watch;

/* Stops once F has not fallen for some epochs. */
static bool look(void *arg, xb_trainer *trainer)
{
    watch *w = arg;
    if (xb_trainer_phase(trainer) < 2) return true;
    const double f = xb_trainer_epoch_value(trainer, XB_HISTORY_F);
    w->since = f < w->best ? 0 : w->since + 1;
    w->best = fmin(w->best, f);
    return w->since < PATIENCE;
}

int main(void)
{
    float cell[ROWS][2]; /* stored row by row, so a column's stride is a row */
    for (int i = 0; i < ROWS; i++) {
        cell[i][0] = 2 * (float)i / ROWS - 1;
        cell[i][1] = sinf(3 * cell[i][0]) + 0.1f * sinf(1e3f * (float)i);
    }
    const xb_column columns[] = {{"x", &cell[0][0], XB_COLUMN_F32, sizeof cell[0]},
                                 {"y", &cell[0][1], XB_COLUMN_F32, sizeof cell[0]}};
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 1;
    xb_frame_options table = xb_frame_options_default();
    table.target = "y";
    watch w = {.best = INFINITY};
    xb_train_options options = xb_train_options_default();
    options.on_epoch = look;
    options.on_epoch_arg = &w;
    options.stop_keeps = true;
    xb_frame *frame = NULL;
    xb_model *model = NULL;
    xb_status status = xb_frame_create(ctx, &frame, columns, 2, ROWS, &table);
    const xb_train_data data =
        status == XB_OK ? xb_train_data_of(frame) : (xb_train_data){0};
    if (status == XB_OK) status = xb_train(ctx, &model, NULL, &data, &options);
    if (status == XB_OK)
        printf("%s: best F %.1f, noise sd %.3f\n", xb_model_net_text(model), w.best,
               xb_model_noise_sd(model));
    else
        fprintf(stderr, "%s\n", xb_ctx_message(ctx));
    xb_model_destroy(model);
    xb_frame_destroy(frame);
    xb_ctx_destroy(ctx);
    return status == XB_OK ? 0 : 1;
}
