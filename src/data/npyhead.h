/* npyhead.h: the header of an NPY file: element type and shape. */
#ifndef XB_DATA_NPYHEAD_H
#define XB_DATA_NPYHEAD_H

#include "base/ctx.h"

#define XB_NPY_MAGIC "\x93NUMPY"

enum {
    XB_NPY_MAGIC_SIZE = 6,
    XB_NPY_DIMENSIONS = 8,
    XB_NPY_HEADER_MAX = 1 << 16, /* bytes; NumPy's own headers have 128 */
};

typedef struct xb_npy_head {
    char type[8]; /* "<f8", unchanged */
    bool fortran;
    int64_t shape[XB_NPY_DIMENSIONS];
    int ndim;
} xb_npy_head;

/* Parses the Python dictionary of the header, `size` bytes. `file` is for messages. */
xb_status xb_npy_head_parse(xb_ctx *ctx, xb_npy_head *out, const char *file,
                            const char *text, int64_t size);

/* Writes the magic, version 1.0 and the dictionary, padded to 64 bytes: the same bytes as
 * NumPy writes. Returns the size. */
int xb_npy_head_format(char out[512], const xb_npy_head *head);

#endif
