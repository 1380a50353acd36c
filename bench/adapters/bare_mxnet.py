"""MXNet, by hand: Gluon, hybridized."""
import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

import bare


def rede1():
    network = nn.HybridSequential()
    network.add(
        nn.Conv2D(16, 3, padding=1, activation="relu"), nn.MaxPool2D(2),
        nn.Conv2D(32, 3, padding=1, activation="relu"), nn.MaxPool2D(2),
        nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(10),
    )
    return network


def keras_cifar():
    network = nn.HybridSequential()
    network.add(
        nn.Conv2D(32, 3, padding=1, activation="relu"), nn.Conv2D(32, 3, activation="relu"),
        nn.MaxPool2D(2), nn.Dropout(0.25),
        nn.Conv2D(64, 3, padding=1, activation="relu"), nn.Conv2D(64, 3, activation="relu"),
        nn.MaxPool2D(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Dense(512, activation="relu"), nn.Dropout(0.5), nn.Dense(10),
    )
    return network


def main():
    # OpenMP reads its threads from the surroundings, which compare.py sets.
    work = bare.Work({"rede1": rede1, "keras-cifar": keras_cifar})
    network = work.network()
    network.initialize()
    # Shapes are known after the first images.
    network(mx.nd.from_numpy(work.images[:1]))
    for parameter, values in zip(network.collect_params().values(), work.weights()):
        parameter.set_data(mx.nd.array(values))
    network.hybridize(static_alloc=True)
    losses = gluon.loss.SoftmaxCrossEntropyLoss()
    losses.hybridize(static_alloc=True)
    trainer = gluon.Trainer(network.collect_params(), "adam", {"learning_rate": 0.001})
    for rows in work.batches():
        images, labels = mx.nd.from_numpy(work.images[rows]), mx.nd.from_numpy(work.labels[rows])
        with autograd.record():
            loss = losses(network(images), labels)
        loss.backward()
        trainer.step(len(rows))
        work.step_ended(loss.mean().asscalar())
    work.end()


if __name__ == "__main__":
    main()
