/* crossbayes/outfile.h: files that appear whole or not at all, as all that the library
 * writes does.
 *
 *     xb_outfile *f = NULL;
 *     if (xb_outfile_open(ctx, &f, "scores.csv") != XB_OK) ...
 *     fprintf(xb_outfile_stream(f), ...);
 *     if (xb_outfile_commit(ctx, f) != XB_OK) ...     (or xb_outfile_discard(f))
 *
 * What is written goes to a temporary file beside the named one, NAME.tmp-XXXXXX; a
 * program that is killed leaves the old file as it was. A file that the context has read
 * is not written over (crossbayes/files.h).
 *
 * A folder of results is replaced as a whole, by a stage:
 *
 *     xb_stage *stage = NULL;
 *     if (xb_stage_open(ctx, &stage, "results") != XB_OK) ...
 *     (write any files to the folder xb_stage_dir(stage))
 *     if (xb_stage_publish(ctx, stage, "page.html") != XB_OK) ...  (or xb_stage_discard)
 *
 * Until then the older files in `results` are as they were.
 */
#ifndef CROSSBAYES_OUTFILE_H
#define CROSSBAYES_OUTFILE_H

#include <stdio.h>

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_outfile xb_outfile;

/* An existing file at `path` stays until commit. XB_E_IO where none can be written. */
XB_API xb_status xb_outfile_open(xb_ctx *ctx, xb_outfile **out, const char *path);
/* To write to; it need not be checked for errors: commit does. Do not close it. */
XB_API FILE *xb_outfile_stream(xb_outfile *f);

/* Flushes to disk, renames, flushes the folder: the new file is there after a loss of
 * power. Frees f in any case; on failure the temporary file is gone and the old file
 * untouched. One failure comes later than that: the folder cannot be flushed. The new
 * file is in its place then, whole, and the message says so. */
XB_API xb_status xb_outfile_commit(xb_ctx *ctx, xb_outfile *f);
XB_API void xb_outfile_discard(xb_outfile *f); /* NULL is fine */

/* A whole text in one call. */
XB_API xb_status xb_outfile_text(xb_ctx *ctx, const char *path, const char *text);

/* A file that another program has written, flushed and renamed: `from` becomes `to`. */
XB_API xb_status xb_outfile_place(xb_ctx *ctx, const char *from, const char *to);

/* Makes the folder if it is not there, and those above it. */
XB_API xb_status xb_dir_make(xb_ctx *ctx, const char *path);

/* A hidden folder `dir`/.new.tmp-XXXXXX to write files to; `dir` is made if it is not
 * there, with the folders above it. A context has one stage at a time. */
typedef struct xb_stage xb_stage;
XB_API xb_status xb_stage_open(xb_ctx *ctx, xb_stage **out, const char *dir);
XB_API const char *xb_stage_dir(const xb_stage *stage); /* borrowed */

/* Renames the files into `dir`. `last` names the files that tell of all others, such as a
 * list and then a page, and ends with NULL (NULL itself: there are none): the older ones
 * go first, the page before the list, and the new ones come last; so wherever this is cut
 * off, no such file stands beside results that are not its own. Frees the stage in any
 * case. */
XB_API xb_status xb_stage_publish(xb_ctx *ctx, xb_stage *stage, const char *const *last);
XB_API void xb_stage_discard(xb_ctx *ctx, xb_stage *stage); /* NULL is fine */
/* For a program that has to end at once: takes away the files of the stage that is open, if
 * there is one. Needs no memory. */
XB_API void xb_stage_abandon(xb_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
