#!/usr/bin/env python3
"""Regenerates the lock files after a pin in frameworks.toml has changed:

    uv run --no-project --python 3.11 --with packaging crates/frameworks/locks/regenerate.py [NAME ...]

Every package of a framework's pinned version, with the SHA-256 of the files that Linux on x86-64 and
ARM can install: pip and uv then refuse any other file (--require-hashes). uv resolves, from whichever
index it is set to use; a lock file names packages, versions and hashes, and no index.
Packages for GPUs are not locked, nor are Pythons before 3.11 (but Theano's only one), nor macOS.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile
import tomllib

from packaging.markers import Marker
from packaging.tags import cpython_tags, compatible_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

HERE = pathlib.Path(__file__).resolve().parent
MACHINES = ("x86_64", "aarch64")


def pythons(framework):
    """Those a lock is made for: 3.11 and younger, or else the only one there is."""
    accepted = framework["python"]
    young = [python for python in accepted if int(python.split(".")[1]) >= 11]
    return sorted(young or accepted, key=lambda python: int(python.split(".")[1]))


def cells(framework):
    """Every Python on every machine that the lock is for."""
    machines = [machine for machine in MACHINES if f"linux-{machine}" in framework["platforms"]]
    return list(itertools.product(pythons(framework), machines))


def holds(marker, cell):
    python, machine = cell
    return marker is None or Marker(marker).evaluate({
        "python_version": python, "python_full_version": f"{python}.7", "sys_platform": "linux", "os_name": "posix",
        "platform_system": "Linux", "platform_machine": machine, "implementation_name": "cpython",
        "platform_python_implementation": "CPython", "extra": "",
    })


def tags(cell):
    python, machine = cell
    version = tuple(int(part) for part in python.split("."))
    # glibc 2.36 is Debian 12's; what needs a younger one would not be installed there.
    manylinux = [f"manylinux_2_{minor}_{machine}" for minor in range(5, 37)]
    platforms = manylinux + [f"{old}_{machine}" for old in ("manylinux1", "manylinux2010", "manylinux2014")]
    platforms.append(f"linux_{machine}")
    interpreter = "cp" + "".join(python.split("."))
    return set(cpython_tags(version, platforms=platforms)) | set(compatible_tags(version, interpreter, platforms))


def file_name(file):
    return file["url"].rsplit("/", 1)[-1]


def needed_files(package, where):
    """The wheels that fit somewhere; the source where none does."""
    kept = {}
    for cell in where:
        fitting = []
        for wheel in package.get("wheels", []):
            try:
                found = parse_wheel_filename(file_name(wheel))[3]
            except InvalidWheelFilename:
                continue
            if found & tags(cell):
                fitting.append(wheel)
        if not fitting:
            if "sdist" not in package:
                sys.exit(f"{package['name']} {package['version']} has no file for {cell}")
            fitting = [package["sdist"]]
        for file in fitting:
            kept[file["hashes"]["sha256"]] = file
    return sorted(kept)


def resolve(packages, python, arguments):
    """Every package with its files, as uv finds them."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = pathlib.Path(folder, "wanted.in")
        wanted.write_text("\n".join(packages) + "\n")
        found = pathlib.Path(folder, "pylock.toml")
        subprocess.run(
            ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", python, "--no-python-downloads",
             "--format", "pylock.toml", "--output-file", str(found), *arguments, str(wanted)],
            check=True)
        return tomllib.loads(found.read_text())["packages"]


def lock(framework, packages, arguments):
    all_cells = cells(framework)
    lines = []
    for package in sorted(resolve(packages, pythons(framework)[0], arguments), key=lambda p: (p["name"], p["version"])):
        marker = package.get("marker")
        where = [cell for cell in all_cells if holds(marker, cell)]
        if not where:
            continue
        condition = "" if len(where) == len(all_cells) else f" ; {marker}"
        lines.append(f"{package['name']}=={package['version']}{condition} \\")
        lines.append(" \\\n".join(f"    --hash=sha256:{hash}" for hash in needed_files(package, where)))
    platforms = sorted({f"linux-{machine}" for _, machine in all_cells}, reverse=True)
    head = ["# Written by regenerate.py; do not edit.", f"# python {' '.join(pythons(framework))}",
            f"# platforms {' '.join(platforms)}"]
    return "\n".join(head + lines) + "\n"


def main(names):
    frameworks = tomllib.loads((HERE.parent / "frameworks.toml").read_text())["framework"]
    for framework in frameworks:
        # What runs in another's environment has nothing of its own.
        if "packages" not in framework or "environment" in framework or (names and framework["name"] not in names):
            continue
        version = framework["version"]
        pins = [package.replace("{version}", version) for package in framework["packages"]]
        # Built by what `first` installed, which is all that it depends on.
        alone = [] if framework.get("isolation", True) else ["--no-deps"]
        stages = [(framework.get("first"), []), (pins, alone)]
        for number, (packages, arguments) in enumerate(stage for stage in stages if stage[0]):
            name = framework["name"] if packages is pins else f"{framework['name']}.first"
            text = lock(framework, packages, arguments)
            (HERE / f"{name}.txt").write_text(text)
            print(name, len(text), "bytes", flush=True)


main(sys.argv[1:])
