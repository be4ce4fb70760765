/* plan.c: how far a net's output under a law is from that under Gaussian weights,
 * predicted; maths A1-A8. A reader of plan/ starts here.
 *
 * One Monte Carlo of the hidden layers under Gaussian weights (local.c) gives, through
 * the engine of predictive densities, the output's density under Gaussian weights, under
 * the law in the last layer alone (exact, given the hidden layers), and the first-order
 * change by each hidden layer. Shares of single weights come from backward passes
 * (shares.c); needed.c says what a sum of equal shares would need. */
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

/* When a prediction is not trusted (A8). */
static const double NEGATIVE_MOST = 0.1; /* of the total variation */
static const double HIDDEN_MOST = 0.2;   /* of the predicted KL, where n_eff < FEW */
static const double FEW = 4;

xb_plan_options xb_plan_options_default(void)
{
    return (xb_plan_options){.tolerance = 1e-3,
                             .measure = true,
                             .draws = 32768,
                             .weight_draws = 2048,
                             .seed = 1};
}

const char *xb_plan_verdict_text(xb_plan_verdict verdict)
{
    static const char *const text[] = {"shape does not matter", "shape matters",
                                       "cannot tell"};
    return text[verdict];
}

/* ---- densities from the engine's: columns of weights -> predicted laws */

/* The densities of a plan, by number: 2 + column is hidden layer `column` alone. */
enum { GAUSSIAN = 0, PREDICTED = 1, LAST_ALONE = 2 };

/* A change of measure has no mass: what noise gave it is taken away, in proportion to
 * the density it changes. With it goes most of the noise. */
static void take_mass_away(double *change, const double *density, const xb_densities *d)
{
    double mass = 0;
    for (int64_t i = 0; i < d->count; i++) mass += change[i] * d->step;
    for (int64_t i = 0; i < d->count; i++) change[i] -= mass * density[i];
}

static void add(double *to, const double *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] += from[i];
}

/* One block: (A6) the sums of which the predicted laws consist. */
static void combine_block(xb_densities *out, const xb_densities *d, int columns, int b)
{
    int64_t n = d->count;
    for (int l = 0; l < 2; l++)
        for (int c = 1; c < columns; c++)
            take_mass_away(xb_densities_part(d, b, l * columns + c),
                           xb_densities_part(d, b, l * columns), d);
    const double *gaussian = xb_densities_part(d, b, 0);
    add(xb_densities_part(out, b, GAUSSIAN), gaussian, n);
    add(xb_densities_part(out, b, LAST_ALONE), xb_densities_part(d, b, columns), n);
    for (int c = 0; c < columns; c++)
        add(xb_densities_part(out, b, PREDICTED), xb_densities_part(d, b, columns + c),
            n);
    for (int c = 1; c < columns; c++) {
        add(xb_densities_part(out, b, LAST_ALONE + c), gaussian, n);
        add(xb_densities_part(out, b, LAST_ALONE + c), xb_densities_part(d, b, c), n);
    }
}

static void combine(xb_densities *out, const xb_densities *d, int columns)
{
    out->step = d->step;
    for (int b = 0; b < d->blocks; b++) {
        combine_block(out, d, columns, b);
        for (int l = 0; l < out->laws; l++)
            for (int64_t i = 0; i < d->count; i++)
                out->value[l * d->count + i] +=
                    xb_densities_part(out, b, l)[i] / d->blocks;
    }
}

/* ---- what a plan says */

/* (A8) Mass of the predicted density below 0 over the total variation. */
static double negative_part(const xb_densities *d)
{
    const double *p = xb_densities_value(d, PREDICTED);
    const double *q = xb_densities_value(d, GAUSSIAN);
    double below = 0, apart = 0;
    for (int64_t i = 0; i < d->count; i++) {
        below += fmax(0, -p[i]);
        apart += fabs(p[i] - q[i]) / 2;
    }
    return apart > 0 ? below / apart : 0;
}

/* (A8) A first order in hidden units, cut at order 8, is not enough where few weights
 * dominate and they are in hidden layers. */
static bool trustworthy(const xb_plan *plan, int columns)
{
    double hidden = 0;
    for (int c = 1; c < columns; c++) hidden = fmax(hidden, plan->layer[c - 1].kl.value);
    bool few = plan->n_eff < FEW && hidden > HIDDEN_MOST * plan->predicted.value;
    return !few && plan->negative <= NEGATIVE_MOST &&
           isfinite(plan->predicted.value + plan->predicted.std_error);
}

static void read_densities(xb_plan *plan, const xb_densities *d, int columns)
{
    plan->predicted = xb_densities_kl(d, PREDICTED, GAUSSIAN);
    plan->negative = negative_part(d);
    for (int c = 1; c < columns; c++)
        plan->layer[c - 1].kl = xb_densities_kl(d, LAST_ALONE + c, GAUSSIAN);
    plan->layer[columns - 1].kl = xb_densities_kl(d, LAST_ALONE, GAUSSIAN);
    plan->trusted = trustworthy(plan, columns);
}

static xb_status run_engine(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                            const xb_weights *weights, const xb_local *local,
                            const xb_charfn law[2], const xb_plan_options *opt)
{
    xb_densities *raw = NULL, *laws = NULL;
    xb_hidden_source source = xb_local_source_of(local);
    xb_output_layer last = xb_output_layer_of(net, weights);
    xb_status status = xb_densities_new(ctx, &raw, 2 * local->columns, BLOCKS, GRID);
    if (status == XB_OK)
        status = xb_densities_new(ctx, &laws, LAST_ALONE + local->columns, BLOCKS, GRID);
    if (status == XB_OK)
        status = xb_densities_run(ctx, raw, &source, &last, law, 2,
                                  local->columns > 1 ? opt->draws / BLOCKS : 1);
    if (status == XB_OK) {
        combine(laws, raw, local->columns);
        read_densities(plan, laws, local->columns);
    }
    xb_densities_destroy(raw);
    xb_densities_destroy(laws);
    return status;
}

static xb_status with_charfn(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                             const xb_weights *weights, const xb_real *x,
                             const xb_charfn law[2], const xb_plan_options *opt)
{
    xb_local local;
    XB_TRY(xb_local_make(ctx, &local, net, weights, x, &law[1], opt->seed, opt->backend));
    xb_status status = XB_OK;
    if (local.columns > XB_PLAN_LAYERS)
        status = xb_fail(ctx, XB_E_ARGUMENT, "%d random layers: at most %d",
                         local.columns, XB_PLAN_LAYERS);
    if (status == XB_OK && opt->weight_draws > 0)
        status = xb_shares_plan(ctx, plan, net, weights, x, &law[1], opt);
    if (status == XB_OK) status = run_engine(ctx, plan, net, weights, &local, law, opt);
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
    XB_TRY(xb_hidden_check(ctx, net));
    xb_status status = make_charfns(ctx, charfn, law);
    if (status == XB_OK) status = with_charfn(ctx, plan, net, weights, x, charfn, opt);
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

static xb_plan_verdict verdict_of(const xb_plan *plan, double tolerance)
{
    bool measured = isfinite(plan->measured.value);
    xb_estimate kl = measured ? plan->measured : plan->predicted;
    if (!measured && !plan->trusted) return XB_PLAN_UNSURE;
    if (kl.value + 2 * kl.std_error <= tolerance) return XB_PLAN_MET;
    return kl.value - 2 * kl.std_error > tolerance ? XB_PLAN_NOT_MET : XB_PLAN_UNSURE;
}

static xb_status check(xb_ctx *ctx, const xb_plan_options *opt)
{
    if (!(opt->tolerance > 0) || !isfinite(opt->tolerance))
        return xb_fail(ctx, XB_E_ARGUMENT, "a tolerance of %g: expected more than 0",
                       opt->tolerance);
    if (opt->weight_draws < 1 || opt->weight_draws > UINT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld weight draws: expected 1 or more",
                       (long long)opt->weight_draws);
    if (opt->draws < BLOCKS || opt->draws > UINT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld draws: expected %d or more",
                       (long long)opt->draws, BLOCKS);
    return XB_OK;
}

xb_status xb_plan_make(xb_ctx *ctx, xb_plan *out, const xb_net *net,
                       const xb_weights *weights, const xb_real *x, const xb_law *law,
                       const xb_plan_options *opt)
{
    xb_plan_options chosen = opt ? *opt : xb_plan_options_default();
    xb_plan plan = {.measured = {NAN, NAN}};
    XB_TRY(check(ctx, &chosen));
    XB_TRY(xb_plan_predict(ctx, &plan, net, weights, x, law, &chosen));
    XB_TRY(xb_plan_needed(ctx, &plan.needed, law, chosen.tolerance));
    if (chosen.measure) XB_TRY(measure(ctx, &plan, net, weights, x, law, &chosen));
    plan.verdict = verdict_of(&plan, chosen.tolerance);
    *out = plan;
    return XB_OK;
}
