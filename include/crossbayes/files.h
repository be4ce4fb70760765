/* crossbayes/files.h: which files a context has read and which it is going to write, so
 * that no output ever replaces an input.
 *
 *     if (xb_files_input(ctx, "noise.csv") != XB_OK) ...        (what will be read)
 *     if (xb_files_plan(ctx, "law.json", NULL) != XB_OK) ...    (what will be written)
 *
 * Every reader of the library notes what it reads, and xb_outfile_open() refuses to write
 * a file that was read; so plans are not needed for safety. They are for programs that
 * would rather refuse before an hour of work than after it. Files are told apart by
 * device and inode: another spelling, a link or another case of a name is the same file.
 * What the context itself has written may be read and written again. To read a file and
 * then replace it all the same, use a context for each.
 */
#ifndef CROSSBAYES_FILES_H
#define CROSSBAYES_FILES_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `path` will be read. What is not there, or is no plain file, is not noted: who reads it
 * says so. XB_E_ARGUMENT where a planned output would replace it. */
XB_API xb_status xb_files_input(xb_ctx *ctx, const char *path);

/* `path` will be written, by whatever `label` says in messages (NULL: its name). Its
 * folder must exist. XB_E_ARGUMENT where that would replace an input or another planned
 * output, where it is a folder, or where there is no such folder; XB_E_IO where the
 * folder cannot be written to. */
XB_API xb_status xb_files_plan(xb_ctx *ctx, const char *path, const char *label);

/* Files will be written to the folder `dir`, which need not exist yet: those whose names
 * fit the pattern, as a shell's: "laws_*.csv". */
XB_API xb_status xb_files_plan_in(xb_ctx *ctx, const char *dir, const char *pattern,
                                  const char *label);

/* From now on an output that was not planned is a mistake of the program, and fails. */
XB_API void xb_files_plan_only(xb_ctx *ctx);

/* Before a program reads what an earlier run of it has left, to go on from it: that is no
 * input, and may be written again. XB_E_ARGUMENT where it is one already. */
XB_API xb_status xb_files_own(xb_ctx *ctx, const char *path);

/* `to` uses the ledger of `from` from now on: contexts that work on one task. */
XB_API void xb_files_share(xb_ctx *to, const xb_ctx *from);

/* The files that were written, in the order of first writing. */
XB_API int64_t xb_files_written_count(const xb_ctx *ctx);
XB_API const char *xb_files_written_name(const xb_ctx *ctx, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
