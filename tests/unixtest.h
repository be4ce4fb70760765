/* unixtest.h: pipes, links, permissions and locales, which Windows and WebAssembly do not
 * have in this form. A test that needs them begins with UNIX_ONLY, which says that it is
 * skipped there and why; a part of a test asks ON_UNIX. */
#ifndef UNIXTEST_H
#define UNIXTEST_H

#include <errno.h>

#include "xbtest.h"

#if defined(_WIN32) || defined(__EMSCRIPTEN__)
enum { ON_UNIX = 0 };
#else
#include <sys/stat.h>
enum { ON_UNIX = 1 };
#endif

#define UNIX_ONLY(why)                                                                   \
    do {                                                                                 \
        if (ON_UNIX) break;                                                              \
        print_message("skipped: %s: %s\n", __func__, why);                               \
        skip();                                                                          \
    } while (0)

/* So that what is never called there compiles. */
#if defined(_WIN32)
static inline int no_such_call(void)
{
    errno = ENOSYS;
    return -1;
}
#define mkfifo(path, mode) no_such_call()
#define symlink(from, to) no_such_call()
#define link(from, to) no_such_call()
#define pipe(ends) (ends[0] = ends[1] = no_such_call())
#define geteuid() 0 /* files have no mode to test */
#define setenv(name, value, replace) no_such_call()
#define unsetenv(name) no_such_call()
#elif defined(__EMSCRIPTEN__)
#include <sys/stat.h>
#endif

#endif
