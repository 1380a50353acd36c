"""PaddlePaddle, by hand."""
import paddle
from paddle import nn
from paddle.nn import functional as F

import bare


def rede1():
    return nn.Sequential(
        nn.Conv2D(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2),
        nn.Conv2D(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2),
        nn.Flatten(), nn.Linear(32 * 8 * 8, 64), nn.ReLU(), nn.Linear(64, 10),
    )


def keras_cifar():
    return nn.Sequential(
        nn.Conv2D(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2D(32, 32, 3), nn.ReLU(), nn.MaxPool2D(2), nn.Dropout(0.25),
        nn.Conv2D(32, 64, 3, padding=1), nn.ReLU(), nn.Conv2D(64, 64, 3), nn.ReLU(), nn.MaxPool2D(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(64 * 6 * 6, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 10),
    )


def main():
    # It reads its threads from the surroundings, which compare.py sets.
    work = bare.Work({"rede1": rede1, "keras-cifar": keras_cifar})
    paddle.set_device("cpu")
    labels = work.labels.astype("int64")
    network = work.network()
    for parameter, values in zip(network.parameters(), work.weights()):
        parameter.set_value(values.T if values.ndim == 2 else values)
    optimizer = paddle.optimizer.Adam(0.001, parameters=network.parameters())
    for rows in work.batches():
        loss = F.cross_entropy(network(paddle.to_tensor(work.images[rows])), paddle.to_tensor(labels[rows]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        work.step_ended(loss.item())
    work.end()


if __name__ == "__main__":
    main()
