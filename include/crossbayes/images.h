/* crossbayes/images.h: images of one shape, as bytes, with their targets.
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
 * Images come from a folder of JPEG files, or from IDX files as MNIST has them. Images of
 * a folder are decoded once, by all threads, into a file that is mapped rather than read,
 * so that memory stays bounded. The folder itself is never written to. The file of
 * decoded images is kept as a cache in $XDG_CACHE_HOME/crossbayes, or in
 * ~/.cache/crossbayes where that is not set; a notice (xb_ctx_set_notice) says where. If
 * neither XDG_CACHE_HOME nor HOME is set, or nothing can be written there, the file has
 * no name and disappears with the xb_images. The caches together stay within
 * CROSSBAYES_CACHE_LIMIT bytes (e.g. 500M; 2G if it is not set; 0 keeps none): the least
 * recently used are removed first. A cache is checked (sizes, checksums, every source
 * file's size and time) and made again if anything differs.
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
/* Largest number of pixels of an image, before it is scaled. */
#define XB_IMAGE_PIXELS_MAX (1 << 26)

typedef struct xb_images xb_images;

/* What a path holds. */
typedef enum xb_image_source {
    XB_IMAGES_NONE,   /* something else, perhaps a table */
    XB_IMAGES_FOLDER, /* a folder */
    XB_IMAGES_IDX     /* an IDX file of images, gzipped or not */
} xb_image_source;

XB_API xb_image_source xb_images_detect(const char *path);

typedef struct xb_image_options {
    size_t struct_size;
    int64_t size; /* folder: images are cropped to the central square and scaled to this
                     side; 0: they stay as they are and must all have the same size */
    int64_t channels;         /* folder: 3, or 1 for grey */
    bool ages_in_names;       /* folder: the target is the number before the first '_' */
    const char *target_table; /* folder: a table with a column of file names, relative to
                            the folder, and the target; NULL: none */
    const char *target;       /* the target's column there, by name or number */
    const char *file;         /* the column of names; NULL: "file", "filename", "image",
                                 "name" or "path", else the first column besides the target */
    const char *labels;       /* IDX: the file of labels; NULL: the images' file name with
                                 "images-idx3" as "labels-idx1" */
    bool unlabelled;          /* there is no target: the images are for prediction */
    xb_target_kind target_kind; /* of the table's target, as in xb_frame_options */
    const char *const *classes; /* the only valid classes; NULL: those found */
    int64_t n_classes;
    bool skip_corrupt; /* true: files that are not JPEG or are broken are left out and
                          counted; false: they are an error */
    const char *cache; /* folder: path of the cache file, to which no limit applies; NULL:
                          a file in the user's cache folder. An existing file that is not
                          a cache is refused, not replaced */
    bool no_cache;     /* keep no cache */
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

/* Continues the hash *hash with the names and bytes of all JPEG files in a folder and
 * below it. */
XB_API xb_status xb_images_checksum(xb_ctx *ctx, uint64_t *hash, const char *folder);

/* What was found. The report and its texts are borrowed from the images. */
typedef struct xb_image_report xb_image_report;

XB_API const xb_image_report *xb_images_report(const xb_images *images);
/* Number of files whose names look like images, and of all others, which are ignored. */
XB_API int64_t xb_image_report_files(const xb_image_report *r);
XB_API int64_t xb_image_report_others(const xb_image_report *r);
/* Files left out because they are broken or have no target. The name is that of the first
 * one; NULL: there is none, here and below. */
XB_API int64_t xb_image_report_corrupt(const xb_image_report *r);
XB_API const char *xb_image_report_corrupt_name(const xb_image_report *r);
XB_API int64_t xb_image_report_unlabelled(const xb_image_report *r);
XB_API const char *xb_image_report_unlabelled_name(const xb_image_report *r);
/* Files kept although their names differ slightly from UTKFace's form, because they have
 * an age. */
XB_API int64_t xb_image_report_odd(const xb_image_report *r);
XB_API const char *xb_image_report_odd_name(const xb_image_report *r);
/* Files that are byte-identical with an earlier file of the same target, and of another
 * target. */
XB_API int64_t xb_image_report_duplicates(const xb_image_report *r);
XB_API int64_t xb_image_report_conflicting(const xb_image_report *r);
/* Whether nothing had to be decoded; whether a cache exists now; its file, NULL: none is
 * kept. */
XB_API bool xb_image_report_cache_used(const xb_image_report *r);
XB_API bool xb_image_report_cache_kept(const xb_image_report *r);
XB_API const char *xb_image_report_cache(const xb_image_report *r);

/* All borrowed. Images are numbered 0 to count - 1, in the order of their names; some of
 * them may be unusable (corrupt, or without a target): see xb_images_select. */
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
                                  int64_t i); /* NULL: it has none, as in an IDX file */
XB_API uint64_t xb_images_hash(const xb_images *images, int64_t i); /* hash of the image's
                                                                       content */

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

/* Returns the usable images of a part in ascending order; free *rows with xb_free().
 * distinct: without copies, and without images whose copies have different targets. */
XB_API xb_status xb_images_select(xb_ctx *ctx, int64_t **rows, int64_t *n,
                                  const xb_images *images, xb_part part, bool distinct);

/* Inputs for prediction: the selected images; images and rows are borrowed. */
XB_API xb_rows xb_images_rows(const xb_images *images, const int64_t *rows, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
