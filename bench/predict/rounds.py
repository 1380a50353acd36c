#!/usr/bin/env python3
"""Predictions of whole runs beside the whole runs: error, coverage, share of the time.

    bench/predict/rounds.py STUDY [--rounds 13] [--bancada target/release/bancada] [--scale NAME]

Each round predicts every scenario from its beginning (all repetitions of the study) and then runs
every scenario once to its end. Needs only Python.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def one_round(arguments, scenarios, folder):
    command = [arguments.bancada, "run", arguments.study, "--predict", "--over-budget", "--quiet",
               "--measure-some", str(scenarios), "--out", str(folder)]
    if arguments.scale:
        command += ["--scale", arguments.scale]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    check = json.loads((folder / "predicted" / "check.json").read_text())
    seen = {}
    for path in (folder / "predicted" / "runs").glob("C*/run.json"):
        record = json.loads(path.read_text())
        prediction = record["origin"].get("prediction")
        if prediction:
            number = path.parent.name.split("-")[0]
            seen.setdefault(number, []).append(prediction["seen_seconds"])
    for run in check["runs"]:
        run["share"] = statistics.mean(seen[run["run"].split("-")[0]]) / run["measured_seconds"]
    return check["runs"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("study")
    parser.add_argument("--rounds", type=int, default=13)
    parser.add_argument("--bancada", default="target/release/bancada")
    parser.add_argument("--scale")
    arguments = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            runs += one_round(arguments, 10_000, pathlib.Path(folder) / f"round-{number}")
            print(f"round {number + 1} of {arguments.rounds}: {len(runs)} whole runs", flush=True)
    errors = [run["predicted_seconds"] / run["measured_seconds"] - 1 for run in runs]
    sizes = [abs(error) for error in errors]
    within = [run["low_seconds"] <= run["measured_seconds"] <= run["high_seconds"] for run in runs]
    widths = [run["high_seconds"] / run["predicted_seconds"] - 1 for run in runs]
    print(f"| whole runs | median error | 90th percentile | mean error | within the 95 % interval | "
          f"half width, median | share of the time, median |")
    print("|---|---|---|---|---|---|---|")
    print(f"| {len(runs)} | {statistics.median(sizes):.1%} | {quantile(sizes, 0.9):.1%} | "
          f"{statistics.mean(errors):+.1%} | {sum(within) / len(within):.1%} | "
          f"{statistics.median(widths):.1%} | {statistics.median(r['share'] for r in runs):.1%} |")


if __name__ == "__main__":
    main()
