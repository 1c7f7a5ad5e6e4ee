#!/bin/sh
# Prints the licences of the libraries that are compiled into the packages: a list, and each text once.
# Licences such as MIT ask for that where a binary is given away.
#
#   dist/licences.sh TARGET PACKAGE...
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
place=$stage

tree "$@" | sed -n 's/^[0-9]*|\([^|]*\)|\([^|][^|]*\)|/\1-\2|/p' | sort -u >"$place/libraries"
[ -s "$place/libraries" ] || { echo "licences: cargo tree names no libraries of $*" >&2; exit 1; }

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
