/* os_posix_run.c: other programs on Linux and macOS; see os.h. The child gets its
 * arguments unchanged (no shell) and /dev/null as input; its output comes back through a
 * pipe. Only the library of the studies contains this file. */
#define _GNU_SOURCE /* pipe2, addchdir_np, environ */
#include "base/os.h"

#include <errno.h>
#include <string.h>

#ifdef __EMSCRIPTEN__ /* no program can be started there */

int xb_os_run(char *said, size_t size, const char *dir, char *const argv[])
{
    (void)said, (void)size, (void)dir, (void)argv;
    errno = ENOSYS;
    return -1;
}

#else

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __APPLE__
extern char **environ;

/* Without pipe2(), a program that another thread starts at the same time may inherit the
 * pipe. */
static bool make_pipe(int ends[2])
{
    if (pipe(ends) != 0) return false;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}
#else
static bool make_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }
#endif

/* Sets up the child: no input, both outputs to the pipe, working folder `dir`. */
static int prepare(posix_spawn_file_actions_t *actions, const char *dir,
                   const int ends[2])
{
    int e = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!e) e = posix_spawn_file_actions_adddup2(actions, ends[1], 1);
    if (!e) e = posix_spawn_file_actions_adddup2(actions, ends[1], 2);
    if (!e) e = posix_spawn_file_actions_addchdir_np(actions, dir);
    return e;
}

static int spawn(pid_t *pid, const char *dir, char *const argv[], const int ends[2])
{
    posix_spawn_file_actions_t actions;
    int e = posix_spawn_file_actions_init(&actions);
    if (e) return e;
    e = prepare(&actions, dir, ends);
    if (!e) e = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return e;
}

/* Reads to the end and keeps the last part. */
static void read_said(int file, char *said, size_t size)
{
    size_t used = 0;
    for (;;) {
        if (used == size - 1) { /* keep the newer half */
            memmove(said, said + used / 2, used - used / 2);
            used -= used / 2;
        }
        ssize_t got = read(file, said + used, size - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    said[used] = '\0';
}

static int wait_for(pid_t pid)
{
    enum { NO_CODE = 256 };
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return NO_CODE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : NO_CODE;
}

int xb_os_run(char *said, size_t size, const char *dir, char *const argv[])
{
    int ends[2];
    pid_t pid = -1;
    said[0] = '\0';
    if (!make_pipe(ends)) return -1;
    const int reason = spawn(&pid, dir, argv, ends);
    close(ends[1]);
    if (!reason) read_said(ends[0], said, size);
    close(ends[0]);
    if (!reason) return wait_for(pid);
    errno = reason;
    return -1;
}

#endif
