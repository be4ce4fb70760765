/* outfile.h: files that appear whole or not at all, as the library writes them; see
 * crossbayes/outfile.h. */
#ifndef XB_BASE_OUTFILE_H
#define XB_BASE_OUTFILE_H

#include "base/ctx.h"
#include "crossbayes/outfile.h"

/* Flushes the folder of `path`: a new name in it is on the disk after this. */
xb_status xb_folder_flush(xb_ctx *ctx, const char *path);

#endif
