/* draft.h: a stream for a text whose length is not known in advance. The C library's
 * open_memstream silently loses text if memory runs out; a draft reports it. */
#ifndef XB_REPORT_DRAFT_H
#define XB_REPORT_DRAFT_H

#include <stdio.h>

#include "crossbayes/extend.h"

typedef struct xb_draft xb_draft;

/* Returns NULL, with the reason in ctx, if memory has run out. */
xb_draft *xb_draft_open(xb_ctx *ctx);

void xb_draft_free(xb_draft *draft);

/* The stream to write to. */
FILE *xb_draft_stream(const xb_draft *draft);

/* The whole text so far, valid until the next write; XB_E_MEMORY if some was lost. */
xb_status xb_draft_text(xb_ctx *ctx, xb_draft *draft, const char **text);

#endif
