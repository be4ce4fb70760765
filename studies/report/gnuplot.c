/* gnuplot.c: runs gnuplot and reports its errors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "report/figure.h"

enum { COMPLAINT_MAX = 4096 };

/* The last line with any text, without leading blanks. */
static const char *last_words(char *text)
{
    const char *last = "it printed no reason";
    for (char *line = text; *line;) {
        line += strspn(line, " \t\r\n");
        if (*line) last = line;
        line += strcspn(line, "\n");
        if (*line) *line++ = '\0';
    }
    return last;
}

xb_status xb_gnuplot_run(xb_ctx *ctx, const char *dir, const char *script,
                         const char *format)
{
    char setting[32], complaint[COMPLAINT_MAX];
    snprintf(setting, sizeof setting, "format='%s'", format);
    char program[] = "gnuplot", plain[] = "-d", set[] = "-e";
    char *argv[] = {program, plain, set, setting, (char *)(uintptr_t)script, NULL};
    const int code = xb_os_run(complaint, sizeof complaint, dir, argv);
    if (code == 0) return XB_OK;
    if (code > 0)
        return xb_fail(ctx, XB_E_IO, "gnuplot failed: %s", last_words(complaint));
    if (errno == ENOENT)
        return xb_fail(ctx, XB_E_IO,
                       "gnuplot was not found; figures need it (Debian: gnuplot-nox)");
    return xb_fail(ctx, XB_E_IO, "gnuplot did not start: %s", strerror(errno));
}
