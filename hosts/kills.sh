#!/bin/sh
# Sorts on four hosts of hosts.sh repeatedly, causes one failure at a chosen moment (a rank is killed, a
# host dies, a link is cut), sorts again, and prints a table of the results.
#
#   hosts/kills.sh smoke|full [GRISTMILL]    three moments; 20 kills, 5 hosts, 5 links (half an hour)
#
#   OPTIONS   options of every sort, as --resume
#   AGAIN     more options of the sort after the failure
#   RECORDS   records of each rank (default: 1000000 smoke, 6000000 full)
#   RATE      limit of each link, such as 1gbit (default: none)
#
# A line is good if the job ended within 30 s and not with 0, all ranks ended, the old outputs existed,
# and the second sort gave the output of an undisturbed one. Exit 0: all lines are good; 1: not.
#
# The moment is the progress of rank 0 in a phase, in %: phase one reads, sends and spills, phase two
# sorts and writes. The failure comes up to a quarter of a second later, in which phase two may go far,
# so its moments are early.
set -u
about="kills on hosts" sets=kills-$$
# shellcheck source=hosts/checks.sh
. "$(dirname "$0")/checks.sh"
case ${1:-} in smoke) records=${RECORDS:-1000000} ;; full) records=${RECORDS:-6000000} ;; *)
    echo "usage: kills.sh smoke|full [GRISTMILL]" >&2; exit 2 ;; esac
size=$1
gristmill=${2:-$here/../target/release/gristmill}
# shellcheck source=hosts/sorts.sh
. "$here/sorts.sh"

# Event, host, phase, %.
smoke='kill_rank h3 1 50
kill_rank h1 2 20
cut h2 1 30'
full='kill_rank h1 1 2
kill_rank h2 1 10
kill_rank h3 1 20
kill_rank h4 1 30
kill_rank h1 1 40
kill_rank h2 1 50
kill_rank h3 1 60
kill_rank h4 1 70
kill_rank h1 1 80
kill_rank h2 1 95
kill_rank h3 2 2
kill_rank h4 2 5
kill_rank h1 2 10
kill_rank h2 2 15
kill_rank h3 2 20
kill_rank h4 2 25
kill_rank h1 2 30
kill_rank h2 2 40
kill_rank h3 2 50
kill_rank h4 2 60
killhost h3 1 15
killhost h1 1 60
killhost h4 2 5
killhost h2 2 20
killhost h3 2 40
cut h2 1 10
cut h1 1 70
cut h4 2 5
cut h3 2 20
cut h2 2 40'

sum() { cat "$place/h1/out-0" "$place/h2/out-1" "$place/h3/out-2" "$place/h4/out-3" | md5sum; }
# shellcheck disable=SC2086 # words
sort_well() { sort_them ${OPTIONS:-} "$@" >"$place/said" 2>&1 || { tail -n 5 "$place/said" >&2; return 1; }; }

# A number in the last line of progress.
progress() { tail -n 5 "$place/said" | sed -n "s/.*\"$1\":\\([0-9]*\\).*/\\1/p" | tail -n 1; }
# Whether rank 0 has done $1 % of everything; each phase is half of it.
has_done() {
    all=$(progress total_bytes)
    [ "${all:-0}" -gt 0 ] && [ $((100 * $(progress done_bytes) / all)) -ge "$1" ]
}

# The first line that names the lost part, of a rank or of mpirun; otherwise the first line of a rank.
told() {
    line=$(grep -m 1 -E 'gristmill: .*rank|noticed that process|Remote daemon' "$place/said" ||
        grep -m 1 'gristmill: ' "$place/said")
    echo "${line:-nothing}" | sed 's/^ *//' | cut -c 1-150
}

seconds() { echo "$(($1 / 1000)).$(($1 / 100 % 10))"; }
try() {
    event=$1 host=$2 phase=$3 part=$4
    old_outputs
    # shellcheck disable=SC2086 # words
    sort_them ${OPTIONS:-} --progress json >"$place/said" 2>&1 &
    job=$!
    until has_done $((50 * (phase - 1) + part / 2)); do
        kill -0 "$job" 2>/dev/null || { echo "$event $host: the sort had ended before" >&2; return 1; }
        sleep 0.05
    done
    go_wrong "$event" "$host"
    await_end
    result=good
    [ "$ended" != 0 ] || result="exit 0"
    [ "$after" -le $((soon * 1000)) ] || result="too late"
    are_old || result="outputs are not old"
    line=$(told)
    put_right
    begun=$(milliseconds)
    # shellcheck disable=SC2086 # words
    sort_well ${AGAIN:-} || result="not sorted again"
    again=$(($(milliseconds) - begun))
    [ "$(sum)" = "$wanted" ] || result="another output"
    echo "| $event | $host | $phase | $part % | $(seconds "$after") | $ended | $line | $(seconds "$again") | $result |"
    [ "$result" = good ]
}

"$hosts" up 4 "$place" >/dev/null || exit 1
[ -z "${RATE:-}" ] || for k in 1 2 3 4; do "$hosts" rate "h$k" "$RATE" || exit 1; done
inputs || exit 1
begun=$(milliseconds)
sort_well || exit 1
wanted=$(sum)
echo "undisturbed, 4 x $records records: $(seconds $(($(milliseconds) - begun))) s"
echo
echo "| event | host | phase | moment | ended after, s | exit | said | again, s | result |"
echo "|---|---|---|---|---|---|---|---|---|"
case $size in smoke) list=$smoke ;; *) list=$full ;; esac
echo "$list" >"$place/list"
while read -r event host phase part <&3; do
    try "$event" "$host" "$phase" "$part" || failed=1
done 3<"$place/list"
exit "$failed"
