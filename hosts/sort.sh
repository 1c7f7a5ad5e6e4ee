#!/bin/sh
# Sorts on four hosts of hosts.sh, as the README's cluster section does on real ones, and lets things go
# wrong: a rank dies, a host dies, a link is cut. One line a check.
#
#   hosts/sort.sh [GRISTMILL]      default: target/release/gristmill; exit 0: all passed, or skipped; 1: not
#
# As root, less than two minutes. It needs the shim of `make mpi`, which the binary finds.
# shellcheck disable=SC2317 # functions are called by name, through `check`
set -u
here=$(cd "$(dirname "$0")" && pwd)
gristmill=${1:-$here/../target/release/gristmill}
hosts=$here/hosts.sh
reason=$("$hosts" check)
case $? in
0) ;;
1) echo "skipped: sorts on hosts: ${reason#no: }"; exit 0 ;;
*) echo "FAILED: hosts.sh check"; exit 1 ;;
esac
command -v mpirun >/dev/null || { echo "skipped: sorts on hosts: no mpirun, make mpi installs it"; exit 0; }
[ -x "$gristmill" ] || { echo "FAILED: no $gristmill: make build"; exit 1; }
gristmill=$(readlink -f "$gristmill")

place=$(mktemp -d "${TMPDIR:-/tmp}/gristmill-sorts-XXXXXX")
export HOSTS_RUN=sort-$$
failed=0
finish() { "$hosts" down; rm -rf "$place"; }
trap finish EXIT
trap 'exit 130' INT TERM HUP

# Seconds in which a job must end after something went wrong.
soon=30
records=1000000

# The check named $1 is that the command after it succeeds.
check() {
    name=$1; shift
    if said=$("$@" 2>&1); then echo "passed: $name"; return; fi
    failed=1
    echo "FAILED: $name"
    echo "$said" | tail -n 20 | sed 's/^/    /'
}

# Rank r is on host r + 1. Each has an input of its own on its scratch disk.
inputs() {
    for k in 1 2 3 4; do
        "$hosts" run "h$k" "$gristmill" gensort -b $(((k - 1) * records)) "$records" "/scratch/in-$((k - 1))" || return
    done
}
# mpirun itself notices a cut link by its daemons' silence: by default after minutes, so here after 11 s.
case $(mpirun --version) in *') 4.'*) daemons=--mca ;; *) daemons=--prtemca ;; esac
silence="$daemons oob_tcp_keepalive_time 5 $daemons oob_tcp_keepalive_intvl 2 $daemons oob_tcp_keepalive_probes 3"
sort_them() {
    # shellcheck disable=SC2086 # words
    "$hosts" mpirun 4 $silence -- "$gristmill" sort --format gensort \
        "/scratch/in-{rank}" -o "/scratch/out-{rank}" -T /scratch -S 64M
}

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
unfinished() { find "$@" -maxdepth 1 -name '.gristmill*' | grep .; }
nothing_left() { ! unfinished "$place"/h[1-4]; }

# A sort in the background, which has begun its output on host 2.
begin() {
    for k in 1 2 3 4; do echo old >"$place/h$k/out-$((k - 1))"; done
    rm -f "$place"/h[1-4]/.gristmill* # of a rank that was killed
    sort_them >"$place/said" 2>&1 &
    job=$!
    until unfinished "$place/h2"; do kill -0 "$job" || return; sleep 0.05; done
}
# It ends soon, with an error, and the old outputs are there.
ends() {
    started=$(date +%s)
    wait "$job"
    ended=$?
    cat "$place/said"
    echo "it ended with $ended after $(($(date +%s) - started)) s"
    [ "$ended" != 0 ] && [ $(($(date +%s) - started)) -le "$soon" ] || return
    for k in 1 2 3 4; do [ "$(cat "$place/h$k/out-$((k - 1))")" = old ] || return; done
}
rank_dies() {
    begin || return
    for id in $(pgrep -f "^$gristmill sort"); do
        [ "$(readlink "/proc/$id/ns/uts")" = "$("$hosts" run h3 readlink /proc/self/ns/uts)" ] && kill -9 "$id"
    done
    ends
}
host_dies() { begin && "$hosts" killhost h3 && ends; }
# Whoever is first tells: a rank, or mpirun, which does not always say which host it was. That ranks name the one
# that is silent, `a_dead_node_ends_the_sort` checks.
link_is_cut() { begin && "$hosts" cut h2 && ends; }

"$hosts" up 4 "$place" || exit 1
check "inputs are made on each host" inputs
check "four hosts sort 400 MB" sorts
check "nothing else is left" nothing_left
check "a rank that is killed ends the job" rank_dies
check "a host that dies ends the job" host_dies
check "a cut link ends the job" link_is_cut
"$hosts" heal h2
for k in 1 2 3 4; do "$hosts" killhost "h$k"; done
check "and then they sort again" sorts
check "what was left behind is swept" nothing_left
exit "$failed"
