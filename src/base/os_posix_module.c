/* os_posix_module.c: see os_module.h. The system counts how often a module was opened, so
 * opening it again costs a few microseconds and no state is needed here. */
#define _GNU_SOURCE /* dladdr */
#include "base/os_module.h"

#include <stdio.h>

#if defined(__wasm__)

xb_os_symbol xb_os_module(const char *file, const char *path, const char *symbol,
                          char *why, size_t size)
{
    (void)file, (void)path, (void)symbol;
    snprintf(why, size, "not on this system");
    return NULL;
}

#else

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

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

/* The file of this code itself: the program, or the shared library. A program that was
 * found in PATH has no folder in its name; then Linux knows the file. */
static bool own_file(char path[PATH_LENGTH])
{
    static const char here_somewhere;
    Dl_info here;
    if (dladdr(&here_somewhere, &here) == 0 || !here.dli_fname) return false;
    if (strchr(here.dli_fname, '/'))
        return snprintf(path, PATH_LENGTH, "%s", here.dli_fname) < PATH_LENGTH;
    const ssize_t length = readlink("/proc/self/exe", path, PATH_LENGTH - 1);
    if (length < 0) return false;
    path[length] = '\0';
    return strchr(path, '/') != NULL;
}

static bool beside(char path[PATH_LENGTH], const char *between, const char *file)
{
    char own[PATH_LENGTH];
    if (!own_file(own)) return false;
    const int folder = (int)(strrchr(own, '/') - own);
    int length = snprintf(path, PATH_LENGTH, "%.*s%s/%s", folder, own, between, file);
    return length > 0 && length < PATH_LENGTH && has_file(path);
}

/* Looks beside this code, in the library folder next to the program's, and in the
 * system's folders.
 */
static void *open_module(const char *file, const char *path)
{
    char place[PATH_LENGTH];
    if (path) return open_file(path);
    if (beside(place, "", file) || beside(place, "/../lib", file))
        return open_file(place);
    return open_file(file);
}

xb_os_symbol xb_os_module(const char *file, const char *path, const char *symbol,
                          char *why, size_t size)
{
    xb_os_symbol function = NULL;
    void *module = open_module(file, path),
         *found = module ? dlsym(module, symbol) : NULL;
    if (!module)
        snprintf(why, size, "%s", dlerror());
    else if (!found)
        snprintf(why, size, "it lacks %s", symbol);
    memcpy(&function, &found,
           sizeof found); /* POSIX: a function's address is an object's */
    return function;
}

#endif
