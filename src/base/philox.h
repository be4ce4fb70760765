/* philox.h: Philox4x32-10, and its constants for the vector kernels. */
#ifndef XB_BASE_PHILOX_H
#define XB_BASE_PHILOX_H

#include "crossbayes/random.h"

enum { XB_PHILOX_ROUNDS = 10 };

/* Multipliers and Weyl increments of Salmon et al. 2011, table 2. */
#define XB_PHILOX_M0 UINT32_C(0xD2511F53)
#define XB_PHILOX_M1 UINT32_C(0xCD9E8D57)
#define XB_PHILOX_W0 UINT32_C(0x9E3779B9)
#define XB_PHILOX_W1 UINT32_C(0xBB67AE85)

/* (R1) Four words from a counter and a key: Random123's Philox4x32-10. */
void xb_philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

#endif
