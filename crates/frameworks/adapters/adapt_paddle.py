"""PaddlePaddle 3."""
import contextlib
import io
import os
import sys
import warnings

import numpy as np

import protocol
import variances


def settle_threads():
    """Its matrix library counts threads when it is loaded, so before it. Without a number Paddle takes one."""
    threads = protocol.Job.read().threads if "BANCADA_JOB" in os.environ else None
    if threads:
        os.environ["OMP_NUM_THREADS"] = str(threads)


settle_threads()
# Messages of its executor at start.
os.environ.setdefault("GLOG_minloglevel", "1")
# It warns of every number of threads but one, and of a compiler's cache, on every import.
warnings.filterwarnings("ignore", message="No ccache found")
with contextlib.redirect_stderr(io.StringIO()):
    import paddle
import paddle.nn.functional as F  # noqa: E402


class Network(paddle.nn.Layer):
    """The layer graph as a layer; parameters keep their names, with a dot written as two lines."""

    def __init__(self, graph, weights):
        super().__init__()
        self.nodes = [(node["name"], node["op"], node["inputs"]) for node in graph["nodes"][: graph["logits"] + 1]]
        self.uses = [0] * len(self.nodes)
        for _, _, inputs in self.nodes:
            for place in inputs:
                self.uses[place] += 1
        for node in graph["nodes"]:
            for parameter in node["parameters"]:
                self.keep(parameter["name"], turned(weights[parameter["name"]]), parameter["trained"])

    def keep(self, name, values, trained):
        if not trained:
            self.register_buffer(written(name), paddle.to_tensor(values))
            return
        parameter = self.create_parameter(values.shape, default_initializer=paddle.nn.initializer.Assign(values))
        self.add_parameter(written(name), parameter)

    def forward(self, x, seen=None):
        values, left = [x], list(self.uses)
        for name, op, inputs in self.nodes[1:]:
            arguments = [values[place] for place in inputs]
            values.append(self.layer(name, op, *arguments))
            for place in inputs:
                left[place] -= 1
                if left[place] == 0 and seen is None:
                    values[place] = None
            if seen is not None:
                seen.append((name, values[-1]))
        return values[-1]

    def layer(self, name, op, x, *others):
        kind = op["kind"]
        if kind == "conv":
            return F.conv2d(x, self.own(name, "weight"), self.own(name, "bias") if op["bias"] else None,
                            op["stride"], own_padding(op), 1, op["groups"])
        if kind == "dense":
            return F.linear(x, self.own(name, "weight"), self.own(name, "bias") if op["bias"] else None)
        if kind == "batch-norm":
            # Here momentum is the weight of the running statistics.
            return F.batch_norm(x, self.own(name, "mean"), self.own(name, "variance"), self.own(name, "gamma"),
                                self.own(name, "beta"), self.training, 1 - op["momentum"], op["epsilon"])
        if kind == "relu":
            return F.relu(x)
        if kind == "max-pool":
            return F.max_pool2d(x, op["kernel"], op["stride"], own_padding(op))
        if kind == "avg-pool":
            return F.avg_pool2d(x, op["kernel"], op["stride"], own_padding(op), exclusive=True)
        if kind == "global-avg-pool":
            return F.adaptive_avg_pool2d(x, 1).flatten(1) if x.ndim == 4 else x
        if kind == "dropout":
            return F.dropout(x, op["rate"], training=self.training) if op["rate"] > 0 else x
        if kind == "flatten":
            return x.flatten(1)
        if kind == "add":
            for other in others:
                x = x + other
            return x
        if kind == "concat":
            return paddle.concat([x, *others], 1)
        if kind == "lrn":
            return F.local_response_norm(x, op["size"], op["alpha"], op["beta"], op["k"])
        if kind == "softmax":
            return F.softmax(x, 1)
        sys.exit(f"PaddlePaddle's adapter does not support the layer kind `{kind}` of `{name}`")

    def own(self, name, role):
        return getattr(self, written(f"{name}.{role}"))


def own_padding(op):
    top, bottom, left, right = padding = protocol.sides(op)
    return [top, left] if protocol.is_even(padding) else [top, bottom, left, right]


def written(name):
    return name.replace(".", "__")


def turned(values):
    """Dense weights are [in, out] in Paddle."""
    return np.ascontiguousarray(values.T) if values.ndim == 2 else np.array(values)


class Adapter:
    name = "paddle"
    version = paddle.__version__

    def __init__(self, job, graph, weights):
        self.job = job
        self.gpu = choose_device(job)
        paddle.seed(job.seed % (1 << 31))
        self.mixed = job.precision == "mixed"
        self.scaler = paddle.amp.GradScaler() if self.mixed else None
        self.bare = Network(graph, weights)
        # The whole graph at once: by its own choice Paddle leaves small ones as they are.
        self.network = paddle.jit.to_static(self.bare.forward, full_graph=True) if job.compile else self.bare
        self.optimizer = optimizer(job.optimizer, self.bare.parameters())
        self.trained = {p["name"]: p["trained"] for n in graph["nodes"] for p in n["parameters"]}
        self.variances = running_variances(graph, self.bare)

    def loss(self, images, labels, seen=None):
        self.variances.gather(len(labels))
        images, labels = paddle.to_tensor(images), paddle.to_tensor(labels, dtype="int64")
        # Only where it is asked for: with it, 32-bit steps would take longer too.
        if not self.mixed:
            answers = self.bare(images, seen) if seen is not None else self.network(images)
            return F.cross_entropy(answers, labels)
        with paddle.amp.auto_cast(dtype="float16"):
            answers = self.bare(images, seen) if seen is not None else self.network(images)
        return F.cross_entropy(answers.astype("float32"), labels)

    def step(self, images, labels):
        loss = self.loss(images, labels)
        if self.scaler is not None:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward()
            self.optimizer.step()
        self.optimizer.clear_grad(set_to_zero=False)
        return loss.item()

    def synchronise(self):
        if self.gpu:
            paddle.device.synchronize()

    def logits(self, images):
        self.variances.gather(None)
        self.bare.eval()
        with paddle.no_grad():
            answers = self.bare(paddle.to_tensor(images)).numpy()
        self.bare.train()
        return answers

    def gradients(self, images, labels):
        kept = {name: values.clone() for name, values in self.bare.named_buffers()}
        gathered_for = self.variances.images
        seen = []
        loss = self.loss(images, labels, seen)
        loss.backward()
        gradients = {name: turned(self.array(name).grad.numpy())
                     for name, trained in self.trained.items() if trained}
        self.optimizer.clear_grad(set_to_zero=False)
        for name, values in self.bare.named_buffers():
            values.set_value(kept[name])
        self.variances.images = gathered_for
        return loss.item(), gradients, [(name, values.astype("float32").numpy()) for name, values in seen]

    def array(self, name):
        return getattr(self.bare, written(name))

    def weights(self):
        self.variances.gather(None)
        return {name: turned(self.array(name).numpy()) for name in self.trained}

    def save(self, stem):
        self.variances.gather(None)
        paddle.save(self.bare.state_dict(), stem + ".pdparams")

    def own_batches(self, raw, labels, epoch):
        """A DataLoader with transforms that resize and normalise image by image, as Paddle's examples do."""
        from PIL import Image
        from paddle.vision import transforms

        side = self.job.data.image
        steps = [transforms.ToTensor(), transforms.Normalize([0.5] * raw.shape[1], [0.5] * raw.shape[1])]
        resized = raw.shape[2:] != (side, side)
        if resized:
            steps.insert(0, transforms.Resize((side, side)))
        prepare = transforms.Compose(steps)

        class Pictures(paddle.io.Dataset):
            def __len__(self):
                return len(labels)

            def __getitem__(self, index):
                # Transforms want rows, columns, channels; grey pictures of PIL have no channels.
                picture = np.array(np.moveaxis(raw[index], 0, 2), order="C")
                if resized:
                    picture = Image.fromarray(picture[:, :, 0] if picture.shape[2] == 1 else picture)
                return prepare(picture), int(labels[index])

        # The sampler draws from NumPy's generator.
        np.random.seed((self.job.seed + epoch) % (1 << 32))
        yield from paddle.io.DataLoader(Pictures(), batch_size=self.job.batch, shuffle=True)

    def profile(self, steps):
        from paddle.profiler import Profiler, ProfilerTarget

        targets = [ProfilerTarget.CPU] + ([ProfilerTarget.GPU] if self.gpu else [])
        with Profiler(targets=targets, on_trace_ready=lambda _: None) as profiler:
            steps()
        for thread in profiler.profiler_result.get_data().values():
            yield from kernels(thread, self.gpu)


def kernels(node, gpu):
    """(operator, calls, seconds) below a node of the profiler's tree; on a GPU, what the host launched there."""
    if gpu:
        for runtime in node.runtime_node:
            for kernel in runtime.device_node:
                yield kernel.name, 1, (kernel.end_ns - kernel.start_ns) / 1e9
    elif node.name.endswith(" kernel launch"):
        yield node.name.removesuffix(" kernel launch"), 1, (node.end_ns - node.start_ns) / 1e9
    for child in node.children_node:
        yield from kernels(child, gpu)


def running_variances(graph, network):
    def own(name):
        return network.own(*name.rsplit(".", 1))

    def scale(variance, ratio):
        variance.set_value(variance * ratio)

    if any(node["op"]["kind"] == "batch-norm" for node in graph["nodes"]) and gathers_unbiased():
        return variances.Unbiased()
    return variances.Variances(graph, own, scale)


def gathers_unbiased():
    """Which variance is gathered depends on the library that normalises: asked with 0 and 2, whose variances are
    1 and 2."""
    x = paddle.to_tensor([[[[0.0]]], [[[2.0]]]])
    gamma, beta, mean, variance = (paddle.zeros([1]) for _ in range(4))
    F.batch_norm(x, mean, variance, gamma, beta, True, 0.0, 1e-3)
    return variance.item() > 1.5


def choose_device(job):
    """Whether it is a GPU."""
    if job.workers > 1 or len(job.devices) > 1:
        sys.exit("PaddlePaddle's adapter trains in one process on one device: use pytorch, tensorflow or jax for "
                 "several workers")
    kind, _, number = job.device.partition(":")
    if job.device == "cpu":
        if job.precision == "mixed":
            sys.exit("PaddlePaddle has mixed precision on GPUs only and would compute in 32 bits on a CPU: "
                     "use precision = \"float32\"")
        paddle.set_device("cpu")
        return False
    number = number or "0"
    if kind != "cuda" or not number.isdigit():
        sys.exit(f"PaddlePaddle's adapter does not support the device `{job.device}`: use cpu, cuda:0, …")
    there = paddle.device.cuda.device_count() if paddle.is_compiled_with_cuda() else 0
    if int(number) >= there:
        sys.exit(f"{job.device} was requested, but this PaddlePaddle sees {there} GPUs: use device = \"cpu\", or "
                 "PaddlePaddle's build with CUDA on a machine that has the GPU")
    paddle.set_device(f"gpu:{number}")
    return True


def optimizer(rule, parameters):
    if rule["kind"] == "sgd" and rule["momentum"] == 0:
        return paddle.optimizer.SGD(rule["learning_rate"], parameters)
    if rule["kind"] == "sgd":
        return paddle.optimizer.Momentum(rule["learning_rate"], rule["momentum"], parameters)
    return paddle.optimizer.Adam(rule["learning_rate"], rule["beta1"], rule["beta2"], rule["epsilon"], parameters)


if __name__ == "__main__":
    protocol.main(Adapter)
