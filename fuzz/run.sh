#!/bin/sh
# Coverage-guided fuzzing of each parser: drawn inputs, of which those that take new ways through the code are
# changed further. A target checks properties, and not only that nothing panics.
#
#   fuzz/run.sh [SECONDS] [TARGET...]      20 seconds each; all targets of fuzz/fuzz_targets, two at once
#   SEED=1                                 another seed is another run
#
# It begins with the files of fuzz/corpus/TARGET, which are in the repository, and keeps what it finds in
# target/instrumented/corpus. An input that fails is told, and kept in target/instrumented/failed: give it to
# the target's program to see it again, and put it into fuzz/corpus once it is mended.
#
# It builds with nightly Rust and AddressSanitizer if they are here, otherwise with stable Rust, and needs a
# compiler of C++ for libFuzzer. `cargo +nightly fuzz run TARGET` (cargo-fuzz) works as well.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/nightly.sh
. tests/nightly.sh
command -v "${CXX:-c++}" >/dev/null || skip "the fuzz targets need a compiler of C++ for libFuzzer"
seconds=${1:-20}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- $(ls fuzz/fuzz_targets | sed 's/\.rs$//')

# The versions of the workspace.
cp Cargo.lock fuzz/Cargo.lock
# shellcheck disable=SC2086
RUSTFLAGS="$flags" CARGO_TARGET_DIR="$place" "$cargo" $toolchain build --release --quiet --target "$host" \
    --manifest-path fuzz/Cargo.toml
mkdir -p "$place/failed"
fuzz() {
    mkdir -p "$place/corpus/$1" "fuzz/corpus/$1"
    # A parser takes far less than the limits of memory (MiB) and of time for an input (s).
    "$place/$host/release/$1" -seed="${SEED:-1}" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=20 \
        -max_len=4096 -print_final_stats=1 -artifact_prefix="$place/failed/$1-" \
        "$place/corpus/$1" "fuzz/corpus/$1" >"$place/$1.log" 2>&1 ||
        { grep -avE '^#[0-9]' "$place/$1.log" | tail -n 40; echo "fuzz: $1: failed"; return 1; }
    echo "fuzz: $1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$place/$1.log") inputs in $seconds s"
}
status=0
while [ $# -gt 0 ]; do
    fuzz "$1" & first=$!
    if [ $# -gt 1 ]; then fuzz "$2" || status=1; shift; fi
    wait "$first" || status=1
    shift
done
exit $status
