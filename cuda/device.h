/* device.h: the module's kernels as plain functions. The module's other files are C
 * and use CUDA through this header alone. Pointers to numbers point to the device's
 * memory. No function returns an error: the first error is kept (xbc_error), and after
 * it nothing is done. */
#ifndef XBC_DEVICE_H
#define XBC_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crossbayes/random.h"
#include "draw/draw_scalar.h"
#include "kernel/cross_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the device and its memory (device_memory.cu) */

enum { XBC_TEXT = 256 };

/* Returns false if there is no usable device; `why` then says in a few words what is
 * missing. */
bool xbc_open(char why[XBC_TEXT]);
/* The first error: the operation and the driver's message; NULL: there was none. */
const char *xbc_error(void);
void xbc_fail(const char *what); /* records an error unless there is one already */
void *xbc_take(size_t bytes);    /* zeroed; NULL if memory has run out, which is not
                                    recorded as an error */
void xbc_release(void *p);
void xbc_put(void *to, const void *host, size_t bytes);
void xbc_get(void *host, const void *from, size_t bytes);
/* As xbc_put, while operations run that were started before. */
void xbc_put_beside(void *to, const void *host, size_t bytes);
void xbc_copy(void *to, const void *from, size_t bytes);
void xbc_clear(void *to, size_t bytes);
void xbc_wait(void);
int xbc_processors(void);
bool xbc_hopper(void);          /* the device is a Hopper GPU (hopper.cuh) */
int64_t xbc_shared_bytes(void); /* the largest size for a block */
void xbc_fill(float *to, float value, int64_t n);
void xbc_gather(void *to, const void *from, const int32_t *row, int64_t rows,
                int64_t bytes);

/* ---- draws (device_draw.cu) */

/* Neighbouring pieces of a half, those that most of its slow draws need, and their ends,
 * side by side; kernels keep a copy in shared memory. */
enum { XBC_NEAR = 16 };
typedef struct xbc_near {
    xb_affine affine;
    double before; /* the end of the piece before them */
    double end[XBC_NEAR];
    xb_piece piece[XBC_NEAR];
} xbc_near;

/* A law's draws: its source on the device, and the shape of the table on the host. */
typedef struct xbc_source {
    const xb_draw_source *at;
    int columns, degree, halves;
    const xbc_near *near; /* [halves], on the device */
} xbc_source;

/* (device_source.cu) Copies a source to the device; false if memory has run out. The
 * copy's memory is one block, at `at`. */
bool xbc_source_bring(xbc_source *to, const xb_draw_source *from);
void xbc_source_leave(xbc_source *source);

/* (N7) Elements first .. first + count - 1 of a stream, in panels of `size`: element i
 * of panel p goes to out[p * stride + i], as z itself and as mu + sigma z; NULL: not
 * wanted. */
typedef struct xbc_draws {
    xbc_source source;
    xb_stream where;
    int64_t first, count, size, stride;
    bool negate;
    float *z, *theta;
    const float *mu, *sigma; /* [size] */
} xbc_draws;

void xbc_draw(const xbc_draws *job);
/* The same for a tensor that is not random: every panel of theta is mu. */
void xbc_repeat(float *theta, const float *mu, int64_t size, int64_t stride,
                int64_t count);
/* A tensor of a net, with what its draws are addressed by. */
typedef struct xbc_tensor {
    uint32_t number;
    int stochastic;
    int64_t offset, size;
} xbc_tensor;

enum { XBC_TENSORS = 96 }; /* of one launch */

/* (N7) One draw of all these tensors: theta is mu + sigma z, or mu. */
typedef struct xbc_net_draw {
    xbc_source source;
    xb_stream where; /* its tensor is set by the kernel */
    bool negate;
    int tensors;
    xbc_tensor tensor[XBC_TENSORS];
    float *theta;
    const float *mu, *sigma;
} xbc_net_draw;

void xbc_draw_net(const xbc_net_draw *job);
/* (N10) Writes -1 or 1, chosen by the top bits of the words. */
void xbc_signs(float *sign, const xb_stream *where, int64_t first, int64_t count);
/* For each of `chunks` runs of 2^16 words, from `first` on, writes a checksum of the
 * bits of their values. */
void xbc_check_words(uint64_t *sum, const xbc_source *source, uint32_t first, int chunks);

/* One word's term of that checksum. */
XB_BOTH uint64_t xbc_check_term(uint32_t word, uint32_t bits)
{
    uint64_t h = ((uint64_t)word << 32 | bits) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (h >> 32)) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ (h >> 29);
}
enum { XBC_CHECK_WORDS = 1 << 16 };

/* ---- linear layers (device_product.cu); maths N1, N2 */

/* The geometry of a convolution; a dense layer has a window of one pixel. */
typedef struct xbc_window {
    int h, w, c, oh, ow, oc, kh, kw, stride, top, left;
} xbc_window;

/* The batch is cut into parts of `rows` examples, of which the first is shorter by
 * `skip`; part p has its own weights, w + p * stride. */
typedef struct xbc_parts {
    int64_t rows, skip, batch, count, stride;
} xbc_parts;

/* y = x w (+ b, which lies behind the kernel in w); dx = dy w^T; dw [count][n] has the
 * gradient of the kernel, then that of b. */
void xbc_forward(float *y, const float *x, const float *w, bool bias,
                 const xbc_window *win, const xbc_parts *parts);
void xbc_backward_input(float *dx, const float *dy, const float *w, const xbc_window *win,
                        const xbc_parts *parts);
void xbc_backward_weight(float *dw, const float *x, const float *dy, bool bias,
                         const xbc_window *win, const xbc_parts *parts);

/* (N9) A dense layer with one draw for each example: y [rows][out] = x (mu + sigma z).
 * Draws are used as they are made and never stored. `out` is a multiple of 64, `room`
 * has xbc_fused_room() floats. */
typedef struct xbc_fused {
    xbc_source source;
    xb_stream where;
    int64_t first; /* element of the first row's draw, a multiple of 64 */
    bool negate;
    int64_t rows, in, out;
    float *y;
    const float *x, *mu, *sigma, *bias; /* bias [rows][out]; NULL: none */
    float *room;
} xbc_fused;

int64_t xbc_fused_room(int64_t rows, int64_t in, int64_t out);
void xbc_fused_forward(const xbc_fused *job);

/* (N9) A dense layer with one draw for each `group` examples, on tensor cores; the
 * first group is shorter by `skip`. The result is accurate to 2^-16 of the sum of |x|
 * |w|. `room` has xbc_grouped_room() floats. `wide`: use the instructions of Hopper
 * GPUs where that is possible (device_sixteen.cu, device_wide.cu). */
typedef struct xbc_grouped {
    xbc_source source;
    xb_stream where;
    int64_t first; /* element of the first group's draw, a multiple of 64 */
    bool negate, wide;
    int64_t rows, in, out, group, groups, skip; /* groups: at most XBC_GROUPS */
    float *y;
    const float *x, *mu, *sigma, *bias; /* bias [groups][out]; NULL: none */
    float *room;
} xbc_grouped;

enum { XBC_GROUPS = 1 << 12 };
/* Whether there is a kernel for this. */
bool xbc_grouped_suits(const xbc_source *source, int64_t out);
int64_t xbc_grouped_room(int64_t rows, int64_t group, int64_t in, int64_t out);
void xbc_grouped_forward(const xbc_grouped *job);

/* ---- a convolution of 3 x 3 at stride 1, its relu and its maxpool of 2 as one
 * (device_block.cu); maths N18 */

typedef struct xbc_block {
    xbc_window conv;
    int ph, pw; /* height and width of the pool's output */
    int64_t rows;
    const float *x, *w, *bias; /* w [3][3][c][oc]; bias NULL: none */
    float *y;                  /* [rows][ph][pw][oc] */
    uint8_t *place; /* [rows][ph][pw][oc]: the place of the largest value in its
                       window; 4: relu gave 0; NULL: not wanted */
    const float *dy;
    float *dx; /* [rows][h][w][c] */
    float *dw; /* [slices][n]: gradient of the kernel, then of the bias */
    /* (N4) [c]: a batchnorm before the convolution, applied to x as it is read. This
     * is possible only forward, on tensor cores, and if c is a multiple of 16. NULL:
     * none. */
    const float *mean, *gain, *shift;
} xbc_block;

/* Whether it runs on tensor cores, as the larger products of device_product.cu do. */
bool xbc_block_suits(const xbc_block *job);
void xbc_block_forward(const xbc_block *job);
void xbc_block_input(const xbc_block *job);
void xbc_block_weight(const xbc_block *job);
int64_t xbc_block_slices(const xbc_block *job); /* number of slices; it does not grow
                                                   if there are fewer rows */

typedef enum xbc_act { XBC_NONE, XBC_ELU, XBC_RELU, XBC_TANH, XBC_SIGMOID } xbc_act;
enum { XBC_WIDEST = 128 }; /* outputs of a small dense layer at most */

/* ---- such blocks in a row, each with a batchnorm after it or none, if there is no
 * backward pass (device_stack.cu); maths N4, N18. Small dense layers may follow
 * (device_tail.cu). */

enum { XBC_STACK = 16, XBC_TAIL = 8 }; /* blocks, dense layers at most */

/* The running statistics and the parameters of a batchnorm, [c] each; `scale` NULL:
 * there is none. */
typedef struct xbc_affine {
    const float *scale, *shift, *mean, *variance;
    double epsilon;
} xbc_affine;

typedef struct xbc_stack_block {
    xbc_window conv;
    int ph, pw;            /* height and width of the pool's output */
    const float *w, *bias; /* as in xbc_block */
    xbc_affine after;
} xbc_stack_block;

/* A dense layer, then a batchnorm and an activation, or none. */
typedef struct xbc_tail_link {
    int in, out;
    const float *w, *bias; /* w [in][out]; bias NULL: none */
    xbc_affine after;
    xbc_act act;
} xbc_tail_link;

/* y [rows][out] of small dense layers. */
typedef struct xbc_tail {
    int64_t rows;
    int links;
    xbc_tail_link link[XBC_TAIL];
    const float *x;
    float *y;
} xbc_tail;

bool xbc_tail_suits(const xbc_tail *job);
void xbc_tail_forward(const xbc_tail *job);

/* y: the outputs of `tail`, whose other fields but links are unused; if it has no links,
 * [rows][ph][pw][oc] of the last block. `room` has xbc_stack_room() floats. */
typedef struct xbc_stack {
    int64_t rows;
    int blocks;
    xbc_stack_block block[XBC_STACK];
    xbc_affine before; /* a batchnorm before the first block */
    xbc_tail tail;
    const float *x;
    float *y, *room;
} xbc_stack;

/* Whether there is a kernel for this block. Only the first may have three input
 * channels, and then nothing comes before it. */
bool xbc_stack_suits(const xbc_stack_block *block);
int64_t xbc_stack_room(const xbc_stack *job);
void xbc_stack_forward(const xbc_stack *job);

/* (V16) Writes images [h][w][c] as bytes / 255: rows row[i], or rows i if `row` is
 * NULL; ~r means row r flipped left-right. */
void xbc_pixels(float *to, const uint8_t *from, const int32_t *row, int64_t rows,
                int64_t h, int64_t w, int64_t c);

/* ---- a small dense net under many draws at once (device_many.cu) */

enum { XBC_LINKS = 16 }; /* layers at most */

/* A dense layer and the activation after it; kernel and bias are at theta + offset. */
typedef struct xbc_link {
    int in, out, bias;
    int64_t offset;
    xbc_act act;
} xbc_link;

/* y [count][rows][out of the last link]; draw i uses sample where.sample + i of the
 * stream. With `antithetic` an odd sample is the negative of the one before it. */
typedef struct xbc_many {
    xbc_source source;
    xb_stream where; /* its tensor is set by the kernel */
    bool antithetic;
    int64_t rows, count, params;
    int links, tensors;
    xbc_link link[XBC_LINKS];
    xbc_tensor tensor[2 * XBC_LINKS];
    float *y, *theta; /* theta [count][params] is working memory */
    const float *x, *mu, *sigma;
} xbc_many;

void xbc_many_draws(const xbc_many *job);

/* ---- element by element (device_layers.cu) */

void xbc_activate(float *y, const float *x, int64_t n, xbc_act f);
void xbc_deactivate(float *dx, const float *dy, const float *y, int64_t n, xbc_act f);
void xbc_multiply(float *out, const float *a, const float *b, int64_t n);
/* to [n] += factor times the sum over parts p of dw[p] c[p], with `stride` from one c
 * to the next; c NULL: all are 1. The sums are in double, in the order of the parts. */
void xbc_add_parts(float *to, const float *dw, int64_t dw_stride, const float *c,
                   int64_t stride, int64_t count, int64_t n, float factor);
/* out is set to x [rows][pixels][c] times r [rows][c], or that is added to it */
void xbc_channels(float *out, const float *x, const float *r, int64_t rows,
                  int64_t pixels, int64_t c, bool add);
/* (N11) */
void xbc_local_forward(float *y, const float *v, const float *e, int64_t n);
void xbc_local_backward(float *dv, const float *dy, const float *v, const float *e,
                        int64_t n);
void xbc_local_input(float *dx, const float *dxx, const float *x, int64_t n);

/* (N3) */
void xbc_maxpool(float *y, const float *x, int64_t rows, const xbc_window *win);
void xbc_maxpool_backward(float *dx, const float *dy, const float *x, int64_t rows,
                          const xbc_window *win);

/* (N4, N5) Batchnorm of x [rows][c]. `keep` has mean, inverse, gain, a and b, [c]
 * each. `state` has the running mean and variance; the new ones are written to
 * `moved`. `room` has xbc_norm_room() doubles. */
typedef struct xbc_norm {
    int64_t rows, c;
    float *keep;
    const float *scale, *shift, *state;
    float *moved; /* NULL: use the running statistics */
    double momentum, epsilon;
    double *room;
} xbc_norm;

int64_t xbc_norm_room(int64_t rows, int64_t c);
void xbc_norm_ready(const xbc_norm *job, const float *x); /* fills only `keep` */
void xbc_norm_forward(const xbc_norm *job, float *y, const float *x);
void xbc_norm_backward(const xbc_norm *job, float *dx, float *d_scale, float *d_shift,
                       const float *dy, const float *x);

/* ---- steps (device_step.cu) */

typedef enum xbc_loss_kind {
    XBC_SQUARE,
    XBC_GAUSSIAN,
    XBC_HETEROSCEDASTIC,
    XBC_SOFTMAX,
    XBC_ENERGY /* only in xbc_steps */
} xbc_loss_kind;

typedef struct xbc_loss {
    xbc_loss_kind kind;
    int64_t rows, outputs;
    const float *y, *target, *log_sd, *raw;
    const int32_t *label;
    float *dy, *d_log_sd, *d_raw;
    double least, scale;
} xbc_loss;

/* (N13-N16) */
double xbc_find_loss(const xbc_loss *job);
bool xbc_all_below(const float *x, int64_t n,
                   float limit); /* |x| < limit for all; a NaN is not below */

typedef struct xbc_adam {
    float *parameter, *first, *second, *sigma;
    const float *gradient;
    int64_t n;
    float rate, beta1, beta2, rest1, rest2, epsilon;
} xbc_adam;

void xbc_adam_step(const xbc_adam *job);
void xbc_spread_fill(float *sigma, const float *rho, int64_t n, bool exponential);
void xbc_spread_chain(float *gradient, const float *sigma, int64_t n, bool exponential);

/* (V2-V6) */
typedef struct xbc_kl {
    float *grad_mu, *grad_sigma;
    const float *mu, *sigma, *rho;
    int64_t n;
    double mean, precision, weight;
    const xb_cross *cross; /* in the host's memory, its tables in the device's; NULL: a
                              normal prior */
} xbc_kl;

double xbc_find_kl(const xbc_kl *job);

/* ---- simulated arrays (device_array.cu); maths X13, X14, X50, X51 */

/* Multiples of `step` from low to high, counted in steps. */
typedef struct xbc_converter {
    float step, inverse, low, high;
} xbc_converter;

void xbc_quantise(float *y, const float *x, const xbc_converter *c, int64_t n);
/* Writes the windows of output lines [from, to) of one image as rows. */
void xbc_windows(float *columns, const float *x, const xbc_window *g, int64_t from,
                 int64_t to);

/* y [rows][out] = x [rows][in] w + b; see xb_tile_block. */
typedef struct xbc_tiles {
    int64_t rows, in, out, tile;
    float *y;
    const float *x, *w, *b;
    bool convert;
    xbc_converter adc;
    const float *pre, *post, *shift; /* [row tiles][out], or NULL */
} xbc_tiles;

void xbc_tiles_forward(const xbc_tiles *job);

/* ---- many steps of training of a small dense net (device_steps.cu) */

/* The largest numbers of layers, and of targets with a noise each. */
enum { XBC_STEP_LINKS = 8, XBC_STEP_SUMS = 8 };

typedef struct xbc_step {
    int64_t first; /* number of its first row in `order` */
    int32_t rows;
    uint32_t number; /* number of the step in the stream of draws */
    int64_t keep;    /* the entry of `kept` that it fills; -1: none */
    double scale;
    float rate, sigma_rate;
} xbc_step;

/* A kernel or a bias; see xb_step_tensor. */
typedef struct xbc_step_tensor {
    uint32_t number;
    int moves, random;
    double mean, precision;
} xbc_step_tensor;

/* A layer: its sizes, the same rounded up to multiples of four (inp, outp), and where
 * its numbers are (steps.cuh). */
typedef struct xbc_step_link {
    int in, out, bias, inp, outp;
    int at, turned, y;
    int64_t offset; /* place among the parameters */
    int end[2];     /* where the counters of its kernel and of its bias end, among
                       those of all layers */
    /* 2^32 / n rounded up: numbers below 2^24 are divided by n by multiplying with it;
     * 0: n is 1 */
    uint32_t by_out, by_outp, by_columns, by_across;
    xbc_act act;
    /* the activation's slope at its output y is c0 + c1 y + c2 y^2, with one set of
     * coefficients for y <= 0 and one for y > 0 */
    float slope[2][3];
    xbc_step_tensor tensor[2];
} xbc_step_link;

typedef struct xbc_steps {
    xbc_source source;
    xb_stream where;
    int local, noisy; /* local: the estimator is local, else shared; noisy: weights are
                         drawn at all */
    int links, batch, weights, turned, units, widest, slices;
    int outputs, targets, sums_each; /* targets: numbers of one row's target; sums_each:
                                        sums of its loss */
    int counters;                    /* of the draws of all weights */
    uint32_t by_each; /* a divisor as in xbc_step_link, for a row's inputs and targets */
    xbc_step_link link[XBC_STEP_LINKS];
    xbc_loss_kind loss;      /* square, gaussian, softmax, energy */
    const float *x, *target; /* labels are the target of softmax */
    const int32_t *order;
    float *theta, *first, *second, *sigma;
    int64_t rho, noise, parameters;
    int noises;
    float beta1, beta2, rest1, rest2, epsilon;
    double kl_weight;
    int64_t count;
    const xbc_step *step; /* [count] */
    double *sums;         /* [count][2]: loss and KL of each step */
    int64_t *done;
    float *kept; /* [..][noises + parameters] */
    float *room; /* xbc_steps_floats() floats */
    int64_t room_floats;
} xbc_steps;

int64_t xbc_steps_floats(const xbc_steps *job);
bool xbc_steps_shared(const xbc_steps *job);    /* the numbers fit into a block's
                                                   shared memory */
bool xbc_steps_draws(const xbc_source *source); /* there is a kernel for the estimator
                                                   `local` with this table */
/* Starts the steps on a stream of their own and returns its number, -1 if they were
 * not started. xbc_steps_wait needs no lock; its return value is passed to
 * xbc_steps_end. */
int xbc_steps_start(const xbc_steps *job);
int xbc_steps_wait(int number);
void xbc_steps_end(int number, int status);

#ifdef __cplusplus
}
#endif
#endif
