/* jpeg_none.c: in place of jpeg.c where the library is built without libjpeg (XB_JPEG
 * off): every JPEG file is refused, with the reason. */
#include <stdio.h>

#include "data/jpeg.h"

static bool refuse(char why[XB_JPEG_WHY])
{
    snprintf(why, XB_JPEG_WHY, "this library was built without JPEG");
    return false;
}

bool xb_jpeg_shape(int64_t *h, int64_t *w, char why[XB_JPEG_WHY], const uint8_t *bytes,
                   int64_t size)
{
    (void)h, (void)w, (void)bytes, (void)size;
    return refuse(why);
}

bool xb_jpeg_decode(uint8_t *out, char why[XB_JPEG_WHY], const xb_jpeg_want *want,
                    const uint8_t *bytes, int64_t size)
{
    (void)out, (void)want, (void)bytes, (void)size;
    return refuse(why);
}

bool xb_jpeg_starved(const char why[XB_JPEG_WHY])
{
    (void)why;
    return false;
}
