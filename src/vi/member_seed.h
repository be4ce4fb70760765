/* member_seed.h: seeds of the members of an ensemble. */
#ifndef XB_VI_MEMBER_SEED_H
#define XB_VI_MEMBER_SEED_H

#include "crossbayes/random.h"

/* (V50) The seed of member i, from 0; the first member has the seed itself. */
uint64_t xb_member_seed(uint64_t seed, int64_t i);

#endif
