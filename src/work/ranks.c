/* ranks.c: the ranks of an MPI program do the items of shared work together; see ranks.h
 * and crossbayes/work.h. All ranks run the same command; rank 0 continues with the
 * results. */
#include "work/ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/os_module.h"

/* The path of another module, or "none". */
static const char MODULE_PATH[] = "CROSSBAYES_MPI";

/* ---- what started this process */

typedef struct launcher {
    const char *size, *rank; /* names of environment variables */
    const char *module;      /* NULL: the processes cannot communicate */
} launcher;

static const launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "libcrossbayes-openmpi.so"},
    {"SLURM_STEP_NUM_TASKS", "PMIX_RANK", "libcrossbayes-openmpi.so"},
    {"PMI_SIZE", "PMI_RANK", "libcrossbayes-mpich.so"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL}, /* srun --mpi=none */
};

static int64_t read_env(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    const long long value = text ? strtoll(text, &end, 10) : -1;
    return text && end != text && !*end ? value : -1;
}

static const launcher *find_launcher(int64_t *rank, int64_t *size)
{
    const char *path = getenv(MODULE_PATH);
    if (path && strcmp(path, "none") == 0) return NULL;
    for (int i = 0; i < XB_COUNT(launchers); i++) {
        *size = read_env(launchers[i].size);
        *rank = read_env(launchers[i].rank);
        if (*size > 1 && *rank >= 0 && *rank < *size) return &launchers[i];
        if (*rank >= 0) return NULL; /* a single rank, whatever started its launcher */
    }
    return NULL;
}

int64_t xb_ranks_launched(int64_t *rank)
{
    int64_t size = 1;
    *rank = 0;
    if (find_launcher(rank, &size)) return size;
    *rank = 0;
    return 1;
}

/* ---- a piece of work */

/* Lists every file that was read, one line of "name checksum bytes" each. */
static xb_status list_inputs(xb_ctx *ctx, char **out)
{
    char **name = NULL;
    const int64_t n = xb_files_read_list(ctx, &name);
    if (n < 0) return XB_E_MEMORY;
    size_t room = 1, used = 0;
    for (int64_t i = 0; i < n; i++) room += strlen(name[i]) + 64;
    char *text = xb_new(ctx, (int64_t)room, 1);
    xb_status status = text ? XB_OK : XB_E_MEMORY;
    for (int64_t i = 0; i < n && status == XB_OK; i++) {
        uint64_t hash = 0;
        int64_t bytes = 0;
        status = xb_file_hash(ctx, &hash, &bytes, name[i]);
        used += (size_t)snprintf(text + used, room - used, "%s\t%016" PRIx64 "\t%lld\n",
                                 name[i], hash, (long long)bytes);
    }
    xb_os_list_free(name, n);
    if (status == XB_OK)
        *out = text;
    else
        free(text);
    return status;
}

static xb_status tell_inputs(xb_ctx *ctx, xb_ranks *r)
{
    char *text = NULL;
    XB_TRY(list_inputs(ctx, &text));
    if (r->comm.rank == 0) {
        xb_os_lock_take(&r->lock);
        r->inputs = text;
        xb_rank_compare_inputs(r);
        xb_os_lock_give(&r->lock);
        return XB_OK;
    }
    xb_rank_send(r, 0, (xb_rank_head){XB_RANK_INPUTS, 0, 0, (int64_t)strlen(text)}, text);
    free(text);
    return XB_OK;
}

static xb_status meet_others(xb_ctx *ctx, xb_comm *comm)
{
    xb_ranks *r = (xb_ranks *)comm;
    if (r->met) return XB_OK;
    r->met = true;
    return tell_inputs(ctx, r);
}

static xb_status open_work(xb_ctx *ctx, xb_comm *comm, xb_work *work)
{
    xb_ranks *r = (xb_ranks *)comm;
    XB_TRY(meet_others(ctx, comm));
    if (comm->rank != 0) return XB_OK;
    xb_os_lock_take(&r->lock);
    r->work = work;
    r->opened = work->number + 1;
    xb_rank_answer(r);
    xb_os_lock_give(&r->lock);
    return XB_OK;
}

static void close_work(xb_comm *comm, xb_work *work)
{
    xb_ranks *r = (xb_ranks *)comm;
    if (comm->rank != 0) return;
    xb_os_lock_take(&r->lock);
    if (r->work == work) r->work = NULL;
    xb_os_lock_give(&r->lock);
}

/* The item that rank 0 answers with; -1: there are no more. */
static int64_t ask(xb_ranks *r, int64_t work)
{
    xb_rank_message m = {0};
    xb_os_lock_take(&r->wire);
    xb_rank_send(r, 0, (xb_rank_head){XB_RANK_ASK, work, 0, 0}, NULL);
    const bool got = xb_rank_await(r, &m);
    if (!got || m.head.word == XB_RANK_STOP) r->comm.broken = true;
    xb_os_lock_give(&r->wire);
    free(m.bytes);
    return got && m.head.word == XB_RANK_GIVE ? m.head.item : -1;
}

static bool next(xb_comm *comm, xb_work *work, int64_t *item)
{
    xb_ranks *r = (xb_ranks *)comm;
    if (comm->rank != 0) return (*item = ask(r, work->number)) >= 0;
    xb_os_lock_take(&r->lock);
    const bool more = xb_rank_next_item(r, work->number, item);
    xb_os_lock_give(&r->lock);
    return more;
}

static void put(xb_comm *comm, xb_work *work, int64_t item)
{
    xb_ranks *r = (xb_ranks *)comm;
    const xb_work_item *one = &work->item[item];
    if (comm->rank == 0) return;
    xb_os_lock_take(&r->wire);
    xb_rank_send(r, 0, (xb_rank_head){XB_RANK_RESULT, work->number, item, one->size},
                 one->result);
    xb_os_lock_give(&r->wire);
}

/* Whether all other ranks have done their items, or one has failed. */
static bool all_done(xb_ranks *r, const xb_work *work, int64_t *results)
{
    bool all = true;
    xb_os_lock_take(&r->lock);
    for (int i = 1; i < r->by->size; i++)
        all = all && (r->state[i].done > work->number || !xb_rank_takes_part(r, i));
    all = all || r->failed != XB_OK;
    xb_os_lock_give(&r->lock);
    *results = 0;
    for (int64_t i = 0; i < work->count; i++) *results += work->item[i].result != NULL;
    return all;
}

static xb_status collect_here(xb_ctx *ctx, xb_ranks *r, xb_work *work)
{
    enum { QUICK = 50, SLOW = 1000 }; /* microseconds */
    int64_t results = 0;
    for (int rest = QUICK; !all_done(r, work, &results);
         rest += rest < SLOW ? QUICK : 0) {
        XB_TRY(xb_progress_tell(ctx, "waiting for other ranks", results, work->count));
        r->by->rest(rest);
    }
    xb_os_lock_take(&r->lock);
    const xb_status failed = r->failed;
    xb_os_lock_give(&r->lock);
    return failed == XB_OK ? XB_OK : xb_fail(ctx, failed, "%s", r->message);
}

static xb_status collect(xb_ctx *ctx, xb_comm *comm, xb_work *work)
{
    xb_ranks *r = (xb_ranks *)comm;
    if (comm->rank == 0) XB_TRY(collect_here(ctx, r, work));
    if (comm->rank != 0)
        xb_rank_send(r, 0, (xb_rank_head){XB_RANK_DONE, work->number, 0, 0}, NULL);
    if (comm->together) return xb_ranks_spread(ctx, r, work);
    if (comm->rank == 0) return XB_OK;
    return xb_fail(ctx, XB_E_ELSEWHERE, "rank 0 has the results");
}

/* ---- joining and leaving */

static void destroy(xb_comm *comm)
{
    xb_ranks *r = (xb_ranks *)comm;
    xb_rank_serve_end(r);
    for (int i = 0; r->state && i < r->by->size; i++) {
        free(r->state[i].joined);
        free(r->state[i].inputs);
    }
    free(r->state);
    free(r->aside);
    free(r->seat);
    free(r->inputs);
    xb_os_lock_destroy(&r->lock);
    xb_os_lock_destroy(&r->wire);
    free(r);
}

static xb_status load(xb_ctx *ctx, const xb_transport **out)
{
    char why[XB_MESSAGE_MAX / 2];
    int64_t rank, size;
    const launcher *by = find_launcher(&rank, &size);
    if (!by) return xb_fail(ctx, XB_E_ARGUMENT, "no other ranks were started");
    const char *path = getenv(MODULE_PATH);
    if (!by->module && !path)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "srun started %lld processes without MPI: give it the MPI type pmix"
            " (pmi2 for MPICH), or set %s=none if they are independent",
            (long long)size, MODULE_PATH);
    xb_os_symbol symbol = xb_os_module(by->module ? by->module : path, path,
                                       XB_RANKS_ENTRY, why, sizeof why);
    *out = symbol ? ((xb_ranks_fn)symbol)(XB_RANKS_VERSION, why, sizeof why) : NULL;
    if (*out) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "started with %lld ranks, but %s cannot be used: %s", (long long)size,
                   path ? path : by->module, why);
}

static xb_status create(xb_ctx *ctx, xb_ranks **out)
{
    const xb_transport *by = NULL;
    XB_TRY(load(ctx, &by));
    xb_ranks *r = xb_new(ctx, 1, sizeof *r);
    xb_rank_state *state = xb_new(ctx, by->size, sizeof *state);
    bool *aside = xb_new(ctx, by->size, sizeof *aside);
    if (!r || !state || !aside) {
        by->abort(1);
        return XB_E_MEMORY; /* not reached: abort() does not return */
    }
    for (int i = 0; i < by->size; i++) state[i].asked = -1;
    *r = (xb_ranks){.by = by, .state = state, .aside = aside, .looked = xb_os_seconds()};
    xb_os_lock_init(&r->lock);
    xb_os_lock_init(&r->wire);
    r->comm = (xb_comm){.word = "ranks",
                        .rank = by->rank,
                        .size = by->size,
                        .open = open_work,
                        .close = close_work,
                        .next = next,
                        .put = put,
                        .collect = collect,
                        .meet = meet_others,
                        .destroy = destroy};
    xb_ranks_make_together(r);
    *out = r;
    return XB_OK;
}

/* Writes the build, then the words of the command line. */
static xb_status introduce(xb_ctx *ctx, char **out, const char *const *words, int64_t n)
{
    size_t room = strlen(xb_build_id()) + 2, used;
    for (int64_t i = 0; i < n; i++) room += strlen(words[i]) + 1;
    char *text = xb_new(ctx, (int64_t)room, 1);
    if (!text) return XB_E_MEMORY;
    used = (size_t)snprintf(text, room, "%s\n", xb_build_id());
    for (int64_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, room - used, "%s ", words[i]);
    *out = text;
    return XB_OK;
}

/* Rank 0 waits for all ranks and compares what they sent. */
static void meet(xb_ranks *r, const char *own)
{
    const size_t build = strcspn(own, "\n");
    for (int i = 1; i < r->by->size;) {
        xb_os_lock_take(&r->lock);
        const char *other = r->state[i].joined;
        if (other && strncmp(other, own, build + 1) != 0)
            xb_rank_blame(r, i, XB_E_ARGUMENT, "runs another build of the program");
        else if (other && strcmp(other, own) != 0)
            xb_rank_blame(r, i, XB_E_ARGUMENT,
                          "was started with another command line than rank 0");
        xb_os_lock_give(&r->lock);
        if (other)
            i++;
        else
            r->by->rest(200);
    }
}

/* Rank 0 tells all ranks to begin or to leave, which process it is itself, and which
 * ranks stand aside. */
static void say_begin(xb_ranks *r)
{
    const uint64_t machine = xb_os_machine();
    const bool failed = r->failed != XB_OK;
    const xb_rank_head head = {XB_RANK_GO, xb_os_process(), failed, sizeof machine};
    const xb_rank_head list = {XB_RANK_GO, 0, 0, r->by->size};
    for (int i = 1; i < r->by->size; i++) {
        xb_rank_send(r, i, head, &machine);
        if (!failed) xb_rank_send(r, i, list, r->aside);
    }
}

/* Another rank learns which ranks stand aside. */
static bool hear_list(xb_ranks *r)
{
    xb_rank_message m = {0};
    const bool got = xb_rank_await(r, &m) && m.head.size == r->by->size;
    if (got) memcpy(r->aside, m.bytes, (size_t)r->by->size * sizeof *r->aside);
    free(m.bytes);
    return got;
}

/* Another rank sends its place, build and command, and waits until rank 0 lets it
 * begin. */
static xb_status introduce_to_first(xb_ctx *ctx, xb_ranks *r, const char *own)
{
    uint64_t machine = 0;
    xb_rank_message m = {0};
    const int64_t here = (int64_t)xb_os_machine();
    xb_rank_send(r, 0, (xb_rank_head){XB_RANK_PLACE, here, xb_os_machine_cores(), 0},
                 NULL);
    xb_rank_send(
        r, 0, (xb_rank_head){XB_RANK_JOIN, here, xb_os_process(), (int64_t)strlen(own)},
        own);
    const bool got = xb_rank_await(r, &m);
    if (got && m.head.size == sizeof machine) memcpy(&machine, m.bytes, sizeof machine);
    if (machine == xb_os_machine() && xb_os_process_lives(m.head.work))
        r->process = m.head.work;
    free(m.bytes);
    return got && m.head.item == 0 && hear_list(r)
               ? XB_OK
               : xb_fail(ctx, XB_E_ARGUMENT, "rank 0 does not begin");
}

static xb_status greet(xb_ctx *ctx, xb_ranks *r, const char *own)
{
    if (r->comm.rank != 0) return introduce_to_first(ctx, r, own);
    if (!xb_rank_serve(r))
        return xb_fail(ctx, XB_E_MEMORY, "cannot start a thread for the ranks");
    r->state[0].machine = xb_os_machine();
    meet(r, own);
    xb_ranks_choose_aside(r);
    say_begin(r);
    return r->failed == XB_OK ? XB_OK : xb_fail(ctx, r->failed, "%s", r->message);
}

xb_status xb_ranks_join(xb_ctx *ctx, const char *const *words, int64_t n_words)
{
    xb_ranks *r = NULL;
    char *own = NULL;
    XB_TRY(introduce(ctx, &own, words, n_words));
    xb_status status = create(ctx, &r);
    if (status == XB_OK) {
        xb_comm_set(ctx, &r->comm);
        status = greet(ctx, r, own);
    }
    free(own);
    return status;
}

static bool all_ended(xb_ranks *r)
{
    bool all = true;
    xb_os_lock_take(&r->lock);
    for (int i = 1; i < r->by->size; i++) all = all && r->state[i].ended;
    xb_os_lock_give(&r->lock);
    return all;
}

/* Rank 0 tells the ranks that stand aside to end and, after a failure, those that still
 * work, too. */
static void tell_to_stop(xb_ranks *r, bool failed)
{
    for (int i = 1; i < r->by->size; i++)
        if (!r->state[i].ended && (failed || !xb_rank_takes_part(r, i)))
            xb_rank_send(r, i, (xb_rank_head){XB_RANK_STOP, 0, 0, 0}, NULL);
}

/* Rank 0 gives out no more work. A rank that does not end in time is ended; if one has
 * died, all are, because MPI would wait for it. */
static void dismiss(xb_ranks *r, int64_t code)
{
    const double patience = 10, begin = xb_os_seconds();
    xb_os_lock_take(&r->lock);
    r->stopping = true;
    xb_rank_answer(r);
    tell_to_stop(r, code != 0);
    const bool died = r->died;
    xb_os_lock_give(&r->lock);
    if (died) r->by->abort(1);
    while (!all_ended(r)) {
        if (code != 0 && xb_os_seconds() - begin > patience) r->by->abort((int)code);
        r->by->rest(500);
    }
    for (int i = 1; i < r->by->size; i++)
        xb_rank_send(r, i, (xb_rank_head){XB_RANK_GO, 0, code, 0}, NULL);
    xb_rank_serve_end(r);
}

/* Another rank reports its exit code and message, and waits for permission to end. */
static int64_t say_end(xb_ranks *r, int64_t status, int64_t code, const char *message)
{
    xb_rank_send(r, 0,
                 (xb_rank_head){XB_RANK_END, status, code, (int64_t)strlen(message)},
                 message);
    for (;;) { /* skips other messages until the last one */
        xb_rank_message m = {0};
        if (!xb_rank_await(r, &m)) r->by->abort(1);
        free(m.bytes);
        if (m.head.word == XB_RANK_GO) return m.head.item;
    }
}

/* If a signal to another rank has stopped the job, it ends with that rank's code. */
static int64_t code_of_job(xb_ranks *r, int64_t code)
{
    enum { SIGNALS = 128 }; /* exit codes of signals are larger than this */
    xb_os_lock_take(&r->lock);
    const int64_t other = r->failed == XB_E_CANCELLED ? r->stop_code : 0;
    xb_os_lock_give(&r->lock);
    return code != 0 && code < SIGNALS && other != 0 ? other : code;
}

int64_t xb_ranks_leave(xb_ctx *ctx, xb_status status, int64_t code)
{
    if (!ctx->comm || ctx->comm->destroy != destroy) return code;
    xb_ranks *r = (xb_ranks *)ctx->comm;
    if (ctx->comm->rank == 0)
        dismiss(r, code = code_of_job(r, code));
    else
        code = say_end(r, status, code, ctx->message);
    r->by->finish();
    xb_comm_set(ctx, NULL);
    return code;
}

/* ---- together */

xb_status xb_ranks_together(xb_ctx *ctx, bool strict)
{
    if (!ctx->comm || ctx->comm->destroy != destroy) return XB_OK;
    ctx->comm->together = true;
    ctx->comm->strict = strict;
    return xb_ranks_sit_down(ctx, (xb_ranks *)ctx->comm);
}

bool xb_ranks_first(const xb_ctx *ctx) { return xb_comm_first(ctx); }

xb_status xb_ranks_share(xb_ctx *ctx, void *bytes, int64_t n)
{
    xb_comm *comm = xb_comm_together(ctx);
    if (!comm) return XB_OK;
    xb_comm_share(comm, bytes, n);
    return xb_comm_check(ctx);
}

xb_status xb_ranks_deliver(xb_ctx *ctx)
{
    XB_TRY(xb_comm_check(ctx));
    if (xb_comm_first(ctx)) return XB_OK;
    return xb_fail(ctx, XB_E_ELSEWHERE, "rank 0 has the results");
}
