"""Writes the Keras file of a network: FOLDER/model.keras from graph.json (the `network` of a job file) and
model.safetensors in the same folder. The layers are those that the training adapter builds; the answers are
probabilities, as in the ONNX file of the same network.

    python to_keras.py FOLDER

The adapters are looked for in the folder that BANCADA_ADAPTERS names, else in `adapters` beside this file's folder.
"""
import json
import os
import sys
from pathlib import Path

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.append(os.environ.get("BANCADA_ADAPTERS") or str(Path(__file__).resolve().parent.parent / "adapters"))


def main():
    if len(sys.argv) != 2:
        sys.exit("expected one argument: the model's folder")
    folder = Path(sys.argv[1])
    try:
        convert(folder, json.loads((folder / "graph.json").read_text()))
    except OSError as error:
        sys.exit(f"cannot use {error.filename}: {error.strerror}")
    except (KeyError, ValueError) as error:
        sys.exit(f"graph.json and model.safetensors in {folder} do not match: {error}")


def convert(folder, graph):
    import adapt_keras
    import keras
    import protocol
    from channels import ChannelsLast

    weights = protocol.read_weights(folder / "model.safetensors")
    keras.config.set_image_data_format("channels_last")
    channels = ChannelsLast(graph)
    network = adapt_keras.Network(graph, channels, adapt_keras.OnTensorFlow)
    for name, variable in network.kept.items():
        variable.assign(channels.inward(name, weights[name]).reshape(variable.shape))
    answers = keras.layers.Softmax(name="probabilities")(network.model.outputs[0])
    model = keras.Model(network.model.inputs, answers)
    unfinished = folder / "unfinished.keras"
    model.save(unfinished)
    unfinished.replace(folder / "model.keras")


if __name__ == "__main__":
    main()
