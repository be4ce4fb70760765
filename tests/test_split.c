/* test_split.c: work in pieces, and sums over pieces in a binary tree: the cut depends on
 * sizes alone, has no largest number of pieces, and a part of the tree can be added by
 * whoever has it. */
#include "scratch.h"

#include "backend/split.h"
#include "base/tree.h"

static void pieces_cover_all_and_have_no_cap(void **state)
{
    (void)state;
    static const int64_t totals[] = {1, 2, 15, 16, 17, 100, 255, 256, 257, 4096, 100000};
    static const int64_t works[] = {1, 1000, 1 << 19, 1 << 30};
    static const int64_t mosts[] = {1, 3, 16, 100, XB_SPLIT_ANY};
    for (int t = 0; t < XB_COUNT(totals); t++)
        for (int w = 0; w < XB_COUNT(works); w++)
            for (int m = 0; m < XB_COUNT(mosts); m++) {
                xb_split s = xb_split_of(totals[t], works[w], mosts[m]);
                assert_true(s.total == totals[t] && s.count <= mosts[m]);
                assert_true(s.per * (s.count - 1) < s.total &&
                            s.per * s.count >= s.total);
                for (int u = 0; u <= t; u++) /* room for the most is room for fewer */
                    assert_true(xb_split_of(totals[u], works[w], mosts[m]).count <=
                                xb_split_most(totals[t], works[w], mosts[m]));
            }
    assert_int_equal(xb_split_of(100, 1 << 30, XB_SPLIT_ANY).per, 7);
    assert_int_equal(xb_split_of(100000, 1 << 30, XB_SPLIT_ANY).count, 6250);
    assert_int_equal(xb_split_of(100000, 1, XB_SPLIT_ANY).count, 1); /* not worth it */
    assert_int_equal(xb_split_slots(1 << 30), 16);
    assert_int_equal(xb_split_slots(1 << 12), 1 << 10);
    assert_true(xb_split_slots(0) == XB_SPLIT_ANY);
}

enum { PIECES = 37 };

/* Numbers whose sum depends on the order it is taken in. */
static void fill(double part[PIECES])
{
    for (int i = 0; i < PIECES; i++) part[i] = sin(1e3 * i) * pow(10, i % 17);
}

/* By definition: the tree of [first, first + 2^k), as far as there are pieces. */
static double tree_of(const double *part, int64_t first, int64_t size, int64_t count)
{
    if (size == 1) return part[first];
    double left = tree_of(part, first, size / 2, count);
    if (first + size / 2 >= count) return left;
    return left + tree_of(part, first + size / 2, size / 2, count);
}

typedef struct adding {
    double *part;
    int64_t adds;
} adding;

static void add(void *arg, int64_t to, int64_t from)
{
    adding *a = arg;
    a->part[to] += a->part[from];
    a->adds++;
}

static void sums_are_a_tree_of_piece_numbers(void **state)
{
    (void)state;
    double part[PIECES], given[PIECES];
    fill(given);
    assert_true(xb_tree_sum(part, 0) == 0);
    for (int64_t count = 1; count <= PIECES; count++) {
        double want = tree_of(given, 0, 64, count);
        memcpy(part, given, sizeof part);
        assert_true(xb_tree_sum(part, count) == want);
        memcpy(part, given, sizeof part);
        adding a = {part, 0};
        xb_tree_add(count, add, &a);
        assert_true(part[0] == want && a.adds == count - 1);
    }
    /* another machine has pieces 16 .. 31, a third the rest: the same bytes */
    double own[3];
    memcpy(part, given, sizeof part);
    own[0] = xb_tree_sum(part, 16);
    own[1] = xb_tree_sum(part + 16, 16);
    own[2] = xb_tree_sum(part + 32, PIECES - 32);
    assert_true(xb_tree_sum(own, 3) == tree_of(given, 0, 64, PIECES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_cover_all_and_have_no_cap),
        cmocka_unit_test(sums_are_a_tree_of_piece_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
