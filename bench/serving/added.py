"""What the serverless emulator adds to a warm request: the same worker, asked directly and through it.

    python3 bench/serving/added.py --bancada target/release/bancada --rounds 15

Each round loads the worker's own port and the emulator's, in changing order, with one client that sends
as soon as it is answered. Printed are the medians over the rounds, the median of the paired differences
with its range, and the emulator's CPU time for a request, which a busy machine disturbs least.
"""
import argparse
import collections
import json
import re
import signal
import statistics
import struct
import subprocess
import tempfile
import urllib.request
import zlib
from pathlib import Path

Turn = collections.namedtuple("Turn", "milliseconds answers")
MODELS = {"rede1": ["rede1", "--image", "32"], "mobilenet": ["mobilenet", "--image", "224", "--classes", "5"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bancada", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--memory", type=int, default=2048)
    asked = parser.parse_args()
    print("| model | worker alone, p50 | through the emulator, p50 | added (range) | emulator's CPU a request |")
    print("|---|---|---|---|---|")
    for name, model in MODELS.items():
        print(row(name, measure(asked, model)), flush=True)


def measure(asked, model):
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.png"
        picture.write_bytes(png(int(model[2])))
        emulator, url = start(asked, model)
        try:
            load(asked, url, picture)
            worker = json.load(urllib.request.urlopen(f"{url}/bancada/workers"))["workers"][0]
            alone = f"http://127.0.0.1:{worker['port']}"
            rounds = []
            for number in range(asked.rounds):
                turns = {}
                for place in (alone, url) if number % 2 else (url, alone):
                    before = cpu_seconds(emulator.pid)
                    turn = load(asked, place, picture)
                    used = cpu_seconds(emulator.pid) - before
                    turns[place] = (turn.milliseconds, used / turn.answers)
                rounds.append((turns[alone], turns[url]))
            return rounds
        finally:
            emulator.send_signal(signal.SIGTERM)
            emulator.wait()


def start(asked, model):
    command = [asked.bancada, "serverless", "--port", "0", "--memory", str(asked.memory), "--concurrency", "1", "--"]
    command += [asked.bancada, "serve", *model, "--port", "{port}"]
    emulator = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in emulator.stderr:
        if found := re.match(r"listening on (http://\S+)", line):
            return emulator, found.group(1)
    raise SystemExit("the emulator did not start")


def load(asked, url, picture):
    command = [asked.bancada, "load", f"{url}/invocations", "--body", str(picture), "--json"]
    command += ["--seconds", str(asked.seconds), "--warm-up", "0.2"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    median = next(point["seconds"] for point in told["latency"]["quantiles"] if point["share"] == 0.5)
    return Turn(median * 1e3, told["counts"]["ok"] + told["uncounted"]["ok"])


def cpu_seconds(pid):
    """Of its first thread, which does everything but burying workers; in nanoseconds there."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def row(name, rounds):
    alone = statistics.median(direct[0] for direct, _ in rounds)
    through = statistics.median(emulated[0] for _, emulated in rounds)
    added = sorted(emulated[0] - direct[0] for direct, emulated in rounds)
    cpu = statistics.median(emulated[1] for _, emulated in rounds)
    middle = f"{statistics.median(added):.3f} ms ({added[0]:.3f} to {added[-1]:.3f})"
    return f"| {name} | {alone:.3f} ms | {through:.3f} ms | {middle} | {cpu * 1e6:.0f} µs |"


def png(side):
    rows = b"".join(b"\0" + bytes(x * y % 256 for x in range(side * 3)) for y in range(side))
    parts = [(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


if __name__ == "__main__":
    main()
