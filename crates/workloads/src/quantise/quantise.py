"""Quantises a model to 8 bits with ONNX Runtime's own tools, and runs both models on the same images.

    python -c THIS '{"do": "look", "model": "model.onnx"}'
    python -c THIS '{"do": "quantise", "model": …, "to": …, "bits": 8, "images": {…} or null, "dynamic": false}'

What was found is the last line on stdout, after `bancada-quantised `.
"""
import json
import logging
import os
import sys
import tempfile

# Read at import: otherwise it sends telemetry.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

# With many classes probabilities are small: 256 steps would make them zero.
LEFT_IN_32_BITS = {"Softmax", "LRN"}
USUAL = 127.5


def main():
    # Its advice is already followed.
    logging.disable(logging.WARNING)
    asked = json.loads(sys.argv[1])
    found = look(asked["model"]) if asked["do"] == "look" else quantise(asked)
    print("\nbancada-quantised " + json.dumps(found), flush=True)


def look(path):
    graph = onnx.load(path, load_external_data=False).graph
    given = {constant.name for constant in graph.initializer}
    inputs = [one for one in graph.input if one.name not in given]
    if len(inputs) != 1:
        sys.exit(f"it has {len(inputs)} inputs; only models with one input can be quantised")
    if any(node.op_type in ("QuantizeLinear", "QLinearConv", "ConvInteger", "MatMulInteger") for node in graph.node):
        sys.exit("it is already quantised")
    sizes = [size.dim_value or None for size in inputs[0].type.tensor_type.shape.dim]
    return {"input": sizes}


def quantise(asked):
    images = Images(asked["images"]) if asked["images"] else None
    with tempfile.TemporaryDirectory(prefix="bancada-quantise-") as place:
        # Batch normalisation goes into the convolutions before it; shapes become known.
        plain = os.path.join(place, "plain.onnx")
        quant_pre_process(asked["model"], plain, skip_symbolic_shape=True)
        settings = {"per_channel": True, "reduce_range": asked["bits"] == 7}
        if asked["dynamic"]:
            # Of the integer convolutions only the one of bytes without a sign is fast.
            quantize_dynamic(plain, asked["to"], weight_type=QuantType.QUInt8, **settings)
        else:
            operators = {node.op_type for node in onnx.load(plain, load_external_data=False).graph.node}
            quantize_static(plain, asked["to"], Calibration(images, plain), quant_format=QuantFormat.QDQ,
                            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                            op_types_to_quantize=sorted(operators - LEFT_IN_32_BITS), **settings)
    return compare(asked, images) if images else {"compared": None}


class Images:
    """The training and held-out images of a cache, as the model needs them."""

    def __init__(self, asked):
        self.folder, self.channels, self.last = asked["folder"], asked["channels"], asked["last"]
        self.mean, self.std = (np.float32(asked[name] or [USUAL]) for name in ("mean", "std"))
        self.as_they_are = np.all(self.mean == USUAL) and np.all(self.std == USUAL)

    def each(self, part):
        for image in np.load(os.path.join(self.folder, f"{part}-images.npy"), mmap_mode="r"):
            # Kept as pixels / 127.5 − 1, channels first; grey becomes every colour.
            image = np.repeat(image, self.channels // image.shape[0], axis=0).transpose(1, 2, 0)
            if not self.as_they_are:
                image = ((image + 1) * np.float32(USUAL) - self.mean) / self.std
            yield np.ascontiguousarray(image if self.last else image.transpose(2, 0, 1))[None]

    def labels(self):
        return np.load(os.path.join(self.folder, "held-out-labels.npy"))


class Calibration(CalibrationDataReader):
    def __init__(self, images, model):
        self.images, self.name = images.each("train"), Session(model, None).images

    def get_next(self):
        image = next(self.images, None)
        return None if image is None else {self.name: image}


class Session:
    """`scores` names the output that scores classes; otherwise it is the only one, if it has a row for each image."""

    def __init__(self, path, scores):
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.images = self.session.get_inputs()[0].name
        outputs = {output.name: output.shape for output in self.session.get_outputs()}
        only = next(iter(outputs)) if len(outputs) == 1 else None
        self.answers = scores if scores in outputs else only if only and len(outputs[only]) == 2 else None

    def answer(self, image):
        return self.session.run([self.answers], {self.images: image})[0][0]


def compare(asked, images):
    """How many held-out images each classifies correctly, and how often both agree."""
    full, small = (Session(asked[name], asked["scores"]) for name in ("model", "to"))
    if full.answers is None:
        # Boxes and masks have no class.
        return {"compared": None}
    counts = {"images": 0, "full_right": 0, "right": 0, "agree": 0}
    classes, named = 0, set()
    for image, label in zip(images.each("held-out"), images.labels()):
        before, after = full.answer(image), small.answer(image)
        classes, before, after = len(before), before.argmax(), after.argmax()
        named.add(int(before))
        counts["images"] += 1
        counts["full_right"] += int(before == label)
        counts["right"] += int(after == label)
        counts["agree"] += int(before == after)
    return {"compared": {**counts, "classes": classes, "named": len(named)}}


if __name__ == "__main__":
    main()
