#!/bin/sh
# Sorts on four hosts of hosts.sh, as the README's cluster section does on real ones, and causes
# failures: a rank dies, a host dies, a link is cut. One line per check.
#
#   hosts/sort.sh [GRISTMILL]      default: target/release/gristmill; exit 0: all passed, or skipped; 1: not
#
# As root, in less than two minutes. It needs the shim of `make mpi`.
# shellcheck disable=SC2317,SC2119 # functions are called by name, through `check`
set -u
about="sorts on hosts" sets=sort-$$
# shellcheck source=hosts/checks.sh
. "$(dirname "$0")/checks.sh"
gristmill=${1:-$here/../target/release/gristmill} records=1000000
# shellcheck source=hosts/sorts.sh
. "$here/sorts.sh"

# Every part is in order, they follow each other, and together they are the records of the inputs.
is_sorted() {
    for k in 1 2 3 4; do
        "$gristmill" valsort -o "$place/part-$k" "$place/h$k/out-$((k - 1))" || return
    done
    cat "$place/part-1" "$place/part-2" "$place/part-3" "$place/part-4" >"$place/parts"
    "$gristmill" valsort -s "$place/parts" >"$place/sum" 2>&1 || { cat "$place/sum"; return 1; }
    cat "$place/sum"
    "$gristmill" gensort -c $((4 * records)) "$place/all" 2>"$place/expected" || return
    grep -q "$(tr -d '[:space:]' <"$place/expected")" "$place/sum" && rm "$place/all"
}
sorts() { sort_them && is_sorted; }
# All ranks write one file, in a directory that all hosts see.
one_file() {
    timeout "$longest" "$hosts" mpirun 4 -- "$gristmill" sort --format gensort "/scratch/in-{rank}" -o "$place/all" -T /scratch \
        -S 64M --verify || return
    "$gristmill" valsort "$place/all" >"$place/sum" 2>&1 || { cat "$place/sum"; return 1; }
    grep -q "$(tr -d '[:space:]' <"$place/expected")" "$place/sum" && rm "$place/all"
}
nothing_left() { ! unfinished "$place" "$place"/h[1-4]; }

# Each host has its own /scratch.
refused_apart() {
    timeout "$longest" "$hosts" mpirun 4 -- "$gristmill" sort --format gensort "/scratch/in-{rank}" -o /scratch/all \
        >"$place/said" 2>&1 && return 1
    cat "$place/said"
    [ "$(grep -c 'gristmill: ' "$place/said")" = 1 ] && grep -q 'does not see the file that rank 0 created' "$place/said" &&
        nothing_left && ! ls "$place"/h[1-4]/all 2>/dev/null
}

# A failure when a sort has begun its output on host 2: it ends soon, with an error, and the old outputs
# exist.
ends_by() {
    old_outputs
    rm -f "$place"/h[1-4]/.gristmill* # of a rank that was killed
    sort_them >"$place/said" 2>&1 &
    job=$!
    until unfinished "$place/h2"; do kill -0 "$job" || return; sleep 0.05; done
    sleep 0.3 # or else mpirun may wait for TCP to confirm its last word of the launch (docs/cluster.md)
    go_wrong "$@" || return
    await_end
    cat "$place/said"
    echo "it ended with $ended after $after ms"
    [ "$ended" != 0 ] && [ "$after" -le $((soon * 1000)) ] && are_old
}
# One line says whose it was. Of a cut link ranks know before mpirun does.
host_dies() { ends_by killhost h3 && grep -q 'gristmill: .*rank 2 has not been heard' "$place/said"; }
link_is_cut() { ends_by cut h2 && grep -q 'gristmill: rank 1 has not been heard' "$place/said"; }

"$hosts" up 4 "$place" || exit 1
check "inputs are made on each host" inputs
check "four hosts sort 400 MB" sorts
check "nothing else is left" nothing_left
check "they write one file in a directory that all see" one_file
check "a directory of each host is not accepted as shared" refused_apart
check "a rank that is killed ends the job" ends_by kill_rank h3
check "a host that dies ends the job, and is named" host_dies
check "a cut link ends the job, and is named" link_is_cut
put_right
check "and then they sort again" sorts
check "leftover files are removed" nothing_left
exit "$failed"
