/* draft.c: see draft.h. A failed write is remembered here: not every system's stream
 * does. */
#include "report/draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"

enum { FIRST_ROOM = 1 << 12 };

struct xb_draft {
    FILE *stream;
    char *text; /* terminated by 0 */
    size_t size, capacity;
    bool lost; /* some of the text, for want of memory */
};

static bool make_room(xb_draft *d, size_t more)
{
    if (d->capacity - d->size > more) return true;
    size_t capacity = d->capacity ? d->capacity : FIRST_ROOM;
    while (capacity - d->size <= more && capacity <= SIZE_MAX / 2) capacity *= 2;
    char *text = capacity - d->size > more ? realloc(d->text, capacity) : NULL;
    if (!text) return false;
    d->text = text;
    d->capacity = capacity;
    return true;
}

/* This is an xb_os_take_fn. */
static bool add(void *arg, const char *bytes, size_t n)
{
    xb_draft *d = arg;
    if (!make_room(d, n)) d->lost = true;
    if (d->lost) return false;
    memcpy(d->text + d->size, bytes, n);
    d->size += n;
    d->text[d->size] = '\0';
    return true;
}

xb_draft *xb_draft_open(xb_ctx *ctx)
{
    xb_draft *d = xb_new(ctx, 1, sizeof *d);
    if (!d) return NULL;
    d->stream = xb_os_sink_open(add, d);
    if (d->stream) return d;
    xb_free(d);
    xb_fail(ctx, XB_E_MEMORY, "not enough memory for a text");
    return NULL;
}

void xb_draft_free(xb_draft *draft)
{
    if (!draft) return;
    fclose(draft->stream);
    free(draft->text);
    xb_free(draft);
}

FILE *xb_draft_stream(const xb_draft *draft) { return draft->stream; }

xb_status xb_draft_text(xb_ctx *ctx, xb_draft *draft, const char **text)
{
    if (!xb_os_sink_flush(draft->stream, add, draft) || draft->lost)
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a text");
    *text = draft->text ? draft->text : "";
    return XB_OK;
}
