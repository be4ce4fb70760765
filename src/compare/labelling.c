/* labelling.c: see labelling.h; maths C2, C16. Permutations of whole blocks keep
 * dependent neighbours together and cost one look-up per value; with 20 blocks in each
 * sample there are 1e11 of them. Random words come from Philox: permutation r is sample
 * r, and balanced labellings are step 1. */
#include "compare/labelling.h"

#include <stdlib.h>

#include "base/memory.h"
#include "crossbayes/random.h"

static int64_t ceil_ratio(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void label_own(uint8_t *label, const xb_blocks *b)
{
    for (int i = 0; i < b->count; i++)
        label[i] = i < b->count_a ? XB_LABEL_A : XB_LABEL_B;
}

static void label_without(uint8_t *label, const xb_blocks *b, int group)
{
    int count_b = b->count - b->count_a;
    label_own(label, b);
    for (int i = 0; i < b->count; i++) {
        int64_t place = i < b->count_a ? i : i - b->count_a;
        int64_t blocks = i < b->count_a ? b->count_a : count_b;
        if (place * b->groups / blocks == group) label[i] = XB_LABEL_OUT;
    }
}

/* Labels `take` of `count` random blocks as a's and the others as b's (Knuth's algorithm
 * S). */
static void deal(uint8_t *label, int count, int take, const xb_stream *where, int first)
{
    for (int i = 0; i < count; i++) {
        bool taken = xb_stream_uniform(where, first + i) * (count - i) < take;
        label[i] = taken ? XB_LABEL_A : XB_LABEL_B;
        take -= taken;
    }
}

/* Draws that share their random numbers stay opposite each other. */
static void oppose(uint8_t *label, const xb_blocks *b)
{
    for (int i = 0; i < b->count_a; i++)
        label[b->count_a + i] = label[i] == XB_LABEL_A ? XB_LABEL_B : XB_LABEL_A;
}

static void label_permuted(uint8_t *label, const xb_blocks *b, const xb_stream *where,
                           bool paired)
{
    if (!paired) {
        deal(label, b->count, b->count_a, where, 0);
        return;
    }
    for (int i = 0; i < b->count_a; i++)
        label[i] = xb_stream_uniform(where, i) < 0.5 ? XB_LABEL_A : XB_LABEL_B;
    oppose(label, b);
}

/* a and b get the same mixture of the two samples. */
static void label_balanced(uint8_t *label, const xb_blocks *b, const xb_stream *where,
                           bool paired)
{
    int count_b = b->count - b->count_a;
    int own = (b->count_a * b->count_a + b->count / 2) / b->count;
    deal(label, b->count_a, own, where, 0);
    if (paired)
        oppose(label, b);
    else
        deal(label + b->count_a, count_b, b->count_a - own, where, b->count_a);
}

static void fill(const xb_blocks *b, const xb_distance_options *opt)
{
    uint8_t *label = b->label;
    xb_stream where = {xb_key_make(opt->seed, XB_PURPOSE_BOOTSTRAP), 0, 0, 0};
    label_own(label, b);
    for (int g = 0; g < b->groups; g++) label_without(label += b->count, b, g);
    for (int r = 0; r < b->permutations; r++) {
        where.sample = (uint32_t)r;
        label_permuted(label += b->count, b, &where, opt->paired);
    }
    where.step = 1;
    for (int r = 0; r < b->balanced; r++) {
        where.sample = (uint32_t)r;
        label_balanced(label += b->count, b, &where, opt->paired);
    }
}

xb_status xb_blocks_make(xb_ctx *ctx, xb_blocks *out, int64_t draws_a, int64_t draws_b,
                         const xb_distance_options *opt)
{
    int64_t fewer = draws_a < draws_b ? draws_a : draws_b;
    int64_t size = ceil_ratio(fewer, XB_JACKKNIFE_GROUPS);
    int64_t least = ceil_ratio(draws_a + draws_b, XB_BLOCKS_MAX - 2);
    xb_blocks b = {.size = size > least ? size : least};
    b.count_a = (int)ceil_ratio(draws_a, b.size);
    b.count = b.count_a + (int)ceil_ratio(draws_b, b.size);
    int count_b = b.count - b.count_a;
    b.groups = b.count_a < count_b ? b.count_a : count_b;
    if (b.groups > XB_JACKKNIFE_GROUPS) b.groups = XB_JACKKNIFE_GROUPS;
    if (b.groups < 2) b.groups = 0;
    b.permutations = (int)opt->permutations;
    b.balanced = b.permutations < XB_BALANCED_MAX ? b.permutations : XB_BALANCED_MAX;
    b.labellings = 1 + b.groups + b.permutations + b.balanced;
    b.label = xb_new(ctx, (int64_t)b.labellings * b.count, sizeof *b.label);
    if (!b.label) return XB_E_MEMORY;
    fill(&b, opt);
    *out = b;
    return XB_OK;
}

void xb_blocks_free(xb_blocks *blocks) { free(blocks->label); }
