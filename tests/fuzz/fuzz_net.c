/* fuzz_net.c: the text of a net; schedules, priors and transforms of sigma beside it.
 * What parses must print a text that parses to the same. The first byte picks the input's
 * shape. */
#include "fuzz.h"

static void check_net(xb_ctx *ctx, const char *text, xb_shape input)
{
    xb_net *net = NULL, *again = NULL;
    xb_status status = xb_net_parse(ctx, &net, text, input, NULL);
    fuzz_check(ctx, status);
    if (status != XB_OK) return;
    if (xb_net_parse(ctx, &again, xb_net_text(net), input, NULL) != XB_OK) abort();
    if (strcmp(xb_net_text(net), xb_net_text(again)) != 0) abort();
    if (xb_net_param_count(net) != xb_net_param_count(again)) abort();
    xb_net_destroy(again);
    xb_net_destroy(net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    xb_ctx *ctx = fuzz_ctx();
    char *text = fuzz_text(data + 1, size - 1);
    xb_shape input = {1 + data[0] % 4, 1 + data[0] / 4 % 8, 1 + data[0] / 32};
    xb_schedule schedule;
    xb_prior prior;
    xb_sigma_transform transform;
    check_net(ctx, text, input);
    fuzz_check(ctx, xb_schedule_parse(ctx, &schedule, text));
    fuzz_check(ctx, xb_prior_parse(ctx, &prior, text));
    fuzz_check(ctx, xb_sigma_transform_parse(ctx, &transform, text));
    free(text);
    xb_ctx_destroy(ctx);
    return 0;
}
