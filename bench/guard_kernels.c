/* guard_kernels.c: the fixed pieces of work whose instructions bench/guard.py counts.
 *   guard_kernels CASE TIMES
 * A case is set up, then its work is done TIMES over inside measured(), the only function
 * in which callgrind collects. One thread, fixed seeds: the same instructions each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/crossbayes.h"
#include "crossbayes/studies.h"
#include "draw/kernel.h"

enum { DRAWS = 1 << 16, ROWS = 200, SIDE = 256, SAMPLES = 5000, LINES = 5000 };

typedef struct bed {
    xb_ctx *ctx;
    xb_law *law;
    xb_sampler *sampler;
    float *z; /* [DRAWS] */
    double x[ROWS], y[ROWS], sample[SAMPLES];
    xb_net *net;
    xb_pass *pass;
    xb_model *model;
    const char *path;
} bed;

typedef struct guard_case {
    const char *name, *law;
    void (*start)(bed *b);
    void (*work)(bed *b);
} guard_case;

static void must(bed *b, xb_status status)
{
    if (status == XB_OK) return;
    fprintf(stderr, "guard_kernels: %s\n", xb_ctx_message(b->ctx));
    exit(EXIT_FAILURE);
}

static xb_stream stream_of(uint32_t tensor)
{
    return (xb_stream){xb_key_make(1, XB_PURPOSE_WEIGHT), tensor, 0, 0};
}

/* ---- draws */
static void draw(bed *b)
{
    xb_stream where = stream_of(0);
    xb_sampler_fill(b->sampler, b->z, DRAWS, &where, 0);
}

static void sampler_set_up(bed *b)
{
    xb_sampler *made = NULL;
    must(b, xb_sampler_create(b->ctx, &made, b->law, NULL));
    xb_sampler_destroy(made);
}

/* ---- a stochastic product: z is weights, inputs and outputs in one */
static void start_pass(bed *b, int64_t inputs)
{
    char text[64];
    snprintf(text, sizeof text, "dense %d nobias", SIDE);
    must(b, xb_net_parse(b->ctx, &b->net, text, (xb_shape){1, 1, SIDE}, NULL));
    xb_pass_options opt = xb_pass_options_default();
    opt.batch = inputs;
    opt.gradients = false;
    must(b, xb_pass_create(b->ctx, &b->pass, b->net, &opt));
    draw(b);
}

static void product(bed *b, int64_t inputs)
{
    static float y[64 * SIDE];
    const xb_weights weights = {b->z, b->z, NULL, NULL};
    const xb_noise noise = {.sampler = b->sampler,
                            .key = xb_key_make(1, XB_PURPOSE_WEIGHT)};
    must(b, xb_pass_forward(b->ctx, b->pass, y, b->z, inputs, &weights, &noise,
                            XB_MODE_PREDICT));
}

static void start_product_1(bed *b) { start_pass(b, 1); }
static void product_1(bed *b) { product(b, 1); }
static void start_product_64(bed *b) { start_pass(b, 64); }
static void product_64(bed *b) { product(b, 64); }

/* ---- training and prediction */
static void rows(bed *b)
{
    xb_stream where = stream_of(9);
    for (int i = 0; i < ROWS; i++) {
        b->x[i] = 2 * xb_stream_uniform(&where, i) - 1;
        b->y[i] = b->x[i] * b->x[i] + 0.1 * xb_stream_uniform(&where, ROWS + i);
    }
}

static void train_as(bed *b, xb_estimator estimator, int64_t epochs)
{
    const xb_train_data data = {.x = b->x, .y = b->y, .n = ROWS, .features = 1};
    xb_train_options opt = xb_train_options_default();
    opt.net = "dense 16, elu, dense 16, elu, dense 1";
    opt.estimator = estimator;
    opt.batch = 100;
    opt.mle_epochs = 1;
    opt.epochs = epochs;
    xb_model_destroy(b->model);
    b->model = NULL;
    must(b, xb_train(b->ctx, &b->model, NULL, &data, &opt));
}

static void train_shared(bed *b) { train_as(b, XB_ESTIMATOR_SHARED, 50); }
static void train_local(bed *b) { train_as(b, XB_ESTIMATOR_LOCAL, 50); }

static void start_predict(bed *b)
{
    rows(b);
    train_as(b, XB_ESTIMATOR_SHARED, 1);
}

static void predict(bed *b)
{
    xb_predict_options opt = xb_predict_options_default();
    xb_prediction *p = NULL;
    opt.draws = 200;
    must(b, xb_predict(b->ctx, &p, b->model, b->x, ROWS, &opt));
    xb_prediction_destroy(p);
}

static void energy(bed *b)
{
    xb_energy_options opt = xb_energy_options_default();
    xb_model *m = NULL;
    opt.steps = 100;
    must(b, xb_energy_train(b->ctx, &m, &opt));
    xb_model_destroy(m);
}

/* ---- design time */
static void start_fit(bed *b)
{
    xb_stream where = stream_of(3);
    xb_sampler_fill_double(b->sampler, b->sample, SAMPLES, &where, 0);
}

static void fit(bed *b)
{
    xb_fit_options opt = xb_fit_options_default();
    xb_fit *made = NULL;
    opt.family = "mtj";
    must(b, xb_fit_run(b->ctx, &made, b->sample, SAMPLES, &opt));
    xb_fit_destroy(made);
}

static void rule(bed *b)
{
    xb_rule *made = NULL;
    must(b, xb_rule_gauss(b->ctx, &made, b->law, 32, XB_RECURRENCE_STABLE));
    xb_rule_destroy(made);
}

/* ---- files */
static void start_csv(bed *b)
{
    FILE *file = fopen(b->path, "w");
    draw(b);
    if (!file) exit(EXIT_FAILURE);
    for (int i = 0; i < LINES; i++) fprintf(file, "%.6e\n", (double)b->z[i]);
    fclose(file);
}

static void csv(bed *b)
{
    double *data = NULL;
    int64_t n = 0;
    must(b, xb_column_read(b->ctx, &data, &n, b->path, NULL));
    free(data);
}

static const guard_case cases[] = {
    {"draw-gaussian", "gaussian", NULL, draw},
    {"draw-mtj", "mtj:B=0.15,w=0.5", NULL, draw},
    {"draw-wide-table", "bimodal:m=0.99", NULL, draw},
    {"sampler-set-up", "mtj:B=0.15,w=0.5", NULL, sampler_set_up},
    {"product-1-input", "gaussian", start_product_1, product_1},
    {"product-64-inputs", "gaussian", start_product_64, product_64},
    {"train-shared", "gaussian", rows, train_shared},
    {"train-local", "gaussian", rows, train_local},
    {"predict", "gaussian", start_predict, predict},
    {"energy-train", "gaussian", NULL, energy},
    {"fit-mtj", "mtj:B=0.15,w=0.5", start_fit, fit},
    {"gauss-rule", "mtj:B=0.15,w=0.5", NULL, rule},
    {"read-column", "gaussian", start_csv, csv},
};

void measured(const guard_case *c, bed *b, int times);

__attribute__((noinline)) void measured(const guard_case *c, bed *b, int times)
{
    for (int i = 0; i < times; i++) c->work(b);
}

static void run(const guard_case *c, int times, const char *path)
{
    static bed b;
    b.path = path;
    if (xb_ctx_create(&b.ctx) != XB_OK) exit(EXIT_FAILURE);
    xb_ctx_set_threads(b.ctx, 1);
    b.z = calloc(DRAWS, sizeof *b.z);
    if (!b.z) exit(EXIT_FAILURE);
    must(&b, xb_law_parse(b.ctx, &b.law, c->law));
    must(&b, xb_sampler_create(b.ctx, &b.sampler, b.law, NULL));
    if (c->start) c->start(&b);
    measured(c, &b, times);
    remove(path);
    printf("%s\n", xb_kernel_best()->level);
}

int main(int argc, char **argv)
{
    if (argc == 1)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) puts(cases[i].name);
    for (size_t i = 0; argc == 4 && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, argv[1]) == 0) run(&cases[i], atoi(argv[2]), argv[3]);
    return 0;
}
