use super::*;
use crate::job::SpillLayout;
use std::iter::successors;

use node::Filled;

use crate::plan::Spilling;
use crate::records::framing::Framing;

/// A plan whose numbers are all different; none of it is derived.
const PLAN: Plan = Plan {
    framing: Framing::fixed(100),
    input_bytes: Some(1_000_000),
    outputs: 1,
    stable: false,
    units: 50,
    read_bytes: 102_400,
    unit_bytes: 102_400,
    buckets: 8,
    chunk_bytes: 8192,
    chunks: 200,
    samples: 10,
    readers: 2,
    distributors: 3,
    node_distributors: 3,
    sent_bytes: None,
    sorters: 4,
    writers: 2,
    depth: 3,
    is_about: false,
    packs: false,
    stripe: None,
    spilling: None,
    merging: None,
    longer: None,
};

const SPILLING: Spilling = Spilling {
    held: 400,
    run: 16,
    chunk_room: 8000,
    chunk_marks: 5,
    partition_chunks: 20,
    directories: 1,
    spillers: 1,
    depth: 2,
    tokens: 3,
    least_write_bytes: 1 << 20,
    grows: true,
    most_write_bytes: 4 << 20,
    layout: SpillLayout::Log,
    area_bytes: None,
    loaders: 1,
};

/// The bytes that the plan needs under that name.
fn need(plan: &Plan, name: &str) -> u64 {
    plan.needs()
        .iter()
        .find(|need| need.name == name)
        .expect(name)
        .bytes
}

#[test]
fn buffers_are_of_reading_or_of_writing() {
    assert_eq!(PLAN.buffer_bytes(), 102_400 + 2 * 4096);
    assert_eq!(
        Plan {
            framing: Framing::fixed(10_000),
            ..PLAN
        }
        .buffer_bytes(),
        102_400 + 3 * 4096
    );
    assert_eq!(PLAN.buffers(), 2 * 4 + 2 * 3, "writing needs more");
    assert_eq!(
        Plan { readers: 5, ..PLAN }.buffers(),
        5 * 3 + 2 * 3,
        "reading does"
    );
    assert_eq!(
        Plan { units: 10, ..PLAN }.buffers(),
        11,
        "the input has so few"
    );
    assert_eq!((PLAN.read_queue(), PLAN.write_queue()), (3, 8));
    assert_eq!(PLAN.seam_buffers(), (2 * 4 + 1 + 1) + 4 + 8 + 2 * 3);
}

#[test]
fn needs_are_sums_of_what_the_plan_has() {
    let sorter = |records| Workspace::bytes(records) + KERNEL_BYTES + 3 * 100;
    for (name, bytes) in [
        ("records", 200 * 8192),
        ("units", 14 * 110_592),
        ("seams", 28 * 4096),
        ("sorting", 4 * sorter(LARGEST_OF_MEAN * 1250)),
        ("distributing", 3 * (1024 * 12 + 24 * 8)),
        ("edges of buckets", 2 * 8 * 100),
        ("sample of a partition", 0),
        ("chunk lists", 200 * 192),
        ("input positions", 0),
        ("runs", 0),
        ("program", 8 << 20),
    ] {
        assert_eq!(need(&PLAN, name), bytes, "{name}");
    }
    let many = Plan {
        buckets: 20,
        ..PLAN
    };
    assert_eq!(need(&many, "edges of buckets"), 2 * (2 * 4 + 1 + 2) * 100);
    assert_eq!(
        PLAN.needed(),
        PLAN.needs().iter().map(|need| need.bytes).sum::<u64>()
    );
}

#[test]
fn a_sort_that_spills_needs_room_for_runs_and_partitions() {
    let plan = Plan {
        spilling: Some(SPILLING),
        ..PLAN
    };
    assert_eq!(
        need(&plan, "sorting"),
        4 * (Workspace::bytes(1600) + KERNEL_BYTES + 300)
    );
    assert_eq!(need(&plan, "edges of buckets"), 2 * 11 * 100);
    assert_eq!(need(&plan, "sample of a partition"), 200 * 8192 / 8);
    assert_eq!(need(&plan, "program"), 2 << 20);
    assert_eq!(
        need(&plan, "runs"),
        1_000_000 / (16 * 8192) * 12,
        "of 16 chunks at most"
    );
    let few = Plan {
        spilling: Some(Spilling {
            held: 40,
            ..SPILLING
        }),
        ..PLAN
    };
    assert_eq!(
        need(&few, "runs"),
        1_000_000 / (10 * 8192) * 12,
        "of twice the mean"
    );
    assert_eq!(
        need(
            &Plan {
                stable: true,
                ..plan
            },
            "input positions"
        ),
        200 * 5 * 16
    );
}

/// The sample uses memory that the chunks take later, so only the part beyond the chunks
/// counts.
#[test]
fn a_sample_needs_what_the_chunks_leave() {
    // The whole records of a disk block.
    let place = 4000;
    assert_eq!(need(&PLAN, "sample"), 2 * 8 * 100);
    let few = Plan { chunks: 9, ..PLAN };
    assert_eq!(
        need(&few, "sample"),
        2 * 8 * 100 + 2 * 10 * place - 9 * 8192 + 8 * (place + 3 * 4096),
        "eight in flight"
    );
    let less = Plan {
        samples: 5,
        chunks: 0,
        ..PLAN
    };
    assert_eq!(
        need(&less, "sample"),
        2 * 8 * 100 + 2 * 5 * place + 5 * (place + 3 * 4096)
    );
    let large = Plan {
        framing: Framing::fixed(10_000),
        chunks: 0,
        ..PLAN
    };
    let in_flight = 8 * (10_000 + 3 * 4096);
    assert_eq!(
        need(&large, "sample"),
        2 * 8 * 10_000 + 2 * 10 * 10_000 + in_flight
    );
    assert_eq!(need(&Plan { samples: 0, ..PLAN }, "sample"), 0);
}

#[test]
fn positions_are_a_mark_for_each_run_but_never_more_than_one_a_record() {
    let positions = |plan: Plan| {
        need(
            &Plan {
                stable: true,
                ..plan
            },
            "input positions",
        )
    };
    assert_eq!(positions(PLAN), (50 * 8 + 200) * 16);
    let few = Plan { units: 3, ..PLAN };
    assert_eq!(positions(few), (3 * 8 + 200) * 16);
    let many = Plan {
        buckets: 1000,
        ..PLAN
    };
    assert_eq!(positions(many), 10_000 * 16);
    let pipe = Plan {
        input_bytes: None,
        ..PLAN
    };
    assert_eq!(positions(pipe), 200 * 81 * 16, "of all records");
}

/// Of a pipe one bucket may get all records, and each may have a mark.
#[test]
fn a_chunk_of_a_pipe_costs_itself_its_lists_and_room_to_sort() {
    let pipe = |chunks, stable| Plan {
        input_bytes: None,
        chunks,
        stable,
        ..PLAN
    };
    let all = |chunks: u64| chunks * (8192 + 192) + Workspace::bytes(chunks * 81);
    for (stable, marks) in [(false, 0), (true, 200 * 81 * 16)] {
        let more = pipe(300, stable).needed() - pipe(100, stable).needed();
        assert_eq!(more, all(300) - all(100) + marks);
    }
}

#[test]
fn no_number_of_chunks_that_fits_is_passed_over() {
    let needs = |chunks: usize| {
        let all = chunks as u64;
        let steps = Need::new("in steps", 20 + 30 * (all.saturating_sub(30) / 4));
        [
            Need::new("fixed", 1000),
            Need::new("records", 100 * all).from(0),
            Need::new("with a ceiling", (10 * all).min(50)).from(0),
            Need::new("shrinking", 2000 / (all + 1)),
            steps.in_steps(20, 30, 4, 30..chunks),
        ]
    };
    let used = |chunks| needs(chunks).iter().map(|need| need.bytes).sum::<u64>();
    for limit in (0..used(100)).step_by(7) {
        let solved = |&chunks: &usize| most_chunks(&needs(chunks), limit, chunks);
        let found = successors(Some(100), solved).find(|&chunks| used(chunks) <= limit);
        let expected = (0..100).rev().find(|&chunks| used(chunks) <= limit);
        assert_eq!(found, expected, "{limit}");
    }
}

/// Where one more chunk would fit, too, memory is wasted; where fewer are tried than would fit, a
/// sort may be refused.
#[test]
fn filled_plans_have_the_most_chunks_that_fit() {
    let divide = |chunks: usize| {
        let spilling = Spilling {
            held: chunks / 2,
            partition_chunks: (chunks / 6).clamp(1, 90),
            ..SPILLING
        };
        let plan = Plan {
            input_bytes: Some(1 << 30),
            chunks,
            stable: true,
            spilling: Some(spilling),
            ..PLAN
        };
        (chunks > 10).then_some(plan)
    };
    for limit in (10..30).map(|mib| mib * MIB) {
        let fits = |chunks: &usize| divide(*chunks).is_some_and(|plan| plan.needed() <= limit);
        let found = filled(limit, 1..=4000, divide).map(|plan| plan.chunks);
        assert_eq!(found, (1..4000).filter(fits).max(), "{limit}");
        assert_eq!(
            filled(limit, 4000..=4000, divide),
            divide(4000).filter(|_| fits(&4000))
        );
    }
}

#[test]
fn a_sort_in_memory_fills_its_chunks_once() {
    let of = |input| Plan {
        input_bytes: input,
        ..PLAN
    };
    let memory = PLAN.chunks * PLAN.chunk_bytes;
    let all = memory as u64;
    assert_eq!(of(Some(all)).filled(memory), Filled::Once);
    assert_eq!(of(Some(all)).filled(memory / 32), Filled::Once);
    assert_eq!(of(Some(all)).filled(memory / 64), Filled::Often);
    assert_eq!(of(Some(all + 1)).filled(memory), Filled::Often);
    assert_eq!(of(None).filled(memory), Filled::Often);
}
