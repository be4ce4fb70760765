/* crossbayes/work.h: shares one task among several processes. The work is divided into
 * numbered items, each process does some of them, and one process collects all results
 * and continues as if it had done everything itself. The bytes are the same for any
 * number of processes.
 *
 *     xb_work *work = NULL;
 *     int64_t i;
 *     XB_TRY(xb_work_open(ctx, &work, "cells", count));
 *     while (status == XB_OK && xb_work_next(work, &i)) {
 *         status = compute(ctx, &cell, i);
 *         if (status == XB_OK) status = xb_work_put(ctx, work, i, &cell, sizeof cell);
 *     }
 *     if (status == XB_OK) status = xb_work_collect(ctx, work);
 *     for (i = 0; i < count && status == XB_OK; i++)
 *         status = xb_work_copy(ctx, work, i, &all[i], sizeof all[i]);
 *     xb_work_close(work);
 *
 * By default a context does all items itself. After xb_ranks_join() the ranks of an MPI
 * program divide them; after xb_share_begin() the context does one share of them, for a
 * file; after xb_shares_use() it takes all results from such files.
 */
#ifndef CROSSBAYES_WORK_H
#define CROSSBAYES_WORK_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- items */

typedef struct xb_work xb_work;

/* `count` items, 0 or more. `name` names the work in files and messages. A piece of work
 * opened while another piece of the context is open is not shared: this process does all
 * of it. XB_E_ARGUMENT if there are fewer items than processes. */
XB_API xb_status xb_work_open(xb_ctx *ctx, xb_work **out, const char *name,
                              int64_t count);
XB_API void xb_work_close(xb_work *work); /* NULL is fine */

/* The number of processes that share the next piece of work of this context; 1: this
 * process alone, which may still have to pass its results on. */
XB_API int64_t xb_work_processes(const xb_ctx *ctx);
/* Whether results of the next piece of work are sent to another process or written to a
 * file. */
XB_API bool xb_work_is_sent(const xb_ctx *ctx);

/* The next item for this process; false: there are no more. May be called from any
 * thread. */
XB_API bool xb_work_next(xb_work *work, int64_t *item);
/* Stores the result of an item, which is copied. May be called from any thread that has
 * its own context. */
XB_API xb_status xb_work_put(xb_ctx *ctx, xb_work *work, int64_t item, const void *result,
                             int64_t size);

/* Call this after the last item. XB_OK: all results are available here. XB_E_ELSEWHERE:
 * another process collects them, and this one has nothing more to do for this task. */
XB_API xb_status xb_work_collect(xb_ctx *ctx, xb_work *work);

/* A collected result, borrowed, and its size in bytes. */
XB_API const void *xb_work_result(const xb_work *work, int64_t item, int64_t *size);
/* Copies a result that must have `size` bytes; XB_E_INPUT if its size differs. */
XB_API xb_status xb_work_copy(xb_ctx *ctx, const xb_work *work, int64_t item, void *to,
                              int64_t size);

/* ---- ranks: processes that mpirun or srun started together */

/* The number of ranks according to the launcher's environment variables, and the rank of
 * this process, counted from 0. 1: the process is alone, or CROSSBAYES_MPI is "none". */
XB_API int64_t xb_ranks_launched(int64_t *rank);

/* Connects the ranks, once per process; from now on all ranks share the work of the
 * context, and rank 0 collects. All must have the same build and the same command line,
 * and must then read the same files. XB_E_ARGUMENT if they differ, or if the module for
 * this MPI cannot be loaded (the file that CROSSBAYES_MPI names, or
 * libcrossbayes-openmpi.so and libcrossbayes-mpich.so). After this call, even if it
 * failed, a process must end with xb_ranks_leave(). */
XB_API xb_status xb_ranks_join(xb_ctx *ctx, const char *const *words, int64_t n_words);

/* Ranks that joined work together from now on: all make the same calls with the same
 * arguments, and all get all results. Training, draws of predictions and such work are
 * divided among them if there is enough to do, and done by each otherwise; with `strict`,
 * training that cannot be divided is refused. Without other ranks nothing changes.
 * Ranks that outnumber the cores of their machine stand aside: there the call returns
 * only when rank 0 leaves, with XB_E_ELSEWHERE, and xb_ranks_leave() is next. If the
 * environment variable CROSSBAYES_OVERSUBSCRIBE is set, all ranks take part. */
XB_API xb_status xb_ranks_together(xb_ctx *ctx, bool strict);
/* Whether this process writes and prints: it is alone, or it is rank 0. */
XB_API bool xb_ranks_first(const xb_ctx *ctx);
/* Copies these n bytes of rank 0 to all ranks. */
XB_API xb_status xb_ranks_share(xb_ctx *ctx, void *bytes, int64_t n);
/* Ends the computation: XB_OK if xb_ranks_first(), XB_E_ELSEWHERE on all other ranks. */
XB_API xb_status xb_ranks_deliver(xb_ctx *ctx);

/* The last call of a rank: `status` and `code` are the status and the exit code it would
 * end with (0: success). Returns the code of rank 0, which all ranks end with. If that is
 * not 0, ranks still at work have 10 s to end. */
XB_API int64_t xb_ranks_leave(xb_ctx *ctx, xb_status status, int64_t code);

/* ---- shares: processes that never meet */

/* From now on the context does share `share` of 1 to `of`: items share - 1, share - 1 +
 * of, ... of all work, and collects none. At most 100,000 shares. */
XB_API xb_status xb_share_begin(xb_ctx *ctx, int64_t share, int64_t of);

/* Writes the results so far to a file, with the command line they belong to, the build of
 * the library, and the names and checksums of the files that were read. */
XB_API xb_status xb_share_write(xb_ctx *ctx, const char *path, const char *const *words,
                                int64_t n_words);

/* Reads all shares of one task. They are refused, by name, if one is missing or listed
 * twice, if they are of another task, another build or other data, or if a file that they
 * were made from has changed since. */
typedef struct xb_shares xb_shares;
XB_API xb_status xb_shares_open(xb_ctx *ctx, xb_shares **out, const char *const *paths,
                                int64_t n);
XB_API void xb_shares_destroy(xb_shares *shares); /* NULL is fine */

XB_API int64_t xb_shares_count(const xb_shares *shares);
XB_API int64_t xb_shares_word_count(const xb_shares *shares);
XB_API const char *xb_shares_word(const xb_shares *shares, int64_t i); /* borrowed */

/* From now on the context takes the results of its work from the shares, which must
 * outlive it. */
XB_API xb_status xb_shares_use(xb_ctx *ctx, const xb_shares *shares);

#ifdef __cplusplus
}
#endif
#endif
