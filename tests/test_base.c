/* test_base.c: the ground: context, Philox, parallel loops, files, sorting,
 * Gauss rules from recurrences. */
#include "xbtest.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#ifdef XB_HAS_RANDOM123
#include <Random123/philox.h>
#endif

#include "base/ctx.h"
#include "base/gauss.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "crossbayes/extend.h"
#include "base/philox.h"

static void message_is_one_line(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    assert_string_equal(xb_ctx_message(ctx), "");
    assert_int_equal(xb_fail(ctx, XB_E_INPUT, "a\nb\t%d", 7), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx), "a b 7");
    xb_fail(ctx, XB_E_IO, "again: %s", xb_ctx_message(ctx));
    assert_string_equal(xb_ctx_message(ctx), "again: a b 7");
    assert_string_equal(xb_status_text(XB_E_MEMORY), "not enough memory");
    xb_ctx_destroy(ctx);
    xb_ctx_destroy(NULL);
}

/* Known answers of Random123 (kat_vectors, philox4x32 with 10 rounds). */
static void philox_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u},
         {~0u, ~0u},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < XB_COUNT(known); i++) {
        uint32_t out[4];
        xb_philox4x32(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void philox_is_random123s(void **state)
{
    (void)state;
#ifdef XB_HAS_RANDOM123
    uint32_t word = 12345;
    for (int i = 0; i < 10000; i++) {
        uint32_t in[6], ours[4];
        for (int j = 0; j < 6; j++) in[j] = word = word * 1664525u + 1013904223u;
        philox4x32_ctr_t c = {{in[0], in[1], in[2], in[3]}};
        philox4x32_key_t k = {{in[4], in[5]}};
        philox4x32_ctr_t theirs = philox4x32(c, k);
        xb_philox4x32(ours, in, in + 4);
        assert_memory_equal(ours, theirs.v, sizeof ours);
    }
#else
    SKIP_WITHOUT("Random123");
#endif
}

static void streams_are_addressed(void **state)
{
    (void)state;
    xb_stream s = {xb_key_make(7, XB_PURPOSE_TEST), 3, 5, 11};
    /* element 64 b + 16 w + l is word w of counter 16 b + l (R2) */
    for (int64_t i = 0; i < 1000; i++) {
        uint32_t counter[4] = {(uint32_t)(i / 64 * 16 + i % 16), 3, 5, 11}, out[4];
        xb_philox4x32(out, counter, s.key.word);
        assert_int_equal(xb_stream_word(&s, i), out[i / 16 % 4]);
    }
    xb_stream other = s;
    other.key = xb_key_make(7, XB_PURPOSE_WEIGHT);
    assert_int_not_equal(xb_stream_word(&s, 0), xb_stream_word(&other, 0));
    other.key = xb_key_make(8, XB_PURPOSE_TEST);
    assert_int_not_equal(xb_stream_word(&s, 0), xb_stream_word(&other, 0));
    other.key = xb_key_make(7 + (UINT64_C(1) << 32), XB_PURPOSE_TEST);
    assert_int_not_equal(xb_stream_word(&s, 0), xb_stream_word(&other, 0));
    for (int64_t i = 0; i < 1000; i++) {
        double u = xb_stream_uniform(&s, i);
        assert_true(u > 0 && u < 1);
        assert_true(u * 0x1p53 == floor(u * 0x1p53)); /* odd multiples of 2^-53 */
        assert_true(fmod(u * 0x1p53, 2) == 1);
    }
    (void)xb_stream_word(&s, XB_STREAM_MAX - 1);
}

typedef struct squares {
    int64_t out[1000];
    int count[1000];
} squares;

static void square(void *arg, int64_t piece)
{
    squares *s = arg;
    s->out[piece] = piece * piece;
    s->count[piece]++;
}

static void parallel_runs_each_piece_once(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int threads = 1; threads <= 8; threads++) {
        xb_ctx_set_threads(ctx, threads);
        squares s = {{0}, {0}};
        xb_parallel_for(ctx, 1000, square, &s);
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(s.count[i], 1);
            assert_int_equal(s.out[i], i * i);
        }
        xb_parallel_for(ctx, 0, square, &s);
    }
    xb_ctx_destroy(ctx);
}

/* The library's pthread_create is this one: it may be made to fail after some. */
static atomic_int threads_left = INT_MAX;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how,
                          void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how,
                          void *(*run)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how,
                          void *(*run)(void *), void *arg)
{
    if (atomic_fetch_sub(&threads_left, 1) <= 0) return EAGAIN;
    return __real_pthread_create(thread, how, run, arg);
}

/* Threads that cannot be started are no reason to fail, nor to leave a piece undone. */
static void pieces_are_done_by_who_is_there(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 8);
    for (int started = 0; started < 4; started++) {
        squares s = {{0}, {0}};
        threads_left = started;
        xb_parallel_for(ctx, 1000, square, &s);
        for (int i = 0; i < 1000; i++) assert_int_equal(s.count[i], 1);
    }
    threads_left = INT_MAX;
    xb_ctx_destroy(ctx);
}

typedef struct rows {
    xb_ctx *ctx;
    squares row[4];
    atomic_int loose; /* helpers that a signal may interrupt */
    pthread_t caller;
} rows;

static void square_row(void *arg, int64_t piece)
{
    rows *r = arg;
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (!pthread_equal(pthread_self(), r->caller) && !sigismember(&blocked, SIGINT))
        r->loose++;
    xb_parallel_for(r->ctx, 1000, square, &r->row[piece]);
}

/* Loops within loops; signals are the caller's. */
static void loops_may_be_nested(void **state)
{
    (void)state;
    rows r = {.ctx = test_ctx(), .caller = pthread_self()};
    sigset_t none, after;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    xb_ctx_set_threads(r.ctx, 3);
    xb_parallel_for(r.ctx, 4, square_row, &r);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGINT), 0);
    assert_int_equal(r.loose, 0);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 1000; i++) assert_int_equal(r.row[k].count[i], 1);
    xb_ctx_destroy(r.ctx);
}

static void read_whole(char *out, size_t size, const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    fclose(f);
}

static void outfile_is_whole_or_absent(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    char dir[] = "/tmp/xb-base-XXXXXX", path[64], content[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/out.txt", dir);
    assert_ok(ctx, xb_outfile_text(ctx, path, "first"));
    xb_outfile *f = NULL;
    assert_ok(ctx, xb_outfile_open(ctx, &f, path));
    fputs("second", xb_outfile_stream(f));
    fflush(xb_outfile_stream(f));
    read_whole(content, sizeof content, path);
    assert_string_equal(content, "first"); /* until commit */
    xb_outfile_discard(f);
    read_whole(content, sizeof content, path);
    assert_string_equal(content, "first");
    assert_ok(ctx, xb_outfile_text(ctx, path, "third"));
    read_whole(content, sizeof content, path);
    assert_string_equal(content, "third");
    assert_int_equal(xb_outfile_open(ctx, &f, dir), XB_E_IO);
    assert_int_equal(xb_outfile_open(ctx, &f, "/no/such/dir/x"), XB_E_IO);
    assert_non_null(strstr(xb_ctx_message(ctx), "/no/such/dir/x"));
    unlink(path);
    assert_int_equal(rmdir(dir), 0); /* no temporary files left */
    xb_ctx_destroy(ctx);
}

static void full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        print_message("skipped: no /dev/full\n");
        skip();
    }
    xb_ctx *ctx = test_ctx();
    char dir[] = "/tmp/xb-full-XXXXXX", path[64], content[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/out.txt", dir);
    assert_ok(ctx, xb_outfile_text(ctx, path, "old"));
    xb_outfile *f = NULL;
    assert_ok(ctx, xb_outfile_open(ctx, &f, path));
    assert_non_null(freopen("/dev/full", "wb", xb_outfile_stream(f)));
    fputs("new", xb_outfile_stream(f));
    assert_int_equal(xb_outfile_commit(ctx, f), XB_E_IO);
    read_whole(content, sizeof content, path);
    assert_string_equal(content, "old");
    unlink(path);
    assert_int_equal(rmdir(dir), 0);
    xb_ctx_destroy(ctx);
}

/* The library's fsync is this one: of files and of folders, counted, and made to fail. */
static int syncs[2], sync_fails[2];

int fsync(int fd)
{
    struct stat info;
    const int folder = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
    syncs[folder]++;
    if (sync_fails[folder]) errno = sync_fails[folder];
    return sync_fails[folder] ? -1 : fdatasync(fd);
}

/* A name never stands for bytes that are not on the disk; and it is on the disk itself.
 */
static void files_are_flushed_before_they_are_named(void **state)
{
    (void)state;
    char path[64] = "/tmp/xb-sync-XXXXXX", text[8] = "";
    xb_ctx *ctx = test_ctx();
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    syncs[0] = syncs[1] = 0;
    assert_ok(ctx, xb_outfile_text(ctx, path, "old"));
    assert_true(syncs[0] == 1 && syncs[1] == 1);
    sync_fails[0] = EIO;
    assert_int_equal(xb_outfile_text(ctx, path, "new"), XB_E_IO);
    sync_fails[0] = 0;
    read_whole(text, sizeof text, path);
    assert_string_equal(text, "old");
    sync_fails[1] = EINVAL; /* a file system that has no such thing */
    assert_ok(ctx, xb_outfile_text(ctx, path, "new"));
    sync_fails[1] = EIO; /* the file is there; that it stays cannot be promised */
    assert_int_equal(xb_outfile_text(ctx, path, "last"), XB_E_IO);
    assert_non_null(strstr(xb_ctx_message(ctx), "written, but its folder"));
    sync_fails[1] = 0;
    read_whole(text, sizeof text, path);
    assert_string_equal(text, "last");
    unlink(path);
    xb_ctx_destroy(ctx);
}

static void memory_is_checked(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    assert_null(xb_new(ctx, INT64_MAX, 16));
    assert_null(xb_new(ctx, -1, 8));
    free(xb_new(ctx, 0, 8));
    void *block = NULL;
    int64_t capacity = 0;
    assert_ok(ctx, xb_grow(ctx, &block, &capacity, 10, 8));
    assert_true(capacity >= 10);
    assert_int_equal(xb_grow(ctx, &block, &capacity, INT64_MAX, 8), XB_E_MEMORY);
    free(block);
    xb_ctx_destroy(ctx);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Even values, ties, a few far from all others, infinite ones, the smallest there are. */
static double sort_value(int kind, double u, int64_t i)
{
    switch (kind) {
    case 0: return i % 5 == 0 ? 0.25 : (u - 0.5) * pow(10, 40 * (u - 0.5));
    case 1: return 1e9 + u;
    case 2: return i == 3 ? 1e30 : u;
    case 3: return i % 7 == 0 ? copysign(INFINITY, u - 0.5) : u - 0.5;
    case 4: return ldexp(floor(1000 * (u - 0.5)), -1074);
    case 5: return floor(3 * u);
    default: return (2 * u - 1) * 1.7e308;
    }
}

static void sort_is_qsort(void **state)
{
    (void)state;
    enum { KINDS = 7, MOST = 20000 };
    xb_ctx *ctx = test_ctx();
    xb_stream s = {xb_key_make(1, XB_PURPOSE_TEST), 0, 0, 0};
    static const int64_t sizes[] = {0, 1, 2, 17, 1000, MOST};
    static double a[MOST], b[MOST];
    for (int j = 0; j < XB_COUNT(sizes) * KINDS; j++) {
        int64_t n = sizes[j / KINDS];
        for (int64_t i = 0; i < n; i++)
            a[i] = b[i] = sort_value(j % KINDS, xb_stream_uniform(&s, i), i);
        assert_ok(ctx, xb_sort_doubles(ctx, a, n));
        qsort(b, (size_t)n, sizeof *b, compare_doubles);
        for (int64_t i = 0; i < n; i++) assert_true(a[i] == b[i]);
    }
    xb_ctx_destroy(ctx);
}

static void legendre_is_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int n = 1; n <= 64; n += n < 5 ? 1 : 13) {
        double x[64], w[64];
        assert_ok(ctx, xb_gauss_legendre(ctx, x, w, n));
        for (int degree = 0; degree < 2 * n; degree++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += w[i] * pow(x[i], degree);
            assert_close_floor(sum, degree % 2 ? 0 : 2.0 / (degree + 1), 4e-15, 1);
        }
    }
    double x[1], w[1];
    assert_int_equal(xb_gauss_legendre(ctx, x, w, 0), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

static bool count_and_stop(void *arg, const xb_progress *event)
{
    int *calls = arg;
    return ++*calls < 3 && event->total == 10;
}

static void progress_can_stop_work(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    int calls = 0;
    xb_ctx_set_progress(ctx, count_and_stop, &calls);
    assert_int_equal(xb_progress_tell(ctx, "testing", 1, 10), XB_OK);
    assert_int_equal(xb_progress_tell(ctx, "testing", 2, 10), XB_OK);
    assert_int_equal(xb_progress_tell(ctx, "testing", 3, 10), XB_E_CANCELLED);
    assert_string_equal(xb_ctx_message(ctx), "stopped on request while testing");
    xb_ctx_destroy(ctx);
}

static void names_that_were_meant(void **state)
{
    (void)state;
    static const char *const names[] = {"gaussian", "mtj", "ecram", "bimodal"};
    static const struct {
        const char *word;
        int expected;
    } cases[] = {
        {"mtj", 1},
        {"mjt", 1},
        {"mt", 1},
        {"gaus", 0},
        {"gausian", 0},
        {"ecrams", 2},
        {"bimodla", 3},
        {"b", -1},
        {"", -1},
        {"xyz", -1},
        {"mxx", -1}, /* one of three letters is right */
        {"a word that is longer than any name could be", -1},
    };
    for (int i = 0; i < XB_COUNT(cases); i++)
        assert_int_equal(xb_nearest(cases[i].word, names, 4), cases[i].expected);
    assert_int_equal(xb_nearest("mtj", names, 0), -1);
    static const char *const long_name[] = {
        "a name that is too long to be meant by a word"};
    assert_int_equal(xb_nearest("a name that is too lung", long_name, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_were_meant),
        cmocka_unit_test(message_is_one_line),
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(philox_is_random123s),
        cmocka_unit_test(streams_are_addressed),
        cmocka_unit_test(parallel_runs_each_piece_once),
        cmocka_unit_test(pieces_are_done_by_who_is_there),
        cmocka_unit_test(loops_may_be_nested),
        cmocka_unit_test(outfile_is_whole_or_absent),
        cmocka_unit_test(full_disk_keeps_the_old_file),
        cmocka_unit_test(files_are_flushed_before_they_are_named),
        cmocka_unit_test(memory_is_checked),
        cmocka_unit_test(sort_is_qsort),
        cmocka_unit_test(legendre_is_exact),
        cmocka_unit_test(progress_can_stop_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
