/* hopper.cuh: instructions that only Hopper GPUs have (compute capability 9.0):
 * barriers in shared memory that count bytes, copies of whole rows that run by
 * themselves, and products by a group of four warps whose operands are in shared
 * memory. The tests replace them with plain code (tests/cuda_emulated.h). */
#ifndef XBC_HOPPER_CUH
#define XBC_HOPPER_CUH

#include "launch.cuh"
#if !defined(XB_EMULATED)
#include <cuda.h>
#endif

/* ---- barriers: a phase is complete after `count` arrivals and after all announced
 * bytes have come. Phases are told apart by their parity; that of the first is 0 */

#if defined(XB_EMULATED)
typedef emulated_phases phase_barrier;
static inline void barrier_init(phase_barrier *b, unsigned count) { b->init(count); }
static inline void barrier_ready(void) {}
static inline void barrier_arrive(phase_barrier *b) { b->arrive(0); }
static inline void barrier_expect(phase_barrier *b, unsigned bytes) { b->arrive(bytes); }
static inline void barrier_wait(phase_barrier *b, unsigned parity)
{
    while (!b->passed(parity)) emulated_yield();
}
static inline void bulk_copy(void *to, const void *from, unsigned bytes, phase_barrier *b)
{
    memcpy(to, from, bytes);
    b->bytes_came(bytes);
}
static inline void written_for_products(void) {}
template <int REGISTERS> static inline void registers_more() {}
template <int REGISTERS> static inline void registers_fewer() {}
static inline void product_begin(void) {}
static inline void ask_four(float (&to)[4], const float *p) { memcpy(to, p, sizeof to); }
static inline void product_wait(void) {}
template <int N> static inline void product_fence(float (&)[N]) {}
#else
typedef uint64_t phase_barrier;

static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
static __device__ __forceinline__ void barrier_init(phase_barrier *b, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)),
                 "r"(count)
                 : "memory");
}
/* Call this after all barriers were made and before the threads synchronise. */
static __device__ __forceinline__ void barrier_ready(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
static __device__ __forceinline__ void barrier_arrive(phase_barrier *b)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b))
                 : "memory");
}
/* Arrives, and announces this many bytes. */
static __device__ __forceinline__ void barrier_expect(phase_barrier *b, unsigned bytes)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)),
        "r"(bytes)
        : "memory");
}
static __device__ __forceinline__ void barrier_wait(phase_barrier *b, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(shared_address(b)),
                 "r"(parity)
                 : "memory");
}
/* Both addresses and the size are multiples of 16. */
static __device__ __forceinline__ void bulk_copy(void *to, const void *from,
                                                 unsigned bytes, phase_barrier *b)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
        "[%1], %2, [%3];" ::"r"(shared_address(to)),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(b))
        : "memory");
}
/* Makes what the thread wrote visible to the products of other threads. */
static __device__ __forceinline__ void written_for_products(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/* A load that the compiler does not move to a later place. The address is a multiple
 * of 16. */
static __device__ __forceinline__ void ask_four(float (&to)[4], const float *p)
{
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "l"(p));
}
/* Moves registers from warps that need few to warps that need many. */
template <int REGISTERS> static __device__ __forceinline__ void registers_more()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS> static __device__ __forceinline__ void registers_fewer()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
static __device__ __forceinline__ void product_begin(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static __device__ __forceinline__ void product_wait(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
/* Keeps the compiler from touching the sums between products. */
template <int N> static __device__ __forceinline__ void product_fence(float (&sum)[N])
{
    XB_UNROLLED
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(sum[i])::"memory");
}
#endif

/* ---- boxes: copies of BOX_ROWS rows of some blocks of 32 neighbouring floats of a
 * matrix [rows][columns] to shared memory, as [block][row][32]. There a row's pieces of
 * 16 bytes are exchanged: piece c of row r lies in the place c ^ r, so that threads that
 * read different rows use different banks. What is beyond the matrix becomes 0 */

enum { BOX_ROWS = 8, BOX_LINE = 32, BOX_FLOATS = BOX_ROWS * BOX_LINE };

#if defined(XB_EMULATED)
struct box_map {
    const float *from;
    int64_t rows, columns;
    int blocks;
};
static inline bool make_box_map(box_map *map, const float *from, int64_t rows,
                                int64_t columns, int blocks)
{
    *map = {from, rows, columns, blocks};
    return true;
}
static inline void copy_box(float *to, const box_map &map, int row, int block,
                            phase_barrier *b)
{
    for (int i = 0; i < map.blocks * BOX_FLOATS; i++) {
        const int r = i / BOX_LINE % BOX_ROWS, column = i % BOX_LINE,
                  n = i / BOX_LINE / BOX_ROWS;
        to[i - column + ((column / 4) ^ r) * 4 + column % 4] =
            row + r < map.rows
                ? map.from[(row + r) * map.columns + (block + n) * BOX_LINE + column]
                : 0;
    }
    b->bytes_came((unsigned)(map.blocks * BOX_FLOATS * sizeof *to));
}
#else
typedef CUtensorMap box_map;

/* The driver's function that makes maps, or NULL. */
static inline void *box_encoder(void)
{
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    const cudaError_t status = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
    return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? encode
                                                                         : nullptr;
}
/* `from` is a multiple of 16 bytes, and `columns` of 32. Returns false if the driver has
 * no such maps. */
static inline bool make_box_map(box_map *map, const float *from, int64_t rows,
                                int64_t columns, int blocks)
{
    static void *const encode = box_encoder();
    if (!encode) return false;
    const cuuint64_t size[] = {BOX_LINE, (cuuint64_t)rows,
                               (cuuint64_t)columns / BOX_LINE},
                     stride[] = {(cuuint64_t)columns * sizeof(float),
                                 BOX_LINE * sizeof(float)};
    const cuuint32_t box[] = {BOX_LINE, BOX_ROWS, (cuuint32_t)blocks}, one[] = {1, 1, 1};
    return ((decltype(&cuTensorMapEncodeTiled))encode)(
               map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)from, size, stride, box,
               one, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}
/* `to` is a multiple of 1024 bytes, and the map is among the kernel's constants. */
static __device__ __forceinline__ void copy_box(float *to, const box_map &map, int row,
                                                int block, phase_barrier *b)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::"
                 "bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
                 "l"(&map), "r"(0), "r"(row), "r"(block), "r"(shared_address(b))
                 : "memory");
}
#endif

/* ---- operands: rows of 16 numbers (bf16) of a step, stored as pieces of 8 rows x 8
 * numbers, 128 bytes each; pieces of the same group of 8 numbers lie side by side */

static __device__ __forceinline__ int operand_offset(int rows, int row, int k)
{
    return k / 8 * (rows * 16) + row * 16 + k % 8 * 2;
}
/* The same with the pieces transposed, so that rows lie side by side, as in the left
 * operand. */
static __device__ __forceinline__ int turned_offset(int rows, int row, int k)
{
    return k / 8 * (rows * 16) + row / 8 * 128 + k % 8 * 16 + row % 8 * 2;
}

#if defined(XB_EMULATED)
typedef const char *operand;
static inline operand operand_at(const void *p, int) { return (const char *)p; }
/* sum [64][N] += a [64][16] b [N][16]; the operands in memory have `a_rows` and
 * `b_rows` rows. */
template <int N>
static inline void group_product(float (&sum)[N / 2], operand a, operand b, int a_rows,
                                 int b_rows)
{
    const int t = (int)threadIdx.x % 128, m0 = t / 32 * 16 + t % 32 / 4, n0 = t % 4 * 2;
    for (int i = 0; i < N / 2; i++) {
        const int m = m0 + i % 4 / 2 * 8, n = i / 4 * 8 + n0 + i % 2;
        for (int k = 0; k < 16; k++) {
            uint16_t u, v;
            memcpy(&u, a + turned_offset(a_rows, m, k), 2);
            memcpy(&v, b + operand_offset(b_rows, n, k), 2);
            uint32_t p = (uint32_t)u << 16, q = (uint32_t)v << 16;
            float x, y;
            memcpy(&x, &p, 4), memcpy(&y, &q, 4);
            sum[i] += x * y;
        }
    }
}
#else
typedef uint64_t operand;

/* A matrix descriptor without swizzling: its beginning, the distance from one group of
 * 8 numbers to the next, and from 8 rows to the next 8. */
static __device__ __forceinline__ operand operand_at(const void *p, int rows)
{
    return (uint64_t)(shared_address(p) >> 4 & 0x3fff) |
           (uint64_t)(rows * 16 >> 4) << 16 | (uint64_t)(128 >> 4) << 32;
}

#define XBC_8(d, i)                                                                      \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),          \
        "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define XBC_32(d, i) XBC_8(d, i), XBC_8(d, i + 8), XBC_8(d, i + 16), XBC_8(d, i + 24)
#define XBC_R8(a, b, c, d, e, f, g, h)                                                   \
    "%" #a ",%" #b ",%" #c ",%" #d ",%" #e ",%" #f ",%" #g ",%" #h
#define XBC_PRODUCT(SHAPE, SUMS, A, B)                                                   \
    "{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\nwgmma.mma_async.sync.aligned." SHAPE        \
    ".f32.bf16.bf16 {" SUMS "}, " A ", " B ", p, 1, 1, 1, 0;\n}\n"
#define XBC_SUMS_8 XBC_R8(0, 1, 2, 3, 4, 5, 6, 7)
#define XBC_SUMS_32                                                                      \
    XBC_SUMS_8 "," XBC_R8(8, 9, 10, 11, 12, 13, 14, 15) "," XBC_R8(                      \
        16, 17, 18, 19, 20, 21, 22, 23) "," XBC_R8(24, 25, 26, 27, 28, 29, 30, 31)
#define XBC_SUMS_64                                                                      \
    XBC_SUMS_32 "," XBC_R8(32, 33, 34, 35, 36, 37, 38, 39) "," XBC_R8(                   \
        40, 41, 42, 43, 44, 45, 46, 47) "," XBC_R8(48, 49, 50, 51, 52, 53, 54,           \
                                                   55) "," XBC_R8(56, 57, 58, 59, 60,    \
                                                                  61, 62, 63)
/* sum [64][N] += a [64][16] b [N][16]. A thread's sum of column 8 c + 2 q + i and row
 * 16 w + g + 8 h is its number 4 c + 2 h + i, where w is its warp among the four, and
 * g and q are its place in the warp. */
template <int N>
static __device__ __forceinline__ void group_product(float (&d)[N / 2], operand a,
                                                     operand b, int, int)
{
    if constexpr (N == 64)
        asm volatile(XBC_PRODUCT("m64n64k16", XBC_SUMS_32, "%32", "%33")
                     : XBC_32(d, 0)
                     : "l"(a), "l"(b));
    else
        asm volatile(XBC_PRODUCT("m64n128k16", XBC_SUMS_64, "%64", "%65")
                     : XBC_32(d, 0), XBC_32(d, 32)
                     : "l"(a), "l"(b));
}
#endif

#endif
