/* fuzz_targets.c: targets of a folder's images: names of files, one a line, up to a byte
 * 1, and after it the table that speaks of them; and ages in the names. */
#include "base/memory.h"
#include "data/images.h"
#include "fuzz.h"

enum { NAMES_MOST = 64 };

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted and each once, as a folder has them; `text` is cut to pieces. */
static xb_images *name_images(xb_ctx *ctx, char *text)
{
    xb_images *m = xb_new(ctx, 1, sizeof *m);
    char *state = NULL, *found[NAMES_MOST];
    int64_t n = 0;
    if (!m) abort();
    for (char *p = strtok_r(text, "\n", &state); p && n < NAMES_MOST;
         p = strtok_r(NULL, "\n", &state))
        found[n++] = p;
    qsort(found, (size_t)n, sizeof *found, by_text);
    m->name = xb_new(ctx, n, sizeof *m->name);
    m->hash = xb_new(ctx, n, sizeof *m->hash);
    if (!m->name || !m->hash) abort();
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || strcmp(found[i], found[i - 1]) != 0)
            m->name[m->n++] = xb_strdup(ctx, found[i]);
    return m;
}

static void read_table(xb_ctx *ctx, const char *names, const char *table,
                       xb_target_kind kind)
{
    char *text = xb_strdup(ctx, names);
    xb_images *m = name_images(ctx, text);
    xb_image_options opt = xb_image_options_default();
    opt.target_table = table;
    opt.target = "2";
    opt.target_kind = kind;
    if (m->n > 0) {
        xb_status status = xb_images_read_targets(ctx, m, &opt);
        fuzz_check(ctx, status);
        if (status == XB_OK && xb_images_finish(ctx, m) != XB_OK) abort();
    }
    xb_images_destroy(m);
    free(text);
}

static void read_ages(xb_ctx *ctx, const char *names)
{
    char *text = xb_strdup(ctx, names);
    xb_images *m = name_images(ctx, text);
    if (m->n > 0) fuzz_check(ctx, xb_images_ages(ctx, m));
    xb_images_destroy(m);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    const uint8_t *end = size ? memchr(data, 1, size) : NULL;
    size_t first = end ? (size_t)(end - data) : size;
    char *names = fuzz_text(data, first);
    fuzz_file table = fuzz_file_make(end ? end + 1 : data, end ? size - first - 1 : 0);
    read_ages(ctx, names);
    read_table(ctx, names, table.path, XB_TARGET_AUTO);
    read_table(ctx, names, table.path, XB_TARGET_CLASS);
    fuzz_file_close(&table);
    free(names);
    xb_ctx_destroy(ctx);
    return 0;
}
