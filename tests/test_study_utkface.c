/* The study of faces on drawn ones: what is drawn, and what the study finds in seconds.
 * The real folder is in test_utkface_folder.c. */
#include "scratch.h"
#include "studytest.h"

#include "study/faces.h"
#include "data/images.h"

static void faces_are_a_function_of_the_seed(void **state)
{
    (void)state;
    enum { N = 200, SIDE = 16, BYTES = N * SIDE * SIDE * 3 };
    xb_ctx *ctx = test_ctx();
    xb_images *a = NULL, *b = NULL, *c = NULL;
    assert_ok(ctx, xb_builtin_faces(ctx, &a, N, SIDE, 1));
    xb_ctx_set_threads(ctx, 3);
    assert_ok(ctx, xb_builtin_faces(ctx, &b, N, SIDE, 1));
    assert_ok(ctx, xb_builtin_faces(ctx, &c, N, SIDE, 2));
    assert_memory_equal(xb_images_bytes(a), xb_images_bytes(b), BYTES);
    assert_memory_not_equal(xb_images_bytes(a), xb_images_bytes(c), BYTES);
    for (int i = 0; i < N; i++)
        assert_true(xb_images_target(a)[i] >= 1 && xb_images_target(a)[i] <= 100);
    assert_int_equal(xb_images_report(a)->duplicates, 0);
    xb_images_destroy(a);
    xb_images_destroy(b);
    xb_images_destroy(c);
    assert_int_equal(xb_builtin_faces(ctx, &a, 1, 4, 1), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

/* (S3): each sign is monotonic, and at every age some sign moves. */
static void an_age_can_be_read(void **state)
{
    (void)state;
    for (double age = 1; age < 100; age++) {
        xb_face_signs a = xb_face_signs_at(age), b = xb_face_signs_at(age + 1);
        assert_true(b.eyes <= a.eyes && b.grey >= a.grey && b.wrinkles >= a.wrinkles);
        assert_true(a.eyes - b.eyes + b.grey - a.grey + b.wrinkles - a.wrinkles > 0.01);
    }
}

static void a_net_learns_drawn_faces(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_study_options o = xb_study_options_default();
    o.data = "synthetic";
    o.quick = true;
    o.size = 16;
    o.work = s.dir;
    xb_study *study = NULL;
    assert_ok(ctx, xb_study_run(ctx, &study, "utkface", &o));
    assert_close(fact(study, "images"),
                 fact(study, "train") + fact(study, "validation") + fact(study, "test"),
                 0);
    /* far below the mean age, and the same under every law */
    assert_at_most(fact(study, "rmse_gaussian"), 0.6 * fact(study, "rmse_mean"));
    assert_at_most(fact(study, "rmse_dev_device"), 0.6 * fact(study, "rmse_mean"));
    assert_at_most(fabs(fact(study, "rmse_gap")), 0.5);
    assert_true(noise_varies_by(study) > 0.01);
    const xb_table *curve = xb_study_table(study, "calibration");
    int share = xb_table_column_find(curve, "gaussian");
    assert_int_equal(xb_table_row_count(curve), 99);
    for (int64_t i = 1; i < 99; i++)
        assert_true(xb_table_get(curve, i, share) >= xb_table_get(curve, i - 1, share));
    assert_close(xb_table_get(curve, 49, 1), 2 * sqrt(0.5 * 0.5 / fact(study, "test")),
                 1e-12);
    xb_study_destroy(study);
    assert_int_equal(scratch_remove(&s), 0); /* no checkpoint is left */
    o.data = NULL;
    assert_int_equal(xb_study_run(ctx, &study, "utkface", &o), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_are_a_function_of_the_seed),
        cmocka_unit_test(an_age_can_be_read),
        cmocka_unit_test(a_net_learns_drawn_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
