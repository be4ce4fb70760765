/* crossbayes/net.h: networks from a line of text, and passes through them.
 *
 *     xb_net *net = NULL;
 *     xb_net_parse(ctx, &net, "dense 16, elu, dense 1", (xb_shape){1, 1, 8}, NULL);
 *
 * A net is a shape, not numbers: parameters live in blocks of the caller, one per
 * kind (means, standard deviations, gradients), laid out by the net's table of
 * tensors. A net never changes while passes use it, so threads may share it.
 */
#ifndef CROSSBAYES_NET_H
#define CROSSBAYES_NET_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One example: height, width, channels. A vector of features is 1 x 1 x c.
 * Activations are [batch][h][w][c], row-major. */
typedef struct xb_shape {
    int64_t h, w, c;
} xb_shape;

/* Which tensors are random: theta = mu + sigma z. Scale and shift of batchnorm
 * never are. */
typedef enum xb_stochastic {
    XB_STOCHASTIC_KERNELS = 0, /* kernels; biases are fixed (the paper's nets) */
    XB_STOCHASTIC_ALL = 1,     /* kernels and biases (its energy study) */
    XB_STOCHASTIC_NONE = 2     /* a deterministic net */
} xb_stochastic;

typedef struct xb_net_options {
    xb_stochastic stochastic;
} xb_net_options;

typedef struct xb_net xb_net;

/* Layers, separated by commas:
 *   dense N [nobias]
 *   conv N [KxK] [stride S] [same|valid] [nobias]     3x3, stride 1, same
 *   maxpool K [stride S] [floor|ceil]                 stride K, floor
 *   batchnorm [momentum M] [epsilon E]                0.99, 0.001
 *   elu, relu, tanh, sigmoid, flatten
 * `same` pads as TensorFlow does; `ceil` keeps a last window that hangs over the
 * edge. Shapes are inferred from `input`; an error quotes the text and names the
 * layer, counted from 1. opt NULL: kernels stochastic. */
XB_API xb_status xb_net_parse(xb_ctx *ctx, xb_net **out, const char *text, xb_shape input,
                              const xb_net_options *opt);
XB_API void xb_net_destroy(xb_net *net); /* NULL is fine */

/* The net in its shortest form, which parses to the same net. Borrowed. */
XB_API const char *xb_net_text(const xb_net *net);
XB_API xb_shape xb_net_input(const xb_net *net);
XB_API xb_shape xb_net_output(const xb_net *net);
XB_API int64_t xb_shape_size(xb_shape shape); /* h w c */

XB_API int xb_net_layer_count(const xb_net *net);
XB_API const char *xb_net_layer_name(const xb_net *net, int layer); /* "dense" */
XB_API xb_shape xb_net_layer_output(const xb_net *net, int layer);

typedef enum xb_role {
    XB_ROLE_KERNEL, /* dense [in][out], conv [kh][kw][in][out] */
    XB_ROLE_BIAS,   /* [out] */
    XB_ROLE_SCALE,  /* [c], batchnorm */
    XB_ROLE_SHIFT   /* [c], batchnorm */
} xb_role;

/* A parameter tensor: elements [offset, offset + size) of every parameter block. */
typedef struct xb_tensor {
    char name[24]; /* "0.kernel": layer counted from 0, role */
    int layer;
    xb_role role;
    int64_t offset, size;
    int ndim;
    int64_t shape[4];
    bool stochastic;
} xb_tensor;

XB_API int xb_net_tensor_count(const xb_net *net);
XB_API const xb_tensor *xb_net_tensor_at(const xb_net *net, int i); /* borrowed */
XB_API int xb_net_tensor_find(const xb_net *net, const char *name); /* -1: none */

/* Random or fixed, tensor by tensor; kernels and biases only. */
XB_API xb_status xb_net_set_stochastic(xb_ctx *ctx, xb_net *net, int tensor,
                                       bool stochastic);

XB_API int64_t xb_net_param_count(const xb_net *net);      /* elements of a block */
XB_API int64_t xb_net_stochastic_count(const xb_net *net); /* of them random */
/* Running mean and variance of every batchnorm: state, not parameters. */
XB_API int64_t xb_net_state_count(const xb_net *net);

#ifdef __cplusplus
}
#endif
#endif
