#!/bin/sh
# Times sorts of one size on different inputs in turn: uniform, skewed (gensort -s), sorted, reverse,
# one key with different bodies, and equal records.
#
#   bench/patterns.sh [RECORDS] [ROUNDS]      default: 20000000 records (2 GB), 5 rounds
#
# Needs GNU time, python3, free space for eight files of that size, and root to drop caches.
set -eu
records=${1:-20000000}
rounds=${2:-5}
. "$(dirname "$0")/place.sh"

"$gristmill" gensort "$records" uniform
"$gristmill" gensort -s "$records" skewed
"$gristmill" sort --format gensort uniform -o sorted
"$gristmill" sort --format gensort --key 0+10:desc uniform -o reverse
python3 - <<'PYTHON'
with open("uniform", "rb") as uniform, open("one_key", "wb") as one_key, open("equal", "wb") as equal:
    while block := bytearray(uniform.read(100_000_000)):
        for place in range(10):
            block[place::100] = b"K" * (len(block) // 100)
        one_key.write(block)
        equal.write(block[:100] * (len(block) // 100))
PYTHON

for round in $(seq "$rounds"); do
    for input in uniform skewed sorted reverse one_key equal; do
        sort_once "$input" >/dev/null # memory that the machine has at hand, see large.sh
        drop
        echo "$input $(sort_once "$input")"
        rm -f out
    done
done | python3 -c '
import statistics, sys
runs = {}
for line in sys.stdin:
    name, seconds = line.split()
    runs.setdefault(name, []).append(float(seconds))
uniform = statistics.median(runs["uniform"])
for name, seconds in runs.items():
    middle = statistics.median(seconds)
    print(f"{name:8} median {middle:.2f} s, ratio {middle / uniform:.2f}, all {seconds}")
'
