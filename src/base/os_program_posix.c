/* os_program_posix.c: see os_program.h. */
#define _GNU_SOURCE /* fileno, sigaction */
#include "base/os_program.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

void xb_os_start(int *argc, char ***argv) { (void)argc, (void)argv; }

/* Without SA_RESTART a read from a terminal ends too; with SA_RESETHAND a second signal
 * ends the program as usual. */
void xb_os_on_stop(void (*asked)(int number))
{
    struct sigaction action = {.sa_handler = asked, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

xb_os_stop xb_os_stop_of(int number)
{
    return number == SIGINT    ? XB_OS_STOP_USER
           : number == SIGTERM ? XB_OS_STOP_SYSTEM
           : number == SIGUSR1 ? XB_OS_STOP_QUEUE
                               : XB_OS_STOP_NONE;
}

bool xb_os_is_terminal(FILE *stream) { return isatty(fileno(stream)) == 1; }

int xb_os_terminal_width(FILE *stream)
{
    struct winsize size;
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
