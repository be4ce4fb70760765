/* process_fit.c: the posterior of a Gaussian process beside a trained net (maths V43).
 *
 * The net describes the mean; the process describes how little the training rows say
 * about other places. So its weights have mean 0, and only their covariance is learnt: a
 * prior of the target's spread, reduced by the information of each row according to its
 * noise. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "data/rows.h"
#include "predict/predict.h"
#include "vi/model.h"
#include "vi/process.h"

enum { N = XB_PROCESS_FEATURES, CHUNK = 256 };

/* Rows' features times one over their noise variance, into the precision. */
static void add_rows(double *precision, const xb_process *p, const float *z,
                     const double *sd, double unit, int64_t rows)
{
    const double least = 1e-3; /* of the target's sd */
    double phi[N];
    for (int64_t i = 0; i < rows; i++) {
        const double noise = fmax(sd[i] / unit, least), weight = 1 / (noise * noise);
        xb_process_features(phi, p, z + i * p->columns);
        for (int64_t a = 0; a < N; a++) {
            double *row = precision + a * (a + 1) / 2;
            const double scaled = weight * phi[a];
            for (int64_t b = 0; b <= a; b++) row[b] += scaled * phi[b];
        }
    }
}

static xb_status learn(xb_ctx *ctx, xb_process *p, const xb_model *m, const xb_rows *all)
{
    const int64_t members = xb_model_member_count(m);
    float *z = xb_new(ctx, CHUNK * m->features, sizeof *z);
    double *noise = xb_new(ctx, (members + 1) * CHUNK, sizeof *noise);
    xb_status status = z && noise ? XB_OK : XB_E_MEMORY;
    for (int64_t row = 0; row < all->n && status == XB_OK; row += CHUNK) {
        const int64_t rows = all->n - row < CHUNK ? all->n - row : CHUNK;
        const xb_rows part = xb_rows_part(all, row, rows);
        double *joint = noise + members * CHUNK;
        status = xb_predict_noise_rows(ctx, noise, m, &part, NULL);
        if (status != XB_OK) break;
        xb_noise_of_members(joint, noise, members, rows);
        xb_model_take_rows(m, z, &part, 0, rows);
        add_rows(p->factor, p, z, joint, m->y_sd[0], rows);
        status = xb_progress_tell(ctx, "learning the process", row + rows, all->n);
    }
    if (status == XB_OK) xb_process_factorise(p->factor);
    free(z);
    free(noise);
    return status;
}

xb_status xb_model_add_process(xb_ctx *ctx, xb_model *model, const xb_rows *rows,
                               double length)
{
    xb_process *process = NULL;
    if (model->classes > 0 || model->targets > 1 || model->pixels ||
        xb_model_of_counts(model))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a Gaussian process beside the net needs a table and one target, "
                       "of numbers that are not counts");
    if (rows->n < 1 || rows->features != model->features)
        return xb_fail(
            ctx, XB_E_ARGUMENT, "%lld rows of %lld numbers for a model of %lld",
            (long long)rows->n, (long long)rows->features, (long long)model->features);
    XB_TRY(xb_model_check_rows(ctx, model, rows));
    XB_TRY(xb_process_create(ctx, &process, length, model->features));
    xb_status status = learn(ctx, process, model, rows);
    if (status == XB_OK)
        xb_model_set_process(model, process);
    else
        xb_process_destroy(process);
    return status;
}
