/* tree.h: partial sums added in a binary tree of piece numbers.
 *
 * Piece 1 is added to piece 0, 3 to 2, and so on; then 2 to 0, 6 to 4, and so on, until
 * piece 0 has everything. Pieces 2^k j to 2^k (j + 1) - 1 form a separate subtree, so a
 * thread or another machine that has them can add them alone, and the bytes stay the
 * same. */
#ifndef XB_BASE_TREE_H
#define XB_BASE_TREE_H

#include <stdint.h>

/* Adds piece `from` to piece `to`. */
typedef void (*xb_tree_fn)(void *arg, int64_t to, int64_t from);

static inline void xb_tree_add(int64_t count, xb_tree_fn add, void *arg)
{
    for (int64_t step = 1; step < count; step *= 2)
        for (int64_t at = 0; at + step < count; at += 2 * step) add(arg, at, at + step);
}

/* The sum of part [count], which is overwritten; 0 if there is none. */
static inline double xb_tree_sum(double *part, int64_t count)
{
    for (int64_t step = 1; step < count; step *= 2)
        for (int64_t at = 0; at + step < count; at += 2 * step)
            part[at] += part[at + step];
    return count > 0 ? part[0] : 0;
}

#endif
