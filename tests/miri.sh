#!/bin/sh
# Miri over fast tests of `unsafe` code: it finds undefined behaviour that no sanitizer sees.
#
#   tests/miri.sh [SECONDS]      the limit of time for each crate (1200)
#
# It needs nightly Rust with Miri: says so and does nothing without.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/nightly.sh
. tests/nightly.sh
rustup run nightly cargo miri --version >/dev/null 2>&1 ||
    skip "Miri is not here (rustup component add miri rust-src --toolchain nightly)"
seconds=${1:-1200}

# Tests draw from the system, and proptest looks for a file.
export MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=4 RUST_BACKTRACE=0 CARGO_TARGET_DIR="$target/miri"
run() {
    crate=$1 filter=$2
    set -- +nightly miri test --quiet --locked --package "gristmill-$crate" --lib
    said=$("$cargo" "$@" --no-run 2>&1 && timeout --kill-after=10 "$seconds" "$cargo" "$@" -- $filter 2>&1) ||
        { echo "$said" | tail -n 50; echo "miri: $crate failed, or took longer than $seconds s"; exit 1; }
    echo "miri: $crate: $(echo "$said" | sed -n 's/^test result: ok\. \([0-9]* passed\).*/\1/p')"
}
"$cargo" +nightly miri setup --quiet >/dev/null 2>&1 || skip "Miri cannot build its library"
run kernel ''
run machine network::store
