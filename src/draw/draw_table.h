/* draw_table.h: the quantile as float polynomials on equal cells of s = sqrt(2 v);
 * what the vector kernels read. maths D8, D9. */
#ifndef XB_DRAW_DRAW_TABLE_H
#define XB_DRAW_DRAW_TABLE_H

#include "draw/pieces.h"

enum {
    XB_COLUMNS = 32,        /* narrow: a coefficient's row is two AVX-512 registers */
    XB_COLUMNS_WIDE = 1024, /* wide: in the first-level cache */
    XB_TABLE_DEGREE_MAX = 7,
    XB_WIDE_DEGREE = 3
};

/* The lower half's table, then (asymmetric laws) the upper half's with its
 * values negated; so every table ascends with s, and bit 31 of the word is the
 * sign to flip. A slow cell holds NAN in its constant coefficient: its draws take
 * the double path. */
typedef struct xb_draw_table {
    int columns; /* per half: narrow or wide; cells 0 .. columns - 2, and s = 1 itself */
    int degree;  /* 3 to XB_TABLE_DEGREE_MAX; XB_WIDE_DEGREE if wide */
    int halves;  /* 1: symmetric, 2 */
    double slow_share; /* of draws */
    double u_error;    /* worst seen at the check points, slow cells left out */
    /* narrow only: a power's coefficients of all columns, for permutations */
    _Alignas(64) float coef[XB_TABLE_DEGREE_MAX + 1][2 * XB_COLUMNS];
    /* a column's coefficients, ascending; two rows a column if narrow, one if wide */
    _Alignas(64) float row[2 * XB_COLUMNS_WIDE][XB_WIDE_DEGREE + 1];
} xb_draw_table;

/* What a word becomes before the law's own quantile: an affine map. */
typedef struct xb_affine {
    double shift, scale, inverse; /* z = (x - shift) * inverse, inverse = 1 / scale */
} xb_affine;

/* `half[0]` lower, `half[1]` upper (the same pieces mirrored if symmetric). */
xb_status xb_table_build(xb_ctx *ctx, xb_draw_table *out, const xb_law *law,
                         const xb_pieces *half, xb_affine affine);

/* The tail mass of a word: (k + 1/2) 2^-32 with k its low 31 bits (D9). None is below
 * 2^-33, which is where the largest draw is (D10). */
static inline double xb_word_mass(uint32_t word)
{
    return ((double)(word & 0x7fffffffu) + 0.5) * 0x1p-32;
}

/* (D9) 2 v (columns - 1)^2 = k * slope + offset, whose square root is the cell and
 * the place in it. */
static inline float xb_table_slope(int columns)
{
    return (float)((columns - 1) * (columns - 1)) * 0x1p-31f;
}
static inline float xb_table_offset(int columns)
{
    return 0.5f * xb_table_slope(columns);
}

/* The fast path for one word, with fused multiply-adds; NAN in a slow cell.
 * This is the reference that the vector kernels reproduce bit for bit. */
float xb_table_value(const xb_draw_table *t, uint32_t word);

#endif
