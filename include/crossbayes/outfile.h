/* crossbayes/outfile.h: files that appear whole or not at all. The library writes all its
 * files this way.
 *
 *     xb_outfile *f = NULL;
 *     if (xb_outfile_open(ctx, &f, "scores.csv") != XB_OK) ...
 *     fprintf(xb_outfile_stream(f), ...);
 *     if (xb_outfile_commit(ctx, f) != XB_OK) ...     (or xb_outfile_discard(f))
 *
 * The text goes to a temporary file beside the named one, NAME.tmp-XXXXXX; a program that
 * is killed leaves the old file unchanged. A file that the context has read is never
 * overwritten (crossbayes/files.h).
 *
 * A folder of results is replaced as a whole, by a stage:
 *
 *     xb_stage *stage = NULL;
 *     if (xb_stage_open(ctx, &stage, "results") != XB_OK) ...
 *     (write any files to the folder xb_stage_dir(stage))
 *     const char *const last[] = {"page.html", NULL};
 *     if (xb_stage_publish(ctx, stage, last) != XB_OK) ...     (or xb_stage_discard)
 *
 * Until then the older files in `results` stay unchanged.
 */
#ifndef CROSSBAYES_OUTFILE_H
#define CROSSBAYES_OUTFILE_H

#include <stdio.h>

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_outfile xb_outfile;

/* An existing file at `path` stays until commit. XB_E_IO if no file can be written there.
 */
XB_API xb_status xb_outfile_open(xb_ctx *ctx, xb_outfile **out, const char *path);
/* The stream to write to. Errors need not be checked, because commit checks them. Do not
 * close it. */
XB_API FILE *xb_outfile_stream(xb_outfile *f);

/* Flushes the file to disk, renames it and flushes the folder, so that the new file
 * survives a loss of power. Frees f in any case; on failure the temporary file is removed
 * and the old file is untouched. One failure comes later: if the folder cannot be
 * flushed, the new file is already in its place, complete, and the message says so. */
XB_API xb_status xb_outfile_commit(xb_ctx *ctx, xb_outfile *f);
XB_API void xb_outfile_discard(xb_outfile *f); /* NULL is fine */

/* Writes a whole text in one call. */
XB_API xb_status xb_outfile_text(xb_ctx *ctx, const char *path, const char *text);

/* Puts a file that another program has written in its place: flushes `from` and renames
 * it to `to`. */
XB_API xb_status xb_outfile_place(xb_ctx *ctx, const char *from, const char *to);

/* Creates the folder, and those above it, if they do not exist. */
XB_API xb_status xb_dir_make(xb_ctx *ctx, const char *path);

/* A hidden folder `dir`/.new.tmp-XXXXXX to write files to; `dir` is created if it does
 * not exist, with the folders above it. A context has one stage at a time. */
typedef struct xb_stage xb_stage;
XB_API xb_status xb_stage_open(xb_ctx *ctx, xb_stage **out, const char *dir);
XB_API const char *xb_stage_dir(const xb_stage *stage); /* borrowed */

/* Renames the files into `dir`. `last` names the files that describe all others, such as
 * a list and then a page, and ends with NULL (NULL itself: there are none). Their older
 * versions are removed first, the page before the list, and the new ones are put in place
 * last; so even if this is interrupted, no such file lies beside results that it does not
 * describe. Frees the stage in any case. */
XB_API xb_status xb_stage_publish(xb_ctx *ctx, xb_stage *stage, const char *const *last);
XB_API void xb_stage_discard(xb_ctx *ctx, xb_stage *stage); /* NULL is fine */
/* For a program that has to end at once: removes the files of the open stage, if there is
 * one. Needs no memory. */
XB_API void xb_stage_abandon(xb_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
