/* test_crossbar_tied.c: weights made of cells on arrays: the ideal array leaves them to
 * the bit, levels and missed writes move mean and width together as the formula of a
 * weight says, and what belongs to width devices and wires does not touch them. Bounds
 * are five standard errors and wider; seeds are fixed. */
#include "arraytest.h"

#include "crossbar/analog.h"
#include "vi/weight_cells.h"

static xb_model *tied_model(xb_ctx *ctx, const char *text)
{
    xb_weight_cells *cells = NULL;
    assert_ok(ctx, xb_weight_cells_parse(ctx, &cells, text));
    xb_train_options opt = quick_options();
    opt.cells = cells;
    opt.net = "dense 40, relu, dense 40, relu, dense 1";
    xb_model *m = train_model(ctx, &opt, false, NULL);
    xb_weight_cells_destroy(cells);
    return m;
}

static xb_analog *analog_of(xb_ctx *ctx, const xb_model *m, const xb_array *array)
{
    double *x = net_inputs(m, 8);
    xb_analog *a = test_analog(ctx, m, array, x, 8);
    free(x);
    return a;
}

static bool same_weights(const xb_analog *a, const xb_model *m)
{
    const size_t size = (size_t)xb_net_param_count(m->net) * sizeof *m->mu;
    return memcmp(a->mu, m->mu, size) == 0 && memcmp(a->sigma, m->sigma, size) == 0;
}

static void what_does_not_apply_changes_nothing(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = tied_model(ctx, "three");
    xb_array array = test_array("ideal");
    for (int i = 0; i < 4; i++) {
        if (i == 1) array.sigma_levels = 3;
        if (i == 2) array.sigma_min_us = 1, array.sigma_max_us = 10;
        if (i == 3) array.line_ohm = 5;
        xb_analog *a = analog_of(ctx, m, &array);
        assert_true(same_weights(a, m));
        xb_analog_destroy(a);
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Two states: every cell is at one end, and mean and width follow from that. */
static void levels_move_mean_and_width(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = tied_model(ctx, "pair");
    xb_array array = test_array("ideal");
    array.mean_levels = 2;
    xb_analog *a = analog_of(ctx, m, &array);
    const xb_tensor *t = xb_net_tensor_at(m->net, 2);
    const float *g = xb_model_cell_states(m, 2);
    int high = 0;
    for (int64_t i = 0; i < t->size; i++) {
        double at[2], mu, sigma;
        for (int k = 0; k < 2; k++) {
            at[k] = (double)g[k * t->size + i] < 2.2 ? 0.4 : 4;
            high += at[k] > 2.2;
        }
        xb_weight_cells_weight(m->cells, &mu, &sigma, at);
        assert_close_floor((double)a->mu[t->offset + i], mu, 1e-6, 1);
        assert_close((double)a->sigma[t->offset + i], sigma, 1e-6);
    }
    assert_in_range(high, 1, 2 * t->size - 1);
    xb_analog_destroy(a);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* A missed write of 2 % of the range on each of three cells: sqrt(3) times that over the
 * scale in the mean, but for states at an end, and widths that are no longer the model's.
 */
static void missed_writes_add_up(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = tied_model(ctx, "three");
    xb_array array = test_array("ideal");
    array.program_error = 0.02;
    xb_analog *a = analog_of(ctx, m, &array);
    const xb_tensor *t = xb_net_tensor_at(m->net, 2);
    const float *g = xb_model_cell_states(m, 2);
    double square = 0;
    int n = 0, wider = 0;
    for (int64_t i = 0; i < t->size; i++) {
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside &= fabs((double)g[k * t->size + i] - 2.2) < 1.4;
        if (!inside) continue;
        const double d = (double)a->mu[t->offset + i] - (double)m->mu[t->offset + i];
        square += d * d;
        wider += a->sigma[t->offset + i] > m->sigma[t->offset + i];
        n++;
    }
    assert_true(n > 500);
    assert_close(sqrt(square / n), 0.02 * 3.6 * sqrt(3) / 10.5, 5 / sqrt(2.0 * n));
    assert_in_range(wider, n / 10, n - n / 10);
    array.program_error = 0;
    array.stuck_low = 1;
    xb_analog *stuck = analog_of(ctx, m, &array);
    assert_close((double)stuck->mu[t->offset], (1.2 - 7.2) / 10.5, 1e-6);
    xb_analog_destroy(stuck);
    xb_analog_destroy(a);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void there_is_no_export_of_pairs(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = tied_model(ctx, "pair");
    const xb_array array = test_array("ideal");
    xb_analog *a = analog_of(ctx, m, &array);
    scratch s = scratch_make();
    assert_int_equal(xb_analog_export(ctx, a, scratch_path(&s, "d")), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "made of cells"));
    scratch_remove(&s);
    xb_analog_destroy(a);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_apply_changes_nothing),
        cmocka_unit_test(levels_move_mean_and_width),
        cmocka_unit_test(missed_writes_add_up),
        cmocka_unit_test(there_is_no_export_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
