/* gnuplot.c: finding and running gnuplot. The child gets its arguments as they
 * are (no shell), /dev/null as input, and its complaints come back by a pipe. */
#define _GNU_SOURCE /* pipe2, addchdir_np, environ */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/figure.h"

enum { COMPLAINT_MAX = 4096 };

/* Child: input from nowhere, both outputs into the pipe, working in `dir`. */
static int prepare(posix_spawn_file_actions_t *actions, const char *dir,
                   const int ends[2])
{
    int e = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!e) e = posix_spawn_file_actions_adddup2(actions, ends[1], 1);
    if (!e) e = posix_spawn_file_actions_adddup2(actions, ends[1], 2);
    if (!e) e = posix_spawn_file_actions_addchdir_np(actions, dir);
    return e;
}

static int spawn(pid_t *pid, const char *dir, const char *script, const char *format,
                 const int ends[2])
{
    char setting[32];
    snprintf(setting, sizeof setting, "format='%s'", format);
    char program[] = "gnuplot", plain[] = "-d", set[] = "-e";
    char *argv[] = {program, plain, set, setting, (char *)(uintptr_t)script, NULL};
    posix_spawn_file_actions_t actions;
    int e = posix_spawn_file_actions_init(&actions);
    if (e) return e;
    e = prepare(&actions, dir, ends);
    if (!e) e = posix_spawnp(pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return e;
}

/* Reads to the end, keeps the last part. */
static void read_complaint(int fd, char out[COMPLAINT_MAX])
{
    size_t used = 0;
    for (;;) {
        if (used == COMPLAINT_MAX - 1) { /* keep the newer half */
            memmove(out, out + used / 2, used - used / 2);
            used -= used / 2;
        }
        ssize_t got = read(fd, out + used, COMPLAINT_MAX - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    out[used] = '\0';
}

/* The last line that says something, without its blanks. */
static const char *last_words(char *text)
{
    const char *last = "it said nothing";
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        line += strspn(line, " \t\r");
        if (*line) last = line;
    }
    return last;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

xb_status xb_gnuplot_run(xb_ctx *ctx, const char *dir, const char *script,
                         const char *format)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return xb_fail(ctx, XB_E_IO, "no pipe to gnuplot: %s", strerror(errno));
    pid_t pid = -1;
    int e = spawn(&pid, dir, script, format, ends);
    close(ends[1]);
    char complaint[COMPLAINT_MAX] = "";
    if (!e) read_complaint(ends[0], complaint);
    close(ends[0]);
    if (e == ENOENT)
        return xb_fail(ctx, XB_E_IO,
                       "gnuplot was not found; figures need it (Debian: gnuplot-nox)");
    if (e) return xb_fail(ctx, XB_E_IO, "gnuplot did not start: %s", strerror(e));
    int status = wait_for(pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "gnuplot failed: %s", last_words(complaint));
}
