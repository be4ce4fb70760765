/* block.cuh: a convolution of 3 x 3 with its relu and its maxpool on tensor cores
 * (device_block_tensor.cu), for the numbers of channels that suit them;
 * device_block.cu does all others. */
#ifndef XBC_BLOCK_CUH
#define XBC_BLOCK_CUH

#include "activation.cuh"
#include "launch.cuh"

/* Places of a window of 2 x 2, row by row; NOWHERE: relu gave 0. */
enum { TAPS = 9, SQUARE = 4, NOWHERE = 4 };

static inline int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* They return false if they did nothing and device_block.cu has to do it. */
bool xbc_tensor_block_forward(const xbc_block *job);
bool xbc_tensor_block_input(const xbc_block *job);

/* (N3, N6) The largest value of a window after relu, if its place is not wanted. Rounding
 * keeps the order of values, so the bias can be added last. */
static __device__ __forceinline__ float largest_of(const float v[SQUARE], bool right,
                                                   bool below, float bias)
{
    const float top = right ? nan_max(v[0], v[1]) : v[0];
    const float low = right ? nan_max(v[2], v[3]) : v[2];
    return nan_max((below ? nan_max(top, low) : top) + bias, 0);
}

#endif
