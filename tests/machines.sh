#!/bin/sh
# The tests of kernel, record, codec and sort on other machines: s390x, where the high byte of a number comes
# first, and aarch64. Debian's compilers link them, and qemu-user runs them. Then sorts with --resume that are
# killed on one machine go on on the other.
#
#   tests/machines.sh [all] [ARCH...]      all: also the tests that are SLOW there (s390x aarch64)
#
# Root on Debian gets qemu-user and the compilers. Rust's library comes from rustup, else from a compiler that
# has it: Debian's rustc-web with libstd-rust-web-dev:ARCH. A machine that lacks one of these is named as not run.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
fail() { echo "machines: $1" >&2; exit 1; }
target=$(realpath -m "$target")/machines
unset GRISTMILL_LONG # which takes too long here
export CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="$target"
SLOW='hundred schedules:: chained:: cluster crashes:: cut_pipes:: disturbed:: equal_lines:: every_death_leaves exchange
    faults:: first_records:: line_limits:: line_memory:: merge:: merge_inputs:: stripes two_pass:: unique_sets::'
slow=; for test in $SLOW; do slow="$slow --skip $test"; done
[ "${1:-}" != all ] || { slow=; shift; }
[ $# -gt 0 ] || set -- s390x aarch64

# Whether all is there to build for a machine and to run it.
has_tools() {
    need "qemu-$1" qemu-user || lacks "$1" qemu-user || return
    need "$1-linux-gnu-gcc" "gcc-$1-linux-gnu" || lacks "$1" "gcc-$1-linux-gnu" || return
    # The compiler alone lacks the files that programs are linked with. They are no command.
    has_libc "$1" || need "libc of $1" "libc6-dev-$(echo "$1" | sed s/aarch64/arm64/)-cross" || has_libc "$1" ||
        lacks "$1" "its libc" || return
    unset RUSTC
    rustup target add "$1-unknown-linux-gnu" >/dev/null 2>&1 && return
    for RUSTC in rustc /usr/bin/rustc; do
        library=$("$RUSTC" --print target-libdir --target "$1-unknown-linux-gnu" 2>/dev/null) || continue
        [ ! -d "$library" ] || { export RUSTC; return; }
    done
    lacks "$1" "Rust's library, which rustup cannot fetch"
}
has_libc() { [ -e "/usr/$1-linux-gnu/lib/libc.so" ]; }
lacks() { echo "skipped: no tool: $1 is not run, for lack of $2"; return 1; }

# Cargo for a machine. To optimise the libraries of others takes longer than they run.
on() {
    arch=$1 upper=$(echo "$1" | tr '[:lower:]' '[:upper:]') command=$2
    shift 2
    env "CC_${arch}_unknown_linux_gnu=$arch-linux-gnu-gcc" \
        "CARGO_TARGET_${upper}_UNKNOWN_LINUX_GNU_LINKER=$arch-linux-gnu-gcc" \
        "CARGO_TARGET_${upper}_UNKNOWN_LINUX_GNU_RUNNER=qemu-$arch -L /usr/$arch-linux-gnu" \
        "${cargo:?}" "$command" --quiet --locked --target "$arch-unknown-linux-gnu" \
        --config profile.dev.debug=false --config 'profile.dev.package."*".opt-level=1' "$@"
}

# The command on a machine. Its process is that of qemu.
command_of() { echo "qemu-$1 -L /usr/$1-linux-gnu $target/$1-unknown-linux-gnu/debug/gristmill"; }

# A sort that is killed on one machine goes on on another.
# shellcheck disable=SC2086 # commands with their arguments
crossed() {
    from="$(command_of "$1") $sort" to="$(command_of "$2") $sort"
    $from 2>/dev/null & sorting=$!
    until set -- .gristmill-*.epoch-1; [ -e "$1" ]; do
        kill -0 $sorting 2>/dev/null || fail "it ended before it was killed: $from"
        sleep 0.01
    done
    kill -9 $sorting
    wait $sorting 2>/dev/null || :
    $to 2>said || { cat said; fail "it does not go on: $to"; }
    grep -q '^resumed: ' said || { cat said; fail "it begins again: $to"; }
    cmp out expected || fail "it makes another output: $to"
}

machines=
for arch; do
    has_tools "$arch" || continue
    machines="$machines $arch"
    # shellcheck disable=SC2086 # options
    on "$arch" test --package gristmill-kernel --package gristmill-record --package gristmill-codec \
        --package gristmill-sort -- $slow
    on "$arch" build --package gristmill-cli --no-default-features --features sorter
done
cd "$stage"
sort='sort --format gensort in -o out -S 16M --resume'
for from in $machines; do
    [ -e in ] || $(command_of "$from") gensort 600000 in
    [ -e expected ] || $(command_of "$from") sort --format gensort in -o expected --quiet
    for to in $machines; do
        [ "$from" = "$to" ] || { crossed "$from" "$to"; echo "machines: a sort of $from goes on on $to"; }
    done
done
