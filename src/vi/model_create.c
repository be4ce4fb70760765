/* model_create.c: makes a model from arrays. Everything is copied and checked in the same
 * way as a model file. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "law/family.h"
#include "vi/model.h"

static xb_status check_values(xb_ctx *ctx, const char *what, const float *value,
                              int64_t n, bool positive)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(value[i]) || (positive && !(value[i] > 0)))
            return xb_fail(ctx, XB_E_ARGUMENT, "%s: value %lld is %g, expected %s", what,
                           (long long)i, (double)value[i],
                           positive ? "more than 0" : "a finite number");
    return XB_OK;
}

static xb_status copy_values(xb_ctx *ctx, float *to, const char *what, const float *from,
                             int64_t n)
{
    if (n > 0 && !from) return xb_fail(ctx, XB_E_ARGUMENT, "%s: missing", what);
    XB_TRY(check_values(ctx, what, from, n, false));
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
    return XB_OK;
}

static xb_status copy_text(xb_ctx *ctx, char **to, const char *from)
{
    if (!from || !xb_utf8_valid(from))
        return xb_fail(ctx, XB_E_ARGUMENT, "a name of the model is %s",
                       from ? "not UTF-8" : "missing");
    *to = xb_strdup(ctx, from);
    return *to ? XB_OK : XB_E_MEMORY;
}

static xb_status copy_net(xb_ctx *ctx, xb_net **out, const xb_net *net)
{
    xb_net_options fixed = xb_net_options_default();
    fixed.stochastic = XB_STOCHASTIC_NONE;
    XB_TRY(xb_net_parse(ctx, out, xb_net_text(net), xb_net_input(net), &fixed));
    for (int i = 0; i < xb_net_tensor_count(net); i++)
        if (xb_net_tensor_at(net, i)->stochastic)
            XB_TRY(xb_net_set_stochastic(ctx, *out, i, true));
    return XB_OK;
}

/* sigma is read, and must be positive, where a tensor is random; elsewhere it is 0. */
static xb_status copy_sigma(xb_ctx *ctx, xb_model *m, const float *sigma)
{
    for (int i = 0; i < xb_net_tensor_count(m->net); i++) {
        const xb_tensor *t = xb_net_tensor_at(m->net, i);
        if (!t->stochastic) continue;
        if (!sigma) return xb_fail(ctx, XB_E_ARGUMENT, "sigma: missing");
        XB_TRY(check_values(ctx, t->name, sigma + t->offset, t->size, true));
        memcpy(m->sigma + t->offset, sigma + t->offset, (size_t)t->size * sizeof *sigma);
    }
    return XB_OK;
}

static xb_status copy_nets(xb_ctx *ctx, xb_model *m, const xb_model_parts *p)
{
    XB_TRY(copy_net(ctx, &m->net, p->net));
    if (p->likelihood == XB_LIKELIHOOD_HETEROSCEDASTIC) {
        if (!p->noise_net) return xb_fail(ctx, XB_E_ARGUMENT, "noise_net: missing");
        XB_TRY(copy_net(ctx, &m->noise_net, p->noise_net));
    }
    XB_TRY(xb_model_check_nets(ctx, m));
    XB_TRY(xb_model_blocks(ctx, m));
    XB_TRY(copy_values(ctx, m->mu, "mu", p->weights.mu, xb_net_param_count(m->net)));
    XB_TRY(copy_sigma(ctx, m, p->weights.sigma));
    XB_TRY(copy_values(ctx, m->state, "state", p->weights.state,
                       xb_net_state_count(m->net)));
    if (!m->noise_net) return XB_OK;
    XB_TRY(copy_values(ctx, m->noise_mu, "noise_mu", p->noise_mu,
                       xb_net_param_count(m->noise_net)));
    return copy_values(ctx, m->noise_state, "noise_state", p->noise_state,
                       xb_model_noise_states(m));
}

static xb_status copy_columns(xb_ctx *ctx, xb_model *m, const xb_model_parts *p)
{
    XB_TRY(xb_model_columns(ctx, m, xb_shape_size(xb_net_input(p->net)), p->classes));
    for (int64_t j = 0; j < m->features; j++) {
        m->x_mean[j] = p->input_mean ? p->input_mean[j] : 0;
        m->x_sd[j] = p->input_sd ? p->input_sd[j] : 1;
        if (!isfinite(m->x_mean[j]) || !isfinite(m->x_sd[j]) || !(m->x_sd[j] > 0))
            return xb_fail(ctx, XB_E_ARGUMENT,
                           "scale of input %lld: mean %g, sd %g; expected finite numbers "
                           "and an sd above 0",
                           (long long)j, m->x_mean[j], m->x_sd[j]);
        if (!m->pixels)
            XB_TRY(copy_text(ctx, &m->feature_name[j],
                             p->feature_name ? p->feature_name[j] : NULL));
    }
    for (int64_t k = 0; k < p->classes; k++)
        XB_TRY(
            copy_text(ctx, &m->class_name[k], p->class_name ? p->class_name[k] : NULL));
    return xb_model_plain_recipe(ctx, m);
}

static xb_status check_target(xb_ctx *ctx, const xb_model_target *t, bool gaussian)
{
    if (!isfinite(t->mean) || !isfinite(t->sd) || !(t->sd > 0))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "scale of the target: mean %g, sd %g; expected finite numbers and "
                       "an sd above 0",
                       t->mean, t->sd);
    if (gaussian && !(t->noise_sd > 0 && isfinite(t->noise_sd)))
        return xb_fail(ctx, XB_E_ARGUMENT, "noise_sd is %g, expected more than 0",
                       t->noise_sd);
    return XB_OK;
}

static xb_status check_kind(xb_ctx *ctx, const xb_model_parts *p, int64_t targets)
{
    if (p->likelihood == XB_LIKELIHOOD_AUTO ||
        (p->classes > 0) != (p->likelihood == XB_LIKELIHOOD_SOFTMAX))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld classes do not go with the likelihood '%s'",
                       (long long)p->classes, xb_likelihood_name(p->likelihood));
    if (targets == 1 || (targets > 1 && p->classes == 0)) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "%lld targets: expected 1%s", (long long)targets,
                   p->classes ? "" : " or more");
}

static xb_status copy_targets(xb_ctx *ctx, xb_model *m, const xb_model_target *target,
                              int64_t targets)
{
    const bool gaussian = xb_model_has_one_noise(m);
    const bool spread = m->likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL;
    XB_TRY(xb_model_targets(ctx, m, targets));
    for (int64_t k = 0; k < targets; k++) {
        const xb_model_target *t = &target[k];
        XB_TRY(check_target(ctx, t, gaussian || spread));
        m->y_mean[k] = t->mean;
        m->y_sd[k] = t->sd;
        if (gaussian) m->noise_log_sd[k] = log(t->noise_sd / t->sd);
        if (spread) m->noise_log_sd[k] = 2 * log(t->noise_sd);
        XB_TRY(copy_text(ctx, &m->target_each[k], t->name));
        if (targets > 1 && strchr(t->name, ','))
            return xb_fail(
                ctx, XB_E_ARGUMENT,
                "target '%s': with several targets, no name may contain a comma",
                t->name);
    }
    m->target_name = xb_names_join(ctx, m->target_each, targets);
    return m->target_name ? XB_OK : XB_E_MEMORY;
}

static xb_status fill(xb_ctx *ctx, xb_model *m, const xb_model_parts *p,
                      const xb_model_target *target, int64_t targets)
{
    XB_TRY(check_kind(ctx, p, targets));
    m->likelihood = p->likelihood;
    m->pixels = p->pixels;
    m->prior = p->prior;
    m->noise_degrees = p->noise_degrees;
    if (m->likelihood == XB_LIKELIHOOD_STUDENT &&
        !(m->noise_degrees > 2 && isfinite(m->noise_degrees)))
        return xb_fail(ctx, XB_E_ARGUMENT, "noise_degrees is %g, expected more than 2",
                       m->noise_degrees);
    XB_TRY(copy_targets(ctx, m, target, targets));
    XB_TRY(copy_columns(ctx, m, p));
    XB_TRY(copy_nets(ctx, m, p));
    XB_TRY(copy_text(ctx, &m->settings, p->settings ? p->settings : "{}"));
    XB_TRY(copy_text(ctx, &m->provenance, p->provenance ? p->provenance : "{}"));
    m->law = xb_law_share(p->law);
    return XB_OK;
}

xb_status xb_model_create(xb_ctx *ctx, xb_model **out, const xb_model_parts *p)
{
    const xb_model_target target = {p->target_name, p->target_mean, p->target_sd,
                                    p->noise_sd};
    return xb_model_create_targets(ctx, out, p, &target, 1);
}

xb_status xb_model_create_targets(xb_ctx *ctx, xb_model **out,
                                  const xb_model_parts *parts,
                                  const xb_model_target *target, int64_t targets)
{
    xb_model *model = NULL;
    XB_TRY(xb_model_new(ctx, &model));
    xb_status status = fill(ctx, model, parts, target, targets);
    if (status == XB_OK)
        *out = model;
    else
        xb_model_destroy(model);
    return status;
}
