/* fuzz_idx.c: IDX files of images and labels. The first byte: how many bytes of labels
 * follow before the images (0: none), its highest bit: images are gzipped here, since no
 * fuzzer guesses a checksum. */
#include <zlib.h>

#include "fuzz.h"

enum { PACKED = 0x80 };

static void pack(fuzz_file *file, const uint8_t *data, size_t size)
{
    gzFile to = gzdopen(dup(file->fd), "wb1");
    if (!to || (size && gzwrite(to, data, (unsigned)size) != (int)size)) abort();
    if (gzclose(to) != Z_OK) abort();
}

static void use(const xb_images *images)
{
    int64_t h, w, c, n = xb_images_count(images);
    xb_images_shape(images, &h, &w, &c);
    fuzz_touch(xb_images_bytes(images), (size_t)(n * h * w * c));
    const double *target = xb_images_target(images);
    for (int64_t i = 0; target && i < n; i++)
        if (!(target[i] >= 0 && target[i] < (double)xb_images_class_count(images)))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    xb_ctx *ctx = fuzz_ctx();
    size_t labelled = data[0] & (PACKED - 1);
    const bool packed = data[0] & PACKED;
    if (labelled > size - 1) labelled = size - 1;
    fuzz_file labels = fuzz_file_make(data + 1, labelled);
    const uint8_t *rest = data + 1 + labelled;
    fuzz_file file = fuzz_file_make(rest, packed ? 0 : size - 1 - labelled);
    if (packed) pack(&file, rest, size - 1 - labelled);
    xb_image_options opt = xb_image_options_default();
    xb_images *images = NULL;
    opt.labels = labels.path;
    opt.unlabelled = labelled == 0;
    if (xb_images_detect(file.path) == XB_IMAGES_IDX) {
        xb_status status = xb_images_open(ctx, &images, file.path, &opt);
        fuzz_check(ctx, status);
        if (status == XB_OK) use(images);
    }
    xb_images_destroy(images);
    fuzz_file_close(&file);
    fuzz_file_close(&labels);
    xb_ctx_destroy(ctx);
    return 0;
}
