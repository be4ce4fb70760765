/* Rows that repeat another row in every column and in the target count once (maths V22),
 * even if their targets differ a little: the model is that of the table without them,
 * byte by byte; targets of few values repeat by chance and stay, and so do a few copies,
 * and rows of equal columns whose targets vary; rows held out do not repeat rows that are
 * learnt from. */
#include "noisetables.h"

enum { ROWS = 120, EACH = 4, FEW = 40, FIRST = 30, COPIES = 5 };

static table all;
static double few_x[FEW * COLUMNS], few_y[FEW];

static xb_train_options options(void)
{
    xb_train_options o = xb_train_options_default();
    o.net = "dense 5, tanh, dense 1";
    o.mle_epochs = o.epochs = 20;
    return o;
}

static xb_model *trained(xb_ctx *ctx, xb_train_report **report, const xb_train_data *data,
                         const xb_train_options *o)
{
    xb_model *model = NULL;
    assert_ok(ctx, xb_train(ctx, &model, report, data, o));
    return model;
}

/* ROWS rows, each of them EACH times in a row. */
static void repeat_rows(kind k)
{
    table once;
    make(&once, k, 0, ROWS, 1);
    all.n = ROWS * EACH;
    for (int64_t i = 0; i < all.n; i++) {
        memcpy(all.x + i * COLUMNS, once.x + i / EACH * COLUMNS, COLUMNS * sizeof *all.x);
        all.y[i] = once.y[i / EACH];
    }
}

static void assert_same_weights(const xb_model *a, const xb_model *b, bool same)
{
    const xb_weights p = xb_model_weights(a), q = xb_model_weights(b);
    const size_t n = (size_t)xb_net_param_count(xb_model_net(a)) * sizeof *p.mu;
    assert_int_equal(memcmp(p.mu, q.mu, n) == 0, same);
    assert_int_equal(memcmp(p.sigma, q.sigma, n) == 0, same);
}

static void copies_count_once(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_report *report = NULL;
    table once;
    xb_train_options o = options();
    make(&once, CONSTANT, 0, ROWS, 1);
    repeat_rows(CONSTANT);
    const xb_train_data repeated = data_of(&all), distinct = data_of(&once);
    xb_model *a = trained(ctx, &report, &repeated, &o);
    assert_int_equal(xb_train_report_copy_count(report), ROWS * (EACH - 1));
    assert_int_equal(xb_train_report_row_count(report), ROWS);
    xb_train_report_destroy(report);
    xb_model *b = trained(ctx, &report, &distinct, &o);
    assert_int_equal(xb_train_report_copy_count(report), 0);
    xb_train_report_destroy(report);
    assert_same_weights(a, b, true);
    o.keep_copies = true;
    xb_model *c = trained(ctx, &report, &repeated, &o);
    assert_int_equal(xb_train_report_copy_count(report), 0);
    assert_int_equal(xb_train_report_row_count(report), ROWS * EACH);
    assert_same_weights(a, c, false);
    xb_train_report_destroy(report);
    xb_model_destroy(c);
    xb_model_destroy(b);
    xb_model_destroy(a);
    xb_ctx_destroy(ctx);
}

/* The copies of a row differ by up to `apart` in the target, and how many of them count.
 */
static int64_t copies_apart(xb_ctx *ctx, double apart)
{
    xb_train_options o = options();
    xb_train_report *report = NULL;
    repeat_rows(CONSTANT);
    for (int64_t i = 0; i < all.n; i++)
        all.y[i] += apart * (double)(i % EACH) / (EACH - 1);
    const xb_train_data data = data_of(&all);
    xb_model_destroy(trained(ctx, &report, &data, &o));
    const int64_t copies = xb_train_report_copy_count(report);
    xb_train_report_destroy(report);
    return copies;
}

static double sd_of_targets(void)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < all.n; i++) mean += all.y[i] / (double)all.n;
    for (int64_t i = 0; i < all.n; i++) {
        const double e = all.y[i] - mean;
        square += e * e / (double)all.n;
    }
    return sqrt(square);
}

/* A hundredth of the target's sd is the limit; beyond it equal columns show the noise,
 * and only rows of equal targets are copies. */
static void targets_may_differ_a_little(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_train_report *report = NULL;
    table once;
    repeat_rows(CONSTANT);
    const double limit = 0.01 * sd_of_targets();
    assert_int_equal(copies_apart(ctx, 0.99 * limit), ROWS * (EACH - 1));
    assert_int_equal(copies_apart(ctx, 1.01 * limit), 0);
    for (int64_t i = 0; i < all.n; i++) all.y[i] = all.y[i - i % EACH] + i % EACH / 2;
    xb_train_data data = data_of(&all);
    xb_model_destroy(trained(ctx, &report, &data, &o));
    assert_int_equal(xb_train_report_copy_count(report), ROWS * EACH / 2);
    xb_train_report_destroy(report);
    repeat_rows(CONSTANT);
    for (int64_t i = 0; i < all.n; i++) all.y[i] += i % EACH == 0 ? 0 : 0.5 * limit;
    data = data_of(&all);
    make(&once, CONSTANT, 0, ROWS, 1);
    const xb_train_data distinct = data_of(&once);
    xb_model *a = trained(ctx, NULL, &data, &o), *b = trained(ctx, NULL, &distinct, &o);
    assert_same_weights(a, b, true);
    xb_model_destroy(b);
    xb_model_destroy(a);
    xb_ctx_destroy(ctx);
}

/* Whole numbers, and classes, repeat by chance. */
static void chance_is_left_alone(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_train_report *report = NULL;
    repeat_rows(WHOLE);
    xb_train_data data = data_of(&all);
    xb_model_destroy(trained(ctx, &report, &data, &o));
    assert_int_equal(xb_train_report_copy_count(report), 0);
    xb_train_report_destroy(report);
    for (int64_t i = 0; i < all.n; i++) all.y[i] = (double)(i / EACH % ROWS);
    data.classes = ROWS;
    o.net = NULL;
    xb_model_destroy(trained(ctx, &report, &data, &o));
    assert_int_equal(xb_train_report_copy_count(report), 0);
    xb_train_report_destroy(report);
    xb_ctx_destroy(ctx);
}

/* COPIES of FEW rows are more than a tenth, one less is not. A row that differs in the
 * first or the last column or in the target is no copy. */
static void what_differs_is_no_copy(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_train_report *report = NULL;
    table once;
    make(&once, CONSTANT, 0, FEW, 2);
    for (int copy = 0; copy < 4; copy++) {
        memcpy(few_x, once.x, sizeof few_x);
        memcpy(few_y, once.y, sizeof few_y);
        memcpy(few_x + FIRST * COLUMNS, once.x, COPIES * COLUMNS * sizeof *few_x);
        memcpy(few_y + FIRST, once.y, COPIES * sizeof *few_y);
        if (copy == 1) few_x[FIRST * COLUMNS + COLUMNS - 1] += 1e-9;
        if (copy == 2) few_x[FIRST * COLUMNS] -= 1e-9;
        if (copy == 3) few_y[FIRST] += 0.1;
        const xb_train_data data = {
            .x = few_x, .y = few_y, .n = FEW, .features = COLUMNS};
        xb_model_destroy(trained(ctx, &report, &data, &o));
        assert_int_equal(xb_train_report_copy_count(report), copy == 0 ? COPIES : 0);
        xb_train_report_destroy(report);
    }
    xb_ctx_destroy(ctx);
}

/* The trailing rows are held out; those that repeat earlier ones are left out. */
static void rows_held_out_are_new(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_train_report *report = NULL;
    table once;
    make(&once, CONSTANT, 0, ROWS, 3);
    for (int64_t i = 105; i < ROWS; i++) {
        memcpy(once.x + i * COLUMNS, once.x + (i - 60) * COLUMNS,
               COLUMNS * sizeof *once.x);
        once.y[i] = once.y[i - 60];
    }
    xb_train_data data = data_of(&once);
    data.held = 30;
    xb_model_destroy(trained(ctx, &report, &data, &o));
    assert_int_equal(xb_train_report_held_count(report), 15);
    assert_int_equal(xb_train_report_row_count(report), 90);
    assert_int_equal(xb_train_report_copy_count(report), 15);
    xb_train_report_destroy(report);
    xb_ctx_destroy(ctx);
}

/* All rows as a frame; the target is the last column. */
static xb_status table_with_share(xb_ctx *ctx, xb_frame **out, double share,
                                  uint64_t seed)
{
    const int64_t row = (int64_t)sizeof(double) * COLUMNS;
    xb_column column[COLUMNS + 1];
    for (int j = 0; j < COLUMNS; j++)
        column[j] =
            (xb_column){.values = all.x + j, .type = XB_COLUMN_F64, .stride = row};
    column[COLUMNS] = (xb_column){.values = all.y, .type = XB_COLUMN_F64};
    xb_frame_options o = xb_frame_options_default();
    o.target = "5";
    o.test_share = share;
    o.test_seed = seed;
    return xb_frame_create(ctx, out, column, COLUMNS + 1, all.n, &o);
}

/* A share of the table that is held out has no copies of the rest, and without copies it
 * has the size asked for. */
static void test_rows_are_new(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_frame *frame = NULL;
    repeat_rows(CONSTANT);
    assert_ok(ctx, table_with_share(ctx, &frame, 0.25, 0));
    const int64_t n = xb_frame_row_count(frame), test = xb_frame_test_count(frame);
    const double *y = xb_frame_target(frame);
    assert_int_equal(n, all.n);
    assert_int_equal(test, ROWS * EACH / 4);
    for (int64_t i = 0; i < n - test; i++)
        for (int64_t k = n - test; k < n; k++) assert_true(y[i] != y[k]);
    xb_frame_destroy(frame);
    for (int64_t i = 0; i < all.n; i++) all.x[i * COLUMNS] += 1e-6 * (double)i;
    assert_ok(ctx, table_with_share(ctx, &frame, 0.23, 0));
    assert_int_equal(xb_frame_test_count(frame), (int64_t)(0.23 * ROWS * EACH));
    xb_frame_destroy(frame);
    xb_ctx_destroy(ctx);
}

/* Nine different rows are too few to tell. Where most of the table is one row, a share
 * may not be possible; what is held out leaves two rows or more in any case. */
static void a_table_of_one_row_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options o = options();
    xb_train_report *report = NULL;
    int refused = 0;
    for (int different = 9; different <= 10; different++) {
        make(&all, CONSTANT, 0, 200, 1);
        for (int64_t i = different; i < all.n; i++) {
            memcpy(all.x + i * COLUMNS, all.x, COLUMNS * sizeof *all.x);
            all.y[i] = all.y[0];
        }
        const xb_train_data data = data_of(&all);
        xb_model_destroy(trained(ctx, &report, &data, &o));
        assert_int_equal(xb_train_report_copy_count(report), different == 9 ? 0 : 190);
        xb_train_report_destroy(report);
    }
    for (uint64_t seed = 0; seed < 50; seed++) {
        xb_frame *frame = NULL;
        const xb_status status = table_with_share(ctx, &frame, 0.25, seed);
        if (status == XB_OK)
            assert_true(xb_frame_row_count(frame) - xb_frame_test_count(frame) >= 2);
        else
            assert_non_null(strstr(xb_ctx_message(ctx), "too few different rows"));
        refused += status != XB_OK;
        xb_frame_destroy(frame);
    }
    assert_in_range(refused, 1, 20);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_count_once),
        cmocka_unit_test(targets_may_differ_a_little),
        cmocka_unit_test(chance_is_left_alone),
        cmocka_unit_test(what_differs_is_no_copy),
        cmocka_unit_test(rows_held_out_are_new),
        cmocka_unit_test(test_rows_are_new),
        cmocka_unit_test(a_table_of_one_row_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
