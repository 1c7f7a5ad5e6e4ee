//! Every program on the simulated cluster: with every way to match steps, with and without
//! multicast, on one thread and on two, with losses and late messages.

use crate::programs::Harness;
use grain::{
    Beside, Exchange, Kv, MapReduce, MergeMin, Named, NanoSort, PhaseEnd, Program, Reading,
    ReorderBy, Urgent,
};
use machine::{Cluster, Multicast, Outcome, Profile, Queues, Setting, Transport, parts};

/// The nanoPU cluster in several settings, whose numbers of ranks are replaced.
struct Machine(Vec<Setting>);

impl Harness for Machine {
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Vec<Vec<P::Answer>> {
        let runs = self.0.iter().map(|setting| {
            on(
                Setting {
                    ranks,
                    ..setting.clone()
                },
                program,
            )
        });
        runs.collect()
    }

    fn ranks_per_nic(&self) -> u32 {
        4
    }
}

fn on<P: Program>(setting: Setting, program: &P) -> Vec<P::Answer> {
    outcome_on(setting, program).answers
}

fn outcome_on<P: Program>(setting: Setting, program: &P) -> Outcome<P::Answer> {
    let cluster = Cluster::new(Profile::named("nanopu").unwrap(), setting).unwrap();
    let program = program.clone();
    let ended = cluster.run(move |node| program.clone().run(node));
    ended.unwrap_or_else(|error| panic!("{error}"))
}

/// All ways to divide the queues and to carry multicasts, on one thread and on two.
fn plain() -> Machine {
    let setting = |(seed, (queues, multicast))| Setting {
        seed,
        queues,
        threads: 1 + seed as usize % 2,
        multicast,
        ..Setting::new(1)
    };
    let queues = [
        (Queues::ByCore, Multicast::PerPort),
        (Queues::ByPort, Multicast::PerPort),
        (Queues::Shared, Multicast::Off),
        (Queues::ByCore, Multicast::Off),
        (Queues::ByPort, Multicast::FirstLeaf),
        (Queues::ByPort, Multicast::OneSpine),
    ];
    Machine((0..).zip(queues).map(setting).collect())
}

/// Losses, late messages, and both, also with ACKs of each member and with Homa. The queues are by port: in one queue per core, messages of
/// later steps could overtake a lost one and fill the queue while the core waits for it, a
/// deadlock.
fn faulty() -> Machine {
    let setting = |(seed, loss, tail)| Setting {
        seed,
        threads: 2,
        queues: Queues::ByPort,
        aggregates_acks: seed != 4,
        transport: match seed {
            5 => Transport::Homa { unscheduled: 1 },
            6 => Transport::Homa { unscheduled: 2 },
            _ => Transport::Ndp,
        },
        loss_parts: parts(loss),
        tail: 3200,
        tail_parts: parts(tail),
        ..Setting::new(1)
    };
    Machine(
        [
            (1, 0.01, 0.0),
            (2, 0.0, 0.05),
            (3, 0.01, 0.05),
            (4, 0.01, 0.0),
            (5, 0.01, 0.05),
            (6, 0.01, 0.0),
        ]
        .map(setting)
        .into(),
    )
}

mod plainly {
    use super::plain;
    crate::program_suite!(plain());
}

mod with_faults {
    use super::faulty;
    crate::program_suite!(faulty());
}

/// Beside a sort requests take longer than alone, and least if they are the more urgent ones; the
/// sort takes longest then.
#[test]
fn the_urgent_program_waits_less() {
    let ended = |urgent| {
        let program = Beside {
            urgent,
            ..Beside::default()
        };
        let verdict = program.check(&on(Setting::new(64), &program));
        assert_eq!(verdict.fault, None);
        let (begin, end) = verdict.elapsed.unwrap();
        let mean = verdict.requests.iter().sum::<u64>() / verdict.requests.len() as u64;
        (mean, end.since(begin))
    };
    let kv = Kv::default();
    let alone = kv.check(&on(Setting::new(64), &kv)).requests;
    let alone = alone.iter().sum::<u64>() / alone.len() as u64;
    let [kv, none, sort] = [Urgent::Kv, Urgent::None, Urgent::Sort].map(ended);
    assert!(
        alone < kv.0 && kv.0 < none.0 && none.0 < sort.0,
        "{alone} {kv:?} {none:?} {sort:?}"
    );
    assert!(sort.1 < kv.1, "{kv:?} {sort:?}");
}

/// Programs that match steps by ports need a queue for each port, or one for all: more ranks than a
/// queue has entries.
#[test]
fn matchings_with_their_queues() {
    let pairs = [
        (ReorderBy::Software, Queues::ByCore),
        (ReorderBy::Port, Queues::ByPort),
        (ReorderBy::Port, Queues::Shared),
    ];
    for (reorder, queues) in pairs {
        for incast in [1, 2, 8, 300] {
            let program = MergeMin {
                keys: 16,
                incast,
                reorder,
                seed: 4,
            };
            let setting = Setting {
                queues,
                threads: 2,
                ..Setting::new(300)
            };
            let answers = on(setting, &program);
            assert_eq!(program.check(&answers).fault, None, "{reorder:?} {incast}");
        }
    }
}

/// The children of a parent exceed its queue's entries, round after round: they send one round at a
/// time, and in narrower trees as many as fit.
#[test]
fn wide_trees_reduce_streams() {
    for queues in [Queues::ByPort, Queues::Shared] {
        for (ranks, incast) in [(512, 128), (200, 512), (300, 1000), (512, 8), (300, 24)] {
            let (rounds, reorder) = (6, ReorderBy::Port);
            let program = MapReduce {
                words: 40,
                rounds,
                incast,
                reorder,
                ..MapReduce::default()
            };
            let answers = on(
                Setting {
                    queues,
                    ..Setting::new(ranks)
                },
                &program,
            );
            let fault = program.check(&answers).fault;
            assert_eq!(fault, None, "{queues:?}, {ranks} cores, incast {incast}");
        }
    }
}

/// More rounds than there are ports, which are reused.
#[test]
fn a_stream_has_any_number_of_rounds() {
    let (words, rounds, reorder) = (1, 70_000, ReorderBy::Port);
    let program = MapReduce {
        words,
        rounds,
        reorder,
        buckets: 1,
        ..MapReduce::default()
    };
    let answers = on(
        Setting {
            queues: Queues::ByPort,
            ..Setting::new(3)
        },
        &program,
    );
    assert_eq!(program.check(&answers).fault, None);
}

/// All cores send more pivots at a time than their transmit words hold; without multicast each also
/// sends its splitting value to all.
#[test]
fn any_number_of_buckets_sorts() {
    let cores = 400;
    for multicast in [Multicast::PerPort, Multicast::OneSpine, Multicast::Off] {
        for (exchange, phase_end) in [
            (Exchange::Buckets, None),
            (Exchange::Keys, None),
            (Exchange::Keys, Some(PhaseEnd::Counts)),
        ] {
            let reading = Reading {
                exchange: Some(exchange),
                phase_end,
                ..Named::LockStep.into()
            };
            let program = NanoSort {
                keys: 4,
                buckets: cores,
                reading,
                ..NanoSort::default()
            };
            let answers = on(
                Setting {
                    multicast,
                    ..Setting::new(cores)
                },
                &program,
            );
            assert_eq!(
                program.check(&answers).fault,
                None,
                "{exchange:?}, {phase_end:?}, multicast {multicast:?}"
            );
        }
    }
    let by_ports = NanoSort {
        buckets: 342,
        reorder: ReorderBy::Port,
        ..NanoSort::default()
    };
    assert_eq!(by_ports.objection(341), None);
    assert!(
        by_ports
            .objection(342)
            .unwrap()
            .contains("its 1024 transmit words hold 341")
    );
}

/// Keys that come late keep a bucket in further waves, which are counted apart. Both ends take a share
/// of the time, and counts spare the answers.
#[test]
fn ends_of_phases_send_the_messages_of_the_closed_form() {
    for multicast in [Multicast::PerPort, Multicast::Off] {
        for is_late in [false, true] {
            let sent = [PhaseEnd::Answers, PhaseEnd::Counts].map(|phase_end| {
                let reading = Reading {
                    phase_end: Some(phase_end),
                    ..Named::Text.into()
                };
                let program = NanoSort {
                    buckets: 4,
                    reading,
                    ..NanoSort::default()
                };
                let setting = Setting {
                    multicast,
                    tail: 32_000,
                    tail_parts: parts(if is_late { 0.01 } else { 0.0 }),
                    ..Setting::new(100)
                };
                let Outcome { answers, report } = outcome_on(setting, &program);
                let foreseen = program.messages(&answers, multicast.is_on());
                let what = format!("{phase_end:?}, {multicast:?}, late {is_late}");
                assert_eq!(foreseen, Some(report.counts.messages), "{what}");
                let verdict = program.check(&answers);
                let share = verdict.figure.unwrap();
                assert!((0.05..0.9).contains(&share), "{share}: {what}");
                assert!(verdict.result.contains("ends of phases take"));
                let waves: u64 = answers.iter().map(|part| part.multicasts).sum();
                assert_eq!(
                    waves > 0,
                    is_late && phase_end == PhaseEnd::Counts,
                    "{waves}: {what}"
                );
                report.counts.messages
            });
            assert!(is_late || sent[1] < sent[0], "{sent:?}");
        }
    }
}

/// Real threads and the machine give the same minima at every rank.
#[test]
fn threads_and_machine_agree() {
    for (ranks, incast) in [(2, 2), (33, 8), (64, 4)] {
        let program = MergeMin {
            incast,
            ..MergeMin::default()
        };
        let task = program.clone();
        let real = node_real::Cluster::new(ranks, 1).run(move |node| task.clone().run(node));
        let simulated = on(Setting::new(ranks), &program);
        let minima = |answers: Vec<grain::Least>| -> Vec<u64> {
            answers.into_iter().map(|answer| answer.least).collect()
        };
        assert_eq!(minima(real), minima(simulated), "{ranks} ranks");
    }
}
