#!/bin/sh
# Builds a static `gristmill` for any Linux of this machine, or of another that MACHINE names, and packs it with
# its man pages, completions and licences as a tar archive that is laid out like /usr/local.
#
# The C library is musl. Where Rust's part for it is missing and rustup cannot fetch it, glibc is
# linked statically instead, and the archive's name says so. Neither can open an MPI library.
# Zig compiles for another machine. Its archive has the man pages and completions of this one's.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
triple=$machine-unknown-linux-musl
kind=$machine-linux-musl
build=build

has_std() { [ -n "$(find "$(rustc --print sysroot)/lib/rustlib/$1/lib" -name 'libstd-*.rlib' 2>/dev/null)" ]; }

# For all that is linked: our own paths are not in messages, so that each checkout gives the same bytes.
# Paths may have blanks, so flags end with the separator that cargo takes instead.
unit=$(printf '\037')
flags="--remap-path-prefix=$PWD=gristmill$unit--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
given=${CARGO_ENCODED_RUSTFLAGS:-$(echo "${RUSTFLAGS:-}" | tr -s ' ' "$unit")}
# What is skipped below must not be there from an earlier run.
rm -f "$out/gristmill-"*"-$machine-linux-"*.tar.gz
reason=
has_std "$triple" || rustup target add "$triple" >"$out/rustup.log" 2>&1 || true
if ! has_std "$triple"; then
    reason="rustup cannot add the target $triple"
elif [ "$machine" != "$here" ]; then
    if ! need "$machine-linux-gnu-strip" "binutils-$(echo "$machine" | tr _ -)-linux-gnu"; then
        reason="there is no $machine-linux-gnu-strip"
    elif ! has_zig; then
        reason="pip cannot install cargo-zigbuild"
    fi
    build=zigbuild
elif ! need musl-gcc musl-tools; then
    reason="there is no musl-gcc (Debian: musl-tools)"
fi
if [ -n "$reason" ]; then
    [ "${MUSL:-}" != only ] || fail "$reason"
    [ "$machine" = "$here" ] || { echo "skipped: the static binary of $machine: $reason" && exit; }
    echo "dist: $reason, so glibc is linked statically instead of musl"
    triple=$machine-unknown-linux-gnu
    kind=$machine-linux-glibc-static
    flags="$flags$unit-Ctarget-feature=+crt-static"
fi

CARGO_ENCODED_RUSTFLAGS="${given:+$given$unit}$flags" "$cargo" "$build" --release --locked --package gristmill-cli --target "$triple"
binary=$target/$triple/release/gristmill
if readelf -l "$binary" | grep -q INTERP || [ -n "$(needs "$binary")" ]; then
    fail "$binary is not static: it needs $(needs "$binary")"
fi

name=gristmill-$version-$kind
documents=$stage/$name/share/doc/gristmill
if [ "$machine" = "$here" ]; then
    make --no-print-directory --silent install-command BINARY="$binary" DESTDIR="$stage/$name" PREFIX=
    install -d "$documents"
    install -m 644 README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$documents"
else
    unpack_static "$here"
    mv "$stage/static" "$stage/$name"
    install -m 755 "$binary" "$stage/$name/bin"
    "$machine-linux-gnu-strip" "$stage/$name/bin/gristmill"
fi
sh dist/licences.sh "$triple" gristmill-cli >"$documents/THIRD-PARTY-LICENCES"
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
    gzip -9n >"$out/$name.tar.gz"
echo "dist: $out/$name.tar.gz"
