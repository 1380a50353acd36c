"""Several processes of one job, for frameworks without a launcher of their own (PyTorch has torchrun), and for
all frameworks if the workers are on several hosts.

The first process starts the others as copies of itself, with RANK and WORLD_SIZE in the environment; on a
remote host with the launch command of the job, which starts a shell there. BANCADA_WORKERS then contains the
workers' addresses: on one machine the first process chooses them; across hosts all connect to the first and
report theirs. All end when one fails, and none outlives the first: each holds the other end of a pipe that
closes with it.
"""
import atexit
import hmac
import json
import os
import secrets
import shlex
import socket
import struct
import subprocess
import sys
import threading
import time

SECONDS_TO_END = 60
SECONDS_TO_MEET = 300

together = None
# Helper processes that this worker started.
helpers = []


def lead(count, hosts):
    """In the first process: starts the others. In the others: follows the first."""
    global together
    if count == 1:
        return
    # Not RANK, which launchers of clusters set too.
    if "BANCADA_MEET" in os.environ or "BANCADA_WORKERS" in os.environ:
        together = Follower()
    elif hosts is None:
        os.environ["BANCADA_WORKERS"] = ",".join(free_addresses(count))
        together = Leader([here] * (count - 1), "this machine")
    else:
        together = lead_hosts(hosts)


def end():
    """Call when this process has finished its work."""
    if together is not None:
        together.end(SECONDS_TO_END)


class Leader:
    """Starts the others, each with a function that takes its environment variables."""

    def __init__(self, starts, *hosts):
        self.ending = False
        # A cluster's launcher may have given this process a different number.
        os.environ.update(RANK="0", WORLD_SIZE=str(len(starts) + 1))
        self.others = [start({"RANK": str(rank), "WORLD_SIZE": str(len(starts) + 1)})
                       for rank, start in enumerate(starts, 1)]
        atexit.register(self.end, 0)
        for place, process in enumerate(self.others):
            host = hosts[place % len(hosts)]
            threading.Thread(target=self.watch, args=(place + 1, host, process), daemon=True).start()

    def watch(self, rank, host, process):
        code = process.wait()
        if self.ending or code == 0:
            return
        self.ending = True
        sys.stderr.write(f"worker {rank} on {host} failed with exit code {code}: stopping the others\n")
        for other in self.others:
            other.kill()
        # The main thread may wait in the framework for what that worker will never send.
        os._exit(1)

    def end(self, seconds):
        """Asks the others to end, and kills those that do not."""
        self.ending = True
        end_all(self.others, seconds)
        end_all(helpers, seconds)


class Follower:
    def __init__(self):
        self.done = False
        self.thread = threading.Thread(target=self.wait, daemon=True)
        self.thread.start()
        if "BANCADA_MEET" in os.environ:
            meet_first()

    def wait(self):
        wait_for_first()
        end_all(helpers, SECONDS_TO_END)
        # Exit immediately: frameworks would wait here for workers that are gone.
        os._exit(0 if self.done else 1)

    def end(self, _seconds):
        # The first still verifies and saves, and its framework may fail if others leave.
        self.done = True
        self.thread.join()


def end_all(processes, seconds):
    """Closes the pipes that they read; those that do not end are killed."""
    for process in processes:
        try:
            process.stdin.close()
        except OSError:
            # It has already ended.
            pass
    until = time.monotonic() + seconds
    for process in processes:
        try:
            process.wait(max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_first():
    """Waits until the first process closes the pipe or ends."""
    while os.read(0, 1):
        pass


def here(variables):
    """A copy of this process on this machine."""
    return subprocess.Popen([sys.executable] + sys.argv, stdin=subprocess.PIPE, env={**os.environ, **variables})


def elsewhere(launch, names):
    """A copy of this process on the host of `launch`: a shell there reads the command from its standard input, because
    programs that reach other hosts differ in what they do with quotes and variables."""

    def start(variables):
        given = {name: os.environ[name] for name in names if name in os.environ}
        if "BANCADA_EVENTS" in given:
            # It starts in a different folder.
            given["BANCADA_EVENTS"] = os.path.abspath(given["BANCADA_EVENTS"])
        settings = [f"{name}={shlex.quote(value)}" for name, value in {**given, **variables}.items()]
        command = " ".join(map(shlex.quote, [sys.executable, *sys.argv]))
        process = subprocess.Popen([*launch, "sh"], stdin=subprocess.PIPE)
        try:
            process.stdin.write(f"export {' '.join(settings)}; exec {command}\n".encode())
            process.stdin.flush()
        except OSError:
            # It ended immediately; `watch` reports that.
            pass
        return process

    return start


def lead_hosts(hosts):
    """Starts a worker in every place except the first, and waits until all have reported their addresses."""
    table = socket.create_server(("", 0))
    others = hosts.places[1:]
    os.environ["BANCADA_MEET"] = f"{hosts.first}:{table.getsockname()[1]}"
    os.environ["BANCADA_SECRET"] = secrets.token_hex(16)
    names = [*hosts.variables, "BANCADA_JOB", "BANCADA_EVENTS", "BANCADA_MEET", "BANCADA_SECRET"]
    starts = [elsewhere(place["launch"], names) if place["launch"] else here for place in others]
    leader = Leader(starts, *(place["host"] for place in others))
    met = gather(table, len(others))
    remote = next(rank for rank, place in enumerate(others, 1) if place["launch"])
    # As seen from a remote host: this machine may have a different name for itself.
    own = met[remote].connection.getsockname()[0]
    addresses = [f"{own}:{free_port()}"] + [met[rank].address for rank in sorted(met)]
    for guest in met.values():
        guest.connection.sendall((json.dumps(addresses) + "\n").encode())
        guest.connection.close()
    table.close()
    know(addresses)
    return leader


class Guest:
    def __init__(self, connection, address):
        self.connection, self.address = connection, address


def gather(table, count):
    """Accepts the workers that know the secret, by rank."""
    met, until = {}, time.monotonic() + SECONDS_TO_MEET
    while len(met) < count:
        table.settimeout(max(until - time.monotonic(), 0.001))
        try:
            connection, (address, _) = table.accept()
            connection.settimeout(10)
            told = json.loads(connection.makefile().readline(1000))
            if hmac.compare_digest(str(told["secret"]), os.environ["BANCADA_SECRET"]):
                met[int(told["rank"])] = Guest(connection, f"{address}:{int(told['port'])}")
        except socket.timeout:
            if time.monotonic() >= until:
                missing = ", ".join(str(rank) for rank in range(1, count + 1) if rank not in met)
                sys.exit(f"worker {missing} did not connect to {os.environ['BANCADA_MEET']} within {SECONDS_TO_MEET} s")
        except (ValueError, KeyError, TypeError, OSError):
            # Not one of our workers.
            continue
    return met


def meet_first():
    """Sends this worker's address to the first one, and receives all addresses."""
    host, _, port = os.environ["BANCADA_MEET"].rpartition(":")
    told = {"secret": os.environ["BANCADA_SECRET"], "rank": os.environ["RANK"], "port": free_port()}
    try:
        with socket.create_connection((host, int(port)), 60) as connection:
            connection.settimeout(SECONDS_TO_MEET)
            connection.sendall((json.dumps(told) + "\n").encode())
            addresses = json.loads(connection.makefile().readline())
    except (OSError, ValueError) as error:
        sys.exit(f"worker {told['rank']} cannot reach the first one at {host}:{port} ({error}): the first of `hosts` "
                 "must be the name or address under which the others reach that machine")
    know(addresses)


def know(addresses):
    """Sets the workers' addresses in the variables that frameworks read."""
    first, _, port = addresses[0].partition(":")
    own = addresses[int(os.environ["RANK"])].partition(":")[0]
    os.environ.update(BANCADA_WORKERS=",".join(addresses), BANCADA_ADDRESS=own, MASTER_ADDR=first, MASTER_PORT=port)
    interface = interface_of(own)
    if interface:
        # Otherwise they resolve the machine's name, which may give an address that others cannot reach.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)
        os.environ.setdefault("NCCL_SOCKET_IFNAME", interface)


def interface_of(address):
    """For example `eth0`; None if it cannot be determined."""
    try:
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            for _, name in socket.if_nameindex():
                try:
                    # SIOCGIFADDR, of Linux.
                    answer = fcntl.ioctl(asker.fileno(), 0x8915, struct.pack("256s", name.encode()))
                except OSError:
                    continue
                if socket.inet_ntoa(answer[20:24]) == address:
                    return name
    except (ImportError, OSError):
        pass
    return None


def beside(module, **variables):
    """Starts a helper process that imports a module and ends with this one."""
    process = subprocess.Popen([sys.executable, os.path.abspath(__file__), module], stdin=subprocess.PIPE,
                               env={**os.environ, **variables})
    # Its pipe closes when this process ends, however it does.
    helpers.append(process)


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def free_addresses(count):
    # All sockets are open at the same time, or the same port could be assigned twice.
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def end_with_first():
    wait_for_first()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_first, daemon=True).start()
    __import__(sys.argv[1])
