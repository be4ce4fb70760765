/* energy_slopes.c: how the weights share the output; maths G4.
 *
 * One draw of all weights at a time, forward and backward: the gradient with respect to
 * each weight times its standard deviation is the response of the output to that weight's
 * noise. */
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "study/energy_cell.h"

typedef struct slopes_room {
    xb_pass *pass;
    xb_sampler *sampler;
    float *gradient; /* [mu n][sigma n] */
    double *fourth;  /* [n] */
} slopes_room;

/* Adds one draw, with weight 1 / draws. */
static void add_draw(slopes_room *room, const float *sigma, int64_t n, double share)
{
    for (int64_t i = 0; i < n; i++) {
        double a = (double)sigma[i] * (double)room->gradient[i];
        room->fourth[i] += share * a * a * a * a;
    }
}

static xb_status run_draws(xb_ctx *ctx, xb_cell_slopes *out, slopes_room *room,
                           const xb_model *model, int64_t draws, uint64_t seed)
{
    const float x = 0, one = 1;
    float y;
    int64_t n = xb_net_param_count(xb_model_net(model));
    const xb_weights weights = xb_model_weights(model);
    const xb_gradient gradient = {room->gradient, room->gradient + n, NULL};
    xb_noise noise = {.sampler = room->sampler,
                      .key = xb_key_make(seed, XB_PURPOSE_BOOTSTRAP)};
    for (int64_t k = 0; k < draws; k++) {
        noise.step = (uint32_t)k;
        memset(room->gradient, 0, (size_t)(2 * n) * sizeof *room->gradient);
        XB_TRY(xb_pass_forward(ctx, room->pass, &y, &x, 1, &weights, &noise,
                               XB_MODE_PREDICT));
        XB_TRY(xb_pass_backward(ctx, room->pass, &gradient, &one));
        add_draw(room, weights.sigma, n, 1 / (double)draws);
    }
    for (int64_t i = 0; i < n; i++) {
        out->fourth += room->fourth[i];
        if (room->fourth[i] > out->largest) out->largest = room->fourth[i];
    }
    return XB_OK;
}

static xb_status make_room(xb_ctx *ctx, slopes_room *room, const xb_model *model)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.batch = 1;
    int64_t n = xb_net_param_count(xb_model_net(model));
    room->gradient = xb_new(ctx, 2 * n, sizeof *room->gradient);
    room->fourth = xb_new(ctx, n, sizeof *room->fourth);
    if (!room->gradient || !room->fourth) return XB_E_MEMORY;
    XB_TRY(xb_sampler_create(ctx, &room->sampler, xb_model_law(model), NULL));
    return xb_pass_create(ctx, &room->pass, xb_model_net(model), &opt);
}

xb_status xb_cell_slopes_find(xb_ctx *ctx, xb_cell_slopes *out, const xb_model *model,
                              int64_t draws, uint64_t seed)
{
    slopes_room room = {0};
    xb_cell_slopes found = {0};
    xb_status status = make_room(ctx, &room, model);
    if (status == XB_OK) status = run_draws(ctx, &found, &room, model, draws, seed);
    if (status == XB_OK) *out = found;
    xb_pass_destroy(room.pass);
    xb_sampler_destroy(room.sampler);
    xb_free(room.gradient);
    xb_free(room.fourth);
    return status;
}
