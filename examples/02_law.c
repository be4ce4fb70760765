/* 02_law.c: reads a noise law from its text and prints moments, a quantile, a result of
 * its Gauss rule, and draws.
 *
 *     cc 02_law.c $(pkg-config --cflags --libs crossbayes) -o 02_law
 *     ./02_law ecram:B=0.1,w=0.6
 */
#include <stdio.h>

#include <crossbayes/crossbayes.h>

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : "mtj:B=0.15,w=0.5";
    printf("crossbayes %s\n", xb_version());

    /* A context keeps the message of the last error. */
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 1;

    /* The text may also be the path of a law file. */
    xb_law *law = NULL;
    if (xb_law_parse(ctx, &law, text) != XB_OK) {
        fprintf(stderr, "%s\n", xb_ctx_message(ctx));
        xb_ctx_destroy(ctx);
        return 2;
    }

    xb_moments m = xb_law_moments(law);
    printf("%s\n", xb_law_text(law));
    printf("mean %g, variance %.6f, excess kurtosis %+.4f\n", m.mean, m.variance,
           m.excess_kurtosis);

    /* One draw in a hundred lies below this. */
    printf("1%% quantile %.6f\n", xb_law_quantile(law, 0.01));

    /* A rule of two points is exact for any cubic under the law: here E[x^2]. */
    xb_rule *rule = NULL;
    if (xb_rule_gauss(ctx, &rule, law, 2, XB_RECURRENCE_STABLE) == XB_OK) {
        const double *node = xb_rule_nodes(rule), *weight = xb_rule_weights(rule);
        double square = 0;
        for (int64_t i = 0; i < xb_rule_count(rule); i++)
            square += weight[i] * node[i] * node[i];
        printf("E[x^2] by a rule of two points %.6f\n", square);
    }
    xb_rule_destroy(rule);

    /* A draw is a function of its address: the same address gives the same value. */
    float z[4];
    xb_sampler *sampler = NULL;
    if (xb_sampler_create(ctx, &sampler, law, NULL) == XB_OK) {
        xb_stream where = {.key = xb_key_make(1, XB_PURPOSE_SAMPLE)};
        xb_sampler_fill(sampler, z, 4, &where, 0);
        printf("four draws, mean 0 and variance 1: %.4f %.4f %.4f %.4f\n", (double)z[0],
               (double)z[1], (double)z[2], (double)z[3]);
    }
    xb_sampler_destroy(sampler);

    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
    return 0;
}
