#!/bin/sh
# A sort of a large file in memory beside its floor: reading the file and writing as much, direct, in
# 4 MiB blocks with four in flight (fio), measured just before and after each sort.
#
#   bench/large.sh [RECORDS] [RUNS]        default: 100000000 records (10 GB), 5 runs
#
# Needs fio, GNU time, three times the file's size of free space here, and root to drop caches.
#
# Each measured sort follows an unmeasured one at once: some virtual machines hand freed memory back
# to their host, and touching it again then costs up to a second for each GB. COLD_MEMORY=1 leaves
# that warm-up out.
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
    # What fio takes to start, twice, is not the disk's time.
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
