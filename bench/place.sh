# What the measuring scripts share; sourced by them. A directory of their own here, gone at the end,
# and how a sort is timed.
memory=${MEMORY:-16G}
gristmill=${GRISTMILL:-$(cd "$(dirname "$0")/.." && pwd)/target/release/gristmill}
place=$(mktemp -d "$PWD/gristmill-bench-XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM HUP
cd "$place"

# Seconds that a command takes.
seconds() { { command time -f %e "$@" >/dev/null; } 2>&1 | tail -n 1; }

# Seconds that sorting the file $1 to `out` takes.
sort_once() { seconds "$gristmill" sort --format gensort -S "$memory" "$1" -o out; }

# The next run finds no output, and no input in the page cache.
drop() {
    rm -f out
    sync
    echo 3 >/proc/sys/vm/drop_caches
}
