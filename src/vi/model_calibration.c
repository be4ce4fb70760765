/* model_calibration.c: the recalibration of a model: for each of the levels 0.01 to 0.99,
 * the level whose quantile replaces it (maths C27). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vi/model.h"

enum { LEVELS = XB_CALIBRATION_LEVELS };

xb_status xb_model_set_calibration(xb_ctx *ctx, xb_model *model, const double *level)
{
    for (int i = 0; i < LEVELS; i++)
        if (!(level[i] >= 0 && level[i] <= 1) || (i > 0 && level[i] < level[i - 1]))
            return xb_fail(ctx, XB_E_INPUT,
                           "recalibrated level %d is %g: expected 0 to 1, ascending",
                           i + 1, level[i]);
    double *copy = xb_new(ctx, LEVELS, sizeof *copy);
    if (!copy) return XB_E_MEMORY;
    memcpy(copy, level, LEVELS * sizeof *copy);
    free(model->calibration);
    model->calibration = copy;
    return XB_OK;
}

const double *xb_model_calibration(const xb_model *m) { return m->calibration; }

/* Knot k of LEVELS + 2 knots, ends included. */
static double knot(const double *level, int k)
{
    return k <= 0 ? 0 : k > LEVELS ? 1 : level[k - 1];
}

double xb_model_calibrated_level(const xb_model *model, double level)
{
    const double edge = 1e-9; /* quantiles are of levels inside (0, 1) */
    if (!model->calibration) return level;
    const double place = level * (LEVELS + 1);
    const int k = (int)floor(place);
    const double low = knot(model->calibration, k),
                 high = knot(model->calibration, k + 1);
    return fmin(fmax(low + (place - k) * (high - low), edge), 1 - edge);
}
