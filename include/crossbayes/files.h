/* crossbayes/files.h: which files a context has read and which it is going to write, so
 * that no output ever replaces an input.
 *
 *     if (xb_files_input(ctx, "noise.csv") != XB_OK) ...        (what will be read)
 *     if (xb_files_plan(ctx, "law.json", NULL) != XB_OK) ...    (what will be written)
 *
 * Every reader of the library records what it reads, and xb_outfile_open() refuses to
 * overwrite a file that was read; so plans are not needed for safety. They let a program
 * refuse before an hour of work rather than after it. Files are compared by device and
 * inode: another spelling of a path, a link, or a name in another case is the same file.
 * A file that the context itself has written may be read and written again. To read a
 * file and replace it nevertheless, use a separate context for each step.
 */
#ifndef CROSSBAYES_FILES_H
#define CROSSBAYES_FILES_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records that `path` will be read. A path that does not exist or is not a plain file is
 * not recorded; the reader will report it. XB_E_ARGUMENT if a planned output would
 * replace it. */
XB_API xb_status xb_files_input(xb_ctx *ctx, const char *path);

/* Records that `path` will be written. Messages call it `label` (NULL: its name). Its
 * folder must exist. XB_E_ARGUMENT if it would replace an input or another planned
 * output, if it is a folder, or if its folder does not exist; XB_E_IO if the folder
 * cannot be written to. */
XB_API xb_status xb_files_plan(xb_ctx *ctx, const char *path, const char *label);

/* Records that files whose names match the shell pattern, such as "laws_*.csv", will be
 * written to the folder `dir`, which need not exist yet. */
XB_API xb_status xb_files_plan_in(xb_ctx *ctx, const char *dir, const char *pattern,
                                  const char *label);

/* From now on, writing an output that was not planned fails: it is a mistake in the
 * program. */
XB_API void xb_files_plan_only(xb_ctx *ctx);

/* Call this before a program reads a file that an earlier run of it left, in order to
 * continue from there: the file is not an input and may be written again. XB_E_ARGUMENT
 * if it is already recorded as an input. */
XB_API xb_status xb_files_own(xb_ctx *ctx, const char *path);

/* From now on `to` uses the records of `from`, for contexts that work on one task. */
XB_API void xb_files_share(xb_ctx *to, const xb_ctx *from);

/* The files that were written, in the order of first writing. */
XB_API int64_t xb_files_written_count(const xb_ctx *ctx);
XB_API const char *xb_files_written_name(const xb_ctx *ctx, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
