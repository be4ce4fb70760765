"""Passes of libcrossbayes.so through ctypes, for bench_conv.py: one net, its weights as
numpy arrays, forward and backward under given draws."""

import ctypes as c

import numpy as np

from crossbayes_ctypes import Key, Stream, defaults, pointer
from vi_ctypes import PURPOSE_WEIGHT, Shape, Tensor

PREDICT, TRAIN = 0, 1
ROLE_KERNEL = 0


class PassOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("backend", c.c_char_p),
                ("batch", c.c_int64), ("gradients", c.c_bool), ("estimator", c.c_int),
                ("group", c.c_int64)]


class Blocks(c.Structure):
    """Weights (mu, sigma, state, new state) or a gradient (mu, sigma, x)."""
    _fields_ = [("mu", c.c_void_p), ("sigma", c.c_void_p), ("other", c.c_void_p),
                ("new_state", c.c_void_p)]


class Noise(c.Structure):
    _fields_ = [("sampler", c.c_void_p), ("key", Key), ("step", c.c_uint32),
                ("sample", c.c_uint32), ("antithetic", c.c_bool), ("first", c.c_int64)]


class Net:
    def __init__(self, xb, text, shape, sigma, seed=1):
        self.xb, self.lib = xb, xb.lib
        xb.same_layout("xb_pass_options", PassOptions)
        xb.same_layout("xb_noise", Noise)
        for name, result, args in [
            ("xb_pass_bytes", c.c_int64, [c.c_void_p]),
            ("xb_net_param_count", c.c_int64, [c.c_void_p]),
            ("xb_net_state_count", c.c_int64, [c.c_void_p]),
            ("xb_net_tensor_count", c.c_int64, [c.c_void_p]),
            ("xb_net_tensor_at", c.POINTER(Tensor), [c.c_void_p, c.c_int64]),
            ("xb_net_params_start", None, [c.c_void_p, c.c_void_p, Key]),
            ("xb_net_state_start", None, [c.c_void_p, c.c_void_p]),
            ("xb_nll_square", c.c_double, [c.c_void_p] * 3 + [c.c_int64]),
        ]:
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, args
        net = c.c_void_p()
        xb.check(self.lib.xb_net_parse(xb.ctx, c.byref(net), text.encode(),
                                       Shape(*shape), None))
        self.net = net
        self.mu = np.empty(self.lib.xb_net_param_count(net), np.float32)
        self.state = np.empty(self.lib.xb_net_state_count(net), np.float32)
        self.key = self.lib.xb_key_make(seed, PURPOSE_WEIGHT)
        self.lib.xb_net_params_start(net, pointer(self.mu), self.key)
        self.lib.xb_net_state_start(net, pointer(self.state))
        self.sigma = np.full_like(self.mu, sigma)
        self.gradient = [np.zeros_like(self.mu), np.zeros_like(self.mu)]
        self.sampler = xb.sampler(xb.law("gaussian"))

    def tensors(self):
        """(number, offset, shape, random) of every tensor, in the net's order."""
        found = [self.lib.xb_net_tensor_at(self.net, i).contents
                 for i in range(self.lib.xb_net_tensor_count(self.net))]
        return [(i, t.offset, tuple(t.shape[:t.ndim]), t.role == ROLE_KERNEL)
                for i, t in enumerate(found)]

    def cut(self, block):
        """A block as a list of arrays, tensor by tensor."""
        return [block[o:o + int(np.prod(s))].reshape(s) for _, o, s, _ in self.tensors()]

    def noise(self, sample):
        """z of every tensor; 0 where it is not random."""
        z = []
        for number, _, shape, random in self.tensors():
            out = np.zeros(shape, np.float32)
            if random:
                stream = Stream(self.key, number, sample, 0)
                self.lib.xb_sampler_fill(self.sampler, pointer(out), out.size,
                                         c.byref(stream), 0)
            z.append(out)
        return z

    def workspace(self, batch, gradients):
        opt = defaults(self.lib, "pass", PassOptions)
        opt.batch, opt.gradients = batch, gradients
        made = c.c_void_p()
        self.xb.check(self.lib.xb_pass_create(self.xb.ctx, c.byref(made), self.net,
                                              c.byref(opt)))
        return made

    def bytes_of(self, made):
        return self.lib.xb_pass_bytes(made)

    def destroy(self, made):
        self.lib.xb_pass_destroy(made)

    def weights(self):
        return Blocks(pointer(self.mu), pointer(self.sigma), pointer(self.state),
                      pointer(self.state))

    def forward(self, made, y, x, sample, mode):
        weights = self.weights()
        noise = Noise(self.sampler, self.key, 0, sample, False, 0)
        self.xb.check(self.lib.xb_pass_forward(
            self.xb.ctx, made, c.c_void_p(pointer(y)), c.c_void_p(pointer(x)),
            c.c_int64(len(x)), c.byref(weights), c.byref(noise), mode))

    def draws(self, made, y, x, count):
        """Work: outputs under `count` draws, one after the other."""
        weights = self.weights()
        noise = Noise(self.sampler, self.key, 0, 0, False, 0)
        loop, ctx = self.xb.peers.loop_forward, self.xb.ctx

        def work():
            self.xb.check(loop(ctx, made, pointer(y), pointer(x), len(x),
                               c.addressof(weights), c.addressof(noise), count))
        return work

    def step(self, made, y, x, target, sample=0):
        """Forward and backward of the sum of squares; gradients by mu and sigma."""
        self.forward(made, y, x, sample, TRAIN)
        dy = np.empty_like(y)
        loss = self.lib.xb_nll_square(pointer(dy), pointer(y), pointer(target), y.size)
        for block in self.gradient:
            block.fill(0)
        into = Blocks(*map(pointer, self.gradient), None)
        self.xb.check(self.lib.xb_pass_backward(self.xb.ctx, made, c.byref(into),
                                                c.c_void_p(pointer(dy))))
        return loss
