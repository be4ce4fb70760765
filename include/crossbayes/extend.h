/* crossbayes/extend.h: helpers that the library itself uses, for libraries and bindings
 * built on it that should behave in the same way: errors go to the context, allocations
 * are checked, and parallel loops give the same bytes for any number of threads.
 * libcrossbayes-studies is such a library.
 *
 *     xb_status scale_make(xb_ctx *ctx, double **out, int64_t n)
 *     {
 *         if (n < 1) return xb_fail(ctx, XB_E_ARGUMENT, "n is %lld, expected 1 or more",
 *                                   (long long)n);
 *         XB_TRY(xb_progress_tell(ctx, "making scales", 0, n));
 *         double *x = xb_new(ctx, n, sizeof *x);
 *         if (!x) return XB_E_MEMORY;
 *         ...
 */
#ifndef CROSSBAYES_EXTEND_H
#define CROSSBAYES_EXTEND_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__MINGW32__) && !defined(__clang__)
#define XB_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define XB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define XB_PRINTF(text, first)
#endif

/* Largest sizes in bytes of a context's message, of its origin and of a notice. */
enum { XB_MESSAGE_MAX = 1024, XB_ORIGIN_MAX = 1024, XB_NOTICE_MAX = 8192 };

/* ---- errors */

/* Records the message (one line: control characters become blanks). ctx may be
 * NULL. */
XB_API void xb_note(xb_ctx *ctx, const char *format, ...) XB_PRINTF(2, 3);

/* Records the message and returns `status`. It is a macro so that compilers and analysers
 * see that a failure is not XB_OK. */
#define xb_fail(ctx, status, ...) (xb_note((ctx), __VA_ARGS__), xb_failure(status))
static inline xb_status xb_failure(xb_status status) { return status; }

#define XB_TRY(expr)                                                                     \
    do {                                                                                 \
        xb_status xb_try_status_ = (expr);                                               \
        if (xb_try_status_ != XB_OK) return xb_try_status_;                              \
    } while (0)

#define XB_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Calls the context's progress function. Returns XB_OK, or XB_E_CANCELLED if the function
 * asked to stop. ctx may be NULL. */
XB_API xb_status xb_progress_tell(xb_ctx *ctx, const char *task, int64_t done,
                                  int64_t total);

/* Passes one sentence to the context's notice function (control characters become
 * blanks). ctx may be NULL. */
XB_API void xb_notice_tell(xb_ctx *ctx, const char *format, ...) XB_PRINTF(2, 3);

/* The function that xb_ctx_set_progress() set, and its argument, so that work made of
 * several parts can install its own and restore the old one. NULL: none. */
XB_API xb_progress_fn xb_ctx_progress(const xb_ctx *ctx, void **arg);

/* ---- memory; free with xb_free() */

/* Zeroed memory for `count` items; NULL, with the reason in ctx, if the product overflows
 * or memory has run out. count = 0 gives a valid pointer. */
XB_API void *xb_new(xb_ctx *ctx, int64_t count, size_t item);

/* Grows *block (of *capacity items) to hold at least `need` items and keeps its contents.
 */
XB_API xb_status xb_grow(xb_ctx *ctx, void **block, int64_t *capacity, int64_t need,
                         size_t item);

/* A copy of the text; NULL on failure, with the reason in ctx. */
XB_API char *xb_strdup(xb_ctx *ctx, const char *text);

/* ---- options that may grow (crossbayes/base.h, XB_OPTIONS)
 *
 *     void xb_thing_options_init(xb_thing_options *opt, size_t size)
 *     {
 *         const xb_thing_options standard = {.seed = 1};
 *         xb_options_fill(opt, size, &standard, sizeof standard);
 *     }
 *
 *     xb_thing_options chosen;
 *     XB_TRY(XB_OPTIONS_READ(ctx, thing, &chosen, opt, seed));
 */

/* Fills a caller's struct of `size` bytes from the library's defaults of `own` bytes,
 * fills the rest with 0, and sets its struct_size. */
XB_API void xb_options_fill(void *opt, size_t size, const void *standard, size_t own);

/* Copies the caller's options into `out`, which holds the defaults; opt NULL leaves the
 * defaults. XB_E_ARGUMENT if the options are smaller than `first`, the size of their
 * first version, which means that they were never initialised, or if they set a field
 * that `out` does not have. */
XB_API xb_status xb_options_read(xb_ctx *ctx, void *out, size_t own, size_t first,
                                 const void *opt, const char *name);

/* Sets *out to the defaults overridden by the caller's options; `last` is the last field
 * of the options' first version. */
#define XB_OPTIONS_READ(ctx, name, out, opt, last)                                       \
    (*(out) = xb_##name##_options_default(),                                             \
     xb_options_read((ctx), (out), sizeof *(out),                                        \
                     offsetof(xb_##name##_options, last) + sizeof(out)->last, (opt),     \
                     #name))

/* ---- a loop over independent pieces
 *
 * The caller divides the work into pieces whose bounds do not depend on the number of
 * threads, and adds partial results in the order of the pieces; then the bytes are the
 * same for any number of threads. */

typedef void (*xb_piece_fn)(void *arg, int64_t piece);

/* Calls body(arg, p) for 0 <= p < pieces, each exactly once and in any order, on the
 * calling thread and up to xb_ctx_threads(ctx) - 1 others (fewer if they cannot be
 * started). A body may run a loop of its own, with its own threads. */
XB_API void xb_parallel_for(const xb_ctx *ctx, int64_t pieces, xb_piece_fn body,
                            void *arg);

/* ---- a product of matrices
 *
 * C = A B + bias in float32, with the kernels that the library's own layers use. C does
 * not overlap the others. Every element is a sum of its own in an order that depends on
 * the sizes alone, so the bytes are the same for any number of threads. Frozen. */
typedef struct xb_product {
    float *c;          /* [m][n], rows c_row apart */
    const float *a;    /* [m][k]: element (i, k) is a[i * a_row + k * a_step] */
    const float *b;    /* [k][n], or [n][k] if transposed; rows b_row apart */
    const float *bias; /* [n]; NULL: 0 */
    int64_t m, n, k;   /* 0 or more */
    int64_t c_row, a_row, a_step, b_row;
    bool b_is_transposed;
} xb_product;

XB_API void xb_product_run(const xb_ctx *ctx, const xb_product *p);

/* ---- order, checksums, texts */

/* Sorts in ascending order; there must be no NaN. This is a radix sort, O(n), which needs
 * memory for a copy. */
XB_API xb_status xb_sort_doubles(xb_ctx *ctx, double *x, int64_t n);

/* A 64-bit hash of any number of bytes, the same on every machine; `seed` chains hashes.
 * Every bit of the result depends on every byte. It is not secure against an adversary.
 */
XB_API uint64_t xb_hash_bytes(uint64_t seed, const void *bytes, size_t size);

/* Chains the hash of a file's bytes to *hash, and returns the number of bytes. */
XB_API xb_status xb_file_hash(xb_ctx *ctx, uint64_t *hash, int64_t *bytes,
                              const char *path);

/* Whether the text is UTF-8, without overlong forms, surrogates or code points beyond
 * U+10FFFF. */
XB_API bool xb_utf8_valid(const char *text);
/* The number of bytes of the first character; 0 if it is not valid or the text is empty.
 */
XB_API int64_t xb_utf8_size(const char *text);

#ifdef __cplusplus
}
#endif
#endif
