/* jpeg.h: one JPEG file's bytes to pixels of the size wanted. */
#ifndef XB_DATA_JPEG_H
#define XB_DATA_JPEG_H

#include <stdint.h>

#include "crossbayes/images.h"

enum { XB_JPEG_WHY = 240 };

/* What to make of it. exact: the picture must have this shape; else it is cut to a
 * square from its middle and scaled, h = w. */
typedef struct xb_jpeg_want {
    int64_t h, w, c;
    bool exact;
} xb_jpeg_want;

/* Height and width as the file's header has them. False, with one line of why, for what
 * is no JPEG or is beyond XB_IMAGE_SIDE_MAX, XB_IMAGE_PIXELS_MAX. */
bool xb_jpeg_shape(int64_t *h, int64_t *w, char why[XB_JPEG_WHY], const uint8_t *bytes,
                   int64_t size);

/* out: [h][w][c]. False, with one line of why: out is then not to be used. A picture
 * with missing or damaged data is one that fails. No state, no locks: any number of
 * threads. */
bool xb_jpeg_decode(uint8_t *out, char why[XB_JPEG_WHY], const xb_jpeg_want *want,
                    const uint8_t *bytes, int64_t size);

/* Whether it failed for want of memory, which is not the picture's fault. */
bool xb_jpeg_starved(const char why[XB_JPEG_WHY]);

#endif
