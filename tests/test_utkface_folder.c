/* The study of faces in its quick form on the real folder ($CROSSBAYES_DATA/utkface), a
 * minute on two cores. Long form only. */
#include "studytest.h"

static char folder[4200];

static void the_real_faces_in_minutes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study_options o = xb_study_options_default();
    o.data = folder;
    o.quick = true;
    o.no_cache = true;
    xb_study *study = NULL;
    assert_ok(ctx, xb_study_run(ctx, &study, "utkface", &o));
    assert_close(fact(study, "images"), 23708, 0);
    assert_close(fact(study, "odd_names"), 5, 0);
    assert_close(fact(study, "duplicates") + fact(study, "conflicting"), 176 + 419, 0);
    assert_at_most(fact(study, "rmse_gaussian"), 12);
    assert_at_most(fact(study, "rmse_dev_device"), 12);
    assert_true(noise_varies_by(study) > 0.1);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_faces_in_minutes),
    };
    if (!test_long()) return test_skipped("the quick form on UTKFace (XB_LONG=1)");
    const char *dir = test_data_dir();
    if (dir) snprintf(folder, sizeof folder, "%s/utkface", dir);
    if (!dir || access(folder, R_OK) != 0) return test_skipped("no folder of UTKFace");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
