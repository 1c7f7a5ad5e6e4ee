#!/bin/sh
# Runs every command of the "sh" blocks of the README and of all pages of docs/, each page in an empty
# directory of its own. A line that fails fails the test. Lines that begin with make, git or cd are left
# out: `make` has called this script, and the clone is here. Commands that cannot run here, because they
# need a cluster or a terabyte, are in "console" blocks.
#
#   tests/readme.sh [GRISTMILL [PAGE...]]      default: target/release/gristmill, all pages
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM HUP
mkdir "$place/bin"
ln -s "$(readlink -f "${1:-$top/target/release/gristmill}")" "$place/bin/gristmill"
PATH="$place/bin:$PATH"
export PATH
[ $# -eq 0 ] || shift
cd "$top"
[ $# -gt 0 ] || set -- *.md docs/*.md docs/*/*.md

# Shows the commands and their output only if one fails.
try() {
    awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1" |
        grep -vE '^(make|git|cd) ' >"$place/commands" || return 0
    commands=$(grep -cvE '^(#|$)' "$place/commands") || return 0
    rm -rf "$place/empty"
    mkdir "$place/empty"
    (cd "$place/empty" && timeout 900 sh -eux "$place/commands") >"$place/said" 2>&1 ||
        { cat "$place/said"; echo "readme: failed: $1"; exit 1; }
    echo "readme: $1: $commands commands passed"
    echo "$commands" >>"$place/passed"
}

for page in "$@"; do try "$page"; done
[ -e "$place/passed" ] || { echo "readme: no commands to try in $*"; exit 1; }
echo "readme: $(awk '{ sum += $1 } END { print sum }' "$place/passed") commands passed"
