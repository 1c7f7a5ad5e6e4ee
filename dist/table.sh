#!/bin/sh
# Prints the size of each artifact, its commands and libraries with theirs, and the shared libraries
# that they need; and writes SHA256SUMS.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh

size() { stat -c %s "$1" | awk '{ printf "%.1f MB", $1 / 1e6 }'; }

# Every program and library below a directory.
contents() {
    find "$1" -type f | sort | while read -r file; do
        is_elf "$file" || continue
        libraries=$(needs "$file")
        printf '  %-42s %9s  needs %s\n' "${file#"$1"/}" "$(size "$file")" "${libraries:-nothing: it is static}"
    done
}

for artifact in "$out"/*; do
    unpacked=$stage/unpacked
    rm -rf "$unpacked"
    mkdir "$unpacked"
    case $artifact in
    *.tar.gz) tar -C "$unpacked" -xzf "$artifact" --strip-components=1 ;;
    *.deb) dpkg-deb -x "$artifact" "$unpacked" ;;
    *.whl) python3 -m zipfile -e "$artifact" "$unpacked" ;;
    # The rest has the same commands and libraries, or none.
    *.rpm | *.tar | *.crate | *.json | *.rb | *.yaml) ;;
    *) continue ;;
    esac
    printf '%-44s %9s\n' "${artifact##*/}" "$(size "$artifact")"
    contents "$unpacked"
    case $artifact in *.deb) echo "  depends on $(dpkg-deb -f "$artifact" Depends)" ;; esac
    echo "${artifact##*/}" >>"$stage/names"
done
[ -e "$stage/names" ] || fail "there is nothing in $out"
(cd "$out" && xargs sha256sum <"$stage/names" >SHA256SUMS)
echo "$out/SHA256SUMS has their checksums"
