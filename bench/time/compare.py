"""What `bancada time` and hyperfine add to each run of `true`, by turns in one run.

    python3 bench/time/compare.py [BANCADA] [RUNS] [ROUNDS]

Wall time of the whole program, from outside, divided by the number of runs; medians of the rounds.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

bancada = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "target/release/bancada"
runs = sys.argv[2] if len(sys.argv) > 2 else "1000"
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7

programs = {
    "hyperfine, without a shell": ["hyperfine", "-N", "--runs", runs, "true"],
    "hyperfine, as it is by default": ["hyperfine", "--runs", runs, "true"],
    "bancada time": [bancada, "time", "--runs", runs, "--", "true"],
    "bancada time --shell": [bancada, "time", "--shell", "--runs", runs, "--", "true"],
}


def seconds(command, folder):
    begun = time.monotonic()
    variables = dict(os.environ, BANCADA_CACHE=folder)
    subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True)
    return time.monotonic() - begun


with tempfile.TemporaryDirectory() as folder:
    found = {name: [] for name in programs}
    for _ in range(rounds):
        for name, command in programs.items():
            found[name].append(1e3 * seconds(command, folder) / int(runs))
print(f"milliseconds a run, {runs} runs of `true`, medians of {rounds} rounds [least, most]")
for name, values in found.items():
    print(f"  {name:<32} {statistics.median(values):.3f} [{min(values):.3f}, {max(values):.3f}]")
