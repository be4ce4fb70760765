/* block.cuh: a convolution of 3 x 3 with its relu and its maxpool on tensor cores
 * (device_block_tensor.cu), where its channels suit them; else device_block.cu has it. */
#ifndef XBC_BLOCK_CUH
#define XBC_BLOCK_CUH

#include "launch.cuh"

/* Places of a window of 2 x 2, row by row; NOWHERE: relu is 0. */
enum { TAPS = 9, SQUARE = 4, NOWHERE = 4 };

static inline int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* False: it was left to others. */
bool xbc_tensor_block_forward(const xbc_block *job);
bool xbc_tensor_block_input(const xbc_block *job);

#endif
