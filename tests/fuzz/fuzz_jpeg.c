/* fuzz_jpeg.c: one JPEG file to pixels: as it is, in colour and grey, and scaled. The
 * first byte is the side to scale to. */
#include "data/jpeg.h"
#include "fuzz.h"

enum { SIDE_MOST = 64, PIXELS_MOST = 1 << 20 };

static void decode(const xb_jpeg_want *want, const uint8_t *data, int64_t size)
{
    char why[XB_JPEG_WHY] = "";
    uint8_t *out = malloc((size_t)(want->h * want->w * want->c));
    if (!out) abort();
    if (!xb_jpeg_decode(out, why, want, data, size) && !*why) abort();
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const int64_t side = 1 + data[0] % SIDE_MOST, rest = (int64_t)size - 1;
    int64_t h = 0, w = 0;
    char why[XB_JPEG_WHY] = "";
    const xb_jpeg_want scaled = {side, side, 3, false};
    decode(&scaled, data + 1, rest);
    if (!xb_jpeg_shape(&h, &w, why, data + 1, rest)) {
        if (!*why) abort();
        return 0;
    }
    if (h < 1 || w < 1) abort();
    if (h * w > PIXELS_MOST) return 0; /* for the sake of speed alone */
    decode(&(xb_jpeg_want){h, w, 3, true}, data + 1, rest);
    decode(&(xb_jpeg_want){h, w, 1, true}, data + 1, rest);
    return 0;
}
