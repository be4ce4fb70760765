/* backend_open.c: opens a backend by name: the host's, or one from a module that is
 * loaded now. If something is missing, the error says so in one line. */
#include <stdlib.h>
#include <string.h>

#include "backend/module.h"
#include "base/os_module.h"
#include "draw/kernel.h"

static const char CUDA_FILE[] = "libcrossbayes-cuda.so";
static const char CUDA_PATH[] = "CROSSBAYES_CUDA"; /* of the environment: another file */

static double host_loss(const xb_loss *loss, xb_real *dy, const xb_real *y, int64_t rows)
{
    return xb_backend_host.loss(&xb_backend_host, loss, dy, y, rows);
}

static const xb_module_host HOST = {
    .struct_size = sizeof HOST,
    .version = XB_MODULE_VERSION,
    .layout = XB_MODULE_LAYOUT,
    .note = xb_note,
    .source = xb_sampler_source,
    .loss = host_loss,
};

static xb_status open_cuda(xb_ctx *ctx, const xb_backend **out)
{
    char why[XB_MESSAGE_MAX / 2];
    const char *path = getenv(CUDA_PATH);
    xb_os_symbol symbol = xb_os_module(CUDA_FILE, path, XB_MODULE_ENTRY, why, sizeof why);
    if (!symbol)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "backend cuda: %s cannot be loaded (%s): put it beside the program or"
            " the library, or use backend cpu",
            path ? path : CUDA_FILE, why);
    xb_note(ctx, "%s belongs to another version of this library", CUDA_FILE);
    return ((xb_module_fn)symbol)(ctx, out, &HOST); /* says itself what else is wrong */
}

/* NULL: none was named. */
static const char *asked_for(const xb_ctx *ctx, const char *name)
{
    return !name && ctx && ctx->backend[0] ? ctx->backend : name;
}

const char *xb_backend_chosen(const xb_ctx *ctx, const char *name)
{
    name = asked_for(ctx, name);
    return name && strcmp(name, "auto") != 0 ? name : "cpu";
}

/* Multiply-adds of one example. */
static double work_of(const xb_net *net)
{
    double sum = 0;
    for (int i = 0; i < net->n_tensor; i++) {
        const xb_shape out = net->layer[net->tensor[i].layer].out;
        sum += (double)net->tensor[i].size * (double)out.h * (double)out.w;
    }
    return sum;
}

/* A step on a GPU is some fifty launches and ten answers, 0.5 ms, in which a CPU's core
 * does 2^23 multiply-adds with their gradients; loading CUDA takes 0.4 s, 2^34. */
static bool is_worth(const xb_ctx *ctx, const xb_net *net, double rows, xb_auto_work work)
{
    const double least = work == XB_AUTO_PASS ? 0x1p23 : 0x1p34;
    return work_of(net) * rows >= least * (double)xb_ctx_threads(ctx);
}

/* A separate context receives the reason why there is no GPU, because the caller did not
 * ask for one. */
static bool has_cuda(void)
{
    const xb_backend *found = NULL;
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return false;
    xb_status status = open_cuda(ctx, &found);
    xb_ctx_destroy(ctx);
    return status == XB_OK;
}

const char *xb_backend_for(xb_ctx *ctx, const char *name, const xb_net *net, double rows,
                           xb_auto_work work)
{
    const char *asked = asked_for(ctx, name);
    if (!asked || strcmp(asked, "auto") != 0) return name;
    if (!is_worth(ctx, net, rows, work) || !has_cuda()) return "cpu";
    xb_notice_tell(ctx, "the net runs on the GPU");
    return "cuda";
}

/* Draws that come back from a device at a time: 256 MB of them. */
enum { STREAM_DRAWS = 1 << 26 };

static xb_status fetch_draws(xb_ctx *ctx, const xb_backend *b, const xb_sampler *s,
                             float *z, int64_t n, const xb_stream *where, int64_t first)
{
    const int64_t most = n < STREAM_DRAWS ? n : STREAM_DRAWS;
    void *room = NULL;
    XB_TRY(b->take(b, ctx, &room, most * (int64_t)sizeof *z));
    for (int64_t done = 0; done < n; done += most) {
        int64_t count = n - done < most ? n - done : most;
        b->stream(b, s, room, count, where, first + done);
        b->get(b, z + done, room, count * (int64_t)sizeof *z);
    }
    b->release(b, room);
    return xb_backend_check(b, ctx);
}

xb_status xb_sampler_fill_on(xb_ctx *ctx, const char *backend, const xb_sampler *s,
                             float *z, int64_t n, const xb_stream *where, int64_t first)
{
    const xb_backend *b = NULL;
    XB_TRY(xb_backend_open(ctx, &b, backend));
    if (b->stream) return fetch_draws(ctx, b, s, z, n, where, first);
    xb_sampler_fill_parallel(ctx, s, z, n, where, first);
    return XB_OK;
}

xb_status xb_backend_open(xb_ctx *ctx, const xb_backend **out, const char *name)
{
    name = xb_backend_chosen(ctx, name);
    if (strcmp(name, "cuda") == 0) return open_cuda(ctx, out);
    const xb_backend *found = xb_backend_find(name);
    if (!found)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "unknown backend '%s', expected cpu, cuda or auto", name);
    *out = found;
    return XB_OK;
}
