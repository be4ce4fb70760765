/* test_fit_decision.c: how often the right family is kept and a wrong one refused, with
 * independent samples and with correlated ones (a Gaussian relaxation of lag-1
 * correlation 0.9, mapped to the law). The wrong family is one whose best fit is off by a
 * KS distance of 0.03 or more. The short form looks at 10 traces of each, of which 7 must
 * be right. XB_LONG=1 looks at 100 (90 must be right), and XB_LONG=2 at the 1000 of the
 * table in docs/measured-noise.md (950 must be right). If 97 % are right on average, each
 * form fails by chance with a probability of 1.5e-4 to 2.4e-4. */
#include "fittest.h"
#include "base/ctx.h"
#include "seriestest.h"

static const struct {
    const char *law, *right, *wrong;
} cases[] = {
    {"gaussian", "gaussian", "mtj"},
    {"mtj:B=0.15,w=0.5", "mtj", "gaussian"},
    {"ecram:B=0.05,w=0.5", "ecram", "gaussian"},
    {"bimodal:m=0.9", "bimodal", "gaussian"},
    {"laplace", "laplace", "gaussian"},
    {"student:nu=4", "student", "laplace"},
    {"sinh-arcsinh:epsilon=0.5,delta=0.8", "sinh-arcsinh", "student"},
    {"levels:x=-1/0.5,p=0.3/0.7,s=0.3", "levels", "sinh-arcsinh"},
};

enum { INDEPENDENT = 5000, CORRELATED = 50000 };

/* The law's quantiles at the normal scores of a relaxation. */
static double *correlated(const xb_law *law, double keep, int64_t n, uint64_t seed)
{
    enum { CELLS = 4096 };
    static double table[CELLS + 1];
    double *x = malloc((size_t)n * sizeof *x);
    dice d = dice_of(seed);
    for (int i = 0; i <= CELLS; i++) {
        double u = 0.5 * erfc(-(-5 + 10.0 * i / CELLS) * M_SQRT1_2);
        table[i] = xb_law_quantile(law, u);
    }
    make_relaxation(x, n, keep, &d);
    for (int64_t i = 0; i < n; i++) {
        double at = fmin(fmax((x[i] + 5) / 10 * CELLS, 0), CELLS - 1e-9);
        int cell = (int)at;
        x[i] = table[cell] + (at - cell) * (table[cell + 1] - table[cell]);
    }
    return x;
}

static xb_fit_decision decision_of(xb_ctx *ctx, const double *x, int64_t n,
                                   const char *family)
{
    xb_fit *fit = run(ctx, x, n, family);
    xb_fit_decision decision = xb_fit_family_at(fit, 0)->decision;
    xb_fit_destroy(fit);
    return decision;
}

static void right_families_are_kept_and_wrong_ones_refused(void **state)
{
    (void)state;
    const int traces = test_exhaustive() ? 1000 : test_long() ? 100 : SANITIZED ? 2 : 10;
    const int least = test_exhaustive() ? 950 : test_long() ? 90 : SANITIZED ? 1 : 7;
    xb_ctx *ctx = test_ctx();
    for (int c = 0; c < XB_COUNT(cases); c++)
        for (int memory = 0; memory < 2; memory++) {
            xb_law *law = test_law(ctx, cases[c].law);
            int64_t n = memory ? CORRELATED : INDEPENDENT;
            int kept = 0, refused = 0;
            for (int i = 0; i < traces; i++) {
                double *x = correlated(law, memory ? 0.9 : 0, n,
                                       10000 * (uint64_t)c + 5000 * (uint64_t)memory +
                                           (uint64_t)i);
                kept += decision_of(ctx, x, n, cases[c].right) == XB_FIT_YES;
                refused += decision_of(ctx, x, n, cases[c].wrong) == XB_FIT_NO;
                free(x);
            }
            print_message("%s, %s: %s kept %d, %s refused %d of %d\n", cases[c].law,
                          memory ? "correlated" : "independent", cases[c].right, kept,
                          cases[c].wrong, refused, traces);
            assert_true(kept >= least);
            assert_true(refused >= least);
            xb_law_destroy(law);
        }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_families_are_kept_and_wrong_ones_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
