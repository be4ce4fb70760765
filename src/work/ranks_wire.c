/* ranks_wire.c: messages over the transport; see ranks.h. */
#include <stdlib.h>

#include "work/ranks.h"

static int piece_of(int64_t left)
{
    return left < XB_RANKS_PIECE ? (int)left : XB_RANKS_PIECE;
}

void xb_rank_send(xb_ranks *r, int to, xb_rank_head head, const void *bytes)
{
    const char *at = bytes;
    r->by->send(to, &head, (int)sizeof head);
    for (int64_t left = head.size; left > 0; left -= piece_of(left)) {
        r->by->send(to, at, piece_of(left));
        at += piece_of(left);
    }
}

bool xb_rank_receive(xb_ranks *r, xb_rank_message *out, int from)
{
    r->by->receive(from, &out->head, (int)sizeof out->head);
    out->from = from;
    out->bytes = calloc((size_t)out->head.size + 1, 1);
    if (!out->bytes) return false;
    char *at = out->bytes;
    for (int64_t left = out->head.size; left > 0; left -= piece_of(left)) {
        r->by->receive(from, at, piece_of(left));
        at += piece_of(left);
    }
    return true;
}

static bool is_gone(const xb_ranks *r)
{
    return r->process > 0 && !xb_os_process_lives(r->process);
}

bool xb_rank_await(xb_ranks *r, xb_rank_message *out)
{
    enum { QUICK = 20, SLOW = 500, LOOK = 64 }; /* microseconds; turns */
    int from, rest = QUICK, turn = 0;
    for (; !r->by->waiting(&from); rest = rest < SLOW ? 2 * rest : SLOW) {
        if (++turn % LOOK == 0 && is_gone(r)) return false;
        r->by->rest(rest);
    }
    return xb_rank_receive(r, out, from);
}

/* Without a request, the only message that can arrive is STOP. */
bool xb_rank_dismissed(xb_ranks *r)
{
    xb_rank_message m = {0};
    int from;
    if (!r->by->waiting(&from)) return is_gone(r);
    const bool got = xb_rank_receive(r, &m, from);
    free(m.bytes);
    return !got || m.head.word == XB_RANK_STOP;
}
