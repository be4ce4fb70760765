/* jpeg.h: converts the bytes of a JPEG file to pixels of the wanted size. */
#ifndef XB_DATA_JPEG_H
#define XB_DATA_JPEG_H

#include <stdint.h>

#include "crossbayes/images.h"

enum { XB_JPEG_WHY = 240 };

/* The wanted result. exact: the picture must have this shape; otherwise its central
 * square is cut out and scaled, h = w. */
typedef struct xb_jpeg_want {
    int64_t h, w, c;
    bool exact;
} xb_jpeg_want;

/* Reads height and width from the file's header. Returns false, with one line that says
 * why, for data that is not JPEG or exceeds XB_IMAGE_SIDE_MAX or XB_IMAGE_PIXELS_MAX. */
bool xb_jpeg_shape(int64_t *h, int64_t *w, char why[XB_JPEG_WHY], const uint8_t *bytes,
                   int64_t size);

/* out: [h][w][c]. False, with one line of why, on failure, which leaves out invalid. A
 * picture with missing or damaged data fails. There is no state and no lock, so any
 * number of threads may call this. */
bool xb_jpeg_decode(uint8_t *out, char why[XB_JPEG_WHY], const xb_jpeg_want *want,
                    const uint8_t *bytes, int64_t size);

/* Whether it failed for lack of memory rather than because of the picture. */
bool xb_jpeg_starved(const char why[XB_JPEG_WHY]);

#endif
