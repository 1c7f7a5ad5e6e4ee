#!/bin/sh
# Times this commit and another one in turn, on a quiet machine.
#
#   bench/compare.sh COMMIT [DIR]     builds COMMIT in target/compare and works in DIR (default: target/compare/work)
#   RUNS=21 BIG_RUNS=6 BIG=100000000  runs of 1M records and of BIG records (10 GB) in 1 GiB; BIG=0 leaves those out
#
# As root, since it empties the page cache before each run. Prints both medians and the ratio of this commit to the other.
set -eu
cd "$(dirname "$0")/.."
commit=${1:?name a commit to compare with}
runs=${RUNS:-21} big_runs=${BIG_RUNS:-6} big=${BIG:-100000000}
tree=$PWD/target/compare/tree
place=${2:-$PWD/target/compare/work}
mkdir -p "$place" "$(dirname "$tree")"
[ -d "$tree" ] || git worktree add --detach "$tree" "$commit" >/dev/null
git -C "$tree" checkout --quiet --detach "$(git rev-parse "$commit")"
cargo build --release --locked --quiet --package gristmill
(cd "$tree" && cargo build --release --locked --quiet --package gristmill --target-dir "$tree/target")
ours=$PWD/target/release/gristmill theirs=$tree/target/release/gristmill
trap 'rm -f "$place/in" "$place/out" "$place/times"' EXIT

# Seconds of one cold sort by binary $1 with options $2.
once() {
    rm -f "$place/out"
    sync
    echo 3 >/proc/sys/vm/drop_caches
    sleep 1
    begin=$(date +%s%N)
    # shellcheck disable=SC2086 # options are several words
    "$1" sort --format gensort $2 "$place/in" -o "$place/out"
    echo $(($(date +%s%N) - begin)) | awk '{ print $1 / 1e9 }'
}

# Name $1, records $2, options $3, runs $4.
compare() {
    "$ours" gensort "$2" "$place/in"
    : >"$place/times"
    for _ in $(seq "$4"); do
        a=$(once "$ours" "$3")
        b=$(once "$theirs" "$3")
        echo "$a $b" >>"$place/times"
    done
    median() { cut -d' ' -f"$1" "$place/times" | sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
    a=$(median 1) b=$(median 2)
    echo "$1: $a s, $commit $b s, ratio $(echo "$a $b" | awk '{ printf "%.3f", $1 / $2 }') ($4 runs each)"
}

compare "1M records, cold" 1000000 "" "$runs"
[ "$big" = 0 ] || compare "$big records in 1 GiB" "$big" "-S 1G" "$big_runs"
