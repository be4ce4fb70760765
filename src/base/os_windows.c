/* os_windows.c: files and folders on Windows; see os.h. Paths are UTF-8 here and UTF-16
 * there, whatever the code page; streams are binary. */
#include "base/os_windows.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utime.h>

/* ---- texts and errors */

bool xb_os_widen(wchar_t out[XB_OS_PATH_MAX], const char *text)
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, out, XB_OS_PATH_MAX))
        return true;
    errno = ENOENT;
    return false;
}

bool xb_os_narrow(char *out, int size, const wchar_t *text)
{
    return WideCharToMultiByte(CP_UTF8, 0, text, -1, out, size, NULL, NULL) > 0;
}

bool xb_os_failed(void)
{
    static const struct {
        DWORD error;
        int number;
    } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},   {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_INVALID_NAME, ENOENT},     {ERROR_BAD_PATHNAME, ENOENT},
                 {ERROR_ACCESS_DENIED, EACCES},    {ERROR_SHARING_VIOLATION, EACCES},
                 {ERROR_LOCK_VIOLATION, EACCES},   {ERROR_FILE_EXISTS, EEXIST},
                 {ERROR_ALREADY_EXISTS, EEXIST},   {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                 {ERROR_OUTOFMEMORY, ENOMEM},      {ERROR_DISK_FULL, ENOSPC},
                 {ERROR_HANDLE_DISK_FULL, ENOSPC}, {ERROR_DIRECTORY, ENOTDIR},
                 {ERROR_DIR_NOT_EMPTY, ENOTEMPTY}, {ERROR_WRITE_PROTECT, EROFS}};
    const DWORD error = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error) errno = known[i].number;
    return false;
}

/* ---- what is at a path */

/* Times count 100 ns since 1601. */
static int64_t since_1970(FILETIME t)
{
    const int64_t ticks = (int64_t)((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime);
    return (ticks - INT64_C(116444736000000000)) * 100;
}

static bool look_handle(xb_os_info *out, HANDLE handle)
{
    BY_HANDLE_FILE_INFORMATION i;
    *out = (xb_os_info){.kind = XB_OS_OTHER};
    if (GetFileType(handle) != FILE_TYPE_DISK) return true;
    if (!GetFileInformationByHandle(handle, &i)) return xb_os_failed();
    const DWORD a = i.dwFileAttributes;
    *out =
        (xb_os_info){.kind = a & FILE_ATTRIBUTE_DIRECTORY       ? XB_OS_FOLDER
                             : a & FILE_ATTRIBUTE_REPARSE_POINT ? XB_OS_OTHER
                                                                : XB_OS_FILE,
                     .device = i.dwVolumeSerialNumber,
                     .number = (uint64_t)i.nFileIndexHigh << 32 | i.nFileIndexLow,
                     .links = (int64_t)i.nNumberOfLinks,
                     .size = (int64_t)((uint64_t)i.nFileSizeHigh << 32 | i.nFileSizeLow),
                     .changed_ns = since_1970(i.ftLastWriteTime)};
    return true;
}

/* A handle for queries about a file or folder; on failure INVALID_HANDLE_VALUE with errno
 * set. */
static HANDLE open_to_ask(const char *path, DWORD flags)
{
    wchar_t wide[XB_OS_PATH_MAX];
    if (!xb_os_widen(wide, path)) return INVALID_HANDLE_VALUE;
    HANDLE handle =
        CreateFileW(wide, FILE_READ_ATTRIBUTES,
                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    if (handle == INVALID_HANDLE_VALUE) (void)xb_os_failed();
    return handle;
}

static bool look(xb_os_info *out, const char *path, DWORD flags)
{
    HANDLE handle = open_to_ask(path, flags);
    if (handle == INVALID_HANDLE_VALUE) return false;
    const bool good = look_handle(out, handle);
    CloseHandle(handle);
    return good;
}

bool xb_os_look(xb_os_info *out, const char *path) { return look(out, path, 0); }

bool xb_os_look_link(xb_os_info *out, const char *path)
{
    return look(out, path, FILE_FLAG_OPEN_REPARSE_POINT);
}

bool xb_os_look_stream(xb_os_info *out, FILE *stream)
{
    return look_handle(out, (HANDLE)_get_osfhandle(_fileno(stream)));
}

bool xb_os_seek(FILE *stream, int64_t at) { return _fseeki64(stream, at, SEEK_SET) == 0; }

bool xb_os_exists(const char *path)
{
    xb_os_info info;
    return xb_os_look(&info, path);
}

/* Whether a folder is writable can be found out only by trying. */
bool xb_os_can_write(const char *folder)
{
    wchar_t wide[XB_OS_PATH_MAX];
    return xb_os_widen(wide, folder) && _waccess(wide, 2) == 0;
}

/* ---- files */

FILE *xb_os_open(const char *path, const char *mode)
{
    wchar_t wide[XB_OS_PATH_MAX], wide_mode[8];
    if (!xb_os_widen(wide, path)) return NULL;
    _snwprintf(wide_mode, 8, L"%hs%ls", mode, strchr(mode, 'b') ? L"" : L"b");
    return _wfopen(wide, wide_mode);
}

FILE *xb_os_create(const char *path)
{
    wchar_t wide[XB_OS_PATH_MAX];
    if (!xb_os_widen(wide, path)) return NULL;
    int file = _wopen(wide, _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT,
                      _S_IREAD | _S_IWRITE);
    FILE *stream = file >= 0 ? _fdopen(file, "wb") : NULL;
    if (stream || file < 0) return stream;
    const int reason = errno;
    _close(file);
    _wunlink(wide);
    errno = reason;
    return NULL;
}

/* Replaces XXXXXX by six characters that differ each time. */
static void make_unique(char *end)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    LARGE_INTEGER now;
    QueryPerformanceCounter(&now);
    uint64_t mix = (uint64_t)now.QuadPart * 0x9E3779B97F4A7C15u ^
                   (uint64_t)GetCurrentProcessId() << 32 ^ GetCurrentThreadId();
    for (int i = 0; i < 6; i++, mix /= 36) end[i] = letters[mix % 36];
}

enum { TRIES = 100 };

FILE *xb_os_nameless(char *path, size_t size)
{
    wchar_t wide[XB_OS_PATH_MAX], folder[MAX_PATH + 1];
    char narrow[3 * MAX_PATH + 1] = "";
    HANDLE handle = INVALID_HANDLE_VALUE;
    if (GetTempPathW(MAX_PATH + 1, folder)) xb_os_narrow(narrow, sizeof narrow, folder);
    for (int k = 0; k < TRIES && handle == INVALID_HANDLE_VALUE; k++) {
        const int length = snprintf(path, size, "%scrossbayes-XXXXXX", narrow);
        if (length < 6 || length >= (int)size) return NULL;
        make_unique(path + length - 6);
        if (!xb_os_widen(wide, path)) return NULL;
        handle = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE | DELETE,
                             FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                             CREATE_NEW,
                             FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
        if (handle == INVALID_HANDLE_VALUE && GetLastError() != ERROR_FILE_EXISTS) break;
    }
    if (handle == INVALID_HANDLE_VALUE) {
        (void)xb_os_failed();
        return NULL;
    }
    int file = _open_osfhandle((intptr_t)handle, _O_RDWR | _O_BINARY);
    FILE *stream = file >= 0 ? _fdopen(file, "w+b") : NULL;
    if (file < 0) CloseHandle(handle);
    if (file >= 0 && !stream) _close(file);
    return stream;
}

static int64_t read_all(int file, char *to, size_t size)
{
    size_t have = 0;
    while (have < size) {
        const size_t left = size - have;
        int got = _read(file, to + have, left < INT_MAX ? (unsigned)left : INT_MAX);
        if (got < 0) return -1;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (int64_t)have;
}

int64_t xb_os_read_head(xb_os_info *info, void *to, size_t size, const char *path)
{
    wchar_t wide[XB_OS_PATH_MAX];
    *info = (xb_os_info){.kind = XB_OS_NONE};
    if (!xb_os_look(info, path)) return -1;
    if (info->kind != XB_OS_FILE) return 0;
    int file =
        xb_os_widen(wide, path) ? _wopen(wide, _O_RDONLY | _O_BINARY | _O_NOINHERIT) : -1;
    if (file < 0) {
        info->kind = XB_OS_NONE;
        return -1;
    }
    const int64_t got = read_all(file, to, size);
    _close(file);
    return got;
}

bool xb_os_flush(FILE *stream) { return _commit(_fileno(stream)) == 0; }

bool xb_os_flush_file(const char *path)
{
    FILE *stream = xb_os_open(path, "r+b");
    const bool flushed = stream && xb_os_flush(stream);
    if (stream) fclose(stream);
    return flushed;
}

/* Names are already on the disk: xb_os_rename() waits for that. */
bool xb_os_flush_folder(const char *folder)
{
    (void)folder;
    return true;
}

bool xb_os_rename(const char *from, const char *to)
{
    wchar_t a[XB_OS_PATH_MAX], b[XB_OS_PATH_MAX];
    if (!xb_os_widen(a, from) || !xb_os_widen(b, to)) return false;
    return MoveFileExW(a, b, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ||
           xb_os_failed();
}

bool xb_os_unlink(const char *path)
{
    wchar_t wide[XB_OS_PATH_MAX];
    return xb_os_widen(wide, path) && _wunlink(wide) == 0;
}

bool xb_os_touch(const char *path)
{
    wchar_t wide[XB_OS_PATH_MAX];
    return xb_os_widen(wide, path) && _wutime(wide, NULL) == 0;
}

/* ---- folders */

bool xb_os_make_folder(const char *path)
{
    wchar_t wide[XB_OS_PATH_MAX];
    return xb_os_widen(wide, path) && _wmkdir(wide) == 0;
}

/* A folder below the user's own folder is private already. */
bool xb_os_make_private_folder(const char *path) { return xb_os_make_folder(path); }

bool xb_os_make_new_folder(char *path)
{
    for (int k = 0; k < TRIES; k++) {
        make_unique(path + strlen(path) - 6);
        if (xb_os_make_folder(path)) return true;
        if (errno != EEXIST) return false;
    }
    return false;
}

bool xb_os_remove_folder(const char *path)
{
    wchar_t wide[XB_OS_PATH_MAX];
    return xb_os_widen(wide, path) && _wrmdir(wide) == 0;
}

struct xb_os_folder {
    HANDLE search;
    bool started; /* `found` was returned already */
    WIN32_FIND_DATAW found;
    char name[3 * MAX_PATH + 1];
};

xb_os_folder *xb_os_folder_open(const char *path)
{
    wchar_t wide[XB_OS_PATH_MAX];
    char pattern[XB_OS_PATH_MAX];
    if (snprintf(pattern, sizeof pattern, "%s/*", path) >= (int)sizeof pattern ||
        !xb_os_widen(wide, pattern))
        return NULL;
    xb_os_folder *folder = calloc(1, sizeof *folder);
    if (!folder) return NULL;
    folder->search = FindFirstFileW(wide, &folder->found);
    if (folder->search != INVALID_HANDLE_VALUE) return folder;
    (void)xb_os_failed();
    free(folder);
    return NULL;
}

const char *xb_os_folder_next(xb_os_folder *folder)
{
    do {
        if (folder->started && !FindNextFileW(folder->search, &folder->found))
            return NULL;
        folder->started = true;
        if (!xb_os_narrow(folder->name, sizeof folder->name, folder->found.cFileName))
            return NULL;
    } while (strcmp(folder->name, ".") == 0 || strcmp(folder->name, "..") == 0);
    return folder->name;
}

void xb_os_folder_close(xb_os_folder *folder)
{
    FindClose(folder->search);
    free(folder);
}

/* Matches '*' and '?'. */
static bool fits(const char *pattern, const char *name)
{
    for (; *pattern; pattern++, name++) {
        if (*pattern == '*') {
            do {
                if (fits(pattern + 1, name)) return true;
            } while (*name++);
            return false;
        }
        if (!*name || (*pattern != '?' && *pattern != *name)) return false;
    }
    return !*name;
}

bool xb_os_name_fits(const char *pattern, const char *name)
{
    return (*name != '.' || *pattern == '.') && fits(pattern, name);
}

bool xb_os_full_path(char out[XB_OS_PATH_MAX], const char *path)
{
    wchar_t wide[XB_OS_PATH_MAX];
    HANDLE handle = open_to_ask(path, 0);
    if (handle == INVALID_HANDLE_VALUE) return false;
    const DWORD length = GetFinalPathNameByHandleW(handle, wide, XB_OS_PATH_MAX, 0);
    CloseHandle(handle);
    if (length == 0 || length >= XB_OS_PATH_MAX) return xb_os_failed();
    const wchar_t *begin = wcsncmp(wide, L"\\\\?\\", 4) == 0 ? wide + 4 : wide;
    if (!xb_os_narrow(out, XB_OS_PATH_MAX, begin)) return xb_os_failed();
    for (char *p = out; *p; p++)
        if (*p == '\\') *p = '/';
    return true;
}

bool xb_os_is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}
