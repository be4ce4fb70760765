/* calibrate_columns.c: calibration of columns (maths X50, X51), one layer after the
 * other, because a layer's inputs are right only when the layers before it are
 * calibrated. First come the ranges of its converters, then, measured through them, the
 * gains and offsets of its columns. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/calibrate.h"
#include "vi/model.h"

/* The number of the first read of known inputs. It is far from the reads of predictions,
 * whose noise would otherwise be calibrated away. */
#define FIRST_READ (INT64_C(1) << 31)

typedef struct column_job {
    xb_ctx *ctx;
    xb_analog *analog;
    const xb_known *known;
    xb_reader r;
    xb_spectrum *in, *sum;
    xb_watch watch;
    xb_sightings seen;
} column_job;

/* Observes one layer, with all layers before it. */
static void aim(column_job *job, int i, bool inputs)
{
    const xb_analog *a = job->analog;
    for (int k = 0; k < a->n_layer; k++) {
        job->seen.in[k] = k == i && inputs ? job->in : NULL;
        job->seen.sum[k] = k == i ? &job->watch : NULL;
    }
    job->r.seen = job->seen;
    job->r.layers = a->layer[i].index + 1;
}

/* ---- ranges (X51) */

/* The number of neighbouring columns that share a converter's range; 0: all of the
 * layer. */
static int64_t sharing(const xb_array *a, const xb_analog_layer *p)
{
    if (a->adc_bits == 0 || a->adc_range_per == XB_RANGE_LAYER) return 0;
    return a->adc_range_per == XB_RANGE_TILE ? p->columns : 1;
}

/* Expresses the ranges of the groups as factors before and after one converter, which has
 * the largest range. */
static double share_range(const xb_column_groups *g, const xb_correction *c,
                          double coverage)
{
    double most = 0;
    for (int64_t k = 0; k < g->n; k++) {
        const double range = xb_column_groups_range(g, k, coverage);
        if (range > most) most = range;
    }
    for (int64_t i = 0; i < g->columns && most > 0; i++) {
        const double range = xb_column_groups_range(g, g->group[i], coverage);
        if (!(range > 0)) continue; /* no value was observed in this group */
        c->pre[i] = (float)(most / range);
        c->post[i] = (float)(range / most);
    }
    return most;
}

/* (X60-X62) Sets the ranges of slices, each separately. */
static xb_status set_planes(column_job *job, int i)
{
    xb_analog_layer *p = &job->analog->layer[i];
    const xb_array *a = &job->analog->array;
    xb_spectrum *planes = xb_new(job->ctx, p->planes, sizeof *planes);
    if (!planes) return XB_E_MEMORY;
    *job->in = (xb_spectrum){0};
    job->watch = (xb_watch){.planes = planes};
    aim(job, i, true);
    xb_calibrate_watch(&job->r, job->known);
    xb_calibrate_inputs(p, a, job->in);
    if (a->dac_bits > 0 && a->input_slice_bits > 0) {
        memset(planes, 0, (size_t)p->planes * sizeof *planes);
        aim(job, i, false);
        xb_calibrate_watch(&job->r, job->known);
    }
    xb_calibrate_planes(p, a, planes);
    free(planes);
    return XB_OK;
}

static xb_status set_ranges(column_job *job, int i)
{
    xb_analog_layer *p = &job->analog->layer[i];
    const xb_array *a = &job->analog->array;
    const int64_t wide = sharing(a, p);
    xb_column_groups groups = {0};
    *job->in = *job->sum = (xb_spectrum){0};
    if (wide > 0)
        XB_TRY(xb_column_groups_make(job->ctx, &groups, xb_row_tiles(p), p->out, wide));
    job->watch = (xb_watch){.sum = job->sum, .groups = wide > 0 ? &groups : NULL};
    aim(job, i, true);
    xb_calibrate_watch(&job->r, job->known);
    double range = xb_spectrum_quantile(job->sum, a->coverage);
    if (wide > 0) {
        groups.counting = true;
        job->watch.sum = NULL;
        aim(job, i, false);
        xb_calibrate_watch(&job->r, job->known);
        range = share_range(&groups, &p->correction, a->coverage);
    }
    xb_calibrate_set(p, a, job->in, range);
    xb_column_groups_free(&groups);
    return XB_OK;
}

/* ---- gains and offsets (X50) */

static xb_status set_gains(column_job *job, int i)
{
    xb_analog_layer *p = &job->analog->layer[i];
    const xb_known *known = job->known;
    const int64_t asked = job->analog->array.column_calibration;
    const int64_t inputs = asked < known->n ? asked : known->n;
    xb_column_fit fit;
    if (inputs == 0) return XB_OK;
    XB_TRY(xb_column_fit_make(job->ctx, &fit, xb_row_tiles(p), p->out));
    p->known = inputs;
    fit.mean = job->analog->model->mu + p->offset;
    job->watch = (xb_watch){.fit = &fit};
    aim(job, i, false);
    /* Of a convolution, use windows spread over the image. */
    for (int64_t k = 0; k < inputs; k++) {
        xb_column_fit_start(&fit, k * p->operations / inputs);
        const float *x = known->x + k * known->n / inputs * known->features;
        (void)xb_reader_run(&job->r, x, 0, 1, FIRST_READ + k, k > 0);
    }
    xb_column_fit_solve(&fit, &p->correction);
    xb_column_fit_free(&fit);
    return XB_OK;
}

static xb_status calibrate_layers(column_job *job)
{
    for (int i = 0; i < job->analog->n_layer; i++) {
        xb_analog_layer *p = &job->analog->layer[i];
        XB_TRY(xb_correction_make(job->ctx, &p->correction, xb_row_tiles(p) * p->out));
        XB_TRY(p->plane ? set_planes(job, i) : set_ranges(job, i));
        XB_TRY(set_gains(job, i));
    }
    return XB_OK;
}

xb_status xb_calibrate_columns(xb_ctx *ctx, xb_analog *analog, const xb_known *known)
{
    const int n = analog->n_layer;
    column_job job = {.ctx = ctx, .analog = analog, .known = known};
    job.in = xb_new(ctx, 1, sizeof *job.in);
    job.sum = xb_new(ctx, 1, sizeof *job.sum);
    job.seen = (xb_sightings){xb_new(ctx, n, sizeof(xb_spectrum *)),
                              xb_new(ctx, n, sizeof(xb_watch *))};
    const bool all = job.in && job.sum && job.seen.in && job.seen.sum;
    xb_status status = all ? xb_reader_make(ctx, &job.r, analog) : XB_E_MEMORY;
    if (status == XB_OK) {
        status = calibrate_layers(&job);
        xb_reader_free(&job.r);
    }
    free(job.in);
    free(job.sum);
    free(job.seen.in);
    free(job.seen.sum);
    return status;
}
