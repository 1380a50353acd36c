"""NGINX, Gunicorn with a Uvicorn worker a core, FastAPI, ONNX Runtime tuned for it: the stronger of the usual stacks.

    python stack_fastapi_onnxruntime.py serve
"""
import os

import stack_common


def load(folder):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Each worker has a core of its own: more threads would take the other workers' cores, spinning ones most of all.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    images, answers = session.get_inputs()[0].name, session.get_outputs()[0].name
    return lambda pixels: session.run([answers], {images: pixels})[0]


def app():
    # Else it writes down a name for this machine, and sends events to its makers.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # Before Gunicorn forks, so that the workers share its pages; a session has threads and must come after.
    import onnxruntime  # noqa: F401
    from stack_app import application

    return application(load)


if __name__ == "__main__":
    stack_common.main(__file__, "model.onnx", preload=True)
