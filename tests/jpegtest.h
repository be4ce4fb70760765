/* jpegtest.h: makes small JPEG files for the tests of image folders. */
#ifndef JPEGTEST_H
#define JPEGTEST_H

#include "scratch.h"

#include <jpeglib.h>

/* Bytes of a JPEG file; free() them. */
typedef struct jpeg_bytes {
    unsigned char *data;
    unsigned long size;
} jpeg_bytes;

/* pixels [h][w][3] */
static inline jpeg_bytes jpeg_make(const uint8_t *pixels, int h, int w, int quality)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    jpeg_bytes out = {0};
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out.data, &out.size);
    c.image_height = (JDIMENSION)h;
    c.image_width = (JDIMENSION)w;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, quality, TRUE);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        uint8_t row[3 * 256];
        memcpy(row, pixels + (size_t)c.next_scanline * (size_t)w * 3, (size_t)w * 3);
        JSAMPROW line = row;
        jpeg_write_scanlines(&c, &line, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return out;
}

/* Red grows downwards, green to the right, blue is `blue`. */
static inline jpeg_bytes jpeg_slope(int h, int w, int blue)
{
    uint8_t *pixels = malloc((size_t)(h * w * 3));
    assert_non_null(pixels);
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            uint8_t *p = pixels + (i * w + j) * 3;
            p[0] = (uint8_t)(255 * i / h);
            p[1] = (uint8_t)(255 * j / w);
            p[2] = (uint8_t)blue;
        }
    jpeg_bytes out = jpeg_make(pixels, h, w, 95);
    free(pixels);
    return out;
}

/* A slope as a file of the folder. */
static inline void jpeg_write(scratch *s, const char *name, int side, int blue)
{
    jpeg_bytes j = jpeg_slope(side, side, blue);
    scratch_write(s, name, j.data, j.size);
    free(j.data);
}

#endif
