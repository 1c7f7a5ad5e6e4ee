#!/bin/sh
# The Python module: builds it, runs its tests and the examples of docs/python.md, and checks its types,
# in a virtual environment below the target directory.
#
#   tests/python.sh                 builds the library as `make test` has built all others (dev profile)
#   tests/python.sh installed       builds the wheel (release profile), and installs it
#   tests/python.sh wheel [TRIPLE]  only builds the wheel, for another target than this machine's
#
# A wheel is built with the features that this crate alone asks for, so Cargo compiles most crates once
# more. That takes minutes, and is too much for `make test`.
set -eu
cd "$(dirname "$0")/.."
mode=${1:-built}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
place=$target/python
wheels=$place/wheels
fail() { echo "python: $1"; exit 1; }
skip() { echo "skipped: the Python module, $1"; exit 0; }

"${PYTHON:-python3}" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
    skip "without Python 3.9 or later and its venv"
[ -x "$place/venv/bin/pip" ] || "${PYTHON:-python3}" -m venv --clear "$place/venv"
PATH=$place/venv/bin:$PATH
export PYTHONDONTWRITEBYTECODE=1
tools="mypy pyarrow polars pandas duckdb"
case $mode in
built) ;;
# Zig links for an old glibc; maturin checks that nothing newer is needed. The wheel's own tool is for dist/wheel.sh.
installed) tools="$tools maturin[zig]>=1.9,<2" ;;
wheel) tools="maturin[zig]>=1.9,<2 wheel" ;;
*) fail "$mode is none of: installed, wheel" ;;
esac
# shellcheck disable=SC2086
pip install --quiet --disable-pip-version-check $tools >"$place/said" 2>&1 ||
    { cat "$place/said"; skip "whose tools cannot be installed"; }

if [ "$mode" = built ]; then
    pip uninstall --quiet --yes gristmill >/dev/null 2>&1 || true
    # All tests are built already. Named along with them, the module has their features.
    "${CARGO:-cargo}" build --workspace --locked --quiet --lib --tests
    rm -rf "$place/module"
    mkdir -p "$place/module"
    cp -r crates/faces/python/python/gristmill "$place/module"
    ln -s "$target/debug/lib_gristmill.so" "$place/module/gristmill/_gristmill.abi3.so"
    export PYTHONPATH="$place/module"
else
    rm -rf "$wheels"
    maturin build --quiet --locked --release --strip --zig --compatibility manylinux2014 --manifest-path crates/faces/python/Cargo.toml --out "$wheels" \
        ${2:+--target "$2"} >"$place/said" 2>&1 || { cat "$place/said"; fail "the wheel was not built"; }
    set -- "$wheels"/gristmill-*-cp39-abi3-*.whl
    [ -e "$1" ] || fail "there is no wheel for all versions from 3.9 in $wheels"
    [ "$mode" = installed ] || { echo "$1"; exit 0; }
    pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$1"
fi

timeout --kill-after=10 1800 python -m unittest discover --quiet --buffer --start-directory crates/faces/python/tests
mypy --strict --no-error-summary --cache-dir "$place/mypy" crates/faces/python/python/gristmill crates/faces/python/tests/typed.py
python -m mypy.stubtest --concise --ignore-disjoint-bases gristmill
echo "python: passed"
