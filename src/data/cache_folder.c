/* cache_folder.c: see cache_folder.h. The time of last use is the file's time of change,
 * which xb_cache_touch sets, because not every file system keeps times of access. A file
 * that another process has mapped may be removed; its pages stay until that process ends.
 */
#include "data/cache_folder.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/outfile.h"

/* Bytes of the path without the name of our own folder. */
enum { PARENT = XB_CACHE_PATH - 16 };

/* ---- which folder */

/* The specification says that a relative path is ignored. */
static const char *absolute(const char *name)
{
    const char *path = getenv(name);
    return path && xb_os_is_absolute(path) ? path : NULL;
}

/* Creates the parent, then a folder that only its owner may read. */
static bool make_folder(const char *parent, const char *path)
{
    xb_os_info info;
    if (xb_dir_make(NULL, parent) != XB_OK) return false;
    return xb_os_make_private_folder(path) ||
           (xb_os_look(&info, path) && info.kind == XB_OS_FOLDER);
}

/* Reads a size as people write it: bytes, or with K, M, G or T for powers of 1024. */
static bool read_size(int64_t *bytes, const char *text)
{
    static const char units[] = "KMGT";
    char *end = NULL;
    errno = 0;
    const long long number = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : -1;
    if (number < 0 || errno != 0) return false;
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (end[unit ? 1 : 0] != '\0' || number > INT64_MAX >> shift) return false;
    *bytes = (int64_t)number << shift;
    return true;
}

const char *xb_cache_size_text(char out[XB_CACHE_SIZE_TEXT], int64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024 && unit + 1 < XB_COUNT(units); unit++) size /= 1024;
    snprintf(out, XB_CACHE_SIZE_TEXT, size < 10 ? "%.3g %s" : "%.0f %s", size,
             units[unit]);
    return out;
}

static xb_status find_limit(xb_ctx *ctx, int64_t *limit)
{
    const char *text = getenv(XB_CACHE_LIMIT_NAME);
    *limit = XB_CACHE_LIMIT_DEFAULT;
    if (!text || !*text || read_size(limit, text)) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "%s is '%.60s', expected a size such as 500M or 2G (0: keep nothing)",
                   XB_CACHE_LIMIT_NAME, text);
}

/* Writes the path, or why there is none. */
static bool find_parent(char out[PARENT], char why[XB_CACHE_WHY])
{
    const char *set = absolute("XDG_CACHE_HOME"), *home = absolute("HOME");
    const int length = set    ? snprintf(out, PARENT, "%s", set)
                       : home ? snprintf(out, PARENT, "%s/.cache", home)
                              : 0;
    if (length > 0 && length < PARENT) return true;
    snprintf(why, XB_CACHE_WHY, "%s",
             length > 0 ? "the path of the cache folder is too long"
                        : "neither XDG_CACHE_HOME nor HOME is set");
    return false;
}

xb_status xb_cache_folder_find(xb_ctx *ctx, xb_cache_folder *out, bool *found,
                               char why[XB_CACHE_WHY])
{
    char parent[PARENT];
    *found = false;
    XB_TRY(find_limit(ctx, &out->limit));
    if (!find_parent(parent, why)) return XB_OK;
    snprintf(out->path, sizeof out->path, "%s/crossbayes", parent);
    if (out->limit == 0)
        snprintf(why, XB_CACHE_WHY, "%s is 0", XB_CACHE_LIMIT_NAME);
    else if (make_folder(parent, out->path))
        *found = true;
    else
        snprintf(why, XB_CACHE_WHY, "%.300s: cannot create this folder: %s", out->path,
                 strerror(errno));
    return XB_OK;
}

void xb_cache_touch(const char *file) { (void)xb_os_touch(file); }

/* ---- how large it is */

typedef struct survey {
    const xb_cache_folder *folder;
    const char *ending, *keep;
    int64_t total;              /* bytes of finished files */
    char oldest[XB_CACHE_PATH]; /* "": none that may be removed */
    int64_t used_ns;            /* time of its last use */
} survey;

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* Whether NAME.ending.tmp-XXXXXX has not been touched for a day, which means that its run
 * was killed. */
static bool is_abandoned(const survey *s, const char *name, const xb_os_info *info)
{
    const int64_t day_ns = INT64_C(24) * 3600 * 1000000000;
    const char *mark = strstr(name, ".tmp-");
    const size_t tail = strlen(s->ending);
    bool ours = mark && mark - name >= (ptrdiff_t)tail &&
                memcmp(mark - tail, s->ending, tail) == 0;
    return ours && xb_os_time_ns() - info->changed_ns > day_ns;
}

static void look_at(survey *s, const char *name)
{
    char path[XB_CACHE_PATH];
    xb_os_info info;
    int length = snprintf(path, sizeof path, "%s/%s", s->folder->path, name);
    if (length >= (int)sizeof path || !xb_os_look_link(&info, path) ||
        info.kind != XB_OS_FILE)
        return;
    if (is_abandoned(s, name, &info)) (void)xb_os_unlink(path);
    if (!ends_with(name, s->ending)) return;
    s->total += info.size;
    if (strcmp(path, s->keep) == 0) return;
    if (*s->oldest && info.changed_ns >= s->used_ns) return;
    s->used_ns = info.changed_ns;
    snprintf(s->oldest, sizeof s->oldest, "%s", path);
}

static void take_survey(survey *s)
{
    xb_os_folder *dir = xb_os_folder_open(s->folder->path);
    s->total = 0;
    *s->oldest = '\0';
    if (!dir) return;
    for (const char *name; (name = xb_os_folder_next(dir)) != NULL;) look_at(s, name);
    xb_os_folder_close(dir);
}

int xb_cache_trim(const xb_cache_folder *folder, const char *ending, const char *keep)
{
    survey s = {.folder = folder, .ending = ending, .keep = keep};
    int removed = 0;
    for (take_survey(&s); s.total > folder->limit && *s.oldest; take_survey(&s)) {
        if (!xb_os_unlink(s.oldest)) break;
        removed++;
    }
    return removed;
}
