/* 01_law.c: a noise law from its text, its moments and a quantile.
 *
 *     cc 01_law.c $(pkg-config --cflags --libs crossbayes) -o 01_law
 *     ./01_law ecram:B=0.1,w=0.6
 */
#include <stdio.h>

#include <crossbayes/crossbayes.h>

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : "mtj:B=0.15,w=0.5";
    printf("crossbayes %s\n", xb_version());

    /* A context keeps the message of what went wrong last. */
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

    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
    return 0;
}
