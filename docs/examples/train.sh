#!/bin/sh
# The same in shell: sh train.sh 8
events=${BANCADA_EVENTS:-/dev/null}
emit() { printf '{"at": %s, "event": %s}\n' "$(date +%s.%N)" "$1" >> "$events"; }

emit '"phase", "phase": "load-data"'
points=$(awk 'BEGIN { srand(1); for (i = 0; i < 4096; i++) { x = rand(); print x, 3 * x } }')
emit '"phase", "phase": "train"'
slope=0
for epoch in 1 2 3; do
  set -- "$1" $(echo "$points" | awk -v slope="$slope" -v batch="$1" '
    { error = slope * $1 - $2; sum += error * $1; loss += error * error }
    NR % batch == 0 { slope -= 0.01 * sum / batch; last = loss / batch; sum = loss = 0 }
    END { print slope, last }')
  slope=$2
  emit "\"epoch\", \"epoch\": $epoch, \"loss\": $3"
done
emit '"phase", "phase": "shutdown"'
