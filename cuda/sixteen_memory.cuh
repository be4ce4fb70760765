/* sixteen_memory.cuh: what a block of device_sixteen.cu has in shared memory, where its
 * warps and threads have their share, and how weights and inputs come there. */
#ifndef XBC_SIXTEEN_MEMORY_CUH
#define XBC_SIXTEEN_MEMORY_CUH

#include "grouped.cuh"
#include "hopper.cuh"
#include "table.cuh"
#include "tensor.cuh"

enum { WIDTH = 64, LANES = 16, WORDS = 4, WARPS = 20, ALL = 32 * WARPS };
enum { ROWS = XBC_SIXTEEN, HALF = STEP / 2, PAIR = 2 };
enum { CHUNK = 64 };           /* steps of x in shared memory at once */
enum { PLACES = 64 };          /* pairs of counters of a warp and a step */
enum { NOTES = XBC_LATE(24) }; /* of a warp; the rest is found again */

/* A block's outputs are one or two panels of 64. */
template <int PANELS> struct panels {
    static const int outputs = PANELS * WIDTH, blocks = outputs / BOX_LINE,
                     across = 2 * PANELS, /* warps of a step */
        turns = WARPS / across;           /* steps at once */
};

/* mu and sigma of half a step, which the warps of a step share. */
template <int PANELS> struct weight_stage {
    float mu[panels<PANELS>::blocks * BOX_FLOATS],
        sigma[panels<PANELS>::blocks * BOX_FLOATS];
};

template <class S, int PANELS> struct sixteen_memory {
    typedef panels<PANELS> P;
    union {
        weight_stage<PANELS> stage[P::turns][2];
        struct {
            float sum[P::turns][ROWS][P::outputs + 8]; /* rows are in different banks */
            float4 part[WARPS][NOTES][PAIR]; /* what a note adds to its weights */
        } end;
    } room;
    float table[S::floats];
    near_pieces<S> near;
    uint4 x[CHUNK][2][32]; /* hi, lo */
    phase_barrier full[P::turns][2], empty[P::turns][2];
    uint32_t note[WARPS][NOTES];  /* number of the warp's step * PLACES + place */
    uint16_t list[WARPS * NOTES]; /* all notes, as warp * NOTES + number */
    uint32_t count, more, last;
};

/* ---- places */

static __device__ __forceinline__ int lane_of(void) { return (int)threadIdx.x % 32; }
#if defined(XB_EMULATED)
static int warp_of(void) { return (int)threadIdx.x / 32; }
#else
/* The compiler learns that it is the same for all threads of a warp. */
static __device__ __forceinline__ int warp_of(void)
{
    return __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
}
#endif

/* A place in a step is one of a warp's pairs of counters, thread + 32 half: its first
 * input, one before the second one, and its lane, counted from those of the warp. */
static __device__ __forceinline__ int input_at(uint32_t place)
{
    return (int)(place % 4 * 2 + place / 32 * HALF);
}
static __device__ __forceinline__ int lane_at(uint32_t place)
{
    return (int)(place % 32 / 4);
}

template <int PANELS> struct sixteen_place : group_slice {
    typedef panels<PANELS> P;
    static const int panel_count = PANELS;
    int warp;
    uint32_t number, input_counters; /* the counter of input 0 and lane 0; the distance
                                        from one input to the next */

    __device__ __forceinline__ sixteen_place(const xbc_grouped &job, int64_t slices)
        : group_slice(job, slices), warp(warp_of())
    {
        const int64_t wide = job.out / WIDTH;
        input_counters = (uint32_t)(wide * LANES);
        number = (uint32_t)((job.first / WIDTH + blockIdx.y * job.in * wide +
                             PANELS * blockIdx.x) *
                            LANES);
    }
    /* The first lane of a warp, counted through the block's panels. */
    __device__ __forceinline__ int lane0(int warp) const { return warp % P::across * 8; }
    __device__ __forceinline__ int step(int warp, uint32_t turn) const
    {
        return begin + warp / P::across + (int)turn * P::turns;
    }
    /* The first of the four outputs of a lane. */
    __device__ __forceinline__ int output(int lane) const
    {
        return lane / LANES * WIDTH + lane % LANES;
    }
    __device__ __forceinline__ uint32_t counter(int input, int lane) const
    {
        return number + (uint32_t)input * input_counters + (uint32_t)lane;
    }
    __device__ __forceinline__ int input_of(int warp, uint32_t note) const
    {
        return step(warp, note / PLACES) * STEP + input_at(note % PLACES);
    }
};

/* ---- memory */

template <class M> static __device__ __forceinline__ void start_barriers(M *m)
{
    for (int t = 0; t < M::P::turns; t++)
        for (int p = 0; p < 2; p++)
            barrier_init(&m->full[t][p], 1), barrier_init(&m->empty[t][p], M::P::across);
    barrier_ready();
}

/* One thread copies half p of a step. */
template <class M>
static __device__ __forceinline__ void fetch_half(M *m, const box_map &mu,
                                                  const box_map &sigma, int turn,
                                                  int step, int p)
{
    auto *to = &m->room.stage[turn][p];
    phase_barrier *full = &m->full[turn][p];
    const int input = step * STEP + p * HALF, block = (int)blockIdx.x * M::P::blocks;
    barrier_expect(full, sizeof *to);
    copy_box(to->mu, mu, input, block, full);
    copy_box(to->sigma, sigma, input, block, full);
}

/* Where a thread's weights are in a stage: those of its lane and of inputs 2q and 2q + 1.
 * Word j and input i are at [j % 2][i] and a constant distance. */
template <int PANELS> struct stage_place {
    const float *at[2][PAIR];

    __device__ __forceinline__ stage_place(const weight_stage<PANELS> *stage, int lane0)
    {
        const int q = lane_of() % 4, lane = lane0 % LANES + lane_of() / 4,
                  piece = (lane / 4) ^ (2 * q);
        XB_UNROLLED
        for (int j = 0; j < 2; j++) XB_UNROLLED
        for (int i = 0; i < PAIR; i++)
            at[j][i] = stage->mu + lane0 / LANES * 2 * BOX_FLOATS + 2 * q * BOX_LINE +
                       (piece ^ (4 * j + i)) * 4 + lane % 4;
    }
    __device__ __forceinline__ float weight(int p, int i, int j, float z) const
    {
        const int size = panels<PANELS>::blocks * BOX_FLOATS; /* of mu or sigma */
        const float *mu = at[j % 2][i] + 2 * p * size + j / 2 * BOX_FLOATS + i * BOX_LINE;
        return fmaf(mu[size], z, mu[0]);
    }
};

/* Splits x of the steps from `first` on, as many as there is room for. */
template <class M, class H>
static __device__ __forceinline__ void load_inputs(M *m, const xbc_grouped &job,
                                                   const H &here, int first)
{
    for (int i = (int)threadIdx.x; i < CHUNK * 32 && first + i / 32 < here.end;
         i += ALL) {
        const int k0 = (first + i / 32) * STEP + i % 4 * 2, k[2] = {k0, k0 + HALF};
        some_inputs x;
        x.ask(job, here, i % 32 / 4, k);
        x.split(&m->x[i / 32][0][i % 32], &m->x[i / 32][1][i % 32]);
    }
}

#endif
