/* slopetest.h: gradients of a trainer against central differences. */
#ifndef SLOPETEST_H
#define SLOPETEST_H

#include "xbtest.h"

#include "crossbayes/train.h"

typedef struct probe {
    xb_ctx *ctx;
    xb_trainer *t;
    xb_train_data rows;
    double rows_all; /* learnt from: F grows with them */
} probe;

static inline double f_of(const probe *p)
{
    double f = 0;
    assert_ok(p->ctx,
              xb_trainer_gradient(p->ctx, &f, NULL, NULL, NULL, p->t, &p->rows, 3));
    return f;
}

/* Slopes of F by one array, by central differences of steps h, against what the trainer
 * says. */
static inline int check_slopes_by(const probe *p, const char *name, const float *slope,
                                  float h)
{
    const int64_t array = xb_trainer_array_find(p->t, name);
    const int64_t n = xb_trainer_array_size(p->t, array);
    float *start = malloc((size_t)n * sizeof *start);
    int checked = 0;
    assert_ok(p->ctx, xb_trainer_array_get(p->ctx, start, p->t, array));
    for (int64_t i = 0; i < n; i++) {
        const bool fixed = strcmp(name, "sigma") == 0 && start[i] == 0;
        if (fixed) assert_true(slope[i] == 0);
        if (fixed) continue;
        const float kept = start[i];
        double f[2];
        for (int k = 0; k < 2; k++) {
            start[i] = k ? kept - h : kept + h;
            assert_ok(p->ctx, xb_trainer_array_set(p->ctx, p->t, array, start));
            f[k] = f_of(p);
        }
        start[i] = kept;
        assert_close_floor((double)slope[i], (f[0] - f[1]) / (2 * (double)h), 5e-3,
                           0.02 * p->rows_all);
        checked++;
    }
    assert_ok(p->ctx, xb_trainer_array_set(p->ctx, p->t, array, start));
    free(start);
    return checked;
}

/* Passes are in single precision: a step of 1e-2 leaves some 1e-3. */
static inline int check_slopes(const probe *p, const char *name, const float *slope)
{
    return check_slopes_by(p, name, slope, 1e-2f);
}

#endif
