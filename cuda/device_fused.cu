/* device_fused.cu: a dense layer whose every example has its own draw, without the draws
 * ever being in memory: y [row] = x [row] (mu + sigma z [row]); maths N1, N9.
 *
 * A block has 64 outputs, ROWS examples and a slice of the inputs. A thread has one of 16
 * lanes and one of 16 inputs at a time: the four words of its counter are four outputs 16
 * apart. mu and sigma are loaded once for ROWS draws. Sums over threads, then over
 * slices, in a fixed order. */
#include "table.cuh"

#if !defined(XBC_FUSED_BLOCKS)
#define XBC_FUSED_BLOCKS 3 /* on a multiprocessor at once */
#endif

enum { LANES = 16, WIDTH = 64, INPUTS = THREADS / LANES, ROWS_MOST = 4 };
enum { BLOCKS_WANTED = 2048, SLICE_LEAST = 4 * INPUTS };

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int rows_together(int64_t rows) { return rows < ROWS_MOST ? 1 : ROWS_MOST; }

/* Parts the inputs are cut into: by sizes alone. */
static int64_t slices_of(int64_t rows, int64_t in, int64_t out)
{
    int64_t blocks = out / WIDTH * quotient_up(rows, rows_together(rows));
    int64_t wanted = quotient_up(BLOCKS_WANTED, blocks), most = in / SLICE_LEAST;
    return wanted < 1 || most < 1 ? 1 : wanted < most ? wanted : most;
}

/* For these rows and any fewer: no more than BLOCKS_WANTED blocks of ROWS_MOST rows, and
 * a slice of all rows. */
int64_t xbc_fused_room(int64_t rows, int64_t in, int64_t out)
{
    (void)in;
    int64_t blocks = quotient_up(BLOCKS_WANTED, out / WIDTH > 0 ? out / WIDTH : 1);
    return (ROWS_MOST * blocks + rows) * out;
}

/* A block's place: its outputs, rows and inputs. */
template <int ROWS> struct place {
    int lane, mine, begin, end;
    int64_t row0, at; /* at: its first weight */

    __device__ __forceinline__ place(const xbc_fused &job, int64_t slices)
    {
        lane = (int)threadIdx.x % LANES, mine = (int)threadIdx.x / LANES;
        begin = (int)(blockIdx.z * job.in / slices) + mine;
        end = (int)((blockIdx.z + 1) * job.in / slices);
        row0 = (int64_t)blockIdx.y * ROWS;
        at = (int64_t)begin * job.out + blockIdx.x * WIDTH + lane;
    }
    /* Rows beyond the last repeat it, and are left out. */
    __device__ __forceinline__ const float *x(const xbc_fused &job, int r) const
    {
        return job.x + (row0 + r < job.rows ? row0 + r : job.rows - 1) * job.in;
    }
};

/* The draws of one input for one row: four outputs' sums go on. Slow ones count as 0 and
 * are noted. */
template <class S>
static __device__ __forceinline__ void use_draws(float sum[4], const xbc_fused &job,
                                                 const float *table, late_draws *late,
                                                 int *waiting, uint32_t counter, int tag,
                                                 float x, const float mu[4],
                                                 const float sigma[4])
{
    uint32_t word[4];
    float z[4];
    xb_stream_counter_words(word, &job.where, counter);
    XB_UNROLLED
    for (int j = 0; j < 4; j++) z[j] = fast_value<S>(table, word[j]);
    float any = (z[0] + z[1]) + (z[2] + z[3]);
    if (any != any) { /* a slow cell among them */
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            if (z[j] == z[j]) continue;
            bool later = put_late(late, waiting, word[j], (uint32_t)(tag * 4 + j));
            z[j] = later ? 0 : slow_value(job.source.at, word[j]);
        }
    }
    XB_UNROLLED
    for (int j = 0; j < 4; j++) sum[j] = fmaf(x, fmaf(sigma[j], z[j], mu[j]), sum[j]);
}

template <class S, int ROWS>
static __global__ void __launch_bounds__(THREADS, XBC_FUSED_BLOCKS)
    fused_slice(xbc_fused job, float *part, int64_t slices)
{
    const int SUMS = INPUTS * ROWS * WIDTH, ROOM = S::floats > SUMS ? S::floats : SUMS;
    __shared__ __align__(16) float table[ROOM]; /* then the sums */
    __shared__ late_draws late;
    float(*sums)[ROWS * WIDTH] = (float(*)[ROWS * WIDTH])(void *)table;
    table_load<S>(table, job.source.at);
    const place<ROWS> here(job, slices);
    const int64_t blocks = job.out / WIDTH;
    const float turn = job.negate ? -1.0f : 1.0f;
    const uint32_t row_step = (uint32_t)(job.in * blocks * LANES);
    uint32_t counter = (uint32_t)((job.first / WIDTH + here.row0 * job.in * blocks +
                                   here.begin * blocks + blockIdx.x) *
                                      LANES +
                                  here.lane);
    const float *mu_at = job.mu + here.at, *sigma_at = job.sigma + here.at;
    float sum[ROWS][4] = {};
    int waiting = 0;
    for (int k = here.begin; k < here.end; k += INPUTS) {
        float mu[4], sigma[4];
        XB_UNROLLED
        for (int j = 0; j < 4; j++)
            mu[j] = mu_at[LANES * j], sigma[j] = turn * sigma_at[LANES * j];
        XB_UNROLLED
        for (int r = 0; r < ROWS; r++)
            use_draws<S>(sum[r], job, table, &late, &waiting,
                         counter + (uint32_t)r * row_step, k * ROWS + r,
                         here.x(job, r)[k], mu, sigma);
        counter += (uint32_t)(INPUTS * blocks * LANES);
        mu_at += INPUTS * job.out, sigma_at += INPUTS * job.out;
    }
    __syncthreads(); /* the table is not needed any more */
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++) XB_UNROLLED
    for (int j = 0; j < 4; j++)
        sums[here.mine][r * WIDTH + LANES * j + here.lane] = sum[r][j];
    for (int i = 0; i < waiting; i++) { /* into its own sums */
        int tag = (int)late.place[i][threadIdx.x], j = tag % 4, r = tag / 4 % ROWS;
        int k = tag / 4 / ROWS, output = LANES * j + here.lane;
        float z = slow_value(job.source.at, late.word[i][threadIdx.x]);
        float s = turn * job.sigma[(int64_t)k * job.out + blockIdx.x * WIDTH + output];
        sums[here.mine][r * WIDTH + output] += here.x(job, r)[k] * s * z;
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < ROWS * WIDTH; i += THREADS) {
        float all = 0;
        for (int n = 0; n < INPUTS; n++) all += sums[n][i];
        int64_t row = here.row0 + i / WIDTH;
        if (row < job.rows)
            part[(blockIdx.z * job.rows + row) * job.out + blockIdx.x * WIDTH +
                 i % WIDTH] = all;
    }
}

static __global__ void add_slices(float *y, const float *part, const float *bias,
                                  int64_t n, int64_t slices)
{
    for
        EACH(i, n)
        {
            float sum = bias ? bias[i] : 0;
            for (int64_t s = 0; s < slices; s++) sum += part[s * n + i];
            y[i] = sum;
        }
}

template <class S, int ROWS> static void launch_rows(const xbc_fused *job, int64_t slices)
{
    int64_t groups = quotient_up(job->rows, ROWS);
    XBC_LAUNCH("multiplying draws", (fused_slice<S, ROWS>),
               dim3((unsigned)(job->out / WIDTH), (unsigned)groups, (unsigned)slices),
               THREADS, *job, job->room, slices);
}

/* Rows go by as many as a grid has room for. */
static void fused_rows(const xbc_fused *job)
{
    int64_t slices = slices_of(job->rows, job->in, job->out), n = job->rows * job->out;
    for_shape(job->source, [&](auto shape) {
        if (rows_together(job->rows) == 1)
            launch_rows<decltype(shape), 1>(job, slices);
        else
            launch_rows<decltype(shape), ROWS_MOST>(job, slices);
    });
    XBC_LAUNCH("multiplying draws", add_slices, blocks_for(n), THREADS, job->y,
               (const float *)job->room, job->bias, n, slices);
}

void xbc_fused_forward(const xbc_fused *job)
{
    const int64_t SOME = 1 << 15; /* a multiple of ROWS_MOST */
    for (int64_t row = 0; row < job->rows; row += SOME) {
        xbc_fused some = *job;
        some.rows = job->rows - row < SOME ? job->rows - row : SOME;
        some.first = job->first + row * job->in * job->out;
        some.x = job->x + row * job->in, some.y = job->y + row * job->out;
        if (job->bias) some.bias = job->bias + row * job->out;
        fused_rows(&some);
    }
}
