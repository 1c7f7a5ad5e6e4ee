mod known;

use super::*;
use crate::job::SpillLayout;
use crate::records::lengths::{LengthCounter, Lengths};

fn resources(memory_bytes: u64) -> Resources {
    Resources {
        cores: 2,
        memory_bytes,
        io: crate::IoChoice::Auto,
    }
}

/// One input, one output.
pub(super) fn shape(records: Option<u64>, record_bytes: usize) -> Shape {
    Shape {
        inputs: 1,
        bytes: records.map(|records| records * record_bytes as u64),
        framing: Framing::fixed(record_bytes),
        sequential_output: false,
        outputs: 1,
        is_about: false,
        stable: true,
        temporary: 1,
        sources: Default::default(),
        coding: Default::default(),
        pack: Pack::Never,
        spill_layout: SpillLayout::Log,
        stripe: None,
    }
}

fn plan(records: Option<u64>, record_bytes: usize, memory_bytes: u64) -> Result<Plan, SortError> {
    Plan::new(
        &shape(records, record_bytes),
        &resources(memory_bytes),
        &Tuning::default(),
    )
}

#[test]
fn gensort_units_begin_at_whole_blocks() {
    for records in [1_000_000, 100_000_000] {
        let plan = plan(Some(records), 100, 1 << 34).unwrap();
        assert_eq!(plan.read_bytes % BLOCK_BYTES as usize, 0);
        assert!(plan.unit_bytes as u64 <= UNIT_BYTES);
    }
}

#[test]
fn the_least_memory_is_said_and_is_enough() {
    for (records, bytes) in [(0, 1), (1, 1), (1000, 7), (1_000_000, 100), (3, 5_000_000)] {
        let refused = plan(Some(records), bytes, 0).unwrap_err();
        let SortError::TooLittleMemory { needed, .. } = refused else {
            panic!("{refused}")
        };
        assert_eq!(plan(Some(records), bytes, needed).unwrap().needed(), needed);
        assert!(plan(Some(records), bytes, needed - 1).is_err());
    }
}

#[test]
fn a_chunk_has_room_for_the_longest_line_that_a_caller_names() {
    for longest in [1 << 31, 1 << 32, 1 << 40, usize::MAX] {
        let lengths = Lengths {
            mean: 2,
            longest,
            beyond: 0,
        };
        let framing = Framing::ending(record::Framing::Delimited(b'\n')).with_lengths(lengths);
        let shape = Shape {
            framing,
            ..shape(Some(2), 2)
        };
        for planner in [Plan::new, Plan::two_pass, Plan::merge] {
            let plan = planner(&shape, &resources(1 << 46), &Tuning::default()).unwrap();
            assert!(plan.chunk_shape().room as usize >= framing.longest());
        }
    }
}

#[test]
fn more_memory_never_makes_a_sort_fail() {
    for (records, bytes) in [(None, 100), (Some(1_000_000), 100), (Some(10), 5_000_000)] {
        for planner in [Plan::new, Plan::two_pass, Plan::merge] {
            let shape = shape(records, bytes);
            let with = |memory| planner(&shape, &resources(memory), &Tuning::default());
            let Err(SortError::TooLittleMemory { needed, .. }) = with(0) else {
                panic!("a sort needs memory")
            };
            assert!(with(needed - 1).is_err());
            let more = std::iter::successors(Some(needed), |memory| Some(memory + memory / 40));
            for memory in more.take_while(|memory| *memory < 100 * needed) {
                assert!(
                    with(memory).unwrap().needed() <= memory,
                    "{shape:?} {memory}"
                );
            }
        }
    }
}

/// Once the search for fewer buckets never ended.
#[test]
fn a_pipe_keeps_the_number_of_buckets_that_is_asked_for() {
    let tuning = Tuning {
        buckets: Some(64),
        ..Tuning::default()
    };
    let with = |memory| Plan::new(&shape(None, 100), &resources(memory), &tuning);
    assert!(with(MIB).is_err());
    assert_eq!(with(1 << 30).unwrap().buckets, 64);
}

#[test]
fn large_records_and_many_cores_need_little_more_than_the_records() {
    let cases = [
        (10, 10_000_000),
        (4, 100_000_000),
        (1000, 1_000_000),
        (1_000_000, 100),
        (1, 9),
    ];
    for (records, record_bytes) in cases {
        for cores in [1, 2, 16, 64, 256] {
            let shape = Shape {
                stable: false,
                ..shape(Some(records), record_bytes)
            };
            let resources = Resources {
                cores,
                ..resources(u64::MAX)
            };
            let plan = Plan::new(&shape, &resources, &Tuning::default()).unwrap();
            let bytes = records * record_bytes as u64;
            let room = 64 * MIB + cores as u64 * 8 * MIB;
            assert!(
                plan.needed() < 8 * bytes + room,
                "{cores}: {:#?}",
                plan.needs()
            );
        }
    }
}

#[test]
fn with_little_memory_fewer_cores_sort() {
    let all = plan(Some(10_000_000), 100, 1 << 40).unwrap().needed();
    let fewer = plan(Some(10_000_000), 100, all - 1).unwrap();
    assert!(fewer.distributors == 1 && fewer.needed() < all);
}

#[test]
fn a_pipe_fills_the_memory() {
    let limit = 1 << 30;
    let pipe = plan(None, 100, limit).unwrap();
    assert!(
        pipe.needed() <= limit && pipe.needed() > limit / 2,
        "{}",
        pipe.needed()
    );
    assert!(plan(None, 100, 1 << 20).is_err());
}

#[test]
fn needs_are_little_more_than_the_records() {
    let small = plan(Some(1_000_000), 100, 1 << 34).unwrap();
    assert!(small.needed() < 200 << 20, "{:#?}", small.needs());
    let large = plan(Some(100_000_000), 100, 1 << 34).unwrap();
    assert!(large.needed() < 12 << 30, "{:#?}", large.needs());
}

/// More memory never costs another time on disk, and no plan that spills writes crumbs where it
/// could do better: with 9M all of a million records once went out in single chunks of 4 KiB.
#[test]
fn more_memory_never_makes_a_sort_spill_more_often() {
    let shape = Shape {
        stable: false,
        ..shape(Some(1_000_000), 100)
    };
    let of = |megabytes: u64| {
        let given = resources(megabytes * MIB);
        Plan::two_pass(&shape, &given, &Tuning::default()).unwrap()
    };
    let times: Vec<u32> = (6..64)
        .map(|megabytes| of(megabytes).times_spilled())
        .collect();
    assert!(times.is_sorted_by(|less, more| less >= more), "{times:?}");
    assert!(of(7).divides_again() && of(9).divides_again() && !of(12).divides_again());
}

#[test]
fn an_input_twice_as_long_as_expected_still_stays_in_memory() {
    for records in [1_000, 1_000_000] {
        let shape = shape(Some(records), 100);
        let plan = Plan::two_pass(&shape, &resources(1 << 36), &Tuning::default()).unwrap();
        let held = plan.spilling.unwrap().held * plan.chunk_shape().room as usize;
        assert!(
            held as u64 >= 2 * records * 100,
            "{held} for {records} records"
        );
    }
}

#[test]
fn a_long_line_takes_its_length_in_few_buffers() {
    let lines = |count: u64, longest: u64| {
        let mut lengths = LengthCounter::default();
        (0..count).for_each(|_| lengths.add(50));
        lengths.add(longest);
        let bytes = 50 * count + longest;
        let framing = Framing::ending(record::Framing::Delimited(b'\n'));
        let framing = framing.with_lengths(lengths.lengths(bytes));
        let shape = Shape {
            framing,
            bytes: Some(bytes),
            ..shape(None, 1)
        };
        let refused = Plan::new(&shape, &resources(0), &Tuning::default()).unwrap_err();
        refused.needed_memory().unwrap()
    };
    for count in [2, 1_000, 100_000] {
        let (usual, long) = (lines(count, 50), lines(count, 10_000_000));
        let more = long - usual;
        assert!(more < 55_000_000, "{count}: {more} bytes more");
    }
}

/// A part of a rank, about as long as that, with lines as long as a limit lets them be.
#[test]
fn more_memory_never_refuses_a_part_of_a_rank() {
    let parts = [(1, 1), (1, 2), (6_000, 1), (200_000, 6), (5_000_000, 40)];
    for (cores, (bytes, mean)) in [1, 2]
        .into_iter()
        .flat_map(|cores| parts.map(|part| (cores, part)))
    {
        let fits = |limit: u64| {
            let longest = (limit / 1024).clamp(4 << 10, 64 << 10) as usize;
            let framing = Framing::ending(record::Framing::Delimited(b'\n'));
            let shape = Shape {
                framing: framing.with_lengths(Lengths::about(mean, longest)),
                bytes: Some(bytes),
                is_about: true,
                stable: false,
                ..shape(None, 1)
            };
            let mut given = resources(limit / 4 * 3);
            given.cores = cores;
            let plan = |tuning: &Tuning| Plan::two_pass(&shape, &given, tuning);
            let exchanged = plan(&Tuning::default()).and_then(|plan| {
                let exchanging = Exchanging::new(&plan, 4, limit);
                exchanging.fits(limit)?;
                Ok(exchanging)
            });
            let as_exchanged = |exchanging: Exchanging| Tuning {
                unit_bytes: Some(exchanging.read_bytes),
                distributors: Some(exchanging.distributors),
                ..Tuning::default()
            };
            // A rank plans its range once more, when the exchange is known.
            exchanged.is_ok_and(|exchanging| plan(&as_exchanged(exchanging)).is_ok())
        };
        let mut limits = (1 << 20..100 << 20).step_by(1 << 20);
        let first = limits.find(|&limit| fits(limit)).unwrap();
        let refused: Vec<u64> = limits.filter(|&limit| !fits(limit)).collect();
        assert!(
            refused.is_empty(),
            "{refused:?} of {bytes} bytes: {first} do"
        );
    }
}

/// The least memory that the refusal of a plan for few large records names.
fn least(shape: &Shape, plan: fn(&Shape, &Resources, &Tuning) -> Result<Plan, SortError>) -> u64 {
    let with = |memory_bytes| plan(shape, &resources(memory_bytes), &Tuning::default());
    let refused = with(MIB).unwrap_err();
    let SortError::TooLittleMemory { needed, .. } = refused else {
        panic!("{refused}")
    };
    let one = with(needed).unwrap();
    assert!(one.has_one_worker() && one.needed() <= needed, "{one:#?}");
    assert!(with(needed - 1).is_err());
    needed
}

/// A sort touches the records, two units of two records each, and the ends of sorted buckets or
/// loads. Once three records of 10 MB asked for 180 MB in one pass and for 390 MB in two.
#[test]
fn a_few_large_records_need_little_more_than_is_touched() {
    for stable in [false, true] {
        for record_bytes in [1_000_000, 10_000_000, 100_000_000] {
            for records in [2, 3, 10] {
                let shape = Shape {
                    stable,
                    ..shape(Some(records), record_bytes)
                };
                let of = |records: u64| records * record_bytes as u64 + 16 * MIB;
                let room = of(records + 7) + of(records + 7) / 50;
                assert!(
                    least(&shape, Plan::new) <= room,
                    "{records} of {record_bytes}"
                );
                assert!(
                    least(&shape, Plan::two_pass) <= room,
                    "{records} of {record_bytes}"
                );
                assert!(
                    least(&shape, Plan::merge) <= of(17),
                    "{records} of {record_bytes}"
                );
            }
        }
    }
}

#[test]
fn ordinary_records_have_several_workers() {
    for record_bytes in [1, 100, 5000, 200_000] {
        for bytes in [None, Some(0), Some(10 * MIB), Some(10_000 * MIB)] {
            for megabytes in [4, 7, 12, 40, 200, 2000] {
                let shape = shape(bytes.map(|all| all / record_bytes as u64), record_bytes);
                let (given, tuning) = (resources(megabytes * MIB), Tuning::default());
                let plans = [Plan::new, Plan::two_pass, Plan::merge];
                let made = plans
                    .iter()
                    .filter_map(|plan| plan(&shape, &given, &tuning).ok());
                assert!(
                    made.into_iter().all(|plan| !plan.has_one_worker()),
                    "{shape:?} {megabytes}M"
                );
            }
        }
    }
}

/// Chunks that distributors have open take an eighth of a pipe's memory, if they are as large as chunks become.
#[test]
fn a_pipe_has_as_many_buckets_as_an_eighth_of_its_memory_opens() {
    for memory in [48 << 20, 100 << 20, 300 << 20, 4 << 30] {
        let plan = plan(None, 100, memory).unwrap();
        let open = |buckets| (plan.distributors * buckets * (128 << 10)) as u64;
        assert!(open(plan.buckets) <= memory / 8, "{memory}: {plan:?}");
        let is_full = open(plan.buckets + 1) > memory / 8;
        assert!(plan.buckets == 256 || is_full, "{memory}: {plan:?}");
    }
}

/// While two partitions are read back that fill the memory, no chunk of others stays there.
#[test]
fn all_is_spilled_where_two_partitions_fill_the_memory() {
    let tuning = Tuning {
        buckets: Some(63),
        ..Tuning::default()
    };
    let (mut filled, mut records) = (0, 1 << 20);
    while records < 1 << 30 {
        records += records / 10;
        let shape = shape(Some(records), 100);
        let Ok(plan) = Plan::two_pass(&shape, &resources(32 << 20), &tuning) else {
            continue;
        };
        let room = u64::from(plan.spilling.unwrap().chunk_room);
        let full = (records * 100).div_ceil(room);
        if 2 * full / plan.buckets as u64 >= plan.chunks as u64 {
            let half_empty = (plan.distributors * plan.buckets / 2) as u64;
            let all = (full + half_empty) * plan.chunk_bytes as u64;
            assert_eq!(plan.temporary_bytes(), all, "{records} records");
            filled += 1;
        }
    }
    assert!(filled > 3, "{filled}");
}

#[test]
fn many_cores_and_disks_are_planned_for() {
    for cores in [1, 64] {
        for disks in [1, 16] {
            for memory_bytes in [64 << 20, 4 << 30, 256 << 30] {
                let mut shape = shape(Some(3_000_000_000), 100);
                (shape.sources.devices, shape.outputs, shape.temporary) = (disks, disks, disks);
                let given = Resources {
                    cores,
                    ..resources(memory_bytes)
                };
                let Ok(plan) = Plan::two_pass(&shape, &given, &Tuning::default()) else {
                    assert!(memory_bytes < 1 << 30, "{cores} cores, {disks} disks");
                    continue;
                };
                assert!(
                    plan.loads() >= disks,
                    "{cores} cores, {disks} disks: {plan:#?}"
                );
                assert!(plan.needed() <= memory_bytes);
                if memory_bytes > 4 << 30 {
                    assert!(plan.readers >= disks && plan.writers >= disks, "{plan:#?}");
                }
            }
        }
    }
}
