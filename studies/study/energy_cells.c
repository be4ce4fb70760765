/* energy_cells.c: see energy_cells.h. A cell is one piece of the parallel loop, done by
 * one thread with a context of its own; the most expensive start first, so that none is
 * left over at the end. A request to stop reaches all cells under way; those finished
 * are on disk. */
#include "study/energy_cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"
#include "crossbayes/outfile.h"
#include "crossbayes/files.h"

xb_status xb_net_cells_lay_out(xb_ctx *ctx, xb_net_cells *out, const xb_cell_plan *plan,
                               const int64_t *width, int widths, const int64_t *depth,
                               int depths, uint64_t first, int seeds)
{
    *out = (xb_net_cells){.plan = *plan, .count = (int64_t)widths * depths * seeds};
    out->cell = xb_new(ctx, out->count, sizeof *out->cell);
    out->values = xb_new(ctx, out->count * xb_cell_length(plan), sizeof *out->values);
    if (!out->cell || !out->values) {
        xb_net_cells_free(out);
        return XB_E_MEMORY;
    }
    xb_cell *cell = out->cell;
    for (int s = 0; s < seeds; s++)
        for (int d = 0; d < depths; d++)
            for (int w = 0; w < widths; w++)
                *cell++ = (xb_cell){width[w], depth[d], first + (uint64_t)s};
    return XB_OK;
}

void xb_net_cells_free(xb_net_cells *cells)
{
    xb_free(cells->cell);
    xb_free(cells->values);
    *cells = (xb_net_cells){0};
}

typedef struct cells_job {
    xb_ctx *ctx;
    xb_net_cells *cells;
    const char *dir;
    int64_t *order; /* [count] */
    int64_t done;
    bool stop; /* someone failed, or was asked to stop */
    xb_status status;
    char message[XB_MESSAGE_MAX];
    xb_os_lock lock; /* of what stands here, but for ctx, cells, dir and order */
} cells_job;

/* Weights drawn and multiplied, up to a factor; never 0. */
static int64_t cost(const xb_cell *c)
{
    return (c->depth - 1) * c->width * c->width + 32 * c->width + 64;
}

/* Dearest first; equals as they stand. */
static void sort_by_cost(const xb_net_cells *cells, int64_t *order)
{
    for (int64_t i = 0; i < cells->count; i++) {
        int64_t at = i;
        for (; at > 0 && cost(&cells->cell[order[at - 1]]) < cost(&cells->cell[i]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Tells the caller where the cells stand; false: stop. From any thread. */
static bool tell(cells_job *job, int64_t finished)
{
    xb_os_lock_take(&job->lock);
    job->done += finished;
    if (!job->stop && xb_progress_tell(job->ctx, "training and comparing nets", job->done,
                                       job->cells->count) != XB_OK) {
        job->stop = true;
        job->status = XB_E_CANCELLED;
        snprintf(job->message, sizeof job->message, "%s", xb_ctx_message(job->ctx));
    }
    const bool go_on = !job->stop;
    xb_os_lock_give(&job->lock);
    return go_on;
}

static bool listen(void *arg, const xb_progress *event)
{
    (void)event;
    return tell(arg, 0);
}

static void fail(cells_job *job, xb_status status, const xb_cell *cell, const char *why)
{
    xb_os_lock_take(&job->lock);
    if (!job->stop) {
        job->stop = true;
        job->status = status;
        snprintf(job->message, sizeof job->message,
                 "width %lld, depth %lld, seed %llu: %s", (long long)cell->width,
                 (long long)cell->depth, (unsigned long long)cell->seed, why);
    }
    xb_os_lock_give(&job->lock);
}

/* *out is NULL before. */
static xb_status get_model(xb_ctx *ctx, xb_model **out, const cells_job *job,
                           const xb_cell *cell)
{
    const xb_cell_plan *plan = &job->cells->plan;
    if (job->dir) XB_TRY(xb_cell_load_model(ctx, out, plan, cell, job->dir));
    if (*out) return XB_OK;
    xb_energy_options o = xb_cell_training(plan, cell);
    XB_TRY(xb_energy_train(ctx, out, &o));
    if (!job->dir) return XB_OK;
    xb_status status = xb_cell_save_model(ctx, cell, *out, job->dir);
    if (status != XB_OK) xb_model_destroy(*out);
    return status;
}

static xb_status make_cell(xb_ctx *ctx, double *values, const cells_job *job,
                           const xb_cell *cell)
{
    xb_model *model = NULL;
    XB_TRY(get_model(ctx, &model, job, cell));
    xb_status status = xb_cell_measure(ctx, values, &job->cells->plan, cell, model);
    xb_model_destroy(model);
    if (status != XB_OK || !job->dir) return status;
    return xb_cell_save_values(ctx, values, &job->cells->plan, cell, job->dir);
}

static void run_cell(void *arg, int64_t piece)
{
    cells_job *job = arg;
    xb_net_cells *cells = job->cells;
    int64_t i = job->order[piece];
    const xb_cell *cell = &cells->cell[i];
    xb_ctx *ctx = NULL;
    if (!tell(job, 0)) return;
    if (xb_ctx_create(&ctx) != XB_OK) {
        fail(job, XB_E_MEMORY, cell, "not enough memory");
        return;
    }
    xb_files_share(ctx, job->ctx);
    xb_ctx_set_threads(ctx, 1);
    xb_ctx_set_progress(ctx, listen, job);
    double *values = cells->values + i * xb_cell_length(&cells->plan);
    xb_status status = make_cell(ctx, values, job, cell);
    if (status != XB_OK) fail(job, status, cell, xb_ctx_message(ctx));
    xb_ctx_destroy(ctx);
    (void)tell(job, 1);
}

/* Cells found on disk leave the order; done says how many. */
static xb_status take_finished(cells_job *job)
{
    xb_net_cells *cells = job->cells;
    int64_t left = 0;
    for (int64_t k = 0; k < cells->count; k++) {
        int64_t i = job->order[k];
        double *values = cells->values + i * xb_cell_length(&cells->plan);
        bool taken = false;
        if (job->dir)
            XB_TRY(xb_cell_load_values(job->ctx, &taken, values, &cells->plan,
                                       &cells->cell[i], job->dir));
        if (!taken) job->order[left++] = i;
    }
    job->done = cells->count - left;
    return XB_OK;
}

static xb_status run_left(cells_job *job)
{
    XB_TRY(take_finished(job));
    xb_os_lock_init(&job->lock);
    xb_parallel_for(job->ctx, job->cells->count - job->done, run_cell, job);
    xb_os_lock_destroy(&job->lock);
    if (job->status == XB_OK) return XB_OK;
    return xb_fail(job->ctx, job->status, "%s", job->message);
}

xb_status xb_net_cells_run(xb_ctx *ctx, xb_net_cells *cells, const char *dir)
{
    cells_job job = {.ctx = ctx, .cells = cells, .dir = dir};
    if (dir) XB_TRY(xb_dir_make(ctx, dir));
    job.order = xb_new(ctx, cells->count, sizeof *job.order);
    if (!job.order) return XB_E_MEMORY;
    sort_by_cost(cells, job.order);
    xb_status status = run_left(&job);
    xb_free(job.order);
    return status;
}
