"""libcrossbayes.so and libxb_peers.so through ctypes: as much of both as the
benchmarks need. Buffers are ctypes arrays or anything with .ctypes (numpy)."""

import ctypes as c
import os


class Key(c.Structure):
    _fields_ = [("word", c.c_uint32 * 2)]


class Stream(c.Structure):
    _fields_ = [("key", Key), ("tensor", c.c_uint32),
                ("sample", c.c_uint32), ("step", c.c_uint32)]


class SamplerOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("standardise", c.c_bool)]


class SamplerInfo(c.Structure):
    _fields_ = [("pieces", c.c_int64), ("degree", c.c_int64), ("slow_share", c.c_double),
                ("double_pieces", c.c_int64), ("double_degree", c.c_int64),
                ("float_u_error", c.c_double), ("double_u_error", c.c_double)]


class FitOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("family", c.c_char_p),
                ("optimiser", c.c_int), ("criterion", c.c_int), ("adam_rate", c.c_double), ("fixed_scale", c.c_double),
                ("fixed_offset", c.c_double), ("has_fixed_offset", c.c_bool),
                ("unit", c.c_char_p), ("source", c.c_char_p), ("level", c.c_double),
                ("seed", c.c_uint64), ("series", c.c_void_p), ("whole", c.c_void_p)]


def pointer(buffer):
    """The address of a ctypes array or a numpy array."""
    return buffer.ctypes.data if hasattr(buffer, "ctypes") else c.addressof(buffer)


def aligned_floats(n):
    """n floats from a cache line's start on, as numpy and torch have theirs."""
    line = 64
    block = (c.c_char * (4 * n + line))()
    return (c.c_float * n).from_buffer(block, -c.addressof(block) % line)


def defaults(lib, name, mirror):
    """The default options: xb_NAME_options_default() of C is in the header alone."""
    options = mirror()
    getattr(lib, f"xb_{name}_options_init")(c.byref(options),
                                            c.c_size_t(c.sizeof(options)))
    return options


class Library:
    """The library and one context on one thread."""

    def __init__(self, build):
        self.build = build
        self.lib = c.CDLL(os.path.join(build, "libcrossbayes.so"))
        self.peers = c.CDLL(os.path.join(build, "libxb_peers.so"))
        self.levels = c.CDLL(os.path.join(build, "libxb_levels.so"))
        self.levels.levels_best.restype = c.c_char_p
        self.levels.levels_fill.restype = c.c_bool
        self.levels.levels_fill.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p,
                                            c.c_int64, c.c_void_p, c.c_int64]
        for name, result, args in [
            ("xb_version", c.c_char_p, []),
            ("xb_ctx_message", c.c_char_p, [c.c_void_p]),
            ("xb_ctx_set_threads", None, [c.c_void_p, c.c_int64]),
            ("xb_law_destroy", None, [c.c_void_p]),
            ("xb_law_mean", c.c_double, [c.c_void_p]),
            ("xb_law_sd", c.c_double, [c.c_void_p]),
            ("xb_law_pdf", c.c_double, [c.c_void_p, c.c_double]),
            ("xb_key_make", Key, [c.c_uint64, c.c_int]),
            ("xb_sampler_destroy", None, [c.c_void_p]),
            ("xb_sampler_describe", SamplerInfo, [c.c_void_p]),
            ("xb_sampler_fill", None, [c.c_void_p, c.c_void_p, c.c_int64, c.c_void_p,
                                       c.c_int64]),
            ("xb_sampler_fill_double", None, [c.c_void_p, c.c_void_p, c.c_int64,
                                              c.c_void_p, c.c_int64]),
            ("xb_fit_destroy", None, [c.c_void_p]),
            ("xb_fit_chosen", c.c_int64, [c.c_void_p]),
            ("xb_fit_family_at", c.c_void_p, [c.c_void_p, c.c_int64]),
            ("xb_fit_family_name", c.c_char_p, [c.c_void_p]),
            ("xb_fit_family_param_count", c.c_int64, [c.c_void_p]),
            ("xb_fit_family_param_name", c.c_char_p, [c.c_void_p, c.c_int64]),
            ("xb_fit_family_param_value", c.c_double, [c.c_void_p, c.c_int64]),
            ("xb_fit_family_log_likelihood", c.c_double, [c.c_void_p]),
            ("xb_fit_family_ks", c.c_double, [c.c_void_p]),
            ("xb_fit_family_ad", c.c_double, [c.c_void_p]),
            ("xb_rule_destroy", None, [c.c_void_p]),
            ("xb_rule_nodes", c.POINTER(c.c_double), [c.c_void_p]),
            ("xb_free", None, [c.c_void_p]),
        ]:
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, args
        for name, result, args in [
            ("judge_ks", c.c_double, [c.c_void_p, c.c_void_p, c.c_int64, c.c_double,
                                      c.c_double]),
            ("gsl_peer_new", c.c_void_p, []),
            ("gsl_peer_fill", None, [c.c_void_p, c.c_void_p, c.c_int64]),
            ("gsl_peer_free", None, [c.c_void_p]),
            ("pinv_peer_new", c.c_void_p, [c.c_void_p, c.c_double, c.c_int]),
            ("pinv_peer_fill", None, [c.c_void_p, c.c_void_p, c.c_int64]),
            ("pinv_peer_free", None, [c.c_void_p]),
            ("struct_size", c.c_int64, [c.c_char_p]),
            ("limit_store", c.c_double, [c.c_int64, c.c_int64]),
            ("limit_read", c.c_double, [c.c_int64, c.c_int64]),
            ("limit_fma", c.c_double, []),
            ("loop_forward", c.c_int, [c.c_void_p] * 4 + [c.c_int64] + [c.c_void_p] * 2
             + [c.c_int64]),
        ]:
            function = getattr(self.peers, name)
            function.restype, function.argtypes = result, args
        self.same_layout("xb_fit_options", FitOptions)
        ctx = c.c_void_p()
        if self.lib.xb_ctx_create(c.byref(ctx)):
            raise MemoryError("no context")
        self.ctx = ctx
        self.lib.xb_ctx_set_threads(ctx, 1)

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.xb_ctx_message(self.ctx).decode())

    def same_layout(self, name, mirror):
        """A struct written down here must be as large as the header's."""
        size = self.peers.struct_size(name.encode())
        if size != c.sizeof(mirror):
            raise RuntimeError(f"{name} has {size} bytes, its copy in bench/ "
                               f"{c.sizeof(mirror)}: a field is missing there")

    # ---- laws
    def law(self, text):
        law = c.c_void_p()
        self.check(self.lib.xb_law_parse(self.ctx, c.byref(law), text.encode()))
        return law

    def law_from_samples(self, values):
        x = (c.c_double * len(values))(*values)
        law = c.c_void_p()
        self.check(self.lib.xb_law_from_samples(self.ctx, c.byref(law), x,
                                                c.c_int64(len(x))))
        return law

    def column(self, path):
        """The one column of a file, as a ctypes array."""
        data, n = c.POINTER(c.c_double)(), c.c_int64()
        self.check(self.lib.xb_column_read(self.ctx, c.byref(data), c.byref(n),
                                           os.fsencode(path), None))
        values = (c.c_double * n.value)()
        c.memmove(values, data, 8 * n.value)
        self.lib.xb_free(data)
        return values

    # ---- draws
    def stream(self, seed):
        return Stream(self.lib.xb_key_make(seed, 1), 0, 0, 0)

    def sampler(self, law, standardise=True):
        sampler = c.c_void_p()
        options = defaults(self.lib, "sampler", SamplerOptions)
        options.standardise = standardise
        self.check(self.lib.xb_sampler_create(self.ctx, c.byref(sampler), law,
                                              c.byref(options)))
        return sampler

    def ks(self, law, buffer, n, standardised):
        """sqrt(n) times the distance of the draws from the law."""
        shift = self.lib.xb_law_mean(law) if standardised else 0.0
        scale = self.lib.xb_law_sd(law) if standardised else 1.0
        return self.peers.judge_ks(law, pointer(buffer), n, shift, scale)

    # ---- fits and rules
    def fit(self, x, n, family=None):
        options = defaults(self.lib, "fit", FitOptions)
        options.family = family.encode() if family else None
        fit = c.c_void_p()
        self.check(self.lib.xb_fit_run(self.ctx, c.byref(fit), c.c_void_p(pointer(x)),
                                       c.c_int64(n), c.byref(options)))
        return fit

    def fit_result(self, fit):
        """Named parameters and log likelihood of the chosen family."""
        lib, at = self.lib, self.lib.xb_fit_family_at(fit, self.lib.xb_fit_chosen(fit))
        named = {lib.xb_fit_family_param_name(at, i).decode():
                 lib.xb_fit_family_param_value(at, i)
                 for i in range(lib.xb_fit_family_param_count(at))}
        return (lib.xb_fit_family_name(at).decode(), named,
                lib.xb_fit_family_log_likelihood(at))

    def gauss_rule(self, law, n):
        rule = c.c_void_p()
        self.check(self.lib.xb_rule_gauss(self.ctx, c.byref(rule), law, c.c_int64(n), 0))
        return rule
