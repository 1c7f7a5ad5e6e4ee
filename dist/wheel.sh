#!/bin/sh
# Builds the Python wheel. maturin is installed beside it if there is none.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
if [ ! -e crates/python/pyproject.toml ]; then
    echo "dist: there is no Python package to build"
    exit 0
fi
maturin=maturin
if ! "$maturin" --version >/dev/null 2>&1; then
    maturin=$target/maturin/bin/maturin
    [ -x "$maturin" ] || { python3 -m venv "$target/maturin" && "$target/maturin/bin/pip" --quiet install 'maturin>=1.9,<2'; } ||
        fail "the wheel needs maturin, and pip could not install it"
fi
rm -f "$out"/*.whl
"$maturin" build --release --locked --strip --manifest-path crates/python/Cargo.toml --out "$out"
