# Names and steps that the scripts of this directory share. It is sourced at the top of the sources.
# shellcheck shell=sh disable=SC2034 # the variables are for those scripts
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}
out=$target/dist
# The machine that this is, and the one that a script packs for, x86_64 or aarch64.
here=$(uname -m)
machine=${MACHINE:-$here}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# The same commit gives the same archives: their files have its time. Without git it is now.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
mkdir -p "$out"
stage=$(mktemp -d "${TMPDIR:-/tmp}/gristmill-dist-XXXXXX")
trap 'rm -rf "$stage"' EXIT INT TERM HUP
umask 022

fail() { echo "dist: $1" >&2; exit 1; }

# Makes sure that a command is there: root on Debian installs its package.
need() {
    if ! command -v "$1" >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "dist: installing $2"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
            apt-get -o DPkg::Lock::Timeout=300 install -qq -y --no-install-recommends "$2" >"$out/apt.log" 2>&1 ||
            echo "dist: that failed; see $out/apt.log" >&2
    fi
    command -v "$1" >/dev/null
}

# Makes sure that `cargo zigbuild` is there, which links for other machines; Zig comes along, from pip.
has_zig() {
    zig=$(realpath -m "$target")/dist-tools
    [ -x "$zig/bin/pip" ] || "${PYTHON:-python3}" -m venv --clear "$zig" >"$out/pip.log" 2>&1 || return
    PATH=$zig/bin:$PATH
    pip install --quiet --disable-pip-version-check 'cargo-zigbuild>=0.20,<1' 'ziglang>=0.13' >"$out/pip.log" 2>&1
}

is_elf() { readelf -h "$1" >/dev/null 2>&1; }

# The shared libraries that a file names, on one line.
needs() { readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | paste -sd ' ' -; }

# Whether there is a static archive of a machine: that of another one may not have been built.
has_static() { [ -n "$(find "$out" -name "gristmill-$version-$1-linux-*.tar.gz")" ]; }

# The name of a machine in Debian and in images.
debian_name() { echo "$1" | sed 's/aarch64/arm64/; s/x86_64/amd64/'; }

# The static archive of a machine, unpacked: what other packages of the command are made from.
unpack_static() {
    archive=$(find "$out" -name "gristmill-$version-$1-linux-*.tar.gz")
    [ -f "$archive" ] || fail "there is not one static archive of version $version for $1 in $out: remove old ones, or run 'make dist-musl'"
    rm -rf "$stage/static"
    mkdir "$stage/static"
    tar -C "$stage/static" --strip-components=1 -xzf "$archive"
}

# The libraries of others that are compiled into packages, below each the ones that it uses:
# DEPTH|NAME|VERSION|LICENCE. Ours are of a path, and have no version.
tree() {
    triple=$1
    shift
    packages=$(printf -- '--package %s ' "$@")
    # shellcheck disable=SC2086
    "$cargo" tree --locked $packages --target "$triple" --edges normal --prefix depth --no-dedupe --format '|{p}|{l}' |
        sed -n 's/^\([0-9]*|[^ ]*\) v[^ ]* ([^)]*\/[^|]*|/\1||/p; t; s/^\([0-9]*|[^ ]*\) v\([^ |]*\)[^|]*|/\1|\2|/p'
}

# The library, the command and the crates beneath.
crates() { grep -L '^publish = false' crates/*/*/Cargo.toml | xargs grep -hm1 '^name = ' | cut -d'"' -f2; }
