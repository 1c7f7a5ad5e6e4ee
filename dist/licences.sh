#!/bin/sh
# Prints the licences of the libraries that are compiled into the packages: a list, and each text once.
# Licences such as MIT ask for that where a binary is given away.
#
#   dist/licences.sh TARGET PACKAGE...
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
triple=$1
shift
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM HUP

packages=
for package in "$@"; do packages="$packages --package $package"; done
# shellcheck disable=SC2086
"$cargo" tree --locked $packages --target "$triple" --edges normal --prefix none --no-dedupe \
    --format '{p}|{l}' >"$place/tree"
# Our own crates are of a path, and are not listed.
sed -n 's/^\([^ ]*\) v\([^ |]*\)|/\1-\2|/p; s/^\([^ ]*\) v\([^ ]*\) (proc-macro)|/\1-\2|/p' "$place/tree" |
    sort -u >"$place/libraries"
[ -s "$place/libraries" ] || { echo "licences: no libraries in $(wc -l <"$place/tree") lines" >&2; exit 1; }

echo "Gristmill contains these libraries. Their texts follow; each names the libraries it is of."
echo
sed 's/|/: /' "$place/libraries"
while IFS='|' read -r library _; do
    for source in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$library"; do
        find "$source" -maxdepth 2 -type f \
            \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'unlicense*' -o -iname 'notice*' \) \
            ! -name '*.html' 2>/dev/null | sort |
            while read -r text; do
                sum=$(sha256sum "$text" | cut -d' ' -f1)
                cp "$text" "$place/$sum.text"
                echo "$library" >>"$place/$sum.of"
            done
    done
done <"$place/libraries"
for of in "$place"/*.of; do
    printf '\n%s\n%s\n\n' "----------------------------------------------------------------" \
        "$(sort -u "$of" | paste -sd ' ' - | fold -s -w 96)"
    cat "${of%.of}.text"
done
