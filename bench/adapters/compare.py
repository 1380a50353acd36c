"""What an adapter adds to a training step, against a bare script of the same network.

    python3 bench/adapters/compare.py --bancada target/release/bancada --framework pytorch,mxnet

`bancada` prepares a job for each framework and network and trains it once. Then adapter and bare
script train by turns of a few steps in one process (together.py), so that both meet the same noise
of the machine within a fraction of a second. A turn's time is everything from the end of one step
to the end of another: reading batches and telling events are in it.

A round's ratio is the median over neighbouring turns; that of the CPU time is of the whole round.
Where the memory of a process happens to lie makes some percent, for better or worse: every round has
a fresh process, and the interval is Student's over the rounds.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FRAMEWORKS = [path.stem[len("bare_"):].replace("_", "-") for path in sorted(HERE.glob("bare_*.py"))]
WARM_UP_STEPS = 20

# Short steps and long ones; an epoch is whole batches.
NETWORKS = {
    "rede1": {"dataset": "digits", "image": 32, "images": 16384, "held_out": 128, "batch": 128},
    "keras-cifar": {"dataset": "digits-colour", "image": 32, "images": 2048, "held_out": 128, "batch": 128},
}

# What frameworks and their libraries take the number of threads from; NPROC is XLA's.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NPROC")

# glibc gives back what a step frees and asks for it in the next, or not: a matter of luck that makes up to a third of
# a step. Both sides keep their memory, in one arena, as in a process of one thread.
KEPT_MEMORY = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 33),
               "MALLOC_TOP_PAD_": str(1 << 26)}

# Student's t, 97.5 %, by degrees of freedom.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
           2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045)


def main():
    asked = arguments()
    with tempfile.TemporaryDirectory(prefix="bancada-adapters-") as folder:
        jobs = {network: prepare(asked, network, Path(folder) / network) for network in asked.network}
        print(f"{'framework':<18} {'network':<12} {'batch':>5} {'bare ms':>8} {'adapter ms':>10}  {'ratio':<24} "
              f"{'of CPU time':<24} {'steps':>6}", flush=True)
        for network in asked.network:
            for framework in asked.framework:
                job = jobs[network][framework]
                rounds = [compare(job, asked, number, Path(folder)) for number in range(asked.rounds)]
                print(row(job, rounds), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bancada", default=shutil.which("bancada") or "target/release/bancada")
    parser.add_argument("--framework", type=names_of(FRAMEWORKS), default=["pytorch", "tensorflow", "mxnet", "jax"],
                        help="of " + ", ".join(FRAMEWORKS))
    parser.add_argument("--network", type=names_of(NETWORKS), default=list(NETWORKS), help="of " + ", ".join(NETWORKS))
    parser.add_argument("--batch", type=int, help="another than the network's own")
    parser.add_argument("--rounds", type=int, choices=range(2, len(STUDENT) + 2), default=10, metavar="N")
    parser.add_argument("--seconds", type=float, default=10.0, help="of training on each side in a round, about")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    if not shutil.which(asked.bancada):
        parser.error(f"there is no program `{asked.bancada}`: build it, or name it by --bancada")
    return asked


def names_of(known):
    def names(text):
        unknown = [name for name in text.split(",") if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"there is no `{unknown[0]}` here, but {', '.join(known)}")
        return text.split(",")

    return names


class Prepared:
    """A run that `bancada` made: how it started the adapter, and the job it gave it."""

    def __init__(self, network, bundle):
        record = json.loads((bundle / "run.json").read_text())
        self.job = json.loads((bundle / "job.json").read_text())
        self.network, self.framework = network, self.job["framework"]
        if record["outcome"]["status"] != "ok":
            sys.exit(f"{self.framework} did not train {network}; its log:\n{(bundle / 'log.txt').read_text()[-2000:]}")
        self.python, self.adapter = record["command"]
        self.step_seconds = record["metrics"]["step_seconds"]["value"]
        # The initial weights are gone by now; the trained ones have the same names and shapes. What ends
        # the job is the last turn.
        self.job.update(weights=str(bundle / "model.safetensors"), checkpoint=None, epochs=1000000)


def prepare(asked, network, folder):
    """Jobs by framework."""
    folder.mkdir(parents=True)
    study = folder / "study.toml"
    workload = {"kind": "train", "network": network, "threads": asked.threads, **NETWORKS[network]}
    if asked.batch:
        workload["batch"] = asked.batch
    study.write_text("\n".join([
        '[study]\nname = "adapters"\nrepetitions = 1\n',
        f"[factors]\nframework = {json.dumps(asked.framework)}\n",
        "[workload]", *(f"{key} = {json.dumps(value)}" for key, value in workload.items()),
    ]))
    done = subprocess.run([asked.bancada, "run", study, "--no-pilot", "--out", folder / "out"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    bundles = sorted(folder.glob("out/runs/C*-r1"))
    if len(bundles) < len(asked.framework):
        sys.exit(f"bancada could not prepare {network}:\n{done.stdout}")
    return {prepared.framework: prepared for prepared in (Prepared(network, bundle) for bundle in bundles)}


class Round:
    """Neighbouring turns of both sides, compared."""

    def __init__(self, told, steps):
        warm = math.ceil(WARM_UP_STEPS / steps)
        bare, adapter = told["bare"][warm:], told["adapter"][warm:]
        pairs = list(zip(bare, adapter))
        self.bare = statistics.median(wall for wall, _ in bare) / steps
        self.adapter = statistics.median(wall for wall, _ in adapter) / steps
        self.ratio = statistics.median(b[0] / a[0] for a, b in pairs)
        self.cpu_ratio = sum(b[1] for _, b in pairs) / sum(a[1] for a, _ in pairs)
        self.steps = len(pairs) * steps


def compare(prepared, asked, number, folder):
    """One round in a fresh process; who begins changes from round to round."""
    # Not one by one: an adapter must not be spared the steps that follow each other.
    steps = min(max(round(0.1 / prepared.step_seconds), 4), 20)
    turns = 2 * (math.ceil(asked.seconds / prepared.step_seconds / steps) + math.ceil(WARM_UP_STEPS / steps))
    job, events = folder / "job.json", folder / "events.jsonl"
    job.write_text(json.dumps(prepared.job))
    events.unlink(missing_ok=True)
    own = {"BANCADA_JOB": str(job), "BANCADA_EVENTS": str(events)}
    bare = HERE / f"bare_{prepared.framework.replace('-', '_')}.py"
    command = [prepared.python, HERE / "together.py", "--steps", str(steps), "--turns", str(turns),
               *(["--adapter-first"] if number % 2 else []), prepared.adapter, bare,
               prepared.network, "--cache", prepared.job["data"]["cache"], "--weights", prepared.job["weights"],
               "--batch", str(prepared.job["batch"]), "--threads", str(asked.threads)]
    done = subprocess.run(command, env={**variables(prepared, asked), **own}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{prepared.framework} did not get through {prepared.network}:\n{done.stderr[-2000:]}")
    return Round(json.loads(done.stdout.splitlines()[-1]), steps)


def variables(prepared, asked):
    """Those that `bancada` sets, and malloc's."""
    threads = {name: str(asked.threads) for name in THREAD_VARIABLES}
    framework, _, backend = prepared.framework.partition("-")
    keras = {"KERAS_BACKEND": backend} if framework == "keras" else {}
    return {**os.environ, **KEPT_MEMORY, **threads, **keras, "TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1"}


def row(prepared, rounds):
    def milliseconds(side):
        return statistics.median(getattr(one, side) for one in rounds) * 1e3

    ratio, cpu = (interval([getattr(one, name) for one in rounds]) for name in ("ratio", "cpu_ratio"))
    return (f"{prepared.framework:<18} {prepared.network:<12} {prepared.job['batch']:>5} {milliseconds('bare'):>8.2f} "
            f"{milliseconds('adapter'):>10.2f}  {ratio:<24} {cpu:<24} {sum(one.steps for one in rounds):>6}")


def interval(ratios):
    """Mean of the logarithms and its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    half = STUDENT[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean):.4f} [{math.exp(mean - half):.4f}, {math.exp(mean + half):.4f}]"


if __name__ == "__main__":
    main()
