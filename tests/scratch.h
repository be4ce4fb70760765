/* scratch.h: a separate folder for a test that writes files. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include "xbtest.h"

#include "base/os.h"

typedef struct scratch {
    char dir[64];
    char path[128]; /* of the file written or named last */
} scratch;

static inline scratch scratch_make(void)
{
    scratch s = {.dir = "/tmp/xb-test-XXXXXX"};
    assert_true(xb_os_make_new_folder(s.dir));
    return s;
}

static inline const char *scratch_path(scratch *s, const char *name)
{
    snprintf(s->path, sizeof s->path, "%s/%s", s->dir, name);
    return s->path;
}

static inline const char *scratch_write(scratch *s, const char *name, const void *bytes,
                                        size_t size)
{
    FILE *f = fopen(scratch_path(s, name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return s->path;
}

/* Up to size - 1 bytes of a file, and a NUL; returns how many. */
static inline size_t scratch_read(const char *path, void *out, size_t size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, size - 1, f);
    ((char *)out)[n] = '\0';
    fclose(f);
    return n;
}

/* Removes the folder; returns how many files were in it. */
static inline int scratch_remove(scratch *s)
{
    int n = 0;
    xb_os_folder *dir = xb_os_folder_open(s->dir);
    assert_non_null(dir);
    for (const char *name; (name = xb_os_folder_next(dir)) != NULL;) {
        if (name[0] == '.') continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", s->dir, name);
        xb_os_unlink(path);
        n++;
    }
    xb_os_folder_close(dir);
    assert_true(xb_os_remove_folder(s->dir));
    return n;
}

#endif
