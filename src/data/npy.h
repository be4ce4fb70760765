/* npy.h: reads NPY data from a source that is already open (stdin, or a file whose first
 * bytes say that it is NPY). */
#ifndef XB_DATA_NPY_H
#define XB_DATA_NPY_H

#include "data/npyhead.h"
#include "data/source.h"

/* How the elements of a file lie in it. */
typedef struct xb_npy_layout {
    xb_npy_head head;
    int64_t n, each; /* number of elements, and bytes of one */
    void (*convert)(double *to, const unsigned char *from, int64_t n);
    bool swap;      /* the other byte order */
    int64_t offset; /* bytes before the first element */
} xb_npy_layout;

/* Reads the header, and checks that the file has the bytes of all elements. */
xb_status xb_npy_layout_read(xb_npy_layout *out, xb_source *source);
/* `count` elements from their bytes, which may be overwritten. */
void xb_npy_convert(double *to, unsigned char *from, int64_t count,
                    const xb_npy_layout *layout);

/* Reads the values in C order as doubles, free() them; shape and ndim are in *head. */
xb_status xb_npy_read_source(double **out, int64_t *n, xb_npy_head *head,
                             xb_source *source);

/* Reads the rows of an array that lie one after another, and gives them to `take` in
 * blocks, in memory that does not grow with the array. An array in Fortran order is given
 * as one block. The layout has been read; its number of values is a multiple of
 * `columns`. */
typedef xb_status xb_npy_take(void *arg, const double *row, int64_t rows);
xb_status xb_npy_read_rows(xb_source *source, const xb_npy_layout *layout,
                           int64_t columns, xb_npy_take *take, void *arg);

#endif
