/* source.c: see source.h. This is the only place where the data readers access files. */
#include "data/source.h"

#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "base/os.h"

enum { TELL_EVERY = 4 << 20 }; /* number of bytes between two progress events */

static xb_status cannot_read(const xb_source *s)
{
    xb_status status = errno == ENOMEM ? XB_E_MEMORY : XB_E_INPUT;
    return xb_fail(s->ctx, status, "%s: cannot read: %s", s->name, strerror(errno));
}

static xb_status refuse_folder(const xb_source *s)
{
    return xb_fail(s->ctx, XB_E_INPUT, "%s: this is a folder; a file was expected",
                   s->name);
}

/* Windows does not open a folder; on other systems look_at() finds it. */
static xb_status cannot_open(const xb_source *s)
{
    const int reason = errno;
    xb_os_info info;
    if (xb_os_look(&info, s->name) && info.kind == XB_OS_FOLDER) return refuse_folder(s);
    errno = reason;
    return cannot_read(s);
}

/* Reads `want` bytes that have not been read yet. */
static xb_status read_fresh(xb_source *s, void *to, int64_t want, int64_t *got)
{
    if (s->unpack)
        XB_TRY(xb_unpack_read(s->ctx, s->unpack, s->name, to, want, got));
    else
        *got = (int64_t)fread(to, 1, (size_t)want, s->stream);
    return ferror(s->stream) ? cannot_read(s) : XB_OK;
}

/* Reads the first bytes; for gzip data, the first bytes of its contents. */
static xb_status read_head(xb_source *s)
{
    XB_TRY(read_fresh(s, s->head, sizeof s->head, &s->head_size));
    if (!xb_unpack_knows(s->head, s->head_size)) return XB_OK;
    s->size = -1;
    XB_TRY(xb_unpack_open(s->ctx, &s->unpack, s->stream, s->head, s->head_size));
    s->head_size = 0;
    return read_fresh(s, s->head, sizeof s->head, &s->head_size);
}

static xb_status look_at(xb_source *s)
{
    xb_os_info info;
    if (!xb_os_look_stream(&info, s->stream)) return cannot_read(s);
    if (info.kind == XB_OS_FOLDER) return refuse_folder(s);
    bool whole = info.kind == XB_OS_FILE && s->stream != stdin; /* whether it is read from
                                                                   its start */
    s->size = whole ? info.size : -1;
    XB_TRY(xb_files_note(s->ctx, &info, s->name));
    return read_head(s);
}

xb_status xb_source_open(xb_ctx *ctx, xb_source *out, const char *path)
{
    if (!path) return xb_fail(ctx, XB_E_ARGUMENT, "the file name is missing");
    bool standard = strcmp(path, "-") == 0;
    xb_source s = {.ctx = ctx, .name = standard ? "stdin" : path};
    s.stream = standard ? stdin : xb_os_open(path, "rb");
    if (!s.stream) return cannot_open(&s);
    xb_status status = look_at(&s);
    if (status == XB_OK) *out = s;
    if (status != XB_OK) xb_source_close(&s);
    return status;
}

void xb_source_close(xb_source *source)
{
    if (source->stream && source->stream != stdin) fclose(source->stream);
    source->stream = NULL;
    xb_unpack_close(source->unpack);
    source->unpack = NULL;
}

bool xb_source_starts(const xb_source *source, const void *bytes, int64_t size)
{
    return source->head_size >= size && memcmp(source->head, bytes, (size_t)size) == 0;
}

xb_status xb_source_explain(const xb_source *source, xb_status status,
                            xb_filekind expected)
{
    if (status != XB_E_INPUT) return status;
    const xb_filekind kind = xb_filekind_of(source->head, (size_t)source->head_size);
    return xb_filekind_refuse(source->ctx, status, source->name, kind, expected);
}

static xb_status tell(xb_source *s, int64_t before)
{
    if (before / TELL_EVERY == s->taken / TELL_EVERY) return XB_OK;
    char task[256];
    snprintf(task, sizeof task, "reading %s", s->name);
    return xb_progress_tell(s->ctx, task, s->taken, s->size > 0 ? s->size : 0);
}

xb_status xb_source_read(xb_source *source, void *to, int64_t want, int64_t *got)
{
    int64_t before = source->taken, held = 0;
    if (before < source->head_size) { /* these bytes were read when the file was opened */
        held = source->head_size - before;
        if (held > want) held = want;
        memcpy(to, source->head + before, (size_t)held);
    }
    int64_t fresh = 0;
    XB_TRY(read_fresh(source, (char *)to + held, want - held, &fresh));
    source->taken += held + fresh;
    *got = held + fresh;
    return tell(source, before);
}
