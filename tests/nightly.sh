# shellcheck shell=sh disable=SC2034
# Common parts of the tests that need tools beside stable Rust, which source it: the flags of builds that
# such tests share, and what they say where a tool is missing. They install nothing.
cargo=${CARGO:-cargo}
# Long cases take too long with these tools.
unset GRISTMILL_LONG
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
host=$(rustc -vV | sed -n 's/^host: //p')
# The directory of the fuzz targets, and the flags of their libraries.
place=$target/instrumented

# Ends the script. `.ci/run` lets these tests be skipped.
skip() { echo "skipped: no tool: $1"; exit 0; }
has_nightly() { rustup run nightly rustc -V >/dev/null 2>&1; }

# For libFuzzer: it looks for ways that no input has taken. Stable Rust knows these, too.
coverage='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0'
flags=$coverage
toolchain=
if has_nightly; then
    toolchain=+nightly
    flags="$coverage -Zsanitizer=address"
fi
