/* folder.h: the files of a folder and of those in it, sorted by name. */
#ifndef XB_DATA_FOLDER_H
#define XB_DATA_FOLDER_H

#include "base/ctx.h"

enum { XB_FOLDER_DEPTH = 8, XB_FOLDER_PATH = 4096 };

typedef struct xb_folder_file {
    char *name; /* relative to the folder: "a.jpg", "more/b.jpg" */
    int64_t size, time_ns;
} xb_folder_file;

typedef struct xb_folder {
    char *path;
    xb_folder_file *file;
    int64_t n, capacity;
    int64_t others; /* files with other endings */
} xb_folder;

/* Regular files whose names end as one of `endings` (NULL-terminated, ".jpg"), in any
 * case. Hidden files and folders are skipped; links are followed, and each folder is
 * entered once. XB_E_INPUT if there is no such file. */
xb_status xb_folder_list(xb_ctx *ctx, xb_folder *out, const char *path,
                         const char *const *endings);
void xb_folder_free(xb_folder *folder);

/* Reads file i, at most the size in the list; *bytes is grown as needed (free() it at the
 * end). */
xb_status xb_folder_read(xb_ctx *ctx, uint8_t **bytes, int64_t *capacity,
                         const xb_folder *folder, int64_t i);

#endif
