"""Chainer 7.8.1, on NumPy."""
import sys
import time

import numpy as np

import protocol

import chainer
import chainer.functions as F
from chainer.function_hooks import TimerHook


class Network(chainer.Chain):
    """The layer graph as a chain; parameters keep their names, with a dot written as two lines."""

    def __init__(self, graph, weights):
        super().__init__()
        self.nodes = graph["nodes"][: graph["logits"] + 1]
        self.uses = [0] * len(self.nodes)
        for node in self.nodes:
            for place in node["inputs"]:
                self.uses[place] += 1
        for node in graph["nodes"]:
            for parameter in node["parameters"]:
                self.keep(parameter["name"], np.array(weights[parameter["name"]]), parameter["trained"])

    def keep(self, name, values, trained):
        if not trained:
            self.add_persistent(written(name), values)
            return
        with self.init_scope():
            setattr(self, written(name), chainer.Parameter(values))

    def forward(self, x, seen=None):
        values, left = [x], list(self.uses)
        for node in self.nodes[1:]:
            values.append(self.layer(node, *(values[place] for place in node["inputs"])))
            for place in node["inputs"]:
                left[place] -= 1
                if left[place] == 0 and seen is None:
                    values[place] = None
            if seen is not None:
                seen.append((node["name"], values[-1]))
        return values[-1]

    def layer(self, node, x, *others):
        name, op = node["name"], node["op"]
        kind = op["kind"]
        if kind == "conv":
            x, pad, cover = around(node, x, 0)
            return F.convolution_2d(x, self.own(name, "weight"), self.own(name, "bias") if op["bias"] else None,
                                    op["stride"], pad, cover, groups=op["groups"])
        if kind == "dense":
            return F.linear(x, self.own(name, "weight"), self.own(name, "bias") if op["bias"] else None)
        if kind == "batch-norm":
            return self.batch_norm(name, op, x)
        if kind == "relu":
            return F.relu(x)
        if kind == "max-pool":
            x, pad, cover = around(node, x, -np.inf)
            return F.max_pooling_2d(x, op["kernel"], op["stride"], pad, cover)
        if kind == "avg-pool":
            return average(node, x)
        if kind == "global-avg-pool":
            return F.average(x, (2, 3)) if x.ndim == 4 else x
        if kind == "dropout":
            return F.dropout(x, op["rate"]) if op["rate"] > 0 else x
        if kind == "flatten":
            return F.reshape(x, (len(x), -1))
        if kind == "add":
            return F.add(x, *others) if others else x
        if kind == "concat":
            return F.concat((x, *others), 1)
        if kind == "lrn":
            return response_norm(op, x)
        if kind == "softmax":
            return F.softmax(x)
        sys.exit(f"Chainer's adapter does not support the layer kind `{kind}` of `{name}`")

    def own(self, name, role):
        return getattr(self, written(f"{name}.{role}"))

    def batch_norm(self, name, op, x):
        gamma, beta, mean, variance = (self.own(name, role) for role in ("gamma", "beta", "mean", "variance"))
        if not chainer.config.train:
            return F.fixed_batch_normalization(x, gamma, beta, mean, variance, op["epsilon"])
        # Decay is the weight of the running statistics; the running variance is the unbiased one.
        return F.batch_normalization(x, gamma, beta, eps=op["epsilon"], running_mean=mean, running_var=variance,
                                     decay=1 - op["momentum"])


def written(name):
    return name.replace(".", "__")


def around(node, x, value):
    """(images, padding, whether windows that hang over count) so that a convolution or a maximum comes to the
    graph's shape. It pads below and to the right as much as above and to the left, or as windows that hang over
    need; any other padding is put around the images, which are copied once more for it."""
    op = node["op"]
    top, bottom, left, right = protocol.sides(op)
    room = x.shape[2] + 2 * top - op["kernel"][0], x.shape[3] + 2 * left - op["kernel"][1]
    windows = [node["shape"][side] - 1 for side in ("height", "width")]
    fits = top < op["kernel"][0] and left < op["kernel"][1]
    if fits and windows == [length // stride for length, stride in zip(room, op["stride"])]:
        return x, (top, left), False
    if fits and windows == [-(-length // stride) for length, stride in zip(room, op["stride"])]:
        return x, (top, left), True
    return padded(x, (top, bottom), (left, right), value), 0, False


def padded(x, rows, columns, value=0):
    return F.pad(x, ((0, 0), (0, 0), rows, columns), "constant", constant_values=value)


def average(node, x):
    """Average pooling has no partial windows, but excludes padding that is equal on both sides."""
    op = node["op"]
    top, bottom, left, right = protocol.sides(op)
    same, pad, cover = around(node, x, 0)
    if same is x and not cover:
        return F.average_pooling_nd(x, op["kernel"], op["stride"], pad, pad_value=None)
    inside = padded(x.xp.ones((1, 1) + x.shape[2:], x.dtype), (top, bottom), (left, right))
    shares = F.average_pooling_2d(inside, op["kernel"], op["stride"])
    means = F.average_pooling_2d(padded(x, (top, bottom), (left, right)), op["kernel"], op["stride"])
    return means / F.broadcast_to(shares, means.shape)


def response_norm(op, x):
    """The graph's alpha is of the squares' mean, Chainer's of their sum."""
    size = op["size"]
    if size % 2:
        return F.local_response_normalization(x, size, op["k"], op["alpha"] / size, op["beta"])
    # Its own windows reach as far up as down.
    count, channels, height, width = x.shape
    squares = padded(F.reshape(x * x, (count, 1, channels, height * width)), (size // 2, size // 2 - 1), (0, 0))
    means = F.reshape(F.average_pooling_2d(squares, (size, 1), 1), x.shape)
    return x * (op["k"] + op["alpha"] * means) ** -op["beta"]


class Adapter:
    name = "chainer"
    version = chainer.__version__

    def __init__(self, job, graph, weights):
        refuse_what_it_cannot(job)
        self.job, self.device = job, device(job.my_device)
        self.device.use()
        # Dropout draws from NumPy's generator.
        self.device.xp.random.seed(job.seed % (1 << 32))
        self.network = Network(graph, weights).to_device(self.device)
        self.trained = {p["name"]: p["trained"] for n in graph["nodes"] for p in n["parameters"]}
        self.optimizer = optimizer(job.optimizer).setup(self.network)
        self.loss = None

    def back_propagate(self, images, labels, seen=None):
        images, labels = self.device.send((images, labels))
        # The last one, and with it all that was computed, is let go now and not earlier, as in Chainer's Classifier.
        self.loss = None
        self.loss = F.softmax_cross_entropy(self.network(images, seen), labels)
        self.network.cleargrads()
        self.loss.backward()
        return float(self.loss.array)

    def step(self, images, labels):
        loss = self.back_propagate(images, labels)
        self.optimizer.update()
        return loss

    def logits(self, images):
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            return plain(self.network(self.device.send(images)))

    def gradients(self, images, labels):
        kept = {name: self.array(name).copy() for name, trained in self.trained.items() if not trained}
        seen = []
        loss = self.back_propagate(images, labels, seen)
        gradients = {name: chainer.get_device("@numpy").send(getattr(self.network, written(name)).grad)
                     for name, trained in self.trained.items() if trained}
        self.network.cleargrads()
        for name, values in kept.items():
            self.array(name)[...] = values
        return loss, gradients, [(name, plain(values)) for name, values in seen]

    def array(self, name):
        values = getattr(self.network, written(name))
        return values.array if isinstance(values, chainer.Parameter) else values

    def weights(self):
        return {name: chainer.get_device("@numpy").send(self.array(name)) for name in self.trained}

    def save(self, stem):
        chainer.serializers.save_npz(stem + ".npz", self.network)

    def own_batches(self, raw, labels, epoch):
        """A transformed dataset and an iterator over it, image by image, as Chainer's examples do."""
        job = self.job
        side = (job.data.image, job.data.image)

        def prepared(example):
            image, label = example
            image = image.astype(np.float32) / 255
            if image.shape[1:] != side:
                image = F.resize_images(image[None], side, align_corners=False).array[0]
            return (image - np.float32(0.5)) / np.float32(0.5), label

        pictures = chainer.datasets.TransformDataset(chainer.datasets.TupleDataset(raw, labels), prepared)
        shuffle = chainer.iterators.ShuffleOrderSampler(np.random.RandomState((job.seed + epoch) % (1 << 32)))
        for examples in chainer.iterators.SerialIterator(pictures, job.batch, repeat=False, order_sampler=shuffle):
            yield chainer.dataset.concat_examples(examples)

    def profile(self, steps):
        hook = OwnTimes()
        self.optimizer.add_hook(hook.begin_update, "begin_update", timing="pre")
        self.optimizer.add_hook(hook.end_update, "end_update", timing="post")
        with hook:
            steps()
        for name in ("begin_update", "end_update"):
            self.optimizer.remove_hook(name)
        for name, seconds in hook.own:
            yield name, 1, seconds

    def synchronise(self):
        if self.device.xp is not np:
            chainer.backends.cuda.Stream.null.synchronize()


class OwnTimes(TimerHook):
    """What a function takes without those that it calls: convolutions go backward by calling others, which
    TimerHook counts in both. And the optimiser, which is no function."""

    def __init__(self):
        super().__init__()
        self.own, self.inside = [], {}

    def _postprocess(self, function):
        super()._postprocess(function)
        name, seconds = self.call_history[-1]
        self.own.append((name, seconds - self.inside.pop(self._depth + 1, 0.0)))
        self.inside[self._depth] = self.inside.get(self._depth, 0.0) + seconds

    def begin_update(self, _):
        self.began = time.perf_counter()

    def end_update(self, optimizer):
        self.own.append((type(optimizer).__name__ + " update", time.perf_counter() - self.began))


def plain(variable):
    return chainer.get_device("@numpy").send(variable.array)


def refuse_what_it_cannot(job):
    if job.workers > 1 or len(job.devices) > 1:
        sys.exit("Chainer's adapter trains in one process on one device: use pytorch, tensorflow or jax for several "
                 "workers")
    if job.precision == "mixed":
        sys.exit("Chainer's adapter computes in 32 bits: use precision = \"float32\"")
    if job.compile:
        sys.exit("Chainer runs operator by operator and does not compile: remove `compile`, or set it to false")


def device(asked):
    kind, _, number = asked.partition(":")
    number = number or "0"
    if kind not in ("cpu", "cuda") or not number.isdigit():
        sys.exit(f"Chainer's adapter does not support the device `{asked}`: use cpu or cuda:0")
    if kind == "cpu":
        return chainer.get_device("@numpy")
    there = chainer.backends.cuda.cupy.cuda.runtime.getDeviceCount() if chainer.backends.cuda.available else 0
    if int(number) >= there:
        sys.exit(f"{asked} was requested, but this Chainer sees {there} GPUs: use device = \"cpu\", or add a CuPy that "
                 "Chainer knows to its environment on a machine that has the GPU")
    return chainer.get_device(f"@cupy:{number}")


def optimizer(rule):
    """Chainer's Adam adds epsilon to the root of the second moment before its bias is corrected: in the first steps it
    weighs up to 1 / √(1 - beta2) times as much as in PyTorch's."""
    rate = rule["learning_rate"]
    if rule["kind"] == "sgd" and rule["momentum"] == 0:
        return chainer.optimizers.SGD(rate)
    if rule["kind"] == "sgd":
        return chainer.optimizers.MomentumSGD(rate, rule["momentum"])
    return chainer.optimizers.Adam(rate, rule["beta1"], rule["beta2"], rule["epsilon"])


if __name__ == "__main__":
    protocol.main(Adapter)
