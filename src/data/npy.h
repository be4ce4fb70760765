/* npy.h: reads NPY data from a source that is already open (stdin, or a file whose first
 * bytes say that it is NPY). */
#ifndef XB_DATA_NPY_H
#define XB_DATA_NPY_H

#include "data/npyhead.h"
#include "data/source.h"

/* Reads the values in C order as doubles, free() them; shape and ndim are in *head. */
xb_status xb_npy_read_source(double **out, int64_t *n, xb_npy_head *head,
                             xb_source *source);

#endif
