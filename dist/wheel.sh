#!/bin/sh
# Builds the Python wheel, for another machine where MACHINE names one, and adds the static `gristmill` with its
# man pages and completions: pip puts the command beside Python's. Without Python 3.9, or without the static
# binary of another machine, it succeeds and builds none, so that `make dist` goes on.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
triple=$machine-unknown-linux-gnu
rm -f "$out"/*_"$machine".whl
if [ "$machine" != "$here" ]; then
    if ! has_static "$machine" || ! rustup target add "$triple" >"$out/rustup.log" 2>&1; then
        echo "skipped: the wheel of $machine, for which Rust's library or the static binary is missing"
        exit
    fi
fi
unpack_static "$machine"
wheel=$(sh tests/python.sh wheel ${MACHINE:+"$triple"} | tail -n 1)
case $wheel in skipped:*) echo "$wheel" && exit ;; esac
[ -f "$wheel" ] || fail "$wheel"
python=$target/python/venv/bin/python
"$python" -m wheel unpack --dest "$stage" "$wheel" >/dev/null
root=$stage/gristmill-$version
data=$root/gristmill-$version.data
licences=$root/gristmill-$version.dist-info/licenses
install -d "$data/scripts" "$data/data/share" "$licences"
cp "$stage/static/bin/gristmill" "$data/scripts"
(cd "$stage/static/share" && cp -r man bash-completion zsh fish "$data/data/share")
cp LICENSE-APACHE LICENSE-MIT "$licences"
sh dist/licences.sh "$triple" gristmill-cli gristmill-python >"$licences/THIRD-PARTY-LICENCES"
"$python" -m wheel pack --dest-dir "$out" "$root" >/dev/null
echo "dist: $out/${wheel##*/}"
