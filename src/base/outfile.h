/* outfile.h: a file that appears whole or not at all.
 *
 *     xb_outfile *f = NULL;
 *     XB_TRY(xb_outfile_open(ctx, &f, path));
 *     fprintf(xb_outfile_stream(f), ...);
 *     return xb_outfile_commit(ctx, f);      // or xb_outfile_discard(f)
 */
#ifndef XB_BASE_OUTFILE_H
#define XB_BASE_OUTFILE_H

#include <stdio.h>

#include "base/ctx.h"

typedef struct xb_outfile xb_outfile;

/* A temporary file beside `path`; an existing file there stays until commit. */
xb_status xb_outfile_open(xb_ctx *ctx, xb_outfile **out, const char *path);
FILE *xb_outfile_stream(xb_outfile *f);
/* Flushes to disk, renames, flushes the folder: the new file is there after a loss of
 * power. Frees f in any case; on failure the temporary file is gone and the old file
 * untouched. One failure comes later than that: the folder cannot be flushed. The new
 * file is in its place then, whole, and the message says so. */
xb_status xb_outfile_commit(xb_ctx *ctx, xb_outfile *f);
void xb_outfile_discard(xb_outfile *f); /* NULL is fine */

/* The same for a file that another program has written: `from` becomes `to`. */
xb_status xb_outfile_place(xb_ctx *ctx, const char *from, const char *to);

/* A whole text in one call. */
xb_status xb_outfile_text(xb_ctx *ctx, const char *path, const char *text);

/* Makes the directory if it is not there (one level or more). */
xb_status xb_dir_make(xb_ctx *ctx, const char *path);

#endif
