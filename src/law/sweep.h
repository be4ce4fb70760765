/* sweep.h: the loops of a fit that touch every value or every run, as kernels for the
 * machine at hand. sweep_body.h is their one source; nothing in it is fused, sums are
 * in a fixed number of lanes: all levels give the same bytes (tests/test_fit.c). */
#ifndef XB_LAW_SWEEP_H
#define XB_LAW_SWEEP_H

#include <stdint.h>

#include "crossbayes/random.h"
#include "law/null_process.h"

enum { XB_NULL_LANES = 16, XB_NULL_TABLE = 1024 };

/* (F7) What the runs of null_process.c need. */
typedef struct xb_null_path {
    float dual[XB_NULL_COLUMNS][XB_NULL_CELLS];     /* over a cell, by its noise */
    float column[XB_NULL_COLUMNS][XB_NULL_CELLS];   /* integral up to the cell's end */
    float unseen[XB_NULL_COLUMNS][XB_NULL_COLUMNS]; /* root of what cells do not see */
    float table[XB_NULL_TABLE];                     /* standard normal */
    xb_key key;
    float limit;
    int n; /* columns */
} xb_null_path;

typedef struct xb_sweep {
    const char *level;
    /* The chance of runs first .. first + 15 to pass the limit. */
    void (*null_runs)(float *chance, const xb_null_path *path, uint32_t first);
} xb_sweep;

extern const xb_sweep xb_sweep_plain;
#if defined(__x86_64__)
extern const xb_sweep xb_sweep_v3;
extern const xb_sweep xb_sweep_v4;
#endif

/* Fastest first, the i-th that this machine has; NULL: there are no more. */
const xb_sweep *xb_sweep_at(int i);
static inline const xb_sweep *xb_sweep_best(void) { return xb_sweep_at(0); }

#endif
