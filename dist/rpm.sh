#!/bin/sh
# Packs the files of the Debian package as an RPM package, so that both have the same. It needs dpkg and
# rpmbuild, which finds the libraries that the files need.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
need rpmbuild rpm || fail "an RPM package needs rpmbuild (Debian: rpm)"
deb=$(find "$out" -name "gristmill_$version-*.deb")
[ -f "$deb" ] || fail "there is no Debian package of version $version in $out: run 'make dist-deb'"
root=$stage/root
dpkg-deb -x "$deb" "$root"
documents=$root/usr/share/doc/gristmill
# Loaders of distributions with RPM look for libraries of 64 bits there.
mkdir "$root/usr/lib64"
mv "$root"/usr/lib/libgristmill* "$root/usr/lib/pkgconfig" "$root/usr/lib64"
sed -i 's|/lib$|/lib64|' "$root/usr/lib64/pkgconfig/gristmill.pc"
# The copyright names files of Debian.
rm "$documents/copyright" "$documents/changelog.Debian.gz"
cp LICENSE-APACHE LICENSE-MIT "$documents"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

{
    # MPI and pkg-config are used where they are, as the Debian package asks for neither.
    cat <<END
%global __requires_exclude ^/usr/bin/pkg-config$
%global __requires_exclude_from ^/usr/lib/gristmill/
%global __provides_exclude_from ^/usr/lib/gristmill/
Name: gristmill
Version: $version
Release: 1
License: $(sed -n 's/^license = "\(.*\)"/\1/p' Cargo.toml)
Summary: $(sed -n 's/^description = "\(.*\)"/\1/p' crates/faces/cli/Cargo.toml)
%description
$(dpkg-deb -f "$deb" Description | sed '1d; s/^ //')
%install
cp -a "$root/." "%{buildroot}"
%files
%dir /usr/share/doc/gristmill
END
    [ ! -e "$root/usr/lib/gristmill" ] || echo "%dir /usr/lib/gristmill"
    (cd "$root" && find usr ! -type d | sort | sed 's|^|/|; s|^/usr/share/doc/.*/LICENSE-.*|%license &|')
} >"$stage/gristmill.spec"
# The files are stripped and packed already. Old versions of rpm read xz, not zstd.
rpmbuild -bb --quiet --define "_topdir $stage/rpm" --define '__os_install_post %{nil}' --define 'debug_package %{nil}' \
    --define '_build_id_links none' --define '_binary_payload w6.xzdio' --define '_buildhost localhost' \
    --define 'use_source_date_epoch_as_buildtime 1' "$stage/gristmill.spec" >"$stage/said" 2>&1 ||
    { cat "$stage/said" >&2; fail "rpmbuild failed"; }
rm -f "$out"/gristmill-*.rpm
cp "$stage"/rpm/RPMS/*/*.rpm "$out"
echo "dist: $out/$(basename "$stage"/rpm/RPMS/*/*.rpm)"
