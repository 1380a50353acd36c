"""MXNet 1.9.1, Gluon."""
import json
import os
import sys
import tempfile

import numpy as np

import protocol
import variances
import workers


def settle_threads():
    """The engine and OpenMP count their threads when they are loaded, so before it."""
    threads = protocol.Job.read().threads if "BANCADA_JOB" in os.environ else None
    if threads:
        os.environ["OMP_NUM_THREADS"] = str(threads)
        os.environ["MXNET_MP_OPENCV_NUM_THREADS"] = str(threads)


def join_hosts():
    """MXNet reads its role from the environment. Each host has a server, which sums its share of the
    gradients; the first has the scheduler, by which all find each other."""
    protocol.lead_hosts()
    job = protocol.Job.read()
    if not job.hosts:
        return
    host, _, port = os.environ["BANCADA_WORKERS"].split(",")[0].partition(":")
    places = job.hosts.places
    os.environ.update(DMLC_PS_ROOT_URI=host, DMLC_PS_ROOT_PORT=port, DMLC_NODE_HOST=os.environ["BANCADA_ADDRESS"],
                      DMLC_NUM_WORKER=str(job.workers), DMLC_NUM_SERVER=str(sum(not p["local_rank"] for p in places)))
    if job.rank == 0:
        workers.beside("mxnet", DMLC_ROLE="scheduler")
    if places[job.rank]["local_rank"] == 0:
        workers.beside("mxnet", DMLC_ROLE="server")
    os.environ["DMLC_ROLE"] = "worker"


settle_threads()
if __name__ == "__main__":
    join_hosts()

import mxnet as mx  # noqa: E402
from mxnet import autograd, gluon  # noqa: E402


class Network(gluon.HybridBlock):
    """The layer graph as a block; parameters keep their names."""

    def __init__(self, graph, weights, contexts):
        super().__init__(prefix="")
        self.nodes = graph["nodes"][: graph["logits"] + 1]
        self.uses = [0] * len(self.nodes)
        for node in self.nodes:
            for place in node["inputs"]:
                self.uses[place] += 1
        for node in graph["nodes"]:
            for parameter in node["parameters"]:
                self.keep(parameter["name"], weights[parameter["name"]], parameter["trained"], contexts)
            counts = uncounted_padding(node, graph)
            if counts is not None:
                self.keep(node["name"] + ".counts", counts, False, contexts)

    def keep(self, name, values, trained, contexts):
        parameter = self.params.get(name, shape=values.shape, init="zeros", grad_req="write" if trained else "null",
                                    differentiable=trained)
        parameter.initialize(ctx=contexts)
        parameter.set_data(mx.nd.array(values))
        # Block registers what is set as an attribute; any name works.
        setattr(self, name, parameter)

    def hybrid_forward(self, F, x, **own):
        return self.answers(F, x, own)

    def answers(self, F, x, own, seen=None):
        values, left = [x], list(self.uses)
        for node in self.nodes[1:]:
            inputs = node["inputs"]
            values.append(self.layer(F, node, own, [values[place] for place in inputs]))
            for place in inputs:
                left[place] -= 1
                if left[place] == 0 and seen is None:
                    values[place] = None
            if seen is not None:
                seen.append((node["name"], values[-1]))
        return values[-1]

    def seen(self, x):
        """Every layer's output, operator by operator."""
        own = {name: parameter.data(x.context) for name, parameter in self._reg_params.items()}
        seen = []
        self.answers(mx.nd, x, own, seen)
        return seen

    def layer(self, F, node, own, inputs):
        name, op = node["name"], node["op"]
        kind, x = op["kind"], inputs[0]
        if kind == "conv":
            return self.convolution(F, node, own, x)
        if kind == "dense":
            return F.FullyConnected(x, own[name + ".weight"], own[name + ".bias"] if op["bias"] else None,
                                    num_hidden=op["output"], no_bias=not op["bias"])
        if kind == "batch-norm":
            # Here momentum is the weight of the running statistics.
            roles = [own[f"{name}.{role}"] for role in ("gamma", "beta", "mean", "variance")]
            return F.BatchNorm(x, *roles, eps=op["epsilon"], momentum=1 - op["momentum"], fix_gamma=False)
        if kind == "relu":
            return F.Activation(x, act_type="relu")
        if kind in ("max-pool", "avg-pool"):
            return self.pool(F, node, own, x)
        if kind == "global-avg-pool":
            four = "channels" in self.nodes[node["inputs"][0]]["shape"]
            return F.flatten(F.Pooling(x, kernel=(1, 1), global_pool=True, pool_type="avg")) if four else x
        if kind == "dropout":
            return F.Dropout(x, p=op["rate"]) if op["rate"] > 0 else x
        if kind == "flatten":
            return F.flatten(x)
        if kind == "add":
            for other in inputs[1:]:
                x = x + other
            return x
        if kind == "concat":
            return F.concat(*inputs, dim=1)
        if kind == "lrn":
            return self.response_norm(F, node, x)
        if kind == "softmax":
            return F.softmax(x, axis=1)
        sys.exit(f"MXNet's adapter does not support the layer kind `{kind}` of `{name}`")

    @staticmethod
    def convolution(F, node, own, x):
        name, op = node["name"], node["op"]
        top, bottom, left, right = padding = protocol.sides(op)
        pad = (top, left)
        if not protocol.is_even(padding):
            x, pad = padded(F, x, padding, 0.0), (0, 0)
        return F.Convolution(x, own[name + ".weight"], own[name + ".bias"] if op["bias"] else None,
                             kernel=op["kernel"], stride=op["stride"], pad=pad, num_filter=op["output"],
                             num_group=op["groups"], no_bias=not op["bias"])

    def pool(self, F, node, own, x):
        """Windows are clipped at the border, whatever the padding: where it begins and how many windows
        there are is all that matters, and what differs below and to the right can be had by rounding up."""
        op = node["op"]
        padding = protocol.sides(op)
        settings = {"kernel": op["kernel"], "stride": op["stride"], "pool_type": op["kind"].split("-")[0]}
        convention = pooling_convention(node, self.nodes[node["inputs"][0]])
        if convention is not None:
            return F.Pooling(x, pad=(padding[0], padding[2]), pooling_convention=convention,
                             count_include_pad=False, **settings)
        if op["kind"] == "max-pool":
            return F.Pooling(padded(F, x, padding, float(np.finfo(np.float32).min)), **settings)
        settings["pool_type"] = "sum"
        return F.broadcast_div(F.Pooling(padded(F, x, padding, 0.0), **settings), own[node["name"] + ".counts"])

    @staticmethod
    def response_norm(F, node, x):
        op = node["op"]
        size = op["size"]
        if size % 2:
            return F.LRN(x, nsize=size, alpha=op["alpha"], beta=op["beta"], knorm=op["k"])
        # oneDNN shifts an even window by one channel compared with the others.
        channels, height, width = (node["shape"][side] for side in ("channels", "height", "width"))
        squares = F.reshape(F.square(x), (-1, 1, channels, height * width))
        squares = padded(F, squares, (size // 2, (size - 1) // 2, 0, 0), 0.0)
        means = F.Pooling(squares, kernel=(size, 1), pool_type="avg")
        return x * (op["k"] + op["alpha"] * F.reshape_like(means, x)) ** -op["beta"]


def padded(F, x, padding, value):
    return F.pad(x, mode="constant", pad_width=(0, 0, 0, 0, *padding), constant_value=value)


def pooling_convention(node, before):
    """How MXNet must count windows to get the graph's shape; None if impossible."""
    op = node["op"]
    top, _, left, _ = protocol.sides(op)
    starts = [(node["shape"][side], before["shape"][side] + 2 * pad - kernel, stride) for side, pad, kernel, stride
              in zip(("height", "width"), (top, left), op["kernel"], op["stride"])]
    if 2 * top > op["kernel"][0] or 2 * left > op["kernel"][1]:
        return None
    if all(windows == room // stride + 1 for windows, room, stride in starts):
        return "valid"
    if all(windows == -(-room // stride) + 1 for windows, room, stride in starts):
        return "full"
    return None


def uncounted_padding(node, graph):
    """Real pixels in each window of an average, where MXNet cannot count them itself."""
    if node["op"]["kind"] != "avg-pool":
        return None
    shape = graph["nodes"][node["inputs"][0]]["shape"]
    if pooling_convention(node, {"shape": shape}) is not None:
        return None
    return protocol.real_pixels(node, shape)[None, None]


class Adapter:
    name = "mxnet"
    version = mx.__version__
    shards_itself = True

    def __init__(self, job, graph, weights):
        self.job = job
        if job.hosts:
            self.contexts = contexts([job.my_device], 1)
        else:
            self.contexts = contexts(job.devices, job.workers)
            # Batches are cut so that all shards are equal.
            job.workers = len(self.contexts)
        mx.random.seed(job.seed % (1 << 31))
        self.half = self.mixed_precision() if job.precision == "mixed" else None
        self.network = Network(graph, weights, self.contexts)
        self.losses_of = gluon.loss.SoftmaxCrossEntropyLoss()
        if job.compile is None or job.compile:
            for block in (self.network, self.losses_of):
                block.hybridize(static_alloc=True, static_shape=bool(job.compile))
        self.own = self.network.collect_params()
        self.trained = {p["name"]: p["trained"] for n in graph["nodes"] for p in n["parameters"]}
        self.sums = Sums([self.own[name] for name, trained in self.trained.items() if trained]) if job.hosts else None
        self.trainer = gluon.Trainer(self.own, *optimizer(job.optimizer))
        if self.half == "float16":
            mx.contrib.amp.init_trainer(self.trainer)
        self.variances = running_variances(graph, self.own, self.contexts[0])

    def mixed_precision(self):
        """Casts go where MXNet's own lists say. They must be set before a graph is made."""
        half = "float16" if self.contexts[0].device_type == "gpu" else "bfloat16"
        if half == "bfloat16" and not has_bfloat16():
            sys.exit("MXNet has mixed precision on a CPU only in bfloat16, which its oneDNN computes on "
                     "processors with AVX-512 only: use precision = \"float32\", or a GPU")
        from mxnet.contrib import amp

        amp.init(target_dtype=half)
        return half

    def shards(self, images, labels):
        """The batch on its device, or one share per device."""
        if len(self.contexts) > 1:
            return [gluon.utils.split_and_load(array, self.contexts, even_split=False) for array in (images, labels)]
        context = self.contexts[0]
        return [[on_device(images, context)], [on_device(labels, context)]]

    def back_propagate(self, images, labels):
        """Losses of the images, by shard; gradients are of their sum, since the trainer divides it."""
        self.variances.gather(-(-len(labels) // len(self.contexts)))
        images, labels = self.shards(images, labels)
        with autograd.record():
            losses = [self.losses_of(self.network(x), y) for x, y in zip(images, labels)]
            if self.half == "float16":
                with mx.contrib.amp.scale_loss(losses, self.trainer) as scaled:
                    autograd.backward(scaled)
        if self.half != "float16":
            autograd.backward(losses)
        return losses

    def step(self, images, labels):
        losses = self.back_propagate(images, labels)
        if self.sums:
            self.sums.of_gradients()
        self.trainer.step(len(labels) * self.job.processes)
        return mean(losses)

    def share(self, value):
        return self.sums.of(value) / self.job.workers

    def synchronise(self):
        # A loss can be read as soon as it is known, while its gradients are still being computed.
        mx.nd.waitall()

    def logits(self, images):
        self.variances.gather(None)
        return plain(self.network(on_device(images, self.contexts[0])))

    def gradients(self, images, labels):
        kept = {name: [values.copy() for values in self.own[name].list_data()]
                for name, trained in self.trained.items() if not trained}
        gathered_for = self.variances.images
        loss = mean(self.back_propagate(images, labels))
        scale = len(labels) * self.loss_scale()
        gradients = {name: sum(array.asnumpy() for array in self.own[name].list_grad()) / scale
                     for name, trained in self.trained.items() if trained}
        with autograd.record():
            shards = [self.network.seen(x) for x in self.shards(images, labels)[0]]
        layers = [(seen[0][0], np.concatenate([plain(values) for _, values in seen]))
                  for seen in zip(*shards)]
        for name, before in kept.items():
            for values, old in zip(self.own[name].list_data(), before):
                values[:] = old
        self.variances.images = gathered_for
        return loss, gradients, layers

    def loss_scale(self):
        return self.trainer._amp_loss_scaler.loss_scale if self.half == "float16" else 1.0

    def weights(self):
        self.variances.gather(None)
        return {name: np.mean([values.asnumpy() for values in self.own[name].list_data()], axis=0)
                for name in self.trained}

    def save(self, stem):
        self.variances.gather(None)
        self.network.save_parameters(stem + ".params")

    def own_batches(self, raw, labels, epoch):
        """A DataLoader with transforms that resize and normalise image by image, as Gluon's examples do."""
        job = self.job
        transforms = gluon.data.vision.transforms
        steps = [transforms.ToTensor(), transforms.Normalize(0.5, 0.5)]
        if raw.shape[2:] != (job.data.image, job.data.image):
            steps.insert(0, transforms.Resize(job.data.image))
        pictures = Pictures(raw, labels).transform_first(transforms.Compose(steps))
        # The sampler draws from NumPy's generator.
        np.random.seed((job.seed + epoch) % (1 << 32))
        for images, wanted in gluon.data.DataLoader(pictures, batch_size=job.batch, shuffle=True):
            alike = len(wanted) - len(wanted) % job.workers
            if alike:
                mine = slice(job.rank, alike, job.processes)
                yield images[mine], wanted[mine]

    def profile(self, steps):
        with tempfile.TemporaryDirectory() as folder:
            mx.profiler.set_config(profile_imperative=True, profile_symbolic=True, aggregate_stats=True,
                                   filename=os.path.join(folder, "profile.json"))
            mx.profiler.set_state("run")
            steps()
            mx.nd.waitall()
            mx.profiler.set_state("stop")
            yield from operators(mx.profiler.dumps(reset=True, format="json"))


class Sums:
    """Over the workers of all hosts, by the servers. Gluon's trainer would ask them too, but its first question for
    weights and its first gradients may overtake each other: the weights were then the gradients."""

    def __init__(self, parameters):
        self.store = mx.kv.create("dist_sync")
        self.gradients = [parameter.list_grad()[0] for parameter in parameters]
        self.number = mx.nd.zeros(1)
        for key, array in enumerate([*self.gradients, self.number]):
            self.store.init(key, mx.nd.zeros_like(array))

    def of_gradients(self):
        for key, gradient in enumerate(self.gradients):
            # The gradients of the first layers come last and are needed first.
            self.store.pushpull(key, gradient, out=gradient, priority=-key)

    def of(self, value):
        self.number[:] = value
        self.store.pushpull(len(self.gradients), self.number, out=self.number)
        return float(self.number.asscalar())


def running_variances(graph, own, context):
    def scale(parameter, ratio):
        for values in parameter.list_data():
            values *= ratio

    if any(node["op"]["kind"] == "batch-norm" for node in graph["nodes"]) and gathers_unbiased(context):
        return variances.Unbiased()
    return variances.Variances(graph, own.__getitem__, scale)


def gathers_unbiased(context):
    """Which variance is gathered depends on the library that normalises: asked with 0 and 2, whose variances are
    1 and 2."""
    x = mx.nd.array([[[[0.0]]], [[[2.0]]]], ctx=context)
    x.attach_grad()
    gamma, beta, mean_kept, variance = (mx.nd.zeros(1, ctx=context) for _ in range(4))
    with autograd.record():
        y = mx.nd.BatchNorm(x, gamma, beta, mean_kept, variance, eps=1e-3, momentum=0.0, fix_gamma=False)
    y.backward()
    mx.nd.waitall()
    return variance.asscalar() > 1.5


class Pictures(gluon.data.Dataset):
    def __init__(self, raw, labels):
        self.raw, self.labels = raw, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        # Transforms want rows, columns, channels.
        return mx.nd.from_numpy(np.array(np.moveaxis(self.raw[index], 0, 2), order="C")), self.labels[index]


def contexts(names, workers):
    """One a worker, or one a device that is named. CPUs are numbered as they come: several are as many shards."""
    found = []
    for place in range(max(workers, len(names))):
        name = names[place % len(names)]
        kind, _, number = name.partition(":")
        number = number or "0"
        if kind not in ("cpu", "cuda") or not number.isdigit():
            sys.exit(f"MXNet's adapter does not support the device `{name}`: use cpu, cuda:0, …")
        context = mx.cpu(place) if kind == "cpu" else mx.gpu(int(number))
        if kind == "cuda" and int(number) >= mx.context.num_gpus():
            sys.exit(f"{name} was requested, but this MXNet sees {mx.context.num_gpus()} GPUs: use device = \"cpu\", "
                     "or a build of MXNet with CUDA on a machine that has the GPU")
        if context in found:
            sys.exit(f"MXNet supports one worker per GPU, but {workers} share {name}: name one device per worker")
        found.append(context)
    return found


def has_bfloat16():
    try:
        x = mx.nd.amp_cast(mx.nd.zeros((4, 8)), dtype=np.dtype([("bfloat16", np.uint16)]))
        mx.nd.FullyConnected(x, x, num_hidden=4, no_bias=True).wait_to_read()
        return True
    except mx.MXNetError:
        return False


def on_device(array, context):
    if isinstance(array, np.ndarray):
        # Without a copy; nobody else uses the batch.
        array = mx.nd.from_numpy(array)
    return array.as_in_context(context)


def plain(values):
    """As 32-bit floats, whatever they were computed in: NumPy has no bfloat16."""
    return (values if values.dtype == np.float32 else mx.nd.amp_cast(values, dtype="float32")).asnumpy()


def mean(losses):
    return float(np.concatenate([loss.asnumpy() for loss in losses]).mean(dtype=np.float64))


def optimizer(rule):
    """MXNet's Adam adds epsilon to the root of the second moment before its bias is corrected: in the first steps it
    weighs up to 1 / √(1 - beta2) times as much as in PyTorch's."""
    settings = {"learning_rate": rule["learning_rate"], "wd": 0.0}
    if rule["kind"] == "sgd":
        return "sgd", {**settings, "momentum": rule["momentum"]}
    return "adam", {**settings, **{name: rule[name] for name in ("beta1", "beta2", "epsilon")}}


def operators(text):
    """(operator, calls, seconds) of the profiler's table, whose times are milliseconds."""
    for kind, entries in json.loads(text)["Time"].items():
        if kind == "operator":
            for name, entry in entries.items():
                yield name, entry["Count"], entry["Total"] / 1e3


if __name__ == "__main__":
    protocol.main(Adapter)
