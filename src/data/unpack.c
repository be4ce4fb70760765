/* unpack.c: see unpack.h. Consecutive parts, as `cat a.gz b.gz` makes them, are read as
 * one. Other bytes after the last part are ignored, as gzip does. */
#include "data/unpack.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/memory.h"

enum { ROOM = 1 << 16, ANY_GZIP = 15 + 16, AT_ONCE = 1 << 30 };

struct xb_unpack {
    FILE *stream;
    z_stream z;
    bool done;
    unsigned char packed[ROOM];
};

bool xb_unpack_knows(const char *head, int64_t size)
{
    return size >= 3 && memcmp(head, "\x1f\x8b\x08", 3) == 0;
}

xb_status xb_unpack_open(xb_ctx *ctx, xb_unpack **out, FILE *stream, const char *head,
                         int64_t size)
{
    xb_unpack *u = xb_new(ctx, 1, sizeof *u);
    if (!u) return XB_E_MEMORY;
    u->stream = stream;
    memcpy(u->packed, head, (size_t)size);
    u->z.next_in = u->packed;
    u->z.avail_in = (uInt)size;
    if (inflateInit2(&u->z, ANY_GZIP) != Z_OK) {
        free(u);
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory to unpack");
    }
    *out = u;
    return XB_OK;
}

void xb_unpack_close(xb_unpack *unpack)
{
    if (!unpack) return;
    inflateEnd(&unpack->z);
    free(unpack);
}

/* Reads more packed bytes behind the remaining ones; false: there are none. */
static bool refill(xb_unpack *u)
{
    const size_t left = u->z.avail_in;
    memmove(u->packed, u->z.next_in, left);
    const size_t more = fread(u->packed + left, 1, ROOM - left, u->stream);
    u->z.next_in = u->packed;
    u->z.avail_in = (uInt)(left + more);
    return more > 0;
}

/* Whether another part follows after the end of one. */
static bool next_part(xb_unpack *u)
{
    while (u->z.avail_in < 3 && refill(u)) {
    }
    return xb_unpack_knows((const char *)u->z.next_in, u->z.avail_in) &&
           inflateReset(&u->z) == Z_OK;
}

xb_status xb_unpack_read(xb_ctx *ctx, xb_unpack *u, const char *name, void *to,
                         int64_t want, int64_t *got)
{
    int64_t have = 0;
    while (have < want && !u->done) {
        const int64_t asked = want - have < AT_ONCE ? want - have : AT_ONCE;
        u->z.next_out = (unsigned char *)to + have;
        u->z.avail_out = (uInt)asked;
        if (u->z.avail_in == 0 && !refill(u)) {
            if (ferror(u->stream)) break;
            return xb_fail(ctx, XB_E_INPUT, "%s: the gzip data ends early", name);
        }
        const int code = inflate(&u->z, Z_NO_FLUSH);
        have += asked - (int64_t)u->z.avail_out;
        if (code == Z_MEM_ERROR)
            return xb_fail(ctx, XB_E_MEMORY, "not enough memory to unpack");
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return xb_fail(ctx, XB_E_INPUT, "%s: damaged gzip data", name);
        if (code == Z_STREAM_END) u->done = !next_part(u);
    }
    *got = have;
    return XB_OK;
}
