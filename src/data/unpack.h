/* unpack.h: the bytes inside gzip data (RFC 1952) that is read once, front to back. */
#ifndef XB_DATA_UNPACK_H
#define XB_DATA_UNPACK_H

#include <stdio.h>

#include "base/ctx.h"

typedef struct xb_unpack xb_unpack;

/* Whether bytes begin like gzip data. */
bool xb_unpack_knows(const char *head, int64_t size);

/* head [size] are the bytes of the stream that were read already. The caller keeps the
 * stream. */
xb_status xb_unpack_open(xb_ctx *ctx, xb_unpack **out, FILE *stream, const char *head,
                         int64_t size);
void xb_unpack_close(xb_unpack *unpack); /* NULL is fine */

/* Reads the requested number of bytes, fewer only at the end; `name` is for messages. A
 * stream that cannot be read ends there: check ferror(). */
xb_status xb_unpack_read(xb_ctx *ctx, xb_unpack *unpack, const char *name, void *to,
                         int64_t want, int64_t *got);

#endif
