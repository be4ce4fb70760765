/* test_work.c: work that is dealt: every item once, results in order, shares in files,
 * and what is wrong with them by name. */
#include "scratch.h"

#include <stdatomic.h>

#include "base/comm.h"
#include "crossbayes/safetensors.h"
#include "work/share.h"

enum { ITEMS = 11 };

/* Item i has i + 1 bytes, all i. */
static xb_status do_items(xb_ctx *ctx, xb_work *work, int *count)
{
    int64_t i;
    while (xb_work_next(work, &i)) {
        unsigned char bytes[ITEMS];
        memset(bytes, (int)i, sizeof bytes);
        XB_TRY(xb_work_put(ctx, work, i, bytes, i + 1));
        ++*count;
    }
    return xb_work_collect(ctx, work);
}

static void check_items(const xb_work *work)
{
    for (int64_t i = 0; i < ITEMS; i++) {
        int64_t size = 0;
        const unsigned char *bytes = xb_work_result(work, i, &size);
        assert_int_equal(size, i + 1);
        for (int64_t k = 0; k < size; k++) assert_int_equal(bytes[k], i);
    }
}

static void one_process_does_all(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_work *work = NULL;
    int done = 0;
    unsigned char three[3];
    assert_int_equal(xb_work_processes(ctx), 1);
    assert_ok(ctx, xb_work_open(ctx, &work, "things", ITEMS));
    assert_ok(ctx, do_items(ctx, work, &done));
    assert_int_equal(done, ITEMS);
    check_items(work);
    assert_ok(ctx, xb_work_copy(ctx, work, 2, three, 3));
    assert_int_equal(three[2], 2);
    assert_int_equal(xb_work_copy(ctx, work, 3, three, 3), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx),
                        "things: the result of item 3 has 4 bytes, expected 3");
    xb_work_close(work);
    work = NULL;
    assert_int_equal(xb_work_open(ctx, &work, "things", -1), XB_E_ARGUMENT);
    assert_ok(ctx, xb_work_open(ctx, &work, "things", 2));
    assert_ok(ctx, xb_work_put(ctx, work, 1, NULL, 0));
    assert_int_equal(xb_work_put(ctx, work, 2, NULL, 0), XB_E_ARGUMENT);
    assert_int_equal(xb_work_collect(ctx, work), XB_E_ARGUMENT); /* item 0 */
    xb_work_close(work);
    xb_work_close(NULL);
    xb_ctx_destroy(ctx);
}

typedef struct many {
    xb_work *work;
    atomic_int_least64_t times[1000];
} many;

static void take_some(void *arg, int64_t thread)
{
    many *m = arg;
    int64_t i;
    (void)thread;
    while (xb_work_next(m->work, &i)) {
        m->times[i]++;
        assert_int_equal(xb_work_put(NULL, m->work, i, &i, sizeof i), XB_OK);
    }
}

static void threads_take_each_item_once(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static many m;
    xb_ctx_set_threads(ctx, 8);
    assert_ok(ctx, xb_work_open(ctx, &m.work, "things", 1000));
    xb_parallel_for(ctx, 8, take_some, &m);
    assert_ok(ctx, xb_work_collect(ctx, m.work));
    for (int64_t i = 0; i < 1000; i++) {
        int64_t back = -1;
        assert_int_equal(m.times[i], 1);
        assert_ok(ctx, xb_work_copy(ctx, m.work, i, &back, sizeof back));
        assert_int_equal(back, i);
    }
    xb_work_close(m.work);
    xb_ctx_destroy(ctx);
}

/* ---- shares */

static const char *const line[] = {"things", "-o", "place"};

/* Share `share` of `of`, two pieces of work, into NAME. */
static void make_share(scratch *s, const char *name, int64_t share, int64_t of,
                       const char *const words[3], const char *input)
{
    xb_ctx *ctx = test_ctx();
    int done = 0;
    if (input) assert_ok(ctx, xb_files_input(ctx, input));
    assert_ok(ctx, xb_share_begin(ctx, share, of));
    assert_int_equal(xb_work_processes(ctx), of);
    for (int k = 0; k < 2; k++) {
        xb_work *work = NULL, *inner = NULL;
        assert_ok(ctx, xb_work_open(ctx, &work, "things", ITEMS));
        assert_int_equal(xb_work_processes(ctx), 1);
        assert_ok(ctx, xb_work_open(ctx, &inner, "within", 1)); /* not dealt */
        xb_work_close(inner);
        assert_int_equal(do_items(ctx, work, &done), XB_E_ELSEWHERE);
        xb_work_close(work);
    }
    assert_int_equal(done, 2 * ((ITEMS - share) / of + 1));
    assert_ok(ctx, xb_share_write(ctx, scratch_path(s, name), words, 3));
    xb_ctx_destroy(ctx);
}

static xb_status merge(xb_ctx *ctx, xb_shares **out, scratch *s, int n,
                       const char *const *name)
{
    static char path[8][128];
    const char *paths[8];
    for (int i = 0; i < n; i++) {
        snprintf(path[i], sizeof path[i], "%s", scratch_path(s, name[i]));
        paths[i] = path[i];
    }
    return xb_shares_open(ctx, out, paths, n);
}

static void shares_come_together(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *reader = test_ctx(), *ctx = test_ctx();
    xb_shares *shares = NULL;
    static const char *const names[] = {"c", "a", "b"};
    int done = 0;
    for (int i = 0; i < 3; i++) make_share(&s, names[i], i + 1, 3, line, NULL);
    assert_ok(reader, merge(reader, &shares, &s, 3, names));
    assert_int_equal(xb_shares_count(shares), 3);
    assert_int_equal(xb_shares_word_count(shares), 3);
    assert_string_equal(xb_shares_word(shares, 2), "place");
    assert_ok(ctx, xb_shares_use(ctx, shares));
    for (int k = 0; k < 2; k++) {
        xb_work *work = NULL;
        assert_ok(ctx, xb_work_open(ctx, &work, "things", ITEMS));
        assert_ok(ctx, do_items(ctx, work, &done));
        assert_int_equal(done, 0);
        check_items(work);
        xb_work_close(work);
    }
    xb_work *other = NULL; /* there was no third */
    assert_ok(ctx, xb_work_open(ctx, &other, "things", ITEMS));
    assert_int_equal(do_items(ctx, other, &done), XB_E_INPUT);
    xb_work_close(other);
    xb_ctx_destroy(ctx);
    xb_shares_destroy(shares);
    xb_shares_destroy(NULL);
    xb_ctx_destroy(reader);
    assert_int_equal(scratch_remove(&s), 3);
}

static void refused(scratch *s, int n, const char *const *name, const char *why)
{
    xb_ctx *ctx = test_ctx();
    xb_shares *shares = NULL;
    assert_int_equal(merge(ctx, &shares, s, n, name), XB_E_INPUT);
    if (!strstr(xb_ctx_message(ctx), why))
        fail_msg("expected '%s' in: %s", why, xb_ctx_message(ctx));
    assert_null(shares);
    xb_ctx_destroy(ctx);
}

#define REFUSED(why, ...)                                                                \
    do {                                                                                 \
        const char *const names_[] = {__VA_ARGS__};                                      \
        refused(&s, XB_COUNT(names_), names_, why);                                      \
    } while (0)

static void wrong_shares_are_named(void **state)
{
    (void)state;
    scratch s = scratch_make();
    static const char *const another[] = {"things", "-o", "elsewhere"};
    char data[128];
    snprintf(data, sizeof data, "%s", scratch_write(&s, "data", "1\n2\n", 4));
    make_share(&s, "one", 1, 3, line, data);
    make_share(&s, "two", 2, 3, line, data);
    make_share(&s, "three", 3, 3, line, data);
    make_share(&s, "halves", 1, 2, line, data);
    make_share(&s, "foreign", 2, 3, another, data);
    make_share(&s, "without", 2, 3, line, NULL);
    REFUSED("missing shares 2, 3 of 3", "one");
    REFUSED("missing share 2 of 3", "one", "three");
    REFUSED("share 2 of 3 is listed twice: ", "one", "two", "three", "two");
    REFUSED("halves is one of another number of shares than", "one", "halves");
    REFUSED("foreign belongs to another command than", "one", "foreign", "three");
    REFUSED("without was made from other data than", "one", "without", "three");
    REFUSED("nowhere: cannot read", "one", "nowhere");
    REFUSED("data", "data");
    scratch_write(&s, "data", "1\n3\n", 4);
    REFUSED("data is not as it was when ", "one", "two", "three");
    scratch_remove(&s);
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_work *work = NULL;
    const int64_t bad[][2] = {{0, 3}, {4, 3}, {1, 0}, {-1, -1}, {1, 100001}};
    for (int i = 0; i < XB_COUNT(bad); i++)
        assert_int_equal(xb_share_begin(ctx, bad[i][0], bad[i][1]), XB_E_ARGUMENT);
    assert_int_equal(xb_share_write(ctx, "x", line, 3), XB_E_ARGUMENT);
    assert_int_equal(xb_shares_open(ctx, NULL, NULL, 0), XB_E_ARGUMENT);
    assert_ok(ctx, xb_share_begin(ctx, 1, 4));
    assert_int_equal(xb_work_open(ctx, &work, "things", 3), XB_E_ARGUMENT);
    assert_string_equal(
        xb_ctx_message(ctx),
        "things: 3 items of work cannot be divided among 4 shares; use at most 3");
    xb_ctx_destroy(ctx);
}

/* A share whose file says something else than it should. */
static void forge(scratch *s, const char *key, const char *value)
{
    xb_ctx *ctx = test_ctx();
    const char *texts[][2] = {{"crossbayes", "share"},
                              {"build", xb_build_id()},
                              {"words", "[\"things\"]"},
                              {"inputs", "[]"},
                              {"work", "[[\"things\", 1]]"},
                              {"share", "1"},
                              {"of", "1"}};
    xb_stored_text text[XB_COUNT(texts)];
    int n = 0;
    for (int i = 0; i < XB_COUNT(texts); i++) {
        const bool this = strcmp(texts[i][0], key) == 0;
        if (!this || value)
            text[n++] = (xb_stored_text){texts[i][0], this ? value : texts[i][1]};
    }
    assert_ok(ctx,
              xb_safetensors_write(ctx, scratch_path(s, "forged"), NULL, 0, text, n));
    xb_ctx_destroy(ctx);
}

static void nothing_in_a_share_is_trusted(void **state)
{
    (void)state;
    scratch s = scratch_make();
    static const struct {
        const char *key, *value, *why;
    } bad[] = {
        {"crossbayes", "model", "this is a model file; a share was expected"},
        {"words", NULL, "not a share: 'words' is missing"},
        {"build", "another", "was made by another build of the program (another)"},
        {"of", "0", "'of' is '0', expected 1 to 100000"},
        {"of", "2x", "'of' is '2x'"},
        {"of", "100000000000000000000", "'of' is"},
        {"share", "2", "share 2 of 1"},
        {"words", "[]", "'words' is no list"},
        {"words", "[1]", "word 1 of the command is no text"},
        {"inputs", "7", "'inputs' is no list"},
        {"inputs", "[[1]]", "an input has no name"},
        {"work", "{}", "'work' is no list"},
    };
    for (int i = 0; i < XB_COUNT(bad); i++) {
        forge(&s, bad[i].key, bad[i].value);
        REFUSED(bad[i].why, "forged");
    }
    forge(&s, "", NULL); /* all texts right, but no result */
    xb_ctx *ctx = test_ctx(), *reader = test_ctx();
    xb_shares *shares = NULL;
    xb_work *work = NULL;
    static const char *const name[] = {"forged"};
    assert_ok(reader, merge(reader, &shares, &s, 1, name));
    assert_ok(ctx, xb_shares_use(ctx, shares));
    assert_ok(ctx, xb_work_open(ctx, &work, "things", 1));
    assert_int_equal(xb_work_collect(ctx, work), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "the result of item 0 is missing"));
    xb_work_close(work);
    xb_ctx_destroy(ctx);
    xb_shares_destroy(shares);
    xb_ctx_destroy(reader);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_does_all),
        cmocka_unit_test(threads_take_each_item_once),
        cmocka_unit_test(shares_come_together),
        cmocka_unit_test(wrong_shares_are_named),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(nothing_in_a_share_is_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
