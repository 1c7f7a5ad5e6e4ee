//! Trials of the distributed sort: faults lose nothing, and broken machines are noticed.
//!
//! `make trials` runs a thousand seeds with the command.

use std::collections::BTreeMap;

use simulated_sort::{Faults, Mutant, Passed, Trial, What, Wrong};

/// Two to five nodes.
fn drawn(seed: u64, faults: &str, mutant: Option<Mutant>) -> Trial {
    let faults = faults.parse().expect("a list of faults");
    Trial {
        seed,
        nodes: 2 + (seed % 4) as u32,
        keys: 200,
        faults,
        mutant,
    }
}

fn passed(seed: u64, faults: &str) -> Passed {
    let trial = drawn(seed, faults, None);
    trial
        .run()
        .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}; {}", trial.command()))
}

#[test]
fn faults_lose_nothing() {
    let (mut ended, mut spilled) = (BTreeMap::<_, u64>::new(), 0);
    for seed in 0..200 {
        let passed = passed(seed, &Faults::ALL.to_string());
        spilled += u64::from(passed.passes > 1);
        *ended.entry(passed.words()).or_default() += 1;
    }
    for what in [
        "ended by a cut",
        "a death, then",
        "a disk, then",
        "in spite of a cut",
    ] {
        let count: u64 = ended
            .iter()
            .filter(|(words, _)| words.contains(what))
            .map(|(_, runs)| runs)
            .sum();
        assert!(count >= 4, "hardly any {what}: {ended:?}");
    }
    assert!(spilled > 40, "only {spilled} of them spilled");
}

#[test]
fn without_faults_everything_is_sorted() {
    for seed in 0..40 {
        assert_eq!(passed(seed, "none").words(), "sorted");
        assert_eq!(passed(seed, "late").words(), "sorted");
    }
}

#[test]
fn a_seed_decides_a_trial() {
    for seed in 0..10 {
        assert_eq!(
            passed(seed, "late,cut,death,disk"),
            passed(seed, "late,cut,death,disk")
        );
    }
}

/// Seeds that have found bugs.
///
/// - Rank 0 had announced the end and left, so no rank watched it any more, and died before the
///   others had received the announcement: they waited for ever. Now ranks stay until all are done.
#[test]
fn bugs_of_the_past_stay_fixed() {
    for seed in [29, 170, 199, 278] {
        passed(seed, "death");
    }
    for seed in [133, 294] {
        passed(seed, "late,cut,death,disk");
    }
}

/// The first finding about a broken machine, among the first `seeds`.
fn found(mutant: Mutant, faults: &str, seeds: u64) -> (u64, Wrong) {
    let first =
        (0..seeds).find_map(|seed| Some((seed, drawn(seed, faults, Some(mutant)).run().err()?)));
    let (seed, wrong) = first.unwrap_or_else(|| panic!("{mutant:?} is not found in {seeds} seeds"));
    // With a machine that is not broken, the same trial passes.
    passed(seed, faults);
    (seed, wrong)
}

/// Each missing safeguard is noticed by what it protects.
#[test]
fn broken_machines_are_noticed() {
    let cases: [(Mutant, &str, u64, &[What]); 5] = [
        // A power failure takes a reported output, or leaves a name without its data.
        (Mutant::Sync, "death", 10, &[What::Gone, What::Output]),
        // More is under way to a slow receiver than it has buffers for.
        (Mutant::Credits, "late", 60, &[What::Flooded]),
        // Senders wait for ever.
        (Mutant::LostCredit, "none", 10, &[What::Hangs]),
        // A live rank is taken for dead.
        (Mutant::Heartbeat, "late", 20, &[What::Fails]),
        // Ranks wait for one that is cut off.
        (Mutant::Watch, "cut", 60, &[What::Hangs]),
    ];
    for (mutant, faults, seeds, expected) in cases {
        let (seed, wrong) = found(mutant, faults, seeds);
        assert!(
            expected.contains(&wrong.what),
            "{mutant:?}, seed {seed}: {wrong}"
        );
    }
    assert_eq!(cases.map(|(mutant, ..)| mutant), Mutant::ALL);
}
