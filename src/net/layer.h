/* layer.h: what a layer is inside a net, and the table row each kind fills.
 *
 * A new layer is one file that defines an `xb_layer_kind` and one row in the table
 * of net.c. */
#ifndef XB_NET_LAYER_H
#define XB_NET_LAYER_H

#include "base/ctx.h"
#include "crossbayes/net.h"
#include "net/net_text.h"

enum { XB_LAYER_TEXT = 96 };

/* Sizes are at most this, and so are all products of a layer's sizes that are
 * formed before they are checked. */
#define XB_NET_SIZE_MAX (INT64_C(1) << 31)

/* A window that slides over an image: conv and maxpool. */
typedef struct xb_window {
    int64_t h, w, c;    /* of the input */
    int64_t oh, ow, oc; /* of the output */
    int64_t kh, kw, stride;
    int64_t top, left; /* padding before the first row and column */
} xb_window;

typedef struct xb_layer {
    const struct xb_layer_kind *kind;
    xb_shape in, out;
    int64_t units;    /* dense, conv: output channels */
    xb_window window; /* conv, maxpool */
    bool same, ceil, bias;
    double momentum, epsilon; /* batchnorm */
    int tensor;               /* the first of its tensors; -1: none */
    int tensors;              /* how many */
    int64_t state;            /* offset of running mean [c], variance [c] */
} xb_layer;

struct xb_net {
    char *text;
    int n_layer;
    xb_layer *layer; /* [n_layer] */
    int n_tensor;
    xb_tensor *tensor; /* [n_tensor] */
    int64_t param_count, state_count;
    xb_net_options opt;
    xb_shape input;
};

struct xb_run; /* run.h */
struct xb_linear;

/* Where a layer's output goes. */
typedef enum xb_placement {
    XB_PLACE_FRESH,     /* a buffer of its own */
    XB_PLACE_HELD,      /* the same; backward needs its output */
    XB_PLACE_OVERWRITE, /* may overwrite its input; backward needs its output */
    XB_PLACE_ALIAS      /* its output is its input */
} xb_placement;

/* Functions that a linear layer can apply to its own outputs, and undo below it. */
typedef enum xb_act {
    XB_ACT_NONE,
    XB_ACT_ELU,
    XB_ACT_RELU,
    XB_ACT_TANH,
    XB_ACT_SIGMOID
} xb_act;

typedef struct xb_layer_kind {
    const char *name;
    xb_placement placement;
    xb_act act;                     /* the activations: which one */
    const struct xb_linear *linear; /* dense, conv: the operation by the weights */
    /* Reads the words after the name. NULL: there are none. */
    xb_status (*parse)(xb_reading *r, xb_layer *layer);
    /* out from in. NULL: the same shape. */
    xb_status (*infer)(xb_reading *r, xb_layer *layer);
    /* Adds the layer's tensors and state to the net. NULL: it has none. */
    xb_status (*declare)(xb_reading *r, xb_net *net, xb_layer *layer, int index);
    /* Appends the words after the name, shortest form, to text. */
    void (*write)(const xb_layer *layer, char *text, size_t size);

    /* Reals kept from forward to backward, and of room while it runs, for the run's
     * batch. NULL: none. */
    int64_t (*keep)(const struct xb_run *run, const xb_layer *layer);
    int64_t (*scratch)(const struct xb_run *run, const xb_layer *layer);
    void (*forward)(const struct xb_run *run, const xb_layer *layer, xb_real *y,
                    const xb_real *x);
    /* dx NULL: not wanted. Parameter gradients are added to run->gradient. Where the
     * placement is not fresh, dx may be dy. */
    void (*backward)(const struct xb_run *run, const xb_layer *layer, xb_real *dx,
                     const xb_real *dy, const xb_real *x, const xb_real *y);
} xb_layer_kind;

extern const xb_layer_kind xb_layer_dense, xb_layer_conv, xb_layer_maxpool,
    xb_layer_batchnorm, xb_layer_elu, xb_layer_relu, xb_layer_tanh, xb_layer_sigmoid,
    xb_layer_flatten;

/* Several layers as one, run by the last of them; fuse.c puts them into a pass. */
extern const xb_layer_kind xb_layer_block, xb_layer_norm_block;

/* Adds one tensor of `ndim` sizes to the net (room for two a layer). */
xb_status xb_net_declare(xb_reading *r, xb_net *net, xb_layer *layer, int index,
                         xb_role role, int ndim, const int64_t *shape);

#endif
