//! Plans of known sorts, number by number, beside those that `plans.txt` has: a planner that changes shows what it
//! changes. Most mistakes in its arithmetic break no promise and cost time alone, which no other test sees.
//!
//! After an intended change, `GRISTMILL_SNAPSHOTS=write cargo test -p gristmill-sort known` writes the file anew; read
//! what `git diff` says of it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::*;

type Planner = fn(&Shape, &Resources, &Tuning) -> Result<Plan, SortError>;

type Change = fn(&mut Shape);

const PLANNERS: [(&str, Planner); 3] = [
    ("one pass", Plan::new),
    ("two passes", Plan::two_pass),
    ("merge", Plan::merge),
];

fn lines() -> Framing {
    let lengths = Lengths {
        mean: 40,
        longest: 3000,
        beyond: 0,
    };
    Framing::ending(record::Framing::Delimited(b'\n')).with_lengths(lengths)
}

/// Sorts that are unlike the usual one in one way.
const OTHERS: [(&str, Change); 12] = [
    ("", |_| {}),
    ("1 MB", |shape| shape.bytes = Some(1_000_000)),
    ("100 GB", |shape| shape.bytes = Some(100_000_000_000)),
    ("a pipe", |shape| shape.bytes = None),
    ("stable", |shape| shape.stable = true),
    ("lines", |shape| shape.framing = lines()),
    ("a pipe of lines", |shape| {
        (shape.bytes, shape.framing) = (None, lines());
    }),
    ("about so long, 40 inputs", |shape| {
        (shape.is_about, shape.inputs) = (true, 40);
    }),
    ("4 outputs", |shape| shape.outputs = 4),
    ("to a pipe, packed", |shape| {
        (shape.sequential_output, shape.pack) = (true, Pack::Auto);
    }),
    ("stripes", |shape| {
        (shape.temporary, shape.stripe) = (4, Some(3));
    }),
    ("areas", |shape| {
        (shape.temporary, shape.spill_layout) = (2, SpillLayout::Preallocated);
    }),
];

fn told(plan: &Plan, memory_bytes: u64) -> String {
    let mut text = String::new();
    let mut add = |part: String| writeln!(text, "    {part}").expect("memory");
    add(format!(
        "{} units of {}, read as {}; {} buckets; {} chunks of {}; {} samples; needs {}",
        plan.units,
        plan.unit_bytes,
        plan.read_bytes,
        plan.buckets,
        plan.chunks,
        plan.chunk_bytes,
        plan.samples,
        plan.needed(),
    ));
    add(format!(
        "{} readers, {} distributors, {} node distributors, {} sorters, {} writers, depth {}, packs {}, stripe {:?}",
        plan.readers,
        plan.distributors,
        plan.node_distributors,
        plan.sorters,
        plan.writers,
        plan.depth,
        plan.packs,
        plan.stripe,
    ));
    if let Some(spilling) = plan.spilling {
        add(format!("{spilling:?}"));
        // Several ranks read no pipe.
        let ranks = plan.input_bytes.map_or(&[][..], |_| &[4, 500]);
        for &ranks in ranks {
            let exchanging = Exchanging::new(plan, ranks, memory_bytes);
            let bytes = exchanging.all_bytes();
            add(format!("{ranks} ranks, {bytes} bytes: {exchanging:?}"));
        }
    }
    if let Some(merging) = plan.merging {
        add(format!("{merging:?}"));
    }
    text
}

#[test]
fn known_sorts_have_known_plans() {
    let mut text = String::new();
    for (name, change) in OTHERS {
        let mut shape = Shape {
            stable: false,
            ..shape(Some(7_000_000), 100)
        };
        change(&mut shape);
        for (how, planner) in PLANNERS {
            let tuning = Tuning::default();
            let least = planner(&shape, &resources(0), &tuning).unwrap_err();
            writeln!(
                text,
                "700 MB, {name}; {how}: {:?} bytes at least",
                least.needed_memory()
            )
            .unwrap();
            for (cores, memory_bytes) in [(2, 24 * MIB), (2, 256 * MIB), (32, 8 << 30)] {
                let given = Resources {
                    cores,
                    ..resources(memory_bytes)
                };
                writeln!(text, "  {cores} cores, {} MiB", memory_bytes / MIB).unwrap();
                match planner(&shape, &given, &tuning) {
                    Ok(plan) => text.push_str(&told(&plan, memory_bytes)),
                    Err(refused) => writeln!(text, "    {refused}").unwrap(),
                }
            }
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plan/tests/plans.txt");
    if std::env::var_os("GRISTMILL_SNAPSHOTS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap();
    let differs = known
        .lines()
        .zip(text.lines())
        .find(|(known, now)| known != now);
    assert_eq!(
        differs, None,
        "known, now; see the top of plan/tests/known.rs"
    );
    assert_eq!(known.lines().count(), text.lines().count());
}
