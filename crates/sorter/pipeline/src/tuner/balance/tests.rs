//! Moves in a modelled pipeline of two stages.
//!
//! Each worker of a reader delivers a fixed rate until the disk limits them, and a sink takes the
//! units.

use super::*;
use crate::clock::Spent;
use crate::tuner::interval::Done;

const UNIT_BYTES: f64 = 1e6;
const LOOK_S: f64 = 0.05;

struct World {
    balance: Balance,
    at: f64,
    /// Workers of the reader and of the sink.
    knobs: [Knob; 2],
    done: [f64; 2],
    spent: [Spent; 2],
    moves: Vec<(usize, usize, &'static str)>,
}

impl World {
    fn new(reader: (usize, usize, usize), sink: (usize, usize, usize)) -> World {
        let knob = |stage, (now, home, most)| Knob {
            stage,
            setting: Setting::Workers,
            now,
            home,
            most,
        };
        World {
            balance: Balance::default(),
            at: 0.0,
            knobs: [knob(0, reader), knob(1, sink)],
            done: [0.0; 2],
            spent: [Spent::default(); 2],
            moves: Vec::new(),
        }
    }

    /// Runs for some seconds: each reader delivers `each` MB/s, all together at most `most`; each
    /// worker of the sink can take `takes` MB/s.
    fn run(&mut self, seconds: f64, each: f64, (most, takes): (f64, f64)) {
        let end = self.at + seconds;
        while self.at < end {
            let [readers, sinks] = self.knobs.map(|knob| knob.now as f64);
            let rate = (readers * each).min(most).min(sinks * takes);
            let ticks = |seconds: f64| (seconds * 1e9) as u64;
            let busy = [rate / (readers * each).min(most), rate / (sinks * takes)];
            for (stage, workers) in [readers, sinks].into_iter().enumerate() {
                self.done[stage] += rate * LOOK_S * 1e6 / UNIT_BYTES;
                let spent = &mut self.spent[stage];
                spent.busy += ticks(workers * LOOK_S * busy[stage]);
                let idle = ticks(workers * LOOK_S * (1.0 - busy[stage]));
                if stage == 0 {
                    spent.blocked += idle
                } else {
                    spent.starved += idle
                }
            }
            self.at += LOOK_S;
            self.look();
        }
    }

    fn look(&mut self) {
        let stages = [0, 1].map(|stage: usize| Done {
            units: self.done[stage] as u64,
            bytes: (self.done[stage].floor() * UNIT_BYTES) as u64,
            spent: self.spent[stage],
            ended: false,
        });
        let look = Look {
            at: self.at,
            stages: stages.to_vec(),
        };
        if let Some(Change { knob, to, why }) = self.balance.look(look, &self.knobs) {
            self.moves.push((knob, to, why));
            self.knobs[knob].now = to;
        }
    }
}

#[test]
fn the_worst_start_is_corrected_within_a_second() {
    let mut world = World::new((1, 32, 32), (1, 2, 2));
    world.run(1.0, 50.0, (1e9, 4000.0));
    assert_eq!(
        world.knobs.map(|knob| knob.now),
        [32, 1],
        "{:?}",
        world.moves
    );
    // Then the sink is too slow for them.
    world.run(1.0, 500.0, (1e9, 4000.0));
    assert_eq!(
        world.knobs.map(|knob| knob.now),
        [32, 2],
        "{:?}",
        world.moves
    );
}

#[test]
fn a_worker_beyond_home_stays_if_it_proves_a_gain() {
    let mut world = World::new((2, 2, 4), (1, 1, 1));
    world.run(5.0, 400.0, (1e9, 1e4));
    assert_eq!(world.knobs[0].now, 4, "{:?}", world.moves);
    assert_eq!(world.moves, [(0, 4, "bottleneck")]);
}

/// The disk is the limit: more readers gain nothing, and are tried at growing intervals.
#[test]
fn a_step_without_gain_is_undone_and_rests() {
    let mut world = World::new((2, 2, 3), (2, 2, 2));
    world.run(2.0, 400.0, (800.0, 1000.0));
    assert_eq!(
        world.moves[..2],
        [(0, 3, "bottleneck"), (0, 2, "no gain")],
        "{:?}",
        world.moves
    );
    world.run(300.0, 400.0, (800.0, 1000.0));
    assert!(world.moves.len() < 30, "{:?}", world.moves);
    assert_eq!(world.knobs[0].now, 2);
}

/// No setting can go beyond home, and all stages are about as busy as planned: nothing moves.
#[test]
fn a_plan_that_fits_is_left_alone() {
    let mut world = World::new((2, 2, 2), (2, 2, 2));
    world.run(300.0, 400.0, (800.0, 700.0));
    assert_eq!(world.moves, []);
}

#[test]
fn workers_that_starve_are_parked_and_called_again() {
    let mut world = World::new((2, 2, 2), (8, 8, 8));
    world.run(4.0, 400.0, (800.0, 1000.0));
    let few = world.knobs[1].now;
    assert!(few < 8 && few > 1, "{:?}", world.moves);
    world.run(1.0, 4000.0, (8000.0, 1000.0));
    assert_eq!(world.knobs[1].now, 8, "{:?}", world.moves);
}

/// Moves become rare even if the load changes every second for an hour.
#[test]
fn it_does_not_oscillate() {
    let mut world = World::new((2, 2, 3), (4, 4, 4));
    let mut early = 0;
    for second in 0..3600 {
        let takes = if second % 2 == 0 { 5000.0 } else { 150.0 };
        world.run(1.0, 400.0, (800.0, takes));
        if second == 60 {
            early = world.moves.len();
        }
    }
    let late = world.moves.len() - early;
    assert!(
        late < 2 * early + 20,
        "{early} moves in a minute, {late} in the rest of an hour"
    );
}

/// A stage that has ended is not judged: its rate falls because no work is left.
#[test]
fn a_trial_ends_with_its_stage() {
    let mut balance = Balance::default();
    let knobs = |now| {
        [Knob {
            stage: 0,
            setting: Setting::Workers,
            now,
            home: 2,
            most: 2,
        }]
    };
    let look = |at: f64, units: u64, ended| {
        let spent = Spent {
            busy: units * 1_000_000,
            ..Spent::default()
        };
        Look {
            at,
            stages: vec![Done {
                units,
                bytes: units << 20,
                spent,
                ended,
            }],
        }
    };
    assert_eq!(balance.look(look(0.0, 0, false), &knobs(1)), None);
    let change = balance.look(look(0.1, 100, false), &knobs(1));
    assert_eq!(
        change,
        Some(Change {
            knob: 0,
            to: 2,
            why: "busiest"
        })
    );
    assert_eq!(balance.look(look(0.2, 101, true), &knobs(2)), None);
    assert_eq!(balance.look(look(9.9, 101, true), &knobs(2)), None);
}

/// A step home that costs much is undone and tried again later.
#[test]
fn a_step_home_that_loses_much_is_undone() {
    let mut world = World::new((1, 2, 2), (1, 1, 1));
    // The disk's head moves back and forth between two readers.
    let mut seconds = 0.0;
    while seconds < 4.0 {
        let each = if world.knobs[0].now == 1 {
            1000.0
        } else {
            200.0
        };
        world.run(LOOK_S, each, (1e9, 1e4));
        seconds += LOOK_S;
    }
    assert_eq!(
        world.moves[..2],
        [(0, 2, "busiest"), (0, 1, "a loss")],
        "{:?}",
        world.moves
    );
    assert!((4..10).contains(&world.moves.len()), "{:?}", world.moves);
}

/// The only worker of a stage is never parked, however idle it is.
#[test]
fn one_worker_is_always_called() {
    let mut world = World::new((1, 1, 1), (1, 1, 1));
    world.run(5.0, 1.0, (1e9, 1e4));
    assert_eq!(world.moves, []);
}

/// A stage that has waited for an earlier stage to end is not idle.
#[test]
fn a_stage_that_begins_is_not_parked() {
    let mut world = World::new((2, 2, 2), (8, 8, 8));
    // Readers wait, for example for a sample; then the sink is fully busy.
    world.run(3.95, 1e-6, (1e9, 1000.0));
    world.run(0.1, 1e5, (1e9, 100.0));
    assert_eq!(world.moves, []);
}

// ---- single conditions -----------------------------------------------------------------------

/// A stage that has done `units` units of 1 MB, and was busy for the fraction `busy` of a second.
fn done(units: u64, busy: f64) -> Done {
    let busy = (busy * 1000.0).round() as u64;
    let spent = Spent {
        busy,
        starved: 1000 - busy,
        blocked: 0,
    };
    Done {
        units,
        bytes: units * 1_000_000,
        spent,
        ended: false,
    }
}

fn look(at: f64, stages: [Done; 2]) -> Look {
    Look {
        at,
        stages: stages.to_vec(),
    }
}

fn knobs(first: (usize, usize, usize), second: (usize, usize, usize)) -> [Knob; 2] {
    let knob = |stage, (now, home, most)| Knob {
        stage,
        setting: Setting::Workers,
        now,
        home,
        most,
    };
    [knob(0, first), knob(1, second)]
}

/// The change after two stages have done this work since they began.
fn moved(seconds: f64, stages: [Done; 2], knobs: &[Knob]) -> Option<Change> {
    let mut balance = Balance::default();
    let nothing = Done {
        units: 1,
        ..Done::default()
    };
    assert_eq!(balance.look(look(0.0, [nothing; 2]), knobs), None);
    balance.look(look(seconds, stages), knobs)
}

#[test]
fn a_step_beyond_home_needs_a_bottleneck_waiting_stages_and_a_rate() {
    let knobs = knobs((2, 2, 4), (1, 1, 1));
    let up = Some(Change {
        knob: 0,
        to: 4,
        why: "bottleneck",
    });
    for (first, second, units, expected) in [
        (0.95, 0.5, 33, up),
        (0.9, 0.8, 33, up),
        (0.899, 0.5, 33, None),
        (0.95, 0.801, 33, None),
        (0.95, 0.5, 32, None),
    ] {
        let change = moved(0.5, [done(units, first), done(units, second)], &knobs);
        assert_eq!(
            change,
            expected,
            "busy {first} and {second}, {} units",
            units - 1
        );
    }
}

#[test]
fn a_step_home_needs_a_busy_stage_and_is_at_most_fourfold() {
    let up = |to| {
        Some(Change {
            knob: 0,
            to,
            why: "busiest",
        })
    };
    for (busy, now, expected) in [
        (0.7, 1, up(4)),
        (0.7, 2, up(8)),
        (0.7, 3, up(9)),
        (0.699, 1, None),
        (0.7, 9, None),
    ] {
        let change = moved(
            0.1,
            [done(2, busy), done(2, 0.1)],
            &knobs((now, 9, 9), (1, 1, 1)),
        );
        assert_eq!(change, expected, "busy {busy}, {now} workers");
    }
}

#[test]
fn unused_workers_are_parked_after_a_second() {
    let down = |to| {
        Some(Change {
            knob: 1,
            to,
            why: "starved",
        })
    };
    for (seconds, busy, now, expected) in [
        (1.0, 0.1, 4, down(2)),
        (0.999, 0.1, 4, None),
        (1.0, 0.3, 8, down(6)),
        (1.0, 0.39, 8, None),
        (1.0, 0.41, 80, None),
        (1.0, 0.1, 1, None),
        (1.0, 0.1, 2, down(1)),
    ] {
        let stages = [done(9, 0.5), done(9, busy)];
        let change = moved(seconds, stages, &knobs((1, 1, 1), (now, now, now)));
        assert_eq!(change, expected, "{seconds} s, busy {busy}, {now} workers");
    }
}

/// The gain of a step is compared with the possible error of its measurement: a unit at each end.
#[test]
fn a_trial_is_judged_by_more_than_its_error() {
    // The stage does 40 units in the half second before the step, and `after` units in the one
    // after it. A step beyond home must bring 5 %; a step home may lose 40 %.
    let (beyond, home) = ((2, 2, 4), (1, 2, 2));
    for (first, after, expected) in [
        (beyond, 43, Some("no gain")),
        (beyond, 45, None),
        (home, 20, Some("a loss")),
        (home, 22, None),
    ] {
        let mut balance = Balance::default();
        let mut knobs = knobs(first, (1, 1, 1));
        let at = |seconds, units, busy: u64| {
            let spent = Spent {
                busy: 95 * busy,
                starved: 5 * busy,
                blocked: 0,
            };
            let first = Done {
                units,
                bytes: units * 1_000_000,
                spent,
                ended: false,
            };
            let spent = Spent {
                busy: 50 * busy,
                starved: 50 * busy,
                blocked: 0,
            };
            look(seconds, [first, Done { spent, ..first }])
        };
        assert_eq!(balance.look(at(0.0, 1, 0), &knobs), None);
        let step = balance.look(at(0.5, 41, 10), &knobs).expect("a step");
        knobs[0].now = step.to;
        let undone = balance.look(at(1.0, 41 + after, 20), &knobs);
        assert_eq!(undone.map(|change| change.why), expected, "{after} units");
        assert!(
            undone.is_none_or(|change| change.to == first.0),
            "{undone:?}"
        );
    }
}
