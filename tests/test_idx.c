/* IDX files, plain and gzipped: what is read, what is refused. */
#include <zlib.h>

#include "failalloc.h"
#include "scratch.h"

enum { N = 5, H = 3, W = 2, IMAGE = H * W, HEAD = 16 };

/* Image i has the pixels 10 i, 10 i + 1, ... */
static size_t make_images(uint8_t *out)
{
    const uint8_t head[HEAD] = {0, 0, 8, 3, 0, 0, 0, N, 0, 0, 0, H, 0, 0, 0, W};
    memcpy(out, head, HEAD);
    for (int i = 0; i < N * IMAGE; i++)
        out[HEAD + i] = (uint8_t)(10 * (i / IMAGE) + i % IMAGE);
    return HEAD + N * IMAGE;
}

static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, N, 2, 0, 1, 2, 0};

static void write_gz(scratch *s, const char *name, const uint8_t *bytes, size_t size)
{
    gzFile f = gzopen(scratch_path(s, name), "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, bytes, (unsigned)size), (int)size);
    assert_int_equal(gzclose(f), Z_OK);
}

static void check_images(const xb_images *images)
{
    int64_t h, w, c;
    xb_images_shape(images, &h, &w, &c);
    assert_int_equal(xb_images_count(images), N);
    assert_true(h == H && w == W && c == 1);
    assert_int_equal(xb_images_bytes(images)[3 * IMAGE + 4], 34);
    assert_int_equal(xb_images_class_count(images), 3);
    assert_string_equal(xb_images_class_name(images, 2), "2");
    assert_close(xb_images_target(images)[0], 2, 0);
    assert_close(xb_images_target(images)[4], 0, 0);
    assert_null(xb_images_name(images, 0));
}

static void plain_and_gzipped_are_the_same(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    uint8_t bytes[256];
    size_t size = make_images(bytes);
    for (int gz = 0; gz < 2; gz++) {
        const char *image_file = gz ? "t-images-idx3-ubyte.gz" : "t-images-idx3-ubyte";
        const char *label_file = gz ? "t-labels-idx1-ubyte.gz" : "t-labels-idx1-ubyte";
        if (gz) {
            write_gz(&s, label_file, labels, sizeof labels);
            write_gz(&s, image_file, bytes, size);
        } else {
            scratch_write(&s, label_file, labels, sizeof labels);
            scratch_write(&s, image_file, bytes, size);
        }
        assert_int_equal(xb_images_detect(s.path), XB_IMAGES_IDX);
        xb_images *images = NULL;
        assert_ok(ctx, xb_images_open(ctx, &images, s.path, NULL));
        check_images(images);
        xb_images_destroy(images);
    }
    assert_int_equal(xb_images_detect(s.dir), XB_IMAGES_FOLDER);
    assert_int_equal(xb_images_detect(scratch_write(&s, "t.csv", "a,b\n1,2\n", 8)),
                     XB_IMAGES_NONE);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void refused(xb_ctx *ctx, scratch *s, const uint8_t *bytes, size_t size,
                    const char *why)
{
    xb_images *images = NULL;
    scratch_write(s, "t-images-idx3-ubyte", bytes, size);
    assert_int_equal(xb_images_open(ctx, &images, s->path, NULL), XB_E_INPUT);
    if (!strstr(xb_ctx_message(ctx), why))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), why);
}

static void hostile_files_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    uint8_t bytes[256], bad[256];
    size_t size = make_images(bytes);
    scratch_write(&s, "t-labels-idx1-ubyte", labels, sizeof labels);
    for (size_t cut = 5; cut < size; cut += 3)
        refused(ctx, &s, bytes, cut, "shorter than its header says");
    bytes[size] = 0;
    refused(ctx, &s, bytes, size + 1, "longer than its header says");
    memcpy(bad, bytes, size);
    memset(bad + 4, 0xFF, 12); /* 2^32 - 1 images of 2^32 - 1 squared */
    refused(ctx, &s, bad, size, "more than 8 GiB");
    memcpy(bad, bytes, size);
    bad[4] = 0x10; /* 2^28 images: not that much memory for 30 bytes */
    refused(ctx, &s, bad, size, "shorter than its header says");
    memcpy(bad, bytes, size);
    bad[7] = 0;
    refused(ctx, &s, bad, size, "a dimension of 0");
    enum { LONG = 65536 }; /* one image: too wide, too high, of too many channels */
    static const uint8_t head[3][HEAD + 4] = {{0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1},
                                              {0, 0, 8, 4, 0, 0, 0, 1, 0, 1},
                                              {0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 1}};
    static uint8_t big[HEAD + 4 + LONG];
    for (int k = 0; k < 3; k++) {
        memcpy(big, head[k], sizeof head[k]);
        big[11] = k != 1, big[15] = k != 0, big[17] = k == 2, big[19] = k != 2;
        refused(ctx, &s, big, sizeof big,
                k == 0   ? "images of 1 x 65536 x 1 are too large"
                : k == 1 ? "images of 65536 x 1 x 1 are too large"
                         : "images of 1 x 1 x 65536 are too large");
    }
    bytes[7] = N - 1; /* as many images, fewer labels */
    refused(ctx, &s, bytes, size - IMAGE, "5 labels for 4 images");
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void labels_are_found_or_named(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    uint8_t bytes[256];
    char path[128];
    size_t size = make_images(bytes);
    snprintf(path, sizeof path, "%s", scratch_write(&s, "pictures", bytes, size));
    xb_images *images = NULL;
    assert_int_equal(xb_images_open(ctx, &images, path, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "the file of labels is not given"));
    xb_image_options o = xb_image_options_default();
    o.labels = scratch_write(&s, "classes", labels, sizeof labels);
    assert_ok(ctx, xb_images_open(ctx, &images, path, &o));
    check_images(images);
    xb_images_destroy(images);
    static const char *const two[] = {"0", "1"};
    o.classes = two;
    o.n_classes = 2;
    assert_int_equal(xb_images_open(ctx, &images, path, &o), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "label 2 is unknown, expected 0 to 1"));
    o.unlabelled = true;
    o.labels = NULL;
    assert_ok(ctx, xb_images_open(ctx, &images, path, &o));
    assert_null(xb_images_target(images));
    xb_images_destroy(images);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    uint8_t bytes[256];
    size_t size = make_images(bytes);
    scratch_write(&s, "t-labels-idx1-ubyte", labels, sizeof labels);
    scratch_write(&s, "t-images-idx3-ubyte", bytes, size);
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_images *images = NULL;
        xb_status status = xb_images_open(ctx, &images, s.path, NULL);
        bool failed = fail_alloc_happened();
        xb_images_destroy(images);
        if (!failed) {
            assert_int_equal(status, XB_OK);
            break;
        }
        assert_int_equal(status, XB_E_MEMORY);
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_gzipped_are_the_same),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(labels_are_found_or_named),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
