/* device_step.cu: losses, checks and updates of a step; maths N13-N16, V2-V8. Each
 * block writes its sum, and the sums of the blocks are added, always in the same
 * order. */
#include <float.h>

#include "launch.cuh"

static const unsigned SUM_BLOCKS = 256;
static const double HALF_LOG_TWO_PI = 0.91893853320467274178;

/* Memory for the sums, allocated at the first use; its last number is the total. */
static double *sums(void)
{
    static double *room;
    if (!room) {
        room = (double *)xbc_take((SUM_BLOCKS + 1) * sizeof *room);
        if (!room) xbc_fail("no memory for sums");
    }
    return room;
}

static unsigned sum_blocks(int64_t n)
{
    unsigned blocks = blocks_for(n);
    return blocks < SUM_BLOCKS ? blocks : SUM_BLOCKS;
}

static __global__ void add_blocks(double *part, unsigned blocks)
{
    __shared__ double sum[THREADS];
    double all = block_sum(sum, threadIdx.x < blocks ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) part[SUM_BLOCKS] = all;
}

/* The total of the numbers that the blocks have written. */
static double total_of(unsigned blocks)
{
    double all = NAN;
    XBC_LAUNCH("adding", add_blocks, 1, THREADS, sums(), blocks);
    xbc_get(&all, sums() + SUM_BLOCKS, sizeof all);
    return all;
}

/* ---- losses: minus the log likelihood of each row; gradients are multiplied by
 * `scale` */

static __device__ __forceinline__ void set(float *to, int64_t i, double value)
{
    if (to) to[i] = (float)value;
}

static __device__ __forceinline__ float rounded(double value) { return (float)value; }

static __device__ double square_row(const xbc_loss &l, int64_t i)
{
    double e = (double)l.y[i] - (double)l.target[i];
    set(l.dy, i, (double)rounded(2 * e) * l.scale);
    return e * e; /* (N13) */
}

static __device__ double gaussian_row(const xbc_loss &l, int64_t i)
{
    double inverse = exp(-(double)*l.log_sd);
    int64_t at = i * l.outputs; /* the number of one of several targets that lie side
                                   by side */
    double e = ((double)l.y[at] - (double)l.target[at]) * inverse;
    set(l.dy, at, (double)rounded(e * inverse) * l.scale);
    return e * e; /* (N14), without its constant */
}

static __device__ double heteroscedastic_row(const xbc_loss &l, int64_t i)
{
    double raw = (double)l.raw[i], t = exp(-fabs(raw));
    double sd = l.least + log1p(t) + (raw > 0 ? raw : 0);
    double slope = (raw > 0 ? 1 : t) / (1 + t);
    double e = ((double)l.y[i] - (double)l.target[i]) / sd;
    set(l.dy, i, (double)rounded(e / sd) * l.scale);
    if (l.dy) set(l.d_raw, i, (double)rounded((1 - e * e) / sd * slope) * l.scale);
    return 0.5 * e * e + log(sd) + HALF_LOG_TWO_PI; /* (N15) */
}

static __device__ double softmax_row(const xbc_loss &l, int64_t i)
{
    const float *y = l.y + i * l.outputs;
    double top = (double)y[0], sum = 0;
    int32_t label = l.label[i];
    if (label < 0 || label >= l.outputs) return NAN;
    for (int64_t k = 1; k < l.outputs; k++) top = fmax(top, (double)y[k]);
    for (int64_t k = 0; k < l.outputs; k++) sum += exp((double)y[k] - top);
    double rest = log(sum);
    for (int64_t k = 0; l.dy && k < l.outputs; k++) {
        double d = exp((double)y[k] - top - rest) - (k == label);
        l.dy[i * l.outputs + k] = (float)((double)rounded(d) * l.scale);
    }
    return rest - ((double)y[label] - top); /* (N16) */
}

static __global__ void __launch_bounds__(THREADS) loss_rows(xbc_loss l, double *part)
{
    __shared__ double sum[THREADS];
    double mine = 0;
    for
        EACH(i, l.rows)
        {
            switch (l.kind) {
            case XBC_SQUARE: mine += square_row(l, i); break;
            case XBC_GAUSSIAN: mine += gaussian_row(l, i); break;
            case XBC_HETEROSCEDASTIC: mine += heteroscedastic_row(l, i); break;
            case XBC_SOFTMAX: mine += softmax_row(l, i); break;
            case XBC_ENERGY: break;
            }
        }
    double all = block_sum(sum, mine);
    if (threadIdx.x == 0) part[blockIdx.x] = all;
}

static __global__ void add_one(float *to, double value) { *to += (float)value; }

/* (N14) From the sum of residuals squared. */
static double gaussian_loss(const xbc_loss *l, double square)
{
    float log_sd = NAN;
    double rows = (double)l->rows;
    xbc_get(&log_sd, l->log_sd, sizeof log_sd);
    if (l->d_log_sd)
        XBC_LAUNCH("finding the loss", add_one, 1, 1, l->d_log_sd,
                   (rows - square) * l->scale);
    return 0.5 * square + rows * ((double)log_sd + HALF_LOG_TWO_PI);
}

double xbc_find_loss(const xbc_loss *l)
{
    unsigned blocks = sum_blocks(l->rows);
    if (!sums()) return NAN;
    XBC_LAUNCH("finding the loss", loss_rows, blocks, THREADS, *l, sums());
    double sum = total_of(blocks);
    return l->kind == XBC_GAUSSIAN ? gaussian_loss(l, sum) : sum;
}

/* ---- checks */

static __global__ void __launch_bounds__(THREADS)
    count_above(const float *x, int64_t n, float limit, double *part)
{
    __shared__ double sum[THREADS];
    double mine = 0;
    for
        EACH(i, n) mine += !(fabsf(x[i]) < limit);
    double all = block_sum(sum, mine);
    if (threadIdx.x == 0) part[blockIdx.x] = all;
}

bool xbc_all_below(const float *x, int64_t n, float limit)
{
    unsigned blocks = sum_blocks(n);
    if (!sums()) return false;
    XBC_LAUNCH("checking numbers", count_above, blocks, THREADS, x, n, limit, sums());
    return total_of(blocks) == 0;
}

/* ---- updates */

static __device__ __forceinline__ float sigma_of(float rho)
{
    float s = expf(rho);
    return s > FLT_MIN ? s : FLT_MIN; /* a NaN is not below either */
}

static __global__ void adam(xbc_adam a)
{
    for
        EACH(i, a.n)
        { /* (V7) */
            float g = a.gradient[i];
            float m = fmaf(a.beta1, a.first[i], a.rest1 * g);
            float v = fmaf(a.beta2, a.second[i], a.rest2 * (g * g));
            float p = a.parameter[i] - a.rate * m / (sqrtf(v) + a.epsilon);
            a.first[i] = m, a.second[i] = v, a.parameter[i] = p;
            if (a.sigma) a.sigma[i] = sigma_of(p);
        }
}

void xbc_adam_step(const xbc_adam *job)
{
    XBC_LAUNCH("updating", adam, blocks_for(job->n), THREADS, *job);
}

static __global__ void spread_fill(float *sigma, const float *rho, int64_t n,
                                   bool exponential)
{
    for
        EACH(i, n)
        { /* (V8) */
            float r = rho[i], soft = (r > 0 ? r : 0) + log1pf(expf(-fabsf(r)));
            sigma[i] = exponential ? sigma_of(r) : soft > FLT_MIN ? soft : FLT_MIN;
        }
}

void xbc_spread_fill(float *sigma, const float *rho, int64_t n, bool exponential)
{
    XBC_LAUNCH("updating", spread_fill, blocks_for(n), THREADS, sigma, rho, n,
               exponential);
}

static __global__ void spread_chain(float *gradient, const float *sigma, int64_t n,
                                    bool exponential)
{
    for
        EACH(i, n) gradient[i] *= exponential ? sigma[i] : -expm1f(-sigma[i]);
}

void xbc_spread_chain(float *gradient, const float *sigma, int64_t n, bool exponential)
{
    XBC_LAUNCH("updating", spread_chain, blocks_for(n), THREADS, gradient, sigma, n,
               exponential);
}

/* (V3) precision / 2 (sigma^2 + (mu - mean)^2) - log sigma; its gradients are added.
 * With rho, the gradient with respect to sigma becomes that with respect to rho, and
 * log sigma is rho unless sigma is at its lower limit. */
static __device__ __forceinline__ double kl_of(const xbc_kl &k, int64_t i)
{
    float scaled = (float)(k.weight * k.precision), weight = (float)k.weight;
    float s = k.sigma[i], d = k.mu[i] - (float)k.mean;
    if (k.grad_mu) k.grad_mu[i] = fmaf(scaled, d, k.grad_mu[i]);
    if (k.grad_sigma && k.rho)
        k.grad_sigma[i] = fmaf(fmaf(scaled, s, k.grad_sigma[i]), s, -weight);
    else if (k.grad_sigma)
        k.grad_sigma[i] += scaled * s - weight / s;
    double m = (double)k.mu[i] - k.mean, square = (double)s * (double)s + m * m;
    return 0.5 * k.precision * square - log((double)s);
}

static __global__ void __launch_bounds__(THREADS) kl_blocks(xbc_kl k, double *part)
{
    __shared__ double sum[THREADS];
    double mine = 0;
    for
        EACH(i, k.n) mine += kl_of(k, i);
    double all = block_sum(sum, mine);
    if (threadIdx.x == 0) part[blockIdx.x] = all;
}

/* (V2) The same for a prior that has tables; the CPU uses xb_cross_add() as well. */
static __global__ void __launch_bounds__(THREADS)
    cross_blocks(xbc_kl k, xb_cross cross, double *part)
{
    __shared__ double sum[THREADS];
    double mine = 0;
    for
        EACH(i, k.n)
        mine += xb_cross_add(&cross, k.grad_mu ? k.grad_mu + i : NULL,
                             k.grad_mu ? k.grad_sigma + i : NULL, k.mu[i], k.sigma[i],
                             k.weight);
    double all = block_sum(sum, mine);
    if (threadIdx.x == 0) part[blockIdx.x] = all;
}

double xbc_find_kl(const xbc_kl *job)
{
    unsigned blocks = sum_blocks(job->n);
    if (!sums()) return NAN;
    if (job->cross)
        XBC_LAUNCH("finding the KL", cross_blocks, blocks, THREADS, *job, *job->cross,
                   sums());
    else
        XBC_LAUNCH("finding the KL", kl_blocks, blocks, THREADS, *job, sums());
    return total_of(blocks);
}
