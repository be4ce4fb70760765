/* fault.h: what shim.c (which call fails) and fork.c (many faults in one run) share. */
#ifndef XB_TESTS_FAULT_H
#define XB_TESTS_FAULT_H

#include <stdbool.h>

enum {
    ALLOC,
    BUFFER, /* an allocation for a stream, which then does without */
    OPEN,
    WRITE,
    PRINT, /* a write to stdout */
    SYNC,
    DIRSYNC,
    RENAME,
    CLOSE,
    MKDIR,
    TRUNCATE,
    THREAD,
    SPACE,
    KINDS
};

enum { NO_KIND = -1, SHORT = -1, KILLED = -2, INTERRUPTED = -3 };

typedef struct fault {
    int kind;
    long at;    /* the call that fails, from 1; of SPACE, the bytes that fit */
    bool stays; /* so do all after it */
    int error; /* SHORT: half of it is written; KILLED, INTERRUPTED: a signal before it */
} fault;

/* Of a text as in XB_FAULT; NO_KIND if it is none. */
fault fault_read(const char *text);

void fork_begin(const char *how);

/* Is a listed fault of this kind due at or before this call? */
bool fork_is_due(int kind, long reached);

/* Makes a copy of the process for each of them and waits for its end. NULL in the process
 * itself; in a copy the fault that it has to suffer. Copies of a process that is not
 * `alone` would share the programs it started: such faults are left. */
const fault *fork_at(int kind, long reached, bool alone);

#endif
