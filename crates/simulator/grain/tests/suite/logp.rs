//! LogP of the built-in machines beside what their files imply, which is computed apart here.

use grain::{LogP, Measured, Program};
use machine::{Cluster, Profile, Raised, Setting, Ticks};

const MACHINES: [&str; 9] = [
    "now", "paragon", "cs-2", "sp-2", "t3d", "nanopu", "nebula", "erpc", "ramcloud",
];

const SHORT_BYTES: f64 = 16.0;

fn measured(profile: &Profile, program: &LogP, cores: u32) -> Vec<Measured> {
    let (profile, setting) = (profile.clone(), Setting::new(cores));
    let (cluster, task) = (Cluster::new(profile, setting).unwrap(), program.clone());
    let outcome = cluster.run(move |node| task.clone().run(node)).unwrap();
    let verdict = program.check(&outcome.answers);
    assert_eq!(verdict.fault, None);
    verdict.measured
}

/// Microseconds, between cores of one leaf.
struct Implied {
    send: f64,
    receive: f64,
    latency: f64,
    gap: f64,
    byte: f64,
}

impl Implied {
    fn of(profile: &Profile) -> Implied {
        let us = |ticks: u64| profile.microseconds(ticks);
        let (core, nic) = (&profile.core, &profile.nic);
        let flits = |bytes: u32| u64::from(bytes.div_ceil(profile.network.flit_bytes));
        let packet = flits(nic.header_bytes + SHORT_BYTES as u32);
        let way = 2 * profile.link().0 + profile.switch().0;
        let stages = nic.transmit_cycles.0 + nic.receive_cycles.0 + core.notice_cycles.0;
        let each = 1.0 + nic.gap_per_flit as f64 / 1000.0;
        Implied {
            send: us(core.send_cycles.0 + 2 * core.send_word_cycles.0),
            receive: us(core.receive_cycles.0
                + 2 * core.receive_word_cycles.0
                + core.receive_done_cycles.0),
            // The last steps of a receive delay the next one, not the program, and L by its definition is
            // without them.
            latency: us(stages + packet + way) - us(core.receive_done_cycles.0),
            gap: us(nic.gap_cycles.0) + us(packet) * each,
            byte: us(1) * each / f64::from(profile.network.flit_bytes),
        }
    }

    fn trip(&self) -> f64 {
        2.0 * (self.send + self.latency + self.receive)
    }
}

fn find<'m>(measured: &'m [Measured], name: &str, method: &str) -> &'m Measured {
    let is_it = |one: &&Measured| one.name == name && one.method == method;
    measured.iter().find(is_it).unwrap()
}

/// Checks every parameter; of those that are hidden that they are told to be, and no less than they are.
fn check(profile: &Profile, program: &LogP) {
    let measured = measured(profile, program, 2);
    let implied = Implied::of(profile);
    let Implied {
        send,
        receive,
        latency,
        gap,
        byte,
    } = implied;
    let near = |name: &str, method: &str, expected: f64| {
        let one = find(&measured, name, method);
        let off = (one.median / expected - 1.0).abs();
        assert!(off < 0.05, "{}: {one:?}, {expected}", profile.name);
        assert!(!one.at_most, "{}: {one:?}", profile.name);
    };
    for method in ["signature", "PRTT"] {
        near("o_s", method, send);
        near("o_r", method, receive);
        near("L", method, latency);
    }
    let bounds = [
        (
            "signature",
            (send + receive).max(implied.trip() / f64::from(program.window)),
        ),
        ("PRTT", send.max(receive)),
    ];
    for (method, bound) in bounds {
        let one = find(&measured, "g", method);
        if !one.at_most {
            near("g", method, gap);
        } else {
            assert!(gap < bound * 1.05, "{}: {one:?}", profile.name);
            assert!(
                one.at_most && one.median > gap * 0.99,
                "{}: {one:?}",
                profile.name
            );
            assert!(
                (one.median / bound - 1.0).abs() < 0.05,
                "{}: {one:?}",
                profile.name
            );
        }
    }
    let one = find(&measured, "G", "PRTT");
    // A NIC that is slower than its link decides at some size.
    assert!(
        !one.at_most || profile.nic.gap_cycles == Ticks(0),
        "{}: {one:?}",
        profile.name
    );
    if one.at_most {
        assert!(one.median > byte * 0.99, "{}: {one:?}", profile.name);
    } else {
        near("G", "PRTT", byte);
    }
}

#[test]
fn parameters_are_those_that_the_machine_implies() {
    for name in MACHINES {
        check(&Profile::named(name).unwrap(), &LogP::default());
    }
}

/// Each alone, far beyond the machine's own: the meter sees it and nothing else.
#[test]
fn each_parameter_is_seen_alone() {
    let raised = |by| Profile::named("now").unwrap().raised(by).unwrap();
    let all = [
        Raised {
            overhead_ns: Some(20_000.0),
            ..Raised::default()
        },
        Raised {
            latency_ns: Some(100_000.0),
            ..Raised::default()
        },
        Raised {
            gap_ns: Some(50_000.0),
            ..Raised::default()
        },
        Raised {
            byte_ns: Some(200.0),
            ..Raised::default()
        },
    ];
    let program = LogP {
        window: 64,
        ..LogP::default()
    };
    for by in all {
        check(&raised(by), &program);
    }
    let negative = Raised {
        gap_ns: Some(-1.0),
        ..Raised::default()
    };
    let refused = Profile::named("now").unwrap().raised(negative);
    assert!(refused.unwrap_err().to_string().contains("gap_ns is -1"));
}

/// gam has a window of 8: at a latency of 105 us the gap that is seen is that of the window.
#[test]
fn a_window_hides_the_gap_of_a_far_machine() {
    let by = Raised {
        latency_ns: Some(100_000.0),
        ..Raised::default()
    };
    let far = Profile::named("now").unwrap().raised(by).unwrap();
    let measured = measured(&far, &LogP::default(), 2);
    let one = find(&measured, "g", "signature");
    let bound = Implied::of(&far).trip() / 8.0;
    assert!(
        one.at_most && (one.median / bound - 1.0).abs() < 0.05,
        "{one:?}, {bound}"
    );
}

#[test]
fn only_two_cores_take_part() {
    let profile = Profile::named("now").unwrap();
    let program = LogP {
        to: Some(3),
        ..LogP::default()
    };
    assert_eq!(
        measured(&profile, &program, 7),
        measured(&profile, &program, 4)
    );
    assert!(program.objection(3).is_some() && program.objection(4).is_none());
    let none = LogP {
        to: Some(0),
        ..LogP::default()
    };
    assert!(none.objection(4).unwrap().contains("--to 0"));
}
