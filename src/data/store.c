/* store.c: see store.h. A file grows in steps of the size allowed in memory, and is
 * mapped again at each step, so that pages filled before no longer count as memory of the
 * process. */
#include "data/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"

static size_t bytes_of(int64_t doubles) { return (size_t)doubles * sizeof(double); }

/* Maps the file with space for `room` doubles; NULL on failure. */
static double *map(FILE *file, int64_t room)
{
    if (!xb_os_reserve(file, (int64_t)bytes_of(room))) return NULL;
    return xb_os_map(file, bytes_of(room));
}

/* Moves the numbers from memory to a file. False: they stay in memory. */
static bool move_out(xb_store *s, int64_t room)
{
    char name[256];
    FILE *file = xb_os_nameless(name, sizeof name);
    double *at = file ? map(file, room) : NULL;
    if (!at) {
        if (file) fclose(file);
        return false;
    }
    if (s->room > 0) memcpy(at, s->at, bytes_of(s->room));
    free(s->at);
    *s = (xb_store){at, room, file};
    return true;
}

static xb_status grow_file(xb_ctx *ctx, xb_store *s, int64_t room)
{
    double *at = map(s->file, room);
    if (!at)
        return xb_fail(
            ctx, XB_E_MEMORY,
            "not enough room for the table, neither in memory nor in the folder"
            " for temporary files");
    xb_os_unmap(s->at, bytes_of(s->room));
    s->at = at;
    s->room = room;
    return XB_OK;
}

xb_status xb_store_grow(xb_ctx *ctx, xb_store *s, int64_t need, int64_t in_memory)
{
    if (need <= s->room) return XB_OK;
    const int64_t most = INT64_MAX / (2 * (int64_t)sizeof(double));
    if (need > most - in_memory)
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for the table");
    const int64_t step = need + in_memory;
    if (s->file) return grow_file(ctx, s, step);
    if (need > in_memory && move_out(s, step)) return XB_OK;
    return xb_grow(ctx, (void **)&s->at, &s->room, need, sizeof *s->at);
}

void xb_store_rest(const xb_store *s)
{
    if (s->file) xb_os_map_rest(s->at, bytes_of(s->room));
}

void xb_store_free(xb_store *s)
{
    if (s->file) {
        xb_os_unmap(s->at, bytes_of(s->room));
        fclose(s->file);
    } else {
        free(s->at);
    }
    *s = (xb_store){0};
}
