/* draw_scalar.h: how one draw is made from a word: the tables and the arithmetic, written
 * once for the CPU and the GPU; maths D6-D9. The plain kernel (kernel_ref.c) uses it, the
 * vector kernels reproduce it bit for bit, and the GPU's compiler includes it. */
#ifndef XB_DRAW_DRAW_SCALAR_H
#define XB_DRAW_DRAW_SCALAR_H

#include <stdbool.h>

#include "base/both.h"

/* ---- float polynomials on equal cells of s = sqrt(2 v) */

enum {
    XB_COLUMNS = 32,        /* narrow: a coefficient's row is two AVX-512 registers */
    XB_COLUMNS_WIDE = 1024, /* wide: in the first-level cache */
    XB_TABLE_DEGREE_MAX = 7,
    XB_WIDE_DEGREE = 3,
    XB_ROW = XB_WIDE_DEGREE + 1
};

/* The lower half's table, then (asymmetric laws) the upper half's with its
 * values negated; so every table ascends with s, and bit 31 of the word is the
 * sign to flip. A slow cell holds NAN in its constant coefficient: its draws take
 * the double path. */
typedef struct xb_draw_table {
    int columns; /* per half: narrow or wide; cells 0 .. columns - 2, and s = 1 itself */
    int degree;  /* 3 to XB_TABLE_DEGREE_MAX; XB_WIDE_DEGREE if wide */
    int halves;  /* 1: the law is symmetric, else 2 */
    double slow_share; /* share of the draws that are slow */
    double u_error;    /* largest error at the check points, without slow cells */
    /* narrow only: a power's coefficients of all columns, for permutations */
    __attribute__((aligned(64))) float coef[XB_TABLE_DEGREE_MAX + 1][2 * XB_COLUMNS];
    /* a column's coefficients, ascending; two rows a column if narrow, one if wide */
    __attribute__((aligned(64))) float row[2 * XB_COLUMNS_WIDE][XB_ROW];
} xb_draw_table;

/* The tail mass of a word: (k + 1/2) 2^-32 with k its low 31 bits (D9). None is below
 * 2^-33, which is where the largest draw is (D10). */
XB_BOTH double xb_word_mass(uint32_t word)
{
    return ((double)(word & 0x7fffffffu) + 0.5) * 0x1p-32;
}

/* (D9) 2 v (columns - 1)^2 = k * slope + offset, whose square root is the cell and
 * the place in it. */
XB_BOTH float xb_table_slope(int columns)
{
    return (float)((columns - 1) * (columns - 1)) * 0x1p-31f;
}
XB_BOTH float xb_table_offset(int columns) { return 0.5f * xb_table_slope(columns); }

XB_BOTH float xb_table_root(uint32_t word, int columns)
{
    float k = (float)(int32_t)(word & 0x7fffffffu);
    return xb_root(xb_fused(k, xb_table_slope(columns), xb_table_offset(columns)));
}

/* The whole number below q, 0 <= q < 2^23, as a float and as an integer; the integer is
 * larger by XB_CELL_BIAS. The GPU has no fast conversion: rounding down to a multiple of
 * 1 leaves the number in the lowest bits of 2^23 + q. */
#if defined(__CUDA_ARCH__)
#define XB_CELL_BIAS 0x4b000000u /* the bits of 2^23 */
#else
#define XB_CELL_BIAS 0u
#endif
XB_BOTH float xb_table_cell(int *column, float q)
{
#if defined(__CUDA_ARCH__)
    float shifted = __fadd_rz(q, 0x1p23f);
    *column = __float_as_int(shifted);
    return shifted - 0x1p23f;
#else
    *column = (int)q;
    return (float)*column;
#endif
}

/* The coefficients are in ascending order. */
XB_BOTH float xb_polynomial(const float *coef, int degree, float r)
{
    float y = coef[degree];
    XB_UNROLLED
    for (int j = degree - 1; j >= 0; j--) y = xb_fused(y, r, coef[j]);
    return y;
}

/* The column of a word among the columns of both halves, increased by XB_CELL_BIAS, and
 * its place in the cell. */
XB_BOTH int xb_table_column(float *r, uint32_t word, int columns, int halves)
{
    float q = xb_table_root(word, columns);
    int column;
    *r = q - xb_table_cell(&column, q); /* exact */
    return halves == 2 && word >> 31 ? column + columns : column;
}

/* Makes the draw of the fast path from the polynomial's value: the word's top bit flips
 * the sign. */
XB_BOTH float xb_table_signed(float y, uint32_t word)
{
#if defined(__CUDA_ARCH__)
    return __int_as_float(__float_as_int(y) ^ (int)(word & 0x80000000u));
#else
    return word >> 31 ? -y : y;
#endif
}

/* ---- double polynomials on pieces of s, for draws that the table cannot make */

enum { XB_PIECE_DEGREE = 15, XB_PIECES_MAX = 4096, XB_PIECE_INDEX = 4096 };

/* On [from, to] in s: x = origin + r-polynomial, times s in the first piece of a
 * bounded law (x - edge is analytic in s and vanishes there). r in [-1, 1]. */
typedef struct xb_piece {
    double from, to;
    double middle, inverse_half; /* r = (s - middle) * inverse_half */
    double origin;
    bool times_s;
    double coef[XB_PIECE_DEGREE + 1]; /* ascending powers of r */
} xb_piece;

/* One half of a law: tail mass v in (0, 1/2], lower or upper. */
typedef struct xb_pieces {
    const struct xb_law *law; /* borrowed; used below pieces[0].from */
    bool upper;
    int64_t n;
    xb_piece *piece; /* [n], ascending in s, the last ends at 1; all their ends follow,
                        xb_pieces_ends() */
    uint16_t index[XB_PIECE_INDEX]; /* the piece that each 4096th of [0, 1] begins in */
    double u_error;                 /* largest |Q(G(u)) - u| seen while building */
} xb_pieces;

/* The sum of coef[k] r^k, k < 16, paired as a tree (Estrin): chains are short, and there
 * are only plain multiplications and additions, so the bytes are the same on every
 * machine. */
XB_BOTH double xb_estrin16(const double *coef, double r)
{
    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double pair[8], quad[4];
    XB_UNROLLED
    for (int k = 0; k < 8; k++) pair[k] = coef[2 * k] + r * coef[2 * k + 1];
    XB_UNROLLED
    for (int k = 0; k < 4; k++) quad[k] = pair[2 * k] + r2 * pair[2 * k + 1];
    return (quad[0] + r4 * quad[1]) + r8 * (quad[2] + r4 * quad[3]);
}

XB_BOTH double xb_piece_value(const xb_piece *piece, double s)
{
    double y = xb_estrin16(piece->coef, (s - piece->middle) * piece->inverse_half);
    return piece->times_s ? y * s : y;
}

/* The ends of the pieces, [n], side by side, so that a search stays in few cache lines.
 * They are in the same block as the pieces, which has this many bytes. */
XB_BOTH const double *xb_pieces_ends(const xb_pieces *p)
{
    return (const double *)(const void *)(p->piece + p->n);
}
XB_BOTH size_t xb_pieces_bytes(int64_t n)
{
    return (size_t)n * (sizeof(xb_piece) + sizeof(double));
}

/* The first piece that does not end below s, among those of its 4096th of [0, 1]; pieces
 * are dense where the law is steep. The bisection has no branch on the comparison,
 * because it would be unpredictable and would stall the other draws. */
XB_BOTH const xb_piece *xb_pieces_find(const xb_pieces *p, double s)
{
    const double *end = xb_pieces_ends(p);
    int i = (int)(s * XB_PIECE_INDEX);
    int64_t last = p->n - 1, low = i < XB_PIECE_INDEX ? p->index[i] : last;
    int64_t more = (i + 1 < XB_PIECE_INDEX ? p->index[i + 1] : last) - low;
    while (more > 0) { /* low to low + more, which does not end below s */
        int64_t half = (more + 1) / 2;
        low += half & -(int64_t)(end[low + half - 1] < s);
        more -= half;
    }
    bool joint = low > 0 && s <= end[low - 1]; /* s is where its 4096th begins */
    return &p->piece[joint ? low - 1 : low];
}

/* G at s = sqrt(2 v), piece[0].from <= s <= 1; every word has an s in this range. */
XB_BOTH double xb_pieces_value(const xb_pieces *p, double s)
{
    const xb_piece *piece = xb_pieces_find(p, s);
    return piece->origin + xb_piece_value(piece, s);
}

/* ---- a law's draws */

/* The affine map from the law's own support to the draw. */
typedef struct xb_affine {
    double shift, scale, inverse; /* z = (x - shift) * inverse, inverse = 1 / scale */
} xb_affine;

/* Everything that draws are made from; a copy of it makes the same draws elsewhere. */
typedef struct xb_draw_source {
    uint64_t identity; /* a hash of the rest: sources with the same hash are the same */
    bool symmetric;
    xb_affine affine;
    xb_pieces half[2]; /* [1] is a view of [0] when the law is symmetric */
    xb_draw_table table;
} xb_draw_source;

/* The draw at x; the mirror image of a symmetric law's lower half is its upper one. */
XB_BOTH double xb_affine_draw(const xb_affine *a, double x, bool mirrored)
{
    return ((mirrored ? -x : x) - a->shift) * a->inverse;
}
XB_BOTH double xb_source_standardised(const xb_draw_source *d, double x, bool upper)
{
    return xb_affine_draw(&d->affine, x, d->symmetric && upper);
}

/* The slow path for one word, in two steps: its place, */
typedef struct xb_slow_place {
    double s;
    const xb_piece *piece;
} xb_slow_place;

XB_BOTH xb_slow_place xb_source_place(const xb_draw_source *d, uint32_t word)
{
    double s = sqrt(2 * xb_word_mass(word)); /* (D6) */
    const xb_pieces *half = &d->half[d->symmetric ? 0 : word >> 31];
    xb_slow_place place = {s, xb_pieces_find(half, s)};
    return place;
}

/* and the value there. */
XB_BOTH float xb_source_value(const xb_draw_source *d, const xb_slow_place *at,
                              uint32_t word)
{
    double x = at->piece->origin + xb_piece_value(at->piece, at->s);
    return (float)xb_source_standardised(d, x, word >> 31);
}

XB_BOTH float xb_source_slow(const xb_draw_source *d, uint32_t word)
{
    xb_slow_place place = xb_source_place(d, word);
    return xb_source_value(d, &place, word);
}

#endif
