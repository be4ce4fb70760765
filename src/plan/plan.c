/* plan.c: predicts how far a net's output under a law is from that under Gaussian
 * weights; maths A1-A8. Start reading plan/ here. Hidden layers are drawn under Gaussian
 * weights and transformed by the law's cumulants (local.c); the engine of predictive
 * densities handles the last layer, whose law given the hidden ones is exact. Shares of
 * single weights come from backward passes (shares.c); needed.c says what a sum of equal
 * shares would need. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/layer.h"
#include "plan/local.h"
#include "plan/plan.h"
#include "plan/shares.h"
#include "predict/hidden.h"

enum { BLOCKS = 32, GRID = 1024 };

/* (A8) A prediction is not trusted where a hidden layer of which more than DOUBT_MOST
 * is doubtful makes more than HIDDEN_MOST of it. */
static const double HIDDEN_MOST = 0.2, DOUBT_MOST = 0.2;

void xb_plan_options_init(xb_plan_options *opt, size_t size)
{
    const xb_plan_options standard = {.tolerance = 1e-3,
                                      .measure = true,
                                      .draws = 32768,
                                      .weight_draws = 2048,
                                      .seed = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

const char *xb_plan_verdict_name(xb_plan_verdict verdict)
{
    static const char *const text[] = {"shape does not matter", "shape matters",
                                       "cannot tell"};
    return text[verdict];
}

/* Skewed layers add to each other's third cumulant, so their joint contribution counts,
 * which is everything except what the last layer contributes alone. */
static double made_by(const xb_plan *plan, int layer, int hidden, bool symmetric)
{
    double alone = plan->layer[layer].kl.value;
    double together = plan->predicted.value - plan->layer[hidden].kl.value;
    return symmetric ? alone : fmax(alone, together);
}

static bool trustworthy(const xb_plan *plan, const xb_local *local,
                        const double *doubtful)
{
    bool trusted =
        isfinite(plan->predicted.value + plan->predicted.std_error) && local->moments;
    for (int i = 0; i < local->random; i++)
        trusted &= !(doubtful[i] > DOUBT_MOST &&
                     made_by(plan, i, local->random, local->law.symmetric) >
                         HIDDEN_MOST * plan->predicted.value);
    return trusted;
}

static void read_densities(xb_plan *plan, const xb_densities *d, int hidden)
{
    plan->predicted = xb_densities_kl(d, XB_LOCAL_ALL, XB_LOCAL_NONE);
    for (int i = 0; i < hidden; i++)
        plan->layer[i].kl = xb_densities_kl(d, XB_LOCAL_LAST + 1 + i, XB_LOCAL_NONE);
    plan->layer[hidden].kl = xb_densities_kl(d, XB_LOCAL_LAST, XB_LOCAL_NONE);
}

/* The last layer has the law where all layers have it, or it alone. */
static xb_status run_engine(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                            const xb_weights *weights, const xb_local *local,
                            const xb_charfn law[2], const xb_plan_options *opt)
{
    xb_densities *d = NULL;
    xb_charfn last_law[XB_LOCAL_LAST + XB_PLAN_LAYERS];
    int laws = XB_LOCAL_LAST + 1 + local->random;
    for (int l = 0; l < laws; l++)
        last_law[l] = law[l == XB_LOCAL_ALL || l == XB_LOCAL_LAST];
    xb_hidden_source source = xb_local_source_of(local);
    xb_output_layer last = xb_output_layer_of(net, weights);
    XB_TRY(xb_densities_new(ctx, &d, laws, BLOCKS, GRID));
    xb_status status = xb_densities_run(ctx, d, &source, &last, last_law,
                                        local->random > 0 ? opt->draws / BLOCKS : 1);
    if (status == XB_OK) read_densities(plan, d, local->random);
    xb_densities_destroy(d);
    XB_TRY(status);
    double doubtful[XB_PLAN_LAYERS];
    if (xb_local_doubtful(doubtful, local) != XB_OK)
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a plan");
    plan->trusted = trustworthy(plan, local, doubtful);
    return XB_OK;
}

static xb_status with_charfn(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                             const xb_weights *weights, const xb_real *x,
                             const xb_law *law, const xb_charfn charfn[2],
                             const xb_plan_options *opt)
{
    xb_local local;
    XB_TRY(xb_local_make(ctx, &local, net, weights, x, law, &charfn[1], opt->seed,
                         opt->backend));
    xb_status status = XB_OK;
    if (local.random + 1 > XB_PLAN_LAYERS)
        status = xb_fail(ctx, XB_E_ARGUMENT, "%d random layers: expected at most %d",
                         local.random + 1, XB_PLAN_LAYERS);
    if (status == XB_OK && opt->weight_draws > 0)
        status = xb_weight_shares_plan(ctx, plan, net, weights, x, &charfn[1], opt);
    if (status == XB_OK)
        status = run_engine(ctx, plan, net, weights, &local, charfn, opt);
    xb_local_free(&local);
    return status;
}

static xb_status make_charfns(xb_ctx *ctx, xb_charfn charfn[2], const xb_law *law)
{
    xb_law *gaussian = NULL;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    xb_status status = xb_charfn_make(ctx, &charfn[0], gaussian);
    if (status == XB_OK) status = xb_charfn_make(ctx, &charfn[1], law);
    xb_law_destroy(gaussian);
    return status;
}

xb_status xb_plan_predict(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                          const xb_weights *weights, const xb_real *x, const xb_law *law,
                          const xb_plan_options *opt)
{
    xb_charfn charfn[2] = {0};
    XB_TRY(xb_hidden_check(ctx, net, weights, opt->backend));
    xb_status status = make_charfns(ctx, charfn, law);
    if (status == XB_OK)
        status = with_charfn(ctx, plan, net, weights, x, law, charfn, opt);
    xb_charfn_free(&charfn[0]);
    xb_charfn_free(&charfn[1]);
    return status;
}

static xb_status measure(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                         const xb_weights *weights, const xb_real *x, const xb_law *law,
                         const xb_plan_options *opt)
{
    xb_law *gaussian = NULL;
    xb_densities *d = NULL;
    xb_density_options density = xb_density_options_default();
    density.seed = opt->seed, density.backend = opt->backend, density.draws = opt->draws;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    const xb_law *laws[] = {gaussian, law};
    xb_status status = xb_densities_create(ctx, &d, net, weights, x, laws, 2, &density);
    if (status == XB_OK) plan->measured = xb_densities_kl(d, 1, 0);
    xb_densities_destroy(d);
    xb_law_destroy(gaussian);
    return status;
}

/* For a law whose far tail reaches beyond the grid of densities (A8), both KL are lower
 * bounds, which can only reject the law. */
static xb_plan_verdict verdict_of(const xb_plan *plan, double tolerance, bool bounds)
{
    bool measured = isfinite(plan->measured.value);
    xb_estimate kl = measured ? plan->measured : plan->predicted;
    if (!measured && !plan->trusted) return XB_PLAN_UNSURE;
    if (kl.value + 2 * kl.std_error <= tolerance)
        return bounds ? XB_PLAN_UNSURE : XB_PLAN_MET;
    return kl.value - 2 * kl.std_error > tolerance ? XB_PLAN_NOT_MET : XB_PLAN_UNSURE;
}

static xb_status check(xb_ctx *ctx, const xb_plan_options *opt)
{
    if (!(opt->tolerance > 0) || !isfinite(opt->tolerance))
        return xb_fail(ctx, XB_E_ARGUMENT, "a tolerance of %g nats: expected more than 0",
                       opt->tolerance);
    if (opt->weight_draws < 1 || opt->weight_draws > UINT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld weight draws: expected 1 or more",
                       (long long)opt->weight_draws);
    if (opt->draws < BLOCKS || opt->draws > UINT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld %s: expected %d or more",
                       (long long)opt->draws, xb_plural(opt->draws, "draw", "draws"),
                       BLOCKS);
    return XB_OK;
}

/* Beyond this the square overflows a float and a net's sums become infinite. */
#define INPUT_MOST 1e18

static xb_status check_input(xb_ctx *ctx, const xb_net *net, const xb_real *x)
{
    for (int64_t i = 0; i < xb_shape_size(xb_net_input(net)); i++)
        if (!(fabs((double)x[i]) <= INPUT_MOST))
            return xb_fail(ctx, XB_E_INPUT,
                           "input %lld of the net is %g: expected a number, in size up"
                           " to %g",
                           (long long)i + 1, (double)x[i], INPUT_MOST);
    return XB_OK;
}

xb_status xb_plan_fill(xb_ctx *ctx, xb_plan *out, const xb_net *net,
                       const xb_weights *weights, const xb_real *x, const xb_law *law,
                       const xb_plan_options *opt)
{
    xb_plan_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, plan, &chosen, opt, backend));
    xb_plan plan = {.measured = {NAN, NAN}};
    XB_TRY(check(ctx, &chosen));
    XB_TRY(check_input(ctx, net, x));
    XB_TRY(xb_plan_predict(ctx, &plan, net, weights, x, law, &chosen));
    XB_TRY(xb_plan_find_n_eff_needed(ctx, &plan.needed, law, chosen.tolerance));
    if (chosen.measure) XB_TRY(measure(ctx, &plan, net, weights, x, law, &chosen));
    bool bounds = !isfinite(xb_law_raw_moment(law, XB_MOVED_ORDER));
    plan.verdict = verdict_of(&plan, chosen.tolerance, bounds);
    *out = plan;
    return XB_OK;
}
