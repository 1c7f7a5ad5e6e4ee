#!/bin/sh
# Packs the files that `make install` installs as a Debian package for the release of this machine. It
# needs dpkg-dev, which knows the packages of the libraries that the commands need.
#
#   DEBFULLNAME=.. DEBEMAIL=..      the maintainer, as for Debian's own tools
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
need dpkg-shlibdeps dpkg-dev || fail "a Debian package needs dpkg-shlibdeps (Debian: dpkg-dev)"
root=$stage/root
documents=$root/usr/share/doc/gristmill
shim=$root/usr/lib/gristmill/libgristmill_mpi.so
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-Gristmill developers} <${DEBEMAIL:-gristmill@localhost}>"
make --no-print-directory --silent install DESTDIR="$root" PREFIX=/usr

# The packages of the libraries that these files need, e.g. "libc6 (>= 2.34), libgcc-s1 (>= 4.2)".
packages_of() {
    mkdir -p "$stage/debian"
    printf 'Source: gristmill\n\nPackage: gristmill\nArchitecture: any\n' >"$stage/debian/control"
    (cd "$stage" && dpkg-shlibdeps -O -lroot/usr/lib "$@" 2>"$stage/said") | sed -n 's/^shlibs:Depends=//p'
}

# A shim whose MPI is of no package, such as that of a module, would not open elsewhere.
mpi=
if [ -e "$shim" ]; then
    mpi=$(packages_of "$shim" | tr ',' '\n' | sed -n 's/^ *\(lib\(open\)\{0,1\}mpi[^ ]*\|libmpich[^ ]*\).*/\1/p')
    if [ -z "$mpi" ]; then
        echo "dist: the MPI of the shim is of no Debian package, and the shim is left out"
        rm -r "$root/usr/lib/gristmill"
    fi
fi

find "$root" -type f | while read -r file; do
    if is_elf "$file"; then
        strip --strip-unneeded --remove-section=.comment "$file"
        # From $stage on, since the directory of temporary files may have blanks in its path.
        [ "$file" = "$shim" ] || echo "${file#"$stage"/}" >>"$stage/binaries"
    fi
done
# shellcheck disable=SC2046 # one argument for each
depends=$(packages_of $(cat "$stage/binaries"))
[ -n "$depends" ] || { cat "$stage/said" >&2; fail "dpkg-shlibdeps does not know the packages that the commands need"; }

install -d "$documents" "$root/DEBIAN"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
gzip -9nc CHANGELOG.md >"$documents/changelog.gz"
gzip -9nc >"$documents/changelog.Debian.gz" <<END
gristmill ($version-1) unstable; urgency=medium

  * The sources are those of version $version, see changelog.gz.

 -- $maintainer  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END
{
    cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Gristmill
Comment: The licences of the libraries in the programs are in THIRD-PARTY-LICENCES.gz.

Files: *
Copyright: The developers of Gristmill
License: Apache-2.0 or Expat

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.

License: Expat
END
    sed 's/^$/./; s/^/ /' LICENSE-MIT
} >"$documents/copyright"
sh dist/licences.sh "$(rustc -vV | sed -n 's/^host: //p')" gristmill-cli gristmill-bench gristmill-c |
    gzip -9n >"$documents/THIRD-PARTY-LICENCES.gz"

cat >"$root/DEBIAN/control" <<END
Package: gristmill
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s "$root/usr" | cut -f1)
Depends: $depends
$([ -z "$mpi" ] || echo "Suggests: $mpi, $(case $mpi in *mpich*) echo mpich ;; *) echo openmpi-bin ;; esac)")
Section: utils
Priority: optional
Description: $(sed -n 's/^description = "\(.*\)"/\1/p' crates/faces/cli/Cargo.toml | sed 's/^./\L\0/')
 Gristmill sorts lines of text, rows of CSV, TSV and JSON Lines, and records of
 bytes from disk to disk, larger than memory or not, on one machine or over MPI.
 It takes the options of GNU sort. It also simulates clusters of tiny cores.
END
sed -i '/^$/d' "$root/DEBIAN/control"
# The loader has to find the library, and packages of programs that use it depend on this one.
echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
soname=$(basename "$(readlink "$root/usr/lib/libgristmill.so")")
echo "libgristmill ${soname##*.so.} gristmill (>= $version)" >"$root/DEBIAN/shlibs"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
rm -f "$out"/gristmill_*.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/gristmill_$version-1_$architecture.deb" >/dev/null
echo "dist: $out/gristmill_$version-1_$architecture.deb"
