"""TensorFlow, by hand: a Keras model, its own loop in a tf.function."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import bare


def rede1():
    return tf.keras.Sequential([
        layers.Input((32, 32, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"), layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, padding="same", activation="relu"), layers.MaxPooling2D(2),
        layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(10),
    ])


def keras_cifar():
    return tf.keras.Sequential([
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
    network = work.network()
    network.set_weights(work.weights(channels_last=True))
    optimizer = tf.keras.optimizers.Adam(0.001)
    losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = losses(labels, network(images, training=True))
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    for rows in work.batches():
        work.step_ended(float(step(images[rows], work.labels[rows])))
    work.end()


if __name__ == "__main__":
    main()
