"""A serving stack against others: the same model, images, cores and load, in one run.

    target/release/bancada setup fastapi-tensorflow fastapi-onnxruntime
    python3 bench/serving/compare.py --bancada target/release/bancada \\
        --server 'target/small/bancada-serve serve {model} --port {port}' \\
        --server-prepare 'target/small/bancada-serve serve {model} --prepare'

Every round starts each stack afresh, in another order, and measures one after the other: the start,
the load by wrk with 1, 8 and 4 clients, the memory of its process tree, the load with large images,
the end. The table has the medians of the rounds and their range.
"""
import argparse
import json
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import quiet
from stack import Stack

HERE = Path(__file__).resolve().parent
# The Python of its environment also draws the images and checks the answers.
CHECKER = "fastapi-onnxruntime"
PEERS = ["fastapi-tensorflow", CHECKER]
SMALL, EXACT, LARGE = ("small.jpg", "image/jpeg"), ("small.png", "image/png"), ("large.jpg", "image/jpeg")
TOLERANCE = 1e-5
WARM_UP_SECONDS = 3
REQUESTS_BEFORE_MEMORY = 1000

STUDY = """
[study]
name = "model"
repetitions = 1

[factors]
framework = ["engine"]

[workload]
kind = "train"
network = "{network}"
dataset = "folder"
data_dir = "bodies/pictures"
image = 224
images = 1
held_out = 1
batch = 1
epochs = 1
"""

# What a round measures: title, unit, digits.
ROWS = {
    "first_answer": ("start to first correct answer", "s", 3),
    "one": ("requests/s, 1 client", "", 1),
    "eight": ("requests/s, 8 clients", "", 1),
    "p50": ("p50 at 4 clients", "ms", 1),
    "p99": ("p99 at 4 clients", "ms", 1),
    "memory": ("memory (PSS) after 1,000 requests", "MiB", 0),
    "large": ("requests/s, 8 clients, 1600 × 1200 images", "", 1),
    "end": ("SIGTERM to the last process gone", "s", 2),
    "disk": ("on disk, without model, Python and NGINX", "MB", 0),
    "others": ("cores that others used meanwhile", "", 2),
}


def main():
    asked = arguments()
    # So that a stack under way is ended too; SIGINT alone is ignored where a shell started this in the background.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked.cores])
    with tempfile.TemporaryDirectory(prefix="bancada-serving-") as place:
        bench = Bench(asked, asked.keep or Path(place))
        for number in range(asked.rounds):
            for stack in rotated(bench.stacks, number):
                bench.round(stack)
                print(f"round {number + 1}: {stack.name}: {told(bench.rounds[stack.name][-1])}", file=sys.stderr)
        print(table(bench))
        for name, apart in bench.apart.items():
            print(f"{name}: on the same pixels its probabilities are within {apart:.1e} of ONNX Runtime's, as a share "
                  f"of the largest; {TOLERANCE:.0e} is allowed")
        if asked.json:
            asked.json.write_text(json.dumps(bench.rounds, indent=1))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bancada", default=shutil.which("bancada") or "target/release/bancada")
    parser.add_argument("--stacks", nargs="*", default=PEERS, metavar="NAME",
                        help=f"as `bancada setup` has set them up; {CHECKER} must be there, as it also checks")
    parser.add_argument("--server", metavar="COMMAND", help="one more stack; {model} and {port} are filled in")
    parser.add_argument("--server-prepare", metavar="COMMAND", help="carried out once before; {model} is filled in")
    parser.add_argument("--server-name", default="bancada")
    parser.add_argument("--server-files", type=Path, nargs="*", default=[], help="what it needs beside its program")
    parser.add_argument("--network", default="mobilenet")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=8, help="of each load")
    parser.add_argument("--wait", type=int, default=300, help="seconds to wait before each start for others to rest")
    parser.add_argument("--tries", type=int, default=3, help="of a round that others disturb")
    parser.add_argument("--cores", type=int, default=2, help="for server and client together")
    parser.add_argument("--keep", type=Path, help="folder for model and images, used again if they are there")
    parser.add_argument("--json", type=Path, help="file for what every round measured")
    asked = parser.parse_args()
    for program in (asked.bancada, "wrk", "nginx"):
        if not shutil.which(program):
            parser.error(f"there is no program `{program}`")
    asked.bancada = os.path.abspath(shutil.which(asked.bancada))
    return asked


class Bench:
    def __init__(self, asked, place):
        self.asked, self.place = asked, place.resolve()
        self.bodies, self.model = self.place / "bodies", self.place / "out" / "runs" / "C1-r1"
        self.python = self.start_of(CHECKER, "rede1")["command"][0]
        self.prepare()
        self.stacks = self.installed()
        self.exact = (self.bodies / EXACT[0]).read_bytes()
        self.right = json.loads(run([self.python, HERE / "reference.py", self.model, self.bodies / EXACT[0]]))
        self.rounds = {stack.name: [] for stack in self.stacks}
        self.apart = {stack.name: 0.0 for stack in self.stacks}

    def start_of(self, name, model):
        """Command and variables, the model prepared for it: what `bancada serve --stack` itself becomes."""
        return json.loads(run([self.asked.bancada, "serve", model, "--stack", name, "--start-json"]))

    def installed(self):
        found = []
        for name in self.asked.stacks:
            start = self.start_of(name, self.model)
            environment = Path(start["command"][0]).parent.parent
            # As installers leave it, whatever installed it here.
            run([start["command"][0], "-m", "compileall", "-q", environment / "lib"], check=False)
            found.append(Stack(name, start["command"], [environment / "lib"], dict(start["env"])))
        if self.asked.server:
            command = shlex.split(self.asked.server)
            found.append(Stack(self.asked.server_name, command, [Path(shutil.which(command[0]) or command[0]),
                                                                 *self.asked.server_files]))
        return found

    def prepare(self):
        """The files of a run of one step: the same weights for ONNX Runtime and for Keras."""
        asked = self.asked
        if not self.bodies.exists():
            run([self.python, HERE / "draw.py", self.bodies, "--classes", str(asked.classes)])
        if not (self.model / "model.json").exists():
            self.place.joinpath("study.toml").write_text(STUDY.format(network=asked.network))
            run([asked.bancada, "run", "study.toml", "--no-pilot", "--out", "out"], cwd=self.place)
            (self.model / "model.json").write_text(json.dumps(description(asked)))
        if asked.server_prepare:
            run([part.format(model=self.model) for part in shlex.split(asked.server_prepare)])

    def round(self, stack):
        """Again while others disturb it, and the quietest is kept."""
        tried = []
        while not tried or (tried[-1]["others"] > quiet.QUIET_CORES and len(tried) < self.asked.tries):
            tried.append(self.once(stack))
        self.rounds[stack.name].append(min(tried, key=lambda measured: measured["others"]))

    def once(self, stack):
        seconds, measured = self.asked.seconds, {}
        quiet.wait(self.asked.wait)
        others = quiet.Others()
        try:
            measured["healthy"], measured["first_answer"] = stack.start(
                self.model, self.exact, EXACT[1], lambda found: self.is_right(stack, found))
            # All workers: the first answer is one's.
            requests = self.load(stack, SMALL, 8, WARM_UP_SECONDS)["requests"]
            one, eight, four = (self.load(stack, SMALL, clients, seconds) for clients in (1, 8, 4))
            requests += one["requests"] + eight["requests"] + four["requests"]
            while requests < REQUESTS_BEFORE_MEMORY:
                requests += self.load(stack, SMALL, 4, 2)["requests"]
            measured["memory"] = stack.pss_bytes() / (1 << 20)
            large = self.load(stack, LARGE, 8, seconds)
        finally:
            measured["end"] = stack.end()
        measured.update(one=rate(one), eight=rate(eight), p50=four["p50_ms"], p99=four["p99_ms"], large=rate(large),
                        disk=stack.disk_bytes() / 1e6, others=others.cores())
        return measured

    def is_right(self, stack, found):
        """On the same pixels, so that neither decoders nor resizing differ. A model that is hardly trained has small
        probabilities only, so it is their share of the largest that counts."""
        if len(found) != len(self.right):
            return False
        apart = max(abs(one - other) for one, other in zip(found, self.right)) / max(self.right)
        self.apart[stack.name] = max(self.apart[stack.name], apart)
        return apart <= TOLERANCE

    def load(self, stack, body, clients, seconds):
        told = run(["wrk", "--threads", "1", "--connections", str(clients), "--duration", f"{seconds}s", "--timeout",
                    "60s", "--script", HERE / "post.lua", f"http://127.0.0.1:{stack.port}/invocations"],
                   env={**os.environ, "BODY": str(self.bodies / body[0]), "BODY_TYPE": body[1]})
        measured = json.loads(told.splitlines()[-1])
        if measured["errors"]:
            sys.exit(f"{stack.name}: {measured['errors']} of {measured['requests']} requests failed with {clients} "
                     "clients")
        return measured


def rate(load):
    return load["requests"] / load["seconds"]


def description(asked):
    """What `bancada` trains on: pixels divided by 127.5, less 1."""
    return {"name": asked.network, "input": {"channels": 3, "height": 224, "width": 224, "layout": "nchw"},
            "resize": "stretch", "mean": [127.5] * 3, "std": [127.5] * 3,
            "classes": [f"{number:04}" for number in range(asked.classes)], "output": "probabilities"}


def run(command, check=True, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if check and done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def rotated(stacks, number):
    return [stacks[(place + number) % len(stacks)] for place in range(len(stacks))]


def told(measured):
    return ", ".join(f"{name} {measured[name]:.3g}" for name in ROWS)


def table(bench):
    names = [stack.name for stack in bench.stacks]
    lines = [["", *names], ["---"] * (len(names) + 1)]
    for row, (title, unit, digits) in ROWS.items():
        cells = [cell([measured[row] for measured in bench.rounds[name]], unit, digits) for name in names]
        lines.append([title, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(values, unit, digits):
    low, middle, high = (f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} {unit}".strip() + (f" ({low}–{high})" if low != high else "")


if __name__ == "__main__":
    main()
