"""Adapter and bare script in one process, by turns: started by compare.py with the framework's Python.

Each runs whole, as it always does, in a thread of its own; after every few steps it hands over to the
other, in the order A B B A. What a turn took is told as JSON: [wall seconds, CPU seconds] a turn.
"""
import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Through(BaseException):
    """All turns are done. Not an Exception: scripts may catch those."""


class Turns:
    def __init__(self, order, steps, count):
        self.order, self.steps, self.count = order, steps, count
        self.may_run = (threading.Semaphore(0), threading.Semaphore(0))
        self.may_run[order[0]].release()
        self.taken, self.done, self.now = ([], []), [0, 0], 0
        self.began = None

    def begin(self, side):
        self.may_run[side].acquire()
        self.began = clocks()

    def step_ended(self, side):
        self.done[side] += 1
        if self.done[side] % self.steps:
            return
        settle()
        self.taken[side].append([after - before for before, after in zip(self.began, clocks())])
        self.now += 1
        if self.now == self.count:
            raise Through
        other = self.order[self.now % len(self.order)]
        if other != side:
            self.may_run[other].release()
            self.may_run[side].acquire()
        self.began = clocks()


def clocks():
    return time.perf_counter(), time.process_time()


def settle():
    """MXNet goes on behind a step's back; what is left of it is this side's."""
    if "mxnet" in sys.modules:
        sys.modules["mxnet"].nd.waitall()


def run_script(path):
    exec(compile(Path(path).read_bytes(), path, "exec"), {"__name__": "__main__", "__file__": path})


def main():
    asked = arguments()
    sys.path[:0] = [str(HERE), str(Path(asked.adapter).parent)]
    sys.argv = [asked.bare, *asked.rest]
    import bare
    import protocol

    turns = Turns((1, 0, 0, 1) if asked.adapter_first else (0, 1, 1, 0), asked.steps, asked.turns)
    bare.Work.step_ended = after(bare.Work.step_ended, lambda: turns.step_ended(0))
    protocol.Events.step = after(protocol.Events.step, lambda: turns.step_ended(1))
    through = threading.Event()
    for side, script in enumerate((asked.bare, asked.adapter)):
        threading.Thread(target=train, args=(turns, side, script, through), daemon=True).start()
    through.wait()
    print(json.dumps({"bare": turns.taken[0], "adapter": turns.taken[1]}), flush=True)
    # Neither script is at its end.
    os._exit(0 if turns.now == turns.count else 1)


def train(turns, side, script, through):
    try:
        turns.begin(side)
        run_script(script)
        print(f"{script} ended before its last turn", file=sys.stderr)
    except Through:
        pass
    finally:
        through.set()


def after(method, then):
    def both(*arguments):
        method(*arguments)
        then()

    return both


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("adapter")
    parser.add_argument("bare")
    parser.add_argument("--steps", type=int, required=True, help="of a turn")
    parser.add_argument("--turns", type=int, required=True, help="of both sides together")
    parser.add_argument("--adapter-first", action="store_true")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="arguments of the bare script")
    return parser.parse_args()


if __name__ == "__main__":
    main()
