"""What the serving stacks share outside of their workers: the model's folder and its description, NGINX and Gunicorn
started, watched and ended. Needs only the standard library, so that the process that waits stays small.

The contract is that of SageMaker's containers: argument `serve`, the model in a folder, `GET /ping`,
`POST /invocations`, a port, SIGTERM ends everything. What the surroundings may say:

    SM_MODEL_DIR             the model's folder; else /opt/ml/model
    SAGEMAKER_BIND_TO_PORT   else 8080
    MODEL_SERVER_WORKERS     else one a core that this process may use
"""
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


def folder():
    return Path(os.environ.get("SM_MODEL_DIR") or "/opt/ml/model")


class Description:
    """`model.json`: what the model is called, what it wants to see, what it answers."""

    def __init__(self, fields):
        self.name, self.classes = fields["name"], fields["classes"]
        self.height, self.width = fields["input"]["height"], fields["input"]["width"]
        self.mean, self.std = fields["mean"], fields["std"]
        self.crop, self.logits = fields["resize"] == "crop", fields["output"] == "logits"
        if fields["input"]["channels"] != 3 or fields["input"]["layout"] != "nchw":
            raise ValueError("these stacks serve colour images, channels first")
        if len(self.mean) != 3 or len(self.std) != 3 or not all(self.std):
            raise ValueError("`mean` and `std` are three numbers each, and `std` has no zero")

    @staticmethod
    def read():
        path = folder() / "model.json"
        try:
            return Description(json.loads(path.read_text()))
        except OSError as error:
            sys.exit(f"cannot read the model's description {path}: {error.strerror}")
        except KeyError as error:
            sys.exit(f"the model's description {path} has no {error}")
        except (TypeError, ValueError) as error:
            sys.exit(f"the model's description {path} is not as it should be: {error}")


def main(script, model, preload):
    """Carries out `serve`. `model` is the file in the folder that the workers load; with `preload` Gunicorn imports
    once, and the workers share those pages."""
    if sys.argv[1:] != ["serve"]:
        sys.exit(f"the only argument is `serve`, not `{' '.join(sys.argv[1:])}`")
    Description.read()
    if not (folder() / model).exists():
        sys.exit(f"there is no {model} in {folder()}")
    if not shutil.which("nginx"):
        sys.exit("there is no program `nginx` on the path: install it (Debian: nginx-light)")
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    with tempfile.TemporaryDirectory(prefix="bancada-stack-") as place:
        configuration = Path(place) / "nginx.conf"
        configuration.write_text(nginx(place, number_of("SAGEMAKER_BIND_TO_PORT", 8080)))
        watch(gunicorn(Path(script).stem, place, preload), ["nginx", "-p", place, "-e", "stderr", "-c", configuration])


def leave(*_):
    sys.exit(0)


def watch(gunicorn_command, nginx_command):
    """Until SIGTERM, or one of the two ends by itself; the other never outlives that."""
    front = back = None
    try:
        back = subprocess.Popen(gunicorn_command)
        front = subprocess.Popen(nginx_command)
        ended, _ = os.wait()
        name = "Gunicorn" if ended == back.pid else "NGINX"
        sys.exit(f"{name} ended by itself; what it said is above")
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # The front first: it takes nothing new and waits for answers that are under way.
        end(front, signal.SIGQUIT)
        end(back, signal.SIGTERM)


def end(child, how):
    if child is None:
        return
    child.send_signal(how)
    try:
        child.wait(LONGEST_END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def gunicorn(module, place, preload):
    return [sys.executable, "-m", "gunicorn", "--pythonpath", str(HERE), "--no-control-socket",
            "--bind", f"unix:{place}/socket", "--workers", str(workers()),
            "--worker-class", "uvicorn_worker.UvicornWorker", "--worker-tmp-dir", place,
            "--timeout", str(LONGEST_ANSWER_SECONDS), "--graceful-timeout", str(LONGEST_END_SECONDS - 5),
            "--log-level", "warning", *(["--preload"] if preload else []), f"{module}:app()"]


def workers():
    """One a core that this process may use: the container's share, not the machine's count."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            cores = min(cores, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):
        pass
    return number_of("MODEL_SERVER_WORKERS", cores)


def number_of(variable, otherwise):
    text = os.environ.get(variable) or str(otherwise)
    if not text.isdecimal() or int(text) == 0:
        sys.exit(f"{variable} is `{text}`, and should be a whole number from 1")
    return int(text)


def nginx(place, port):
    """A connection a request to Gunicorn: whichever worker is free accepts it, where kept ones would bind a client to
    a worker that may be busy. Bodies stay in memory."""
    # Started by root, its workers would be another user, who may not open the socket.
    user = f"user {pwd.getpwuid(os.geteuid()).pw_name};" if os.geteuid() == 0 else ""
    paths = "\n".join(f"    {kind}_temp_path {place}/{kind};"
                      for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return f"""{user}
daemon off;
worker_processes 1;
pid {place}/nginx.pid;
error_log stderr alert;
events {{
    worker_connections 2048;
}}
http {{
{paths}
    access_log off;
    keepalive_requests 1000000;
    client_max_body_size {LARGEST_BODY_BYTES};
    client_body_buffer_size 1m;
    server {{
        listen {port} backlog=2048;
        location ~ ^/(ping|invocations)$ {{
            proxy_pass http://unix:{place}/socket;
            proxy_buffers 16 16k;
            proxy_read_timeout {LONGEST_ANSWER_SECONDS}s;
        }}
        location / {{
            return 404;
        }}
    }}
}}
"""
