/* cuda_steps.c: whole steps of training and whole predictions through the library, on the
 * backend named: cuda_steps BACKEND [scalar|faces|predict], where predict is the
 * prediction of faces alone. A line each: what, backend, nets side by side, batch or
 * draws, steps or images a second. bench_cuda.py runs it beside PyTorch and JAX. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crossbayes/crossbayes.h"

enum { BATCH = 100, SIZE = 200, IMAGES = 400, DRAWS = 32, ROWS = 1000 };

static const char FACES[] =
    "conv 16, relu, maxpool 2 ceil, batchnorm, conv 16, relu, maxpool 2 ceil, batchnorm, "
    "conv 32, relu, maxpool 2 ceil, batchnorm, conv 32, relu, maxpool 2 ceil, batchnorm, "
    "conv 64, relu, maxpool 2 ceil, batchnorm, conv 64, relu, maxpool 2 ceil, batchnorm, "
    "conv 128, relu, maxpool 2 ceil, batchnorm, conv 128, relu, maxpool 2 ceil, "
    "batchnorm, "
    "flatten, dense 100, batchnorm, relu, dense 10, batchnorm, relu, dense 1, batchnorm, "
    "sigmoid";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(xb_ctx *ctx, xb_status status)
{
    if (status == XB_OK) return;
    fprintf(stderr, "cuda_steps: %s\n", xb_ctx_message(ctx));
    exit(1);
}

/* Puts run k into took[], which stays sorted. */
static void keep_sorted(double *took, int k, double seconds)
{
    took[k] = seconds;
    for (int j = k; j > 0 && took[j] < took[j - 1]; j--) {
        double swap = took[j];
        took[j] = took[j - 1], took[j - 1] = swap;
    }
}

/* Steps a second: the median of five runs of `steps`, after as many. */
static double steps_a_second(xb_ctx *ctx, xb_trainer *t, int steps)
{
    double took[5];
    for (int k = -1; k < 5; k++) {
        double from = now();
        for (int i = 0; i < steps; i++) must(ctx, xb_trainer_step(ctx, t));
        if (k >= 0) keep_sorted(took, k, now() - from);
    }
    return steps / took[2];
}

/* Steps a second of a whole training, making the trainer included: the median of five,
 * after one. */
static double trained_a_second(xb_ctx *ctx, const xb_train_data *data,
                               const xb_train_options *opt, double steps)
{
    double took[5];
    for (int k = -1; k < 5; k++) {
        xb_model *model = NULL;
        double from = now();
        must(ctx, xb_train(ctx, &model, NULL, data, opt));
        xb_model_destroy(model);
        if (k >= 0) keep_sorted(took, k, now() - from);
    }
    return steps / took[2];
}

typedef struct small_net {
    const char *name, *net;
    int64_t features, batch, steps;
} small_net;

/* Some steps of phase 2 of a net and, side by side, of 16 of it. */
static void time_small(xb_ctx *ctx, const char *backend, const small_net *n, bool local)
{
    static double x[ROWS * 8], y[ROWS];
    for (int i = 0; i < ROWS * 8; i++) x[i] = sin(1.7 * i + i % 8);
    for (int i = 0; i < ROWS && n->features == 1; i++) x[i] = 6.0 * i / ROWS - 3;
    for (int i = 0; i < ROWS; i++) y[i] = sin(x[i * n->features]);
    const xb_train_data data = {.x = x, .y = y, .n = ROWS, .features = n->features};
    const int64_t batches = ROWS / n->batch, members = 16;
    xb_train_options opt = xb_train_options_default();
    opt.net = n->net, opt.batch = n->batch;
    opt.mle_epochs = 0, opt.epochs = n->steps / batches;
    opt.estimator = local ? XB_ESTIMATOR_LOCAL : XB_ESTIMATOR_SHARED;
    opt.likelihood = XB_LIKELIHOOD_GAUSSIAN, opt.backend = backend;
    const double steps = (double)(opt.epochs * batches);
    for (opt.members = 1; opt.members <= members; opt.members += members - 1) {
        const double all = steps * (double)opt.members;
        printf("step-%s-%s %s %lld %.4g\n", n->name, local ? "local" : "shared", backend,
               (long long)opt.members, trained_a_second(ctx, &data, &opt, all));
        fflush(stdout);
    }
}

/* The scalar net, one of the size of UCI tables, and one as wide as the energy study's.
 */
static void time_smalls(xb_ctx *ctx, const char *backend)
{
    static const small_net nets[] = {
        {"scalar", "dense 16, elu, dense 16, elu, dense 1", 1, BATCH, 10000},
        {"uci", "dense 50, relu, dense 1", 8, 40, 10000},
        {"wide", "dense 128, elu, dense 128, elu, dense 1", 1, BATCH, 2000},
    };
    for (int i = 0; i < 3; i++)
        for (int local = 0; local < 2; local++)
            time_small(ctx, backend, &nets[i], local == 1);
}

/* steps 0: only the prediction. */
static void time_faces(xb_ctx *ctx, const char *backend, int steps)
{
    const int64_t features = (int64_t)SIZE * SIZE * 3;
    uint8_t *bytes = malloc((size_t)(IMAGES * features));
    double y[IMAGES], *value = malloc(IMAGES * DRAWS * sizeof *value);
    uint32_t word = 1;
    if (!bytes || !value) exit(1);
    for (int64_t i = 0; i < IMAGES * features; i++)
        word = word * 1664525 + 1013904223, bytes[i] = (uint8_t)(word >> 24);
    for (int i = 0; i < IMAGES; i++) y[i] = i % 100 / 100.0;
    const xb_train_data data = {
        .bytes = bytes, .y = y, .n = IMAGES, .features = features};
    xb_train_options opt = xb_train_options_default();
    xb_trainer *t = NULL;
    xb_model *model = NULL;
    opt.net = FACES, opt.input = (xb_shape){SIZE, SIZE, 3};
    opt.batch = BATCH, opt.mle_epochs = 0, opt.epochs = 1 << 10;
    opt.estimator = XB_ESTIMATOR_SHARED, opt.likelihood = XB_LIKELIHOOD_GAUSSIAN;
    opt.backend = backend, opt.target_sd = 1;
    must(ctx, xb_trainer_create(ctx, &t, &data, &opt));
    if (steps > 0)
        printf("step-faces %s %d %.4g\n", backend, BATCH, steps_a_second(ctx, t, steps));
    must(ctx, xb_trainer_model(ctx, &model, t));
    xb_predict_options how = xb_predict_options_default();
    how.backend = backend;
    const xb_rows rows = {.bytes = bytes, .n = IMAGES, .features = features};
    double best = INFINITY;
    for (int k = 0; k < 4; k++) {
        double from = now();
        must(ctx, xb_predict_draws_rows(ctx, value, NULL, model, &rows, 0, DRAWS, &how));
        best = fmin(best, now() - from);
    }
    printf("predict-faces %s %d %.4g\n", backend, DRAWS, IMAGES * DRAWS / best);
    fflush(stdout);
    xb_model_destroy(model);
    xb_trainer_destroy(t);
    free(bytes), free(value);
}

int main(int argc, char **argv)
{
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 1;
    const char *backend = argc > 1 ? argv[1] : "cpu", *what = argc > 2 ? argv[2] : "all";
    if (!strchr("asfp", what[0]) || !what[0]) {
        fprintf(stderr, "cuda_steps: expected scalar, faces or predict, not %s\n", what);
        return 1;
    }
    const int steps = what[0] == 'p' ? 0 : strcmp(backend, "cpu") == 0 ? 1 : 20;
    if (what[0] == 'a' || what[0] == 's') time_smalls(ctx, backend);
    if (what[0] != 's') time_faces(ctx, backend, steps);
    xb_ctx_destroy(ctx);
    return 0;
}
