/* hash.h: 64 bits that stand for any number of bytes. Not against an adversary. */
#ifndef XB_BASE_HASH_H
#define XB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The same on every machine; `seed` chains hashes. Every bit of the result depends on
 * every byte. */
uint64_t xb_hash_bytes(uint64_t seed, const void *bytes, size_t size);

#endif
