/* energy_cells.c: see energy_cells.h. A cell is one item of a piece of work, done by one
 * thread of one process with its own context; the most expensive cells start first, so
 * that none is left running alone at the end. A request to stop reaches all running
 * cells; finished cells are on disk. */
#include "study/energy_cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/work.h"
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
    xb_work *work;  /* item k is cell order[k] */
    bool files;     /* whether other processes need the files */
    int64_t done;
    bool stop; /* a cell failed, or a stop was requested */
    xb_status status;
    char message[XB_MESSAGE_MAX];
    xb_os_lock lock; /* protects done, stop, status and message */
} cells_job;

/* The number of weights drawn and multiplied, up to a factor; never 0. */
static int64_t cost(const xb_cell *c)
{
    return (c->depth - 1) * c->width * c->width + 32 * c->width + 64;
}

/* (M1) Most expensive first; equal ones keep their order. */
static void sort_by_cost(const xb_net_cells *cells, int64_t *order)
{
    for (int64_t i = 0; i < cells->count; i++) {
        int64_t at = i;
        for (; at > 0 && cost(&cells->cell[order[at - 1]]) < cost(&cells->cell[i]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Reports the progress of the cells; false: stop. May be called from any thread. */
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

/* *out is NULL on entry. */
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

/* Takes a cell from its files if they are usable, or makes it now. */
static xb_status get_cell(xb_ctx *ctx, const cells_job *job, int64_t item)
{
    const xb_cell_plan *plan = &job->cells->plan;
    const int64_t i = job->order[item];
    const xb_cell *cell = &job->cells->cell[i];
    double *values = job->cells->values + i * xb_cell_length(plan);
    unsigned char *packed = NULL;
    int64_t size = 0;
    bool taken = false;
    if (job->dir) XB_TRY(xb_cell_load_values(ctx, &taken, values, plan, cell, job->dir));
    if (!taken) XB_TRY(make_cell(ctx, values, job, cell));
    XB_TRY(xb_cell_pack(ctx, &packed, &size, values, plan, cell,
                        job->files ? job->dir : NULL));
    const xb_status status = xb_work_put(ctx, job->work, item, packed, size);
    xb_free(packed);
    return status;
}

/* A cell that is more than one thread's share of the work gets all threads, because the
 * others would wait for it at the end; the other cells get several, so that no thread is
 * idle. */
static int64_t threads_of(const cells_job *job, const xb_cell *cell)
{
    const int64_t all = xb_ctx_threads(job->ctx);
    int64_t sum = 0;
    for (int64_t i = 0; i < job->cells->count; i++) sum += cost(&job->cells->cell[i]);
    const int64_t share = (int64_t)((double)all * (double)cost(cell) / (double)sum);
    return share > 1 ? all : (all + 3) / 4;
}

static void run_cell(cells_job *job, int64_t item)
{
    const xb_cell *cell = &job->cells->cell[job->order[item]];
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) {
        fail(job, XB_E_MEMORY, cell, "not enough memory");
        return;
    }
    xb_files_share(ctx, job->ctx);
    xb_ctx_set_threads(ctx, threads_of(job, cell));
    xb_ctx_set_progress(ctx, listen, job);
    const xb_status status = get_cell(ctx, job, item);
    if (status != XB_OK) fail(job, status, cell, xb_ctx_message(ctx));
    xb_ctx_destroy(ctx);
    (void)tell(job, 1);
}

static void run_some(void *arg, int64_t thread)
{
    cells_job *job = arg;
    int64_t item;
    (void)thread;
    while (tell(job, 0) && xb_work_next(job->work, &item)) run_cell(job, item);
}

static xb_status collect(cells_job *job)
{
    xb_net_cells *cells = job->cells;
    XB_TRY(xb_work_collect(job->ctx, job->work));
    for (int64_t k = 0; k < cells->count; k++) {
        const int64_t i = job->order[k];
        int64_t size = 0;
        const void *packed = xb_work_result(job->work, k, &size);
        XB_TRY(xb_cell_unpack(job->ctx, cells->values + i * xb_cell_length(&cells->plan),
                              packed, size, &cells->plan, &cells->cell[i],
                              xb_ranks_first(job->ctx) ? job->dir : NULL));
    }
    return XB_OK;
}

static xb_status run_deal(cells_job *job)
{
    xb_os_lock_init(&job->lock);
    xb_parallel_for(job->ctx, xb_ctx_threads(job->ctx), run_some, job);
    xb_os_lock_destroy(&job->lock);
    if (job->status == XB_OK) return collect(job);
    return xb_fail(job->ctx, job->status, "%s", job->message);
}

static xb_status run_all(cells_job *job)
{
    job->files = xb_work_is_sent(job->ctx);
    XB_TRY(xb_work_open(job->ctx, &job->work, "nets", job->cells->count));
    xb_status status = job->dir ? xb_dir_make(job->ctx, job->dir) : XB_OK;
    if (status == XB_OK) status = run_deal(job);
    xb_work_close(job->work);
    return status;
}

xb_status xb_net_cells_run(xb_ctx *ctx, xb_net_cells *cells, const char *dir)
{
    cells_job job = {.ctx = ctx, .cells = cells, .dir = dir};
    job.order = xb_new(ctx, cells->count, sizeof *job.order);
    if (!job.order) return XB_E_MEMORY;
    sort_by_cost(cells, job.order);
    xb_status status = run_all(&job);
    xb_free(job.order);
    return status;
}
