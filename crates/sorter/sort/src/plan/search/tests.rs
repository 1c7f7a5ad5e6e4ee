use super::*;
use crate::job::IoChoice;
use crate::plan::tests::shape;
use crate::records::framing::Framing;
use crate::records::lengths::Lengths;

type Planned = fn(&Shape, &Resources, &Tuning) -> Result<Plan, SortError>;

const PLANNERS: [Planned; 3] = [Plan::new, Plan::two_pass, Plan::merge];

const CORES: [usize; 7] = [1, 2, 4, 6, 8, 16, 32];

fn resources(cores: usize, memory_bytes: u64) -> Resources {
    let io = IoChoice::Auto;
    Resources {
        cores,
        memory_bytes,
        io,
    }
}

fn lines(bytes: u64, mean: usize, longest: usize) -> Shape {
    let framing = Framing::ending(record::Framing::Delimited(b'\n'));
    Shape {
        bytes: Some(bytes),
        framing: framing.with_lengths(Lengths::about(mean, longest)),
        stable: false,
        ..shape(None, 1)
    }
}

/// How often a record is written with each number of cores; a refusal counts as the most.
fn times(planner: usize, shape: &Shape, memory_bytes: u64) -> Vec<u32> {
    let with = |cores| {
        let resources = resources(cores, memory_bytes);
        let plan = PLANNERS[planner](shape, &resources, &Tuning::default());
        plan.map_or(u32::MAX, |plan| plan.times_spilled())
    };
    CORES.into_iter().map(with).collect()
}

#[test]
fn more_cores_never_write_a_record_more_often() {
    let mut shapes = vec![lines(400_000_000, 60, 64 << 10), lines(10 * MIB, 30, 200)];
    for record_bytes in [100, 3_000_000] {
        for bytes in [30 * MIB, 400 * MIB, 10_000 * MIB] {
            shapes.push(shape(Some(bytes / record_bytes as u64), record_bytes));
        }
    }
    for shape in shapes {
        for memory in [16, 256, 1024] {
            for planner in 0..PLANNERS.len() {
                let times = times(planner, &shape, memory * MIB);
                assert!(
                    times.is_sorted_by(|fewer, more| more <= fewer),
                    "{shape:?}, {memory}M: {times:?} times"
                );
            }
        }
    }
}

/// With eight cores and more they once took two passes, since each distributor has a chunk of each
/// partition open.
#[test]
fn lines_that_one_core_keeps_in_memory_stay_there_on_any_number() {
    for longest in [200, 64 << 10] {
        let times = times(1, &lines(400_000_000, 60, longest), 1 << 30);
        assert_eq!(times, [0; CORES.len()], "{longest}");
    }
}

/// Cores are given up for a pass, and for nothing less.
#[test]
fn all_cores_work_where_memory_is_plentiful() {
    for planner in PLANNERS {
        let shape = shape(Some(100_000_000), 100);
        let plan = planner(&shape, &resources(64, 512 << 30), &Tuning::default()).unwrap();
        let merges = plan.merging.is_some();
        assert!(plan.distributors == 64 || merges, "{plan:?}");
        assert_eq!(plan.times_spilled(), 0, "{plan:?}");
    }
}
