/* count_summary.c: the prediction of counts (maths P20, P21) from the rates of all draws.
 * A rate determines its noise, so the aleatoric part is a mean over draws. */
#include <math.h>

#include "base/count_mass.h"
#include "predict/count_grid.h"
#include "predict/predict.h"
#include "vi/model.h"

void xb_count_sds(const xb_model *m, double *sd, const double *rate, int64_t n,
                  int64_t first, int64_t count)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t s = 0; s < count; s++) {
            const xb_model *one = xb_model_member_at(m, xb_member_of(m, first + s));
            const double dispersion = xb_model_dispersion(one, i % m->targets);
            sum += xb_count_variance(rate[s * n + i], 1 / dispersion) / (double)count;
        }
        sd[i] = sqrt(sum);
    }
}

static double noise_of(const double *rate, int64_t draws, const double *size,
                       int64_t members)
{
    double sum = 0;
    for (int64_t s = 0; s < draws; s++)
        sum += xb_count_variance(rate[s], size[s % members]);
    return sqrt(sum / (double)draws);
}

xb_draw_summary xb_count_summarise(xb_prediction *p, int64_t at, const double *rate,
                                   const double *size, int64_t members,
                                   const double *level, double *room)
{
    const int64_t start[] = {0, p->draws};
    const xb_count_draws draws = {rate, p->draws, size, members};
    double between = 0;
    xb_draw_summary s = xb_members_summarise(&between, rate, p->draws, 1, members);
    if (p->between) p->between[at] = between;
    p->mean[at] = s.mean;
    p->epistemic[at] = p->draws > 1 ? s.sd : 0;
    p->aleatoric[at] = noise_of(rate, p->draws, size, members);
    p->sd[at] = hypot(p->epistemic[at], p->aleatoric[at]); /* (P21) */
    if (p->quantiles == 0) return s;
    xb_count_grid grid = xb_count_grid_in(room, 1);
    xb_count_grid_make(&grid, &draws, start, NAN);
    for (int64_t k = 0; k < p->quantiles; k++)
        p->quantile[at * p->quantiles + k] =
            xb_count_grid_quantile(&grid, level[k] * (double)p->draws, -1);
    return s;
}
