/* analog.c: puts a model on arrays: maps its layers to tiles, and creates and frees the
 * analog model. Devices are in write_arrays.c, a single read is in reader.c, many reads
 * are in reads.c. */
#include "crossbar/analog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vi/model.h"
#include "vi/member_seed.h"

void xb_analog_options_init(xb_analog_options *opt, size_t size)
{
    const xb_analog_options standard = {.seed = 1, .chip = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static xb_analog_layer place_layer(const xb_net *net, int index, const xb_array *array)
{
    const xb_layer *layer = &net->layer[index];
    const xb_tensor *t = &net->tensor[layer->tensor];
    xb_analog_layer p = {.layer = layer,
                         .index = index,
                         .tensor = layer->tensor,
                         .offset = t->offset,
                         .size = t->size,
                         .n = t->size,
                         .out = layer->out.c,
                         .operations = layer->out.h * layer->out.w,
                         .random = t->stochastic};
    p.in = p.size / p.out;
    if (layer->tensors == 2) {
        p.n += t[1].size;
        p.random = p.random || t[1].stochastic;
    }
    p.rows = array->rows > 0 ? smaller(array->rows, p.in) : p.in;
    p.columns = array->columns > 0 ? smaller(array->columns, p.out) : p.out;
    return p;
}

static xb_status place_layers(xb_ctx *ctx, xb_analog *a)
{
    const xb_net *net = a->model->net;
    a->layer = xb_new(ctx, net->n_layer, sizeof *a->layer);
    if (!a->layer) return XB_E_MEMORY;
    for (int l = 0; l < net->n_layer; l++)
        if (xb_host_layer(&net->layer[l])->linear) {
            xb_analog_layer *p = &a->layer[a->n_layer++];
            *p = place_layer(net, l, &a->array);
            XB_TRY(xb_planes_make(ctx, p, &a->array));
        }
    return XB_OK;
}

static void fill_blocks(xb_analog *a)
{
    const size_t bytes = (size_t)a->model->net->param_count * sizeof *a->mu;
    memcpy(a->mu, a->model->mu, bytes);
    memcpy(a->sigma, a->model->sigma, bytes);
}

static xb_status take_blocks(xb_ctx *ctx, xb_analog *a)
{
    int64_t n = a->model->net->param_count;
    bool bent = a->array.shape_spread > 0;
    a->mu = xb_new(ctx, n, sizeof *a->mu);
    a->sigma = xb_new(ctx, n, sizeof *a->sigma);
    if (bent) a->bend = xb_new(ctx, 3 * n, sizeof *a->bend);
    if (!a->mu || !a->sigma || (bent && !a->bend)) return XB_E_MEMORY;
    fill_blocks(a);
    return XB_OK;
}

static xb_status make_sampler(xb_ctx *ctx, xb_analog *a, const xb_law *given)
{
    const xb_law *law = given;
    xb_law *own = NULL;
    if (!law && a->array.law[0]) XB_TRY(xb_law_parse(ctx, &own, a->array.law));
    if (!law) law = own ? own : a->model->law;
    xb_status status = xb_sampler_create(ctx, &a->sampler, law, NULL);
    xb_law_destroy(own); /* the sampler shares ownership of it */
    return status;
}

static xb_status make_normal(xb_ctx *ctx, xb_analog *a)
{
    xb_law *gaussian = NULL;
    if (!xb_array_noisy_sums(&a->array)) return XB_OK;
    if (a->model->cells && (a->array.mean_noise_us > 0 || a->array.temperature_k > 0))
        return xb_fail(ctx, XB_E_INPUT,
                       "weights made of cells have conductances in the cells' own unit:"
                       " 'mean_noise_us' and 'temperature_k' do not apply");
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    const xb_status status = xb_sampler_create(ctx, &a->normal, gaussian, NULL);
    xb_law_destroy(gaussian);
    return status;
}

/* Calibrates on at most XB_KNOWN_MAX inputs, evenly spread over those given. */
static xb_status calibrate(xb_ctx *ctx, xb_analog *a, const double *x, int64_t n)
{
    int64_t features = a->model->features, used = smaller(n, XB_KNOWN_MAX);
    a->calibration_inputs = used;
    float *scaled = xb_new(ctx, used * features, sizeof *scaled);
    if (!scaled) return XB_E_MEMORY;
    for (int64_t i = 0; i < used; i++)
        xb_model_scale_inputs(a->model, scaled + i * features,
                              x + i * n / used * features, 1);
    xb_status status = xb_analog_calibrate(ctx, a, scaled, used);
    free(scaled);
    return status;
}

/* Devices forget at the rates of the trace if these are known, else at one rate. */
static xb_status remember(xb_ctx *ctx, xb_analog *a)
{
    double correlation[XB_MEMORY_LAGS];
    if (a->array.memory.lags == 0) {
        a->rho = xb_array_correlation(&a->array);
        return XB_OK;
    }
    xb_array_memory(&a->array, correlation);
    return xb_held_make(ctx, &a->held, correlation, XB_MEMORY_LAGS);
}

/* (X63) The array is programmed and calibrated at one temperature and read at another. */
static xb_status write_and_calibrate(xb_ctx *ctx, xb_analog *a, const double *x,
                                     int64_t n)
{
    const double heated = a->array.heated_k;
    a->array.heated_k = 0;
    XB_TRY(xb_analog_programme(ctx, a));
    XB_TRY(calibrate(ctx, a, x, n));
    a->array.heated_k = heated;
    if (heated == 0) return XB_OK;
    fill_blocks(a);
    return xb_analog_programme(ctx, a);
}

/* Weights made of cells are neither pairs of devices nor divided into slices. */
static xb_status check_cells(xb_ctx *ctx, const xb_analog *a)
{
    const xb_array *array = &a->array;
    const char *key = array->offset_columns        ? "offset_columns"
                      : xb_array_slices(array) > 1 ? "weight_slices"
                      : array->heated_k != 0       ? "heated_k"
                                                   : NULL;
    if (!a->model->cells || !key) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "weights made of cells do not go with '%s'", key);
}

/* Whether some kernel is on pairs of devices; only weights made of cells are not
 * (X30). */
static bool has_pairs(const xb_model *m)
{
    bool some = !m->cells;
    for (int l = 0; l < m->net->n_layer && !some; l++)
        some = xb_host_layer(&m->net->layer[l])->linear &&
               !m->net->tensor[m->net->layer[l].tensor].stochastic;
    return some;
}

static xb_status check_pairs(xb_ctx *ctx, xb_analog *a)
{
    XB_TRY(xb_relax_check(ctx, &a->array, &a->aged));
    XB_TRY(xb_read_noise_check(ctx, &a->array, &a->aged));
    if (a->array.quiet_pairs == 0) return XB_OK;
    return xb_quiet_make(ctx, &a->quiet, &a->array, &a->aged);
}

/* Loads the device file, and finds the states that the array then uses. */
static xb_status take_device(xb_ctx *ctx, xb_analog *a)
{
    if (!a->array.device[0]) return XB_OK;
    XB_TRY(xb_device_load(ctx, &a->device, a->array.device));
    a->aged.device = a->device;
    xb_status status = xb_device_microsiemens(ctx, &a->aged.us, a->device);
    if (status == XB_OK && a->model->cells) status = xb_tied_suits(ctx, a);
    if (status == XB_OK && has_pairs(a->model)) status = check_pairs(ctx, a);
    if (status != XB_E_INPUT) return status;
    char why[XB_MESSAGE_MAX];
    snprintf(why, sizeof why, "%s", xb_ctx_message(ctx));
    return xb_fail(ctx, status, "%s: %s", a->array.device, why);
}

static xb_status fill(xb_ctx *ctx, xb_analog *a, const double *x, int64_t n,
                      const xb_analog_options *opt)
{
    XB_TRY(xb_backend_open(ctx, &a->backend, opt->backend));
    a->kernels = xb_kernels_find(xb_backend_chosen(ctx, opt->backend));
    /* Needed beside the kernels of a module. */
    if (!a->kernels) a->kernels = xb_kernels_find(NULL);
    a->reads = xb_key_make(opt->seed, XB_PURPOSE_WEIGHT);
    a->forget = xb_key_make(xb_member_seed(opt->seed, a->place), XB_PURPOSE_ARRAY);
    a->chip = xb_key_make(xb_member_seed(opt->chip, a->place), XB_PURPOSE_ARRAY);
    a->seed = opt->seed;
    a->chip_number = opt->chip;
    XB_TRY(check_cells(ctx, a));
    XB_TRY(take_device(ctx, a));
    XB_TRY(remember(ctx, a));
    XB_TRY(make_sampler(ctx, a, opt->law));
    XB_TRY(make_normal(ctx, a));
    XB_TRY(place_layers(ctx, a));
    XB_TRY(take_blocks(ctx, a));
    return write_and_calibrate(ctx, a, x, n);
}

xb_status xb_analog_make(xb_ctx *ctx, xb_analog **out, const xb_model *model,
                         const xb_array *array, const double *x, int64_t n,
                         const xb_analog_options *opt, uint32_t place)
{
    xb_analog *a = xb_new(ctx, 1, sizeof *a);
    if (!a) return XB_E_MEMORY;
    a->model = a->whole = model;
    a->array = *array;
    a->place = place;
    xb_status status = fill(ctx, a, x, n, opt);
    if (status == XB_OK)
        *out = a;
    else
        xb_analog_destroy(a);
    return status;
}

xb_status xb_analog_create(xb_ctx *ctx, xb_analog **out, const xb_model *model,
                           const xb_array *array, const double *x, int64_t n,
                           const xb_analog_options *opt)
{
    xb_analog_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, analog, &chosen, opt, backend));
    XB_TRY(xb_array_check(ctx, array));
    if (model->process)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "the model has a Gaussian process beside its net, which no array"
                       " computes: train it without one");
    if (n < 0) return xb_fail(ctx, XB_E_ARGUMENT, "%lld inputs", (long long)n);
    for (int64_t i = 0; i < n * model->features; i++)
        if (!isfinite(x[i]))
            return xb_fail(ctx, XB_E_INPUT, "calibration: value %lld is not finite",
                           (long long)i + 1);
    xb_analog *a = NULL;
    XB_TRY(
        xb_analog_make(ctx, &a, xb_model_member_at(model, 0), array, x, n, &chosen, 0));
    a->whole = model;
    xb_status status = xb_analog_make_others(ctx, a, model, x, n, &chosen);
    if (status == XB_OK)
        *out = a;
    else
        xb_analog_destroy(a);
    return status;
}

void xb_analog_destroy(xb_analog *analog)
{
    if (!analog) return;
    xb_analog_free_others(analog);
    xb_sampler_destroy(analog->sampler);
    xb_sampler_destroy(analog->normal);
    free(analog->held);
    free(analog->mu);
    free(analog->sigma);
    free(analog->bend);
    free(analog->quiet.first);
    xb_device_destroy(analog->device);
    for (int i = 0; i < analog->n_layer; i++) {
        xb_correction_free(&analog->layer[i].correction);
        xb_planes_free(&analog->layer[i]);
    }
    free(analog->layer);
    free(analog);
}

const xb_array *xb_analog_array(const xb_analog *analog) { return &analog->array; }

int64_t xb_analog_place_count(const xb_analog *analog) { return analog->n_layer; }

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

xb_analog_place xb_analog_place_at(const xb_analog *analog, int64_t i)
{
    const xb_analog_layer *p = &analog->layer[i];
    return (xb_analog_place){.layer = p->index,
                             .inputs = p->in,
                             .outputs = p->out,
                             .operations = p->operations,
                             .rows = p->rows,
                             .columns = p->columns,
                             .row_tiles = xb_row_tiles(p),
                             .column_tiles = quotient_up(p->out, p->columns),
                             .weight_top = p->weight_top,
                             .sigma_top = p->sigma_top,
                             .dac_range = p->dac.on ? p->dac.range : NAN,
                             .adc_range = p->adc.on ? p->adc.range : NAN,
                             .dac_signed = p->dac.has_sign};
}
