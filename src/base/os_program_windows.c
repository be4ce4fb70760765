/* os_program_windows.c: see os_program.h. */
#include "base/os_program.h"

#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdlib.h>

#include "base/os_windows.h"

#include <shellapi.h>

/* All arguments in one block, which lives as long as the program. */
static char **narrow_arguments(wchar_t **wide, int n)
{
    size_t size = 0;
    for (int i = 0; i < n; i++) size += 3 * wcslen(wide[i]) + 1;
    char **word = malloc((size_t)(n + 1) * sizeof *word + size);
    if (!word) return NULL;
    char *text = (char *)(word + n + 1);
    for (int i = 0; i < n; i++) {
        const int room = (int)(3 * wcslen(wide[i]) + 1);
        word[i] = text;
        if (!xb_os_narrow(text, room, wide[i])) *text = '\0';
        text += room;
    }
    word[n] = NULL;
    return word;
}

void xb_os_start(int *argc, char ***argv)
{
    int n = 0;
    (void)_setmode(_fileno(stdin), _O_BINARY);
    (void)_setmode(_fileno(stdout), _O_BINARY);
    (void)_setmode(_fileno(stderr), _O_BINARY);
    (void)SetConsoleOutputCP(CP_UTF8);
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &n);
    char **narrow = wide ? narrow_arguments(wide, n) : NULL;
    if (wide) LocalFree(wide);
    if (!narrow) return;
    *argc = n;
    *argv = narrow;
}

/* The C library removes the handler when it calls it, so a second request ends the
 * program as usual.
 */
void xb_os_on_stop(void (*asked)(int number))
{
    (void)signal(SIGINT, asked);
    (void)signal(SIGTERM, asked);
    (void)signal(SIGBREAK, asked);
}

xb_os_stop xb_os_stop_of(int number)
{
    return number == SIGINT                          ? XB_OS_STOP_USER
           : number == SIGTERM || number == SIGBREAK ? XB_OS_STOP_SYSTEM
                                                     : XB_OS_STOP_NONE;
}

bool xb_os_is_terminal(FILE *stream) { return _isatty(_fileno(stream)) != 0; }

int xb_os_terminal_width(FILE *stream)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    HANDLE handle = (HANDLE)_get_osfhandle(_fileno(stream));
    return GetConsoleScreenBufferInfo(handle, &info) ? info.dwSize.X : 0;
}
