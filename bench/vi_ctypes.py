"""Training and prediction of libcrossbayes.so through ctypes, for bench_vi.py: the
scalar network trained on borrowed numpy arrays, its weights and its noise as arrays."""

import ctypes as c

import numpy as np

from crossbayes_ctypes import Stream, defaults, pointer

NET = "dense 16, elu, dense 16, elu, dense 16, elu, dense 16, elu, dense 1"
ESTIMATOR = {"shared": 0, "local": 3}
SCHEDULE_CONSTANT, LIKELIHOOD_GAUSSIAN, PURPOSE_WEIGHT = 0, 1, 2
SPREAD_SOFTPLUS = 1
PREDICT_STEP = 2**32 - 1  # where predictions draw


class Shape(c.Structure):
    _fields_ = [("h", c.c_int64), ("w", c.c_int64), ("c", c.c_int64)]


class Prior(c.Structure):
    _fields_ = [("kind", c.c_int), ("mean", c.c_double), ("sd", c.c_double),
                ("scale", c.c_double), ("pi", c.c_double), ("s1", c.c_double),
                ("s2", c.c_double)]


class Schedule(c.Structure):
    _fields_ = [("kind", c.c_int), ("value", c.c_double), ("factor", c.c_double),
                ("floor", c.c_double)]


class Adam(c.Structure):
    _fields_ = [("rate", c.c_double), ("beta1", c.c_double), ("beta2", c.c_double),
                ("epsilon", c.c_double)]


class TrainData(c.Structure):
    _fields_ = [("x", c.c_void_p), ("y", c.c_void_p), ("scaled", c.c_void_p),
                ("bytes", c.c_void_p), ("select", c.c_void_p), ("n", c.c_int64),
                ("features", c.c_int64), ("held", c.c_int64), ("classes", c.c_int64),
                ("names", c.c_void_p), ("images", c.c_void_p)]


class TrainOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t),
                ("net", c.c_char_p), ("noise_net", c.c_char_p), ("input", Shape),
                ("likelihood", c.c_int), ("stochastic", c.c_int), ("freeze", c.c_bool),
                ("law", c.c_void_p), ("prior", Prior), ("prior_by_fan", c.c_bool),
                ("estimator", c.c_int), ("group", c.c_int64), ("draws", c.c_int64),
                ("antithetic", c.c_bool), ("batch", c.c_int64),
                ("mle_epochs", c.c_int64), ("epochs", c.c_int64), ("adam", Adam),
                ("sigma_rate", c.c_double), ("rate", Schedule),
                ("temperature", Schedule), ("sigma_transform", c.c_int), ("sigma", c.c_double),
                ("validation", c.c_double), ("validation_draws", c.c_int64),
                ("target_mean", c.c_double), ("target_sd", c.c_double),
                ("mirror", c.c_bool),
                ("start", c.c_void_p), ("patience", c.c_int64),
                ("seed", c.c_uint64), ("checkpoint", c.c_char_p),
                ("checkpoint_seconds", c.c_double), ("resume", c.c_bool),
                ("backend", c.c_char_p), ("task", c.c_char_p),
                ("on_epoch", c.c_void_p), ("on_epoch_arg", c.c_void_p),
                ("stop_keeps", c.c_bool), ("targets", c.c_int64),
                ("members", c.c_int64), ("noise_prior", c.c_double),
                ("choose_likelihood", c.c_bool), ("effort", c.c_int),
                ("cells", c.c_void_p)]


class PredictOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t),
                ("law", c.c_void_p), ("draws", c.c_int64), ("tolerance", c.c_double),
                ("max_draws", c.c_int64), ("antithetic", c.c_bool), ("seed", c.c_uint64),
                ("quantile", c.POINTER(c.c_double)), ("quantiles", c.c_int64),
                ("backend", c.c_char_p), ("adaptive", c.c_bool), ("needs", c.c_bool),
                ("interval_tolerance", c.c_double)]


class Tensor(c.Structure):
    _fields_ = [("name", c.c_char * 24), ("layer", c.c_int64), ("role", c.c_int),
                ("offset", c.c_int64), ("size", c.c_int64), ("ndim", c.c_int64),
                ("shape", c.c_int64 * 4), ("stochastic", c.c_bool)]


class Weights(c.Structure):
    _fields_ = [("mu", c.POINTER(c.c_float)), ("sigma", c.POINTER(c.c_float)),
                ("state", c.POINTER(c.c_float)), ("new_state", c.POINTER(c.c_float))]


def same_layouts(xb):
    for name, mirror in [("xb_train_options", TrainOptions), ("xb_tensor", Tensor),
                         ("xb_train_data", TrainData),
                         ("xb_predict_options", PredictOptions)]:
        xb.same_layout(name, mirror)


class Trainer:
    """A network (the scalar one) on rows x ([n] or [n][features]), y [n], double; priors
    N(0, 1), one draw a step, a constant rate, no first phase."""

    def __init__(self, xb, x, y, batch, adam, sigma, seed=1, net=NET):
        self.xb, self.lib, self.x, self.y = xb, xb.lib, x, y
        same_layouts(xb)
        for name, result, args in [
            ("xb_model_destroy", None, [c.c_void_p]),
            ("xb_model_net", c.c_void_p, [c.c_void_p]),
            ("xb_model_weights", Weights, [c.c_void_p]),
            ("xb_model_noise_sd", c.c_double, [c.c_void_p]),
            ("xb_model_target_mean", c.c_double, [c.c_void_p]),
            ("xb_model_target_sd", c.c_double, [c.c_void_p]),
            ("xb_model_input_mean", c.POINTER(c.c_double), [c.c_void_p]),
            ("xb_model_input_sd", c.POINTER(c.c_double), [c.c_void_p]),
            ("xb_net_tensor_count", c.c_int64, [c.c_void_p]),
            ("xb_net_tensor_at", c.POINTER(Tensor), [c.c_void_p, c.c_int64]),
            ("xb_table_destroy", None, [c.c_void_p]),
            ("xb_table_row_count", c.c_int64, [c.c_void_p]),
            ("xb_table_column_find", c.c_int64, [c.c_void_p, c.c_char_p]),
            ("xb_table_get", c.c_double, [c.c_void_p, c.c_int64, c.c_int64]),
            ("xb_prediction_destroy", None, [c.c_void_p]),
        ]:
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, args
        self.data = TrainData(x=pointer(x), y=pointer(y), n=len(x),
                              features=1 if x.ndim == 1 else x.shape[1])
        opt = defaults(self.lib, "train", TrainOptions)
        opt.net, opt.likelihood, opt.batch = net.encode(), LIKELIHOOD_GAUSSIAN, batch
        opt.prior_by_fan, opt.mle_epochs, opt.sigma, opt.seed = False, 0, sigma, seed
        opt.rate = Schedule(SCHEDULE_CONSTANT, 1.0, 0.0, 0.0)
        opt.adam.rate, opt.adam.epsilon = adam["rate"], adam["epsilon"]
        self.opt = opt
        self.sampler = xb.sampler(xb.law("gaussian"))
        self.key = self.lib.xb_key_make(seed, PURPOSE_WEIGHT)

    def model(self, estimator, epochs, trace=None):
        """A trained model; destroy it."""
        self.opt.estimator, self.opt.epochs = ESTIMATOR[estimator], epochs
        model = c.c_void_p()
        self.xb.check(self.lib.xb_train(self.xb.ctx, c.byref(model), trace,
                                        c.byref(self.data), c.byref(self.opt)))
        return model

    def run(self, estimator, epochs):
        self.lib.xb_model_destroy(self.model(estimator, epochs))

    def trace_f(self, estimator, epochs):
        """F of each epoch."""
        table = c.c_void_p()
        model = self.model(estimator, epochs, c.byref(table))
        column = self.lib.xb_table_column_find(table, b"f")
        f = [self.lib.xb_table_get(table, i, column)
             for i in range(self.lib.xb_table_row_count(table))]
        self.lib.xb_table_destroy(table)
        self.lib.xb_model_destroy(model)
        return np.array(f)

    def tensors(self, model):
        """(number, offset, shape) of kernels and of biases."""
        net = self.lib.xb_model_net(model)
        found = [self.lib.xb_net_tensor_at(net, i).contents
                 for i in range(self.lib.xb_net_tensor_count(net))]
        rows = [(i, t.offset, tuple(t.shape[:t.ndim])) for i, t in enumerate(found)]
        return [r for r in rows if len(r[2]) == 2], [r for r in rows if len(r[2]) == 1]

    def weights(self, model):
        """Lists of float arrays: kernels' mu and sigma, biases; and log of the noise's
        standard deviation, standardised."""
        kernels, biases = self.tensors(model)
        blocks = self.lib.xb_model_weights(model)

        def take(block, offset, shape):
            n = int(np.prod(shape))
            return np.array(block[offset:offset + n], np.float32).reshape(shape)

        log_sd = np.log(self.lib.xb_model_noise_sd(model)
                        / self.lib.xb_model_target_sd(model))
        return {"mu": [take(blocks.mu, o, s) for _, o, s in kernels],
                "sigma": [take(blocks.sigma, o, s) for _, o, s in kernels],
                "bias": [take(blocks.mu, o, s) for _, o, s in biases],
                "log_sd": np.float32(log_sd)}

    def scaled_x(self, model, x):
        """[n][features], as they enter the net."""
        x = x.reshape(len(x), -1)
        mean, sd = (np.array(read(model)[:x.shape[1]]) for read in
                    (self.lib.xb_model_input_mean, self.lib.xb_model_input_sd))
        return ((x - mean) / sd).astype(np.float32)

    def scaled_y(self, model, y):
        mean, sd = (self.lib.xb_model_target_mean(model),
                    self.lib.xb_model_target_sd(model))
        return ((y - mean) / sd).astype(np.float32)[:, None]

    def noise(self, model, step, sample=0):
        """z of each kernel, as estimator `shared` draws it."""
        z = []
        for number, _, shape in self.tensors(model)[0]:
            out = np.empty(shape, np.float32)
            stream = Stream(self.key, number, sample, step)
            self.lib.xb_sampler_fill(self.sampler, pointer(out), out.size,
                                     c.byref(stream), 0)
            z.append(out)
        return z

    # ---- prediction
    def predict_options(self, draws):
        opt = defaults(self.lib, "predict", PredictOptions)
        opt.draws, opt.seed = draws, self.opt.seed
        opt.quantile, opt.quantiles = (c.c_double * 1)(0.5), 0  # none
        return opt

    def predict(self, model, x, opt):
        """Mean and standard deviations of every input."""
        out = c.c_void_p()
        self.xb.check(self.lib.xb_predict(self.xb.ctx, c.byref(out), model,
                                          c.c_void_p(pointer(x)), c.c_int64(len(x)),
                                          c.byref(opt)))
        self.lib.xb_prediction_destroy(out)

    def outputs(self, model, x, opt):
        """[draws][n], in the target's units."""
        value = np.empty((opt.draws, len(x)))
        self.xb.check(self.lib.xb_predict_draws(
            self.xb.ctx, c.c_void_p(pointer(value)), None, model,
            c.c_void_p(pointer(x)), c.c_int64(len(x)), c.c_int64(0),
            c.c_int64(opt.draws), c.byref(opt)))
        return value
