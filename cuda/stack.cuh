/* stack.cuh: what one block of a stack reads and writes (device_stack_block.cu), beside
 * what the stack prepares for all blocks (device_stack.cu).
 *
 * Between blocks, outputs are as the next block reads them: normalised and split into two
 * numbers of bf16 (tensor.cuh). The 16 words of 16 channels of a pixel are four for each
 * of four threads: hi of two pairs of channels, then lo of both. Thread q has channels
 * 2 q and 2 q + 1, 2 q + 8 and 2 q + 9, as in a fragment of a product. */
#ifndef XBC_STACK_CUH
#define XBC_STACK_CUH

#include "block.cuh"
#include "tensor.cuh"

enum { OUTS = 16 }; /* outputs of a warp */

/* Steps of 16 inputs: 16 channels of a tap or, with three channels, a row of taps: four
 * pixels of four channels, where the fourth pixel and the fourth channel have weights of
 * 0. */
enum { IMAGE_STEPS = 3 };

XB_BOTH int stack_steps(int c) { return c == 3 ? IMAGE_STEPS : c / STEP * TAPS; }

/* One block. x and y are in that form, except x of three channels and the last y, which
 * are floats. */
struct stack_part {
    xbc_window conv;
    int ph, pw;
    int64_t rows;
    const void *x;
    const uint4 *weights; /* [steps][oc / 16][2][32]: hi, then lo, of outputs g and g + 8 of
                             thread 4 g + q */
    const float4 *ends;   /* [oc]: bias, then mean, gain and shift of the batchnorm */
    void *y;
    bool last; /* outputs are floats */
    bool cut;  /* the last windows of rows or columns are smaller */
};

void xbc_stack_part_forward(const stack_part *part);

#endif
