"""tinygrad, by hand: one step under its TinyJit."""
from tinygrad import Tensor, TinyJit, nn

import bare


class Rede1:
    def __init__(self):
        self.conv1, self.conv2 = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        self.dense1, self.dense2 = nn.Linear(32 * 8 * 8, 64), nn.Linear(64, 10)

    def __call__(self, x):
        x = self.conv1(x).relu().max_pool2d(2)
        x = self.conv2(x).relu().max_pool2d(2)
        return self.dense2(self.dense1(x.flatten(1)).relu())


class KerasCifar:
    def __init__(self):
        self.conv1, self.conv2 = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 32, 3)
        self.conv3, self.conv4 = nn.Conv2d(32, 64, 3, padding=1), nn.Conv2d(64, 64, 3)
        self.dense1, self.dense2 = nn.Linear(64 * 6 * 6, 512), nn.Linear(512, 10)

    def __call__(self, x):
        x = self.conv2(self.conv1(x).relu()).relu().max_pool2d(2).dropout(0.25)
        x = self.conv4(self.conv3(x).relu()).relu().max_pool2d(2).dropout(0.25)
        return self.dense2(self.dense1(x.flatten(1)).relu().dropout(0.5))


def main():
    work = bare.Work({"rede1": Rede1, "keras-cifar": KerasCifar})
    network = work.network()
    parameters = nn.state.get_parameters(network)
    for parameter, values in zip(parameters, work.weights()):
        parameter.assign(Tensor(values)).realize()
    optimizer = nn.optim.Adam(parameters, 0.001)

    @TinyJit
    def step(images, labels):
        optimizer.zero_grad()
        loss = network(images).sparse_categorical_crossentropy(labels).backward()
        return loss.realize(*optimizer.schedule_step())

    for rows in work.batches():
        with Tensor.train():
            loss = step(Tensor(work.images[rows]).realize(), Tensor(work.labels[rows]).realize())
        work.step_ended(loss.item())
    work.end()


if __name__ == "__main__":
    main()
