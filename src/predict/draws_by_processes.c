/* draws_by_processes.c: predictions of few rows under many draws by several processes
 * (crossbayes/work.h): each process makes one run of draws, and the process that collects
 * them summarises. A draw is a function of its number (maths P1), so it is the same in
 * every process. Rows go in chunks whose draws fit into memory, one piece of work per
 * chunk. */
#include <stdlib.h>

#include "base/memory.h"
#include "crossbayes/work.h"
#include "data/rows.h"
#include "predict/predict.h"
#include "vi/model.h"

typedef struct draws_job {
    const xb_model *model;
    const xb_predict_options *opt;
    const xb_rows *rows; /* of the chunk */
    unsigned char *all;  /* [draws][width] outputs of `each` bytes */
    int64_t width, each;
    int64_t runs;
    xb_work *work;
} draws_job;

static int64_t first_of(const draws_job *job, int64_t run)
{
    return run * job->opt->draws / job->runs;
}

/* Where the outputs of a run are, and their bytes. */
static unsigned char *place_of(const draws_job *job, int64_t run, int64_t *bytes)
{
    const int64_t draw = job->width * job->each, first = first_of(job, run);
    *bytes = (first_of(job, run + 1) - first) * draw;
    return job->all + first * draw;
}

static xb_status make_run(xb_ctx *ctx, const draws_job *job, int64_t run)
{
    const int64_t first = first_of(job, run), count = first_of(job, run + 1) - first;
    int64_t bytes = 0;
    void *to = place_of(job, run, &bytes);
    if (job->model->classes > 0)
        XB_TRY(xb_predict_draws_rows(ctx, to, NULL, job->model, job->rows, first, count,
                                     job->opt));
    else
        XB_TRY(
            xb_predict_raw_rows(ctx, to, job->model, job->rows, first, count, job->opt));
    return xb_work_put(ctx, job->work, run, to, bytes);
}

static xb_status deal_draws(xb_ctx *ctx, draws_job *job)
{
    int64_t run;
    XB_TRY(xb_work_open(ctx, &job->work, "draws", job->runs));
    while (xb_work_next(job->work, &run)) XB_TRY(make_run(ctx, job, run));
    XB_TRY(xb_work_collect(ctx, job->work));
    for (run = 0; run < job->runs; run++) {
        int64_t bytes = 0;
        void *to = place_of(job, run, &bytes);
        XB_TRY(xb_work_copy(ctx, job->work, run, to, bytes));
    }
    return XB_OK;
}

static xb_status predict_chunk(xb_ctx *ctx, xb_prediction *p, int64_t row, draws_job *job)
{
    xb_prediction *part = NULL;
    xb_status status = deal_draws(ctx, job);
    xb_work_close(job->work);
    job->work = NULL;
    if (status == XB_OK)
        status =
            xb_predict_rows_here(ctx, &part, job->model, job->rows, job->opt, job->all);
    if (status == XB_OK) xb_prediction_place(p, row, part);
    xb_prediction_destroy(part);
    return status;
}

/* Even if another process collects this chunk, the next one must still be done. */
static xb_status predict_chunks(xb_ctx *ctx, xb_prediction *p, const draws_job *all,
                                const xb_rows *rows, int64_t chunk)
{
    xb_status status = XB_OK;
    for (int64_t row = 0; row < rows->n; row += chunk) {
        const int64_t n = rows->n - row < chunk ? rows->n - row : chunk;
        const xb_rows part = xb_rows_part(rows, row, n);
        draws_job job = *all;
        job.rows = &part;
        job.width = n * xb_model_outputs(job.model);
        status = predict_chunk(ctx, p, row, &job);
        if (status != XB_OK && status != XB_E_ELSEWHERE) return status;
        if (status == XB_OK)
            XB_TRY(xb_progress_tell(ctx, "predicting", row + n, rows->n));
    }
    return status;
}

xb_status xb_predict_draws_by_processes(xb_ctx *ctx, xb_prediction *p,
                                        const xb_model *model, const xb_rows *rows,
                                        const xb_predict_options *opt)
{
    const int64_t outputs = xb_model_outputs(model), draws = opt->draws;
    draws_job job = {.model = model,
                     .opt = opt,
                     .each = model->classes > 0 ? sizeof(double) : sizeof(float),
                     .runs = xb_work_processes(ctx)};
    int64_t chunk = XB_PREDICT_VALUES / (draws * outputs);
    if (chunk < 1) chunk = 1;
    if (chunk > rows->n) chunk = rows->n;
    if (job.runs > draws)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "%lld %s and %lld %s cannot be divided among %lld processes; use at most "
            "%lld",
            (long long)rows->n, xb_plural(rows->n, "row", "rows"), (long long)draws,
            xb_plural(draws, "draw", "draws"), (long long)job.runs, (long long)draws);
    job.all = xb_room(ctx, chunk * draws * outputs, (size_t)job.each);
    if (!job.all) return XB_E_MEMORY;
    const xb_status status = predict_chunks(ctx, p, &job, rows, chunk);
    free(job.all);
    return status;
}
