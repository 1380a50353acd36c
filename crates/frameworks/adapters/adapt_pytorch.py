"""PyTorch."""
import importlib.util
import sys

import numpy as np

import protocol

if __name__ == "__main__":
    protocol.lead_hosts()

import torch
import torch.nn.functional as F


class Network(torch.nn.Module):
    """The layer graph as a module; parameters keep their names, with a dot written as two lines."""

    def __init__(self, graph, weights):
        super().__init__()
        self.nodes = [(node["name"], node["op"], node["inputs"]) for node in graph["nodes"][: graph["logits"] + 1]]
        self.uses = [0] * len(self.nodes)
        for _, _, inputs in self.nodes:
            for place in inputs:
                self.uses[place] += 1
        for node in graph["nodes"]:
            for parameter in node["parameters"]:
                name = parameter["name"]
                # Copied to where PyTorch keeps its own: the optimiser is slower over arrays of NumPy's, which lie askew.
                values = torch.tensor(weights[name])
                if parameter["trained"]:
                    self.register_parameter(written(name), torch.nn.Parameter(values))
                else:
                    self.register_buffer(written(name), values)

    def forward(self, x, seen=None):
        values, left = [x], list(self.uses)
        for name, op, inputs in self.nodes[1:]:
            arguments = [values[place] for place in inputs]
            values.append(self.layer(name, op, *arguments))
            for place in inputs:
                left[place] -= 1
                if left[place] == 0 and seen is None:
                    values[place] = None
            if seen is not None:
                seen.append((name, values[-1]))
        return values[-1]

    def layer(self, name, op, x, *others):
        kind = op["kind"]
        if kind == "conv":
            x, padding = self.padded(x, op, 0.0)
            return F.conv2d(x, self.own(name, "weight"), self.own(name, "bias") if op["bias"] else None,
                            op["stride"], padding, 1, op["groups"])
        if kind == "dense":
            return F.linear(x, self.own(name, "weight"), self.own(name, "bias") if op["bias"] else None)
        if kind == "batch-norm":
            return F.batch_norm(x, self.own(name, "mean"), self.own(name, "variance"), self.own(name, "gamma"),
                                self.own(name, "beta"), self.training, op["momentum"], op["epsilon"])
        if kind == "relu":
            return F.relu(x)
        if kind == "max-pool":
            x, padding = self.padded(x, op, float("-inf"))
            return F.max_pool2d(x, op["kernel"], op["stride"], padding)
        if kind == "avg-pool":
            return self.average(x, op)
        if kind == "global-avg-pool":
            return x.mean((2, 3)) if x.dim() == 4 else x
        if kind == "dropout":
            return F.dropout(x, op["rate"], self.training and op["rate"] > 0)
        if kind == "flatten":
            return x.flatten(1)
        if kind == "add":
            for other in others:
                x = x + other
            return x
        if kind == "concat":
            return torch.cat((x, *others), 1)
        if kind == "lrn":
            return F.local_response_norm(x, op["size"], op["alpha"], op["beta"], op["k"])
        if kind == "softmax":
            return F.softmax(x, 1)
        raise ValueError(f"PyTorch's adapter does not support the layer kind `{kind}` of `{name}`")

    def own(self, name, role):
        return getattr(self, written(f"{name}.{role}"))

    @staticmethod
    def padded(x, op, value):
        """Padding that is alike on both sides, and at most half a window for pools, is the layer's own."""
        top, bottom, left, right = padding = protocol.sides(op)
        height, width = op["kernel"]
        fits = op["kind"] == "conv" or (2 * top <= height and 2 * left <= width)
        if protocol.is_even(padding) and fits:
            return x, (top, left)
        return F.pad(x, (left, right, top, bottom), value=value), (0, 0)

    @staticmethod
    def average(x, op):
        top, bottom, left, right = padding = protocol.sides(op)
        height, width = op["kernel"]
        if protocol.is_even(padding) and 2 * top <= height and 2 * left <= width:
            return F.avg_pool2d(x, op["kernel"], op["stride"], (top, left), count_include_pad=False)
        sides = (left, right, top, bottom)
        sums = F.avg_pool2d(F.pad(x, sides), op["kernel"], op["stride"], divisor_override=1)
        counts = F.avg_pool2d(F.pad(torch.ones_like(x[:1, :1]), sides), op["kernel"], op["stride"], divisor_override=1)
        return sums / counts


def written(name):
    return name.replace(".", "__")


class Adapter:
    name = "pytorch"
    version = torch.__version__.split("+")[0]
    out_of_memory = (torch.cuda.OutOfMemoryError,)
    aligned_batches = True

    def __init__(self, job, graph, weights):
        self.job, self.graph = job, graph
        self.device = device_of(job.my_device)
        self.mixed = job.precision == "mixed"
        self.notes = protocol.spare_amx(half_products) if self.mixed and self.device.type == "cpu" else []
        if job.threads:
            torch.set_num_threads(job.threads)
        torch.manual_seed(job.seed)
        self.half = torch.bfloat16 if self.device.type == "cpu" else torch.float16
        self.scaler = loss_scaler() if self.mixed and self.device.type == "cuda" else None
        self.bare = Network(graph, weights).to(self.device)
        self.network = self.bare
        if job.workers > 1:
            self.network = self.distributed()
        if job.compile:
            self.network = compiled(self.network)
        self.optimizer = optimizer(job.optimizer, self.bare.parameters())
        self.trained = {p["name"]: p["trained"] for n in graph["nodes"] for p in n["parameters"]}

    def distributed(self):
        import torch.distributed

        torch.distributed.init_process_group("nccl" if self.device.type == "cuda" else "gloo")
        return torch.nn.parallel.DistributedDataParallel(self.network)

    def share(self, value):
        total = torch.tensor(value, device=self.device, dtype=torch.float64)
        torch.distributed.all_reduce(total)
        return float(total) / self.job.workers

    def on_device(self, images, labels):
        return (torch.from_numpy(images).to(self.device), torch.from_numpy(labels).to(self.device, torch.int64))

    def loss(self, images, labels, seen=None):
        images, labels = self.on_device(images, labels)
        # Only where it is asked for: with it, 32-bit steps would take longer too.
        if not self.mixed:
            answers = self.bare(images, seen) if seen is not None else self.network(images)
            return F.cross_entropy(answers, labels)
        with torch.autocast(self.device.type, dtype=self.half):
            answers = self.bare(images, seen) if seen is not None else self.network(images)
        return F.cross_entropy(answers.float(), labels)

    def step(self, images, labels):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(images, labels)
        if self.scaler is not None:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def logits(self, images):
        self.bare.eval()
        with torch.no_grad():
            answers = self.bare(torch.from_numpy(images).to(self.device)).cpu().numpy()
        self.bare.train()
        return answers

    def gradients(self, images, labels):
        kept = {name: values.clone() for name, values in self.bare.named_buffers()}
        self.optimizer.zero_grad(set_to_none=True)
        seen = []
        loss = self.loss(images, labels, seen)
        loss.backward()
        gradients = {name: getattr(self.bare, written(name)).grad.cpu().numpy()
                     for name, trained in self.trained.items() if trained}
        self.optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            for name, values in self.bare.named_buffers():
                values.copy_(kept[name])
        return loss.item(), gradients, [(name, values.detach().cpu().float().numpy()) for name, values in seen]

    def weights(self):
        return {name: getattr(self.bare, written(name)).detach().cpu().numpy() for name in self.trained}

    def save(self, stem):
        torch.save(self.bare.state_dict(), stem + ".pt")

    def own_batches(self, raw, labels, epoch):
        """A DataLoader that decodes, resizes and normalises image by image, as PyTorch's examples do."""
        side = self.job.data.image

        class Pictures(torch.utils.data.Dataset):
            def __len__(self):
                return len(labels)

            def __getitem__(self, index):
                image = torch.from_numpy(np.array(raw[index])).float() / 255
                if image.shape[-1] != side or image.shape[-2] != side:
                    image = F.interpolate(image[None], (side, side), mode="bilinear", antialias=True)[0]
                return (image - 0.5) / 0.5, int(labels[index])

        pictures = Pictures()
        job = self.job
        if job.workers > 1:
            sampler = torch.utils.data.DistributedSampler(pictures, seed=job.seed)
            sampler.set_epoch(epoch)
            order = {"sampler": sampler}
        else:
            order = {"shuffle": True, "generator": torch.Generator().manual_seed(job.seed + epoch)}
        loader = torch.utils.data.DataLoader(pictures, batch_size=job.batch // job.workers, **order)
        for images, wanted in loader:
            yield images.numpy(), wanted.numpy().astype(np.int32)

    def profile(self, steps):
        from torch.profiler import ProfilerActivity, profile

        activities = [ProfilerActivity.CPU]
        if self.device.type == "cuda":
            activities.append(ProfilerActivity.CUDA)
        with profile(activities=activities) as seen:
            steps()
        for event in seen.key_averages():
            microseconds = event.self_cpu_time_total
            if self.device.type == "cuda":
                microseconds = getattr(event, "self_device_time_total", 0)
            yield event.key, event.count, microseconds / 1e6

    def synchronise(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def device_of(name):
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda"):
        sys.exit(f"PyTorch's adapter does not support the device `{name}`: cpu, cuda:0, …")
    there = torch.cuda.device_count() if kind == "cuda" else 1
    if int(number or 0) >= there:
        sys.exit(f"{name} was requested, but PyTorch sees {f'{there} of them' if there else 'no GPU'}")
    return torch.device(name)


def half_products():
    values = torch.ones(64, 64, dtype=torch.bfloat16)
    values @ values
    F.conv2d(values.view(1, 64, 8, 8), values.view(64, 64, 1, 1))


def compiled(network):
    if importlib.util.find_spec("setuptools") is None:
        sys.exit("torch.compile needs setuptools, which PyTorch's environment lacks: install it, or remove `compile`")
    return torch.compile(network)


def loss_scaler():
    """Before 2.3 it was CUDA's."""
    return torch.amp.GradScaler("cuda") if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler()


def optimizer(rule, parameters):
    if rule["kind"] == "sgd":
        return torch.optim.SGD(parameters, rule["learning_rate"], rule["momentum"])
    return torch.optim.Adam(parameters, rule["learning_rate"], (rule["beta1"], rule["beta2"]), rule["epsilon"])


if __name__ == "__main__":
    protocol.main(Adapter)
