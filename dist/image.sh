#!/bin/sh
# Builds the container image of dist/Dockerfile from the static archive, as an OCI archive, for another machine
# where MACHINE names one. It needs buildah, and no daemon.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
need buildah buildah || fail "a container image needs buildah"
image=gristmill-$version-$machine-oci.tar
rm -f "$out"/gristmill-*-"$machine"-oci.tar
if [ "$machine" != "$here" ] && ! has_static "$machine"; then
    echo "skipped: the image of $machine, for which the static binary is missing"
    exit
fi
unpack_static "$machine"
# Nothing is left in the user's own storage, and the same files give the same image.
buildah --storage-driver vfs --root "$stage/storage" --runroot "$stage/run" bud --quiet --isolation chroot \
    --arch "$(debian_name "$machine")" --timestamp "$SOURCE_DATE_EPOCH" --label "org.opencontainers.image.version=$version" \
    --file dist/Dockerfile --tag "oci-archive:$stage/$image:gristmill:$version" "$stage/static" >"$stage/said" 2>&1 ||
    { cat "$stage/said" >&2; fail "buildah failed"; }
mv "$stage/$image" "$out"
echo "dist: $out/$image"
