#!/bin/sh
# Builds the Python wheel.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
rm -f "$out"/*.whl
wheel=$(sh tests/python.sh wheel | tail -n 1)
# Without Python it says that it was skipped.
[ -f "$wheel" ] || fail "$wheel"
cp "$wheel" "$out"
