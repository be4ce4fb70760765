/* designtest.h: a small model and a space of designs, for the tests of the search. */
#ifndef DESIGNTEST_H
#define DESIGNTEST_H

#include "arraytest.h"

#include "crossbayes/design.h"

enum { SCORED = 24, DRAWS = 3, CHIPS = 4 };

static const double bits[] = {4, 6, 8, 12}, inputs[] = {4, 9}, draws[DRAWS] = {3, 8, 17};

typedef struct fixture {
    xb_ctx *ctx;
    xb_model *model;
    double *x, y[SCORED];
} fixture;

static inline fixture make_fixture(const char *net)
{
    fixture f = {.ctx = test_ctx()};
    f.model = net_model(f.ctx, net, (xb_shape){1, 1, 3}, 0, 0.02);
    f.x = net_inputs(f.model, SCORED);
    for (int i = 0; i < SCORED; i++) f.y[i] = f.x[3 * i] + 0.05 * (i % 5);
    return f;
}

static inline void free_fixture(fixture *f)
{
    free(f->x);
    xb_model_destroy(f->model);
    xb_ctx_destroy(f->ctx);
}

static inline xb_array start_array(void)
{
    xb_array array = test_array("ideal");
    array.g_min_us = 10;
    array.program_error = 0.01;
    return array;
}

static inline xb_design_space *make_space(xb_ctx *ctx, const xb_array *array)
{
    xb_design_space *space = NULL;
    assert_ok(ctx, xb_design_space_create(ctx, &space, array));
    assert_ok(ctx, xb_design_space_add(ctx, space, "adc-bits", bits, 4));
    assert_ok(ctx, xb_design_space_add(ctx, space, "draws", draws, DRAWS));
    assert_ok(ctx, xb_design_space_add(ctx, space, "dac_bits", inputs, 2));
    return space;
}

static inline xb_design *search_with(const fixture *f, const xb_design_space *space,
                                     const char *keep, const xb_design_options *opt)
{
    xb_design *d = NULL;
    assert_ok(f->ctx,
              xb_design_find(f->ctx, &d, f->model, f->x, f->y, SCORED, space, keep, opt));
    return d;
}

static inline xb_design *search(const fixture *f, const char *keep, bool exhaustive)
{
    const xb_array array = start_array();
    xb_design_space *space = make_space(f->ctx, &array);
    xb_design_options opt = xb_design_options_default();
    opt.chips = exhaustive ? CHIPS : 2 * CHIPS;
    opt.exhaustive = exhaustive;
    xb_design *d = search_with(f, space, keep, &opt);
    xb_design_space_destroy(space);
    return d;
}

static inline double mean_error(const double *x, double *error)
{
    double mean = 0, square = 0;
    for (int c = 0; c < CHIPS; c++) mean += x[c] / CHIPS;
    for (int c = 0; c < CHIPS; c++) square += (x[c] - mean) * (x[c] - mean);
    *error = sqrt(square / (CHIPS * (CHIPS - 1)));
    return mean;
}

#endif
