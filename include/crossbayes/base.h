/* crossbayes/base.h: status codes, the context, progress events.
 *
 * Every function that can fail returns an xb_status and leaves its outputs
 * untouched on failure; the detail (file, line, value) is in the context:
 *
 *     xb_ctx *ctx = NULL;
 *     if (xb_ctx_create(&ctx) != XB_OK) ...
 *     if (xb_law_parse(ctx, &law, "mtj:B=0.15,w=0.5") != XB_OK)
 *         fprintf(stderr, "%s\n", xb_ctx_message(ctx));
 *     xb_ctx_destroy(ctx);
 *
 * Options are a struct that xb_NAME_options_default() fills and the caller changes; NULL
 * in their place means the defaults, everywhere. See XB_OPTIONS for how they grow.
 *
 * Memory that a function hands to the caller (texts, columns) is freed with xb_free();
 * objects have a destroy function of their own.
 *
 * A context belongs to one thread at a time; threads that work at once have one each.
 * Objects do not depend on the context that made them: they may be used with any other
 * and may outlive it. Only xb_trace, xb_work and xb_stage belong to theirs. The library
 * keeps no other state: it has no writable globals, never prints, never exits, touches no
 * signals.
 */
#ifndef CROSSBAYES_BASE_H
#define CROSSBAYES_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define XB_API __attribute__((visibility("default")))
#else
#define XB_API
#endif

#define XB_VERSION_STRING "1.1.0"

/* One list makes the enum, the text and the documentation. */
#define XB_STATUS_LIST(X)                                                                \
    X(XB_OK, "done")                                                                     \
    X(XB_E_ARGUMENT, "an argument is outside its range")                                 \
    X(XB_E_INPUT, "a file or a text is not what was expected")                           \
    X(XB_E_IO, "a file could not be written")                                            \
    X(XB_E_MEMORY, "not enough memory")                                                  \
    X(XB_E_NUMERIC, "a computation did not reach a usable result")                       \
    X(XB_E_CANCELLED, "stopped on request")                                              \
    X(XB_E_ELSEWHERE, "another process has the results")

typedef enum xb_status {
#define XB_STATUS_ENUM(name, text) name,
    XB_STATUS_LIST(XB_STATUS_ENUM)
#undef XB_STATUS_ENUM
} xb_status;

/* One sentence per status; never NULL. */
XB_API const char *xb_status_text(xb_status status);
XB_API const char *xb_version(void);

/* The version, and a hash of the sources, the compiler and the flags that this library
 * was built with. Two libraries with the same text give the same results. */
XB_API const char *xb_build_id(void);

typedef struct xb_ctx xb_ctx;

/* Fails only with XB_E_MEMORY; there is then no context and no message. */
XB_API xb_status xb_ctx_create(xb_ctx **out);
XB_API void xb_ctx_destroy(xb_ctx *ctx); /* NULL is fine */

/* Frees memory that the library handed to the caller; NULL is fine. */
XB_API void xb_free(void *memory);

/* How options grow. Their first field is the size of the caller's struct, and later
 * versions of the library add fields at the end only. So a program built with older
 * headers gets the defaults of fields it does not know, and one built with newer headers
 * is refused if it sets a field that the library does not know. Options that were not
 * filled by xb_NAME_options_default() are refused, because a literal has no size. Do not
 * change struct_size.
 *
 * Values inside options (xb_shape, xb_prior, xb_schedule, xb_adam_options) are frozen:
 * they never grow, because the fields after them would move. A struct that may grow is a
 * pointer inside the options (xb_assay_options.analog).
 *
 * _init is exported for bindings: it fills at most `size` bytes.
 * _default is compiled into the caller, and so knows the caller's size. */
#define XB_OPTIONS(name)                                                                 \
    XB_API void xb_##name##_options_init(xb_##name##_options *opt, size_t size);         \
    static inline xb_##name##_options xb_##name##_options_default(void)                  \
    {                                                                                    \
        xb_##name##_options opt;                                                         \
        xb_##name##_options_init(&opt, sizeof opt);                                      \
        return opt;                                                                      \
    }                                                                                    \
    struct xb_##name##_options

/* The last error as one line, "" if there was none. Valid until the next call that fails
 * with this context. */
XB_API const char *xb_ctx_message(const xb_ctx *ctx);

/* Threads used by parallel loops; 0 (the default) or less means one per core. Results
 * are the same bytes for every value. Threads are started for a loop and end with it; the
 * calling thread is one of them, and does all the work if no other can be started.
 * Signals are left to the calling thread. */
XB_API void xb_ctx_set_threads(xb_ctx *ctx, int64_t threads);
XB_API int64_t xb_ctx_threads(const xb_ctx *ctx);

/* The backend for every call whose options name none: "cpu" (the default), "cuda" or
 * "auto", see crossbayes/net.h. The name is copied. Whether the machine has that backend
 * is checked when it is first used. */
XB_API void xb_ctx_set_backend(xb_ctx *ctx, const char *name);
XB_API const char *xb_ctx_backend(const xb_ctx *ctx); /* NULL: none was set */

/* Provenance that results carry: the command line, or any text. It is copied; control
 * characters become blanks. */
XB_API void xb_ctx_set_origin(xb_ctx *ctx, const char *origin);
XB_API const char *xb_ctx_origin(const xb_ctx *ctx);

/* Progress: long work calls `fn` from time to time, from one thread at a time. A
 * return value of false asks the work to stop; it then fails with
 * XB_E_CANCELLED and leaves nothing half-written. */
/* A frozen value. */ typedef struct xb_progress {
    const char *task; /* what is being done, e.g. "reading noise.csv" */
    int64_t done;     /* work done so far, in units of the task */
    int64_t total;    /* 0 if unknown */
} xb_progress;

typedef bool (*xb_progress_fn)(void *arg, const xb_progress *event);

XB_API void xb_ctx_set_progress(xb_ctx *ctx, xb_progress_fn fn, void *arg);

/* Notices tell the user about side effects of a call, e.g. where decoded images were
 * kept. `fn` gets one sentence without a newline, from one thread at a time. */
typedef void (*xb_notice_fn)(void *arg, const char *sentence);

XB_API void xb_ctx_set_notice(xb_ctx *ctx, xb_notice_fn fn, void *arg);

/* Returns `one` if n is 1, else `many`: "1 row", "2 rows". */
XB_API const char *xb_plural(int64_t n, const char *one, const char *many);

/* For "did you mean": the index, among `count` names, of the one that `word` was probably
 * meant to be. Either at most a third of its letters are wrong (missing, added, replaced,
 * or swapped with a neighbour), or `word` is the beginning of the name. -1: none. */
XB_API int64_t xb_nearest(const char *word, const char *const *names, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
