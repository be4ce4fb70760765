/* ctx.h: what a context holds, and how a function fails.
 *
 *     if (n < 1) return xb_fail(ctx, XB_E_ARGUMENT, "n is %d, expected 1 or more", n);
 *     XB_TRY(xb_law_load(ctx, &law, path));
 */
#ifndef XB_BASE_CTX_H
#define XB_BASE_CTX_H

#include "crossbayes/base.h"

enum { XB_MESSAGE_MAX = 1024, XB_ORIGIN_MAX = 1024 };

typedef struct xb_files xb_files; /* see base/files.h */

struct xb_ctx {
    char message[XB_MESSAGE_MAX];
    char origin[XB_ORIGIN_MAX];
    int threads; /* 0: one per core */
    xb_progress_fn progress;
    void *progress_arg;
    xb_files *files; /* read and written; never NULL */
};

/* Records the message (one line: control characters become blanks). ctx may be
 * NULL. */
void xb_note(xb_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records the message and returns `status`: in the caller's sight, so that compilers
 * and analysers know that a failure is not XB_OK. */
#define xb_fail(ctx, status, ...) (xb_note((ctx), __VA_ARGS__), xb_failure(status))
static inline xb_status xb_failure(xb_status status) { return status; }

/* XB_OK, or XB_E_CANCELLED when the listener asked to stop. */
xb_status xb_progress_tell(xb_ctx *ctx, const char *task, int64_t done, int64_t total);

#define XB_TRY(expr)                                                                     \
    do {                                                                                 \
        xb_status xb_try_status_ = (expr);                                               \
        if (xb_try_status_ != XB_OK) return xb_try_status_;                              \
    } while (0)

#define XB_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
