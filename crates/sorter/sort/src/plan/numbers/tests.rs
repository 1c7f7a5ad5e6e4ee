use super::*;
use crate::error::SortError;
use crate::job::{IoChoice, Resources};
use crate::plan::Shape;
use crate::plan::tests::shape;

fn with(
    shape: &Shape,
    cores: usize,
    memory_bytes: u64,
    numbers: &Tuning,
) -> Result<Plan, SortError> {
    let io = IoChoice::Auto;
    let resources = Resources {
        cores,
        memory_bytes,
        io,
    };
    Plan::two_pass(shape, &resources, numbers)
}

/// The numbers of each plan make the same plan again, whatever cores there are.
#[test]
fn a_plan_is_its_numbers() {
    for (records, record_bytes) in [(None, 100), (Some(1_000_000), 100), (Some(40), 3_000_000)] {
        for memory in [16, 100, 1024, 16_384].map(|mib| mib << 20) {
            for cores in [1, 8, 64] {
                let mut shape = shape(records, record_bytes);
                (shape.stable, shape.temporary) = (cores > 1, 1 + cores / 64);
                let Ok(plan) = with(&shape, cores, memory, &Tuning::default()) else {
                    continue;
                };
                let numbers = plan.numbers().unwrap();
                assert_eq!(with(&shape, 1, memory, &numbers).unwrap(), plan);
                let refused = with(&shape, 3, plan.needed() - 1, &numbers).unwrap_err();
                assert_eq!(refused.needed_memory(), Some(plan.needed()), "{numbers:?}");
            }
        }
    }
}

/// The workers of the stages of TritonSort's first phase (section 4): many that wait for disks, and few
/// that use a core.
#[test]
fn the_workers_of_another_plan_drive_the_same_stages() {
    let numbers = Tuning {
        readers: Some(8),
        distributors: Some(1),
        node_distributors: Some(3),
        spillers: Some(8),
        write_tokens: Some(9),
        least_write_bytes: Some(5_000_000),
        most_write_bytes: Some(14_000_000),
        sent_bytes: Some(1_650_000),
        sorters: Some(4),
        writers: Some(8),
        depth: Some(1),
        spiller_depth: Some(1),
        unit_bytes: Some(4_194_300),
        buckets: Some(315),
        chunk_bytes: Some(12_288),
        chunk_marks: Some(32),
        chunks: Some(200_000),
        ..Tuning::default()
    };
    let shape = shape(Some(1_000_000_000), 100);
    let plan = with(&shape, 1, 24 << 30, &numbers).unwrap();
    assert_eq!(plan.numbers(), Some(numbers));
    let chunks = Some(100);
    let few = Tuning { chunks, ..numbers };
    assert!(with(&shape, 1, 24 << 30, &few).is_err());
}
