"""What the bare scripts share: their arguments, the images in memory, the seconds of each step.

It does as little as can be done: whatever it added to a step would hide as much of an adapter's.
"""
import argparse
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
