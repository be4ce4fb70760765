/* images.c: a set of images: its source, which images are usable, and which part each
 * belongs to.
 *
 * Copies are found by content: images sorted by hash (64 bits of the file's bytes) and
 * then by number, so that equal ones are neighbours. */
#include "base/comm.h"
#include "data/images.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/choice.h"
#include "base/memory.h"
#include "base/os.h"

void xb_image_options_init(xb_image_options *opt, size_t size)
{
    const xb_image_options standard = {.channels = 3};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

enum { HEAD = 4 };

static bool is_idx_head(const unsigned char head[HEAD])
{
    return head[0] == 0 && head[1] == 0 && head[2] == 8 && (head[3] == 3 || head[3] == 4);
}

/* If memory has run out, a gzipped file cannot be examined; reading it as an IDX file
 * then reports that. */
static bool unpacks_to_idx(const char *path)
{
    unsigned char head[HEAD] = {0};
    int error = Z_OK;
    errno = 0;
    gzFile file = gzopen(path, "rb");
    if (!file) return errno == 0 || errno == ENOMEM;
    bool whole = gzread(file, head, HEAD) == HEAD;
    (void)gzerror(file, &error);
    gzclose(file);
    return error == Z_MEM_ERROR || (whole && is_idx_head(head));
}

/* Needs no memory unless the file is gzipped, so that a lack of memory never makes a
 * table look like images.
 */
static bool looks_idx(const char *path)
{
    unsigned char head[HEAD] = {0};
    xb_os_info info;
    if (xb_os_read_head(&info, head, HEAD, path) != HEAD) return false;
    bool gzipped = head[0] == 0x1f && head[1] == 0x8b; /* magic bytes of RFC 1952 */
    return gzipped ? unpacks_to_idx(path) : is_idx_head(head);
}

xb_image_source xb_images_detect(const char *path)
{
    xb_os_info info;
    if (strcmp(path, "-") == 0 || !xb_os_look(&info, path)) return XB_IMAGES_NONE;
    if (info.kind == XB_OS_FOLDER) return XB_IMAGES_FOLDER;
    return info.kind == XB_OS_FILE && looks_idx(path) ? XB_IMAGES_IDX : XB_IMAGES_NONE;
}

static void hash_image(void *arg, int64_t i)
{
    const xb_images *m = arg;
    const int64_t size = m->h * m->w * m->c;
    m->hash[i] = xb_hash_bytes(0, m->bytes + i * size, (size_t)size);
}

static xb_status copy_arrays(xb_ctx *ctx, xb_images *m, const uint8_t *bytes,
                             const double *target, const char *target_name)
{
    const int64_t size = m->n * m->h * m->w * m->c;
    m->owned = xb_new(ctx, size, 1);
    m->hash = xb_new(ctx, m->n, sizeof *m->hash);
    if (!m->owned || !m->hash) return XB_E_MEMORY;
    memcpy(m->owned, bytes, (size_t)size);
    m->bytes = m->owned;
    m->report.files = m->n;
    if (target) {
        m->target = xb_new(ctx, m->n, sizeof *m->target);
        m->target_name = xb_strdup(ctx, target_name);
        if (!m->target || !m->target_name) return XB_E_MEMORY;
        memcpy(m->target, target, (size_t)m->n * sizeof *target);
    }
    xb_parallel_for(ctx, m->n, hash_image, m);
    return xb_images_finish(ctx, m);
}

xb_status xb_images_create(xb_ctx *ctx, xb_images **out, const uint8_t *bytes, int64_t n,
                           int64_t h, int64_t w, int64_t c, const double *target,
                           const char *target_name)
{
    if (n < 1 || h < 1 || w < 1 || h > XB_IMAGE_SIDE_MAX || w > XB_IMAGE_SIDE_MAX ||
        (c != 1 && c != 3) || n > INT64_MAX / (h * w * c))
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "%lld images of %lld x %lld x %lld: expected 1 or more, sides of 1 "
            "to %d, 1 or 3 channels",
            (long long)n, (long long)h, (long long)w, (long long)c, XB_IMAGE_SIDE_MAX);
    if (!target != !target_name)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a target needs a name, and a name needs a target");
    xb_images *images = xb_new(ctx, 1, sizeof *images);
    if (!images) return XB_E_MEMORY;
    images->n = n, images->h = h, images->w = w, images->c = c;
    xb_status status = copy_arrays(ctx, images, bytes, target, target_name);
    if (status == XB_OK)
        *out = images;
    else
        xb_images_destroy(images);
    return status;
}

static xb_status open_images(xb_ctx *ctx, xb_images **out, const char *path,
                             const xb_image_options *opt)
{
    xb_images *images = xb_new(ctx, 1, sizeof *images);
    if (!images) return XB_E_MEMORY;
    xb_status status = xb_images_detect(path) == XB_IMAGES_IDX
                           ? xb_images_read_idx(ctx, images, path, opt)
                           : xb_images_read_folder(ctx, images, path, opt);
    if (status == XB_OK) status = xb_images_finish(ctx, images);
    if (status == XB_OK)
        *out = images;
    else
        xb_images_destroy(images);
    return status;
}

/* If several ranks work together, the first decodes the images and keeps them; the others
 * then find the result. */
xb_status xb_images_open(xb_ctx *ctx, xb_images **out, const char *path,
                         const xb_image_options *opt)
{
    xb_image_options chosen;
    char turn = 0;
    XB_TRY(XB_OPTIONS_READ(ctx, image, &chosen, opt, no_cache));
    xb_comm *comm = xb_comm_together(ctx);
    if (!comm) return open_images(ctx, out, path, &chosen);
    if (comm->rank == 0) XB_TRY(open_images(ctx, out, path, &chosen));
    xb_comm_share(comm, &turn, sizeof turn);
    XB_TRY(xb_comm_check(ctx));
    return comm->rank == 0 ? XB_OK : open_images(ctx, out, path, &chosen);
}

static void free_texts(char **text, int64_t n)
{
    for (int64_t i = 0; text && i < n; i++) free(text[i]);
    free(text);
}

void xb_images_destroy(xb_images *images)
{
    if (!images) return;
    if (images->map) xb_os_unmap(images->map, images->map_size);
    free_texts(images->name, images->n);
    free_texts(images->class_name, images->classes);
    void *const blocks[] = {images->owned,    images->hash,        images->broken,
                            images->target,   images->target_name, images->copy,
                            images->conflict, images->cache};
    for (int i = 0; i < XB_COUNT(blocks); i++) free(blocks[i]);
    free(images);
}

/* ---- which images are usable */

static bool usable(const xb_images *m, int64_t i)
{
    return !(m->broken && m->broken[i]) && !(m->target && isnan(m->target[i]));
}

typedef struct keyed {
    uint64_t hash;
    int64_t row;
} keyed;

static int by_hash(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* One group of equal images: all of them conflict if two targets differ; otherwise the
 * first is kept. */
static void mark_group(xb_images *m, const keyed *key, int64_t n)
{
    bool conflict = false;
    for (int64_t i = 1; i < n && m->target; i++)
        conflict |= m->target[key[i].row] != m->target[key[0].row];
    for (int64_t i = 0; i < n; i++) {
        m->conflict[key[i].row] = conflict;
        m->copy[key[i].row] = i > 0;
    }
    if (conflict)
        m->report.conflicting += n;
    else
        m->report.duplicates += n - 1;
}

xb_status xb_images_finish(xb_ctx *ctx, xb_images *m)
{
    keyed *key = xb_new(ctx, m->n, sizeof *key);
    m->copy = xb_new(ctx, m->n, sizeof *m->copy);
    m->conflict = xb_new(ctx, m->n, sizeof *m->conflict);
    int64_t n = 0;
    for (int64_t i = 0; key && i < m->n; i++)
        if (usable(m, i)) key[n++] = (keyed){m->hash[i], i};
    if (!key || !m->copy || !m->conflict) {
        free(key);
        return XB_E_MEMORY;
    }
    qsort(key, (size_t)n, sizeof *key, by_hash);
    for (int64_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && key[end].hash == key[first].hash;) end++;
        mark_group(m, key + first, end - first);
    }
    free(key);
    return XB_OK;
}

/* ---- parts */

static const char *const part_names[] = {"all", "train", "validation", "test"};

const char *xb_part_name(xb_part part) { return part_names[part]; }

xb_status xb_part_parse(xb_ctx *ctx, xb_part *out, const char *text)
{
    int found;
    XB_TRY(xb_choice_parse(ctx, &found, "part", text, part_names, XB_COUNT(part_names)));
    *out = (xb_part)found;
    return XB_OK;
}

/* (I1) */
xb_part xb_part_of_hash(uint64_t hash)
{
    uint64_t tenth = UINT64_MAX / 10;
    if (hash < tenth) return XB_PART_TEST;
    return hash < 2 * tenth ? XB_PART_VALIDATION : XB_PART_TRAIN;
}

xb_status xb_images_select(xb_ctx *ctx, int64_t **rows, int64_t *n, const xb_images *m,
                           xb_part part, bool distinct)
{
    int64_t *list = xb_new(ctx, m->n, sizeof *list), count = 0;
    if (!list) return XB_E_MEMORY;
    for (int64_t i = 0; i < m->n; i++) {
        if (!usable(m, i) || (distinct && (m->copy[i] || m->conflict[i]))) continue;
        if (part == XB_PART_ALL || xb_part_of_hash(m->hash[i]) == part) list[count++] = i;
    }
    if (count == 0) {
        free(list);
        return xb_fail(ctx, XB_E_INPUT, "no image in the part '%s' can be used",
                       xb_part_name(part));
    }
    *rows = list;
    *n = count;
    return XB_OK;
}

xb_rows xb_images_rows(const xb_images *m, const int64_t *rows, int64_t n)
{
    return (xb_rows){
        .bytes = m->bytes, .select = rows, .n = n, .features = m->h * m->w * m->c};
}

/* ---- reading */

const xb_image_report *xb_images_report(const xb_images *m) { return &m->report; }
int64_t xb_images_count(const xb_images *m) { return m->n; }
const uint8_t *xb_images_bytes(const xb_images *m) { return m->bytes; }
const double *xb_images_target(const xb_images *m) { return m->target; }
const char *xb_images_target_name(const xb_images *m) { return m->target_name; }
int64_t xb_images_class_count(const xb_images *m) { return m->classes; }
uint64_t xb_images_hash(const xb_images *m, int64_t i) { return m->hash[i]; }

void xb_images_shape(const xb_images *m, int64_t *h, int64_t *w, int64_t *c)
{
    *h = m->h;
    *w = m->w;
    *c = m->c;
}

const char *xb_images_class_name(const xb_images *m, int64_t k)
{
    return m->class_name[k];
}

const char *xb_images_name(const xb_images *m, int64_t i)
{
    return m->name ? m->name[i] : NULL;
}
