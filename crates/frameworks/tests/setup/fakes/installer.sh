#!/bin/sh
# What uv and pip have in common: installer NAME FOLDER install|list|freeze ARGUMENTS…
state=$(cd "$(dirname "$0")" && pwd)
name=$1 folder=$2 verb=$3
shift 3
case $verb in
install)
    # Without the folders of lock files.
    echo "$name install $*" | sed 's# /[^ ]*/# #g' >> "$state/calls"
    echo "Resolving"
    # A real installer sleeps in a child of its own too.
    if [ -e "$state/hang" ]; then echo "Downloading for long"; sleep 600; fi
    if [ -e "$state/full-disk" ]; then echo "error: No space left on device (os error 28)"; exit 2; fi
    if [ -e "$state/other-hash" ]; then echo "error: Hash mismatch for \`$4\`"; exit 2; fi
    for package in "$@"; do
        case $package in */bancada-lock.txt) sed -n 's/^\([a-z][^ ]*==[^ ]*\).*/\1/p' "$package" >> "$folder/packages" ;; esac
        case $package in *==*) echo "${package%% *}" >> "$folder/packages" ;; esac
    done
    ;;
list | freeze) cat "$folder/packages" ;;
esac
