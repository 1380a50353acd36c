"""tinygrad."""
import contextlib
import io
import os
import re
import sys
from importlib.metadata import version

# Its compiler processes are restarted after this many kernels, and import everything each time.
os.environ.setdefault("BEAM_MAX_TASKS_PER_CHILD", "1000000")

from tinygrad import Device, Tensor, TinyJit, nn
from tinygrad.helpers import DEV, NUM_CPU_THREADS, TRAINING, Context

import protocol

# tinygrad assumes that a device that does not respond for this long is dead; a step of a large network
# on a processor takes longer than its half minute.
PATIENCE_MILLISECONDS = 24 * 3600 * 1000


class Network:
    """The layer graph over tinygrad's tensors, by name."""

    def __init__(self, graph, weights, device):
        self.nodes = [(node["name"], node["op"], node["inputs"]) for node in graph["nodes"][: graph["logits"] + 1]]
        self.tensors, self.trained, self.gathered = {}, {}, {}
        for node in graph["nodes"]:
            for parameter in node["parameters"]:
                name = parameter["name"]
                tensor = Tensor(weights[name].copy(), device=device).is_param_(parameter["trained"]).realize()
                self.tensors[name] = tensor
                (self.trained if parameter["trained"] else self.gathered)[name] = tensor

    def __call__(self, x, gather=False, seen=None):
        values = [x]
        for name, op, inputs in self.nodes[1:]:
            values.append(self.layer(name, op, [values[place] for place in inputs], gather))
            if seen is not None:
                seen.append((name, values[-1]))
        return values[-1]

    def layer(self, name, op, inputs, gather):
        kind, x = op["kind"], inputs[0]
        if kind == "conv":
            bias = self.own(name, "bias") if op["bias"] else None
            return x.conv2d(self.own(name, "weight"), bias, op["groups"], tuple(op["stride"]), padding=sides(op))
        if kind == "dense":
            return x.linear(self.own(name, "weight").transpose(), self.own(name, "bias") if op["bias"] else None)
        if kind == "batch-norm":
            return self.batch_norm(name, op, x, gather)
        if kind == "relu":
            return x.relu()
        if kind == "max-pool":
            return apart(x).max_pool2d(tuple(op["kernel"]), tuple(op["stride"]), padding=sides(op))
        if kind == "avg-pool":
            return apart(x).avg_pool2d(tuple(op["kernel"]), tuple(op["stride"]), padding=sides(op), count_include_pad=False)
        if kind == "global-avg-pool":
            return x.mean((2, 3)) if len(x.shape) == 4 else x
        if kind == "dropout":
            return x.dropout(op["rate"])
        if kind == "flatten":
            return x.flatten(1)
        if kind == "add":
            return sum(inputs[1:], x)
        if kind == "concat":
            return x.cat(*inputs[1:], dim=1)
        if kind == "lrn":
            return local_response_norm(apart(x), op)
        if kind == "softmax":
            return x.softmax(1)
        sys.exit(f"tinygrad's adapter does not support the layer kind `{kind}` of `{name}`")

    def own(self, name, role):
        return self.tensors[f"{name}.{role}"]

    def batch_norm(self, name, op, x, gather):
        """tinygrad's layer over the tensors of this one."""
        norm = nn.BatchNorm(x.shape[1], op["epsilon"], track_running_stats=False, affine=False)
        norm.weight, norm.bias = self.own(name, "gamma"), self.own(name, "beta")
        norm.running_mean, norm.running_var = self.own(name, "mean"), self.own(name, "variance")
        norm.momentum = op["momentum"]
        # Its running statistics are not updated when a training step is only inspected.
        norm.track_running_stats = gather or not TRAINING
        return norm(x)


def sides(op):
    """tinygrad names the sides from the last axis on."""
    top, bottom, left, right = protocol.sides(op)
    return left, right, top, bottom


def apart(x):
    """Kept, and its gradient too, instead of computed again by every kernel that needs it: tinygrad would write the
    whole of a pooling's or a normalisation's gradient into each place of the unrolled convolution before it, which
    took minutes to compile."""
    return x.contiguous().contiguous_backward()


def local_response_norm(x, op):
    size = op["size"]
    squares = x.square().pad((None, (size // 2, (size - 1) // 2), None, None))
    # A sum over slices: a pooling over the channels would first turn the whole tensor around.
    total = sum(squares[:, place : place + x.shape[1]] for place in range(size))
    return (x / (op["k"] + op["alpha"] / size * total).pow(op["beta"])).contiguous()


class Adapter:
    name = "tinygrad"
    version = version("tinygrad")

    def __init__(self, job, graph, weights):
        refuse_what_it_cannot(job)
        self.job, self.device = job, device(job.my_device)
        if job.threads:
            NUM_CPU_THREADS.value = job.threads
        Tensor.manual_seed(job.seed)
        self.network = Network(graph, weights, self.device)
        self.optimizer = optimizer(job.optimizer, list(self.network.trained.values()))
        self.jitted = {}

    def step(self, images, labels):
        with Context(TRAINING=1):
            return self.stepper(len(labels))(*self.on_device(images, labels)).item()

    def stepper(self, size):
        """A captured step holds for one size of batch: the last, smaller batch has its own."""
        if self.job.compile is False:
            return self.take_step
        if size not in self.jitted:
            self.jitted[size] = TinyJit(self.take_step)
        return self.jitted[size]

    def take_step(self, images, labels):
        self.optimizer.zero_grad()
        loss = self.network(images, gather=True).sparse_categorical_crossentropy(labels).backward()
        # Running means are not parameters: they are computed only if requested.
        return loss.realize(*self.optimizer.schedule_step(), *self.network.gathered.values())

    def on_device(self, images, labels):
        return Tensor(images, device=self.device).realize(), Tensor(labels, device=self.device).realize()

    def logits(self, images):
        return self.network(Tensor(images, device=self.device)).numpy()

    def gradients(self, images, labels):
        seen = []
        images, labels = self.on_device(images, labels)
        trained = self.network.trained
        with Context(TRAINING=1):
            loss = self.network(images, seen=seen).sparse_categorical_crossentropy(labels)
            gradients = loss.gradient(*trained.values())
            loss.realize(*gradients, *(values for _, values in seen))
        return (loss.item(), {name: values.numpy() for name, values in zip(trained, gradients)},
                [(name, values.numpy()) for name, values in seen])

    def weights(self):
        return {name: values.numpy() for name, values in self.network.tensors.items()}

    def save(self, stem):
        """Safetensors is tinygrad's own format: the checkpoint is already there."""

    def profile(self, steps):
        """Its debug lines contain each kernel's time. Kernels are fused: their names show their loops."""
        steps()  # What was not captured yet is compiled outside the profile.
        lines = io.StringIO()
        with Context(DEBUG=2), contextlib.redirect_stdout(lines):
            steps()
        return kernels(lines.getvalue())

    def synchronise(self):
        Device[self.device].synchronize()


def kernels(text):
    """`*** CPU  352 r_4608_12 arg 3 mem 0.01 GB tm 1410.50us/ 17.30ms (…)`, in colours."""
    seconds = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
    line = re.compile(r"^\*\*\*\s+\S+\s+\d+\s+(\S+)(.*?)\s+arg\s+\d+\s.*?\stm\s+([\d.]+)(us|ms|s)/", re.M)
    for name, rest, time, unit in line.findall(re.sub(r"\x1b\[\d+m", "", text)):
        yield ("copy" + rest[rest.rfind(","):] if name == "copy" else name), 1, float(time) * seconds[unit]


def refuse_what_it_cannot(job):
    if job.workers > 1:
        sys.exit("tinygrad trains in one process only: use pytorch, tensorflow or jax for several workers")
    if job.precision == "mixed":
        sys.exit("tinygrad has no mixed precision of its own: use precision = \"float32\"")


def device(asked):
    """tinygrad's name of the device, set as the default so that nothing is placed elsewhere."""
    kind, _, number = asked.partition(":")
    if kind not in ("cpu", "cuda"):
        sys.exit(f"tinygrad's adapter does not support the device `{asked}`: use cpu or cuda:0")
    DEV.value = kind.upper()
    name = f"CUDA:{number}" if kind == "cuda" and number not in ("", "0") else kind.upper()
    try:
        Device[name].wait_timeout_ms = PATIENCE_MILLISECONDS
    except Exception as error:
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0]
        sys.exit(f"tinygrad cannot use the device `{asked}` here: {cause}")
    return name


def optimizer(rule, parameters):
    if rule["kind"] == "sgd":
        return nn.optim.SGD(parameters, rule["learning_rate"], rule["momentum"])
    return nn.optim.Adam(parameters, rule["learning_rate"], rule["beta1"], rule["beta2"], rule["epsilon"])


if __name__ == "__main__":
    protocol.main(Adapter)
