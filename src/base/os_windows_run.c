/* os_windows_run.c: other programs on Windows; see os.h. The child gets NUL as input; its
 * output comes back through a pipe. Only the library of the studies contains this file.
 */
#include "base/os_windows.h"

#include <errno.h>
#include <string.h>

typedef struct command_line {
    char text[XB_OS_PATH_MAX];
    size_t used;
} command_line;

static void put(command_line *line, char c, size_t times)
{
    for (; times > 0 && line->used + 1 < sizeof line->text; times--)
        line->text[line->used++] = c;
}

/* Quotes an argument for the parser of the child's C library, where backslashes are
 * special only before a quote. */
static void add_word(command_line *line, const char *word)
{
    size_t backslashes = 0;
    if (line->used) put(line, ' ', 1);
    put(line, '"', 1);
    for (const char *p = word; *p; p++) {
        backslashes = *p == '\\' ? backslashes + 1 : 0;
        if (*p == '"') put(line, '\\', backslashes + 1);
        put(line, *p, 1);
    }
    put(line, '\\', backslashes);
    put(line, '"', 1);
}

static bool start(HANDLE *process, const char *dir, char *const argv[], HANDLE output,
                  HANDLE input)
{
    command_line line = {.used = 0};
    wchar_t wide[XB_OS_PATH_MAX], folder[XB_OS_PATH_MAX];
    for (int i = 0; argv[i]; i++) add_word(&line, argv[i]);
    if (line.used + 1 >= sizeof line.text) {
        errno = E2BIG;
        return false;
    }
    if (!xb_os_widen(wide, line.text) || !xb_os_widen(folder, dir)) return false;
    STARTUPINFOW how = {.cb = sizeof how,
                        .dwFlags = STARTF_USESTDHANDLES,
                        .hStdInput = input,
                        .hStdOutput = output,
                        .hStdError = output};
    PROCESS_INFORMATION made;
    if (!CreateProcessW(NULL, wide, NULL, NULL, TRUE, CREATE_NO_WINDOW, NULL, folder,
                        &how, &made))
        return xb_os_failed();
    CloseHandle(made.hThread);
    *process = made.hProcess;
    return true;
}

/* Reads to the end and keeps the last part. */
static void read_said(HANDLE from, char *said, size_t size)
{
    size_t used = 0;
    for (DWORD got;;) {
        if (used == size - 1) { /* keep the newer half */
            memmove(said, said + used / 2, used - used / 2);
            used -= used / 2;
        }
        if (!ReadFile(from, said + used, (DWORD)(size - 1 - used), &got, NULL) || !got)
            break;
        used += got;
    }
    said[used] = '\0';
}

static int wait_for(HANDLE process)
{
    enum { NO_CODE = 256 };
    DWORD code = NO_CODE;
    WaitForSingleObject(process, INFINITE);
    if (!GetExitCodeProcess(process, &code) || code > 255) code = NO_CODE;
    CloseHandle(process);
    return (int)code;
}

int xb_os_run(char *said, size_t size, const char *dir, char *const argv[])
{
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE from, to, process;
    said[0] = '\0';
    if (!CreatePipe(&from, &to, &inherited, 0)) {
        (void)xb_os_failed();
        return -1;
    }
    (void)SetHandleInformation(from, HANDLE_FLAG_INHERIT, 0);
    HANDLE nothing = CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                 &inherited, OPEN_EXISTING, 0, NULL);
    const bool started = start(&process, dir, argv, to, nothing);
    const int reason = errno;
    CloseHandle(to);
    if (nothing != INVALID_HANDLE_VALUE) CloseHandle(nothing);
    if (started) read_said(from, said, size);
    CloseHandle(from);
    if (started) return wait_for(process);
    errno = reason;
    return -1;
}
