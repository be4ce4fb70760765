/* jpeg.c: decoding with libjpeg-turbo. The inverse cosine transform itself scales by
 * eighths, so a picture is decoded no larger than it must be; what remains is an average
 * over areas (I2). A warning of the library (missing data, a damaged code) is a failure
 * here, because half a picture is useless for training. Against hostile files, dimensions
 * are compared with limits and with the file's size before anything is decoded, the
 * library's memory is limited, and so is the number of scans of a progressive file, each
 * of which costs a pass over the whole picture. */
#include "data/jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

static const char STARVED[] = "not enough memory to decode it";

enum { SCANS_MAX = 100, EIGHTHS = 8, MEMORY_MAX = 512 << 20 };
/* A block of 8 x 8 pixels takes at least one bit, so a file that claims more pixels is
 * truncated or asks for memory without data. */
enum { PIXELS_PER_BYTE = 512 };

typedef struct decoder {
    struct jpeg_decompress_struct jpeg; /* must be first: the library passes on its
                                           address */
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    char *why;
    uint8_t *pixels; /* decoded pixels, before the last scaling */
} decoder;

static void leave(j_common_ptr common)
{
    decoder *d = (decoder *)common;
    longjmp(d->back, 1);
}

static void on_error(j_common_ptr common)
{
    decoder *d = (decoder *)common;
    char text[JMSG_LENGTH_MAX];
    d->errors.format_message(common, text);
    bool starved = d->errors.msg_code == JERR_OUT_OF_MEMORY;
    snprintf(d->why, XB_JPEG_WHY, "%s", starved ? STARVED : text);
    leave(common);
}

static void on_message(j_common_ptr common, int level)
{
    if (level < 0) on_error(common); /* a warning: the data is damaged */
}

static void on_scan(j_common_ptr common)
{
    decoder *d = (decoder *)common;
    if (d->jpeg.input_scan_number <= SCANS_MAX) return;
    snprintf(d->why, XB_JPEG_WHY, "more than %d scans", SCANS_MAX);
    leave(common);
}

static void start(decoder *d, char *why, const uint8_t *bytes, int64_t size)
{
    d->why = why;
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->errors.error_exit = on_error;
    d->errors.emit_message = on_message;
    jpeg_create_decompress(&d->jpeg);
    d->jpeg.mem->max_memory_to_use = MEMORY_MAX;
    d->progress.progress_monitor = on_scan;
    d->jpeg.progress = &d->progress;
    jpeg_mem_src(&d->jpeg, bytes, (unsigned long)size);
    jpeg_read_header(&d->jpeg, TRUE);
}

static void check_sides(decoder *d)
{
    int64_t h = d->jpeg.image_height, w = d->jpeg.image_width;
    if (h <= XB_IMAGE_SIDE_MAX && w <= XB_IMAGE_SIDE_MAX && h * w <= XB_IMAGE_PIXELS_MAX)
        return;
    snprintf(d->why, XB_JPEG_WHY, "a picture of %lld x %lld is too large", (long long)h,
             (long long)w);
    leave((j_common_ptr)&d->jpeg);
}

static void check_data(decoder *d, int64_t size)
{
    int64_t h = d->jpeg.image_height, w = d->jpeg.image_width;
    if (h * w <= size * PIXELS_PER_BYTE) return;
    snprintf(d->why, XB_JPEG_WHY, "%lld %s too few for a picture of %lld x %lld",
             (long long)size, xb_plural(size, "byte is", "bytes are"), (long long)h,
             (long long)w);
    leave((j_common_ptr)&d->jpeg);
}

static void check_exact(decoder *d, const xb_jpeg_want *want)
{
    int64_t h = d->jpeg.image_height, w = d->jpeg.image_width;
    if (!want->exact || (h == want->h && w == want->w)) return;
    snprintf(d->why, XB_JPEG_WHY,
             "%lld x %lld pixels, others have %lld x %lld: choose one size for all",
             (long long)h, (long long)w, (long long)want->h, (long long)want->w);
    leave((j_common_ptr)&d->jpeg);
}

/* The smallest scale that keeps the shorter side at least as long as wanted. */
static void set_scale(decoder *d, const xb_jpeg_want *want)
{
    int64_t h = d->jpeg.image_height, w = d->jpeg.image_width, shorter = h < w ? h : w;
    unsigned eighths = 1;
    if (want->exact) eighths = EIGHTHS;
    while (eighths < EIGHTHS && shorter * eighths < want->h * EIGHTHS) eighths++;
    d->jpeg.scale_num = eighths;
    d->jpeg.scale_denom = EIGHTHS;
    d->jpeg.out_color_space = want->c == 1 ? JCS_GRAYSCALE : JCS_RGB;
    d->jpeg.dct_method = JDCT_ISLOW; /* gives the same bytes everywhere */
}

static void read_lines(decoder *d)
{
    size_t row = (size_t)d->jpeg.output_width * (size_t)d->jpeg.output_components;
    d->pixels = malloc(row * d->jpeg.output_height);
    if (!d->pixels) {
        snprintf(d->why, XB_JPEG_WHY, "%s", STARVED);
        leave((j_common_ptr)&d->jpeg);
    }
    while (d->jpeg.output_scanline < d->jpeg.output_height) {
        JSAMPROW line = d->pixels + row * d->jpeg.output_scanline;
        jpeg_read_scanlines(&d->jpeg, &line, 1);
    }
    jpeg_finish_decompress(&d->jpeg);
}

/* The length of the part of [cell, cell + 1] inside [begin, end]. */
static double overlap(int64_t cell, double begin, double end)
{
    double low = (double)cell > begin ? (double)cell : begin;
    double high = (double)cell + 1 < end ? (double)cell + 1 : end;
    return high - low;
}

/* A square of pixels whose rows are `stride` bytes apart. */
typedef struct square {
    const uint8_t *pixel;
    int64_t side, stride, channels;
} square;

/* The mean of channel k over [top, top + step] x [left, left + step]. */
static double area_mean(const square *s, double top, double left, double step, int64_t k)
{
    double sum = 0;
    for (int64_t y = (int64_t)top; y < s->side && (double)y < top + step; y++) {
        const uint8_t *row = s->pixel + y * s->stride + k;
        double line = 0;
        for (int64_t x = (int64_t)left; x < s->side && (double)x < left + step; x++)
            line += overlap(x, left, left + step) * row[x * s->channels];
        sum += overlap(y, top, top + step) * line;
    }
    return sum / (step * step);
}

/* (I2) */
static void average_areas(uint8_t *out, int64_t size, const square *s)
{
    const double step = (double)s->side / (double)size;
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++)
            for (int64_t k = 0; k < s->channels; k++)
                *out++ =
                    (uint8_t)(area_mean(s, (double)i * step, (double)j * step, step, k) +
                              0.5);
}

static void fill(uint8_t *out, const decoder *d, const xb_jpeg_want *want)
{
    int64_t h = d->jpeg.output_height, w = d->jpeg.output_width, c = want->c;
    if (h == want->h && w == want->w) {
        memcpy(out, d->pixels, (size_t)(h * w * c));
        return;
    }
    int64_t side = h < w ? h : w, top = (h - side) / 2, left = (w - side) / 2;
    const square s = {d->pixels + (top * w + left) * c, side, w * c, c};
    average_areas(out, want->h, &s);
}

/* The part that the library may leave by a long jump; `d` belongs to the caller, so it is
 * intact after one. want NULL: the header alone. */
static bool guarded(decoder *d, char *why, const xb_jpeg_want *want, const uint8_t *bytes,
                    int64_t size)
{
    if (setjmp(d->back) != 0) return false;
    start(d, why, bytes, size);
    check_sides(d);
    check_data(d, size);
    if (!want) return true;
    check_exact(d, want);
    set_scale(d, want);
    jpeg_start_decompress(&d->jpeg);
    read_lines(d);
    return true;
}

bool xb_jpeg_shape(int64_t *h, int64_t *w, char why[XB_JPEG_WHY], const uint8_t *bytes,
                   int64_t size)
{
    decoder d;
    memset(&d, 0, sizeof d);
    bool good = guarded(&d, why, NULL, bytes, size);
    if (good) *h = d.jpeg.image_height, *w = d.jpeg.image_width;
    jpeg_destroy_decompress(&d.jpeg);
    return good;
}

bool xb_jpeg_decode(uint8_t *out, char why[XB_JPEG_WHY], const xb_jpeg_want *want,
                    const uint8_t *bytes, int64_t size)
{
    decoder d;
    memset(&d, 0, sizeof d);
    bool good = guarded(&d, why, want, bytes, size);
    if (good) fill(out, &d, want);
    jpeg_destroy_decompress(&d.jpeg);
    free(d.pixels);
    return good;
}

bool xb_jpeg_starved(const char why[XB_JPEG_WHY]) { return strcmp(why, STARVED) == 0; }
