/* test_tied.c: weights made of cells: texts, the formula of a weight against itself in
 * plain C, gradients by the states, states that stay in their range, a model whose
 * numbers follow from its states and whose file keeps them. Only public headers. */
#include "slopetest.h"
#include "traintest.h"

#include "crossbayes/predict.h"

static xb_weight_cells *cells_of(xb_ctx *ctx, const char *text)
{
    xb_weight_cells *c = NULL;
    assert_ok(ctx, xb_weight_cells_parse(ctx, &c, text));
    return c;
}

/* ---- texts */

static void texts_read_back(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const char *const texts[] = {
        "three", "pair", "pair:scale=3,width=0.1", "three:signs=1/-1/1/-1,offset=0.5",
        "pair:range=1e-5/1.3e-4,at=1e-5/5e-5/1.3e-4,width=1e-6/4e-6/2e-6,scale=1e-4"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        xb_weight_cells *a = cells_of(ctx, texts[i]);
        xb_weight_cells *b = cells_of(ctx, xb_weight_cells_text(a));
        assert_string_equal(xb_weight_cells_text(a), xb_weight_cells_text(b));
        assert_int_equal(xb_weight_cells_count(a), xb_weight_cells_count(b));
        xb_weight_cells_destroy(a);
        xb_weight_cells_destroy(b);
    }
    xb_ctx_destroy(ctx);
}

/* (V31) As Lin et al. write it: w = (I1 + I2 + I3 - 7.2) / 10.5, b(I) a parabola. */
static void three_cells_are_those_published(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_weight_cells *c = cells_of(ctx, "three");
    const double g[] = {0.4, 1.7, 3.9};
    double mu = 0, sigma = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        const double b = -0.0058 * g[k] * g[k] + 0.0324 * g[k] + 0.0141;
        square += 2 * b * b;
    }
    xb_weight_cells_weight(c, &mu, &sigma, g);
    assert_close(mu, (0.4 + 1.7 + 3.9 - 7.2) / 10.5, 1e-14);
    assert_close(sigma, sqrt(square) / 10.5, 1e-14);
    xb_weight_cells_destroy(c);
    xb_ctx_destroy(ctx);
}

static void tables_are_linear_between(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_weight_cells *c = cells_of(ctx, "pair:range=1/4,at=1/2/4,width=0.1/0.3/0.2");
    assert_close(xb_weight_cells_width(c, 1.5), 0.2, 1e-14);
    assert_close(xb_weight_cells_width(c, 3), 0.25, 1e-14);
    assert_close(xb_weight_cells_width(c, 9), 0.2, 1e-14);
    /* a measured range: states at the same places make the same weights */
    const double g[] = {10, 40, 130}, width[] = {1, 2, 4}, lin[] = {0.4 + 0.9, 0.4};
    const double mine[] = {10 + 30, 10};
    xb_weight_cells *base = cells_of(ctx, "three:signs=1/1,offset=3"), *measured = NULL;
    double mu[2], sigma[2];
    assert_ok(ctx, xb_weight_cells_measured(ctx, &measured, base, g, width, 3));
    xb_weight_cells_weight(base, &mu[0], &sigma[0], lin);
    xb_weight_cells_weight(measured, &mu[1], &sigma[1], mine);
    assert_close(mu[0], mu[1], 1e-12);
    assert_close(xb_weight_cells_width(measured, 85), 3, 1e-14);
    assert_int_equal(xb_weight_cells_measured(ctx, &measured, base, g, width, 1),
                     XB_E_INPUT);
    xb_weight_cells_destroy(c);
    xb_weight_cells_destroy(base);
    xb_weight_cells_destroy(measured);
    xb_ctx_destroy(ctx);
}

static void bad_cells_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static const struct {
        const char *text, *says;
    } bad[] = {{"four", "four"},
               {"pair:range=4/0.4", "the range is empty"},
               {"pair:range=2/2", "the range is empty"},
               {"pair:range=2", "two values"},
               {"pair:scale=0", "the scale is not above 0"},
               {"pair:width=0.1/-0.05", "the width is"},
               {"pair:width=0", "the width is 0 at state 0.4"},
               {"pair:height=3", "height"},
               {"pair:signs=1/2", "a sign is not 1 or -1"},
               {"pair:at=1/2/3,width=0.1/0.2", "as many values of width"},
               {"pair:at=1/1,width=0.1/0.2", "do not ascend"},
               {"pair:scale=1,scale=2", "scale"},
               {"pair:width=1/1/1/1/1/1/1/1/1", "at most 8"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        xb_weight_cells *c = NULL;
        assert_int_equal(xb_weight_cells_parse(ctx, &c, bad[i].text), XB_E_INPUT);
        assert_null(c);
        if (!strstr(xb_ctx_message(ctx), bad[i].says))
            fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), bad[i].says);
    }
    xb_ctx_destroy(ctx);
}

/* ---- training */

static xb_train_options tied_options(const xb_weight_cells *cells)
{
    xb_train_options opt = quick_options();
    opt.net = "dense 4, tanh, dense 1";
    opt.cells = cells;
    return opt;
}

/* Wide ones, so that gradients by sigma count beside those by mu. */
static const char *const probed[] = {
    "three:width=0.4/0.9/-0.16,scale=5",
    "pair:width=0.2/0.5,scale=2",
    "pair:at=0.4/1.1/4,width=0.9/0.2/1.4,scale=3",
};

static void gradients_are_those_of_f(void **state)
{
    (void)state;
    const rows r = make_rows(false);
    for (size_t i = 0; i < sizeof probed / sizeof *probed; i++) {
        xb_ctx *ctx = test_ctx();
        xb_weight_cells *cells = cells_of(ctx, probed[i]);
        const xb_train_options opt = tied_options(cells);
        const xb_train_data data = rows_data(&r, false);
        probe p = {.ctx = ctx, .rows = data, .rows_all = ROWS};
        p.rows.n = 40;
        assert_ok(ctx, xb_trainer_create(ctx, &p.t, &data, &opt));
        while (xb_trainer_phase(p.t) < 2) assert_ok(ctx, xb_trainer_epoch(ctx, p.t));
        const int64_t at = xb_trainer_array_find(p.t, "cells");
        const int64_t n = xb_trainer_array_size(p.t, at), count = n / 21;
        float value[100], slope[100];
        assert_int_equal(n, 21 * xb_weight_cells_count(cells));
        assert_int_equal(
            xb_trainer_array_size(p.t, xb_trainer_array_find(p.t, "cells_first")), n);
        assert_int_equal(
            xb_trainer_array_size(p.t, xb_trainer_array_find(p.t, "cells_second")), n);
        for (int64_t j = 0; j < n; j++)
            value[j] = 0.1F + 0.8F * (float)(j * 7 % n) / (float)n;
        assert_ok(ctx, xb_trainer_array_set(ctx, p.t, at, value));
        double f = 0;
        assert_ok(ctx, xb_trainer_cell_gradient(ctx, &f, slope, p.t, &p.rows, 3));
        /* the biases' cells are nobody's: 5 of 21 weights are fixed */
        assert_int_equal(check_slopes(&p, "cells", slope), n);
        int fixed = 0;
        for (int64_t j = 0; j < n; j++) fixed += slope[j] == 0;
        assert_int_equal(fixed, 5 * count);
        xb_trainer_destroy(p.t);
        xb_weight_cells_destroy(cells);
        xb_ctx_destroy(ctx);
    }
}

/* mu, sigma and states of every random weight belong together, and to the range. */
static void assert_tied(const xb_model *m, int at_ends[2])
{
    const xb_weight_cells *c = xb_model_cells(m);
    const xb_net *net = xb_model_net(m);
    const xb_weights w = xb_model_weights(m);
    const int64_t cells = xb_weight_cells_count(c);
    for (int64_t i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *t = xb_net_tensor_at(net, i);
        const float *g = xb_model_cell_states(m, i);
        if (!t->stochastic) assert_null(g);
        for (int64_t j = 0; t->stochastic && j < t->size; j++) {
            double mu = 0, sigma = 0, at[16];
            for (int64_t k = 0; k < cells; k++) {
                at[k] = (double)g[k * t->size + j];
                assert_in_set(at[k] >= xb_weight_cells_low(c) - 1e-6 &&
                                  at[k] <= xb_weight_cells_high(c) + 1e-6,
                              ((const uintmax_t[]){1}), 1);
                at_ends[0] += at[k] < xb_weight_cells_low(c) + 1e-6;
                at_ends[1] += at[k] > xb_weight_cells_high(c) - 1e-6;
            }
            xb_weight_cells_weight(c, &mu, &sigma, at);
            assert_close_floor((double)w.mu[t->offset + j], mu, 1e-5, 1e-2);
            assert_close((double)w.sigma[t->offset + j], sigma, 1e-5);
        }
    }
}

static void states_stay_in_range_and_in_the_file(void **state)
{
    (void)state;
    static const char *const texts[] = {"pair", "three:scale=60,offset=7,width=0.1/0.3"};
    for (int i = 0; i < 2; i++) {
        xb_ctx *ctx = test_ctx();
        xb_weight_cells *cells = cells_of(ctx, texts[i]);
        xb_train_options opt = tied_options(cells);
        opt.validation = 0.2;
        opt.members = i + 1; /* an ensemble keeps the states of each */
        xb_model *m = train_model(ctx, &opt, false, NULL), *back = NULL;
        int ends[2] = {0};
        assert_tied(m, ends);
        if (i == 1) assert_true(ends[1] > 0); /* where the width is largest */
        scratch s = scratch_make();
        assert_ok(ctx, xb_model_save(ctx, m, scratch_path(&s, "m")));
        assert_ok(ctx, xb_model_load(ctx, &back, scratch_path(&s, "m")));
        assert_true(same_numbers(m, back));
        for (int64_t k = 0; k <= i; k++) assert_tied(xb_model_member_at(back, k), ends);
        assert_string_equal(xb_weight_cells_text(xb_model_cells(back)),
                            xb_weight_cells_text(cells));
        assert_non_null(strstr(xb_model_settings(back), "\"cells\""));
        scratch_remove(&s);
        xb_model_destroy(m);
        xb_model_destroy(back);
        xb_weight_cells_destroy(cells);
        xb_ctx_destroy(ctx);
    }
}

/* A model's file with one text of its head changed to another of the same length. */
static void bad_files_are_refused(void **state)
{
    (void)state;
    enum { MOST = 1 << 16 };
    static char bytes[MOST];
    static const struct {
        const char *from, *to, *says;
    } bad[] = {{"\"cells\":\"pair:signs=1/-1,range=0.4/4",
                "\"cells\":\"pair:signs=1/-1,range=3.4/4", "expected 3.4 to 4"},
               {"\"cells\":\"pair:", "\"cells\":\"pear:", "unknown cells 'pear'"},
               {"\"cells\":\"pair:signs=1/-1", "\"cells\":\"pair:signs=3/-1",
                "a sign is not 1 or -1"},
               {"0.kernel.cells", "0.kernel.cellz", "0.kernel.cells"}};
    xb_ctx *ctx = test_ctx();
    xb_weight_cells *cells = cells_of(ctx, "pair");
    const xb_train_options opt = tied_options(cells);
    xb_model *m = train_model(ctx, &opt, false, NULL), *back = NULL;
    scratch s = scratch_make();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_ok(ctx, xb_model_save(ctx, m, scratch_path(&s, "m")));
        const size_t size = scratch_read(scratch_path(&s, "m"), bytes, MOST);
        char *at = strstr(bytes + 8, bad[i].from); /* the head: its size, then JSON */
        assert_non_null(at);
        memcpy(at, bad[i].to, strlen(bad[i].to));
        scratch_write(&s, "m", bytes, size);
        assert_int_equal(xb_model_load(ctx, &back, scratch_path(&s, "m")), XB_E_INPUT);
        if (!strstr(xb_ctx_message(ctx), bad[i].says))
            fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), bad[i].says);
    }
    scratch_remove(&s);
    xb_model_destroy(m);
    xb_weight_cells_destroy(cells);
    xb_ctx_destroy(ctx);
}

/* Steps, a stop in between and threads change no byte. */
static void runs_are_reproducible(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    const xb_train_data data = rows_data(&r, false);
    xb_weight_cells *cells = cells_of(ctx, "three");
    const xb_train_options opt = tied_options(cells);
    xb_model *whole = train_model(ctx, &opt, false, NULL), *parts = NULL;
    scratch s = scratch_make();
    for (int turn = 0, step = 0; turn < 2; turn++) {
        xb_trainer *t = NULL;
        xb_ctx_set_threads(ctx, turn ? 1 : 3);
        assert_ok(ctx, xb_trainer_create(ctx, &t, &data, &opt));
        if (turn) assert_ok(ctx, xb_trainer_resume(ctx, t, scratch_path(&s, "c")));
        while (!xb_trainer_done(t) && (turn || step++ < 70))
            assert_ok(ctx, xb_trainer_step(ctx, t));
        if (turn) assert_ok(ctx, xb_trainer_best_model(ctx, &parts, t));
        if (!turn) assert_ok(ctx, xb_trainer_save(ctx, t, scratch_path(&s, "c")));
        xb_trainer_destroy(t);
    }
    assert_true(same_numbers(whole, parts));
    scratch_remove(&s);
    xb_model_destroy(whole);
    xb_model_destroy(parts);
    xb_weight_cells_destroy(cells);
    xb_ctx_destroy(ctx);
}

static void arrays_of_widths_cannot_be_set(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    const xb_train_data data = rows_data(&r, false);
    xb_weight_cells *cells = cells_of(ctx, "pair");
    xb_train_options opt = tied_options(cells);
    xb_trainer *t = NULL;
    float value[64] = {0};
    double f = 0;
    assert_ok(ctx, xb_trainer_create(ctx, &t, &data, &opt));
    assert_int_equal(xb_trainer_array_set(ctx, t, xb_trainer_array_find(t, "rho"), value),
                     XB_E_ARGUMENT);
    xb_trainer_destroy(t);
    opt.cells = NULL;
    assert_ok(ctx, xb_trainer_create(ctx, &t, &data, &opt));
    assert_int_equal(xb_trainer_array_find(t, "cells"), -1);
    assert_int_equal(xb_trainer_cell_gradient(ctx, &f, value, t, &data, 0),
                     XB_E_ARGUMENT);
    xb_trainer_destroy(t);
    xb_weight_cells_destroy(cells);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_read_back),
        cmocka_unit_test(three_cells_are_those_published),
        cmocka_unit_test(tables_are_linear_between),
        cmocka_unit_test(bad_cells_are_refused),
        cmocka_unit_test(gradients_are_those_of_f),
        cmocka_unit_test(states_stay_in_range_and_in_the_file),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(runs_are_reproducible),
        cmocka_unit_test(arrays_of_widths_cannot_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
