/* checksum.c: hashes of files and of folders of images, so that results can record what
 * they were made from. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/images.h"
#include "data/folder.h"
#include "data/source.h"

enum { BLOCK = 1 << 16 };

xb_status xb_file_hash(xb_ctx *ctx, uint64_t *hash, int64_t *bytes, const char *path)
{
    xb_source source;
    XB_TRY(xb_source_open(ctx, &source, path));
    char *block = xb_new(ctx, BLOCK, 1);
    xb_status status = block ? XB_OK : XB_E_MEMORY;
    int64_t got = BLOCK, total = 0;
    uint64_t h = *hash;
    while (status == XB_OK && got == BLOCK) {
        status = xb_source_read(&source, block, BLOCK, &got);
        if (status == XB_OK) h = xb_hash_bytes(h, block, (size_t)got), total += got;
    }
    free(block);
    xb_source_close(&source);
    if (status != XB_OK) return status;
    *hash = h;
    *bytes = total;
    return XB_OK;
}

static xb_status hash_folder(xb_ctx *ctx, uint64_t *hash, const xb_folder *folder)
{
    uint8_t *bytes = NULL;
    int64_t capacity = 0;
    xb_status status = XB_OK;
    for (int64_t i = 0; i < folder->n && status == XB_OK; i++) {
        const xb_folder_file *f = &folder->file[i];
        status = xb_progress_tell(ctx, "checking the images", i, folder->n);
        if (status == XB_OK) status = xb_folder_read(ctx, &bytes, &capacity, folder, i);
        if (status != XB_OK) break;
        *hash = xb_hash_bytes(*hash, f->name, strlen(f->name));
        *hash = xb_hash_bytes(*hash, bytes, (size_t)f->size);
    }
    free(bytes);
    return status;
}

xb_status xb_images_checksum(xb_ctx *ctx, uint64_t *hash, const char *dir)
{
    static const char *const endings[] = {".jpg", ".jpeg", NULL};
    xb_folder folder = {0};
    XB_TRY(xb_folder_list(ctx, &folder, dir, endings));
    xb_status status = hash_folder(ctx, hash, &folder);
    xb_folder_free(&folder);
    return status;
}
