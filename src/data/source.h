/* source.h: a file, or stdin, read once from front to back; gzip data is unpacked on the
 * way. */
#ifndef XB_DATA_SOURCE_H
#define XB_DATA_SOURCE_H

#include <stdio.h>

#include "base/ctx.h"
#include "crossbayes/filekind.h"
#include "data/unpack.h"

enum { XB_SOURCE_HEAD = 4096 };

typedef struct xb_source {
    xb_ctx *ctx;
    FILE *stream;
    xb_unpack *unpack;         /* NULL: not packed */
    const char *name;          /* for messages; borrowed from the path */
    int64_t size;              /* size of a regular file; -1 if unknown */
    int64_t taken;             /* bytes delivered so far */
    int64_t blank_lines;       /* number of blank lines of a text table before its last
                                  row */
    char head[XB_SOURCE_HEAD]; /* the first bytes, which distinguish the kinds of files */
    int64_t head_size;
} xb_source;

/* path "-" is stdin. Fails for a directory and for files that cannot be read. */
xb_status xb_source_open(xb_ctx *ctx, xb_source *out, const char *path);
void xb_source_close(xb_source *source); /* stdin stays open */

bool xb_source_starts(const xb_source *source, const void *bytes, int64_t size);

/* Works as xb_filekind_explain does, but by the first bytes that were read, so also for
 * stdin. */
xb_status xb_source_explain(const xb_source *source, xb_status status,
                            xb_filekind expected);

/* Reads the requested number of bytes, fewer only at the end. Reports progress every few
 * MiB, so it may be cancelled. */
xb_status xb_source_read(xb_source *source, void *to, int64_t want, int64_t *got);

#endif
