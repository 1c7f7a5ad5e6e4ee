#!/bin/sh
# Times this commit and another one in turn, on a quiet machine.
#
#   bench/compare.sh COMMIT [CASE...]   builds COMMIT in target/compare; all cases, or those named
#   RUNS=20 LARGE_RUNS=6                runs of each commit; the large cases take half a minute each
#   RECORDS=1000000                     records, lines and rows of the cases that have a million of them
#
# Cases: cold      1M records, 5 s between runs         memory   10 GB in 1 GiB
#        large     10 GB in 16 GiB                      ranks    4 ranks, 10M records
#        lines     1M lines, whole                      keyed    1M lines by -k2,2
#        rows      CSV of 1M rows by two columns
#        flood     262,144 simulated messages           headline 1M keys on 65,536 simulated cores
#        instructions   of six commands, by valgrind: nearly the same on a busy machine
#
# As root, since it empties the page cache before each sort. Prints the medians and the ratio of this commit
# to the other, and beside it that of the other commit to itself: how far equal programs seem to differ. Prints
# the ratio alone where instructions are counted. It needs 32 GB of disk and, for `ranks`, MPI.
set -eu
cd "$(dirname "$0")/.."
commit=${1:?name a commit to compare with}
shift
cases=${*:-cold memory large ranks lines keyed rows flood headline instructions}
runs=${RUNS:-20} large_runs=${LARGE_RUNS:-6} records=${RECORDS:-1000000}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
tree=$PWD/target/compare/tree
place=$PWD/target/compare/work
mkdir -p "$place"
[ -d "$tree" ] || git worktree add --detach "$tree" "$commit" >/dev/null
git -C "$tree" checkout --quiet --detach "$(git rev-parse "$commit")"
cargo build --release --locked --quiet --bin gristmill
(cd "$tree" && cargo build --release --locked --quiet --bin gristmill --target-dir "$tree/target")
ours=$target/release/gristmill theirs=$tree/target/release/gristmill
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

# Name, runs, pause, and a command in which GRISTMILL stands for the binary. Each round runs this commit once
# and the other one twice; they take turns at being first.
compare() {
    name=$1 count=$2 pause=$3
    shift 3
    : >times
    mine=$(echo "$*" | sed "s|GRISTMILL|$ours|") other=$(echo "$*" | sed "s|GRISTMILL|$theirs|")
    # shellcheck disable=SC2086 # words
    for run in $(seq "$count"); do
        case $((run % 3)) in
        0) a=$(once "$pause" $mine) b=$(once "$pause" $other) c=$(once "$pause" $other) ;;
        1) b=$(once "$pause" $other) c=$(once "$pause" $other) a=$(once "$pause" $mine) ;;
        2) c=$(once "$pause" $other) a=$(once "$pause" $mine) b=$(once "$pause" $other) ;;
        esac
        echo "$a $b $c" >>times
    done
    echo "$(median 1) $(median 2) $(median 3)" | awk -v name="$name" -v commit="$commit" -v count="$count" '{
        printf "%s: %.3f s, %s %.3f s, ratio %.3f; %s to itself %.3f (%d runs each)\n",
            name, $1, commit, $2, $1 / $2, commit, $3 / $2, count
    }'
}

# Name, and a command as above, whose instructions are counted.
count() {
    name=$1
    shift
    for binary in "$ours" "$theirs"; do
        # shellcheck disable=SC2046 # words
        valgrind --tool=callgrind --callgrind-out-file=out.callgrind \
            $(echo "$*" | sed "s|GRISTMILL|$binary|") 2>&1 >/dev/null |
            sed -n 's/.*refs: *//p' | tr -d ,
    done | xargs | awk -v name="$name" -v commit="$commit" '{ printf "%s: %.0f M instructions, %s %.0f M, ratio %.4f\n", name, $1 / 1e6, commit, $2 / 1e6, $1 / $2 }'
}

generate() {
    "$ours" gensort "$1" in
}

. "$OLDPWD/bench/text.sh"

# The same reading in builds of before and after decision 0028, in options that both know.
lock_step='--burst 1 --rows 65536 --incast 16'
sort='GRISTMILL sort --format gensort in -o out'
keyed='GRISTMILL sort -k2,2 in -o out'
whole='GRISTMILL sort in -o out'
rows='GRISTMILL sort --format csv --key city --key number:num:desc in -o out'
flood='GRISTMILL sim flood --cores 4096'
header=city,number,street
for case in $cases; do
    case $case in
    cold) generate "$records" && compare cold "$runs" 5 "$sort" ;;
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
    lines) text ' ' '' >in && compare lines "$runs" 1 "$whole" ;;
    keyed) text ' ' '' >in && compare keyed "$runs" 1 "$keyed" ;;
    rows) text , "$header" >in && compare rows "$runs" 1 "$rows" ;;
    flood) compare flood "$runs" 0 "$flood --threads 2" ;;
    headline) compare headline "$large_runs" 0 GRISTMILL sim nano-sort --cores 65536 $lock_step --threads 2 ;;
    instructions)
        if ! command -v valgrind >/dev/null; then
            echo "instructions: skipped: there is no valgrind"
            continue
        fi
        generate "$records" && count "a sort of $records records" "$sort"
        text ' ' '' >in && count "of $records lines" "$whole" && count "of them by -k2,2" "$keyed"
        text , "$header" >in && count "of $records rows by two columns" "$rows"
        count "flood on 4,096 cores" "$flood --threads 1"
        count "NanoSort on 1,024 cores" "GRISTMILL sim nano-sort --cores 1024 $lock_step --threads 1"
        ;;
    *) echo "no case $case" >&2 && exit 2 ;;
    esac
done
