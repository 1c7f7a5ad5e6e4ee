#!/bin/sh
# What --stripe costs on disks that decide: four loop devices in memory, each with an ext4 for temporary files,
# that a control group limits in bytes a second.
#
#   tests/stripe.sh [MB_S [MB]]     the limit of each device, and the size of the input (25 400)
#
# Sorts the input without stripes, with them, and with the files of a directory cut in phase two, and tells the
# bytes that were written to the devices, the seconds, and the rate at which phase two reads. It takes a minute or two,
# as root; COMMAND is another gristmill than that of the release build.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/nightly.sh
. tests/nightly.sh
mb_s=${1:-25}
mb=${2:-400}
gristmill=${COMMAND:-target/release/gristmill}
throttle=/sys/fs/cgroup/blkio
for tool in mkfs.ext4 losetup; do
    command -v "$tool" >/dev/null || skip "$tool"
done
[ "$(id -u)" = 0 ] || skip "loop devices and control groups need root"
[ -e "$throttle/blkio.throttle.read_bps_device" ] || skip "control groups of version 1 with blkio"

group=
devices=
work=$(mktemp -d /dev/shm/stripe.XXXXXX)
end() {
    set +e
    for number in 0 1 2 3; do
        umount "$work/$number" 2>/dev/null
    done
    for device in $devices; do
        losetup --detach "$device"
    done
    [ -z "$group" ] || rmdir "$group"
    rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM HUP
group=$(mktemp -d "$throttle/stripe.XXXXXX")
named=
for number in 0 1 2 3; do
    truncate -s $((2 * mb))M "$work/image$number"
    mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "$work/image$number"
    device=$(losetup --direct-io=on --find --show "$work/image$number") || skip "a loop device with direct I/O"
    devices="$devices $device"
    mkdir "$work/$number"
    mount "$device" "$work/$number"
    for way in read write; do
        echo "$(cat "/sys/block/${device#/dev/}/dev") $((mb_s * 1000000))" >"$group/blkio.throttle.${way}_bps_device"
    done
    named="$named -T $work/$number"
done
"$gristmill" gensort $((mb * 10000)) "$work/in" >/dev/null

# Megabytes that all devices have written, and read.
moved() {
    for device in $devices; do
        cat "/sys/block/${device#/dev/}/stat"
    done | awk '{ read += $3; written += $7 } END { printf "%.1f %.1f\n", written * 512 / 1e6, read * 512 / 1e6 }'
}

# A sort in the group: what it took.
run() {
    what=$1
    shift
    sync
    before=$(moved)
    # shellcheck disable=SC2016,SC2086 # of the inner shell; directories are words
    sh -c 'echo $$ >"$0/tasks"; exec "$@"' "$group" "$gristmill" sort --format gensort -S $((mb / 8))M --parallel 2 \
        --io direct --plan two-pass --compress none -q --report "$work/report" $named "$@" "$work/in" -o "$work/out"
    after=$(moved)
    "$gristmill" valsort "$work/out" >/dev/null 2>&1 || {
        echo "$what: the output is wrong"
        exit 1
    }
    python3 - "$what" "$work/report" "$before" "$after" <<'END'
import json, sys
what, report, before, after = sys.argv[1:]
report = json.load(open(report))
(w0, r0), (w1, r1) = (map(float, words.split()) for words in (before, after))
loader = next(stage for stage in report["stages"] if stage["name"] == "loader")
rebuilt = sum(each["bytes"] for each in report.get("stripes", {}).get("rebuilt", []))
print(f"{what}: {w1 - w0:.1f} MB written, {r1 - r0:.1f} MB read, {report['seconds']:.2f} s, "
      f"{loader['bytes'] / 1e6:.1f} MB loaded, {rebuilt / 1e6:.1f} MB rebuilt")
END
    rm "$work/out"
}

run "without stripes"
run "with stripes" --stripe 3+1
# When most of the time of phase one has passed, a directory is cut again and again.
(
    while sleep 0.2; do
        if [ -e "$work/cut" ]; then
            find "$work/2" -name '.gristmill-*' -exec truncate -s 0 {} +
        fi
    done
) &
cutter=$!
touch "$work/cut"
run "with stripes, and a directory that is cut" --stripe 3+1
kill "$cutter"
