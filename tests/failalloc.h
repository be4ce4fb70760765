/* failalloc.h: makes memory run out at a chosen allocation. The program is
 * linked with --wrap=malloc,--wrap=calloc,--wrap=realloc (tests/CMakeLists.txt).
 *
 *     for (int k = 0; fail_alloc_after(k); k++) {
 *         xb_status status = call(&out);
 *         bool failed = fail_alloc_happened();
 *         assert_ran_out(ctx, failed, status, out, k);
 *         check `out` where there is one, free it
 *         if (!failed) break;
 *     }
 */
#ifndef FAILALLOC_H
#define FAILALLOC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <jansson.h>

static int fail_alloc_left = -1; /* -1: never fails */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static bool fail_alloc_now(void)
{
    const bool now = fail_alloc_left >= 0 && fail_alloc_left-- == 0;
    if (now) errno = ENOMEM; /* where the C library is linked in, it asks */
    return now;
}

void *__wrap_malloc(size_t size) { return fail_alloc_now() ? NULL : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size)
{
    return fail_alloc_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fail_alloc_now() ? NULL : __real_realloc(block, size);
}

/* Whether jansson's allocations fail as well, where a test sets it. Its reader loses
 * bytes of a text then, so only writers can be tested in this way. */
static bool fail_alloc_in_json;

static inline bool fail_alloc_after(int allocations)
{
    json_set_alloc_funcs(fail_alloc_in_json ? __wrap_malloc : __real_malloc, free);
    fail_alloc_left = allocations;
    return true;
}

/* Also ends the failing. */
static inline bool fail_alloc_happened(void)
{
    bool happened = fail_alloc_left == -1;
    fail_alloc_left = -1;
    return happened;
}

/* What a call may do if an allocation failed: report that memory ran out and return
 * nothing, or do without that block, and then `out` must be as usual. A call without a
 * failure must work, and at least one allocation must have failed before it. */
#define assert_ran_out(ctx, failed, status, out, k)                                      \
    do {                                                                                 \
        if (!(failed)) assert_ok(ctx, status);                                           \
        if (!(failed) && (k) == 0) fail_msg("nothing was allocated, nothing tested");    \
        if ((failed) && (status) != XB_OK && (status) != XB_E_MEMORY)                    \
            fail_msg("allocation %d failed: %s", (int)(k), xb_ctx_message(ctx));         \
        if ((failed) && (status) != XB_OK) assert_null(out);                             \
        if ((status) == XB_OK) assert_non_null(out);                                     \
    } while (0)

#endif
