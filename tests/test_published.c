/* test_published.c: the model of costs against chips and converters that were published,
 * each with its own parameters (docs/design.md has the table and the sources). Numbers of
 * the papers are in joules per conversion, and operations per joule. */
#include "arraytest.h"

#include "crossbar/adc_energy.h"
#include "net/layer.h"

typedef struct converter {
    const char *name;
    double node_nm;
    int64_t bits;
    double rate_hz, published_pj;
    double above, below; /* published over the band's high end, its low end over it, at
                            most: 1 lies within the band */
} converter;

static const converter converters[] = {
    {"ISAAC", 32, 8, 1.2e9, 16e-3 / (8 * 1.2e9) * 1e12, 1, 1},
    {"Kull 2013", 32, 8, 1.2e9, 3.1e-3 / 1.2e9 * 1e12, 1.5, 1},
    {"FORMS", 32, 4, 2.1e9, 15.2e-3 / (32 * 2.1e9) * 1e12, 1, 1},
    {"Chen 2018", 40, 8, 1.1e9, 0.32e-3 / 1.1e9 * 1e12, 1, 1.2},
    {"TIMELY", 65, 8, 1 / 150e-9, 0.145, 1, 4.5}, /* counts time: no such model here */
};

static void converters_are_within_their_factors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof converters / sizeof *converters; i++) {
        const converter *c = &converters[i];
        xb_array a = test_array("ideal");
        a.adc_bits = c->bits;
        a.cost.node_nm = c->node_nm;
        a.cost.adc_clock_mhz = 1e-6 * c->rate_hz * (double)(c->bits + 1);
        const xb_band pj = xb_adc_band_pj(&a);
        print_message("%s: published %.3g pJ, model %.3g to %.3g pJ\n", c->name,
                      c->published_pj, pj.low, pj.high);
        assert_true(c->published_pj <= c->above * pj.high);
        assert_true(c->published_pj >= pj.low / c->below);
        if (c->above > 1) assert_true(c->published_pj > pj.high); /* as the table says */
        if (c->below > 1) assert_true(c->published_pj < pj.low);
    }
}

/* Wan et al. 2022: 256 inputs on 128 pairs of columns, RRAM of 1 to 4 uS at 0.5 V in
 * 130 nm. An input of b bits is 2^(b-1) - 1 pulses of 10 ns, from 6 bits on in two phases
 * of fewer. The chip's efficiency is that of its Fig. 12. */
typedef struct chip_case {
    int64_t out_bits, in_bits, pulses;
    double tera_per_joule;
} chip_case;

static const chip_case wan[] = {
    {4, 2, 1, 40.33}, {6, 4, 7, 15.95}, {8, 6, 10, 8.257}, {10, 8, 22, 6.437}};

static void a_chip_is_within_its_factor(void **state)
{
    (void)state;
    enum { INPUTS = 256, OUTPUTS = 128 };
    xb_ctx *ctx = test_ctx();
    xb_model *m =
        net_model(ctx, "dense 128, relu, dense 1", (xb_shape){1, 1, INPUTS}, 0, 0.05);
    double *x = net_inputs(m, 4);
    for (size_t i = 0; i < sizeof wan / sizeof *wan; i++) {
        const chip_case *c = &wan[i];
        xb_array a = test_array("ideal");
        a.g_min_us = 1, a.g_max_us = 4;
        a.adc_bits = c->out_bits, a.dac_bits = c->in_bits;
        a.cost.node_nm = 130, a.cost.read_v = 0.5;
        a.cost.read_ns = 10 * (double)c->pulses;
        a.cost.adc_clock_mhz = 1 / 0.3; /* 0.3 us a step of a converter */
        xb_analog *analog = test_analog(ctx, m, &a, x, 4);
        xb_cost_model *cost = NULL;
        assert_ok(ctx, xb_cost_model_create(ctx, &cost, analog, 1));
        const xb_band pj = xb_cost_model_energy_pj(
            cost, xb_cost_model_design_find("deterministic"), 0, -1);
        const double published = 2.0 * INPUTS * OUTPUTS / c->tera_per_joule;
        print_message("Wan 2022, %d bits in, %d out: published %.0f pJ a product, model"
                      " %.0f to %.0f pJ\n",
                      (int)c->in_bits, (int)c->out_bits, published, pj.low, pj.high);
        assert_true(published <= 1.5 * pj.high && published >= pj.low / 1.5);
        xb_cost_model_destroy(cost);
        xb_analog_destroy(analog);
    }
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- units by dimension: V^2 S s and W s are J */

static double joules(const xb_array *a, const xb_model *m, const double *x, xb_ctx *ctx,
                     const char *part)
{
    xb_analog *analog = test_analog(ctx, m, a, x, 4);
    xb_cost_model *cost = NULL;
    assert_ok(ctx, xb_cost_model_create(ctx, &cost, analog, 1));
    const double pj =
        xb_cost_model_energy_pj(cost, 0, -1, xb_cost_model_part_find(part)).low;
    xb_cost_model_destroy(cost);
    xb_analog_destroy(analog);
    return 1e-12 * pj;
}

/* A number times a factor multiplies a part's energy by that factor's power: dimensions
 * of volts, siemens and seconds, and none of what a part does not depend on. */
static void units_are_those_of_their_dimensions(void **state)
{
    (void)state;
    static const struct {
        const char *part, *key;
        int power;
    } cases[] = {{"cells", "read_v", 2},        {"cells", "read_ns", 1},
                 {"sampling", "read_v", 2},     {"sampling", "read_ns", 1},
                 {"sampling", "noise_g_us", 1}, {"sampling", "noise_cells", 1},
                 {"dac", "dac_pj_low", 1},      {"digital", "add_pj", 1},
                 {"adc", "read_v", 0},          {"cells", "node_nm", 0},
                 {"dac", "read_ns", 0}};
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 5, relu, dense 1", (xb_shape){1, 1, 3}, 0, 0.05);
    double *x = net_inputs(m, 4);
    xb_array a = test_array("ideal");
    a.adc_bits = a.dac_bits = 8;
    a.g_min_us = 10, a.cost.noise_g_us = 20, a.cost.dac_pj_high = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xb_array b = a;
        double value;
        assert_ok(ctx, xb_array_get(ctx, &value, &a, cases[i].key));
        assert_ok(ctx, xb_array_set(ctx, &b, cases[i].key, 3 * value));
        const double before = joules(&a, m, x, ctx, cases[i].part);
        assert_close(joules(&b, m, x, ctx, cases[i].part) / before,
                     pow(3, cases[i].power), 1e-9);
    }
    /* and once in SI: both conductances of all pairs at 0.5 V for 2 ns */
    double siemens = 0, top[2] = {0};
    for (int k = 0; k < 2; k++) {
        const xb_tensor *t = &m->net->tensor[2 * k];
        for (int64_t i = 0; i < t->size; i++)
            top[k] = fmax(top[k], fabs((double)m->mu[t->offset + i]));
        for (int64_t i = 0; i < t->size; i++)
            siemens += 1e-6 * (20 + 90 * fabs((double)m->mu[t->offset + i]) / top[k]);
    }
    assert_close(joules(&a, m, x, ctx, "cells"), 0.5 * 0.5 * siemens * 2e-9, 1e-6);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converters_are_within_their_factors),
        cmocka_unit_test(a_chip_is_within_its_factor),
        cmocka_unit_test(units_are_those_of_their_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
