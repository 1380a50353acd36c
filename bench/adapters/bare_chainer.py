"""Chainer, by hand."""
import chainer
import chainer.functions as F
import chainer.links as L

import bare


class Rede1(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1, self.conv2 = L.Convolution2D(1, 16, 3, pad=1), L.Convolution2D(16, 32, 3, pad=1)
            self.dense1, self.dense2 = L.Linear(32 * 8 * 8, 64), L.Linear(64, 10)

    def forward(self, x):
        x = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        x = F.max_pooling_2d(F.relu(self.conv2(x)), 2)
        return self.dense2(F.relu(self.dense1(x)))


class KerasCifar(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1, self.conv2 = L.Convolution2D(3, 32, 3, pad=1), L.Convolution2D(32, 32, 3)
            self.conv3, self.conv4 = L.Convolution2D(32, 64, 3, pad=1), L.Convolution2D(64, 64, 3)
            self.dense1, self.dense2 = L.Linear(64 * 6 * 6, 512), L.Linear(512, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = F.dropout(F.max_pooling_2d(x, 2, cover_all=False), 0.25)
        x = F.relu(self.conv4(F.relu(self.conv3(x))))
        x = F.dropout(F.max_pooling_2d(x, 2, cover_all=False), 0.25)
        return self.dense2(F.dropout(F.relu(self.dense1(x)), 0.5))


def in_order(network):
    for layer in network.children():
        yield layer.W
        yield layer.b


def main():
    # NumPy reads its threads from the surroundings, which compare.py sets.
    work = bare.Work({"rede1": Rede1, "keras-cifar": KerasCifar})
    network = L.Classifier(work.network())
    for parameter, values in zip(in_order(network.predictor), work.weights()):
        parameter.array[...] = values
    network.compute_accuracy = False
    optimizer = chainer.optimizers.Adam(0.001).setup(network)
    for rows in work.batches():
        optimizer.update(network, work.images[rows], work.labels[rows])
        work.step_ended(float(network.loss.array))
    work.end()


if __name__ == "__main__":
    main()
