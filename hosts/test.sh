#!/bin/sh
# Tests that the hosts of hosts.sh are separate, obey commands, and leave nothing behind. One line per
# check.
#
#   hosts/test.sh      exit 0: all passed, or skipped where this machine cannot; 1: something failed
#
# As root, in 15 seconds. It runs a copy of hosts.sh in a directory with a space in its name.
# shellcheck disable=SC2317 # functions are called by name, through `check`
set -u
first=test-$$-a second=test-$$-b third=test-$$-c
about=hosts sets="$first $second $third"
# shellcheck source=hosts/checks.sh
. "$(dirname "$0")/checks.sh"
need bash "hosts/hosts.sh need"
cp "$hosts" "$place/hosts.sh"
hosts="$place/hosts.sh"
run() { timeout 60 "$hosts" run "$@"; }
# A reachable host refuses a connection to a port without a listener: that is an answer. If no frame
# passes, no answer comes within two seconds. Unlike `ping`, bash is installed everywhere.
answers() {
    # shellcheck disable=SC2016
    said=$(run "$1" timeout 2 env LC_ALL=C bash -c 'exec 3<>"/dev/tcp/$1/9"' - "$2" 2>&1) && return
    case $said in *'Connection refused'*) return 0 ;; *) echo "$1 to $2: ${said:-no answer}"; return 1 ;; esac
}
reaches() { answers "$1" "10.77.0.${2#h}"; }

# --- what each check does

all_pairs() {
    for from in h1 h2 h3 h4; do for to in h1 h2 h3 h4; do reaches "$from" "$to" || return; done; done
}

names() { for k in 1 2 3 4; do [ "$(run "h$k" uname -n)" = "h$k" ] || return; done; }

# Every host leaves a file of its name in directory $1, and then sees only its own.
own_directory() {
    for k in 1 2 3 4; do run "h$k" touch "$1/of_h$k" || return; done
    for k in 1 2 3 4; do [ "$(run "h$k" ls "$1")" = "of_h$k" ] || return; done
}

on_the_disk() { [ -e "$place/scratch disks/h3/of_h3" ]; }

# Neither a default route nor any address of this machine.
enclosed() {
    [ -z "$(run h1 ip route show default)" ] || return
    for address in $(ip -4 -o address show scope global | awk '{ sub("/.*", "", $4); print $4 }'); do
        no answers h1 "$address" || return
    done
}

four_ranks() {
    timeout 60 "$hosts" mpirun 4 -- "$place/probe" >"$place/said" || { cat "$place/said"; return 1; }
    sort "$place/said"
    [ "$(sort "$place/said" | tr '\n' ' ')" = \
        "rank 0 of 4 on h1 rank 1 of 4 on h2 rank 2 of 4 on h3 rank 3 of 4 on h4 " ]
}

# MB/s from h1 to h2, without and with a rate on h2: 10 MB/s, a small part of what a loaded machine reaches.
speed() { timeout 60 "$hosts" mpirun 2 -- "$place/probe" send 16 | sed -n 's, MB/s,,p'; }
rate_holds() {
    free=$(speed)
    "$hosts" rate h2 80mbit || return
    limited=$(speed)
    "$hosts" clear h2 || return
    again=$(speed)
    echo "$free MB/s without, $limited with, $again without again" | tee "$place/speeds"
    [ "$limited" -le 11 ] && [ "$free" -ge $((3 * limited)) ] && [ "$again" -ge $((3 * limited)) ]
}

# It may hold 100 MB, and a process of 300 MB ends.
memory_holds() {
    run h4 sh -c 'head -c 300000000 /dev/zero | tail -c 300000000 >/dev/null' || return
    "$hosts" memory h4 100000000 || return
    no run h4 sh -c 'head -c 300000000 /dev/zero | tail -c 300000000 >/dev/null' || return
    "$hosts" clear h4
}

# One of four hosts of a job dies. Open MPI 5 then says so, but exits with 0.
kill_ends_job() {
    : >"$place/said" # what was said before must not count
    timeout 60 "$hosts" mpirun 4 -- "$place/probe" wait >"$place/said" 2>&1 &
    job=$!
    until [ "$(grep -c '^rank' "$place/said")" = 4 ]; do kill -0 "$job" || return; sleep 0.1; done
    run h2 touch /dev/shm/lost || return
    "$hosts" killhost h2 || return
    started=$(date +%s)
    wait "$job"
    ended=$?
    cat "$place/said"
    echo "mpirun ended with $ended after $(($(date +%s) - started)) s"
    [ "$ended" != 124 ] && [ $(($(date +%s) - started)) -le 10 ] || return
    no run h2 ls /dev/shm/lost && run h2 ls /scratch/of_h2 && four_ranks
}

# Both have an h1 of the same address, and what one is told the other does not hear.
two_at_once() {
    of "$second" "$hosts" up 2 "$place/second" &
    other=$!
    of "$third" "$hosts" up 2 || return
    wait "$other" || return
    no "$hosts" up 2 || return
    of "$second" "$hosts" cut h2 || return
    no of "$second" run h1 grep ' /run/gristmill-hosts/' /proc/self/mountinfo || return # would keep those hosts alive
    reaches h1 h2 && of "$third" reaches h1 h2 && no of "$second" reaches h1 h2
}

# Every namespace, process, mount, control group and file of a set; $2 are the numbers of its networks.
left_of() {
    for network in $2; do find /proc/[0-9]*/ns/net -maxdepth 0 -lname "net:\\[$network\\]" 2>/dev/null; done
    grep -l "gristmill-hosts/$1" /proc/[0-9]*/mountinfo 2>/dev/null
    find /sys/fs/cgroup -name "gristmill-hosts-$1-*" 2>/dev/null
    find /run/gristmill-hosts -name "$1" 2>/dev/null
}
networks() { stat -L -c %i "/run/gristmill-hosts/$1"/*.net 2>/dev/null; }

# With processes that run, a limit, and a rate; twice, since it must not mind.
down_leaves_nothing() {
    for k in 1 2 3; do "$hosts" run "h$k" sleep 1000 & done
    "$hosts" rate h3 1gbit || return
    "$hosts" memory h3 100000000 || true # not allowed everywhere
    numbers=$(networks "$first")
    [ -n "$(left_of "$first" "$numbers")" ] || { echo "nothing is there to be removed"; return 1; }
    "$hosts" down && "$hosts" down || return
    wait
    left=$(left_of "$first" "$numbers"; ls -d "$place/scratch disks" 2>/dev/null)
    echo "$left"
    [ -z "$left" ] || return
    of "$second" reaches h1 h1 # other sets stand
}

killed_after() {
    moment=$1; shift
    "$@" &
    killed=$!
    sleep "$moment"
    kill -9 "$killed"
    wait "$killed"
}

# `up`, and then `down`, are killed at several points on their way; after another `down` the set is gone.
down_after_crash() {
    for moment in 0.01 0.05 0.1 0.15 0.2; do
        killed_after "$moment" "$hosts" up 8 "$place/crashed"
        numbers=$(networks "$first")
        killed_after "$moment" "$hosts" down
        "$hosts" down || return
        left=$(left_of "$first" "$numbers"; ls -d "$place/crashed" 2>/dev/null)
        echo "$left"
        [ -z "$left" ] || return
    done
}

links() { ip -o link show type bridge; ip -o link show type veth; }
machine_as_before() {
    [ "$(links)" = "$links_before" ] || { links; return 1; }
    [ -d /run/gristmill-hosts ] || [ -n "$scratch_before" ] || no ls -d /scratch
}

# --- the checks

links_before=$(links)
scratch_before=$(ls -d /scratch 2>/dev/null)
check "four hosts are up" "$hosts" up 4 "$place/scratch disks"
check "each reaches each" all_pairs
check "each has its name" names
check "each has its /dev/shm" own_directory /dev/shm
check "each has its /scratch" own_directory /scratch
check "/scratch is on the disk" on_the_disk
check "no way out" enclosed
if command -v mpicc >/dev/null && mpicc -O2 -Wall -o "$place/probe" "$here/probe.c"; then
    check "four ranks run on four hosts" four_ranks
    check "a rate slows messages down" rate_holds
    sed 's/^/        /' "$place/speeds"
    check "a job ends when a host dies, and another one runs" kill_ends_job
else
    echo "skipped: four checks with MPI: no mpicc that works; run \`hosts/hosts.sh need\` to install one"
fi
"$hosts" cut h3
check "a cut host is not reached" no reaches h1 h3
check "nor reaches others" no reaches h3 h4
check "others reach each other" reaches h1 h4
"$hosts" heal h3
check "a healed host is reached" reaches h1 h3
if reason=$("$hosts" memory h4 100000000 2>&1); then
    "$hosts" clear h4
    check "a memory limit ends what exceeds it" memory_holds
else
    echo "skipped: ${reason#hosts: }"
fi
check "other hosts come up at once, and are apart" two_at_once
check "down leaves nothing behind" down_leaves_nothing
check "nor do up and down when they are killed half-way" down_after_crash
check "other hosts go down" of "$second" "$hosts" down
check "all hosts go down" of "$third" "$hosts" down
check "this machine is as before" machine_as_before
exit "$failed"
