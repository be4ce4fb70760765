/* cache_folder.h: where files that can be made again are kept between runs.
 *
 * The folder is $XDG_CACHE_HOME/crossbayes, or ~/.cache/crossbayes where that variable is
 * not set (XDG Base Directory Specification). Together its files stay within a limit: the
 * ones that were not used for the longest time are removed first. Folder and files are
 * private to their user, because decoded images may show people. */
#ifndef XB_DATA_CACHE_FOLDER_H
#define XB_DATA_CACHE_FOLDER_H

#include "base/ctx.h"

enum { XB_CACHE_PATH = 4096, XB_CACHE_WHY = 512 };

/* The environment variable that limits the size of the folder in bytes, and the limit if
 * it is not set. */
#define XB_CACHE_LIMIT_NAME "CROSSBAYES_CACHE_LIMIT"
#define XB_CACHE_LIMIT_DEFAULT (INT64_C(2) << 30)

typedef struct xb_cache_folder {
    char path[XB_CACHE_PATH];
    int64_t limit; /* bytes */
} xb_cache_folder;

/* Finds the folder, and creates it if it does not exist. If *found is false there is
 * none, and `why` says so in words. XB_E_ARGUMENT: CROSSBAYES_CACHE_LIMIT is not a size.
 */
xb_status xb_cache_folder_find(xb_ctx *ctx, xb_cache_folder *out, bool *found,
                               char why[XB_CACHE_WHY]);

/* Writes a size for people: "512 bytes", "293 MiB", "2 GiB". Returns out. */
enum { XB_CACHE_SIZE_TEXT = 32 };
const char *xb_cache_size_text(char out[XB_CACHE_SIZE_TEXT], int64_t bytes);

/* Marks the file as used now. */
void xb_cache_touch(const char *file);

/* Removes files that end in `ending`, the longest unused first, until all of them are
 * within the limit; `keep` stays. Unfinished files of runs that were killed are removed
 * after a day. Returns the number of finished files removed. */
int xb_cache_trim(const xb_cache_folder *folder, const char *ending, const char *keep);

#endif
