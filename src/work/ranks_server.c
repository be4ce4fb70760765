/* ranks_server.c: the thread of rank 0 that answers the other ranks; see ranks.h. A rank
 * that asks for items of a piece of work which rank 0 has not opened yet waits. */
#include <stdlib.h>
#include <string.h>

#include "work/ranks.h"

void xb_rank_blame(xb_ranks *r, int rank, xb_status status, const char *why)
{
    r->state[rank].blamed = true;
    if (r->failed != XB_OK) return;
    r->failed = status == XB_OK ? XB_E_ARGUMENT : status;
    snprintf(r->message, sizeof r->message, "rank %d: %.900s", rank, why);
}

bool xb_rank_next_item(xb_ranks *r, int64_t work, int64_t *item)
{
    xb_work *d = r->work;
    if (!d || d->number != work || r->stopping || r->failed != XB_OK) return false;
    return xb_work_next_here(d, item, 0, 1);
}

void xb_rank_answer(xb_ranks *r)
{
    for (int i = 1; i < r->by->size; i++) {
        const int64_t work = r->state[i].asked;
        const bool later = work >= r->opened && !r->stopping && r->failed == XB_OK;
        if (work < 0 || later) continue;
        int64_t item = -1;
        (void)xb_rank_next_item(r, work, &item);
        r->state[i].asked = -1;
        xb_rank_send(r, i, (xb_rank_head){XB_RANK_GIVE, work, item, 0}, NULL);
    }
}

/* The first line in which two lists of inputs differ, "name checksum bytes" each. */
static void name_difference(char *out, size_t size, const char *a, const char *b)
{
    while (*a && *b) {
        const size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || strncmp(a, b, n) != 0) break;
        a += n + (a[n] == '\n');
        b += m + (b[m] == '\n');
    }
    const char *line = *b ? b : a;
    const size_t name = strcspn(line, "\t\n");
    snprintf(out, size, "%.*s differs from that of rank 0", name < 800 ? (int)name : 800,
             line);
}

void xb_rank_compare_inputs(xb_ranks *r)
{
    char why[XB_MESSAGE_MAX];
    for (int i = 1; r->inputs && i < r->by->size; i++) {
        xb_rank_state *s = &r->state[i];
        if (!s->inputs || s->blamed || strcmp(s->inputs, r->inputs) == 0) continue;
        name_difference(why, sizeof why, r->inputs, s->inputs);
        xb_rank_blame(r, i, XB_E_INPUT, why);
    }
}

/* A rank that ends reports it and waits for permission; a process that is gone without
 * permission has died. */
void xb_rank_watch(xb_ranks *r)
{
    char why[80];
    for (int i = 1; i < r->by->size; i++) {
        xb_rank_state *s = &r->state[i];
        if (s->ended || s->process == 0 || xb_os_process_lives(s->process)) continue;
        snprintf(why, sizeof why, "its process, number %lld, has died",
                 (long long)s->process);
        r->died = s->ended = true;
        xb_rank_blame(r, i, XB_E_IO, why);
    }
}

/* Keeps the text of a message. */
static void keep(char **to, xb_rank_message *m)
{
    free(*to);
    *to = m->bytes;
    m->bytes = NULL;
}

static void take_result(xb_ranks *r, xb_rank_message *m)
{
    xb_work *d = r->work;
    const int64_t i = m->head.item;
    if (!d || d->number != m->head.work || i < 0 || i >= d->count) return;
    xb_os_lock_take(&d->lock);
    free(d->item[i].result);
    d->item[i] = (xb_work_item){m->bytes, m->head.size};
    m->bytes = NULL;
    xb_os_lock_give(&d->lock);
}

static void take(xb_ranks *r, xb_rank_message *m)
{
    xb_rank_state *s = &r->state[m->from];
    switch ((xb_rank_word)m->head.word) {
    case XB_RANK_PLACE:
        s->machine = (uint64_t)m->head.work;
        s->cores = m->head.item;
        break;
    case XB_RANK_JOIN:
        keep(&s->joined, m);
        if ((uint64_t)m->head.work == xb_os_machine() &&
            xb_os_process_lives(m->head.item))
            s->process = m->head.item;
        break;
    case XB_RANK_INPUTS:
        keep(&s->inputs, m);
        xb_rank_compare_inputs(r);
        break;
    case XB_RANK_ASK: s->asked = m->head.work; break;
    case XB_RANK_RESULT: take_result(r, m); break;
    case XB_RANK_DONE: s->done = m->head.work + 1; break;
    case XB_RANK_END:
        s->ended = true;
        s->code = m->head.item;
        if (m->head.work == XB_E_CANCELLED && r->stop_code == 0)
            r->stop_code = m->head.item;
        if (m->head.item != 0)
            xb_rank_blame(r, m->from, (xb_status)m->head.work, m->bytes);
        break;
    default: break;
    }
    xb_rank_answer(r);
}

/* With the lock held: how long the thread may rest while no message comes, in
 * microseconds. While ranks exchange numbers together, nobody waits for an answer, and
 * each time that the thread wakes takes a core from a rank, for which the others wait. */
static int longest_rest(const xb_ranks *r)
{
    enum { ITEMS = 1000, NUMBERS = 10000 };
    return r->comm.together && !r->work && !r->stopping ? NUMBERS : ITEMS;
}

static void *serve(void *arg)
{
    enum { QUICK = 50 };          /* microseconds */
    const double patience = 0.02; /* seconds between two checks of the other processes */
    xb_ranks *r = arg;
    int from, rest = QUICK;
    double watched = xb_os_seconds();
    for (bool leave = false; !leave;) {
        xb_rank_message m = {0};
        const bool there = r->by->waiting(&from);
        if (there && !xb_rank_receive(r, &m, from)) r->by->abort(1);
        xb_os_lock_take(&r->lock);
        if (there) take(r, &m);
        if (!there && xb_os_seconds() - watched > patience) {
            xb_rank_watch(r);
            watched = xb_os_seconds();
        }
        leave = r->leave && !there;
        const int longest = longest_rest(r);
        xb_os_lock_give(&r->lock);
        free(m.bytes);
        rest = there ? QUICK : rest + QUICK < longest ? rest + QUICK : longest;
        if (!there) r->by->rest(rest);
    }
    return NULL;
}

bool xb_rank_serve(xb_ranks *r)
{
    r->serving = xb_os_thread_start(&r->server, serve, r);
    return r->serving;
}

void xb_rank_serve_end(xb_ranks *r)
{
    if (!r->serving) return;
    xb_os_lock_take(&r->lock);
    r->leave = true;
    xb_os_lock_give(&r->lock);
    xb_os_thread_join(&r->server);
    r->serving = false;
}
