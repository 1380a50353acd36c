"""Keras 3 on TensorFlow, JAX or PyTorch: the functional API, its own layers, train_on_batch."""
import contextlib
import os
import sys
import tempfile

import numpy as np

import protocol
import xplane
from channels import ChannelsLast, is_same
from variances import Variances


def prepare(job):
    """What Keras and the libraries under it read from the environment when they are imported."""
    if job.workers > 1 and os.environ.get("KERAS_BACKEND") != "tensorflow":
        sys.exit("Keras' adapter supports several workers on TensorFlow only: use keras-tensorflow, pytorch, tensorflow or "
                 "jax")
    if job.workers > 1 and job.compile:
        sys.exit("Keras' adapter does not compile for several workers: remove `compile`, or set it to false")
    if job.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    if job.threads:
        # The size of XLA's pool of threads under JAX; there is no other way to set it.
        os.environ["NPROC"] = str(job.threads)
    # Otherwise JAX allocates most of a GPU's memory at once, and its real need would be unknown.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ["KERAS_TORCH_DEVICE"] = job.device


if __name__ == "__main__":
    prepare(protocol.Job.read())
    protocol.lead_hosts()

import keras
from keras import layers, ops


class Network:
    """The layer graph as a functional model of images [batch, channels, height, width]. What Keras has no
    layer for is written in keras.ops, so that a saved model needs no code of ours to be loaded."""

    def __init__(self, graph, channels, backend):
        self.nodes, self.turned, self.backend = graph["nodes"][: graph["logits"] + 1], channels.turned, backend
        self.first = backend.layout == "channels_first"
        self.axis = 1 if self.first else -1
        # By the names of the parameters.
        self.kept = {}
        shape = self.nodes[0]["shape"]
        images = keras.Input((shape["channels"], shape["height"], shape["width"]), name="images")
        self.values = [images if self.first else layers.Permute((2, 3, 1))(images)]
        for node in self.nodes[1:]:
            arguments = [self.values[place] for place in node["inputs"]]
            self.values.append(self.layer(node, *arguments))
        # Losses are computed with 32 bits whatever the layers are.
        logits = layers.Activation("linear", dtype="float32", name="answers")(self.values[-1])
        self.model = keras.Model(images, logits)

    def watched(self):
        """The same layers, which also return the output of each node."""
        return keras.Model(self.model.inputs, self.model.outputs + self.values[1:])

    def layer(self, node, x, *others):
        op, name = node["op"], written(node["name"])
        kind = op["kind"]
        if kind == "conv":
            return self.convolution(node, x)
        if kind == "dense":
            return self.with_weights(node, layers.Dense(op["output"], use_bias=op["bias"], name=name), x)
        if kind == "batch-norm":
            # Its momentum is the weight of the running statistics.
            own = layers.BatchNormalization(self.axis, 1 - op["momentum"], op["epsilon"], name=name)
            return self.with_weights(node, own, x)
        if kind == "relu":
            return layers.ReLU(name=name)(x)
        if kind == "max-pool":
            x, padding = self.padded(node, x, float("-inf"))
            return layers.MaxPooling2D(op["kernel"], op["stride"], padding, name=name)(x)
        if kind == "avg-pool":
            return self.average(node, x)
        if kind == "global-avg-pool":
            return layers.GlobalAveragePooling2D(name=name)(x) if len(x.shape) == 4 else x
        if kind == "dropout":
            return layers.Dropout(op["rate"], name=name)(x)
        if kind == "flatten":
            if node["name"] in self.turned:
                x = layers.Permute((3, 1, 2))(x)
            # With channels last nothing is transposed.
            return layers.Flatten("channels_last", name=name)(x)
        if kind == "add":
            return layers.Add(name=name)([x, *others]) if others else x
        if kind == "concat":
            return layers.Concatenate(self.axis, name=name)([x, *others]) if others else x
        if kind == "lrn":
            return self.local_response_norm(op, x)
        if kind == "softmax":
            return layers.Softmax(self.axis, name=name)(x)
        sys.exit(f"Keras' adapter does not support the layer kind `{kind}` of `{node['name']}`")

    def with_weights(self, node, layer, x):
        x = layer(x)
        roles = {"weight": "kernel", "mean": "moving_mean", "variance": "moving_variance"}
        for parameter in node["parameters"]:
            role = parameter["name"].rpartition(".")[2]
            self.kept[parameter["name"]] = getattr(layer, roles.get(role, role))
        return x

    def convolution(self, node, x):
        op, count, name = node["op"], self.shape(node)["channels"], written(node["name"])
        (height, width), groups = op["stride"], op["groups"]
        x, padding = self.padded(node, x, 0.0)
        # TensorFlow's takes no stride that differs by direction.
        if groups == count > 1 and height == width:
            own = layers.DepthwiseConv2D(op["kernel"], (height, width), padding, op["output"] // groups,
                                         use_bias=op["bias"], name=name)
        else:
            own = layers.Conv2D(op["output"], op["kernel"], (height, width), padding, groups=groups,
                                use_bias=op["bias"], name=name)
        return self.with_weights(node, own, x)

    def padded(self, node, x, value=0.0):
        """The input, and what Keras calls the padding that is left to its layer."""
        top, bottom, left, right = padding = protocol.sides(node["op"])
        if not any(padding):
            return x, "valid"
        if is_same(node["op"], self.shape(node)) and self.knows_same(node["op"]):
            return x, "same"
        if value == 0.0:
            return layers.ZeroPadding2D(((top, bottom), (left, right)))(x), "valid"
        inside = [(top, bottom), (left, right)]
        around = [(0, 0), (0, 0)] + inside if self.first else [(0, 0)] + inside + [(0, 0)]
        return ops.pad(x, around, constant_values=value), "valid"

    def knows_same(self, op):
        return not (self.backend.repeats and op["kind"] == "avg-pool") or protocol.is_even(protocol.sides(op))

    def average(self, node, x):
        op = node["op"]
        y, padding = self.padded(node, x)
        unpadded = y is x
        y = layers.AveragePooling2D(op["kernel"], op["stride"], padding, name=written(node["name"]))(y)
        if unpadded:
            return y
        height, width = op["kernel"]
        share = np.float32(height * width) / protocol.real_pixels(node, self.shape(node))
        return ops.cast(y * (share[None, None] if self.first else share[None, :, :, None]), x.dtype)

    def local_response_norm(self, op, x):
        size, axis = op["size"], 1 if self.first else 3
        count = x.shape[axis]
        wide = ops.cast(x, "float32")
        around = [(size // 2, (size - 1) // 2) if place == axis else (0, 0) for place in range(4)]
        squares, sums = ops.pad(ops.square(wide), around), 0.0
        for begin in range(size):
            part = slice(begin, begin + count)
            sums = sums + (squares[:, part] if self.first else squares[..., part])
        return ops.cast(wide * (op["k"] + op["alpha"] / size * sums) ** -op["beta"], x.dtype)

    def shape(self, node):
        """Of the node's first input."""
        return self.nodes[node["inputs"][0]]["shape"]


def written(name):
    return name.replace(".", "__")


def of_dataset(raw, labels, job, epoch, prepared):
    """Batches of a PyDataset, the loader of Keras that needs no TensorFlow."""
    rows = np.random.default_rng((job.seed, epoch)).permutation(len(labels))

    class Pictures(keras.utils.PyDataset):
        def __len__(self):
            return -(-len(rows) // job.batch)

        def __getitem__(self, index):
            some = rows[index * job.batch : (index + 1) * job.batch]
            return prepared(raw[some]), labels[some]

    pictures = Pictures()
    return (pictures[index] for index in range(len(pictures)))


class OnTensorFlow:
    """What Keras leaves to the library under it: threads, devices, gradients, loaders, profiles. `repeats`: means
    count the outermost pixels again where SAME pads unevenly."""

    # TensorFlow supports no other layout on a CPU.
    layout, repeats, data = "channels_last", False, None

    def __init__(self, job):
        import tensorflow as tf

        if job.threads:
            tf.config.threading.set_intra_op_parallelism_threads(job.threads * job.shares)
            tf.config.threading.set_inter_op_parallelism_threads(job.threads * job.shares)
        self.notes = []
        if job.device == "cpu":
            tf.config.set_visible_devices([], "GPU")
            self.notes = protocol.spare_amx(half_products) if job.precision == "mixed" else []
            kind = "CPU"
            tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                                       [tf.config.LogicalDeviceConfiguration()] * job.shares)
        else:
            kind = "GPU"
            gpus = tf.config.list_physical_devices("GPU")
            devices = [job.my_device] if job.hosts else job.devices
            own = [gpus[number_of(device, len(gpus), "TensorFlow")] for device in devices]
            if len(set(own)) < job.shares:
                sys.exit(f"{job.shares} workers need as many GPUs, but `{job.device}` names {len(set(own))}")
            tf.config.set_visible_devices(own, "GPU")
            for gpu in own:
                # Otherwise it allocates all memory at once, and its real need would be unknown.
                tf.config.experimental.set_memory_growth(gpu, True)
        if job.workers > 1:
            self.mirrored = Mirrored(tf, job, kind)

    def gradients(self, model, loss_of, images, labels):
        import tensorflow as tf

        with tf.GradientTape() as tape:
            answers, *seen = model(images, training=True)
            loss = loss_of(labels, answers)
        return loss, tape.gradient(loss, [variable.value for variable in model.trainable_variables]), seen

    def batches(self, raw, labels, job, epoch, prepared):
        """A tf.data pipeline, as Keras' examples have it; it shuffles anew by itself every epoch."""
        import tensorflow as tf

        if self.data is None:
            data = tf.data.Dataset.from_tensor_slices((raw, labels))
            data = data.shuffle(len(labels), seed=job.seed % (1 << 63)).batch(job.batch)
            data = data.map(lambda images, wanted: (prepared(images), wanted), tf.data.AUTOTUNE)
            self.data = data.prefetch(tf.data.AUTOTUNE)
        return self.data

    def profile(self, steps):
        import tensorflow as tf

        with tempfile.TemporaryDirectory() as folder:
            tf.profiler.experimental.start(folder)
            try:
                steps()
            finally:
                tf.profiler.experimental.stop()
            yield from xplane.operators(folder)


class Mirrored:
    """A model mirrored on several devices with TensorFlow, each of which gets its share of every batch."""

    def __init__(self, tf, job, kind):
        self.tf = tf
        if job.hosts:
            protocol.tell_tensorflow(job)
            self.strategy = tf.distribute.MultiWorkerMirroredStrategy()
        else:
            devices = [f"{kind}:{number}" for number in range(job.workers)]
            self.strategy = tf.distribute.MirroredStrategy(devices)
        self.scope, self.count, self.made = self.strategy.scope, job.shares, None

    def make(self, model):
        """What a trace would make inside of it, made before; then Keras' own step on every device."""
        with self.scope():
            model.optimizer.build(model.trainable_variables)

        @self.tf.function
        def step(shares):
            return self.strategy.reduce("MEAN", self.strategy.run(model.train_step, args=(shares,))["loss"], axis=None)

        return step

    def step(self, model, images, labels):
        if self.made is None:
            self.made = self.make(model)

        def shares(array):
            def share(context):
                # Over hosts this process has its one share already.
                return self.tf.convert_to_tensor(array[context.replica_id_in_sync_group % self.count :: self.count])

            return self.strategy.experimental_distribute_values_from_function(share)

        model.reset_metrics()
        return self.made((shares(images), shares(labels)))


class OnJax:
    # Faster with XLA on a CPU.
    layout, repeats = "channels_last", False
    batches = staticmethod(of_dataset)

    def __init__(self, job):
        import jax

        self.notes = []
        if job.device != "cpu":
            try:
                gpus = jax.devices("cuda")
            except RuntimeError:
                gpus = []
            jax.config.update("jax_default_device", gpus[number_of(job.device, len(gpus), "JAX")])

    def gradients(self, model, loss_of, images, labels):
        import jax

        def lost(trained, others, images, labels):
            (answers, *seen), _ = model.stateless_call(trained, others, images, training=True)
            return loss_of(labels, answers), seen

        state = [[variable.value for variable in part]
                 for part in (model.trainable_variables, model.non_trainable_variables)]
        (loss, seen), found = jax.jit(jax.value_and_grad(lost, has_aux=True))(*state, images, labels)
        return loss, found, seen

    def profile(self, steps):
        import jax

        # Calls of Python functions are not needed and would make the profile large.
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder, profiler_options=options):
                steps()
            yield from xplane.operators(folder)


class OnTorch:
    # With channels last Keras would transpose the images before and after every layer.
    layout, repeats = "channels_first", True
    batches = staticmethod(of_dataset)

    def __init__(self, job):
        import torch

        if job.threads:
            torch.set_num_threads(job.threads)
        self.gpu, self.notes = None, []
        if job.device == "cpu":
            self.notes = protocol.spare_amx(half_products) if job.precision == "mixed" else []
        else:
            self.gpu = number_of(job.device, torch.cuda.device_count(), "PyTorch")
            self.synchronise = lambda: torch.cuda.synchronize(self.gpu)

    def gradients(self, model, loss_of, images, labels):
        import torch

        answers, *seen = model(images, training=True)
        loss = loss_of(labels, answers)
        return loss, torch.autograd.grad(loss, [variable.value for variable in model.trainable_variables]), seen

    def profile(self, steps):
        from torch.profiler import ProfilerActivity, profile

        activities, spent = [ProfilerActivity.CPU], "self_cpu_time_total"
        if self.gpu is not None:
            activities, spent = activities + [ProfilerActivity.CUDA], "self_device_time_total"
        with profile(activities=activities) as seen:
            steps()
        for event in seen.key_averages():
            yield event.key, event.count, getattr(event, spent, 0) / 1e6


def half_products():
    """Those that oneDNN computes under TensorFlow and PyTorch."""
    values = ops.ones((64, 64), "bfloat16")
    ops.convert_to_numpy(ops.matmul(values, values))
    ops.convert_to_numpy(ops.conv(ops.reshape(values, (1, 8, 8, 64)), ops.reshape(values, (1, 1, 64, 64)),
                                  data_format="channels_last"))


BACKENDS = {"tensorflow": OnTensorFlow, "jax": OnJax, "torch": OnTorch}


def number_of(device, there, library):
    """Which of the GPUs, if it is there."""
    kind, _, number = device.partition(":")
    number = number or "0"
    if kind != "cuda" or not number.isdigit():
        sys.exit(f"Keras' adapter does not support the device `{device}`: use cpu, cuda:0, …")
    if int(number) >= there:
        seen = f"{there} of them" if there else "no GPU"
        sys.exit(f"{device} was requested, but {library} sees {seen}: use device = \"cpu\"")
    return int(number)


class KernelsLast(ChannelsLast):
    """With channels first Keras keeps its kernels as with channels last, and turns nothing else."""

    def __init__(self, graph):
        super().__init__(graph)
        self.flattened, self.turned = {}, set()


class Adapter:
    name = "keras"
    version = keras.__version__
    shards_itself = True

    def __init__(self, job, graph, weights):
        self.job = job
        backend = keras.backend.backend()
        if backend not in BACKENDS:
            sys.exit(f"Keras' adapter does not support the backend `{backend}`: set KERAS_BACKEND to tensorflow, jax or "
                     "torch")
        self.backend = BACKENDS[backend](job)
        self.notes, self.profile = self.backend.notes, self.backend.profile
        self.synchronise = getattr(self.backend, "synchronise", None)
        keras.config.set_image_data_format(self.backend.layout)
        keras.config.set_dtype_policy(policy(job))
        keras.utils.set_random_seed(job.seed % (1 << 32))
        self.channels = (KernelsLast if self.backend.layout == "channels_first" else ChannelsLast)(graph)
        self.mirrored = getattr(self.backend, "mirrored", None)
        with self.mirrored.scope() if self.mirrored else contextlib.nullcontext():
            self.network = Network(graph, self.channels, self.backend)
            self.model, self.kept = self.network.model, self.network.kept
            for name, variable in self.kept.items():
                variable.assign(self.channels.inward(name, weights[name]).reshape(variable.shape))
            self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            self.model.compile(optimizer(job.optimizer), self.loss, jit_compile=self.compilation(job, backend))
        self.variances = Variances(graph, self.kept.__getitem__,
                                   lambda variance, ratio: variance.assign(variance.value * ratio))
        self.prepared = None

    def compilation(self, job, backend):
        if job.compile is None:
            return "auto"
        if not job.compile and backend == "jax":
            # Operator by operator, which nobody uses for training.
            self.notes.append("Keras on JAX is always compiled: `compile = false` had no effect")
            return True
        return job.compile

    def step(self, images, labels):
        self.variances.gather(len(labels) // self.job.shares)
        if self.mirrored:
            return self.mirrored.step(self.model, images, labels)
        # It takes as long as a step of `fit`, and resets the running mean of the loss every time.
        return self.model.train_on_batch(images, labels)

    def logits(self, images):
        self.variances.gather(None)
        if self.mirrored:
            # Keras would have every device process all images.
            return ops.convert_to_numpy(self.model(images, training=False))
        return self.model.predict_on_batch(images)

    def gradients(self, images, labels):
        model = self.network.watched()
        kept = [(variable, np.array(ops.convert_to_numpy(variable))) for variable in model.non_trainable_variables]
        loss, found, seen = self.backend.gradients(model, self.loss, images, labels)
        for variable, values in kept:
            variable.assign(values)
        names = {id(variable): name for name, variable in self.kept.items()}
        found = {names[id(variable)]: wide(values) for variable, values in zip(model.trainable_variables, found)}
        return (float(loss), {name: self.channels.outward(name, values) for name, values in found.items()},
                [(node["name"], wide(values)) for node, values in zip(self.network.nodes[1:], seen)])

    def weights(self):
        self.variances.gather(None)
        return {name: self.channels.outward(name, wide(variable)) for name, variable in self.kept.items()}

    def save(self, stem):
        """Keras' own file: network, weights and optimiser, which `keras.models.load_model` reads."""
        self.variances.gather(None)
        self.model.save(stem + ".keras")

    def own_batches(self, raw, labels, epoch):
        """Keras' own layers bring the images to their range and size."""
        if self.prepared is None:
            side, only = self.job.data.image, {"dtype": "float32"}
            steps = [layers.Rescaling(1 / 127.5, -1, **only)]
            if tuple(raw.shape[2:]) != (side, side):
                steps.append(layers.Resizing(side, side, antialias=True, data_format="channels_first", **only))
            self.prepared = keras.Sequential(steps)
        for images, wanted in self.backend.batches(raw, labels, self.job, epoch, self.prepared):
            # Shares must be equal, and a share without images would make the loss NaN.
            alike = len(wanted) - len(wanted) % self.job.workers
            if alike:
                mine = slice(self.job.rank, alike, self.job.processes)
                yield images[mine], wanted[mine]


def wide(values):
    return ops.convert_to_numpy(ops.cast(values, "float32"))


def policy(job):
    if job.precision != "mixed":
        return "float32"
    # Keras scales the loss by itself where 16 bits have no large exponents.
    return "mixed_bfloat16" if job.device == "cpu" else "mixed_float16"


def optimizer(rule):
    if rule["kind"] == "sgd":
        return keras.optimizers.SGD(rule["learning_rate"], rule["momentum"])
    # Its epsilon is the one that Kingma and Ba write with a hat: it is added before the second moment is
    # corrected, so in the first steps it weighs more than PyTorch's, up to 1 / sqrt(1 - beta2) times.
    return keras.optimizers.Adam(rule["learning_rate"], rule["beta1"], rule["beta2"], rule["epsilon"])


if __name__ == "__main__":
    protocol.main(Adapter)
