/* test_crossbar_wires.c: what the wires of an array lose, against a circuit solved in
 * full and values computed by hand. */
#include "arraytest.h"

#include "crossbar/analog.h"
#include "crossbar/array.h"

enum { TR = 4, TC = 3, NODES = 2 * TR * TC };

/* Column currents of a tile with wires of `ohm`, all rows at 1 V, by solving Kirchhoff's
 * equations: node (i, j) of the row wire is i TC + j, of the column wire TR TC more. */
static void solve_circuit(double *current, const double *g_us, double ohm)
{
    static double a[NODES][NODES + 1];
    memset(a, 0, sizeof a);
    const double wire = 1 / ohm;
    for (int i = 0; i < TR; i++)
        for (int j = 0; j < TC; j++) {
            int r = i * TC + j, c = TR * TC + r;
            double g = g_us[r] * 1e-6;
            a[r][r] += g + wire, a[r][c] -= g;
            if (j > 0)
                a[r][r - 1] -= wire;
            else
                a[r][NODES] += wire; /* the driver, 1 V */
            if (j + 1 < TC) a[r][r] += wire, a[r][r + 1] -= wire;
            a[c][c] += g + wire, a[c][r] -= g;
            if (i + 1 < TR) a[c][c + TC] -= wire; /* else ground */
            if (i > 0) a[c][c] += wire, a[c][c - TC] -= wire;
        }
    for (int p = 0; p < NODES; p++) /* diagonally dominant: no pivoting */
        for (int r = 0; r < NODES; r++) {
            if (r == p) continue;
            double f = a[r][p] / a[p][p];
            for (int c = p; c <= NODES; c++) a[r][c] -= f * a[p][c];
        }
    for (int j = 0; j < TC; j++) {
        int last = TR * TC + (TR - 1) * TC + j;
        current[j] = a[last][NODES] / a[last][last] * wire * 1e6;
    }
}

static double line_error(double ohm)
{
    double plus[TR * TC], minus[TR * TC], room[2 * TR * TC], want[TC], error = 0;
    for (int i = 0; i < TR * TC; i++) plus[i] = 20 + 7 * i, minus[i] = 20;
    solve_circuit(want, plus, ohm);
    xb_cells c = {TR, TC, TR, TC, plus, minus, NULL, 1, 1, 0, 1, NULL, 0, false};
    xb_array a = test_array("ideal");
    a.line_ohm = ohm;
    xb_cells_lines(&c, &a, room);
    for (int j = 0; j < TC; j++) {
        double sum = 0;
        for (int i = 0; i < TR; i++) sum += plus[i * TC + j];
        error = fmax(error, fabs(sum - want[j]) / want[j]);
    }
    return error;
}

/* First order: half the resistance, a quarter of the error; and one cell exactly. */
static void wires_lose_what_the_circuit_loses(void **state)
{
    (void)state;
    double coarse = line_error(20), fine = line_error(10);
    assert_at_most(coarse, 2e-5); /* of the current, where 1.6 % are lost */
    assert_close(coarse / fine, 4, 0.1);
    double plus = 50, minus = 20, width = 4, room[2];
    xb_cells c = {1, 1, 1, 1, &plus, &minus, &width, 1, 1, 0, 1, NULL, 0, false};
    xb_array a = test_array("ideal");
    a.line_ohm = 1000;
    xb_cells_lines(&c, &a, room);
    assert_close(plus, 1e6 / (1e6 / 50 + 2000), 1e-14);
    assert_close(minus, 1e6 / (1e6 / 20 + 2000), 1e-14);
    assert_close(width, 4 / (1 + 1e-3 * 55 * 2), 1e-14); /* (10 + 100) / 2 uS */
}

/* The difference of two arrays, inputs that differ, wires that take up to half of the
 * voltage: off by 2 % where doing without wires is off by half; and noise devices in an
 * array of their own. */
static void differences_are_off_by_little(void **state)
{
    (void)state;
    double loss[2], error[2];
    for (int k = 0; k < 2; k++) {
        double g[2][TR * TC], was[2][TR * TC], want[2][TC], room[2 * TR * TC];
        double off = 0, all = 0;
        for (int i = 0; i < TR * TC; i++) {
            const double w = 75 * sin(2.3 * i);
            was[0][i] = g[0][i] = 50 + fmax(w, 0), was[1][i] = g[1][i] = 50 + fmax(-w, 0);
        }
        xb_cells c = {TR, TC, TR, TC, g[0], g[1], NULL, 1, 1, 0, 1, NULL, 0, false};
        xb_array a = test_array("ideal");
        a.line_ohm = k ? 1000 : 200;
        loss[k] = xb_cells_lines(&c, &a, room);
        for (int s = 0; s < 2; s++) solve_circuit(want[s], was[s], a.line_ohm);
        for (int j = 0; j < TC; j++) {
            double got = 0;
            for (int i = 0; i < TR; i++) got += g[0][i * TC + j] - g[1][i * TC + j];
            off += pow(got - want[0][j] + want[1][j], 2);
            all += pow(want[0][j] - want[1][j], 2);
        }
        error[k] = sqrt(off / all);
    }
    assert_in_range((int64_t)(100 * loss[0]), 20, 40);
    assert_at_most(error[0], 0.01);
    assert_true(error[1] > 4 * error[0]); /* it is first order */
    double plus[2] = {50, 60}, minus[2] = {50, 50}, width[2] = {4, 4}, room[4];
    xb_cells c = {1, 2, 1, 2, plus, minus, width, 1, 1, 0, 1, NULL, 0, false};
    xb_array a = test_array("ideal");
    a.line_ohm = 100, a.cost.noise_g_us = 30, a.cost.noise_cells = 2;
    (void)xb_cells_lines(&c, &a, room);
    /* row: 2 cells of 60 uS beyond the first piece, then 1; column: itself */
    assert_close(width[0], 4 / (1 + 1e-4 * 60 * (2 + 1)), 1e-14);
    assert_close(width[1], 4 / (1 + 1e-4 * 60 * (3 + 1)), 1e-14);
}

/* Tiles have wires of their own: two tiles are the tile twice. */
static void tiles_have_wires_of_their_own(void **state)
{
    (void)state;
    double plus[8] = {50, 20, 30, 40, 50, 20, 30, 40}, minus[8] = {0}, room[8];
    xb_cells c = {4, 2, 2, 2, plus, minus, NULL, 1, 1, 0, 1, NULL, 0, false};
    xb_array a = test_array("ideal");
    a.line_ohm = 100;
    xb_cells_lines(&c, &a, room);
    for (int i = 0; i < 4; i++) assert_close(plus[i], plus[4 + i], 0);
    /* cell (0, 0): row (50 + 20), column 2 * 50 + 30 */
    assert_close(plus[0], 50 / (1 + 1e-4 * (70 + 130)), 1e-14);
}

/* (X55) Two tiles of 2 x 2: columns of 50 + 30 and 20 + 40, rows of 70 and 70; at 0.5 V.
 * A width of 10 uS swings to both ends of its law. */
static void circuits_have_limits(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double plus[8] = {50, 20, 30, 40, 50, 20, 30, 45}, minus[8] = {1};
    const xb_cells c = {4, 2, 2, 2, plus, minus, NULL, 1, 1, 0, 1, NULL, 0, false};
    const xb_conduction most = xb_cells_conduction(&c);
    assert_close(most.column_us, 80, 1e-14);
    assert_close(most.row_us, 75, 1e-14);
    xb_model *m = net_model(ctx, "dense 3, relu, dense 1", (xb_shape){1, 1, 2}, 0, 0.1);
    xb_array array = test_array("mtj");
    double *x = net_inputs(m, 4);
    xb_analog *a = test_analog(ctx, m, &array, x, 4);
    xb_analog_limits l = xb_analog_limits_get(a);
    const double end = 1 / sqrt(xb_law_moments(xb_sampler_law(a->sampler)).variance);
    assert_close(l.swing_high_us, 87.5 + 10 * end, 1e-9); /* its law ends at 1 */
    assert_close(l.swing_low_us, 87.5 - 10 * end, 1e-9);
    assert_in_range((int64_t)(10 * end), 28, 30);
    assert_close(
        l.column_ua,
        0.5 * fmax(a->layer[0].conduction.column_us, a->layer[1].conduction.column_us),
        1e-14);
    assert_true(l.wire_loss > 0 && l.wire_loss < 0.01);
    xb_analog_destroy(a);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wires_lose_what_the_circuit_loses),
        cmocka_unit_test(differences_are_off_by_little),
        cmocka_unit_test(circuits_have_limits),
        cmocka_unit_test(tiles_have_wires_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
