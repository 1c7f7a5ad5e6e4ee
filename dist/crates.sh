#!/bin/sh
# Packs the library, the command and the crates beneath, as `cargo publish` would upload them; compiles none.
# tests/published.sh tries them.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
# shellcheck disable=SC2046 # one argument for each
"$cargo" package --quiet --locked --allow-dirty --no-verify $(crates | sed 's/^/--package /')
rm -f "$out"/*.crate
for crate in $(crates); do cp "$target/package/$crate-$version.crate" "$out"; done
echo "dist: $(crates | wc -l) crates in $out"
