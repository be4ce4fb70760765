/* cuda_rates.c: how many draws and weights a second the GPU module's kernels make: draws
 * to memory, products of one input a draw (x [row] has weights of its own) and of many,
 * plain products, a small net under many draws, by the host's clock around many calls. A
 * line each: what, law, size, rate. bench_cuda.py runs it beside PyTorch.
 *
 *     cuda_rates [LAW ...]
 *     cuda_rates --only draws|product|inputs|predict [LAW ...] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crossbayes/crossbayes.h"
#include "device.h"
#include "draw/kernel.h"

static const double SECONDS = 0.2; /* of one measurement */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *why)
{
    fprintf(stderr, "cuda_rates: %s\n", why);
    exit(1);
}

static void *taken(size_t bytes)
{
    void *p = xbc_take(bytes);
    if (!p) stop("no memory on the device");
    return p;
}

static void *bring(const void *from, size_t bytes)
{
    void *to = taken(bytes);
    xbc_put(to, from, bytes);
    return to;
}

static xbc_source source_of(const xb_sampler *s)
{
    xbc_source source;
    if (!xbc_source_bring(&source, xb_sampler_source(s))) stop("no memory on the device");
    return source;
}

static float *numbers(int64_t n, double low, double high)
{
    float *host = malloc((size_t)n * sizeof *host);
    if (!host) stop("no memory");
    for (int64_t i = 0; i < n; i++)
        host[i] = (float)(low + (high - low) * fmod(0.6180339887 * (double)(i + 1), 1));
    float *there = bring(host, (size_t)n * sizeof *host);
    free(host);
    return there;
}

typedef void (*job_fn)(void *job);

/* Seconds a call: the median of five measurements. */
static double seconds_of(job_fn run, void *job)
{
    double best[5];
    int64_t calls = 1;
    run(job), xbc_wait();
    for (double took = 0; took < SECONDS / 10 && !xbc_error(); calls *= 2) {
        double from = now();
        for (int64_t i = 0; i < calls; i++) run(job);
        xbc_wait();
        took = now() - from;
    }
    for (int k = 0; k < 5; k++) {
        double from = now();
        for (int64_t i = 0; i < calls; i++) run(job);
        xbc_wait();
        best[k] = (now() - from) / (double)calls;
        for (int j = k; j > 0 && best[j] < best[j - 1]; j--) {
            double t = best[j];
            best[j] = best[j - 1], best[j - 1] = t;
        }
    }
    if (xbc_error()) stop(xbc_error());
    return best[2];
}

static void run_draws(void *job) { xbc_draw(job); }
static void run_fused(void *job) { xbc_fused_forward(job); }

/* The one kind of work to measure; NULL: all. */
static const char *only;

static bool wanted(const char *what) { return !only || strcmp(only, what) == 0; }

static void time_draws(const char *law, xbc_source source)
{
    const int64_t n = INT64_C(1) << 28;
    float *z = taken((size_t)n * sizeof *z);
    xbc_draws job = {.source = source, .count = n, .size = n, .z = z};
    printf("draws %s %lld %.4g\n", law, (long long)n,
           (double)n / seconds_of(run_draws, &job));
    xbc_release(z);
}

static void time_fused(const char *law, xbc_source source, int64_t n, int64_t rows)
{
    xbc_fused job = {.source = source,
                     .rows = rows,
                     .in = n,
                     .out = n,
                     .y = taken((size_t)(rows * n) * sizeof(float)),
                     .x = numbers(rows * n, -1, 1),
                     .mu = numbers(n * n, -1, 1),
                     .sigma = numbers(n * n, 0.1, 0.5),
                     .room = taken((size_t)xbc_fused_room(rows, n, n) * sizeof(float))};
    double seconds = seconds_of(run_fused, &job);
    printf("product-%lld %s %lld %.4g\n", (long long)n, law, (long long)rows,
           (double)(rows * n * n) / seconds);
    xbc_release(job.y), xbc_release(job.room);
}

static void run_grouped(void *job) { xbc_grouped_forward(job); }

/* How far the two ways are apart: |a - b| / |a| of n numbers on the device. */
static double apart(const float *a, const float *b, int64_t n)
{
    const size_t bytes = (size_t)n * sizeof *a;
    float *u = malloc(bytes), *v = malloc(bytes);
    double difference = 0, norm = 0;
    if (!u || !v) stop("no memory");
    xbc_get(u, a, bytes), xbc_get(v, b, bytes);
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)u[i], d = x - (double)v[i];
        difference += d * d, norm += x * x;
    }
    free(u), free(v);
    return sqrt(difference / norm);
}

/* `rows` inputs with one draw, without and with what Hopper GPUs alone have. */
static void time_grouped(const char *law, xbc_source source, int64_t n, int64_t rows)
{
    if (!xbc_grouped_suits(&source, n)) return;
    float *y[2];
    xbc_grouped job = {
        .source = source,
        .rows = rows,
        .group = rows,
        .groups = 1,
        .in = n,
        .out = n,
        .x = numbers(rows * n, -1, 1),
        .mu = numbers(n * n, -1, 1),
        .sigma = numbers(n * n, 0.1, 0.5),
        .room = taken((size_t)xbc_grouped_room(rows, rows, n, n) * sizeof(float))};
    for (int wide = 0; wide < 2; wide++) {
        job.y = y[wide] = taken((size_t)(rows * n) * sizeof(float));
        job.wide = wide;
        double seconds = seconds_of(run_grouped, &job);
        printf("inputs-%lld%s %s %lld %.4g\n", (long long)n, wide ? "-wide" : "", law,
               (long long)rows, (double)(n * n) / seconds);
    }
    printf("# the two are apart by %.2g\n", apart(y[0], y[1], rows * n));
    xbc_release(y[0]), xbc_release(y[1]), xbc_release(job.room);
}

/* The same as layers do it with more inputs: weights drawn to memory, then a product. */
typedef struct shared_job {
    xbc_draws draws;
    float *y;
    const float *x;
    xbc_window window;
    xbc_parts parts;
} shared_job;

static void run_shared(void *arg)
{
    const shared_job *job = arg;
    xbc_draw(&job->draws);
    xbc_forward(job->y, job->x, job->draws.theta, false, &job->window, &job->parts);
}

static void time_shared(const char *law, xbc_source source, int64_t n, int64_t rows)
{
    shared_job job = {.draws = {.source = source,
                                .count = n * n,
                                .size = n * n,
                                .theta = taken((size_t)(n * n) * sizeof(float)),
                                .mu = numbers(n * n, -1, 1),
                                .sigma = numbers(n * n, 0.1, 0.5)},
                      .y = taken((size_t)(rows * n) * sizeof(float)),
                      .x = numbers(rows * n, -1, 1),
                      .window = {1, 1, (int)n, 1, 1, (int)n, 1, 1, 1, 0, 0},
                      .parts = {.rows = rows, .batch = rows, .count = 1}};
    double seconds = seconds_of(run_shared, &job);
    printf("inputs-%lld-by-memory %s %lld %.4g\n", (long long)n, law, (long long)rows,
           (double)(n * n) / seconds);
    xbc_release(job.y), xbc_release(job.draws.theta);
}

/* A plain product of matrices, as layers use it: multiplications a second. */
typedef struct product_job {
    float *y;
    const float *x, *w;
    xbc_window window;
    xbc_parts parts;
} product_job;

static void run_product(void *arg)
{
    const product_job *job = arg;
    xbc_forward(job->y, job->x, job->w, false, &job->window, &job->parts);
}

static void time_product(const char *name, xbc_window g, int64_t rows)
{
    int64_t in = rows * g.h * g.w * g.c, out = rows * g.oh * g.ow * g.oc,
            size = (int64_t)g.kh * g.kw * g.c * g.oc;
    product_job job = {.y = taken((size_t)out * sizeof(float)),
                       .x = numbers(in, -1, 1),
                       .w = numbers(size, -1, 1),
                       .window = g,
                       .parts = {.rows = rows, .batch = rows, .count = 1}};
    double seconds = seconds_of(run_product, &job);
    printf("%s - %lld %.4g\n", name, (long long)rows,
           (double)(out * g.kh * g.kw * g.c) / seconds);
    xbc_release(job.y);
}

static void time_plain_products(void)
{
    time_product("dense-4096", (xbc_window){1, 1, 4096, 1, 1, 4096, 1, 1, 1, 0, 0}, 4096);
    time_product("conv-200x200x16",
                 (xbc_window){200, 200, 16, 200, 200, 16, 3, 3, 1, 1, 1}, 100);
}

static void run_many(void *arg) { xbc_many_draws(arg); }

/* The scalar net, two layers of 16: outputs a second, 1000 rows under 1000 draws. */
static void time_many(const char *law, xbc_source source)
{
    enum { W = 16, N = 1000, P = W * 4 + W * W + 1 };
    xbc_many job = {.source = source,
                    .rows = N,
                    .count = N,
                    .params = P,
                    .links = 3,
                    .link = {{1, W, 1, 0, XBC_ELU},
                             {W, W, 1, 2 * W, XBC_ELU},
                             {W, 1, 1, 3 * W + W * W, XBC_NONE}},
                    .tensors = 6,
                    .tensor = {{0, 1, 0, W},
                               {1, 1, W, W},
                               {2, 1, 2 * W, W * W},
                               {3, 1, 2 * W + W * W, W},
                               {4, 1, 3 * W + W * W, W},
                               {5, 1, 4 * W + W * W, 1}},
                    .y = taken(N * N * sizeof(float)),
                    .theta = taken(N * P * sizeof(float)),
                    .x = numbers(N, -1, 1),
                    .mu = numbers(P, -1, 1),
                    .sigma = numbers(P, 0.1, 0.5)};
    printf("predict-scalar %s %d %.4g\n", law, N,
           (double)N * N / seconds_of(run_many, &job));
    xbc_release(job.y), xbc_release(job.theta);
}

static void time_products(const char *law, xbc_source source)
{
    time_fused(law, source, 1024, 1);
    time_fused(law, source, 1024, 64);
    time_fused(law, source, 1024, 256);
    time_fused(law, source, 4096, 1);
    time_fused(law, source, 4096, 16);
}

static void time_inputs(const char *law, xbc_source source)
{
    time_grouped(law, source, 4096, 16);
    time_grouped(law, source, 4096, 64);
    time_grouped(law, source, 4096, 128);
    time_grouped(law, source, 4096, 256);
    time_grouped(law, source, 1024, 16);
    time_grouped(law, source, 1024, 256);
    time_shared(law, source, 4096, 256);
}

static void time_law(xb_ctx *ctx, const char *text)
{
    xb_law *law = NULL;
    xb_sampler *s = NULL;
    if (xb_law_parse(ctx, &law, text) != XB_OK ||
        xb_sampler_create(ctx, &s, law, NULL) != XB_OK)
        stop(xb_ctx_message(ctx));
    xbc_source source = source_of(s);
    printf("# %s: %d columns, degree %d, halves %d, slow share %.3g\n", text,
           source.columns, source.degree, source.halves,
           xb_sampler_describe(s).slow_share);
    if (wanted("draws")) time_draws(text, source);
    if (wanted("product")) time_products(text, source);
    if (wanted("inputs")) time_inputs(text, source);
    if (wanted("predict")) time_many(text, source);
    xb_sampler_destroy(s);
    xb_law_destroy(law);
}

int main(int argc, char **argv)
{
    static const char *const laws[] = {"gaussian", "mtj:B=0.15,w=0.5",
                                       "ecram:B=0.1,w=0.6"};
    char why[XBC_TEXT];
    xb_ctx *ctx = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a line as soon as it is known */
    if (!xbc_open(why)) stop(why);
    if (xb_ctx_create(&ctx) != XB_OK) stop("no memory");
    if (argc > 2 && strcmp(argv[1], "--only") == 0) only = argv[2], argc -= 2, argv += 2;
    if (only && strcmp(only, "draws") != 0 && strcmp(only, "product") != 0 &&
        strcmp(only, "inputs") != 0 && strcmp(only, "predict") != 0)
        stop("--only takes draws, product, inputs or predict");
    for (int i = 0; i < (argc > 1 ? argc - 1 : 3); i++)
        time_law(ctx, argc > 1 ? argv[i + 1] : laws[i]);
    if (!only) time_plain_products();
    xb_ctx_destroy(ctx);
    return 0;
}
