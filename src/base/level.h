/* level.h: the kernels of each instruction set: one table for all kinds of kernels.
 * kernel/level_*.c fill the rows; kernel/level_body.h is their one source. */
#ifndef XB_BASE_LEVEL_H
#define XB_BASE_LEVEL_H

typedef struct xb_level {
    const char *name;               /* "v4" */
    int needs;                      /* smallest xb_machine_level() that it needs */
    const struct xb_kernel *draw;   /* draw/kernel.h */
    const struct xb_kernels *net;   /* kernel/kernels.h */
    const struct xb_update *update; /* kernel/update.h */
    const struct xb_trace_kernels *trace;
    const struct xb_fit_kernels *fit;
} xb_level;

/* The i-th kernels that this machine supports, fastest first; NULL: there are no more.
 * The last ones run on any machine. This costs only a few loads, so it may be called
 * often. */
const xb_level *xb_level_at(int i);

#endif
