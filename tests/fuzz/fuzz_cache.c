/* fuzz_cache.c: a cache of decoded images, damaged. First byte 0: the rest is the file.
 * 1: a whole cache with bytes changed. 2: the same behind the head, and then sealed
 * again, as someone would who means harm: sums are no secret. What is taken for a cache
 * is read to its last byte. */
#include "data/image_cache.h"
#include "fuzz.h"

enum { FILES = 3, SIDE = 4, HEAD = 80 };

static xb_folder make_folder(void)
{
    static char names[FILES][8] = {"a.jpg", "b.jpg", "c/d.jpg"};
    static xb_folder_file file[FILES];
    for (int i = 0; i < FILES; i++) file[i] = (xb_folder_file){names[i], 100 + i, 7 * i};
    return (xb_folder){.path = names[0], .file = file, .n = FILES};
}

/* A cache of the folder in `file`, with damage between filling and sealing. */
static void make_cache(xb_ctx *ctx, const fuzz_file *file, const xb_folder *folder,
                       const xb_jpeg_want *want, const uint8_t *damage, size_t n)
{
    xb_image_cache cache;
    FILE *stream = fdopen(dup(file->fd), "r+b");
    if (!stream || xb_image_cache_make(ctx, &cache, stream, folder, want) != XB_OK)
        abort();
    fuzz_damage((uint8_t *)cache.map + HEAD, cache.map_size - HEAD, damage, n);
    xb_image_cache_seal(ctx, &cache);
    xb_image_cache_close(&cache);
    fclose(stream);
}

static void damage_file(const fuzz_file *file, const uint8_t *damage, size_t n)
{
    size_t size = 0;
    uint8_t *bytes = fuzz_slurp(file->path, &size);
    size = fuzz_damage(bytes, size, damage, n);
    if (ftruncate(file->fd, (off_t)size) != 0 ||
        pwrite(file->fd, bytes, size, 0) != (ssize_t)size)
        abort();
    free(bytes);
}

static void open_cache(xb_ctx *ctx, const char *path, const xb_folder *folder,
                       xb_jpeg_want want)
{
    xb_image_cache cache;
    if (!xb_image_cache_open(ctx, &cache, path, folder, &want)) return;
    fuzz_touch(cache.bytes, (size_t)(FILES * want.h * want.w * want.c));
    for (int64_t i = 0; i < FILES; i++)
        if (cache.record[i].broken < 0 || cache.record[i].broken > 1) abort();
    xb_image_cache_close(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const int kind = data[0] % 3;
    const xb_folder folder = make_folder();
    const xb_jpeg_want want = {SIDE, SIDE, 3, true}, open_shape = {0, 0, 3, true};
    xb_ctx *ctx = fuzz_ctx();
    fuzz_file file = fuzz_file_make(data + 1, kind == 0 ? size - 1 : 0);
    if (kind == 1) {
        make_cache(ctx, &file, &folder, &want, NULL, 0);
        damage_file(&file, data + 1, size - 1);
    } else if (kind == 2) {
        make_cache(ctx, &file, &folder, &want, data + 1, size - 1);
    }
    open_cache(ctx, file.path, &folder, want);
    open_cache(ctx, file.path, &folder, open_shape);
    fuzz_file_close(&file);
    xb_ctx_destroy(ctx);
    return 0;
}
