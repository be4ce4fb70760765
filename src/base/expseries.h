/* expseries.h: the numbers of exp(x) = 2^n (1 + r + r^2 p(r)) in float, x = n log 2 + r,
 * |r| <= log(2) / 2, for the vector kernels; maths N12. */
#ifndef XB_BASE_EXPSERIES_H
#define XB_BASE_EXPSERIES_H

#define XB_LOG2_E 0x1.715476p+0f /* 1 / log 2 */
#define XB_LOG_2 0x1.62e43p-1f
/* log 2 in two parts: the first has 15 bits, so n times it is exact */
#define XB_LOG_2_HIGH 0x1.62e4p-1f
#define XB_LOG_2_LOW 0x1.7f7d1cp-20f
#define XB_ROUND 0x1.8p23f /* adding and subtracting it rounds to a whole number */

/* p, lowest power first, by tools/minimax.py: r + r^2 p(r) is within 1.3e-8 of exp(r) - 1
 * before rounding. */
static const float XB_EXP_SERIES[] = {0x1.fffffep-2f, 0x1.5554b0p-3f, 0x1.555678p-5f,
                                      0x1.1227d4p-7f, 0x1.6be920p-10f};

#endif
