/* cuda_backend.c: linked with --wrap=xb_backend_find it puts the GPU module under a test:
 * every backend but `ref` is the module's, which $CROSSBAYES_CUDA names; without that the
 * test is skipped. So the tests of passes, training and prediction run on a GPU as they
 * are, or on the module as the CPU emulates it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"

enum { SKIPPED = 77 }; /* CTest's code */

const xb_backend *__real_xb_backend_find(const char *name);
const xb_backend *__wrap_xb_backend_find(const char *name);

/* Found once: a test may take all memory away later. */
static const xb_backend *cuda(void)
{
    static const xb_backend *found;
    xb_ctx *ctx = NULL;
    if (found) return found;
    if (!getenv("CROSSBAYES_CUDA")) {
        printf("skipped: CROSSBAYES_CUDA does not say where the GPU module is\n");
        exit(SKIPPED);
    }
    if (xb_ctx_create(&ctx) != XB_OK || xb_backend_open(ctx, &found, "cuda") != XB_OK) {
        fprintf(stderr, "%s\n", ctx ? xb_ctx_message(ctx) : "no memory");
        exit(1);
    }
    xb_ctx_destroy(ctx);
    return found;
}

const xb_backend *__wrap_xb_backend_find(const char *name)
{
    const xb_backend *found = __real_xb_backend_find(name);
    return found && (!name || strcmp(name, "ref") != 0) ? cuda() : found;
}
