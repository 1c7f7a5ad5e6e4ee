//! One run of one program, on whatever place: the one function that is generic over programs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use grain::{Program, ReorderBy, Timing};
use machine::{Cluster, Outcome, Profile, Queues, Report, RunError, Setting};
use node::Rank;

use crate::error::LabError;
use crate::observer::Observer;
use crate::place::Place;
use crate::report::{RunReport, Simulated, StageReport, microseconds};

/// What a run is given beside its program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    /// Where.
    pub place: &'a Place,
    /// On how many cores.
    pub cores: u32,
    /// How many cores' stages to write down.
    pub traced: u32,
    /// Which run it is, from zero.
    pub run: u64,
    /// Decides all that is drawn.
    pub seed: u64,
    /// Who looks.
    pub observer: &'a Observer,
}

/// A program whose type is forgotten.
pub(crate) trait Runnable {
    /// Why it cannot run on so many cores.
    fn objection(&self, cores: u32) -> Option<String>;
    /// Why it cannot run there.
    fn objection_to(&self, place: &Place) -> Option<String>;
    /// Whether messages must come from behind another NIC.
    fn needs_two_nics(&self) -> bool;
    /// Bytes that so many cores hold while `at_once` of them compute.
    fn bytes(&self, cores: u32, at_once: usize) -> u64;
    /// Which time of a run is its time.
    fn timing(&self) -> Timing;
    /// A remark on its parameters, for people.
    fn note(&self, _cores: u32) -> Option<String> {
        None
    }
    /// Runs it once.
    fn run(&self, ground: &Ground<'_>) -> Result<RunReport, LabError>;
}

impl<P: Program> Runnable for P {
    fn objection(&self, cores: u32) -> Option<String> {
        Program::objection(self, cores)
    }

    fn objection_to(&self, place: &Place) -> Option<String> {
        let is_driver = matches!(place, Place::Driver);
        is_driver.then(|| "the machine driver is for sort; leave --machine out".to_owned())
    }

    fn needs_two_nics(&self) -> bool {
        Program::needs_two_nics(self)
    }

    fn bytes(&self, cores: u32, at_once: usize) -> u64 {
        Program::bytes(self, cores.into(), at_once as u64)
    }

    fn timing(&self) -> Timing {
        Program::timing(self)
    }

    fn note(&self, cores: u32) -> Option<String> {
        Program::note(self, cores)
    }

    fn run(&self, ground: &Ground<'_>) -> Result<RunReport, LabError> {
        match ground.place {
            Place::Machine(profile, setting, _) => simulate(self, profile, setting, ground),
            Place::Threads => on_threads(self, ground),
            Place::Driver => unreachable!("refused when the job was planned"),
        }
    }
}

fn simulate<P: Program>(
    program: &P,
    profile: &Profile,
    setting: &Setting,
    ground: &Ground<'_>,
) -> Result<RunReport, LabError> {
    let timing = Program::timing(program);
    let tap = match timing {
        Timing::Tap(rank) => Some(rank),
        _ => None,
    };
    let setting = Setting {
        ranks: ground.cores,
        seed: ground.seed,
        queues: queues(program.reorder()),
        traced: ground.traced,
        tap,
        ..setting.clone()
    };
    let multicast = setting.multicast;
    let begin = Instant::now();
    let cluster = Cluster::new(profile.clone(), setting)?;
    let _goes_on = ground
        .observer
        .begin(ground.run, profile.tick_fs, cluster.watch());
    let task = program.clone();
    let Outcome {
        answers,
        mut report,
    } = cluster.run(move |node| task.clone().run(node))?;
    let wall_s = begin.elapsed().as_secs_f64();
    let slices = std::mem::take(&mut report.slices);
    let ticks = ticks_of(timing, &report);
    let mut verdict = program.check(&answers);
    let expected = program.messages(&answers, multicast);
    verdict.fault = verdict
        .fault
        .or_else(|| miscounted(report.counts.messages, expected?));
    Ok(RunReport {
        seed: ground.seed,
        ticks,
        time_us: microseconds(ticks, profile.tick_fs),
        stages: StageReport::all(&report, profile.tick_fs, |stage| program.tasks(stage)),
        verdict,
        simulated: Some(Simulated {
            counts: report.counts,
            longest_send_wait_us: microseconds(report.counts.longest_send_wait, profile.tick_fs),
            // A link carries a flit in each tick.
            busiest_down_us: microseconds(report.counts.busiest_down_flits, profile.tick_fs),
            windows: report.windows,
            mac_ns: tap.map(|_| profile.nic.mac_ns.value()),
            slices,
        }),
        wall_s,
    })
}

/// How the NIC divides its receive queues.
fn queues(reorder: ReorderBy) -> Queues {
    match reorder {
        ReorderBy::Software => Queues::ByCore,
        ReorderBy::Port => Queues::ByPort,
        ReorderBy::Nic => Queues::Shared,
    }
}

/// What is wrong with so many messages where so many were expected.
fn miscounted(sent: u64, expected: u64) -> Option<String> {
    (sent != expected)
        .then(|| format!("{sent} messages were sent, and the closed form says {expected}"))
}

/// The program's time.
fn ticks_of(timing: Timing, report: &Report) -> u64 {
    match timing {
        Timing::LastEnd => report.ends.iter().copied().max().unwrap_or(0),
        Timing::Busy { rank, stage } => busy(report, rank, stage),
        Timing::Tap(_) => {
            let mut tapped = report.tapped.clone();
            tapped.sort_unstable();
            if tapped.is_empty() {
                0
            } else {
                crate::spread::quantile(&tapped, 50)
            }
        }
    }
}

/// Ticks of a stage on a rank, less those it was idle. The machine leaves out ranks that did not go
/// through the stage: the place of a rank is known when all did, or it alone.
///
/// # Panics
/// When it is not known: a bug of the program that is timed so.
fn busy(report: &Report, rank: Rank, stage: &str) -> u64 {
    let times = report.stages.iter().find(|times| times.name == stage);
    let times = times.unwrap_or_else(|| panic!("no core went through the stage '{stage}'"));
    let (went, all) = (times.ticks.len(), report.ends.len());
    let place = match went {
        1 => 0,
        _ if went == all => rank.0 as usize,
        _ => panic!(
            "{went} of {all} cores went through '{stage}': which is {}, nobody knows",
            rank.0
        ),
    };
    let (ticks, idle) = times.ticks[place];
    ticks.saturating_sub(idle)
}

fn on_threads<P: Program>(program: &P, ground: &Ground<'_>) -> Result<RunReport, LabError> {
    let cluster = node_real::Cluster::new(ground.cores, ground.seed);
    let task = program.clone();
    let begin = Instant::now();
    // Unwind safe: nothing of a cluster whose program panicked is used again.
    let ended = catch_unwind(AssertUnwindSafe(|| {
        cluster.try_run(move |node| task.clone().run(node))
    }));
    let wall_s = begin.elapsed().as_secs_f64();
    let answers = ended
        .map_err(|panic| RunError::Panic(said(&*panic)))?
        .map_err(|cause| LabError::NoThreads {
            cores: ground.cores,
            cause: cause.to_string(),
        })?;
    let verdict = program.check(&answers);
    let elapsed = verdict.elapsed.map(|(begin, end)| end.since(begin));
    let ticks = elapsed.unwrap_or((wall_s * 1e9) as u64);
    Ok(RunReport {
        seed: ground.seed,
        ticks,
        time_us: microseconds(ticks, ground.place.tick_fs()),
        stages: Vec::new(),
        verdict,
        simulated: None,
        wall_s,
    })
}

pub(crate) fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use grain::Verdict;
    use machine::{Counts, StageTimes};
    use node::{Node, Port};

    use super::*;

    /// All but rank 0 wait for a message that nobody sends.
    #[derive(Clone)]
    struct Waiting;

    impl Program for Waiting {
        type Answer = ();

        async fn run(self, node: Node) {
            if node.rank() != Rank(0) {
                node.bind(Port(7)).next(&node).await;
            }
        }

        fn check(&self, _: &[()]) -> Verdict {
            Verdict::default()
        }
    }

    /// Panics on one rank.
    #[derive(Clone)]
    struct Broken;

    impl Program for Broken {
        type Answer = ();

        async fn run(self, node: Node) {
            assert!(node.rank() != Rank(1), "core 1 is broken");
        }

        fn check(&self, _: &[()]) -> Verdict {
            Verdict::default()
        }
    }

    fn run<P: Program>(program: &P, place: &Place, cores: u32) -> Result<RunReport, LabError> {
        let observer = &Observer::default();
        Runnable::run(
            program,
            &Ground {
                place,
                cores,
                traced: 0,
                run: 0,
                seed: 1,
                observer,
            },
        )
    }

    fn nanopu() -> Place {
        Place::named("nanopu", &crate::Changes::default()).unwrap()
    }

    #[test]
    fn who_waits_for_what_never_comes_is_told() {
        let error = run(&Waiting, &nanopu(), 40).unwrap_err();
        assert_eq!(error.kind(), "stuck");
        let told = error.to_string();
        assert!(!told.contains('\n') && told.contains("29 more"), "{told}");
        let LabError::Run(RunError::Stuck(stuck)) = error else {
            panic!("{told}")
        };
        assert_eq!((stuck.waiting.len(), stuck.tasks), (10, 39));
    }

    #[test]
    fn a_panic_is_a_bug_with_what_it_said() {
        for place in [nanopu(), Place::Threads] {
            let error = run(&Broken, &place, 2).unwrap_err();
            assert_eq!(error.kind(), "bug");
            assert!(error.to_string().contains("core 1 is broken"), "{error}");
        }
    }

    #[test]
    fn the_time_of_a_program_is_what_it_says() {
        let stage = |name, ticks: &[(u64, u64)]| StageTimes {
            name,
            ticks: ticks.to_vec(),
        };
        let report = Report {
            ends: vec![5, 9, 7],
            stages: vec![
                stage("one", &[(8, 3)]),
                stage("all", &[(1, 0), (6, 2), (3, 3)]),
            ],
            tapped: vec![30, 10, 20, 40],
            counts: Counts::default(),
            ..Report::default()
        };
        let busy = |stage, rank| Timing::Busy {
            rank: Rank(rank),
            stage,
        };
        assert_eq!(ticks_of(Timing::LastEnd, &report), 9);
        assert_eq!(ticks_of(Timing::Tap(Rank(0)), &report), 20);
        assert_eq!(ticks_of(busy("one", 0), &report), 5);
        assert_eq!(ticks_of(busy("all", 1), &report), 4);
    }

    #[test]
    #[should_panic(expected = "no core went through the stage 'none'")]
    fn a_stage_that_nobody_went_through_times_nothing() {
        busy(
            &Report {
                ends: vec![1],
                ..Report::default()
            },
            Rank(0),
            "none",
        );
    }

    #[test]
    #[should_panic(expected = "2 of 3 cores went through 'some'")]
    fn a_stage_of_some_cores_times_none_of_them() {
        let some = StageTimes {
            name: "some",
            ticks: vec![(1, 0), (2, 0)],
        };
        let report = Report {
            ends: vec![1, 2, 3],
            stages: vec![some],
            ..Report::default()
        };
        busy(&report, Rank(1), "some");
    }
}
