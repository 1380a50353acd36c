"""Makes Keras' own file of a model: FOLDER/model.keras from graph.json (the `network` of a job file), model.safetensors
and model.json in the same folder. The layers are those that the training adapter builds.

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
        sys.exit("name the model's folder, and nothing else")
    folder = Path(sys.argv[1])
    try:
        graph, description = (json.loads((folder / name).read_text()) for name in ("graph.json", "model.json"))
        convert(folder, graph, logits=description["output"] == "logits")
    except OSError as error:
        sys.exit(f"cannot use {error.filename}: {error.strerror}")
    except (KeyError, ValueError) as error:
        sys.exit(f"graph.json, model.json and model.safetensors in {folder} do not fit together: {error}")


def convert(folder, graph, logits):
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
    model = network.model
    if not logits:
        model = keras.Model(model.inputs, keras.layers.Softmax(name="probabilities")(model.outputs[0]))
    unfinished = folder / "unfinished.keras"
    model.save(unfinished)
    unfinished.replace(folder / "model.keras")


if __name__ == "__main__":
    main()
