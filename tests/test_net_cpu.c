/* test_net_cpu.c: the vector kernels on their own: the error of the activations, in
 * units of the last place against double, and products of matrices of every small
 * shape against the plain ones. */
#include "xbtest.h"

#include "base/ctx.h"
#include "kernel/kernels.h"

static double exact_elu(double x) { return x > 0 ? x : expm1(x); }
static double exact_sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* Error in units of the last place of the exact value (at least FLT_MIN's). */
static double ulps(float got, double exact)
{
    double unit = fmax(fabs(exact), 0x1p-126);
    int e;
    frexp(unit, &e);
    return fabs((double)got - exact) / ldexp(1, e - 24);
}

/* Every 307th float of either sign up to 85; with XB_LONG=1 every 61st. */
static double worst_error(const xb_activation_kernel *k, double (*exact)(double))
{
    enum { CHUNK = 1000 };
    float x[CHUNK], y[CHUNK];
    uint32_t last, stride = test_long() ? 61 : 307;
    float top = 85;
    memcpy(&last, &top, sizeof last);
    double worst = 0;
    for (uint32_t bits = 0; bits < last;) {
        for (int i = 0; i < CHUNK; i++, bits += i % 2 ? 0 : stride) {
            uint32_t word = bits | (i % 2 ? UINT32_C(1) << 31 : 0);
            memcpy(&x[i], &word, sizeof word);
        }
        k->forward(y, x, CHUNK);
        for (int i = 0; i < CHUNK; i++)
            worst = fmax(worst, ulps(y[i], exact((double)x[i])));
    }
    return worst;
}

static void activations_are_accurate(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    for (int i = 0; i < xb_backend_count(); i++) {
        const xb_kernels *b = xb_kernels_find(xb_backend_name(i));
        double elu = worst_error(&b->elu, exact_elu), t = worst_error(&b->tanh, tanh);
        double s = worst_error(&b->sigmoid, exact_sigmoid);
        print_message("%s: elu %.2f, tanh %.2f, sigmoid %.2f ulp\n", b->name, elu, t, s);
        assert_at_most(elu, 1.6);
        assert_at_most(t, 3.0);
        assert_at_most(s, 2.6);
    }
}

static void activations_at_the_ends(void **state)
{
    (void)state;
    const float x[] = {0, -0.0f, INFINITY, -INFINITY, -200, 200, 1e-40f, -1e-40f, 3};
    const float elu[] = {0, 0, INFINITY, -1, -1, 200, 1e-40f, -1e-40f, 3};
    const float relu[] = {0, 0, INFINITY, 0, 0, 200, 1e-40f, 0, 3};
    float y[9];
    for (int i = 0; i < xb_backend_count(); i++) {
        const xb_kernels *b = xb_kernels_find(xb_backend_name(i));
        b->elu.forward(y, x, 9);
        for (int j = 0; j < 9; j++) assert_true(y[j] == elu[j]);
        b->relu.forward(y, x, 9);
        for (int j = 0; j < 9; j++) assert_true(y[j] == relu[j]);
        b->tanh.forward(y, x, 9);
        assert_true(y[0] == 0 && y[2] == 1 && y[3] == -1 && y[4] == -1 && y[5] == 1);
        b->sigmoid.forward(y, x, 9);
        assert_true(y[0] == 0.5f && y[2] == 1 && y[3] < 1e-37f && y[4] < 1e-37f &&
                    y[5] == 1);
    }
}

/* dv = dy e / (2 sqrt(v)) over floats of all sizes, in place of e, and where v is 0. */
static void roots_are_accurate(void **state)
{
    (void)state;
    enum { N = 100003 };
    static float v[N], e[N], dy[N];
    for (int i = 0; i < XB_COUNT(v); i++) v[i] = ldexpf(1 + (float)i / N, i % 250 - 125);
    v[7] = 0;
    for (int b = 0; b < xb_backend_count(); b++) {
        double worst = 0;
        for (int i = 0; i < N; i++) dy[i] = 1.25F, e[i] = -1.5F;
        xb_kernels_find(xb_backend_name(b))->local_backward(e, dy, v, e, N);
        assert_true(e[7] == 0);
        for (int i = 0; i < N; i++)
            if (i != 7) worst = fmax(worst, ulps(e[i], -0.9375 / sqrt((double)v[i])));
        print_message("%s: 1 / sqrt %.2f ulp\n", xb_backend_name(b), worst);
        assert_at_most(worst, 4);
    }
}

/* Whole numbers: sums are exact, so every backend must give the very same. */
static float *whole(int64_t n, int seed)
{
    float *v = calloc((size_t)n + 1, sizeof *v);
    assert_non_null(v);
    for (int64_t i = 0; i < n; i++) v[i] = (float)((i * 7919 + seed * 104729) % 17 - 8);
    return v;
}

static void check_product(const xb_kernels *b, int64_t rows, int64_t in, int64_t out)
{
    const xb_kernels *ref = &xb_kernels_ref;
    int64_t largest = rows * in + rows * out + (in + 1) * out;
    float *x = whole(rows * in, 1), *w = whole(in * out, 2), *dy = whole(rows * out, 3);
    float *bias = whole(out, 4), *got = whole(largest, 5), *want = whole(largest, 5);
    size_t size = (size_t)largest * sizeof *got; /* what is beyond must stay */
    b->dense_forward(got, x, w, bias, rows, in, out, XB_ACT_NONE);
    ref->dense_forward(want, x, w, bias, rows, in, out, XB_ACT_NONE);
    assert_memory_equal(got, want, size);
    b->dense_forward(got, x, w, NULL, rows, in, out, XB_ACT_NONE);
    ref->dense_forward(want, x, w, NULL, rows, in, out, XB_ACT_NONE);
    assert_memory_equal(got, want, size);
    b->dense_backward_input(got, dy, w, NULL, rows, in, out, XB_ACT_NONE);
    ref->dense_backward_input(want, dy, w, NULL, rows, in, out, XB_ACT_NONE);
    assert_memory_equal(got, want, size);
    b->dense_backward_weight(got, x, dy, rows, in, out);
    ref->dense_backward_weight(want, x, dy, rows, in, out);
    assert_memory_equal(got, want, size);
    if (in * out > 0) {
        b->dense_backward_params(got, got + in * out, x, dy, rows, in, out);
        ref->dense_backward_params(want, want + in * out, x, dy, rows, in, out);
        assert_memory_equal(got, want, size);
    }
    free(x), free(w), free(dy), free(bias), free(got), free(want);
}

/* Rows further apart than they are long, and both factors as they lie or transposed. */
static void check_strided(const xb_kernels *b, int64_t m, int64_t n, int64_t k,
                          int turned)
{
    const bool a_turned = turned & 1, b_turned = turned & 2;
    const int64_t c_row = n + 3, a_row = k + 1, b_row = (b_turned ? k : n) + 2;
    const int64_t a_size = (m + 1) * (k + 1), b_size = (n + 1 + k) * (b_row + 1);
    float *x = whole(a_size, 1), *w = whole(b_size, 2), *bias = whole(n, 4);
    float *got = whole(m * c_row, 5), *want = whole(m * c_row, 5);
    xb_product p = {.c = got,
                    .a = x,
                    .b = w,
                    .bias = turned & 4 ? bias : NULL,
                    .m = m,
                    .n = n,
                    .k = k,
                    .c_row = c_row,
                    .a_row = a_turned ? 1 : a_row,
                    .a_step = a_turned ? m + 1 : 1,
                    .b_row = b_row,
                    .b_is_transposed = b_turned};
    b->product(&p);
    p.c = want;
    xb_kernels_ref.product(&p);
    assert_memory_equal(got, want, (size_t)(m * c_row) * sizeof *got);
    free(x), free(w), free(bias), free(got), free(want);
}

static void products_of_any_strides(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {
        {0, 3, 2},  {1, 1, 1},   {3, 5, 0},    {1, 17, 40},    {2, 33, 7},
        {3, 1, 16}, {7, 16, 31}, {13, 50, 19}, {128, 67, 300}, {40, 200, 270}};
    for (int i = 0; i < xb_backend_count(); i++)
        for (int s = 0; s < XB_COUNT(sizes); s++)
            for (int turned = 0; turned < 8; turned++)
                check_strided(xb_kernels_find(xb_backend_name(i)), sizes[s][0],
                              sizes[s][1], sizes[s][2], turned);
}

/* The function applied with the product, and its slope: as when run by itself. Scaled so
 * that elu and tanh bend; a few roundings of 1 apart. */
static void check_fused(const xb_kernels *b, xb_act f, int64_t rows, int64_t in,
                        int64_t out)
{
    int64_t outs = rows * out, ins = rows * in;
    float *x = whole(ins, 1), *w = whole(in * out, 2), *dy = whole(outs, 3);
    float *bias = whole(out, 4), *got = whole(outs + ins, 5),
          *want = whole(outs + ins, 5);
    for (int64_t i = 0; i < in * out; i++) w[i] *= 0.125f;
    for (int64_t i = 0; i < ins; i++) x[i] *= 0.03125f;
    const xb_activation_kernel *k = xb_kernels_act(&xb_kernels_ref, f);
    b->dense_forward(got, x, w, bias, rows, in, out, f);
    xb_kernels_ref.dense_forward(want, x, w, bias, rows, in, out, XB_ACT_NONE);
    k->forward(want, want, outs);
    for (int64_t i = 0; i < outs; i++) assert_close(got[i], want[i], 4e-7);
    b->dense_backward_input(got, dy, w, x, rows, in, out, f);
    xb_kernels_ref.dense_backward_input(want, dy, w, NULL, rows, in, out, XB_ACT_NONE);
    k->backward(want, want, x, ins);
    for (int64_t i = 0; i < ins; i++) assert_close(got[i], want[i], 4e-7);
    assert_memory_equal(got + (outs > ins ? outs : ins), want + (outs > ins ? outs : ins),
                        (size_t)(outs > ins ? ins : outs) * sizeof *got);
    free(x), free(w), free(dy), free(bias), free(got), free(want);
}

static void products_with_their_activation(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 4, 13, 16, 33};
    for (int i = 0; i < xb_backend_count(); i++)
        for (xb_act f = XB_ACT_ELU; f <= XB_ACT_SIGMOID; f++)
            for (int r = 0; r < XB_COUNT(sizes); r++)
                for (int n = 0; n < XB_COUNT(sizes); n++)
                    for (int o = 0; o < XB_COUNT(sizes); o++)
                        check_fused(xb_kernels_find(xb_backend_name(i)), f, sizes[r],
                                    sizes[n], sizes[o]);
    for (xb_act f = XB_ACT_ELU; f <= XB_ACT_SIGMOID; f++) /* k in several runs */
        check_fused(xb_kernels_find(NULL), f, 20, 513, 70);
}

static void products_of_every_shape(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17, 31, 33, 48};
    for (int i = 0; i < xb_backend_count(); i++) {
        const xb_kernels *b = xb_kernels_find(xb_backend_name(i));
        for (int r = 0; r < XB_COUNT(sizes); r++)
            for (int n = 0; n < XB_COUNT(sizes); n++)
                for (int o = 0; o < XB_COUNT(sizes); o++)
                    check_product(b, sizes[r], sizes[n], sizes[o]);
        check_product(b, 30, 300, 190);
        check_product(b, 20, 513, 70);
        check_product(b, 600, 40, 70);
    }
}

/* The rows of a product do not depend on how many there are. */
static void rows_do_not_depend_on_others(void **state)
{
    (void)state;
    enum { ROWS = 29, IN = 70, OUT = 37 };
    float x[ROWS * IN], w[IN * OUT], all[ROWS * OUT], one[OUT];
    for (int i = 0; i < ROWS * IN; i++) x[i] = sinf((float)i);
    for (int i = 0; i < IN * OUT; i++) w[i] = cosf((float)i);
    for (int i = 0; i < xb_backend_count(); i++) {
        const xb_kernels *b = xb_kernels_find(xb_backend_name(i));
        b->dense_forward(all, x, w, NULL, ROWS, IN, OUT, XB_ACT_NONE);
        for (int r = 0; r < ROWS; r++) {
            b->dense_forward(one, x + r * IN, w, NULL, 1, IN, OUT, XB_ACT_NONE);
            assert_memory_equal(one, all + r * OUT, sizeof one);
        }
    }
}

/* ---- levels with fused multiply-add: the same bytes, kernel by kernel */

enum { PLENTY = 1 << 13 };

typedef struct level_case {
    const xb_kernels *b;
    int64_t rows, in, out;
    const float *x, *w, *z, *dy; /* [PLENTY] */
    float *y, *y2, *y3;          /* [PLENTY], the results */
    double *sums;                /* [PLENTY] */
} level_case;

static void run_dense(const level_case *c)
{
    xb_act f = (xb_act)(XB_ACT_NONE + (c->rows + c->in) % 5);
    c->b->dense_forward(c->y, c->x, c->w, c->z, c->rows, c->in, c->out, f);
    c->b->dense_backward_input(c->y2, c->dy, c->w, c->x, c->rows, c->in, c->out, f);
    c->b->dense_backward_weight(c->y3, c->x, c->dy, c->rows, c->in, c->out);
}

static void run_draws(const level_case *c)
{
    c->b->dense_draw_forward(c->y, c->x, c->w, c->dy, c->z, c->z, c->in, c->out);
    c->b->dense_draw_backward(c->y + PLENTY / 2, c->y2, c->y3, c->dy, c->x, c->w, c->dy,
                              c->z, c->in, c->out);
    c->b->bias_backward(c->y + PLENTY / 4, c->dy, c->rows, c->out);
}

static void run_activations(const level_case *c)
{
    const xb_activation_kernel *k[] = {&c->b->elu, &c->b->relu, &c->b->tanh,
                                       &c->b->sigmoid};
    int64_t n = c->rows * c->in;
    for (int i = 0; i < XB_COUNT(k); i++) {
        k[i]->forward(c->y + i * n, c->x, n);
        k[i]->backward(c->y2 + i * n, c->dy, c->y + i * n, n);
    }
}

static void run_noise(const level_case *c)
{
    int64_t n = c->rows * c->in;
    c->b->theta(c->y, c->w, c->x, c->z, n);
    c->b->add_product(c->y2, c->x, c->z, 0.7F, n);
    c->b->channel_multiply(c->y + n, c->x, c->z, c->rows, 1, c->in);
    c->b->channel_add_product(c->y3, c->x, c->z, c->rows, 1, c->in);
    for (int64_t i = 0; i < n; i++) c->y[2 * n + i] = fabsf(c->z[i]);
    c->b->local_backward(c->y + 3 * n, c->dy, c->y + 2 * n, c->x, n);
    c->b->local_forward(c->y2 + n, c->y + 2 * n, c->x, n, XB_ACT_ELU);
    c->b->local_input(c->y3 + n, c->x, c->dy, n, XB_ACT_TANH);
    const xb_steps steps = {0.01F, 100, -60, 70};
    c->b->quantise(c->y + 4 * n, c->x, &steps, n);
    c->b->quantise_add(c->y2 + 2 * n, c->x, &steps, n);
    c->b->bend(c->y3 + 2 * n, &(xb_curve){c->x, c->w, c->z}, c->z, n);
}

/* A layer under its outputs' noise; some variances are 0. */
static void run_local(const level_case *c)
{
    enum { PART = PLENTY / 4 };
    xb_act f = (xb_act)(XB_ACT_NONE + (c->rows + c->in) % 5);
    float *e = c->y, *room = c->y + PART, *xx = c->y2 + 2 * PART;
    float *variance = c->y3 + 2 * PART;
    for (int64_t i = 0; i < c->rows * c->in; i++) xx[i] = c->x[i] * c->x[i];
    for (int64_t i = 0; i < (c->in + 1) * c->out; i++)
        variance[i] = i % 3 ? c->z[i] * c->z[i] : 0;
    memcpy(e, c->z, (size_t)(c->rows * c->out) * sizeof *e);
    bool bias = (c->in + c->out) % 2;
    const xb_local_layer l = {.rows = c->rows,
                              .in = c->in,
                              .out = c->out,
                              .x = c->x,
                              .xx = xx,
                              .mu = c->w,
                              .variance = variance,
                              .bias = bias ? c->z : NULL,
                              .bias_variance = bias ? variance + c->in * c->out : NULL,
                              .room = room};
    c->b->local_dense_forward(c->y2, c->y2 + PART, e, &l, f);
    c->b->local_dense_params(c->y3, c->y3 + PART, e, c->dy, &l);
    c->b->local_dense_input(c->y2 + 3 * PART, c->dy, e, &l, f);
    memset(room, 0, PART * sizeof *room); /* what is left there is nobody's */
}

static void run_norms(const level_case *c)
{
    double *s = c->sums;
    c->b->norm_sum(s, c->x, c->rows, c->in);
    c->b->norm_square(s + c->in, c->x, c->z, c->rows, c->in);
    c->b->norm_forward(c->y, c->x, c->z, c->w, c->dy, c->rows, c->in);
    c->b->norm_backward_sum(s + 2 * c->in, s + 3 * c->in, c->dy, c->x, c->z, c->rows,
                            c->in);
    c->b->norm_backward(c->y2, c->dy, c->x, c->z, c->w, c->dy, c->z, c->rows, c->in);
}

/* Layers by themselves; blocks of them are level 4's alone. */
static void run_windows(const level_case *c)
{
    const int64_t side = 5;
    int64_t channels = c->in < 8 ? c->in : 8, oc = c->out < 8 ? c->out : 8;
    const xb_window g = {.h = side,
                         .w = side,
                         .c = channels,
                         .oh = side,
                         .ow = side,
                         .oc = oc,
                         .kh = 3,
                         .kw = 3,
                         .stride = 1,
                         .top = 1,
                         .left = 1};
    float *room = calloc((size_t)c->b->conv_room(&g) + 1, sizeof *room);
    assert_non_null(room);
    c->b->conv_forward(c->y, c->x, c->w, c->z, 2, &g, room);
    c->b->conv_backward_input(c->y2, c->dy, c->w, 2, &g, room);
    c->b->conv_backward_weight(c->y3, c->x, c->dy, 2, &g, room);
    free(room);
}

static void levels_give_the_same_bytes(void **state)
{
    (void)state;
    static void (*const run[])(const level_case *) = {
        run_dense, run_draws, run_activations, run_noise,
        run_local, run_norms, run_windows};
    static const char *const name[] = {"dense", "draws", "activations", "noise",
                                       "local", "norms", "windows"};
    static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 13, 16, 17, 20, 31, 33};
    static float in[4][PLENTY], out[2][3][PLENTY];
    static double sums[2][PLENTY];
    const xb_kernels *level[] = {xb_kernels_find("cpu-v3"), xb_kernels_find("cpu-v4")};
    if (!level[0] || !level[1]) {
        print_message("skipped: the machine has one level with fused multiply-add\n");
        return;
    }
    for (int i = 0; i < 4 * PLENTY; i++)
        in[i / PLENTY][i % PLENTY] = sinf((float)i * (float)(i / PLENTY + 1));
    for (int r = 0; r < XB_COUNT(run); r++)
        for (int s = 0; s < XB_COUNT(sizes) * XB_COUNT(sizes); s++)
            for (int64_t rows = 1; rows <= 13; rows += 4) {
                int64_t n = sizes[s % XB_COUNT(sizes)], o = sizes[s / XB_COUNT(sizes)];
                memset(out, 0, sizeof out);
                memset(sums, 0, sizeof sums);
                for (int k = 0; k < 2; k++)
                    run[r](&(level_case){level[k], rows, n, o, in[0], in[1], in[2], in[3],
                                         out[k][0], out[k][1], out[k][2], sums[k]});
                if (memcmp(out[0], out[1], sizeof out[0]) != 0 ||
                    memcmp(sums[0], sums[1], sizeof sums[0]) != 0)
                    fail_msg("%s, %lld rows of %lld to %lld: v3 and v4 differ", name[r],
                             (long long)rows, (long long)n, (long long)o);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_are_accurate),
        cmocka_unit_test(activations_at_the_ends),
        cmocka_unit_test(roots_are_accurate),
        cmocka_unit_test(products_of_every_shape),
        cmocka_unit_test(products_of_any_strides),
        cmocka_unit_test(products_with_their_activation),
        cmocka_unit_test(rows_do_not_depend_on_others),
        cmocka_unit_test(levels_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
