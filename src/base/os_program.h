/* os_program.h: what a program asks of the operating system and a library must not:
 * signals, terminals, its arguments; see os.h. Only the program is linked with it. */
#ifndef XB_BASE_OS_PROGRAM_H
#define XB_BASE_OS_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

/* At the start of main(): streams write the bytes that they are given, and the arguments
 * are UTF-8. They stay as they are where memory has run out. */
void xb_os_start(int *argc, char ***argv);

/* From now on a request to stop, by the user (Ctrl-C), by the system or by a queue that
 * is about to end the job (SIGUSR1), calls `asked` with a number that xb_os_stop_of() knows; the second one is the usual end. It may be
 * called in any thread, so it may only set something atomic. */
typedef enum xb_os_stop {
    XB_OS_STOP_NONE,
    XB_OS_STOP_USER,
    XB_OS_STOP_SYSTEM,
    XB_OS_STOP_QUEUE
} xb_os_stop;
void xb_os_on_stop(void (*asked)(int number));
xb_os_stop xb_os_stop_of(int number);

bool xb_os_is_terminal(FILE *stream);
int xb_os_terminal_width(FILE *stream); /* 0: not known */

#endif
