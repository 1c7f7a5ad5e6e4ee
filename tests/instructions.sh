#!/bin/sh
# Instructions of six fixed commands beside those that bench/instructions has, which another compiler would
# change. Nearly the same on a busy machine, and at any speed of its disk.
#
#   tests/instructions.sh [GRISTMILL]      default: target/release/gristmill
#   RECORD=1 tests/instructions.sh ...     prints the table, for bench/instructions
#
# A case fails if it takes more than 1.02 times the instructions of the table. It needs valgrind.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/nightly.sh
. tests/nightly.sh
# shellcheck disable=SC2034 # of the text
records=1000000
# shellcheck source=bench/text.sh
. bench/text.sh
binary=$(realpath "${1:-$target/release/gristmill}")
table=$PWD/bench/instructions
compiler=$(rustc --version)
command -v valgrind >/dev/null || skip "instructions are counted by valgrind"
[ -n "${RECORD:-}" ] || [ "$(sed -n 's/^# by //p' "$table")" = "$compiler" ] ||
    skip "instructions are known of $(sed -n 's/^# by //p' "$table"), and this is $compiler"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM HUP
cd "$place"

"$binary" gensort "$records" records
text ' ' '' >lines
text , city,number,street >rows

# A case: its name, and the options of the command.
count() {
    name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$@" 2>&1 >/dev/null |
        sed -n "s/.*refs: */$name /p" | tr -d , >"$name.count"
    [ -s "$name.count" ] || { echo "instructions: $name failed"; exit 1; }
}

# Two at a time, which changes no count.
(
    count records sort --parallel 2 --format gensort records -o records.out
    count lines sort --parallel 2 lines -o lines.out
    for cores in 1 8 32; do
        count "lines-$cores" sort --parallel "$cores" lines -o lines-cores.out
        cmp lines.out lines-cores.out
    done
    count flood sim flood --cores 4096 --threads 1
) &
first=$!
count keyed sort --parallel 2 -k2,2 lines -o keyed.out
count rows sort --parallel 2 --format csv --key city --key number:num:desc rows -o rows.out
# The reading of before decision 0028, in options that older builds know, too.
count nano-sort sim nano-sort --cores 1024 --burst 1 --rows 65536 --incast 16 --threads 1
wait "$first"

cat records.count lines.count keyed.count rows.count flood.count nano-sort.count >counts
[ -z "${RECORD:-}" ] || { echo "# by $compiler"; cat counts; exit 0; }
# More cores than there are, and one: at most 1.10, and 1.02, times the instructions of two.
cat lines.count lines-1.count lines-8.count lines-32.count |
    awk 'NR == 1 { two = $2; next }
        { ratio = $2 / two; printf "instructions: %s: %.4f of two cores\n", $1, ratio
          if (ratio > ($1 == "lines-1" ? 1.02 : 1.10)) wrong = 1 }
        END { exit wrong }' || { echo "instructions: cores cost more than they may"; exit 1; }
awk 'NR == FNR { if ($1 != "#") known[$1] = $2; next }
    { ratio = $2 / known[$1]; printf "instructions: %s: %.0f M, %.4f of the table\n", $1, $2 / 1e6, ratio
      if (ratio > 1.02) wrong = 1 }
    END { exit wrong }' "$table" counts || { echo "instructions: more than 1.02 of the table"; exit 1; }
