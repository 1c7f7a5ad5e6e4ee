#!/bin/sh
# Hosts for tests: several "machines" on one, made of Linux namespaces. They reproduce failures that
# occur only between machines (two ranks of one name, invisible files, a cut cable, a dead node) in a
# second and without a cluster.
#
#   hosts.sh up N [DIR]               hosts h1..hN; DIR/hN is the scratch disk of hN, default in /var/tmp
#   hosts.sh run hK COMMAND...        runs a command on a host, in this directory, with this environment
#   hosts.sh mpirun NP [OPTIONS] -- COMMAND...   runs NP ranks over all hosts (Open MPI 4 or 5)
#   hosts.sh hostfile [SLOTS]         prints the hosts' addresses as mpirun reads them
#   hosts.sh agent                    prints the program that stands for ssh (mpirun's plm_rsh_agent)
#   hosts.sh rate hK RATE [BURST] [LATENCY]      shapes both directions (1gbit 256kb 5ms), see tc-tbf(8)
#   hosts.sh cut hK | heal hK         frames to and from the host vanish silently | and pass again
#   hosts.sh killhost hK              kill -9 of its processes, /dev/shm is lost; up again at once with its disk
#   hosts.sh memory hK BYTES          memory limit of its processes together, page cache included
#   hosts.sh clear hK                 removes rate, cut and memory limit
#   hosts.sh down                     ends and removes everything that `up` and later commands made, with scratch disks
#   hosts.sh check                    says in one line whether this machine supports hosts; exit 0 or 1
#   hosts.sh need                     installs missing tools (Debian, Ubuntu)
#
# HOSTS_RUN names a set of hosts (default: main). Sets are independent: each has its own
# bridge, so names and addresses of two sets never conflict, nor with those of this machine. HOSTS_SHM is the
# size of a host's /dev/shm (default: 256m), MPIRUN the mpirun to use.
#
#        head: mpirun, bridge 10.77.0.254
#      ________________|________________            no way out: nothing links the bridge to this
#     | 10.77.0.1      | 10.77.0.2      |           machine's networks, and no host has a route
#   [ h1 ]           [ h2 ]           [ h3 ] ...
#   own network, host name, IPC, mounts, /dev/shm, /scratch; shared: the other files, CPUs, process ids
#
# The idea: a host has no process of its own. It is four namespaces, each kept by a bind mount of its
# handle in /run/gristmill-hosts/RUN (as `ip netns` keeps networks; unshare(1), "Creating persistent
# namespaces"). So no process can die that others need, the processes of a host are those in its
# network namespace, and `down` finds them there after any crash: it may be called at any time.
#
# It does not work without root, does not touch processes, mounts or links of others, and does not
# install or configure anything unasked. The hosts are not fast, since they share the CPUs. A killed
# host is not silent: the kernel closes its connections. For silence, `cut` it first.
#
# Written for any POSIX sh (dash, bash); needs util-linux and iproute2. Exit 2: usage, or a failure.
set -eu

home=/run/gristmill-hosts
run=${HOSTS_RUN:-main}
state=$home/$run
most=64 # mpirun starts that many daemons itself; more would have to start from hosts, which see no others
network=10.77.0
shm=${HOSTS_SHM:-256m}

die() { echo "hosts: $*" >&2; exit 2; }
usage() { die "usage: $1 (hosts.sh starts with a list of its commands)"; }

# --- what a host is

# Becomes the command that follows, on host (or head) $1, within that host's memory limit.
enter() {
    name=$1; shift
    [ ! -e "$state/$name.cgroup" ] || echo 0 >"$(cat "$state/$name.cgroup")/cgroup.procs"
    set -- --net="$state/$name.net" --uts="$state/$name.uts" --ipc="$state/$name.ipc" -- "$@"
    [ "$name" = head ] || set -- --mount="$state/$name.mnt" "$@"
    exec nsenter "$@"
}

# Runs a command on a host, for this script's own ends.
on() { (enter "$@"); }

# Processes of a host. A handle that is no longer mounted is a plain file, and has none.
processes() {
    [ "$(stat -f -c %T "$state/$1.net" 2>/dev/null)" = nsfs ] || return 0
    find /proc/[0-9]*/ns/net -maxdepth 0 -lname "net:\\[$(stat -L -c %i "$state/$1.net")\\]" 2>/dev/null |
        cut -d / -f 3 || true
}

# Ends them. None must be found twice in a row, since one may start another and end while we look.
end_processes() {
    tries=0
    empty=0
    while [ "$empty" -lt 2 ]; do
        left=$(processes "$1")
        if [ -z "$left" ]; then empty=$((empty + 1)); continue; fi
        empty=0
        # shellcheck disable=SC2086 # one word a process
        kill -9 $left 2>/dev/null || true
        tries=$((tries + 1))
        [ "$tries" -le 500 ] || die "$1: these processes do not end, look at them: $(echo "$left" | tr '\n' ' ')"
        sleep 0.02
    done
}

must_be_up() { [ -e "$state/count" ] || die "no hosts are up under the name '$run': hosts.sh up N"; }

# The argument must name a host: h1..hN.
must_be_host() {
    must_be_up
    case $1 in h[1-9] | h[1-9][0-9]) ;; *) die "no host '$1': h1 to h$(cat "$state/count")" ;; esac
    [ "${1#h}" -le "$(cat "$state/count")" ] || die "no host '$1': h1 to h$(cat "$state/count")"
}

# --- up and down

# Namespaces $2... (net uts ipc mnt) of host $1, and its name.
make_namespaces() {
    name=$1; shift
    for kind; do
        shift
        : >"$state/$name.$kind"
        case $kind in mnt) set -- "$@" --mount="$state/$name.mnt" ;; *) set -- "$@" "--$kind=$state/$name.$kind" ;; esac
    done
    # shellcheck disable=SC2016 # expanded in there
    set -- unshare "$@" sh -c 'echo "$1" >/proc/sys/kernel/hostname' - "$name"
    "$@" 2>/dev/null || on_some_cpu "$@"
    on "$name" ip link set lo up
}

# A mount namespace may keep handles only of younger ones, and Linux 6.18 numbers them by CPU: within a
# container, some CPUs then make namespaces that look older than the container's own, others do not.
on_some_cpu() {
    for cpu in $(seq 0 $(($(nproc --all) - 1))); do
        umount "$state/$name".* 2>/dev/null || true # what was kept before it failed
        ! taskset -c "$cpu" "$@" 2>/dev/null || return 0
    done
    umount "$state/$name".* 2>/dev/null || true
    "$@" # fails again, and says why
}

# Host h$1, on the bridge, with its own /dev/shm and its own disk. Copies of other hosts' handles are
# dropped from its mounts: they would keep those alive.
make_host() {
    name=h$1
    mkdir "$scratch/$name"
    make_namespaces "$name" net uts ipc mnt
    # shellcheck disable=SC2016
    on "$name" sh -euc '
        for set in "$1"/*; do while umount -R "$set" 2>/dev/null; do :; done; done
        mount -t tmpfs -o "size=$2,mode=1777" tmpfs /dev/shm
        mount --bind "$3" /scratch' - "$home" "$shm" "$scratch/$name"
    on head ip link add "$name" type veth peer name eth0 netns "$state/$name.net"
    on head ip link set "$name" master bridge up
    on "$name" ip addr add "$network.$1/24" dev eth0
    on "$name" ip link set eth0 up
}

up() {
    case ${1:-} in '' | *[!0-9]* | 0* | ???*) usage "up N [DIR], N from 1 to $most" ;; esac
    [ "$1" -le "$most" ] || usage "up N [DIR], N from 1 to $most"
    reason=$(check) || die "this machine cannot create hosts: ${reason#no: }"
    [ ! -e "$state" ] || die "hosts are up under the name '$run': hosts.sh down, or HOSTS_RUN=NAME for others"
    if [ -n "${2:-}" ]; then
        scratch=$(realpath -m -- "$2")
        for k in $(seq "$1"); do
            [ ! -e "$scratch/h$k" ] || die "$scratch/h$k exists, and \`down\` would remove it: name another directory"
        done
        [ -d "$(dirname "$scratch")" ] || die "$(dirname "$scratch") is not a directory: create it first"
        made=
        [ -d "$scratch" ] || made=yes
    fi
    trap 'undo' EXIT # unless all of it is done
    trap 'exit 130' INT TERM HUP
    mkdir -p "$state"
    if [ -z "${2:-}" ]; then
        scratch=$(mktemp -d /var/tmp/gristmill-hosts-XXXXXX)
        made=yes
    fi
    [ -z "$made" ] || : >"$state/made"
    echo "$1" >"$state/count"
    echo "$scratch" >"$state/scratch"
    [ -d /scratch ] || : >"$home/.made_scratch"
    mkdir -p "$scratch" /scratch "$state/tmp"
    mount --bind "$state" "$state"
    mount --make-private "$state" # as handles of mount namespaces require

    make_namespaces head net uts ipc
    on head ip link add bridge type bridge
    on head ip addr add "$network.254/24" dev bridge
    on head ip link set bridge up
    for k in $(seq "$1"); do make_host "$k"; done
    write_agent
    trap - EXIT
    echo "hosts h1 to h$1 are up ($network.1-$1, scratch in $scratch)"
}

undo() {
    down
    die "up did not work, and is undone: the line above says why"
}

# Idempotent, and content with what any crash left. The last set of hosts leaves nothing behind.
down() {
    trap - EXIT
    [ ! -e "$state" ] || remove_set
    if [ -d "$home" ] && [ -z "$(ls "$home")" ]; then
        [ ! -e "$home/.made_scratch" ] || rmdir /scratch 2>/dev/null || true
        rm -f "$home/.made_scratch"
        rmdir "$home"
    fi
}

# Processes first, then what they used.
remove_set() {
    for handle in "$state"/*.net; do
        [ ! -e "$handle" ] || end_processes "$(basename "$handle" .net)"
    done
    for file in "$state"/*.cgroup; do
        [ ! -e "$file" ] || remove_cgroup "$file"
    done
    while umount -R "$state" 2>/dev/null; do :; done
    if [ -e "$state/count" ] && [ -e "$state/scratch" ]; then
        scratch=$(cat "$state/scratch")
        for k in $(seq "$(cat "$state/count")"); do rm -rf --one-file-system -- "$scratch/h$k"; done
        [ ! -e "$state/made" ] || rmdir -- "$scratch" 2>/dev/null || true
    fi
    rm -rf --one-file-system -- "$state"
}

# --- running programs

# Stands for ssh: ADDRESS COMMAND..., a fresh environment, the words joined and read by a shell. Its
# name has no spaces, which mpirun would take for options.
write_agent() {
    script=$(realpath -- "$0" | sed "s/'/'\\\\''/g")
    printf '#!/bin/sh\nHOSTS_RUN=%s exec '\''%s'\'' ssh "$@"\n' "$run" "$script" >"$state/agent"
    chmod +x "$state/agent"
}

like_ssh() {
    while [ $# -gt 0 ]; do case $1 in -*) shift ;; *) break ;; esac; done
    [ $# -ge 2 ] || usage "ssh ADDRESS COMMAND..."
    host=h${1#"$network."}; shift
    must_be_host "$host"
    enter "$host" env -i HOME=/root USER=root LOGNAME=root PATH="$PATH" TMPDIR=/scratch sh -c "cd; $*"
}

run_on() {
    [ $# -ge 2 ] || usage "run hK COMMAND..."
    must_be_host "$1"
    host=$1; shift
    # shellcheck disable=SC2016
    enter "$host" env TMPDIR=/scratch sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
}

hostfile() {
    case ${1:-1} in *[!0-9]* | 0*) usage "hostfile [SLOTS]" ;; esac
    for k in $(seq "$(cat "$state/count")"); do echo "$network.$k slots=${1:-1}"; done
}

# The command lines differ: Open MPI 5 starts its daemons by PRRTE, which has other options.
run_ranks() {
    must_be_up
    case ${1:-} in '' | *[!0-9]* | 0*) usage "mpirun NP [OPTIONS] -- COMMAND..." ;; esac
    ranks=$1; shift
    program=${MPIRUN:-$(command -v mpirun.openmpi || command -v mpirun || echo mpirun)}
    version=$("$program" --version 2>/dev/null | head -n 1)
    options=''
    for word; do # our options go first, and the word -- goes
        shift
        if [ -z "$options" ] && [ "$word" = -- ]; then options=passed; else set -- "$@" "$word"; fi
    done
    [ -n "$options" ] || usage "mpirun NP [OPTIONS] -- COMMAND..."
    case $version in
    *'(Open'*') 4.'*) # (Open MPI) or (OpenRTE)
        set -- --oversubscribe --mca plm_rsh_agent "$state/agent" --mca oob_tcp_if_include "$network.0/24" \
            --mca btl self,vader,tcp --mca hwloc_base_binding_policy none --map-by node "$@" ;;
    *'(Open'*') 5.'*)
        set -- --prtemca plm_ssh_agent "$state/agent" --prtemca prte_if_include "$network.0/24" \
            --mca btl self,sm,tcp --bind-to none --map-by node:OVERSUBSCRIBE "$@" ;;
    *) die "$program is not Open MPI 4 or 5 (${version:-it did not start}): hosts.sh need, or MPIRUN=PATH" ;;
    esac
    hostfile 1 >"$state/hostfile"
    # shellcheck disable=SC2016
    enter head env TMPDIR="$state/tmp" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        sh -c 'cd "$0" && exec "$@"' "$PWD" "$program" --hostfile "$state/hostfile" -np "$ranks" \
        --mca pml ob1 --mca btl_tcp_if_include "$network.0/24" --mca mpi_yield_when_idle 1 "$@"
}

# --- trouble

# A token bucket at each end of the host's cable.
rate() {
    case $# in 2 | 3 | 4) ;; *) usage "rate hK RATE [BURST] [LATENCY]" ;; esac
    must_be_host "$1"
    for end in "head $1" "$1 eth0"; do
        said=$(on "${end% *}" tc qdisc replace dev "${end#* }" root tbf \
            rate "$2" burst "${3:-256kb}" latency "${4:-5ms}" 2>&1) ||
            die "rate $2 ${3:-} ${4:-}: tc says '$(echo "$said" | head -n 1)', try 1gbit 256kb 5ms"
    done
}

# The bridge's port of host $1: 0 drops every frame and leaves the carrier up, 3 forwards.
port() { on head bridge link set dev "$1" state "$2"; }

cut_host() { must_be_host "${1:-}"; port "$1" 0; }
heal() { must_be_host "${1:-}"; port "$1" 3; }

killhost() {
    must_be_host "${1:-}"
    end_processes "$1"
    on "$1" find /dev/shm -mindepth 1 -delete
}

# Where a limit can be set: below this process's own limit (cgroup v1), or at the top (v2).
memory_top() {
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        grep -qw memory /sys/fs/cgroup/cgroup.controllers && echo /sys/fs/cgroup
    else
        own=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
        [ -d "$own" ] || own=/sys/fs/cgroup/memory
        [ -e "$own/memory.limit_in_bytes" ] && echo "$own"
    fi
}

set_limit() {
    mkdir -p "$group" || return
    if [ "$top" = /sys/fs/cgroup ]; then
        echo +memory >"$top/cgroup.subtree_control" && echo "$1" >"$group/memory.max" || return
        echo 0 >"$group/memory.swap.max" || true # no swap here
    else
        echo "$1" >"$group/memory.limit_in_bytes"
    fi
}

memory() {
    case ${2:-} in '' | *[!0-9]* | 0*) usage "memory hK BYTES" ;; esac
    must_be_host "$1"
    top=$(memory_top) || die "memory: no cgroup controls memory here: go on without this limit"
    group=$top/gristmill-hosts-$run-$1
    echo "$group" >"$state/$1.cgroup.new" # known to `down` before it exists
    mv "$state/$1.cgroup.new" "$state/$1.cgroup"
    if ! set_limit "$2" 2>/dev/null; then
        remove_cgroup "$state/$1.cgroup"
        die "memory: this machine does not let $(id -un) set that limit: go on without it"
    fi
    for process in $(processes "$1"); do
        echo "$process" >"$group/cgroup.procs" 2>/dev/null || true # it may have ended
    done
}

# Processes that still run go back to where the limits come from.
remove_cgroup() {
    group=$(cat "$1")
    tries=0
    while [ -d "$group" ] && ! rmdir "$group" 2>/dev/null; do
        while read -r process; do
            echo "$process" >"$(dirname "$group")/cgroup.procs" 2>/dev/null || true
        done <"$group/cgroup.procs"
        tries=$((tries + 1))
        [ "$tries" -le 500 ] || die "$group cannot be removed: look at its processes"
        sleep 0.02
    done
    rm -f "$1"
}

clear_host() {
    must_be_host "${1:-}"
    on head tc qdisc del dev "$1" root 2>/dev/null || true # none there
    on "$1" tc qdisc del dev eth0 root 2>/dev/null || true
    port "$1" 3
    [ ! -e "$state/$1.cgroup" ] || remove_cgroup "$state/$1.cgroup"
}

# --- can this machine

# Tried out in namespaces that end with the shell that tries.
check() {
    [ "$(id -u)" = 0 ] || { echo "no: not root, try sudo"; return 1; }
    for tool in unshare nsenter flock taskset mount ip bridge tc; do
        command -v "$tool" >/dev/null || { echo "no: '$tool' is missing; run \`hosts/hosts.sh need\` to install it"; return 1; }
    done
    unshare --net --uts --ipc --mount mount -t tmpfs tmpfs /dev/shm 2>/dev/null ||
        { echo "no: namespaces or mounts are not allowed here, a privileged container or a virtual machine allows them"; return 1; }
    unshare --net sh -c 'ip link add bridge type bridge && ip link add h1 type veth peer name eth0 &&
        ip link set h1 master bridge' >/dev/null 2>&1 ||
        { echo "no: bridge and veth links cannot be made here, modprobe bridge veth may help"; return 1; }
    unshare --net tc qdisc add dev lo root tbf rate 1gbit burst 256kb latency 5ms >/dev/null 2>&1 ||
        { echo "no: rates (tbf) cannot be set here, modprobe sch_tbf may help"; return 1; }
    echo "yes: root, namespaces, bridge, veth and tbf are there"
}

need() {
    [ "$(id -u)" = 0 ] || die "need: not root, try sudo"
    command -v apt-get >/dev/null || die "need: no apt-get here: install iproute2, util-linux, bash and Open MPI yourself"
    apt-get update -qq
    apt-get install --no-install-recommends -y -qq iproute2 util-linux bash gcc libc6-dev openmpi-bin libopenmpi-dev
}

case $run in '' | *[!A-Za-z0-9_-]*) die "HOSTS_RUN is '$run': letters, digits, - and _ only" ;; esac
command=${1:-}
[ $# -eq 0 ] || shift
# One set at a time comes and goes: they share /scratch.
case $command in up | down) exec 9</run; flock 9 ;; esac
case $command in
check | need | up | down | rate | heal | killhost | memory) "$command" "$@" ;;
run) run_on "$@" ;;
mpirun) run_ranks "$@" ;;
ssh) like_ssh "$@" ;;
hostfile) must_be_up; hostfile "$@" ;;
cut) cut_host "$@" ;;
clear) clear_host "$@" ;;
agent) must_be_up; echo "$state/agent" ;;
*) usage "hosts.sh up|run|mpirun|hostfile|agent|rate|cut|heal|killhost|memory|clear|down|check|need" ;;
esac
