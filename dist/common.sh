# Names and steps that the scripts of this directory share. It is sourced at the top of the sources.
# shellcheck shell=sh disable=SC2034 # the variables are for those scripts
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}
out=$target/dist
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

is_elf() { readelf -h "$1" >/dev/null 2>&1; }

# The shared libraries that a file names, on one line.
needs() { readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | paste -sd ' ' -; }
