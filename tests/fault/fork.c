/* fork.c: many faults in one run. A fault needs the run up to the call that fails, and
 * little after it; so the undisturbed run is made once, and at each call that a listed
 * fault is for a copy of the process (fork) suffers it, in a copy of its folder, while
 * the process waits.
 *
 *   XB_FAULT_FORK="LIST ROOM FROM TO"
 *
 * LIST is a file of faults as in XB_FAULT, a line each, sorted by kind, then by call.
 * ROOM has all that the run writes: its working directory ROOM/files, where paths are
 * relative, and the files that are its stdout and stderr. The copy for the fault of line
 * i goes on in ROOM.i. Before it, a byte is read from the descriptor FROM (so the reader
 * of results decides how many rooms stand around); after it, "i status" is written to TO,
 * the status as of waitpid(). -1 is a fault that was not tried: threads or programs were
 * running, which a copy would lack. */
#define _GNU_SOURCE
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEFT = -1, LONGEST = 300 /* seconds a copy may take */, OPEN_FILES = 256 };

static fault *list;
static int listed;
static int next_of[KINDS]; /* the first of each kind that was not tried */
static char room[PATH_MAX / 2];
static int from, to;

static void read_list(const char *path)
{
    FILE *in = fopen(path, "r");
    if (!in) return;
    char line[64];
    int lines = 0;
    while (fgets(line, sizeof line, in)) lines++;
    rewind(in);
    list = calloc((size_t)lines + 1, sizeof *list);
    while (list && listed < lines && fgets(line, sizeof line, in))
        list[listed++] = fault_read(line);
    fclose(in);
    if (!list) return;
    for (int kind = 0; kind < KINDS; kind++)
        while (next_of[kind] < listed && list[next_of[kind]].kind != kind)
            next_of[kind]++;
}

void fork_begin(const char *how)
{
    char path[PATH_MAX / 2];
    if (!how || sscanf(how, "%2047s %2047s %d %d", path, room, &from, &to) != 4) return;
    fcntl(from, F_SETFD, FD_CLOEXEC);
    fcntl(to, F_SETFD, FD_CLOEXEC);
    read_list(path);
}

bool fork_is_due(int kind, long reached)
{
    int i = next_of[kind];
    return i < listed && list[i].kind == kind && list[i].at <= reached;
}

/* ---- the copy's own folder */

/* Where the copy has the file of this path; false: not in the room. */
static bool moved_path(const char *path, const char *own, char moved[PATH_MAX])
{
    size_t n = strlen(room);
    if (strncmp(path, room, n) != 0 || path[n] != '/') return false;
    return snprintf(moved, PATH_MAX, "%s%s", own, path + n) < PATH_MAX;
}

static _Noreturn void give_up(const char *what)
{
    char text[256];
    int n = snprintf(text, sizeof text, "fork.c: %s: %s\n", what, strerror(errno));
    if (write(STDERR_FILENO, text, (size_t)n) < 0) _exit(125);
    _exit(125);
}

static void copy_room(const char *own)
{
    char *argv[] = {"cp", "-a", room, (char *)own, NULL};
    char *env[] = {NULL};
    pid_t pid;
    int status;
    if (posix_spawn(&pid, "/bin/cp", NULL, NULL, argv, env) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0)
        give_up("cp");
}

/* Open files of the room are opened in the copy, at the same place. */
static void move_file(int fd, const char *own)
{
    char link[64], path[PATH_MAX] = "", moved[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0 || !moved_path(path, own, moved))
        return;
    int flags = fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND);
    int kept = fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
    off_t at = lseek(fd, 0, SEEK_CUR);
    int opened = open(moved, flags);
    if (opened < 0 || (at > 0 && lseek(opened, at, SEEK_SET) < 0) ||
        dup3(opened, fd, kept) < 0)
        give_up(moved);
    close(opened);
}

/* So are files mapped for writing: one line of /proc/self/maps. */
static void move_mapping(const char *line, const char *own)
{
    unsigned long begin, end, offset;
    char access[8], path[PATH_MAX], moved[PATH_MAX];
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &begin, &end, access, &offset,
               path) != 5 ||
        strcmp(access, "rw-s") != 0 || !moved_path(path, own, moved))
        return;
    int fd = open(moved, O_RDWR);
    if (fd < 0 || mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED, fd, (off_t)offset) == MAP_FAILED)
        give_up(moved);
    close(fd);
}

static void move_out(int number)
{
    char own[PATH_MAX], line[PATH_MAX + 128];
    snprintf(own, sizeof own, "%s.%d", room, number);
    copy_room(own);
    for (int fd = 0; fd < OPEN_FILES; fd++) move_file(fd, own);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) move_mapping(line, own);
    if (!maps || fclose(maps) != 0) give_up("/proc/self/maps");
    if (snprintf(line, sizeof line, "%s/files", own) < 0 || chdir(line) != 0)
        give_up(line);
    alarm(LONGEST);
}

/* ---- one fault after the other */

/* A folder has two links and one for each folder in it: here, for each thread. */
static bool has_threads(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink > 3;
}

static void tell(int number, int status)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%d %d\n", number, status);
    if (write(to, text, (size_t)n) != n) _exit(125);
}

/* True in the copy. */
static bool copied(int number)
{
    char go;
    if (read(from, &go, 1) != 1) _exit(125);
    pid_t copy = fork();
    if (copy == 0) {
        listed = 0;
        close(from);
        close(to);
        move_out(number);
        return true;
    }
    int status = LEFT;
    if (copy > 0) waitpid(copy, &status, 0);
    tell(number, status);
    return false;
}

const fault *fork_at(int kind, long reached, bool alone)
{
    while (fork_is_due(kind, reached)) {
        int number = next_of[kind]++;
        if (!alone || has_threads())
            tell(number, LEFT);
        else if (copied(number))
            return &list[number];
    }
    return NULL;
}
