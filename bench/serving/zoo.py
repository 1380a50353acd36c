"""Every network of the zoo, served, against ONNX Runtime in Python on the same pixels.

    ENV/bin/python bench/serving/zoo.py --bancada target/release/bancada

Needs onnxruntime, numpy and Pillow. A PNG of the model's own size is sent, so that neither a decoder nor resizing is
between the two.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
import urllib.request
from pathlib import Path

import numpy as np
from PIL import Image

# Read when it is imported: else it sends events to its makers.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

ALLOWED = 1e-5
# As small as their strides allow where their own size is slow to check; the rest at 32.
SIDES = {"alexnet": 227, "googlenet": 224, "mobilenet": 224, "mobilenet-retina": 224, "resnet18": 224, "resnet50": 224,
         "vgg16": 224, "vgg19": 224, "vgg19-retina": 224, "keras-mnist": 28}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bancada", default="target/release/bancada")
    parser.add_argument("--network", help="only this one")
    asked = parser.parse_args()
    listed = subprocess.run([asked.bancada, "network", "list"], capture_output=True, text=True, check=True).stdout
    worst = 0.0
    for network in [asked.network] if asked.network else [line.split()[0] for line in listed.splitlines()]:
        with tempfile.TemporaryDirectory(prefix="bancada-zoo-") as folder:
            apart = compare(asked.bancada, network, Path(folder))
        worst = max(worst, apart)
        print(f"{network:<18} {SIDES.get(network, 32):>4} px   {apart:.1e}", flush=True)
    print(f"the worst is {worst:.1e}; {ALLOWED} is allowed")
    raise SystemExit(worst > ALLOWED)


def compare(bancada, network, folder):
    """The largest difference of probabilities, as a share of the largest."""
    side = SIDES.get(network, 32)
    grey = network in ("lenet5", "keras-mnist")
    model, picture = folder / "model.onnx", folder / "picture.png"
    size = ["--image", str(side), "--channels", "1" if grey else "3", "--classes", "10"]
    subprocess.run([bancada, "network", "onnx", network, *size, "--to", model], check=True, capture_output=True)
    shape = (side, side) if grey else (side, side, 3)
    pixels = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    Image.fromarray(pixels).save(picture)
    right = by_hand(model, pixels)
    served = np.array(json.loads(ask(bancada, model, picture.read_bytes()))["probabilities"])
    return float(np.abs(served - right).max() / right.max())


def by_hand(model, pixels):
    values = (pixels.astype(np.float32) / 127.5 - 1).reshape(*pixels.shape[:2], -1).transpose(2, 0, 1)[None]
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(["probabilities"], {"input": np.ascontiguousarray(values)})[0][0].astype(np.float64)


def ask(bancada, model, body):
    server = subprocess.Popen([bancada, "serve", model, "--runtime", "onnx", "--port", "0"], stderr=subprocess.PIPE,
                              text=True)
    try:
        address = re.search(r"http://[\d.:]+", server.stderr.readline()).group()
        request = urllib.request.Request(f"{address}/invocations", body, {"content-type": "image/png"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
