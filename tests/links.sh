#!/bin/sh
# Checks that the links of pages lead somewhere: to files in the Markdown of the repository, and to
# files and places in the built site. Addresses of other hosts are not tried, and rustdoc checks its own
# links.
#
#   tests/links.sh [SITE]      without SITE: only the Markdown
set -eu
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM HUP

# Reads lines "PAGE<tab>LINK" and prints those whose file is missing.
missing() {
    while IFS="$(printf '\t')" read -r page link; do
        path=${link%%#*}
        case $link in *://* | mailto:*) continue ;; esac
        [ -z "$path" ] || [ -e "$(dirname "$page")/$path" ] || echo "$page: $link"
    done
}

awk 'FNR == 1 { code = 0 }
    /^ *```/ { code = !code }
    !code { while (match($0, /\]\([^)]+\)/)) {
        print FILENAME "\t" substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH) } }' *.md docs/*.md docs/*/*.md | grep -v '^docs/SUMMARY.md' >"$place/links"
missing <"$place/links" >"$place/dead"
count=$(wc -l <"$place/links")

if [ $# -gt 0 ]; then
    cd "$1"
    # Tag by tag: every place as "PAGE#PLACE", and every link with the page it is on.
    find . -name '*.html' ! -path './api/*' ! -name 404.html -exec awk -v RS='<' '
        function value(name) {
            if (!match($0, " " name "=\"[^\"]*\"")) return ""
            return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
        }
        value("id") != "" { print "place\t" FILENAME "#" value("id") }
        value("href") != "" { print "link\t" FILENAME "\t" value("href") }
        value("src") != "" { print "link\t" FILENAME "\t" value("src") }' {} + >"$place/tags"
    sed -n 's/^link\t//p' "$place/tags" | sort -u >"$place/links"
    missing <"$place/links" >>"$place/dead"
    sed -n 's/^place\t//p' "$place/tags" | sort -u >"$place/places"
    # A link to a place, as "PAGE#PLACE" without "." and "..".
    grep -v '://' "$place/links" | awk -F '\t' '$2 ~ /#./ && $2 !~ /api\// {
        path = $2 ~ /^#/ ? $1 $2 : $1 "/../" $2
        split(path, half, "#")
        while (sub(/[^\/.][^\/]*\/\.\.\//, "", half[1])) {}
        gsub(/\/\.\//, "/", half[1])
        print half[1] "#" half[2] "\t" $1 ": " $2
    }' | sort >"$place/wanted"
    join -t "$(printf '\t')" -v 1 -o 1.2 "$place/wanted" "$place/places" >>"$place/dead"
    count=$((count + $(wc -l <"$place/links")))
fi

[ "$count" -ge 50 ] || { echo "links: found only $count"; exit 1; }
[ ! -s "$place/dead" ] || { sed 's/^/links: dead: /' "$place/dead"; exit 1; }
echo "links: $count lead somewhere"
