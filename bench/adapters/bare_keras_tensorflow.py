"""Keras 3 over TensorFlow, by hand: its own layers and train_on_batch."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import bare


def rede1():
    return keras.Sequential([
        layers.Input((32, 32, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"), layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, padding="same", activation="relu"), layers.MaxPooling2D(2),
        layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(10),
    ])


def keras_cifar():
    return keras.Sequential([
        layers.Input((32, 32, 3)),
        layers.Conv2D(32, 3, padding="same", activation="relu"), layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(2), layers.Dropout(0.25),
        layers.Conv2D(64, 3, padding="same", activation="relu"), layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2), layers.Dropout(0.25),
        layers.Flatten(), layers.Dense(512, activation="relu"), layers.Dropout(0.5), layers.Dense(10),
    ])


def main():
    work = bare.Work({"rede1": rede1, "keras-cifar": keras_cifar})
    tf.config.threading.set_intra_op_parallelism_threads(work.threads)
    tf.config.threading.set_inter_op_parallelism_threads(work.threads)
    images = np.ascontiguousarray(work.images.transpose(0, 2, 3, 1))
    model = work.network()
    model.set_weights(work.weights(channels_last=True))
    model.compile(keras.optimizers.Adam(0.001), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    for rows in work.batches():
        work.step_ended(float(model.train_on_batch(images[rows], work.labels[rows])))
    work.end()


if __name__ == "__main__":
    main()
