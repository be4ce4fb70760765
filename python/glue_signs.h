/* glue_signs.h: the signs of flipout (maths N10) applied to the inputs, outputs and
 * gradients of dense layers of crossbayes.torch, in the precision REAL. Included once for
 * float and once for double, as glue_weights.h is, and without an include guard for the
 * same reason. Addresses are integers, as PyTorch gives them. */

typedef struct NAME(turning) {
    REAL *to;          /* [n], written or added to */
    const REAL *from;  /* [n] */
    const float *sign; /* [n] */
    const REAL *y; /* [n]: outputs of relu, which `from` is the gradient of; or NULL */
    REAL *kept;    /* [n]: the gradient behind relu, written if there is y */
    int64_t n;
    bool relu; /* sums go through relu */
} NAME(turning);

XB_PY_WIDE static void NAME(turn_some)(REAL *restrict to, const REAL *from,
                                       const float *sign, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = from[i] * (REAL)sign[i];
}

/* The comparison keeps NaN, as PyTorch's relu does. */
XB_PY_WIDE static void NAME(turn_add_some)(REAL *restrict to, const REAL *from,
                                           const float *sign, int64_t n, bool relu)
{
    if (relu)
        for (int64_t i = 0; i < n; i++) {
            const REAL sum = to[i] + from[i] * (REAL)sign[i];
            to[i] = sum < 0 ? 0 : sum;
        }
    else
        for (int64_t i = 0; i < n; i++) to[i] += from[i] * (REAL)sign[i];
}

/* `kept` may be `from`, so neither is restrict. */
XB_PY_WIDE static void NAME(turn_back_some)(REAL *restrict to, REAL *kept,
                                            const REAL *from, const REAL *y,
                                            const float *sign, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const REAL d = y[i] <= 0 ? 0 : from[i];
        kept[i] = d;
        to[i] = d * (REAL)sign[i];
    }
}

static void NAME(turn_block)(void *arg, int64_t piece)
{
    const NAME(turning) *t = arg;
    const int64_t at = piece * XB_PY_BLOCK;
    const int64_t n = t->n - at < XB_PY_BLOCK ? t->n - at : XB_PY_BLOCK;
    if (t->y) NAME(turn_back_some)
    (t->to + at, t->kept + at, t->from + at, t->y + at, t->sign + at, n);
    else NAME(turn_some)(t->to + at, t->from + at, t->sign + at, n);
}

static void NAME(turn_add_block)(void *arg, int64_t piece)
{
    const NAME(turning) *t = arg;
    const int64_t at = piece * XB_PY_BLOCK;
    const int64_t n = t->n - at < XB_PY_BLOCK ? t->n - at : XB_PY_BLOCK;
    NAME(turn_add_some)(t->to + at, t->from + at, t->sign + at, n, t->relu);
}

/* to = from * sign */
static void NAME(turn)(const xb_ctx *ctx, uintptr_t to, uintptr_t from, uintptr_t sign,
                       int64_t n)
{
    NAME(turning)
    t = {.to = (REAL *)to,
         .from = (const REAL *)from,
         .sign = (const float *)sign,
         .n = n};
    xb_parallel_for(ctx, (n + XB_PY_BLOCK - 1) / XB_PY_BLOCK, NAME(turn_block), &t);
}

/* to += from * sign, and then relu if it is wanted. */
static void NAME(turn_add)(const xb_ctx *ctx, uintptr_t to, uintptr_t from,
                           uintptr_t sign, int64_t n, bool relu)
{
    NAME(turning)
    t = {.to = (REAL *)to,
         .from = (const REAL *)from,
         .sign = (const float *)sign,
         .n = n,
         .relu = relu};
    xb_parallel_for(ctx, (n + XB_PY_BLOCK - 1) / XB_PY_BLOCK, NAME(turn_add_block), &t);
}

/* kept = from where y > 0, else 0: the gradient behind relu; to = kept * sign. */
static void NAME(turn_back)(const xb_ctx *ctx, uintptr_t to, uintptr_t kept,
                            uintptr_t from, uintptr_t y, uintptr_t sign, int64_t n)
{
    NAME(turning)
    t = {.to = (REAL *)to,
         .from = (const REAL *)from,
         .sign = (const float *)sign,
         .y = (const REAL *)y,
         .kept = (REAL *)kept,
         .n = n};
    xb_parallel_for(ctx, (n + XB_PY_BLOCK - 1) / XB_PY_BLOCK, NAME(turn_block), &t);
}
