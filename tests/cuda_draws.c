/* cuda_draws.c: draws on the GPU have the bytes they have on the CPU: every word of
 * five laws (XB_LONG=1; else some words of each, slow cells among them), any part of a
 * stream, and products of draws within float's reach, the same bytes each time. On the
 * device, or as the CPU emulates it: whichever libxbc-device.so is loaded. */
#include "xbtest.h"

#include "crossbayes/extend.h"
#include "device.h"
#include "draw/kernel.h"

static void open_device(void)
{
    char why[XBC_TEXT];
    if (!xbc_open(why)) fail_msg("no device: %s", why);
}

static void sound(void)
{
    xbc_wait();
    if (xbc_error()) fail_msg("%s", xbc_error());
}

static void *bring(const void *from, size_t bytes)
{
    void *to = xbc_take(bytes);
    assert_non_null(to);
    xbc_put(to, from, bytes);
    return to;
}

static xbc_source bring_source(const xb_sampler *s)
{
    xbc_source source;
    assert_true(xbc_source_bring(&source, xb_sampler_source(s)));
    return source;
}

static xb_law *skewed_law(xb_ctx *ctx)
{
    enum { N = 4000 };
    static double x[N];
    xb_law *law = NULL;
    for (int i = 0; i < N; i++) x[i] = -log(1 - (i + 0.5) / N);
    assert_ok(ctx, xb_law_from_samples(ctx, &law, x, N));
    return law;
}

static const char *const laws[] = {"gaussian", "mtj:B=0.15,w=0.5", "ecram:B=0.1,w=0.6",
                                   "bimodal:m=0.9", "skewed"};
enum { LAWS = 5 };

static xb_sampler *sampler_of(xb_ctx *ctx, int i)
{
    xb_sampler *s = NULL;
    xb_law *law = i + 1 < LAWS ? test_law(ctx, laws[i]) : skewed_law(ctx);
    assert_ok(ctx, xb_sampler_create(ctx, &s, law, NULL));
    xb_law_destroy(law);
    return s;
}

/* ---- words */

typedef struct word_check {
    const xb_sampler *sampler;
    uint64_t *sum;
    uint32_t first; /* word */
} word_check;

static void sum_chunk(void *arg, int64_t chunk)
{
    const word_check *job = arg;
    static _Thread_local uint32_t word[XBC_CHECK_WORDS];
    static _Thread_local float z[XBC_CHECK_WORDS];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < XBC_CHECK_WORDS; i++)
        word[i] = job->first + (uint32_t)chunk * XBC_CHECK_WORDS + i;
    xb_sampler_map(job->sampler, z, word, XBC_CHECK_WORDS);
    for (uint32_t i = 0; i < XBC_CHECK_WORDS; i++) {
        uint32_t bits;
        memcpy(&bits, z + i, sizeof bits);
        sum += xbc_check_term(word[i], bits);
    }
    job->sum[chunk] = sum;
}

static void check_words(xb_ctx *ctx, int law, uint32_t first, int chunks)
{
    xb_sampler *s = sampler_of(ctx, law);
    xbc_source source = bring_source(s);
    size_t bytes = (size_t)chunks * sizeof(uint64_t);
    uint64_t *device = xbc_take(bytes), *got = malloc(bytes), *want = malloc(bytes);
    assert_true(device && got && want);
    xbc_check_words(device, &source, first, chunks);
    word_check job = {s, want, first};
    xb_parallel_for(ctx, chunks, sum_chunk, &job);
    xbc_get(got, device, bytes);
    sound();
    for (int i = 0; i < chunks; i++)
        if (got[i] != want[i])
            fail_msg("%s: words from %#x on are not the CPU's", laws[law],
                     first + (uint32_t)i * XBC_CHECK_WORDS);
    free(got), free(want);
    xbc_release(device);
    xbc_source_leave(&source);
    xb_sampler_destroy(s);
}

static void words_have_the_cpus_bytes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    open_device();
    for (int law = 0; law < LAWS; law++) {
        if (getenv("XB_LONG")) {
            check_words(ctx, law, 0, 1 << 16);
            print_message("%s: all 2^32 words\n", laws[law]);
            continue;
        }
        check_words(ctx, law, 0, 1); /* the far tails, in slow cells */
        check_words(ctx, law, UINT32_C(0x80000000) - XBC_CHECK_WORDS, 2);
        check_words(ctx, law, UINT32_C(0xabcd0000), 1);
    }
    xb_ctx_destroy(ctx);
}

/* ---- streams */

static float *numbers(int64_t n, double speed)
{
    float *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) x[i] = (float)sin(speed * (double)(i + 1));
    return x;
}

enum { SIZE = 150, PANELS = 7, STRIDE = 170, FIRST = 1234567 };

static void any_part_of_a_stream_has_the_cpus_bytes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    open_device();
    for (int law = 0; law < LAWS; law++) {
        xb_sampler *s = sampler_of(ctx, law);
        xbc_source source = bring_source(s);
        static float want[SIZE * PANELS], got[STRIDE * PANELS], sum[STRIDE * PANELS];
        static float mu[SIZE], sigma[SIZE];
        for (int i = 0; i < SIZE; i++)
            mu[i] = 0.1f * (float)i, sigma[i] = 1.0f / (float)(i + 1);
        xbc_draws job = {.source = source,
                         .where = {xb_key_make(3, XB_PURPOSE_TEST), 5, 7, 9},
                         .first = FIRST,
                         .count = SIZE * PANELS,
                         .size = SIZE,
                         .stride = STRIDE,
                         .z = xbc_take(sizeof got),
                         .theta = xbc_take(sizeof got),
                         .mu = bring(mu, sizeof mu),
                         .sigma = bring(sigma, sizeof sigma)};
        for (int turn = 0; turn < 2; turn++) {
            job.negate = turn;
            xbc_draw(&job);
            xb_sampler_fill(s, want, SIZE * PANELS, &job.where, FIRST);
            xbc_get(got, job.z, sizeof got), xbc_get(sum, job.theta, sizeof sum);
            sound();
            for (int i = 0; i < SIZE * PANELS; i++) {
                int at = i / SIZE * STRIDE + i % SIZE, k = i % SIZE;
                float z = turn ? -want[i] : want[i];
                assert_true(got[at] == z && sum[at] == mu[k] + sigma[k] * z);
            }
        }
        job.first = 640, job.count = job.size = 640, job.theta = NULL; /* whole blocks */
        xbc_draw(&job);
        xb_sampler_fill(s, want, 640, &job.where, 640);
        xbc_get(got, job.z, 640 * sizeof *got);
        for (int i = 0; i < 640; i++) assert_true(got[i] == -want[i]);
        sound();
        float *theta = xbc_take(640 * sizeof *theta), *wide = numbers(640, 0.4);
        job.mu = job.sigma = bring(wide, 640 * sizeof *wide);
        for (int both = 0; both < 2; both++) {
            xbc_clear(job.z, 640 * sizeof *got), xbc_clear(theta, 640 * sizeof *got);
            xbc_draws with = job;
            with.theta = theta;
            if (!both) with.z = NULL;
            xbc_draw(&with);
            xbc_get(got, job.z, 640 * sizeof *got),
                xbc_get(sum, theta, 640 * sizeof *sum);
            sound();
            for (int i = 0; i < 640; i++)
                assert_true(got[i] == (both ? -want[i] : 0) &&
                            sum[i] == wide[i] + wide[i] * -want[i]);
        }
        xbc_release(theta), free(wide);
        xbc_source_leave(&source);
        xb_sampler_destroy(s);
    }
    xb_ctx_destroy(ctx);
}

/* So many draws that threads take several rounds, and some beyond the last whole tile. */
static void long_runs_have_the_cpus_bytes(void **state)
{
    (void)state;
    enum { LONG = 2048 * 1100 + 640 };
    xb_ctx *ctx = test_ctx();
    open_device();
    for (int law = 0; law < 2; law++) {
        xb_sampler *s = sampler_of(ctx, law);
        xbc_source source = bring_source(s);
        float *want = malloc(LONG * sizeof *want), *z = malloc(LONG * sizeof *z),
              *theta = malloc(LONG * sizeof *theta), *mu = numbers(LONG, 0.4);
        assert_true(want && z && theta);
        xbc_draws job = {.source = source,
                         .where = {xb_key_make(4, XB_PURPOSE_TEST), 1, 2, 3},
                         .first = 128,
                         .count = LONG,
                         .size = LONG,
                         .negate = law == 1,
                         .z = xbc_take(LONG * sizeof *z),
                         .theta = xbc_take(LONG * sizeof *theta),
                         .mu = bring(mu, LONG * sizeof *mu)};
        job.sigma = job.mu;
        xbc_draw(&job);
        xb_sampler_fill(s, want, LONG, &job.where, 128);
        xbc_get(z, job.z, LONG * sizeof *z);
        xbc_get(theta, job.theta, LONG * sizeof *theta);
        sound();
        for (int i = 0; i < LONG; i++) {
            const float v = job.negate ? -want[i] : want[i];
            if (z[i] != v || theta[i] != mu[i] + mu[i] * v)
                fail_msg("%s: draw %d is not the CPU's", laws[law], i);
        }
        free(want), free(z), free(theta), free(mu);
        xbc_release(job.z), xbc_release(job.theta);
        xbc_source_leave(&source);
        xb_sampler_destroy(s);
    }
    xb_ctx_destroy(ctx);
}

/* ---- draws used up as they are made */

static void check_fused(xb_ctx *ctx, int law, int64_t rows, int64_t in, int64_t out)
{
    xb_sampler *s = sampler_of(ctx, law);
    xbc_source source = bring_source(s);
    int64_t size = in * out;
    float *x = calloc((size_t)(rows * in), sizeof *x),
          *mu = calloc((size_t)size, sizeof *mu);
    float *sigma = calloc((size_t)size, sizeof *sigma),
          *z = calloc((size_t)size, sizeof *z);
    float *y[2] = {calloc((size_t)(rows * out), sizeof *x),
                   calloc((size_t)(rows * out), sizeof *x)};
    assert_true(x && mu && sigma && z && y[0] && y[1]);
    for (int64_t i = 0; i < rows * in; i++) x[i] = (float)sin(0.7 * (double)i);
    for (int64_t i = 0; i < size; i++)
        mu[i] = (float)cos(0.3 * (double)i), sigma[i] = 0.1f + 0.01f * (float)(i % 37);
    xbc_fused job = {.source = source,
                     .where = {xb_key_make(8, XB_PURPOSE_TEST), 1, 2, 3},
                     .first = 3 * size,
                     .rows = rows,
                     .in = in,
                     .out = out,
                     .y = xbc_take((size_t)(rows * out) * sizeof *x),
                     .x = bring(x, (size_t)(rows * in) * sizeof *x),
                     .mu = bring(mu, (size_t)size * sizeof *mu),
                     .sigma = bring(sigma, (size_t)size * sizeof *mu),
                     .room = xbc_take((size_t)xbc_fused_room(rows, in, out) * sizeof *x)};
    for (int turn = 0; turn < 2; turn++) {
        xbc_fused_forward(&job);
        xbc_get(y[turn], job.y, (size_t)(rows * out) * sizeof *x);
    }
    sound();
    assert_memory_equal(y[0], y[1], (size_t)(rows * out) * sizeof *x);
    for (int64_t r = 0; r < rows; r++) {
        xb_sampler_fill(s, z, size, &job.where, (3 + r) * size);
        for (int64_t j = 0; j < out; j++) {
            double sum = 0, scale = 1;
            for (int64_t k = 0; k < in; k++) {
                double w = (double)mu[k * out + j] +
                           (double)sigma[k * out + j] * (double)z[k * out + j];
                sum += (double)x[r * in + k] * w,
                    scale += fabs((double)x[r * in + k] * w);
            }
            assert_at_most(fabs((double)y[0][r * out + j] - sum), 2e-6 * scale);
        }
    }
    float *all[] = {x, mu, sigma, z, y[0], y[1]};
    for (int i = 0; i < XB_COUNT(all); i++) free(all[i]);
    xbc_source_leave(&source);
    xb_sampler_destroy(s);
}

/* ---- on tensor cores: within 3 2^-18 of the sum of |x| |w|, and float's own rounding */

static const double TENSOR = 1.3e-5;

static void check_near(float got, double want, double scale)
{
    assert_at_most(fabs((double)got - want), TENSOR * scale);
}

/* Rows of a batch in groups of `group` with a draw each, of whose first `skip` are not
 * there; a bias for each draw. */
static void check_grouped_as(xb_ctx *ctx, int law, int64_t rows, int64_t group,
                             int64_t skip, int64_t in, int64_t out, bool wide)
{
    xb_sampler *s = sampler_of(ctx, law);
    xbc_source source = bring_source(s);
    /* mu does not always begin at a place where several numbers can be read at once */
    int64_t size = in * out, groups = (skip + rows - 1) / group + 1, shift = out == 64;
    float *x = numbers(rows * in, 0.7), *before = numbers(shift + size, 0.3),
          *mu = before + shift, *sigma = numbers(size, 0.11),
          *bias = numbers(groups * out, 0.5);
    float *z = malloc((size_t)size * sizeof *z), *y[2];
    for (int64_t i = 0; i < size; i++) sigma[i] = fabsf(sigma[i]);
    size_t bytes = (size_t)(rows * out) * sizeof *x;
    xbc_grouped job = {
        .source = source,
        .where = {xb_key_make(8, XB_PURPOSE_TEST), 1, 2, 3},
        .first = 3 * size,
        .negate = law == 1,
        .wide = wide,
        .rows = rows,
        .in = in,
        .out = out,
        .group = group,
        .groups = groups,
        .skip = skip,
        .y = xbc_take(bytes),
        .x = bring(x, (size_t)(rows * in) * sizeof *x),
        .mu = (float *)bring(before, (size_t)(shift + size) * sizeof *mu) + shift,
        .sigma = bring(sigma, (size_t)size * sizeof *mu),
        .bias = bring(bias, (size_t)(groups * out) * sizeof *bias),
        .room = xbc_take((size_t)xbc_grouped_room(rows, group, in, out) * sizeof *x)};
    assert_true(z && xbc_grouped_suits(&job.source, out));
    for (int turn = 0; turn < 2; turn++) {
        y[turn] = malloc(bytes);
        memset(y[turn], 0xff, bytes); /* NaN, unless it is written */
        xbc_put(job.y, y[turn], bytes);
        xbc_grouped_forward(&job);
        xbc_get(y[turn], job.y, bytes);
    }
    sound();
    assert_memory_equal(y[0], y[1], bytes);
    for (int64_t g = 0; g < groups; g++) {
        xb_sampler_fill(s, z, size, &job.where, (3 + g) * size);
        for (int64_t r = g * group - skip; r < (g + 1) * group - skip; r++) {
            for (int64_t j = 0; r >= 0 && r < rows && j < out; j++) {
                double sum = (double)bias[g * out + j], scale = 1;
                for (int64_t k = 0; k < in; k++) {
                    double noise = (double)sigma[k * out + j] * (double)z[k * out + j];
                    double w = (double)mu[k * out + j] + (job.negate ? -noise : noise);
                    sum += (double)x[r * in + k] * w;
                    scale += fabs((double)x[r * in + k] * w);
                }
                check_near(y[0][r * out + j], sum, scale);
            }
        }
    }
    float *all[] = {x, before, sigma, bias, z, y[0], y[1]};
    for (int i = 0; i < XB_COUNT(all); i++) free(all[i]);
    xbc_release(job.y), xbc_release(job.room);
    xbc_source_leave(&source);
    xb_sampler_destroy(s);
}

/* As the device has it, and without what Hopper GPUs alone have. */
static void check_grouped(xb_ctx *ctx, int law, int64_t rows, int64_t group, int64_t skip,
                          int64_t in, int64_t out)
{
    check_grouped_as(ctx, law, rows, group, skip, in, out, false);
    check_grouped_as(ctx, law, rows, group, skip, in, out, true);
}

static void groups_with_a_draw_each_are_right(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    open_device();
    check_grouped(ctx, 0, 30, 16, 5, 150, 128);
    check_grouped(ctx, 0, 120, 100, 7, 150, 128);
    check_grouped(ctx, 2, 200, 180, 0, 260, 128);
    check_grouped(ctx, 0, 30, 16, 5, 150, 64);
    check_grouped(ctx, 1, 64, 64, 0, 33, 128);
    check_grouped(ctx, 0, 310, 300, 4, 70, 128); /* blocks of 256 and of 44 rows */
    check_grouped(ctx, 0, 70, 70, 0, 20, 256);   /* one stage */
    check_grouped(ctx, 0, 100, 50, 10, 20, 64);
    check_grouped(ctx, 2, 40, 20, 0, 17, 64);
    check_grouped(ctx, 0, 90, 80, 3, 140, 64); /* rows shared by warps */
    check_grouped_as(ctx, 2, 3, 16, 0, 1100, 2048, true);
    check_grouped_as(ctx, 0, 16, 16, 0, 403, 128, true); /* two slices */
    check_grouped_as(ctx, 1, 9, 11, 2, 131, 128, true);
    check_grouped_as(ctx, 0, 1, 1, 0, 16, 128, true); /* one step */
    check_grouped_as(ctx, 0, 2, 2, 0, 5, 128, true);
    check_grouped_as(ctx, 0, 7, 3, 1, 1040, 256, true);
    check_grouped_as(ctx, 2, 10, 10, 0, 40, 192, true); /* three panels */
    if (getenv("XB_LONG")) {
        check_grouped(ctx, 0, 300, 16, 3, 1000, 1024);
        check_grouped(ctx, 2, 700, 300, 100, 1030, 512);
    }
    xb_ctx_destroy(ctx);
}

/* Sums by their definition (N1, N2), of y, dx and dw as `what` says. */
static void by_definition(double *sum, double *scale, int what, const float *a,
                          const float *b, const xbc_window *g, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < g->oh * g->ow * g->kh * g->kw; i++) {
            int oy = i / (g->kh * g->kw) / g->ow, ox = i / (g->kh * g->kw) % g->ow;
            int ky = i / g->kw % g->kh, kx = i % g->kw;
            int y = oy * g->stride - g->top + ky, x = ox * g->stride - g->left + kx;
            if (y < 0 || y >= g->h || x < 0 || x >= g->w) continue;
            for (int c = 0; c < g->c; c++)
                for (int o = 0; o < g->oc; o++) {
                    int64_t in = ((r * g->h + y) * g->w + x) * g->c + c;
                    int64_t out = ((r * g->oh + oy) * g->ow + ox) * g->oc + o;
                    int64_t w = ((int64_t)(ky * g->kw + kx) * g->c + c) * g->oc + o;
                    const int64_t at[3][3] = {{out, in, w}, {in, out, w}, {w, in, out}};
                    double v = (double)a[at[what][1]] * (double)b[at[what][2]];
                    sum[at[what][0]] += v, scale[at[what][0]] += fabs(v);
                }
        }
}

static void check_product(const xbc_window *g, int64_t rows)
{
    int64_t in = rows * g->h * g->w * g->c, out = rows * g->oh * g->ow * g->oc,
            size = (int64_t)g->kh * g->kw * g->c * g->oc;
    float *x = numbers(in, 0.7), *dy = numbers(out, 0.9), *w = numbers(size, 0.3);
    const xbc_parts parts = {.rows = rows, .batch = rows, .count = 1};
    for (int what = 0; what < 3; what++) {
        int64_t n = what == 0 ? out : what == 1 ? in : size;
        size_t bytes = (size_t)n * sizeof(float);
        float *to = xbc_take(bytes), *got = malloc(bytes);
        double *sum = calloc((size_t)n, sizeof *sum),
               *scale = calloc((size_t)n, sizeof *sum);
        const float *a = what == 1 ? dy : x, *b = what == 2 ? dy : w;
        void *da = bring(a, (size_t)(what == 1 ? out : in) * sizeof *a);
        void *db = bring(b, (size_t)(what == 2 ? out : size) * sizeof *b);
        if (what == 0) xbc_forward(to, da, db, false, g, &parts);
        if (what == 1) xbc_backward_input(to, da, db, g, &parts);
        if (what == 2) xbc_backward_weight(to, da, db, false, g, &parts);
        xbc_get(got, to, bytes);
        sound();
        by_definition(sum, scale, what, a, b, g, rows);
        for (int64_t i = 0; i < n; i++) check_near(got[i], sum[i], scale[i] + 1e-2);
        xbc_release(to), xbc_release(da), xbc_release(db);
        free(got), free(sum), free(scale);
    }
    free(x), free(dy), free(w);
}

static void products_on_tensor_cores_are_right(void **state)
{
    (void)state;
    open_device();
    const xbc_window dense = {1, 1, 70, 1, 1, 67, 1, 1, 1, 0, 0};
    const xbc_window conv = {9, 8, 9, 9, 8, 7, 3, 3, 1, 1, 1};
    const xbc_window strided = {11, 12, 5, 5, 6, 40, 3, 3, 2, 0, 0};
    check_product(&dense, 130);
    check_product(&conv, 8);
    check_product(&strided, 6);
}

static void products_of_draws_are_right(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    open_device();
    check_fused(ctx, 0, 1, 70, 64);
    check_fused(ctx, 1, 4, 33, 128);
    check_fused(ctx, 4, 6, 130, 64);
    check_fused(ctx, 0, 5, 1700, 64); /* slow draws are shared more than once */
    if (getenv("XB_LONG")) check_fused(ctx, 0, 10, 1000, 1024);
    xb_ctx_destroy(ctx);
}

/* ---- a net under many draws at once */

enum { IN = 3, HIDDEN = 70, OUT = 2, MANY_ROWS = 9, MANY = 5 };
enum { PARAMS = (IN + 1) * HIDDEN + HIDDEN * OUT };

/* One row by the weights theta, layer by layer. */
static void by_layers(double *y, const float *x, const double *theta)
{
    for (int o = 0; o < OUT; o++) y[o] = 0;
    for (int h = 0; h < HIDDEN; h++) {
        double sum = theta[IN * HIDDEN + h];
        for (int k = 0; k < IN; k++) sum += (double)x[k] * theta[k * HIDDEN + h];
        double v = sum > 0 ? sum : expm1(sum);
        for (int o = 0; o < OUT; o++) y[o] += v * theta[(IN + 1) * HIDDEN + h * OUT + o];
    }
}

static void many_draws_at_once_are_right(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    open_device();
    xb_sampler *s = sampler_of(ctx, 0);
    xbc_source source = bring_source(s);
    float *mu = numbers(PARAMS, 0.3), *sigma = numbers(PARAMS, 0.11),
          *x = numbers(MANY_ROWS * IN, 0.7);
    for (int i = 0; i < PARAMS; i++) sigma[i] = fabsf(sigma[i]);
    static float y[MANY][MANY_ROWS][OUT];
    xbc_many job = {.source = source,
                    .where = {xb_key_make(8, XB_PURPOSE_TEST), 0, 4, 3},
                    .antithetic = true,
                    .rows = MANY_ROWS,
                    .count = MANY,
                    .params = PARAMS,
                    .links = 2,
                    .link = {{IN, HIDDEN, 1, 0, XBC_ELU},
                             {HIDDEN, OUT, 0, (IN + 1) * HIDDEN, XBC_NONE}},
                    .tensors = 3,
                    .tensor = {{0, 1, 0, IN * HIDDEN},
                               {1, 0, IN * HIDDEN, HIDDEN}, /* fixed */
                               {2, 1, (IN + 1) * HIDDEN, HIDDEN * OUT}},
                    .y = xbc_take(sizeof y),
                    .theta = xbc_take(MANY * PARAMS * sizeof *mu),
                    .x = bring(x, MANY_ROWS * IN * sizeof *x),
                    .mu = bring(mu, PARAMS * sizeof *mu),
                    .sigma = bring(sigma, PARAMS * sizeof *mu)};
    xbc_many_draws(&job);
    xbc_get(y, job.y, sizeof y);
    sound();
    for (int d = 0; d < MANY; d++) {
        static double theta[PARAMS];
        static float z[PARAMS];
        for (int k = 0; k < job.tensors; k++) {
            const xbc_tensor *n = &job.tensor[k];
            const xb_stream where = {job.where.key, n->number,
                                     (job.where.sample + (uint32_t)d) & ~1u, 3};
            xb_sampler_fill(s, z, n->size, &where, 0);
            for (int64_t i = 0; i < n->size; i++) {
                double noise = (double)sigma[n->offset + i] * (double)z[i];
                theta[n->offset + i] = (double)mu[n->offset + i] + (!n->stochastic ? 0
                                                                    : d % 2 ? -noise
                                                                            : noise);
            }
        }
        for (int r = 0; r < MANY_ROWS; r++) {
            double want[OUT];
            by_layers(want, x + r * IN, theta);
            for (int o = 0; o < OUT; o++)
                assert_at_most(fabs((double)y[d][r][o] - want[o]), 3e-5);
        }
    }
    free(mu), free(sigma), free(x);
    xbc_source_leave(&source);
    xb_sampler_destroy(s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_the_cpus_bytes),
        cmocka_unit_test(any_part_of_a_stream_has_the_cpus_bytes),
        cmocka_unit_test(long_runs_have_the_cpus_bytes),
        cmocka_unit_test(products_of_draws_are_right),
        cmocka_unit_test(groups_with_a_draw_each_are_right),
        cmocka_unit_test(products_on_tensor_cores_are_right),
        cmocka_unit_test(many_draws_at_once_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
