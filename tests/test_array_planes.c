/* test_array_planes.c: weights in slices, inputs in pulses and offset columns (maths
 * X60-X62) against a product that is written out again in double, digit by digit; what
 * another temperature does (X63); what slices and pulses cost (X64). */
#include "arraytest.h"

#include "crossbar/analog.h"
#include "predict/predict.h"

enum { INPUTS = 24, MOST = 64, READS = 3 };

typedef struct setting {
    int64_t levels, slices, offset, dac_bits, pulse_bits, adc_bits;
} setting;

static xb_array array_of(setting s)
{
    xb_array a = test_array("ideal");
    a.rows = 3, a.columns = 2;
    a.g_min_us = 7, a.g_max_us = 90;
    a.mean_levels = s.levels, a.weight_slices = s.slices, a.offset_columns = s.offset;
    a.dac_bits = s.dac_bits, a.input_slice_bits = s.pulse_bits, a.adc_bits = s.adc_bits;
    return a;
}

/* ---- by hand */

static double top_of(const float *mu, int64_t n)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs((double)mu[i]));
    return top;
}

/* What digit `slice` of a weight adds to it, and what is taken off as its reference. */
typedef struct share {
    double weight, reference;
} share;

static share share_of(double mu, double top, const xb_array *a, int64_t slice)
{
    const int64_t levels = a->mean_levels,
                  slices = a->weight_slices > 1 ? a->weight_slices : 1;
    const double range = a->g_max_us - a->g_min_us;
    if (levels == 0) { /* any state */
        if (!a->offset_columns) return (share){mu, 0};
        const double middle = (a->g_min_us + a->g_max_us) / 2;
        return (share){mu + middle * 2 * top / range, middle * 2 * top / range};
    }
    int64_t states = 1, place = 1;
    for (int64_t k = 0; k < slices; k++) states *= levels;
    for (int64_t k = slice + 1; k < slices; k++) place *= levels;
    if (!a->offset_columns) {
        const int64_t number = llrint(fabs(mu) / top * (double)(states - 1));
        const int64_t digit = number / place % levels;
        const double unit = top * (double)place / (double)(states - 1);
        return (share){copysign(unit * (double)digit, mu), 0};
    }
    const int64_t zero = states / 2, most = states - 1 - zero;
    const int64_t number = zero + llrint(mu / top * (double)most);
    const double unit = top * (double)place / (double)most;          /* of a digit */
    const double least = a->g_min_us * (double)(levels - 1) / range; /* in digits */
    return (share){unit * (least + (double)(number / place % levels)),
                   unit * (least + (double)(zero / place % levels))};
}

/* Whether a number was so near to the edge of a step that float32 may round it to the
 * other side. */
static bool on_edge;

static double convert(double x, int64_t bits, double range, bool has_sign)
{
    if (bits == 0) return x;
    const double steps = pow(2, (double)(bits - (has_sign ? 1 : 0))) - 1;
    const double low = has_sign ? -steps : 0, at = x / range * steps;
    on_edge = on_edge || fabs(at - floor(at) - 0.5) < 1e-5 + 6e-7 * steps;
    return fmin(fmax(rint(at), low), steps) * range / steps;
}

/* One input through one layer; z NULL: no noise. */
static void by_hand(double *y, const double *x, const xb_analog *an,
                    const xb_analog_layer *p, const float *z)
{
    const xb_array *a = &an->array;
    const xb_model *m = an->model;
    const float *mu = m->mu + p->offset, *sigma = m->sigma + p->offset;
    const double top = top_of(mu, p->size);
    const int64_t slices = a->weight_slices > 1 ? a->weight_slices : 1;
    const int64_t magnitude = a->dac_bits - (p->dac.has_sign ? 1 : 0);
    const bool serial =
        a->dac_bits > 0 && a->input_slice_bits > 0 && a->input_slice_bits < magnitude;
    const double step =
        a->dac_bits > 0 ? p->dac.range / (pow(2, (double)magnitude) - 1) : 0;
    for (int64_t j = 0; j < p->out; j++) y[j] = (double)mu[p->size + j];
    for (int64_t from = 0; from < p->in; from += p->rows)
        for (int64_t j = 0; j < p->out; j++)
            for (int64_t s = 0; s < slices; s++)
                for (int64_t bit = 0; bit < (serial ? magnitude : 1);
                     bit += serial ? a->input_slice_bits : 1) {
                    double sum = 0, reference = 0;
                    for (int64_t i = from; i < p->in && i < from + p->rows; i++) {
                        double in =
                            convert(x[i], a->dac_bits, p->dac.range, p->dac.has_sign);
                        if (serial) { /* some bits of it */
                            const int64_t steps = llrint(fabs(in) / step);
                            const int64_t base = INT64_C(1) << a->input_slice_bits;
                            in = copysign(step * (double)((steps >> bit) % base), in);
                        }
                        const int64_t at = i * p->out + j;
                        const share w = share_of((double)mu[at], top, a, s);
                        sum += in * w.weight;
                        if (s == 0 && z) sum += in * (double)sigma[at] * (double)z[at];
                        reference += in * w.reference;
                    }
                    const xb_converter adc = p->plane ? p->plane[s].adc : p->adc;
                    sum = convert(sum, a->adc_bits, adc.range, adc.has_sign);
                    if (a->offset_columns)
                        sum -= convert(reference, a->adc_bits, adc.range, adc.has_sign);
                    y[j] += sum * pow(2, (double)bit);
                }
}

/* The net `dense 5, relu, dense 1` for read s. */
static double net_by_hand(const xb_analog *an, const double *x, int64_t s)
{
    double now[MOST] = {0}, next[MOST] = {0};
    const xb_model *m = an->model;
    for (int64_t i = 0; i < m->features; i++) now[i] = (x[i] - m->x_mean[i]) / m->x_sd[i];
    for (int l = 0; l < an->n_layer; l++) {
        const xb_analog_layer *p = &an->layer[l];
        float z[MOST];
        const xb_stream where = {an->reads, (uint32_t)p->tensor, (uint32_t)s,
                                 XB_PREDICT_STEP};
        xb_sampler_fill(an->sampler, z, p->size, &where, 0);
        by_hand(next, now, an, p, z);
        for (int64_t j = 0; j < p->out; j++)
            now[j] = l + 1 < an->n_layer ? fmax(next[j], 0) : next[j];
    }
    return m->y_mean[0] + m->y_sd[0] * now[0];
}

static xb_model *small_model(xb_ctx *ctx, double sigma)
{
    return net_model(ctx, "dense 5, relu, dense 1", (xb_shape){1, 1, 7}, 0, sigma);
}

static void check_setting(xb_ctx *ctx, const xb_model *m, setting s)
{
    xb_array array = array_of(s);
    double *x = net_inputs(m, INPUTS), value[READS * INPUTS];
    array.adc_range = 0.3711; /* sums of digits would often lie on edges of their own */
    int edges = 0;
    xb_analog *an = test_analog(ctx, m, &array, x, INPUTS);
    assert_ok(ctx, xb_analog_draws(ctx, value, NULL, an, x, INPUTS, 0, READS));
    for (int64_t r = 0; r < READS; r++)
        for (int64_t i = 0; i < INPUTS; i++) {
            on_edge = false;
            const double want = net_by_hand(an, x + i * m->features, r);
            edges += on_edge;
            if (!on_edge)
                assert_close_floor(value[r * INPUTS + i], want, 2e-5, m->y_sd[0]);
        }
    assert_true(edges <= READS * INPUTS / 2); /* most are compared */
    xb_analog_destroy(an);
    free(x);
}

static void products_are_those_by_hand(void **state)
{
    (void)state;
    static const setting settings[] = {
        /* levels, slices, offset, DAC bits, pulse bits, ADC bits */
        {0, 1, 0, 8, 0, 8}, /* as ever */
        {4, 2, 0, 0, 0, 0},  {4, 3, 0, 8, 0, 7}, {16, 2, 0, 8, 0, 8}, {2, 8, 0, 6, 0, 6},
        {0, 1, 0, 8, 1, 8},  {0, 1, 0, 8, 2, 8}, {0, 1, 0, 7, 3, 6},  {0, 1, 0, 6, 1, 0},
        {0, 1, 0, 6, 9, 8},  {0, 1, 1, 0, 0, 0}, {0, 1, 1, 8, 0, 9},  {32, 1, 1, 8, 0, 9},
        {5, 1, 1, 8, 0, 8},  {4, 3, 1, 8, 0, 9}, {3, 3, 1, 6, 2, 8},  {16, 2, 0, 8, 1, 6},
        {4, 2, 1, 5, 1, 10},
    };
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 0.05);
    for (int i = 0; i < XB_COUNT(settings); i++) check_setting(ctx, m, settings[i]);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Enough slices are the model itself; few are as few states. */
static void digits_make_the_weight(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 0);
    for (int offset = 0; offset < 2; offset++) {
        xb_array array = array_of((setting){16, 6, offset, 0, 0, 0});
        double *x = net_inputs(m, INPUTS), digital[INPUTS];
        double *value = test_reads(ctx, m, &array, x, INPUTS, 0, 1);
        xb_predict_options opt = xb_predict_options_default();
        assert_ok(ctx, xb_predict_draws(ctx, digital, NULL, m, x, INPUTS, 0, 1, &opt));
        for (int i = 0; i < INPUTS; i++)
            assert_close_floor(value[i], digital[i], 1e-5, m->y_sd[0]);
        free(value);
        array.weight_slices = 1, array.mean_levels = 0; /* one device has it all */
        value = test_reads(ctx, m, &array, x, INPUTS, 0, 1);
        for (int i = 0; i < INPUTS; i++)
            assert_close_floor(value[i], digital[i], 1e-5, m->y_sd[0]);
        free(value);
        free(x);
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* With coverage 1 a slice's range is the largest of its sums. */
static void ranges_are_those_of_slices(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 0);
    for (int64_t i = 0; i < xb_net_param_count(m->net); i++) m->sigma[i] = 0;
    xb_array array = array_of((setting){4, 2, 1, 6, 2, 8});
    array.coverage = 1;
    double *x = net_inputs(m, INPUTS);
    xb_analog *an = test_analog(ctx, m, &array, x, INPUTS);
    const xb_analog_layer *p = &an->layer[0];
    const double step = p->dac.range / (pow(2, 5) - 1), top = top_of(m->mu, p->size);
    for (int64_t s = 0; s < 2; s++) {
        double most = 0;
        for (int64_t n = 0; n < INPUTS; n++)
            for (int64_t bit = 0; bit < 5; bit += 2)
                for (int64_t from = 0; from < p->in; from += p->rows)
                    for (int64_t j = 0; j <= p->out; j++) { /* and the reference */
                        double sum = 0;
                        for (int64_t i = from; i < p->in && i < from + p->rows; i++) {
                            const double in = (x[n * 7 + i] - m->x_mean[i]) / m->x_sd[i];
                            const int64_t steps =
                                llrint(fmin(fabs(in), p->dac.range) / step);
                            const int64_t at = i * p->out + (j < p->out ? j : 0);
                            const share w = share_of((double)m->mu[at], top, &array, s);
                            sum += copysign(step * (double)((steps >> bit) % 4), in) *
                                   (j < p->out ? w.weight : w.reference);
                        }
                        most = fmax(most, fabs(sum));
                    }
        assert_close(p->plane[s].adc.range, most, 1e-5);
    }
    xb_analog_destroy(an);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- chance */

/* A device misses by 2 e mu* where a pair misses by sqrt(2) e mu*, and slices after the
 * first by as much less as they count; each slice has errors of its own. */
static void single_devices_miss_by_more(void **state)
{
    (void)state;
    enum { IN = 60, OUT = 50, N = IN * OUT };
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 50, relu, dense 1", (xb_shape){1, 1, IN}, 0, 0);
    double *x = net_inputs(m, 2);
    static const struct {
        int64_t levels, slices, offset;
        double sd[2]; /* of the slices, in parts of e mu* */
    } cases[] = {{0, 1, 0, {M_SQRT2, 0}},
                 {0, 1, 1, {2, 0}},
                 {5, 2, 0, {M_SQRT2 * 20.0 / 24, M_SQRT2 * 4.0 / 24}},
                 {5, 2, 1, {20.0 / 12, 4.0 / 12}}};
    for (int k = 0; k < XB_COUNT(cases); k++) {
        const double e = 0.02;
        xb_array array = array_of(
            (setting){cases[k].levels, cases[k].slices, cases[k].offset, 0, 0, 0});
        array.g_min_us = 30; /* far from 0 */
        xb_analog *still = test_analog(ctx, m, &array, x, 2);
        array.program_error = e;
        xb_analog *an = test_analog(ctx, m, &array, x, 2);
        const double top = an->layer[0].weight_top;
        double cross = 0;
        for (int64_t s = 0; s < cases[k].slices; s++) {
            const float *was = s ? still->layer[0].plane[s].mean : still->mu;
            const float *is = s ? an->layer[0].plane[s].mean : an->mu;
            double sum = 0;
            for (int i = 0; i < N; i++) sum += pow((double)is[i] - (double)was[i], 2) / N;
            assert_close(sqrt(sum), cases[k].sd[s] * e * top, 5 / sqrt(2.0 * N));
            for (int i = 0; i < N && s > 0; i++)
                cross += ((double)is[i] - (double)was[i]) *
                         ((double)an->mu[i] - (double)still->mu[i]) / N;
        }
        if (cases[k].slices > 1)
            assert_at_most(fabs(cross), 5 * cases[k].sd[0] * cases[k].sd[1] * e * e *
                                            top * top / sqrt(N));
        xb_analog_destroy(an);
        xb_analog_destroy(still);
    }
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Amplifiers' noise of conversions adds: 2 slices, references and pulses of weight 1, 2,
 * 4, ... (X57). */
static void each_conversion_has_its_noise(void **state)
{
    (void)state;
    enum { N = 4000 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 1", (xb_shape){1, 1, 3}, 0, 0);
    for (int64_t i = 0; i < xb_net_param_count(m->net); i++) m->sigma[i] = 0;
    xb_array array = array_of((setting){4, 2, 1, 5, 2, 0});
    array.adc_range = 0.5;
    double *x = net_inputs(m, 4), value[N], still;
    xb_analog *an = test_analog(ctx, m, &array, x, 4);
    assert_ok(ctx, xb_analog_draws(ctx, &still, NULL, an, x, 1, 0, 1));
    xb_analog_destroy(an);
    array.amp_noise = 0.01;
    an = test_analog(ctx, m, &array, x, 4);
    const xb_analog_layer *p = &an->layer[0];
    double variance = 0, sum = 0;
    for (int64_t s = 0; s < 2; s++) /* column and reference; pulses of 2 bits of 4 */
        variance += 2 * (1 + 16) * pow(0.01 * p->plane[s].adc.range, 2);
    assert_ok(ctx, xb_analog_draws(ctx, value, NULL, an, x, 1, 0, N));
    for (int i = 0; i < N; i++) sum += pow((value[i] - still) / m->y_sd[0], 2) / N;
    assert_close(sqrt(sum), sqrt(variance), 5 / sqrt(2.0 * N));
    xb_analog_destroy(an);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- temperature */

/* 40 K warmer: 20 uS at 0.1 % per K become 20.8, 100 uS at -0.2 % become 92, 60 uS at
 * the mean of both 58.8. */
static void conductances_follow_the_temperature(void **state)
{
    (void)state;
    double plus[] = {20, 100, 60, 60}, minus[] = {20, 20, 100, 60},
           width[] = {1, 2, 3, 4};
    xb_cells c = {.in = 2, .out = 2, .rows = 2, .columns = 2};
    c.plus = plus, c.minus = minus, c.width = width;
    xb_array a = test_array("ideal");
    a.g_min_us = 20, a.heated_k = 40, a.tc_low = 1e-3, a.tc_high = -2e-3;
    xb_cells_heat(&c, &a, NULL);
    const double want_plus[] = {20.8, 92, 58.8, 58.8},
                 want_minus[] = {20.8, 20.8, 92, 58.8};
    for (int i = 0; i < 4; i++) {
        assert_close(plus[i], want_plus[i], 1e-12);
        assert_close(minus[i], want_minus[i], 1e-12);
        assert_close(width[i], (i + 1) * 0.98, 1e-12); /* at 60 uS */
    }
}

/* Devices differ: 50 K warmer, a spread of 0.1 % per K is 5 % of each conductance. */
static void devices_heat_by_themselves(void **state)
{
    (void)state;
    enum { SIDE = 60, N = SIDE * 50 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 50, relu, dense 1", (xb_shape){1, 1, SIDE}, 0, 0);
    double *x = net_inputs(m, 2);
    xb_array array = array_of((setting){0, 1, 0, 0, 0, 0});
    array.rows = array.columns = 0;
    array.heated_k = 50, array.tc_spread = 1e-3;
    assert_true(xb_array_differs(&array));
    xb_analog *an = test_analog(ctx, m, &array, x, 2);
    const double k = 83 / an->layer[0].weight_top;
    double sum = 0; /* of squares, each over what its pair should have */
    for (int i = 0; i < N; i++) {
        const double high = 7 + k * fabs((double)m->mu[i]);
        sum += pow(k * ((double)an->mu[i] - (double)m->mu[i]), 2) /
               (0.05 * 0.05 * (high * high + 49)) / N;
    }
    assert_close(sqrt(sum), 1, 5 / sqrt(2.0 * N));
    xb_analog_destroy(an);
    array.tc_spread = 0;
    assert_false(xb_array_differs(&array));
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* One coefficient for all states is a gain, which a calibration at that temperature would
 * see and one before it does not. */
static void heat_comes_after_calibration(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 1", (xb_shape){1, 1, 7}, 0, 0);
    double *x = net_inputs(m, INPUTS);
    xb_array array = array_of((setting){0, 1, 0, 8, 0, 8});
    array.column_calibration = 200;
    xb_analog *cold = test_analog(ctx, m, &array, x, INPUTS);
    array.heated_k = 50, array.tc_low = array.tc_high = 2e-3;
    xb_analog *hot = test_analog(ctx, m, &array, x, INPUTS);
    const xb_analog_layer *p = &cold->layer[0], *q = &hot->layer[0];
    assert_close(q->adc.range, p->adc.range, 0);
    for (int64_t i = 0; i < xb_row_tiles(p); i++)
        assert_close((double)q->correction.post[i], (double)p->correction.post[i], 0);
    for (int64_t i = 0; i < p->size; i++)
        assert_close((double)hot->mu[i], 1.1 * (double)cold->mu[i], 1e-6);
    assert_close(q->conductance_us, 1.1 * p->conductance_us, 1e-9);
    xb_analog_destroy(hot);
    xb_analog_destroy(cold);
    free(x);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- costs */

static xb_cost_model *cost_of(xb_ctx *ctx, const xb_model *m, const xb_array *array)
{
    double *x = net_inputs(m, 4);
    xb_analog *a = test_analog(ctx, m, array, x, 4);
    xb_cost_model *cost = NULL;
    assert_ok(ctx, xb_cost_model_create(ctx, &cost, a, 1));
    xb_analog_destroy(a);
    free(x);
    return cost;
}

/* Layer 0 is 7 x 5 in tiles of 3 x 2: 3 row tiles, 3 column tiles; inputs of 8 bits with
 * a sign are 4 pulses of 2 bits. */
static void costs_are_those_of_their_conversions(void **state)
{
    (void)state;
    enum { ARRAY, DAC = 0, CELLS, ADC, LOGIC };
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 0.05);
    xb_array array = array_of((setting){4, 1, 0, 8, 0, 8});
    xb_cost_model *plain = cost_of(ctx, m, &array);
    array.weight_slices = 3, array.offset_columns = 1, array.input_slice_bits = 2;
    xb_cost_model *cost = cost_of(ctx, m, &array);
    const double adc = xb_cost_model_energy_pj(plain, ARRAY, 0, ADC).high / (5 * 3);
    assert_close(xb_cost_model_energy_pj(cost, ARRAY, 0, ADC).high,
                 adc * 4 * 3 * (5 * 3 + 3 * 3), 1e-12);
    assert_close(xb_cost_model_energy_pj(cost, ARRAY, 0, LOGIC).high,
                 array.cost.add_pj * 4 * 3 * (5 * 3 + 3 * 3), 1e-12);
    assert_close(xb_cost_model_energy_pj(cost, ARRAY, 0, DAC).high,
                 array.cost.dac_pj_high * 7 * 3 * (4 * 2 + 1), 1e-12);
    double *x = net_inputs(m, 4);
    xb_analog *an = test_analog(ctx, m, &array, x, 4);
    double us = 0; /* of all devices, in all slices */
    for (int64_t s = 0; s < 3; s++) {
        const xb_plane *plane = &an->layer[0].plane[s];
        const float *mean = s ? plane->mean : an->mu;
        for (int i = 0; i < 35; i++) us += (double)mean[i] * plane->us_per_weight;
        for (int i = 0; i < 21; i++)
            us += (double)plane->reference[i] * plane->us_per_weight;
    }
    assert_close(xb_cost_model_energy_pj(cost, ARRAY, 0, CELLS).high,
                 4 * 1e-3 * pow(array.cost.read_v, 2) * array.cost.read_ns * us, 1e-6);
    assert_close(xb_cost_model_time_ns(cost, ARRAY, 0),
                 4 * (array.cost.read_ns + 3 * 9e3 / array.cost.adc_clock_mhz), 1e-12);
    const xb_analog_counts counts = xb_analog_count(an, 1);
    const double devices = 35 * 4 + 3 * 21 + 5 * 4 + 3 * 5; /* of both layers */
    assert_close(counts.devices, devices, 1e-12);
    assert_close(counts.adc_conversions,
                 4 * 3 * (5 * 3 + 3 * 3) + 4 * 3 * (1 * 2 + 1 * 2), 1e-12);
    xb_analog_destroy(an);
    free(x);
    xb_cost_model_destroy(plain);
    xb_cost_model_destroy(cost);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* More slices, more pulses, more bits never cost less, in energy or time. */
static void more_is_never_cheaper(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 0.05);
    for (int offset = 0; offset < 2; offset++) {
        double before_pj = 0, before_ns = 0;
        for (int64_t slices = 1; slices <= 5; slices++) {
            xb_array array = array_of((setting){4, slices, offset, 8, 0, 8});
            xb_cost_model *cost = cost_of(ctx, m, &array);
            const double pj = xb_cost_model_energy_pj(cost, 0, -1, -1).low;
            assert_true(pj >= before_pj);
            before_pj = pj;
            xb_cost_model_destroy(cost);
        }
        before_pj = 0;
        for (int64_t bits = 8; bits >= 1; bits /= 2) { /* of a pulse: ever more pulses */
            xb_array array = array_of((setting){4, 2, offset, 8, bits, 8});
            xb_cost_model *cost = cost_of(ctx, m, &array);
            const double pj = xb_cost_model_energy_pj(cost, 0, -1, -1).low;
            const double ns = xb_cost_model_time_ns(cost, 0, -1);
            assert_true(pj >= before_pj && ns >= before_ns);
            before_pj = pj, before_ns = ns;
            xb_cost_model_destroy(cost);
        }
    }
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* ---- what is refused */

static void wrong_mappings_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_array a = array_of((setting){256, 8, 0, 8, 0, 8});
    assert_int_equal(xb_array_check(ctx, &a), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "8 slices of 256 states"));
    a = array_of((setting){2, 1, 1, 8, 0, 8});
    assert_int_equal(xb_array_check(ctx, &a), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "3 or more states"));
    a = array_of((setting){4, 1, 1, 8, 0, 8});
    a.stuck_repair = 1;
    assert_int_equal(xb_array_check(ctx, &a), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "needs pairs"));
    a = array_of((setting){0, 1, 0, 8, 1, 8});
    a.adc_range_per = 1;
    assert_int_equal(xb_array_check(ctx, &a), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "input_slice_bits"));
    a = array_of((setting){0, 1, 0, 8, 0, 8});
    a.heated_k = 600, a.tc_high = -2e-3;
    assert_int_equal(xb_array_check(ctx, &a), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "heated_k"));
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_by_hand),
        cmocka_unit_test(digits_make_the_weight),
        cmocka_unit_test(ranges_are_those_of_slices),
        cmocka_unit_test(single_devices_miss_by_more),
        cmocka_unit_test(each_conversion_has_its_noise),
        cmocka_unit_test(conductances_follow_the_temperature),
        cmocka_unit_test(devices_heat_by_themselves),
        cmocka_unit_test(heat_comes_after_calibration),
        cmocka_unit_test(costs_are_those_of_their_conversions),
        cmocka_unit_test(more_is_never_cheaper),
        cmocka_unit_test(wrong_mappings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
