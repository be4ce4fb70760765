"""Reads of simulated arrays beside draws of the digital model: the same net, the same
inputs, the same random words. Target: at most twice the time of the digital product.

A call sets up a worker for each piece of the reads, and arrays that remember are cut into
fewer pieces: with few reads the set-up is what one would time (at 64 reads of 512 x 512
arrays with all effects look faster than the digital model, which does less). So calls have
enough reads for it to be a few per cent of either side."""

import ctypes as c

import numpy as np

from crossbayes_ctypes import defaults, pointer
from timing import Bench, WrongResult, ratio_at_least
from vi_ctypes import PredictOptions, TrainData, TrainOptions, same_layouts

NETS = [("dense 512 x 512", "dense 512 nobias, relu, dense 1", 512),
        ("dense 50 (UCI)", "dense 50, relu, dense 1", 8)]
WORK = [(1, 4096), (256, 256)]  # inputs, reads of a call
CHECKED_READS, ROWS, REPEATS = 64, 64, 7
SAME_OUTPUT = 1e-4  # of the ideal array, in the target's units
# tiles, levels, spreads, converters, memory of the devices: all there is
CASES = [("converters, tiles", {"rows": 128, "dac_bits": 8, "adc_bits": 8}),
         ("all effects (mtj)", None)]
TARGET = ratio_at_least(0.5)


class Arrays:
    def __init__(self, xb, net, features):
        self.xb, self.lib, self.features = xb, xb.lib, features
        same_layouts(xb)
        rng = np.random.default_rng(1)
        x, y = rng.standard_normal((ROWS, features)), rng.standard_normal(ROWS)
        data = TrainData(x=pointer(x), y=pointer(y), n=ROWS, features=features)
        opt = defaults(self.lib, "train", TrainOptions)
        opt.net, opt.mle_epochs, opt.epochs = net.encode(), 1, 1
        self.model, self.x = c.c_void_p(), x
        xb.check(self.lib.xb_train(xb.ctx, c.byref(self.model), None, c.byref(data),
                                   c.byref(opt)))
        self.options = defaults(self.lib, "predict", PredictOptions)

    def array(self, settings):
        array = c.c_void_p()
        preset = b"mtj" if settings is None else b"ideal"
        self.xb.check(self.lib.xb_array_preset(self.xb.ctx, c.byref(array), preset))
        for key, value in (settings or {}).items():
            self.xb.check(self.lib.xb_array_set(self.xb.ctx, array, key.encode(),
                                                c.c_double(value)))
        return array

    def analog(self, settings):
        analog, array = c.c_void_p(), self.array(settings)
        self.xb.check(self.lib.xb_analog_create(
            self.xb.ctx, c.byref(analog), self.model, array,
            c.c_void_p(pointer(self.x)), c.c_int64(ROWS), None))
        self.lib.xb_array_destroy(array)
        return analog

    def read(self, analog, x, value):
        self.xb.check(self.lib.xb_analog_draws(
            self.xb.ctx, c.c_void_p(pointer(value)), None, analog,
            c.c_void_p(pointer(x)), c.c_int64(len(x)), c.c_int64(0),
            c.c_int64(len(value))))

    def draw(self, x, value):
        self.xb.check(self.lib.xb_predict_draws(
            self.xb.ctx, c.c_void_p(pointer(value)), None, self.model,
            c.c_void_p(pointer(x)), c.c_int64(len(x)), c.c_int64(0),
            c.c_int64(len(value)), c.byref(self.options)))


def same_outputs(arrays, x):
    """The ideal array computes what the digital model does."""
    a, b = np.empty((CHECKED_READS, len(x))), np.empty((CHECKED_READS, len(x)))
    analog = arrays.analog({})
    arrays.read(analog, x, a)
    arrays.draw(x, b)
    arrays.lib.xb_analog_destroy(analog)
    worst = float(np.abs(a - b).max())
    if not worst < SAME_OUTPUT:
        raise WrongResult(f"outputs differ by {worst:.2g}")
    return f"ideal array within {worst:.0e}"


def main():
    bench = Bench(__doc__)
    for name, net, features in NETS:
        arrays = Arrays(bench.xb, net, features)
        for inputs, reads in WORK:
            x = np.random.default_rng(2).standard_normal((inputs, features))
            value = np.empty((reads, inputs))
            check = same_outputs(arrays, x)
            for effect, settings in CASES:
                analog = arrays.analog(settings)
                bench.compare("crossbar", f"{name}, {inputs} inputs: {effect}",
                              lambda: arrays.read(analog, x, value), "digital draws",
                              lambda: arrays.draw(x, value), items=reads * inputs,
                              target=TARGET, check=check, repeats=REPEATS)
                arrays.lib.xb_analog_destroy(analog)


if __name__ == "__main__":
    main()
