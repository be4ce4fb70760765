/* sampler.c: the public sampler: builds the double pieces and the float table of
 * a law, fills arrays with draws. Start reading draw/ here. fill passes whole blocks of
 * 64 to the kernel, which makes draws for which the float table is not accurate enough
 * (slow cells) in double from the same word, many at a time. Incomplete blocks at the
 * ends go through a temporary block. */
#include "crossbayes/draw.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "crossbayes/extend.h"
#include "draw/kernel.h"
#include "draw/pieces.h"
#include "draw/draw_table.h"

struct xb_sampler {
    xb_law *law; /* shared with other owners */
    xb_draw_source source;
};

void xb_sampler_destroy(xb_sampler *s)
{
    if (!s) return;
    xb_pieces_free(&s->source.half[0]);
    if (!s->law->symmetric) xb_pieces_free(&s->source.half[1]);
    xb_law_destroy(s->law);
    xb_os_aligned_free(s);
}

const xb_law *xb_sampler_law(const xb_sampler *s) { return s->law; }
const xb_draw_source *xb_sampler_source(const xb_sampler *s) { return &s->source; }

/* A hash of everything that a draw is made from, without the padding of structs and
 * without rows that a narrow table does not use. */
static uint64_t identity_of(const xb_draw_source *d)
{
    const xb_draw_table *t = &d->table;
    const int rows = t->halves * t->columns * (t->columns == XB_COLUMNS_WIDE ? 1 : 2);
    uint64_t hash = xb_hash_bytes(0, t->row, (size_t)rows * sizeof t->row[0]);
    const int64_t shape[] = {t->columns, t->degree, t->halves, d->symmetric};
    hash = xb_hash_bytes(hash, shape, sizeof shape);
    hash = xb_hash_bytes(hash, &d->affine, sizeof d->affine);
    for (int h = 0; h < (d->symmetric ? 1 : 2); h++)
        for (int64_t i = 0; i < d->half[h].n; i++) {
            const xb_piece *p = &d->half[h].piece[i];
            const double place[] = {p->to, p->middle, p->inverse_half, p->origin,
                                    p->times_s};
            hash = xb_hash_bytes(hash, place, sizeof place);
            hash = xb_hash_bytes(hash, p->coef, sizeof p->coef);
        }
    return hash;
}

static xb_status sampler_build(xb_ctx *ctx, xb_sampler *s)
{
    XB_TRY(xb_pieces_build(ctx, &s->source.half[0], s->law, false));
    if (s->law->symmetric)
        s->source.half[1] = s->source.half[0];
    else
        XB_TRY(xb_pieces_build(ctx, &s->source.half[1], s->law, true));
    return xb_table_build(ctx, &s->source.table, s->law, s->source.half,
                          s->source.affine);
}

void xb_sampler_options_init(xb_sampler_options *opt, size_t size)
{
    const xb_sampler_options standard = {.standardise = true};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

xb_status xb_sampler_create(xb_ctx *ctx, xb_sampler **out, const xb_law *law,
                            const xb_sampler_options *opt)
{
    xb_sampler_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, sampler, &chosen, opt, standardise));
    xb_sampler *s = xb_os_aligned(64, sizeof *s);
    if (!s) return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a sampler");
    memset(s, 0, sizeof *s);
    s->law = xb_law_share(law);
    s->source.symmetric = law->symmetric;
    s->source.affine = chosen.standardise
                           ? (xb_affine){law->moments.mean, law->sd, 1 / law->sd}
                           : (xb_affine){0, 1, 1};
    xb_status status = sampler_build(ctx, s);
    if (status != XB_OK) {
        xb_sampler_destroy(s);
        return status;
    }
    s->source.identity = identity_of(&s->source);
    *out = s;
    return XB_OK;
}

double xb_sampler_quantile(const xb_sampler *s, double v, bool upper)
{
    if (!(v > 0 && v <= 0.5)) return NAN;
    double x = xb_pieces_eval(&s->source.half[s->source.symmetric ? 0 : upper], v);
    return xb_source_standardised(&s->source, x, upper);
}

float xb_sampler_value(const xb_sampler *s, uint32_t word)
{
    float z = xb_table_value(&s->source.table, word);
    return isnan(z) ? xb_source_slow(&s->source, word) : z;
}

static void fill_blocks(const xb_sampler *s, const xb_kernel *kernel, float *z,
                        int64_t blocks, const xb_stream *where, int64_t first_block)
{
    if (blocks > 0) kernel->draws(z, blocks, &s->source, where, first_block);
}

void xb_sampler_map(const xb_sampler *s, float *z, const uint32_t *word, int64_t n)
{
    const xb_kernel *kernel = xb_kernel_best();
    int64_t blocks = n / XB_BLOCK;
    kernel->values(z, blocks, &s->source, word);
    for (int64_t i = blocks * XB_BLOCK; i < n; i++) z[i] = xb_sampler_value(s, word[i]);
}

/* Fills a part of one block: its elements [from, from + n). */
static void fill_part(const xb_sampler *s, const xb_kernel *kernel, float *z, int64_t n,
                      const xb_stream *where, int64_t block, int64_t from)
{
    float whole[XB_BLOCK];
    fill_blocks(s, kernel, whole, 1, where, block);
    memcpy(z, whole + from, (size_t)n * sizeof *z);
}

static void fill(const xb_sampler *s, const xb_kernel *kernel, float *z, int64_t n,
                 const xb_stream *where, int64_t first)
{
    assert(n >= 0 && first >= 0 && first + n <= XB_STREAM_MAX);
    int64_t skip = first % XB_BLOCK;
    if (skip && n > 0) {
        int64_t head = XB_BLOCK - skip < n ? XB_BLOCK - skip : n;
        fill_part(s, kernel, z, head, where, first / XB_BLOCK, skip);
        z += head, n -= head, first += head;
    }
    fill_blocks(s, kernel, z, n / XB_BLOCK, where, first / XB_BLOCK);
    int64_t done = n / XB_BLOCK * XB_BLOCK;
    if (done < n)
        fill_part(s, kernel, z + done, n - done, where, (first + done) / XB_BLOCK, 0);
}

void xb_sampler_fill(const xb_sampler *s, float *z, int64_t n, const xb_stream *where,
                     int64_t first)
{
    fill(s, xb_kernel_best(), z, n, where, first);
}

void xb_sampler_multiply(const xb_sampler *s, const xb_kernel *kernel,
                         const xb_draw_product *job, const xb_stream *where,
                         int64_t first)
{
    assert(first % XB_BLOCK == 0 && job->width % XB_BLOCK == 0);
    assert(job->w_row % XB_BLOCK == 0 && job->width > 0);
    kernel->multiply(job, &s->source, where, first / XB_BLOCK);
}

bool xb_sampler_fill_level(const xb_sampler *s, const char *level, float *z, int64_t n,
                           const xb_stream *where, int64_t first)
{
    const xb_kernel *kernel = xb_kernel_find(level);
    if (!kernel) return false;
    fill(s, kernel, z, n, where, first);
    return true;
}

/* (R3, D7) One bit for the half, 52 for the mass. */
static double draw_double(const xb_sampler *s, uint64_t bits)
{
    double v = ((double)(bits << 1 >> 12) + 0.5) * 0x1p-53;
    return xb_sampler_quantile(s, v, bits >> 63);
}

void xb_sampler_fill_double(const xb_sampler *s, double *z, int64_t n,
                            const xb_stream *where, int64_t first)
{
    assert(n >= 0 && first >= 0 && first + n <= XB_STREAM_MAX / 2);
    const xb_kernel *kernel = xb_kernel_best();
    uint32_t word[XB_BLOCK];
    int64_t have = -1; /* index of the block in `word` */
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 2 * (first + i);
        if (at / XB_BLOCK != have) kernel->words(word, 1, where, have = at / XB_BLOCK);
        uint64_t high = word[at % XB_BLOCK], low = word[at % XB_BLOCK + 1];
        z[i] = draw_double(s, high << 32 | low);
    }
}

typedef struct fill_job {
    const xb_sampler *s;
    float *z;
    int64_t n;
    const xb_stream *where;
    int64_t first;
} fill_job;

enum { FILL_PIECE = 1 << 18 };

static void fill_piece(void *arg, int64_t piece)
{
    const fill_job *job = arg;
    int64_t from = piece * FILL_PIECE;
    int64_t n = job->n - from < FILL_PIECE ? job->n - from : FILL_PIECE;
    xb_sampler_fill(job->s, job->z + from, n, job->where, job->first + from);
}

void xb_sampler_fill_parallel(xb_ctx *ctx, const xb_sampler *s, float *z, int64_t n,
                              const xb_stream *where, int64_t first)
{
    fill_job job = {s, z, n, where, first};
    xb_parallel_for(ctx, (n + FILL_PIECE - 1) / FILL_PIECE, fill_piece, &job);
}

xb_sampler_info xb_sampler_describe(const xb_sampler *s)
{
    bool two = !s->law->symmetric;
    return (xb_sampler_info){
        .pieces = (s->source.table.columns - 1) * s->source.table.halves,
        .degree = s->source.table.degree,
        .slow_share = s->source.table.slow_share,
        .double_pieces = s->source.half[0].n + (two ? s->source.half[1].n : 0),
        .double_degree = XB_PIECE_DEGREE,
        .float_u_error = s->source.table.u_error,
        .double_u_error = fmax(s->source.half[0].u_error, s->source.half[1].u_error),
    };
}
