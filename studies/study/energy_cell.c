/* energy_cell.c: see energy_cell.h. Densities and the numbers derived from them come from
 * crossbayes/density.h, n_eff from energy_slopes.c, the check by nearest neighbours from
 * compare/. The floor is the KL of two Gaussian runs with half of the draws each: every
 * second block behind a density, and the others. */
#include "study/energy_cell.h"

#include <math.h>
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "crossbayes/compare.h"
#include "crossbayes/plan.h"
#include "crossbayes/density.h"

static const double CURVE_END = 4; /* curves go from -4 to 4 */

/* ---- the vector of numbers */

int64_t xb_cell_length(const xb_cell_plan *plan)
{
    return XB_CELL_NUMBERS + (int64_t)(plan->laws - 1) * XB_CELL_LAW_NUMBERS +
           (int64_t)plan->laws * XB_CELL_CURVE;
}

static int64_t law_place(int law)
{
    return XB_CELL_NUMBERS + (int64_t)(law - 1) * XB_CELL_LAW_NUMBERS;
}

double xb_cell_get(const double *values, xb_cell_number number) { return values[number]; }

double xb_cell_get_law(const double *values, int law, xb_cell_law_number number)
{
    return values[law_place(law) + number];
}

const double *xb_cell_curve(const xb_cell_plan *plan, const double *values, int law)
{
    return values + law_place(plan->laws) + (int64_t)law * XB_CELL_CURVE;
}

double xb_cell_place(int point)
{
    return CURVE_END * (2.0 * point / (XB_CELL_CURVE - 1) - 1);
}

xb_energy_options xb_cell_training(const xb_cell_plan *plan, const xb_cell *cell)
{
    xb_energy_options o = xb_energy_options_default();
    o.width = cell->width;
    o.depth = cell->depth;
    o.seed = cell->seed;
    o.kernels_only = plan->kernels_only;
    o.steps = plan->steps;
    o.n_eff_penalty = plan->n_eff_penalty;
    if (plan->n_eff_penalty == 0)
        o.backend = plan->backend; /* with the penalty, training runs on the CPU */
    return o;
}

/* Draws of a net with fewer weights than this cost less than the calls of a GPU. */
enum { WEIGHTS_LEAST = 1 << 12 };

static const char *drawn_on(const xb_cell_plan *plan, const xb_model *model)
{
    return xb_net_param_count(xb_model_net(model)) < WEIGHTS_LEAST ? NULL : plan->backend;
}

/* ---- densities */

static void put(double *at, int number, xb_estimate e)
{
    at[number] = e.value;
    at[number + 1] = e.std_error;
}

/* Mass of one density beyond `edge` on either side of `mean`; a grid point represents the
 * interval around it, of which a part may be outside. */
static double tail_mass(const xb_densities *d, const double *p, double mean, double edge)
{
    const double *grid = xb_densities_grid(d), step = xb_densities_step(d);
    double sum = 0;
    for (int64_t i = 0; i < xb_densities_count(d); i++) {
        double beyond = (fabs(grid[i] - mean) - edge) / step + 0.5;
        sum += p[i] * fmin(1, fmax(0, beyond));
    }
    return sum * step;
}

/* The difference of a law's tail mass from the Gaussian's. Blocks are independent of each
 * other; the laws within a block are not. */
static xb_estimate tail_gap(const xb_densities *d, int law, double mean, double edge)
{
    double sum = 0, square = 0, blocks = xb_densities_block_count(d);
    for (int b = 0; b < xb_densities_block_count(d); b++) {
        double gap = tail_mass(d, xb_densities_block_value(d, b, law), mean, edge) -
                     tail_mass(d, xb_densities_block_value(d, b, 0), mean, edge);
        sum += gap, square += gap * gap;
    }
    double variance = fmax(0, square / blocks - sum * sum / (blocks * blocks));
    return (xb_estimate){sum / blocks, sqrt(variance / (blocks - 1))};
}

/* The Gaussian's density at point i from the blocks whose number modulo 2 is `from`. */
static double half_density(const xb_densities *d, int from, int64_t i)
{
    double sum = 0;
    int count = 0;
    for (int b = from; b < xb_densities_block_count(d); b += 2, count++)
        sum += xb_densities_block_value(d, b, 0)[i];
    return sum / count;
}

static double two_runs(const xb_densities *d)
{
    double sum = 0;
    for (int64_t i = 0; i < xb_densities_count(d); i++) {
        double p = half_density(d, 0, i), q = half_density(d, 1, i);
        if (p > 0 && q > 0) sum += p * log(p / q) - p + q;
    }
    return sum * xb_densities_step(d);
}

/* Interpolates linearly between grid points; 0 outside. */
static double at_place(const xb_densities *d, int law, double y)
{
    const double *p = xb_densities_value(d, law);
    double place = (y - xb_densities_grid(d)[0]) / xb_densities_step(d);
    int64_t i = (int64_t)floor(place);
    if (i < 0 || i + 1 >= xb_densities_count(d)) return 0;
    return p[i] + (place - (double)i) * (p[i + 1] - p[i]);
}

static void law_numbers(double *at, const xb_densities *d, int law,
                        const xb_output_moments *gaussian)
{
    xb_output_moments gap = xb_densities_gap(d, law);
    double mean = gaussian->mean.value, sd = gaussian->sd.value;
    put(at, XB_CELL_KL, xb_densities_kl(d, law, 0));
    put(at, XB_CELL_MEAN_GAP, gap.mean);
    put(at, XB_CELL_SD_GAP, gap.sd);
    put(at, XB_CELL_SKEWNESS_GAP, gap.skewness);
    put(at, XB_CELL_KURTOSIS_GAP, gap.excess_kurtosis);
    put(at, XB_CELL_TAIL_2_GAP, tail_gap(d, law, mean, 2 * sd));
    put(at, XB_CELL_TAIL_3_GAP, tail_gap(d, law, mean, 3 * sd));
}

static void take_densities(double *values, const xb_cell_plan *plan,
                           const xb_densities *d)
{
    xb_output_moments m = xb_densities_moments(d, 0);
    const double *p = xb_densities_value(d, 0);
    values[XB_CELL_MEAN] = m.mean.value;
    values[XB_CELL_SD] = m.sd.value;
    values[XB_CELL_SKEWNESS] = m.skewness.value;
    values[XB_CELL_KURTOSIS] = m.excess_kurtosis.value;
    values[XB_CELL_TAIL_2] = tail_mass(d, p, m.mean.value, 2 * m.sd.value);
    values[XB_CELL_TAIL_3] = tail_mass(d, p, m.mean.value, 3 * m.sd.value);
    values[XB_CELL_FLOOR] = two_runs(d); /* (G7) */
    for (int l = 1; l < plan->laws; l++) law_numbers(values + law_place(l), d, l, &m);
    double *curve = values + law_place(plan->laws);
    for (int l = 0; l < plan->laws; l++)
        for (int i = 0; i < XB_CELL_CURVE; i++)
            *curve++ = at_place(d, l, xb_cell_place(i));
}

static xb_status densities(xb_ctx *ctx, double *values, const xb_cell_plan *plan,
                           const xb_cell *cell, const xb_model *model)
{
    const xb_real x = 0;
    const xb_weights weights = xb_model_weights(model);
    xb_density_options opt = xb_density_options_default();
    xb_densities *d = NULL;
    opt.draws = plan->hidden_draws;
    opt.seed = cell->seed;
    opt.backend = drawn_on(plan, model);
    XB_TRY(xb_densities_create(ctx, &d, xb_model_net(model), &weights, &x, plan->law,
                               plan->laws, &opt));
    take_densities(values, plan, d);
    xb_densities_destroy(d);
    return XB_OK;
}

/* ---- n_eff and theory */

/* (G6) Leading order in the law's third and fourth cumulants. */
static double theory(double n_eff, const xb_law *law)
{
    xb_moments m = xb_law_moments(law);
    double kurtosis = m.excess_kurtosis / n_eff;
    return kurtosis * kurtosis / 48 + m.skewness * m.skewness / (12 * n_eff);
}

static xb_status shares(xb_ctx *ctx, double *values, const xb_cell_plan *plan,
                        const xb_cell *cell, const xb_model *model)
{
    const xb_real x = 0;
    const xb_weights weights = xb_model_weights(model);
    xb_plan_options opt = xb_plan_options_default();
    xb_cell_slopes s;
    opt.weight_draws = plan->share_draws;
    opt.seed = cell->seed;
    XB_TRY(xb_cell_slopes_find(ctx, &s, model, plan->share_draws, cell->seed));
    XB_TRY(xb_plan_find_n_eff(ctx, &values[XB_CELL_N_EFF_A1], xb_model_net(model),
                              &weights, &x, &opt));
    double variance = values[XB_CELL_SD] * values[XB_CELL_SD];
    values[XB_CELL_N_EFF] = variance * variance / s.fourth; /* (G4) */
    values[XB_CELL_TOP_SHARE] = s.largest / s.fourth;
    for (int l = 1; l < plan->laws; l++)
        values[law_place(l) + XB_CELL_THEORY] =
            theory(values[XB_CELL_N_EFF], plan->law[l]);
    return XB_OK;
}

/* ---- the check by nearest neighbours */

static xb_status neighbours(xb_ctx *ctx, double *at, const double *y, const double *base,
                            int64_t draws)
{
    xb_distance_options opt = xb_distance_options_default();
    xb_distances *d = NULL;
    opt.permutations = 0;
    XB_TRY(xb_distance_samples(ctx, &d, y, draws, base, draws, 1, &opt));
    const xb_distance kl = xb_distances_get(d, "kl");
    at[0] = kl.value;
    at[1] = kl.std_error;
    xb_distances_destroy(d);
    return XB_OK;
}

static xb_status check_laws(xb_ctx *ctx, double *values, const xb_cell_plan *plan,
                            const xb_cell *cell, const xb_model *model, double *room)
{
    const char *backend = drawn_on(plan, model);
    int64_t draws = plan->output_draws;
    double *base = room, *y = room + draws;
    XB_TRY(
        xb_cell_outputs(ctx, base, model, plan->law[0], draws, cell->seed, 0, backend));
    for (int l = 0; l < plan->laws; l++) {
        double *at =
            l == 0 ? values + XB_CELL_KNN_FLOOR : values + law_place(l) + XB_CELL_KNN;
        XB_TRY(xb_cell_outputs(ctx, y, model, plan->law[l], draws, cell->seed,
                               (uint32_t)l + 1, backend));
        XB_TRY(neighbours(ctx, at, y, base, draws));
    }
    return XB_OK;
}

static xb_status check(xb_ctx *ctx, double *values, const xb_cell_plan *plan,
                       const xb_cell *cell, const xb_model *model)
{
    if (plan->output_draws == 0) return XB_OK;
    double *room = xb_new(ctx, 2 * plan->output_draws, sizeof *room);
    if (!room) return XB_E_MEMORY;
    xb_status status = check_laws(ctx, values, plan, cell, model, room);
    xb_free(room);
    return status;
}

xb_status xb_cell_measure(xb_ctx *ctx, double *values, const xb_cell_plan *plan,
                          const xb_cell *cell, const xb_model *model)
{
    for (int64_t i = 0; i < xb_cell_length(plan); i++) values[i] = NAN;
    XB_TRY(densities(ctx, values, plan, cell, model));
    XB_TRY(shares(ctx, values, plan, cell, model));
    return check(ctx, values, plan, cell, model);
}
