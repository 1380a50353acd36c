"""What the bare scripts share: their arguments, the images in memory, the seconds of each step.

It does as little as can be done: whatever it added to a step would hide as much of an adapter's.
"""
import argparse
import json
import os
import sys
import time

import numpy as np


class Work:
    """What compare.py asks for: a network, its images, how much to train."""

    def __init__(self, networks):
        parser = argparse.ArgumentParser(description="Trains a network as one writes it by hand.")
        parser.add_argument("network", choices=sorted(networks))
        parser.add_argument("--cache", required=True, help="folder with train-images.npy and train-labels.npy")
        parser.add_argument("--weights", required=True, help="safetensors file: pools take longer with some than others")
        parser.add_argument("--batch", type=int, default=128)
        parser.add_argument("--epochs", type=int, default=1000000)
        parser.add_argument("--threads", type=int, default=1)
        self.asked = parser.parse_args()
        self.network = networks[self.asked.network]
        self.batch, self.epochs, self.threads = self.asked.batch, self.asked.epochs, self.asked.threads
        self.images = self.read("train-images.npy")
        self.labels = self.read("train-labels.npy")
        self.seconds, self.losses = [], []
        self.began = time.perf_counter()

    def read(self, name):
        path = os.path.join(self.asked.cache, name)
        try:
            return np.load(path)
        except OSError as error:
            sys.exit(f"{path} cannot be read: {error.strerror or error}")

    def weights(self, channels_last=False):
        """Those to begin with, layer after layer: convolutions [out, in, height, width], dense [out, in]; or
        [height, width, in, out] and [in, out]."""
        with open(self.asked.weights, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            data = file.read()
        header.pop("__metadata__", None)
        found = []
        for entry in sorted(header.values(), key=lambda entry: entry["data_offsets"]):
            begin, end = entry["data_offsets"]
            found.append(np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).copy())
        return turned(found) if channels_last else found

    def batches(self):
        """Rows of every step, in an order drawn for each epoch."""
        for _ in range(self.epochs):
            order = np.random.permutation(len(self.labels))
            for begin in range(0, len(order), self.batch):
                yield order[begin : begin + self.batch]

    def step_ended(self, loss):
        """Where an adapter tells its event: the loss is a number of Python's."""
        now = time.perf_counter()
        self.seconds.append(now - self.began)
        self.losses.append(loss)
        self.began = now

    def end(self):
        for seconds, loss in zip(self.seconds, self.losses):
            print(f"{seconds:.6f} s, loss {loss:.4f}")


def turned(weights):
    """Channels last; the first dense layer finds its inputs in another order then."""
    filters = [array for array in weights if array.ndim == 4]
    first = next(array for array in weights if array.ndim == 2)
    side = int((first.shape[1] // len(filters[-1])) ** 0.5)
    images = first.reshape(len(first), len(filters[-1]), side, side)
    first[:] = images.transpose(0, 2, 3, 1).reshape(first.shape)
    return [np.ascontiguousarray(array.transpose(2, 3, 1, 0) if array.ndim == 4 else array.T) for array in weights]
