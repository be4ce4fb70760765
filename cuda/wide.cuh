/* wide.cuh: groups of examples with a draw each by Hopper's own instructions
 * (device_wide.cu); device_grouped.cu asks it and adds up. */
#ifndef XBC_WIDE_CUH
#define XBC_WIDE_CUH

#include "launch.cuh"

/* Whether it can, on this device. */
bool xbc_wide_suits(const xbc_grouped *job);
int64_t xbc_wide_slices(const xbc_grouped *job);
/* Floats of room, for these rows and any fewer. */
int64_t xbc_wide_room(int64_t groups, int64_t rows, int64_t group, int64_t in, int64_t out);
/* The sums of the slices [slices][rows][out], in the job's room. */
const float *xbc_wide_product(const xbc_grouped *job, int64_t slices);

#endif
