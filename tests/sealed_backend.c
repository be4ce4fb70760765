/* sealed_backend.c: see sealed_backend.h. Buffers are pages without any right; an
 * operation unseals all of them on its way in and seals them on its way out, so that a
 * layer, a trainer or a prediction that looks into one ends in SIGSEGV. What an operation
 * gets as a buffer must be one, and what it gets as the host's memory must not: a device
 * would have no use for it. Threads may be inside at the same time. */
#include "sealed_backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/chain.h"
#include "backend/host.h"

/* One range of addresses, of which buffers take one part after the other; it starts again
 * when all were released. */
#define RANGE ((size_t)1 << 36)

static char *range;
static size_t taken; /* bytes from its start */
static int buffers, inside;
static int64_t calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static xb_backend sealed;
bool sealed_in_use = true;

static void die(const char *why)
{
    fprintf(stderr, "sealed backend: %s\n", why);
    abort();
}

static void set_rights(int rights)
{
    if (taken > 0 && mprotect(range, taken, rights) != 0) die("mprotect");
}

static void enter(void)
{
    pthread_mutex_lock(&lock);
    if (inside++ == 0) set_rights(PROT_READ | PROT_WRITE);
    calls++;
    pthread_mutex_unlock(&lock);
}

static void leave(void)
{
    pthread_mutex_lock(&lock);
    if (--inside == 0) set_rights(PROT_NONE);
    pthread_mutex_unlock(&lock);
}

int64_t sealed_calls(void) { return calls; }
int sealed_buffers(void) { return buffers; }

static bool is_buffer(const void *p)
{
    return (const char *)p >= range && (const char *)p < range + RANGE;
}

static void own(const void *p)
{
    if (p && !is_buffer(p)) die("memory of the host as a buffer");
}

static void foreign(const void *p)
{
    if (p && is_buffer(p)) die("a buffer as memory of the host");
}

/* ---- memory */

/* Its size stands before the buffer, in a page of its own. */
static xb_status take(const xb_backend *b, xb_ctx *ctx, void **out, int64_t bytes)
{
    (void)b;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = ((size_t)bytes / page + 2) * page;
    pthread_mutex_lock(&lock);
    bool fits = size <= RANGE - taken;
    char *p = range + taken;
    if (fits) taken += size, buffers++;
    if (fits && mprotect(p, size, PROT_READ | PROT_WRITE) != 0) die("mprotect");
    if (fits) *(size_t *)(void *)p = size;
    if (fits && inside == 0) set_rights(PROT_NONE);
    pthread_mutex_unlock(&lock);
    if (!fits) return xb_fail(ctx, XB_E_MEMORY, "no memory for a buffer");
    *out = p + page;
    return XB_OK;
}

static void release(const xb_backend *b, void *buffer)
{
    (void)b;
    if (!buffer) return;
    char *p = (char *)buffer - sysconf(_SC_PAGESIZE);
    enter();
    pthread_mutex_lock(&lock);
    madvise(p, *(size_t *)(void *)p, MADV_DONTNEED); /* zeros, when it is taken again */
    if (--buffers == 0) taken = 0;
    pthread_mutex_unlock(&lock);
    leave();
}

#define INSIDE(CALL)                                                                     \
    do {                                                                                 \
        enter();                                                                         \
        CALL;                                                                            \
        leave();                                                                         \
    } while (0)

static void put(const xb_backend *b, void *to, const void *host, int64_t bytes)
{
    own(to), foreign(host);
    INSIDE(xb_backend_host.put(b, to, host, bytes));
}

static void get(const xb_backend *b, void *host, const void *from, int64_t bytes)
{
    own(from), foreign(host);
    INSIDE(xb_backend_host.get(b, host, from, bytes));
}

static void copy(const xb_backend *b, void *to, const void *from, int64_t bytes)
{
    own(to), own(from);
    INSIDE(xb_backend_host.copy(b, to, from, bytes));
}

static void clear(const xb_backend *b, void *to, int64_t bytes)
{
    own(to);
    INSIDE(xb_backend_host.clear(b, to, bytes));
}

static void fill(const xb_backend *b, xb_real *to, xb_real value, int64_t n)
{
    own(to);
    INSIDE(xb_backend_host.fill(b, to, value, n));
}

static void gather(const xb_backend *b, void *to, const void *from, const int32_t *row,
                   int64_t rows, int64_t bytes)
{
    own(to), own(from), own(row);
    INSIDE(xb_backend_host.gather(b, to, from, row, rows, bytes));
}

/* Images as numbers, read by a device itself (V16): the plain form of what a GPU does. */
static void read_images(xb_real *to, const uint8_t *from, const int32_t *row,
                        int64_t rows, xb_shape shape)
{
    for (int64_t i = 0; i < rows; i++) {
        const int64_t at = row ? row[i] : i, image = at < 0 ? ~at : at;
        for (int64_t j = 0; j < shape.h * shape.w; j++) {
            const int64_t column = j % shape.w;
            const int64_t pixel = at < 0 ? j - column + shape.w - 1 - column : j;
            for (int64_t c = 0; c < shape.c; c++)
                *to++ =
                    (xb_real)(from[(image * shape.h * shape.w + pixel) * shape.c + c] /
                              255.0);
        }
    }
}

static void pixels(const xb_backend *b, xb_real *to, const uint8_t *from,
                   const int32_t *row, int64_t rows, xb_shape shape)
{
    (void)b;
    own(to), own(from), own(row);
    INSIDE(read_images(to, from, row, rows, shape));
}

/* ---- layers */

static void own_run(const xb_run *run)
{
    own(run->weights.mu), own(run->weights.sigma), own(run->weights.state);
    own(run->gradient.mu), own(run->gradient.sigma), own(run->gradient.x);
    own(run->scratch), own(run->keep);
}

#define SEALED_LAYER(NAME)                                                               \
    static void NAME##_forward(const xb_run *run, const xb_layer *layer, xb_real *y,     \
                               const xb_real *x)                                         \
    {                                                                                    \
        own_run(run), own(y), own(x);                                                    \
        INSIDE(xb_ops_##NAME.forward(run, layer, y, x));                                 \
    }                                                                                    \
    static void NAME##_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,   \
                                const xb_real *dy, const xb_real *x, const xb_real *y)   \
    {                                                                                    \
        own_run(run), own(dx), own(dy), own(x), own(y);                                  \
        INSIDE(xb_ops_##NAME.backward(run, layer, dx, dy, x, y));                        \
    }                                                                                    \
    static xb_layer_ops sealed_##NAME;                                                   \
    static const xb_layer_ops *seal_##NAME(void)                                         \
    {                                                                                    \
        sealed_##NAME = xb_ops_##NAME;                                                   \
        sealed_##NAME.forward = NAME##_forward;                                          \
        sealed_##NAME.backward = NAME##_backward;                                        \
        return &sealed_##NAME;                                                           \
    }

SEALED_LAYER(dense)
SEALED_LAYER(conv)
SEALED_LAYER(maxpool)
SEALED_LAYER(batchnorm)
SEALED_LAYER(activation)
SEALED_LAYER(flatten)
SEALED_LAYER(block)
SEALED_LAYER(norm_block)
SEALED_LAYER(rounding)

static void own_room(const xb_run *run, const xb_chain_room *room)
{
    own_run(run);
    own(room->x), own(room->output), own(room->gradient[0]), own(room->gradient[1]);
}

static const xb_real *chain_forward(const xb_chain *chain, const xb_run *run,
                                    const xb_chain_room *room)
{
    const xb_real *y;
    own_room(run, room);
    INSIDE(y = xb_backend_host.chain_forward(chain, run, room));
    return y;
}

static bool chain_step(const xb_chain *chain, const xb_run *run,
                       const xb_chain_room *room, bool fresh, xb_loss_fn loss, void *arg)
{
    bool done;
    own_room(run, room);
    INSIDE(done = xb_backend_host.chain_step(chain, run, room, fresh, loss, arg));
    return done;
}

static void draw(const xb_run *run, xb_real *theta)
{
    own_run(run), own(theta);
    INSIDE(xb_backend_host.draw(run, theta));
}

static void moved(const xb_run *run, const xb_moved_block *m, xb_real *y,
                  const xb_real *x)
{
    own(m->mu), own(m->bias), own(m->raised), own(m->e), own(m->z), own(y), own(x);
    for (int n = 0; n <= XB_MOVED_ORDER; n++) own(m->power[n]), own(m->sum[n]);
    foreign(m->law);
    INSIDE(xb_backend_host.moved(run, m, y, x));
}

/* ---- simulated arrays */

static void quantise(const xb_run *run, xb_real *y, const xb_real *x,
                     const xb_steps *steps, int64_t n)
{
    own(y), own(x), foreign(steps);
    INSIDE(xb_ops_array.quantise(run, y, x, steps, n));
}

static void windows(const xb_run *run, xb_real *columns, const xb_real *x,
                    const xb_window *g, int64_t from, int64_t to)
{
    own(columns), own(x);
    INSIDE(xb_ops_array.windows(run, columns, x, g, from, to));
}

static void tiles(const xb_run *run, const xb_tile_block *t, xb_real *y, const xb_real *x)
{
    own(y), own(x), own(t->w), own(t->b), own(t->pre), own(t->post), own(t->shift);
    own(t->slice), own(t->part);
    INSIDE(xb_ops_array.tiles(run, t, y, x));
}

static const xb_array_ops array_ops = {quantise, windows, tiles};

/* ---- losses, reductions, updates */

static double loss(const xb_backend *b, const xb_loss *l, xb_real *dy, const xb_real *y,
                   int64_t rows)
{
    double value;
    own(l->target), own(l->label), own(l->log_sd), own(l->d_log_sd), own(l->raw);
    own(l->d_raw), own(dy), own(y);
    INSIDE(value = xb_backend_host.loss(b, l, dy, y, rows));
    return value;
}

static bool finite_all(const xb_backend *b, const xb_real *x, int64_t n)
{
    bool all;
    own(x);
    INSIDE(all = xb_backend_host.finite(b, x, n));
    return all;
}

static bool squares_finite(const xb_backend *b, const float *x, int64_t n)
{
    bool all;
    own(x);
    INSIDE(all = xb_backend_host.squares_finite(b, x, n));
    return all;
}

static void adam(const xb_backend *b, const xb_ctx *ctx, const xb_adam_block *k,
                 const xb_adam_rates *rates)
{
    own(k->parameter), own(k->first), own(k->second), own(k->gradient), own(k->sigma);
    INSIDE(xb_backend_host.adam(b, ctx, k, rates));
}

static void spread_fill(const xb_backend *b, const xb_ctx *ctx,
                        xb_sigma_transform transform, float *sigma, const float *rho,
                        int64_t n)
{
    own(sigma), own(rho);
    INSIDE(xb_backend_host.spread_fill(b, ctx, transform, sigma, rho, n));
}

static void spread_chain(const xb_backend *b, const xb_ctx *ctx,
                         xb_sigma_transform transform, float *gradient,
                         const float *sigma, int64_t n)
{
    own(gradient), own(sigma);
    INSIDE(xb_backend_host.spread_chain(b, ctx, transform, gradient, sigma, n));
}

static void own_cells(const xb_cell_block *k)
{
    own(k->state), own(k->d_state), own(k->mu), own(k->sigma), own(k->d_mu);
    if (k->d_sigma) own(k->d_sigma);
}

static void cells_fill(const xb_backend *b, const xb_ctx *ctx, const xb_cell_block *k)
{
    own_cells(k);
    INSIDE(xb_backend_host.cells_fill(b, ctx, k));
}

static void written(const xb_backend *b, const xb_ctx *ctx, const xb_written_block *k)
{
    own(k->mu_to), own(k->mu);
    if (k->sigma) own(k->sigma), own(k->sigma_to);
    INSIDE(xb_backend_host.written(b, ctx, k));
}

static void cells_chain(const xb_backend *b, const xb_ctx *ctx, const xb_cell_block *k)
{
    own_cells(k);
    INSIDE(xb_backend_host.cells_chain(b, ctx, k));
}

static void own_curve(const xb_curve_table *c) { own(c->first), own(c->piece); }
static void own_rule(const xb_cross_rule *r) { own(r->node), own(r->weight); }

static void own_cross(const xb_cross *c)
{
    foreign(c);
    own_curve(&c->meanabs.curve), own_curve(&c->kappa);
    own_rule(&c->few), own_rule(&c->many), own_rule(&c->spike);
}

static double kl(const xb_backend *b, const xb_ctx *ctx, const xb_kl_block *k)
{
    double sum;
    own(k->grad_mu), own(k->grad_sigma), own(k->mu), own(k->sigma), own(k->rho);
    if (k->cross) own_cross(k->cross);
    INSIDE(sum = xb_backend_host.kl(b, ctx, k));
    return sum;
}

static void make(void)
{
    range =
        mmap(NULL, RANGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) die("mmap");
    sealed = (xb_backend){
        .take = take,
        .release = release,
        .put = put,
        .get = get,
        .copy = copy,
        .clear = clear,
        .fill = fill,
        .gather = gather,
        .pixels = pixels,
        .dense = seal_dense(),
        .conv = seal_conv(),
        .maxpool = seal_maxpool(),
        .batchnorm = seal_batchnorm(),
        .activation = seal_activation(),
        .flatten = seal_flatten(),
        .block = seal_block(),
        .norm_block = seal_norm_block(),
        .chain_suits = xb_backend_host.chain_suits,
        .chain_scratch = xb_backend_host.chain_scratch,
        .chain_forward = chain_forward,
        .chain_step = chain_step,
        .draw = draw,
        .moved = moved,
        .array = &array_ops,
        .loss = loss,
        .finite = finite_all,
        .squares_finite = squares_finite,
        .adam = adam,
        .spread_fill = spread_fill,
        .spread_chain = spread_chain,
        .kl = kl,
        .cells_fill = cells_fill,
        .cells_chain = cells_chain,
        .rounding = seal_rounding(),
        .written = written,
    };
}

const xb_backend *sealed_backend(void)
{
    pthread_once(&once, make);
    return &sealed;
}

const xb_backend *__real_xb_backend_find(const char *name);
const xb_backend *__wrap_xb_backend_find(const char *name);

const xb_backend *__wrap_xb_backend_find(const char *name)
{
    const xb_backend *found = __real_xb_backend_find(name);
    return found && sealed_in_use ? sealed_backend() : found;
}
