/* test_crossbar_tied.c: weights made of cells on arrays: the ideal array leaves them to
 * the bit, levels, missed writes, age and wires move mean and width together as the
 * formula of a weight says, and what belongs to width devices does not touch them. Bounds
 * are five standard errors and wider; seeds are fixed. */
#include "arraytest.h"
#include "devicetest.h"

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
    for (int i = 0; i < 3; i++) {
        if (i == 1) array.sigma_levels = 3;
        if (i == 2) array.sigma_min_us = 1, array.sigma_max_us = 10;
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

/* (X7) Cells set to the same width have different ones: lognormal factors of mean 1. */
static void widths_spread(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = tied_model(ctx, "pair");
    xb_array array = test_array("ideal");
    const double s = array.sigma_spread = 0.3;
    xb_analog *a = analog_of(ctx, m, &array);
    const xb_tensor *t = xb_net_tensor_at(m->net, 2);
    const double n = (double)t->size;
    double sum = 0, square = 0;
    for (int64_t i = t->offset; i < t->offset + t->size; i++) {
        assert_true(a->mu[i] == m->mu[i]);
        const double z = log((double)a->sigma[i] / (double)m->sigma[i]);
        sum += z, square += z * z;
    }
    assert_close_floor(sum / n, -0.5 * s * s, 5 * s / sqrt(n), 1);
    assert_close(sqrt(square / n - sum / n * sum / n), s, 5 / sqrt(2 * n));
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

/* ---- wires */

/* (X9) The loss of cell (i, j) among down x across cells of g uS, term by term. */
static double loss_by_hand(const double *g, int64_t down, int64_t across, int64_t stride,
                           int64_t i, int64_t j, double ohm)
{
    double sum = 0;
    for (int64_t k = 0; k < across; k++)
        sum += (double)((k < j ? k : j) + 1) * g[i * stride + k];
    for (int64_t l = 0; l < down; l++)
        sum += (double)(down - (l > i ? l : i)) * g[l * stride + j];
    return 1e-6 * ohm * sum;
}

/* Tiles of 16 x 12 of a kernel of 40 x 40, so that those at the edges are smaller. */
static double tile_loss(const double *g, int64_t i, int64_t j, double ohm)
{
    enum { SIDE = 40, DOWN = 16, ACROSS = 12 };
    const int64_t row = i / DOWN * DOWN, column = j / ACROSS * ACROSS;
    const int64_t down = SIDE - row < DOWN ? SIDE - row : DOWN;
    const int64_t across = SIDE - column < ACROSS ? SIDE - column : ACROSS;
    return loss_by_hand(g + row * SIDE + column, down, across, SIDE, i - row, j - column,
                        ohm);
}

/* Three cells of 0.4 to 4 uA on 10 to 100 uS, one of 10 times the other: each loses its
 * share of current and of noise. */
static void wires_take_mean_and_width(void **state)
{
    (void)state;
    enum { CELLS_OF_WEIGHT = 3, SIDE = 40, SIZE = SIDE * SIDE };
    xb_ctx *ctx = test_ctx();
    xb_model *m = tied_model(ctx, "three");
    xb_array array = test_array("ideal");
    array.line_ohm = 20, array.rows = 16, array.columns = 12;
    xb_analog *a = analog_of(ctx, m, &array);
    const xb_tensor *t = xb_net_tensor_at(m->net, 2);
    assert_int_equal(t->size, SIZE);
    static double us[CELLS_OF_WEIGHT][SIZE];
    double most = 0;
    for (int k = 0; k < CELLS_OF_WEIGHT; k++)
        for (int i = 0; i < SIZE; i++)
            us[k][i] = 25 * (double)xb_model_cell_states(m, 2)[k * SIZE + i];
    for (int i = 0; i < SIZE; i++) {
        double sum = -7.2, square = 0;
        for (int k = 0; k < CELLS_OF_WEIGHT; k++) {
            const double loss = tile_loss(us[k], i / SIDE, i % SIDE, 20);
            const double current = us[k][i] / 25;
            sum += current / (1 + loss);
            square += pow(xb_weight_cells_width(m->cells, current) / (1 + loss), 2);
            most = fmax(most, loss);
        }
        assert_close_floor((double)a->mu[t->offset + i], sum / 10.5, 1e-5, 1);
        assert_close((double)a->sigma[t->offset + i], sqrt(square) / 10.5, 1e-5);
    }
    assert_true(most > 0.02); /* or nothing was shown */
    assert_true(xb_analog_limits_get(a).wire_loss >= most * (1 - 1e-9));
    xb_analog_destroy(a);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- age */

static double between_states(const double at[STATES], double g_us)
{
    const int k = g_us > 50;
    const double part = (g_us - state_us[k]) / (state_us[k + 1] - state_us[k]);
    return at[k] + part * (at[k + 1] - at[k]);
}

/* A pair on 10 to 100 uS, 100 s old: each weight's cells have moved by the shift and
 * spread of their states; standardised, all weights together have mean 0 and variance 1.
 */
static void cells_age(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = tied_model(ctx, "pair");
    xb_array array = test_array("ideal");
    assert_ok(ctx, xb_array_set_device(ctx, &array, device_file(ctx, &s, "S")));
    array.age_s = 100;
    xb_analog *a = analog_of(ctx, m, &array);
    const xb_tensor *t = xb_net_tensor_at(m->net, 2);
    const float *g = xb_model_cell_states(m, 2);
    const double n = (double)t->size;
    double sum = 0, square = 0;
    int other = 0;
    for (int64_t i = 0; i < t->size; i++) {
        double shift = 0, spread = 0;
        for (int k = 0; k < 2; k++) {
            const double us = 25 * (double)g[k * t->size + i];
            shift += (k ? -1 : 1) * between_states(shift_us, us);
            spread = hypot(spread, between_states(spread_us, us));
        }
        const double moved =
            25 * 7 * ((double)a->mu[t->offset + i] - (double)m->mu[t->offset + i]);
        sum += (moved - shift) / spread / n;
        square += pow((moved - shift) / spread, 2) / n;
        other += a->sigma[t->offset + i] != m->sigma[t->offset + i];
    }
    assert_at_most(fabs(sum), 5 / sqrt(n));
    /* a sum of two exponentials has kurtosis 6 at most */
    assert_close(square, 1, 5 * sqrt(8 / n));
    assert_true(other > 9 * t->size / 10);
    xb_analog_destroy(a);
    array.age_s = 0; /* right after programming: the model */
    a = analog_of(ctx, m, &array);
    assert_true(same_weights(a, m));
    xb_analog_destroy(a);
    xb_model_destroy(m);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = tied_model(ctx, "pair");
    xb_array array = test_array("ideal");
    xb_analog *a = NULL;
    assert_ok(ctx, xb_array_set_device(ctx, &array, device_file(ctx, &s, "S")));
    array.quiet_pairs = 1;
    assert_int_equal(xb_analog_create(ctx, &a, m, &array, NULL, 0, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "their states were learnt"));
    array.quiet_pairs = 0, array.age_s = 1, array.g_min_us = 5;
    assert_int_equal(xb_analog_create(ctx, &a, m, &array, NULL, 0, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx),
                           "states were measured from 10 to 100 µS, but the"
                           " array uses 5 to 100 µS"));
    assert_null(a);
    xb_model_destroy(m);
    scratch_remove(&s);
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
        cmocka_unit_test(widths_spread),
        cmocka_unit_test(missed_writes_add_up),
        cmocka_unit_test(wires_take_mean_and_width),
        cmocka_unit_test(cells_age),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(there_is_no_export_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
