/* glue.h: the C of the Python module that is not the library's: loops over arrays, which
 * in Python would be slow, and a listener that asks Python now and then only. */
#ifndef CROSSBAYES_GLUE_H
#define CROSSBAYES_GLUE_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "crossbayes/crossbayes.h"

/* What jansson takes for stdin (python/CMakeLists.txt). Nothing reads JSON from it. */
__attribute__((visibility("hidden"))) FILE *xb_py_stdin = NULL;

typedef double (*xb_py_law_fn)(const xb_law *law, double x);

typedef struct xb_py_loop {
    const xb_law *law;
    xb_py_law_fn fn;
    double *y;
    const double *x;
    int64_t n;
} xb_py_loop;

enum { XB_PY_BLOCK = 4096 };

static void xb_py_block(void *arg, int64_t piece)
{
    const xb_py_loop *l = arg;
    int64_t end = (piece + 1) * XB_PY_BLOCK < l->n ? (piece + 1) * XB_PY_BLOCK : l->n;
    for (int64_t i = piece * XB_PY_BLOCK; i < end; i++) l->y[i] = l->fn(l->law, l->x[i]);
}

/* y[i] = function number `which` of the law at x[i]; the order is that of laws.py. One
 * block needs no context. */
static void xb_py_law_each(const xb_ctx *ctx, const xb_law *law, int which, double *y,
                           const double *x, int64_t n)
{
    static const xb_py_law_fn table[] = {xb_law_pdf,      xb_law_log_pdf,  xb_law_cdf,
                                         xb_law_survival, xb_law_quantile, xb_law_isf};
    xb_py_loop loop = {law, table[which], y, x, n};
    if (n <= XB_PY_BLOCK)
        xb_py_block(&loop, 0);
    else
        xb_parallel_for(ctx, (n + XB_PY_BLOCK - 1) / XB_PY_BLOCK, xb_py_block, &loop);
}

/* Draws in double over the threads of the context, the bytes of xb_sampler_fill_double.
 */
typedef struct xb_py_draws {
    const xb_sampler *sampler;
    double *z;
    const xb_stream *where;
    int64_t n, first;
} xb_py_draws;

static void xb_py_draw_block(void *arg, int64_t piece)
{
    const xb_py_draws *d = arg;
    int64_t from = piece * XB_PY_BLOCK;
    int64_t n = d->n - from < XB_PY_BLOCK ? d->n - from : XB_PY_BLOCK;
    xb_sampler_fill_double(d->sampler, d->z + from, n, d->where, d->first + from);
}

static void xb_py_fill_double(const xb_ctx *ctx, const xb_sampler *sampler, double *z,
                              int64_t n, const xb_stream *where, int64_t first)
{
    xb_py_draws draws = {sampler, z, where, n, first};
    xb_parallel_for(ctx, (n + XB_PY_BLOCK - 1) / XB_PY_BLOCK, xb_py_draw_block, &draws);
}

static void xb_py_words(const xb_stream *where, uint32_t *word, int64_t n, int64_t first)
{
    for (int64_t i = 0; i < n; i++) word[i] = xb_stream_word(where, first + i);
}

static void xb_py_uniforms(const xb_stream *where, double *u, int64_t n, int64_t first)
{
    for (int64_t i = 0; i < n; i++) u[i] = xb_stream_uniform(where, first + i);
}

/* ---- crossbayes.torch */

/* Loops that are compiled for wide vectors too, where the machine chooses at run time.
 * Multiply-adds are not fused (CMakeLists.txt), so the bytes are the same. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define XB_PY_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define XB_PY_WIDE
#endif

enum { XB_PY_LANES = 16, XB_PY_SWEEP = 16, XB_PY_STRIP = 1024 };

/* The part of the KL to a normal prior that all weights have in common (V3); 0 for other
 * priors. At mu = mean and sigma = 1 the rest is 1 / (2 sd^2). */
static double xb_py_normal_constant(const xb_kl *kl, const xb_prior *prior)
{
    if (prior->kind != XB_PRIOR_NORMAL) return 0;
    return xb_kl_one(kl, prior->mean, 1).kl - 0.5 / (prior->sd * prior->sd);
}

/* sigma = exp(width), and the KL of n weights, whose gradient by mu and sigma is added.
 */
static void xb_py_sigma_float(const xb_ctx *ctx, float *sigma, const float *width,
                              int64_t n)
{
    xb_sigma_transform_fill(ctx, XB_SIGMA_TRANSFORM_EXP, sigma, width, n);
}

static double xb_py_kl_float(const xb_ctx *ctx, const xb_kl *kl, float *d_mu,
                             float *d_sigma, const float *mu, const float *sigma,
                             int64_t n, double weight)
{
    return xb_kl_sum(ctx, kl, d_mu, d_sigma, mu, sigma, n, weight);
}

static void xb_py_sigma_double(const xb_ctx *ctx, double *sigma, const double *width,
                               int64_t n)
{
    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        sigma[i] = xb_sigma_transform_apply(XB_SIGMA_TRANSFORM_EXP, width[i]);
}

static double xb_py_kl_double(const xb_ctx *ctx, const xb_kl *kl, double *d_mu,
                              double *d_sigma, const double *mu, const double *sigma,
                              int64_t n, double weight)
{
    (void)ctx;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const xb_kl_value one = xb_kl_one(kl, mu[i], sigma[i]);
        sum += one.kl;
        if (d_mu) d_mu[i] += weight * one.d_mu, d_sigma[i] += weight * one.d_sigma;
    }
    return sum;
}

/* A tensor of a draw: its number, its size, and addresses of float or double, as integers
 * because that is what PyTorch gives. */
typedef struct xb_py_places {
    int64_t tensor, m;
    uintptr_t mu, width; /* [m] */
    uintptr_t theta;  /* [groups][m]: written, in the backward pass read; 0: KL alone */
    uintptr_t g;      /* [groups][m]: the gradient by theta; 0: none */
    uintptr_t g_mean; /* [m]: by means that are no part of theta; 0: none */
    uintptr_t d_mu, d_width; /* [m], written by the backward pass */
} xb_py_places;

/* One draw of some tensors of a network, in one call from Python. */
typedef struct xb_py_draw {
    const xb_ctx *ctx, *alone; /* of all threads, of one */
    int64_t alone_below;       /* weights of a tensor that one thread draws sooner */
    const xb_sampler *sampler;
    const xb_kl *kl;        /* NULL: the KL is not wanted */
    const xb_prior *prior;  /* its prior */
    xb_stream where;        /* but for the tensor's number */
    const xb_py_places *at; /* [count] */
    int64_t count, groups;
    double *sums;  /* a place for each block of the largest tensor */
    double weight; /* of the KL's gradient */
    bool mean;     /* means are a part of theta */
} xb_py_draw;

/* Draws become their signs, turned; returns how many draws are 0. */
XB_PY_WIDE static int64_t xb_py_sign_some(float *sign, int64_t n)
{
    int32_t zeros = 0;
    for (int64_t i = 0; i < n; i++) {
        zeros += sign[i] == 0;
        sign[i] = sign[i] < 0 ? 1.0f : sign[i] > 0 ? -1.0f : 0.0f;
    }
    return zeros;
}

/* (N10) Signs of n elements: -1 for the upper half of words. `sampler` is the gaussian
 * one, whose draws have the sign of their word sooner than one word at a time; a draw of
 * 0 asks its word. */
static void xb_py_signs(const xb_sampler *sampler, const xb_stream *where, float *sign,
                        int64_t n)
{
    for (int64_t at = 0; at < n; at += XB_PY_BLOCK) {
        const int64_t some = n - at < XB_PY_BLOCK ? n - at : XB_PY_BLOCK;
        xb_sampler_fill(sampler, sign + at, some, where, at);
        if (xb_py_sign_some(sign + at, some) == 0) continue;
        for (int64_t i = at; i < at + some; i++)
            if (sign[i] == 0) sign[i] = xb_stream_word(where, i) >> 31 ? -1.0f : 1.0f;
    }
}

/* Signs of `count` tensors, one after another: tensor[t] has n[t] of them. */
static void xb_py_signs_all(const xb_sampler *sampler, const xb_stream *where,
                            uintptr_t sign, const int64_t *tensor, const int64_t *n,
                            int64_t count)
{
    float *at = (float *)sign;
    for (int64_t t = 0; t < count; at += n[t++]) {
        xb_stream here = *where;
        here.tensor = (uint32_t)tensor[t];
        xb_py_signs(sampler, &here, at, n[t]);
    }
}

#define REAL float
#define NAME(x) xb_py_##x##_float
#include "glue_weights.h"
#include "glue_signs.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) xb_py_##x##_double
#include "glue_weights.h"
#include "glue_signs.h"
#undef REAL
#undef NAME

#include "glue_convs.h"
#include "glue_parts.h"
#include "glue_pools.h"
#include "glue_products.h"

/* Training tells of every step, which may take microseconds; Python hears of it every
 * XB_PY_SECONDS, which is soon enough for Ctrl-C, and, if somebody listens, at the end.
 */
#define XB_PY_SECONDS 0.05

typedef struct xb_py_listener {
    void *python; /* a handle of the Python object that listens */
    double last;  /* when it was asked */
    bool silent;  /* nobody listens: it is asked for the sake of Ctrl-C */
} xb_py_listener;

static double xb_py_now(void)
{
#ifdef _WIN32
    return (double)clock() / CLOCKS_PER_SEC; /* the time that passed, in that C library */
#else
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
}

/* Defined by cffi: calls the Python function of the same name. */
static _Bool xb_py_heard(void *python, char *task, int64_t done, int64_t total);

static bool xb_py_progress(void *arg, const xb_progress *event)
{
    xb_py_listener *listener = arg;
    const double now = xb_py_now();
    const double passed = now - listener->last;
    const bool ends = event->done == event->total && !listener->silent;
    if (passed >= 0 && passed < XB_PY_SECONDS && !ends) return true;
    listener->last = now;
    char task[256]; /* a path may be long, and a bar has no room for more */
    snprintf(task, sizeof task, "%s", event->task);
    return xb_py_heard(listener->python, task, event->done, event->total);
}

/* A context of a call from Python, in one step. */
static xb_status xb_py_ctx(xb_ctx **out, xb_py_listener *listener, void *python,
                           bool silent, int64_t threads)
{
    XB_TRY(xb_ctx_create(out));
    *listener = (xb_py_listener){python, xb_py_now(), silent};
    xb_ctx_set_progress(*out, xb_py_progress, listener);
    xb_ctx_set_threads(*out, threads);
    xb_ctx_set_origin(*out, "python");
    return XB_OK;
}

#endif
