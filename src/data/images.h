/* images.h: what a set of images holds, and how its sources fill it. */
#ifndef XB_DATA_IMAGES_H
#define XB_DATA_IMAGES_H

#include "base/ctx.h"
#include "crossbayes/images.h"

struct xb_images {
    int64_t n, h, w, c;
    const uint8_t *bytes; /* [n][h][w][c]: in `owned` or in `map` */
    uint8_t *owned;
    void *map;
    size_t map_size;
    char **name;    /* [n]; NULL: by number */
    uint64_t *hash; /* [n] of the content */
    bool *broken;   /* [n]: no picture there */
    double *target; /* [n], NAN: none; NULL: unlabelled */
    char *target_name;
    int64_t classes;
    char **class_name;
    bool *copy, *conflict; /* [n]: as an earlier one; as one of another target */
    char *cache;           /* the file of decoded images; NULL: none is kept */
    xb_image_report report;
};

/* idx.c, image_folder.c: everything but copies. */
xb_status xb_images_read_idx(xb_ctx *ctx, xb_images *out, const char *path,
                             const xb_image_options *opt);
xb_status xb_images_read_folder(xb_ctx *ctx, xb_images *out, const char *path,
                                const xb_image_options *opt);

/* image_targets.c: targets of named images, from a table or from the names. */
xb_status xb_images_read_targets(xb_ctx *ctx, xb_images *images,
                                 const xb_image_options *opt);
xb_status xb_images_ages(xb_ctx *ctx, xb_images *images);

/* Marks copies and conflicts; what a source calls last. */
xb_status xb_images_finish(xb_ctx *ctx, xb_images *images);

/* The part an image belongs to by the hash of its content; never ALL. */
xb_part xb_part_of_hash(uint64_t hash);

#endif
