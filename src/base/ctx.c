/* ctx.c: the context and the status texts. Everything that a call may report or needs to
 * know goes through here; the library has no other state. */
#include "base/ctx.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/files.h"
#include "base/os.h"

const char *xb_status_text(xb_status status)
{
    switch (status) {
#define XB_STATUS_CASE(name, text)                                                       \
    case name: return text;
        XB_STATUS_LIST(XB_STATUS_CASE)
#undef XB_STATUS_CASE
    }
    return "unknown status";
}

const char *xb_version(void) { return XB_VERSION_STRING; }

xb_status xb_ctx_create(xb_ctx **out)
{
    xb_ctx *ctx = calloc(1, sizeof *ctx);
    if (!ctx) return XB_E_MEMORY;
    ctx->files = xb_files_create();
    if (!ctx->files) {
        free(ctx);
        return XB_E_MEMORY;
    }
    *out = ctx;
    return XB_OK;
}

void xb_ctx_destroy(xb_ctx *ctx)
{
    if (!ctx) return;
    xb_comm_set(ctx, NULL);
    xb_files_release(ctx->files);
    free(ctx);
}

const char *xb_ctx_message(const xb_ctx *ctx) { return ctx->message; }

void xb_ctx_set_threads(xb_ctx *ctx, int64_t threads)
{
    ctx->threads = threads < 0 ? 0 : threads < INT_MAX ? (int)threads : INT_MAX;
}

void xb_ctx_set_backend(xb_ctx *ctx, const char *name)
{
    snprintf(ctx->backend, sizeof ctx->backend, "%s", name ? name : "");
}

const char *xb_ctx_backend(const xb_ctx *ctx)
{
    return ctx->backend[0] ? ctx->backend : NULL;
}

int64_t xb_ctx_threads(const xb_ctx *ctx)
{
    return ctx && ctx->threads > 0 ? ctx->threads : xb_os_cores();
}

/* Messages contain names of files and values. This keeps them on one line and removes the
 * characters that move a terminal's cursor, including U+0080 to U+009F. */
static void blank_controls(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < ' ' || *p == 127) *p = ' ';
        if (*p == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0) p[0] = p[1] = ' ';
    }
}

void xb_ctx_set_origin(xb_ctx *ctx, const char *origin)
{
    snprintf(ctx->origin, sizeof ctx->origin, "%s", origin ? origin : "");
    blank_controls(ctx->origin);
}

const char *xb_ctx_origin(const xb_ctx *ctx) { return ctx ? ctx->origin : ""; }

void xb_ctx_set_progress(xb_ctx *ctx, xb_progress_fn fn, void *arg)
{
    ctx->progress = fn;
    ctx->progress_arg = arg;
}

xb_progress_fn xb_ctx_progress(const xb_ctx *ctx, void **arg)
{
    *arg = ctx->progress_arg;
    return ctx->progress;
}

const char *xb_plural(int64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

void xb_ctx_set_notice(xb_ctx *ctx, xb_notice_fn fn, void *arg)
{
    ctx->notice = fn;
    ctx->notice_arg = arg;
}

void xb_notice_tell(xb_ctx *ctx, const char *format, ...)
{
    if (!ctx || !ctx->notice) return;
    char text[XB_NOTICE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    blank_controls(text);
    ctx->notice(ctx->notice_arg, text);
}

void xb_note(xb_ctx *ctx, const char *format, ...)
{
    if (!ctx) return;
    char text[XB_MESSAGE_MAX]; /* the old message may be an argument */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    blank_controls(text);
    memcpy(ctx->message, text, sizeof text);
}

xb_status xb_progress_tell(xb_ctx *ctx, const char *task, int64_t done, int64_t total)
{
    /* Without a listener the work is never stopped. */
    if (!ctx || !ctx->progress) return XB_OK;
    xb_comm *comm = ctx->comm && ctx->comm->look ? ctx->comm : NULL;
    if (comm) XB_TRY(comm->look(ctx, comm, false));
    xb_progress event = {task, done, total};
    if (ctx->progress(ctx->progress_arg, &event)) return XB_OK;
    if (comm) XB_TRY(comm->look(ctx, comm, true));
    return xb_fail(ctx, XB_E_CANCELLED, "stopped on request while %s", task);
}
