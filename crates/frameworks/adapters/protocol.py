"""What all adapters share: the job, the images, the events, the order of a training.

An adapter is one file with one class, and ends with `protocol.main(Adapter)`:

    class Adapter:
        name, version                       # of the framework, as text
        def __init__(self, job, graph, weights)
                                            # build the network; weights: {name: float32 array}
        def step(self, images, labels)      # one optimiser step; the batch's mean loss before it
        def logits(self, images)            # logits as a float32 array, without dropout
        def weights(self)                   # {name: float32 array}, as they were given
        def gradients(self, images, labels) # (loss, {name: array}, [(layer, array)]): training
                                            # mode, nothing is changed; layers may be []
        def save(self, stem)                # the framework's own format and ONNX, next to `stem`

    and, if supported:
        def own_batches(self, raw, labels, epoch)   # its own loader: yields (images, labels)
        def profile(self, steps)            # calls steps(), yields (operator, calls, seconds)
        def synchronise(self)               # waits for the device; called at the end of an epoch
        def share(self, value)              # mean of a number over the workers
        out_of_memory = (SomeError,)        # exceptions that mean out of memory
        notes = ["…"]                       # sentences to keep with the run
        aligned_batches = True              # its kernels are faster with arrays aligned to 64 bytes
        shards_itself = True                # one process serves all workers of one machine: gets whole batches

Before importing its framework, an adapter calls `protocol.lead_workers()` if the framework has no launcher;
otherwise, or if one process serves all workers, `protocol.lead_hosts()`, which acts only with several hosts.

`images` are float32 [batch, channels, height, width], `labels` int32 [batch]. Everything that can
be measured from outside is measured there: adapters report only phases, steps, epochs and accuracy.
"""
import json
import os
import signal
import sys
import time
import traceback

import numpy as np

import workers

PROTOCOL = 2
PROFILED_STEPS = 10


class Job:
    """The job file: fields by name; objects in it too."""

    one_process = False
    hosts = None
    accuracy_each_epoch = False
    preview = None

    def __init__(self, fields):
        for name, value in fields.items():
            plain = name in ("network", "optimizer")
            setattr(self, name, Job(value) if isinstance(value, dict) and not plain else value)

    @staticmethod
    def read():
        path = os.environ.get("BANCADA_JOB")
        if not path:
            sys.exit("BANCADA_JOB is not set: adapters are started by `bancada run`")
        with open(path) as file:
            fields = json.load(file)
        if fields["protocol"] != PROTOCOL:
            sys.exit(f"this adapter uses protocol {PROTOCOL}, but the job uses {fields['protocol']}")
        return Job(fields)

    @property
    def rank(self):
        """Rank of this worker. A single worker has rank 0, whatever number the launcher of a cluster
        gave to the shell that started it."""
        return int(os.environ.get("RANK", "0")) if self.processes > 1 else 0

    @property
    def processes(self):
        """Number of processes that share a batch."""
        return 1 if self.one_process else self.workers

    @property
    def shares(self):
        """Number of workers that this process represents."""
        return self.workers // self.processes

    @property
    def devices(self):
        return [device.strip() for device in self.device.split(",")]

    @property
    def my_device(self):
        """This worker's device: `cpu`, `cuda:1`."""
        on_host = self.hosts.places[self.rank]["local_rank"] if self.hosts else self.rank
        return self.devices[on_host % len(self.devices)]


class Events:
    """Appends JSON lines to the file named by BANCADA_EVENTS; only the first worker emits events."""

    def __init__(self, rank):
        path = os.environ.get("BANCADA_EVENTS", os.devnull) if rank == 0 else os.devnull
        # Unbuffered and appended: emitted events survive a crash.
        self.file = open(path, "ab", buffering=0)

    def tell(self, event, **fields):
        line = {"event": event, "at": time.time()}
        line.update((name, value) for name, value in fields.items() if value is not None)
        self.file.write((json.dumps(line) + "\n").encode())

    def step(self, step, epoch, loss, seconds, images):
        # Written out: json.dumps of a dictionary takes several times as long.
        loss = "%.9g" % loss if loss - loss == 0 else "null"
        self.file.write(
            b'{"event":"step","at":%.6f,"step":%d,"epoch":%d,"loss":%s,"seconds":%.9f,"images":%d}\n'
            % (time.time(), step, epoch, loss.encode(), seconds, images)
        )

    def phase(self, name):
        self.tell("phase", phase=name)


class Images:
    """One part of the cache, mapped: float32 images and int32 labels."""

    # Pages are released after this many bytes; they stay in the system's cache, but are not
    # counted as memory of this process, which would otherwise seem to need the whole dataset.
    KEPT_BYTES = 64 << 20

    def __init__(self, folder, part, aligned=False):
        self.aligned = aligned
        self.mapped = np.load(os.path.join(folder, part + "-images.npy"), mmap_mode="r")
        # A plain array: indexing a memmap takes 1.5 times as long.
        self.images = np.asarray(self.mapped)
        self.labels = np.load(os.path.join(folder, part + "-labels.npy"))
        self.seen_bytes = 0

    def __len__(self):
        return len(self.labels)

    def take(self, rows):
        """The images of these rows, in this order, copied into one array."""
        if self.aligned:
            batch = aligned((len(rows), *self.images.shape[1:]))
            # Clipped, for rows are of these images: to raise instead, NumPy would write somewhere else first.
            self.images.take(rows, 0, out=batch, mode="clip")
        else:
            batch = self.images.take(rows, 0)
        self.seen_bytes += batch.nbytes
        if self.seen_bytes > self.KEPT_BYTES:
            self.seen_bytes = 0
            advise = getattr(self.mapped._mmap, "madvise", None)
            if advise is not None:
                import mmap

                advise(mmap.MADV_DONTNEED)
        return batch, self.labels[rows]


def aligned(shape):
    """An empty float32 array, aligned like frameworks' own arrays: their kernels read others more slowly."""
    count = int(np.prod(shape))
    room = np.empty(4 * count + 64, np.uint8)
    begin = -room.ctypes.data % 64
    return room[begin : begin + 4 * count].view(np.float32).reshape(shape)


def order(seed, epoch, count):
    """The order of the images in an epoch: rows sorted by the numbers that SplitMix64 draws at
    (seed, "order", epoch). The embedded engine does the same."""
    mask = (1 << 64) - 1
    golden = 0x9E3779B97F4A7C15

    def mixed(word):
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & mask
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
        return word ^ (word >> 31)

    state = 0
    for part in (seed, 0x6F72646572, epoch):
        state = mixed((state + golden) & mask) ^ part
    state = mixed((state + golden) & mask)
    with np.errstate(over="ignore"):
        word = np.uint64(state) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(golden)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word = word ^ (word >> np.uint64(31))
    return np.argsort(word, kind="stable")


def batches(job, rows):
    """Rows of each batch; with several workers, this worker's share of each."""
    for begin in range(0, len(rows), job.batch):
        batch = rows[begin : begin + job.batch]
        # Shares must be equal, or the mean of the workers' gradients is not the batch's gradient.
        batch = batch[: len(batch) - len(batch) % job.workers]
        if len(batch):
            yield batch[job.rank :: job.processes]


def read_weights(path):
    """A safetensors file of 32-bit floats: length of the header, header, numbers."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(data, "<f4", (entry["data_offsets"][1] - entry["data_offsets"][0]) // 4,
                            entry["data_offsets"][0]).reshape(entry["shape"])
        for name, entry in header.items()
    }


def write_weights(path, weights):
    header, offset = {}, 0
    arrays = {name: np.ascontiguousarray(array, "<f4") for name, array in weights.items()}
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    unfinished = path + ".part"
    with open(unfinished, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(array.tobytes())
    os.replace(unfinished, path)


def sides(op):
    """(top, bottom, left, right) of a layer's padding."""
    padding = op["padding"]
    return padding["top"], padding["bottom"], padding["left"], padding["right"]


def is_even(padding):
    top, bottom, left, right = padding
    return top == bottom and left == right


def real_pixels(node, shape):
    """Number of pixels in each pooling window that are not padding: [rows, columns]. `shape` is the input's."""
    op = node["op"]
    top, _, left, _ = sides(op)

    def along(side, before, kernel, stride):
        begins = np.arange(node["shape"][side]) * stride - before
        return np.minimum(begins + kernel, shape[side]) - np.maximum(begins, 0)

    rows, columns = map(along, ("height", "width"), (top, left), op["kernel"], op["stride"])
    return np.outer(rows, columns).astype(np.float32)


def spare_amx(trial):
    """Tries 16-bit products in a child process: some virtual machines report AMX but do not support its tiles, and
    oneDNN's kernels then crash. Call this before oneDNN is used; returns notes for the run."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            trial()
        finally:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGILL:
        return []
    os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_BF16"
    return ["mixed precision without AMX: the processor reports AMX, but oneDNN's AMX kernels fail here"]


KINDS = (
    # First, because their names contain words of other kinds.
    ("copy", ("convert", "local_scalar", "eagerconst")),
    ("optimiser", ("optimizer", "adam", "sgd", "applygradient", "resourceapply", "_foreach", "update")),
    ("pooling", ("pool", "reduce_window", "reduce-window", "select_and_scatter")),
    ("convolution", ("conv", "corrmm", "winograd", "depthwise")),
    ("matrix-product", ("matmul", "gemm", "addmm", "::mm", "linear", "dense", "dot", "fullyconnected",
                        "innerproduct", "einsum")),
    ("normalisation", ("norm", "lrn")),
    ("activation", ("activation", "relu", "clamp_min", "threshold", "softmax", "dropout", "crossentropy", "nll_loss")),
    ("copy", ("copy", "memcpy", "transpose", "reshape", "reorder", "_to", "concat", "cat", "pad", "fill",
              "zero", "slice", "cast", "identity", "broadcast", "clone", "permute")),
)


def kind(operator):
    """Kind of an operator, from its name in any framework."""
    name = operator.lower()
    for word, parts in KINDS:
        if any(part in name for part in parts):
            return word
    return "other"


class Training:
    """Runs a job with an adapter."""

    def __init__(self, job, events, adapter_class):
        self.job, self.events = job, events
        self.adapter_class = adapter_class
        self.adapter = None
        self.train = self.held_out = None
        self.steps = 0
        self.lost = False
        # A preview ends the training early.
        self.is_over = False

    def run(self):
        job, events = self.job, self.events
        events.phase("load-data")
        aligned = getattr(self.adapter_class, "aligned_batches", False)
        self.train = Images(job.data.cache, "train", aligned)
        self.held_out = Images(job.data.cache, "held-out", aligned)
        events.phase("start")
        self.adapter = self.adapter_class(job, job.network, read_weights(job.weights))
        events.tell("framework", name=job.framework, version=self.adapter.version)
        for text in getattr(self.adapter, "notes", ()):
            events.tell("note", text=text)
        if getattr(job, "verify", None):
            self.verify()
            return
        events.phase("train")
        for epoch in range(1, job.epochs + 1):
            passed = self.epoch(epoch)
            is_last = epoch == job.epochs or self.is_over
            accuracy = None
            if (is_last or job.accuracy_each_epoch) and len(self.held_out) and job.rank == 0:
                events.phase("verify")
                accuracy = self.accuracy()
            events.tell("epoch", epoch=epoch, accuracy=accuracy, **passed)
            if accuracy is None:
                if self.is_over:
                    break
                continue
            if is_last:
                events.tell("accuracy", value=accuracy)
            else:
                events.phase("train")
            if self.is_over:
                break
        if job.checkpoint and job.rank == 0:
            events.phase("save")
            write_weights(job.checkpoint, self.adapter.weights())
            self.adapter.save(os.path.splitext(job.checkpoint)[0])
        # Last, because its steps train as well: accuracy and weights are those of the job's epochs.
        if job.profile:
            self.profile()
        events.phase("shutdown")

    def of_epoch(self, epoch):
        """Batches of an epoch, from the cache or from the framework's own loader."""
        job = self.job
        if job.data.pipeline == "own":
            if not hasattr(self.adapter, "own_batches"):
                sys.exit(f"{job.framework} has no loader of its own: use pipeline = \"cache\"")
            raw = np.load(os.path.join(job.data.cache, "train-raw.npy"), mmap_mode="r")
            yield from self.adapter.own_batches(raw, self.train.labels, epoch)
            return
        for rows in batches(job, order(job.seed, epoch, len(self.train))):
            yield self.train.take(rows)

    def epoch(self, epoch):
        clock, adapter, events, processes = time.perf_counter, self.adapter, self.events, self.job.processes
        share = getattr(adapter, "share", None) if processes > 1 else None
        synchronise = getattr(adapter, "synchronise", None)
        began = step_began = clock()
        loss_sum = count = 0
        for images, labels in self.of_epoch(epoch):
            loss = float(adapter.step(images, labels))
            if share is not None:
                loss = share(loss)
            self.steps += 1
            size = len(labels) * processes
            loss_sum += loss * size
            count += size
            now = clock()
            events.step(self.steps, epoch, loss, now - step_began, size)
            step_began = now
            self.is_over = self.job.preview is not None and self.is_enough()
            if loss - loss != 0 and not self.lost:
                self.lost = True
                events.tell("note", text=f"the loss became NaN at step {self.steps}: lower the learning rate")
            if self.is_over:
                break
        # Not after every step: the next batch is read while the device is still at work, as in any training.
        if synchronise is not None:
            synchronise()
        mean = loss_sum / count if count else 0.0
        return {"loss": mean if mean - mean == 0 else None, "seconds": clock() - began}

    def is_enough(self):
        preview = self.job.preview
        # Workers that look at a file one after the other might not end at the same step.
        enough = getattr(preview, "enough", None) if self.job.processes == 1 else None
        return self.steps >= preview.steps or (enough is not None and os.path.exists(enough))

    def accuracy(self):
        right = 0
        for number, begin in enumerate(range(0, len(self.held_out), self.job.batch)):
            if self.is_over and number == self.job.preview.held_out_batches:
                break
            if self.is_over and number == 1:
                self.events.phase("verify")
            rows = np.arange(begin, min(begin + self.job.batch, len(self.held_out)))
            images, labels = self.held_out.take(rows)
            right += int((np.argmax(self.adapter.logits(images), axis=1) == labels).sum())
        return right / len(self.held_out)

    def profile(self):
        """A few more steps under the framework's profiler, after those that are measured."""
        profiler = getattr(self.adapter, "profile", None)
        if profiler is None:
            self.events.tell("note", text=f"{self.job.framework} has no profiler")
            return
        self.events.phase("profile")
        some = []
        for rows in batches(self.job, order(self.job.seed, 1, len(self.train))):
            some.append(self.train.take(rows))
            if len(some) == PROFILED_STEPS:
                break

        def steps():
            for images, labels in some:
                float(self.adapter.step(images, labels))

        if self.job.rank > 0:
            # The first worker's steps wait for those of the others.
            steps()
            return
        found = {}
        for operator, calls, seconds in profiler(steps):
            before = found.get(operator, (0, 0.0))
            found[operator] = (before[0] + calls, before[1] + seconds)
        largest = sorted(found.items(), key=lambda item: -item[1][1])
        for operator, (calls, seconds) in largest[:200]:
            if seconds > 0:
                self.events.tell("operator", name=operator, kind=kind(operator), calls=calls, seconds=seconds)

    def verify(self):
        job, adapter = self.job, self.adapter
        some = [self.train.take(rows) for rows in batches(job, order(job.seed, 1, len(self.train)))]
        trained = {parameter["name"] for node in job.network["nodes"] for parameter in node["parameters"]
                   if parameter["trained"]}
        parameters = sum(array.size for name, array in adapter.weights().items() if name in trained)
        first, gradients, layers = adapter.gradients(*some[0])
        losses = [float(adapter.step(*some[step % len(some)])) for step in range(job.verify.steps)]
        last, _, _ = adapter.gradients(*some[0])

        def number(value):
            # JSON has no NaN or infinity, and other parsers reject Python's `NaN`.
            value = float(value)
            return value if value - value == 0 else None

        def norm(array):
            return number(np.linalg.norm(np.asarray(array, np.float64).ravel()))

        report = {
            "framework": job.framework,
            "version": adapter.version,
            "parameters": parameters,
            "losses": [number(loss) for loss in losses] or [number(first)],
            "last_loss": number(last),
            "norms": {
                "gradients": {name: norm(array) for name, array in gradients.items()},
                "layers": [{"layer": name, "value": norm(array)} for name, array in layers],
            },
        }
        with open(job.verify.report, "w") as file:
            json.dump(report, file, allow_nan=False)


class Probe:
    """Measures steps of several small networks by turns, instead of training."""

    WARM_UP_STEPS = 3

    def __init__(self, job, adapter_class):
        self.job, self.adapter_class = job, adapter_class
        self.random = np.random.default_rng(job.seed)

    def run(self):
        asked = self.job.probe
        subjects = [self.subject(network) for network in asked.networks]
        for adapter, images, labels in subjects:
            for _ in range(self.WARM_UP_STEPS):
                float(adapter.step(images, labels))
        measured = [[] for _ in subjects]
        for _ in range(asked.rounds):
            for subject, rounds in zip(subjects, measured):
                rounds.append(self.turn(*subject, asked.turn_seconds))
        with open(asked.report, "w") as file:
            json.dump({"version": self.adapter_class.version, "rounds": measured}, file)

    def subject(self, network):
        graph, batch = network["network"], network["batch"]
        shape = graph["nodes"][0]["shape"]
        shape = (batch, shape["channels"], shape["height"], shape["width"])
        images = aligned(shape)
        images[:] = self.random.uniform(-1, 1, shape)
        labels = np.arange(batch, dtype=np.int32) % graph["classes"]
        weights = {parameter["name"]: self.initial(parameter)
                   for node in graph["nodes"] for parameter in node["parameters"]}
        return self.adapter_class(self.job, graph, weights), images, labels

    def initial(self, parameter):
        name, shape = parameter["name"], parameter["shape"]
        if len(shape) > 1:
            inputs = np.prod(shape[1:])
            return self.random.normal(0, np.sqrt(2 / inputs), shape).astype(np.float32)
        return np.full(shape, float(name.endswith((".gamma", ".variance"))), np.float32)

    def turn(self, adapter, images, labels, turn_seconds):
        """As many steps as fit, at least one: their mean."""
        clock, began, cpu_began, steps = time.perf_counter, time.perf_counter(), time.process_time(), 0
        while True:
            float(adapter.step(images, labels))
            steps += 1
            passed = clock() - began
            if passed >= turn_seconds:
                return {"seconds": passed / steps, "cpu_seconds": (time.process_time() - cpu_began) / steps}


def lead_workers():
    """Starts the other workers if the framework has no launcher of its own; call it before the
    framework is imported, so that all import it at once. Their addresses are in BANCADA_WORKERS."""
    job = Job.read()
    workers.lead(job.workers, job.hosts)


def lead_hosts():
    """The same, only for workers on several hosts."""
    job = Job.read()
    if job.hosts:
        workers.lead(job.workers, job.hosts)


def tell_tensorflow(job):
    """Sets the variable from which TensorFlow reads the addresses of its workers."""
    os.environ["TF_CONFIG"] = json.dumps({
        "cluster": {"worker": os.environ["BANCADA_WORKERS"].split(",")},
        "task": {"type": "worker", "index": job.rank},
    })


def says_out_of_memory(error):
    """Most frameworks report it only in the text of an exception."""
    text = f"{type(error).__name__}: {error}".lower()
    words = ("out of memory", "outofmemory", "can't allocate memory", "cannot allocate memory",
             "resource_exhausted", "resource exhausted", "resourceexhausted", "bad_alloc",
             "not enough memory", "failed to allocate", "unable to allocate")
    return isinstance(error, MemoryError) or any(word in text for word in words)


def main(adapter_class):
    job = Job.read()
    job.one_process = getattr(adapter_class, "shards_itself", False) and not job.hosts
    events = Events(job.rank)
    try:
        if getattr(job, "probe", None):
            Probe(job, adapter_class).run()
        else:
            Training(job, events, adapter_class).run()
        workers.end()
        if job.hosts or job.processes > 1:
            # Exit immediately: at exit a framework would wait for workers that are gone, or crash while threads
            # that communicated with them still run.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    except SystemExit as end:
        if isinstance(end.code, str):
            Events(0).tell("error", text=end.code)
        raise
    except Exception as error:
        said = (str(error).strip().splitlines() or [""])[0][:500]
        Events(0).tell("error", text=f"{type(error).__name__}: {said}")
        if isinstance(error, getattr(adapter_class, "out_of_memory", ())) or says_out_of_memory(error):
            # From any worker: the launcher may end the first worker before it runs out of memory itself.
            Events(0).tell("out-of-memory", detail=said or "out of memory")
        if job.rank > 0:
            traceback.print_exc()
            # Exit immediately: at exit a framework would wait for workers that wait for this one.
            os._exit(1)
        raise
