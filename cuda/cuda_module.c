/* cuda_module.c: the backend object on a GPU, and the one function that the library
 * calls to get it. Operations run in the order of the calls on one stream of the
 * device; if a number comes back, the host waits for it. */
#include "cuda_module.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const xb_module_host *xbc_host;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void xbc_enter(void) { pthread_mutex_lock(&lock); }
void xbc_leave(void) { pthread_mutex_unlock(&lock); }

/* ---- memory */

static xb_status failed(xb_ctx *ctx, const char *why)
{
    xbc_host->note(ctx, "the GPU failed while %s", why);
    return XB_E_NUMERIC;
}

static xb_status take(const xb_backend *b, xb_ctx *ctx, void **out, int64_t bytes)
{
    (void)b;
    void *p;
    const char *why;
    XBC_INSIDE(p = xbc_take((size_t)bytes); why = xbc_error());
    if (why) return failed(ctx, why);
    if (!p) {
        xbc_host->note(ctx, "the GPU has no %lld bytes of memory left", (long long)bytes);
        return XB_E_MEMORY;
    }
    *out = p;
    return XB_OK;
}

static void release(const xb_backend *b, void *buffer)
{
    (void)b;
    XBC_INSIDE(xbc_release(buffer));
}

static void put(const xb_backend *b, void *to, const void *host, int64_t bytes)
{
    (void)b;
    XBC_INSIDE(xbc_put(to, host, (size_t)bytes));
}

static void put_beside(const xb_backend *b, void *to, const void *host, int64_t bytes)
{
    (void)b;
    XBC_INSIDE(xbc_put_beside(to, host, (size_t)bytes));
}

/* After an error there are no numbers, so the result is zeros; `check` reports the
 * error. */
static void get(const xb_backend *b, void *host, const void *from, int64_t bytes)
{
    (void)b;
    XBC_INSIDE(xbc_get(host, from, (size_t)bytes);
               if (xbc_error() && bytes > 0) memset(host, 0, (size_t)bytes));
}

static void copy(const xb_backend *b, void *to, const void *from, int64_t bytes)
{
    (void)b;
    XBC_INSIDE(xbc_copy(to, from, (size_t)bytes));
}

static void clear(const xb_backend *b, void *to, int64_t bytes)
{
    (void)b;
    XBC_INSIDE(xbc_clear(to, (size_t)bytes));
}

static void fill(const xb_backend *b, xb_real *to, xb_real value, int64_t n)
{
    (void)b;
    XBC_INSIDE(xbc_fill(to, value, n));
}

static void gather(const xb_backend *b, void *to, const void *from, const int32_t *row,
                   int64_t rows, int64_t bytes)
{
    (void)b;
    XBC_INSIDE(xbc_gather(to, from, row, rows, bytes));
}

static void pixels(const xb_backend *b, xb_real *to, const uint8_t *from,
                   const int32_t *row, int64_t rows, xb_shape shape)
{
    (void)b;
    XBC_INSIDE(xbc_pixels(to, from, row, rows, shape.h, shape.w, shape.c));
}

static xb_status check(const xb_backend *b, xb_ctx *ctx)
{
    (void)b;
    const char *why;
    XBC_INSIDE(xbc_wait(); why = xbc_error());
    return why ? failed(ctx, why) : XB_OK;
}

/* ---- sources of draws */

enum { SOURCES = 8 }; /* sources that are kept on the device */

typedef struct kept_source {
    uint64_t identity;
    xbc_source source; /* at: NULL if there is none */
} kept_source;

static kept_source kept[SOURCES];
static int oldest;

static void forget(kept_source *k)
{
    xbc_source_leave(&k->source);
    k->identity = 0;
}

xbc_source xbc_source_of(const xb_sampler *sampler)
{
    const xb_draw_source *from = xbc_host->source(sampler);
    for (int i = 0; i < SOURCES; i++)
        if (kept[i].source.at && kept[i].identity == from->identity)
            return kept[i].source;
    kept_source *k = &kept[oldest];
    oldest = (oldest + 1) % SOURCES;
    forget(k);
    if (xbc_source_bring(&k->source, from))
        k->identity = from->identity;
    else
        xbc_fail("taking memory for a law's tables");
    return k->source;
}

/* ---- the object */

static const xb_backend backend = {
    .check = check,
    .take = take,
    .release = release,
    .put = put,
    .get = get,
    .put_beside = put_beside,
    .copy = copy,
    .clear = clear,
    .fill = fill,
    .gather = gather,
    .pixels = pixels,
    .dense = &xbc_dense,
    .conv = &xbc_conv,
    .maxpool = &xbc_maxpool_ops,
    .batchnorm = &xbc_batchnorm,
    .activation = &xbc_activation,
    .flatten = &xbc_flatten,
    .block = &xbc_block_ops,
    .norm_block = &xbc_norm_block_ops,
    .stack = &xbc_stack_ops,
    .array = &xbc_array,
    .draw = xbc_op_draw,
    .stream = xbc_op_stream,
    .steps_room = xbc_op_steps_room,
    .steps = xbc_op_steps,
    .draws_suit = xbc_op_draws_suit,
    .draws = xbc_op_draws,
    .more_losses = true,
    .loss = xbc_op_loss,
    .finite = xbc_op_finite,
    .squares_finite = xbc_op_squares_finite,
    .adam = xbc_op_adam,
    .spread_fill = xbc_op_spread_fill,
    .spread_chain = xbc_op_spread_chain,
    .kl = xbc_op_kl,
};

static bool agrees(const xb_module_host *host)
{
    const xb_module_layout layout = XB_MODULE_LAYOUT;
    return host->struct_size == sizeof *host && host->version == XB_MODULE_VERSION &&
           memcmp(&host->layout, &layout, sizeof layout) == 0;
}

/* The device is opened once. */
static bool opened(char why[XBC_TEXT])
{
    static bool open;
    bool is_open;
    XBC_INSIDE(is_open = open = open || xbc_open(why));
    return is_open;
}

__attribute__((visibility("default"))) xb_status xb_backend_module(
    xb_ctx *ctx, const xb_backend **out, const xb_module_host *host);

xb_status xb_backend_module(xb_ctx *ctx, const xb_backend **out,
                            const xb_module_host *host)
{
    char why[XBC_TEXT];
    if (!agrees(host)) { /* what it calls `note` may be elsewhere, so nothing is
                            reported */
        return XB_E_ARGUMENT;
    }
    xbc_host = host;
    if (!opened(why)) {
        host->note(ctx, "there is no GPU to use: %s", why);
        return XB_E_ARGUMENT;
    }
    XB_TRY(check(&backend, ctx));
    *out = &backend;
    return XB_OK;
}
