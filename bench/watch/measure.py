"""Scripts as users write them under `bancada watch`: what was predicted early, and what it was.

usage: measure.py BANCADA PYTORCH_PYTHON TENSORFLOW_PYTHON [--overhead]

Each script runs in a terminal (a pseudo-terminal here), as bars are drawn there. With --overhead the
same script runs with and without `watch`, by turns, and medians are compared.
"""

import json
import os
import pty
import statistics
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
SHARES = (0.05, 0.10)


def in_terminal(command, with_output):
    """Runs with stderr (and stdout, unless it is read) on a terminal; gives lines and seconds."""
    ours, scripts = pty.openpty()
    termios.tcsetwinsize(scripts, (30, 100))

    def drain():
        try:
            while os.read(ours, 65536):
                pass
        except OSError:
            pass

    reader = threading.Thread(target=drain)
    reader.start()
    begun = time.monotonic()
    stdout = subprocess.PIPE if with_output else scripts
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=scripts, text=True)
    os.close(scripts)
    lines = process.stdout.read().splitlines() if with_output else []
    if process.wait() != 0:
        sys.exit(f"{command}: exit code {process.returncode}")
    seconds = time.monotonic() - begun
    os.close(ours)
    return lines, seconds


def scripts(pytorch, tensorflow):
    return {
        "plain loop, tqdm": [pytorch, HERE / "plain_tqdm.py", "20", "1600"],
        "printed lines": [pytorch, HERE / "printed.py", "20", "60"],
        "Keras fit": [tensorflow, HERE / "keras_fit.py", "20", "2000"],
        "Hugging Face Trainer": [pytorch, HERE / "hf_trainer.py", "20", "640"],
        "Lightning, rich": [pytorch, HERE / "lightning_fit.py", "20", "1600", "rich"],
        "Lightning, tqdm": [pytorch, HERE / "lightning_fit.py", "20", "1600", "tqdm"],
    }


def predictions(bancada, pytorch, tensorflow):
    print("| script | at | predicted | 95 % interval | it was | error | inside |")
    print("|---|---|---|---|---|---|---|")
    for name, script in scripts(pytorch, tensorflow).items():
        given = ["--epochs", "20"] if name == "Lightning, tqdm" else []
        lines, _ = in_terminal([bancada, "watch", "--json", *given, "--", *script], True)
        lines = [json.loads(line) for line in lines]
        truth = lines[-1]["ran_seconds"]
        for share in SHARES:
            known = (l for l in lines if l["total_seconds"] and l["total_seconds"]["interval"])
            first = next(l for l in known if l["seconds"] >= share * truth)
            total = first["total_seconds"]
            low, high = total["interval"]["low"], total["interval"]["high"]
            basis = "" if first["basis"] == "epochs" else " (no end of an epoch seen yet)"
            print(
                f"| {name} | {first['seconds'] / truth:.0%} | {total['value']:.1f} s{basis} | "
                f"{low:.1f} to {high:.1f} s | {truth:.1f} s | {total['value'] / truth - 1:+.1%} | "
                f"{'yes' if low <= truth <= high else 'no'} |",
                flush=True,
            )


def overhead(bancada, pytorch):
    script = [pytorch, HERE / "plain_tqdm.py", "4", "1600"]
    times = {"without": [], "with": []}
    for turn in range(10):
        order = ["without", "with"] if turn % 2 == 0 else ["with", "without"]
        for which in order:
            command = script if which == "without" else [bancada, "watch", "--", *script]
            times[which].append(in_terminal(command, False)[1])
    medians = {which: statistics.median(seconds) for which, seconds in times.items()}
    print(f"without {medians['without']:.2f} s, with {medians['with']:.2f} s: {medians['with'] / medians['without'] - 1:+.2%}")
    print({which: [round(s, 2) for s in seconds] for which, seconds in times.items()})


def main():
    bancada, pytorch, tensorflow = sys.argv[1:4]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if "--overhead" in sys.argv:
        overhead(bancada, pytorch)
    else:
        predictions(bancada, pytorch, tensorflow)


main()
