#!/bin/sh
# AddressSanitizer over the tests of the crates that have `unsafe` code: kernel, node-real, machine, and the
# library for C, whose examples and tests are linked with a library that is watched, too.
#
#   tests/sanitizer.sh [SECONDS]      the limit of time for all tests of Rust, and for each program in C (300)
#
# It needs nightly Rust: says so and does nothing without.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/nightly.sh
. tests/nightly.sh
has_nightly || skip "AddressSanitizer needs nightly Rust (rustup toolchain install nightly)"
seconds=${1:-300}
fail() { tail -n 50 "$said"; echo "sanitizer: $1 failed, or took longer than $seconds s"; exit 1; }

# Without the coverage of the fuzz targets, which takes longer to compile than the tests run.
place=$target/sanitized
mkdir -p "$place"
said=$place/sanitizer.log
export RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR="$place" CARGO_INCREMENTAL=0
# The kernels alone are too slow without optimisation.
set -- --quiet --locked --target "$host" --config 'profile.dev.package."*".opt-level=0' \
    --config 'profile.dev.package.wide.opt-level=1'
# Only the programs in C use these, for moments: to optimise them takes minutes.
for crate in gristmill gristmill-c gristmill-codec gristmill-pipeline gristmill-record gristmill-sort; do
    set -- "$@" --config "profile.dev.package.$crate.opt-level=0"
done
# shellcheck disable=SC2086
"$cargo" $toolchain build "$@" --package gristmill-c --lib
# shellcheck disable=SC2086
set -- $toolchain test "$@" --package gristmill-kernel --package gristmill-node-real --package gristmill-machine \
    --lib --test suite --test sorts
"$cargo" "$@" --no-run
# Of the simulator, what keeps and frees messages in every way; the rest takes minutes and no other ways.
few='--skip graphs:: --skip caches:: --skip path:: --skip determinism:: --skip ends::'

# Some tests keep memory as long as their process lives. Those that trace calls do without.
export ASAN_OPTIONS=detect_leaks=0
# shellcheck disable=SC2086
timeout --kill-after=10 "$seconds" "$cargo" "$@" -- \
    $few --skip syscalls:: --skip streamed --skip five_threads --skip long >"$said" 2>&1 || fail tests
sed -n 's/^test result: ok\. \([0-9]* passed\).*/sanitizer: \1/p' "$said"

# The runtime is that of the compiler of C, which looks for leaks as well.
unset ASAN_OPTIONS
work=$place/c
rm -rf "$work"
mkdir -p "$work"
for source in crates/sorter/c/examples/*.c crates/sorter/c/tests/programs/*.c; do
    name=$(basename "$source" .c)
    "${CC:-cc}" -std=c99 -g -fsanitize=address -I crates/sorter/c/include "$source" -o "$work/$name" \
        "$place/$host/debug/libgristmill.a" -lpthread -lm -ldl -lgcc_s
    mkdir "$work/$name.work"
    (cd "$work/$name.work" && TMPDIR=. timeout "$seconds" "../$name") >"$said" 2>&1 || fail "$name.c"
    echo "sanitizer: $name.c"
done
