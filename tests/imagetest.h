/* imagetest.h: folders of small pictures with ages in their names, and a separate cache
 * folder for the test. */
#ifndef IMAGETEST_H
#define IMAGETEST_H

#include "data/images.h"
#include "folder.h"
#include "jpegtest.h"

static inline xb_image_options ages(int64_t size)
{
    xb_image_options o = xb_image_options_default();
    o.size = size;
    o.ages_in_names = true;
    return o;
}

static inline xb_images *open_ages(xb_ctx *ctx, scratch *s, const xb_image_options *o)
{
    xb_images *images = NULL;
    assert_ok(ctx, xb_images_open(ctx, &images, s->dir, o));
    return images;
}

/* The user's cache folder, which every test finds empty. */
static char home[64];

static inline int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/xb-cache-XXXXXX");
    unsetenv("CROSSBAYES_CACHE_LIMIT");
    return mkdtemp(home) && setenv("XDG_CACHE_HOME", home, 1) == 0 ? 0 : -1;
}

static inline int remove_home(void **state)
{
    (void)state;
    folder_empty(home);
    return rmdir(home);
}

enum { PICTURES = 5, SIDE = 8, BYTES = PICTURES * SIDE * SIDE * 3 };

static inline void fill_folder(scratch *s)
{
    for (int i = 0; i < PICTURES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%d_0_0_20170116174521111.jpg", i + 1);
        jpeg_write(s, name, 16, 50 * i);
    }
}

#define IN_A_HOME(test) cmocka_unit_test_setup_teardown(test, make_home, remove_home)

#endif
