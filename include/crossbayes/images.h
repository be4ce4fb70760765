/* crossbayes/images.h: images of one shape, as bytes, with what is to be learnt of them.
 *
 *     xb_image_options opt = xb_image_options_default();
 *     opt.size = 100;
 *     opt.ages_in_names = true;                        // UTKFace: 26_1_2_....jpg
 *     xb_images *images = NULL;
 *     if (xb_images_open(ctx, &images, "UTKFace", &opt) != XB_OK) ...
 *     int64_t *rows = NULL, n = 0;
 *     xb_images_select(ctx, &rows, &n, images, XB_PART_TRAIN, true);
 *     xb_train_data data = xb_train_data_of_images(images, rows, n);
 *
 * From a folder of JPEG files, or from IDX files as MNIST has them. Images of a folder
 * are decoded once, by all threads, into a file that is mapped, not read: memory stays
 * bounded. The folder itself is never written to. The file of decoded images is kept as a
 * cache in $XDG_CACHE_HOME/crossbayes, or in ~/.cache/crossbayes where that is not set; a
 * notice (xb_ctx_set_notice) says where. Where neither XDG_CACHE_HOME nor HOME is set, or
 * nothing can be written there, it has no name and vanishes with the xb_images. The
 * caches together stay within CROSSBAYES_CACHE_LIMIT bytes (500M, 2G; 2G where it is not
 * set; 0 keeps none): the longest unused are removed first. A cache is checked (sizes,
 * checksums, every source file's size and time) and made again where anything differs.
 *
 * No file is trusted: dimensions, memory and scans of a JPEG are limited, sizes of an IDX
 * file are checked before they are used.
 */
#ifndef CROSSBAYES_IMAGES_H
#define CROSSBAYES_IMAGES_H

#include "crossbayes/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define XB_IMAGE_SIDE_MAX 16384
#define XB_IMAGE_PIXELS_MAX (1 << 26) /* of one image, before it is scaled */

typedef struct xb_images xb_images;

/* What a path holds. */
typedef enum xb_image_source {
    XB_IMAGES_NONE,   /* something else: a table, perhaps */
    XB_IMAGES_FOLDER, /* a folder */
    XB_IMAGES_IDX     /* an IDX file of images, gzipped or not */
} xb_image_source;

XB_API xb_image_source xb_images_look(const char *path);

typedef struct xb_image_options {
    size_t struct_size;
    int64_t size;     /* folder: cut to a square from the middle, scaled to this side; 0:
                         as they are, which must be the same for all */
    int64_t channels; /* folder: 3, or 1 for grey */
    bool ages_in_names;  /* folder: the target is the number before the first '_' */
    const char *targets; /* folder: a table with a column of file names, relative to
                            the folder, and the target; NULL: none */
    const char *target;  /* the target's column there, by name or number */
    const char *file;    /* the column of names; NULL: "file", "filename", "image",
                            "name" or "path", else the first beside the target */
    const char *labels;  /* IDX: the file of labels; NULL: the images' file name with
                            "images-idx3" as "labels-idx1" */
    bool unlabelled;     /* there is no target: to predict */
    xb_target_kind target_kind; /* of a table, as in xb_frame_options */
    const char *const *classes; /* the only classes there may be; NULL: those found */
    int64_t n_classes;
    bool skip_corrupt; /* a file that is no JPEG, or a broken one: false, fail; true,
                          leave it out and count it */
    const char *cache; /* folder: the cache's file, beyond any limit; NULL: one in the
                          user's cache folder. A file that is there and is no cache is
                          refused, not replaced */
    bool no_cache;     /* keep none */
} xb_image_options;

XB_OPTIONS(image);

/* opt NULL: the defaults. */
XB_API xb_status xb_images_open(xb_ctx *ctx, xb_images **out, const char *path,
                                const xb_image_options *opt);
XB_API void xb_images_destroy(xb_images *images); /* NULL is fine */

/* Images from arrays, which are copied: bytes [n][h][w][c], target [n] of numbers called
 * target_name, or both NULL. n >= 1, sides up to XB_IMAGE_SIDE_MAX, c is 1 or 3. */
XB_API xb_status xb_images_create(xb_ctx *ctx, xb_images **out, const uint8_t *bytes,
                                  int64_t n, int64_t h, int64_t w, int64_t c,
                                  const double *target, const char *target_name);

/* Chains to *hash the names and bytes of all JPEG files in a folder and below it. */
XB_API xb_status xb_images_checksum(xb_ctx *ctx, uint64_t *hash, const char *folder);

/* What was found, borrowed from the images as its texts are. */
typedef struct xb_image_report xb_image_report;

XB_API const xb_image_report *xb_images_report(const xb_images *images);
/* Files that look like images, by their names, and those that do not: left alone. */
XB_API int64_t xb_image_report_files(const xb_image_report *r);
XB_API int64_t xb_image_report_others(const xb_image_report *r);
/* Left out: broken files, images without a target. The name is the first of them, NULL:
 * there is none, here and below. */
XB_API int64_t xb_image_report_corrupt(const xb_image_report *r);
XB_API const char *xb_image_report_corrupt_name(const xb_image_report *r);
XB_API int64_t xb_image_report_unlabelled(const xb_image_report *r);
XB_API const char *xb_image_report_unlabelled_name(const xb_image_report *r);
/* Names that are not quite UTKFace's, but have an age. */
XB_API int64_t xb_image_report_odd(const xb_image_report *r);
XB_API const char *xb_image_report_odd_name(const xb_image_report *r);
/* Byte-identical with an earlier file of the same target, and with one of another. */
XB_API int64_t xb_image_report_duplicates(const xb_image_report *r);
XB_API int64_t xb_image_report_conflicting(const xb_image_report *r);
/* Nothing had to be decoded; a cache is there now; its file, NULL: none is kept. */
XB_API bool xb_image_report_cache_used(const xb_image_report *r);
XB_API bool xb_image_report_cache_kept(const xb_image_report *r);
XB_API const char *xb_image_report_cache(const xb_image_report *r);

/* All borrowed. Images are numbered 0 .. count - 1, in the order of their names; some of
 * them may be of no use (corrupt, without a target): see xb_images_select. */
XB_API int64_t xb_images_count(const xb_images *images);
XB_API void xb_images_shape(const xb_images *images, int64_t *h, int64_t *w, int64_t *c);
XB_API const uint8_t *xb_images_bytes(const xb_images *images);    /* [count][h][w][c] */
XB_API const double *xb_images_target(const xb_images *images);    /* [count], NAN: none;
                                                                      NULL: unlabelled */
XB_API const char *xb_images_target_name(const xb_images *images); /* NULL: unlabelled */
XB_API int64_t
xb_images_class_count(const xb_images *images); /* 0: a target of numbers */
XB_API const char *xb_images_class_name(const xb_images *images, int64_t k);
XB_API const char *xb_images_name(const xb_images *images,
                                  int64_t i); /* NULL: it has none, in an IDX */
XB_API uint64_t xb_images_hash(const xb_images *images, int64_t i); /* of the content */

/* Which part an image belongs to is a function of its content alone (I1): 8 of 10 to
 * train, 1 to validate, 1 to test. Copies of an image are always in one part. */
typedef enum xb_part {
    XB_PART_ALL,
    XB_PART_TRAIN,
    XB_PART_VALIDATION,
    XB_PART_TEST
} xb_part;

XB_API const char *xb_part_name(xb_part part); /* "all", "train", ... */
XB_API xb_status xb_part_parse(xb_ctx *ctx, xb_part *out, const char *text);

/* The usable images of a part, ascending; xb_free(*rows). distinct: without copies, and
 * without images whose copies carry different targets. */
XB_API xb_status xb_images_select(xb_ctx *ctx, int64_t **rows, int64_t *n,
                                  const xb_images *images, xb_part part, bool distinct);

/* Inputs for prediction: the selected images. */
XB_API xb_rows xb_images_rows(const xb_images *images, const int64_t *rows, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
