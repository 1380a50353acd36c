"""One physical machine made into several; each is probed and trains the same networks.

    python3 bench/transfer/measure.py --bancada target/release/bancada --to profiles
    cargo run --release -p predict --example transfer -- profiles

Every machine is a set of cores, a processor quota (a control group, by `bancada probe --cores`), instruction sets that
the frameworks are told not to use, or a neighbour that copies memory on the other core. Needs root for quotas.
Machines are visited by turns, framework by framework, so that a busy hour is busy for all of them.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

CAPS = {
    "avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
             "OPENBLAS_CORETYPE": "Haswell", "XLA_FLAGS": "--xla_cpu_max_isa=AVX2"},
    "sse": {"ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
            "OPENBLAS_CORETYPE": "Nehalem", "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2"},
}
# Name: cores, cap, neighbour.
MACHINES = {
    "2 cores": (2, None, False),
    "1 core": (1, None, False),
    "75 % of 2 cores": (1.5, None, False),
    "75 % of 1 core": (0.75, None, False),
    "50 % of 1 core": (0.5, None, False),
    "1 core, AVX2": (1, "avx2", False),
    "1 core, SSE": (1, "sse", False),
    "1 core, neighbour": (1, None, True),
}
NETWORKS = "lenet5,keras-cifar,resnet18,mobilenet,rede1"
NEIGHBOUR = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
a, b = bytearray(1 << 28), bytearray(1 << 28)
parent = os.getppid()
while os.getppid() == parent:
    b[:] = a
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bancada", default="target/release/bancada")
    parser.add_argument("--framework", default="pytorch,tensorflow,jax,engine")
    parser.add_argument("--network", default=NETWORKS)
    parser.add_argument("--machine", default=",".join(MACHINES), help="some of the machines")
    parser.add_argument("--image", default="32")
    parser.add_argument("--batch", default="8")
    parser.add_argument("--to", default="profiles")
    args = parser.parse_args()
    os.makedirs(args.to, exist_ok=True)
    wanted = [word.strip() for word in args.machine.replace(", ", "; ").split(",")]
    wanted = [word.replace("; ", ", ") for word in wanted]
    # A cache of its own, so that these machines do not get into the user's catalog; frameworks are those of the user.
    real = os.environ.get("BANCADA_CACHE") or os.path.expanduser("~/.cache/bancada")
    with tempfile.TemporaryDirectory() as args.cache:
        os.symlink(os.path.join(real, "frameworks"), os.path.join(args.cache, "frameworks"))
        for framework in args.framework.split(","):
            for name in wanted:
                measure(args, framework, name)


def measure(args, framework, name):
    cores, cap, has_neighbour = MACHINES[name]
    if framework == "engine" and cap:
        # Its kernels choose their instructions by the processor alone: to it this is no other machine.
        return
    path = file_of(args, framework, name)
    if os.path.exists(path):
        return
    command = [args.bancada, "probe", "--json", "--name", name, *(["--cores", str(cores)] if cores < 2 else []), "--network", args.network,
               "--image", args.image, "--channels", "3", "--classes", "10", "--batch", args.batch]
    if framework != "engine":
        command += ["--framework", framework]
    env = dict(os.environ, **CAPS.get(cap, {}), BANCADA_CACHE=args.cache)
    neighbour = subprocess.Popen([sys.executable, "-c", NEIGHBOUR]) if has_neighbour else None
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=1200)
    finally:
        if neighbour:
            neighbour.kill()
            neighbour.wait()
    load = open("/proc/loadavg").read().split()[0]
    if done.returncode != 0 or "! " + framework in done.stderr:
        print(f"{framework}, {name}: {done.stderr.strip()}", flush=True)
        return
    profile = json.loads(done.stdout)
    write(path, profile)
    engine = file_of(args, "engine", name)
    if not cap and not os.path.exists(engine):
        # Every probe has the engine: no need to measure it again.
        write(engine, dict(profile, frameworks=profile["frameworks"][:1]))
    print(f"{framework}, {name}: measured, load {load}", flush=True)


def file_of(args, framework, name):
    return os.path.join(args.to, f"{framework}, {name}.json".replace(" ", "_").replace("%", "pc"))


def write(path, profile):
    with open(path + ".part", "w") as file:
        json.dump(profile, file)
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main()
