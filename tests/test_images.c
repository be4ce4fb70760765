/* Folders of images: decoding, names, copies, parts, tables of targets, the cache. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "data/images.h"
#include "data/jpeg.h"
#include "jpegtest.h"

#include "failalloc.h"
#include "folder.h"

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

static xb_image_options ages(int64_t size)
{
    xb_image_options o = xb_image_options_default();
    o.size = size;
    o.ages_in_names = true;
    return o;
}

static xb_images *open_ages(xb_ctx *ctx, scratch *s, const xb_image_options *o)
{
    xb_images *images = NULL;
    assert_ok(ctx, xb_images_open(ctx, &images, s->dir, o));
    return images;
}

/* The user's cache folder, which every test finds empty. */
static char home[64];

static int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/xb-cache-XXXXXX");
    unsetenv("CROSSBAYES_CACHE_LIMIT");
    return mkdtemp(home) && setenv("XDG_CACHE_HOME", home, 1) == 0 ? 0 : -1;
}

static int remove_home(void **state)
{
    (void)state;
    folder_empty(home);
    return rmdir(home);
}

static const char *in_home(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/crossbayes/%s", home, name);
    return path;
}

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
    o.targets = path;
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
    assert_non_null(strstr(xb_ctx_message(ctx), "t.csv:3: image 'a.jpg' has a target"));
    o.targets = NULL;
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
    assert_non_null(strstr(xb_ctx_message(ctx), "24 x 24, others are 16 x 16"));
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

/* ---- the cache */

enum { PICTURES = 5, SIDE = 8, BYTES = PICTURES * SIDE * SIDE * 3 };

static void fill_folder(scratch *s)
{
    for (int i = 0; i < PICTURES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%d_0_0_20170116174521111.jpg", i + 1);
        jpeg_write(s, name, 16, 50 * i);
    }
}

/* Opens the folder and compares its pixels with `right`; returns whether the cache was
 * used, and its path. */
static bool reopen(xb_ctx *ctx, scratch *s, const uint8_t *right, char path[512])
{
    xb_image_options o = ages(SIDE);
    xb_images *images = open_ages(ctx, s, &o);
    bool used = xb_images_report(images)->cache_used;
    assert_true(xb_images_report(images)->cache_kept);
    snprintf(path, 512, "%s", xb_images_report(images)->cache);
    assert_memory_equal(xb_images_bytes(images), right, BYTES);
    xb_images_destroy(images);
    return used;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void a_cache_is_used_and_never_trusted(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    uint8_t right[BYTES];
    static uint8_t file[65536];
    char path[512];
    fill_folder(&s);
    xb_image_options o = ages(SIDE);
    o.no_cache = true;
    xb_images *images = open_ages(ctx, &s, &o);
    assert_false(xb_images_report(images)->cache_kept);
    assert_null(xb_images_report(images)->cache);
    memcpy(right, xb_images_bytes(images), BYTES);
    xb_images_destroy(images);
    assert_int_equal(folder_count(home), 0);
    assert_false(reopen(ctx, &s, right, path));
    assert_true(reopen(ctx, &s, right, path));
    size_t size = scratch_read(path, file, sizeof file);
    for (size_t i = 0; i < size; i += i < 700 ? 5 : 97) { /* any byte, then made again */
        file[i] ^= 0x40;
        write_file(path, file, size);
        assert_false(reopen(ctx, &s, right, path));
        file[i] ^= 0x40;
    }
    for (size_t cut = 0; cut < size; cut += size / 7) {
        write_file(path, file, cut);
        assert_false(reopen(ctx, &s, right, path));
    }
    assert_true(reopen(ctx, &s, right, path));
    assert_int_equal(scratch_remove(&s), PICTURES);
    xb_ctx_destroy(ctx);
}

/* ---- where the cache is */

static char told[8][1024];
static int n_told;

static void listen(void *arg, const char *sentence)
{
    (void)arg;
    assert_true(n_told < 8);
    snprintf(told[n_told++], sizeof told[0], "%.1023s", sentence);
}

/* A context whose notices are in `told`. */
static xb_ctx *listening(void)
{
    xb_ctx *ctx = test_ctx();
    n_told = 0;
    xb_ctx_set_notice(ctx, listen, NULL);
    return ctx;
}

/* Opens the folder in a size; the cache's path is in `path`, "" without one. */
static void open_size(xb_ctx *ctx, scratch *s, int64_t size, char path[512])
{
    xb_image_options o = ages(size);
    n_told = 0;
    xb_images *images = open_ages(ctx, s, &o);
    const char *cache = xb_images_report(images)->cache;
    snprintf(path, 512, "%s", cache ? cache : "");
    xb_images_destroy(images);
}

static void the_data_folder_is_never_written_to(void **state)
{
    (void)state;
    xb_ctx *ctx = listening();
    scratch s = scratch_make(), other = scratch_make();
    struct stat before, after, cache;
    char path[512], second[512];
    fill_folder(&s);
    fill_folder(&other); /* the same names in another folder */
    assert_int_equal(stat(s.dir, &before), 0);
    open_size(ctx, &s, SIDE, path);
    assert_int_equal(stat(s.dir, &after), 0);
    assert_int_equal(folder_count(s.dir), PICTURES); /* hidden ones are counted */
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    assert_int_equal(strncmp(path, in_home(""), strlen(in_home(""))), 0);
    assert_int_equal(n_told, 1);
    assert_non_null(strstr(told[0], "are kept in "));
    assert_non_null(strstr(told[0], path));
    assert_int_equal(stat(in_home(""), &cache), 0);
    assert_int_equal(cache.st_mode & 0777, 0700);
    open_size(ctx, &s, SIDE, second);
    assert_string_equal(path, second);
    assert_non_null(strstr(told[0], "are read from "));
    open_size(ctx, &other, SIDE, second);
    assert_string_not_equal(path, second);
    assert_int_equal(folder_count(in_home("")), 2);
    scratch_remove(&s);
    scratch_remove(&other);
    xb_ctx_destroy(ctx);
}

/* XDG_CACHE_HOME, else ~/.cache; a relative path is no path; neither: none, and said. */
static void the_cache_folder_follows_the_environment(void **state)
{
    (void)state;
    xb_ctx *ctx = listening();
    scratch s = scratch_make();
    char path[512], in_user_home[128], *old = getenv("HOME");
    char *kept = old ? strdup(old) : NULL;
    fill_folder(&s);
    assert_int_equal(setenv("HOME", home, 1), 0);
    static const char *const not_set[] = {"", "relative/folder"};
    snprintf(in_user_home, sizeof in_user_home, "%s/.cache/crossbayes/", home);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setenv("XDG_CACHE_HOME", not_set[i], 1), 0);
        open_size(ctx, &s, SIDE, path);
        assert_int_equal(strncmp(path, in_user_home, strlen(in_user_home)), 0);
    }
    assert_int_equal(unsetenv("HOME"), 0);
    open_size(ctx, &s, SIDE, path);
    assert_string_equal(path, "");
    assert_string_equal(told[0], "the decoded images are not kept: neither XDG_CACHE_HOME"
                                 " nor HOME is set");
    assert_int_equal(setenv("XDG_CACHE_HOME", "/proc/none", 1), 0); /* cannot be made */
    open_size(ctx, &s, SIDE, path);
    assert_string_equal(path, "");
    assert_non_null(strstr(told[0], "not kept: /proc/none/crossbayes: cannot make"));
    if (kept) assert_int_equal(setenv("HOME", kept, 1), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", home, 1), 0);
    free(kept);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static void set_time(const char *path, int64_t seconds)
{
    const struct timespec when[2] = {{seconds, 0}, {seconds, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, when, 0), 0);
}

/* The longest unused go first, by use and not by age; what is not ours stays. */
static void the_cache_stays_within_its_limit(void **state)
{
    (void)state;
    xb_ctx *ctx = listening();
    scratch s = scratch_make();
    char path[4][512], limit[32];
    struct stat info;
    fill_folder(&s);
    for (int i = 0; i < 3; i++) open_size(ctx, &s, SIDE + i, path[i]);
    for (int i = 0; i < 3; i++) set_time(path[i], 1000 + i);
    write_file(in_home("notes.txt"), "mine", 4);
    set_time(in_home("notes.txt"), 1);
    write_file(in_home("x.images.tmp-0a1b2c"), "killed", 6);
    set_time(in_home("x.images.tmp-0a1b2c"), 1);
    write_file(in_home("y.images.tmp-0a1b2c"), "at work", 7);
    open_size(ctx, &s, SIDE, path[0]); /* the oldest is used again */
    int64_t total = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(stat(path[i], &info), 0);
        total += info.st_size;
    }
    snprintf(limit, sizeof limit, "%lld", (long long)total);
    assert_int_equal(setenv("CROSSBAYES_CACHE_LIMIT", limit, 1), 0);
    open_size(ctx, &s, SIDE - 1, path[3]); /* smaller than any: one has to go */
    assert_true(is_there(path[0]) && is_there(path[2]) && is_there(path[3]));
    assert_false(is_there(path[1]));
    assert_non_null(strstr(told[1], "removed 1 file, the longest unused first"));
    assert_true(is_there(in_home("notes.txt")));
    assert_false(is_there(in_home("x.images.tmp-0a1b2c")));
    assert_true(is_there(in_home("y.images.tmp-0a1b2c")));
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A cache that cannot be written is said, and the work goes on without it. */
static void a_cache_that_cannot_be_written_is_no_reason_to_stop(void **state)
{
    (void)state;
    xb_ctx *ctx = listening();
    scratch s = scratch_make();
    char path[512];
    fill_folder(&s);
    open_size(ctx, &s, SIDE, path); /* the folder is made */
    char *const folder_path = strdup(in_home(""));
    assert_non_null(folder_path);
    folder_empty(folder_path);
    assert_int_equal(chmod(folder_path, 0500), 0);
    if (access(folder_path, W_OK) == 0) /* root writes anywhere: a folder in the way */
        assert_int_equal(mkdir(path, 0700), 0);
    open_size(ctx, &s, SIDE, path);
    assert_string_equal(path, "");
    assert_int_equal(n_told, 1);
    assert_non_null(strstr(told[0], "the decoded images are not kept: "));
    assert_int_equal(chmod(folder_path, 0700), 0);
    free(folder_path);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void a_limit_may_forbid_and_must_be_a_size(void **state)
{
    (void)state;
    xb_ctx *ctx = listening();
    scratch s = scratch_make();
    char path[512];
    fill_folder(&s);
    xb_image_options o = ages(SIDE);
    static const char *const refused[] = {"2GB", "-1", "lots", "1e9", "9999999T", "G"};
    for (int i = 0; i < 6; i++) {
        xb_images *images = NULL;
        assert_int_equal(setenv("CROSSBAYES_CACHE_LIMIT", refused[i], 1), 0);
        assert_int_equal(xb_images_open(ctx, &images, s.dir, &o), XB_E_ARGUMENT);
        assert_non_null(
            strstr(xb_ctx_message(ctx), "expected a size such as 500M or 2G"));
    }
    static const char *const forbidden[] = {"0", "1K"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setenv("CROSSBAYES_CACHE_LIMIT", forbidden[i], 1), 0);
        open_size(ctx, &s, SIDE, path);
        assert_string_equal(path, "");
        assert_non_null(strstr(told[0], "the decoded images are not kept: "));
        assert_non_null(strstr(told[0], "CROSSBAYES_CACHE_LIMIT"));
    }
    assert_int_equal(setenv("CROSSBAYES_CACHE_LIMIT", "1m", 1), 0);
    open_size(ctx, &s, SIDE, path);
    assert_true(is_there(path));
    assert_int_equal(folder_count(in_home("")), 1);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A cache that is asked for by name: beyond any limit, and never over another file. */
static void a_named_cache_replaces_no_other_file(void **state)
{
    (void)state;
    xb_ctx *ctx = listening();
    scratch s = scratch_make(), place = scratch_make();
    xb_images *images = NULL;
    fill_folder(&s);
    xb_image_options o = ages(SIDE);
    o.cache = scratch_path(&place, "faces.images");
    assert_int_equal(setenv("CROSSBAYES_CACHE_LIMIT", "0", 1), 0);
    for (int i = 0; i < 2; i++) {
        images = open_ages(ctx, &s, &o);
        assert_string_equal(xb_images_report(images)->cache, o.cache);
        assert_int_equal(xb_images_report(images)->cache_used, i);
        xb_images_destroy(images);
    }
    scratch_write(&place, "faces.images", "XBIM", 4); /* cut short: made again */
    images = open_ages(ctx, &s, &o);
    assert_false(xb_images_report(images)->cache_used);
    xb_images_destroy(images);
    assert_int_equal(folder_count(home), 0);
    char kept[16];
    scratch_write(&place, "noise.csv", "x\n1\n2\n", 6);
    o.cache = place.path;
    assert_int_equal(xb_images_open(ctx, &images, s.dir, &o), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "image cache was expected"));
    assert_int_equal(scratch_read(place.path, kept, sizeof kept), 6);
    assert_string_equal(kept, "x\n1\n2\n");
    scratch_remove(&s);
    scratch_remove(&place);
    xb_ctx_destroy(ctx);
}

static void a_stale_cache_is_made_again(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    fill_folder(&s);
    xb_image_options o = ages(SIDE);
    xb_images_destroy(open_ages(ctx, &s, &o));
    jpeg_write(&s, "2_0_0_20170116174521111.jpg", 16, 255); /* another picture */
    xb_images *images = open_ages(ctx, &s, &o);
    assert_false(xb_images_report(images)->cache_used);
    assert_at_most(fabs(xb_images_bytes(images)[SIDE * SIDE * 3 + 2] - 255.0), 12);
    xb_images_destroy(images);
    const struct timespec old[2] = {{1000, 0}, {1000, 7}}; /* touched only */
    assert_int_equal(
        utimensat(AT_FDCWD, scratch_path(&s, "3_0_0_20170116174521111.jpg"), old, 0), 0);
    images = open_ages(ctx, &s, &o);
    assert_false(xb_images_report(images)->cache_used);
    xb_images_destroy(images);
    jpeg_write(&s, "9_0_0_20170116174521111.jpg", 16, 5); /* one more */
    images = open_ages(ctx, &s, &o);
    assert_false(xb_images_report(images)->cache_used);
    assert_int_equal(xb_images_count(images), PICTURES + 1);
    xb_images_destroy(images);
    images = open_ages(ctx, &s, &o);
    assert_true(xb_images_report(images)->cache_used);
    xb_images_destroy(images);
    scratch_remove(&s);
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

#define IN_A_HOME(test) cmocka_unit_test_setup_teardown(test, make_home, remove_home)

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
        IN_A_HOME(a_cache_is_used_and_never_trusted),
        IN_A_HOME(a_stale_cache_is_made_again),
        IN_A_HOME(the_data_folder_is_never_written_to),
        IN_A_HOME(the_cache_folder_follows_the_environment),
        IN_A_HOME(the_cache_stays_within_its_limit),
        IN_A_HOME(a_cache_that_cannot_be_written_is_no_reason_to_stop),
        IN_A_HOME(a_limit_may_forbid_and_must_be_a_size),
        IN_A_HOME(a_named_cache_replaces_no_other_file),
        IN_A_HOME(threads_do_not_matter),
        IN_A_HOME(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
