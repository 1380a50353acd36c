"""Theano: a symbolic graph, compiled into one function a step."""
import os
import shutil
import subprocess
import sys

import numpy as np

import protocol


def prepare(job):
    """Theano reads its settings once, when it is imported."""
    compiler = shutil.which("g++")
    if compiler is None:
        sys.exit("Theano compiles its networks with g++, which was not found: install it (Debian: apt install g++)")
    if subprocess.call([compiler, "-shared", "-o", os.devnull, "-lopenblas"], stderr=subprocess.DEVNULL):
        sys.exit("Theano multiplies matrices with OpenBLAS, which g++ does not find: "
                 "install it (Debian: apt install libopenblas-dev)")
    if job.threads:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ[name] = str(job.threads)
    # Beside the folder of environments, of which this is one.
    kept = os.path.dirname(os.path.dirname(sys.prefix))
    settings = {"floatX": "float32", "device": theano_device(job.my_device), "cxx": compiler,
                "blas.ldflags": "-lopenblas", "openmp": job.threads != 1,
                "base_compiledir": os.path.join(kept, "theano")}
    os.environ["THEANO_FLAGS"] = ",".join("%s=%s" % setting for setting in settings.items())
    # Theano walks graphs by recursion; those of deep networks are deeper than Python's default.
    sys.setrecursionlimit(100000)


def theano_device(asked):
    kind, _, number = asked.partition(":")
    if kind not in ("cpu", "cuda"):
        sys.exit(f"Theano's adapter does not support the device `{asked}`: use cpu or cuda:0")
    return kind + number


def refuse_what_it_cannot(job):
    if job.workers > 1 or len(job.devices) > 1:
        sys.exit("Theano's adapter trains in one process on one device: use pytorch, tensorflow or jax for several "
                 "workers")
    if job.precision == "mixed":
        sys.exit("Theano has no mixed precision: use precision = \"float32\"")
    if job.compile is False:
        sys.exit("Theano always compiles its graph: remove `compile`, or set it to true")


# Only under `__main__` is there a job; a test may import the file without one.
if __name__ == "__main__":
    asked = protocol.Job.read()
    refuse_what_it_cannot(asked)
    prepare(asked)

import theano
import theano.tensor as T
from theano.compile.profiling import ProfileStats
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.nnet import bn
from theano.tensor.signal.pool import MaxPoolGrad, Pool, pool_2d


class Network:
    """The layer graph over shared variables, by name."""

    def __init__(self, graph, weights, seed):
        self.nodes, self.classes = graph["nodes"][: graph["logits"] + 1], graph["classes"]
        self.random = MRG_RandomStreams(seed % (2**31 - 2) + 1)
        self.shared, self.trained = {}, {}
        for node in graph["nodes"]:
            for parameter in node["parameters"]:
                name = parameter["name"]
                self.shared[name] = theano.shared(np.array(weights[name]), name)
                if parameter["trained"]:
                    self.trained[name] = self.shared[name]

    def outputs(self, x, training):
        """Every layer's output, and how a training step changes what batch normalisation gathers."""
        self.training, self.gathered = training, []
        values = [x]
        for node in self.nodes[1:]:
            values.append(self.layer(node, [values[place] for place in node["inputs"]]))
        return values[1:], self.gathered

    def layer(self, node, inputs):
        name, op, x = node["name"], node["op"], inputs[0]
        kind = op["kind"]
        if kind == "conv":
            return self.convolution(node, x)
        if kind == "dense":
            y = T.dot(x, self.own(name, "weight").T)
            return y + self.own(name, "bias") if op["bias"] else y
        if kind == "batch-norm":
            return self.batch_norm(name, op, x)
        if kind == "relu":
            # Theano's own relu has the slope one half at zero, where the other frameworks have none.
            return T.switch(x > 0, x, np.float32(0))
        if kind == "max-pool":
            return self.max_pool(node, x)
        if kind == "avg-pool":
            return self.average_pool(node, x)
        if kind == "global-avg-pool":
            return x.mean((2, 3)) if x.ndim == 4 else x
        if kind == "dropout":
            return self.dropout(op["rate"], x)
        if kind == "flatten":
            return x.flatten(2)
        if kind == "add":
            return sum(inputs[1:], x)
        if kind == "concat":
            return T.concatenate(inputs, 1)
        if kind == "lrn":
            return local_response_norm(node, x)
        if kind == "softmax":
            return T.nnet.softmax(x)
        sys.exit(f"Theano's adapter does not support the layer kind `{kind}` of `{name}`")

    def own(self, name, role):
        return self.shared[f"{name}.{role}"]

    def before(self, node):
        """(channels, height, width) of the images that come in."""
        return image_shape(self.nodes[node["inputs"][0]])

    def convolution(self, node, x):
        name, op = node["name"], node["op"]
        top, bottom, left, right = protocol.sides(op)
        weight = self.own(name, "weight")
        y = T.nnet.conv2d(x, weight, (None,) + self.before(node), weight.get_value(borrow=True).shape,
                          border_mode=((top, bottom), (left, right)), subsample=tuple(op["stride"]),
                          filter_flip=False, num_groups=op["groups"])
        return y + self.own(name, "bias").dimshuffle("x", 0, "x", "x") if op["bias"] else y

    def batch_norm(self, name, op, x):
        gamma, beta, mean, variance = (self.own(name, role) for role in ("gamma", "beta", "mean", "variance"))
        axes = tuple(axis for axis in range(x.ndim) if axis != 1)

        def as_input(vector):
            return vector.dimshuffle(*(["x", 0] + ["x"] * (x.ndim - 2)))

        # The operators themselves: the functions around them refuse 1e-5, which is a little less as a 32-bit float.
        epsilon = np.float32(op["epsilon"])
        if not self.training:
            return bn.AbstractBatchNormInference(axes)(x, as_input(gamma), as_input(beta), as_input(mean),
                                                       as_input(variance), epsilon)
        y, _, _, new_mean, new_variance = bn.AbstractBatchNormTrain(axes)(
            x, as_input(gamma), as_input(beta), epsilon, np.float32(op["momentum"]), as_input(mean),
            as_input(variance))
        self.gathered += [(mean, new_mean.flatten()), (variance, new_variance.flatten())]
        return y

    def max_pool(self, node, x):
        op = node["op"]
        x, padding = self.pool_padding(node, x, -np.inf)
        # Theano knows by its type what a GPU has its own kernels for.
        pool = FirstMaxPool if theano.config.device == "cpu" else Pool
        return pool(ignore_border=True)(x, tuple(op["kernel"]), tuple(op["stride"]), padding)

    def average_pool(self, node, x):
        op = node["op"]
        x, padding = self.pool_padding(node, x, 0)
        # Where padding is left out of the mean, Theano has no gradient.
        means = pool_2d(x, tuple(op["kernel"]), True, tuple(op["stride"]), padding, "average_inc_pad")
        return means / counted(node, self.before(node)) if any(protocol.sides(op)) else means

    def pool_padding(self, node, x, value):
        """Padding that is alike on both sides is the layer's own; else it is put around the images."""
        op = node["op"]
        top, bottom, left, right = padding = protocol.sides(op)
        if protocol.is_even(padding) and top < op["kernel"][0] and left < op["kernel"][1]:
            return x, (top, left)
        channels, height, width = self.before(node)
        return padded(x, channels, (top, top + height), (left, left + width),
                      (top + height + bottom, left + width + right), value), (0, 0)

    def dropout(self, rate, x):
        if not self.training or rate == 0:
            return x
        kept = self.random.binomial(x.shape, p=1 - rate, dtype="float32")
        return x * kept / np.float32(1 - rate)


class FirstMaxPool(Pool):
    """Where several of a window are the largest, as on the even ground of a drawing, Theano gives the whole gradient to
    each; the other frameworks give it to the first."""

    def L_op(self, inputs, outputs, grads):
        images, *window = inputs
        others = super().L_op(inputs, outputs, grads)[1:]
        return [FirstMaxPoolGrad(self.ignore_border)(images, outputs[0], grads[0], *window)] + others


class FirstMaxPoolGrad(MaxPoolGrad):
    def c_code(self, *arguments):
        given = "gx[0] = gx[0] + gz[0];"
        code = super().c_code(*arguments)
        assert given in code
        # NaN is equal to nothing.
        return code.replace(given, given + " maximum = Py_NAN;")

    def c_code_cache_version(self):
        return super().c_code_cache_version() + ("first",)


def image_shape(node):
    shape = node["shape"]
    return shape["channels"], shape["height"], shape["width"]


def counted(node, before):
    """The share of each window that is not padding."""
    height, width = node["op"]["kernel"]
    before = dict(zip(("channels", "height", "width"), before))
    return (protocol.real_pixels(node, before) / np.float32(height * width))[None, None]


def padded(x, channels, rows, columns, size, value):
    around = T.alloc(np.float32(value), x.shape[0], channels, *size)
    return T.set_subtensor(around[:, :, rows[0] : rows[1], columns[0] : columns[1]], x)


def local_response_norm(node, x):
    op, (channels, height, width) = node["op"], image_shape(node)
    size = op["size"]
    around = T.alloc(np.float32(0), x.shape[0], channels + size - 1, height, width)
    squares = T.set_subtensor(around[:, size // 2 : size // 2 + channels], T.sqr(x))
    total = sum(squares[:, place : place + channels] for place in range(1, size)) + squares[:, :channels]
    scale = np.float32(op["k"]) + np.float32(op["alpha"] / size) * total
    return x / scale ** np.float32(op["beta"])


class Adapter:
    name = "theano"
    version = theano.__version__

    def __init__(self, job, graph, weights):
        if job.my_device != "cpu" and not theano.gpuarray.pygpu_activated:
            sys.exit(f"Theano cannot use the device `{job.my_device}` here: it needs pygpu and CUDA")
        self.job, self.graph = job, graph
        self.network = Network(graph, weights, job.seed)
        self.images, self.labels = T.tensor4(dtype="float32"), T.ivector()
        self.loss, self.layers, gathered = self.training_loss()
        self.slopes = theano.grad(self.loss, list(self.network.trained.values()))
        rule = sgd if job.optimizer["kind"] == "sgd" else adam
        self.updates = rule(job.optimizer, list(self.network.trained.values()), self.slopes) + gathered
        # Compiled when first used: a training needs only one of them, at its end.
        self.looking = self.answering = None
        self.stepping = theano.function([self.images, self.labels], self.loss, updates=self.updates)

    def training_loss(self):
        layers, gathered = self.network.outputs(self.images, training=True)
        losses, _ = T.nnet.crossentropy_softmax_1hot(layers[-1], self.labels)
        return losses.mean(), layers, gathered

    def step(self, images, labels):
        return self.stepping(images, labels)

    def logits(self, images):
        if self.answering is None:
            layers, _ = self.network.outputs(self.images, training=False)
            self.answering = theano.function([self.images], layers[-1])
        return self.answering(images)

    def gradients(self, images, labels):
        if self.looking is None:
            self.looking = theano.function([self.images, self.labels], [self.loss] + self.slopes + self.layers)
        loss, *found = self.looking(images, labels)
        trained = list(self.network.trained)
        names = [node["name"] for node in self.network.nodes[1:]]
        return float(loss), dict(zip(trained, found)), list(zip(names, found[len(trained):]))

    def weights(self):
        return {name: values.get_value() for name, values in self.network.shared.items()}

    def save(self, stem):
        np.savez(stem + ".npz", **self.weights())

    def profile(self, steps):
        """The same step, compiled once more with clocks around its operators."""
        stats = ProfileStats(atexit_print=False, gpu_checks=False)
        self.stepping = theano.function([self.images, self.labels], self.loss, updates=self.updates, profile=stats)
        steps()
        calls = stats.class_callcount()
        for kind, seconds in stats.class_time().items():
            yield kind.__name__, calls[kind], seconds


def sgd(rule, parameters, slopes):
    """Theano has no optimisers: their updates are written where they are used."""
    rate, momentum = np.float32(rule["learning_rate"]), np.float32(rule["momentum"])
    if not momentum:
        return [(parameter, parameter - rate * slope) for parameter, slope in zip(parameters, slopes)]
    updates = []
    for parameter, slope in zip(parameters, slopes):
        kept = theano.shared(np.zeros_like(parameter.get_value(borrow=True)))
        velocity = momentum * kept + slope
        updates += [(kept, velocity), (parameter, parameter - rate * velocity)]
    return updates


def adam(rule, parameters, slopes):
    # 1 minus it is computed in 64 bits: 32 bits would leave only a few digits.
    beta1, beta2, epsilon = (np.float32(rule[name]) for name in ("beta1", "beta2", "epsilon"))
    rest1, rest2 = np.float32(1 - rule["beta1"]), np.float32(1 - rule["beta2"])
    steps = theano.shared(np.float64(0))
    now = steps + np.float64(1)
    rate = T.cast(rule["learning_rate"] / (1 - np.float64(rule["beta1"]) ** now), "float32")
    correction = T.cast(T.sqrt(1 - np.float64(rule["beta2"]) ** now), "float32")
    updates = [(steps, now)]
    for parameter, slope in zip(parameters, slopes):
        nothing = np.zeros_like(parameter.get_value(borrow=True))
        first, second = theano.shared(nothing), theano.shared(nothing)
        new_first = beta1 * first + rest1 * slope
        new_second = beta2 * second + rest2 * T.sqr(slope)
        change = rate * new_first / (T.sqrt(new_second) / correction + epsilon)
        updates += [(first, new_first), (second, new_second), (parameter, parameter - change)]
    return updates


if __name__ == "__main__":
    protocol.main(Adapter)
