#!/bin/sh
# Runs every command of the "sh" blocks of the README and of all pages of docs/, each page in an empty
# directory of its own. A line that fails fails the test. Lines that begin with make, git or cd are left
# out: `make` has called this script, and the clone is here. Commands that cannot run here, because they
# need a cluster or a terabyte, are in "console" blocks.
#
# As many pages at a time as there are cores.
#
#   tests/readme.sh [GRISTMILL [PAGE...]]      default: target/release/gristmill, all pages
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM HUP

# Shows the commands and their output only if one fails.
try() {
    awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1" |
        grep -vE '^(make|git|cd) ' >"$place/commands" || return 0
    commands=$(grep -cvE '^(#|$)' "$place/commands") || return 0
    mkdir "$place/empty"
    (cd "$place/empty" && timeout 900 sh -eux "$place/commands") >"$place/said" 2>&1 ||
        { cat "$place/said"; echo "readme: failed: $1"; exit 1; }
    echo "readme: $1: $commands commands passed"
}

if [ "${1:-}" = --page ]; then
    try "$2"
    exit
fi
mkdir "$place/bin"
ln -s "$(readlink -f "${1:-$top/target/release/gristmill}")" "$place/bin/gristmill"
PATH="$place/bin:$PATH"
export PATH
[ $# -eq 0 ] || shift
cd "$top"
[ $# -gt 0 ] || set -- *.md docs/*.md docs/*/*.md
# The status of a pipe is that of its last command.
if printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" sh tests/readme.sh --page >"$place/said"; then
    cat "$place/said"
else
    cat "$place/said"
    exit 1
fi
awk '{ sum += $3 } END { print "readme: " sum " commands passed"; exit !sum }' "$place/said" ||
    { echo "readme: no commands to try in $*"; exit 1; }
