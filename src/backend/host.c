/* host.c: the table of the host's operations, and its buffers, which are plain memory. */
#include <stdlib.h>
#include <string.h>

#include "backend/chain.h"
#include "backend/host.h"
#include "base/memory.h"

enum { LINE = 64 }; /* bytes: a cache line, a vector register */

/* The address of the allocated block is stored directly before the buffer. */
static xb_status host_take(const xb_backend *b, xb_ctx *ctx, void **out, int64_t bytes)
{
    (void)b;
    const int64_t more = LINE + (int64_t)sizeof(void *);
    char *block = bytes <= INT64_MAX - more ? xb_new(ctx, bytes + more, 1) : NULL;
    if (!block) return XB_E_MEMORY;
    uintptr_t least = (uintptr_t)block + sizeof(void *);
    void **buffer = (void **)((least + LINE - 1) / LINE * LINE);
    buffer[-1] = block;
    *out = buffer;
    return XB_OK;
}

static void host_release(const xb_backend *b, void *buffer)
{
    (void)b;
    if (buffer) free(((void **)buffer)[-1]);
}

static void host_copy(const xb_backend *b, void *to, const void *from, int64_t bytes)
{
    (void)b;
    if (bytes > 0) memcpy(to, from, (size_t)bytes);
}

static void host_put(const xb_backend *b, void *to, const void *host, int64_t bytes)
{
    host_copy(b, to, host, bytes);
}

static void host_get(const xb_backend *b, void *host, const void *from, int64_t bytes)
{
    host_copy(b, host, from, bytes);
}

static void host_clear(const xb_backend *b, void *to, int64_t bytes)
{
    (void)b;
    if (bytes > 0) memset(to, 0, (size_t)bytes);
}

static void host_fill(const xb_backend *b, xb_real *to, xb_real value, int64_t n)
{
    (void)b;
    for (int64_t i = 0; i < n; i++) to[i] = value;
}

/* Rows of one number are what small nets have. */
static void host_gather(const xb_backend *b, void *to, const void *from,
                        const int32_t *row, int64_t rows, int64_t bytes)
{
    (void)b;
    if (bytes == sizeof(uint32_t))
        for (int64_t i = 0; i < rows; i++)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[row[i]];
    else
        for (int64_t i = 0; i < rows; i++)
            memcpy((char *)to + i * bytes, (const char *)from + row[i] * bytes,
                   (size_t)bytes);
}

const xb_backend xb_backend_host = {
    .host = true,
    .take = host_take,
    .release = host_release,
    .put = host_put,
    .get = host_get,
    .copy = host_copy,
    .clear = host_clear,
    .fill = host_fill,
    .gather = host_gather,
    .dense = &xb_ops_dense,
    .conv = &xb_ops_conv,
    .maxpool = &xb_ops_maxpool,
    .batchnorm = &xb_ops_batchnorm,
    .activation = &xb_ops_activation,
    .flatten = &xb_ops_flatten,
    .block = &xb_ops_block,
    .norm_block = &xb_ops_norm_block,
    .chain_suits = xb_chain_suits,
    .chain_scratch = xb_chain_scratch,
    .chain_forward = xb_chain_forward,
    .chain_step = xb_chain_step,
    .draw = xb_host_draw,
    .moved = xb_host_moved,
    .array = &xb_ops_array,
    .more_losses = true,
    .loss = xb_host_loss,
    .finite = xb_host_finite,
    .squares_finite = xb_host_squares_finite,
    .adam = xb_host_adam,
    .spread_fill = xb_host_spread_fill,
    .cells_fill = xb_host_cells_fill,
    .cells_chain = xb_host_cells_chain,
    .rounding = &xb_ops_rounding,
    .written = xb_host_written,
    .spread_chain = xb_host_spread_chain,
    .kl = xb_host_kl,
};
