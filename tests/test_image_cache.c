/* test_image_cache.c: the cache of decoded images: used and never trusted, in its own
 * folder and within its limit, nobody else's file. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "imagetest.h"

static const char *in_home(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/crossbayes/%s", home, name);
    return path;
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
    assert_non_null(strstr(told[0], "not kept: /proc/none/crossbayes: cannot create"));
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
    assert_non_null(strstr(told[1], "removed the 1 least recently used file"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_HOME(a_cache_is_used_and_never_trusted),
        IN_A_HOME(a_stale_cache_is_made_again),
        IN_A_HOME(the_data_folder_is_never_written_to),
        IN_A_HOME(the_cache_folder_follows_the_environment),
        IN_A_HOME(the_cache_stays_within_its_limit),
        IN_A_HOME(a_cache_that_cannot_be_written_is_no_reason_to_stop),
        IN_A_HOME(a_limit_may_forbid_and_must_be_a_size),
        IN_A_HOME(a_named_cache_replaces_no_other_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
