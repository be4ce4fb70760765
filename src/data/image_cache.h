/* image_cache.h: decoded images of a folder in one file.
 *
 * A head, a record for each source file, their names, the pixels; see image_cache.c. A
 * cache is used only if it is exactly what this folder and these options would give. */
#ifndef XB_DATA_IMAGE_CACHE_H
#define XB_DATA_IMAGE_CACHE_H

#include <stdio.h>

#include "data/folder.h"
#include "data/jpeg.h"

/* One source file. All fields are 64 bits wide and written unchanged. */
typedef struct xb_image_record {
    int64_t size, time_ns; /* size and time of the file when it was decoded */
    uint64_t hash, pixels; /* hashes of the file's bytes and of its pixels */
    int64_t name;          /* offset of the name among all names */
    int64_t broken;        /* 1: it could not be decoded */
} xb_image_record;

typedef struct xb_image_cache {
    void *map;
    size_t map_size;
    xb_image_record *record; /* [n], in the map */
    uint8_t *bytes;          /* [n][h][w][c], in the map */
} xb_image_cache;

/* Maps a matching cache. False: there is none, it is of another version, other files or
 * another size, or it is damaged. want->exact with h = 0 takes the cache's own shape, and
 * writes it to want. */
bool xb_image_cache_open(xb_ctx *ctx, xb_image_cache *out, const char *path,
                         const xb_folder *folder, xb_jpeg_want *want);

/* XB_E_INPUT if there is a file at `path` that is not a cache and would be lost. */
xb_status xb_image_cache_check(xb_ctx *ctx, const char *path);

/* The size of the file in bytes. */
int64_t xb_image_cache_size(const xb_folder *folder, const xb_jpeg_want *want);

/* Makes room in `stream` for the whole cache and maps it for writing; records have name,
 * size and time. After records and bytes are filled, sealing computes and writes the
 * sums. */
xb_status xb_image_cache_make(xb_ctx *ctx, xb_image_cache *out, FILE *stream,
                              const xb_folder *folder, const xb_jpeg_want *want);
void xb_image_cache_seal(xb_ctx *ctx, xb_image_cache *cache);
void xb_image_cache_close(xb_image_cache *cache);

#endif
