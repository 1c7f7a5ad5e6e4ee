# Common parts of the measuring scripts, which source it: a temporary directory here, and the timing of
# a sort.
memory=${MEMORY:-16G}
gristmill=${GRISTMILL:-$(cd "$(dirname "$0")/.." && pwd)/target/release/gristmill}
place=$(mktemp -d "$PWD/gristmill-bench-XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM HUP
cd "$place"

# Runs a command and prints its seconds.
seconds() { { command time -f %e "$@" >/dev/null; } 2>&1 | tail -n 1; }

# Sorts the file $1 to `out` and prints the seconds.
sort_once() { seconds "$gristmill" sort --format gensort -S "$memory" "$1" -o out; }

# The next run finds no output, and no input in the page cache.
drop() {
    rm -f out
    sync
    echo 3 >/proc/sys/vm/drop_caches
}
