"""A serving stack as a process tree: started, asked, weighed, ended."""
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

POLL_SECONDS = 0.002
LONGEST_START_SECONDS = 120
LONGEST_END_SECONDS = 30


class Stack:
    """`command` is a list in which {port} and {model} are filled in; `files` are what must be on disk to run it;
    `variables` are set for it."""

    def __init__(self, name, command, files, variables=None):
        self.name, self.command, self.files, self.variables = name, command, files, variables or {}
        self.process = self.port = self.said = None

    def start(self, model, body, body_type, is_right):
        """Seconds from the start to the first healthy ping, and to the first right answer."""
        self.port = free_port()
        command = [word.format(port=self.port, model=model) for word in self.command]
        self.said = tempfile.TemporaryFile()
        began = time.perf_counter()
        self.process = subprocess.Popen(command, env=self.surroundings(model), start_new_session=True,
                                        stdout=subprocess.DEVNULL, stderr=self.said)
        while self.ask("GET", "/ping")[0] != 200:
            if self.process.poll() is not None:
                self.give_up("ended before it answered")
            if time.perf_counter() - began > LONGEST_START_SECONDS:
                self.give_up(f"did not answer within {LONGEST_START_SECONDS} s")
            time.sleep(POLL_SECONDS)
        healthy = time.perf_counter() - began
        status, answer = self.ask("POST", "/invocations", body, {"Content-Type": body_type})
        seconds = time.perf_counter() - began
        if status != 200:
            self.give_up(f"answered its first image with {status}: {answer[:300]}")
        if not is_right(json.loads(answer)["probabilities"]):
            self.give_up("answered its first image with wrong probabilities")
        return healthy, seconds

    def surroundings(self, model):
        """Nothing of this bench's own Python."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return {**kept, "SM_MODEL_DIR": str(model), **self.variables, "SAGEMAKER_BIND_TO_PORT": str(self.port)}

    def ask(self, method, path, body=None, headers=None):
        """Status and body; status 0 where nobody listens yet."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def pss_bytes(self):
        """Memory of the whole tree; pages that processes share are counted once, by parts."""
        return sum(pss_of(process) for process in tree(self.process.pid))

    def end(self):
        """SIGTERM, as a platform sends it. Seconds until the whole tree is gone."""
        if self.process is None or self.process.poll() is not None:
            return 0.0
        members, began = tree(self.process.pid), time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        while left := [process for process in members if is_alive(process)]:
            if time.perf_counter() - began > LONGEST_END_SECONDS:
                self.give_up(f"left processes behind {LONGEST_END_SECONDS} s after SIGTERM: {left}")
            time.sleep(POLL_SECONDS)
        seconds = time.perf_counter() - began
        self.process.wait()
        return seconds

    def give_up(self, why):
        for process in tree(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()
        self.said.seek(0)
        said = self.said.read().decode(errors="replace")
        sys.exit(f"{self.name} {why}; it said:\n{said[-3000:]}")

    def disk_bytes(self):
        """Each file once, however many names it has."""
        sizes = {}
        for place in self.files:
            for path in [place, *place.rglob("*")]:
                if path.is_file() and not path.is_symlink():
                    found = path.stat()
                    sizes[found.st_dev, found.st_ino] = found.st_size
        return sum(sizes.values())


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


def tree(root):
    """The process and all below it."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = fields_of(entry.name)
            if fields:
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def is_alive(process):
    fields = fields_of(process)
    return bool(fields) and fields[0] != "Z"


def fields_of(process):
    """State and parent first; the name before them may hold blanks and brackets."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def pss_of(process):
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)
