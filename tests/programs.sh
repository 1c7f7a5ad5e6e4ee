#!/bin/sh
# Builds the example of docs/programs.md, a crate outside of the workspace, and runs it on several
# machines and on threads. It shares the workspace's target directory, and builds with the workspace's
# profile, so only the example itself is compiled.
#
#   tests/programs.sh
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-$PWD/target}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM HUP

set -- --config 'profile.dev.package."*".opt-level=3'
for manifest in crates/*/Cargo.toml; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -1)
    set -- "$@" --config "profile.dev.package.$name.opt-level=1"
done
# The versions of the workspace.
cp Cargo.lock examples/all-reduce/Cargo.lock
CARGO_TARGET_DIR=$target "$cargo" build --quiet --offline \
    --manifest-path examples/all-reduce/Cargo.toml "$@"
program=$target/debug/all-reduce
torus=examples/all-reduce/torus.toml

fail() { echo "programs: $1"; exit 1; }
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
times() { grep time_us "$1"; }
"$program" --machine "$torus" --runs 2 --json --threads 2 >"$place/threads-2"
[ "$(times "$place/torus")" = "$(times "$place/threads-2")" ] || fail 'times depend on --threads'

if "$program" --machine "$torus" --cores 17 2>"$place/said"; then fail '17 cores fit in 16'; fi
is_in '--cores 17: the machine torus holds at most 16' "$place/said" 'too many cores'
if "$program" --words 5000 2>"$place/said"; then fail 'a message of 314 words'; fi
is_in 'a chunk has 314 words' "$place/said" 'too long a message'
"$program" --help >"$place/help"
is_in '--words <N>' "$place/help" --help
is_in '--machine <NAME|FILE|threads>' "$place/help" --help
echo "programs: the example ran on four machines"
