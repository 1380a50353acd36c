"""TensorFlow: layers of tf.nn in a tf.function, optimisers of tf.keras."""
import os
import sys
import tempfile

import numpy as np

import protocol
import xplane
from channels import ChannelsLast, is_same

if __name__ == "__main__":
    protocol.lead_workers()

import tensorflow as tf


class Network(tf.Module):
    """The layer graph, channels last: on a processor TensorFlow convolves no other way."""

    def __init__(self, graph, weights, channels, half=None, by_xla=False):
        super().__init__()
        self.nodes = graph["nodes"][: graph["logits"] + 1]
        self.turned = channels.turned
        self.half, self.by_xla = half, by_xla
        self.kept = {
            parameter["name"]: tf.Variable(channels.inward(parameter["name"], weights[parameter["name"]]),
                                           trainable=parameter["trained"], name=written(parameter["name"]))
            for node in graph["nodes"] for parameter in node["parameters"]
        }

    def __call__(self, x, training, seen=None):
        if self.half:
            x = tf.cast(x, self.half)
        values = [x]
        for node in self.nodes[1:]:
            arguments = [values[place] for place in node["inputs"]]
            values.append(self.layer(node, training, *arguments))
            if seen is not None:
                seen.append((node["name"], values[-1]))
        return tf.cast(values[-1], tf.float32)

    def layer(self, node, training, x, *others):
        name, op = node["name"], node["op"]
        kind = op["kind"]
        if kind == "conv":
            return self.convolution(name, op, self.shape(node), x)
        if kind == "dense":
            x = tf.matmul(x, self.own(name, "weight"))
            return tf.nn.bias_add(x, self.own(name, "bias")) if op["bias"] else x
        if kind == "batch-norm":
            return self.batch_norm(name, op, training, x)
        if kind == "relu":
            return tf.nn.relu(x)
        if kind == "max-pool":
            return self.maximum(op, self.shape(node), x)
        if kind == "avg-pool":
            return average(op, self.shape(node), x)
        if kind == "global-avg-pool":
            return tf.reduce_mean(x, (1, 2)) if len(x.shape) == 4 else x
        if kind == "dropout":
            return tf.nn.dropout(x, op["rate"]) if training and op["rate"] > 0 else x
        if kind == "flatten":
            if name in self.turned:
                x = tf.transpose(x, (0, 3, 1, 2))
            return tf.reshape(x, (-1, node["shape"]["features"]))
        if kind == "add":
            return tf.add_n((x,) + others) if others else x
        if kind == "concat":
            return tf.concat((x,) + others, -1)
        if kind == "lrn":
            return local_response_norm(op, x)
        if kind == "softmax":
            return tf.nn.softmax(x)
        sys.exit(f"TensorFlow's adapter does not support the layer kind `{kind}` of `{name}`")

    def own(self, name, role):
        value = self.kept[f"{name}.{role}"]
        return tf.cast(value, self.half) if self.half else value

    def shape(self, node):
        """Of the node's first input."""
        return self.nodes[node["inputs"][0]]["shape"]

    def convolution(self, name, op, shape, x):
        filters, (height, width) = self.own(name, "weight"), op["stride"]
        x, padding = self.padded(op, shape, x)
        # Its kernel takes no stride that differs by direction.
        if op["groups"] == shape["channels"] > 1 and height == width:
            filters = tf.reshape(filters, op["kernel"] + [op["groups"], op["output"] // op["groups"]])
            x = tf.nn.depthwise_conv2d(x, filters, (1, height, width, 1), padding)
        elif op["groups"] == 1 or self.by_xla:
            x = tf.nn.conv2d(x, filters, (height, width), padding)
        else:
            # On a processor TensorFlow has no gradient of grouped convolutions.
            groups = zip(tf.split(x, op["groups"], -1), tf.split(filters, op["groups"], -1))
            x = tf.concat([tf.nn.conv2d(part, own, (height, width), padding) for part, own in groups], -1)
        return tf.nn.bias_add(x, self.own(name, "bias")) if op["bias"] else x

    def padded(self, op, shape, x):
        """What is to be convolved, and with which padding."""
        if is_same(op, shape):
            return x, "SAME"
        if not any(protocol.sides(op)):
            return x, "VALID"
        # On a processor the fast kernels know no paddings by number, not even zeros.
        return (x, explicit(op)) if self.by_xla else (tf.pad(x, explicit(op)), "VALID")

    def batch_norm(self, name, op, training, x):
        gamma, beta = self.kept[f"{name}.gamma"], self.kept[f"{name}.beta"]
        mean, variance = self.kept[f"{name}.mean"], self.kept[f"{name}.variance"]
        image = x if len(x.shape) == 4 else x[:, None, None, :]
        # It normalises with the biased variance and gathers the unbiased one.
        y, new_mean, new_variance = tf.compat.v1.nn.fused_batch_norm(
            image, gamma, beta, mean, variance, op["epsilon"], is_training=training,
            exponential_avg_factor=op["momentum"] if training else 1.0)
        if training:
            mean.assign(new_mean)
            variance.assign(new_variance)
        return y if len(x.shape) == 4 else y[:, 0, 0, :]

    def maximum(self, op, shape, x):
        if is_same(op, shape):
            return tf.nn.max_pool2d(x, op["kernel"], op["stride"], "SAME")
        # XLA pools with no other padding.
        x = tf.pad(x, explicit(op), constant_values=x.dtype.min) if any(protocol.sides(op)) else x
        return tf.nn.max_pool2d(x, op["kernel"], op["stride"], "VALID")


def written(name):
    return name.replace(".", "__")


def explicit(op):
    top, bottom, left, right = protocol.sides(op)
    return [[0, 0], [top, bottom], [left, right], [0, 0]]


def average(op, shape, x):
    # What SAME pads is not counted in the mean.
    if is_same(op, shape) or not any(protocol.sides(op)):
        return tf.nn.avg_pool2d(x, op["kernel"], op["stride"], "SAME" if any(protocol.sides(op)) else "VALID")
    mean = tf.nn.avg_pool2d(tf.pad(x, explicit(op)), op["kernel"], op["stride"], "VALID")
    inside = np.pad(np.ones((1, shape["height"], shape["width"], 1), np.float32), explicit(op))
    return mean / tf.cast(tf.nn.avg_pool2d(inside, op["kernel"], op["stride"], "VALID"), x.dtype)


def local_response_norm(op, x):
    # On a processor it is there for 32 bits only.
    wide, size = tf.cast(x, tf.float32), op["size"]
    if size % 2 == 1:
        y = tf.nn.local_response_normalization(wide, size // 2, op["k"], op["alpha"] / size, op["beta"])
    else:
        squares = tf.pad(tf.square(wide), [[0, 0], [0, 0], [0, 0], [size // 2, (size - 1) // 2]])
        count = x.shape[-1]
        sums = tf.add_n([squares[..., shift : shift + count] for shift in range(size)])
        y = wide / tf.pow(op["k"] + op["alpha"] / size * sums, op["beta"])
    return tf.cast(y, x.dtype)


class Adapter:
    name = "tensorflow"
    version = tf.__version__
    out_of_memory = (tf.errors.ResourceExhaustedError,)

    def __init__(self, job, graph, weights):
        self.job, self.graph, self.data = job, graph, None
        if job.threads:
            tf.config.threading.set_intra_op_parallelism_threads(job.threads)
            tf.config.threading.set_inter_op_parallelism_threads(job.threads)
        on_gpu = choose_device(job.my_device)
        self.notes = protocol.spare_amx(half_products) if job.precision == "mixed" and not on_gpu else []
        tf.keras.utils.set_random_seed(job.seed % (1 << 32))
        # Before anything else is made: it starts this worker's server.
        self.strategy = strategy_of(job)
        self.half = (tf.float16 if on_gpu else tf.bfloat16) if job.precision == "mixed" else None
        self.channels = ChannelsLast(graph)
        with self.strategy.scope():
            self.network = Network(graph, weights, self.channels, self.half, bool(job.compile) or on_gpu)
            self.optimizer = optimizer(job.optimizer)
            if self.half == tf.float16:
                self.optimizer = tf.keras.mixed_precision.LossScaleOptimizer(self.optimizer)
            self.trained = [value for value in self.network.kept.values() if value.trainable]
            self.optimizer.build(self.trained)
        run_step, run_logits = self.distributed_step if job.workers > 1 else self.one_step, self.answers
        if job.compile is not False:
            # One graph for every size of batch: sizes that are known make faster kernels.
            options = {"autograph": False, "jit_compile": bool(job.compile) or None}
            run_step, run_logits = tf.function(run_step, **options), tf.function(run_logits, **options)
        self.run_step, self.run_logits = run_step, run_logits

    def one_step(self, images, labels, channels_last):
        with tf.GradientTape() as tape:
            loss = self.loss(images, labels, channels_last)
            # The optimiser adds up the gradients of all workers.
            part = loss / self.job.workers if self.job.workers > 1 else loss
            if self.half == tf.float16:
                part = self.optimizer.scale_loss(part)
        gradients = tape.gradient(part, self.trained)
        self.optimizer.apply_gradients(zip(gradients, self.trained))
        return loss

    def distributed_step(self, images, labels, channels_last):
        loss = self.strategy.run(self.one_step, (images, labels, channels_last))
        return self.strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None)

    def loss(self, images, labels, channels_last=False, seen=None):
        answers = self.network(images if channels_last else turned(images), True, seen)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, answers))

    def answers(self, images):
        return self.network(turned(images), False)

    def step(self, images, labels):
        # Batches of its own loader are tensors, channels last already. Everything else is converted here: a tf.function
        # takes longer to, and tf.is_tensor takes as long as a layer.
        is_own = not isinstance(images, np.ndarray)
        if not is_own:
            images, labels = tf.constant(images), tf.constant(labels)
        return self.run_step(images, labels, is_own).numpy()

    def logits(self, images):
        return self.run_logits(images).numpy()

    def gradients(self, images, labels):
        kept = {name: value.numpy() for name, value in self.network.kept.items() if not value.trainable}
        seen = []
        with tf.GradientTape() as tape:
            loss = self.loss(tf.constant(images), labels, seen=seen)
        found = tape.gradient(loss, {name: value for name, value in self.network.kept.items() if value.trainable})
        for name, values in kept.items():
            self.network.kept[name].assign(values)
        return (float(loss),
                {name: self.channels.outward(name, values.numpy()) for name, values in found.items()},
                [(name, tf.cast(values, tf.float32).numpy()) for name, values in seen])

    def weights(self):
        return {name: self.channels.outward(name, value.numpy()) for name, value in self.network.kept.items()}

    def save(self, stem):
        """A SavedModel that answers images [batch, channels, height, width] with logits."""
        shape = self.graph["nodes"][0]["shape"]
        images = tf.TensorSpec((None, shape["channels"], shape["height"], shape["width"]), tf.float32, "images")
        module = tf.Module()
        module.network = self.network
        module.__call__ = tf.function(self.answers, input_signature=[images], autograph=False)
        tf.saved_model.save(module, stem + ".savedmodel")

    def own_batches(self, raw, labels, epoch):
        """A tf.data pipeline that shuffles, resizes and normalises image by image."""
        if self.data is None:
            self.data = self.pipeline(raw, labels)
        yield from self.data

    def pipeline(self, raw, labels):
        job, side = self.job, self.job.data.image

        def prepared(image, label):
            image = tf.transpose(tf.cast(image, tf.float32) / 255, (1, 2, 0))
            if tuple(raw.shape[2:]) != (side, side):
                image = tf.image.resize(image, (side, side), "bilinear", antialias=True)
            return (image - 0.5) / 0.5, label

        data = tf.data.Dataset.from_tensor_slices((raw, labels))
        data = data.shuffle(len(labels), seed=job.seed % (1 << 63), reshuffle_each_iteration=True)
        # As many for each worker, or one would wait for the others' last step.
        data = data.take(len(labels) - len(labels) % job.workers).shard(job.workers, job.rank)
        data = data.map(prepared, tf.data.AUTOTUNE).batch(job.batch // job.workers)
        return data.prefetch(tf.data.AUTOTUNE)

    def profile(self, steps):
        with tempfile.TemporaryDirectory() as folder:
            tf.profiler.experimental.start(folder)
            try:
                steps()
            finally:
                tf.profiler.experimental.stop()
            yield from xplane.operators(folder)


def turned(images):
    """Channels to the end; with one channel nothing moves."""
    if images.shape[1] == 1:
        return tf.reshape(images, (-1,) + tuple(images.shape[2:]) + (1,))
    return tf.transpose(images, (0, 2, 3, 1))


def choose_device(device):
    """Hides every other device; whether it is a GPU."""
    kind, _, number = device.partition(":")
    if kind == "cpu":
        tf.config.set_visible_devices([], "GPU")
        return False
    gpus = tf.config.list_physical_devices("GPU")
    if kind != "cuda":
        sys.exit(f"TensorFlow's adapter does not support the device `{device}`: cpu, cuda:0, …")
    if int(number or 0) >= len(gpus):
        seen = f"{len(gpus)} of them" if gpus else "no GPU"
        sys.exit(f"{device} was requested, but TensorFlow sees {seen}")
    own = gpus[int(number or 0)]
    tf.config.set_visible_devices([own], "GPU")
    # Otherwise it allocates all memory at once, and its real need would be unknown.
    tf.config.experimental.set_memory_growth(own, True)
    return True


def half_products():
    values = tf.ones((64, 64), tf.bfloat16)
    tf.matmul(values, values).numpy()
    tf.nn.conv2d(tf.reshape(values, (1, 8, 8, 64)), tf.reshape(values, (1, 1, 64, 64)), 1, "SAME").numpy()


def strategy_of(job):
    if job.workers == 1:
        return tf.distribute.get_strategy()
    protocol.tell_tensorflow(job)
    return tf.distribute.MultiWorkerMirroredStrategy()


def optimizer(rule):
    if rule["kind"] == "sgd":
        return tf.keras.optimizers.SGD(rule["learning_rate"], rule["momentum"])
    # Its epsilon is the one that Kingma and Ba write with a hat: it is added before the second moment is
    # corrected, so in the first steps it weighs more than PyTorch's, up to 1 / sqrt(1 - beta2) times.
    return tf.keras.optimizers.Adam(rule["learning_rate"], rule["beta1"], rule["beta2"], rule["epsilon"])


if __name__ == "__main__":
    protocol.main(Adapter)
