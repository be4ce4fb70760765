/* backend.h: one object owns memory, copies, draws, products, losses, reductions and
 * updates, for training, prediction and studies alike.
 *
 * A buffer is memory that `take` gave. Its address may be offset, so that a part of a
 * block needs no handle of its own, and passed to operations; only the backend reads or
 * writes its contents (tests/sealed_backend.c has buffers that cannot be read otherwise).
 * If `host` is set, any memory of the process is a buffer, and copies between the two
 * sides are skipped: see xb_host_side() and its neighbours below.
 *
 * Operations never fail and take whole batches, which a backend divides into pieces
 * itself. A backend whose device can fail keeps the first error, does nothing more, and
 * returns the error from `check`: callers must check before they use numbers from a
 * backend. Entries marked `optional` may be NULL; all others must be set. Where sizes are
 * counts of numbers, numbers are xb_real (updates: float). */
#ifndef XB_BACKEND_BACKEND_H
#define XB_BACKEND_BACKEND_H

#include "backend/array_ops.h"
#include "backend/layers.h"
#include "crossbayes/vi.h"
#include "kernel/cells_kernel.h"
#include "kernel/cross_kernel.h"
#include "kernel/moved_kernel.h"
#include "kernel/update.h"

/* ---- losses of a batch (N13-N16, N20, V40, V41) */

typedef enum xb_loss_kind {
    XB_LOSS_SQUARE,
    XB_LOSS_GAUSSIAN,
    XB_LOSS_HETEROSCEDASTIC,
    XB_LOSS_SOFTMAX,
    XB_LOSS_STUDENT, /* this and the next where the backend has more_losses */
    XB_LOSS_POISSON,
    XB_LOSS_NEGATIVE_BINOMIAL
} xb_loss_kind;

/* All pointers are buffers. */
typedef struct xb_loss {
    xb_loss_kind kind;
    int64_t outputs;
    const xb_real *target; /* [rows][outputs]; all but softmax */
    const int32_t *label;  /* [rows]; softmax */
    const xb_real *log_sd; /* [outputs]; gaussian; student: and the shape after them;
                              negative binomial: log dispersions */
    xb_real *d_log_sd;     /* the same, added to; NULL: not wanted */
    const xb_real *raw;    /* [rows][outputs]; heteroscedastic, softplus(raw) + least */
    xb_real *d_raw;        /* [rows][outputs] */
    double least;
    double scale;        /* of all gradients */
    const xb_real *link; /* [2][outputs] counts: centre and unit of the log rates */
} xb_loss;

/* ---- updates */

/* (V2-V6) KL to a prior without its constant. Its gradients, times `weight`, are added to
 * grad_mu and grad_sigma (NULL: not wanted). `cross` is the host's; the tables it names
 * are buffers. With rho, which only normal priors allow, sigma is exp(rho), and
 * grad_sigma holds the gradient with respect to sigma before the call and to rho after
 * it. */
typedef struct xb_kl_block {
    double mean, precision, weight; /* the first two: of a normal prior */
    float *grad_mu, *grad_sigma;
    const float *mu, *sigma, *rho;
    int64_t n;
    const xb_cross *cross; /* NULL: a normal prior */
} xb_kl_block;

/* (V31) Weights made of cells: state [cells], `stride` apart, from which mu and sigma [n]
 * follow, and the gradients with respect to both. d_sigma NULL: 0. */
typedef struct xb_cell_block {
    const xb_cell_curve *curve; /* the host's */
    float *state, *d_state;
    int64_t stride, n;
    float *mu, *sigma;
    const float *d_mu, *d_sigma;
} xb_cell_block;

/* (A4-A6) `count` rows of a dense layer given the layer below: its units under Gaussian
 * weights or, `moved`, under a law. Tables, rooms and sums are buffers. */
typedef struct xb_moved_block {
    int64_t in, out, count;
    const xb_real *mu, *bias; /* [in][out], [out]; bias NULL: none */
    bool random, moved; /* not random: a plain product; the fields below are unused */
    const xb_moved_law *law;              /* the host's */
    const xb_sampler *gaussian, *sampler; /* of a Gaussian and of the law */
    xb_stream where;                      /* of the draws of both */
    int64_t first;                        /* number of the first row in that stream */
    /* sigma^n of kernel [in][out] and bias [out], n = 2 .., where it is wanted */
    const xb_real *power[XB_MOVED_ORDER + 1];
    xb_real *raised, *e, *z; /* scratch: [count][in], [count][out], [count][out] */
    xb_real *sum[XB_MOVED_ORDER + 1]; /* [count][out]: the power sums are written here */
} xb_moved_block;

/* (V61) A kernel's means and widths as an array would have them: means on `levels` steps
 * up to the largest one (0: any mean) with an error of `error` times the largest; no
 * width below `floor` times the largest. sigma NULL: there are no widths. */
typedef struct xb_written_block {
    float *mu_to, *sigma_to;
    const float *mu, *sigma;
    int64_t n, levels;
    double error, floor;
    const xb_sampler *normal;
    xb_stream where; /* of the errors */
} xb_written_block;

struct xb_chain; /* chain.h */
struct xb_chain_room;
struct xb_many_steps; /* steps.h */

struct xb_backend {
    bool host;
    void *self; /* a module's own; the host has none */

    /* Optional: fails, with one line that says why, if an operation so far failed. */
    xb_status (*check)(const xb_backend *b, xb_ctx *ctx);

    /* Memory: zeroed, at a cache line's start. */
    xb_status (*take)(const xb_backend *b, xb_ctx *ctx, void **out, int64_t bytes);
    void (*release)(const xb_backend *b, void *buffer); /* NULL is fine */
    void (*put)(const xb_backend *b, void *to, const void *host, int64_t bytes);
    void (*get)(const xb_backend *b, void *host, const void *from, int64_t bytes);
    /* Optional: as put, but without waiting for the operations before it, none of which
     * may use `to`. */
    void (*put_beside)(const xb_backend *b, void *to, const void *host, int64_t bytes);
    void (*copy)(const xb_backend *b, void *to, const void *from, int64_t bytes);
    void (*clear)(const xb_backend *b, void *to, int64_t bytes);
    void (*fill)(const xb_backend *b, xb_real *to, xb_real value, int64_t n);
    /* rows row[i] of `from`, [rows][bytes] each */
    void (*gather)(const xb_backend *b, void *to, const void *from, const int32_t *row,
                   int64_t rows, int64_t bytes);

    /* Optional: byte / 255 (V16) of rows row[i] (row NULL: rows i) of images in a buffer;
     * ~r stands for row r flipped left-right. */
    void (*pixels)(const xb_backend *b, xb_real *to, const uint8_t *from,
                   const int32_t *row, int64_t rows, xb_shape shape);

    /* Layers. Dense and conv are the stochastic linear layer as one operation: mu,
     * sigma, the stream of their noise and an estimator are in the run, and the backend
     * decides whether a draw is ever in memory. */
    const xb_layer_ops *dense, *conv, *maxpool, *batchnorm, *activation, *flatten;
    const xb_layer_ops *block, *norm_block; /* optional: see fuse.c */
    const xb_layer_ops *stack;              /* the same; it only runs forward */
    const xb_layer_ops *rounding; /* optional, as is `written`: training for an array */

    /* Optional, all or none: small nets of dense layers in one call (chain.h). */
    bool (*chain_suits)(const struct xb_chain *chain, const xb_run *run);
    int64_t (*chain_scratch)(const struct xb_chain *chain, const xb_run *run);
    const xb_real *(*chain_forward)(const struct xb_chain *chain, const xb_run *run,
                                    const struct xb_chain_room *room);
    bool (*chain_step)(const struct xb_chain *chain, const xb_run *run,
                       const struct xb_chain_room *room, bool fresh, xb_loss_fn loss,
                       void *arg);

    /* Optional, both or none: many training steps in one call (steps.h). steps_room
     * returns the bytes of room that `count` steps need, or 0 if the backend does not
     * take them. steps returns how many were done: fewer than `count` if the loss or a
     * gradient of the next step is not finite; that step changes nothing. */
    int64_t (*steps_room)(const struct xb_many_steps *steps);
    int64_t (*steps)(const struct xb_many_steps *steps, void *room);

    /* (N7) theta [param_count]: one draw of all weights, mu where they are not random. */
    void (*draw)(const xb_run *run, xb_real *theta);

    /* Optional, both or none: many draws at once, for nets that draws_suit accepts. y
     * [count][batch][outputs] under draws noise.sample .. noise.sample + count - 1; theta
     * [count][param_count]: scratch. */
    bool (*draws_suit)(const xb_net *net);
    void (*draws)(const xb_run *run, xb_real *y, const xb_real *x, xb_real *theta,
                  int64_t count);

    /* Optional: z [count], draws of elements first, first + 1, ... of one stream. */
    void (*stream)(const xb_backend *b, const xb_sampler *sampler, xb_real *z,
                   int64_t count, const xb_stream *where, int64_t first);

    /* Optional: a layer as plans draw it; y [count][out] of x [count][in]. */
    void (*moved)(const xb_run *run, const xb_moved_block *block, xb_real *y,
                  const xb_real *x);

    const xb_array_ops *array; /* optional: simulated arrays */

    bool more_losses; /* `loss` supports those after XB_LOSS_SOFTMAX */
    /* The loss of y [rows][outputs], and dy where it is wanted. */
    double (*loss)(const xb_backend *b, const xb_loss *loss, xb_real *dy,
                   const xb_real *y, int64_t rows);

    bool (*finite)(const xb_backend *b, const xb_real *x, int64_t n);
    /* the same for the squares, which Adam sums for gradients */
    bool (*squares_finite)(const xb_backend *b, const float *x, int64_t n);

    /* Updates (V2-V8). */
    void (*adam)(const xb_backend *b, const xb_ctx *ctx, const xb_adam_block *block,
                 const xb_adam_rates *rates);
    void (*spread_fill)(const xb_backend *b, const xb_ctx *ctx,
                        xb_sigma_transform transform, float *sigma, const float *rho,
                        int64_t n);
    void (*spread_chain)(const xb_backend *b, const xb_ctx *ctx,
                         xb_sigma_transform transform, float *gradient,
                         const float *sigma, int64_t n);
    double (*kl)(const xb_backend *b, const xb_ctx *ctx, const xb_kl_block *block);

    /* Optional, both or none (V31): brings states into their range and computes mu and
     * sigma; computes d_state from d_mu and d_sigma. */
    void (*cells_fill)(const xb_backend *b, const xb_ctx *ctx,
                       const xb_cell_block *block);
    void (*cells_chain)(const xb_backend *b, const xb_ctx *ctx,
                        const xb_cell_block *block);
    void (*written)(const xb_backend *b, const xb_ctx *ctx,
                    const xb_written_block *block);
};

/* The backend of this machine, with any of its kernels, which are in xb_run: host.c. */
extern const xb_backend xb_backend_host;

/* The host's backend of this name; NULL name: "cpu". Returns NULL if there is none, or if
 * the machine cannot run it. */
const xb_backend *xb_backend_find(const char *name);
/* A backend by name, NULL: the context's; a module is loaded if necessary. */
xb_status xb_backend_open(xb_ctx *ctx, const xb_backend **out, const char *name);
/* The actual name; "auto" without a net is the CPU. */
const char *xb_backend_chosen(const xb_ctx *ctx, const char *name);

/* The work that "auto" compares with the cost of starting a GPU: multiply-adds per thread
 * of the context, of one pass that is repeated, or of the whole task. */
typedef enum xb_auto_work { XB_AUTO_PASS, XB_AUTO_WHOLE } xb_auto_work;

/* The name for a net that sees `rows` examples: for "auto" it is "cuda" if there is a GPU
 * and the work is worth starting it, else "cpu". */
const char *xb_backend_for(xb_ctx *ctx, const char *name, const xb_net *net, double rows,
                           xb_auto_work work);

static inline xb_status xb_backend_check(const xb_backend *b, xb_ctx *ctx)
{
    return b->check ? b->check(b, ctx) : XB_OK;
}

/* The operations of a layer alone. */
const xb_layer_ops *xb_backend_layer(const xb_backend *b, const xb_layer *layer);

/* ---- the host's side of a buffer: itself, or `room` of the same size */

/* Where the host writes, and the call that then puts it into the buffer. */
static inline void *xb_host_side(const xb_backend *b, void *buffer, void *room)
{
    return b->host ? buffer : room;
}
static inline void xb_host_sent(const xb_backend *b, void *buffer, const void *room,
                                int64_t bytes)
{
    if (!b->host) b->put(b, buffer, room, bytes);
}
/* Where the host can read the present contents of the buffer. */
static inline const void *xb_host_got(const xb_backend *b, const void *buffer, void *room,
                                      int64_t bytes)
{
    if (b->host) return buffer;
    b->get(b, room, buffer, bytes);
    return room;
}

#endif
