/* parallel.c: see parallel.h. Threads live for one loop. Each is started by the one
 * before it as long as pieces are left, the first by the caller, which works too; so a
 * short loop starts few threads, and nothing outlives the call, not even in a process
 * that forks. If a thread cannot be started, the others do its work.
 *
 * The cost is 20 microseconds per call with two threads; an OpenMP loop, whose threads
 * wait between calls, takes 3 (spinning) or 8 (sleeping). */
#include "crossbayes/extend.h"

#include <stdatomic.h>

#include "base/os.h"

typedef struct loop {
    xb_piece_fn body;
    void *arg;
    int64_t pieces;
    atomic_int_least64_t next; /* the first piece not yet taken */
    atomic_int helpers;        /* threads that may still be started */
} loop;

static void *work(void *arg);

static bool start_helper(loop *l, xb_os_thread *helper)
{
    if (atomic_load(&l->next) >= l->pieces) return false;
    if (atomic_fetch_sub(&l->helpers, 1) <= 0) return false;
    return xb_os_thread_start(helper, work, l);
}

static void *work(void *arg)
{
    loop *l = arg;
    xb_os_thread helper;
    const bool helped = start_helper(l, &helper);
    int64_t piece;
    while ((piece = atomic_fetch_add(&l->next, 1)) < l->pieces) l->body(l->arg, piece);
    if (helped) xb_os_thread_join(&helper);
    return NULL;
}

void xb_parallel_for(const xb_ctx *ctx, int64_t pieces, xb_piece_fn body, void *arg)
{
    int64_t threads = pieces > 1 ? xb_ctx_threads(ctx) : 1;
    if (threads > pieces) threads = pieces;
    if (threads > 1) {
        loop l = {.body = body, .arg = arg, .pieces = pieces, .helpers = threads - 1};
        (void)work(&l);
        return;
    }
    for (int64_t piece = 0; piece < pieces; piece++) body(arg, piece);
}
