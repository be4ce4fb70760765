/* train_fault.c: finds where a step became non-finite. The forward pass is checked first:
 * the lowest layer whose output is not finite is the origin. If all outputs are finite,
 * the backward pass is checked from the top: the highest layer with a gradient that is
 * not finite, or too large for Adam to square. Layers are counted from 1, as in every
 * message about nets. */
#include <stdio.h>

#include "net/rounded.h"
#include "run/pass.h"
#include "vi/trainer.h"

/* The highest layer with such a gradient; -1: none. */
static int broken_gradient(const xb_backend *b, const xb_net *net, const float *gradient)
{
    for (int i = xb_net_tensor_count(net) - 1; i >= 0; i--) {
        const xb_tensor *k = xb_net_tensor_at(net, i);
        if (!b->squares_finite(b, gradient + k->offset, k->size)) return k->layer;
    }
    return -1;
}

static bool say(char out[XB_FAULT_TEXT], const char *what, const xb_net *net, int layer,
                const char *of)
{
    if (layer < 0) return false;
    snprintf(out, XB_FAULT_TEXT, "in the %s of layer %d (%s)%s", what, layer + 1,
             xb_net_layer_name(net, layer), of);
    return true;
}

void xb_trainer_fault(char out[XB_FAULT_TEXT], const xb_trainer *t)
{
    static const char noise[] = " of the noise net";
    const xb_backend *b = t->backend;
    const xb_net *net = t->model->net, *other = t->model->noise_net;
    bool two = other && t->place.phase == XB_PHASE_VI;
    int broken = xb_pass_broken_layer(t->pass);
    if (t->rounded && broken >= 0) broken = xb_net_rounded_layer(t->rounded, broken);
    if (say(out, "output", net, broken < net->n_layer ? broken : net->n_layer - 1, ""))
        return;
    if (two && say(out, "output", other, xb_pass_broken_layer(t->noise_pass), noise))
        return;
    if (say(out, "gradient", net, broken_gradient(b, net, t->gradient), "")) return;
    if (say(out, "sigma gradient", net, broken_gradient(b, net, t->gradient + t->rho),
            ""))
        return;
    if (two && say(out, "gradient", other,
                   broken_gradient(b, other, t->gradient + t->noise), noise))
        return;
    snprintf(out, XB_FAULT_TEXT, "in the loss");
}

bool xb_trainer_is_sound(const xb_trainer *t)
{
    return t->backend->finite(t->backend, t->live, t->n_live);
}
