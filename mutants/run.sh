#!/bin/sh
# Mutation tests: changes one expression or function, runs the tests, and lists the changes that no test
# noticed. A surviving change shows behaviour that no test checks.
#
#   mutants/run.sh                 100 changes drawn from all of: codec gristmill machine node-mpi record sort
#   SEED=7 COUNT=200 MINUTES=120   other changes, more of them, more time in all
#   mutants/run.sh record kernel   drawn from these crates; kernel, node, node-real and pipeline are known, too
#   COUNT=all FILES='a.rs b/*.rs'  only files that match these globs of whole paths, e.g. 'crates/sorter/record/src/*.rs'
#   ONLY='in Field::'              only changes whose names (cargo mutants --list) match this regular expression
#   TESTS='--lib'                  only these tests, as cargo test takes them: a quick first look
#
# A crate has as many of the drawn changes as it has of all. First each change meets the tests of its crate
# that take seconds. Then the survivors meet the others and those of the crates above (wider_of), which take minutes. Changes
# that were not reached within MINUTES (60) are counted as not tried.
#
# Fails if more than 5 % of those that were tried survive. Kill each by a test, or list it in
# .cargo/mutants.toml with the reason why no test can. target/mutation/survivors has them; target/mutation/CRATE
# and CRATE-wider hold the log and the diff of each.
#
# It works on a copy in target/mutation/tree, whose path stays the same, so that builds of an earlier run are used.
# The first run builds everything, in about ten minutes of its time.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
count=${COUNT:-100}
seed=${SEED:-1}
end=$(($(date +%s) + 60 * ${MINUTES:-60}))
results=$PWD/target/mutation
tree=$results/tree
export CARGO_TARGET_DIR="$tree/target"
# Each change is compiled with what its predecessor left, as the profile says: that takes a third of the time.
unset CARGO_INCREMENTAL
# The shim of `make mpi`, which the tests look for in the target directory.
shim=$PWD/target/mpi/libgristmill_mpi.so
[ ! -e "$shim" ] || export GRISTMILL_MPI="${GRISTMILL_MPI:-$shim}"

# The first test that fails is enough. The option of the tests for that is not stable, so they are told that they
# may take it: they and not the compiler, which would build all anew.
host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
export "CARGO_TARGET_${host}_RUNNER=env RUSTC_BOOTSTRAP=1"

# A mutant may allocate any amount of memory, so its address space is limited (KiB).
ulimit -v $((16 << 20))

# The tests that judge a crate, as cargo test takes them: its own tests that take seconds. For
# `node` they include the suite of every backend.
tests_of() {
    case $1 in
    kernel) echo "--lib --test=sorts" ;;
    node)
        echo "--package=gristmill-machine --package=gristmill-node-real --package=gristmill-pipeline" \
            "--lib --test=values --test=conformance --test=suite"
        ;;
    codec | gristmill | node-mpi | pipeline | record | sort) echo "--lib --test=suite" ;;
    machine | node-real) echo "--lib --test=suite --test=conformance" ;;
    *) echo "mutants: there is no list of tests for '$1' in mutants/run.sh" >&2 && exit 2 ;;
    esac
}

# Tests whose time is most of a crate's: only survivors meet them.
slow_of() {
    case $1 in
    sort)
        echo "hundred chained:: cluster cut_pipes:: disturbed:: disks:: endless_line every_ line_memory::" \
            "lines::pipes_of_lines resume:: steps:: thirty_two_cores"
        ;;
    esac
}

# Tests that take long and find little. The kit of `kernel` leaves long inputs to the
# sorts that have code of their own for them. One test of `gristmill` runs an example, which is not built here.
skipped_of() {
    case $1 in
    gristmill) echo "face::a_key_of_a_struct" ;;
    kernel) echo "streamed five_threads one_of_one mergesort::long radix::long flag::long" ;;
    node) echo "syscalls::" ;;
    sort) echo "schedules:: crashes:: faults:: set_faults:: flips:: threads:: large_records::" ;;
    esac
}

# The crates whose tests look at the survivors of a crate: those that have tests of what it is for, and those of
# its own tests that are slow.
wider_of() {
    case $1 in
    codec | node-mpi) echo cli ;;
    gristmill) echo c ;;
    machine) echo grain lab ;;
    record | sort) echo sort cli ;;
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
        if [ -L "$file" ]; then
            mkdir -p "$tree/$(dirname "$file")"
            ln -sfn "$(readlink "$file")" "$tree/$file"
        elif [ -f "$file" ] && ! cmp -s "$file" "$tree/$file"; then
            mkdir -p "$tree/$(dirname "$file")"
            cp "$file" "$tree/$file"
        fi
    done
    (cd "$tree" && find . -path ./target -prune -o -type f -print) | while read -r file; do
        [ -f "$file" ] || rm "$tree/$file"
    done
}

package_of() { [ "$1" = gristmill ] && echo gristmill || echo "gristmill-$1"; }

# All changes of a crate, by their names.
list() {
    set -- --package "$(package_of "$1")" ${ONLY:+--re "$ONLY"}
    for file in ${FILES:-}; do set -- "$@" --file "$file"; done
    $cargo mutants --dir "$tree" --list "$@"
}

# Draws $1 of the lines of standard input; SEED decides which.
draw() {
    awk -v seed="$seed" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' | sort |
        cut -f2- | if [ "$1" = all ]; then cat; else head -n "$1"; fi
}

# A diff in which just the lines of standard input, FILE:LINE:..., are new. cargo-mutants takes fields that are
# deleted from a struct expression whatever their names are, but not where their lines are not in a diff.
diff_of() {
    cut -d: -f1,2 | sort -u -t: -k1,1 -k2,2n | (
        cd "$tree" && awk -F: '
            $1 != file { file = $1; new = 0; at = 0; printf "--- a/%s\n+++ b/%s\n", file, file }
            {
                while (at < $2 && (getline text < file) > 0) at++
                printf "@@ -%d,0 +%d,1 @@\n+%s\n", $2 - 1 - new++, $2, text
            }'
    )
}

# Tries the changes of crate $1 whose names are in $results/names, with its tests, or with those of the crates
# behind it. The results are those of $run.
try() {
    crate=$1 run=$1
    shift
    tests=${TESTS:-$(tests_of "$crate")} skips=$(skipped_of "$crate")
    others=$*
    [ -n "$others" ] || skips="$skips $(slow_of "$crate")"
    set -- --package "$(package_of "$crate")"
    diff_of <"$results/names" >"$results/names.diff"
    set -- "$@" --in-diff "$results/names.diff"
    while read -r name; do
        set -- "$@" --re "^$(echo "$name" | sed 's/[][\\.*^$+?(){}|]/\\&/g')\$"
    done <"$results/names"
    # These tests have just passed without a change, or `make test` has.
    [ -z "$others" ] || run=$crate-wider set -- "$@" --baseline skip --timeout 400
    for other in $others; do set -- "$@" --test-package "$(package_of "$other")"; done
    # Building takes these, too, so that nothing else is built.
    for test in $tests; do set -- "$@" --cargo-arg="$test"; done
    set -- "$@" -- -- -Zunstable-options --fail-fast
    for skip in $skips; do set -- "$@" --skip "$skip"; done
    left=$((end - $(date +%s)))
    [ "$left" -gt 0 ] || return 0
    rm -rf "${results:?}/$run"
    mkdir -p "$results/$run" && code=0
    echo "mutants: $run: $(wc -l <"$results/names") changes, at most $((left / 60)) minutes"
    timeout --signal=INT "$left" nice -n 10 $cargo mutants --dir "$tree" --in-place --no-times \
        --output "$results/$run" --profile mutants "$@" || code=$?
    # 2: some were missed; 3: some took too long, and were noticed so; 124: the minutes are over.
    case $code in
    0 | 2 | 3 | 124) ;;
    *) echo "mutants: $run: cargo mutants ended with $code, see above" >&2 && exit 1 ;;
    esac
}

# The names of one kind of result: caught, missed, timeout, unviable.
of_kind() { cat "$results/$1/mutants.out/$2.txt" 2>/dev/null || true; }

set -f
install_if_missing
copy_tree
crates=${*:-codec gristmill machine node-mpi record sort}
for crate in $crates; do
    tests_of "$crate" >/dev/null
    list "$crate" | sed "s/^/$crate /"
done >"$results/all"
draw "$count" <"$results/all" >"$results/drawn"
echo "mutants: $(wc -l <"$results/drawn") of $(wc -l <"$results/all") changes, drawn with SEED=$seed"
for crate in $crates; do
    sed -n "s/^$crate //p" "$results/drawn" >"$results/names"
    rm -rf "${results:?}/$crate" "$results/$crate-wider"
    [ ! -s "$results/names" ] || try "$crate"
done
for crate in $crates; do
    of_kind "$crate" missed >"$results/names"
    # shellcheck disable=SC2046 # a word for each
    if [ -s "$results/names" ] && [ -n "$(wider_of "$crate")" ] && [ -z "${TESTS:-}" ]; then
        try "$crate" $(wider_of "$crate")
    fi
done

# Those that survive their own crate and are not noticed by a wider look.
: >"$results/survivors"
caught=0 timeout=0 unviable=0
for crate in $crates; do
    for run in "$crate" "$crate-wider"; do
        caught=$((caught + $(of_kind "$run" caught | wc -l)))
        timeout=$((timeout + $(of_kind "$run" timeout | wc -l)))
        unviable=$((unviable + $(of_kind "$run" unviable | wc -l)))
    done
    { of_kind "$crate-wider" caught; of_kind "$crate-wider" timeout; } >"$results/noticed"
    of_kind "$crate" missed | grep -vxF -f "$results/noticed" >>"$results/survivors" || true
done
missed=$(wc -l <"$results/survivors")
tried=$((caught + timeout + missed))
echo "mutants: $caught caught, $timeout timeouts, $missed missed, $unviable unviable," \
    "$(($(wc -l <"$results/drawn") - tried - unviable)) not tried; these survive:"
sed 's/^/    /' "$results/survivors"
[ "$tried" -gt 0 ] || { echo "mutants: none was tried"; exit 1; }
[ "$((100 * missed))" -le "$((5 * tried))" ] || { echo "mutants: more than 5 % survive"; exit 1; }
