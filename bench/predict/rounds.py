#!/usr/bin/env python3
"""Predictions of whole runs beside the whole runs: error, coverage, share of the time.

    bench/predict/rounds.py STUDY [--rounds 13] [--bancada target/release/bancada] [--scale NAME]
                            [--record FILE]

Each round predicts every scenario from its beginning (all repetitions of the study) and then runs
every scenario once to its end. With --record, every whole run is appended to FILE as a line of
JSON, and the table is made of all its lines: rounds can be made on several occasions, and
`--rounds 0` prints the table of what is recorded. A row of its own has the runs during which other
programs used less than a twentieth of the machine. Needs only Python.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time


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
        run["study"] = pathlib.Path(arguments.study).stem
        run["date"] = time.strftime("%Y-%m-%d")
        run["share"] = statistics.mean(seen[run["run"].split("-")[0]]) / run["measured_seconds"]
        metrics = json.loads((folder / "runs" / run["run"] / "run.json").read_text())["metrics"]
        run["others_percent"] = metrics["machine_cpu_percent"]["value"] - metrics["cpu_percent"]["value"]
    return check["runs"]


def print_table(runs):
    print("| study | whole runs | median error | 90th percentile | mean error | within the 95 % "
          "interval | half width, median | share of the time, median |")
    print("|---|---|---|---|---|---|---|---|")
    for study in sorted({run["study"] for run in runs}):
        print_row(study, [run for run in runs if run["study"] == study])
    print_row("all", runs)
    print_row("all, undisturbed", [run for run in runs if run["others_percent"] < 5])


def print_row(study, runs):
    errors = [run["predicted_seconds"] / run["measured_seconds"] - 1 for run in runs]
    sizes = [abs(error) for error in errors]
    within = [run["low_seconds"] <= run["measured_seconds"] <= run["high_seconds"] for run in runs]
    widths = [run["high_seconds"] / run["predicted_seconds"] - 1 for run in runs]
    print(f"| {study} | {len(runs)} | {statistics.median(sizes):.1%} | {quantile(sizes, 0.9):.1%} | "
          f"{statistics.mean(errors):+.1%} | {sum(within) / len(within):.1%} | "
          f"{statistics.median(widths):.1%} | {statistics.median(r['share'] for r in runs):.1%} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("study")
    parser.add_argument("--rounds", type=int, default=13)
    parser.add_argument("--bancada", default="target/release/bancada")
    parser.add_argument("--scale")
    parser.add_argument("--record", type=pathlib.Path)
    arguments = parser.parse_args()
    runs = []
    if arguments.record and arguments.record.exists():
        runs = [json.loads(line) for line in arguments.record.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            made = one_round(arguments, 10_000, pathlib.Path(folder) / f"round-{number}")
            runs += made
            if arguments.record:
                with arguments.record.open("a") as record:
                    record.writelines(json.dumps(run) + "\n" for run in made)
            print(f"round {number + 1} of {arguments.rounds}: {len(runs)} whole runs", flush=True)
    print_table(runs)


if __name__ == "__main__":
    main()
