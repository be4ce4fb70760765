/* os_program.h: operating-system functions for programs only, which a library must not
 * use: signals, terminals, arguments; see os.h. Only the program is linked with it. */
#ifndef XB_BASE_OS_PROGRAM_H
#define XB_BASE_OS_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

/* Call this at the start of main(): streams then write bytes unchanged, and the arguments
 * are UTF-8. If memory has run out, the arguments stay unchanged. */
void xb_os_start(int *argc, char ***argv);

/* From now on a request to stop, by the user (Ctrl-C), by the system or by a queue that
 * is about to end the job (SIGUSR1), calls `asked` with a number that xb_os_stop_of()
 * knows; a second request ends the program as usual. `asked` may be called in any thread,
 * so it may only set an atomic variable. */
typedef enum xb_os_stop {
    XB_OS_STOP_NONE,
    XB_OS_STOP_USER,
    XB_OS_STOP_SYSTEM,
    XB_OS_STOP_QUEUE
} xb_os_stop;
void xb_os_on_stop(void (*asked)(int number));
xb_os_stop xb_os_stop_of(int number);

bool xb_os_is_terminal(FILE *stream);
int xb_os_terminal_width(FILE *stream); /* 0: unknown */

#endif
