/* failalloc.h: memory that runs out where a test wants it to. The program is
 * linked with --wrap=malloc,--wrap=calloc,--wrap=realloc (tests/CMakeLists.txt).
 *
 *     for (int k = 0; fail_alloc_after(k); k++) {
 *         xb_status status = call();
 *         if (!fail_alloc_happened()) { it worked with k allocations; break; }
 *     }
 */
#ifndef FAILALLOC_H
#define FAILALLOC_H

#include <stdbool.h>
#include <stddef.h>

static int fail_alloc_left = -1; /* -1: never fails */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static bool fail_alloc_now(void)
{
    return fail_alloc_left >= 0 && fail_alloc_left-- == 0;
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

static inline bool fail_alloc_after(int allocations)
{
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

#endif
