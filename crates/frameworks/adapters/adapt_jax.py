"""JAX: layers of jax.lax in one jitted step, optimisers of Optax."""
import os
import sys
import tempfile

import numpy as np

import protocol
import xplane
from channels import ChannelsLast


def prepare(job):
    """What JAX reads from the environment when it is imported."""
    if job.device.startswith("cpu"):
        os.environ["JAX_PLATFORMS"] = "cpu"
        if job.workers > 1 and not job.hosts:
            flags = os.environ.get("XLA_FLAGS", "")
            os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={job.workers}".strip()
    if job.threads:
        # The size of XLA's pool of threads on a processor, which all workers share; there is no other way to set it.
        os.environ["NPROC"] = str(job.threads if job.hosts else job.threads * job.workers)
    # Otherwise it allocates most of the memory at once, and its real need would be unknown.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


if __name__ == "__main__":
    prepare(protocol.Job.read())
    protocol.lead_hosts()

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

LAYOUT = ("NHWC", "HWIO", "NHWC")


class Network:
    """The layer graph, channels last, which is faster with XLA on a CPU."""

    def __init__(self, graph, channels, half=None):
        self.nodes = graph["nodes"][: graph["logits"] + 1]
        self.turned, self.half = channels.turned, half
        self.drops = any(node["op"].get("rate") for node in self.nodes)

    def __call__(self, kept, x, key=None, seen=None):
        """Logits, and the running statistics of batch normalisation; with a key in training mode."""
        if self.half:
            kept = {name: value if is_statistic(name) else value.astype(self.half) for name, value in kept.items()}
            x = x.astype(self.half)
        values, gathered = [x], {}
        for place, node in enumerate(self.nodes[1:], 1):
            arguments = [values[source] for source in node["inputs"]]
            with jax.named_scope(node["op"]["kind"]):
                own = {role: kept.get(f"{node['name']}.{role}") for role in ("weight", "bias")}
                if node["op"]["kind"] == "batch-norm":
                    values.append(self.batch_norm(node["name"], node["op"], kept, arguments[0], key, gathered))
                elif node["op"]["kind"] == "dropout":
                    values.append(dropped(arguments[0], node["op"]["rate"], key, place))
                else:
                    values.append(self.layer(node, own, *arguments))
            if seen is not None:
                seen.append(values[-1])
        return values[-1].astype(jnp.float32), gathered

    def layer(self, node, own, x, *others):
        op = node["op"]
        kind = op["kind"]
        if kind == "conv":
            x = convolution(op, x, own["weight"])
            return x + own["bias"] if op["bias"] else x
        if kind == "dense":
            x = x @ own["weight"]
            return x + own["bias"] if op["bias"] else x
        if kind == "relu":
            return jax.nn.relu(x)
        if kind == "max-pool":
            return windows(op, x, -jnp.inf, lax.max)
        if kind == "avg-pool":
            inside = np.ones((1,) + x.shape[1:3] + (1,), np.float32)
            return windows(op, x, 0.0, lax.add) / windows(op, inside, 0.0, lax.add).astype(x.dtype)
        if kind == "global-avg-pool":
            return x.mean((1, 2)) if x.ndim == 4 else x
        if kind == "flatten":
            if node["name"] in self.turned:
                x = x.transpose(0, 3, 1, 2)
            return x.reshape(x.shape[0], -1)
        if kind == "add":
            for other in others:
                x = x + other
            return x
        if kind == "concat":
            return jnp.concatenate((x,) + others, -1)
        if kind == "lrn":
            return local_response_norm(op, x)
        if kind == "softmax":
            return jax.nn.softmax(x)
        sys.exit(f"JAX's adapter does not support the layer kind `{kind}` of `{node['name']}`")

    def batch_norm(self, name, op, kept, x, key, gathered):
        mean, variance = kept[f"{name}.mean"], kept[f"{name}.variance"]
        wide = x.astype(jnp.float32)
        if key is not None:
            axes = tuple(range(x.ndim - 1))
            new_mean = wide.mean(axes)
            new_variance = jnp.square(wide - new_mean).mean(axes)
            count, share = x.size // x.shape[-1], op["momentum"]
            gathered[f"{name}.mean"] = (1 - share) * mean + share * new_mean
            # The batch is normalised with the biased variance; running statistics use the unbiased one.
            unbiased = new_variance * (count / max(count - 1, 1))
            gathered[f"{name}.variance"] = (1 - share) * variance + share * unbiased
            mean, variance = new_mean, new_variance
        scale = lax.rsqrt(variance + op["epsilon"]) * kept[f"{name}.gamma"]
        return ((wide - mean) * scale + kept[f"{name}.beta"]).astype(x.dtype)


def is_statistic(name):
    """Batch normalisation computes with 32 bits."""
    return name.endswith((".mean", ".variance", ".gamma", ".beta"))


def convolution(op, x, weight):
    top, bottom, left, right = protocol.sides(op)
    return lax.conv_general_dilated(x, weight, op["stride"], ((top, bottom), (left, right)),
                                    dimension_numbers=LAYOUT, feature_group_count=op["groups"])


def windows(op, x, start, join):
    top, bottom, left, right = protocol.sides(op)
    return lax.reduce_window(x, np.array(start, x.dtype), join, (1, *op["kernel"], 1), (1, *op["stride"], 1),
                             ((0, 0), (top, bottom), (left, right), (0, 0)))


def local_response_norm(op, x):
    size, wide = op["size"], x.astype(jnp.float32)
    sums = lax.reduce_window(wide * wide, np.float32(0), lax.add, (1, 1, 1, size), (1, 1, 1, 1),
                             ((0, 0), (0, 0), (0, 0), (size // 2, (size - 1) // 2)))
    return (wide * (op["k"] + op["alpha"] / size * sums) ** -op["beta"]).astype(x.dtype)


def dropped(x, rate, key, place):
    if key is None or rate == 0:
        return x
    kept = jax.random.bernoulli(jax.random.fold_in(key, place), 1 - rate, x.shape)
    return jnp.where(kept, x / (1 - rate), 0).astype(x.dtype)


class Adapter:
    name = "jax"
    version = jax.__version__
    shards_itself = True

    def __init__(self, job, graph, weights):
        self.job, self.channels = job, ChannelsLast(graph)
        if job.hosts:
            join(job)
        # Where batches go, and where everything else.
        self.split, self.whole = shardings(job)
        half = jnp.bfloat16 if job.precision == "mixed" else None
        self.network = Network(graph, self.channels, half)
        self.rule, self.optimizer = job.optimizer["kind"], optimizer(job.optimizer)
        trained = {p["name"]: p["trained"] for node in graph["nodes"] for p in node["parameters"]}
        kept = {name: jnp.asarray(self.channels.inward(name, weights[name])) for name in trained}
        self.names = list(kept)
        parts = [{name: kept[name] for name in kept if trained[name] is is_trained} for is_trained in (True, False)]
        state = (*parts, self.optimizer.init(parts[0]), jax.random.key(job.seed % (1 << 63)))
        self.state = everywhere(state, self.whole) if job.hosts else jax.device_put(state, self.whole)
        # The old state is not needed after a step: its memory is reused for the new one.
        whether = (lambda function, **_: function) if job.compile is False else jax.jit
        self.run_step = whether(self.next_state, donate_argnums=0)
        self.run_logits = whether(self.answers)

    def loss(self, trained, gathered, key, images, labels, seen=None):
        answers, new = self.network({**trained, **gathered}, turned(images), key, seen)
        loss = optax.softmax_cross_entropy_with_integer_labels(answers, labels).mean()
        return loss, (new, seen)

    def next_state(self, state, images, labels):
        trained, gathered, memory, key = state
        now = key
        if self.network.drops:
            key, now = jax.random.split(key)
        slope = jax.value_and_grad(self.loss, has_aux=True)
        (loss, (gathered, _)), gradients = slope(trained, gathered, now, images, labels)
        # The profile identifies the optimiser's operators by this name.
        with jax.named_scope(self.rule):
            changes, memory = self.optimizer.update(gradients, memory, trained)
            trained = optax.apply_updates(trained, changes)
        return (trained, gathered, memory, key), loss

    def answers(self, state, images):
        return self.network({**state[0], **state[1]}, turned(images))[0]

    def step(self, images, labels):
        if self.split is not self.whole:
            images, labels = self.spread(images), self.spread(labels)
        self.state, loss = self.run_step(self.state, images, labels)
        # All outputs of a step are ready when one of them is.
        return float(loss)

    def spread(self, share):
        """A batch over the devices; over hosts this process has its own share of it."""
        if self.job.hosts:
            return jax.make_array_from_process_local_data(self.split, share)
        return jax.device_put(share, self.split)

    def here(self):
        """The state as this process has it: the first one verifies and saves alone."""
        return jax.tree.map(lambda value: value.addressable_data(0), self.state) if self.job.hosts else self.state

    def logits(self, images):
        return np.asarray(self.run_logits(self.here(), images))

    def gradients(self, images, labels):
        trained, gathered, _, key = self.state

        def watched(trained):
            loss, (_, seen) = self.loss(trained, gathered, key, images, labels, [])
            return loss, seen

        (loss, seen), found = jax.jit(jax.value_and_grad(watched, has_aux=True))(trained)
        return (float(loss), {name: self.channels.outward(name, np.asarray(value)) for name, value in found.items()},
                [(node["name"], np.asarray(value, np.float32)) for node, value in zip(self.network.nodes[1:], seen)])

    def weights(self):
        trained, gathered, *_ = self.here()
        kept = {**trained, **gathered}
        return {name: self.channels.outward(name, np.asarray(kept[name])) for name in self.names}

    def save(self, stem):
        """The arrays in JAX's layout: channels last."""
        trained, gathered, *_ = self.here()
        np.savez(stem + ".npz", **trained, **gathered)

    def profile(self, steps):
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder, **without_python()):
                steps()
            yield from xplane.operators(folder)


def without_python():
    """Calls of Python functions are not needed and would make the profile large."""
    if not hasattr(jax.profiler, "ProfileOptions"):
        return {}
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    return {"profiler_options": options}


def turned(images):
    """Channels to the end."""
    return images.transpose(0, 2, 3, 1)


def shardings(job):
    """Of batches and of all else: one device, or the batch split over several."""
    if job.hosts:
        devices = jax.devices()
    else:
        devices = [device_of(job.devices[place % len(job.devices)], place) for place in range(job.workers)]
    if len(set(devices)) < job.workers:
        sys.exit(f"{job.workers} workers need as many devices, but `{job.device}` names {len(set(devices))}")
    if job.workers == 1:
        return devices[0], devices[0]
    mesh = Mesh(np.array(devices), ("batch",))
    return NamedSharding(mesh, PartitionSpec("batch")), NamedSharding(mesh, PartitionSpec())


def everywhere(state, whole):
    """Values that are equal in every process, on all devices: each process places its own copy, since it cannot
    write to others' devices."""

    def copied(value):
        if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(copied(jax.random.key_data(value)))
        return jax.make_array_from_process_local_data(whole, np.asarray(value), value.shape)

    return jax.tree.map(copied, state)


def join(job):
    """Joins the devices of all hosts into one list; call it before any device is used."""
    kind, _, number = job.my_device.partition(":")
    if kind == "cpu":
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        use_own_address()
    own = None if kind == "cpu" else [int(number or 0)]
    jax.distributed.initialize(os.environ["BANCADA_WORKERS"].split(",")[0], job.workers, job.rank, own)


def use_own_address():
    """JAX has no setting for the address of a process; it uses the machine's name."""
    from jax._src import xla_bridge

    library = getattr(xla_bridge, "_jax", None) or xla_bridge.xla_client._xla
    make = library.make_gloo_tcp_collectives
    library.make_gloo_tcp_collectives = lambda **asked: make(hostname=os.environ["BANCADA_ADDRESS"], **asked)


def device_of(name, place):
    kind, _, number = name.partition(":")
    if kind == "cpu":
        return jax.devices("cpu")[place]
    if kind != "cuda":
        sys.exit(f"JAX's adapter does not support the device `{name}`: cpu, cuda:0, …")
    try:
        gpus = jax.devices("cuda")
    except RuntimeError:
        gpus = []
    if int(number or 0) >= len(gpus):
        seen = f"{len(gpus)} of them" if gpus else "no GPU"
        sys.exit(f"{name} was requested, but JAX sees {seen}")
    return gpus[int(number or 0)]


def optimizer(rule):
    if rule["kind"] == "sgd":
        return optax.sgd(rule["learning_rate"], rule["momentum"] or None)
    return optax.adam(rule["learning_rate"], rule["beta1"], rule["beta2"], rule["epsilon"])


if __name__ == "__main__":
    protocol.main(Adapter)
