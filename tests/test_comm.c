/* test_comm.c: what ranks together do with numbers (base/comm.h), the ranks being threads
 * that swap bytes through letter boxes: every rank ends with what one process would have,
 * for any number of ranks, also where some have nothing. */
#include "xbtest.h"

#ifdef _WIN32
#define sched_yield() usleep(0)
#else
#include <sched.h>
#endif

#include "backend/crew.h"
#include "base/comm.h"

enum { RANKS_MOST = 9, PARTS_MOST = 17, BOX = 1 << 16 };

/* Bytes under way from one rank to another, in their order. */
typedef struct box {
    xb_os_lock lock;
    size_t put, taken;
    char bytes[BOX];
} box;

typedef struct world {
    int64_t ranks;
    box (*boxes)[RANKS_MOST]; /* [from][to] */
    int64_t broken_from; /* swaps that this rank begins with are given up; -1: none */
} world;

typedef struct member {
    xb_comm comm;
    world *world;
    void (*work)(struct member *m);
    const int64_t *cut;
    int64_t parts;
    double value[PARTS_MOST][3];
} member;

static bool post(box *b, const void *bytes, int64_t n)
{
    xb_os_lock_take(&b->lock);
    assert_true(b->put + (size_t)n <= BOX);
    memcpy(b->bytes + b->put, bytes, (size_t)n);
    b->put += (size_t)n;
    xb_os_lock_give(&b->lock);
    return true;
}

static void fetch_bytes(box *b, void *to, int64_t n)
{
    for (bool there = false; !there;) {
        xb_os_lock_take(&b->lock);
        there = b->put - b->taken >= (size_t)n;
        if (there) memcpy(to, b->bytes + b->taken, (size_t)n), b->taken += (size_t)n;
        xb_os_lock_give(&b->lock);
        if (!there) (void)sched_yield();
    }
}

static bool swap(xb_comm *comm, int64_t to, const void *out, int64_t n, int64_t from,
                 void *in, int64_t m)
{
    const member *self = (const member *)(void *)comm;
    if (self->world->broken_from == comm->rank) return false;
    if (to >= 0) post(&self->world->boxes[comm->rank][to], out, n);
    if (from >= 0) fetch_bytes(&self->world->boxes[from][comm->rank], in, m);
    return true;
}

static void *run_member(void *arg)
{
    member *m = arg;
    m->work(m);
    return NULL;
}

/* Each rank does `work`; then check(rank) looks at what it has. */
static void run_world(int64_t ranks, const int64_t *cut, int64_t parts,
                      void (*work)(member *), void (*check)(const member *))
{
    world w = {.ranks = ranks, .broken_from = -1};
    w.boxes = calloc(RANKS_MOST, sizeof *w.boxes);
    member *all = calloc((size_t)ranks, sizeof *all);
    xb_os_thread thread[RANKS_MOST];
    assert_true(w.boxes && all);
    for (int i = 0; i < RANKS_MOST; i++)
        for (int k = 0; k < RANKS_MOST; k++) xb_os_lock_init(&w.boxes[i][k].lock);
    for (int64_t r = 0; r < ranks; r++) {
        all[r] = (member){.world = &w, .work = work, .cut = cut, .parts = parts};
        all[r].comm = (xb_comm){.rank = r, .size = ranks, .together = true, .swap = swap};
        for (int64_t p = cut[r]; p < cut[r + 1]; p++)
            for (int k = 0; k < 3; k++)
                all[r].value[p][k] = 1.0 / (double)(1 + 3 * p + k); /* sums round */
        assert_true(xb_os_thread_start(&thread[r], run_member, &all[r]));
    }
    for (int64_t r = 0; r < ranks; r++) xb_os_thread_join(&thread[r]);
    for (int64_t r = 0; r < ranks; r++) check(&all[r]);
    free(all);
    free(w.boxes);
}

static void add_values(void *arg, int64_t to, int64_t from)
{
    double(*value)[3] = arg;
    for (int k = 0; k < 3; k++) value[to][k] += value[from][k];
}

static void gather(member *m)
{
    xb_comm_gather(&m->comm, m->value, sizeof *m->value, m->cut);
}

static void check_gathered(const member *m)
{
    assert_false(m->comm.broken);
    for (int64_t p = 0; p < m->parts; p++)
        for (int k = 0; k < 3; k++)
            assert_true(m->value[p][k] == 1.0 / (double)(1 + 3 * p + k));
}

static void sum(member *m)
{
    xb_comm_sum(&m->comm, m->value, sizeof *m->value, sizeof *m->value, m->parts, m->cut,
                add_values, m->value);
}

/* The same in two steps: own parts, then what is left, in slots of their own. */
static void sum_in_steps(member *m)
{
    double slot[PARTS_MOST + 1][3];
    int64_t left[XB_COMM_LEFT];
    xb_comm_sum_own(&m->comm, m->parts, m->cut, add_values, m->value);
    const int64_t n = xb_comm_left(&m->comm, m->parts, m->cut, left);
    for (int64_t i = 0; i < n; i++) memcpy(slot[i], m->value[left[i]], sizeof slot[i]);
    xb_comm_sum_left(&m->comm, slot, sizeof *slot, sizeof *slot, m->parts, m->cut,
                     add_values, slot);
    memcpy(m->value[0], slot[0], sizeof slot[0]);
}

static void check_sum(const member *m)
{
    double whole[PARTS_MOST][3];
    for (int64_t p = 0; p < m->parts; p++)
        for (int k = 0; k < 3; k++) whole[p][k] = 1.0 / (double)(1 + 3 * p + k);
    xb_tree_add(m->parts, add_values, whole);
    assert_false(m->comm.broken);
    assert_memory_equal(m->value[0], whole[0], sizeof whole[0]);
}

static void share(member *m) { xb_comm_share(&m->comm, m->value, sizeof *m->value); }

static void check_shared(const member *m)
{
    for (int k = 0; k < 3; k++)
        assert_true(m->value[0][k] == 1.0 / (double)(1 + k)); /* part 0 is rank 0's */
}

static void ranks_have_what_one_process_has(void **state)
{
    (void)state;
#if defined(__EMSCRIPTEN__)
    print_message("skipped: %s: it needs threads\n", __func__);
    skip();
#endif
    for (int64_t ranks = 2; ranks <= RANKS_MOST; ranks++)
        for (int64_t parts = 1; parts <= PARTS_MOST; parts += 4) {
            int64_t cut[RANKS_MOST + 1];
            for (int64_t r = 0; r <= ranks; r++)
                cut[r] = (r * parts + ranks - 1) / ranks; /* rank 0 has part 0 */
            run_world(ranks, cut, parts, gather, check_gathered);
            run_world(ranks, cut, parts, sum, check_sum);
            run_world(ranks, cut, parts, sum_in_steps, check_sum);
            run_world(ranks, cut, parts, share, check_shared);
        }
}

/* Two subtrees of each size at most are left to a rank, wherever its parts begin and end:
 * as many as sums.c has memory for. */
static void few_parts_are_left(void **state)
{
    (void)state;
    enum { MOST = 70 };
    for (int64_t count = 1; count <= MOST; count++)
        for (int64_t first = 0; first < count; first++)
            for (int64_t end = first; end <= count; end++) {
                const xb_comm comm = {.rank = 1, .size = 3};
                const int64_t cut[] = {0, first, end, count};
                int64_t left[XB_COMM_LEFT], most = 0;
                for (int64_t size = 1; size < count; size *= 2) most += 2;
                const int64_t n = xb_comm_left(&comm, count, cut, left);
                assert_true(n <= most || n <= 1);
                assert_true(n == 0 ? first == end : left[0] == first);
            }
}

/* Blocks are dealt whole, in order, to all ranks, and about evenly. */
static void blocks_are_dealt_evenly(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int64_t ranks = 1; ranks <= 16; ranks++)
        for (int64_t batch = 1; batch <= 300; batch += 7) {
            xb_comm comm = {.size = ranks, .rank = ranks - 1};
            xb_crew *crew = xb_crew_create(ctx, &comm);
            assert_non_null(crew);
            xb_crew_plan(crew, batch);
            const int64_t per = crew->blocks.per;
            assert_int_equal(crew->row[0], 0);
            assert_int_equal(crew->row[ranks], batch);
            assert_true(crew->cut[1] >= 1);
            for (int64_t r = 0; r < ranks; r++) {
                const int64_t rows = crew->row[r + 1] - crew->row[r];
                assert_true(rows >= 0);
                assert_true(rows <= batch / ranks + per + 1);
                assert_true(crew->cut[r] * per == crew->row[r] || crew->row[r] == batch);
            }
            xb_crew_destroy(crew);
        }
    xb_ctx_destroy(ctx);
}

static xb_status look_well(xb_ctx *ctx, xb_comm *comm, bool stopping)
{
    (void)ctx, (void)comm, (void)stopping;
    return XB_OK;
}

/* After the first swap that is given up nothing is done, and asking tells. */
static void a_swap_that_is_given_up_breaks(void **state)
{
    (void)state;
    world w = {.ranks = 2, .broken_from = 1};
    member m = {.world = &w};
    m.comm = (xb_comm){
        .rank = 1, .size = 2, .together = true, .swap = swap, .look = look_well};
    xb_ctx *ctx = test_ctx();
    ctx->comm = &m.comm;
    assert_ok(ctx, xb_comm_check(ctx));
    assert_false(xb_comm_first(ctx));
    assert_ptr_equal(xb_comm_together(ctx), &m.comm);
    xb_comm_share(&m.comm, m.value, sizeof *m.value);
    assert_true(m.comm.broken);
    w.broken_from = -1; /* it would work again, but is not asked */
    xb_comm_share(&m.comm, m.value, sizeof *m.value);
    assert_int_equal(xb_comm_check(ctx), XB_E_ELSEWHERE);
    m.comm.busy = true;
    assert_null(xb_comm_together(ctx));
    ctx->comm = NULL;
    assert_true(xb_comm_first(ctx));
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_have_what_one_process_has),
        cmocka_unit_test(few_parts_are_left),
        cmocka_unit_test(blocks_are_dealt_evenly),
        cmocka_unit_test(a_swap_that_is_given_up_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
