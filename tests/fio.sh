#!/bin/sh
# The model of a disk beside fio, on a loop device in memory that a control group limits in bytes and in requests.
#
#   tests/fio.sh [MB_S [REQUESTS_PER_S]]     the limits of reads, and of writes (125 3000)
#
# Sequential runs alone give the machine file: free ones the device, limited ones the limits. Random and mixed
# runs are then beside the model's rates. It fails if one is more than 10 % off. It takes five minutes on a
# machine with nothing else to do, as root; PLACE is another directory for the file of the device.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/nightly.sh
. tests/nightly.sh
mb_s=${1:-125}
requests=${2:-3000}
throttle=/sys/fs/cgroup/blkio
for tool in fio losetup; do
    command -v "$tool" >/dev/null || skip "$tool"
done
[ "$(id -u)" = 0 ] || skip "loop devices and control groups need root"
[ -e "$throttle/blkio.throttle.read_iops_device" ] || skip "control groups of version 1 with blkio"

device=
group=
work=$(mktemp -d)
image=$(mktemp "${PLACE:-/dev/shm}/fio.XXXXXX")
end() {
    set +e
    # If a signal ends this script, a run may still be there.
    for _ in 1 2 3 4 5 6 7 8 9; do
        [ -d "$group" ] || break
        xargs kill 2>/dev/null <"$group/tasks"
        rmdir "$group" 2>/dev/null || sleep 0.1
    done
    [ -z "$device" ] || losetup --detach "$device"
    rm -rf "$work" "$image"
}
trap end EXIT
trap 'exit 1' INT TERM HUP
dd if=/dev/zero of="$image" bs=1M count=256 2>/dev/null
device=$(losetup --direct-io=on --find --show "$image") || skip "a loop device with direct I/O"
number=$(cat "/sys/block/${device#/dev/}/dev")
group=$(mktemp -d "$throttle/fio.XXXXXX")

# Sets the limits of both ways; 0 is none.
limit() {
    for way in read write; do
        echo "$number $1" >"$group/blkio.throttle.${way}_bps_device"
        echo "$number $2" >"$group/blkio.throttle.${way}_iops_device"
    done
}

# MB/s of a pattern WAY:KIB:DEPTH, as fio measures it in so many seconds.
measured() {
    echo "$1" | {
        IFS=: read -r way kib depth
        # shellcheck disable=SC2016 # of the inner shell
        sh -c 'echo $$ >"$0/tasks"; exec fio "$@"' "$group" --name=run --filename="$device" --rw="$way" --bs="${kib}k" \
            --iodepth="$depth" --rwmixread=70 --randrepeat=0 --direct=1 --ioengine=libaio --time_based \
            --runtime="$2" --output-format=terse --terse-version=3
    } | awk -F ';' '$1 == 3 { print ($7 + $48) * 1.024 / 1000; found = 1 } END { exit !found }'
}

# --- the machine file, of sequential runs

sequential() {
    seconds=$1
    shift
    for pattern in "$@"; do
        echo "$pattern $(measured "$pattern" "$seconds")"
    done
}
limit 0 0
for _ in 1 2 3; do
    sequential 1 read:4:1 read:1024:1 write:1024:1 read:1024:32 write:1024:32
done >"$work/free"
limit "${mb_s}000000" "$requests"
sequential 5 read:1024:32 write:1024:32 read:4:32 write:4:32 >"$work/limited"
# The best of three free runs: other programs of the machine only take from them.
awk 'FILENAME ~ /free$/ { if ($2 > free[$1]) free[$1] = $2; next }
    { limited[$1] = $2 }
    # Microseconds of a request: the latency, and its bytes.
    function us(pattern, kib) { return kib * 1024 / free[pattern] }
    END {
        per_kib = (us("read:1024:1", 1024) - us("read:4:1", 4)) / 1020
        latency = us("read:4:1", 4) - 4 * per_kib
        print "format = 1\nname = \"fio\"\ndescription = \"a loop device in a control group\"\nnodes = 1"
        print "[node]\ncores = 2\nmemory_gb = 1"
        print "[[disks]]\ncount = 1\nholds = \"both\"\ngb = 0.3\ndepth = 64"
        printf "latency_us = %.1f\n", latency
        printf "read_mb_s = %.1f\nwrite_mb_s = %.1f\n", free["read:1024:32"], free["write:1024:32"]
        printf "single_mb_s = [%.1f, %.1f]\n", 1024 / per_kib, 1048576 / (us("write:1024:1", 1024) - latency)
        printf "limit_mb_s = [%.2f, %.2f]\n", limited["read:1024:32"], limited["write:1024:32"]
        printf "limit_requests_per_s = [%.0f, %.0f]\n", limited["read:4:32"] * 1e6 / 4096, limited["write:4:32"] * 1e6 / 4096
    }' "$work/free" "$work/limited" >"$work/machine.toml"
sed 's/^/fio: /' "$work/machine.toml"

# --- random and mixed runs

set --
for way in randread randwrite randrw; do
    for kib in 4 16 64 256 1024; do
        for depth in 1 4 32; do
            set -- "$@" "$way:$kib:$depth"
        done
    done
done
"$cargo" run --quiet --locked --package gristmill-machine --example requests -- "$work/machine.toml" "$@" >"$work/predicted"
while read -r pattern predicted; do
    echo "$pattern $predicted $(measured "$pattern" 5 </dev/null)"
done <"$work/predicted" | tee "$work/both" |
    awk '{ printf "fio: %-16s %8.2f MB/s predicted %8.2f measured %+6.1f %%\n", $1, $2, $3, ($2 / $3 - 1) * 100 }'
awk '{ off = ($2 / $3 - 1) * 100; print (off < 0 ? -off : off), $1 }' "$work/both" | sort -n |
    awk '{ off[NR] = $1; name[NR] = $2; missed += $1 > 10 }
        END { printf "fio: %d runs, median %.1f %% off, at most %.1f (%s), %d beyond 10\n", NR, off[int((NR + 1) / 2)], off[NR], name[NR], missed
              exit missed > 0 || NR == 0 }'
