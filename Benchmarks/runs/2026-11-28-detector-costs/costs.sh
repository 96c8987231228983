#!/bin/sh
# costs.sh BEFORE NOW: prints three times in turns what the detectors of two programs cost, on an idle machine.
set -eu
for run in 1 2 3; do
    for program in "$1" "$2"; do
        echo "run $run, $(basename "$program")"
        "$program" bench --kernel detectors
    done
done
