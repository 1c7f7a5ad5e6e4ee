//! One run of one program on any place.

use std::time::Instant;

use grain::{Program, ReorderBy, Timing, Verdict};
use machine::{Cluster, Outcome, Profile, Queues, Report, RunError, Setting};
use node::Rank;

use crate::error::LabError;
use crate::observer::{Going, Observer};
use crate::path_report::PathReport;
use crate::place::Place;
use crate::ranks::Ranks;
use crate::report::{RequestReport, RunReport, Simulated, StageReport};
use crate::spread::{microseconds, of_figures, quantile};

/// Everything that a run needs besides its program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub place: &'a Place,
    pub cores: u32,
    /// Number of cores whose stages are traced.
    pub traced: u32,
    /// Whether to find the critical path.
    pub path: bool,
    /// Number of the run, from 0.
    pub run: u64,
    /// Number of all runs of the job.
    pub runs: u64,
    pub seed: u64,
    pub observer: &'a Observer,
}

pub(crate) fn run<P: Program>(program: &P, ground: &Ground<'_>) -> Result<RunReport, LabError> {
    match ground.place {
        Place::Machine(profile, setting, _) => simulate(program, profile, setting, ground),
        Place::Threads => on_threads(program, ground),
        Place::Ranks(ranks) => on_ranks(program, ranks, ground),
        Place::Driver => unreachable!("refused when the job was planned"),
    }
}

fn simulate<P: Program>(
    program: &P,
    profile: &Profile,
    setting: &Setting,
    ground: &Ground<'_>,
) -> Result<RunReport, LabError> {
    let (tick_fs, setting) = (profile.tick_fs, setting_of(program, setting, ground));
    let (multicast, is_tapped) = (setting.multicast.is_on(), setting.tap.is_some());
    let begin = Instant::now();
    let cluster = Cluster::new(profile.clone(), setting)?;
    let expected = program.load(ground.cores).map(|load| load.received);
    let progress = Going {
        run: ground.run,
        runs: ground.runs,
        tick_fs,
        expected,
        watch: cluster.watch(),
    };
    let _mark = ground.observer.begin(progress);
    let task = program.clone();
    let Outcome { answers, report } = cluster.run(move |node| task.clone().run(node))?;
    let wall_s = begin.elapsed().as_secs_f64();
    let mut verdict = program.check(&answers);
    let ticks = match (program.timing(), verdict.elapsed) {
        (Timing::Part { .. }, Some((begin, end))) => end.since(begin),
        (timing, _) => ticks_of(timing, &report),
    };
    let requests = std::mem::take(&mut verdict.requests);
    let expected = program.messages(&answers, multicast);
    let miscounted = || miscounted(report.counts.messages, expected?);
    verdict.fault = verdict.fault.or_else(miscounted);
    Ok(RunReport {
        seed: ground.seed,
        ticks,
        time_us: microseconds(ticks, tick_fs),
        stages: StageReport::all(&report, tick_fs, |stage| program.tasks(stage)),
        verdict,
        requests: RequestReport::of(&requests, tick_fs),
        simulated: Some(Simulated {
            mac_ns: is_tapped.then(|| profile.nic.mac_ns.value()),
            ..simulated(report, profile)
        }),
        wall_s,
    })
}

/// The place's setting for a program and its ground.
fn setting_of<P: Program>(program: &P, setting: &Setting, ground: &Ground<'_>) -> Setting {
    Setting {
        ranks: ground.cores,
        seed: ground.seed,
        queues: queues(program.reorder()),
        traced: ground.traced,
        path: ground.path,
        tap: match program.timing() {
            Timing::Tap(rank) => Some(rank),
            _ => None,
        },
        ..setting.clone()
    }
}

fn simulated(report: Report, profile: &Profile) -> Simulated {
    let (counts, tick_fs) = (report.counts, profile.tick_fs);
    let path = report.path.as_ref();
    let messages = report.messages.iter();
    let messages: Vec<f64> = messages
        .map(|(sent, received)| f64::from(*sent) + f64::from(*received))
        .collect();
    Simulated {
        counts,
        misses_per_core: counts.misses as f64 / messages.len() as f64,
        messages_per_core: of_figures(&messages),
        longest_send_wait_us: microseconds(counts.longest_send_wait, tick_fs),
        busiest_down_us: microseconds(counts.busiest_down_ticks, tick_fs),
        windows: report.windows,
        mac_ns: None,
        path: path.map(|path| PathReport::new(path, profile)),
        slices: report.slices,
    }
}

/// The NIC's receive queues for a way to match messages.
fn queues(reorder: ReorderBy) -> Queues {
    match reorder {
        ReorderBy::Software => Queues::ByCore,
        ReorderBy::Port => Queues::ByPort,
        ReorderBy::Nic => Queues::Shared,
    }
}

fn miscounted(sent: u64, expected: u64) -> Option<String> {
    (sent != expected)
        .then(|| format!("{sent} messages were sent, but the closed form gives {expected}"))
}

fn ticks_of(timing: Timing, report: &Report) -> u64 {
    match timing {
        Timing::LastEnd | Timing::Part { .. } => report.ends.iter().copied().max().unwrap_or(0),
        Timing::Busy { rank, stage } => busy(report, rank, stage),
        Timing::Tap(_) => {
            let mut tapped = report.tapped.clone();
            tapped.sort_unstable();
            match tapped.as_slice() {
                [] => 0,
                tapped => quantile(tapped, 50),
            }
        }
    }
}

/// Ticks of a stage on a rank without waiting. The machine leaves out ranks that did not run the
/// stage, so a rank's place is known only if all ranks ran it, or one.
///
/// # Panics
/// If the place is unknown: a bug of the program.
fn busy(report: &Report, rank: Rank, stage: &str) -> u64 {
    let times = report.stages.iter().find(|times| times.name == stage);
    let times = times.unwrap_or_else(|| panic!("no core went through the stage '{stage}'"));
    let (went, all) = (times.ticks.len(), report.ends.len());
    let place = match went {
        1 => 0,
        _ if went == all => rank.0 as usize,
        _ => panic!(
            "{went} of {all} cores went through '{stage}': the place of {} is unknown",
            rank.0
        ),
    };
    let (ticks, idle) = times.ticks[place];
    ticks.saturating_sub(idle)
}

fn on_threads<P: Program>(program: &P, ground: &Ground<'_>) -> Result<RunReport, LabError> {
    let cluster = node_real::Cluster::new(ground.cores, ground.seed);
    let begin = Instant::now();
    let answers = answers_of(program, &cluster, ground.cores)?;
    let wall_s = begin.elapsed().as_secs_f64();
    Ok(real(program.check(&answers), wall_s, ground))
}

/// Rank 0 alone has a verdict.
fn on_ranks<P: Program>(
    program: &P,
    ranks: &Ranks,
    ground: &Ground<'_>,
) -> Result<RunReport, LabError> {
    let cluster = ranks.begin(ground.seed)?;
    let begin = Instant::now();
    let answer = answers_of(program, &cluster, 1)?.pop().expect("one node");
    let answers = ranks.gather(answer)?;
    let wall_s = begin.elapsed().as_secs_f64();
    let verdict = answers.map(|answers| program.check(&answers));
    ranks.meet()?;
    Ok(real(verdict.unwrap_or_default(), wall_s, ground))
}

/// The answers of the nodes of this process.
fn answers_of<P: Program>(
    program: &P,
    cluster: &node_real::Cluster,
    cores: u32,
) -> Result<Vec<P::Answer>, LabError> {
    let task = program.clone();
    let ended = node::caught(|| cluster.try_run(move |node| task.clone().run(node)));
    ended
        .map_err(|panic| RunError::Panic(panic.0))?
        .map_err(|cause| LabError::NoThreads {
            cores,
            cause: cause.to_string(),
        })
}

/// The report of a run in real time.
fn real(mut verdict: Verdict, wall_s: f64, ground: &Ground<'_>) -> RunReport {
    let requests = std::mem::take(&mut verdict.requests);
    let elapsed = verdict.elapsed.map(|(begin, end)| end.since(begin));
    let ticks = elapsed.unwrap_or((wall_s * 1e9) as u64);
    RunReport {
        seed: ground.seed,
        ticks,
        time_us: microseconds(ticks, ground.place.tick_fs()),
        stages: Vec::new(),
        verdict,
        requests: RequestReport::of(&requests, ground.place.tick_fs()),
        simulated: None,
        wall_s,
    }
}

#[cfg(test)]
mod tests {
    use machine::{Counts, StageTimes};
    use node::{Node, Port};

    use super::*;

    /// All ranks but 0 wait for a message that no rank sends.
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

    fn ran<P: Program>(program: &P, place: &Place, cores: u32) -> Result<RunReport, LabError> {
        let observer = &Observer::default();
        run(
            program,
            &Ground {
                place,
                cores,
                traced: 0,
                path: false,
                run: 0,
                runs: 1,
                seed: 1,
                observer,
            },
        )
    }

    fn nanopu() -> Place {
        Place::named("nanopu", &crate::Changes::default()).unwrap()
    }

    #[test]
    fn a_run_that_waits_for_ever_names_the_waiting_cores() {
        let error = ran(&Waiting, &nanopu(), 40).unwrap_err();
        assert_eq!(error.kind(), "stuck");
        let told = error.to_string();
        assert!(!told.contains('\n') && told.contains("29 more"), "{told}");
        let LabError::Run(RunError::Stuck(stuck)) = error else {
            panic!("{told}")
        };
        assert_eq!((stuck.waiting.len(), stuck.tasks), (10, 39));
    }

    #[test]
    fn a_panic_is_a_bug_with_its_message() {
        for place in [nanopu(), Place::Threads] {
            let error = ran(&Broken, &place, 2).unwrap_err();
            assert_eq!(error.kind(), "bug");
            assert!(error.to_string().contains("core 1 is broken"), "{error}");
        }
    }

    #[test]
    fn the_program_chooses_its_time() {
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
    fn a_stage_that_no_core_ran_has_no_time() {
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
    fn a_stage_of_some_cores_has_no_time_of_one() {
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
