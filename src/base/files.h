/* files.h: the record of files behind a context (crossbayes/files.h), as readers and
 * writers of the library use it. Contexts that work on one task share one record; several
 * threads may use it at once. */
#ifndef XB_BASE_FILES_H
#define XB_BASE_FILES_H

#include "base/ctx.h"
#include "base/os.h"
#include "crossbayes/files.h"

xb_files *xb_files_create(void); /* NULL: memory has run out */
void xb_files_release(xb_files *files);

/* Records that a reader has opened this file. Fails if the file is about to be replaced.
 */
xb_status xb_files_note(xb_ctx *ctx, const xb_os_info *info, const char *name);

/* The names of all files that were read, sorted by their bytes. Returns their number, or
 * -1 if memory has run out. Free with xb_os_list_free(). */
int64_t xb_files_read_list(xb_ctx *ctx, char ***names);

/* Called before a file is written, and to rename it into place as xb_os_rename() does.
 * After `begin` no further memory is needed. */
xb_status xb_files_begin(xb_ctx *ctx, const char *path);
bool xb_files_rename(xb_ctx *ctx, const char *from, const char *to);

/* While files are written to the folder `stage`, they represent those of the same name in
 * `dir`; both are borrowed. NULL, NULL ends this. */
void xb_files_stage(xb_ctx *ctx, const char *stage, const char *dir);
const char *xb_files_stage_dir(const xb_ctx *ctx); /* NULL: there is none */
/* The name, without folder, of the i-th file that was written there; NULL past the last.
 */
const char *xb_files_staged(const xb_ctx *ctx, int64_t i);

#endif
