#!/bin/sh
# Times a sort of a large file in memory and its floor: reading the file and writing as much, direct, in
# 4 MiB blocks with four in flight (fio), just before and after each sort.
#
#   bench/large.sh [RECORDS] [RUNS]        default: 100000000 records (10 GB), 5 runs
#
# Needs fio, GNU time, three times the file's size of free space here, and root to drop caches.
#
# Each measured sort directly follows an unmeasured one: some virtual machines return freed memory to
# their host, and touching it again costs up to a second per GB. COLD_MEMORY=1 omits that warm-up.
set -eu
records=${1:-100000000}
runs=${2:-5}
. "$(dirname "$0")/place.sh"

"$gristmill" gensort "$records" in
job="--direct=1 --bs=4M --iodepth=4 --ioengine=libaio --size=$((records * 100)) --minimal"

floor() {
    drop
    read=$(seconds fio --name=read --rw=read --filename=in --readonly $job)
    write=$(seconds fio --name=write --rw=write --filename=out --fallocate=posix --end_fsync=1 $job)
    drop
    # The start of fio, twice, is not the disk's time.
    start=$(seconds fio --name=start --rw=read --filename=in --readonly $job --size=4M)
    echo "$read $write $start" | awk '{ printf "%.2f", $1 + $2 - 2 * $3 }'
}

before=$(floor)
for run in $(seq "$runs"); do
    if [ -z "${COLD_MEMORY:-}" ]; then sort_once in >/dev/null; drop; fi
    sorted=$(sort_once in)
    after=$(floor)
    echo "$run $before $sorted $after" |
        awk '{ printf "run %d: floor %.2f s, sort %.2f s, floor %.2f s, ratio %.2f\n", $1, $2, $3, $4, 2 * $3 / ($2 + $4) }'
    before=$after
done
