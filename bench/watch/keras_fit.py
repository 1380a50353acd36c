"""Keras `fit` with validation."""

import sys

import numpy as np

import keras

epochs, images = int(sys.argv[1]), int(sys.argv[2])
keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
x = rng.standard_normal((images, 32, 32, 3)).astype("float32")
y = rng.integers(0, 10, images)
model = keras.Sequential([
    keras.layers.Conv2D(32, 3, activation="relu"), keras.layers.MaxPooling2D(),
    keras.layers.Conv2D(64, 3, activation="relu"), keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=epochs, batch_size=32, validation_split=0.2)
model.evaluate(x[: images // 4], y[: images // 4])
