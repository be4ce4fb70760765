/* fit_laplace.c: maximum likelihood of exp(-|x|) / 2; maths F3, F6. In closed form: the
 * offset is the median, the scale the mean distance from it. The likelihood has a corner
 * wherever the offset meets a value, so the error of the offset is that of the median. */
#include <math.h>

#include "fit/fit_family.h"

xb_status xb_fit_two_sided(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task)
{
    (void)ctx;
    const xb_sample *s = task->sample;
    bool given = task->opt->has_fixed_offset;
    double n = (double)s->n, sum = 0;
    double median = 0.5 * s->sorted[(s->n - 1) / 2] + 0.5 * s->sorted[s->n / 2];
    double offset = given ? task->offset : median;
    for (int64_t i = 0; i < s->n; i++) sum += fabs(s->sorted[i] - offset) / n;
    double error = sum / sqrt(n) * task->inflate; /* of both (F6) */
    xb_fit_name(out, "scale", sum, error);
    xb_fit_name(out, "offset", offset, given ? NAN : error);
    out->n_param = 1 + !given;
    out->converged = true;
    out->log_likelihood = -n * (log(2 * sum) + 1); /* (F3) */
    return XB_OK;
}
