/* crossbayes/filekind.h: recognises what a file is by its first bytes and their
 * structure, for the error message of a reader that refuses it:
 *
 *     status = read_law(ctx, &law, path);
 *     return xb_filekind_explain(ctx, status, path, XB_KIND_LAW);
 *
 * turns "noise.safetensors:1: not JSON: unable to decode byte 0xf0" into
 * "noise.safetensors: this is a model file; a law file was expected". For a file of the
 * right kind, or of a kind not known here, the reader's own message stays. */
#ifndef CROSSBAYES_FILEKIND_H
#define CROSSBAYES_FILEKIND_H

#include <stddef.h>

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One list makes the enum and the words. */
#define XB_FILEKIND_LIST(X)                                                              \
    X(UNKNOWN, "a file of unknown kind")                                                 \
    X(TABLE, "a table of numbers")                                                       \
    X(NPY, "a NumPy array (.npy)")                                                       \
    X(TEXT, "a text file")                                                               \
    X(JSON, "a JSON file")                                                               \
    X(LAW, "a law file")                                                                 \
    X(ARRAY, "an array file")                                                            \
    X(COSTS, "a costs file")                                                             \
    X(DEVICE, "a device file")                                                           \
    X(STUDY, "a study's file of facts")                                                  \
    X(EXPORT, "the export of an array")                                                  \
    X(REPRODUCTION, "the claims of a reproduction")                                      \
    X(SAFETENSORS, "a safetensors file")                                                 \
    X(MODEL, "a model file")                                                             \
    X(CHECKPOINT, "a checkpoint of training")                                            \
    X(CACHE, "an image cache")                                                           \
    X(IDX, "an IDX file")                                                                \
    X(FOLDER, "a folder")                                                                \
    X(SVG, "an SVG figure")                                                              \
    X(HTML, "an HTML page")                                                              \
    X(XML, "an XML file")                                                                \
    X(PNG, "a PNG image")                                                                \
    X(JPEG, "a JPEG image")                                                              \
    X(GIF, "a GIF image")                                                                \
    X(TIFF, "a TIFF image")                                                              \
    X(PDF, "a PDF document")                                                             \
    X(GZIP, "a gzip-compressed file")                                                    \
    X(XZ, "an xz-compressed file")                                                       \
    X(BZIP2, "a bzip2-compressed file")                                                  \
    X(ZSTD, "a zstd-compressed file")                                                    \
    X(NPZ, "a NumPy archive (.npz)")                                                     \
    X(OFFICE, "an office document (.xlsx, .docx)")                                       \
    X(ZIP, "a zip archive")                                                              \
    X(PARQUET, "a Parquet file")                                                         \
    X(ARROW, "an Arrow file")                                                            \
    X(HDF5, "an HDF5 file")                                                              \
    X(MATLAB, "a MATLAB file")                                                           \
    X(PICKLE, "a Python pickle")                                                         \
    X(SQLITE, "an SQLite database")                                                      \
    X(UTF16, "a text in UTF-16")                                                         \
    X(PROGRAM, "a program")

typedef enum xb_filekind {
#define XB_FILEKIND_ENUM(name, words) XB_KIND_##name,
    XB_FILEKIND_LIST(XB_FILEKIND_ENUM)
#undef XB_FILEKIND_ENUM
        XB_KINDS
} xb_filekind;

XB_API const char *xb_filekind_words(xb_filekind kind);

/* XB_KIND_UNKNOWN if nothing is recognised, if the file cannot be read, or if it is not a
 * plain file (a pipe, "-"). Reads the first bytes; allocates nothing and never blocks. */
XB_API xb_filekind xb_filekind_detect(const char *path);

/* The same from the first bytes of a file; a few thousand are enough. */
XB_API xb_filekind xb_filekind_of(const void *head, size_t size);

/* Returns `status`. If it is XB_E_INPUT and the file is recognised as another kind, the
 * message now says what the file is and what was expected. */
XB_API xb_status xb_filekind_explain(xb_ctx *ctx, xb_status status, const char *path,
                                     xb_filekind expected);
/* The same for a file whose kind is known. */
XB_API xb_status xb_filekind_refuse(xb_ctx *ctx, xb_status status, const char *name,
                                    xb_filekind kind, xb_filekind expected);

#ifdef __cplusplus
}
#endif
#endif
