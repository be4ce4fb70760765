/* image_folder.c: a folder of JPEG files to images of one shape.
 *
 * Files are decoded by all threads straight into a mapped file, a slab of them at a time
 * so that progress can be reported; which failure is reported first does not depend on
 * threads. The file becomes the cache (cache_folder.h, or the path in the options) or has
 * no name and disappears with the images. The folder of the images is never written to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "crossbayes/extend.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/outfile.h"
#include "data/cache_folder.h"
#include "data/image_cache.h"
#include "data/images.h"

static const char *const endings[] = {".jpg", ".jpeg", NULL};
static const char CACHE_ENDING[] = ".images";

enum { SLAB = 512, PIECES = 16, FILE_MAX = 256 << 20 };

typedef struct folder_job {
    xb_ctx *ctx;
    const xb_image_options *opt;
    xb_folder folder;
    xb_jpeg_want want;
    xb_image_cache cache;
    bool used, kept;
    xb_cache_folder home; /* the folder of caches; its path is "" if the options name the
                             file */
    char path[XB_FOLDER_PATH]; /* path of the cache; "": none is kept */
    int64_t first, end;        /* range of files of the slab */
    uint8_t *bytes[PIECES];
    int64_t capacity[PIECES];
    xb_status status[PIECES];
} folder_job;

/* ---- one file */

static bool small_enough(const folder_job *job, int64_t i, char why[XB_JPEG_WHY])
{
    if (job->folder.file[i].size <= FILE_MAX) return true;
    snprintf(why, XB_JPEG_WHY, "a file of more than %d MiB", FILE_MAX >> 20);
    return false;
}

/* A picture that could not be decoded for lack of memory is not broken. */
static xb_status check_starved(const folder_job *job, xb_ctx *ctx, int64_t i,
                               const char why[XB_JPEG_WHY])
{
    if (!xb_jpeg_starved(why)) return XB_OK;
    return xb_fail(ctx, XB_E_MEMORY, "%s/%s: %s", job->folder.path,
                   job->folder.file[i].name, why);
}

/* Reads and decodes file i to its place. ctx NULL: the reason of a failure is not
 * reported. */
static xb_status decode(folder_job *job, xb_ctx *ctx, int piece, int64_t i,
                        char why[XB_JPEG_WHY])
{
    xb_image_record *r = &job->cache.record[i];
    size_t image = (size_t)(job->want.h * job->want.w * job->want.c);
    r->broken = 1;
    if (!small_enough(job, i, why)) return XB_OK;
    XB_TRY(
        xb_folder_read(ctx, &job->bytes[piece], &job->capacity[piece], &job->folder, i));
    const uint8_t *bytes = job->bytes[piece];
    uint8_t *out = job->cache.bytes + (size_t)i * image;
    r->hash = xb_hash_bytes(0, bytes, (size_t)r->size);
    r->broken = !xb_jpeg_decode(out, why, &job->want, bytes, r->size);
    if (!r->broken) return XB_OK;
    memset(out, 0, image);
    return check_starved(job, ctx, i, why);
}

static void decode_piece(void *arg, int64_t piece)
{
    folder_job *job = arg;
    int64_t n = job->end - job->first;
    int64_t begin = job->first + piece * n / PIECES;
    int64_t end = job->first + (piece + 1) * n / PIECES;
    char why[XB_JPEG_WHY];
    for (int64_t i = begin; i < end && job->status[piece] == XB_OK; i++)
        job->status[piece] = decode(job, NULL, (int)piece, i, why);
}

/* ---- all of them */

/* A file that could not be read is read again for its message. */
static xb_status check_slab(folder_job *job)
{
    char why[XB_JPEG_WHY];
    bool failed = false;
    for (int p = 0; p < PIECES; p++) failed |= job->status[p] != XB_OK;
    for (int64_t i = job->first; failed && i < job->end; i++)
        XB_TRY(decode(job, job->ctx, 0, i, why));
    memset(job->status, 0, sizeof job->status);
    return XB_OK;
}

static xb_status decode_all(folder_job *job)
{
    char task[256];
    snprintf(task, sizeof task, "decoding %s", job->folder.path);
    for (int64_t i = 0; i < job->folder.n; i += SLAB) {
        job->first = i;
        job->end = job->folder.n - i < SLAB ? job->folder.n : i + SLAB;
        xb_parallel_for(job->ctx, PIECES, decode_piece, job);
        XB_TRY(check_slab(job));
        XB_TRY(xb_progress_tell(job->ctx, task, job->end, job->folder.n));
    }
    return XB_OK;
}

/* Broken files are an error unless they are to be left out. */
static xb_status check_broken(folder_job *job)
{
    int64_t broken = 0, first = -1;
    for (int64_t i = 0; i < job->folder.n; i++)
        if (job->cache.record[i].broken && broken++ == 0) first = i;
    if (first < 0 || (job->opt->skip_corrupt && broken < job->folder.n)) return XB_OK;
    char why[XB_JPEG_WHY] = "cannot be decoded";
    uint8_t *room = xb_new(job->ctx, job->want.h * job->want.w * job->want.c, 1);
    if (!room) return XB_E_MEMORY;
    xb_status status = XB_OK;
    if (small_enough(job, first, why))
        status = xb_folder_read(job->ctx, &job->bytes[0], &job->capacity[0], &job->folder,
                                first);
    if (status == XB_OK && job->bytes[0])
        (void)xb_jpeg_decode(room, why, &job->want, job->bytes[0],
                             job->folder.file[first].size);
    free(room);
    if (status != XB_OK) return status;
    return xb_fail(job->ctx, XB_E_INPUT, "%s/%s: %s (%lld of %lld %s cannot be decoded)",
                   job->folder.path, job->folder.file[first].name, why, (long long)broken,
                   (long long)job->folder.n, xb_plural(job->folder.n, "file", "files"));
}

/* The first picture that has a shape determines the shape of all. */
static xb_status find_shape(folder_job *job)
{
    char why[XB_JPEG_WHY] = "";
    job->want.c = job->opt->channels;
    for (int64_t i = 0; i < job->folder.n; i++) {
        if (!small_enough(job, i, why)) continue;
        XB_TRY(
            xb_folder_read(job->ctx, &job->bytes[0], &job->capacity[0], &job->folder, i));
        if (xb_jpeg_shape(&job->want.h, &job->want.w, why, job->bytes[0],
                          job->folder.file[i].size))
            return XB_OK;
        XB_TRY(check_starved(job, job->ctx, i, why));
        if (!job->opt->skip_corrupt) break;
    }
    return xb_fail(job->ctx, XB_E_INPUT, "%s/%s: %s", job->folder.path,
                   job->folder.file[0].name, why);
}

/* ---- where they are kept */

static xb_status fill(folder_job *job, FILE *stream)
{
    XB_TRY(xb_image_cache_make(job->ctx, &job->cache, stream, &job->folder, &job->want));
    XB_TRY(decode_all(job));
    XB_TRY(check_broken(job));
    xb_image_cache_seal(job->ctx, &job->cache);
    return XB_OK;
}

static xb_status fill_named(folder_job *job, xb_outfile *file)
{
    xb_status status = fill(job, xb_outfile_stream(file));
    if (status == XB_OK) {
        job->kept = true;
        return xb_outfile_commit(job->ctx, file);
    }
    xb_outfile_discard(file);
    return status;
}

static xb_status fill_nameless(folder_job *job)
{
    char path[XB_FOLDER_PATH];
    FILE *stream = xb_os_nameless(path, sizeof path);
    if (!stream)
        return xb_fail(job->ctx, XB_E_IO, "%s: cannot create a file: %s", path,
                       strerror(errno));
    xb_status status = fill(job, stream);
    fclose(stream); /* the map stays valid */
    return status;
}

/* FOLDER-SIZE-CHANNELS-HASH.images: the name is for people, and the hash of the folder's
 * absolute path distinguishes folders of the same name. */
static xb_status name_in_home(folder_job *job)
{
    char size[24] = "full", real[XB_OS_PATH_MAX];
    if (!xb_os_full_path(real, job->folder.path))
        return xb_fail(job->ctx, errno == ENOMEM ? XB_E_MEMORY : XB_E_INPUT,
                       "%s: cannot read: %s", job->folder.path, strerror(errno));
    const char *last = strrchr(real, '/') + 1;
    if (job->opt->size > 0)
        snprintf(size, sizeof size, "%lld", (long long)job->opt->size);
    int length =
        snprintf(job->path, sizeof job->path, "%s/%.80s-%s-%lld-%016llx%s",
                 job->home.path, last, size, (long long)job->opt->channels,
                 (unsigned long long)xb_hash_bytes(0, real, strlen(real)), CACHE_ENDING);
    if (length < (int)sizeof job->path) return XB_OK;
    return xb_fail(job->ctx, XB_E_INPUT, "%s: the path is too long", job->home.path);
}

/* The file that the options name, or one in the user's cache folder. */
static xb_status find_cache(folder_job *job)
{
    char why[XB_CACHE_WHY];
    bool found = false;
    if (job->opt->no_cache) return XB_OK;
    if (job->opt->cache) {
        if (strlen(job->opt->cache) >= sizeof job->path)
            return xb_fail(job->ctx, XB_E_INPUT, "%.60s...: the path is too long",
                           job->opt->cache);
        snprintf(job->path, sizeof job->path, "%s", job->opt->cache);
        return xb_image_cache_check(job->ctx, job->path);
    }
    XB_TRY(xb_cache_folder_find(job->ctx, &job->home, &found, why));
    if (found) return name_in_home(job);
    xb_notice_tell(job->ctx, "the decoded images are not kept: %s", why);
    return XB_OK;
}

static xb_status fill_unkept(folder_job *job, const char *why)
{
    xb_notice_tell(job->ctx, "the decoded images are not kept: %s", why);
    return fill_nameless(job);
}

/* Makes the cache at the path that the options name; the call fails if it cannot.
 */
static xb_status make_named(folder_job *job)
{
    xb_outfile *file = NULL;
    char size[XB_CACHE_SIZE_TEXT];
    XB_TRY(xb_files_plan(job->ctx, job->path, NULL));
    XB_TRY(xb_outfile_open(job->ctx, &file, job->path));
    XB_TRY(fill_named(job, file));
    xb_cache_size_text(size, xb_image_cache_size(&job->folder, &job->want));
    xb_notice_tell(job->ctx, "the decoded images are kept in %s (%s)", job->path, size);
    return XB_OK;
}

/* Makes a cache in the user's cache folder; if it cannot be written, the work continues
 * without one. */
static xb_status make_in_home(folder_job *job)
{
    char size[XB_CACHE_SIZE_TEXT], limit[XB_CACHE_SIZE_TEXT], why[XB_CACHE_WHY];
    const int64_t bytes = xb_image_cache_size(&job->folder, &job->want);
    xb_cache_size_text(size, bytes);
    xb_cache_size_text(limit, job->home.limit);
    if (bytes > job->home.limit) {
        snprintf(why, sizeof why, "%s exceed the cache's limit of %s (%s)", size, limit,
                 XB_CACHE_LIMIT_NAME);
        return fill_unkept(job, why);
    }
    xb_status status = make_named(job);
    if (status == XB_E_IO || status == XB_E_ARGUMENT) { /* no file can be written there */
        xb_image_cache_close(&job->cache);
        job->kept = false;
        snprintf(why, sizeof why, "%.500s", xb_ctx_message(job->ctx));
        return fill_unkept(job, why);
    }
    XB_TRY(status);
    const int gone = xb_cache_trim(&job->home, CACHE_ENDING, job->path);
    if (gone > 0)
        xb_notice_tell(job->ctx,
                       "the cache exceeded its limit of %s (%s): removed the %d least "
                       "recently used %s",
                       limit, XB_CACHE_LIMIT_NAME, gone,
                       xb_plural(gone, "file", "files"));
    return XB_OK;
}

static xb_status load(folder_job *job)
{
    const xb_image_options *opt = job->opt;
    XB_TRY(find_cache(job));
    job->want = (xb_jpeg_want){opt->size, opt->size, opt->channels, opt->size == 0};
    if (*job->path &&
        xb_image_cache_open(job->ctx, &job->cache, job->path, &job->folder, &job->want)) {
        job->used = job->kept = true;
        if (!opt->cache) xb_cache_touch(job->path);
        xb_notice_tell(job->ctx, "the decoded images are read from %s", job->path);
        return check_broken(job);
    }
    if (opt->size == 0) XB_TRY(find_shape(job));
    if (!*job->path) return fill_nameless(job);
    return opt->cache ? make_named(job) : make_in_home(job);
}

/* ---- the images */

/* Names and map move from the job to the images. */
static xb_status hand_over(folder_job *job, xb_images *m)
{
    int64_t n = job->folder.n;
    m->h = job->want.h, m->w = job->want.w, m->c = job->want.c;
    m->name = xb_new(job->ctx, n, sizeof *m->name);
    m->hash = xb_new(job->ctx, n, sizeof *m->hash);
    m->broken = xb_new(job->ctx, n, sizeof *m->broken);
    if (!m->name || !m->hash || !m->broken) return XB_E_MEMORY;
    m->n = n;
    m->report.files = n;
    m->report.others = job->folder.others;
    m->report.cache_used = job->used;
    m->report.cache_kept = job->kept;
    if (job->kept) {
        m->cache = xb_strdup(job->ctx, job->path);
        if (!m->cache) return XB_E_MEMORY;
        m->report.cache = m->cache;
    }
    for (int64_t i = 0; i < n; i++) {
        m->name[i] = job->folder.file[i].name;
        job->folder.file[i].name = NULL;
        m->hash[i] = job->cache.record[i].hash;
        m->broken[i] = job->cache.record[i].broken;
        if (m->broken[i] && m->report.corrupt++ == 0) m->report.corrupt_name = m->name[i];
    }
    xb_os_map_protect(job->cache.map, job->cache.map_size);
    m->map = job->cache.map;
    m->map_size = job->cache.map_size;
    m->bytes = job->cache.bytes;
    job->cache = (xb_image_cache){0};
    return XB_OK;
}

static xb_status check_options(xb_ctx *ctx, const xb_image_options *opt)
{
    if (opt->size < 0 || opt->size > XB_IMAGE_SIDE_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "images of side %lld, expected 1 to %d",
                       (long long)opt->size, XB_IMAGE_SIDE_MAX);
    if (opt->channels != 1 && opt->channels != 3)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld channels, expected 3, or 1 for grey",
                       (long long)opt->channels);
    if (!opt->unlabelled && !opt->ages_in_names && !opt->target_table)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "a folder of images has no targets of its own: a table of targets is needed");
    return XB_OK;
}

xb_status xb_images_read_folder(xb_ctx *ctx, xb_images *m, const char *path,
                                const xb_image_options *opt)
{
    folder_job job = {.ctx = ctx, .opt = opt};
    XB_TRY(check_options(ctx, opt));
    XB_TRY(xb_folder_list(ctx, &job.folder, path, endings));
    xb_status status = load(&job);
    if (status == XB_OK) status = hand_over(&job, m);
    xb_image_cache_close(&job.cache);
    for (int i = 0; i < PIECES; i++) free(job.bytes[i]);
    xb_folder_free(&job.folder);
    if (status != XB_OK || opt->unlabelled) return status;
    return opt->target_table ? xb_images_read_targets(ctx, m, opt)
                             : xb_images_ages(ctx, m);
}
