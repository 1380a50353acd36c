"""Several processes of one job, for frameworks without a launcher of their own (PyTorch has torchrun).

The first process starts the others as copies of itself, with RANK, WORLD_SIZE and BANCADA_WORKERS (the
workers' addresses) in the environment. All end when one fails, and none outlives the first: each holds
the other end of a pipe that closes with it.
"""
import atexit
import os
import socket
import subprocess
import sys
import threading
import time

SECONDS_TO_END = 60

together = None


def lead(count):
    """In the first process: starts the others. In the others: follows the first."""
    global together
    if count > 1:
        # Not RANK, which launchers of clusters set too.
        together = Follower() if "BANCADA_WORKERS" in os.environ else Leader(count)


def end():
    """This process has done its work."""
    if together is not None:
        together.end(SECONDS_TO_END)


class Leader:
    def __init__(self, count):
        self.ending = False
        # A cluster's launcher may have given this process another number.
        os.environ.update(RANK="0", WORLD_SIZE=str(count), BANCADA_WORKERS=",".join(free_addresses(count)))
        self.others = [
            subprocess.Popen([sys.executable] + sys.argv, stdin=subprocess.PIPE, env=dict(os.environ, RANK=str(rank)))
            for rank in range(1, count)
        ]
        os.environ["RANK"] = "0"
        atexit.register(self.end, 0)
        for rank, process in enumerate(self.others, 1):
            threading.Thread(target=self.watch, args=(rank, process), daemon=True).start()

    def watch(self, rank, process):
        code = process.wait()
        if self.ending or code == 0:
            return
        self.ending = True
        sys.stderr.write(f"worker {rank} failed with exit code {code}: the others end too\n")
        for other in self.others:
            other.kill()
        # The main thread may wait in the framework for what that worker will never send.
        os._exit(1)

    def end(self, seconds):
        """Tells the others to end, and ends those that do not."""
        self.ending = True
        for process in self.others:
            process.stdin.close()
        until = time.monotonic() + seconds
        for process in self.others:
            try:
                process.wait(max(until - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Follower:
    def __init__(self):
        self.done = False
        self.thread = threading.Thread(target=self.wait, daemon=True)
        self.thread.start()

    def wait(self):
        while os.read(0, 1):
            pass
        # At once: frameworks would wait here for workers that are gone.
        os._exit(0 if self.done else 1)

    def end(self, _seconds):
        # The first still verifies and saves, and its framework may take it ill if others leave.
        self.done = True
        self.thread.join()


def free_addresses(count):
    # All are open at once, or the same port would be given twice.
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return addresses
