"""PyTorch, by hand."""
import torch
from torch import nn
from torch.nn import functional as F

import bare


def rede1():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 8 * 8, 64), nn.ReLU(), nn.Linear(64, 10),
    )


def keras_cifar():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(64 * 6 * 6, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 10),
    )


def main():
    work = bare.Work({"rede1": rede1, "keras-cifar": keras_cifar})
    torch.set_num_threads(work.threads)
    images, labels = torch.from_numpy(work.images), torch.from_numpy(work.labels).long()
    network = work.network()
    with torch.no_grad():
        for parameter, values in zip(network.parameters(), work.weights()):
            parameter.copy_(torch.from_numpy(values))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.001)
    for rows in work.batches():
        rows = torch.from_numpy(rows)
        optimizer.zero_grad()
        loss = F.cross_entropy(network(images[rows]), labels[rows])
        loss.backward()
        optimizer.step()
        work.step_ended(loss.item())
    work.end()


if __name__ == "__main__":
    main()
