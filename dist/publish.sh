#!/bin/sh
# Publishes what `make dist` has built: the crates, the wheels, the image of this machine, and a release of the files.
# It prints each command, and runs it only if PUBLISH=yes. Logging in is up to each tool: cargo, twine,
# skopeo and gh. Theirs are also the names of other registries (CARGO_REGISTRY_DEFAULT,
# TWINE_REPOSITORY_URL).
#
#   IMAGE=REGISTRY/NAME     where the image goes; without it, nowhere
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
publish=${PUBLISH:-no}
wheels=$(find "$out" -name "gristmill-$version-*.whl")
image=$out/gristmill-$version-$(uname -m)-oci.tar

# What must not be published; a rehearsal only tells of it.
refuse() { echo "publish: $1" >&2; [ "$publish" != yes ] || exit 1; }
run() {
    echo "+ $*"
    [ "$publish" != yes ] || "$@"
}

[ "$publish" = yes ] || echo "publish: nothing is published without PUBLISH=yes; these are the commands"
[ -z "$(git status --porcelain)" ] || refuse "the working tree has changes: commit them"
[ "$(git describe --tags --exact-match 2>/dev/null)" = "v$version" ] ||
    refuse "this commit has no tag v$version: run 'git tag v$version' and 'make dist' again"
! grep -q '^repository = "https://your\.forge/' Cargo.toml ||
    refuse "Cargo.toml names no repository yet: its 'repository' is an example"
[ -n "$wheels" ] || refuse "there is no wheel of version $version in $out: run 'make dist'"
(cd "$out" && sha256sum --check --quiet --strict SHA256SUMS) || refuse "files of $out are not those of its SHA256SUMS"

# cargo cannot take back what it has published, so all other tools must be there before.
for tool in twine gh ${IMAGE:+skopeo}; do
    command -v "$tool" >/dev/null || refuse "there is no $tool in PATH"
done
[ -z "${IMAGE:-}" ] || [ -f "$image" ] || refuse "there is no image in $out: run 'make dist-image'"

# shellcheck disable=SC2046 # one argument for each; cargo orders them itself
run "$cargo" publish --locked $(crates | sed 's/^/--package /')
# shellcheck disable=SC2086 # one argument for each
run twine upload --disable-progress-bar $wheels
[ -z "${IMAGE:-}" ] || run skopeo copy "oci-archive:$image" "docker://$IMAGE:$version"
# All that has a checksum, but for the crates.
# shellcheck disable=SC2046 # no name of an artifact has blanks
run gh release create "v$version" --generate-notes "$out/SHA256SUMS" $(sed "/\.crate$/d; s|^[^ ]*  |$out/|" "$out/SHA256SUMS")
echo "publish: by hand, $out/gristmill.rb goes into a tap and $out/recipe.yaml into a conda feedstock"
