/* fuzz.h: what the fuzz targets share. A target is one file with a
 * LLVMFuzzerTestOneInput; `make fuzz` links it with libFuzzer, the tests with replay.c,
 * which runs it over its seeds and over every input that once broke something.
 *
 * A target asserts little: that nothing crashes, leaks or reads where it may not is
 * what the sanitizers see. What was accepted must be usable, so it is used. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crossbayes/crossbayes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a file that has no name; close with fuzz_file_close. */
typedef struct fuzz_file {
    int fd;
    char path[64];
} fuzz_file;

static inline fuzz_file fuzz_file_make(const uint8_t *data, size_t size)
{
    fuzz_file file = {.fd = memfd_create("fuzz", 0)};
    if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size) abort();
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static inline void fuzz_file_close(fuzz_file *file) { close(file->fd); }

/* Files that carry sums or settings of their own are damaged rather than invented: each
 * three bytes of the input, (place low, place high, byte), change one byte of a whole
 * file. An odd rest cuts it off at (low, high). */
static inline size_t fuzz_damage(uint8_t *bytes, size_t size, const uint8_t *data,
                                 size_t n)
{
    for (; n >= 3 && size; data += 3, n -= 3)
        bytes[(data[0] | (size_t)data[1] << 8) % size] = data[2];
    if (n == 2 && size) return (data[0] | (size_t)data[1] << 8) % size;
    return size;
}

static inline void fuzz_put(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

/* The whole of a file; free() it. */
static inline uint8_t *fuzz_slurp(const char *path, size_t *size)
{
    enum { MOST = 1 << 16 };
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(MOST);
    if (!file || !bytes) abort();
    *size = fread(bytes, 1, MOST, file);
    fclose(file);
    return bytes;
}

static inline xb_ctx *fuzz_ctx(void)
{
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) abort();
    xb_ctx_set_threads(ctx, 1);
    return ctx;
}

/* The bytes as a text; free() it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) abort();
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* Reads every byte. */
static inline void fuzz_touch(const void *bytes, size_t size)
{
    volatile unsigned sum = 0;
    for (size_t i = 0; i < size; i++) sum += ((const uint8_t *)bytes)[i];
    (void)sum;
}

/* A failure must say why, in one line. */
static inline void fuzz_check(const xb_ctx *ctx, xb_status status)
{
    const char *message = xb_ctx_message(ctx);
    if (status != XB_OK && (!*message || strchr(message, '\n'))) abort();
}

#endif
