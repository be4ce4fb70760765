/* train_crew.c: ranks that train one net together (maths M2). Each goes through the whole
 * training and has the whole state; in each step it runs the dealt layers on its own rows
 * only, and all ranks get the sums (backend/crew.h). So the state is the same on all
 * ranks after every step, rank 0 saves it, and any number of ranks can continue from a
 * checkpoint. */
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "run/pass.h"
#include "vi/trainer.h"

/* ---- rows */

static xb_status check_blocks(const xb_trainer *t, const xb_comm *comm)
{
    const int64_t blocks = xb_crew_blocks(t->opt.batch).count;
    if (!comm->strict || blocks >= comm->size) return XB_OK;
    return xb_fail(t->ctx, XB_E_ARGUMENT,
                   "a batch of %lld rows is cut into %lld blocks, which cannot be "
                   "divided among %lld ranks; use at most %lld ranks or a larger batch",
                   (long long)t->opt.batch, (long long)blocks, (long long)comm->size,
                   (long long)blocks);
}

xb_status xb_trainer_join(xb_trainer *t)
{
    xb_comm *comm = xb_comm_together(t->ctx);
    if (!comm) return XB_OK;
    if (t->opt.array || t->opt.n_eff_penalty > 0)
        return xb_fail(
            t->ctx, XB_E_ARGUMENT,
            "ranks do not train one net together for an array or with a penalty"
            " on n_eff: use one rank");
    XB_TRY(xb_pass_join(t->ctx, t->pass, comm));
    if (t->noise_pass) XB_TRY(xb_pass_join(t->ctx, t->noise_pass, comm));
    t->dealt = xb_pass_is_dealt(t->pass, t->opt.batch);
    return t->dealt ? check_blocks(t, comm) : XB_OK;
}

void xb_trainer_rows(const xb_trainer *t, int64_t batch, int64_t *begin, int64_t *end)
{
    xb_pass_rows(t->pass, batch, begin, end);
    if (!t->noise_pass) return;
    int64_t first, last;
    xb_pass_rows(t->noise_pass, batch, &first, &last);
    if (first < *begin) *begin = first;
    if (last > *end) *end = last;
}

/* ---- the state in one block */

typedef struct packed_head {
    xb_train_place place;
    xb_train_sums sums;
    int64_t n_live;
} packed_head;

static int64_t live_bytes(const xb_trainer *t)
{
    return t->n_live * (int64_t)sizeof *t->live;
}

static int64_t trace_bytes(int64_t rows)
{
    return rows * XB_TRACE_COLUMNS * (int64_t)sizeof(double);
}

int64_t xb_trainer_packed(const xb_trainer *t)
{
    return (int64_t)sizeof(packed_head) + trace_bytes(t->place.rows) + live_bytes(t);
}

void xb_trainer_pack(const xb_trainer *t, void *to)
{
    const packed_head head = {t->place, t->sums, t->n_live};
    char *at = to;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    memcpy(at, t->trace, (size_t)trace_bytes(t->place.rows));
    at += trace_bytes(t->place.rows);
    t->backend->get(t->backend, at, t->live, live_bytes(t));
}

xb_status xb_trainer_unpack(xb_trainer *t, const void *from, int64_t bytes)
{
    packed_head head = {0};
    const char *at = from;
    const int64_t most = t->epochs[0] + t->epochs[1];
    if (bytes >= (int64_t)sizeof head) memcpy(&head, at, sizeof head);
    const int64_t rows = head.place.rows;
    if (head.n_live != t->n_live || rows < 0 || rows > most ||
        bytes != (int64_t)sizeof head + trace_bytes(rows) + live_bytes(t))
        return xb_fail(t->ctx, XB_E_INPUT, "another rank trains another net");
    at += sizeof head;
    memcpy(t->trace, at, (size_t)trace_bytes(rows));
    t->backend->put(t->backend, t->live, at + trace_bytes(rows), live_bytes(t));
    t->place = head.place;
    t->sums = head.sums;
    return XB_OK;
}

xb_status xb_trainer_share_state(xb_trainer *t, bool there)
{
    xb_comm *comm = t->ctx->comm;
    int64_t bytes = there ? xb_trainer_packed(t) : 0;
    xb_comm_share(comm, &bytes, sizeof bytes);
    XB_TRY(xb_comm_check(t->ctx));
    if (bytes == 0) return XB_OK; /* from the beginning */
    void *block = xb_room(t->ctx, bytes, 1);
    if (!block) return XB_E_MEMORY;
    if (there) xb_trainer_pack(t, block);
    xb_comm_share(comm, block, bytes);
    xb_status status = xb_comm_check(t->ctx);
    if (status == XB_OK && !there) status = xb_trainer_unpack(t, block, bytes);
    xb_free(block);
    return status;
}
