/* layer.h: a layer inside a net, and the table row that each kind fills. A row of
 * backend/layers.h runs it. */
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
    xb_act act; /* the activations: which one */
    /* Reads the words after the name. NULL: there are none. */
    xb_status (*parse)(xb_reading *r, xb_layer *layer);
    /* out from in. NULL: the same shape. */
    xb_status (*infer)(xb_reading *r, xb_layer *layer);
    /* Adds the layer's tensors and state to the net. NULL: it has none. */
    xb_status (*declare)(xb_reading *r, xb_net *net, xb_layer *layer, int index);
    /* Appends the words after the name, shortest form, to text. */
    void (*write)(const xb_layer *layer, char *text, size_t size);
} xb_layer_kind;

extern const xb_layer_kind xb_layer_dense, xb_layer_conv, xb_layer_maxpool,
    xb_layer_batchnorm, xb_layer_elu, xb_layer_relu, xb_layer_tanh, xb_layer_sigmoid,
    xb_layer_flatten;

/* Adds one tensor of `ndim` sizes to the net (room for two a layer). */
xb_status xb_net_declare(xb_reading *r, xb_net *net, xb_layer *layer, int index,
                         xb_role role, int ndim, const int64_t *shape);

#endif
