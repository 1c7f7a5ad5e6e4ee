#!/bin/sh
# Runs every command of the "sh" blocks of the README and its pages in an empty directory. A line that
# fails fails the test.
#
#   tests/readme.sh [GRISTMILL]      default: target/release/gristmill
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM HUP
mkdir "$place/bin"
ln -s "$(readlink -f "${1:-$top/target/release/gristmill}")" "$place/bin/gristmill"
PATH="$place/bin:$PATH"
export PATH
# `make` has called this script, and the clone is here.
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top/README.md" \
    "$top/docs/sorting.md" "$top/docs/gnu-sort.md" "$top/docs/rows.md" "$top/docs/mainframe.md" \
    "$top/docs/simulating.md" |
    grep -vE '^(make|git|cd) ' >"$place/commands"
commands=$(grep -c . "$place/commands")
[ "$commands" -ge 5 ] || { echo "the README has only $commands commands to try"; exit 1; }
mkdir "$place/empty"
cd "$place/empty"
sh -eux "$place/commands" 2>&1
echo "readme: $commands commands passed"
