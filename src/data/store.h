/* store.h: the numbers of a table, in memory while they are few; beyond that in a mapped
 * temporary file without a name, so that the system may reclaim their pages when memory
 * is short. */
#ifndef XB_DATA_STORE_H
#define XB_DATA_STORE_H

#include <stdio.h>

#include "base/ctx.h"

enum { XB_STORE_MEMORY = 1 << 25 }; /* number of doubles kept in memory: 256 MiB */

typedef struct xb_store {
    double *at;
    int64_t room; /* capacity in doubles */
    FILE *file;   /* NULL: in memory */
} xb_store;

/* Makes room for at least `need` doubles and keeps the contents; at most `in_memory` of
 * them are in memory if the folder for temporary files has room for the rest. */
xb_status xb_store_grow(xb_ctx *ctx, xb_store *store, int64_t need, int64_t in_memory);

/* Says that the numbers will not be needed for a while. */
void xb_store_rest(const xb_store *store);

void xb_store_free(xb_store *store);

#endif
