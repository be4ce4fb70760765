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
    const xb_prior *prior;  /* its prior */
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

typedef REAL NAME(lanes) __attribute__((vector_size(XB_PY_LANES * sizeof(REAL))));

/* Adds sigma^2 + (mu - mean)^2 and log sigma of XB_PY_LANES weights. */
static inline void NAME(normal_add)(NAME(lanes) sum[2], const REAL *mu, const REAL *width,
                                    const REAL *sigma, REAL mean)
{
    NAME(lanes) m, w, s;
    memcpy(&m, mu, sizeof m);
    memcpy(&w, width, sizeof w);
    memcpy(&s, sigma, sizeof s);
    m -= mean;
    sum[0] += s * s + m * m;
    sum[1] += w;
}

/* (V3) The KL of n weights to a normal prior without what xb_py_normal_constant() gives:
 * log sigma is what width holds. Lanes add up XB_PY_SWEEP weights before they are added
 * in double; weights that are left at the end are added one by one. */
XB_PY_WIDE static double NAME(normal_sum)(const REAL *mu, const REAL *width,
                                          const REAL *sigma, int64_t n,
                                          const xb_prior *prior)
{
    const REAL mean = (REAL)prior->mean;
    double square = 0, logs = 0;
    int64_t i = 0;
    while (i + XB_PY_LANES <= n) {
        NAME(lanes) sum[2] = {{0}, {0}};
        for (int k = 0; k < XB_PY_SWEEP && i + XB_PY_LANES <= n; k++, i += XB_PY_LANES)
            NAME(normal_add)(sum, mu + i, width + i, sigma + i, mean);
        for (int l = 0; l < XB_PY_LANES; l++)
            square += (double)sum[0][l], logs += (double)sum[1][l];
    }
    for (; i < n; i++) {
        const double s = (double)sigma[i], m = (double)(mu[i] - mean);
        square += s * s + m * m, logs += (double)width[i];
    }
    return 0.5 / (prior->sd * prior->sd) * square - logs;
}

/* `weight` times its gradient by mu and log sigma. */
XB_PY_WIDE static void NAME(normal_gradient)(REAL *restrict d_mu, REAL *restrict d_width,
                                             const REAL *mu, const REAL *sigma, int64_t n,
                                             const xb_prior *prior, double weight)
{
    const REAL mean = (REAL)prior->mean, one = (REAL)weight;
    const REAL scaled = (REAL)(weight / (prior->sd * prior->sd));
    for (int64_t i = 0; i < n; i++) {
        d_mu[i] = scaled * (mu[i] - mean);
        d_width[i] = scaled * sigma[i] * sigma[i] - one;
    }
}

/* theta = mu + sigma z, or sigma z without mu. */
XB_PY_WIDE static void NAME(mix)(REAL *restrict theta, const REAL *mu, const REAL *sigma,
                                 const float *z, int64_t n)
{
    if (mu)
        for (int64_t i = 0; i < n; i++) theta[i] = mu[i] + sigma[i] * (REAL)z[i];
    else
        for (int64_t i = 0; i < n; i++) theta[i] = sigma[i] * (REAL)z[i];
}

/* theta_g = mu + sigma z_g of n weights that fit into the first cache; returns their KL.
 */
static double NAME(weights_strip)(const NAME(weights) * w, int64_t from, int64_t n)
{
    const REAL *mu = w->mu + from;
    REAL sigma[XB_PY_STRIP];
    float z[XB_PY_STRIP];
    NAME(sigma)(w->alone, sigma, w->width + from, n);
    for (int64_t g = 0; w->theta && g < w->groups; g++) {
        xb_sampler_fill(w->sampler, z, n, w->where, g * w->m + from);
        NAME(mix)(w->theta + g * w->m + from, w->mean ? mu : NULL, sigma, z, n);
    }
    if (!w->kl) return 0;
    return w->prior->kind == XB_PRIOR_NORMAL
               ? NAME(normal_sum)(mu, w->width + from, sigma, n, w->prior)
               : NAME(kl)(w->alone, w->kl, NULL, NULL, mu, sigma, n, 0);
}

static void NAME(weights_block)(void *arg, int64_t piece)
{
    const NAME(weights) *w = arg;
    const int64_t begin = piece * XB_PY_BLOCK;
    const int64_t end = w->m - begin < XB_PY_BLOCK ? w->m : begin + XB_PY_BLOCK;
    double sum = 0;
    for (int64_t from = begin; from < end; from += XB_PY_STRIP)
        sum += NAME(weights_strip)(w, from,
                                   end - from < XB_PY_STRIP ? end - from : XB_PY_STRIP);
    if (w->kl) w->sums[piece] = sum;
}

/* `weight` times the KL's gradient, 0 where it is not wanted. */
static void NAME(weights_back_kl)(const NAME(weights) * w, REAL *d_mu, REAL *d_width,
                                  int64_t from, int64_t n)
{
    const REAL *mu = w->mu + from;
    REAL sigma[XB_PY_STRIP];
    if (w->kl) NAME(sigma)(w->alone, sigma, w->width + from, n);
    if (w->kl && w->prior->kind == XB_PRIOR_NORMAL) {
        NAME(normal_gradient)(d_mu, d_width, mu, sigma, n, w->prior, w->weight);
        return;
    }
    for (int64_t i = 0; i < n; i++) d_mu[i] = d_width[i] = 0;
    if (!w->kl) return;
    NAME(kl)(w->alone, w->kl, d_mu, d_width, mu, sigma, n, w->weight);
    for (int64_t i = 0; i < n; i++) d_width[i] *= sigma[i];
}

/* d_mu += g, d_width += g (theta - mu), or d_width += g theta without mu. sigma z is
 * theta - mu, the noise that the forward pass saw: it differs from the draw by the
 * rounding of theta, and theta is kept for the product's own gradient anyway. */
XB_PY_WIDE static void NAME(unmix)(REAL *restrict d_mu, REAL *restrict d_width,
                                   const REAL *mu, const REAL *theta, const REAL *g,
                                   int64_t n)
{
    if (mu)
        for (int64_t i = 0; i < n; i++) {
            d_mu[i] += g[i];
            d_width[i] += g[i] * (theta[i] - mu[i]);
        }
    else
        for (int64_t i = 0; i < n; i++) d_width[i] += g[i] * theta[i];
}

XB_PY_WIDE static void NAME(plus)(REAL *restrict sum, const REAL *g, int64_t n)
{
    for (int64_t i = 0; i < n; i++) sum[i] += g[i];
}

/* The gradient by n parameters: that of the KL, then d_mu += sum of g_g (g_mean without
 * the means), d_width += sum of g_g sigma z_g. It is put together in the first cache and
 * not in its place, because g may be there. */
static void NAME(weights_back_strip)(const NAME(weights) * w, int64_t from, int64_t n)
{
    const size_t bytes = (size_t)n * sizeof(REAL);
    REAL d_mu[XB_PY_STRIP], d_width[XB_PY_STRIP];
    NAME(weights_back_kl)(w, d_mu, d_width, from, n);
    if (w->g_mean) NAME(plus)(d_mu, w->g_mean + from, n);
    for (int64_t g = 0; w->g && g < w->groups; g++) NAME(unmix)
    (d_mu, d_width, w->mean ? w->mu + from : NULL, w->theta + g * w->m + from,
     w->g + g * w->m + from, n);
    memcpy(w->d_mu + from, d_mu, bytes);
    memcpy(w->d_width + from, d_width, bytes);
}

static void NAME(weights_back_block)(void *arg, int64_t piece)
{
    const NAME(weights) *w = arg;
    const int64_t begin = piece * XB_PY_BLOCK;
    const int64_t end = w->m - begin < XB_PY_BLOCK ? w->m : begin + XB_PY_BLOCK;
    for (int64_t from = begin; from < end; from += XB_PY_STRIP) NAME(weights_back_strip)
    (w, from, end - from < XB_PY_STRIP ? end - from : XB_PY_STRIP);
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
    if (w->kl) sum += (double)w->m * xb_py_normal_constant(w->kl, w->prior);
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
                           .prior = d->prior,
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
