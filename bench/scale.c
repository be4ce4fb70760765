/* scale.c: one piece of work of a given size, timed, for bench/scaling.py.
 *   xb_scale CASE SIZE THREADS [PATH]
 * prints seconds by the wall clock and of processor time (best of some repeats)
 * and the peak of memory of the whole process, kB. What the work needs is set up first,
 * outside the clocks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crossbayes/crossbayes.h"
#include "crossbayes/studies.h"

enum { REPEATS = 5, INPUTS = 1000, SAMPLES = 200 };
#define ENOUGH 2.0 /* seconds of repeats */

typedef struct bed {
    xb_ctx *ctx;
    int64_t size;
    const char *path;
    xb_law *law;
    xb_sampler *sampler;
    xb_model *model;
    xb_pass *pass;
    double *x, *y;
    float *z, *in, *out;
} bed;

typedef struct scale_case {
    const char *name;
    void (*start)(bed *b);
    void (*work)(bed *b);
} scale_case;

static void must(bed *b, xb_status status)
{
    if (status == XB_OK) return;
    fprintf(stderr, "xb_scale: %s\n", xb_ctx_message(b->ctx));
    exit(EXIT_FAILURE);
}

static void *block(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) exit(EXIT_FAILURE);
    return p;
}

/* n rows of 8 features. */
static void make_rows(bed *b, int64_t n)
{
    xb_stream where = {xb_key_make(1, XB_PURPOSE_DATA), 0, 0, 0};
    b->x = block((size_t)(8 * n), sizeof *b->x);
    b->y = block((size_t)n, sizeof *b->y);
    for (int64_t i = 0; i < 8 * n; i++) b->x[i] = xb_stream_uniform(&where, i);
    for (int64_t i = 0; i < n; i++) b->y[i] = sin(4 * b->x[8 * i]) + b->x[8 * i + 1];
}

static void train(bed *b, const char *net, int64_t rows, int64_t batch, int64_t epochs)
{
    const xb_train_data data = {.x = b->x, .y = b->y, .n = rows, .features = 8};
    xb_train_options opt = xb_train_options_default();
    opt.net = net, opt.batch = batch;
    opt.estimator = XB_ESTIMATOR_SHARED;
    opt.mle_epochs = 0, opt.epochs = epochs;
    xb_model_destroy(b->model);
    b->model = NULL;
    must(b, xb_train(b->ctx, &b->model, NULL, &data, &opt));
}

static void predict(bed *b, int64_t inputs, int64_t draws)
{
    xb_predict_options opt = xb_predict_options_default();
    double level = 0.5;
    xb_prediction *p = NULL;
    opt.draws = draws;
    opt.quantile = &level, opt.quantiles = 0;
    must(b, xb_predict(b->ctx, &p, b->model, b->x, inputs, &opt));
    xb_prediction_destroy(p);
}

/* ---- width: prediction by `dense W, relu, dense W, relu, dense 1` */
static void start_width(bed *b)
{
    char net[96];
    snprintf(net, sizeof net, "dense %lld, relu, dense %lld, relu, dense 1",
             (long long)b->size, (long long)b->size);
    make_rows(b, INPUTS);
    train(b, net, INPUTS, 100, 1);
}
static void predict_some(bed *b) { predict(b, INPUTS, 32); }

/* ---- depth: hidden layers of 32 */
static void start_depth(bed *b)
{
    char net[2048] = "";
    for (int64_t i = 0; i < b->size; i++) strcat(net, "dense 32, relu, ");
    strcat(net, "dense 1");
    make_rows(b, INPUTS);
    train(b, net, INPUTS, 100, 1);
}

/* ---- draws and inputs of a prediction */
static void start_default(bed *b)
{
    make_rows(b, INPUTS);
    train(b, NULL, INPUTS, 100, 1);
}
static void predict_draws(bed *b) { predict(b, INPUTS, b->size); }

static void start_inputs(bed *b)
{
    make_rows(b, b->size > INPUTS ? b->size : INPUTS);
    train(b, NULL, INPUTS, 100, 1);
}
static void predict_inputs(bed *b) { predict(b, b->size, SAMPLES); }

/* ---- batch of a step; rows of training */
static void start_batch(bed *b) { make_rows(b, 8 * b->size); }
static void train_batch(bed *b) { train(b, NULL, 8 * b->size, b->size, 8); }
static void start_rows(bed *b) { make_rows(b, b->size); }
static void train_rows(bed *b) { train(b, NULL, b->size, 100, 4); }

/* ---- a product under one draw, one input: memory must not grow with the weights' z */
static void start_product(bed *b)
{
    xb_net *net = NULL;
    char text[64];
    snprintf(text, sizeof text, "dense %lld nobias", (long long)b->size);
    must(b, xb_net_parse(b->ctx, &net, text, (xb_shape){1, 1, b->size}, NULL));
    xb_pass_options opt = xb_pass_options_default();
    opt.batch = 1, opt.gradients = false;
    must(b, xb_pass_create(b->ctx, &b->pass, net, &opt));
    b->z = block((size_t)(b->size * b->size), sizeof *b->z);
    b->in = block((size_t)b->size, sizeof *b->in);
    b->out = block((size_t)b->size, sizeof *b->out);
    for (int64_t i = 0; i < b->size * b->size; i++) b->z[i] = 0.1f;
}
static void product(bed *b)
{
    const xb_weights weights = {b->z, b->z, NULL, NULL};
    const xb_noise noise = {.sampler = b->sampler,
                            .key = xb_key_make(1, XB_PURPOSE_WEIGHT)};
    must(b, xb_pass_forward(b->ctx, b->pass, b->out, b->in, 1, &weights, &noise,
                            XB_MODE_PREDICT));
}

/* ---- draws, fits, images */
static void start_fill(bed *b) { b->z = block((size_t)b->size, sizeof *b->z); }
static void fill(bed *b)
{
    xb_stream where = {xb_key_make(1, XB_PURPOSE_WEIGHT), 0, 0, 0};
    xb_sampler_fill_parallel(b->ctx, b->sampler, b->z, b->size, &where, 0);
}

static void start_fit(bed *b)
{
    xb_stream where = {xb_key_make(1, XB_PURPOSE_DATA), 0, 0, 0};
    b->x = block((size_t)b->size, sizeof *b->x);
    xb_sampler_fill_double(b->sampler, b->x, b->size, &where, 0);
}
static void fit(bed *b)
{
    xb_fit_options opt = xb_fit_options_default();
    xb_fit *made = NULL;
    must(b, xb_fit_run(b->ctx, &made, b->x, b->size, &opt));
    xb_fit_destroy(made);
}

/* Nets of the energy study, `size` of them. */
static void energy(bed *b)
{
    const int64_t width = 8, depth = 2;
    xb_study_options opt = xb_study_options_default();
    xb_study *made = NULL;
    opt.quick = true;
    opt.width = &width, opt.widths = 1;
    opt.depth = &depth, opt.depths = 1;
    opt.seeds = (int)b->size;
    must(b, xb_study_run(b->ctx, &made, "energy", &opt));
    xb_study_destroy(made);
}

static void images(bed *b)
{
    xb_image_options opt = xb_image_options_default();
    xb_images *made = NULL;
    opt.size = b->size;
    opt.unlabelled = opt.no_cache = true;
    must(b, xb_images_open(b->ctx, &made, b->path, &opt));
    xb_images_destroy(made);
}

static const scale_case cases[] = {
    {"width", start_width, predict_some},
    {"depth", start_depth, predict_some},
    {"draws", start_default, predict_draws},
    {"inputs", start_inputs, predict_inputs},
    {"batch", start_batch, train_batch},
    {"rows", start_rows, train_rows},
    {"product", start_product, product},
    {"fill", start_fill, fill},
    {"fit", start_fit, fit},
    {"images", NULL, images},
    {"energy", NULL, energy},
};

static double at(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* kB, since this program started: what getrusage says goes back to its parent's. */
static long peak_memory(void)
{
    char line[128];
    long peak = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) peak = strtol(line + 6, NULL, 10);
    if (file) fclose(file);
    return peak;
}

static void run(const scale_case *c, bed *b)
{
    double wall = INFINITY, cpu = INFINITY;
    if (c->start) c->start(b);
    double begun = at(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < REPEATS && at(CLOCK_PROCESS_CPUTIME_ID) - begun < ENOUGH; i++) {
        double w = at(CLOCK_MONOTONIC), p = at(CLOCK_PROCESS_CPUTIME_ID);
        c->work(b);
        wall = fmin(wall, at(CLOCK_MONOTONIC) - w);
        cpu = fmin(cpu, at(CLOCK_PROCESS_CPUTIME_ID) - p);
    }
    printf("%.9g %.9g %ld\n", wall, cpu, peak_memory());
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    bed b = {.size = atoll(argv[2]), .path = argc > 4 ? argv[4] : NULL};
    if (xb_ctx_create(&b.ctx) != XB_OK) return 1;
    xb_ctx_set_threads(b.ctx, atoi(argv[3]));
    must(&b, xb_law_parse(b.ctx, &b.law, "mtj:B=0.15,w=0.5"));
    must(&b, xb_sampler_create(b.ctx, &b.sampler, b.law, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, argv[1]) == 0) run(&cases[i], &b);
    return 0;
}
