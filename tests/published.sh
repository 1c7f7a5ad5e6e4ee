#!/bin/sh
# The crates as others get them: a program that uses `gristmill`, and the command by `cargo install`, from a
# registry in a directory, without this workspace, by the oldest Rust that they promise; documentation without
# a warning; and no breaking change without a new version.
#
#   tests/published.sh [command]      command: also installs the command, which takes minutes
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-$PWD/target}
place=$target/published

# The crates beneath are published only because a package cannot contain another one.
crates=$(grep -L '^publish = false' crates/*/*/Cargo.toml | xargs grep -hm1 '^name = ' | cut -d'"' -f2)

quietly() {
    said=$("$@" 2>&1) || { echo "$said"; echo "published: failed: $*"; exit 1; }
    if echo "$said" | grep -A5 '^warning'; then
        echo "published: warnings of: $*"
        exit 1
    fi
}

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# A registry in a directory: each package, as its archive has it, and the libraries of others. cargo would
# build each package with all those beneath it; a program that uses the top one builds each once.
echo "published: packages"
rm -rf "$place/registry" "${place:?}/home" "$place/program"
mkdir -p "$place/home" "$place/program/src"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# shellcheck disable=SC2086,SC2046 # one argument for each
quietly "$cargo" package --locked --allow-dirty --no-verify $(printf -- '--package %s ' $crates)
quietly "$cargo" vendor --locked --versioned-dirs "$place/registry"
for crate in $crates; do
    archive=$target/package/$crate-$version.crate
    tar -C "$place/registry" -xzf "$archive"
    echo "{\"files\": {}, \"package\": \"$(sha256sum "$archive" | cut -d' ' -f1)\"}" \
        >"$place/registry/$crate-$version/.cargo-checksum.json"
done
cat >"$place/home/config.toml" <<END
[source.crates-io]
replace-with = "here"

[source.here]
directory = "$place/registry"
END
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
END
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
quietly env CARGO_HOME="$place/home" $rust build --offline --manifest-path "$place/program/Cargo.toml" --target-dir "$place/target"
said=$("$place/target/debug/program" | tr '\n' ' ')
[ "$said" = "first second " ] || { echo "published: the program prints $said"; exit 1; }

if [ "${1:-}" = command ]; then
    # Unoptimised, which takes a third of the time.
    echo "published: cargo install gristmill-cli"
    # shellcheck disable=SC2086
    quietly env CARGO_HOME="$place/home" PATH="$place/root/bin:$PATH" $rust install --offline --debug --force --locked \
        --root "$place/root" --target-dir "$place/target" --version "$version" gristmill-cli
    said=$(printf 'b\na\n' | "$place/root/bin/gristmill" sort | tr '\n' ' ')
    [ "$said" = "a b " ] || { echo "published: the installed command prints $said"; exit 1; }
    "$place/root/bin/gristmill" sim nano-sort --cores 64 >/dev/null
fi

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
