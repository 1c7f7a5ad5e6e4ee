#!/bin/sh
# The crate `gristmill` as others get it: packages that build without this workspace, by the oldest
# Rust that they promise; documentation without a warning; and no breaking change without a new version.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-$PWD/target}
place=$target/published

# The crates beneath are published only because a package cannot contain another one.
crates="gristmill gristmill-record gristmill-kernel gristmill-node gristmill-codec gristmill-node-real
    gristmill-pipeline gristmill-sort gristmill-units"

quietly() {
    said=$("$@" 2>&1) || { echo "$said"; echo "published: failed: $*"; exit 1; }
    if echo "$said" | grep -A5 '^warning'; then
        echo "published: warnings of: $*"
        exit 1
    fi
}

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# Each package, as its archive has it, in the place of the registry's. cargo would build each of the
# nine packages with all those beneath it; a program that uses the top one builds each once.
echo "published: packages"
rm -rf "$place/packages" "$place/program/Cargo.lock"
mkdir -p "$place/packages" "$place/program/src"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# shellcheck disable=SC2086,SC2046 # one argument for each
quietly "$cargo" package --locked --allow-dirty --no-verify $(printf -- '--package %s ' $crates)
cat >"$place/program/Cargo.toml" <<END
[package]
name = "program"
edition = "2024"

[dependencies]
gristmill = "$version"

[workspace]

# It is run once, for a moment.
[profile.dev]
debug = false

[patch.crates-io]
END
for crate in $crates; do
    tar -C "$place/packages" -xzf "$target/package/$crate-$version.crate"
    echo "$crate = { path = \"../packages/$crate-$version\" }" >>"$place/program/Cargo.toml"
done
# Libraries of the versions that the workspace has.
cp Cargo.lock "$place/program/Cargo.lock"
cat >"$place/program/src/main.rs" <<'END'
fn main() -> Result<(), gristmill::Error> {
    let mut feed = gristmill::Sorter::new(gristmill::Format::lines()).start()?;
    feed.push(b"second\n")?;
    feed.push(b"first\n")?;
    let mut sorted = feed.finish()?;
    while let Some(line) = sorted.next()? {
        print!("{}", String::from_utf8_lossy(line));
    }
    Ok(())
}
END
rust=$cargo
if command -v rustup >/dev/null && rustup toolchain install "$oldest" --profile minimal >/dev/null 2>&1; then
    rust="rustup run $oldest cargo"
else
    echo "published: Rust $oldest cannot be installed here, and was not tried"
fi
echo "published: a program that uses them, by $rust"
# shellcheck disable=SC2086
quietly $rust build --manifest-path "$place/program/Cargo.toml" --target-dir "$place/target"
said=$("$place/target/debug/program" | tr '\n' ' ')
[ "$said" = "first second " ] || { echo "published: the program prints $said"; exit 1; }

echo "published: documentation"
quietly "$cargo" doc --no-deps --locked --package gristmill

# Against the newest release, or the last commit if there is none.
base=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || echo HEAD~1)
if "$cargo" semver-checks --version >/dev/null 2>&1 && git rev-parse --quiet --verify "$base" >/dev/null; then
    echo "published: changes since $base"
    quietly "$cargo" semver-checks --package gristmill --baseline-rev "$base"
else
    echo "published: cargo-semver-checks is not installed, and changes since $base were not checked"
fi
