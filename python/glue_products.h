/* glue_products.h: the products of dense layers for crossbayes.torch, in float32: those
 * of the library, on whole batches. Addresses are integers, as PyTorch gives them. */
#ifndef CROSSBAYES_GLUE_PRODUCTS_H
#define CROSSBAYES_GLUE_PRODUCTS_H

/* y [rows][out] = x [rows][in] w [in][out] + bias [out]; bias 0: none */
static void xb_py_dense_forward(const xb_ctx *ctx, uintptr_t y, uintptr_t x, uintptr_t w,
                                uintptr_t bias, int64_t rows, int64_t in, int64_t out)
{
    const xb_product p = {.c = (float *)y,
                          .a = (const float *)x,
                          .b = (const float *)w,
                          .bias = (const float *)bias,
                          .m = rows,
                          .n = out,
                          .k = in,
                          .c_row = out,
                          .a_row = in,
                          .a_step = 1,
                          .b_row = out};
    xb_product_run(ctx, &p);
}

/* dx [rows][in] = dy [rows][out] w^T */
static void xb_py_dense_input(const xb_ctx *ctx, uintptr_t dx, uintptr_t dy, uintptr_t w,
                              int64_t rows, int64_t in, int64_t out)
{
    const xb_product p = {.c = (float *)dx,
                          .a = (const float *)dy,
                          .b = (const float *)w,
                          .m = rows,
                          .n = in,
                          .k = out,
                          .c_row = in,
                          .a_row = out,
                          .a_step = 1,
                          .b_row = out,
                          .b_is_transposed = true};
    xb_product_run(ctx, &p);
}

/* dw [in][out] = x^T dy; of one output it is a row, so that no lane is idle. */
static void xb_py_dense_weight(const xb_ctx *ctx, uintptr_t dw, uintptr_t x, uintptr_t dy,
                               int64_t rows, int64_t in, int64_t out)
{
    const bool row = out == 1;
    const xb_product p = {.c = (float *)dw,
                          .a = (const float *)(row ? dy : x),
                          .b = (const float *)(row ? x : dy),
                          .m = row ? 1 : in,
                          .n = row ? in : out,
                          .k = rows,
                          .c_row = row ? in : out,
                          .a_row = 1,
                          .a_step = row ? 1 : in,
                          .b_row = row ? in : out};
    xb_product_run(ctx, &p);
}

#endif
