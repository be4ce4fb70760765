/* moved_ops.c: a dense layer given the layer below, without a draw of its weights: units
 * are Gaussian, or moved to another law; maths A4-A6. Matrix products of powers do it,
 * the rest is kernel/moved_kernel.h. */
#include <string.h>

#include "backend/host.h"

/* Power sums of the terms, up to the `most`-th. */
static void sum_powers(const xb_run *run, const xb_moved_block *m, const xb_real *x,
                       int most)
{
    int64_t n_in = m->count * m->in;
    memcpy(m->raised, x, (size_t)n_in * sizeof *m->raised);
    for (int n = 2; n <= most; n++) {
        for (int64_t i = 0; i < n_in; i++) m->raised[i] *= x[i];
        if (xb_moved_wanted(m->law, n))
            run->kernels->dense_forward(m->sum[n], m->raised, m->power[n],
                                        m->power[n] + m->in * m->out, m->count, m->in,
                                        m->out, XB_ACT_NONE);
    }
}

static double unit_at(const xb_moved_block *m, int64_t at, double sd)
{
    double sum[XB_MOVED_ORDER + 1] = {0}, e = (double)m->e[at];
    int most = m->moved ? XB_MOVED_ORDER : 3;
    for (int n = 2; n <= most; n++)
        if (xb_moved_wanted(m->law, n)) sum[n] = (double)m->sum[n][at];
    return m->moved && sd > 0 ? xb_moved_unit(m->law, sum, sd, e, (double)m->z[at])
                              : xb_moved_side(m->law, sum[3]) * e;
}

void xb_host_moved(const xb_run *run, const xb_moved_block *m, xb_real *y,
                   const xb_real *x)
{
    int64_t units = m->count * m->out;
    run->kernels->dense_forward(y, x, m->mu, m->bias, m->count, m->in, m->out,
                                XB_ACT_NONE);
    if (!m->random) return;
    sum_powers(run, m, x, m->moved ? XB_MOVED_ORDER : 3);
    xb_real_draws(m->gaussian, m->e, units, &m->where, m->first * m->out);
    if (m->moved) xb_real_draws(m->sampler, m->z, units, &m->where, m->first * m->out);
    for (int64_t at = 0; at < units; at++) {
        double sd = sqrt((double)m->sum[2][at]);
        y[at] += (xb_real)(sd * unit_at(m, at, sd));
    }
}
