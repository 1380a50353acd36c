#!/bin/sh
# Stands for uv, where no Python can be fetched.
here=$(cd "$(dirname "$0")" && pwd)
case "$1 $2" in
"python find") exit 1 ;;
"--version ") echo "uv 0.0.0" ;;
"venv "*)
    for last in "$@"; do :; done
    while [ "$1" != --python ]; do shift; done
    echo "uv venv" >> "$here/state/calls"
    case $2 in
    /*) exec "$2" -m venv "$last" ;;
    *) echo "error: No download found for Python $2"; exit 2 ;;
    esac
    ;;
"pip "*)
    verb=$2 python=$4
    shift 4
    exec "$here/state/installer" uv "$(dirname "$python")/.." "$verb" "$@"
    ;;
*) echo "unexpected: $*" >&2; exit 9 ;;
esac
