/* test_series_noise.c: how often stationary noise is taken for something else. Each
 * search states a rate of 1 %; the short form runs 50 traces of each kind of noise and
 * fails where more are found than a binomial of 1 % reaches with probability 0.00015 (5
 * or more). XB_LONG=1 runs 200 traces (9 or more: 0.0002), and XB_LONG=2 the 1000 of
 * the table in docs/measured-noise.md (24 or more: 0.0001). With three kinds and five
 * searches, the short form gives a false alarm for about 0.2 % of seeds; its seed is
 * fixed. */
#include "seriestest.h"

static void noise_is_not_taken_for_more(void **state)
{
    (void)state;
    const int traces = test_exhaustive() ? 1000 : test_long() ? 200 : SANITIZED ? 10 : 50;
    const int most = test_exhaustive() ? 23 : test_long() ? 8 : 4;
    const int64_t n = test_long() ? 4096 : 1024;
    static const char *const kind[] = {"white", "1/f", "telegraph"};
    xb_ctx *ctx = test_ctx();
    for (int k = 0; k < NOISE_KINDS; k++) {
        int settling = 0, jumps = 0, trends = 0, lines = 0, levels = 0;
        for (int i = 0; i < traces; i++) {
            double *x = make_noise((noise_kind)k, n, 1000 * (uint64_t)k + (uint64_t)i);
            xb_series_options o = xb_series_options_default();
            o.seed = (uint64_t)i;
            xb_series *s = series_of(ctx, x, n, &o);
            settling += xb_series_settling(s) > 0;
            jumps += xb_series_jump_count(s) > 0;
            trends += xb_series_trend(s).p <= 0.01;
            lines += xb_series_line_count(s) > 0;
            levels += xb_series_level_count(s) > 1;
            xb_series_destroy(s);
            free(x);
        }
        print_message("%s, %d traces: settling %d, jumps %d, trends %d, lines %d, levels"
                      " %d\n",
                      kind[k], traces, settling, jumps, trends, lines, levels);
        assert_at_most(settling, most);
        assert_at_most(jumps, most);
        assert_at_most(trends, most);
        assert_at_most(lines, most);
        if (k != TELEGRAPH) assert_at_most(levels, most);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(noise_is_not_taken_for_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
