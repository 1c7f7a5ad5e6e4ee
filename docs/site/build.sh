#!/bin/sh
# Builds the site from the pages of docs/ and of the top folder, the help of every command, the files of
# machines and experiments, and the documentation of the crate `gristmill`.
#
#   docs/site/build.sh [GRISTMILL]      default: target/release/gristmill; gristmill-bench is beside it
#
# Links are written for readers of the sources. Here docs/ becomes the top, other folders lie in it, each
# folder has a page that lists its files, and sources that pages link to are copied.
set -eu
cd "$(dirname "$0")/../.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}
binary=${1:-$target/release/gristmill}
book=$target/book
pages=$book/src
site=$target/site
fail() { echo "docs: $1"; exit 1; }

# mdBook of this series, which is on PATH or gets built into the target directory.
version=0.5.4
find_mdbook() {
    for mdbook in mdbook "$target/tools/bin/mdbook"; do
        case $("$mdbook" --version 2>/dev/null) in "mdbook v${version%.*}."*) return 0 ;; esac
    done
    echo "docs: builds mdBook $version"
    # Without optimisation: it builds one site, in seconds, and would take minutes to compile.
    "$cargo" install mdbook --debug --locked --version "$version" --root "$target/tools" --quiet \
        --no-default-features --features search
}

# Copies page $1 to $2. A link that begins with $3 leads to the top of the repository, which from there
# is $4. The help of a command that is named becomes a link to its page.
place() {
    mkdir -p "$(dirname "$pages/$2")"
    sed -E "/^ *\`\`\`/,/^ *\`\`\`/!{
        s#\\]\\($3#](${4}#g
        s#\\]\\(${4}README\\.md#](${4}index.md#g
        s#\\]\\(([^):]*/)\\)#](\\1index.md)#g
        s#\\[(docs/)?([A-Za-z/-]*)\\.md\\]#[\\2]#g
        s#(^|[^[])\`(gristmill[-a-z ]*) --help\`#\\1[\`\\2 --help\`](${4}reference/\\2.md)#g
        :again
        s#(reference/gristmill[-a-z]*) ([-a-z ]*\\.md\\))#\\1-\\2#
        t again
    }" "$1" >"$pages/$2"
}

title() { sed -n 's/^# //p;1q' "$1"; }

# The pages of folder $1 as a list by their titles, in which links begin with $2. That of commands is a
# tree: the name of a subcommand begins with that of its command.
list() {
    for page in "$pages/$1"/*.md; do
        [ "${page##*/}" = index.md ] || printf '%s\t%s\n' "$(title "$page")" "${page##*/}"
    done | LC_ALL=C sort | awk -F '\t' -v place="$2" '{
        indent = ""
        if ($1 ~ /^gristmill/) for (i = split($1, words, " "); i > 1; i--) indent = indent "  "
        print indent "- [" $1 "](" place $2 ")"
    }'
}

# The list of folder $1, titled $2, as a page.
index() {
    printf '# %s\n\n' "$2" >"$pages/$1/index.md"
    list "$1" "" >>"$pages/$1/index.md"
}

# The TOML files of folder $1, titled $2, as a page.
show() {
    mkdir -p "$pages/$1"
    cp "$1"/*.toml "$pages/$1"
    {
        printf '# %s\n\n' "$2"
        for file in "$1"/*.toml; do
            printf '## %s\n\n```toml\n%s\n```\n\n' "$(basename "$file" .toml)" "$(cat "$file")"
        done
    } >"$pages/$1/index.md"
}

rm -rf "$book"
mkdir -p "$pages/reference"
cp docs/book.toml docs/site/site.css "$book"
# Figures, tables and the like, which pages of docs/ link to from beside them.
(cd docs && find . -type f ! -name '*.md' ! -name book.toml ! -path './site/*') |
    while read -r file; do
        mkdir -p "$(dirname "$pages/$file")"
        cp "docs/$file" "$pages/$file"
    done
for page in *.md; do place "$page" "$page" docs/ ""; done
mv "$pages/README.md" "$pages/index.md"
for page in docs/*.md; do place "$page" "${page#docs/}" ../ ""; done
for page in docs/*/*.md; do place "$page" "${page#docs/}" ../../ ../; done
"$binary" manual --markdown "$pages/reference"
"$binary-bench" manual --markdown "$pages/reference"
index reference "Commands"
index how-to "How to"
index papers "The papers: claims and ours"
index decisions "Decisions"
printf '# The crate gristmill\n\n[%s](api/gristmill/index.html).\n' \
    "All items of the crate, with examples" >"$pages/api.md"
show machines "Machine files"
show experiments/nanosort "The experiments of the NanoSort paper"

# Sources that pages link to, as they are.
grep -rhoE '\]\([^):# ]+' "$pages" --include='*.md' | sed -E 's#^\]\((\.\./)*##' | sort -u |
    while read -r file; do
        [ -f "$file" ] && [ ! -e "$pages/$file" ] || continue
        mkdir -p "$(dirname "$pages/$file")"
        cp "$file" "$pages/$file"
    done

# The lists in the table of contents, and no page beside it.
while IFS= read -r line; do
    case $line in
        *'<!-- files of '*)
            folder=${line#*files of }
            folder=${folder%% *}
            list "$folder" "$folder/" | sed "s/^/${line%%<*}/"
            ;;
        *) printf '%s\n' "$line" ;;
    esac
done <docs/SUMMARY.md >"$pages/SUMMARY.md"
(cd "$pages" && find . -name '*.md') | sed 's#^\./##' | while read -r page; do
    [ "$page" = SUMMARY.md ] || grep -qF "]($page)" "$pages/SUMMARY.md" ||
        fail "$page is not in docs/SUMMARY.md"
done

find_mdbook
"$mdbook" build "$book" --dest-dir "$(readlink -f "$target")/site" 2>"$book/said" || { cat "$book/said"; exit 1; }
if grep -E 'WARN|ERROR' "$book/said"; then fail "warnings of mdBook"; fi

# Code of a sentence becomes one piece with the parenthesis before it and what follows without a space,
# and site.css keeps that in one line. A cell of a number and its unit does not break between them.
find "$site" -name '*.html' -exec sed -i -E '
    s#\(<code>([^<]*)</code>([^ <]*)#<span class="kept">(<code>\1</code>\2</span>#g
    s#(^|[^(])<code>([^<]*)</code>([^ <]+)#\1<span class="kept"><code>\2</code>\3</span>#g
    s#>([0-9][0-9.,]*) ([a-zA-Z%/]{1,4})((</strong>)?</td>)#>\1\&nbsp;\2\3#g' {} +

# Documentation of other crates, from earlier runs, does not belong to the site.
rm -rf "$target/doc"
"$cargo" doc --no-deps --locked --quiet --package gristmill
cp -r "$target/doc" "$site/api"
echo "docs: $(find "$pages" -name '*.md' | wc -l) pages, see $site/index.html"
