/* marks.c: separators and newlines of a piece of text, 64 bytes at a time.
 *
 * A reader that finds the end of a number by parsing it can start the next one only then,
 * so the processor waits for one number after the other. With the ends known in advance
 * it can parse several at once. Quotes are ignored, because a field with a quote is not a
 * number and such rows take the general path (csv.c). */
#include "data/marks.h"

#include "base/machine.h"

#define MARKS_INLINE static inline __attribute__((always_inline))

/* Writes four at a time without checking how many are left: a mispredicted branch costs
 * more than a few surplus positions. */
MARKS_INLINE int64_t write_places(uint32_t *mark, uint64_t bits, uint32_t from)
{
    int64_t count = __builtin_popcountll(bits);
    for (int64_t i = 0; i < count; i += 4)
        for (int64_t j = i; j < i + 4; j++) {
            mark[j] = from + (uint32_t)__builtin_ctzll(bits | UINT64_C(1) << 63);
            bits &= bits - 1;
        }
    return count;
}

/* Bit i is set where byte i of 64 is the separator or a newline. */
static inline uint64_t plain_bits(const char *p, char separator)
{
    uint64_t bits = 0;
    for (int i = 0; i < XB_MARKS_BLOCK; i++)
        bits |= (uint64_t)(p[i] == separator || p[i] == '\n') << i;
    return bits;
}

#define FIND(NAME, BITS)                                                                 \
    static int64_t NAME(uint32_t *mark, const char *text, int64_t n, char separator)     \
    {                                                                                    \
        int64_t count = 0;                                                               \
        for (int64_t i = 0; i < n; i += XB_MARKS_BLOCK) {                                \
            uint64_t bits = BITS(text + i, separator);                                   \
            if (n - i < XB_MARKS_BLOCK) bits &= (UINT64_C(1) << (n - i)) - 1;            \
            count += write_places(mark + count, bits, (uint32_t)i);                      \
        }                                                                                \
        return count;                                                                    \
    }

FIND(find_plain, plain_bits)

#if defined(__x86_64__)
#include <immintrin.h>

#define V3 __attribute__((target("avx2,bmi,popcnt")))

V3 static inline uint64_t v3_bits(const char *p, char separator)
{
    const __m256i first = _mm256_set1_epi8(separator), second = _mm256_set1_epi8('\n');
    uint64_t bits = 0;
    for (int i = 0; i < 2; i++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * i));
        __m256i equal = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, first),
                                        _mm256_cmpeq_epi8(bytes, second));
        bits |= (uint64_t)(uint32_t)_mm256_movemask_epi8(equal) << (32 * i);
    }
    return bits;
}

V3 FIND(find_v3, v3_bits)
#endif

int64_t xb_marks_find(uint32_t *mark, const char *text, int64_t n, char separator)
{
#if defined(__x86_64__)
    if (xb_machine_level() >= 3) return find_v3(mark, text, n, separator);
#endif
    return find_plain(mark, text, n, separator);
}
