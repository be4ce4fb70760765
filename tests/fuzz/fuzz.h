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

/* A failure must say why, in one line. */
static inline void fuzz_check(const xb_ctx *ctx, xb_status status)
{
    const char *message = xb_ctx_message(ctx);
    if (status != XB_OK && (!*message || strchr(message, '\n'))) abort();
}

#endif
