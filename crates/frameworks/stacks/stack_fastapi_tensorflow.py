"""NGINX, Gunicorn with one Uvicorn worker per core, FastAPI, TensorFlow: the stack of study B. Its model is Keras' own
file, which to_keras.py writes.

    python stack_fastapi_tensorflow.py serve
"""
import os

import stack_common

# What to_keras.py ends the model with.
PROBABILITIES = "probabilities"


def load(folder):
    # Each worker imports TensorFlow for itself: it has threads, and does not survive a fork.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras
    import numpy as np
    import tensorflow as tf
    from stack_app import Model

    if threads := stack_common.threads():
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    model = keras.saving.load_model(folder / "model.keras", compile=False)
    images = tf.TensorSpec([1, *model.input_shape[1:]], tf.float32)
    # A trace made once, where `predict` would make a loop over data sets for every image.
    traced = tf.function(lambda values: model(values, training=False), input_signature=[images])
    traced(np.zeros(images.shape, np.float32))
    return Model(lambda values, names: [traced(values).numpy()], model.input_shape, [PROBABILITIES], PROBABILITIES,
                 False)


def app():
    from stack_app import application

    return application(load)


if __name__ == "__main__":
    stack_common.main(__file__, "model.keras", preload=False)
