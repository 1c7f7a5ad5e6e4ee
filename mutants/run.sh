#!/bin/sh
# Mutation tests: changes one expression or function of a crate, runs that crate's tests, and lists the
# changes that no test noticed. A surviving change shows behaviour that no test checks.
#
#   mutants/run.sh [CRATE...]      record kernel node pipeline node-real sort; all of them by default
#   PARTS=1 mutants/run.sh record  every mutant of the crate; by default one of PARTS=8, drawn by SEED=0
#   MINUTES=60                     the most minutes for each crate (default 20); mutants not run by then are left out
#   FILES='a.rs b/*.rs'            only these files, as globs of whole paths, e.g. 'crates/record/src/ascii.rs'
#   ONLY='in Field::'              only mutants whose names (cargo mutants --list) match this regular expression
#   TESTS='--lib'                  only these tests, as cargo test takes them: a quick first look
#
# On two idle cores a mutant takes 3 to 15 seconds, so by default this takes up to two hours. Results are in
# target/mutation/CRATE/mutants.out: missed.txt lists the survivors, log/ and diff/ hold each run and each change.
# Fails if one survives. Kill it by a test, or list it in .cargo/mutants.toml with the reason why no test can.
#
# It works on a copy in target/mutation/tree, whose path stays the same, so that builds of an earlier run are used.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
parts=${PARTS:-8}
seed=${SEED:-0}
minutes=${MINUTES:-20}
results=$PWD/target/mutation
tree=$results/tree
export CARGO_TARGET_DIR="$tree/target"

# A mutant may allocate any amount of memory, so its address space is limited (KiB).
ulimit -v $((16 << 20))

# The tests that judge a crate, as cargo test takes them: its own tests that take seconds. For
# `node` they include the suite of every backend.
tests_of() {
    case $1 in
    record) echo "--lib --test=suite" ;;
    kernel) echo "--lib --test=sorts" ;;
    node)
        echo "--package=gristmill-machine --package=gristmill-node-real --package=gristmill-pipeline" \
            "--lib --test=values --test=conformance --test=conformance_driver --test=disks --test=driver --test=suite"
        ;;
    pipeline | node-real | sort) echo "--lib --test=suite" ;;
    *) echo "mutants: there is no list of tests for '$1' in mutants/run.sh" >&2 && exit 2 ;;
    esac
}

# Tests that take long and find little. The kit of `kernel` leaves long inputs to the
# sorts that have code of their own for them.
skipped_of() {
    case $1 in
    kernel) echo "streamed five_threads one_of_one mergesort::long radix::long flag::long" ;;
    node) echo "syscalls::" ;;
    sort) echo "schedules:: crashes:: faults:: set_faults:: flips:: threads:: large_records::" ;;
    esac
}

install_if_missing() {
    if ! $cargo mutants --version >/dev/null 2>&1; then
        echo "mutants: installing cargo-mutants"
        $cargo install cargo-mutants --locked --quiet
    fi
}

# Makes the copy equal to this tree. Only different files are written, and get a new time: with an old
# time cargo would take the build of a mutant for that of its source.
copy_tree() {
    mkdir -p "$tree"
    git ls-files --cached --others --exclude-standard | while read -r file; do
        if [ -f "$file" ] && ! cmp -s "$file" "$tree/$file"; then
            mkdir -p "$tree/$(dirname "$file")"
            cp "$file" "$tree/$file"
        fi
    done
    (cd "$tree" && find . -path ./target -prune -o -type f -print) | while read -r file; do
        [ -f "$file" ] || rm "$tree/$file"
    done
}

# Runs a crate's part of the mutants. Succeeds if none survived until its time ran out.
run() {
    tests=${TESTS:-$(tests_of "$1")}
    skips=$(skipped_of "$1")
    set -- "$1" --package "gristmill-$1" ${ONLY:+--re "$ONLY"}
    for file in ${FILES:-}; do set -- "$@" --file "$file"; done
    # Building takes these, too, so that nothing else is built.
    for test in $tests; do set -- "$@" --cargo-arg="$test"; done
    set -- "$@" -- --
    for skip in $skips; do set -- "$@" --skip "$skip"; done
    crate=$1 && shift
    mkdir -p "$results/$crate" && code=0
    echo "mutants: $crate, part $((seed % parts)) of $parts, at most $minutes minutes"
    timeout --signal=INT "${minutes}m" nice -n 10 $cargo mutants --dir "$tree" --in-place --no-times \
        --output "$results/$crate" --profile mutants --shard "$((seed % parts))/$parts" --sharding round-robin \
        "$@" || code=$?
    # 2: some were missed; 3: some took too long, and were noticed so; 124: the minutes are over.
    case $code in
    0 | 2 | 3 | 124) ;;
    *) echo "mutants: $crate: cargo mutants ended with $code, see above" >&2 && return 1 ;;
    esac
    for kind in caught missed timeout unviable; do
        echo "mutants: $crate: $(wc -l <"$results/$crate/mutants.out/$kind.txt") $kind"
    done
    [ ! -s "$results/$crate/mutants.out/missed.txt" ]
}

set -f
install_if_missing
copy_tree
status=0
for crate in ${*:-record kernel node pipeline node-real sort}; do
    run "$crate" || status=1
done
exit $status
