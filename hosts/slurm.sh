#!/bin/sh
# A cluster of Slurm on three hosts of hosts.sh, and jobs on it: examples/slurm/sort.sbatch sorts, is stopped, loses
# a rank and a host, and goes on; a job is cancelled; mpirun sorts inside a job. One line per check.
#
#   hosts/slurm.sh [GRISTMILL]     default: target/release/gristmill; exit 0: all passed, or skipped; 1: not
#
# As root, in 60 to 90 seconds. It needs the shim of `make mpi`, and slurmctld, slurmd and srun with its plugin
# for PMIx (Debian: slurmctld slurmd slurm-client). Its daemons see no network but that of the hosts, read a
# configuration in a temporary directory, and end with the hosts: nothing of this machine's own Slurm is touched.
# shellcheck disable=SC2317 # functions are called by name, through `check`
set -u
for tool in slurmctld slurmd sbatch srun scontrol; do
    command -v "$tool" >/dev/null || { echo "skipped: no tool: $tool (Debian: slurmctld slurmd slurm-client)"; exit 0; }
done
about="jobs of Slurm" sets=slurm-$$
# shellcheck source=hosts/checks.sh
. "$(dirname "$0")/checks.sh"
gristmill=${1:-$here/../target/release/gristmill} records=1000000
# shellcheck source=hosts/sorts.sh
. "$here/sorts.sh"

# --- the cluster

# The temporary directory of `checks.sh` has spaces in its name, which Slurm does not take.
shared=$(mktemp -d /var/tmp/gristmill-slurm-XXXXXX)
trap 'finish; rm -rf "$shared"' EXIT
export SLURM_CONF="$shared/slurm.conf" SCRATCH=/scratch PATH="${gristmill%/*}:$PATH"
# mpirun, for the job that has it.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
on_h1() { timeout 60 "$hosts" run h1 "$@"; }

# Times are shorter than the usual ones: until a host that does not answer is down, between signals, and until a job
# runs again (cred_expire). Without a plugin for control groups, processes are found by their parents.
configure() {
    mkdir "$shared/state"
    cat >"$SLURM_CONF" <<END
ClusterName=gristmill
SlurmctldHost=h1(10.77.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
SlurmdTimeout=10
KillWait=5
ReturnToService=2
StateSaveLocation=$shared/state
SlurmdSpoolDir=$shared/%n
SlurmctldPidFile=$shared/slurmctld.pid
SlurmdPidFile=$shared/%n.pid
TmpFS=/scratch
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=1,sched_interval=2
$(for k in 1 2 3; do echo "NodeName=h$k NodeAddr=10.77.0.$k CPUs=2 RealMemory=512"; done)
PartitionName=all Nodes=ALL Default=YES
END
}
daemon() { "$hosts" run "$@" >"$shared/log-$1-$2" 2>&1 & }
starts() {
    configure
    daemon h1 slurmctld -D
    for k in 1 2 3; do daemon "h$k" slurmd -D -N "h$k"; done
    within 60 all_idle || { tail -n 5 "$shared"/log-*; return 1; }
}
all_idle() { [ "$(on_h1 sinfo -h -o %D -t idle 2>/dev/null)" = 3 ]; }

# --- jobs

# Whether a command succeeds within so many seconds.
within() {
    last=$(($(date +%s) + $1)); shift
    until "$@"; do [ "$(date +%s)" -lt "$last" ] || { echo "too late: $*"; return 1; }; sleep 0.2; done
}
# Submits a job, whose number is `job`. The one before may still run after a check that failed.
job=
submit() {
    [ -z "$job" ] || on_h1 scancel "$job" 2>/dev/null
    rm -f "$shared/said"
    job=$(on_h1 sbatch --parsable --nodes=3 --ntasks-per-node=1 --cpus-per-task=2 --mem=32M --output="$shared/said" "$@")
}
is() { on_h1 scontrol show job "$job" | grep -q "$1"; }
# The job ends well, and has been started again so many times.
ends_well() {
    within 180 is 'JobState=\(COMPLETED\|FAILED\|CANCELLED\|NODE_FAIL\)'
    cat "$shared/said"
    is JobState=COMPLETED && is "Restarts=$1 "
}
# Every host has a file of the job whose name ends so.
have() { for k in 1 2 3; do unfinished "$place/h$k" | grep -q "$1\$" || return; done; }
nothing_left() { ! unfinished "$shared" "$place"/h[1-3]; }
is_sorted() {
    on_h1 gristmill valsort "$shared/$1-0.manifest.json" >"$shared/sum" 2>&1
    cat "$shared/sum"
    grep -q "$(tr -d '[:space:]' <"$shared/expected")" "$shared/sum" && nothing_left
}
example() { submit "$here/../examples/slurm/sort.sbatch" "$shared/in" "$shared/$1"; }

sorts() { example sorted && ends_well 0 && is_sorted sorted; }
by_mpirun() {
    submit --wrap "mpirun --bind-to none gristmill sort --format gensort $shared/in -o '$shared/by-{rank}' -S 28M -T /scratch" &&
        ends_well 0 && is_sorted by
}
# With slow links a sort takes ten seconds.
slow() { for k in 1 2 3; do "$hosts" rate "h$k" 80mbit || return; done; }
fast() { for k in 1 2 3; do "$hosts" clear "h$k" || return; done; }
is_cancelled() {
    slow && submit --wrap "srun --mpi=pmix gristmill sort --format gensort $shared/in -o '$shared/never-{rank}' -S 28M -T /scratch"
    within 60 have tmp && on_h1 scancel "$job" && within 60 is JobState=CANCELLED && within 60 all_idle || return
    cat "$shared/said"
    nothing_left && ! ls "$shared"/never*
}
# The job starts again, once, and goes on with the first step, which was saved.
goes_on_after() {
    slow && example again && within 60 have epoch-0 && "$@" && fast && ends_well 1 &&
        grep -q 'resumed: [1-9]' "$shared/said" && is_sorted again
}
# As --signal does it: SIGTERM to the ranks.
stop() { on_h1 scancel --signal=TERM "$job"; }
lose_rank() { go_wrong kill_rank h3; }
# It is soon up again. Slurm 22.05 starts no ranks of this job on it before what the last start has left is removed.
lose_host() { go_wrong killhost h3 && rm -r "$place"/h3/*pmix* "$shared"/h3/*pmix* && daemon h3 slurmd -D -N h3; }

# What the page shows of the example is in it.
is_shown() {
    sed -n '/^#SBATCH/,/^```$/p' "$here/../docs/cluster.md" | sed '$d' >"$shared/page"
    [ -s "$shared/page" ] && ! grep -vxFf "$here/../examples/slurm/sort.sbatch" "$shared/page"
}

"$hosts" up 3 "$place" || exit 1
check "docs/cluster.md shows lines of the example" is_shown
check "Slurm starts on three hosts" starts || exit 1
on_h1 srun --mpi=list 2>&1 | grep -q pmix || { echo "skipped: no tool: srun's plugin for PMIx"; exit 0; }
"$gristmill" gensort -c "$((2 * records))" "$shared/in" 2>"$shared/expected"
check "a job sorts" sorts
check "mpirun sorts in a job" by_mpirun
check "a cancelled job leaves nothing" is_cancelled
check "a job that is stopped goes on" goes_on_after stop
check "a job that loses a rank goes on" goes_on_after lose_rank
check "a job that loses a host goes on" goes_on_after lose_host
exit "$failed"
