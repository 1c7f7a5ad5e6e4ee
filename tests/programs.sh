#!/bin/sh
# Builds the example of docs/programs.md, a crate outside of the workspace, and runs it on several
# machines and on threads, and as the page does. Checks that the Rust of the page is that of the example.
# Then builds examples/npb, and runs LU and BT of class S, which verify themselves, and its experiments.
#
# It shares the workspace's target directory and its libraries of others. Crates of the workspace are
# other crates to cargo here, so they are compiled once more, without optimisation.
#
#   tests/programs.sh
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-$PWD/target}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM HUP

fail() { echo "programs: $1"; exit 1; }

# The Rust blocks of the page are parts of the example: an empty line in a block stands for code that is
# left out, and the page indents less.
awk 'function end() {
        if (part != "" && !index(source "\n", part "\n")) { print "not in the example:" part; wrong = 1 }
        part = ""
    }
    { sub(/^ +/, "") }
    FILENAME != "docs/programs.md" { source = source "\n" $0; next }
    /^```/ { end(); inside = $0 == "```rust"; blocks += inside; next }
    inside && /^$/ { end(); next }
    inside { part = part "\n" $0 }
    END { exit wrong || blocks < 5 }' examples/all-reduce/src/*.rs docs/programs.md >"$place/said" ||
    { cat "$place/said"; fail 'docs/programs.md shows other Rust'; }

set -- --config 'profile.dev.package."*".opt-level=3' --config 'profile.dev.debug="line-tables-only"'
# The packages that the workspace names in its profile.
for setting in $(sed -n '/^\[profile\.dev\.package\]$/,/^$/s/ = /=/p' Cargo.toml); do
    set -- "$@" --config "profile.dev.package.$setting"
done
for manifest in crates/*/*/Cargo.toml; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -1)
    set -- "$@" --config "profile.dev.package.$name.opt-level=0" \
        --config "profile.dev.package.$name.debug=false"
done
for example in all-reduce npb; do
    # The versions of the workspace.
    cp Cargo.lock "examples/$example/Cargo.lock"
    CARGO_TARGET_DIR=$target "$cargo" build --quiet --offline \
        --manifest-path "examples/$example/Cargo.toml" "$@"
done
program=$target/debug/all-reduce
torus=examples/all-reduce/torus.toml

is_in() { grep -qF -- "$1" "$2" || { cat "$2"; fail "no '$1' in the output of $3"; }; }

"$program" >"$place/nanopu"
is_in 'result    16 cores have 256 sums' "$place/nanopu" nanopu
is_in 'messages  480 in ' "$place/nanopu" nanopu
is_in 'gather' "$place/nanopu" nanopu
"$program" --machine nebula --cores 24 --words 100 >"$place/nebula"
is_in '24 cores have 100 sums' "$place/nebula" nebula
"$program" --machine threads --cores 8 >"$place/threads"
is_in '8 cores have 256 sums' "$place/threads" threads

"$program" --machine "$torus" --runs 2 --json --trace "$place/trace" >"$place/torus"
is_in '"machine": "torus"' "$place/torus" torus
is_in '"passed": true' "$place/torus" torus
is_in '"name":"switch 33"' "$place/trace" 'the trace'
is_in '"name":"reduce"' "$place/trace" 'the trace'
# A time that depends on threads of this computer would differ.
time_of() { grep time_us "$1"; }
"$program" --machine "$torus" --runs 2 --json --threads 2 >"$place/threads-2"
[ "$(time_of "$place/torus")" = "$(time_of "$place/threads-2")" ] || fail 'times depend on --threads'

if "$program" --machine "$torus" --cores 17 2>"$place/said"; then fail '17 cores fit in 16'; fi
is_in '--cores 17: the machine torus holds at most 16' "$place/said" 'too many cores'
if "$program" --words 5000 2>"$place/said"; then fail 'a message of 314 words'; fi
is_in 'a chunk has 314 words' "$place/said" 'too long a message'
"$program" --help >"$place/help"
is_in '--words <N>' "$place/help" --help
is_in '--machine <NAME|FILE|threads>' "$place/help" --help

# The commands of the page, beside the torus, all but those that build.
mkdir "$place/page"
cp "$torus" "$place/page"
sed -n 's|^\$ target/release/all-reduce|all-reduce|p' docs/programs.md >"$place/commands"
[ -s "$place/commands" ] || fail 'docs/programs.md has no commands'
PATH=$(realpath "$target/debug"):$PATH
(cd "$place/page" && timeout 600 sh -eux "$place/commands") >"$place/said" 2>&1 ||
    { cat "$place/said"; fail 'a command of docs/programs.md'; }
echo "programs: the example ran on four machines, and as its page does"

npb=$(realpath "$target/debug/npb")
while read -r arguments; do
    # shellcheck disable=SC2086 # words
    "$npb" $arguments >"$place/npb"
    is_in ' class S verified: ' "$place/npb" "npb $arguments"
done <<'END'
lu --ranks 1
lu --ranks 2
lu --ranks 4 --on nanopu
bt --ranks 1
bt --ranks 4
bt --ranks 9 --on nanopu
END
if "$npb" bt --dissipation 0.2501 >"$place/npb" 2>&1; then fail 'other equations verify'; fi
is_in 'BT class S failed' "$place/npb" 'npb with other equations'
"$npb" lu --class A --ranks 64 --on nanopu --skeleton --mflops-per-node 38 --iterations 2 >"$place/npb"
is_in '28,224 messages with 27.0 MB' "$place/npb" 'the skeleton'
# Figures of the NOW paper at their small size, where a line fails if its figure is no longer what it was.
for figure in figure-6 table-1 figure-7 figure-8; do
    (cd examples/npb && "$npb" lab run "figures/$figure.toml") >"$place/npb" ||
        { cat "$place/npb"; fail "examples/npb/figures/$figure.toml"; }
done
# As tests of the workspace, without MPI it says so.
shim=${GRISTMILL_MPI:-$target/mpi/libgristmill_mpi.so}
ending=
if [ -e "$shim" ] && command -v mpirun >"$place/said"; then
    for run in 'lu 4' 'bt 9'; do
        GRISTMILL_MPI=$shim OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
            OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
            timeout 600 mpirun -n "${run#* }" "$npb" "${run% *}" --on mpi >"$place/npb"
        is_in "${run#* } ranks of MPI" "$place/npb" "npb on $run ranks of MPI"
        is_in ' class S verified: ' "$place/npb" "npb on $run ranks of MPI"
    done
    ending=', and over MPI'
else
    echo "programs: skipped npb over MPI: no mpirun, or no $shim (make mpi)"
fi
echo "programs: LU and BT of class S verified on threads and simulated$ending; four figures stayed as they were"
