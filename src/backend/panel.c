/* panel.c: see panel.h. Threads take blocks of outputs. A block goes through the inputs
 * a panel at a time; a panel is written as strips of XB_PANEL_STRIP outputs, the order
 * in which the product reads it, and the inputs of some examples are copied next to each
 * other first. Few examples need no panel: some rows of weights are used up as they are
 * made, or, where rows are whole blocks of draws, each block by the kernel that draws it.
 * Scratch: bias [cout] and its z [cout], then for each block a panel, rows of x, and z
 * of some rows of the panel. */
#include "backend/panel.h"

#include <string.h>

#include "base/ctx.h"
#include "draw/kernel.h"

enum {
    DEPTH = 256,       /* inputs of a panel */
    WIDTH_LEAST = 256, /* outputs of a block; a multiple of both strip and XB_BLOCK */
    WIDTH_MOST = 512,
    WIDTH_FEW = 1024,           /* the same where there is no panel */
    DRAWS_MOST = 4 * WIDTH_FEW, /* of z: half the first cache */
    FEW = 2,                    /* examples that go without */
    ROWS = 240,                 /* examples whose inputs are copied at a time */
    WORTH = 1 << 14,            /* weights: below, all of them fit beside their z */
    DRAW_WORK = 16,             /* multiply-adds that take as long as a draw */
    ROWS_WORTH = 16 /* examples that pay for copying weights that are not random */
};

typedef struct panel_job {
    const xb_op *op;
    xb_real *y, *slots;
    const xb_real *x, *bias;
    int64_t width, slot;
} panel_job;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static bool is_random(const xb_op *op)
{
    return op->run->noise.sampler && op->tensor[0].stochastic;
}

static bool are_few(const xb_op *op) { return op->run->batch <= FEW && is_random(op); }

static int64_t width_of(const xb_op *op)
{
    if (are_few(op)) return WIDTH_FEW;
    int64_t half = (op->cout / 2 + XB_BLOCK - 1) / XB_BLOCK * XB_BLOCK;
    return half < WIDTH_LEAST ? WIDTH_LEAST : least(half, WIDTH_MOST);
}

static int64_t blocks_of(const xb_op *op)
{
    return (op->cout + width_of(op) - 1) / width_of(op);
}

static int64_t rows_of(const xb_op *op) { return least(op->run->batch, ROWS); }

/* A row more for each strip, see kernels.h. */
static int64_t panel_size(const xb_op *op) { return (DEPTH + 1) * width_of(op); }

static int64_t slot_size(const xb_op *op)
{
    if (are_few(op)) return DRAWS_MOST;
    return panel_size(op) + rows_of(op) * DEPTH + DRAWS_MOST;
}

static bool possible(const xb_op *op)
{
    return op->run->kernels->dense_panel && op->layer->kind == &xb_layer_dense &&
           op->size >= WORTH && op->cout >= XB_PANEL_STRIP;
}

/* Whether one kernel makes the noise and uses it up. It knows no antithetic pairs. */
static bool draws_inside(const xb_op *op)
{
    const xb_kernels *kernels = op->run->kernels;
    const xb_kernel *kernel = xb_kernel_best();
    return are_few(op) && op->layer->kind == &xb_layer_dense &&
           op->cout % XB_BLOCK == 0 && !op->run->noise.antithetic &&
           kernels->panel_draw_add && kernel->multiply && kernel->fused == kernels->fused;
}

/* The bytes are the same either way, so the number of threads may have a say; but
 * without gradients there is no memory for a whole draw. */
bool xb_panel_suits(const xb_op *op)
{
    if (draws_inside(op)) return true;
    if (!possible(op)) return false;
    if (!op->run->gradients && op->run->noise.sampler && xb_op_random(op)) return true;
    if (!is_random(op) && op->run->batch < ROWS_WORTH) return false;
    int64_t by_rows = xb_split_of(op->run->batch, op->work, XB_SPLIT_ANY).count;
    return blocks_of(op) >= least(by_rows, xb_ctx_threads(op->run->ctx));
}

/* For any batch up to the run's. Blocks of few examples may be more in number than
 * panels, but they are small; and few examples of a random kernel never need a panel. */
int64_t xb_panel_scratch(const xb_op *op)
{
    if (!possible(op)) return 0;
    int64_t few = (op->cout / WIDTH_FEW + 1) * DRAWS_MOST;
    bool always_few = op->run->batch <= FEW && op->tensor[0].stochastic;
    int64_t panels = always_few ? 0 : blocks_of(op) * slot_size(op);
    return 2 * op->cout + (few > panels ? few : panels);
}

static const xb_real *bias_of(const xb_op *op)
{
    const xb_real *mu = xb_op_bias(op, xb_op_mu(op));
    xb_real *theta = op->run->scratch, *z = theta + op->cout;
    if (!mu || !op->run->noise.sampler || !op->tensor[1].stochastic) return mu;
    xb_run_draw(op->run, z, op->cout, op->layer->tensor + 1, 0, false);
    xb_run_theta(op->run, theta, z, &op->tensor[1]);
    return theta;
}

/* Asks for n reals to be in the second cache soon. */
static void fetch(const xb_real *p, int64_t n)
{
    enum { LINE = 64 / sizeof(xb_real), SOON = 2 };
    for (int64_t i = 0; i < n; i += LINE) __builtin_prefetch(p + i, 0, SOON);
}

/* z of inputs [k, k + depth), row by row; rows that are neighbours in memory as one.
 * Panels `ahead` ask for mu and sigma meanwhile; where there is no panel this costs more
 * than it gains. */
static void draw_rows(const xb_op *op, xb_real *z, int64_t k, int64_t depth, int64_t j,
                      int64_t width, bool ahead)
{
    bool whole = width == op->cout;
    int64_t rows = whole ? 1 : depth, n = whole ? depth * width : width;
    for (int64_t i = 0; i < rows; i++) {
        int64_t at = (k + i) * op->cout + j;
        if (ahead) fetch(xb_op_mu(op) + at, n), fetch(xb_op_sigma(op) + at, n);
        xb_run_draw(op->run, z + i * width, n, op->layer->tensor, at, false);
    }
}

/* theta of inputs [k, k + depth) and `width` outputs from j on. */
static void make_panel(const xb_op *op, xb_real *panel, xb_real *z, int64_t k,
                       int64_t depth, int64_t j, int64_t width)
{
    bool random = is_random(op);
    int64_t drawn = 0, some = DRAWS_MOST / width;
    for (int64_t i = 0; i < depth; i++, panel += XB_PANEL_STRIP) {
        int64_t at = (k + i) * op->cout + j;
        if (random && i % some == 0)
            draw_rows(op, z, k + i, least(depth - i, some), j, width, true), drawn = i;
        op->run->kernels->panel_row(panel, xb_op_mu(op) + at,
                                    random ? xb_op_sigma(op) + at : NULL,
                                    z + (i - drawn) * width, depth, width);
    }
}

static void copy_inputs(xb_real *to, const xb_real *x, int64_t rows, int64_t depth,
                        int64_t stride)
{
    for (int64_t r = 0; r < rows; r++, to += depth, x += stride)
        memcpy(to, x, (size_t)depth * sizeof *to);
}

static void panel_block(void *arg, int64_t block, int64_t begin, int64_t end)
{
    (void)begin, (void)end;
    const panel_job *job = arg;
    const xb_op *op = job->op;
    int64_t j = block * job->width, width = least(op->cout - j, job->width);
    xb_real *panel = job->slots + block * job->slot, *x = panel + panel_size(op);
    xb_real *z = x + rows_of(op) * DEPTH;
    for (int64_t k = 0; k < op->cin; k += DEPTH) {
        int64_t depth = least(op->cin - k, DEPTH);
        make_panel(op, panel, z, k, depth, j, width);
        for (int64_t r = 0; r < op->run->batch; r += ROWS) {
            int64_t rows = least(op->run->batch - r, ROWS);
            copy_inputs(x, job->x + r * op->cin + k, rows, depth, op->cin);
            op->run->kernels->dense_panel(job->y + r * op->cout + j, x, panel,
                                          job->bias ? job->bias + j : NULL,
                                          &(xb_panel){.rows = rows,
                                                      .depth = depth,
                                                      .width = width,
                                                      .x_row = depth,
                                                      .y_row = op->cout,
                                                      .add = k > 0,
                                                      .last = k + depth == op->cin},
                                          op->run->above);
        }
    }
}

static void start_rows(const panel_job *job, int64_t j, int64_t width)
{
    const xb_op *op = job->op;
    for (int64_t r = 0; r < op->run->batch; r++) {
        xb_real *y = job->y + r * op->cout + j;
        if (job->bias)
            memcpy(y, job->bias + j, (size_t)width * sizeof *y);
        else
            memset(y, 0, (size_t)width * sizeof *y);
    }
}

static void finish_rows(const panel_job *job, int64_t j, int64_t width)
{
    const xb_op *op = job->op;
    const xb_activation_kernel *f = xb_kernels_act(op->run->kernels, op->run->above);
    for (int64_t r = 0; f && r < op->run->batch; r++)
        f->forward(job->y + r * op->cout + j, job->y + r * op->cout + j, width);
}

/* Blocks of XB_BLOCK outputs from `begin` to before `end`. */
static void drawn_piece(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    (void)piece;
    const panel_job *job = arg;
    const xb_op *op = job->op;
    int64_t j = begin * XB_BLOCK, width = (end - begin) * XB_BLOCK;
    xb_stream where = xb_run_stream(op->run, (uint32_t)op->layer->tensor);
    start_rows(job, j, width);
    op->run->kernels->panel_draw_add(job->y + j, job->x, xb_op_mu(op) + j,
                                     xb_op_sigma(op) + j,
                                     &(xb_panel){.rows = op->run->batch,
                                                 .depth = op->cin,
                                                 .width = width,
                                                 .x_row = op->cin,
                                                 .y_row = op->cout,
                                                 .w_row = op->cout},
                                     op->run->noise.sampler, &where, j);
    finish_rows(job, j, width);
}

/* Rows as long as can be: memory is read in order then. */
static xb_split drawn_split(const xb_op *op)
{
    return xb_split_of(op->cout / XB_BLOCK, op->cin * XB_BLOCK * DRAW_WORK,
                       xb_ctx_threads(op->run->ctx));
}

static void few_block(void *arg, int64_t block, int64_t begin, int64_t end)
{
    (void)begin, (void)end;
    const panel_job *job = arg;
    const xb_op *op = job->op;
    const xb_kernels *kernels = op->run->kernels;
    int64_t j = block * job->width, width = least(op->cout - j, job->width);
    xb_real *z = job->slots + block * job->slot, *y = job->y + j;
    start_rows(job, j, width);
    for (int64_t k = 0, depth; k < op->cin; k += depth) {
        int64_t at = k * op->cout + j;
        depth = least(op->cin - k, DRAWS_MOST / width);
        draw_rows(op, z, k, depth, j, width, false);
        kernels->panel_add(y, job->x + k, xb_op_mu(op) + at, xb_op_sigma(op) + at, z,
                           &(xb_panel){.rows = op->run->batch,
                                       .depth = depth,
                                       .width = width,
                                       .x_row = op->cin,
                                       .y_row = op->cout,
                                       .w_row = op->cout});
    }
    finish_rows(job, j, width);
}

void xb_panel_forward(const xb_op *op, xb_real *y, const xb_real *x)
{
    panel_job job = {.op = op,
                     .y = y,
                     .x = x,
                     .bias = bias_of(op),
                     .slots = op->run->scratch + 2 * op->cout,
                     .width = width_of(op),
                     .slot = slot_size(op)};
    xb_split split = {blocks_of(op), 1, blocks_of(op)};
    if (draws_inside(op)) {
        split = drawn_split(op);
        xb_split_run(op->run->ctx, &split, drawn_piece, &job);
    } else {
        xb_split_run(op->run->ctx, &split, are_few(op) ? few_block : panel_block, &job);
    }
}
