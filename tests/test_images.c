/* Folders of images: decoding, names, copies, parts, tables of targets; the cache is
 * test_image_cache.c. */
#include "data/jpeg.h"
#include "failalloc.h"
#include "imagetest.h"

/* ---- one file */

static void a_slope_comes_back(void **state)
{
    (void)state;
    jpeg_bytes j = jpeg_slope(32, 32, 200);
    char why[XB_JPEG_WHY];
    uint8_t whole[32 * 32 * 3], half[16 * 16 * 3], odd[11 * 11 * 3], grey[32 * 32];
    int64_t h = 0, w = 0;
    assert_true(xb_jpeg_shape(&h, &w, why, j.data, (int64_t)j.size));
    assert_int_equal(h, 32);
    assert_int_equal(w, 32);
    assert_true(xb_jpeg_decode(whole, why, &(xb_jpeg_want){32, 32, 3, true}, j.data,
                               (int64_t)j.size));
    assert_true(xb_jpeg_decode(half, why, &(xb_jpeg_want){16, 16, 3, false}, j.data,
                               (int64_t)j.size));
    assert_true(xb_jpeg_decode(odd, why, &(xb_jpeg_want){11, 11, 3, false}, j.data,
                               (int64_t)j.size));
    assert_true(xb_jpeg_decode(grey, why, &(xb_jpeg_want){32, 32, 1, true}, j.data,
                               (int64_t)j.size));
    for (int i = 2; i < 30; i++) { /* the middle of a pixel, in any size */
        assert_at_most(fabs(whole[(i * 32 + 16) * 3] - 255.0 * i / 32), 6);
        assert_at_most(fabs(grey[i * 32 + 16] -
                            (0.299 * 255 * i / 32 + 0.587 * 127.5 + 0.114 * 200)),
                       6);
    }
    for (int i = 1; i < 15; i++)
        assert_at_most(fabs(half[(i * 16 + 8) * 3] - 255 * (2 * i + 0.5) / 32), 6);
    for (int i = 1; i < 10; i++)
        assert_at_most(fabs(odd[(i * 11 + 5) * 3] - 255 * ((i + 0.5) / 11 - 1 / 64.0)),
                       6);
    free(j.data);
}

static void a_wide_picture_loses_its_sides(void **state)
{
    (void)state;
    jpeg_bytes j = jpeg_slope(20, 60, 0);
    char why[XB_JPEG_WHY];
    uint8_t square[20 * 20 * 3];
    assert_true(xb_jpeg_decode(square, why, &(xb_jpeg_want){20, 20, 3, false}, j.data,
                               (int64_t)j.size));
    /* green runs from 20/60 to 40/60 of its range */
    assert_at_most(fabs(square[(10 * 20 + 1) * 3 + 1] - 255 * 21 / 60.0), 8);
    assert_at_most(fabs(square[(10 * 20 + 18) * 3 + 1] - 255 * 38 / 60.0), 8);
    free(j.data);
}

/* Height and width in the frame header, which starts with FF C0. */
static void set_sides(jpeg_bytes *j, unsigned h, unsigned w)
{
    for (unsigned long i = 0; i + 9 < j->size; i++)
        if (j->data[i] == 0xFF && j->data[i + 1] == 0xC0) {
            j->data[i + 5] = (uint8_t)(h >> 8), j->data[i + 6] = (uint8_t)h;
            j->data[i + 7] = (uint8_t)(w >> 8), j->data[i + 8] = (uint8_t)w;
            return;
        }
    fail_msg("no frame header");
}

static void hostile_files_are_refused(void **state)
{
    (void)state;
    jpeg_bytes j = jpeg_slope(32, 32, 100);
    const xb_jpeg_want want = {16, 16, 3, false};
    char why[XB_JPEG_WHY] = "";
    uint8_t out[16 * 16 * 3];
    int64_t h = 0, w = 0;
    for (unsigned long cut = 0; cut < j.size - 2; cut += 7)
        assert_false(xb_jpeg_decode(out, why, &want, j.data, (int64_t)cut));
    assert_false(xb_jpeg_decode(out, why, &want, (const uint8_t *)"GIF89a....", 10));
    set_sides(&j, 65000, 65000);
    assert_false(xb_jpeg_shape(&h, &w, why, j.data, (int64_t)j.size));
    assert_non_null(strstr(why, "65000 x 65000 is too large"));
    assert_false(xb_jpeg_decode(out, why, &want, j.data, (int64_t)j.size));
    set_sides(&j, 4000, 4000); /* far less data than that */
    assert_false(xb_jpeg_decode(out, why, &want, j.data, (int64_t)j.size));
    free(j.data);
    jpeg_bytes k = jpeg_slope(32, 32, 100); /* every byte damaged in turn: no crash */
    for (unsigned long i = 2; i < k.size; i += 3) {
        k.data[i] ^= 0xA5;
        (void)xb_jpeg_decode(out, why, &want, k.data, (int64_t)k.size);
        k.data[i] ^= 0xA5;
    }
    free(k.data);
}

/* ---- a folder as UTKFace */

static void names_copies_and_broken_files_are_counted(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    jpeg_write(&s, "5_0_1_20170116174525125.jpg", 16, 10);
    jpeg_write(&s, "26_1_2_20170116174525126.jpg.chip.jpg", 16, 20);
    jpeg_write(&s, "39_1_20170116174525125.jpg.chip.jpg", 16, 30);    /* no race */
    jpeg_write(&s, "24_0_1_20170116220224657 .jpg.chip.jpg", 16, 40); /* a blank */
    jpeg_write(&s, "portrait.JPG", 16, 50);                           /* no age */
    jpeg_write(&s, "200_0_1_20170116174525125.jpg", 16, 60);          /* impossible */
    jpeg_write(&s, "5_0_2_20170116174525999.jpg", 16, 10);  /* a copy, same age */
    jpeg_write(&s, "70_0_2_20170116174525999.jpg", 16, 20); /* a copy, another age */
    scratch_write(&s, "30_0_2_20170116174525999.jpg", "no picture", 10);
    scratch_write(&s, "notes.txt", "notes", 5);
    xb_image_options o = ages(8);
    xb_images *images = NULL;
    assert_int_equal(xb_images_open(ctx, &images, s.dir, &o), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "30_0_2_20170116174525999.jpg"));
    o.skip_corrupt = true;
    images = open_ages(ctx, &s, &o);
    const xb_image_report *r = xb_images_report(images);
    assert_int_equal(xb_image_report_files(r), 9);
    assert_int_equal(xb_image_report_others(r), 1);
    assert_int_equal(xb_image_report_corrupt(r), 1);
    assert_string_equal(xb_image_report_corrupt_name(r), "30_0_2_20170116174525999.jpg");
    assert_int_equal(xb_image_report_unlabelled(r), 2);
    assert_int_equal(xb_image_report_odd(r), 2);
    assert_int_equal(xb_image_report_duplicates(r), 1);
    assert_int_equal(xb_image_report_conflicting(r), 2);
    int64_t *rows = NULL, n = 0;
    assert_ok(ctx, xb_images_select(ctx, &rows, &n, images, XB_PART_ALL, false));
    assert_int_equal(n, 6);
    free(rows);
    assert_ok(ctx, xb_images_select(ctx, &rows, &n, images, XB_PART_ALL, true));
    assert_int_equal(n, 3); /* one of 5, the two odd ones */
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += xb_images_target(images)[rows[i]];
    assert_close(sum, 5 + 39 + 24, 0);
    free(rows);
    xb_images_destroy(images);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Parts as a text, one letter a file, in the order of targets. */
static void parts_of(const xb_images *images, char *out, int n)
{
    memset(out, '-', (size_t)n);
    out[n] = '\0';
    for (int64_t i = 0; i < xb_images_count(images); i++)
        out[(int)xb_images_target(images)[i] - 1] =
            xb_part_name(xb_part_of_hash(xb_images_hash(images, i)))[0];
}

static void parts_follow_the_content(void **state)
{
    (void)state;
    enum { N = 60 };
    xb_ctx *ctx = test_ctx();
    char part[2][N + 1];
    for (int turn = 0; turn < 2; turn++) { /* other names, other order, other size */
        scratch s = scratch_make();
        for (int i = 0; i < N; i++) {
            char name[64];
            snprintf(name, sizeof name, "%d_0_0_2017011617452%04d.jpg", i + 1,
                     turn ? 9999 - i : i);
            jpeg_write(&s, name, 16, 4 * i);
        }
        xb_image_options o = ages(turn ? 8 : 16);
        xb_images *images = open_ages(ctx, &s, &o);
        parts_of(images, part[turn], N);
        int64_t *rows = NULL, n = 0, all = 0;
        for (int p = XB_PART_TRAIN; p <= XB_PART_TEST; p++, all += n, free(rows)) {
            assert_ok(ctx, xb_images_select(ctx, &rows, &n, images, (xb_part)p, true));
            for (int64_t i = 0; i < n; i++)
                assert_int_equal(xb_part_of_hash(xb_images_hash(images, rows[i])), p);
        }
        assert_int_equal(all, N);
        xb_images_destroy(images);
        scratch_remove(&s);
    }
    assert_string_equal(part[0], part[1]);
    xb_ctx_destroy(ctx);
}

/* ---- targets from a table */

static void a_table_names_the_targets(void **state)
{
    (void)state;
    static const char table[] =
        "file,kind,age\na.jpg,cat,3\n./b.jpg,dog,4\nd.jpg,cat,5\n";
    static const char wrong[] = "file,age\na.jpg,3\nz.jpg,4\n";
    static const char twice[] = "file,age\na.jpg,3\na.jpg,4\n";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (int i = 0; i < 4; i++)
        jpeg_write(&s, (const char *[]){"a.jpg", "b.jpg", "c.jpg", "d.jpg"}[i], 16,
                   40 * i);
    char path[128];
    snprintf(path, sizeof path, "%s",
             scratch_write(&s, "t.csv", table, sizeof table - 1));
    xb_image_options o = xb_image_options_default();
    o.target_table = path;
    o.target = "kind";
    xb_images *images = open_ages(ctx, &s, &o);
    assert_int_equal(xb_images_class_count(images), 2);
    assert_string_equal(xb_images_class_name(images, 1), "dog");
    assert_close(xb_images_target(images)[0], 0, 0);
    assert_close(xb_images_target(images)[1], 1, 0);
    assert_true(isnan(xb_images_target(images)[2]));
    assert_int_equal(xb_images_report(images)->unlabelled, 1);
    assert_string_equal(xb_images_report(images)->unlabelled_name, "c.jpg");
    xb_images_destroy(images);
    o.target = "age";
    images = open_ages(ctx, &s, &o);
    assert_int_equal(xb_images_class_count(images), 0);
    assert_close(xb_images_target(images)[3], 5, 0);
    xb_images_destroy(images);
    scratch_write(&s, "t.csv", wrong, sizeof wrong - 1);
    assert_int_equal(xb_images_open(ctx, &images, s.dir, &o), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "t.csv:3: no image 'z.jpg'"));
    scratch_write(&s, "t.csv", twice, sizeof twice - 1);
    assert_int_equal(xb_images_open(ctx, &images, s.dir, &o), XB_E_INPUT);
    assert_non_null(
        strstr(xb_ctx_message(ctx), "t.csv:3: image 'a.jpg' is listed twice"));
    o.target_table = NULL;
    assert_int_equal(xb_images_open(ctx, &images, s.dir, &o), XB_E_ARGUMENT);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void sizes_must_agree_or_be_given(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    jpeg_write(&s, "1_0_0_20170116174521111.jpg", 16, 1);
    jpeg_write(&s, "2_0_0_20170116174521111.jpg", 24, 2);
    xb_image_options o = ages(0);
    xb_images *images = NULL;
    assert_int_equal(xb_images_open(ctx, &images, s.dir, &o), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "24 x 24 pixels, others have 16 x 16"));
    o.size = 16;
    images = open_ages(ctx, &s, &o);
    int64_t h, w, c;
    xb_images_shape(images, &h, &w, &c);
    assert_true(h == 16 && w == 16 && c == 3);
    xb_images_destroy(images);
    scratch_remove(&s);
    assert_int_equal(xb_images_open(ctx, &images, "/nonexistent", &o), XB_E_INPUT);
    xb_ctx_destroy(ctx);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    scratch s = scratch_make();
    uint8_t first[BYTES];
    fill_folder(&s);
    for (int threads = 1; threads <= 3; threads++) {
        xb_ctx *ctx = test_ctx();
        xb_ctx_set_threads(ctx, threads);
        xb_image_options o = ages(SIDE);
        o.no_cache = true;
        xb_images *images = open_ages(ctx, &s, &o);
        if (threads == 1) memcpy(first, xb_images_bytes(images), BYTES);
        assert_memory_equal(first, xb_images_bytes(images), BYTES);
        xb_images_destroy(images);
        xb_ctx_destroy(ctx);
    }
    scratch_remove(&s);
}

/* With a cache in its folder, and without one. */
static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    scratch s = scratch_make();
    fill_folder(&s);
    xb_image_options o = ages(SIDE);
    o.no_cache = true;
    xb_images *whole = NULL;
    assert_ok(ctx, xb_images_open(ctx, &whole, s.dir, &o));
    size_t bytes = (size_t)(xb_images_count(whole) * SIDE * SIDE * 3);
    for (int kept = 0; kept < 2; kept++) {
        bool failed = true;
        o.no_cache = !kept;
        for (int k = 0; failed && fail_alloc_after(k); k++) {
            xb_images *images = NULL;
            xb_status status = xb_images_open(ctx, &images, s.dir, &o);
            failed = fail_alloc_happened();
            assert_ran_out(ctx, failed, status, images, k);
            if (images) {
                assert_int_equal(xb_images_count(images), xb_images_count(whole));
                assert_memory_equal(xb_images_bytes(images), xb_images_bytes(whole),
                                    bytes);
            }
            xb_images_destroy(images);
            folder_empty(home);
        }
    }
    xb_images_destroy(whole);
    assert_int_equal(scratch_remove(&s), PICTURES);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_HOME(a_slope_comes_back),
        IN_A_HOME(a_wide_picture_loses_its_sides),
        IN_A_HOME(hostile_files_are_refused),
        IN_A_HOME(names_copies_and_broken_files_are_counted),
        IN_A_HOME(parts_follow_the_content),
        IN_A_HOME(a_table_names_the_targets),
        IN_A_HOME(sizes_must_agree_or_be_given),
        IN_A_HOME(threads_do_not_matter),
        IN_A_HOME(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
