/* glue_weights.h: random weights for crossbayes.torch (maths N7-N9), in the precision
 * REAL. Included once for float and once for double; NAME(x) is xb_py_x with the
 * precision's ending. Draws are the library's float32 ones in both, so that double serves
 * to check derivatives by differences. A block of weights is drawn, mixed and scored
 * while it is in the cache; sigma = exp(log sigma) is never kept. No include guard: it is
 * read twice. */

typedef struct NAME(weights) {
    const xb_sampler *sampler;
    const xb_stream *where;
    const xb_kl *kl;        /* NULL: the KL is not wanted */
    const xb_ctx *alone;    /* of one thread, for what a piece calls */
    const REAL *mu, *width; /* [m]: means and log sigma */
    REAL *theta;        /* [groups][m]: written forward, read backward; NULL: KL alone */
    double *sums;       /* the KL of each piece */
    const REAL *g;      /* backward: [groups][m]; NULL: KL alone */
    const REAL *g_mean; /* of the means where they are no part of theta; or NULL */
    REAL *d_mu, *d_width; /* [m], written */
    double weight;        /* of the KL's gradient */
    int64_t m, groups;
    bool mean; /* mu is part of theta */
} NAME(weights);

/* theta_g = mu + sigma z_g of one block, and its KL. */
static void NAME(weights_block)(void *arg, int64_t piece)
{
    const NAME(weights) *w = arg;
    const int64_t from = piece * XB_PY_BLOCK;
    const int64_t n = w->m - from < XB_PY_BLOCK ? w->m - from : XB_PY_BLOCK;
    const REAL *mu = w->mu + from;
    REAL sigma[XB_PY_BLOCK];
    float z[XB_PY_BLOCK];
    NAME(sigma)(w->alone, sigma, w->width + from, n);
    for (int64_t g = 0; w->theta && g < w->groups; g++) {
        REAL *theta = w->theta + g * w->m + from;
        xb_sampler_fill(w->sampler, z, n, w->where, g * w->m + from);
        if (w->mean)
            for (int64_t i = 0; i < n; i++) theta[i] = mu[i] + sigma[i] * (REAL)z[i];
        else
            for (int64_t i = 0; i < n; i++) theta[i] = sigma[i] * (REAL)z[i];
    }
    if (w->kl) w->sums[piece] = NAME(kl)(w->alone, w->kl, NULL, NULL, mu, sigma, n, 0);
}

/* `weight` times the KL's gradient, 0 where it is not wanted. */
static void NAME(weights_back_kl)(const NAME(weights) * w, int64_t from, int64_t n)
{
    REAL *d_mu = w->d_mu + from, *d_width = w->d_width + from;
    REAL sigma[XB_PY_BLOCK];
    for (int64_t i = 0; i < n; i++) d_mu[i] = d_width[i] = 0;
    if (!w->kl) return;
    NAME(sigma)(w->alone, sigma, w->width + from, n);
    NAME(kl)(w->alone, w->kl, d_mu, d_width, w->mu + from, sigma, n, w->weight);
    for (int64_t i = 0; i < n; i++) d_width[i] *= sigma[i];
}

/* To the KL's gradient comes d_mu += sum of g_g (g_mean without the means), d_width +=
 * sum of g_g sigma z_g. sigma z is theta - mu, the noise that the forward pass saw: it
 * differs from the draw by the rounding of theta, and theta is kept for the product's own
 * gradient anyway. */
static void NAME(weights_back_block)(void *arg, int64_t piece)
{
    const NAME(weights) *w = arg;
    const int64_t from = piece * XB_PY_BLOCK;
    const int64_t n = w->m - from < XB_PY_BLOCK ? w->m - from : XB_PY_BLOCK;
    const REAL *mu = w->mu + from;
    REAL *d_mu = w->d_mu + from, *d_width = w->d_width + from;
    NAME(weights_back_kl)(w, from, n);
    for (int64_t i = 0; w->g_mean && i < n; i++) d_mu[i] += w->g_mean[from + i];
    for (int64_t g = 0; w->g && g < w->groups; g++) {
        const REAL *dg = w->g + g * w->m + from, *theta = w->theta + g * w->m + from;
        if (w->mean)
            for (int64_t i = 0; i < n; i++) {
                d_mu[i] += dg[i];
                d_width[i] += dg[i] * (theta[i] - mu[i]);
            }
        else
            for (int64_t i = 0; i < n; i++) d_width[i] += dg[i] * theta[i];
    }
}

/* Pieces of a tensor of m weights: as many as sums has room for. */
static int64_t NAME(pieces)(int64_t m) { return (m + XB_PY_BLOCK - 1) / XB_PY_BLOCK; }

/* Returns the KL in nats, 0 where it is not wanted. */
static double NAME(weights_fill)(const xb_ctx *ctx, const NAME(weights) * w)
{
    NAME(weights) own = *w;
    xb_parallel_for(ctx, NAME(pieces)(w->m), NAME(weights_block), &own);
    double sum = 0;
    for (int64_t i = 0; w->kl && i < NAME(pieces)(w->m); i++) sum += w->sums[i];
    return sum;
}

static void NAME(weights_back)(const xb_ctx *ctx, const NAME(weights) * w)
{
    NAME(weights) own = *w;
    xb_parallel_for(ctx, NAME(pieces)(w->m), NAME(weights_back_block), &own);
}

/* Tensor t of a draw, at `where`. */
static NAME(weights)
    NAME(weights_at)(const xb_py_draw *d, const xb_stream *where, int64_t t)
{
    const xb_py_places *at = &d->at[t];
    return (NAME(weights)){.sampler = d->sampler,
                           .where = where,
                           .kl = d->kl,
                           .alone = d->alone,
                           .mu = (const REAL *)at->mu,
                           .width = (const REAL *)at->width,
                           .theta = (REAL *)at->theta,
                           .sums = d->sums,
                           .g = (const REAL *)at->g,
                           .g_mean = (const REAL *)at->g_mean,
                           .d_mu = (REAL *)at->d_mu,
                           .d_width = (REAL *)at->d_width,
                           .weight = d->weight,
                           .m = at->m,
                           .groups = d->groups,
                           .mean = d->mean};
}

/* Draws all tensors; returns the KL of all of them, 0 where it is not wanted. */
static double NAME(draw_fill)(const xb_py_draw *d)
{
    double sum = 0;
    for (int64_t t = 0; t < d->count; t++) {
        xb_stream where = d->where;
        where.tensor = (uint32_t)d->at[t].tensor;
        NAME(weights) w = NAME(weights_at)(d, &where, t);
        sum += NAME(weights_fill)(w.m < d->alone_below ? d->alone : d->ctx, &w);
    }
    return sum;
}

/* Gradients of all tensors. */
static void NAME(draw_back)(const xb_py_draw *d)
{
    for (int64_t t = 0; t < d->count; t++) {
        xb_stream where = d->where;
        where.tensor = (uint32_t)d->at[t].tensor;
        NAME(weights) w = NAME(weights_at)(d, &where, t);
        NAME(weights_back)(w.m < d->alone_below ? d->alone : d->ctx, &w);
    }
}
