/* crossbayes/safetensors.h: named tensors and short texts in one file that every Python
 * user can open: 8 bytes of length, a JSON header, the bytes of the tensors.
 *
 *     xb_safetensors *file = NULL;
 *     if (xb_safetensors_open(ctx, &file, path) != XB_OK) ...
 *     const xb_stored *w = NULL;
 *     status = xb_safetensors_get(ctx, &w, file, "0.kernel.mu", XB_STORED_F32, shape, 2);
 *     ... w->data ...
 *     xb_safetensors_destroy(file);
 *
 * Nothing in a file is trusted: every length, offset and shape is checked
 * against the file's size before it is used. Errors are XB_E_INPUT and name the
 * file. */
#ifndef CROSSBAYES_SAFETENSORS_H
#define CROSSBAYES_SAFETENSORS_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    XB_STORED_DIMENSIONS = 8,
    XB_STORED_ALIGNMENT = 8,              /* of every tensor read, in bytes */
    XB_SAFETENSORS_HEADER_MAX = 16 << 20, /* bytes; a longer header is refused */
};

/* In the order in which tensors lie in a file: the widest first, so that each is
 * aligned. It is also the order of the Python package. */
typedef enum xb_stored_type {
    XB_STORED_I64,
    XB_STORED_F64,
    XB_STORED_F32,
    XB_STORED_U8
} xb_stored_type;

/* A view: row-major, contiguous, ndim 0 for a single number. A frozen value, as is a text
 * beside it. */
typedef struct xb_stored {
    const char *name;
    xb_stored_type type;
    int64_t ndim;
    int64_t shape[XB_STORED_DIMENSIONS];
    const void *data;
} xb_stored;

typedef struct xb_stored_text {
    const char *key;
    const char *value;
} xb_stored_text;

XB_API const char *xb_stored_type_name(xb_stored_type type); /* "F32" */
XB_API int64_t xb_stored_type_size(xb_stored_type type);     /* bytes of one element */

/* Bytes of a tensor; false if the shape is impossible (negative, or beyond
 * 2^63 bytes). */
XB_API bool xb_stored_bytes(int64_t *out, const xb_stored *tensor);

/* Writes the tensors and the texts; an old file stays until the new one is complete.
 * Tensors are sorted by type, then by the bytes of their names; texts keep their order.
 * Names are UTF-8 and distinct, and none is "__metadata__". The bytes are those that the
 * Python package `safetensors` writes. */
XB_API xb_status xb_safetensors_write(xb_ctx *ctx, const char *path,
                                      const xb_stored *tensors, int64_t n_tensors,
                                      const xb_stored_text *texts, int64_t n_texts);

typedef struct xb_safetensors xb_safetensors;

/* Reads a whole file (a regular one: its size must be known). Types other than
 * the four above are refused. */
XB_API xb_status xb_safetensors_open(xb_ctx *ctx, xb_safetensors **out, const char *path);
XB_API void xb_safetensors_destroy(xb_safetensors *file); /* NULL is fine */

/* The contents, with tensors in the order of their data. All views and texts are borrowed
 * from the file. */
XB_API int64_t xb_safetensors_count(const xb_safetensors *file);
XB_API const xb_stored *xb_safetensors_at(const xb_safetensors *file, int64_t i);
XB_API int64_t xb_safetensors_find(const xb_safetensors *file,
                                   const char *name); /* -1: none */
XB_API const char *xb_safetensors_text(const xb_safetensors *file,
                                       const char *key); /* NULL: none */

/* As find, but fails unless the tensor exists with this type and shape. */
XB_API xb_status xb_safetensors_get(xb_ctx *ctx, const xb_stored **out,
                                    const xb_safetensors *file, const char *name,
                                    xb_stored_type type, const int64_t *shape,
                                    int64_t ndim);

/* The text under `key`, or an error that names it. */
XB_API xb_status xb_safetensors_get_text(xb_ctx *ctx, const char **out,
                                         const xb_safetensors *file, const char *key);

#ifdef __cplusplus
}
#endif
#endif
