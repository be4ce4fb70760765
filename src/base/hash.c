/* hash.c: multiply and rotate, eight bytes at a time, then the finaliser of SplitMix64
 * (Steele, Lea, Flood 2014). About 5 GB/s on one core. */
#include "crossbayes/extend.h"

#include <string.h>

/* Odd numbers with about half of their bits set: the golden ratio, and SplitMix's. */
static const uint64_t GOLDEN = UINT64_C(0x9e3779b97f4a7c15);
static const uint64_t MIX_1 = UINT64_C(0xbf58476d1ce4e5b9);
static const uint64_t MIX_2 = UINT64_C(0x94d049bb133111eb);

static uint64_t finish(uint64_t h)
{
    h = (h ^ (h >> 30)) * MIX_1;
    h = (h ^ (h >> 27)) * MIX_2;
    return h ^ (h >> 31);
}

static uint64_t take(uint64_t h, uint64_t word)
{
    h ^= word * GOLDEN;
    return (h << 31 | h >> 33) * MIX_1;
}

static uint64_t little_endian(const unsigned char *byte, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++) word |= (uint64_t)byte[i] << (8 * i);
    return word;
}

uint64_t xb_hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    enum { WORD = 8 };
    const unsigned char *p = bytes;
    uint64_t h = take(seed ^ GOLDEN, size);
    for (; size >= WORD; p += WORD, size -= WORD) h = take(h, little_endian(p, WORD));
    return finish(take(h, little_endian(p, size)));
}
