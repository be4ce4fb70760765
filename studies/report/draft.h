/* draft.h: a text that is written before it is known how long it gets, through a stream.
 * The C library's own (open_memstream) loses what it has no room for and does not say so;
 * a draft does. */
#ifndef XB_REPORT_DRAFT_H
#define XB_REPORT_DRAFT_H

#include <stdio.h>

#include "crossbayes/extend.h"

typedef struct xb_draft xb_draft;

/* NULL with the reason in ctx: memory has run out. */
xb_draft *xb_draft_open(xb_ctx *ctx);

void xb_draft_free(xb_draft *draft);

/* Where it is written. */
FILE *xb_draft_stream(const xb_draft *draft);

/* What was written so far, all of it, to the next write; XB_E_MEMORY if some was lost. */
xb_status xb_draft_text(xb_ctx *ctx, xb_draft *draft, const char **text);

#endif
