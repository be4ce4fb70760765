/* image_cache.c: the layout of a cache and its checks.
 *
 * A cache has four parts. The head holds magic and byte order, counts, shape and
 * checksums. Records follow, one for each source file, then the names of these files,
 * each with its NUL. The pixels start at a multiple of 64 bytes, with one block for each
 * record.
 *
 * Every place in the file follows from the counts in the head, which must agree with the
 * folder as it is now and with the file's size: no offset in the file is trusted. The
 * checksum of head, records and names is checked first, then that of every image, by all
 * threads. */
#include "data/image_cache.h"

#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"
#include "crossbayes/filekind.h"

static const char MAGIC[8] = "XBIMAGE";
enum { VERSION = 1, ALIGNMENT = 64, PIECES = 64 };
#define BYTE_ORDER_MARK UINT64_C(0x0102030405060708)

typedef struct cache_head {
    char magic[8];
    uint64_t order;
    int64_t version, n, h, w, c, exact, names;
    uint64_t sum; /* checksum of the head (with 0 here), the records and the names */
} cache_head;

typedef struct layout {
    size_t records, names, names_size, pixels, image, total;
} layout;

static layout layout_from(int64_t n, size_t names_size, size_t image)
{
    layout l = {.records = sizeof(cache_head), .names_size = names_size, .image = image};
    l.names = l.records + (size_t)n * sizeof(xb_image_record);
    l.pixels = (l.names + l.names_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    l.total = l.pixels + l.image * (size_t)n;
    return l;
}

static layout layout_of(const xb_folder *f, const xb_jpeg_want *want)
{
    size_t names = 0;
    for (int64_t i = 0; i < f->n; i++) names += strlen(f->file[i].name) + 1;
    return layout_from(f->n, names, (size_t)(want->h * want->w * want->c));
}

static cache_head head_for(const xb_folder *f, const xb_jpeg_want *want, const layout *l)
{
    cache_head head = {.order = BYTE_ORDER_MARK,
                       .version = VERSION,
                       .n = f->n,
                       .h = want->h,
                       .w = want->w,
                       .c = want->c,
                       .exact = want->exact,
                       .names = (int64_t)l->names_size};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    return head;
}

/* The checksum of everything before the pixels. */
static uint64_t sum_of(const char *map, const layout *l)
{
    cache_head head;
    memcpy(&head, map, sizeof head);
    head.sum = 0;
    uint64_t h = xb_hash_bytes(0, &head, sizeof head);
    return xb_hash_bytes(h, map + l->records, l->pixels - l->records);
}

/* ---- opening */

static bool same_files(const char *map, const layout *l, const xb_folder *f)
{
    const xb_image_record *record = (const xb_image_record *)(map + l->records);
    size_t name = 0;
    for (int64_t i = 0; i < f->n; i++) {
        const xb_folder_file *file = &f->file[i];
        size_t length = strlen(file->name) + 1;
        if (record[i].size != file->size || record[i].time_ns != file->time_ns ||
            record[i].name != (int64_t)name || record[i].broken < 0 ||
            record[i].broken > 1 ||
            memcmp(map + l->names + name, file->name, length) != 0)
            return false;
        name += length;
    }
    return true;
}

typedef struct pixel_check {
    xb_image_cache *cache;
    int64_t n;
    size_t image;
    bool seal;
    bool bad[PIECES];
} pixel_check;

static void check_piece(void *arg, int64_t piece)
{
    pixel_check *k = arg;
    int64_t begin = piece * k->n / PIECES, end = (piece + 1) * k->n / PIECES;
    for (int64_t i = begin; i < end; i++) {
        xb_image_record *r = &k->cache->record[i];
        uint64_t sum = xb_hash_bytes(0, k->cache->bytes + (size_t)i * k->image, k->image);
        if (k->seal)
            r->pixels = sum;
        else
            k->bad[piece] |= sum != r->pixels;
    }
}

static bool all_pixels(const xb_ctx *ctx, xb_image_cache *c, int64_t n, size_t image)
{
    pixel_check k = {.cache = c, .n = n, .image = image};
    xb_parallel_for(ctx, PIECES, check_piece, &k);
    for (int i = 0; i < PIECES; i++)
        if (k.bad[i]) return false;
    return true;
}

/* Whether the head is as it must be; if the shape is open, the file's own shape is taken,
 * within limits. */
static bool fitting_head(const cache_head *head, const xb_folder *f, xb_jpeg_want *want,
                         size_t size, layout *l)
{
    xb_jpeg_want shape = *want;
    if (want->exact && want->h == 0) {
        bool possible = head->h > 0 && head->w > 0 && head->h <= XB_IMAGE_SIDE_MAX &&
                        head->w <= XB_IMAGE_SIDE_MAX;
        if (!possible) return false;
        shape.h = head->h;
        shape.w = head->w;
    }
    *l = layout_of(f, &shape);
    cache_head right = head_for(f, &shape, l);
    right.sum = head->sum;
    if (memcmp(&right, head, sizeof right) != 0 || size != l->total) return false;
    *want = shape;
    return true;
}

static bool check_map(const xb_ctx *ctx, xb_image_cache *out, const xb_folder *f,
                      xb_jpeg_want *want)
{
    char *map = out->map;
    layout l;
    cache_head head;
    memcpy(&head, map, sizeof head);
    if (!fitting_head(&head, f, want, out->map_size, &l)) return false;
    if (sum_of(map, &l) != head.sum || !same_files(map, &l, f)) return false;
    out->record = (xb_image_record *)(map + l.records);
    out->bytes = (uint8_t *)map + l.pixels;
    return all_pixels(ctx, out, f->n, l.image);
}

bool xb_image_cache_open(xb_ctx *ctx, xb_image_cache *out, const char *path,
                         const xb_folder *folder, xb_jpeg_want *want)
{
    xb_image_cache c = {0};
    xb_jpeg_want shape = *want;
    c.map = xb_os_map_file(&c.map_size, path, sizeof(cache_head));
    const bool good = c.map && check_map(ctx, &c, folder, &shape);
    if (good) {
        *out = c;
        *want = shape;
    } else {
        xb_image_cache_close(&c);
    }
    return good;
}

/* ---- making */

/* A truncated or damaged cache still counts as a cache, and so does an empty file. */
xb_status xb_image_cache_check(xb_ctx *ctx, const char *path)
{
    xb_os_info info;
    char head[sizeof MAGIC] = {0};
    const int64_t got = xb_os_read_head(&info, head, sizeof head, path);
    if (info.kind == XB_OS_NONE) return XB_OK; /* writing will report the reason */
    if (info.kind == XB_OS_FILE && got >= 0 && memcmp(head, MAGIC, (size_t)got) == 0)
        return XB_OK;
    xb_status status = xb_fail(ctx, XB_E_INPUT,
                               "%s: this file is not an image cache and would be "
                               "overwritten; choose another name",
                               path);
    return xb_filekind_explain(ctx, status, path, XB_KIND_CACHE);
}

int64_t xb_image_cache_size(const xb_folder *f, const xb_jpeg_want *want)
{
    return (int64_t)layout_of(f, want).total;
}

static void write_records(xb_image_cache *c, const xb_folder *f, const layout *l)
{
    char *names = (char *)c->map + l->names;
    size_t name = 0;
    for (int64_t i = 0; i < f->n; i++) {
        const xb_folder_file *file = &f->file[i];
        size_t length = strlen(file->name) + 1;
        c->record[i] = (xb_image_record){
            .size = file->size, .time_ns = file->time_ns, .name = (int64_t)name};
        memcpy(names + name, file->name, length);
        name += length;
    }
}

xb_status xb_image_cache_make(xb_ctx *ctx, xb_image_cache *out, FILE *stream,
                              const xb_folder *f, const xb_jpeg_want *want)
{
    layout l = layout_of(f, want);
    if (!xb_os_reserve(stream, (int64_t)l.total))
        return xb_fail(ctx, XB_E_IO, "no room for %lld MB of decoded images: %s",
                       (long long)(l.total >> 20) + 1, strerror(errno));
    xb_image_cache c = {.map_size = l.total};
    c.map = xb_os_map(stream, l.total);
    if (!c.map)
        return xb_fail(ctx, XB_E_IO, "cannot map decoded images: %s", strerror(errno));
    cache_head head = head_for(f, want, &l);
    memcpy(c.map, &head, sizeof head);
    c.record = (xb_image_record *)((char *)c.map + l.records);
    c.bytes = (uint8_t *)c.map + l.pixels;
    write_records(&c, f, &l);
    *out = c;
    return XB_OK;
}

void xb_image_cache_seal(xb_ctx *ctx, xb_image_cache *c)
{
    cache_head *head = c->map;
    layout l =
        layout_from(head->n, (size_t)head->names, (size_t)(head->h * head->w * head->c));
    pixel_check k = {.cache = c, .n = head->n, .image = l.image, .seal = true};
    xb_parallel_for(ctx, PIECES, check_piece, &k);
    head->sum = sum_of(c->map, &l);
}

void xb_image_cache_close(xb_image_cache *c)
{
    if (c->map) xb_os_unmap(c->map, c->map_size);
    *c = (xb_image_cache){0};
}
