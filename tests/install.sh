#!/bin/sh
# Installs the commands with and without DESTDIR, runs them, checks their man pages, and uninstalls.
#
#   tests/install.sh [GRISTMILL]      default: target/release/gristmill; gristmill-bench is beside it
set -eu
cd "$(dirname "$0")/.."
place=$(mktemp -d "${TMPDIR:-/tmp}/gristmill install XXXXXX")
trap 'rm -rf "$place"' EXIT INT TERM HUP
target=${CARGO_TARGET_DIR:-target}
release=$target/release/gristmill
binary=${1:-$release}
fail() { echo "install: $1"; exit 1; }

# Installs with these variables, checks what is below $1, and uninstalls.
check() {
    root=$1
    shift
    make --no-print-directory install BINARY="$binary" "$@" >"$place/said" 2>&1 || { cat "$place/said"; fail "make install"; }
    sort="$root/bin/gristmill"
    for file in bin/gristmill bin/gristmill-bench share/man/man1/gristmill.1 \
        share/man/man1/gristmill-sort.1 share/man/man1/gristmill-bench.1 \
        share/bash-completion/completions/gristmill share/zsh/site-functions/_gristmill \
        share/fish/vendor_completions.d/gristmill.fish share/bash-completion/completions/gristmill-bench \
        share/zsh/site-functions/_gristmill-bench share/fish/vendor_completions.d/gristmill-bench.fish include/gristmill.h lib/libgristmill.so \
        lib/libgristmill.a lib/pkgconfig/gristmill.pc; do
        [ -s "$root/$file" ] || fail "$file is missing"
    done
    for file in gristmill gristmill-bench; do
        ! readelf -S "$root/bin/$file" | grep -q '\.symtab' || fail "$file is not stripped"
    done
    "$sort" gensort 1000 "$place/in"
    "$sort" sort --format gensort "$place/in" -o "$place/out"
    "$sort" valsort -q "$place/out" || fail "the installed command does not sort"
    [ "$(PATH="$root/bin:$PATH" gristmill-bench --version)" = "$("$sort" --version | sed 's/ /-bench /')" ] ||
        fail "gristmill-bench is of another version"
    if [ -e "$target/mpi/libgristmill_mpi.so" ]; then
        "$sort" doctor "$place" | grep -q "shim .*/bin/../lib/gristmill/" || fail "the MPI shim is not found"
    fi
    lint "$root/share/man/man1"
    link "$root" "$@"
    make --no-print-directory uninstall BINARY="$binary" "$@" >/dev/null
    [ -z "$(find "$root" ! -type d)" ] || fail "uninstall leaves $(find "$root" ! -type d)"
}

# Builds a program in C as docs/c.md says, and runs it with the installed library.
link() {
    root=$1 prefix=${2#PREFIX=}
    case $2 in DESTDIR=*) prefix=${3#PREFIX=} ;; esac
    grep -qx "prefix=$prefix" "$root/lib/pkgconfig/gristmill.pc" || fail "gristmill.pc has another prefix"
    command -v pkg-config >/dev/null || { echo "install: gristmill.pc is not tried without pkg-config"; return 0; }
    # A directory with a space has to be copied: pkg-config escapes spaces, and a shell does not read them.
    plain=$(mktemp -d)
    cp -a "$root/." "$plain"
    flags=$(PKG_CONFIG_PATH=$plain/lib/pkgconfig pkg-config --define-variable=prefix="$plain" --cflags --libs gristmill)
    # shellcheck disable=SC2086
    cc -std=c99 crates/sorter/c/examples/records.c $flags -Wl,-rpath,"$plain/lib" -o "$plain/records" ||
        fail "a program cannot be linked"
    [ "$("$plain/records" | head -1)" = "Rome 7" ] || fail "a linked program does not sort"
    rm -rf "$plain"
}

# groff warns of what it does not understand.
lint() {
    command -v groff >/dev/null || { echo "install: man pages are not checked without groff"; return 0; }
    for page in "$1"/*.1; do
        groff -man -Tutf8 -ww -z "$page" 2>"$place/said" && [ ! -s "$place/said" ] ||
            { cat "$place/said"; fail "groff does not like $page"; }
    done
}

# A release build names its commit, unless it was built from an archive without git.
names_commit() {
    commit=$(git rev-parse --short HEAD 2>/dev/null) || return 0
    "$release" --version | grep -Eq "\($commit(, modified)?\)$" ||
        fail "--version does not name the commit $commit"
}

# cargo copies the release build that is there, and takes it away again.
by_cargo() {
    cargo=${CARGO:-cargo}
    "$cargo" install --locked --path crates/faces/cli --root "$place/cargo" >"$place/said" 2>&1 ||
        { cat "$place/said"; fail "cargo install"; }
    [ "$("$place/cargo/bin/gristmill" --version)" = "$("$release" --version)" ] || fail "cargo installs another version"
    "$cargo" uninstall gristmill-cli --root "$place/cargo" >"$place/said" 2>&1 || { cat "$place/said"; fail "cargo uninstall"; }
    [ ! -e "$place/cargo/bin/gristmill" ] || fail "cargo uninstall leaves the command"
}

# The binary of the gate's tests is no release build, and stands beside one that is of this commit.
[ "$binary" != "$release" ] && [ -z "${BUILT:-}" ] || { names_commit; by_cargo; }
check "$place/prefix" PREFIX="$place/prefix"
check "$place/root/usr" DESTDIR="$place/root" PREFIX=/usr
echo "install: passed"
