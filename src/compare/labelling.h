/* labelling.h: which draws count as sample a and which as b.
 *
 * The draws of both samples are cut into blocks of one size, and a labelling says for
 * each block: a, b, or left out. There are the data's own labelling, one for each group
 * of the jackknife (C2), one for each permutation, and some that give a and b the same
 * share of both samples (C16). So every statistic is one function of sorted values and a
 * labelling. */
#ifndef XB_COMPARE_LABELLING_H
#define XB_COMPARE_LABELLING_H

#include "compare/jackknife.h"
#include "crossbayes/compare.h"

enum { XB_BLOCKS_MAX = 4096, XB_BALANCED_MAX = 40 };

typedef enum xb_label { XB_LABEL_A, XB_LABEL_B, XB_LABEL_OUT } xb_label;

typedef struct xb_blocks {
    int64_t size; /* draws in a block; the last of each sample may be smaller */
    int count_a;  /* blocks 0 .. count_a - 1 are of a, the others of b */
    int count;    /* all blocks */
    int groups;   /* groups of the jackknife: at most 20, or 0 if a sample is too small */
    int permutations;
    int balanced;   /* 40, or as many as permutations */
    int labellings; /* 1 + groups + permutations + balanced, in this order */
    uint8_t *label; /* [labellings][count] */
} xb_blocks;

xb_status xb_blocks_make(xb_ctx *ctx, xb_blocks *out, int64_t draws_a, int64_t draws_b,
                         const xb_distance_options *opt);
void xb_blocks_free(xb_blocks *blocks);

#endif
