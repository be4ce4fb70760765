/* kernel_product.h: a part of kernel_body.h: the product y += x (mu + sigma z) by the
 * kernel that makes z; maths N1, N7. A block of draws is multiplied while it is in
 * registers, so mu and sigma are loaded while the next block's Philox rounds run; if all
 * draws were made first and used afterwards, the two would take turns. Measured at 2048 x
 * 2048: 0.75 ns a weight instead of 1.1.
 *
 * Every output is one chain of multiply-adds in the order of inputs. Blocks with slow
 * draws are deferred to the end of their segment, a part of a row, because other blocks
 * of a row are other outputs. The inner loop has no call, so registers are kept. */

enum {
    SEGMENT = 16, /* blocks between two checks for deferred blocks */
    AHEAD = 1024  /* least number of weights that are prefetched */
};

typedef struct late_blocks {
    int count;
    int64_t output[SEGMENT]; /* the first */
    _Alignas(64) uint32_t word[SEGMENT][XB_BLOCK];
    float z[SEGMENT][XB_BLOCK];
} late_blocks;

LANE_INLINE void late_put(late_blocks *late, vec z[4][PER_BLOCK],
                          lane_int word[4][PER_BLOCK], int64_t j)
{
    store_block(late->z[late->count], z);
    keep_words(late->word[late->count], word);
    late->output[late->count++] = j;
}

/* (N1, N7) Adds to a block of outputs from j on, with the weights of input k. */
LANE_INLINE void use_block(const xb_draw_product *job, vec z[4][PER_BLOCK], int64_t k,
                           int64_t j)
{
    int64_t r = 0, at = k * job->w_row + j;
    do {
        float *y = job->y + r * job->y_row + j;
        vec x = vec_set(job->x[r * job->x_row + k]);
#pragma GCC unroll 16
        for (int i = 0; i < 4 * PER_BLOCK; i++) {
            vec w =
                vec_load(job->mu + at + i * LANES) +
                vec_load(job->sigma + at + i * LANES) * z[i / PER_BLOCK][i % PER_BLOCK];
            vec_store(y + i * LANES, vec_fma(x, w, vec_load(y + i * LANES)));
        }
    } while (++r < job->rows);
}

static __attribute__((noinline, cold)) void late_use(late_blocks *late,
                                                     const xb_draw_product *job,
                                                     int64_t k, const xb_draw_source *d)
{
    slow_draw slow[SEGMENT * XB_BLOCK];
    int64_t count = 0;
    for (int i = 0; i < late->count; i++)
        count = note_slow(slow, count, late->z[i], late->word[i]);
    make_slow(d, slow, count);
    for (int i = 0; i < late->count; i++) {
        vec z[4][PER_BLOCK];
        for (int v = 0; v < 4 * PER_BLOCK; v++)
            z[v / PER_BLOCK][v % PER_BLOCK] = vec_load(late->z[i] + v * LANES);
        use_block(job, z, k, late->output[i]);
    }
    late->count = 0;
}

/* Prefetches a block of weights into the first cache. */
LANE_INLINE void ask_for(const float *weight)
{
    enum { LINE = 64 / sizeof(float) };
#pragma GCC unroll 4
    for (int i = 0; i < XB_BLOCK; i += LINE) __builtin_prefetch(weight + i);
}

LANE_INLINE void product_blocks(const xb_draw_product *job, const xb_draw_source *d,
                                const xb_stream *where, int64_t first, int columns,
                                int degree, int halves)
{
    const int64_t across = job->width / XB_BLOCK;
    const int64_t gap = (job->w_row - job->width) / XB_BLOCK + 1;
    const int64_t ahead = (AHEAD + job->width - 1) / job->width * job->w_row;
    philox_start s = start_of(where);
    philox_state p;
    late_blocks late;
    late.count = 0;
    draw_start(&p, &s, first, across == 1 ? gap : 1);
    for (int64_t k = 0; k < job->depth; k++)
        for (int64_t begin = 0; begin < across; begin += SEGMENT) {
            for (int64_t b = begin; b < across && b < begin + SEGMENT; b++) {
                int64_t j = b * XB_BLOCK, at = k * job->w_row + j;
                /* Whether a row ends with the next block. */
                bool jump = b + 2 == across || across == 1;
                lane_int word[4][PER_BLOCK];
                vec z[4][PER_BLOCK];
                ask_for(job->mu + at + ahead);
                bool slow = draw_block(z, word, &p, &s, jump ? gap : 1, false, &d->table,
                                       columns, degree, halves);
                ask_for(job->sigma + at + ahead);
                if (__builtin_expect(slow, 0))
                    late_put(&late, z, word, j);
                else
                    use_block(job, z, k, j);
            }
            if (late.count) late_use(&late, job, k, d);
        }
}
