//! Trials of the distributed sort: nothing is lost whatever happens, and machines that are broken
//! are found out.
//!
//! Two thousand seeds are tried by `make trials`, with the program as users have it.

use std::collections::BTreeMap;

use lab::trial::{Faults, Mutant, Passed, Trial, What, Wrong};

/// Two to five nodes.
fn trial(seed: u64, faults: &str, mutant: Option<Mutant>) -> Trial {
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
    let trial = trial(seed, faults, None);
    trial
        .run()
        .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}; {}", trial.command()))
}

#[test]
fn nothing_is_lost_whatever_happens() {
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
fn a_seed_is_a_trial() {
    for seed in 0..10 {
        assert_eq!(
            passed(seed, "late,cut,death,disk"),
            passed(seed, "late,cut,death,disk")
        );
    }
}

/// Seeds that have found something.
///
/// - Rank 0 had told that all was done and said good-bye, so nobody watched it any more, and died
///   before the others had fetched what it had told: they waited for ever. Who is done stays now
///   until the others are.
#[test]
fn what_was_found_once_is_right_now() {
    for seed in [29, 170, 199, 278] {
        passed(seed, "death");
    }
    for seed in [133, 294] {
        passed(seed, "late,cut,death,disk");
    }
}

/// What is found first of a broken machine, within so many seeds.
fn found(mutant: Mutant, faults: &str, seeds: u64) -> (u64, Wrong) {
    let first =
        (0..seeds).find_map(|seed| Some((seed, trial(seed, faults, Some(mutant)).run().err()?)));
    let (seed, wrong) = first.unwrap_or_else(|| panic!("{mutant:?} is not found in {seeds} seeds"));
    // It is the machine that is wrong: where it is whole, the same trial passes.
    passed(seed, faults);
    (seed, wrong)
}

/// A sort without one of its safeguards is found out, each by what it is there for.
#[test]
fn broken_machines_are_found_out() {
    let cases: [(Mutant, &str, u64, &[What]); 5] = [
        // A power failure takes what was reported, or leaves a name without its data.
        (Mutant::Sync, "death", 10, &[What::Gone, What::Output]),
        // A slow receiver has more coming than it has room for.
        (Mutant::Credits, "late", 60, &[What::Flooded]),
        // Senders wait for ever.
        (Mutant::LostCredit, "none", 10, &[What::Hangs]),
        // Who is alive is taken for dead.
        (Mutant::Heartbeat, "late", 20, &[What::Fails]),
        // Who is cut off is waited for.
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
