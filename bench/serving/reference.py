"""What ONNX Runtime answers without any server: the probabilities of one image of the model's own size, as JSON.

    python reference.py MODEL_FOLDER IMAGE
"""
import json
import os
import sys
from pathlib import Path

import numpy as np
from PIL import Image

# Read when it is imported: else it sends events to its makers.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

folder, image = Path(sys.argv[1]), sys.argv[2]
description = json.loads((folder / "model.json").read_text())
pixels = np.asarray(Image.open(image).convert("RGB"), np.float64)
pixels = ((pixels - description["mean"]) / description["std"]).astype(np.float32).transpose(2, 0, 1)[None]
session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
values = session.run(None, {session.get_inputs()[0].name: pixels})[0][0].astype(np.float64)
if description["output"] == "logits":
    values = np.exp(values - values.max())
    values /= values.sum()
print(json.dumps(values.tolist()))
