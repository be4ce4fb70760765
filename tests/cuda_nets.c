/* cuda_nets.c: the GPU module's kernels for whole pieces of nets beside the plain ones
 * that do the same layer by layer: convolution, relu and maxpool as one; small nets whose
 * rows stay in registers; images as bytes; tiles of arrays. On the device, or as the CPU
 * emulates it. */
#include "xbtest.h"

#include "backend/array_ops.h"
#include "crossbayes/extend.h"
#include "device.h"
#include "draw/kernel.h"

static void sound(void)
{
    xbc_wait();
    if (xbc_error()) fail_msg("%s", xbc_error());
}

static void open_device(void)
{
    char why[XBC_TEXT];
    if (!xbc_open(why)) fail_msg("no device: %s", why);
}

static void *taken(size_t bytes)
{
    void *to = xbc_take(bytes);
    assert_non_null(to);
    return to;
}

static void *bring(const void *from, size_t bytes)
{
    void *to = taken(bytes);
    xbc_put(to, from, bytes);
    return to;
}

/* Between -1 and 1, no two alike. */
static float *numbers(int64_t n, double speed)
{
    float *to = malloc((size_t)n * sizeof *to);
    assert_non_null(to);
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)(2 * fmod(0.6180339887 * speed * (double)(i + 1), 1) - 1);
    return to;
}

static float *numbers_there(int64_t n, double speed)
{
    float *here = numbers(n, speed), *there = bring(here, (size_t)n * sizeof *here);
    free(here);
    return there;
}

static float *fetched(const float *from, int64_t n)
{
    float *to = malloc((size_t)n * sizeof *to);
    assert_non_null(to);
    xbc_get(to, from, (size_t)n * sizeof *to);
    return to;
}

/* Two buffers agree to `near`, and are not all 0. */
static void check_same(const float *a, const float *b, int64_t n, double near)
{
    float *left = fetched(a, n), *right = fetched(b, n);
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_at_most(fabs((double)left[i] - (double)right[i]), near);
        largest = fmax(largest, fabs((double)right[i]));
    }
    assert_true(largest > 0.01);
    free(left), free(right);
}

/* ---- blocks */

typedef struct sizes {
    int h, w, c, oc, pad, ceil;
} sizes;

/* The same by the layers' own kernels: y, dx and dw [n], with dy given. */
typedef struct by_layers {
    float *conv, *y, *d_pool, *dx, *dw;
} by_layers;

static by_layers layer_by_layer(const xbc_block *b, const xbc_window *pool, int64_t n)
{
    const xbc_window *g = &b->conv;
    const int64_t inner = b->rows * g->oh * g->ow * g->oc;
    const xbc_parts all = {.rows = b->rows, .batch = b->rows, .count = 1};
    by_layers l = {.conv = taken((size_t)inner * sizeof(float)),
                   .y = taken((size_t)(b->rows * b->ph * b->pw * g->oc) * sizeof(float)),
                   .d_pool = taken((size_t)inner * sizeof(float)),
                   .dx = taken((size_t)(b->rows * g->h * g->w * g->c) * sizeof(float)),
                   .dw = taken((size_t)n * sizeof(float))};
    xbc_forward(l.conv, b->x, b->w, b->bias != NULL, g, &all);
    xbc_activate(l.conv, l.conv, inner, XBC_RELU);
    xbc_maxpool(l.y, l.conv, b->rows, pool);
    xbc_maxpool_backward(l.d_pool, b->dy, l.conv, b->rows, pool);
    xbc_deactivate(l.d_pool, l.d_pool, l.conv, inner, XBC_RELU);
    xbc_backward_weight(l.dw, b->x, l.d_pool, b->bias != NULL, g, &all);
    xbc_backward_input(l.dx, l.d_pool, b->w, g, &all);
    return l;
}

static void leave_layers(const by_layers *l)
{
    xbc_release(l->conv), xbc_release(l->y), xbc_release(l->d_pool);
    xbc_release(l->dx), xbc_release(l->dw);
}

static void check_block(sizes s, int64_t rows, bool bias)
{
    const int oh = s.h + 2 * s.pad - 2, ow = s.w + 2 * s.pad - 2, up = s.ceil;
    const int ph = (oh + up) / 2, pw = (ow + up) / 2;
    const xbc_window g = {s.h, s.w, s.c, oh, ow, s.oc, 3, 3, 1, s.pad, s.pad};
    const xbc_window pool = {oh, ow, s.oc, ph, pw, s.oc, 2, 2, 2, 0, 0};
    const int64_t size = (int64_t)9 * s.c * s.oc, n = size + (bias ? s.oc : 0);
    const int64_t out = rows * ph * pw * s.oc, in = rows * s.h * s.w * s.c;
    float *w = numbers_there(n, 1);
    xbc_block b = {.conv = g,
                   .ph = ph,
                   .pw = pw,
                   .rows = rows,
                   .x = numbers_there(in, 7),
                   .w = w,
                   .bias = bias ? w + size : NULL,
                   .y = taken((size_t)out * sizeof(float)),
                   .place = taken((size_t)out),
                   .dy = numbers_there(out, 3),
                   .dx = taken((size_t)in * sizeof(float))};
    const int64_t slices = xbc_block_slices(&b);
    b.dw = taken((size_t)(slices * n) * sizeof(float));
    float *dw = taken((size_t)n * sizeof(float));
    by_layers l = layer_by_layer(&b, &pool, n);
    xbc_block_forward(&b);
    xbc_block_weight(&b);
    xbc_block_input(&b);
    xbc_add_parts(dw, b.dw, n, NULL, 0, slices, n, 1);
    /* on tensor cores within 3 2^-18 of the sum of |x| |w|, all of them below 1 */
    check_same(b.y, l.y, out, 1e-4 + 3 * 0x1p-18 * 9 * s.c);
    check_same(b.dx, l.dx, in, 2e-4 + 3 * 0x1p-18 * 9 * s.oc);
    check_same(dw, l.dw, n, 1e-6 * (double)(rows * oh * ow) + 1e-4);
    sound();
    leave_layers(&l);
    xbc_release(w), xbc_release(b.y), xbc_release(b.place), xbc_release(b.dx);
    xbc_release(b.dw), xbc_release(dw);
}

static void blocks_are_their_layers(void **state)
{
    (void)state;
    open_device();
    check_block((sizes){.h = 7, .w = 6, .c = 3, .oc = 5, .pad = 1, .ceil = 1}, 3, true);
    check_block((sizes){.h = 6, .w = 9, .c = 4, .oc = 8, .pad = 1, .ceil = 0}, 2, true);
    check_block((sizes){.h = 5, .w = 4, .c = 8, .oc = 3, .pad = 0, .ceil = 1}, 2, false);
    check_block((sizes){.h = 4, .w = 4, .c = 36, .oc = 20, .pad = 1, .ceil = 1}, 2, true);
    check_block((sizes){.h = 5, .w = 7, .c = 2, .oc = 17, .pad = 1}, 1, false);
    const sizes larger = {.h = 8, .w = 8, .c = 16, .oc = 16, .pad = 1};
    check_block(larger, 24, true); /* more outputs a thread */
    check_block((sizes){.h = 8, .w = 8, .c = 8, .oc = 12, .pad = 1}, 12, true);
    check_block((sizes){.h = 8, .w = 8, .c = 3, .oc = 16, .pad = 1}, 24, true);
    check_block((sizes){.h = 2, .w = 2, .c = 1, .oc = 1, .pad = 1, .ceil = 1}, 1, true);
    /* on tensor cores: several tiles, edges, more channels than a step */
    check_block((sizes){.h = 19, .w = 18, .c = 3, .oc = 16, .pad = 1, .ceil = 1}, 2,
                true);
    check_block((sizes){.h = 18, .w = 21, .c = 16, .oc = 32, .pad = 1}, 2, false);
    check_block((sizes){.h = 17, .w = 5, .c = 32, .oc = 16, .pad = 0, .ceil = 1}, 2,
                true);
}

/* A batchnorm before it, which x goes through as it is read. */
static void blocks_read_through_batchnorm(void **state)
{
    enum { H = 19, W = 17, C = 32, OC = 16, ROWS = 2, PH = 10, PW = 9 };
    const int64_t in = (int64_t)ROWS * H * W * C, out = (int64_t)ROWS * PH * PW * OC;
    (void)state;
    open_device();
    float *x = numbers_there(in, 7), *w = numbers_there(9 * C * OC, 1);
    float *scale = numbers_there(C, 5), *shift = numbers_there(C, 3);
    float *keep = taken(5 * C * sizeof(float)), *running = numbers_there(2 * C, 11);
    float *normed = taken((size_t)in * sizeof(float));
    float *y = taken((size_t)out * sizeof(float)),
          *other = taken((size_t)out * sizeof(float));
    xbc_fill(running + C, 0.3f, C); /* variances */
    const xbc_norm norm = {.rows = ROWS * H * W,
                           .c = C,
                           .keep = keep,
                           .scale = scale,
                           .shift = shift,
                           .state = running,
                           .epsilon = 1e-5};
    xbc_block b = {.conv = {H, W, C, H, W, OC, 3, 3, 1, 1, 1},
                   .ph = PH,
                   .pw = PW,
                   .rows = ROWS,
                   .w = w};
    xbc_norm_forward(&norm, normed, x);
    b.x = normed, b.y = other;
    xbc_block_forward(&b);
    xbc_norm_ready(&norm, x);
    b.x = x, b.y = y, b.mean = keep, b.gain = keep + 2 * C, b.shift = shift;
    xbc_block_forward(&b);
    check_same(y, other, out, 0);
    sound();
    float *all[] = {x, w, scale, shift, keep, running, normed, y, other};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) xbc_release(all[i]);
}

/* A window of zeros, of equals and of a NaN: the first of the largest, none where relu is
 * 0, and a NaN that stays. */
static void a_nan_stays_and_zeros_have_no_place(void **state)
{
    (void)state;
    float x[3 * 16] = {0}, w[9] = {0}, y[3 * 4];
    uint8_t place[3 * 4];
    w[4] = 1; /* the middle: the convolution is x */
    x[16 + 1] = x[16 + 4] = 2;
    x[32 + 5] = NAN;
    open_device();
    xbc_block b = {.conv = {4, 4, 1, 4, 4, 1, 3, 3, 1, 1, 1},
                   .ph = 2,
                   .pw = 2,
                   .rows = 3,
                   .x = bring(x, sizeof x),
                   .w = bring(w, sizeof w),
                   .y = taken(sizeof y),
                   .place = taken(sizeof place)};
    xbc_block_forward(&b);
    xbc_get(y, b.y, sizeof y);
    xbc_get(place, b.place, sizeof place);
    sound();
    for (int i = 0; i < 4; i++) assert_true(y[i] == 0 && place[i] == 4);
    assert_true(y[4] == 2 && place[4] == 1 && y[5] == 0 && place[5] == 4);
    for (int i = 8; i < 12; i++) assert_true(y[i] != y[i]); /* 0 times NaN reaches all */
}

/* ---- stacks */

enum { STACKED = 4 };

typedef struct stack_case {
    int h, w, rows, blocks;
    int c[STACKED + 1]; /* channels, from the input on */
    int pad[STACKED], ceil[STACKED];
    bool bias, before, after;
} stack_case;

static xbc_affine affine_there(int c, double speed)
{
    float *to = taken(4 * (size_t)c * sizeof *to), *part = numbers(4 * c, speed);
    for (int i = 3 * c; i < 4 * c; i++) part[i] = 1.5F + part[i]; /* variances */
    xbc_put(to, part, 4 * (size_t)c * sizeof *to);
    free(part);
    return (xbc_affine){to, to + c, to + 2 * c, to + 3 * c, 1e-3};
}

/* x through a batchnorm [c], as its own kernel does it. */
static float *normed_there(const xbc_affine *a, const float *x, int64_t rows, int c)
{
    float *y = taken((size_t)(rows * c) * sizeof *y),
          *keep = taken(5 * (size_t)c * sizeof *y);
    const xbc_norm norm = {.rows = rows,
                           .c = c,
                           .keep = keep,
                           .scale = a->scale,
                           .shift = a->shift,
                           .state = a->mean,
                           .epsilon = a->epsilon};
    xbc_norm_forward(&norm, y, x);
    xbc_release(keep);
    return y;
}

/* One block after the other, with its batchnorm. */
static float *block_by_block(const xbc_stack *job, int64_t *n)
{
    const int c = job->block[0].conv.c;
    const int64_t in = job->rows * job->block[0].conv.h * job->block[0].conv.w;
    float *x = taken((size_t)(in * c) * sizeof *x);
    xbc_copy(x, job->x, (size_t)(in * c) * sizeof *x);
    for (int i = -1; i < job->blocks; i++) {
        const xbc_stack_block *b = &job->block[i < 0 ? 0 : i];
        const xbc_affine *a = i < 0 ? &job->before : &b->after;
        const int64_t pixels = i < 0 ? in : job->rows * b->ph * b->pw;
        const int channels = i < 0 ? c : b->conv.oc;
        float *y = x;
        if (i >= 0) {
            y = taken((size_t)(pixels * channels) * sizeof *y);
            const xbc_block alone = {b->conv, b->ph,   b->pw, job->rows,    x,
                                     b->w,    b->bias, y,     .place = NULL};
            xbc_block_forward(&alone);
            xbc_release(x);
        }
        x = y, *n = pixels * channels;
        if (!a->scale) continue;
        x = normed_there(a, y, pixels, channels);
        xbc_release(y);
    }
    return x;
}

static void check_stack(const stack_case *s)
{
    xbc_stack job = {.rows = s->rows, .blocks = s->blocks};
    double near = 1e-5;
    int h = s->h, w = s->w;
    for (int i = 0; i < s->blocks; i++) {
        const int c = s->c[i], oc = s->c[i + 1], oh = h + 2 * s->pad[i] - 2,
                  ow = w + 2 * s->pad[i] - 2;
        const int64_t size = 9 * (int64_t)c * oc;
        float *weights = numbers_there(size + oc, i + 1);
        job.block[i] = (xbc_stack_block){
            .conv = {h, w, c, oh, ow, oc, 3, 3, 1, s->pad[i], s->pad[i]},
            .ph = (oh + s->ceil[i]) / 2,
            .pw = (ow + s->ceil[i]) / 2,
            .w = weights,
            .bias = s->bias ? weights + size : NULL};
        h = job.block[i].ph, w = job.block[i].pw;
        if (s->after || i + 1 < s->blocks) job.block[i].after = affine_there(oc, 3 + i);
        assert_true(xbc_stack_suits(&job.block[i]));
        near *= 4 + 0.2 * c; /* errors grow from block to block, as values do */
    }
    if (s->before) job.before = affine_there(s->c[0], 13);
    int64_t n = 0;
    job.x = numbers_there((int64_t)s->rows * s->h * s->w * s->c[0], 7);
    float *want = block_by_block(&job, &n);
    job.y = taken((size_t)n * sizeof *job.y);
    job.room = taken((size_t)xbc_stack_room(&job) * sizeof *job.room);
    /* nothing is read before it is written */
    xbc_fill(job.room, NAN, xbc_stack_room(&job));
    xbc_stack_forward(&job);
    check_same(job.y, want, n, near);
    sound();
    xbc_release(want), xbc_release(job.y), xbc_release(job.room);
}

static void stacks_are_their_blocks(void **state)
{
    (void)state;
    static const stack_case cases[] = {
        /* images and rows that no tile divides, one and several images a tile */
        {19, 23, 2, 2, {3, 16, 16}, {1, 1}, {1, 1}, true, false, true},
        {13, 13, 3, 3, {16, 32, 64, 16}, {1, 1, 1}, {1, 1, 1}, true, true, false},
        {7, 5, 9, 3, {32, 48, 128, 32}, {1, 1, 1}, {1, 1, 0}, false, false, true},
        {4, 6, 17, 2, {64, 64, 64}, {1, 1}, {1, 1}, true, true, true},
        {2, 2, 19, 1, {128, 16}, {1}, {1}, true, false, true},
        {1, 1, 33, 2, {16, 64, 16}, {1, 1}, {1, 1}, true, false, false},
        /* without padding; windows that are cut off */
        {20, 12, 2, 2, {3, 32, 16}, {0, 0}, {1, 0}, true, false, true},
        {53, 9, 2, 2, {16, 16, 16}, {1, 0}, {0, 1}, true, false, true},
        {38, 9, 1, 4, {3, 16, 16, 16, 64}, {1, 1, 1, 1}, {1, 1, 1, 1}, .after = true},
    };
    open_device();
    for (int i = 0; i < XB_COUNT(cases); i++) check_stack(&cases[i]);
}

/* ---- small nets */

enum { LINKS = 4 };

/* In double, from the weights that were drawn. */
static void net_in_double(double *y, const xbc_many *job, const float *theta,
                          const float *x)
{
    double from[XBC_WIDEST], to[XBC_WIDEST];
    for (int k = 0; k < job->link[0].in; k++) from[k] = (double)x[k];
    for (int i = 0; i < job->links; i++) {
        const xbc_link *l = &job->link[i];
        const float *w = theta + l->offset;
        for (int o = 0; o < l->out; o++) {
            double sum = l->bias ? (double)w[l->in * l->out + o] : 0;
            for (int k = 0; k < l->in; k++) sum += from[k] * (double)w[k * l->out + o];
            to[o] = l->act == XBC_ELU       ? (sum > 0 ? sum : expm1(sum))
                    : l->act == XBC_RELU    ? (sum > 0 ? sum : 0)
                    : l->act == XBC_TANH    ? tanh(sum)
                    : l->act == XBC_SIGMOID ? 1 / (1 + exp(-sum))
                                            : sum;
        }
        memcpy(from, to, sizeof from);
    }
    memcpy(y, from, (size_t)job->link[job->links - 1].out * sizeof *y);
}

static xbc_many small_net(int in, int width, int out, int64_t rows, int64_t count)
{
    const int size[LINKS + 1] = {in, width, width - 1, width - 2, out};
    const xbc_act act[LINKS] = {XBC_ELU, XBC_TANH, XBC_SIGMOID, XBC_NONE};
    xbc_many job = {.rows = rows, .count = count, .links = LINKS};
    for (int i = 0; i < LINKS; i++) { /* the second has no bias, the third's is fixed */
        const int64_t n = (int64_t)size[i] * size[i + 1];
        job.link[i] = (xbc_link){size[i], size[i + 1], i != 1, job.params, act[i]};
        for (int b = 0; b < (i == 1 ? 1 : 2); b++) {
            const int64_t each = b ? size[i + 1] : n;
            job.tensor[job.tensors] =
                (xbc_tensor){(uint32_t)job.tensors, !(b && i == 2), job.params, each};
            job.tensors++;
            job.params += each;
        }
    }
    job.y = taken((size_t)(rows * count * out) * sizeof(float));
    job.theta = taken((size_t)(count * job.params) * sizeof(float));
    return job;
}

/* theta [count][params] as the kernel of draws alone makes it. */
static float *drawn(const xbc_many *job)
{
    float *theta = taken((size_t)(job->count * job->params) * sizeof *theta);
    for (int64_t d = 0; d < job->count; d++)
        for (int k = 0; k < job->tensors; k++) {
            const xbc_tensor *t = &job->tensor[k];
            float *to = theta + d * job->params + t->offset;
            const xbc_draws one = {.source = job->source,
                                   .where = {job->where.key, t->number, (uint32_t)d, 0},
                                   .count = t->size,
                                   .size = t->size,
                                   .stride = t->size,
                                   .theta = to,
                                   .mu = job->mu + t->offset,
                                   .sigma = job->sigma + t->offset};
            if (t->stochastic)
                xbc_draw(&one);
            else
                xbc_copy(to, one.mu, (size_t)t->size * sizeof *to);
        }
    float *here = fetched(theta, job->count * job->params);
    xbc_release(theta);
    return here;
}

static void check_small(const xbc_source *source, int in, int width, int out,
                        int64_t rows)
{
    const int64_t count = 2;
    xbc_many job = small_net(in, width, out, rows, count);
    float *x = numbers(rows * in, 5), *mu = numbers(job.params, 3);
    job.source = *source;
    job.x = bring(x, (size_t)(rows * in) * sizeof *x);
    job.mu = bring(mu, (size_t)job.params * sizeof *mu);
    job.sigma = numbers_there(job.params, 2);
    job.where.key = xb_key_make(3, XB_PURPOSE_SAMPLE);
    xbc_many_draws(&job);
    float *theta = drawn(&job);
    float *y = fetched(job.y, rows * count * out);
    sound();
    for (int64_t i = 0; i < rows * count; i++) {
        double want[XBC_WIDEST];
        net_in_double(want, &job, theta + i / rows * job.params, x + i % rows * in);
        for (int o = 0; o < out; o++)
            assert_at_most(fabs((double)y[i * out + o] - want[o]), 5e-5);
    }
    free(x), free(mu), free(y), free(theta);
    xbc_release(job.y), xbc_release(job.theta);
}

static xbc_source source_there(const xb_sampler *s)
{
    xbc_source source;
    assert_true(xbc_source_bring(&source, xb_sampler_source(s)));
    return source;
}

static void narrow_nets_are_their_layers(void **state)
{
    (void)state;
    xb_ctx *ctx = NULL;
    xb_law *law = NULL;
    xb_sampler *s = NULL;
    open_device();
    assert_int_equal(xb_ctx_create(&ctx), XB_OK);
    assert_int_equal(xb_law_parse(ctx, &law, "mtj:B=0.15,w=0.5"), XB_OK);
    assert_int_equal(xb_sampler_create(ctx, &s, law, NULL), XB_OK);
    const xbc_source source = source_there(s);
    check_small(&source, 1, 16, 1, 300); /* two rows a thread */
    check_small(&source, 3, 13, 2, 40);
    check_small(&source, 5, 32, 1, 200); /* 32 outputs, one row a thread */
    check_small(&source, 40, 27, 3, 7);
    check_small(&source, 120, 28, 1, 9); /* too many weights, */
    check_small(&source, 2, 40, 2, 20);  /* too wide: the plain kernel */
    xb_sampler_destroy(s);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* ---- images */

static void bytes_become_levels(void **state)
{
    (void)state;
    enum { ROWS = 3, H = 11, W = 4, C = 2, SIZE = H * W * C }; /* all bytes */
    uint8_t image[ROWS * SIZE];
    const int32_t row[] = {2, ~0, 1};
    float got[ROWS * SIZE];
    open_device();
    for (int i = 0; i < ROWS * SIZE; i++) image[i] = (uint8_t)(7 * i);
    const uint8_t *there = bring(image, sizeof image);
    float *to = taken(sizeof got);
    xbc_pixels(to, there, bring(row, sizeof row), ROWS, H, W, C);
    xbc_get(got, to, sizeof got);
    for (int i = 0; i < ROWS * SIZE; i++) {
        const int r = i / SIZE, y = i % SIZE / (W * C), x = i / C % W, c = i % C;
        const bool turned = row[r] < 0;
        const int at = (turned ? ~row[r] : row[r]) * SIZE + y * W * C +
                       (turned ? W - 1 - x : x) * C + c;
        assert_true(got[i] == (float)(image[at] / 255.0));
    }
    xbc_pixels(to, there, NULL, ROWS, H, W, C);
    xbc_get(got, to, sizeof got);
    sound();
    for (int i = 0; i < ROWS * SIZE; i++)
        assert_true(got[i] == (float)(image[i] / 255.0));
}

/* ---- arrays: the bytes of the CPU's operations. Inputs and weights are eighths, so that
 * sums are exact in any order. */

static float *eighths(int64_t n, double speed)
{
    float *to = numbers(n, speed);
    for (int64_t i = 0; i < n; i++) to[i] = rintf(8 * to[i]) / 8;
    return to;
}

enum { TILE_IN = 37, TILE_OUT = 11, TILE_HIGH = 16, TILE_MOST = 3 };

static void check_tiles(int64_t rows, bool convert, bool correct, bool bias)
{
    const xb_steps adc = {.step = 0.25F, .inverse = 4, .low = -9, .high = 8};
    const int64_t columns = TILE_MOST * TILE_OUT;
    float *x = eighths(rows * TILE_IN, 5), *w = eighths(TILE_IN * TILE_OUT, 3),
          *b = numbers(TILE_OUT, 2), *by = numbers(3 * columns, 7);
    float *y = malloc((size_t)(rows * TILE_OUT) * sizeof *y);
    float *room = malloc((size_t)(rows * (TILE_HIGH + TILE_OUT)) * sizeof *room);
    assert_true(y && room);
    const xb_run run = {.kernels = xb_kernels_find("cpu")};
    const xb_tile_block host = {.rows = rows,
                                .in = TILE_IN,
                                .out = TILE_OUT,
                                .tile = TILE_HIGH,
                                .w = w,
                                .b = bias ? b : NULL,
                                .convert = convert,
                                .adc = adc,
                                .pre = correct ? by : NULL,
                                .post = correct ? by + columns : NULL,
                                .shift = correct ? by + 2 * columns : NULL,
                                .slice = room,
                                .part = room + rows * TILE_HIGH};
    xb_ops_array.tiles(&run, &host, y, x);
    float *there = bring(by, (size_t)(3 * columns) * sizeof *by);
    const xbc_tiles job = {.rows = rows,
                           .in = TILE_IN,
                           .out = TILE_OUT,
                           .tile = TILE_HIGH,
                           .y = taken((size_t)(rows * TILE_OUT) * sizeof *y),
                           .x = bring(x, (size_t)(rows * TILE_IN) * sizeof *x),
                           .w = bring(w, TILE_IN * TILE_OUT * sizeof *w),
                           .b = bias ? bring(b, TILE_OUT * sizeof *b) : NULL,
                           .convert = convert,
                           .adc = {adc.step, adc.inverse, adc.low, adc.high},
                           .pre = correct ? there : NULL,
                           .post = correct ? there + columns : NULL,
                           .shift = correct ? there + 2 * columns : NULL};
    xbc_tiles_forward(&job);
    float *got = fetched(job.y, rows * TILE_OUT);
    sound();
    assert_memory_equal(got, y, (size_t)(rows * TILE_OUT) * sizeof *y);
    free(x), free(w), free(b), free(by), free(y), free(room), free(got);
    xbc_release(job.y);
}

static void tiles_are_converted_by_themselves(void **state)
{
    (void)state;
    open_device();
    for (int i = 0; i < 8; i++)
        if (i % 4 > 0) check_tiles(i < 4 ? 9 : 1, i & 1, i & 2, i < 6);
}

static void windows_are_rows(void **state)
{
    (void)state;
    enum { H = 5, W = 6, C = 3, OH = 3, OW = 3, KH = 3, KW = 2, SIZE = KH * KW * C };
    const xb_window g = {.h = H,
                         .w = W,
                         .c = C,
                         .oh = OH,
                         .ow = OW,
                         .oc = 1,
                         .kh = KH,
                         .kw = KW,
                         .stride = 2,
                         .top = 1,
                         .left = 0};
    const xbc_window window = {H, W, C, OH, OW, 1, KH, KW, 2, 1, 0};
    const xb_steps dac = {.step = 0.125F, .inverse = 8, .low = -4, .high = 4};
    const xbc_converter same = {dac.step, dac.inverse, dac.low, dac.high};
    const xb_run run = {.kernels = xb_kernels_find("cpu")};
    float *x = numbers(H * W * C, 5), want[2 * OW * SIZE], *to;
    open_device();
    xb_ops_array.windows(&run, want, x, &g, 1, 3);
    to = taken(sizeof want);
    xbc_windows(to, bring(x, H * W * C * sizeof *x), &window, 1, 3);
    float *got = fetched(to, 2 * OW * SIZE);
    assert_memory_equal(got, want, sizeof want);
    xb_ops_array.quantise(&run, want, want, &dac, 2 * OW * SIZE);
    xbc_quantise(to, to, &same, 2 * OW * SIZE);
    xbc_get(got, to, sizeof want);
    sound();
    assert_memory_equal(got, want, sizeof want);
    free(x), free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_their_layers),
        cmocka_unit_test(blocks_read_through_batchnorm),
        cmocka_unit_test(a_nan_stays_and_zeros_have_no_place),
        cmocka_unit_test(stacks_are_their_blocks),
        cmocka_unit_test(narrow_nets_are_their_layers),
        cmocka_unit_test(bytes_become_levels),
        cmocka_unit_test(tiles_are_converted_by_themselves),
        cmocka_unit_test(windows_are_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
