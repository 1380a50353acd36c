"""What the serving stacks share outside of their workers: the model's folder and its description, NGINX and Gunicorn
started, watched and ended. Needs only the standard library, so that the process that waits stays small.

The contract is that of SageMaker's containers: argument `serve`, the model in a folder, `GET /ping`,
`POST /invocations`, a port, SIGTERM ends everything. What the surroundings may say:

    SM_MODEL_DIR             the model's folder; else /opt/ml/model
    SAGEMAKER_BIND_TO_PORT   else 8080
    BANCADA_HOST             the address to listen on; else 127.0.0.1: this machine alone
    MODEL_SERVER_WORKERS     else one a core that this process may use
    BANCADA_STACK_THREADS    of each worker; else as the stack's users do
    BANCADA_STACK_FRONT      nginx, or none: Gunicorn is asked directly; else nginx
    BANCADA_STACK_FOLDER     for NGINX' files and the socket; else one that is removed at the end
"""
import contextlib
import json
import math
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LARGEST_BODY_BYTES = 20 << 20
LONGEST_ANSWER_SECONDS = 60
LONGEST_END_SECONDS = 15
# As long as NGINX does.
KEEP_ALIVE_SECONDS = 75
# (x / 255 − 0.5) / 0.5, as all networks here are trained.
USUAL = 127.5
# Where Debian keeps servers; a person's PATH may not have it.
SERVERS = ["/usr/local/sbin", "/usr/sbin"]
WAITED_FOR = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}


def folder():
    return Path(os.environ.get("SM_MODEL_DIR") or "/opt/ml/model")


class Description:
    """`model.json`: the model's name, input and outputs. Everything is optional, the
    file too, as with `bancada serve`."""

    KNOWN = {"name", "input", "resize", "mean", "std", "classes", "output", "untrained"}
    MEANINGS = ("raw", "logits", "probabilities")

    def __init__(self, fields):
        if unknown := sorted(set(fields) - self.KNOWN):
            raise ValueError(f"it has the unknown key `{unknown[0]}`")
        self.name, self.classes = fields.get("name") or folder().resolve().name, fields.get("classes", [])
        self.input, self.output = fields.get("input"), fields.get("output")
        self.untrained = bool(fields.get("untrained"))
        self.crop = fields.get("resize", "stretch") == "crop"
        self.mean, self.std = fields.get("mean") or [USUAL], fields.get("std") or [USUAL]
        if not all(self.std):
            raise ValueError("`std` has a zero")
        said = self.output.values() if isinstance(self.output, dict) else [self.output or "raw"]
        if unknown := [meaning for meaning in said if meaning not in self.MEANINGS]:
            raise ValueError(f"`output` is `{unknown[0]}`, which is not one of {', '.join(self.MEANINGS)}")

    def meanings(self, outputs, softmax):
        """The outputs that are answered, by name, and what each means. `softmax` is the one that the model is known
        to end in, or None."""
        if self.output is None:
            return {name: "probabilities" if name == softmax else "raw" for name in outputs}
        if isinstance(self.output, str):
            only = outputs[0] if len(outputs) == 1 else self.output
            return self.known({only: self.output}, outputs)
        return self.known(self.output, outputs)

    @staticmethod
    def known(meanings, outputs):
        if unknown := [name for name in meanings if name not in outputs]:
            raise ValueError(f"there is no output `{unknown[0]}`; the outputs are {', '.join(outputs)}")
        scores = [name for name in outputs if meanings.get(name, "raw") != "raw"]
        if len(scores) > 1:
            raise ValueError(f"`{scores[0]}` and `{scores[1]}` are both declared to score classes, but only one can")
        return {name: meanings[name] for name in outputs if name in meanings}

    @staticmethod
    def read():
        path = folder() / "model.json"
        try:
            return Description(json.loads(path.read_text()) if path.exists() else {})
        except OSError as error:
            sys.exit(f"cannot read the model's description {path}: {error.strerror}")
        except (AttributeError, TypeError, ValueError) as error:
            sys.exit(f"the model's description {path} is invalid: {error}")


def main(script, model, preload):
    """Runs `serve`. `model` is the file in the folder that the workers load; with `preload` Gunicorn imports
    once, and the workers share those pages."""
    if sys.argv[1:] != ["serve"]:
        sys.exit(f"the only argument is `serve`, not `{' '.join(sys.argv[1:])}`")
    Description.read()
    if not (folder() / model).exists():
        sys.exit(f"{model} is missing in {folder()}")
    front = front_program()
    address = f"{os.environ.get('BANCADA_HOST') or '127.0.0.1'}:{number_of('SAGEMAKER_BIND_TO_PORT', 8080)}"
    with place_for_files() as place:
        # By names without a folder: a socket's may not be longer than some hundred characters.
        commands = {"Gunicorn": gunicorn(Path(script).stem, "unix:socket" if front else address, preload)}
        if front:
            (place / "nginx.conf").write_text(nginx(address))
            commands["NGINX"] = [front, "-p", f"{place}/", "-e", "stderr", "-c", f"{place}/nginx.conf"]
        watch(commands, place)


def front_program():
    """NGINX, or None if it is disabled."""
    front = os.environ.get("BANCADA_STACK_FRONT") or "nginx"
    if front == "none":
        return None
    if front != "nginx":
        sys.exit(f"BANCADA_STACK_FRONT is `{front}`, but must be nginx or none")
    places = os.pathsep.join([os.environ.get("PATH") or os.defpath, *SERVERS])
    if program := shutil.which("nginx", path=places):
        return program
    sys.exit("the program `nginx` was not found on PATH: install it (Debian: nginx-light), or run without it by setting "
             "BANCADA_STACK_FRONT=none")


@contextlib.contextmanager
def place_for_files():
    if named := os.environ.get("BANCADA_STACK_FOLDER"):
        Path(named).mkdir(parents=True, exist_ok=True)
        yield Path(named).resolve()
    else:
        with tempfile.TemporaryDirectory(prefix="bancada-stack-") as place:
            yield Path(place)


def watch(commands, place):
    """Waits until SIGTERM, or until one of the processes ends; none outlives that."""
    asked, children = [], {}
    # Only recorded while children are started: one that is not in the list yet would be left behind.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: asked.append(number))
    try:
        for name, command in commands.items():
            children[name] = subprocess.Popen(command, cwd=place)
        signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
        while not asked:
            if ended := [name for name, child in children.items() if child.poll() is not None]:
                sys.exit(f"{ended[0]} ended unexpectedly; see its output above")
            if signal.sigwait(WAITED_FOR) != signal.SIGCHLD:
                return
    finally:
        # NGINX first: it accepts nothing new and waits for requests in progress.
        for name, how in (("NGINX", signal.SIGQUIT), ("Gunicorn", signal.SIGTERM)):
            end(children.get(name), how)


def end(child, how):
    """Asked again every second: a signal that comes while NGINX starts is noted there, and looked at with the next."""
    if child is None:
        return
    for _ in range(LONGEST_END_SECONDS):
        child.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(1)
            return
    child.kill()
    child.wait()


def gunicorn(module, address, preload):
    return [sys.executable, "-m", "gunicorn", "--pythonpath", str(HERE), "--no-control-socket",
            "--bind", address, "--workers", str(workers()), "--keep-alive", str(KEEP_ALIVE_SECONDS),
            "--worker-class", "uvicorn_worker.UvicornWorker", "--worker-tmp-dir", ".",
            "--timeout", str(LONGEST_ANSWER_SECONDS), "--graceful-timeout", str(LONGEST_END_SECONDS - 5),
            "--log-level", "warning", *(["--preload"] if preload else []), f"{module}:app()"]


def workers():
    """One per core that this process may use: the container's share, not the machine's count."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            cores = min(cores, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):
        pass
    return number_of("MODEL_SERVER_WORKERS", cores)


def threads():
    """Of each worker; None if not set."""
    return number_of("BANCADA_STACK_THREADS", None) if os.environ.get("BANCADA_STACK_THREADS") else None


def number_of(variable, otherwise):
    text = os.environ.get(variable) or str(otherwise)
    if not text.isdecimal() or int(text) == 0:
        sys.exit(f"{variable} is `{text}`, but must be a whole number of at least 1")
    return int(text)


def nginx(address):
    """One connection to Gunicorn per request: any free worker accepts it, while persistent ones would bind a client to
    a worker that may be busy. Bodies stay in memory. All its files are in the folder where it is started."""
    # Started by root, its workers would be another user, who may not open the socket.
    user = f"user {pwd.getpwuid(os.geteuid()).pw_name};" if os.geteuid() == 0 else ""
    paths = "\n".join(f"    {kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return f"""{user}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr alert;
events {{
    worker_connections 2048;
}}
http {{
{paths}
    access_log off;
    keepalive_requests 1000000;
    keepalive_timeout {KEEP_ALIVE_SECONDS}s;
    client_max_body_size {LARGEST_BODY_BYTES};
    client_body_buffer_size 1m;
    server {{
        listen {address} backlog=2048;
        location ~ ^/(ping|invocations)$ {{
            proxy_pass http://unix:socket;
            proxy_buffers 16 16k;
            proxy_read_timeout {LONGEST_ANSWER_SECONDS}s;
        }}
        location / {{
            return 404;
        }}
    }}
}}
"""
