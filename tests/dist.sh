#!/bin/sh
# Tries the artifacts of `make dist` where nothing else is installed: the static binary in an empty
# root directory, the Debian package in a Debian of nothing but its essential packages.
#
#   tests/dist.sh [built]      built: tries those of target/dist, and builds none
#
# Users other than root need unshare(1), and skip the Debian package.
# The bare Debian (mmdebstrap) is kept in target/dist-root for the next time.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
base=$target/dist-root/$suite.tar
enter=chroot
if [ "$(id -u)" != 0 ]; then
    enter="unshare --user --map-root-user chroot"
fi

# Sorts with the command "$@" in the root directory $1, whose /tmp it may write. It is called alone, as
# set -e has no effect before || or in a condition.
sorts() {
    root=$1
    shift
    $enter "$root" "$@" gensort 200000 /tmp/in
    $enter "$root" "$@" sort --format gensort -S 16M /tmp/in -o /tmp/out -q
    $enter "$root" "$@" valsort -q /tmp/out
    $enter "$root" "$@" gensort -a 20000 /tmp/lines
    $enter "$root" "$@" sort -k2 /tmp/lines -o /tmp/sorted.zst -q
    [ "$($enter "$root" "$@" sort --top 1 -k2 /tmp/sorted.zst)" = "$(LC_ALL=C sort -k2 "$root/tmp/lines" | head -1)" ]
    $enter "$root" "$@" sim nano-sort --cores 64 >"$stage/said"
}

is_complete() {
    for file in share/man/man1/gristmill.1"$2" share/man/man1/gristmill-sort.1"$2" \
        share/bash-completion/completions/gristmill share/zsh/site-functions/_gristmill \
        share/fish/vendor_completions.d/gristmill.fish share/doc/gristmill/THIRD-PARTY-LICENCES"$2"; do
        [ -s "$1/$file" ] || fail "$file is missing in $1"
    done
}

static_binary() {
    root=$stage/empty
    mkdir -p "$stage/static" "$root/tmp"
    tar -C "$stage/static" --strip-components=1 -xzf "$(ls "$out"/gristmill-*-linux-*.tar.gz)"
    is_complete "$stage/static" ""
    cp "$stage/static/bin/gristmill" "$root"
    if ! $enter "$root" /gristmill --version; then
        [ "$enter" != chroot ] || fail "the static binary does not run in an empty root directory"
        echo "skipped: the static binary was not tried in an empty root directory: unshare(1) is not allowed"
        return
    fi
    echo "dist: the static binary sorts in an empty root directory"
    sorts "$root" /gristmill
    $enter "$root" /gristmill doctor /tmp | grep -q "no MPI in a static build" ||
        fail "the static binary does not say that it has no MPI"
    # As Open MPI starts the first of two ranks.
    if OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 $enter "$root" /gristmill sort --format gensort \
        /tmp/in -o '/tmp/part-{rank}' 2>"$stage/said"; then
        fail "the static binary sorts alone as one of two ranks"
    fi
    grep -q "no MPI in a static build" "$stage/said" || { cat "$stage/said"; fail "a rank does not say that it has no MPI"; }
}

# In the background, since it waits for the network.
bare_debian() {
    [ -e "$base" ] && return
    mkdir -p "$target/dist-root"
    mmdebstrap --quiet --variant=apt "$suite" "$target/dist-root/new.tar" >"$target/dist-root/said" 2>&1 &&
        mv "$target/dist-root/new.tar" "$base"
}

# All names but those of dpkg's and apt's own records.
names() { (cd "$1" && find . -path ./var/lib/dpkg -prune -o -path ./var/lib/apt -prune -o -path ./var/cache -prune \
    -o -path ./var/log -prune -o -path ./tmp -prune -o -print | sort); }

debian_package() {
    root=$stage/bare
    mkdir "$root"
    tar -C "$root" -xf "$base"
    names "$root" >"$stage/before"
    cp "$out"/gristmill_*.deb "$root/tmp/gristmill.deb"
    # Debian's own way, without a network: all that it depends on is there.
    chroot "$root" apt-get install -qq -y /tmp/gristmill.deb >"$stage/said" 2>&1 || { cat "$stage/said"; fail "apt-get install"; }
    chroot "$root" dpkg --verify gristmill
    is_complete "$root/usr" .gz
    for file in include/gristmill.h lib/libgristmill.a lib/libgristmill.so lib/pkgconfig/gristmill.pc; do
        [ -s "$root/usr/$file" ] || fail "$file is missing in the package"
    done
    chroot "$root" ldconfig -p | grep -q 'libgristmill\.so\.' || fail "the loader does not find the library"
    for page in "$root"/usr/share/man/man1/gristmill*.gz; do
        zcat "$page" | grep -q '^\.TH' || fail "$page is no man page"
    done
    # shellcheck disable=SC2016
    chroot "$root" bash -c '. /usr/share/bash-completion/completions/gristmill && complete -p gristmill' >/dev/null
    echo "dist: the installed package sorts in a bare $suite"
    sorts "$root" gristmill
    chroot "$root" gristmill-bench --version
    chroot "$root" apt-get purge -qq -y gristmill >"$stage/said" 2>&1 || { cat "$stage/said"; fail "apt-get purge"; }
    names "$root" >"$stage/after"
    diff "$stage/before" "$stage/after" || fail "purging the package leaves these files"
    echo "dist: the package is removed without a trace"
}

can_make_debian=no
if [ "$(id -u)" != 0 ] || [ -z "$suite" ] || ! need mmdebstrap mmdebstrap; then
    echo "skipped: the Debian package was not tried in a bare Debian: that needs root and mmdebstrap"
else
    can_make_debian=yes
    bare_debian &
    bare=$!
fi
[ "${1:-}" = built ] || make --no-print-directory dist
static_binary
# A package that goes to no archive closes no bug there, and its maintainer may be a user of this machine.
accepted=initial-upload-closes-no-bugs,bogus-mail-host,bogus-mail-host-in-debian-changelog
# One package has the commands and the library, as `make install` does, for machines of one architecture.
accepted=$accepted,package-name-doesnt-match-sonames,link-to-shared-library-in-wrong-package
accepted=$accepted,pkg-config-unavailable-for-cross-compilation
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "$out"/gristmill_*.deb --suppress-tags "$accepted" ||
        fail "lintian finds mistakes in the package"
fi
if [ "$can_make_debian" = yes ]; then
    wait "$bare" || { cat "$target/dist-root/said"; fail "mmdebstrap could not make a bare $suite"; }
    debian_package
fi
if [ "${1:-}" != built ]; then
    cp "$out/SHA256SUMS" "$stage/first"
    make --no-print-directory dist-musl dist-deb table >/dev/null
    diff "$stage/first" "$out/SHA256SUMS" || fail "packed again, the same binaries give other archives"
fi
echo "dist: passed"
