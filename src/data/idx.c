/* idx.c: images and labels from IDX files, the format of MNIST (LeCun, Cortes, Burges):
 * two zero bytes, 8 for unsigned bytes, the number of dimensions, each dimension as four
 * bytes from the highest, then the data; plain or gzipped. Headers are not trusted: a
 * plain file must have the bytes that its header states, a gzipped one may unpack to a
 * limited multiple of its size, memory grows only as data arrive, and the file must end
 * where the header says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/files.h"
#include "base/os.h"
#include "crossbayes/extend.h"
#include "base/memory.h"
#include "crossbayes/filekind.h"
#include "data/images.h"

enum { DIMENSIONS_MAX = 4, UNSIGNED_BYTE = 8, PIECE = 1 << 24, CHANNELS_MAX = 256 };

static const int64_t BYTES_MAX = INT64_C(1) << 33; /* largest size of the data, whatever
                                                      the header says */
/* The largest ratio of a gzipped file: images of digits compress 5 times, zeros 1000
 * times. */
enum { UNPACKED_TIMES = 200, UNPACKED_ALWAYS = 64 << 20 };

typedef struct idx {
    int ndim;
    int64_t shape[DIMENSIONS_MAX];
    uint8_t *data;
} idx;

typedef struct idx_file {
    xb_ctx *ctx;
    const char *path;
    int64_t size; /* size of the file */
    gzFile stream;
} idx_file;

static xb_status refuse(const idx_file *f, const char *what)
{
    return xb_fail(f->ctx, XB_E_INPUT, "%s: %s", f->path, what);
}

static xb_status starved(const idx_file *f)
{
    return xb_fail(f->ctx, XB_E_MEMORY, "%s: not enough memory to read it", f->path);
}

/* Reads exactly `want` bytes, at most PIECE of them. */
static xb_status read_bytes(const idx_file *f, void *to, int64_t want)
{
    int got = gzread(f->stream, to, (unsigned)want), error = Z_OK;
    if (got == want) return XB_OK;
    (void)gzerror(f->stream, &error);
    if (error == Z_MEM_ERROR) return starved(f);
    return refuse(f, got < 0 ? "damaged gzip data" : "shorter than its header says");
}

static xb_status read_shape(const idx_file *f, idx *out, int least, int most)
{
    unsigned char head[4], size[4];
    XB_TRY(read_bytes(f, head, sizeof head));
    if (head[0] || head[1] || head[2] != UNSIGNED_BYTE)
        return refuse(f, "not an IDX file of bytes");
    out->ndim = head[3];
    if (out->ndim < least || out->ndim > most)
        return xb_fail(f->ctx, XB_E_INPUT, "%s: an IDX file of %d %s, expected %d",
                       f->path, out->ndim,
                       xb_plural(out->ndim, "dimension", "dimensions"), least);
    for (int i = 0; i < out->ndim; i++) {
        XB_TRY(read_bytes(f, size, sizeof size));
        out->shape[i] = (int64_t)size[0] << 24 | (int64_t)size[1] << 16 |
                        (int64_t)size[2] << 8 | (int64_t)size[3];
        if (out->shape[i] < 1) return refuse(f, "a dimension of 0");
    }
    return XB_OK;
}

/* The number of bytes of all dimensions; -1 beyond BYTES_MAX. */
static int64_t total_bytes(const idx *x)
{
    int64_t total = 1;
    for (int i = 0; i < x->ndim; i++) {
        if (total > BYTES_MAX / x->shape[i]) return -1;
        total *= x->shape[i];
    }
    return total;
}

/* Checks the size before memory is allocated. */
static xb_status check_total(const idx_file *f, int64_t total)
{
    if (total < 0) return refuse(f, "more than 8 GiB of images");
    const bool packed = !gzdirect(f->stream);
    if (!packed && total > f->size) return refuse(f, "shorter than its header says");
    if (!packed || total <= UNPACKED_ALWAYS || total / UNPACKED_TIMES <= f->size)
        return XB_OK;
    return xb_fail(f->ctx, XB_E_INPUT,
                   "%s: %lld bytes unpack to %lld, expected at most %d times as many",
                   f->path, (long long)f->size, (long long)total, UNPACKED_TIMES);
}

static xb_status read_data(const idx_file *f, idx *out)
{
    int64_t total = total_bytes(out), capacity = 0, have = 0;
    char task[256], extra;
    XB_TRY(check_total(f, total));
    snprintf(task, sizeof task, "reading %s", f->path);
    while (have < total) {
        int64_t want = total - have < PIECE ? total - have : PIECE;
        XB_TRY(xb_grow(f->ctx, (void **)&out->data, &capacity, have + want, 1));
        XB_TRY(read_bytes(f, out->data + have, want));
        have += want;
        XB_TRY(xb_progress_tell(f->ctx, task, have, total));
    }
    if (gzread(f->stream, &extra, 1) != 0)
        return refuse(f, "longer than its header says, or damaged");
    return XB_OK;
}

static xb_status read_idx(xb_ctx *ctx, idx *out, const char *path, int least, int most)
{
    xb_os_info info;
    idx_file f = {.ctx = ctx, .path = path};
    if (!xb_os_look(&info, path)) return refuse(&f, "cannot read");
    if (info.kind != XB_OS_FILE) return refuse(&f, "not a file, expected IDX data");
    f.size = info.size;
    XB_TRY(xb_files_note(ctx, &info, path));
    errno = 0;
    f.stream = gzopen(path, "rb");
    if (!f.stream && (errno == 0 || errno == ENOMEM)) return starved(&f);
    if (!f.stream) return refuse(&f, "cannot read");
    idx x = {0};
    xb_status status = read_shape(&f, &x, least, most);
    if (status == XB_OK) status = read_data(&f, &x);
    gzclose(f.stream);
    if (status == XB_OK)
        *out = x;
    else
        free(x.data);
    return xb_filekind_explain(ctx, status, path, XB_KIND_IDX);
}

/* Turns ".../train-images-idx3-ubyte.gz" into ".../train-labels-idx1-ubyte.gz". */
static xb_status labels_path(xb_ctx *ctx, char **out, const char *images)
{
    static const char from[] = "images-idx3", to[] = "labels-idx1";
    char *path = xb_strdup(ctx, images), *last = NULL;
    if (!path) return XB_E_MEMORY;
    for (char *at = path; (at = strstr(at, from)) != NULL; at++) last = at;
    if (last) {
        memcpy(last, to, sizeof to - 1);
        *out = path;
        return XB_OK;
    }
    free(path);
    return xb_fail(
        ctx, XB_E_INPUT,
        "%s: the file of labels is not given and cannot be derived from this name",
        images);
}

/* Classes "0", "1", ... up to the largest label, or the given number of them. */
static xb_status name_classes(xb_ctx *ctx, xb_images *m, int64_t classes,
                              const char *const *names)
{
    m->class_name = xb_new(ctx, classes, sizeof *m->class_name);
    if (!m->class_name) return XB_E_MEMORY;
    m->classes = classes;
    for (int64_t k = 0; k < classes; k++) {
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)k);
        m->class_name[k] = xb_strdup(ctx, names ? names[k] : text);
        if (!m->class_name[k]) return XB_E_MEMORY;
    }
    return XB_OK;
}

static xb_status take_labels(xb_ctx *ctx, xb_images *m, const idx *labels,
                             const char *path, const xb_image_options *opt)
{
    int64_t classes = 0;
    if (labels->shape[0] != m->n)
        return xb_fail(ctx, XB_E_INPUT, "%s: %lld %s for %lld %s", path,
                       (long long)labels->shape[0],
                       xb_plural(labels->shape[0], "label", "labels"), (long long)m->n,
                       xb_plural(m->n, "image", "images"));
    m->target = xb_new(ctx, m->n, sizeof *m->target);
    m->target_name = xb_strdup(ctx, "label");
    if (!m->target || !m->target_name) return XB_E_MEMORY;
    for (int64_t i = 0; i < m->n; i++) {
        m->target[i] = labels->data[i];
        if (labels->data[i] >= classes) classes = labels->data[i] + 1;
    }
    if (opt->classes && classes > opt->n_classes)
        return xb_fail(ctx, XB_E_INPUT, "%s: label %lld is unknown, expected 0 to %lld",
                       path, (long long)classes - 1, (long long)opt->n_classes - 1);
    return name_classes(ctx, m, opt->classes ? opt->n_classes : classes, opt->classes);
}

static xb_status read_labels(xb_ctx *ctx, xb_images *m, const char *images,
                             const xb_image_options *opt)
{
    char *guessed = NULL;
    idx labels = {0};
    if (!opt->labels) XB_TRY(labels_path(ctx, &guessed, images));
    const char *path = opt->labels ? opt->labels : guessed;
    xb_status status = read_idx(ctx, &labels, path, 1, 1);
    if (status == XB_OK) status = take_labels(ctx, m, &labels, path, opt);
    free(labels.data);
    free(guessed);
    return status;
}

xb_status xb_images_read_idx(xb_ctx *ctx, xb_images *m, const char *path,
                             const xb_image_options *opt)
{
    idx x = {.shape = {1, 1, 1, 1}};
    XB_TRY(read_idx(ctx, &x, path, 3, 4));
    m->owned = x.data;
    m->bytes = x.data;
    m->n = x.shape[0], m->h = x.shape[1], m->w = x.shape[2];
    m->c = x.ndim == 4 ? x.shape[3] : 1;
    m->report.files = m->n;
    m->hash = xb_new(ctx, m->n, sizeof *m->hash);
    if (!m->hash) return XB_E_MEMORY;
    if (m->h > XB_IMAGE_SIDE_MAX || m->w > XB_IMAGE_SIDE_MAX || m->c > CHANNELS_MAX)
        return xb_fail(ctx, XB_E_INPUT, "%s: images of %lld x %lld x %lld are too large",
                       path, (long long)m->h, (long long)m->w, (long long)m->c);
    size_t image = (size_t)(m->h * m->w * m->c);
    for (int64_t i = 0; i < m->n; i++)
        m->hash[i] = xb_hash_bytes(0, m->bytes + (size_t)i * image, image);
    return opt->unlabelled ? XB_OK : read_labels(ctx, m, path, opt);
}
