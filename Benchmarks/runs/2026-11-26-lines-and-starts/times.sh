#!/bin/sh
# times.sh BEFORE NOW: prints the times of nine axes and of short replays by two programs in turns, on an idle machine; run from the
# repository's root. Columns: those of ../2026-11-26-instructions/times.py.
set -eu
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 - "$2" "$folder" <<'END'
import sys
source = open("Benchmarks/runs/2026-11-26-instructions/measure.py", encoding="utf-8").read()
namespace = {"__name__": "measure"}
exec(source.rsplit("main()", 1)[0], namespace)
print(namespace["recordings"](sys.argv[1], sys.argv[2]), "rows")
END
measure() { python3 "$here/../2026-11-26-instructions/times.py" "$@"; }
north="--set north.north.hard_iron_uT=0"
echo "nine axes twice over, each heading as JSON"
measure 15 "$1" "$2" -- replay "$folder/2.arrows" --json $north
echo "the same with few headings"
measure 15 "$1" "$2" -- replay "$folder/2.arrows" --json $north --set north.north.heading_filter_deg=180
for file in short.csv short.arrows; do
    echo "100 rows: $file"
    measure 101 "$1" "$2" -- replay "$folder/$file"
done
echo "--version"
measure 101 "$1" "$2" -- --version
