# shellcheck shell=sh disable=SC2154,SC2034
# Common parts of the scripts that sort on four hosts. They source it after checks.sh, and set before
#
#   gristmill, records    the program, and the number of records per rank
#
# Rank r is on host r + 1. Each has its own input on its scratch disk.
need mpirun "make mpi"
[ -x "$gristmill" ] || { echo "FAILED: no $gristmill: make build"; exit 1; }
gristmill=$(readlink -f "$gristmill")

# Seconds in which a job must end after something went wrong, and in which any job ends.
soon=30 longest=600

# When a link is cut, ranks notice it after 15 s and mpirun, by default, after minutes: here after 18 to
# 20 s, if no rank has ended before (docs/cluster.md).
case $("${MPIRUN:-mpirun}" --version) in *') 4.'*) daemons=--mca ;; *) daemons=--prtemca ;; esac
silence="$daemons oob_tcp_keepalive_time 2 $daemons oob_tcp_keepalive_intvl 3 $daemons oob_tcp_keepalive_probes 6"

inputs() {
    for k in 1 2 3 4; do
        timeout "$longest" "$hosts" run "h$k" "$gristmill" gensort -b $(((k - 1) * records)) "$records" "/scratch/in-$((k - 1))" || return
    done
}
# With the options that are given.
sort_them() {
    # shellcheck disable=SC2086 # words
    timeout "$longest" "$hosts" mpirun 4 $silence -- "$gristmill" sort --format gensort \
        "/scratch/in-{rank}" -o "/scratch/out-{rank}" -T /scratch -S 64M "$@"
}
old_outputs() { for k in 1 2 3 4; do echo old >"$place/h$k/out-$((k - 1))"; done; }
are_old() { for k in 1 2 3 4; do [ "$(cat "$place/h$k/out-$((k - 1))")" = old ] || return; done; }
unfinished() { find "$@" -maxdepth 1 -name '.gristmill*' | grep .; }

# Ranks on host $1, or on all.
ranks() {
    for host in ${1:-h1 h2 h3 h4}; do
        space="uts:[$(stat -L -c %i "/run/gristmill-hosts/$HOSTS_RUN/$host.uts")]"
        for id in $(pgrep -f "^$gristmill sort"); do
            [ "$(readlink "/proc/$id/ns/uts")" != "$space" ] || echo "$id"
        done
    done
}
milliseconds() { date +%s%3N; }
# Now, `wrong` in ms, something goes wrong: `kill_rank hK`, `killhost hK` or `cut hK`.
go_wrong() {
    wrong=$(milliseconds)
    case $1 in kill_rank) ranks "$2" | xargs kill -9 ;; *) "$hosts" "$@" ;; esac
}
# The links are whole, and nothing runs that was left on a host that was out of reach.
put_right() { for k in 1 2 3 4; do "$hosts" heal "h$k" && "$hosts" killhost "h$k" || return; done; }

# Waits for the end of the sort in the background that is $job, and of all ranks: `ended`, and how long `after` it
# went wrong, in ms.
await_end() {
    wait "$job"
    ended=$?
    while [ -n "$(ranks)" ] && [ $(($(milliseconds) - wrong)) -le $((2 * soon * 1000)) ]; do sleep 0.1; done
    after=$(($(milliseconds) - wrong))
}
