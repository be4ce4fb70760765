/* glue_weights.h: random weights for crossbayes.torch (maths N7-N9), in the precision
 * REAL. Included once for float and once for double; NAME(x) is xb_py_x with the
 * precision's ending. Draws are the library's float32 ones in both, so that double serves
 * to check derivatives by differences. No include guard: it is meant to be read twice. */

typedef struct NAME(weights) {
    const xb_sampler *sampler;
    const xb_stream *where;
    REAL *theta; /* [groups][m]; or the two gradients, [m] */
    REAL *d_mu, *d_sigma;
    const REAL *mu, *sigma, *g; /* [m], [m], [groups][m] */
    int64_t m, groups;
} NAME(weights);

/* theta_g = mu + sigma z_g of one block of elements; mu NULL: sigma z_g. */
static void NAME(weights_block)(void *arg, int64_t piece)
{
    const NAME(weights) *w = arg;
    const int64_t from = piece * XB_PY_BLOCK;
    const int64_t n = w->m - from < XB_PY_BLOCK ? w->m - from : XB_PY_BLOCK;
    const REAL *mu = w->mu ? w->mu + from : NULL, *sigma = w->sigma + from;
    float z[XB_PY_BLOCK];
    for (int64_t g = 0; g < w->groups; g++) {
        REAL *theta = w->theta + g * w->m + from;
        xb_sampler_fill(w->sampler, z, n, w->where, g * w->m + from);
        if (mu)
            for (int64_t i = 0; i < n; i++) theta[i] = mu[i] + sigma[i] * (REAL)z[i];
        else
            for (int64_t i = 0; i < n; i++) theta[i] = sigma[i] * (REAL)z[i];
    }
}

/* d_mu = sum of g_g, d_sigma = sum of g_g z_g, groups in order; d_mu NULL: not wanted. */
static void NAME(weights_back_block)(void *arg, int64_t piece)
{
    const NAME(weights) *w = arg;
    const int64_t from = piece * XB_PY_BLOCK;
    const int64_t n = w->m - from < XB_PY_BLOCK ? w->m - from : XB_PY_BLOCK;
    REAL *d_mu = w->d_mu ? w->d_mu + from : NULL, *d_sigma = w->d_sigma + from;
    float z[XB_PY_BLOCK];
    for (int64_t g = 0; g < w->groups; g++) {
        const REAL *dg = w->g + g * w->m + from;
        xb_sampler_fill(w->sampler, z, n, w->where, g * w->m + from);
        for (int64_t i = 0; i < n; i++)
            d_sigma[i] = (g ? d_sigma[i] : 0) + dg[i] * (REAL)z[i];
        for (int64_t i = 0; d_mu && i < n; i++) d_mu[i] = (g ? d_mu[i] : 0) + dg[i];
    }
}

static void NAME(weights_fill)(const xb_ctx *ctx, const xb_sampler *sampler,
                               const xb_stream *where, REAL *theta, const REAL *mu,
                               const REAL *sigma, int64_t m, int64_t groups)
{
    NAME(weights)
    w = {.sampler = sampler,
         .where = where,
         .theta = theta,
         .mu = mu,
         .sigma = sigma,
         .m = m,
         .groups = groups};
    xb_parallel_for(ctx, (m + XB_PY_BLOCK - 1) / XB_PY_BLOCK, NAME(weights_block), &w);
}

static void NAME(weights_back)(const xb_ctx *ctx, const xb_sampler *sampler,
                               const xb_stream *where, REAL *d_mu, REAL *d_sigma,
                               const REAL *g, int64_t m, int64_t groups)
{
    NAME(weights)
    w = {.sampler = sampler,
         .where = where,
         .d_mu = d_mu,

         .d_sigma = d_sigma,
         .g = g,
         .m = m,
         .groups = groups};
    xb_parallel_for(ctx, (m + XB_PY_BLOCK - 1) / XB_PY_BLOCK, NAME(weights_back_block),
                    &w);
}
