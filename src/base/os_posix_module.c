/* os_posix_module.c: see os_module.h. The system counts how often a module was opened, so
 * asking again costs a few microseconds and nothing has to be remembered here. */
#define _GNU_SOURCE /* dladdr */
#include "base/os_module.h"

#if defined(__wasm__)

xb_status xb_module_find(xb_ctx *ctx, xb_module_symbol *out, const char *file,
                         const char *symbol, const char *path)
{
    (void)out, (void)symbol, (void)path;
    return xb_fail(ctx, XB_E_ARGUMENT, "%s cannot be loaded on this system", file);
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PATH_LENGTH = 4096 };

static void *open_file(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static bool has_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

/* Where this code itself is: the program's folder, or the shared library's. */
static bool beside(char path[PATH_LENGTH], const char *between, const char *file)
{
    Dl_info here;
    if (dladdr((const void *)xb_status_text(XB_OK), &here) == 0 || !here.dli_fname)
        return false;
    const char *slash = strrchr(here.dli_fname, '/');
    if (!slash) return false;
    int length = snprintf(path, PATH_LENGTH, "%.*s%s/%s", (int)(slash - here.dli_fname),
                          here.dli_fname, between, file);
    return length > 0 && length < PATH_LENGTH && has_file(path);
}

/* Beside us, in the libraries' folder next to the program's, or where the system looks.
 */
static void *open_module(const char *file, const char *path)
{
    char place[PATH_LENGTH];
    if (path) return open_file(path);
    if (beside(place, "", file) || beside(place, "/../lib", file))
        return open_file(place);
    return open_file(file);
}

xb_status xb_module_find(xb_ctx *ctx, xb_module_symbol *out, const char *file,
                         const char *symbol, const char *path)
{
    void *module = open_module(file, path);
    if (!module)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s cannot be loaded: %s", path ? path : file,
                       dlerror());
    void *found = dlsym(module, symbol);
    if (!found)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s is no module of crossbayes: it lacks %s",
                       path ? path : file, symbol);
    memcpy(out, &found, sizeof *out); /* POSIX: a function's address is an object's */
    return XB_OK;
}

#endif
