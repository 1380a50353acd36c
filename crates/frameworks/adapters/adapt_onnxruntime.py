"""ONNX Runtime's training on devices: its gradient graph, its training session, its optimisers.

The layer graph is written as an ONNX graph; `generate_artifacts` derives the gradients. Two things that
the training session lacks are added to that graph, so that everything still happens inside it: momentum,
and what batch normalisation gathers.
"""
import contextlib
import json
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.training import artifacts, onnxblock
from onnxruntime.training.api import CheckpointState, Module, Optimizer

import protocol

OPSET = 15
ALWAYS = "bancada.always"


class Forward:
    """The layer graph as ONNX: a layer's output has the layer's name."""

    def __init__(self, graph, rates_seed=None):
        """With a seed for dropout it is the graph of a training step, otherwise of inference."""
        self.graph, self.training, self.seed = graph, rates_seed is not None, rates_seed or 0
        self.names = [node["name"] for node in graph["nodes"][: graph["logits"] + 1]]
        self.nodes, self.constants = [], []
        for node in graph["nodes"][1 : graph["logits"] + 1]:
            self.layer(node, [self.names[place] for place in node["inputs"]])

    def model(self, weights, more_outputs=()):
        first, last = self.graph["nodes"][0], self.graph["nodes"][self.graph["logits"]]
        shape = first["shape"]
        side = [shape["channels"], shape["height"], shape["width"]]
        outputs = [helper.make_tensor_value_info(last["name"], TensorProto.FLOAT, ["batch", self.graph["classes"]])]
        outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in more_outputs]
        values = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in weights.items()]
        graph = helper.make_graph(
            self.nodes, self.graph["name"],
            [helper.make_tensor_value_info(first["name"], TensorProto.FLOAT, ["batch", *side])],
            outputs, values + self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)

    def add(self, operator, inputs, outputs, **attributes):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.nodes.append(helper.make_node(operator, inputs, outputs, outputs[0], **attributes))

    def constant(self, name, values, kind=np.float32):
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def layer(self, node, inputs):
        name, op = node["name"], node["op"]
        kind, x = op["kind"], inputs[0]
        if kind == "conv":
            bias = [f"{name}.bias"] if op["bias"] else []
            self.add("Conv", [x, f"{name}.weight", *bias], name, kernel_shape=op["kernel"], strides=op["stride"],
                     pads=sides(op), group=op["groups"])
        elif kind == "dense":
            bias = [f"{name}.bias"] if op["bias"] else []
            self.add("Gemm", [x, f"{name}.weight", *bias], name, transB=1)
        elif kind == "batch-norm":
            self.batch_norm(name, op, x)
        elif kind == "relu":
            self.add("Relu", [x], name)
        elif kind == "max-pool":
            self.add("MaxPool", [x], name, kernel_shape=op["kernel"], strides=op["stride"], pads=sides(op))
        elif kind == "avg-pool":
            self.average(name, node, x)
        elif kind == "global-avg-pool":
            self.global_average(name, node, x)
        elif kind == "dropout":
            self.dropout(name, op, x)
        elif kind == "flatten":
            self.add("Flatten", [x], name, axis=1)
        elif kind == "add":
            self.sum(name, inputs)
        elif kind == "concat":
            self.add("Concat", inputs, name, axis=1)
        elif kind == "lrn":
            self.local_response_norm(name, node, x)
        elif kind == "softmax":
            self.add("Softmax", [x], name, axis=1)
        else:
            sys.exit(f"ONNX Runtime's adapter does not support the layer kind `{kind}` of `{name}`")

    def batch_norm(self, name, op, x):
        """Training's kernel overwrites the running mean and variance that it is given, with the biased
        variance. It is given zeros, so that the batch's own come out; `gather` does the rest."""
        own = [f"{name}.{role}" for role in ("gamma", "beta", "mean", "variance")]
        if not self.training:
            self.add("BatchNormalization", [x, *own], name, epsilon=op["epsilon"])
            return
        nothing = self.constant(f"{name}.nothing", 0)
        for role in ("mean", "variance"):
            self.add("Mul", [f"{name}.{role}", nothing], f"{name}.no-{role}")
        self.add("BatchNormalization", [x, *own[:2], f"{name}.no-mean", f"{name}.no-variance"],
                 [name, f"{name}.batch-mean", f"{name}.batch-variance"],
                 epsilon=op["epsilon"], momentum=0.0, training_mode=1)

    def average(self, name, node, x):
        """Sums, divided by how many numbers of the image each window holds."""
        op, shape = node["op"], node["shape"]
        before = self.graph["nodes"][node["inputs"][0]]["shape"]
        counts = protocol.real_pixels(node, before)[None, None]
        image = [-1, 1, before["height"], before["width"]]
        self.window_sums(f"{name}.sums", x, image, {"kernel_shape": op["kernel"], "strides": op["stride"],
                                                    "pads": sides(op)})
        full = self.constant(f"{name}.full", [-1, shape["channels"], shape["height"], shape["width"]], np.int64)
        self.add("Reshape", [f"{name}.sums", full], f"{name}.full-sums")
        self.add("Mul", [f"{name}.full-sums", self.constant(f"{name}.shares", 1 / counts)], name)

    def window_sums(self, name, x, image, window):
        """A convolution with ones of one image a channel: the gradient of AveragePool ends the process here."""
        ones = self.constant(f"{name}.ones", np.ones([1, 1, *window["kernel_shape"]]))
        self.add("Reshape", [x, self.constant(f"{name}.image", image, np.int64)], f"{name}.images")
        self.add("Conv", [f"{name}.images", ones], name, **window)

    def global_average(self, name, node, x):
        if "height" not in self.graph["nodes"][node["inputs"][0]]["shape"]:
            self.add("Identity", [x], name)
            return
        self.add("GlobalAveragePool", [x], f"{name}.pooled")
        self.add("Flatten", [f"{name}.pooled"], name, axis=1)

    def dropout(self, name, op, x):
        if not self.training or op["rate"] == 0:
            self.add("Identity", [x], name)
            return
        self.seed += 1
        rate = self.constant(f"{name}.rate", op["rate"])
        self.add("Dropout", [x, rate, self.constant(f"{name}.training", True, np.bool_)], name, seed=self.seed)

    def sum(self, name, inputs):
        total = inputs[0]
        for place, other in enumerate(inputs[1:], 2):
            partial = name if place == len(inputs) else f"{name}.{place}"
            self.add("Add", [total, other], partial)
            total = partial

    def local_response_norm(self, name, node, x):
        """From operators that have gradients: ONNX's LRN has none here, and its window differs for even sizes.
        The sum over neighbouring channels is one over rows of the image [channels, pixels]."""
        op, shape = node["op"], node["shape"]
        size, channels = op["size"], shape["channels"]
        image = [-1, 1, channels, shape["height"] * shape["width"]]
        full = self.constant(f"{name}.full", [-1, channels, shape["height"], shape["width"]], np.int64)
        share = self.constant(f"{name}.share", op["alpha"] / size)
        self.add("Mul", [x, x], f"{name}.squares")
        self.window_sums(f"{name}.flat-sums", f"{name}.squares", image,
                         {"kernel_shape": [size, 1], "pads": [size // 2, 0, (size - 1) // 2, 0]})
        self.add("Reshape", [f"{name}.flat-sums", full], f"{name}.sums")
        self.add("Mul", [f"{name}.sums", share], f"{name}.scaled")
        self.add("Add", [f"{name}.scaled", self.constant(f"{name}.k", op["k"])], f"{name}.shifted")
        self.add("Pow", [f"{name}.shifted", self.constant(f"{name}.beta", op["beta"])], f"{name}.divisor")
        self.add("Div", [x, f"{name}.divisor"], name)


def sides(op):
    top, bottom, left, right = protocol.sides(op)
    return [top, left, bottom, right]


def gather(model, graph):
    """Adds what batch normalisation gathers to the graph of a training step: the new share of the batch's mean
    and unbiased variance, written where the running ones are kept."""
    layers = [node for node in graph["nodes"] if node["op"]["kind"] == "batch-norm"]
    if not layers:
        return
    add = Additions(model)
    add.node("Shape", [graph["nodes"][0]["name"]], "bancada.shape")
    add.node("Gather", ["bancada.shape", add.constant("bancada.first", 0, np.int64)], "bancada.count")
    add.node("Cast", ["bancada.count"], "bancada.batch", to=TensorProto.FLOAT)
    for node in layers:
        name, shape, share = node["name"], node["shape"], node["op"]["momentum"]
        old, new = add.constant(f"{name}.old", 1 - share), add.constant(f"{name}.new", share)
        pixels = add.constant(f"{name}.pixels", shape.get("height", 1) * shape.get("width", 1))
        add.node("Mul", ["bancada.batch", pixels], f"{name}.numbers")
        add.node("Sub", [f"{name}.numbers", add.constant(f"{name}.one", 1)], f"{name}.freedom")
        add.node("Div", [f"{name}.numbers", f"{name}.freedom"], f"{name}.bias-correction")
        add.node("Mul", [f"{name}.batch-variance", f"{name}.bias-correction"], f"{name}.unbiased")
        for role, value in (("mean", f"{name}.batch-mean"), ("variance", f"{name}.unbiased")):
            kept = f"{name}.{role}"
            add.node("Mul", [kept, old], f"{kept}.old-share")
            add.node("Mul", [value, new], f"{kept}.new-share")
            add.node("Add", [f"{kept}.old-share", f"{kept}.new-share"], f"{kept}.updated")
            add.node("InPlaceAccumulatorV2", [kept, f"{kept}.updated", add.always()], f"{kept}.written",
                     domain="com.microsoft")
            model.graph.output.append(helper.make_tensor_value_info(f"{kept}.written", TensorProto.BOOL, [1]))


def give_momentum(model, momentum):
    """ONNX Runtime's SGD has no momentum, but its gradients are summed in buffers that last: where each is
    first multiplied by the momentum, the buffer is the velocity, and its SGD steps along it."""
    add = Additions(model)
    share = add.constant("bancada.momentum", momentum)
    for node in [node for node in model.graph.node if node.op_type == "InPlaceAccumulatorV2"]:
        buffer, gradient = node.input[0], node.input[1]
        add.before(node, "Mul", [buffer, share], f"{gradient}.slowed")
        add.before(node, "Add", [f"{gradient}.slowed", gradient], f"{gradient}.velocity")
        node.input[1], node.input[2] = f"{gradient}.velocity", add.always()


class Additions:
    """Nodes and constants added to a finished graph."""

    def __init__(self, model):
        self.graph = model.graph

    def node(self, operator, inputs, output, **attributes):
        self.graph.node.append(helper.make_node(operator, inputs, [output], output, **attributes))

    def before(self, other, operator, inputs, output):
        place = next(place for place, node in enumerate(self.graph.node) if node.name == other.name)
        self.graph.node.insert(place, helper.make_node(operator, inputs, [output], output))

    def constant(self, name, values, kind=np.float32):
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def always(self):
        if all(constant.name != ALWAYS for constant in self.graph.initializer):
            self.constant(ALWAYS, [True], np.bool_)
        return ALWAYS


def gradient_model(training_model):
    """The graph of a training step that returns the gradients instead of applying them."""
    model = onnx.ModelProto()
    model.CopyFrom(training_model)
    graph = model.graph
    kept = [node for node in graph.node if node.op_type != "InPlaceAccumulatorV2"]
    gradients = [node.input[1] for node in graph.node if node.op_type == "InPlaceAccumulatorV2"]
    inputs = [value for value in graph.input
              if not value.name.endswith(".accumulation.buffer") and value.name != "lazy_reset_grad"]
    loss = graph.output[0]
    for field, values in ((graph.node, kept), (graph.input, inputs)):
        del field[:]
        field.extend(values)
    del graph.output[:]
    graph.output.append(loss)
    graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in gradients)
    return model


class Adapter:
    name = "onnxruntime-training"
    version = onnxruntime.__version__

    def __init__(self, job, graph, weights):
        refuse_what_it_cannot(job)
        self.job, self.graph, self.device = job, graph, job.my_device
        parameters = [parameter for node in graph["nodes"] for parameter in node["parameters"]]
        self.names = [parameter["name"] for parameter in parameters]
        self.trained = [parameter["name"] for parameter in parameters if parameter["trained"]]
        # Removed when the process ends: the profiler makes its session from the same files.
        self.folder = tempfile.TemporaryDirectory(prefix="bancada-onnxruntime-")
        with quiet():
            self.make_artifacts({name: weights[name] for name in self.names})
        self.state = CheckpointState.load_checkpoint(self.path("checkpoint"))
        self.begin(self.options())
        self.answering = None

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def make_artifacts(self, weights):
        """The files that ONNX Runtime trains from: the step, the optimiser, the weights."""
        forward = Forward(self.graph, rates_seed=self.job.seed % (1 << 31) + 1)
        rule = self.job.optimizer
        artifacts.generate_artifacts(
            forward.model(weights), requires_grad=self.trained,
            frozen_params=[name for name in self.names if name not in self.trained],
            loss=artifacts.LossType.CrossEntropyLoss, optimizer=optimizer(rule), artifact_directory=self.folder.name)
        step = onnx.load(self.path("training_model.onnx"))
        self.loss_name = step.graph.output[0].name
        self.plain_step = gradient_model(step)
        if rule["kind"] == "sgd" and rule["momentum"]:
            give_momentum(step, rule["momentum"])
        gather(step, self.graph)
        onnx.save(step, self.path("training_model.onnx"))
        if rule["kind"] == "adam":
            as_published(self.path("optimizer_model.onnx"))

    def options(self):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if self.job.threads:
            options.intra_op_num_threads = self.job.threads
        return options

    def begin(self, options):
        options.profile_file_prefix = self.path("profile-step")
        self.module = Module(self.path("training_model.onnx"), self.state, None, self.device, options)
        # Two sessions with one file would overwrite each other's lines.
        options.profile_file_prefix = self.path("profile-optimizer")
        self.optimizer = Optimizer(self.path("optimizer_model.onnx"), self.module)
        self.optimizer.set_learning_rate(self.job.optimizer["learning_rate"])

    def step(self, images, labels):
        loss = self.module(images, labels.astype(np.int64))
        self.optimizer.step()
        self.module.lazy_reset_grad()
        self.answering = None
        return loss[0] if isinstance(loss, tuple) else loss

    def session(self, model, options=None):
        kind, _, number = self.device.partition(":")
        providers = ["CPUExecutionProvider"]
        if kind == "cuda":
            providers.insert(0, ("CUDAExecutionProvider", {"device_id": int(number or 0)}))
        return onnxruntime.InferenceSession(model.SerializeToString(), options or self.options(), providers)

    def answering_model(self):
        return Forward(self.graph).model(self.weights())

    def logits(self, images):
        if self.answering is None:
            self.answering = self.session(self.answering_model())
        return self.answering.run(None, {self.graph["nodes"][0]["name"]: images})[0]

    def gradients(self, images, labels):
        weights, batch = self.weights(), {self.graph["nodes"][0]["name"]: images}
        step = self.session(self.plain_step)
        wanted = {value.name for value in step.get_inputs()}
        feeds = {name: array for name, array in weights.items() if name in wanted}
        outputs = [self.loss_name] + [f"{name}_grad" for name in self.trained]
        found = step.run(outputs, {**feeds, **batch, "labels": labels.astype(np.int64)})
        return float(found[0]), dict(zip(self.trained, found[1:])), self.layers(weights, batch)

    def layers(self, weights, batch):
        """Every layer's output in a training step: unoptimised, or some would not exist."""
        forward = Forward(self.graph, rates_seed=self.job.seed % (1 << 31) + 1)
        options = self.options()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        names = forward.names[1:]
        session = self.session(forward.model(weights, names[:-1]), options)
        return list(zip(names, session.run(names, batch)))

    def weights(self):
        return {name: self.state.parameters[name].data for name in self.names}

    def save(self, stem):
        """Its checkpoint, and an ONNX model for inference."""
        CheckpointState.save_checkpoint(self.state, stem + ".ckpt", include_optimizer_state=False)
        onnx.save(self.answering_model(), stem + ".onnx")

    def profile(self, steps):
        """A second session with the same weights, which writes each kernel's time when it ends."""
        options = self.options()
        options.enable_profiling = True
        self.begin(options)
        steps()
        self.module = self.optimizer = None
        for name in os.listdir(self.folder.name):
            if name.startswith("profile"):
                yield from kernels(self.path(name))


def kernels(path):
    with open(path) as file:
        events = json.load(file)
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            yield event["args"]["op_name"], 1, event["dur"] / 1e6


def refuse_what_it_cannot(job):
    if job.workers > 1:
        sys.exit("ONNX Runtime trains in one process only: use pytorch, tensorflow or jax for several workers")
    if job.precision == "mixed":
        sys.exit("ONNX Runtime's training session has no mixed precision: use precision = \"float32\"")
    if job.compile is False:
        sys.exit("ONNX Runtime always trains a whole graph: remove `compile`, or set it to true")
    kind = job.my_device.partition(":")[0]
    if kind not in ("cpu", "cuda"):
        sys.exit(f"ONNX Runtime's adapter does not support the device `{job.my_device}`: use cpu or cuda:0")
    if kind == "cuda" and "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        sys.exit("this ONNX Runtime was built without CUDA: use device = \"cpu\", "
                 "or install its training package for GPUs into this environment")


@contextlib.contextmanager
def quiet():
    """Building the gradients writes a line a transformation to the standard error, whatever it is told; mistakes
    come as exceptions besides."""
    onnxruntime.set_default_logger_severity(3)
    sys.stderr.flush()
    shown = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(shown, 2)
        os.close(shown)
        os.close(nowhere)


def optimizer(rule):
    if rule["kind"] == "sgd":
        return artifacts.OptimType.SGD
    return onnxblock.optim.AdamW(betas=(rule["beta1"], rule["beta2"]), eps=rule["epsilon"], weight_decay=0.0)


def as_published(path):
    """Adam as published corrects the bias before epsilon is added, which is mode 0; the artifacts have mode 1."""
    model = onnx.load(path)
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "adam_mode":
                attribute.i = 0
    onnx.save(model, path)


if __name__ == "__main__":
    protocol.main(Adapter)
