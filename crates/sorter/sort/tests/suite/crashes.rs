//! The node dies, after any event of a sort, and data that was not synced is lost or torn.
//!
//! In every case the input is intact; the output's name leads to the old content or to the complete
//! new one, and stays with the new one once a sort has reported success or it was seen there; and
//! the next sort, which may die as well, sweeps the files left behind.

use crate::common::survival::{Case, Output, WAYS};
use crate::common::{run, run_unless_killed};
use node::Random;
use record::Ties;
use rehearsal::Driver;
use rehearsal::Durability;

/// The results of many deaths.
#[derive(Debug, Default)]
struct Deaths {
    died: u64,
    /// Deaths after which files had to be swept.
    left: u64,
    wrong: Vec<String>,
}

impl Deaths {
    /// Lets a sort die after an event, and again after a later one, `stride` events apart on
    /// average, until it ends before it would die.
    fn step_through(case: &Case, durability: Durability, (seed, stride): (u64, usize)) -> Deaths {
        let mut all = Deaths::default();
        let mut random = Random::new(seed);
        let mut nth = 0;
        loop {
            nth += 1 + random.below(2 * stride - 1) as u64;
            let driver = case.driver(seed);
            driver.disks(0).set_durability(durability);
            driver.kill(0, nth);
            let end = all.die(case, &driver);
            if let Err(wrong) = end {
                let name = case.way.name;
                all.wrong.push(format!(
                    "{name}, seed {seed}, dead after event {nth}: {wrong}"
                ));
            }
            if driver.deaths() == 0 {
                return all;
            }
            all.died += 1;
        }
    }

    /// A sort that dies, and the sorts after it.
    fn die(&mut self, case: &Case, driver: &Driver) -> Result<(), String> {
        let reported = sort(case, driver)?;
        let events = driver.events();
        if driver.deaths() > 0 {
            let (found, others) = look(case, driver, expected(reported, Output::Old))?;
            self.left += u64::from(others > 0);
            if events.is_multiple_of(2) {
                driver.kill(0, 1 + Random::new(events).below(2 * events as usize) as u64);
                let reported = sort(case, driver)?;
                look(case, driver, expected(reported, found))?;
            }
            run(driver, &case.job())
                .map_err(|failure| format!("the next sort fails: {failure}"))?;
        }
        case.check(driver, Output::New)?;
        case.check_alone(driver)?;
        driver.disks(0).crash(events);
        look(case, driver, Output::New).map(drop)
    }
}

/// Sorts. Returns whether it reported success before the death.
fn sort(case: &Case, driver: &Driver) -> Result<bool, String> {
    match run_unless_killed(driver, &case.job()) {
        None => Ok(false),
        Some(Ok(_)) => Ok(true),
        Some(Err(failure)) => Err(format!("the sort fails: {failure}")),
    }
}

/// The output expected after a sort, which has reported success or not; `before` was there before
/// it.
fn expected(reported: bool, before: Output) -> Output {
    if reported || before == Output::New {
        Output::New
    } else {
        Output::Either
    }
}

/// The output found, and the number of other files, which the next sort sweeps.
fn look(case: &Case, driver: &Driver, expected: Output) -> Result<(Output, usize), String> {
    Ok((case.check(driver, expected)?, case.check_swept(driver)?))
}

/// Number of events of an undisturbed sort.
fn events(case: &Case, seed: u64) -> u64 {
    let driver = case.driver(seed);
    let report = run(&driver, &case.job()).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(
        report.passes >= case.way.passes,
        "{}: {} passes",
        case.way.name,
        report.passes
    );
    driver.events()
}

fn assert_right(deaths: &Deaths) {
    let shown = deaths.wrong.iter().take(3).collect::<Vec<_>>();
    let (wrong, died) = (deaths.wrong.len(), deaths.died);
    assert!(wrong == 0, "{wrong} of {died} deaths end wrong: {shown:#?}");
}

/// After every single event, under several schedules.
#[test]
fn every_death_is_survived() {
    for (way, seed) in WAYS
        .into_iter()
        .flat_map(|way| (0..4).map(move |seed| (way, seed)))
    {
        let output = ["/out", "/in"][seed as usize % 2];
        let ties = [Ties::Record, Ties::Position][seed as usize / 2];
        let case = Case::to(output, way, way.records, ties);
        let deaths = Deaths::step_through(&case, Durability::Synced, (seed, 1));
        assert_right(&deaths);
        assert_eq!(
            deaths.died,
            events(&case, seed),
            "{}: a death for each event",
            way.name
        );
        assert!(deaths.left > deaths.died / 3, "{}: {deaths:?}", way.name);
    }
}

/// After some events, since lines take more of them.
#[test]
fn deaths_of_sorts_of_lines_are_survived() {
    const STRIDE: usize = 12;
    for (way, seed) in WAYS
        .into_iter()
        .flat_map(|way| (0..2).map(move |seed| (way, seed)))
    {
        let output = ["/out", "/in"][seed as usize];
        let ties = [Ties::Position, Ties::Record][seed as usize];
        let case = Case::of_lines(output, way, way.records, ties);
        let deaths = Deaths::step_through(&case, Durability::Synced, (seed, STRIDE));
        assert_right(&deaths);
        let least = events(&case, seed) / STRIDE as u64 / 2;
        assert!(
            deaths.died > least && deaths.left > 0,
            "{way:?}: {deaths:?}"
        );
    }
}

/// Larger sorts, after some of their events; and processes that are killed while the system lives.
#[test]
fn deaths_of_larger_sorts_are_survived() {
    const STRIDE: usize = 60;
    for way in WAYS {
        let case = Case::new(way, 4 * way.records);
        for durability in [Durability::Synced, Durability::Always] {
            for seed in 10..12 {
                let deaths = Deaths::step_through(&case, durability, (seed, STRIDE));
                assert_right(&deaths);
                let least = events(&case, seed) / STRIDE as u64 / 2;
                assert!(
                    deaths.died > least && deaths.left > 0,
                    "{way:?}: {deaths:?}"
                );
            }
        }
    }
}

/// The tests above can fail: on a disk that claims to have synced, a name appears before its data,
/// and a reported output is gone again.
#[test]
fn a_disk_that_forgets_syncs_is_found_out() {
    for way in WAYS {
        let case = Case::new(way, way.records);
        let deaths = Deaths::step_through(&case, Durability::Never, (1, 5));
        let count = |what| {
            deaths
                .wrong
                .iter()
                .filter(|wrong| wrong.contains(what))
                .count()
        };
        let (torn, gone) = (
            count("the output is neither"),
            count("the output is Old, not New"),
        );
        assert!(
            torn > 0 && gone > 0,
            "{}: {torn} torn, {gone} gone: {deaths:?}",
            way.name
        );
    }
}
