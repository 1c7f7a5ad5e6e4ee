#!/bin/sh
# Draws the pictures of the README from what the commands print: explain.svg, bar.svg and simulator.svg. With the runs of
# examples/comparison/measure.sh it draws speed.svg, too. flow.svg is drawn by hand.
#
#   docs/pictures/make.sh [GRISTMILL [RESULTS]]      default: target/release/gristmill
#
# It needs `script` (of util-linux) and 3 GB in $TMPDIR or /tmp.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
gristmill=$(readlink -f "${1:-$here/../../target/release/gristmill}")
results=${2:+$(readlink -f "$2")}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 1' INT TERM HUP
mkdir "$place/bin"
ln -s "$gristmill" "$place/bin/gristmill"
PATH="$place/bin:$PATH"
cd "$place"

# --- what explain says

# shellcheck disable=SC2016 # a dollar of a price
printf 'city,price,sold\nOslo,"$1,234.50",05/03/2026\n"York, new",$999,28/02/2026\n' >sales.csv
keys='--key price:amount:desc --key sold:date=dmy'
{
    echo "\$ gristmill explain --format csv $keys sales.csv"
    # shellcheck disable=SC2086 # these are several words
    gristmill explain --format csv $keys sales.csv
} | awk -v label="gristmill explain underlines the keys of the first rows" -f "$here/terminal.awk" >"$here/explain.svg"

# --- the bar: one line, as it was at three moments

gristmill gensort -a 12000000 web.txt
script -qec "stty cols 76; gristmill sort -S 256M web.txt -o sorted.txt" /dev/null </dev/null | tr '\r' '\n' |
    sed 's/\x1b\[[0-9;]*[A-Za-z]//g' >said
{
    echo '$ gristmill sort -S 256M web.txt -o sorted.txt'
    grep '^reading ' said | awk '$2 + 0 >= 30' | head -n 1
    echo '# later, on the same line'
    grep '^sort partitions ' said | awk '$3 + 0 >= 75' | head -n 1
    grep '^sorted ' said
} | awk -v label="The bar of a sort, and its line at the end" -f "$here/terminal.awk" >"$here/bar.svg"

# --- a chart of the simulator, with its legend

gristmill lab run "$here/simulator.toml" -o page.html >/dev/null
{
    echo '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 440" width="640" height="440" role="img" aria-label="The stage of each of 4,096 cores over time">'
    cat "$here/chart.css"
    echo '<rect class="card" width="640" height="440" rx="8"/><text class="title" x="24" y="32">gristmill sim nano-sort --cores 4096: the stage of every core</text>'
    sed -n '/<ul class="legend stages">/,/<\/ul>/p' page.html |
        sed -nE 's/^<li><span class="patch" style="background:(#[0-9a-f]*)"><\/span>(.*)<\/li>$/\1 \2/p' |
        awk '{ print "<rect x=\"" 24 + at * 98 "\" y=\"48\" width=\"13\" height=\"13\" fill=\"" $1 "\"/><text x=\"" 42 + at * 98 "\" y=\"59\">" $2 (NF > 2 ? " " $3 : "") "</text>"; at++ }'
    awk '/aria-label="The stage of every core over time/ { inside = 1 } inside; inside && /<\/svg>/ { exit }' page.html |
        sed -E '1s/.*/<svg x="24" y="70" width="592" height="342" viewBox="0 0 480 277.3">/'
    echo '<text class="soft end" x="606" y="430">time (us); white: the critical path</text><text class="soft" x="28" y="430">core</text></svg>'
} >"$here/simulator.svg"

# --- the chart of speed

if [ -n "$results" ]; then
    sort -k1,1 -k2,2 -k3,3n "$results" | awk -f "$here/speed.awk" -v style="$(cat "$here/chart.css")" >"$here/speed.svg"
fi
