/* loops.c: our side of a benchmark where one call is so short that ctypes would be most
 * of it: the loop a user of the library would write in C. And the sizes of the structs
 * that the benchmarks write down again in Python, so that a field added to a header is
 * an error there and not a wrong number. */
#include <string.h>

#include "crossbayes/crossbayes.h"
#include "crossbayes/studies.h"

#define LOOP_API __attribute__((visibility("default")))

LOOP_API xb_status loop_forward(xb_ctx *ctx, xb_pass *pass, float *y, const float *x,
                                int64_t batch, const xb_weights *weights,
                                const xb_noise *noise, int64_t draws);
LOOP_API int64_t struct_size(const char *name);

/* Draws noise->sample, noise->sample + 1, ...; y holds the last. */
xb_status loop_forward(xb_ctx *ctx, xb_pass *pass, float *y, const float *x,
                       int64_t batch, const xb_weights *weights, const xb_noise *noise,
                       int64_t draws)
{
    xb_status status = XB_OK;
    xb_noise here = *noise;
    for (int64_t i = 0; i < draws && status == XB_OK; i++, here.sample++)
        status = xb_pass_forward(ctx, pass, y, x, batch, weights, &here, XB_MODE_PREDICT);
    return status;
}

int64_t struct_size(const char *name)
{
    static const struct {
        const char *name;
        size_t size;
    } known[] = {
        {"xb_train_options", sizeof(xb_train_options)},
        {"xb_train_data", sizeof(xb_train_data)},
        {"xb_predict_options", sizeof(xb_predict_options)},
        {"xb_pass_options", sizeof(xb_pass_options)},
        {"xb_fit_options", sizeof(xb_fit_options)},
        {"xb_energy_options", sizeof(xb_energy_options)},
        {"xb_noise", sizeof(xb_noise)},
        {"xb_tensor", sizeof(xb_tensor)},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0) return (int64_t)known[i].size;
    return -1;
}
