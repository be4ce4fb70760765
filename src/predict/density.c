/* density.c: the public functions of predictive densities; maths section E. They prepare
 * the laws, cut the net before its last layer (hidden.c) and run the engine
 * (density_run.c). density_stats.c computes numbers from densities. */
#include "predict/density.h"

#include <stdlib.h>

#include "base/memory.h"
#include "predict/hidden.h"

enum { GRID_LEAST = 64, GRID_MOST = 1 << 20, BLOCKS_MOST = 4096, LAWS_MOST = 64 };

void xb_density_options_init(xb_density_options *opt, size_t size)
{
    const xb_density_options standard = {
        .draws = 0, .blocks = 32, .grid = 1024, .seed = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* The number of draws that fit into a second or two on one core, from the number of
 * random weights below the last layer. */
static int64_t draws_for(int64_t weights, int blocks)
{
    /* a weight's noise costs about 1 / 4096 of what the rest of a draw does */
    const int64_t budget = INT64_C(1) << 29, rest = 4096, least = 1 << 13, most = 1 << 17;
    int64_t draws = budget / (weights + rest);
    draws = draws < least ? least : draws > most ? most : draws;
    return draws < blocks ? blocks : draws;
}

static xb_status check(xb_ctx *ctx, int64_t laws, const xb_density_options *opt)
{
    if (laws < 1 || laws > LAWS_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld laws: expected 1 to %d", (long long)laws,
                       LAWS_MOST);
    if (opt->blocks < 2 || opt->blocks > BLOCKS_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld %s: expected 2 to %d",
                       (long long)opt->blocks, xb_plural(opt->blocks, "block", "blocks"),
                       BLOCKS_MOST);
    if (opt->draws != 0 && (opt->draws < opt->blocks || opt->draws > UINT32_MAX))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld %s: expected at least one for each of %lld blocks",
                       (long long)opt->draws, xb_plural(opt->draws, "draw", "draws"),
                       (long long)opt->blocks);
    if (opt->grid < GRID_LEAST || opt->grid > GRID_MOST || opt->grid & (opt->grid - 1))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a grid of %lld points: expected a power of two, %d to %d",
                       (long long)opt->grid, GRID_LEAST, GRID_MOST);
    return XB_OK;
}

xb_status xb_densities_new(xb_ctx *ctx, xb_densities **out, int laws, int blocks,
                           int64_t count)
{
    xb_densities *d = xb_new(ctx, 1, sizeof *d);
    if (!d) return XB_E_MEMORY;
    d->laws = laws, d->blocks = blocks, d->count = count;
    d->grid = xb_new(ctx, count, sizeof *d->grid);
    d->value = xb_new(ctx, laws * count, sizeof *d->value);
    d->part = xb_new(ctx, blocks * laws * count, sizeof *d->part);
    d->moment =
        xb_new(ctx, (int64_t)blocks * laws * XB_DENSITY_MOMENTS, sizeof *d->moment);
    if (d->grid && d->value && d->part && d->moment) {
        *out = d;
        return XB_OK;
    }
    xb_densities_destroy(d);
    return XB_E_MEMORY;
}

void xb_densities_destroy(xb_densities *d)
{
    if (!d) return;
    free(d->grid);
    free(d->value);
    free(d->part);
    free(d->moment);
    free(d);
}

/* The laws, ready for use. */
typedef struct law_kits {
    int count;
    xb_sampler **sampler; /* [count] */
    xb_charfn *charfn;    /* [count] */
} law_kits;

static xb_status make_kits(xb_ctx *ctx, law_kits *kits, const xb_law *const *law,
                           int laws)
{
    kits->count = laws;
    kits->sampler = xb_new(ctx, laws, sizeof *kits->sampler);
    kits->charfn = xb_new(ctx, laws, sizeof *kits->charfn);
    if (!kits->sampler || !kits->charfn) return XB_E_MEMORY;
    for (int l = 0; l < laws; l++) {
        XB_TRY(xb_sampler_create(ctx, &kits->sampler[l], law[l], NULL));
        XB_TRY(xb_charfn_make(ctx, &kits->charfn[l], law[l]));
    }
    return XB_OK;
}

static void free_kits(law_kits *kits)
{
    for (int l = 0; l < kits->count; l++) {
        if (kits->sampler) xb_sampler_destroy(kits->sampler[l]);
        if (kits->charfn) xb_charfn_free(&kits->charfn[l]);
    }
    free(kits->sampler);
    free(kits->charfn);
}

static xb_status run(xb_ctx *ctx, xb_densities *d, const xb_hidden *hidden,
                     const xb_output_layer *last, const xb_law *const *law,
                     const xb_density_options *opt)
{
    law_kits kits = {0};
    xb_status status = make_kits(ctx, &kits, law, d->laws);
    if (status == XB_OK) {
        int64_t weights = hidden->below ? xb_net_stochastic_count(hidden->below) : 0;
        int64_t draws = opt->draws > 0 ? opt->draws : draws_for(weights, d->blocks);
        xb_hidden with_laws = *hidden;
        with_laws.sampler = kits.sampler;
        xb_hidden_source source = xb_hidden_source_of(&with_laws);
        status = xb_densities_run(ctx, d, &source, last, kits.charfn,
                                  hidden->random ? draws / d->blocks : 1);
    }
    free_kits(&kits);
    return status;
}

xb_status xb_densities_create(xb_ctx *ctx, xb_densities **out, const xb_net *net,
                              const xb_weights *weights, const xb_real *x,
                              const xb_law *const *law, int64_t laws,
                              const xb_density_options *opt)
{
    xb_density_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, density, &chosen, opt, backend));
    xb_hidden hidden = {0};
    xb_densities *d = NULL;
    XB_TRY(check(ctx, laws, &chosen));
    XB_TRY(xb_hidden_make(ctx, &hidden, net, weights, x, chosen.seed, chosen.backend));
    xb_output_layer last = xb_output_layer_of(net, weights);
    xb_status status =
        xb_densities_new(ctx, &d, (int)laws, (int)chosen.blocks, chosen.grid);
    if (status == XB_OK) status = run(ctx, d, &hidden, &last, law, &chosen);
    xb_hidden_free(&hidden);
    if (status == XB_OK)
        *out = d;
    else
        xb_densities_destroy(d);
    return status;
}

int64_t xb_densities_draws(const xb_densities *d) { return d->draws; }
double xb_densities_roughness(const xb_densities *d) { return d->roughness; }
int64_t xb_densities_count(const xb_densities *d) { return d->count; }
double xb_densities_step(const xb_densities *d) { return d->step; }
int64_t xb_densities_block_count(const xb_densities *d) { return d->blocks; }
const double *xb_densities_grid(const xb_densities *d) { return d->grid; }
const double *xb_densities_value(const xb_densities *d, int64_t law)
{
    return d->value + law * d->count;
}

const double *xb_densities_block_value(const xb_densities *d, int64_t block, int64_t law)
{
    return xb_densities_part(d, (int)block, (int)law);
}
