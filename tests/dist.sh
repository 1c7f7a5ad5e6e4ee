#!/bin/sh
# Tries the artifacts of `make dist` where nothing else is installed: the static binary, the image and the
# RPM package in an empty root directory, the Debian package in a Debian of nothing but its essential
# packages, the wheel in a new virtual environment. It says how long each takes until it has sorted. qemu-user runs
# the static binary and the wheel of another machine.
# Recipes, the bill of materials and CITATION.cff are read by the tools of others, from pip.
#
#   tests/dist.sh [built]      built: tries those of target/dist, and builds none
#
# Users other than root need unshare(1), and skip the packages.
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

begin() { began=$(date +%s%N); }

# Sorts a first file by the command $2.., and tells how long that took from nothing, which `begin` was.
first() {
    name=$1
    shift
    printf 'b\na\n' >"$stage/first"
    [ "$("$@" sort <"$stage/first" | tr '\n' ' ')" = "a b " ] || fail "$name does not sort"
    milliseconds=$((($(date +%s%N) - began) / 1000000))
    echo "dist: $name sorted the first file after $milliseconds ms"
    [ "$milliseconds" -lt 60000 ] || fail "$name needs more than a minute"
}

static_binary() {
    root=$stage/empty
    begin
    unpack_static "$here"
    mkdir -p "$root/tmp"
    is_complete "$stage/static" ""
    cp "$stage/static/bin/gristmill" "$root"
    if ! $enter "$root" /gristmill --version; then
        [ "$enter" != chroot ] || fail "the static binary does not run in an empty root directory"
        echo "skipped: the static binary was not tried in an empty root directory: unshare(1) is not allowed"
        return
    fi
    # shellcheck disable=SC2086
    first "the static binary" $enter "$root" /gristmill
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

# Its layers in an empty root directory.
image() {
    root=$stage/image
    mkdir -p "$stage/oci" "$root"
    tar -C "$stage/oci" -xf "$out/gristmill-$version-$here-oci.tar"
    blob() { echo "$stage/oci/blobs/$(jq -r "$1" "$2" | tr : /)"; }
    manifest=$(blob '.manifests[0].digest' "$stage/oci/index.json")
    for layer in $(jq -r '.layers[].digest' "$manifest" | tr : /); do tar -C "$root" -xf "$stage/oci/blobs/$layer"; done
    command=$(jq -r '.config.Entrypoint[0]' "$(blob .config.digest "$manifest")")
    sorts "$root" "$command"
    echo "dist: the container image sorts by $command"
}

# With the libraries that its programs name, and nothing else.
rpm_package() {
    root=$stage/rpm
    rpm=$(find "$out" -name "gristmill-$version-*.rpm")
    mkdir -p "$root/tmp"
    rpm --root "$root" --initdb
    # Debian's rpm warns that dpkg is the tool there.
    rpm --root "$root" --install --nodeps "$rpm" 2>"$stage/said" || { cat "$stage/said"; fail "rpm --install"; }
    rpm --root "$root" --verify --nodeps gristmill
    ldd "$root"/usr/bin/gristmill* | sed -n 's/[^/]*\(\/[^ ]*\) (.*/\1/p' | sort -u | while read -r library; do
        cp --parents --dereference "$library" "$root"
    done
    is_complete "$root/usr" .gz
    rpm --query --package --requires "$rpm" | grep -q '^libc\.so\.6(GLIBC' || fail "the RPM package does not ask for glibc"
    rpm --query --package --provides "$rpm" | grep -q '^libgristmill\.so\.' || fail "the RPM package does not offer the library"
    sorts "$root" gristmill
    echo "dist: the RPM package sorts in a root directory of its own files and glibc"
}

wheel() {
    wheel=$(find "$out" -name "gristmill-$version-cp39-abi3-manylinux*_$here.whl")
    if [ ! -f "$wheel" ]; then
        [ -z "$(find "$out" -name "gristmill-*.whl")" ] || fail "the wheel is not tagged for manylinux"
        echo "skipped: the wheel, which needs Python 3.9 or later"
        return
    fi
    root=$stage/venv
    begin
    "${PYTHON:-python3}" -m venv "$root"
    "$root/bin/pip" install --quiet --no-index --find-links "$out" gristmill
    first "the wheel" "$root/bin/gristmill"
    "$root/bin/gristmill" --version | grep -q " $version" || fail "the wheel has another version"
    "$root/bin/gristmill" gensort -a 20000 "$stage/lines"
    "$root/bin/python" -c 'import gristmill, sys; gristmill.sort_file(sys.argv[1], sys.argv[2])' "$stage/lines" "$stage/by-python"
    "$root/bin/gristmill" sort "$stage/lines" -o "$stage/by-command"
    cmp "$stage/by-python" "$stage/by-command"
    [ -s "$root/share/man/man1/gristmill.1" ] || fail "the wheel has no man page"
}

# Where only the files of another machine are, by an emulator.
other_machine() {
    archive=$(find "$out" -name "gristmill-$version-*-linux-*.tar.gz" ! -name "*-$here-*")
    [ -n "$archive" ] || { echo "skipped: no tool: another machine's compiler, as 'make dist' told" && return; }
    [ -f "$archive" ] || fail "there are static archives of several other machines in $out: remove old ones"
    other=${archive#"$out/gristmill-$version-"}
    other=${other%%-*}
    emulator=qemu-$other-static
    need "$emulator" qemu-user-static || { echo "skipped: no tool: $emulator, for the files of $other" && return; }
    unpack_static "$other"
    is_complete "$stage/static" ""
    root=$stage/$other
    mkdir -p "$root/tmp"
    cp "$stage/static/bin/gristmill" "$(command -v "$emulator")" "$root"
    sorts "$root" "/$emulator" /gristmill
    echo "dist: the static binary of $other sorts in an empty root directory"
    wheel=$(find "$out" -name "gristmill-$version-cp39-abi3-manylinux*_$other.whl")
    if [ ! -f "$wheel" ] || ! need mmdebstrap mmdebstrap; then
        echo "skipped: no tool: the wheel of $other, or mmdebstrap for a Python of $other"
        return
    fi
    root=$stage/$other-debian
    mmdebstrap --quiet --variant=extract --architectures="$(debian_name "$other")" \
        --include=python3 "$suite" "$root" 2>"$stage/said" || { cat "$stage/said"; fail "there is no Python of $other"; }
    cp "$(command -v "$emulator")" "$root"
    "${PYTHON:-python3}" -m zipfile -e "$wheel" "$root/wheel"
    cp "$stage/$other/tmp/lines" "$root/tmp"
    chroot "$root" "/$emulator" /usr/bin/python3 -c 'import sys
sys.path.insert(0, "/wheel")
import gristmill
gristmill.sort_file("/tmp/lines", "/tmp/sorted")'
    LC_ALL=C sort "$root/tmp/lines" | cmp - "$root/tmp/sorted"
    # pip would make it executable.
    chmod 755 "$root/wheel/gristmill-$version.data/scripts/gristmill"
    chroot "$root" "/$emulator" "/wheel/gristmill-$version.data/scripts/gristmill" --version
    echo "dist: the wheel of $other sorts by a Python of $other"
}

# What the tools of others say of the files that describe a release.
descriptions() {
    grep -q "^version: $version\$" CITATION.cff || fail "CITATION.cff has another version than Cargo.toml"
    if command -v ruby >/dev/null; then ruby -c "$out/gristmill.rb" >/dev/null; else echo "skipped: no tool: ruby, for the formula"; fi
    checks=$target/dist-root/checks
    # One needs an old library that another cannot have.
    for tool in cffconvert 'cyclonedx-python-lib[json-validation]>=8 py-rattler-build'; do
        place=$checks-${tool%%[!a-z]*}
        [ -x "$place/bin/pip" ] || "${PYTHON:-python3}" -m venv "$place"
        # shellcheck disable=SC2086
        "$place/bin/pip" install --quiet $tool || { echo "skipped: no tool: $tool, for descriptions" && return; }
    done
    "$checks-cffconvert/bin/cffconvert" --validate --infile CITATION.cff
    mkdir "$stage/recipe"
    # The archive that is here, in the place of the release's.
    sed "s|url: .*/\(gristmill-\)|url: file://$(realpath "$out")/\1|" "$out/recipe.yaml" >"$stage/recipe/recipe.yaml"
    "$checks-cyclonedx/bin/python" - "$out/gristmill-$version.cdx.json" "$stage/recipe" <<'END'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from rattler_build import Stage0Recipe

bill, place = sys.argv[1:]
if wrong := JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(bill).read()):
    sys.exit(f"{bill}: {wrong}")
for recipe in Stage0Recipe.from_file(f"{place}/recipe.yaml").render():
    recipe.run_build(output_dir=place, channels=[])
END
    root=$stage/conda
    mkdir -p "$root/tmp"
    "${PYTHON:-python3}" -m zipfile -e "$(find "$stage/recipe" -name 'gristmill-*.conda')" "$stage/recipe"
    tar -C "$root" --zstd -xf "$stage"/recipe/pkg-*.tar.zst
    sorts "$root" /bin/gristmill
    echo "dist: the conda package of the recipe sorts"
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
    begin
    cp "$out"/gristmill_*.deb "$root/tmp/gristmill.deb"
    # Debian's own way, without a network: all that it depends on is there.
    chroot "$root" apt-get install -qq -y /tmp/gristmill.deb >"$stage/said" 2>&1 || { cat "$stage/said"; fail "apt-get install"; }
    first "the Debian package" chroot "$root" gristmill
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
(cd "$out" && sha256sum --check --quiet --strict SHA256SUMS)
static_binary
wheel
descriptions
if [ "$(id -u)" = 0 ]; then
    other_machine
    image
    rpm_package
fi
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
    make --no-print-directory dist >/dev/null
    diff "$stage/first" "$out/SHA256SUMS" || fail "packed again, the same binaries give other archives"
fi
echo "dist: passed"
