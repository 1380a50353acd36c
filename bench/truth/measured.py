#!/usr/bin/env python3
"""Studies that are really run and in which no level does anything: how many state a difference?

    bench/truth/measured.py [STUDIES] [--bancada PROGRAM]

Every study has three factors of two levels that the command ignores, three repetitions, a price, and runs of some
20 ms. Prints the share of studies with any statement of a difference, a ranking, or drift.
"""

import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import tempfile

STUDY = """[study]
name = "nothing"
repetitions = 3
seed = {seed}
[factors]
alpha = ["a0", "a1"]
beta = ["b0", "b1"]
gamma = ["c0", "c1"]
[workload]
command = ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", "{{alpha}}", "{{beta}}", "{{gamma}}"]
[environments.here]
price = "1 USD/h"
"""


def claims(analysis):
    for variation in analysis["variations"]:
        for term in variation["terms"]:
            if term["verdict"] == "different":
                yield f"{variation['metric']}: {' × '.join(term['factors'])}"
    for task in analysis["best"]["tasks"]:
        for which in ("time", "cost"):
            if task[which] and task[which]["behind"]:
                yield f"ranking by {which}"
    if analysis["drift"] and analysis["drift"]["seen"]:
        yield "drift"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("studies", nargs="?", type=int, default=200)
    parser.add_argument("--bancada", default="target/release/bancada")
    args = parser.parse_args()
    program = str(pathlib.Path(args.bancada).resolve())
    false_ones = with_drift = 0
    kinds = collections.Counter()
    for seed in range(1, args.studies + 1):
        folder = tempfile.mkdtemp(prefix="bancada-truth-")
        try:
            (pathlib.Path(folder) / "study.toml").write_text(STUDY.format(seed=seed))
            run = [program, "run", "study.toml", "--quiet", "--no-pilot"]
            subprocess.run(run, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            export = [program, "export", "study.toml", "--format", "json"]
            told = subprocess.run(export, cwd=folder, check=True, capture_output=True)
        finally:
            shutil.rmtree(folder)
        found = list(claims(json.loads(told.stdout)["analysis"]))
        kinds.update(found)
        # The machine may really have changed; then this is not false.
        false_ones += any(claim != "drift" for claim in found)
        with_drift += "drift" in found
    print(f"{args.studies} measured studies in which nothing differs")
    print(f"state a difference or a ranking: {false_ones} ({100 * false_ones / args.studies:.1f} %)")
    print(f"state drift of the machine: {with_drift}")
    for kind, count in kinds.most_common():
        print(f"  {kind}: {count}")


main()
