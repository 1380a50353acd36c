#!/usr/bin/env python3
"""Requests a second of the load generator, wrk and oha against one empty handler, in turns.

Medians over rounds; CPU time for each request is told beside the rate, because a busy machine
changes the rate and hardly that.
"""

import argparse
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys


def main():
    options = parse()
    server, url = start_server(options.empty)
    try:
        tools = {name: command for name, command in commands(options, url).items() if shutil.which(command[0])}
        missing = sorted(set(commands(options, url)) - set(tools))
        if missing:
            print(f"not found, left out: {', '.join(missing)}", file=sys.stderr)
        results = rounds(options, tools)
        print_table(results)
        if options.memory:
            memory(options, url)
    finally:
        server.terminate()
        server.wait()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hammer", required=True, help="the example `hammer`, built for release")
    parser.add_argument("--empty", required=True, help="the example `empty`, built for release")
    parser.add_argument("--wrk", default="wrk")
    parser.add_argument("--oha", default="oha")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--memory", type=int, default=0, metavar="REQUESTS", help="also tell resident memory over so many requests")
    return parser.parse_args()


def start_server(program):
    server = subprocess.Popen([program, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    return server, f"http://{server.stdout.readline().strip()}/"


def commands(options, url):
    clients, seconds = str(options.clients), str(options.seconds)
    oha = [options.oha, "--no-tui", "--output-format", "json", "-c", clients, "-z", f"{seconds}s"]
    return {
        "load": [options.hammer, url, clients, seconds],
        "wrk": [options.wrk, "-t1", f"-c{clients}", f"-d{seconds}s", url],
        "oha": [*oha, "--worker-threads", "1", url],
        # As it comes: a thread for each core.
        "oha*": [*oha, url],
    }


def rounds(options, tools):
    results = {name: [] for name in tools}
    names = list(tools)
    for number in range(options.rounds):
        # Every tool stands at each place of the order as often as the others.
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            results[name].append(measure(name, tools[name]))
    return results


def measure(name, command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    rate, requests = READERS[name](done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"rate": rate, "cpu_us": 1e6 * cpu / requests}


def read_load(text):
    rate, requests = re.search(r"(\d+) requests/s, (\d+) ok, 0 failed", text).groups()
    return float(rate), int(requests)


def read_wrk(text):
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)), requests


def read_oha(text):
    said = json.loads(text)
    # Requests that the end of the time cuts off are errors to oha; they are not counted here.
    return said["summary"]["requestsPerSec"], sum(said["statusCodeDistribution"].values())


READERS = {"load": read_load, "wrk": read_wrk, "oha": read_oha, "oha*": read_oha}


def print_table(results):
    print(f"{'':6}{'requests/s':>12}{'lowest':>10}{'highest':>10}{'CPU µs/request':>17}{'against load':>15}")
    own = statistics.median(one["rate"] for one in results["load"])
    for name, all_rounds in results.items():
        rates = [one["rate"] for one in all_rounds]
        cpu = statistics.median(one["cpu_us"] for one in all_rounds)
        rate = statistics.median(rates)
        print(f"{name:6}{rate:12.0f}{min(rates):10.0f}{max(rates):10.0f}{cpu:17.2f}{rate / own:15.2f}")


def memory(options, url):
    command = [options.hammer, url, str(options.clients), f"{options.memory}n"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    print(f"\nresident memory over {options.memory} requests:")
    print(done.stderr.strip())


if __name__ == "__main__":
    main()
