/* steps_update.cuh: losses and updates of a net that trains inside one block; maths
 * N13, N14, N16, V2-V8. Each thread has a sum, and these are added in the order of the
 * threads' numbers. */
#ifndef XBC_STEPS_UPDATE_CUH
#define XBC_STEPS_UPDATE_CUH

#include <float.h>

#include "kernel/energy_kernel.h"
#include "steps_pass.cuh"

/* What a block's threads share beside the room. */
struct step_shared {
    double lane[XBC_STEP_SUMS][STEP_LANES]; /* of the rows' sums */
    double value[XBC_STEP_SUMS];            /* the loss's shares */
    double kl[STEP_THREADS], kl_lane[STEP_LANES];
    float noise[XBC_STEP_SUMS], first[XBC_STEP_SUMS], second[XBC_STEP_SUMS];
    float gradient[XBC_STEP_SUMS];
    double inverse[XBC_STEP_SUMS]; /* 1 / sd */
    xb_energy_table energy;
};

/* ---- losses: one thread for each row */

static __device__ __forceinline__ double square_of(float y, float target, double inverse,
                                                   double scale, double factor, float *dy)
{
    const double e = ((double)y - (double)target) * inverse;
    *dy = (float)((double)(float)(factor * e * inverse) * scale);
    return e * e;
}

static __device__ __forceinline__ double softmax_of(float *dy, const float *y, int outputs,
                                                    int label, double scale)
{
    double top = (double)y[0], sum = 0;
    if (label < 0 || label >= outputs) return NAN;
    for (int k = 1; k < outputs; k++) top = fmax(top, (double)y[k]);
    for (int k = 0; k < outputs; k++) sum += exp((double)y[k] - top);
    const double rest = log(sum);
    for (int k = 0; k < outputs; k++) {
        const double d = exp((double)y[k] - top - rest) - (k == label);
        dy[k] = (float)((double)(float)d * scale);
    }
    return rest - ((double)y[label] - top); /* (N16) */
}

/* (N13, N14) Sums of squares, separate for each target if each has a noise of its own. */
static __device__ __forceinline__ void squares_row(const xbc_steps &job, const step_room &r,
                                                   const step_shared *s, float *dy,
                                                   const float *y, const float *target,
                                                   int row, double scale)
{
    const bool gaussian = job.loss == XBC_GAUSSIAN;
    double all = 0;
    for (int k = 0; k < job.outputs; k++) {
        const double inverse = gaussian ? s->inverse[k] : 1;
        const double square =
            square_of(y[k], target[k], inverse, scale, gaussian ? 1 : 2, &dy[k]);
        if (gaussian) r.row_sum[k * job.batch + row] = square;
        all += square;
    }
    if (!gaussian) r.row_sum[row] = all;
}

/* (G1) One output's share of the energy distance. */
static __device__ __forceinline__ double energy_of(const xbc_steps &job, const step_room &r,
                                                   const step_shared *s, float *dy, int row,
                                                   int rows)
{
    const xbc_step_link &k = job.link[job.links - 1];
    const float *f = r.y + k.y, mine = f[row * k.outp];
    float apart = 0, pull = 0;
    for (int j = 0; j < rows; j++) {
        const float d = mine - f[j * k.outp], size = fabsf(d), root = sqrtf(size);
        apart += size * root;
        pull += copysignf(root, d);
    }
    const double n = rows, per_pair = 2 / (n * (n - 1));
    double slope;
    const double mean = xb_energy_mean_distance(&s->energy, (double)mine, &slope);
    *dy = (float)(2 / n * slope - per_pair * XB_ENERGY_EXPONENT * (double)pull);
    return 2 / n * mean - 0.5 * per_pair * (double)apart;
}

static __device__ __forceinline__ void fill_energy(const xbc_steps &job, step_shared *s)
{
    const int i = (int)threadIdx.x;
    if (job.loss == XBC_ENERGY && i < XB_ENERGY_NODES)
        xb_energy_taylor(s->energy.at[i], i * XB_ENERGY_SPACING);
}

static __device__ __forceinline__ int label_in(const float *p)
{
    return *(const int32_t *)(const void *)p;
}

/* Computes dy of all rows, times the slope of an activation after the last link, and
 * the sums of the loss. */
static __device__ __forceinline__ void find_loss(const xbc_steps &job, const step_room &r,
                                                 const step_shared *s, const xbc_step &step,
                                                 int turn)
{
    const xbc_step_link &k = job.link[job.links - 1];
    const float *target = r.target + turn * job.batch * job.targets;
    for (int row = (int)threadIdx.x; row < step.rows; row += STEP_THREADS) {
        const float *y = r.y + k.y + row * k.outp;
        float *dy = r.gradient + row * k.outp;
        if (job.loss == XBC_ENERGY)
            r.row_sum[row] = energy_of(job, r, s, dy, row, step.rows);
        else if (job.loss == XBC_SOFTMAX)
            r.row_sum[row] = softmax_of(dy, y, job.outputs, label_in(target + row), step.scale);
        else
            squares_row(job, r, s, dy, y, target + row * job.targets, row, step.scale);
        for (int o = 0; o < k.outp; o++)
            dy[o] = o < k.out ? dy[o] * slope_at(y[o], k.slope) : 0;
    }
}

/* 32 threads for each sum k: each adds rows lane, lane + 32, ... */
static __device__ __forceinline__ void add_rows(const xbc_steps &job, const step_room &r,
                                                step_shared *s, int rows, int k, int lane)
{
    if (k >= job.sums_each) return;
    double sum = 0;
    for (int row = lane; row < rows; row += STEP_LANES) sum += r.row_sum[k * job.batch + row];
    s->lane[k][lane] = sum;
}

static __device__ __forceinline__ double lanes_sum(const double *lane)
{
    double sum[4] = {}; /* independent sums: none waits for the one before */
    XB_UNROLLED
    for (int i = 0; i < STEP_LANES; i++) sum[i % 4] += lane[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* (N14) One thread for each sum k; returns whether the sum is not finite. */
static __device__ __forceinline__ bool find_sums(const xbc_steps &job, step_shared *s,
                                                 const xbc_step &step, int k)
{
    const double HALF_LOG_TWO_PI = 0.91893853320467274178;
    if (k >= job.sums_each) return false;
    const double sum = lanes_sum(s->lane[k]), rows = step.rows;
    s->value[k] = job.loss == XBC_GAUSSIAN
                      ? 0.5 * sum + rows * ((double)s->noise[k] + HALF_LOG_TWO_PI)
                      : sum;
    s->gradient[k] = (float)((rows - sum) * step.scale);
    return !(fabs(s->value[k]) < INFINITY) || !(fabsf(s->gradient[k]) < 0x1p64f);
}

/* ---- gradients, checked */

static __device__ __forceinline__ float least_sigma(float rho)
{
    const float s = expf(rho);
    return s > FLT_MIN ? s : FLT_MIN; /* true for a NaN as well */
}

/* (V3) The KL of one weight; its gradients are added, and the gradient with respect to
 * sigma is turned into that with respect to rho. */
static __device__ __forceinline__ double add_kl(const xbc_steps &job,
                                                const xbc_step_tensor &t, float *by_mu,
                                                float *by_sigma, float mu, float sigma,
                                                float rho)
{
    const float scaled = (float)(job.kl_weight * t.precision), weight = (float)job.kl_weight;
    *by_mu = fmaf(scaled, mu - (float)t.mean, *by_mu);
    *by_sigma = fmaf(fmaf(scaled, sigma, *by_sigma), sigma, -weight);
    const double m = (double)mu - t.mean, s = (double)sigma;
    return 0.5 * t.precision * (s * s + m * m) -
           (sigma > FLT_MIN ? (double)rho : log((double)sigma));
}

/* (N8, N11, V2) Adds all gradients to the first slice and returns whether one is not
 * finite. The sum of a thread's KLs goes to s->kl. */
template <bool LOCAL>
static __device__ __forceinline__ bool find_gradients(const xbc_steps &job,
                                                      const step_room &r, step_shared *s,
                                                      const float *z)
{
    const int w = job.weights;
    bool bad = false;
    double kl = 0;
    for (int i = (int)threadIdx.x; i < w; i += STEP_THREADS) {
        const uint8_t place = r.place[i];
        if (!(place & PLACE_REAL)) continue;
        float by_mu = 0, by_sigma = 0;
        XB_BY_FOUR
        for (int p = 0; p < job.slices; p++) {
            by_mu += r.part[2 * w * p + i];
            if (LOCAL) by_sigma += r.part[2 * w * p + w + i];
        }
        if (place & PLACE_RANDOM) {
            const int tensor = place >> PLACE_TENSOR;
            by_sigma = LOCAL ? by_sigma * r.sigma[i] : by_mu * z[i];
            kl += add_kl(job, link_at(job, tensor).tensor[tensor % 2], &by_mu, &by_sigma,
                         r.mu[i], r.sigma[i], r.rho[i]);
        }
        bad |= !(fabsf(by_mu) < 0x1p64f) || !(fabsf(by_sigma) < 0x1p64f);
        r.part[i] = by_mu, r.part[w + i] = by_sigma;
    }
    s->kl[threadIdx.x] = kl;
    return bad || !(fabs(kl) < INFINITY);
}

static __device__ __forceinline__ void add_threads(step_shared *s)
{
    if (threadIdx.x >= STEP_LANES) return;
    double sum = 0;
    for (int i = (int)threadIdx.x; i < STEP_THREADS; i += STEP_LANES) sum += s->kl[i];
    s->kl_lane[threadIdx.x] = sum;
}

/* ---- Adam */

/* (V7) */
static __device__ __forceinline__ float adam_of(const xbc_steps &job, float p, float *first,
                                                float *second, float g, float rate)
{
    const float m = fmaf(job.beta1, *first, job.rest1 * g);
    const float v = fmaf(job.beta2, *second, job.rest2 * (g * g));
    *first = m, *second = v;
    return p - rate * m / (sqrtf(v) + job.epsilon);
}

/* Updates the parameters, then makes the weights of the next step from its draws `z`;
 * NULL: there are none. */
template <bool LOCAL>
static __device__ __forceinline__ void update_weights(const xbc_steps &job,
                                                      const step_room &r,
                                                      const xbc_step &step, const float *z)
{
    const int w = job.weights;
    for (int i = (int)threadIdx.x; i < w; i += STEP_THREADS) {
        const uint8_t place = r.place[i];
        if (!(place & PLACE_REAL)) continue;
        float mu = r.mu[i], sigma = r.sigma[i];
        if (place & PLACE_MOVES) {
            mu = r.mu[i] = adam_of(job, mu, &r.first[i], &r.second[i], r.part[i], step.rate);
            if (place & PLACE_RANDOM) {
                const float rho = adam_of(job, r.rho[i], &r.first[w + i], &r.second[w + i],
                                          r.part[w + i], step.sigma_rate);
                r.rho[i] = rho, r.sigma[i] = sigma = least_sigma(rho);
            }
        }
        put_weight<LOCAL>(job, r, i, !LOCAL && z ? mu + sigma * z[i] : mu, sigma);
    }
}

/* ---- the noise: one thread for each target k */

static __device__ __forceinline__ void update_noise(const xbc_steps &job, step_shared *s,
                                                    const xbc_step &step, int k)
{
    if (k >= job.noises) return;
    s->noise[k] = adam_of(job, s->noise[k], &s->first[k], &s->second[k], s->gradient[k],
                          step.rate);
    s->inverse[k] = exp(-(double)s->noise[k]);
}

static __device__ __forceinline__ void load_noise(const xbc_steps &job, step_shared *s)
{
    const int k = (int)threadIdx.x;
    if (k >= job.noises) return;
    s->noise[k] = job.theta[job.noise + k];
    s->first[k] = job.first[job.noise + k], s->second[k] = job.second[job.noise + k];
    s->inverse[k] = exp(-(double)s->noise[k]);
}

static __device__ __forceinline__ void store_noise(const xbc_steps &job,
                                                   const step_shared *s)
{
    const int k = (int)threadIdx.x;
    if (k >= job.noises) return;
    job.theta[job.noise + k] = s->noise[k];
    job.first[job.noise + k] = s->first[k], job.second[job.noise + k] = s->second[k];
}

#endif
