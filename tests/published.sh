#!/bin/sh
# The crate `gristmill` as others get it: packages that build alone, documentation without a warning,
# the oldest Rust that it promises, and no breaking change without a new version.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}

# The crates beneath are published only because a package cannot contain another one.
packages="--package gristmill"
for name in record kernel node codec node-real pipeline sort; do
    packages="$packages --package gristmill-$name"
done

quietly() {
    said=$("$@" 2>&1) || { echo "$said"; echo "published: failed: $*"; exit 1; }
    if echo "$said" | grep -A5 '^warning'; then
        echo "published: warnings of: $*"
        exit 1
    fi
}

echo "published: packages, each built alone"
# shellcheck disable=SC2086
quietly "$cargo" package --locked --allow-dirty $packages
echo "published: documentation"
quietly "$cargo" doc --no-deps --locked --package gristmill

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if command -v rustup >/dev/null && rustup toolchain install "$oldest" --profile minimal >/dev/null 2>&1; then
    echo "published: Rust $oldest"
    # shellcheck disable=SC2086
    quietly rustup run "$oldest" cargo check --locked $packages
else
    echo "published: Rust $oldest cannot be installed here, and was not tried"
fi

# Against the newest release, or the last commit if there is none.
base=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || echo HEAD~1)
if "$cargo" semver-checks --version >/dev/null 2>&1 && git rev-parse --quiet --verify "$base" >/dev/null; then
    echo "published: changes since $base"
    quietly "$cargo" semver-checks --package gristmill --baseline-rev "$base"
else
    echo "published: cargo-semver-checks is not installed, and changes since $base were not checked"
fi
