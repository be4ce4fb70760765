"""Writes the C of crossbayes/_native from the library's own headers.

    python bindings.py CC INCLUDE OUT.c

The compiler expands the headers (CC -E, with empty system headers), so no struct, enum or
function is written down a second time; cffi turns the declarations into a module in API
mode, and compiling that module checks each of them against the headers again.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cffi

SYSTEM_HEADERS = ["stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h"]

# Numbers that the headers give as macros.
MACROS = ["XB_STREAM_MAX", "XB_RULE_MAX", "XB_PRIOR_TEXT", "XB_SCHEDULE_TEXT"]

GLUE = """
    typedef struct xb_py_listener { ...; } xb_py_listener;
    xb_status xb_py_ctx(xb_ctx **out, xb_py_listener *listener, void *python,
                        bool silent, int64_t threads);
    enum { XB_PY_BLOCK = ... };
    void xb_py_law_each(const xb_ctx *ctx, const xb_law *law, int which, double *y,
                        const double *x, int64_t n);
    void xb_py_fill_double(const xb_ctx *ctx, const xb_sampler *sampler, double *z,
                           int64_t n, const xb_stream *where, int64_t first);
    void xb_py_words(const xb_stream *where, uint32_t *word, int64_t n, int64_t first);
    void xb_py_uniforms(const xb_stream *where, double *u, int64_t n, int64_t first);
    extern "Python" bool xb_py_heard(void *python, char *task, int64_t done,
                                     int64_t total);
    extern "Python" bool xb_py_epoch(void *python, xb_trainer *trainer);
    extern "Python" double xb_py_density(void *python, double x);
    extern "Python" void xb_py_forget(void *python);
"""

# Of crossbayes.torch; the functions exist once for each precision.
DRAW = """
    typedef struct xb_py_places {
        int64_t tensor, m;
        uintptr_t mu, width, theta, g, g_mean, d_mu, d_width;
    } xb_py_places;
    typedef struct xb_py_draw {
        const xb_ctx *ctx, *alone;
        int64_t alone_below;
        const xb_sampler *sampler;
        const xb_kl *kl;
        const xb_prior *prior;
        xb_stream where;
        const xb_py_places *at;
        int64_t count, groups;
        double *sums;
        double weight;
        bool mean;
    } xb_py_draw;
    void xb_py_signs(const xb_sampler *sampler, const xb_stream *where, float *sign,
                     int64_t n);
    void xb_py_signs_all(const xb_sampler *sampler, const xb_stream *where, uintptr_t sign,
                         const int64_t *tensor, const int64_t *n, int64_t count);
    void xb_py_dense_forward(const xb_ctx *ctx, uintptr_t y, uintptr_t x, uintptr_t w,
                             uintptr_t bias, int64_t rows, int64_t in, int64_t out);
    void xb_py_dense_input(const xb_ctx *ctx, uintptr_t dx, uintptr_t dy, uintptr_t w,
                           int64_t rows, int64_t in, int64_t out);
    void xb_py_dense_weight(const xb_ctx *ctx, uintptr_t dw, uintptr_t x, uintptr_t dy,
                            int64_t rows, int64_t in, int64_t out);
    void xb_py_turn_float(const xb_ctx *ctx, uintptr_t to, uintptr_t from, uintptr_t sign,
                          int64_t n);
    void xb_py_turn_double(const xb_ctx *ctx, uintptr_t to, uintptr_t from, uintptr_t sign,
                           int64_t n);
    void xb_py_turn_add_float(const xb_ctx *ctx, uintptr_t to, uintptr_t from,
                              uintptr_t sign, int64_t n, bool relu);
    void xb_py_turn_add_double(const xb_ctx *ctx, uintptr_t to, uintptr_t from,
                               uintptr_t sign, int64_t n, bool relu);
    void xb_py_turn_back_float(const xb_ctx *ctx, uintptr_t to, uintptr_t kept,
                               uintptr_t from, uintptr_t y, uintptr_t sign, int64_t n);
    void xb_py_turn_back_double(const xb_ctx *ctx, uintptr_t to, uintptr_t kept,
                                uintptr_t from, uintptr_t y, uintptr_t sign, int64_t n);
    double xb_py_draw_fill_float(const xb_py_draw *d);
    double xb_py_draw_fill_double(const xb_py_draw *d);
    void xb_py_draw_back_float(const xb_py_draw *d);
    void xb_py_draw_back_double(const xb_py_draw *d);
    typedef struct xb_py_tensor {
        int64_t m;
        uintptr_t mu, width;
    } xb_py_tensor;
    typedef struct xb_py_part {
        xb_ctx *ctx;
        const xb_ctx *alone;
        xb_pass *pass;
        const xb_kl *kl;
        const xb_py_tensor *tensor;
        int64_t count;
        uintptr_t mu, sigma, d_mu, d_width;
        double weight, divergence;
    } xb_py_part;
    xb_status xb_py_part_forward(xb_py_part *p, xb_ctx *ctx, const xb_ctx *alone,
                                 const xb_sampler *sampler, const xb_stream *where,
                                 const xb_kl *kl, uintptr_t y, uintptr_t x, int64_t batch);
    xb_status xb_py_part_backward(xb_py_part *p, xb_ctx *ctx, const xb_ctx *alone,
                                  const xb_kl *kl, double weight, int64_t params,
                                  uintptr_t d, uintptr_t dx, uintptr_t dy);
    enum { XB_PY_LANES = ..., XB_PY_TAPS = ..., XB_PY_MOST_TAPS = ... };
    typedef struct xb_py_conv {
        uintptr_t y, x, w, b, sums;
        int64_t n, h, wide, kh, kw, in, out;
    } xb_py_conv;
    bool xb_py_conv_fast(void);
    void xb_py_conv_forward(const xb_ctx *ctx, xb_py_conv *p);
    void xb_py_conv_backward(const xb_ctx *ctx, xb_py_conv *p);
    void xb_py_pool_forward(const xb_ctx *ctx, uintptr_t y, uintptr_t place, uintptr_t x,
                            const int64_t sides[4], const int64_t window[2]);
    void xb_py_pool_backward(const xb_ctx *ctx, uintptr_t dx, uintptr_t dy, uintptr_t place,
                             const int64_t sides[4], const int64_t window[2]);
"""


def expanded(compiler: str, include: Path) -> str:
    """The public headers as one text without macros and without the system's."""
    with tempfile.TemporaryDirectory() as fake:
        for name in SYSTEM_HEADERS:
            Path(fake, name).touch()
        command = [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", "-D__attribute__(x)="]
        command += ["-I", fake]
        command += ["-I", str(include), str(include / "crossbayes/crossbayes.h")]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declarations(text: str) -> str:
    """What cffi reads: inline functions without their bodies."""
    text = re.sub(r"static inline ([^{;]*\))\s*\{[^{}]*\}", r"\1;", text)
    macros = "".join(f"#define {name} ...\n" for name in MACROS)
    return macros + text + GLUE + DRAW


def main() -> None:
    compiler, include, out = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    ffi = cffi.FFI()
    ffi.cdef(declarations(expanded(compiler, include)))
    ffi.set_source("crossbayes._native", '#include "glue.h"', py_limited_api=True)
    ffi.emit_c_code(out)


if __name__ == "__main__":
    main()
