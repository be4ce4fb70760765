/* images.h: the contents of a set of images, and the functions of its sources that fill
 * it. */
#ifndef XB_DATA_IMAGES_H
#define XB_DATA_IMAGES_H

#include "base/ctx.h"
#include "crossbayes/images.h"

/* What was found. Names are borrowed from the images; NULL: there is none. */
struct xb_image_report {
    int64_t files;       /* number of files that look like images, by their names */
    int64_t others;      /* number of other files, which are ignored */
    int64_t corrupt;     /* number of broken files, which are left out */
    int64_t unlabelled;  /* number of files without a target, which are left out */
    int64_t odd;         /* names that are not quite UTKFace's, but have an age */
    int64_t duplicates;  /* byte-identical with an earlier file of the same target */
    int64_t conflicting; /* byte-identical with a file of another target */
    const char *corrupt_name, *unlabelled_name, *odd_name; /* name of the first file of
                                                              each kind */
    bool cache_used;                                       /* nothing had to be decoded */
    bool cache_kept;                                       /* a cache exists now */
    const char *cache; /* its file; NULL: none is kept */
};

struct xb_images {
    int64_t n, h, w, c;
    const uint8_t *bytes; /* [n][h][w][c]: in `owned` or in `map` */
    uint8_t *owned;
    void *map;
    size_t map_size;
    char **name;    /* [n]; NULL: by number */
    uint64_t *hash; /* [n] hashes of the content */
    bool *broken;   /* [n]: it could not be decoded */
    double *target; /* [n], NAN: none; NULL: unlabelled */
    char *target_name;
    int64_t classes;
    char **class_name;
    bool *copy, *conflict; /* [n]: same content as an earlier one; same content as one
                              with another target */
    char *cache;           /* the file of decoded images; NULL: none is kept */
    xb_image_report report;
};

/* idx.c, image_folder.c: read everything except copies. */
xb_status xb_images_read_idx(xb_ctx *ctx, xb_images *out, const char *path,
                             const xb_image_options *opt);
xb_status xb_images_read_folder(xb_ctx *ctx, xb_images *out, const char *path,
                                const xb_image_options *opt);

/* image_targets.c: targets of named images, from a table or from the names. */
xb_status xb_images_read_targets(xb_ctx *ctx, xb_images *images,
                                 const xb_image_options *opt);
xb_status xb_images_ages(xb_ctx *ctx, xb_images *images);

/* Marks copies and conflicts; each source calls this last. */
xb_status xb_images_finish(xb_ctx *ctx, xb_images *images);

/* The part an image belongs to by the hash of its content; never ALL. */
xb_part xb_part_of_hash(uint64_t hash);

#endif
