#!/bin/sh
# Stands for a Python: knows its version by its name, and what setup asks of one. It writes down
# how it was called in state/calls, and does what the files in state say.
here=$(cd "$(dirname "$0")" && pwd)
state=$here/state
version=$(cat "$here/version" 2>/dev/null || basename "$0" | sed 's/python//').7

case "$1 $2" in
"-c "*version_info*) echo "$version"; echo "$here/$(basename "$0")" ;;
"-c "*python_version*) echo "$version" ;;
"-c "*sysconfig*) mkdir -p "$here/../lib/packages"; (cd "$here/../lib/packages" && pwd) ;;
"-c "*urllib*) [ -e "$state/cpu-builds" ] || { echo "URLError: <urlopen error timed out>" >&2; exit 1; } ;;
"-c "*bancada-import*)
    shift 3
    echo "import KERAS_BACKEND=$KERAS_BACKEND PYTHONPATH=$PYTHONPATH $*" >> "$state/calls"
    for module in "$@"; do
        if [ -e "$state/broken-$module" ]; then
            echo "bancada-import {\"module\":\"$module\",\"seconds\":0.5,\"error\":\"ImportError: no $module\"}"
            exit 1
        fi
        if [ -e "$state/crash-$module" ]; then
            echo "Illegal instruction" >&2
            kill -KILL $$
        fi
        echo "bancada-import {\"module\":\"$module\",\"seconds\":0.5,\"error\":null}"
    done
    ;;
*/adapt_*.py*)
    adapter=$(basename "$1" .py)
    grep -q '"framework"' "$BANCADA_JOB" || { echo "no framework in the job" >&2; exit 1; }
    echo "train KERAS_BACKEND=$KERAS_BACKEND PYTHONPATH=$PYTHONPATH $adapter" >> "$state/calls"
    if [ -e "$state/broken-$adapter" ]; then
        echo "Traceback (most recent call last):" >&2
        echo "RuntimeError: $adapter cannot compile" >&2
        echo '{"event": "error", "text": "RuntimeError: '"$adapter"' cannot compile"}' >> "$BANCADA_EVENTS"
        exit 1
    fi
    if [ -e "$state/crash-$adapter" ]; then
        echo "Illegal instruction" >&2
        kill -KILL $$
    fi
    ;;
"-m venv")
    echo "python -m venv" >> "$state/calls"
    mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && ln -sfn "$state" "$3/bin/state"
    echo "${version%.7}" > "$3/bin/version"
    ;;
"-m compileall") echo "compileall" >> "$state/calls" ;;
*"/to_keras.py "*)
    echo "to_keras $(ls "$2" | tr '\n' ' ')adapters=$(basename "$(dirname "$BANCADA_ADAPTERS")")" >> "$state/calls"
    if [ -e "$state/broken-to_keras" ]; then echo "no such layer" >&2; exit 1; fi
    cat "$2/graph.json" "$2/model.safetensors" > "$2/model.keras"
    ;;
"-m pip")
    shift 2
    exec "$state/installer" "pip" "$here/.." "$@"
    ;;
*) echo "unexpected: $*" >&2; exit 9 ;;
esac
