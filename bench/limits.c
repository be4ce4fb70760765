/* limits.c: what this machine can do at most, measured: how fast one core stores, reads
 * and multiplies. The benchmarks say what share of it a kernel reaches.
 *
 * Stores and reads go over an array of the given size, so the caller picks the cache.
 * Multiply-adds are independent chains on the widest registers there are, enough of them
 * to cover the latency. Best of some repeats: a limit is what was ever reached. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LIMIT_API __attribute__((visibility("default")))
enum { REPEATS = 25, CHAINS = 20, STEPS = 20000 };

LIMIT_API double limit_store(int64_t bytes, int64_t passes); /* bytes a second */
LIMIT_API double limit_read(int64_t bytes, int64_t passes);
LIMIT_API double limit_fma(void); /* multiply-adds of floats a second; 0: unknown */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double limit_store(int64_t bytes, int64_t passes)
{
    char *block = aligned_alloc(64, (size_t)bytes);
    double best = 0;
    for (int r = 0; block && r < REPEATS; r++) {
        double start = now();
        for (int64_t i = 0; i < passes; i++) {
            memset(block, (int)i, (size_t)bytes);
            __asm__ volatile("" : : "r"(block) : "memory");
        }
        double rate = (double)(bytes * passes) / (now() - start);
        if (rate > best) best = rate;
    }
    free(block);
    return best;
}

/* Four sums of vectors of 64 bytes. */
typedef int64_t lanes __attribute__((vector_size(64)));

static int64_t read_once(const lanes *block, int64_t n)
{
    lanes sum[4] = {{0}};
    for (int64_t i = 0; i + 4 <= n; i += 4)
        for (int j = 0; j < 4; j++) sum[j] += block[i + j];
    lanes all = sum[0] + sum[1] + sum[2] + sum[3];
    return all[0];
}

double limit_read(int64_t bytes, int64_t passes)
{
    lanes *block = aligned_alloc(64, (size_t)bytes);
    double best = 0;
    volatile int64_t sink = 0;
    if (block) memset(block, 1, (size_t)bytes);
    for (int r = 0; block && r < REPEATS; r++) {
        double start = now();
        for (int64_t i = 0; i < passes; i++) sink += read_once(block, bytes / 64);
        double rate = (double)(bytes * passes) / (now() - start);
        if (rate > best) best = rate;
    }
    free(block);
    return best;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"), optimize("unroll-loops"))) static float chains_512(void)
{
    __m512 sum[CHAINS], a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
    for (int j = 0; j < CHAINS; j++) sum[j] = _mm512_set1_ps((float)j);
    for (int i = 0; i < STEPS; i++) {
#pragma GCC unroll 20
        for (int j = 0; j < CHAINS; j++) sum[j] = _mm512_fmadd_ps(sum[j], a, b);
    }
    for (int j = 1; j < CHAINS; j++) sum[0] = _mm512_add_ps(sum[0], sum[j]);
    return _mm512_reduce_add_ps(sum[0]);
}

enum { CHAINS_256 = 12 }; /* of sixteen registers */
__attribute__((target("avx2,fma"))) static float chains_256(void)
{
    __m256 sum[CHAINS_256], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
    for (int j = 0; j < CHAINS_256; j++) sum[j] = _mm256_set1_ps((float)j);
    for (int i = 0; i < STEPS; i++) {
#pragma GCC unroll 12
        for (int j = 0; j < CHAINS_256; j++) sum[j] = _mm256_fmadd_ps(sum[j], a, b);
    }
    float out[8];
    for (int j = 1; j < CHAINS_256; j++) sum[0] = _mm256_add_ps(sum[0], sum[j]);
    _mm256_storeu_ps(out, sum[0]);
    return out[0];
}

double limit_fma(void)
{
    volatile float sink = 0;
    double best = 0;
    int wide = __builtin_cpu_supports("avx512f"), some = __builtin_cpu_supports("fma");
    for (int r = 0; (wide || some) && r < REPEATS; r++) {
        double start = now();
        sink += wide ? chains_512() : chains_256();
        double count = (double)STEPS * (wide ? 16.0 * CHAINS : 8.0 * CHAINS_256);
        if (count / (now() - start) > best) best = count / (now() - start);
    }
    return best;
}
#else
double limit_fma(void) { return 0; }
#endif
