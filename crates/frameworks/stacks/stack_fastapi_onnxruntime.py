"""NGINX, Gunicorn with one Uvicorn worker per core, FastAPI, ONNX Runtime tuned for it: the stronger of the usual stacks.

    python stack_fastapi_onnxruntime.py serve
"""
import os

import stack_common


def load(folder):
    import onnxruntime
    from stack_app import Model

    options = onnxruntime.SessionOptions()
    # Each worker has a core of its own: more threads would take the other workers' cores, spinning ones most of all.
    options.intra_op_num_threads, options.inter_op_num_threads = stack_common.threads() or 1, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    images = session.get_inputs()[0]
    outputs = [output.name for output in session.get_outputs()]
    shape = [size if isinstance(size, int) else None for size in images.shape]
    # Bancada writes into its models where their weights come from. What an output means is in model.json: `bancada
    # serve` writes there what it found in the model's graph.
    weights = session.get_modelmeta().custom_metadata_map.get("bancada.weights", "")
    return Model(lambda values, names: session.run(names, {images.name: values}), shape, outputs, None,
                 weights.startswith("untrained"))


def app():
    # Otherwise it stores an identifier of this machine and sends telemetry.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # Before Gunicorn forks, so that the workers share its pages; a session has threads and must come after.
    import onnxruntime  # noqa: F401
    from stack_app import application

    return application(load)


if __name__ == "__main__":
    stack_common.main(__file__, "model.onnx", preload=True)
