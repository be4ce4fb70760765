/* backend_open.c: a backend for who asked for one by name: the host's, or a module's that
 * is loaded now. What is missing is said in one line. */
#include <stdlib.h>
#include <string.h>

#include "backend/module.h"
#include "base/os_module.h"
#include "draw/kernel.h"

static const char CUDA_FILE[] = "libcrossbayes-cuda.so";
static const char CUDA_PATH[] = "CROSSBAYES_CUDA"; /* of the environment: another file */

static const xb_module_host HOST = {
    .struct_size = sizeof HOST,
    .version = XB_MODULE_VERSION,
    .layout = XB_MODULE_LAYOUT,
    .note = xb_note,
    .source = xb_sampler_source,
};

static xb_status open_cuda(xb_ctx *ctx, const xb_backend **out)
{
    char why[XB_MESSAGE_MAX / 2];
    const char *path = getenv(CUDA_PATH);
    xb_os_symbol symbol = xb_os_module(CUDA_FILE, path, XB_MODULE_ENTRY, why, sizeof why);
    if (!symbol)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s cannot be loaded: %s",
                       path ? path : CUDA_FILE, why);
    xb_note(ctx, "%s is of another version than this library", CUDA_FILE);
    return ((xb_module_fn)symbol)(ctx, out, &HOST); /* says itself what else is wrong */
}

const char *xb_backend_chosen(const xb_ctx *ctx, const char *name)
{
    if (!name && ctx && ctx->backend[0]) name = ctx->backend;
    return name && strcmp(name, "auto") != 0 ? name : "cpu";
}

xb_status xb_backend_open(xb_ctx *ctx, const xb_backend **out, const char *name)
{
    name = xb_backend_chosen(ctx, name);
    if (strcmp(name, "cuda") == 0) return open_cuda(ctx, out);
    const xb_backend *found = xb_backend_find(name);
    if (!found)
        return xb_fail(ctx, XB_E_ARGUMENT, "there is no backend '%s' on this machine",
                       name);
    *out = found;
    return XB_OK;
}
