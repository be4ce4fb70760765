/* wide.cuh: dense layers in which groups of examples have a draw each, by instructions
 * of Hopper GPUs (device_wide.cu); device_grouped.cu calls it and adds the sums. */
#ifndef XBC_WIDE_CUH
#define XBC_WIDE_CUH

#include "launch.cuh"

/* Whether this device and this job allow it. */
bool xbc_wide_suits(const xbc_grouped *job);
int64_t xbc_wide_slices(const xbc_grouped *job);
/* The number of floats of room for this number of rows and any smaller one. */
int64_t xbc_wide_room(int64_t groups, int64_t rows, int64_t group, int64_t in, int64_t out);
/* Writes the sums of the slices [slices][rows][out] to the job's room. */
const float *xbc_wide_product(const xbc_grouped *job, int64_t slices);

#endif
