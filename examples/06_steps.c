/* 06_steps.c: columns in memory, training that is watched and stopped, its state.
 *
 *     cc 06_steps.c $(pkg-config --cflags --libs crossbayes) -lm -o 06_steps
 *     ./06_steps
 */
#include <math.h>
#include <stdio.h>

#include <crossbayes/crossbayes.h>

enum { ROWS = 300, PATIENCE = 20 };

/* Stops once F has not fallen for some epochs. */
typedef struct watch {
    double best;
    int64_t since;
} watch;

static bool look(void *arg, xb_trainer *trainer)
{
    watch *w = arg;
    if (xb_trainer_phase(trainer) < 2) return true;
    const double f = xb_trainer_epoch_value(trainer, XB_TRACE_F);
    w->since = f < w->best ? 0 : w->since + 1;
    w->best = fmin(w->best, f);
    return w->since < PATIENCE;
}

int main(void)
{
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 1;
    float cell[ROWS][2]; /* row by row: a column's stride is a row */
    xb_stream where = {.key = xb_key_make(7, XB_PURPOSE_DATA)};
    for (int i = 0; i < ROWS; i++) {
        cell[i][0] = (float)(2 * xb_stream_uniform(&where, 2 * i) - 1);
        cell[i][1] = (float)(sin(3 * (double)cell[i][0]) +
                             0.2 * (xb_stream_uniform(&where, 2 * i + 1) - 0.5));
    }
    const xb_column columns[] = {{"x", &cell[0][0], XB_COLUMN_F32, sizeof cell[0]},
                                 {"y", &cell[0][1], XB_COLUMN_F32, sizeof cell[0]}};
    xb_frame_options table = xb_frame_options_default();
    table.target = "y";
    xb_frame *frame = NULL;
    xb_status status = xb_frame_create(ctx, &frame, columns, 2, ROWS, &table);

    watch w = {.best = INFINITY};
    xb_train_options options = xb_train_options_default();
    options.net = "dense 20, tanh, dense 1";
    options.on_epoch = look;
    options.on_epoch_arg = &w;
    options.stop_keeps = true;
    xb_model *model = NULL;
    xb_train_report *report = NULL;
    if (status == XB_OK) {
        const xb_train_data data = xb_train_data_of(frame);
        status = xb_train(ctx, &model, &report, &data, &options);
    }
    if (status == XB_OK)
        printf("stopped %s after %lld epochs: F %.1f, noise sd %.3f\n",
               xb_train_report_stopped(report) ? "early" : "at the end",
               (long long)xb_train_report_epoch_count(report),
               xb_train_report_f(report).value, xb_model_noise_sd(model));
    else
        fprintf(stderr, "%s\n", xb_ctx_message(ctx));
    xb_train_report_destroy(report);
    xb_model_destroy(model);
    xb_frame_destroy(frame);
    xb_ctx_destroy(ctx);
    return status == XB_OK ? 0 : 1;
}
