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
    double xb_py_kl_double(const xb_kl *kl, double *d_mu, double *d_sigma,
                           const double *mu, const double *sigma, int64_t n,
                           double weight);
    extern "Python" bool xb_py_heard(void *python, char *task, int64_t done,
                                     int64_t total);
    extern "Python" bool xb_py_epoch(void *python, xb_trainer *trainer);
    extern "Python" double xb_py_density(void *python, double x);
    extern "Python" void xb_py_forget(void *python);
"""

# Of glue_weights.h, once for each precision.
WEIGHTS = """
    void xb_py_weights_fill_REAL(const xb_ctx *ctx, const xb_sampler *sampler,
                                 const xb_stream *where, REAL *theta, const REAL *mu,
                                 const REAL *sigma, int64_t m, int64_t groups);
    void xb_py_weights_back_REAL(const xb_ctx *ctx, const xb_sampler *sampler,
                                 const xb_stream *where, REAL *d_mu, REAL *d_sigma,
                                 const REAL *g, int64_t m, int64_t groups);
"""


def expanded(compiler: str, include: Path) -> str:
    """The public headers as one text without macros and without the system's."""
    with tempfile.TemporaryDirectory() as fake:
        for name in SYSTEM_HEADERS:
            Path(fake, name).touch()
        command = [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", "-I", fake]
        command += ["-I", str(include), str(include / "crossbayes/crossbayes.h")]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declarations(text: str) -> str:
    """What cffi reads: inline functions without their bodies."""
    text = re.sub(r"static inline ([^{;]*\))\s*\{[^{}]*\}", r"\1;", text)
    macros = "".join(f"#define {name} ...\n" for name in MACROS)
    weights = "".join(WEIGHTS.replace("REAL", real) for real in ("float", "double"))
    return macros + text + GLUE + weights


def main() -> None:
    compiler, include, out = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    ffi = cffi.FFI()
    ffi.cdef(declarations(expanded(compiler, include)))
    ffi.set_source("crossbayes._native", '#include "glue.h"', py_limited_api=True)
    ffi.emit_c_code(out)


if __name__ == "__main__":
    main()
