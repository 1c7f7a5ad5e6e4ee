#!/bin/sh
# Builds the container image of dist/Dockerfile from the static archive, as an OCI archive. It needs
# buildah, and no daemon.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
need buildah buildah || fail "a container image needs buildah"
unpack_static
image=gristmill-$version-$(uname -m)-oci.tar
rm -f "$out"/gristmill-*-oci.tar
# Nothing is left in the user's own storage, and the same files give the same image.
buildah --storage-driver vfs --root "$stage/storage" --runroot "$stage/run" bud --quiet --isolation chroot \
    --timestamp "$SOURCE_DATE_EPOCH" --label "org.opencontainers.image.version=$version" \
    --file dist/Dockerfile --tag "oci-archive:$stage/$image:gristmill:$version" "$stage/static" >"$stage/said" 2>&1 ||
    { cat "$stage/said" >&2; fail "buildah failed"; }
mv "$stage/$image" "$out"
echo "dist: $out/$image"
