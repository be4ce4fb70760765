/* outfile.h: files that appear whole or not at all (crossbayes/outfile.h), and what only
 * the library needs of that. */
#ifndef XB_BASE_OUTFILE_H
#define XB_BASE_OUTFILE_H

#include "base/ctx.h"
#include "crossbayes/outfile.h"

/* A file that another program has written, flushed and renamed: `from` becomes `to`. */
xb_status xb_outfile_place(xb_ctx *ctx, const char *from, const char *to);

/* Makes the directory if it is not there (one level or more). */
xb_status xb_dir_make(xb_ctx *ctx, const char *path);

/* Flushes the folder of `path`: a new name in it is on the disk after this. */
xb_status xb_folder_flush(xb_ctx *ctx, const char *path);

#endif
