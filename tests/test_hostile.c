/* test_hostile.c: files that mean harm. Small ones that speak of terabytes, pipes that
 * never end or never begin, devices, loops of links, names that move a terminal's cursor.
 * Each is read by a child that may take ROOM bytes and SECONDS: it must be refused as bad
 * input, in one line, not for want of memory or time. What fuzzing finds is in fuzz/. */
#include "xbtest.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <zlib.h>

#include "base/outfile.h"
#include "crossbayes/safetensors.h"
#include "folder.h"
#include "jpegtest.h"
#include "crossbar/array.h"
#include "data/images.h"

enum { ROOM = 256 << 20, SECONDS = 60 };

/* ---- readers, all of one form: what they make is thrown away */

typedef xb_status (*reader)(xb_ctx *ctx, const char *path);

static xb_status read_column(xb_ctx *ctx, const char *path)
{
    double *x = NULL;
    int64_t n = 0;
    xb_status status = xb_column_read(ctx, &x, &n, path, "1");
    free(x);
    return status;
}

static xb_status read_frame(xb_ctx *ctx, const char *path)
{
    xb_frame *frame = NULL;
    xb_status status = xb_frame_read(ctx, &frame, path, NULL);
    xb_frame_destroy(frame);
    return status;
}

static xb_status read_npy(xb_ctx *ctx, const char *path)
{
    double *x = NULL;
    int64_t shape[8];
    int64_t ndim = 0;
    xb_status status = xb_npy_read(ctx, &x, shape, &ndim, path);
    free(x);
    return status;
}

static xb_status read_law(xb_ctx *ctx, const char *path)
{
    xb_law *law = NULL;
    xb_status status = xb_law_load(ctx, &law, path);
    xb_law_destroy(law);
    return status;
}

static xb_status read_array(xb_ctx *ctx, const char *path)
{
    xb_array array;
    return xb_array_read(ctx, &array, path);
}

static xb_status read_model(xb_ctx *ctx, const char *path)
{
    xb_model *model = NULL;
    xb_status status = xb_model_load(ctx, &model, path);
    xb_model_destroy(model);
    return status;
}

static xb_status read_images(xb_ctx *ctx, const char *path)
{
    xb_images *images = NULL;
    xb_image_options opt = xb_image_options_default();
    opt.unlabelled = true;
    opt.no_cache = true;
    xb_status status = xb_images_open(ctx, &images, path, &opt);
    xb_images_destroy(images);
    return status;
}

/* ---- a child with little room */

static void limit_room(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    alarm(SECONDS);
    if (SANITIZED || !f || fscanf(f, "%ld", &pages) != 1) return; /* shadows take all */
    fclose(f);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
}

typedef struct outcome {
    int signal; /* that ended the child; 0: none */
    xb_status status;
    char message[512];
} outcome;

static outcome read_confined(reader read_it, const char *path)
{
    outcome out = {0};
    int line[2], how = 0;
    assert_int_equal(pipe(line), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        xb_ctx *ctx = test_ctx();
        xb_ctx_set_threads(ctx, 1);
        limit_room();
        out.status = read_it(ctx, path);
        snprintf(out.message, sizeof out.message, "%s", xb_ctx_message(ctx));
        _exit(write(line[1], &out, sizeof out) == sizeof out ? 0 : 1);
    }
    close(line[1]);
    ssize_t got = read(line[0], &out, sizeof out);
    close(line[0]);
    assert_int_equal(waitpid(child, &how, 0), child);
    out.signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    if (out.signal == 0 && got != (ssize_t)sizeof out) fail_msg("%s: no answer", path);
    return out;
}

static void assert_refused(reader read_it, const char *path, const char *says)
{
    outcome o = read_confined(read_it, path);
    if (o.signal) fail_msg("%s: ended by signal %d", path, o.signal);
    if (o.status != XB_E_INPUT || !strstr(o.message, says))
        fail_msg("%s: %s: '%s', expected '%s'", path, xb_status_text(o.status), o.message,
                 says);
}

/* ---- headers that speak of more than there is */

typedef struct claim {
    const char *what;
    reader read_it;
    const char *bytes;
    size_t size;
    const char *says;
} claim;

#define CLAIM(what, reader, bytes, says)                                                 \
    {                                                                                    \
        what, reader, bytes, sizeof(bytes) - 1, says                                     \
    }
#define NPY(shape)                                                                       \
    "\x93NUMPY\x02\0\x44\0\0\0{'descr': '<f8', 'fortran_order': False, 'shape': (" shape
#define MODEL                                                                            \
    "{\"__metadata__\":{\"crossbayes\":\"model\",\"format\":\"1\",\"net\":"              \
    "\"maxpool 16, dense 1\",\"likelihood\":\"gaussian\",\"prior\":\"normal:sd=1\","     \
    "\"target\":\"y\",\"settings\":\"{}\",\"provenance\":\"{}\",\"inputs\":\"pixels\","  \
    "\"input\":\"[16384,16384,1]\",\"features\":\"[]\",\"classes\":\"[]\"}}"

static const claim claims[] = {
    CLAIM("an NPY array of 1e12", read_npy, NPY("1000000000000,)} "), "truncated"),
    CLAIM("a column of them", read_column, NPY("1000000000000,)} "), "truncated"),
    CLAIM("a table of them", read_frame, NPY("1000000,1000000)}"), "truncated"),
    CLAIM("an NPY header of 4 GiB", read_npy, "\x93NUMPY\x02\0\xff\xff\xff\xff{",
          "header of 4294967295"),
    CLAIM("a safetensors header of 2^63", read_model,
          "\xff\xff\xff\xff\xff\xff\xff\x7f{}", "beyond 16 MiB"),
    CLAIM("one of 16 MiB", read_model, "\0\0\0\x01\0\0\0\0{}", "a header of 16777216"),
    CLAIM("a tensor of 2^62", read_model,
          "\x47\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[4611686018427387904],"
          "\"data_offsets\":[0,4]}}    ",
          "data_offsets"),
    CLAIM("an IDX file of 2^96", read_images,
          "\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "8 GiB"),
    CLAIM("one of 4 GiB", read_images, "\0\0\x08\x03\0\0\x10\0\0\0\x04\0\0\0\x04\0",
          "shorter than its header"),
};

static void headers_cannot_claim_memory(void **state)
{
    (void)state;
    scratch s = scratch_make();
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        const claim *c = &claims[i];
        print_message("%s\n", c->what);
        assert_refused(c->read_it, scratch_write(&s, "claim", c->bytes, c->size),
                       c->says);
    }
    scratch_remove(&s);
}

/* A model of a few hundred bytes whose inputs are 2^28 pixels. */
static void models_cannot_claim_pixels(void **state)
{
    (void)state;
    scratch s = scratch_make();
    char bytes[sizeof MODEL + 8] = {0};
    const uint64_t size = sizeof MODEL - 1;
    memcpy(bytes, &size, sizeof size);
    memcpy(bytes + 8, MODEL, sizeof MODEL - 1);
    assert_refused(read_model, scratch_write(&s, "model", bytes, 8 + size),
                   "inputs of 268435456 numbers");
    scratch_remove(&s);
}

/* gzip packs zeros a thousand times: 30 kB for some of the 256 MiB the header says. */
static void unpacking_is_bounded(void **state)
{
    (void)state;
    scratch s = scratch_make();
    static const unsigned char head[16] = {0, 0, 8, 3,  0, 1, 0, 0,
                                           0, 0, 0, 64, 0, 0, 0, 64};
    static const unsigned char zeros[1 << 20];
    gzFile to = gzopen(scratch_path(&s, "bomb"), "wb9");
    assert_non_null(to);
    assert_int_equal(gzwrite(to, head, sizeof head), sizeof head);
    for (int i = 0; i < 30; i++)
        assert_int_equal(gzwrite(to, zeros, sizeof zeros), sizeof zeros);
    assert_int_equal(gzclose(to), Z_OK);
    assert_refused(read_images, scratch_path(&s, "bomb"), "expected at most 200 times");
    scratch_remove(&s);
}

/* Patches the sides in the start-of-frame marker. */
static void claim_sides(jpeg_bytes j, int h, int w)
{
    for (unsigned long i = 0; i + 9 < j.size; i++)
        if (j.data[i] == 0xFF && j.data[i + 1] == 0xC0) {
            j.data[i + 5] = (unsigned char)(h >> 8), j.data[i + 6] = (unsigned char)h;
            j.data[i + 7] = (unsigned char)(w >> 8), j.data[i + 8] = (unsigned char)w;
            return;
        }
    fail();
}

static void pictures_cannot_claim_memory(void **state)
{
    (void)state;
    static const struct {
        int h, w;
        const char *says;
    } cases[] = {{65500, 65500, "is too large"},
                 {16384, 16384, "is too large"},
                 {8192, 8192, "are too few for a picture"},
                 {16384, 4096, "are too few for a picture"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch s = scratch_make();
        jpeg_bytes j = jpeg_slope(8, 8, 0);
        claim_sides(j, cases[i].h, cases[i].w);
        scratch_write(&s, "a.jpg", j.data, j.size);
        assert_refused(read_images, s.dir, cases[i].says);
        free(j.data);
        scratch_remove(&s);
    }
}

static void json_is_bounded(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    scratch s = scratch_make();
    char *deep = malloc(DEPTH);
    assert_non_null(deep);
    memset(deep, '[', DEPTH);
    assert_refused(read_law, scratch_write(&s, "deep.json", deep, DEPTH), "not JSON");
    assert_refused(read_array, s.path, "not JSON");
    assert_int_equal(truncate(s.path, (off_t)1 << 40), 0); /* a file of holes */
    assert_refused(read_law, s.path, "of at most 8388608");
    free(deep);
    scratch_remove(&s);
}

/* ---- pipes and devices */

/* `piece` for ever into the pipe at `path`. */
static pid_t write_forever(const char *path, const char *piece)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    alarm(SECONDS);
    FILE *f = fopen(path, "w");
    while (f && fputs(piece, f) >= 0) continue;
    _exit(0);
}

static void endless_pipes_are_refused(void **state)
{
    (void)state;
    static const struct {
        reader read_it;
        const char *piece, *says;
    } cases[] = {{read_column, "aaaaaaaaaaaaaaaa", "line longer than 1 MiB"},
                 {read_frame, "1,2,3,4,", "line longer than 1 MiB"},
                 {read_law, "[[],[1],", "of at most 8388608"},
                 {read_array, "                ", "of at most 8388608"}};
    scratch s = scratch_make();
    const char *path = scratch_path(&s, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pid_t writer = write_forever(path, cases[i].piece);
        assert_refused(cases[i].read_it, path, cases[i].says);
        assert_int_equal(waitpid(writer, NULL, 0), writer); /* its reader is gone */
    }
    scratch_remove(&s);
}

/* Nobody writes: whoever opens it waits for ever. */
static void silent_pipes_do_not_hang(void **state)
{
    (void)state;
    scratch s = scratch_make();
    assert_int_equal(mkfifo(scratch_path(&s, "x-labels-idx1-ubyte"), 0600), 0);
    assert_refused(read_model, s.path, "a pipe or device");
    static const char images[] = "\0\0\x08\x03\0\0\0\1\0\0\0\1\0\0\0\1";
    scratch_write(&s, "x-images-idx3-ubyte", images, sizeof images); /* and its NUL */
    xb_ctx *ctx = test_ctx();
    xb_images *none = NULL;
    alarm(SECONDS);
    assert_int_equal(xb_images_open(ctx, &none, s.path, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "not a file, expected IDX data"));
    alarm(0);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* A cache that is a pipe is no cache. */
static void a_cache_may_be_anything(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_image_options opt = xb_image_options_default();
    xb_images *images = NULL;
    opt.unlabelled = true;
    jpeg_write(&s, "a.jpg", 8, 0);
    scratch home = scratch_make();
    assert_int_equal(setenv("XDG_CACHE_HOME", home.dir, 1), 0);
    assert_ok(ctx, xb_images_open(ctx, &images, s.dir, &opt));
    char path[512];
    snprintf(path, sizeof path, "%s", xb_images_report(images)->cache);
    xb_images_destroy(images);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(SECONDS);
    assert_ok(ctx, xb_images_open(ctx, &images, s.dir, &opt));
    alarm(0);
    assert_false(xb_images_report(images)->cache_used);
    assert_true(xb_images_report(images)->cache_kept);
    xb_images_destroy(images);
    images = NULL;
    opt.cache = scratch_path(&s, "pipe"); /* asked for by name: not replaced */
    assert_int_equal(mkfifo(opt.cache, 0600), 0);
    alarm(SECONDS);
    assert_int_equal(xb_images_open(ctx, &images, s.dir, &opt), XB_E_INPUT);
    alarm(0);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
    folder_empty(home.dir);
    scratch_remove(&home);
}

static void devices_and_folders_are_refused(void **state)
{
    (void)state;
    static const reader all[] = {read_column, read_frame, read_npy,
                                 read_law,    read_array, read_model};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_refused(all[i], "/dev/zero", "/dev/zero");
        assert_refused(all[i], "/dev/null", "/dev/null");
        assert_refused(all[i], "/tmp", "/tmp: this is a folder; ");
    }
}

/* ---- links and names */

static void put_link(scratch *s, const char *to, const char *name)
{
    assert_int_equal(symlink(to, scratch_path(s, name)), 0);
}

static void links_end(void **state)
{
    (void)state;
    scratch s = scratch_make(), outside = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_images *images = NULL;
    xb_image_options opt = xb_image_options_default();
    opt.unlabelled = opt.no_cache = true;
    jpeg_write(&outside, "far.jpg", 8, 9);
    jpeg_write(&s, "a.jpg", 8, 0);
    put_link(&s, outside.path, "b.jpg");      /* a file elsewhere */
    put_link(&s, outside.dir, "far");         /* a folder elsewhere */
    put_link(&s, "nowhere.jpg", "c.jpg");     /* dangling */
    put_link(&s, "itself.jpg", "itself.jpg"); /* a loop of one */
    assert_int_equal(mkdir(scratch_path(&s, "folder.jpg"), 0777), 0);
    assert_int_equal(mkfifo(scratch_path(&s, "pipe.jpg"), 0600), 0);
    for (char name[] = "loop-a"; name[5] <= 'l'; name[5]++) put_link(&s, ".", name);
    alarm(SECONDS); /* 12 links to where they are, 8 deep: 4e8 ways */
    assert_ok(ctx, xb_images_open(ctx, &images, s.dir, &opt));
    alarm(0);
    assert_int_equal(xb_images_count(images), 3);
    assert_string_equal(xb_images_name(images, 0), "a.jpg");
    assert_string_equal(xb_images_name(images, 1), "b.jpg");
    assert_string_equal(xb_images_name(images, 2), "far/far.jpg");
    assert_int_equal(xb_images_report(images)->others, 1); /* the pipe */
    xb_images_destroy(images);
    xb_ctx_destroy(ctx);
    folder_empty(s.dir);
    scratch_remove(&s);
    scratch_remove(&outside);
}

static void looping_links_are_no_files(void **state)
{
    (void)state;
    scratch s = scratch_make();
    put_link(&s, "loop", "loop");
    assert_refused(read_column, s.path, "cannot read");
    assert_refused(read_law, s.path, "cannot read");
    assert_refused(read_model, s.path, "cannot read");
    scratch_remove(&s);
}

static void no_controls(const char *message)
{
    for (const unsigned char *p = (const unsigned char *)message; *p; p++)
        if (*p < ' ' || *p == 127 || (*p == 0xC2 && p[1] < 0xA0))
            fail_msg("byte %d in '%s'", *p, message);
}

/* Line breaks and what moves a cursor, in a file's name and in a law's unit. */
static void names_stay_on_their_line(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_law *law = NULL;
    scratch_write(&s, "a\n\x1b[2J\xC2\x9B\x7F.jpg", "no picture", 10);
    outcome o = read_confined(read_images, s.dir);
    assert_int_equal(o.status, XB_E_INPUT);
    assert_non_null(strstr(o.message, "a  [2J"));
    no_controls(o.message);
    static const char unit[] = "{\"crossbayes\": \"law\", \"family\": \"gaussian\","
                               " \"unit\": \"\\u001b[2J\"}";
    assert_int_equal(
        xb_law_load(ctx, &law, scratch_write(&s, "law.json", unit, sizeof unit - 1)),
        XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "'unit' is not a short text"));
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* A table speaks of the folder's own files, by their names there and no others. */
static void tables_do_not_leave_their_folder(void **state)
{
    (void)state;
    static const char *const rows[] = {"../a.jpg,1\n", "/etc/passwd,1\n",
                                       "./../a.jpg,1\n", "x/../a.jpg,1\n"};
    scratch s = scratch_make(), tables = scratch_make();
    xb_ctx *ctx = test_ctx();
    jpeg_write(&s, "a.jpg", 8, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        snprintf(text, sizeof text, "file,age\n%s", rows[i]);
        xb_image_options opt = xb_image_options_default();
        xb_images *none = NULL;
        opt.no_cache = true;
        opt.target = "age";
        opt.target_table = scratch_write(&tables, "t.csv", text, strlen(text));
        assert_int_equal(xb_images_open(ctx, &none, s.dir, &opt), XB_E_INPUT);
        assert_non_null(strstr(xb_ctx_message(ctx), "t.csv:2: no image"));
    }
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
    scratch_remove(&tables);
}

/* ---- writing */

/* What a link points to is not written through it; permissions are the umask's, and the
 * umask is left alone. */
static void outputs_replace_links(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    struct stat info;
    char text[16];
    mode_t before = umask(027);
    scratch_write(&s, "victim", "kept", 4);
    put_link(&s, "victim", "out");
    assert_ok(ctx, xb_outfile_text(ctx, s.path, "new"));
    assert_int_equal(lstat(s.path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(umask(before), 027);
    scratch_read(scratch_path(&s, "victim"), text, sizeof text);
    assert_string_equal(text, "kept");
    xb_ctx_destroy(ctx);
    assert_int_equal(scratch_remove(&s), 2);
}

int main(void)
{
    signal(SIGPIPE, SIG_DFL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_cannot_claim_memory),
        cmocka_unit_test(models_cannot_claim_pixels),
        cmocka_unit_test(unpacking_is_bounded),
        cmocka_unit_test(pictures_cannot_claim_memory),
        cmocka_unit_test(json_is_bounded),
        cmocka_unit_test(endless_pipes_are_refused),
        cmocka_unit_test(silent_pipes_do_not_hang),
        cmocka_unit_test(a_cache_may_be_anything),
        cmocka_unit_test(devices_and_folders_are_refused),
        cmocka_unit_test(links_end),
        cmocka_unit_test(looping_links_are_no_files),
        cmocka_unit_test(names_stay_on_their_line),
        cmocka_unit_test(tables_do_not_leave_their_folder),
        cmocka_unit_test(outputs_replace_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
