/* narrow.cuh: training of narrow nets in one block (device_narrow.cu), which
 * device_steps.cu starts on a stream where a net suits it. */
#ifndef XBC_NARROW_CUH
#define XBC_NARROW_CUH

#include "launch.cuh"

bool xbc_narrow_suits(const xbc_steps *job);
void xbc_narrow_launch(const xbc_steps *job, cudaStream_t on);

#endif
