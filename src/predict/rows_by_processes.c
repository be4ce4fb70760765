/* rows_by_processes.c: predictions by several processes (crossbayes/work.h): each process
 * takes one run of neighbouring rows. A row's numbers depend on no other row, so they are
 * the same in every process. Every process draws all weights, which costs little compared
 * with many rows; for few rows the draws are shared instead (draws_by_processes.c). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/work.h"
#include "data/rows.h"
#include "predict/predict.h"

enum { BLOCKS = 13, ROWS_LEAST = 32 }; /* rows of a process that are many */

/* The arrays of a prediction, each with its bytes per row; 0: it has none. */
typedef struct row_block {
    void *block;
    int64_t bytes;
} row_block;

static void list_blocks(row_block out[BLOCKS], const xb_prediction *p)
{
    const int64_t each = (int64_t)sizeof(double);
    const int64_t number = p->classes ? 0 : each * p->targets,
                  class = p->classes ? each : 0;
    const row_block all[BLOCKS] = {
        {p->mean, number},
        {p->epistemic, number},
        {p->aleatoric, number},
        {p->sd, number},
        {p->quantile, number * p->quantiles},
        {p->probability, class * p->classes},
        {p->class, p->classes ? (int64_t)sizeof *p->class : 0},
        {p->entropy, class},
        {p->information, class},
        {p->between, p->between ? number + class : 0},
        {p->needed, p->needed ? each : 0},
        {p->error_of, p->needed ? each : 0},
        {p->used, p->used ? (int64_t)sizeof *p->used : 0},
    };
    memcpy(out, all, sizeof all);
}

/* Bytes of a run of rows: the error, then a run of each block. */
static int64_t packed_bytes(const xb_prediction *p, int64_t rows)
{
    row_block b[BLOCKS];
    int64_t bytes = (int64_t)sizeof p->error;
    list_blocks(b, p);
    for (int i = 0; i < BLOCKS; i++) bytes += rows * b[i].bytes;
    return bytes;
}

static void pack(unsigned char *to, const xb_prediction *p)
{
    row_block b[BLOCKS];
    list_blocks(b, p);
    memcpy(to, &p->error, sizeof p->error);
    to += sizeof p->error;
    for (int i = 0; i < BLOCKS; i++) {
        const size_t bytes = (size_t)(p->n * b[i].bytes);
        if (bytes > 0) memcpy(to, b[i].block, bytes);
        to += bytes;
    }
}

/* The run that begins at row `first`. */
static void unpack(xb_prediction *p, int64_t first, int64_t rows,
                   const unsigned char *from)
{
    row_block b[BLOCKS];
    double error;
    list_blocks(b, p);
    memcpy(&error, from, sizeof error);
    from += sizeof error;
    if (rows > 0) xb_prediction_take_error(p, error);
    for (int i = 0; i < BLOCKS; i++) {
        const size_t bytes = (size_t)(rows * b[i].bytes);
        if (bytes > 0)
            memcpy((unsigned char *)b[i].block + first * b[i].bytes, from, bytes);
        from += bytes;
    }
}

void xb_prediction_place(xb_prediction *p, int64_t first, const xb_prediction *part)
{
    row_block to[BLOCKS], from[BLOCKS];
    list_blocks(to, p);
    list_blocks(from, part);
    if (part->n > 0) xb_prediction_take_error(p, part->error);
    for (int i = 0; i < BLOCKS; i++)
        if (part->n * to[i].bytes > 0)
            memcpy((unsigned char *)to[i].block + first * to[i].bytes, from[i].block,
                   (size_t)(part->n * to[i].bytes));
}

static xb_status predict_run(xb_ctx *ctx, xb_work *work, int64_t item,
                             const xb_model *model, const xb_rows *run,
                             const xb_predict_options *opt)
{
    xb_prediction *p = NULL;
    XB_TRY(xb_predict_rows_here(ctx, &p, model, run, opt, NULL));
    const int64_t bytes = packed_bytes(p, p->n);
    unsigned char *packed = xb_new(ctx, bytes, 1);
    xb_status status = packed ? XB_OK : XB_E_MEMORY;
    if (packed) pack(packed, p);
    if (status == XB_OK) status = xb_work_put(ctx, work, item, packed, bytes);
    free(packed);
    xb_prediction_destroy(p);
    return status;
}

/* Class numbers are checked because they may come from a file and are used as an index.
 */
static xb_status check_classes(xb_ctx *ctx, const xb_prediction *p)
{
    for (int64_t i = 0; p->classes > 0 && i < p->n; i++)
        if (p->class[i] < 0 || p->class[i] >= p->classes)
            return xb_fail(ctx, XB_E_INPUT, "row %lld: %lld is not a valid class",
                           (long long)i + 1, (long long)p->class[i]);
    return XB_OK;
}

static xb_status collect(xb_ctx *ctx, xb_work *work, xb_prediction *p, int64_t runs)
{
    XB_TRY(xb_work_collect(ctx, work));
    for (int64_t i = 0; i < runs; i++) {
        const int64_t first = i * p->n / runs, rows = (i + 1) * p->n / runs - first;
        int64_t size = 0;
        const void *packed = xb_work_result(work, i, &size);
        if (size != packed_bytes(p, rows))
            return xb_fail(ctx, XB_E_INPUT,
                           "predictions of rows %lld to %lld have %lld bytes, expected"
                           " %lld",
                           (long long)first + 1, (long long)(first + rows),
                           (long long)size, (long long)packed_bytes(p, rows));
        unpack(p, first, rows, packed);
    }
    if (p->used) p->draws = 0;
    for (int64_t i = 0; p->used && i < p->n; i++) /* the most that a row took */
        if (p->used[i] > p->draws) p->draws = p->used[i];
    return check_classes(ctx, p);
}

static xb_status deal_rows(xb_ctx *ctx, xb_prediction *p, const xb_model *model,
                           const xb_rows *rows, const xb_predict_options *opt)
{
    const int64_t runs = xb_work_processes(ctx), n = rows->n;
    xb_work *work = NULL;
    int64_t i;
    xb_status status = xb_work_open(ctx, &work, "predictions", runs);
    while (status == XB_OK && xb_work_next(work, &i)) {
        const int64_t first = i * n / runs;
        const xb_rows run = xb_rows_part(rows, first, (i + 1) * n / runs - first);
        status = predict_run(ctx, work, i, model, &run, opt);
    }
    if (status == XB_OK) status = collect(ctx, work, p, runs);
    xb_work_close(work);
    return status;
}

xb_status xb_predict_rows_by_processes(xb_ctx *ctx, xb_prediction **out,
                                       const xb_model *model, const xb_rows *rows,
                                       const xb_predict_options *opt)
{
    const int64_t processes = xb_work_processes(ctx);
    const bool many = rows->n == 0 || rows->n / ROWS_LEAST >= processes ||
                      opt->adaptive; /* rows have numbers of draws of their own */
    xb_prediction *p = NULL;
    XB_TRY(xb_prediction_room(ctx, &p, model, rows->n, opt));
    const xb_status status =
        many ? deal_rows(ctx, p, model, rows, opt)
             : xb_predict_draws_by_processes(ctx, p, model, rows, opt);
    if (status == XB_OK)
        *out = p;
    else
        xb_prediction_destroy(p);
    return status;
}
