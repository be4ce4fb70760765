/* progress.h: shows the library's progress events as a bar on stderr, and lets a signal
 * stop the work. */
#ifndef XB_CLI_PROGRESS_H
#define XB_CLI_PROGRESS_H

#include "base/os_program.h"
#include "crossbayes/base.h"

typedef struct cli_progress {
    bool visible; /* stderr is a terminal that can redraw a line */
    bool colour;
    bool drawn; /* something is on the line now */
    bool whole; /* the tasks are parts of one: the time left counts until the last one
                   ends */
    char task[64];
    double started, last; /* times in seconds: of the task's start and of the last
                             redraw */
} cli_progress;

/* Examines the terminal; from now on SIGINT and SIGTERM ask the work to stop (a second
 * signal ends the program at once). */
void cli_progress_start(cli_progress *p, bool quiet);

/* The signal that asked to stop. */
xb_os_stop cli_progress_stop(void);

/* An xb_progress_fn; arg is the cli_progress. */
bool cli_progress_event(void *arg, const xb_progress *event);

void cli_progress_clear(cli_progress *p);

#endif
