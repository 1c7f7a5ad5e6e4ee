#!/bin/sh
# Times this commit and another one in turn, on a quiet machine.
#
#   bench/compare.sh COMMIT [CASE...]   builds COMMIT in target/compare; all cases, or those named
#   RUNS=20 LARGE_RUNS=6                runs of each commit; the large cases take half a minute each
#
# Cases: cold      1M records, 5 s between runs         memory   10 GB in 1 GiB
#        large     10 GB in 16 GiB                      ranks    4 ranks, 10M records
#        flood     262,144 simulated messages           headline 1M keys on 65,536 simulated cores
#        instructions   of a sort and of NanoSort, by valgrind: the same on a busy machine
#
# As root, since it empties the page cache before each sort. Prints both medians and the ratio of
# this commit to the other. It needs 32 GB of disk and, for `ranks`, MPI.
set -eu
cd "$(dirname "$0")/.."
commit=${1:?name a commit to compare with}
shift
cases=${*:-cold memory large ranks flood headline instructions}
runs=${RUNS:-20} large_runs=${LARGE_RUNS:-6}
tree=$PWD/target/compare/tree
place=$PWD/target/compare/work
mkdir -p "$place"
[ -d "$tree" ] || git worktree add --detach "$tree" "$commit" >/dev/null
git -C "$tree" checkout --quiet --detach "$(git rev-parse "$commit")"
cargo build --release --locked --quiet --bin gristmill
(cd "$tree" && cargo build --release --locked --quiet --bin gristmill --target-dir "$tree/target")
ours=$PWD/target/release/gristmill theirs=$tree/target/release/gristmill
trap 'rm -f "$place/in" "$place"/out* "$place/times"' EXIT
cd "$place"

# Seconds of a command, after a pause of $1 seconds. A sort finds no output and an empty cache.
once() {
    pause=$1
    shift
    rm -f out*
    sync
    echo 3 >/proc/sys/vm/drop_caches
    sleep "$pause"
    begin=$(date +%s%N)
    "$@" >/dev/null
    echo $(($(date +%s%N) - begin)) | awk '{ print $1 / 1e9 }'
}

median() {
    cut -d' ' -f"$1" times | sort -n |
        awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# Name, runs, pause, and a command in which GRISTMILL stands for the binary. The commits take turns
# at being first.
compare() {
    name=$1 count=$2 pause=$3
    shift 3
    : >times
    for run in $(seq "$count"); do
        a='' b=''
        [ $((run % 2)) = 0 ] || a=$(once "$pause" $(echo "$*" | sed "s|GRISTMILL|$ours|"))
        b=$(once "$pause" $(echo "$*" | sed "s|GRISTMILL|$theirs|"))
        [ -n "$a" ] || a=$(once "$pause" $(echo "$*" | sed "s|GRISTMILL|$ours|"))
        echo "$a $b" >>times
    done
    a=$(median 1) b=$(median 2)
    ratio=$(echo "$a $b" | awk '{ printf "%.3f", $1 / $2 }')
    echo "$name: $a s, $commit $b s, ratio $ratio ($count runs each)"
}

# Name, and a command as above, whose instructions are counted.
count() {
    name=$1
    shift
    for binary in "$ours" "$theirs"; do
        valgrind --tool=callgrind --callgrind-out-file=out.callgrind \
            $(echo "$*" | sed "s|GRISTMILL|$binary|") 2>&1 >/dev/null |
            sed -n 's/.*refs: *//p' | tr -d ,
    done | xargs | awk -v name="$name" -v commit="$commit" '{ printf "%s: %.0f M instructions, %s %.0f M, ratio %.3f\n", name, $1 / 1e6, commit, $2 / 1e6, $1 / $2 }'
}

generate() {
    "$ours" gensort "$1" in
}

# The same reading in builds of before and after decision 0028, in options that both know.
lock_step='--burst 1 --rows 65536 --incast 16'
sort='GRISTMILL sort --format gensort in -o out'
for case in $cases; do
    case $case in
    cold) generate 1000000 && compare cold "$runs" 5 "$sort" ;;
    memory) generate 100000000 && compare memory "$large_runs" 5 "$sort -S 1G" ;;
    large) generate 100000000 && compare large "$large_runs" 5 "$sort -S 16G" ;;
    ranks)
        if ! command -v mpirun >/dev/null; then
            echo "ranks: skipped: there is no mpirun; \`make mpi\` installs it"
            continue
        fi
        make -s -C "$tree" mpi >/dev/null && make -s -C "$OLDPWD" mpi >/dev/null
        mpirun='mpirun --allow-run-as-root --oversubscribe -n 4'
        generate 10000000 && compare ranks "$runs" 1 "$mpirun $sort"
        ;;
    flood) compare flood "$runs" 0 GRISTMILL sim flood --cores 4096 --threads 2 ;;
    headline) compare headline "$large_runs" 0 GRISTMILL sim nano-sort --cores 65536 $lock_step --threads 2 ;;
    instructions)
        if ! command -v valgrind >/dev/null; then
            echo "instructions: skipped: there is no valgrind"
            continue
        fi
        generate 1000000 && count "a sort of 1M records" "$sort"
        count "NanoSort on 1,024 cores" GRISTMILL sim nano-sort --cores 1024 $lock_step
        ;;
    *) echo "no case $case" >&2 && exit 2 ;;
    esac
done
