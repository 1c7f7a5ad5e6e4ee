use super::*;
use crate::error::SortError;
use crate::job::{IoChoice, Resources, Tuning};
use crate::plan::tests::shape;
use crate::records::block::BLOCK_BYTES;

fn plan(records: Option<u64>, record_bytes: usize, memory_bytes: u64) -> Result<Plan, SortError> {
    let resources = Resources {
        cores: 4,
        memory_bytes,
        io: IoChoice::Auto,
    };
    Plan::merge(
        &shape(records, record_bytes),
        &resources,
        &Tuning::default(),
    )
}

#[test]
fn any_input_is_planned_within_the_memory_there_is() {
    for record_bytes in [1, 7, 100, 4096, 10_000, 100_000] {
        for bytes in [None, Some(0), Some(1 << 20), Some(1 << 30), Some(1 << 40)] {
            let records = bytes.map(|bytes| bytes / record_bytes as u64);
            for mib in [8, 12, 40, 64, 1000, 30_000] {
                let limit = mib * MIB;
                // Of much more than that, the lists of runs alone would fill it.
                let with_order = |all: u64| all * (record_bytes as u64 + 18);
                if records.is_some_and(|all| with_order(all) > 200 * limit) {
                    continue;
                }
                let plan = plan(records, record_bytes, limit).unwrap();
                assert!(plan.needed() <= limit, "{plan:#?}");
                // Little is left over, but for what one more chunk would need.
                let each = 2 * plan.needed() / plan.chunks as u64;
                assert!(
                    plan.needed() + 4 * each > limit / 2,
                    "{plan:#?} {:#?}",
                    plan.needs()
                );
                let merging = plan.merging.unwrap();
                assert!(merging.chunk_room >= merging.block_room, "{plan:#?}");
                assert!(
                    merging.fan_in * READS_AHEAD <= plan.chunks_loaded(),
                    "{plan:#?}"
                );
                assert!(merging.loads >= plan.sorters + 2, "{plan:#?}");
            }
        }
    }
}

#[test]
fn the_least_memory_is_said_and_is_enough() {
    for (records, record_bytes) in [(None, 100), (Some(1_000_000), 100), (Some(10), 5_000_000)] {
        let refused = plan(records, record_bytes, MIB).unwrap_err();
        let SortError::TooLittleMemory { needed, .. } = refused else {
            panic!("{refused}")
        };
        assert!(plan(records, record_bytes, needed).unwrap().needed() <= needed);
        assert!(plan(records, record_bytes, needed - 1).is_err());
    }
}

/// All runs are merged at once as long as memory squared allows: ten times the memory with a little
/// of it, a hundred times with more.
#[test]
fn runs_are_merged_at_once_as_long_as_that_can_be() {
    for (mib, times) in [(24, 10), (100, 30), (1000, 100), (16_000, 1000)] {
        let records = times * mib * MIB / 100;
        let plan = plan(Some(records), 100, mib * MIB).unwrap();
        assert!(plan.merges_once(), "{times} times {mib}M: {plan:#?}");
    }
}

#[test]
fn reads_of_gensort_records_begin_at_whole_blocks() {
    let plan = plan(Some(10_000_000), 100, 256 * MIB).unwrap();
    let block = plan.merging.unwrap().block_room as u64;
    assert_eq!(block % BLOCK_BYTES, 0);
    assert!(block + 2 * BLOCK_BYTES > plan.chunk_bytes as u64);
    // As large as they are wanted, but for the rest of a period.
    let wanted = 1 << 20;
    let tuning = Tuning {
        chunk_bytes: Some(wanted),
        ..Tuning::default()
    };
    let resources = Resources {
        cores: 4,
        memory_bytes: 256 * MIB,
        io: IoChoice::Auto,
    };
    let shape = shape(Some(10_000_000), 100);
    let merging = Plan::merge(&shape, &resources, &tuning).unwrap().merging;
    let room = merging.unwrap().block_room;
    let period = plan.framing.period() as usize;
    assert!(room <= wanted && room > wanted - period, "{room}");
}
