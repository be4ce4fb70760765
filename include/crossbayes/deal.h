/* crossbayes/deal.h: one task for several processes. Work is cut into numbered items, the
 * items are dealt to the processes, and one process collects all results and goes on with
 * them as if it had done everything itself: the same bytes for any number of processes.
 *
 *     xb_deal *deal = NULL;
 *     int64_t i;
 *     XB_TRY(xb_deal_open(ctx, &deal, "cells", count));
 *     while (status == XB_OK && xb_deal_next(deal, &i)) {
 *         status = compute(ctx, &cell, i);
 *         if (status == XB_OK) status = xb_deal_put(ctx, deal, i, &cell, sizeof cell);
 *     }
 *     if (status == XB_OK) status = xb_deal_collect(ctx, deal);
 *     for (i = 0; i < count && status == XB_OK; i++)
 *         status = xb_deal_copy(ctx, deal, i, &all[i], sizeof all[i]);
 *     xb_deal_close(deal);
 *
 * A context that nobody told otherwise does all items itself. xb_ranks_join() deals them
 * to the ranks of an MPI program; xb_share_begin() makes it do a share of them, for a
 * file; xb_shares_use() makes it take them all from such files.
 */
#ifndef CROSSBAYES_DEAL_H
#define CROSSBAYES_DEAL_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- items */

typedef struct xb_deal xb_deal;

/* `count` items, 0 or more. `name` names the work in files and messages. Opened while
 * another deal of the context is open, it is not dealt: this process does all of it.
 * XB_E_ARGUMENT: there are fewer items than processes. */
XB_API xb_status xb_deal_open(xb_ctx *ctx, xb_deal **out, const char *name,
                              int64_t count);
XB_API void xb_deal_close(xb_deal *deal); /* NULL is fine */

/* How many processes the next deal of this context is for; 1: it alone, or one that may
 * still have to hand its results on. */
XB_API int64_t xb_deal_processes(const xb_ctx *ctx);
/* Whether results of the next deal go from one process to another, or to a file. */
XB_API bool xb_deal_travels(const xb_ctx *ctx);

/* The next item that this process is to do; false: there are no more. Any thread. */
XB_API bool xb_deal_next(xb_deal *deal, int64_t *item);
/* Its result, which is copied. Any thread, with a context of its own. */
XB_API xb_status xb_deal_put(xb_ctx *ctx, xb_deal *deal, int64_t item, const void *result,
                             int64_t size);

/* After the last item. XB_OK: all results are here. XB_E_ELSEWHERE: another process
 * collects them, and this one has nothing more to do for this task. */
XB_API xb_status xb_deal_collect(xb_ctx *ctx, xb_deal *deal);

/* A collected result, borrowed, and its bytes. */
XB_API const void *xb_deal_result(const xb_deal *deal, int64_t item, int64_t *size);
/* A copy of a result that must have `size` bytes; XB_E_INPUT: it has not. */
XB_API xb_status xb_deal_copy(xb_ctx *ctx, const xb_deal *deal, int64_t item, void *to,
                              int64_t size);

/* ---- ranks: processes that mpirun or srun started together */

/* How many there are, by what the launcher says in the environment, and which of them
 * this one is, counted from 0. 1: it is alone, or CROSSBAYES_MPI is "none". */
XB_API int64_t xb_ranks_launched(int64_t *rank);

/* Meets them, once in a process; from now on deals of the context are for all ranks, and
 * rank 0 collects. All must have the same build and the same words of their command, and
 * then read the same files. XB_E_ARGUMENT: they have not, or the module for this MPI
 * cannot be loaded (the file that CROSSBAYES_MPI names, or libcrossbayes-openmpi.so and
 * libcrossbayes-mpich.so). After it, also where it failed, a process ends with
 * xb_ranks_leave(). */
XB_API xb_status xb_ranks_join(xb_ctx *ctx, const char *const *words, int64_t n_words);

/* Ranks that joined work together from now on: all go through the same calls with the
 * same arguments, and all get all results. Training, draws of predictions and deals are
 * cut between them where there is enough to do, and done by each otherwise; `strict`:
 * training that cannot be cut is refused. Without other ranks nothing changes. */
XB_API xb_status xb_ranks_together(xb_ctx *ctx, bool strict);
/* Whether this process writes and prints: it is alone, or rank 0. */
XB_API bool xb_ranks_first(const xb_ctx *ctx);
/* What the first rank has in these n bytes, all ranks have then. */
XB_API xb_status xb_ranks_share(xb_ctx *ctx, void *bytes, int64_t n);
/* When all is computed: XB_OK where xb_ranks_first(), elsewhere XB_E_ELSEWHERE. */
XB_API xb_status xb_ranks_deliver(xb_ctx *ctx);

/* The last call: `status` and the exit code that this rank would end with, 0: all went
 * well. Returns the code of rank 0, which all end with. Where that is not 0, ranks still
 * at work get 10 s to end. */
XB_API int64_t xb_ranks_leave(xb_ctx *ctx, xb_status status, int64_t code);

/* ---- shares: processes that never meet */

/* From now on the context does share `share` of 1 to `of`: items share - 1, share - 1 +
 * of, ... of every deal, and collects none. At most 100,000 shares. */
XB_API xb_status xb_share_begin(xb_ctx *ctx, int64_t share, int64_t of);

/* What it has done so far to a file, with the words of the command that it belongs to,
 * the build of the library, and the names and checksums of the files that were read. */
XB_API xb_status xb_share_write(xb_ctx *ctx, const char *path, const char *const *words,
                                int64_t n_words);

/* All shares of one task. They are refused, by name, where one is missing, there twice,
 * of another task, another build or other data, or where a file that they were made from
 * is not as it was then. */
typedef struct xb_shares xb_shares;
XB_API xb_status xb_shares_open(xb_ctx *ctx, xb_shares **out, const char *const *paths,
                                int64_t n);
XB_API void xb_shares_destroy(xb_shares *shares); /* NULL is fine */

XB_API int64_t xb_shares_count(const xb_shares *shares);
XB_API int64_t xb_shares_word_count(const xb_shares *shares);
XB_API const char *xb_shares_word(const xb_shares *shares, int64_t i); /* borrowed */

/* From now on the context takes the results of its deals from the shares, which must
 * outlive it. */
XB_API xb_status xb_shares_use(xb_ctx *ctx, const xb_shares *shares);

#ifdef __cplusplus
}
#endif
#endif
